"""What is an operand or an `out`, and what is refused with which advice."""

import array

import numpy as np
import pytest

import pyringkernel as rk

F32, I32, I64 = np.float32, np.int32, np.int64


@pytest.fixture(params=(1, 2), ids=("plain", "prepared"))
def adder(native_kernel, request):
    """A kernel that sees an addition of two float32[3] for the first time, or has prepared it."""
    for _ in range(request.param):
        native_kernel.add(F32([0, 0, 0]), F32([0, 0, 0]))
    return native_kernel


class ByDlpack:
    """An array of another library: no buffer."""

    def __init__(self, elements):
        self.elements = elements

    def __dlpack__(self, **words):
        return self.elements.__dlpack__(**words)

    def __dlpack_device__(self):
        return self.elements.__dlpack_device__()


@pytest.mark.parametrize(
    "operand",
    (
        F32([1, 2, 3]),
        array.array("f", [1, 2, 3]),
        memoryview(F32([1, 2, 3])),
        ByDlpack(F32([1, 2, 3])),
        np.frombuffer(F32([1, 2, 3]).tobytes(), F32),  # read-only
        np.frombuffer(b"x" + F32([1, 2, 3]).tobytes(), F32, offset=1),  # at an odd address
        np.arange(1, 4, dtype="<f4"),
        F32([[1], [2], [3]])[:, 0].copy(),
        F32([0, 1, 2, 3])[1:],
        F32([1, 2, 3]).view(type("Own", (np.ndarray,), {})),
    ),
    ids=("array", "array.array", "memoryview", "dlpack", "bytes", "odd", "little", "copy", "part",
         "subclass"),
)
def test_whatever_has_elements_in_a_row_is_an_operand(adder, operand):
    got = adder.add(operand, F32([10, 20, 30]))
    assert type(got) is np.ndarray
    assert got.tolist() == [11, 22, 33]


@pytest.mark.parametrize("typecode, dtype", (("i", I32), ("q", I64), ("l", I64)))
def test_integers_of_the_standard_library_are_operands(native_kernel, typecode, dtype):
    got = native_kernel.add(array.array(typecode, [1, 2]), dtype([3, 4]))
    assert (got.dtype, got.tolist()) == (dtype, [4, 6])


@pytest.mark.parametrize("dtype", (F32, I32, I64))
def test_a_number_takes_the_type_of_the_other_operand(shared_kernel, dtype):
    x = dtype([5, 7])
    for got, want in (
        (shared_kernel.add(x, 2), [7, 9]),
        (shared_kernel.sub(2, x), [-3, -5]),
        (shared_kernel.mul(x, -1), [-5, -7]),
        (shared_kernel.call("max", x, 6), [6, 7]),
        (shared_kernel.compare(x, 5, "=="), [1, 0]),
    ):
        assert got.tolist() == want
    assert shared_kernel.add(x, 2).dtype == dtype


def test_a_number_is_not_rounded_on_its_way(native_kernel):
    assert native_kernel.add(I64([0]), 2**62 + 1).tolist() == [2**62 + 1]
    assert native_kernel.add(I32([0]), -(2**31)).tolist() == [-(2**31)]
    assert native_kernel.add(F32([0]), 0.1)[0] == F32(0.1)
    assert native_kernel.add(1, 2.5) == F32(3.5)  # numbers alone are float32


def test_a_number_takes_the_type_of_what_it_is_selected_beside(native_kernel):
    mask = I32([1, 0])
    assert native_kernel.select(mask, F32([1, 2]), 0.5).tolist() == [1, 0.5]
    assert native_kernel.select(mask, 3, I64([1, 2])).tolist() == [3, 2]
    got = native_kernel.select(mask, 1.0, 0.0)
    assert (got.dtype, got.tolist()) == (F32, [1, 0])


def test_a_number_is_an_index_of_gather(native_kernel):
    assert native_kernel.gather(F32([[1, 2], [3, 4]]), 1).tolist() == [3, 4]


@pytest.mark.parametrize(
    "number, others, error",
    (
        (0.5, I32([1]), rk.DTypeError),
        (0.5, I64([1]), rk.DTypeError),
        (2**31, I32([1]), rk.DTypeError),
        (2**70, I64([1]), OverflowError),
    ),
)
def test_a_number_that_does_not_fit_is_refused(native_kernel, number, others, error):
    for _ in range(2):
        with pytest.raises(error):
            native_kernel.add(others, number)


