"""Traced functions: compiled once for each kind of operands, and what they refuse."""

import sys
import threading

import numpy as np
import pytest

import pyringkernel as rk

F32, I32, I64 = np.float32, np.int32, np.int64


def test_a_function_is_compiled_once_for_each_kind(runtime):
    kinds = []

    @runtime.function
    def doubled(x):
        kinds.append((x.dtype, x.shape))
        return x + x

    for _ in range(3):
        assert doubled(F32([1, 2])).tolist() == [2, 4]
        assert doubled(F32([[1]])).tolist() == [[2]]
        assert doubled(I64([3])).tolist() == [6]
    assert doubled(5.0) == 10
    assert kinds == [(F32, (2,)), (F32, (1, 1)), (I64, (1,)), (F32, ())]
    assert len(doubled.functions) == 4
    assert repr(doubled.functions[0]) == "<Function 'doubled', (float32[2]) -> (float32[2])>"


@pytest.fixture
def frequent_switching():
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_threads_share_one_compilation(runtime, frequent_switching):
    traces = []
    gate = threading.Barrier(8)

    def body(x):
        traces.append(1)
        return rk.ops.tanh(x) + 1

    functions = [runtime.function(body) for _ in range(10)]

    def use():
        for function in functions:
            gate.wait()
            function(F32([0, 0]))

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(function.functions) for function in functions] == [1] * 10
    assert len(traces) == 10


def test_names(runtime):
    @runtime.function(name="scores")
    def other(x):
        return -x

    other(F32([1]))
    assert other.functions[0].name == "scores"
    numbers = [id for id in runtime.kernels() if id.startswith("function:scores#")]
    assert len(numbers) == 1


def test_arrays_become_constants_of_that_moment(runtime):
    weights = F32([[1, 2], [3, 4]])
    function = runtime.function(lambda x: x @ weights)
    assert function(F32([[1, 1]])).tolist() == [[4, 6]]
    weights[:] = 0
    assert function(F32([[1, 1]])).tolist() == [[4, 6]]


@pytest.mark.parametrize("count", (1, 2, 3, 4, 5, 8, 17))
def test_several_outputs(script, count):
    done = script(
        """
        import sys
        import numpy as np, pyringkernel as rk
        count = int(sys.argv[1])
        with rk.Runtime(backend="native") as runtime:
            function = runtime.function(lambda x: [x + i for i in range(count)])
            outs = [np.zeros(3, np.float32) for _ in range(count)]
            for out in (None, None, outs, tuple(outs)):
                got = function(np.float32([0, 10, 20]), out=out)
                if count == 1:
                    assert type(got) is np.ndarray, type(got)
                    got = (got,)
                assert type(got) is tuple and len(got) == count
                for i, array in enumerate(got):
                    assert array.tolist() == [i, 10 + i, 20 + i], array
                    assert out is None or array is out[i]
        """,
        str(count),
    )
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.parametrize("count", (1, 4, 5, 32))
def test_several_inputs(runtime, count):
    def summed(*values):
        total = values[0]
        for value in values[1:]:
            total = total + value
        return total

    function = runtime.function(summed)
    operands = [np.full(3, i + 1, F32) for i in range(count)]
    for _ in range(2):
        assert function(*operands).tolist() == [count * (count + 1) / 2] * 3


def test_too_many_inputs_are_refused(native):
    function = native.function(lambda *values: values[0] + 1)
    with pytest.raises((rk.Error, TypeError)):
        function(*[F32([1])] * 33)


def test_the_operators_are_those_of_numpy(runtime):
    x = F32([[1, 2], [3, 4]])
    y = F32([[5, 6], [7, 8]])
    both = (
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: a @ b,
        lambda a, b: -a + 2,
        lambda a, b: 2 - a,
        lambda a, b: 2 * a + 1.5,
        lambda a, b: 1 / b,
        lambda a, b: y - a,  # numpy's array leaves it to the value
        lambda a, b: y @ a,
        lambda a, b: F32(3) * a,
        lambda a, b: y / a,
    )
    for number, function in enumerate(both):
        got = runtime.function(function)(x, y)
        np.testing.assert_array_equal(got, function(x, y), err_msg=str(number))


