"""What a value of a graph has of numpy's arrays, and what a traced function remembers."""

import asyncio
import threading

import numpy as np
import pytest

import pyringkernel as rk

F32, I32 = np.float32, np.int32
NUMBERS = np.arange(24, dtype=F32).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "key",
    (
        0,
        -1,
        np.int64(1),
        (1, 2),
        (1, 2, 3),
        slice(None),
        slice(1, None),
        (slice(None), slice(0, 3, 2)),
        (slice(None), slice(-2, None), slice(None, -1)),
        (..., 0),
        (0, ..., slice(1, 3)),
        (..., None),
        (None, 1, None),
        (slice(None), None, 0),
        ...,
        (),
        None,
        np.array([1, 0, 1]),
        [1],
    ),
    ids=repr,
)
def test_an_index_gives_what_numpy_gives(native, key):
    function = native.function(lambda x: x[key])
    got = function(NUMBERS)
    np.testing.assert_array_equal(got, NUMBERS[key])
    assert got.shape == NUMBERS[key].shape


@pytest.mark.parametrize(
    "key, error",
    (
        (2, IndexError),
        (-3, IndexError),
        ((0, 0, 0, 0), IndexError),
        ((..., ...), IndexError),
        (slice(None, None, -1), ValueError),
        (slice(1, 1), rk.ShapeError),
        ("a", TypeError),
        (1.5, TypeError),
        ((slice(None), [0, 1]), TypeError),
    ),
)
def test_an_index_that_there_is_not_is_refused(native, key, error):
    with pytest.raises(error):
        native.function(lambda x: x[key])(NUMBERS)


@pytest.mark.parametrize(
    "mask",
    (
        lambda x: x > 1,
        lambda x: 1 <= x,
        lambda x: rk.ops.compare(x, 1, "=="),
        lambda x: True,
        lambda x: (0, np.bool_(False)),
        lambda x: np.array([True, False]),
    ),
)
def test_a_mask_is_no_index(native, mask):
    with pytest.raises(TypeError, match="select"):
        native.function(lambda x: x[mask(x)])(NUMBERS)


@pytest.mark.parametrize(
    "function",
    (
        np.exp,
        np.sqrt,
        np.tanh,
        np.negative,
        lambda x: np.log(x + 1),
        lambda x: np.maximum(x, 7),
        lambda x: np.minimum(NUMBERS, x / 2),
        lambda x: NUMBERS + x,
        lambda x: np.float64(0.5) * x,
        lambda x: x / np.sqrt(64),
        lambda x: np.matmul(x, NUMBERS[0, 0].reshape(4, 1)),
        lambda x: np.subtract(NUMBERS, x),
    ),
)
def test_functions_of_numpy_are_ops(native, function):
    np.testing.assert_allclose(
        native.function(function)(NUMBERS), function(NUMBERS).astype(F32), rtol=1e-6
    )


@pytest.mark.parametrize("name", ("less", "less_equal", "greater", "greater_equal", "equal"))
def test_comparisons_of_numpy_are_ops(native, name):
    compared = getattr(np, name)
    got = native.function(lambda x: compared(F32([1, 2, 3]), x))(F32([2, 2, 2]))
    assert got.tolist() == compared([1, 2, 3], [2, 2, 2]).astype(int).tolist()


@pytest.mark.parametrize("function", (np.sin, np.add.reduce, lambda x: np.exp(x, where=x)))
def test_what_is_no_op_is_refused(native, function):
    with pytest.raises(TypeError, match="numpy.*rk.ops"):
        native.function(function)(NUMBERS)


def test_none_is_no_operand(native):
    with pytest.raises(rk.DTypeError, match="NoneType"):
        native.function(lambda x: x + None)(NUMBERS)


def test_a_value_can_be_unpacked_along_its_first_dim(native):
    def added(x):
        first, second = x
        return first + second * len(x)

    np.testing.assert_array_equal(native.function(added)(NUMBERS), NUMBERS[0] + NUMBERS[1] * 2)