@pytest.mark.parametrize("shape", ((), (1,), (1, 1)))
def test_scalars_keep_their_rank(shared_kernel, shape):
    got = shared_kernel.add(np.zeros(shape, F32), np.ones(shape, F32))
    assert isinstance(got, np.ndarray) and got.shape == shape
    assert shared_kernel.add(F32(1), F32(2)).shape == ()


@pytest.mark.parametrize(
    "view",
    (
        np.zeros((2, 3), F32).T,
        np.zeros((2, 6), F32)[:, ::2],
        np.zeros(3, F32)[::-1],
        np.broadcast_to(F32([1]), (4,)),
    ),
    ids=("transposed", "gaps", "reversed", "broadcast"),
)
@pytest.mark.parametrize("place", (0, 1))
def test_a_view_with_gaps_is_refused_with_the_conversion(native_kernel, view, place):
    operands = [F32(1), F32(1)]
    operands[place] = view
    with pytest.raises(rk.MessageError, match=rf"operand {place}.*numpy\.ascontiguousarray"):
        native_kernel.add(*operands)
    operands[place] = np.ascontiguousarray(view)
    native_kernel.add(*operands)


@pytest.mark.parametrize(
    "operand, advice",
    (
        (np.zeros(3), r"'d'.*x\.astype\(numpy\.float32\)"),
        (np.zeros(3, np.float16), r"'e'.*x\.astype\(numpy\.float32\)"),
        (np.zeros(3, np.complex64), r"x\.astype\(numpy\.float32\)"),
        (np.zeros(3, ">f4"), r"x\.astype\(numpy\.float32\)"),
        (np.zeros(3, np.uint8), r"x\.astype\(numpy\.int32\)"),
        (np.zeros(3, np.uint32), r"x\.astype\(numpy\.int32\)"),
        (np.zeros(3, np.bool_), r"x\.astype\(numpy\.int32\)"),
        (np.zeros(3, [("a", F32)]), r"float32"),
        (np.float64(1), r"x\.astype\(numpy\.float32\)"),
        ([1.0, 2.0, 3.0], r"numpy\.asarray\(x, dtype=numpy\.float32\)"),
        ("text", r"numpy\.asarray"),
        (b"abc", r"astype"),
        (1j, r"numpy\.asarray"),
    ),
    ids=lambda value: str(getattr(value, "dtype", type(value).__name__))[:12],
)
def test_nothing_is_converted_unasked(adder, operand, advice):
    with pytest.raises(rk.DTypeError, match=f"operand 1.*{advice}"):
        adder.add(F32([1, 2, 3]), operand)


def test_operands_of_two_types_are_refused(native_kernel):
    with pytest.raises(rk.DTypeError, match="f32 and i32") as caught:
        native_kernel.add(F32([1]), I32([1]))
    assert caught.value.number == "E2004"


def test_none_is_no_operand(native_kernel):
    with pytest.raises(TypeError):
        native_kernel.relu(None)
    with pytest.raises(TypeError):
        native_kernel.call("relu", None)


@pytest.mark.parametrize("count", (0, 1, 3, 4, 5, 40))
def test_another_number_of_operands_is_refused(native_kernel, count):
    with pytest.raises((rk.ShapeError, TypeError)):
        native_kernel.call("add", *[F32([1])] * count)


@pytest.mark.parametrize(
    "out, error",
    (
        (np.zeros(4, F32), rk.ShapeError),
        (np.zeros((1, 3), F32), rk.ShapeError),
        (np.zeros(3, I32), rk.DTypeError),
        (np.zeros(3), rk.DTypeError),
        (np.zeros(6, F32)[::2], rk.MessageError),
        (np.frombuffer(bytes(12), F32), rk.MessageError),
        ([0, 0, 0], rk.DTypeError),
        (5, rk.DTypeError),
    ),
    ids=("longer", "rank", "int32", "float64", "gaps", "read-only", "list", "int"),
)
def test_an_out_that_does_not_fit_stays_as_it_was(adder, out, error):
    before = np.array(out)
    with pytest.raises(error):
        adder.add(F32([1, 2, 3]), F32([1, 2, 3]), out=out)
    np.testing.assert_array_equal(out, before)
    assert adder.add(F32([1, 2, 3]), F32([1, 2, 3])).tolist() == [2, 4, 6]


