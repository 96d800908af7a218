"""The ops as functions of a graph's values, for functions that `Runtime.function` traces.

An operand is a value of the graph, a number, or an array, which becomes a constant on the device.
"""

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._core import Graph, Value

Operand = Any
Ints = Any  # an int or several


def _graph_of(*operands: Operand) -> Graph:
    for operand in operands:
        if isinstance(operand, Value):
            return operand.graph
    raise TypeError(
        "no operand is a value of a graph. These functions belong into a function that "
        "Runtime.function traces; a kernel has methods of the same names for arrays"
    )


def add(a: Operand, b: Operand) -> Value:
    """a + b, with broadcasting; integers wrap."""
    return _graph_of(a, b).add(a, b)


def sub(a: Operand, b: Operand) -> Value:
    """a - b, with broadcasting; integers wrap."""
    return _graph_of(a, b).sub(a, b)


def mul(a: Operand, b: Operand) -> Value:
    """a * b, with broadcasting; integers wrap."""
    return _graph_of(a, b).mul(a, b)


def div(a: Operand, b: Operand) -> Value:
    """a / b of float32, with broadcasting."""
    return _graph_of(a, b).div(a, b)


def maximum(a: Operand, b: Operand) -> Value:
    """The larger of both; NaN if one is."""
    return _graph_of(a, b).max(a, b)


def minimum(a: Operand, b: Operand) -> Value:
    """The smaller of both; NaN if one is."""
    return _graph_of(a, b).min(a, b)


def compare(a: Operand, b: Operand, comparison: str) -> Value:
    """1 where it holds, else 0, as int32. `comparison`: '==', '!=', '<' or '<='."""
    return _graph_of(a, b).compare(a, b, comparison)


def select(condition: Operand, a: Operand, b: Operand) -> Value:
    """a where the int32 `condition` is not 0, and b elsewhere."""
    return _graph_of(condition, a, b).select(condition, a, b)


def relu(x: Value) -> Value:
    """x where it is above 0, else 0, for NaN too."""
    return _graph_of(x).relu(x)


def neg(x: Value) -> Value:
    """-x"""
    return _graph_of(x).neg(x)


def exp(x: Value) -> Value:
    """e to the power of x."""
    return _graph_of(x).exp(x)


def log(x: Value) -> Value:
    """The natural logarithm; NaN below 0."""
    return _graph_of(x).log(x)


def sqrt(x: Value) -> Value:
    """The square root, rounded correctly."""
    return _graph_of(x).sqrt(x)


def tanh(x: Value) -> Value:
    """The hyperbolic tangent."""
    return _graph_of(x).tanh(x)


def erf(x: Value) -> Value:
    """The error function."""
    return _graph_of(x).erf(x)


def sigmoid(x: Value) -> Value:
    """1 / (1 + exp(-x)), of ops."""
    return div(1.0, add(1.0, exp(neg(x))))


def matmul(a: Operand, b: Operand) -> Value:
    """[..., M, K] x [..., K, N] -> [..., M, N]; also `a @ b`."""
    return _graph_of(a, b).matmul(a, b)


def dot(a: Operand, b: Operand) -> Value:
    """Products of vectors and matrices."""
    return _graph_of(a, b).dot(a, b)


def conv2d(
    images: Operand,
    filter: Operand,
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    pads: Sequence[int] = (),
    groups: int = 1,
) -> Value:
    """Images [N, H, W, C] x filter [rows, columns, C / groups, outputs].

    padding: 'valid', 'same', or 'custom' with `pads` (top, bottom, left, right).
    """
    return _graph_of(images, filter).conv2d(images, filter, strides, padding, pads, groups)


def max_pool(
    images: Operand,
    window: Sequence[int],
    strides: Sequence[int] = (1, 1),
    padding: str = "valid",
    pads: Sequence[int] = (),
) -> Value:
    """The largest of each window of images [N, H, W, C]; padding as of `conv2d`."""
    return _graph_of(images).max_pool(images, window, strides, padding, pads)


