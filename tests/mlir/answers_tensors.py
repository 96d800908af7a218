"""What moves elements: parts, pads, extents; constants; memory; calls; TOSA."""

import numpy

from answers_bodies import softmax
from answers_kit import INF, NAN, case, f, floats, i, ints, l, longs
from answers_windows import nhwc, pool


def inserted(a, part, row, column):
    changed = a.copy()
    changed[row:row + part.shape[0], column:column + part.shape[1]] = part
    return changed


def padded(a, n, *pads):
    return numpy.pad(a, pads, constant_values=n)


def in_place(a, b):
    a = a + b
    b = a * a
    return b - a, b


case("extract_slice", lambda a: (a[1:3], a[0:3:2, 1:6:2, 2:4], a[3], a[2, 4]), f(4, 6, 5))
case("extract_slice_of_alike", lambda r: (r[[0, 3]] * floats([[2, 3], [5, 6]]),
                                          floats([[2, 3], [5, 6]])), f(5))
case("insert_slice", lambda a, p, r: (inserted(a, p, 1, 1), inserted(a, p, 2, 2),
                                      inserted(a, r[None], 3, 0), inserted(a, p, 1, 1)),
     f(4, 5), f(2, 3), f(5))
case("insert_slices_into_empty", lambda p, q: numpy.hstack([p, q]), f(2, 3), f(2, 2))
case("concat", lambda a, b, c, n: (numpy.hstack([a, b, c]),
                                   numpy.vstack([c, numpy.full((1, 3), n), a])),
     f(2, 3), f(2, 1), f(2, 3), f())
case("pad", lambda a, n: (padded(a, 2, (1, 0), (1, 2)), padded(a, n, (0, 0), (0, 1)), a),
     f(2, 3), f())
case("pad_integers", lambda a, b: (padded(a, -7, (1, 1)), padded(b, 9, (0, 1))), l(3), i(2))
case("reshapes", lambda a: (a.reshape(6, 4), a.reshape(2, 3, 2, 2), a.reshape(4, 6)), f(2, 3, 4))
case("reshapes_of_alike",
     lambda r, n: (numpy.tile(r, 3), floats([[1, 2], [3, 4], [5, 6]]), numpy.full((4, 3), n) * 0
                   + floats(0.5), n.reshape(1, 1), n), f(4), f())
case("turned_and_reshaped", lambda r, a: (r.repeat(3), a.T.flatten()), f(4), f(2, 3))
case("splat_and_elements", lambda n, m: (numpy.full((2, 3), n), floats([[n, m], [m, n]]), m),
     f(), f())
case("extract", lambda a, b: (a[1, 2], b[1], a - a[1, 2]), f(2, 3), l(4))
case("constants",
     lambda a, n, m: (a + floats([[1, -2.5], [INF, NAN]]), n + ints([2**31 - 1, -3]),
                      m + longs([2**53 + 1, -5]), floats([0.1, 0.1]), floats(1e-10),
                      ints([n[0], 7])), f(2, 2), ints([1, 2]), l(2))
case("resources",
     lambda a, b, c: (a * floats([1, -2, 0.5, 3]), b + longs([5, -(2**33)]), c + ints([7, -1])),
     f(4), l(2), i(2))
case("memref_matmul", lambda a, b, c: a @ b + c, f(2, 3), f(3, 4), f(2, 4))
case("memref_fill_first", lambda a, b: a @ b, f(2, 3), f(3, 4))
case("memref_alloc", lambda a: numpy.exp(a) + a, f(2, 3))
case("memref_global", lambda a, n: (a * floats([[1, 2, 3], [4, 5, 6]]), n + ints(7)),
     f(2, 3), i(3))
case("memref_in_place", in_place, f(3), f(3))
case("memref_read_then_written", lambda a: (floats([2, 2, 2]), a), f(3))
case("memref_and_result", lambda a, t: (-t, numpy.exp(a)), f(3), f(3))
case("memref_of_one_element", lambda a, b: a - b[0], f(), f(1))
case("memref_two_outputs", lambda a, b: (a + b, -a), f(3), f(3))
case("memref_softmax", lambda a: softmax(a, 1), f(2, 3))
case("memref_load", lambda t, n: (numpy.exp(t), numpy.exp(t)[n]), f(4), l(3, low=0, high=3))
case("calls", lambda a: (2 * a.clip(0), 4 * a.clip(0)), f(2, 3))
case("results_that_are_inputs", lambda a: (a, a, longs([3, 4]), a.flatten()), f(2, 3))
case("casts_of_types", lambda a: -a, f(2, 3))
case("tosa_elementwise", lambda a, b: (a + b, a * b, 1 / (1 + numpy.exp(-a)), a.clip(-1, 1)),
     f(2, 3), f(1, 3))
case("tosa_matmul", lambda a, b: a @ b, f(2, 3, 4), f(2, 4, 5))
case("tosa_conv2d",
     lambda x, w, b: nhwc(numpy.pad(x, ((0, 0), (0, 0), (1, 0), (0, 0))), w.transpose(0, 3, 1, 2))
     + b, f(1, 5, 6, 2), f(3, 3, 2, 2), f(3))
case("tosa_pool", lambda x: pool(x, (2, 2), (1, 2), numpy.max, strides=(2, 2)), f(1, 4, 6, 2))
case("tosa_fully_connected", lambda x, w, b: x @ w.T + b, f(2, 3), f(4, 3), f(4))
case("tosa_softmax", lambda a: softmax(a, 1), f(2, 5))
case("tosa_moves",
     lambda a, b: (a.reshape(6, 4), a.transpose(2, 0, 1), numpy.hstack([a, b]), a[1:, :2],
                   a[:, :, ::-1]), f(2, 3, 4), f(2, 3, 4))
