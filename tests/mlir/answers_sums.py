"""Sums of products, sums and maxima over axes."""

import numpy

from answers_kit import INF, NAN, case, f, floats, i, ints, l, longs


def product(a, b):
    return a @ b


def sum_of(*axes):
    return lambda a: a.sum(axes)


case("matmul", product, f(2, 3), f(3, 4))
case("matmul_onto", lambda a, b, c: a @ b + c, f(2, 3), f(3, 4), f(2, 4))
case("matmul_of_ones", lambda a, b, c: a @ b + c, f(1, 1), f(1, 1), f(1, 1))
case("matmul_depth_one", lambda a, b, c: a @ b + c, f(2, 1), f(1, 4), f(2, 4))
case("matmul_constant", lambda a: a @ floats([[1, -2], [0.5, 0.25], [3, -1.5]]), f(2, 3))
case("matmul_splat", lambda a, n: a @ numpy.full((3, 4), n) + 1, f(2, 3), f())
case("matmul_splats", lambda n: numpy.full((2, 4), n * 1.5), f())
case("matmul_squares", lambda a: a @ a, f(3, 3))
case("batch_matmul", product, f(5, 2, 3), f(5, 3, 4))
case("batch_of_one", product, f(1, 2, 3), f(1, 3, 4))
case("matvec", product, f(2, 3), f(3))
case("vecmat", product, f(3), f(3, 4))
case("batch_matvec", lambda a, b: numpy.einsum("bmk,bk->bm", a, b), f(5, 2, 3), f(5, 3))
case("dot", lambda a, b, c: a @ b + c, f(5), f(5), f())
case("dot_of_itself", lambda a: a @ a, f(5))
case("dot_integers", lambda a, b, c: a @ b + c, i(5), i(5), i())
case("matmul_integers", product, i(2, 3), i(3, 4))
case("matmul_longs", lambda a, b, c: a @ b + c, l(2, 3), l(3, 4), l(2, 4))
case("matmul_transpose_a", lambda a, b: a.T @ b, f(3, 2), f(3, 4))
case("matmul_transpose_b", lambda a, b: a @ b.T, f(2, 3), f(4, 3))
case("matmul_broadcast", lambda a, b: numpy.tile(a @ b, (2, 1)), f(3), f(3, 4))
for name in ("contract", "sum_of_products_two_dims"):
    case(name, lambda a, b: numpy.einsum("mkj,jnk->nm", a, b), f(2, 3, 4), f(4, 5, 3))
case("sum_of_products_batch_in_the_middle",
     lambda a, b: numpy.einsum("mhk,nhk->mhn", a, b), f(2, 3, 4), f(5, 3, 4))
case("sum_of_products_two_batches",
     lambda a, b: numpy.einsum("gmhk,hkng->nhgm", a, b), f(2, 4, 3, 5), f(3, 5, 2, 2))
case("outer_product", lambda a, b, c: numpy.outer(a, b) + c, f(2), f(3), f(2, 3))
case("sum_of_products_one_sided", lambda a, b: numpy.outer(a.sum(1), b), f(2, 3), f(4))
case("sum_of_products_no_sided", lambda a, b, u: 3 * numpy.outer(a, b) + floats(0.5),
     f(2), f(4), f(3))
case("sum_of_an_element_without_the_loop", lambda a, u, c: 3 * a + c, f(2), f(3), f(2))
case("max_of_an_element_without_the_loop", lambda a, u, c: numpy.maximum(a, c), f(2), f(3), f(2))
case("sum_of_products_of_sums", lambda a, b: (a + 1) @ (1 - b), f(2, 3), f(3, 4))
case("sum_of_differences", lambda a, b: abs(a[:, :, None] - b).sum(1), f(2, 3), f(3, 4))
case("sum_of_products_of_three", lambda a, b, w: (a * w) @ b, f(2, 3), f(3, 4), f(3))
case("sum_of_squares", lambda a: (a * a).sum(1), f(2, 3))
case("sum_of_products_with_extent_one", lambda a, b: a * b, f(1, 3, 1), f(1, 3, 1))
case("max_of_products", lambda a, b, c: numpy.maximum((a * b).max(1), c), f(2, 3), f(3), f(2))
case("product_used_twice", lambda a, b: (a @ b, a * b), f(2, 3), f(3))
case("reduce_sum", sum_of(1), f(2, 3, 4))
case("reduce_sum_onto", lambda a, c: a.sum((0, 2)) + c, f(2, 3, 4), f(3))
case("reduce_sum_all", lambda a, c: a.sum() + c, f(2, 3), f())
case("reduce_max", lambda a, c: numpy.maximum(a.max((1, 2)), c), f(2, 3, 4), floats([1.5, 9]))
case("reduce_max_all", lambda a: a.max(), f(2, 3))
case("reduce_min", lambda a: a.min(0), f(2, 3, 4))
case("reduce_min_with_nan", lambda a, c: numpy.minimum(a.min(1), c),
     floats([[1, NAN, 2], [3, -4, INF]]), floats([0, 5]))
case("reduce_integers",
     lambda a, c: (a.sum(1, numpy.int32) + c, numpy.maximum(a.max(1), c),
                   numpy.minimum(a.min(1), c)), i(3, 4), i(3))
case("reduce_longs", lambda a: (a.sum(0), a.max(0), a.min(0)),
     longs([[2**40, -3, 7, 0], [-2**41, 5, 7, 1], [1, -9, -2**63, 2**62]]))
case("reduce_min_integers_extremes", lambda a: a.min(1),
     ints([[5, -2**31, 7], [2**31 - 1, 2**31 - 1, 2**31 - 1]]))
case("reduce_of_one", lambda a, c: (a[:, 0] + c, numpy.maximum(a[:, 0], c)), f(2, 1, 3), f(2, 3))
case("reduce_broadcast", lambda n, c: (3 * n + c, numpy.minimum(n, c)), f(), f(2))
case("reduce_broadcast_row", lambda r: (3 * r, numpy.full(3, r.sum())), f(4))
case("reduce_kept",
     lambda a, c: (a.sum(1, keepdims=True), numpy.maximum(a.max(1, keepdims=True), c)),
     f(2, 3), f(2, 1))
case("reduce_onto_broadcast", lambda a, b: a.sum(1) + b, f(2, 3, 4), f(4))
case("reduce_truths", lambda a: ((a > 0).any(1), (a > 0).all(1)),
     floats([[-1, 0, -2, -3], [1, 2, 3, 4], [1, -1, 2, 0]]))
case("reduce_two_at_once", lambda a: ((a * a).sum(1), a.max(1)), f(2, 3))
case("reduce_shared_start", lambda a, c: (a.sum(1) + c, numpy.maximum(a.max(1), c), -c),
     f(2, 3), f(2))
case("sum_turned", lambda a: a.sum(0).T, f(4, 2, 3))
