"""What a value of a graph has of numpy's arrays, and what a traced function remembers."""

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
    ),
)
def test_an_index_that_there_is_not_is_refused(native, key, error):
    with pytest.raises(error):
        native.function(lambda x: x[key])(NUMBERS)


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


def test_a_function_keeps_one_kind_at_least(native):
    with pytest.raises(ValueError):
        native.function(lambda x: x, kinds_max=0)
