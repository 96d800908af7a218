"""Functions in MLIR: what numpy computes, states, and what is refused where."""

import os
import pickle
import sys

import numpy as np
import pytest

import pyringkernel as rk
from conftest import MLIR_VERSIONS, mlir_libraries, skip_without
from mlircases import BYTECODE, CASES

F32 = np.float32

#: Argument 0 may be kept: it becomes result 1.
SUMS = """
func.func @sums(%total: tensor<2xf32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = arith.addf %total, %x : tensor<2xf32>
  %1 = arith.addf %0, %0 : tensor<2xf32>
  return %1, %0 : tensor<2xf32>, tensor<2xf32>
}
"""

TWICE = """
func.func @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.addf %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""

SINES = """
func.func @sines(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = math.acosh %x : tensor<2xf32>
  %1 = arith.addf %x, %x : tensor<2xf32>
  %2 = math.cbrt %1 : tensor<2xf32>
  return %0, %2 : tensor<2xf32>, tensor<2xf32>
}
"""

BRANCHES = """
func.func @either(%x: tensor<2xf32>, %which: tensor<i32>) -> tensor<2xf32> {
  %i = tensor.extract %which[] : tensor<i32>
  %c = arith.trunci %i : i32 to i1
  cf.cond_br %c, ^one(%x : tensor<2xf32>), ^other
^one(%y: tensor<2xf32>):
  %0 = math.exp %y : tensor<2xf32>
  return %0 : tensor<2xf32>
^other:
  return %x : tensor<2xf32>
}
"""

AGAIN = """func.func @again() {
  %0 = arith.constant 1 : i32
  %0 = arith.constant 2 : i32
  return
}
"""


@pytest.fixture(scope="module", params=MLIR_VERSIONS)
def library(request):
    """The path of the library with this version of MLIR: both in this one process."""
    if path := mlir_libraries().get(request.param):
        return path
    return skip_without("mlir", f"no version {request.param} is installed or built here")


def run(runtime, case, library):
    function = runtime.compile(rk.mlir.read(case.text, library=library))
    got = function(*case.inputs)
    want = case.expected(*case.inputs)
    several = isinstance(want, tuple)
    for one, other in zip(got, want, strict=True) if several else ((got, want),):
        if np.asarray(other).dtype.kind == "f":
            other = np.asarray(other, F32)
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", CASES)
def test_the_results_are_those_of_numpy(native, library, name):
    run(native, CASES[name], library)


def test_on_each_backend(runtime, library):
    run(runtime, CASES["matmul, bias and relu"], library)


@pytest.mark.parametrize("given", (SUMS, SUMS.encode(), bytearray(SUMS.encode())))
def test_states(native, library, given):
    graph = rk.mlir.read(given, state={0: 1}, library=library)
    sums = native.compile(graph)
    assert sums.name == "sums"
    assert sums.states == (("float32", (2,)),)
    other = sums.instance()
    x = F32([1, -2])
    for time in (1, 2, 3):
        assert sums(x).tolist() == (2 * time * x).tolist()
    assert other(F32([5, 5])).tolist() == [10, 10]
    assert sums.read_state(0).tolist() == [3, -6]
    sums.reset_states()
    assert sums(x).tolist() == (2 * x).tolist()


@pytest.mark.parametrize(
    "state, error, text",
    (
        ({2: 0}, rk.MessageError, "argument 2 becomes result 0"),
        ({0: 2}, rk.MessageError, "argument 0 becomes result 2"),
        ({0: 1, 1: 1}, rk.MessageError, "each serves one state"),
        ({0: -1}, ValueError, "from 0 on; not -1"),
        ({"total": 1}, TypeError, "str"),
        ({0: 1.5}, TypeError, "float"),
    ),
)
def test_states_that_there_are_not(library, state, error, text):
    with pytest.raises(error, match=text):
        rk.mlir.read(SUMS, state=state, library=library)


def test_a_function_of_several(native, library):
    text = SUMS + TWICE
    with pytest.raises(rk.MessageError, match="several functions.*'sums', 'twice'"):
        rk.mlir.read(text, library=library)
    with pytest.raises(rk.MessageError, match="no function 'none'"):
        rk.mlir.read(text, function="none", library=library)
    twice = native.compile(rk.mlir.read(text, function="twice", library=library))
    assert twice.name == "twice"
    assert twice(F32([1, 2])).tolist() == [2, 4]
    named = rk.mlir.read(text, function="twice", name="mine", library=library)
    assert named.name == "mine"


@pytest.mark.parametrize("to_path", (lambda path: path, str))
def test_a_file(native, library, tmp_path, to_path):
    path = tmp_path / "twice.mlir"
    path.write_text(TWICE)
    twice = native.compile(rk.mlir.read_file(to_path(path), library=library))
    assert twice(F32([1, 2])).tolist() == [2, 4]
    assert twice.name == "twice.mlir"
    assert rk.mlir.read_file(path, name="mine", library=library).name == "mine"
    path.write_text(AGAIN)
    with pytest.raises(rk.MessageError, match=r"twice\.mlir:3:3: "):
        rk.mlir.read_file(path, library=library)


def test_a_path_is_no_text(tmp_path):
    path = tmp_path / "model.mlir"
    with pytest.raises(TypeError, match="read_file"):
        rk.mlir.read(path)
    with pytest.raises(ValueError, match=r"read_file\('model.mlir'\)"):
        rk.mlir.read("model.mlir")
    with pytest.raises(TypeError, match="bytes-like"):
        rk.mlir.read(5)


def test_text_that_mlir_refuses(library):
    everything = [rk.Diagnostic("remark", "what was there before")]
    with pytest.raises(rk.MessageError, match=r"again:3:3: redefinition.*\(MLIR \d+\.") as caught:
        rk.mlir.read(AGAIN, name="again", library=library, diagnostics=everything)
    (told,) = caught.value.diagnostics
    assert (told.severity, told.file, told.line, told.column) == ("error", "again", 3, 3)
    assert told.node == "" and "redefinition" in told.message
    assert str(told) == f"again:3:3: {told.message}"
    (note,) = told.notes
    assert (note.severity, note.line, note.notes) == ("note", 2, ())
    assert everything[1:] == [told] and everything[0].severity == "remark"
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.diagnostics == (told,)
    with pytest.raises(AttributeError):
        told.line = 4


def test_every_op_that_is_not_read(library):
    with pytest.raises(rk.Unsupported, match="'math.acosh'.*'math.cbrt'") as caught:
        rk.mlir.read(SINES, name="net.mlir", library=library)
    assert isinstance(caught.value, NotImplementedError) and caught.value.number == "E6003"
    assert [(told.line, told.severity) for told in caught.value.diagnostics] == [
        (3, "error"),
        (5, "error"),
    ]
    for told in caught.value.diagnostics:
        assert str(told).startswith(f"net.mlir:{told.line}:8: 'math.")
        assert str(told) in str(caught.value)


@pytest.mark.parametrize(
    "text, error, said",
    (
        ("", rk.MessageError, "no func.func"),
        ("nonsense", rk.MessageError, "-:1:1: "),
        (b"ML\xefR and what is no bytecode", rk.MessageError, "-:"),
        (TWICE.replace("f32", "f64"), rk.DTypeError, "f64"),
        (TWICE.replace("<2x", "<?x"), rk.MessageError, "open"),
        (BRANCHES, rk.MessageError, "several blocks"),
        (TWICE.replace("%0 :", "%1 :"), rk.MessageError, "-:4:"),
        (b'func.func @f() { "\xff"() : () -> () }', rk.MessageError, "-:1:"),
    ),
)
def test_other_texts_that_are_refused(library, text, error, said):
    with pytest.raises(error, match=said):
        rk.mlir.read(text, library=library)


def test_bytecode(native, library, tmp_path):
    version = rk.mlir.library(library).version[0]
    path = tmp_path / "more.mlirbc"
    path.write_bytes(BYTECODE[version])
    for graph in (
        rk.mlir.read(BYTECODE[version], library=library),
        rk.mlir.read(memoryview(BYTECODE[version]), library=library),
        rk.mlir.read_file(path, library=library),
    ):
        assert native.compile(graph)(F32([1, 2])).tolist() == [2, 4]
    with pytest.raises(rk.MessageError, match="when only 13 remain; .*produced by: MLIR"):
        rk.mlir.read(BYTECODE[version][:200], library=library)
    other = sum(BYTECODE) - version
    with pytest.raises(rk.MessageError, match=rf"produced by: MLIR{other}\..*\(MLIR {version}\."):
        rk.mlir.read(BYTECODE[other], library=library)


def test_a_text_that_is_read_leaves_no_diagnostics(library):
    told = []
    rk.mlir.read(TWICE, library=library, diagnostics=told)
    assert told == []


def test_the_library(library):
    found = rk.mlir.library(library)
    assert found.path == library
    assert found.version[0] in MLIR_VERSIONS and len(found.version) == 3


def test_both_versions_in_one_process(native):
    libraries = mlir_libraries()
    if len(libraries) < 2:
        skip_without("mlir", "there are not two versions")
    for _ in range(2):
        for version, path in libraries.items():
            with pytest.raises(rk.MessageError, match=rf"\(MLIR {version}\."):
                rk.mlir.read(AGAIN, library=path)
            run(native, CASES["softmax of its parts"], path)


def test_threads_read_at_once(library):
    import concurrent.futures as futures

    with futures.ThreadPoolExecutor(4) as pool:
        graphs = pool.map(lambda _: rk.mlir.read(SUMS, library=library), range(8))
        assert [graph.op_count for graph in graphs] == [2] * 8


@pytest.mark.parametrize("use", (rk.mlir.library, lambda path: rk.mlir.read(TWICE, library=path)))
def test_a_library_that_is_not_there(tmp_path, use):
    path = tmp_path / "none.so"
    with pytest.raises(rk.BackendUnavailable, match=f"tried: {path} - ") as caught:
        use(path)
    assert isinstance(caught.value, OSError) and caught.value.name == "library_not_found"
    assert all(str(path) in told.message for told in caught.value.diagnostics)
    path.write_text("no library")
    path.chmod(0o644)
    with pytest.raises(rk.BackendUnavailable, match=str(path)):
        use(path)


def test_without_any_library_the_error_says_what_to_install(script):
    text = """
    import pyringkernel as rk
    try:
        print(rk.mlir.library().path)
    except rk.BackendUnavailable as error:
        print(error)
    """
    environment = {name: value for name, value in os.environ.items() if name != "MLIR_LIBRARY_PATH"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = script(text, environment=environment)
    assert done.returncode == 0, done.stderr
    if not done.stdout.startswith("library_not_found"):
        pytest.skip(f"unsupported: MLIR is found without being named: {done.stdout}")
    assert "libmlir-22-dev or libmlir-19-dev" in done.stdout
    assert "MLIR_LIBRARY_PATH" in done.stdout and "tried: " in done.stdout
