"""Graphs: op by op, from text and from ONNX files, with states."""

import numpy as np
import pytest

import pyringkernel as rk
from conftest import ROOT
from opcases import METHOD_CASES, check

F32, I64 = np.float32, np.int64
MODELS = ROOT / "tests/vectors/models"

TEXT = """
%x = Input() {name: "image"} : Tensor<f32, [1, 2]>
%w = ConstTensor([[0.5, -1], [1, 2]]) : Tensor<f32, [2, 2]>
%0 = MatMul(%x, %w) : Tensor<f32, [1, 2]>
%1 = Relu(%0) : Tensor<f32, [1, 2]>
outputs: %1
"""

FLOWERS = (  # of tests/vectors/scikit_test.cpp, where onnxruntime answered
    (0, (5.1, 3.5, 1.4, 0.2), (0.984703183, 0.0152967693, 6.20378131e-08)),
    (2, (6.7, 3.0, 5.0, 1.7), (0.0011781666, 0.458057255, 0.54076457)),
    (2, (6.0, 2.2, 5.0, 1.5), (0.000385717372, 0.464580774, 0.535033464)),
)


def running_sum():
    graph = rk.Graph("running sum")
    x = graph.input((2,))
    total = graph.state((2,))
    after = graph.add(total, x)
    graph.update(total, after)
    graph.output(after)
    return graph


@pytest.mark.parametrize("case", METHOD_CASES, ids=lambda case: f"{case.op}-{case.label}")
def test_an_op_of_a_graph_gives_what_the_op_gives(native, case):
    operands = case.operands(case.dtypes[-1])
    graph = rk.Graph()
    values = [graph.input(operand.shape, operand.dtype) for operand in operands]
    result = getattr(graph, case.op)(*values, **case.words)
    graph.output(graph.copy(result))
    function = native.compile(graph)
    for _ in range(2):
        got = function(*operands)
        check(case, got, operands)
    assert (result.shape, result.dtype) == (got.shape, got.dtype)


def test_a_graph_describes_itself(native):
    graph = rk.Graph("mine")
    x = graph.input((2, 3))
    y = graph.relu(graph.add(x, F32([1, 2, 3])))
    assert repr(x) == "<Value float32[2, 3]>"
    assert y.graph is graph
    assert (y.shape, y.dtype) == ((2, 3), F32)
    graph.output(y)
    assert graph.name == "mine" and graph.op_count >= 2
    assert repr(graph) == f"<Graph 'mine', {graph.op_count} ops>"
    function = native.compile(graph)
    assert function.name == "mine"
    assert function.inputs == function.outputs == (("float32", (2, 3)),)
    assert function.commands >= 1 and function.arena_bytes > 0


def test_constants(native):
    graph = rk.Graph()
    x = graph.input((2,))
    weights = F32([1, 2])
    graph.output(graph.mul(x, graph.constant(weights)))
    weights[:] = 0
    assert native.compile(graph)(F32([3, 3])).tolist() == [3, 6]


def test_states_stay_from_call_to_call(runtime):
    function = runtime.compile(running_sum())
    assert function(F32([1, 2])).tolist() == [1, 2]
    assert function(F32([1, 2])).tolist() == [2, 4]
    assert function(F32([1, 2]), check_nan=True).tolist() == [3, 6]
    out = np.zeros(2, F32)
    function(F32([1, 2]), out=out)
    assert out.tolist() == [4, 8]


def test_an_instance_has_states_of_its_own(runtime):
    function = runtime.compile(running_sum())
    function(F32([5, 5]))
    other = function.instance()
    assert other.name == function.name
    assert other(F32([1, 2])).tolist() == [1, 2]
    assert function(F32([1, 2])).tolist() == [6, 7]
    del function
    assert other(F32([1, 2])).tolist() == [2, 4]


def test_a_call_that_fails_leaves_the_states(runtime):
    graph = rk.Graph()
    x, i = graph.input((2,)), graph.input((1,), "int32")
    total = graph.state((2,))
    after = graph.add(total, x)
    graph.update(total, after)
    graph.output(graph.gather(after, i))
    function = runtime.compile(graph)
    assert function(F32([1, 2]), np.int32([0])).tolist() == [1]
    with pytest.raises(rk.IndexOutOfBounds):
        function(F32([1, 2]), np.int32([9]))
    assert function(F32([1, 2]), np.int32([0])).tolist() == [2]


def test_text(runtime):
    function = runtime.compile(rk.Graph.parse("scores", TEXT))
    assert function.name == "scores"
    x = F32([[1, 2]])
    assert function(x).tolist() == np.maximum(x @ F32([[0.5, -1], [1, 2]]), 0).tolist()