def test_an_index_may_be_a_value(native):
    rows = native.function(lambda x, rows: x[rows])
    np.testing.assert_array_equal(rows(NUMBERS, I32([1, 0])), NUMBERS[[1, 0]])


@pytest.mark.parametrize("shape", ((), (3,), (2, 3), (2, 3, 4)))
def test_t_turns_all_dims_round(native, shape):
    x = np.arange(np.prod(shape, dtype=int), dtype=F32).reshape(shape)
    got = native.function(lambda v: v.T + 0.0)(x)
    np.testing.assert_array_equal(got, x.T)
    assert native.function(lambda v: v + v.ndim)(x).flat[0] == len(shape)


@pytest.mark.parametrize("exponent", (0.5, 1, 2, 3, 4, 7, 16, 2.0))
def test_powers(native, exponent):
    x = F32([0, 0.5, 1, 1.5])
    np.testing.assert_allclose(native.function(lambda v: v**exponent)(x), x**exponent, rtol=1e-6)


@pytest.mark.parametrize("exponent", (0, -1, 17, 1.5, "2"))
def test_other_powers_are_refused(native, exponent):
    with pytest.raises(ValueError, match="0.5"):
        native.function(lambda v: v**exponent)(F32([1]))


@pytest.mark.parametrize("name", ("argmax", "argmin"))
@pytest.mark.parametrize("axis", (0, 1, 2, -1, -3))
@pytest.mark.parametrize("keepdims", (False, True))
def test_the_place_of_the_largest(native, name, axis, keepdims):
    x = np.random.default_rng(5).integers(0, 3, (4, 5, 6)).astype(F32)  # many are alike
    function = native.function(lambda v: getattr(rk.ops, name)(v, axis, keepdims))
    expected = getattr(np, name)(x, axis=axis, keepdims=keepdims)
    np.testing.assert_array_equal(function(x), expected)
    assert function(x).dtype == I32


@pytest.mark.parametrize("dtype", (I32, np.int64))
def test_the_place_of_an_integer(native, dtype):
    x = np.array([[3, np.iinfo(dtype).min, 3], [np.iinfo(dtype).max, 0, -1]], dtype)
    for name in ("argmax", "argmin"):
        got = native.function(lambda v: getattr(rk.ops, name)(v))(x)
        assert got.tolist() == getattr(np, name)(x, axis=-1).tolist()


def test_no_place_where_one_is_nan(native):
    function = native.function(lambda v: rk.ops.argmax(v))
    assert function(F32([[1, 2, np.nan], [1, 2, 0]])).tolist() == [3, 1]


# --- names of operands ---------------------------------------------------------------------------


def test_operands_have_the_names_of_the_parameters(native):
    @native.function
    def scaled(x, scale, shift=0.0):
        return x * scale + shift

    x, two = F32([1, 2]), F32(2)
    assert scaled.input_names == ["x", "scale", "shift"]
    assert scaled(scale=two, x=x).tolist() == [2, 4]
    assert scaled(x, scale=two, shift=F32(1)).tolist() == [3, 5]
    assert scaled(x, two).tolist() == [2, 4]
    assert scaled.functions[0].input_names == ["x", "scale"]
    for words in ({"x": x}, {"scale": two}, {"x": x, "shift": two}):
        with pytest.raises(TypeError, match="missing"):
            scaled(**words)
    with pytest.raises(TypeError, match="twice"):
        scaled(x, x=x, scale=two)
    with pytest.raises(TypeError, match="'otu'"):
        scaled(x, two, otu=x)


def test_any_number_of_operands_has_no_names(native):
    total = native.function(lambda *parts: sum(parts[1:], parts[0]))
    assert total(F32([1]), F32([2]), F32([3])).tolist() == [6]
    assert total.input_names == []
    with pytest.raises(TypeError, match="'x'"):
        total(x=F32([1]))


# --- kinds that are kept -------------------------------------------------------------------------


