"""One list of calls: ops, their operands for an element type, and what numpy gives for them."""

import math
from typing import Any, Callable, NamedTuple

import numpy as np

F32, I32, I64 = np.float32, np.int32, np.int64
ANY = (F32, I32, I64)
ONLY_F32 = (F32,)
COMPARISONS = {"==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal}


class Case(NamedTuple):
    op: str
    dtypes: tuple
    operands: Callable  # of (values, dtype): the operands
    words: dict
    reference: Callable  # of the operands: the result
    label: str = ""
    exact: bool = True  # whether the bits have to be the reference's


def values(dtype, *shape, low=-8, high=9):
    """Small whole numbers, whose sums and products are exact in float32 too."""
    seed = math.prod(shape) + 7 * len(shape)
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def spread(dtype, *shape):
    """Numbers all over the range of the type."""
    rng = np.random.default_rng(len(shape) + 3)
    if dtype is F32:
        return rng.uniform(-100, 100, shape).astype(F32)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, endpoint=True)


def two(a, b, make=spread):
    return lambda dtype: (make(dtype, *a), make(dtype, *b))


def one(*shape, make=values):
    return lambda dtype: (make(dtype, *shape),)


def softmax(x, axes):
    x = x.astype(np.float64)
    e = np.exp(x - x.max(axis=axes, keepdims=True))
    return (e / e.sum(axis=axes, keepdims=True)).astype(F32)


def padded(images, pads, fill):
    top, bottom, left, right = pads
    margins = ((0, 0), (top, bottom), (left, right), (0, 0))
    return np.pad(images, margins, constant_values=fill)


def windows(images, rows, columns, strides):
    """[N, H', W', rows, columns, C]"""
    view = np.lib.stride_tricks.sliding_window_view(images, (rows, columns), axis=(1, 2))
    return view[:, :: strides[0], :: strides[1]].transpose(0, 1, 2, 4, 5, 3)


def conv2d(images, kernel, strides=(1, 1), pads=(0, 0, 0, 0), groups=1):
    parts = windows(padded(images, pads, 0), *kernel.shape[:2], strides)
    channels, outputs = kernel.shape[2], kernel.shape[3] // groups
    results = [
        np.einsum(
            "nhwrci,rcio->nhwo",
            parts[..., g * channels : (g + 1) * channels],
            kernel[..., g * outputs : (g + 1) * outputs],
        )
        for g in range(groups)
    ]
    return np.concatenate(results, axis=-1)


def max_pool(images, window, strides=(1, 1), pads=(0, 0, 0, 0)):
    return windows(padded(images, pads, -np.inf), *window, strides).max(axis=(3, 4))