def test_the_functions_of_ops(runtime):
    x = F32([[1, -2, 3], [4, 5, -6]])
    ops = rk.ops
    cases = (
        (lambda v: ops.relu(v), np.maximum(x, 0)),
        (lambda v: ops.maximum(v, 2), np.maximum(x, 2)),
        (lambda v: ops.minimum(2.0, v), np.minimum(x, 2)),
        (lambda v: ops.compare(v, 0, "<"), (x < 0).astype(I32)),
        (lambda v: ops.select(ops.compare(v, 0, "<"), -v, v), np.abs(x)),
        (lambda v: ops.sum(v, -1), x.sum(-1)),
        (lambda v: ops.reduce_max(v, 0, True), x.max(0, keepdims=True)),
        (lambda v: ops.reshape(v, (3, 2)), x.reshape(3, 2)),
        (lambda v: ops.transpose(v, (1, 0)), x.T),
        (lambda v: ops.slice(v, (0, 0), (2, 3), (1, 2)), x[:, ::2]),
        (lambda v: ops.gather(v, I32([1, 1])), x[[1, 1]]),
        (lambda v: ops.concat(v, v, 1), np.concatenate((x, x), 1)),
        (lambda v: ops.pad(v, -1, (0, 1), (2, 0)), np.pad(x, ((0, 2), (1, 0)), constant_values=-1)),
        (lambda v: ops.cast(v, I64), x.astype(I64)),
        (lambda v: ops.index(v, (1, 2)), x[1, 2]),
        (lambda v: ops.expand_dims(v, 0), x[None]),
        (lambda v: ops.squeeze(ops.expand_dims(v, 0)), x),
        (lambda v: ops.dot(v, F32([1, 1, 1])), x.sum(1)),
        (lambda v: ops.matmul(v, F32([[1], [1], [1]])), x.sum(1, keepdims=True)),
        (lambda v: ops.fill(ops.sum(v), (2,)), np.full(2, x.sum())),
        (lambda v: ops.sub(ops.add(v, 1), ops.mul(v, ops.neg(v))), x + 1 + x * x),
        (lambda v: ops.sqrt(ops.mul(v, v)), np.abs(x)),
    )
    for number, (function, want) in enumerate(cases):
        got = runtime.function(function)(x)
        assert got.dtype == want.dtype, number
        np.testing.assert_array_equal(got, want, err_msg=str(number))
    close = (
        (lambda v: ops.sigmoid(v), 1 / (1 + np.exp(-x))),
        (lambda v: ops.softmax(v), np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
        (lambda v: ops.mean(v, 0), x.mean(0)),
        (lambda v: ops.div(ops.exp(v), ops.tanh(v)), np.exp(x) / np.tanh(x)),
        (lambda v: ops.log(ops.exp(ops.erf(v))), runtime.function(ops.erf)(x)),
    )
    for function, want in close:
        np.testing.assert_allclose(runtime.function(function)(x), want, rtol=1e-5, atol=1e-6)
    images = np.arange(16, dtype=F32).reshape(1, 4, 4, 1)
    pool = runtime.function(lambda v: ops.max_pool(v, (2, 2), strides=(2, 2)))
    assert pool(images).ravel().tolist() == [5, 7, 13, 15]
    ones = np.ones((2, 2, 1, 1), F32)
    convolved = runtime.function(lambda v: ops.conv2d(v, ones, padding="valid"))(images)
    assert convolved[0, 0, 0, 0] == 0 + 1 + 4 + 5


def test_ops_need_a_value(native):
    with pytest.raises(TypeError, match="Runtime.function traces"):
        rk.ops.relu(F32([1]))


def test_each_op_of_a_graph_is_a_function_of_ops():
    names = {"max": "maximum", "min": "minimum"}
    ours = {name for name in dir(rk.Graph) if not name.startswith("_")}
    ours -= {"input", "state", "update", "constant", "output", "parse", "name", "op_count", "copy"}
    assert {n for n in ours if not hasattr(rk.ops, names.get(n, n))} <= {"sum_all", "mean_all"}


def test_a_function_has_to_return_values(native):
    for wrong, name in ((lambda x: None, "NoneType"), (lambda x: (x + 1, 5), "int")):
        with pytest.raises(TypeError, match=f"returned {name}, not a value"):
            native.function(wrong)(F32([1]))


def test_branches_on_elements_are_refused(native):
    @native.function
    def branches(x):
        return x if x else -x

    with pytest.raises(TypeError, match=r"select\(\)"):
        branches(F32([1]))


def test_an_exception_of_the_body_arrives(native):
    @native.function
    def fails(x):
        raise KeyError("mine")

    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            fails(F32([1]))
    assert fails.functions == []


def test_a_body_that_does_not_fit_names_the_op(native):
    function = native.function(lambda x: x @ F32([[1]]))
    with pytest.raises(rk.ShapeError) as caught:
        function(F32([[1, 2, 3]]))
    assert caught.value.number == "E3003"


def test_values_of_two_graphs_do_not_mix(native):
    kept = []

    @native.function
    def keeps(x):
        kept.append(x)
        return x + 1

    keeps(F32([1]))
    with pytest.raises(rk.Error):
        native.function(lambda x: x + kept[0])(F32([1]))


def test_a_maker_that_makes_no_function_is_refused(script):
    done = script("""
        import numpy as np, pyringkernel as rk
        try:
            rk.Traced(lambda kinds: 3)(np.float32([1]))
        except TypeError as error:
            print("TypeError")
    """)
    assert (done.stdout, done.stderr, done.returncode) == ("TypeError\n", "", 0)


def test_out(runtime):
    function = runtime.function(lambda x: x * 2)
    out = np.zeros(3, F32)
    for _ in range(3):
        out[...] = 0
        assert function(F32([1, 2, 3]), out=out) is out
        assert out.tolist() == [2, 4, 6]
    word = "".join(("o", "ut"))  # another object than the name that calls have
    assert function(F32([1, 2, 3]), **{word: out}) is out
    assert function(out, out=out).tolist() == [4, 8, 12]
    wrong = (
        (np.zeros(4, F32), rk.ShapeError),
        (np.zeros(3, I32), rk.DTypeError),
        (np.zeros(6, F32)[::2], rk.MessageError),
        ((out, out), rk.ShapeError),
        ((), rk.ShapeError),
    )
    for place, error in wrong:
        with pytest.raises(error):
            function(F32([1, 2, 3]), out=place)
    assert out.tolist() == [4, 8, 12]


def test_a_resident_out_has_the_result_or_is_refused(runtime):
    function = runtime.function(lambda x: x * 2)
    tensor = runtime.tensor(3)
    for _ in range(2):
        try:
            function(F32([1, 2, 3]), out=tensor)
        except (rk.Error, TypeError):
            continue
        assert tensor.read().tolist() == [2, 4, 6], "computed, and lost"


def test_words(runtime):
    function = runtime.function(lambda x: x * 2)
    assert function(F32([1]), timeout=5, priority=2, check_nan=False).tolist() == [2]
    assert function(F32([1]), check_nan=True).tolist() == [2]
    with pytest.raises(TypeError, match="'out', 'timeout', 'check_nan', 'priority'"):
        function(F32([1]), outs=None)
    with pytest.raises(ValueError, match="above zero"):
        function(F32([1]), timeout=0)
    for words in ({"priority": "high"}, {"check_nan": "x"}, {"timeout": "soon"}):
        with pytest.raises(TypeError):
            function(F32([1]), **words)


def test_operands_are_those_of_kernels(runtime):
    function = runtime.function(lambda x: x * 2)
    with pytest.raises(rk.MessageError, match="ascontiguousarray"):
        function(np.zeros((2, 3), F32).T)
    with pytest.raises(rk.DTypeError, match="astype"):
        function(np.zeros(3))
    assert function(memoryview(F32([1, 2]))).tolist() == [2, 4]


def test_an_index_out_of_bounds_leaves_it_usable(runtime):
    function = runtime.function(lambda x, i: rk.ops.gather(x, i))
    x = F32([1, 2])
    for _ in range(2):
        assert function(x, I32([1])).tolist() == [2]
        with pytest.raises(rk.IndexOutOfBounds):
            function(x, I32([2]))
