"""Each exception comes from a real cause, is the builtin one that fits, and names the cure."""

import builtins
import errno
import pickle
import re

import numpy as np
import pytest

import pyringkernel as rk
from conftest import ROOT
from pyringkernel import _core, errors

F32, I32 = np.float32, np.int32

FAULTS = "RK_ON_BYTES { return rk_fault(self, 7, 4000000000ul); }\n"


def documented():
    """{class name: names of builtin ones} of the table in docs/PYTHON.md."""
    text = (ROOT / "docs/PYTHON.md").read_text()
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| `(\w+)` \| [^|]+\|$", text, re.MULTILINE)
    return {name: base for names, base in rows for name in re.findall(r"\w+", names)}


def test_the_documented_classes_are_those_that_there_are():
    assert sorted(documented()) == sorted(set(errors.__all__) - {"Error"})


def test_each_class_is_the_documented_builtin_one():
    for name, base in documented().items():
        cls = getattr(rk, name)
        assert issubclass(cls, rk.Error) and issubclass(cls, getattr(builtins, base)), name


def test_each_code_has_one_class():
    listed = [name for names in errors.CODES.values() for name in names.split()]
    assert len(listed) == len(set(listed))
    assert set(listed) <= _core.codes.keys()
    rest = _core.codes.keys() - set(listed)
    assert rest == {  # what is a DeviceError: a new code has to be looked at
        "bad_record", "bad_command", "unknown_op", "bad_operand", "bad_shape", "reply_too_small",
        "bad_ring", "program_overran", "bad_outcome", "protocol_mismatch", "build_failed",
        "internal", "execution_timeout", "device_error",
    }  # fmt: skip


def test_the_codes_are_those_of_the_tables():
    text = (ROOT / "include/ringkernel/errc.def").read_text()
    text += (ROOT / "include/ringkernel/protocol/fault.def").read_text()
    rows = re.findall(r"^RK_(?:ERRC|FAULT)\(\s*(\d+),\s*(\w+)", text, re.MULTILINE)
    assert {name: int(number) for number, name in rows} == _core.codes


def expect(cls, name, number=None, match=None):
    """That the block raises an error of this class, code and text."""

    class Expected:
        def __enter__(self):
            self.raises = pytest.raises(rk.Error, match=match)
            self.caught = self.raises.__enter__()
            return self.caught

        def __exit__(self, *exception):
            result = self.raises.__exit__(*exception)
            error = self.caught.value
            assert type(error) is cls
            assert (error.name, error.number) == (name, number)
            assert error.code == _core.codes[name]
            assert name in str(error)
            return result

    return Expected()


def test_shapes(kernel):
    for _ in range(3):
        with expect(rk.ShapeError, "broadcast_failure", "E3001", r"extents 4 and 5"):
            kernel.add(np.zeros((3, 4), F32), np.zeros((3, 5), F32))
        with expect(rk.ShapeError, "invalid_axis", "E3004"):
            kernel.sum(F32([1]), axes=[1])
        with expect(rk.ShapeError, "invalid_dimension", "E3006"):
            kernel.relu(np.zeros((2, 0), F32))
        with expect(rk.ShapeError, "rank_mismatch", "E3002", "8"):
            kernel.relu(np.zeros((1,) * 9, F32))
        with expect(rk.ShapeError, "arity_mismatch", "E2007", "takes 2 operands, got 1"):
            kernel.call("add", F32([1]))
        with expect(rk.ShapeError, "invalid_permutation", "E3008"):
            kernel.transpose(F32([[1]]), [0, 0])


def test_element_types(kernel):
    with expect(rk.DTypeError, "invalid_dtype", "E2005", r"x\.astype\(numpy\.float32\)"):
        kernel.relu(np.zeros(3))
    with expect(rk.DTypeError, "invalid_dtype", "E2005"):
        kernel.relu(np.zeros(3, I32))
    with expect(rk.DTypeError, "invalid_index_dtype", "E4011"):
        kernel.gather(F32([1]), F32([0]))