def sum(x: Value, axes: Ints = (), keepdims: bool = False) -> Value:
    """The sum over `axes`; none: over all."""
    return _graph_of(x).sum(x, axes, keepdims)


def mean(x: Value, axes: Ints = (), keepdims: bool = False) -> Value:
    """The mean over `axes`; none: over all."""
    return _graph_of(x).mean(x, axes, keepdims)


def reduce_max(x: Value, axes: Ints = (), keepdims: bool = False) -> Value:
    """The largest over `axes`; none: over all. NaN if one is."""
    return _graph_of(x).reduce_max(x, axes, keepdims)


def softmax(x: Value, axes: Ints = -1) -> Value:
    """exp(x), divided by its sum along `axes`."""
    return _graph_of(x).softmax(x, axes)


def reshape(x: Value, shape: Ints) -> Value:
    """The same elements; one extent may be -1."""
    return _graph_of(x).reshape(x, shape)


def expand_dims(x: Value, axes: Ints) -> Value:
    """Inserts dims of extent 1: dims of the result."""
    return _graph_of(x).expand_dims(x, axes)


def squeeze(x: Value, axes: Ints = ()) -> Value:
    """Removes dims of extent 1; none named: all of them."""
    return _graph_of(x).squeeze(x, axes)


def transpose(x: Value, permutation: Sequence[int] = ()) -> Value:
    """Dim d of the result is dim permutation[d] of x; none given: all dims backwards."""
    return _graph_of(x).transpose(x, permutation or range(len(x.shape))[::-1])


def index(x: Value, indices: Ints) -> Value:
    """One element."""
    return _graph_of(x).index(x, indices)


def slice(x: Value, starts: Ints, ends: Ints, steps: Ints) -> Value:
    """In each dim the elements from its start on, step by step, below its end."""
    return _graph_of(x).slice(x, starts, ends, steps)


def gather(x: Operand, indices: Operand) -> Value:
    """Rows of x, by indices of int32 or int64."""
    return _graph_of(x, indices).gather(x, indices)


def concat(a: Operand, b: Operand, axis: int = 0) -> Value:
    """b behind a, along one axis."""
    return _graph_of(a, b).concat(a, b, axis)


def pad(x: Operand, value: Operand, low: Ints, high: Ints) -> Value:
    """x with low[d] elements before it and high[d] behind it in each dim d, all `value`."""
    return _graph_of(x, value).pad(x, value, low, high)


def argmax(x: Value, axis: int = -1, keepdims: bool = False) -> Value:
    """Where the first of the largest stands along `axis`, as int32; of ops.

    The extent of `axis` where one of them is NaN.
    """
    length = x.shape[axis]
    after = [1] * (len(x.shape) - 1 - axis % len(x.shape))
    backwards = np.arange(length, 0, -1, dtype=np.int32).reshape(length, *after)
    is_largest = compare(x, reduce_max(x, axis, True), "==")
    return sub(length, reduce_max(mul(is_largest, backwards), axis, keepdims))


def argmin(x: Value, axis: int = -1, keepdims: bool = False) -> Value:
    """Where the first of the smallest stands along `axis`; as `argmax`."""
    return argmax(neg(x) if x.dtype == np.float32 else sub(-1, x), axis, keepdims)


def cast(x: Value, dtype: Any) -> Value:
    """The same numbers as `dtype`; float32 to integers: towards 0, within their range."""
    return _graph_of(x).cast(x, dtype)


def fill(value: Value, shape: Ints) -> Value:
    """`shape` elements, all the first one of `value`."""
    return _graph_of(value).fill(value, shape)


# --- what values of a graph understand as arrays do -----------------------------------------------