@pytest.mark.parametrize(
    "text, error, number",
    (
        ("nonsense", rk.MessageError, None),
        (TEXT.replace("Relu(%0)", "Relu(%7)"), rk.GraphError, "E4001"),
        (TEXT.replace("%1 = Relu", "%0 = Relu"), rk.GraphError, "E4002"),
        (TEXT.replace("outputs: %1", "outputs: %9"), rk.GraphError, "E4003"),
        (TEXT.replace("[[0.5, -1], [1, 2]]", "[[0.5, -1], [1]]"), rk.ShapeError, "E3010"),
        (TEXT.replace("f32, [1, 2]>\n%w", "f64, [1, 2]>\n%w"), rk.DTypeError, "E2005"),
        (TEXT.replace("Relu", "Wrong"), rk.Unsupported, "E6003"),
    ),
)
def test_text_that_means_nothing(text, error, number):
    with pytest.raises(error) as caught:
        rk.Graph.parse("scores", text)
    assert caught.value.number == number


def test_the_wrong_operands_of_a_function(runtime):
    function = runtime.compile(rk.Graph.parse("scores", TEXT))
    for _ in range(2):
        for operands, number in (
            ((), "E2007"),
            ((F32([[1, 2]]),) * 2, "E2007"),
            ((F32([[1, 2, 3]]),), "E3003"),
            ((I64([[1, 2]]),), "E2004"),
        ):
            with pytest.raises(rk.Error, match="scores") as caught:
                function(*operands)
            assert caught.value.number == number
        assert function(F32([[0, 0]])).tolist() == [[0, 0]]


def test_graphs_that_cannot_be_compiled(native):
    empty = rk.Graph()
    with pytest.raises(rk.MessageError):
        native.compile(empty)
    graph = rk.Graph()
    x = graph.input((2,))
    with pytest.raises(rk.ShapeError):
        graph.add(x, F32([1, 2, 3]))
    with pytest.raises(rk.ShapeError):
        native.compile(graph)  # the first error stays
    graph = rk.Graph()
    with pytest.raises(rk.Error):
        graph.update(graph.input((2,)), graph.input((2,)))
    graph = rk.Graph()
    with pytest.raises(rk.Unsupported, match="resident"):
        graph.add(graph.input((3,)), native.tensor(3))
    with pytest.raises(rk.Unsupported, match="resident"):
        rk.Graph().constant(native.tensor(3))
    with pytest.raises(TypeError):
        rk.Graph().output(5)
    with pytest.raises(rk.DTypeError):
        rk.Graph().input((2,), np.float64)
    with pytest.raises(rk.ShapeError):
        rk.Graph().input((2, 0))


@pytest.mark.parametrize("given", ("path", "text", "bytes"))
def test_a_model_file(runtime, given):
    path = MODELS / "iris_pipeline.onnx"
    file = {"path": path, "text": str(path), "bytes": path.read_bytes()}[given]
    graph = rk.onnx.read(file, inputs={"input": (1, 4)}, name="iris")
    function = runtime.compile(graph)
    assert function.name == "iris"
    for label, features, probabilities in FLOWERS:
        got = function(F32([features]))
        assert got[0].tolist() == [label] and got[0].dtype == I64
        np.testing.assert_allclose(got[1], [probabilities], rtol=1e-5, atol=1e-5)


def test_a_model_file_for_a_batch_and_one_output(runtime):
    graph = rk.onnx.read(
        MODELS / "iris_pipeline.onnx", inputs={"input": [3, 4]}, outputs=["probabilities"]
    )
    got = runtime.compile(graph)(F32([features for _, features, _ in FLOWERS]))
    np.testing.assert_allclose(got, [want for *_, want in FLOWERS], rtol=1e-5, atol=1e-5)


def test_model_files_that_are_refused(tmp_path):
    path = MODELS / "iris_pipeline.onnx"
    with pytest.raises(rk.MessageError, match="input.*inputs"):
        rk.onnx.read(path)  # its batch is open
    with pytest.raises(rk.MessageError, match="nothing"):
        rk.onnx.read(tmp_path / "nothing.onnx")
    with pytest.raises(rk.MessageError):
        rk.onnx.read(path.read_bytes()[:200])
    with pytest.raises(rk.MessageError, match="probabilities"):
        rk.onnx.read(path, inputs={"input": (1, 4)}, outputs=["none such"])
    with pytest.raises(TypeError):
        rk.onnx.read(5)