def elementwise_cases():
    shapes = {
        "same": ((2, 3), (2, 3)),
        "row": ((2, 3), (3,)),
        "outer": ((4, 1), (1, 5)),
        "scalar": ((), (2, 2)),
        "ranks": ((2, 1, 3), (4, 1)),
        "scalars": ((), ()),
        "longer": ((300,), (300,)),
    }
    for label, (a, b) in shapes.items():
        for op, reference in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply)):
            yield Case(op, ANY, two(a, b), {}, reference, label)
        yield Case("div", ONLY_F32, two(a, b), {}, np.divide, label)
        yield Case("max", ANY, two(a, b), {}, np.maximum, label)
        yield Case("min", ANY, two(a, b), {}, np.minimum, label)
        for sign, reference in COMPARISONS.items():
            yield Case(
                "compare",
                ANY,
                two(a, b, values),
                {"comparison": sign},
                lambda x, y, holds=reference: holds(x, y).astype(I32),
                f"{label}{sign}",
            )
    yield Case("relu", ONLY_F32, one(3, 5), {}, lambda x: np.maximum(x, 0))
    yield Case("neg", ONLY_F32, one(3, 5, make=spread), {}, np.negative)
    yield Case("copy", ANY, one(2, 3, 4, make=spread), {}, lambda x: x)
    yield Case("copy", ANY, one(make=spread), {}, lambda x: x, "scalar")

    def positive(dtype, *shape):
        return np.abs(spread(dtype, *shape)) + dtype(0.5)

    def small(dtype, *shape):
        return spread(dtype, *shape) / dtype(25)

    def wide(function):
        return lambda x: np.vectorize(function)(x.astype(np.float64)).astype(F32)

    yield Case("sqrt", ONLY_F32, one(4, 9, make=positive), {}, np.sqrt)
    yield Case("log", ONLY_F32, one(4, 9, make=positive), {}, wide(math.log), exact=False)
    yield Case("exp", ONLY_F32, one(4, 9, make=small), {}, wide(math.exp), exact=False)
    yield Case("tanh", ONLY_F32, one(4, 9, make=small), {}, wide(math.tanh), exact=False)
    yield Case("erf", ONLY_F32, one(4, 9, make=small), {}, wide(math.erf), exact=False)
    for target in ANY:
        for given in (target.__name__, target, np.dtype(target)):
            yield Case(
                "cast",
                ANY,
                one(3, 4),
                {"dtype": given},
                lambda x, to=target: x.astype(to),
                f"{target.__name__}-{type(given).__name__}",
            )
    yield Case("fill", ANY, one(), {"shape": (2, 3)}, lambda x: np.full((2, 3), x))

    def chosen(dtype):
        return values(I32, 2, 1, low=0, high=2), values(dtype, 2, 3), spread(dtype, 3)

    yield Case("select", ANY, chosen, {}, lambda c, a, b: np.where(c != 0, a, b))


def reduction_cases():
    reductions = (
        ("sum", ANY, lambda x, **words: x.sum(dtype=x.dtype, **words)),
        ("mean", ONLY_F32, lambda x, **words: x.mean(dtype=np.float64, **words).astype(F32)),
        ("reduce_max", ANY, lambda x, **words: x.max(**words)),
    )
    for op, dtypes, reference in reductions:
        for axes in ((), (0,), (1, -1), (-3,), (2, 0)):
            for keepdims in (False, True) if axes else (False,):
                yield Case(
                    op,
                    dtypes,
                    one(3, 4, 5),
                    {"axes": axes, "keepdims": keepdims},
                    lambda x, of=reference, a=axes or None, k=keepdims: of(x, axis=a, keepdims=k),
                    f"{axes}{keepdims}",
                    exact=op != "mean",
                )
        yield Case(op, dtypes, one(3, 4), {"axes": 1}, lambda x, of=reference: of(x, axis=1), "1")
        yield Case(op, dtypes, one(), {}, lambda x, of=reference: of(x), "scalar")
    for axes in (-1, 0, (0, 1), (-2, 2)):
        yield Case(
            "softmax",
            ONLY_F32,
            one(3, 4, 5),
            {"axes": axes},
            lambda x, a=axes: softmax(x, a),
            str(axes),
            exact=False,
        )