def test_graphs():
    with expect(rk.GraphError, "undefined_value", "E4001", "1"):
        rk.Graph.parse("g", "%0 = Relu(%x)\noutputs: %0\n")
    with expect(rk.GraphError, "undefined_output", "E4003"):
        rk.Graph.parse("g", "%x = Input() : Tensor<f32, [1]>\noutputs: %1\n")


def test_arguments(kernel):
    with expect(rk.MessageError, "invalid_argument", match=r"numpy\.ascontiguousarray\(x\)"):
        kernel.relu(np.zeros((2, 2), F32).T)


def test_messages_that_no_ring_takes(runtime, kernel):
    with expect(rk.TooLargeError, "message_too_large", match="input_bytes|ring"):
        kernel.relu(np.zeros(2**20, F32))


def test_indices(kernel):
    for _ in range(3):
        with expect(rk.IndexOutOfBounds, "out_of_bounds", "E6001", "7"):
            kernel.gather(F32([1, 2]), I32([0, 7]))
        assert kernel.gather(F32([1, 2]), I32([1, 0])).tolist() == [2, 1]


def test_names_that_nobody_has(runtime, kernel):
    with expect(rk.NotFound, "kernel_not_found", match="nobody"):
        runtime.kernel("nobody")
    with expect(rk.NotFound, "program_not_found", match="nothing.*core"):
        runtime.launch("x", "nothing")
    tensor = runtime.tensor(3)
    tensor.deallocate()
    for use in (tensor.read, lambda: kernel.relu(tensor), lambda: tensor.write(F32([1, 2, 3]))):
        with expect(rk.NotFound, "tensor_not_found"):
            use()


def test_tensors_of_another_runtime_are_not_found(native):
    with rk.Runtime(backend="native") as other:
        tensor = other.tensor(3)
        with native.launch("strange") as kernel:
            with expect(rk.NotFound, "tensor_not_found", match=str(tensor.id)):
                kernel.relu(tensor)


def test_states(runtime, new_id):
    kernel = runtime.launch(new_id(), activate=False)
    with expect(rk.StateError, "invalid_state", match="activate it first"):
        kernel.relu(F32([1]))
    kernel.terminate()


def test_a_name_that_is_in_use(runtime, kernel):
    with expect(rk.Exists, "kernel_exists", match=kernel.id) as caught:
        runtime.launch(kernel.id)
    assert isinstance(caught.value, rk.StateError)


def test_no_room(runtime, new_id):
    kernel = runtime.launch(new_id(), in_flight_max=1, backpressure="reject")
    kernel.deactivate()
    kernel.send("relu", F32([1]))
    with expect(rk.Backpressure, "queue_full"):
        kernel.send("relu", F32([1]))
    kernel.activate()
    assert kernel.receive(10).value.tolist() == [1]
    kernel.send("relu", F32([1]))
    kernel.terminate()


@pytest.mark.parametrize("policy", ("drop_newest", "drop_oldest"))
def test_no_room_with_a_policy_that_drops(runtime, new_id, policy):
    kernel = runtime.launch(new_id(), in_flight_max=1, backpressure=policy)
    kernel.deactivate()
    kernel.send("relu", F32([1]))
    with expect(rk.Backpressure, "message_dropped"):
        kernel.send("relu", F32([1]))
    kernel.terminate()


def test_time_that_is_over(kernel):
    kernel.deactivate()
    for _ in range(3):
        with expect(rk.DeadlineExceeded, "deadline_exceeded"):
            kernel.relu(F32([1]), timeout=0.01)
    with expect(rk.DeadlineExceeded, "deadline_exceeded"):
        kernel.receive(0.01)
    with expect(rk.DeadlineExceeded, "deadline_exceeded"):
        kernel.receive(0)
    kernel.activate()
    assert kernel.relu(F32([1])).tolist() == [1]


