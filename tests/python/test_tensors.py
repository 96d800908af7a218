"""Resident tensors: what they hold, what they are beside numpy, and what they refuse."""

import numpy as np
import pytest

import pyringkernel as rk

F32, I32, I64 = np.float32, np.int32, np.int64


@pytest.mark.parametrize("dtype", (F32, I32, I64, "int64", np.dtype("int32"), None))
@pytest.mark.parametrize("shape", ((2, 3), 4, (), [5]))
def test_a_tensor_is_zeros_and_then_what_is_written(runtime, dtype, shape):
    tensor = runtime.tensor(shape, dtype)
    want = np.zeros(shape, dtype or F32)
    assert (tensor.shape, tensor.dtype) == (want.shape, want.dtype)
    assert tensor.nbytes == want.nbytes
    np.testing.assert_array_equal(tensor.read(), want)
    want = want + np.arange(want.size, dtype=want.dtype).reshape(want.shape) + 1
    want = want.astype(tensor.dtype)
    tensor[...] = want
    for got in (tensor.read(), np.asarray(tensor), np.array(tensor), tensor[...]):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_what_numpy_gets_is_a_copy(runtime):
    tensor = runtime.tensor(3)
    copy = np.asarray(tensor)
    copy[:] = 7
    assert tensor.read().tolist() == [0, 0, 0]
    tensor[...] = F32([1, 2, 3])
    assert copy.tolist() == [7, 7, 7]


def test_the_protocols_of_numpy(runtime):
    tensor = runtime.tensor((2, 2))
    tensor[...] = F32([[1, 2], [3, 4]])
    converted = np.asarray(tensor, dtype=np.float64)
    assert (converted.dtype, converted.tolist()) == (np.float64, [[1, 2], [3, 4]])
    assert np.from_dlpack(tensor).tolist() == [[1, 2], [3, 4]]
    assert tensor[0].tolist() == [1, 2]
    assert tensor[1, 0] == 3
    assert len(tensor) == 2
    assert [row.tolist() for row in tensor] == [[1, 2], [3, 4]]
    with pytest.raises(TypeError):
        len(runtime.tensor(()))
    with pytest.raises(IndexError):
        tensor[2]


def test_a_tensor_cannot_be_had_without_a_copy(runtime):
    with pytest.raises(ValueError):
        np.array(runtime.tensor(3), copy=False)


def test_it_is_read_into_an_array_of_the_callers(runtime):
    tensor = runtime.tensor(3)
    tensor[...] = F32([1, 2, 3])
    out = np.zeros(3, F32)
    assert tensor.read(out) is out
    assert out.tolist() == [1, 2, 3]
    for wrong in (np.zeros(4, F32), np.zeros(3, I32), np.zeros(6, F32)[::2], [0, 0, 0]):
        before = np.array(wrong)
        with pytest.raises(rk.Error):
            tensor.read(wrong)
        np.testing.assert_array_equal(wrong, before)


def test_what_does_not_fit_is_not_written(runtime):
    tensor = runtime.tensor((2, 2))
    wrong = (
        (np.zeros(4, F32), rk.ShapeError),
        (np.ones((2, 2), I32), rk.DTypeError),
        (np.ones((2, 2)), rk.DTypeError),
        (np.ones((2, 2), F32).T[:, ::-1], rk.MessageError),
        (1.0, rk.DTypeError),
    )
    for elements, error in wrong:
        with pytest.raises(error):
            tensor[...] = elements
    with pytest.raises(IndexError, match=r"tensor\[\.\.\.\] = x"):
        tensor[0] = F32([1, 2])
    assert not tensor.read().any()


def test_a_tensor_is_no_place_for_another_ones_elements(runtime):
    tensor, other = runtime.tensor(2), runtime.tensor(2)
    tensor[...] = F32([1, 2])
    try:
        tensor.read(other)
    except (rk.Error, TypeError):
        return
    assert other.read().tolist() == [1, 2], "read, and lost"


def test_ops_on_the_device(runtime, kernel):
    x, y = runtime.tensor(4), runtime.tensor(4)
    x[...] = F32([1, 2, 3, 4])
    for _ in range(5):
        assert kernel.add(y, x, out=y) is y  # in place
    assert y.read().tolist() == [5, 10, 15, 20]
    assert kernel.add(y, 1).tolist() == [6, 11, 16, 21]
    assert kernel.send("mul", y, x, out=y) > 0
    outcome = kernel.receive(10)
    assert outcome.error is None and outcome.value in (None, b"")
    assert y.read().tolist() == [5, 20, 45, 80]


def test_an_op_that_is_not_elementwise_is_not_in_place(runtime, kernel):
    x = runtime.tensor((2, 2))
    for _ in range(3):
        with pytest.raises(rk.MessageError):
            kernel.matmul(x, x, out=x)


def test_an_output_of_another_shape_or_type_is_refused(runtime, kernel):
    for _ in range(3):
        with pytest.raises(rk.ShapeError, match=r"f32\[3\]"):
            kernel.add(F32([1, 2]), 1, out=runtime.tensor(3))
        with pytest.raises(rk.DTypeError):
            kernel.add(F32([1, 2]), 1, out=runtime.tensor(2, I32))


def test_a_tensor_of_a_message_in_flight_is_waited_for(runtime, kernel):
    x = runtime.tensor(2)
    kernel.deactivate()
    kernel.send("add", x, F32([1, 2]), out=x)
    with pytest.raises(rk.DeadlineExceeded):
        x.read(timeout=0.01)
    with pytest.raises(rk.DeadlineExceeded):
        x.write(F32([7, 7]), timeout=0.01)
    kernel.activate()
    assert x.read().tolist() == [1, 2]
    assert kernel.receive(10).error is None


def test_a_prepared_call_does_not_outlive_its_tensors(runtime, kernel):
    x = runtime.tensor(2)
    for _ in range(4):
        kernel.add(x, 1, out=x)
    x.deallocate()
    y = runtime.tensor(2)  # in the same place
    with pytest.raises(rk.NotFound):
        kernel.add(x, 1, out=x)
    assert y.read().tolist() == [0, 0]


def test_a_prepared_call_does_not_keep_its_tensors(runtime, kernel):
    before = runtime.metrics().tensors
    x = runtime.tensor(1000)
    for _ in range(4):
        kernel.add(x, 1, out=x)
    del x
    assert runtime.metrics().tensors == before


def test_an_id_is_never_used_twice(runtime):
    first = runtime.tensor(1)
    number = first.id
    del first
    assert runtime.tensor(1).id > number


def test_defragment_keeps_elements(runtime):
    tensors = [runtime.tensor(1000) for _ in range(8)]
    for number, tensor in enumerate(tensors):
        tensor[...] = np.full(1000, number, F32)
    del tensors[::2]
    runtime.defragment()
    assert [tensor[0] for tensor in tensors] == [1, 3, 5, 7][: len(tensors)]