def test_the_kinds_that_were_used_last_are_kept():
    with rk.Runtime(backend="native") as runtime:
        made = []

        @runtime.function(kinds_max=3)
        def double(x):
            made.append(x.shape[0])
            return x * 2.0

        def call(count):
            assert double(np.ones(count, F32)).tolist() == [2] * count

        for count in (1, 2, 3, 1, 4):  # 2 was not used for longest
            call(count)
        assert len(double.functions) == 3
        assert made == [1, 2, 3, 4]
        call(1)
        call(3)
        assert made == [1, 2, 3, 4]
        call(2)
        assert made == [1, 2, 3, 4, 2]
        free = runtime.metrics().arena_free_bytes
        for count in range(10, 60):
            call(count)
        assert runtime.metrics().kernels == 3
        assert abs(runtime.metrics().arena_free_bytes - free) < 1 << 16


def test_a_function_that_was_given_up_can_still_be_called(native):
    double = native.function(lambda x: x * 2.0, kinds_max=1)
    double(F32([1]))
    kept = double.functions[0]
    double(F32([1, 2]))
    assert kept(F32([3])).tolist() == [6]


@pytest.mark.parametrize("kinds_max", (0, -1))
def test_a_function_keeps_one_kind_at_least(native, kinds_max):
    with pytest.raises(ValueError, match="one kind"):
        native.function(lambda x: x, kinds_max=kinds_max)


def test_a_kind_that_cannot_be_compiled_costs_no_other(native):
    two = native.function(lambda x: x + F32([1, 2]), kinds_max=1)
    assert two(F32([1, 1])).tolist() == [2, 3]
    kept = two.functions
    with pytest.raises(rk.ShapeError):
        two(F32([1, 2, 3]))
    assert two.functions == kept


def test_what_is_no_function_of_places_is_refused(native):
    with pytest.raises(TypeError, match="not of a int"):
        native.function(3)
    with pytest.raises(TypeError, match="'y' is given by keyword only"):
        native.function(lambda x, *, y: x + y)


# --- calls of functions --------------------------------------------------------------------------


def test_a_long_call_leaves_other_threads_their_turn(native):
    x = np.ones((700, 700), F32)
    product = native.function(lambda a: a @ a @ a @ a)
    result = product(x)
    turns = 0
    stop = threading.Event()

    def count():
        nonlocal turns
        while not stop.is_set():
            turns += 1

    counting = threading.Thread(target=count)
    counting.start()
    for function in [product.functions[0].instance() for _ in range(3)]:  # none knows it is long
        before = turns
        function(x, out=result)
        assert turns > before + 1000
    stop.set()
    counting.join()


def test_a_list_of_places_may_change_meanwhile(runtime):
    function = runtime.function(lambda x: (x + 1.0, x * 2.0))
    first, second = np.zeros(2, F32), np.zeros(2, F32)

    async def main():
        places = [first, second]
        task = asyncio.ensure_future(function.acall(F32([1, 2]), out=places))
        await asyncio.sleep(0)
        places[0] = runtime.tensor((2,))
        del places[1]
        return await task

    assert asyncio.run(main()) == (first, second)
    assert (first.tolist(), second.tolist()) == ([2, 3], [2, 4])


def test_one_place_is_none_for_two_outputs(native):
    function = native.function(lambda x: (x + 1.0, x * 2.0))
    for out in (np.zeros(2, F32), np.zeros((2, 2), F32), native.tensor((2,))):
        with pytest.raises(rk.ShapeError, match="2 outputs.*out=\\(first, second\\)"):
            function(F32([1, 2]), out=out)


def test_an_arena_that_is_too_small_says_what_to_do():
    with rk.Runtime(backend="native", arena_bytes=1 << 21) as runtime:
        with pytest.raises(rk.OutOfMemory, match="larger arena_bytes"):
            runtime.function(lambda x: rk.ops.sum(x))(np.ones(1 << 20, F32))