def test_the_timeout_of_a_runtime(script):
    done = script("""
        import numpy as np, pyringkernel as rk
        runtime = rk.Runtime(backend="native", call_timeout=0.01)
        kernel = runtime.launch("a")
        kernel.deactivate()
        try:
            kernel.relu(np.float32([1]))
        except TimeoutError as error:
            print(type(error).__name__)
    """)
    assert (done.stdout, done.stderr, done.returncode) == ("DeadlineExceeded\n", "", 0)


def test_ends(runtime, new_id):
    kernel = runtime.launch(new_id())
    kernel.relu(F32([1]))
    kernel.terminate()
    uses = (
        lambda: kernel.relu(F32([1])),
        lambda: kernel.send("relu", F32([1])),
        lambda: kernel.receive(1),
    )
    for use in uses:
        with expect(rk.Closed, "kernel_terminated", match=kernel.id):
            use()
    with expect(rk.StateError, "invalid_state", match="terminated -> active"):
        kernel.activate()


def test_what_a_backend_cannot(runtime):
    tensor = runtime.tensor(2)
    with expect(rk.Unsupported, "unsupported", match="resident tensor"):
        runtime.function(lambda x: x + tensor)(F32([1, 2]))


def test_an_op_that_there_is_not(kernel):
    with pytest.raises(rk.Error, match="no op 'tan'.* tanh ") as caught:
        kernel.call("tan", F32([1]))
    assert isinstance(caught.value, (rk.Unsupported, rk.NotFound))


def test_memory(runtime):
    with expect(rk.OutOfMemory, "allocation_failure", "E6004", "free"):
        runtime.tensor((2**20, 1000))


def test_backends_that_there_are_not():
    with expect(rk.BackendUnavailable, "backend_unavailable", "E6002", "native opencl"):
        rk.Runtime(backend="nothing")
    with expect(rk.BackendUnavailable, "backend_unavailable", "E6002"):
        rk.Runtime(backend="native", device=99)


def test_faults_of_handlers(runtime, new_id):
    runtime.add_program("faults", FAULTS)
    with runtime.launch(new_id(), "faults") as kernel:
        with expect(rk.HandlerFault, "handler_fault", match="code 7, detail 4000000000") as caught:
            kernel.call_bytes(b"12345678")
    error = caught.value
    assert (error.fault_code, error.fault_detail) == (7, 4000000000)
    assert error.message > 0


def test_programs_that_do_not_build(runtime):
    with expect(rk.DeviceError, "build_failed", match="no_such_thing"):
        runtime.add_program("broken", "RK_ON_BYTES {\n  return no_such_thing(self);\n}\n")


@pytest.mark.parametrize("where", ("input 0", "constant"))
def test_not_a_number(runtime, where):
    weights = F32([1, np.nan]) if where == "constant" else F32([1, 1])
    x = F32([1, 2]) if where == "constant" else F32([1, np.nan])
    function = runtime.function(lambda x: rk.ops.relu(x) + weights)
    function(x)
    for _ in range(2):
        with expect(rk.NotANumber, "not_a_number", match=f"{where}.*element 1"):
            function(x, check_nan=True)


def test_bad_words_name_the_good_ones():
    for word in ("target", "transfer"):
        with expect(rk.MessageError, "invalid_argument", match="'automatic'"):
            rk.Runtime(**{word: "best"})
    with pytest.raises(TypeError):
        rk.Runtime(colour="red")


def test_a_bad_policy_names_the_good_ones(native):
    with expect(rk.MessageError, "invalid_argument", match="'drop_oldest'"):
        native.launch("x", backpressure="wait")


def test_the_error_that_a_runtime_keeps(runtime, new_id):
    with runtime.launch(new_id()) as kernel:
        with pytest.raises(rk.IndexOutOfBounds):
            kernel.gather(F32([1]), I32([3]))
        assert kernel.metrics().failed == 1
    records = [record for record in runtime.errors() if record.kernel == kernel.id]
    assert [(r.code, r.count) for r in records] == [(6001, 1)]
    assert "out_of_bounds" in repr(records[0])