def _item(x: Value, key: Any) -> Value:
    """x[key]: integers, slices with steps above 0, None, ...; or rows by an array of integers."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(_is_mask(part) for part in keys):
        raise TypeError("there are no masks here: rk.ops.select(condition, a, b) chooses elements")
    if isinstance(key, (Value, np.ndarray, list)):
        return gather(x, key if isinstance(key, Value) else np.asarray(key))
    if any(isinstance(part, (Value, np.ndarray, list)) for part in keys):
        raise TypeError("an array of indices stands alone: x[rows]; rk.ops.transpose turns dims")
    dots = [at for at, part in enumerate(keys) if part is ...] or [len(keys)]
    named = builtins.sum(part is not None and part is not ... for part in keys)
    if named > len(x.shape) or len(dots) > 1:
        raise IndexError(f"{named} indices and {len(dots)} ellipses for {len(x.shape)} dims")
    keys[dots[0] : dots[0] + 1] = [builtins.slice(None)] * (len(x.shape) - named)
    parts: list[builtins.slice] = []
    shape: list[int] = []
    for part in keys:
        if part is None:
            shape.append(1)
            continue
        extent = x.shape[len(parts)]
        if isinstance(part, builtins.slice):
            parts.append(_bounds(part, extent))
            shape.append(len(range(extent)[parts[-1]]))
        else:
            place = operator.index(part)
            if not -extent <= place < extent:
                raise IndexError(f"index {place} of a dim of {extent}")
            place %= extent
            parts.append(builtins.slice(place, place + 1, 1))
    if any(part != builtins.slice(0, extent, 1) for part, extent in zip(parts, x.shape)):
        x = slice(x, *([getattr(p, word) for p in parts] for word in ("start", "stop", "step")))
    return x if tuple(shape) == x.shape else reshape(x, shape)


def _is_mask(part: Any) -> bool:
    if isinstance(part, Value):
        return part.is_truth
    return isinstance(part, (bool, np.bool_)) or getattr(part, "dtype", None) == np.bool_


#: numpy's functions by their names there, for `numpy.exp(value)` and `array + value`.
_OF_NUMPY: "dict[str, Callable[..., Value]]" = {
    "add": add,
    "subtract": sub,
    "multiply": mul,
    "divide": div,
    "true_divide": div,
    "matmul": matmul,
    "maximum": maximum,
    "minimum": minimum,
    "negative": neg,
    "exp": exp,
    "log": log,
    "sqrt": sqrt,
    "tanh": tanh,
    "equal": lambda a, b: compare(a, b, "=="),
    "not_equal": lambda a, b: compare(a, b, "!="),
    "less": lambda a, b: compare(a, b, "<"),
    "less_equal": lambda a, b: compare(a, b, "<="),
    "greater": lambda a, b: compare(b, a, "<"),
    "greater_equal": lambda a, b: compare(b, a, "<="),
}


def _of_numpy(function: Any, method: str, operands: Any, words: Any) -> Value:
    """What numpy's function `function` is called for with a value of a graph."""
    ours = _OF_NUMPY.get(function.__name__) if method == "__call__" and not words else None
    if ours is None:
        called = function.__name__ + ("" if method == "__call__" else f".{method}")
        raise TypeError(f"numpy.{called} is no op of a graph: see rk.ops for those that there are")
    return ours(*operands)


def _bounds(part: builtins.slice, extent: int) -> builtins.slice:
    start, stop, step = part.indices(extent)
    if step < 0:
        raise ValueError("a step of a value of a graph is above 0; gather() takes any order")
    return builtins.slice(start, max(start, stop), step)


def _power(x: Value, exponent: Any) -> Value:
    """x ** exponent, for 0.5 and whole numbers from 1 to 16."""
    if isinstance(exponent, float) and exponent == 0.5:
        return sqrt(x)
    if not isinstance(exponent, (int, float)) or exponent not in range(1, 17):
        raise ValueError("a power of a value of a graph is 0.5, or a whole number from 1 to 16")
    if exponent == 1:
        return x
    half = _power(x, exponent // 2)
    square = mul(half, half)
    return mul(square, x) if exponent % 2 else square