@pytest.mark.parametrize(
    "out, advice",
    (
        (np.zeros(3), "Make it with dtype=numpy.float32"),
        (bytearray(12), "Make it with dtype=numpy.float32"),
        (np.frombuffer(bytes(12), F32), "out 0 is read-only"),
    ),
)
def test_a_wrong_out_is_not_to_be_converted(adder, out, advice):
    with pytest.raises(rk.Error, match=advice):
        adder.add(F32([1, 2, 3]), F32([1, 2, 3]), out=out)


def test_an_out_may_be_any_writable_buffer(adder):
    out = array.array("f", [0, 0, 0])
    assert adder.add(F32([1, 2, 3]), 1, out=out) is out
    assert out.tolist() == [2, 3, 4]
    memory = memoryview(bytearray(12)).cast("f")
    adder.add(F32([1, 2, 3]), F32([1, 2, 3]), out=memory)
    assert memory.tolist() == [2, 4, 6]


@pytest.mark.parametrize("times", (1, 2, 3))
def test_an_out_may_be_an_operand(kernel, times):
    for _ in range(times):
        x = F32([[1, 2], [3, 4]])
        product = kernel.matmul(x, x, out=x)
    assert product.tolist() == [[7, 10], [15, 22]]
    for _ in range(times):
        memory = np.arange(5, dtype=F32)
        kernel.mul(memory[:4], F32([2, 2, 2, 2]), out=memory[1:])
    assert memory.tolist() == [0, 0, 2, 4, 6]


def test_a_result_is_not_the_memory_of_the_next(adder):
    first = adder.add(F32([1, 2, 3]), F32([0, 0, 0]))
    second = adder.add(F32([4, 5, 6]), F32([0, 0, 0]))
    assert (first.tolist(), second.tolist()) == ([1, 2, 3], [4, 5, 6])
    assert first.flags.owndata and first.flags.writeable and first.flags.c_contiguous


@pytest.mark.parametrize("axes", ([0.9], "0", ["0"], 0.5, None))
def test_an_axis_is_an_integer(native_kernel, axes):
    with pytest.raises(TypeError):
        native_kernel.sum(F32([[1, 2]]), axes=axes)


@pytest.mark.parametrize("shape", ((1.5, 2), "3"))
def test_an_extent_is_an_integer(native, native_kernel, shape):
    with pytest.raises(TypeError):
        native_kernel.reshape(F32([1, 2, 3]), shape)
    with pytest.raises(TypeError):
        native.tensor(shape)


@pytest.mark.parametrize(
    "op, words",
    (
        ("sum", {"keepdims": "no"}),
        ("reshape", {"shape": (2**70,)}),
        ("conv2d", {"strides": (1, 1), "groups": 1.5}),
        ("relu", {"priority": 2**40}),
        ("relu", {"priority": "high"}),
    ),
    ids=("keepdims", "shape", "groups", "priority", "text"),
)
def test_an_attribute_of_another_type_is_refused(native_kernel, op, words):
    x = np.ones((1, 1, 1, 1), F32)
    with pytest.raises((TypeError, OverflowError, rk.Error)):
        native_kernel.call(op, *([x, x] if op == "conv2d" else [x]), **words)


def test_words_that_mean_nothing_are_refused(native_kernel):
    x = F32([1])
    with pytest.raises(TypeError, match="no op has an attribute 'axs'"):
        native_kernel.call("sum", x, axs=[0])
    with pytest.raises(TypeError):
        native_kernel.sum(x, axs=[0])
    with pytest.raises(rk.MessageError, match="'==', '!=', '<', '<='"):
        native_kernel.compare(x, x, ">")
    with pytest.raises(rk.MessageError, match="'valid', 'same', 'custom'"):
        native_kernel.max_pool(np.zeros((1, 2, 2, 1), F32), (1, 1), padding="full")
    with pytest.raises(rk.DTypeError, match="float64"):
        native_kernel.cast(x, "float64")
    with pytest.raises(TypeError):
        native_kernel.add(x, x, priority="high")


@pytest.mark.parametrize("timeout", (0, -1, float("nan")))
def test_a_timeout_is_above_zero(native_kernel, timeout):
    with pytest.raises(ValueError, match="above zero"):
        native_kernel.add(F32([1]), 1, timeout=timeout)


def test_timeouts_and_priorities_are_accepted(kernel):
    for timeout in (5, 5.5, np.float64(5), 1e300, float("inf"), None):
        for priority in (-3, 0, 7):
            got = kernel.add(F32([1]), 1, timeout=timeout, priority=priority)
            assert got.tolist() == [2]