@pytest.mark.parametrize("word", ("input_bytes", "output_bytes"))
@pytest.mark.parametrize("count", (40_000, 65_536, 1_000_000))
def test_what_is_too_large_says_which_ring_has_room(runtime, new_id, word, count):
    x = F32([1]) if word == "output_bytes" else np.zeros(count, F32)
    out = runtime.tensor((count,)) if word == "input_bytes" else None

    def use(kernel):
        if word == "input_bytes":
            kernel.relu(x, out=out)
        else:
            kernel.fill(x, (count,))

    with runtime.launch(new_id()) as kernel:
        cure = rf"\. Launch it with {word}=\d+$"
        with expect(rk.TooLargeError, "message_too_large", match=cure) as caught:
            use(kernel)
    room = int(str(caught.value).rpartition("=")[2])
    with runtime.launch(new_id(), **{word: room}) as kernel:
        use(kernel)
    with runtime.launch(new_id(), **{word: room // 2}) as kernel:
        with pytest.raises(rk.TooLargeError):
            use(kernel)


@pytest.mark.parametrize(
    "use",
    (
        lambda runtime, path: runtime.add_program("p", path=path),
        lambda runtime, path: runtime.add_program("p", path=str(path)),
        lambda runtime, path: runtime.swap_program("p", path=path),
        lambda runtime, path: runtime.add_program("p", "", schema=path),
        lambda runtime, path: rk.onnx.read(path),
        lambda runtime, path: rk.onnx.read(str(path)),
        lambda runtime, path: rk.mlir.read_file(path),
        lambda runtime, path: rk.mlir.read_file(str(path)),
    ),
)
def test_a_file_that_is_not_there(native, tmp_path, use):
    path = tmp_path / "none.bfbs"
    with expect(rk.MissingFile, "invalid_argument", match="none.bfbs") as caught:
        use(native, path)
    error = caught.value
    assert isinstance(error, FileNotFoundError) and isinstance(error, rk.MessageError)
    assert (error.errno, error.filename) == (errno.ENOENT, str(path))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is rk.MissingFile and again.code == error.code and "none.bfbs" in str(again)


X = F32([1])
WRONG_WORDS = {
    "Kernel.add() got an unexpected keyword argument 'otu'. Did you mean 'out'?":
        lambda runtime, kernel: kernel.add(X, X, otu=X),
    "Kernel.conv2d() got an unexpected keyword argument 'stride'. Did you mean 'strides'?":
        lambda runtime, kernel: kernel.conv2d(X, X, stride=2, priority=1),
    "Kernel.terminate() got an unexpected keyword argument 'drian'. Did you mean 'drain'?":
        lambda runtime, kernel: kernel.terminate(drian=True),
    "Kernel.metrics() got an unexpected keyword argument 'x'.":
        lambda runtime, kernel: kernel.metrics(x=1),
    "Runtime.launch() got an unexpected keyword argument 'inputbytes'. Did you mean 'input_bytes'?":
        lambda runtime, kernel: runtime.launch("x", inputbytes=3),
    "Graph() got an unexpected keyword argument 'nme'. Did you mean 'name'? It takes name":
        lambda runtime, kernel: rk.Graph(nme=3),
    "parse() got an unexpected keyword argument":
        lambda runtime, kernel: rk.Graph.parse("a", text="", nothing=1),
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG_WORDS)
def test_a_wrong_keyword_is_named(native, native_kernel, text):
    with pytest.raises(TypeError, match="^" + re.escape(text)):
        WRONG_WORDS[text](native, native_kernel)


def test_other_wrong_arguments_show_the_signature(native, native_kernel):
    for use in (
        lambda: native_kernel.add(X),
        lambda: native_kernel.add(X, X, priority="high"),
        lambda: native_kernel.add(X, a=X, b=X),
        lambda: native.launch(5),
    ):
        with pytest.raises(TypeError, match=r"supported:\n    1\. (add|launch)\(self, "):
            use()
