"""Windows that move over images: convolutions and pooling."""

import numpy
from numpy.lib.stride_tricks import sliding_window_view

from answers_kit import case, f, floats


def windows(x, size, axes, strides=None, dilations=None):
    """Windows of `size` along `axes`; their own dims come last."""
    dilations = dilations or (1,) * len(size)
    span = [(n - 1) * d + 1 for n, d in zip(size, dilations)]
    view = sliding_window_view(x, span, axes)
    within = [slice(None, None, d) for d in dilations]
    steps = [slice(None)] * x.ndim
    for axis, stride in zip(axes, strides or (1,) * len(size)):
        steps[axis] = slice(None, None, stride)
    return view[(*steps, *within)]


def conv(x, w, axes, sum_up, **steps):
    """`sum_up`: as einsum reads it; of the filter, the last dims are those of the window."""
    return numpy.einsum(sum_up, windows(x, w.shape[-len(axes):], axes, **steps), w)


def nchw(x, w, **steps):
    return conv(x, w, (2, 3), "nchwij,fcij->nfhw", **steps)


def nhwc(x, w, **steps):
    """The filter is [outputs, channels, rows, columns] here too."""
    return conv(x, w, (1, 2), "nhwcij,fcij->nhwf", **steps)


def pool(x, size, axes, reduce, **steps):
    return reduce(windows(x, size, axes, **steps), tuple(range(-len(size), 0)))


case("conv_1d_ncw", lambda x, w, c: conv(x, w, (2,), "ncwj,fcj->nfw") + c,
     f(2, 3, 8), f(4, 3, 3), f(2, 4, 6))
case("conv_1d_nwc",
     lambda x, w: conv(x, w.transpose(2, 1, 0), (1,), "nwcj,fcj->nwf", strides=(2,),
                       dilations=(2,)), f(2, 10, 3), f(3, 3, 4))
case("conv_1d", lambda x, w, c: conv(x, w, (0,), "wj,j->w") + c, f(8), f(3), f(6))
case("conv_2d", lambda x, w, c: conv(x, w, (0, 1), "hwij,ij->hw") + c, f(5, 6), f(2, 3), f(4, 4))
case("conv_2d_nhwc_hwcf", lambda x, w: nhwc(x, w.transpose(3, 2, 0, 1)),
     f(2, 5, 6, 3), f(2, 3, 3, 4))
case("conv_2d_nhwc_fhwc", lambda x, w: nhwc(x, w.transpose(0, 3, 1, 2)),
     f(2, 5, 6, 3), f(4, 2, 3, 3))
case("conv_2d_nchw_fchw", lambda x, w, b: nchw(x, w) + b[:, None, None],
     f(2, 3, 5, 6), f(4, 3, 2, 3), f(4))
case("conv_2d_strides",
     lambda x, w: nchw(x, w, strides=(2, 1), dilations=(3, 2))[:, :, :3, :3],
     f(1, 2, 8, 9), f(3, 2, 2, 3))
case("conv_2d_pads", lambda x, w: nchw(numpy.pad(x, ((0, 0), (0, 0), (1, 1), (0, 1))), w),
     f(1, 2, 3, 4), f(3, 2, 3, 3))
case("conv_2d_pointwise", nchw, f(2, 3, 4, 5), f(6, 3, 1, 1))
case("conv_2d_pointwise_strided", lambda x, w: nchw(x, w, strides=(2, 2)),
     f(1, 3, 4, 5), f(2, 3, 1, 1))
case("conv_2d_whole_image", nchw, f(2, 3, 4, 5), f(6, 3, 4, 5))
case("conv_2d_of_ones", lambda x, w, c: x * w + c, f(1, 1, 1, 1), f(1, 1, 1, 1), f(1, 1, 1, 1))
case("conv_2d_row_window", nchw, f(1, 2, 4, 6), f(3, 2, 1, 3))
case("conv_2d_one_channel", nchw, f(2, 1, 4, 6), f(3, 1, 2, 3))
case("conv_2d_constant_filter",
     lambda x: nhwc(x, floats([[[[1, 3], [0.5, -2]]], [[[2, -1], [4, 0.25]]]])), f(1, 4, 4, 1))
case("conv_2d_grouped", lambda x, w: conv(x, w, (3, 4), "ngchwij,fgcij->ngfhw"),
     f(2, 3, 2, 4, 5), f(4, 3, 2, 2, 3))
case("conv_2d_grouped_filter_first", lambda x, w: conv(x, w, (3, 4), "ngchwij,gfcij->ngfhw"),
     f(2, 3, 2, 4, 5), f(3, 4, 2, 2, 3))
case("depthwise_1d", lambda x, w: conv(x, w.T, (1,), "nwcj,cj->nwc"), f(2, 6, 3), f(2, 3))
case("depthwise_2d",
     lambda x, w: conv(x, w.transpose(2, 0, 1), (1, 2), "nhwcij,cij->nhwc", strides=(2, 1)),
     f(2, 5, 6, 3), f(2, 3, 3))
case("depthwise_2d_nchw", lambda x, w: conv(x, w, (2, 3), "nchwij,cij->nchw"),
     f(2, 3, 5, 6), f(3, 2, 3))
case("depthwise_2d_multiplier",
     lambda x, w: conv(x, w.transpose(2, 3, 0, 1), (1, 2), "nhwcij,cmij->nhwcm"),
     f(2, 5, 6, 3), f(2, 3, 3, 4))
case("pooling_max_nhwc", lambda x: pool(x, (3, 2), (1, 2), numpy.max, strides=(2, 1)),
     f(2, 5, 6, 3))
case("pooling_max_nchw",
     lambda x, c: numpy.maximum(pool(x, (2, 2), (2, 3), numpy.max, strides=(1, 2)), c),
     f(2, 3, 5, 6), f(2, 3, 4, 3))
case("pooling_min", lambda x, c: numpy.minimum(pool(x, (2, 2), (1, 2), numpy.min), c),
     f(2, 5, 6, 3), f(2, 4, 5, 3))
case("pooling_sum_nhwc", lambda x, c: pool(x, (3, 2), (1, 2), numpy.sum) + c,
     f(2, 5, 6, 3), f(2, 3, 5, 3))
case("pooling_sum_nchw", lambda x: pool(x, (2, 2), (2, 3), numpy.mean, dilations=(2, 1)),
     f(2, 3, 5, 6))
case("pooling_ncw", lambda x: (pool(x, (3,), (2,), numpy.max, strides=(2,)),
                               pool(x, (3,), (2,), numpy.sum)), f(2, 3, 7))
case("pooling_windows_of_one", lambda x: (x, x[:, ::2, ::2]), f(1, 4, 5, 2))
case("pooling_global", lambda x: (x.max((2, 3), keepdims=True), x.sum((2, 3), keepdims=True)),
     f(2, 3, 4, 5))
case("pooling_of_one_channel", lambda x: (pool(x, (2, 2), (2, 3), numpy.max),
                                          pool(x, (2, 2), (2, 3), numpy.sum)), f(2, 1, 4, 5))
case("pooling_of_alike", lambda n: (numpy.full((1, 3, 4, 2), n), numpy.full((1, 3, 4, 2), 4 * n)),
     f())
case("window_by_hand", lambda x, w, u: conv(x, w[::-1], (0,), "oj,j->o", dilations=(2,)),
     f(9), f(3), f(3))
case("window_with_offset", lambda x, w: conv(x[1:8], w, (0,), "oj,j->o"), f(9), f(3))
