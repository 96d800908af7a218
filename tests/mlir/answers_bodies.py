"""Bodies of loops: arithmetic, comparisons, casts, indices, look-ups."""

import math

import numpy

from answers_kit import INF, NAN, case, f, floats, i, ints, l, longs, positive

erf = numpy.vectorize(math.erf, [numpy.float32])


def maximum(a, b):
    return numpy.maximum(a, b)


def softmax(a, axis):
    powers = numpy.exp(a - a.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def bits(*truths):
    return sum(truth.astype(numpy.int32) << n for n, truth in enumerate(truths))


def predicates(a, b):
    """As arith.cmpf counts them, from 1 on."""
    none = numpy.isnan(a) | numpy.isnan(b)
    return bits(a == b, a > b, a >= b, a < b, a <= b, (a != b) & ~none, ~none, (a == b) | none,
                (a > b) | none, (a >= b) | none, (a < b) | none, (a <= b) | none, a != b, none)


def layer_norm(a, g, b):
    d = a - a.mean(1, keepdims=True)
    return d / numpy.sqrt((d * d).mean(1, keepdims=True) + floats(1e-5)) * g + b


case("elementwise_named", lambda a, b: (a + b, a - b, a * b, a / b, maximum(a, b),
                                        numpy.minimum(a, b)), f(2, 3), positive(2, 3))
case("elementwise_named_unary",
     lambda a, b: (numpy.exp(a), numpy.log(b), abs(a), -a, a * a, numpy.sqrt(b),
                   1 / numpy.sqrt(b), numpy.tanh(a), erf(a), 1 / b), f(2, 3), positive(2, 3))
case("elementwise_named_integers",
     lambda a, b: (a + b, a - b, a * b, maximum(a, b), numpy.minimum(a, b)),
     ints([[2**31 - 1, 3, -4], [-2**31, 65536, 7]]), ints([[1, -3, 4], [-1, 65537, 0]]))
case("elementwise_kinds", lambda a, b, r: (numpy.exp(a), b.T - r), f(2, 3), f(3, 2), f(3))
case("fill", lambda n, m: (numpy.full((2, 3), n), numpy.full(4, m)), f(), l())
case("copy", lambda a, b: a, f(2, 3), f(2, 3))
case("transpose", lambda a: a.transpose(2, 0, 1), f(2, 3, 4))
case("transpose_input", lambda a, b: a.transpose(1, 2, 0) - b, f(4, 2, 3), f(2, 3, 4))
case("broadcast", lambda a: numpy.broadcast_to(a[:, None], (2, 3, 4)), f(3))
case("map", lambda a, b: a / b, f(2, 3), positive(2, 3))
case("wide_operands", lambda a, b, c, n: c - a * b + n, f(2, 3), f(), f(2, 1), f())
case("rank_zero", lambda a, b, n: (a * b, a * b - n), f(), f(), f())
case("numbers", lambda a, b, n, m: (a / b, n * n, n.astype(numpy.int64) - m),
     f(), positive(), i(), l())
case("whole_tensors", lambda a, b: numpy.tanh(numpy.where(2 * a < 2 - b, 2 * a, 2 - b)),
     f(2, 3), f(2, 3))
case("select_by_a_number", lambda a, b, n: numpy.where(n > 0, a, b), f(2, 3), f(2, 3), floats(-1))
case("strides", lambda a, b: (a[::2] - a[1::2]) * b, f(8), f(4))
case("strides_of_both", lambda a: a[::3, ::2].T, f(7, 5))
case("reversal", lambda a, b: a[:, ::-1] - b[2::-2], f(2, 8), f(3, 8))
case("reversal_of_constants", lambda a: floats([4, 3, 2, 1]) * a, f(4))
case("constants_in_maps", lambda a: (a[1] - a[:, 2:3]) * a[0, 3], f(3, 4))
case("part_of_an_operand", lambda a, b: a[1:3] - b, f(4, 3), f(2, 3))
case("iota", lambda a: (numpy.arange(12).reshape(3, 4) + a, ints([[0, 1, 2, 3]] * 3),
                        floats([[0, 1, 2, 3]] * 3)), l(3, 4))
case("causal_mask", lambda a: numpy.where(numpy.tri(4) > 0, a, floats(-1e9)), f(4, 4))
case("sum_of_indices", lambda a, c: (6 + c, a @ floats([0, 1, 2, 3])), f(2, 4), l(2))
case("embedding", lambda table, ids: table[ids], f(5, 4), l(2, 3, low=0, high=4))
case("embedding_turned", lambda table, ids: table[ids].T, f(5, 4), i(3, low=0, high=4))
case("look_up_elements", lambda line, table, a, b: (line[a], table[a, b]),
     f(5), f(3, 4), l(6, low=0, high=2), l(6, low=0, high=3))
case("look_up_in_columns", lambda table, j: numpy.take_along_axis(table, j, 1),
     f(3, 4), l(3, 2, low=0, high=3))
case("look_up_the_loops", lambda a: (a.T, numpy.tile(a.diagonal()[:, None], 3)), f(3, 3))
case("look_up_constants",
     lambda table, ids: (numpy.tile(table[2], (3, 1)), table[ids],
                         numpy.full((3, 4), floats(0.5))), l(5, 4), l(3, low=0, high=4))
case("sum_of_rows_looked_up", lambda table, ids: table[ids].sum(0), f(5, 4), l(3, low=0, high=4))
case("compare_floats", predicates, floats([1, 2, 1, NAN, 1, NAN]),
     floats([1, 1, 2, 1, NAN, NAN]))
case("compare_integers", lambda a, b: bits(a == b, a != b, a < b, a <= b, a > b, a >= b),
     longs([1, 2, -1, 2**40, -2**63]), longs([1, 1, 2, 2**40 + 1, 2**63 - 1]))
case("truths",
     lambda a, b: ((a != 0) & (b != 0), (a != 0) | (b != 0), (a != 0) ^ (b != 0), a == 0,
                   (a != 0) == (b != 0), -((a != 0) ^ ints([1, 0, 1, 0])).astype(numpy.int32)),
     ints([0, 5, 0, -3]), ints([0, 0, 7, 1]))
case("casts",
     lambda a, n, m: (floats(a > 0), -floats(a > 0), ints(a), longs(n), m.astype(numpy.int32),
                      floats(n), longs(a > 0), -ints(a > 0), longs(a), floats(m)),
     floats([-2.75, 0, 2.75, 100.5]), ints([-2**31, 16777217, -1, 7]),
     longs([2**32 + 5, -1, 2**40 + 2**31, 3]))
case("index_casts", lambda n, m: (n + m, m.astype(numpy.int32)), i(4), l(4))
case("powers",
     lambda a: (a**2, a**3, a**4, numpy.sqrt(a), 1 / numpy.sqrt(a), 1 / a**2, 1 / a**3),
     floats([0.5, 1.5, 2, 3]))
case("maxima_with_nan",
     lambda a, b: (numpy.maximum(a, b), numpy.minimum(a, b), numpy.fmax(a, b), numpy.fmin(a, b)),
     floats([1, NAN, 2, NAN, -INF, INF]), floats([2, 1, NAN, NAN, 0, NAN]))
case("arithmetic", lambda a, b, c, n: (a * b + c, abs(a), -a, abs(n)), f(4), f(4), f(4), i(4))
case("relu_by_select", lambda a: numpy.where(~(a <= 0), a, floats(0)),
     floats([-1, 0, 2, NAN, INF]))
case("relu_by_maximum", lambda a: maximum(a, floats(0)), f(2, 3))
case("sigmoid", lambda a: 1 / (1 + numpy.exp(-a)), f(2, 3))
case("softmax", lambda a: (softmax(a, 2), softmax(a, 0)), f(2, 3, 4))
case("softmax_by_loops", lambda a: softmax(a, 1), f(2, 5))
case("layer_norm", layer_norm, f(2, 4), f(4), f(4))
case("gelu", lambda a: a * (1 + erf(a / floats(math.sqrt(2)))) * floats(0.5), f(5))
case("unused_result", lambda a: a.max(1), f(2, 3))
case("yields_from_outside", lambda n, a: (numpy.full((2, 3), n), floats([[2] * 3] * 2), a.T),
     f(), f(2, 3))
case("outs_in_the_body", lambda a, b, c: ((b.T * c - a).T, b.T), f(2, 3), f(3, 2), f(2, 3))
case("outs_alone", lambda c: c * c, f(2, 3))
case("value_semantics", lambda a, c: (a * (c - 2), c), f(3), f(3))
case("unit_extents", lambda a, b: a - b.transpose(0, 2, 1), f(1, 3, 1), f(1, 1, 3))
case("signed_zeros", lambda a, b: (1 / abs(a), 1 / -b), floats([-0.0, 0.0, -2]),
     floats([-0.0, 0.0, 4]))