def product_cases():
    for a, b in (((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (6, 4, 1))):
        yield Case("matmul", ONLY_F32, two(a, b, values), {}, np.matmul, str(a))
    for a, b in (((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,))):
        yield Case("dot", ONLY_F32, two(a, b, values), {}, np.dot, f"{a}{b}")
    image, kernel = (2, 7, 6, 4), (3, 2, 4, 6)
    yield Case("conv2d", ONLY_F32, two(image, kernel, values), {}, conv2d)
    yield Case(
        "conv2d",
        ONLY_F32,
        two(image, kernel, values),
        {"strides": (2, 3), "padding": "custom", "pads": (1, 0, 2, 1)},
        lambda x, k: conv2d(x, k, (2, 3), (1, 0, 2, 1)),
        "custom",
    )
    yield Case(
        "conv2d",
        ONLY_F32,
        two(image, kernel, values),
        {"padding": "same"},
        lambda x, k: conv2d(x, k, pads=(1, 1, 0, 1)),
        "same",
    )
    yield Case(
        "conv2d",
        ONLY_F32,
        two(image, (3, 2, 2, 6), values),
        {"groups": 2},
        lambda x, k: conv2d(x, k, groups=2),
        "groups",
    )
    yield Case(
        "max_pool", ONLY_F32, one(*image), {"window": (2, 3)}, lambda x: max_pool(x, (2, 3))
    )
    yield Case(
        "max_pool",
        ONLY_F32,
        one(*image),
        {"window": [2, 2], "strides": [2, 1], "padding": "custom", "pads": [1, 1, 0, 1]},
        lambda x: max_pool(x, (2, 2), (2, 1), (1, 1, 0, 1)),
        "custom",
    )


def shape_cases():
    yield Case("reshape", ANY, one(2, 6), {"shape": (3, -1)}, lambda x: x.reshape(3, 4))
    yield Case("reshape", ANY, one(1), {"shape": ()}, lambda x: x.reshape(()), "scalar")
    yield Case("expand_dims", ANY, one(2, 3), {"axes": (0, 3)}, lambda x: x[None, :, :, None])
    yield Case("squeeze", ANY, one(1, 3, 1), {}, lambda x: x[0, :, 0])
    yield Case("squeeze", ANY, one(1, 3, 1), {"axes": [2]}, lambda x: x[:, :, 0], "one")
    yield Case(
        "transpose", ANY, one(2, 3, 4), {"permutation": (2, 0, 1)}, lambda x: x.transpose(2, 0, 1)
    )
    yield Case("index", ANY, one(3, 4), {"indices": (1, 2)}, lambda x: x[1, 2])
    yield Case(
        "slice",
        ANY,
        one(6, 5),
        {"starts": (1, 0), "ends": (6, 4), "steps": (2, 1)},
        lambda x: x[1:6:2, 0:4],
    )
    for indices in (I32, I64):

        def rows(dtype, of=indices):
            return values(dtype, 5, 3), np.array([[4, 0], [2, 2]], of)

        yield Case("gather", ANY, rows, {}, lambda x, i: x[i], indices.__name__)
    yield Case("concat", ANY, two((2, 3), (4, 3)), {}, lambda a, b: np.concatenate((a, b)))
    yield Case(
        "pad",
        ANY,
        two((2, 3), (2,)),
        {"low": (1, 0), "high": (0, 2)},
        lambda x, value: np.pad(x, ((1, 0), (0, 2)), constant_values=value[0]),
    )
    for axis in (1, -1):
        yield Case(
            "concat",
            ANY,
            two((3, 2), (3, 1)),
            {"axis": axis},
            lambda a, b: np.concatenate((a, b), axis=1),
            str(axis),
        )


def named_cases():
    """Ops that `call` alone has."""
    yield Case("sum_all", ANY, one(3, 4), {}, lambda x: x.sum(dtype=x.dtype))
    yield Case(
        "mean_all", ONLY_F32, one(3, 4), {}, lambda x: x.mean(dtype=np.float64), exact=False
    )


METHOD_CASES = [
    *elementwise_cases(),
    *reduction_cases(),
    *product_cases(),
    *shape_cases(),
]
CASES = [*METHOD_CASES, *named_cases()]


def check(case: Case, got: Any, operands: tuple):
    """`got` is what the reference gives: the same type, shape and elements."""
    want = np.asarray(case.reference(*operands))
    assert isinstance(got, np.ndarray)
    assert got.dtype == (want.dtype if case.exact else F32)
    assert got.shape == want.shape
    if case.exact:
        np.testing.assert_array_equal(got, want)
    else:
        exact = want.astype(np.float64)
        assert np.all(np.abs(got - exact) <= 1e-6 * (1 + np.abs(exact)))
