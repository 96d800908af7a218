"""Functions in MLIR, with inputs, and what numpy computes of these."""

import base64
import math
from typing import Any, Callable, NamedTuple

import numpy as np


class Case(NamedTuple):
    text: str
    inputs: tuple[np.ndarray, ...]
    #: One array, or a tuple of several.
    expected: Callable[..., Any]


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(np.float32)


def whole(*shape, dtype=np.int32, seed=0):
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(dtype)


def filled(name, kind, number="0.0"):
    """A tensor `%name` of this number."""
    element = kind.removeprefix("tensor<").rpartition("x")[2].rstrip(">")
    return f"""
    %{name}_number = arith.constant {number} : {element}
    %{name}_empty = tensor.empty() : {kind}
    %{name} = linalg.fill ins(%{name}_number : {element}) outs(%{name}_empty : {kind}) -> {kind}"""


def softmax(x, axis=-1):
    grown = np.exp(x - x.max(axis, keepdims=True))
    return grown / grown.sum(axis, keepdims=True)


def windows(images, height, width, step):
    """[n, h, w, height, width, c]: the windows of images [n, h, w, c]."""
    view = np.lib.stride_tricks.sliding_window_view(images, (height, width), (1, 2))
    return view[:, ::step, ::step].transpose(0, 1, 2, 4, 5, 3)


def elementwise(body, *inputs, result="tensor<3x4xf32>"):
    """A function whose body takes `%0`, `%1`, ... and gives `%r`."""
    names = {"float32": "f32", "int32": "i32", "int64": "i64"}
    kinds = ["tensor<" + "x".join(map(str, x.shape)) + f"x{names[str(x.dtype)]}>" for x in inputs]
    arguments = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(kinds))
    for i in range(len(inputs)):
        body = body.replace(f"%{i}", f"%a{i}")
    return f"func.func @f({arguments}) -> {result} {{\n{body}\nreturn %r : {result}\n}}"


X, Y = numbers(3, 4), numbers(3, 4, seed=1)
I, J = whole(3, 4), whole(3, 4, seed=1)
T = "tensor<3x4xf32>"

CASES = {
    "matmul, bias and relu": Case(
        f"""func.func @f(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %b: tensor<4xf32>)
            -> tensor<2x4xf32> {{
        {filled("zeros", "tensor<2x4xf32>")}
        %0 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>)
                           outs(%zeros : tensor<2x4xf32>) -> tensor<2x4xf32>
        %wide = linalg.broadcast ins(%b : tensor<4xf32>) outs(%zeros : tensor<2x4xf32>)
                dimensions = [0]
        %1 = arith.addf %0, %wide : tensor<2x4xf32>
        %2 = arith.maximumf %1, %zeros : tensor<2x4xf32>
        return %2 : tensor<2x4xf32>
        }}""",
        (numbers(2, 3), numbers(3, 4, seed=1), numbers(4, seed=2)),
        lambda x, w, b: np.maximum(x @ w + b, 0),
    ),
    "matmul onto what is there": Case(
        """func.func @f(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %b: tensor<2x4xf32>)
            -> tensor<2x4xf32> {
        %0 = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>)
                           outs(%b : tensor<2x4xf32>) -> tensor<2x4xf32>
        return %0 : tensor<2x4xf32>
        }""",
        (numbers(2, 3), numbers(3, 4, seed=1), numbers(2, 4, seed=2)),
        lambda x, w, b: x @ w + b,
    ),
    "batches of matmul": Case(
        f"""func.func @f(%x: tensor<5x2x3xf32>, %w: tensor<5x3x4xf32>) -> tensor<5x2x4xf32> {{
        {filled("zeros", "tensor<5x2x4xf32>")}
        %0 = linalg.batch_matmul ins(%x, %w : tensor<5x2x3xf32>, tensor<5x3x4xf32>)
                                 outs(%zeros : tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
        return %0 : tensor<5x2x4xf32>
        }}""",
        (numbers(5, 2, 3), numbers(5, 3, 4, seed=1)),
        lambda x, w: x @ w,
    ),
    "matrix times vector": Case(
        f"""func.func @f(%x: tensor<3x4xf32>, %y: tensor<4xf32>) -> tensor<3xf32> {{
        {filled("zeros", "tensor<3xf32>")}
        %0 = linalg.matvec ins(%x, %y : {T}, tensor<4xf32>) outs(%zeros : tensor<3xf32>)
             -> tensor<3xf32>
        return %0 : tensor<3xf32>
        }}""",
        (X, numbers(4, seed=3)),
        lambda x, y: x @ y,
    ),
    "a generic of a transposed matrix": Case(
        f"""func.func @f(%x: {T}, %w: tensor<5x4xf32>) -> tensor<3x5xf32> {{
        {filled("zeros", "tensor<3x5xf32>")}
        %0 = linalg.generic {{
              indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                               affine_map<(i, j, k) -> (i, j)>],
              iterator_types = ["parallel", "parallel", "reduction"]}}
            ins(%x, %w : {T}, tensor<5x4xf32>) outs(%zeros : tensor<3x5xf32>) {{
          ^bb0(%a: f32, %b: f32, %c: f32):
            %p = arith.mulf %a, %b : f32
            %s = arith.addf %c, %p : f32
            linalg.yield %s : f32
        }} -> tensor<3x5xf32>
        return %0 : tensor<3x5xf32>
        }}""",
        (X, numbers(5, 4, seed=1)),
        lambda x, w: x @ w.T,
    ),
    "a sum of rows": Case(
        f"""func.func @f(%x: {T}) -> tensor<3xf32> {{
        {filled("zeros", "tensor<3xf32>")}
        %0 = linalg.reduce {{ arith.addf }} ins(%x : {T}) outs(%zeros : tensor<3xf32>)
             dimensions = [1]
        return %0 : tensor<3xf32>
        }}""",
        (X,),
        lambda x: x.sum(1),
    ),
    "a maximum of columns": Case(
        f"""func.func @f(%x: {T}) -> tensor<4xf32> {{
        {filled("low", "tensor<4xf32>", "0xFF800000")}
        %0 = linalg.reduce {{ arith.maximumf }} ins(%x : {T}) outs(%low : tensor<4xf32>)
             dimensions = [0]
        return %0 : tensor<4xf32>
        }}""",
        (X,),
        lambda x: x.max(0),
    ),
    "a sum of all": Case(
        f"""func.func @f(%x: tensor<3x4xi32>) -> tensor<i32> {{
        {filled("zero", "tensor<i32>", "0")}
        %0 = linalg.reduce {{ arith.addi }} ins(%x : tensor<3x4xi32>) outs(%zero : tensor<i32>)
             dimensions = [0, 1]
        return %0 : tensor<i32>
        }}""",
        (I,),
        lambda x: x.sum(dtype=np.int32),
    ),
    "a convolution in steps": Case(
        f"""func.func @f(%x: tensor<1x7x7x2xf32>, %w: tensor<3x3x2x4xf32>)
            -> tensor<1x3x3x4xf32> {{
        {filled("zeros", "tensor<1x3x3x4xf32>")}
        %0 = linalg.conv_2d_nhwc_hwcf {{strides = dense<2> : tensor<2xi64>}}
             ins(%x, %w : tensor<1x7x7x2xf32>, tensor<3x3x2x4xf32>)
             outs(%zeros : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
        return %0 : tensor<1x3x3x4xf32>
        }}""",
        (numbers(1, 7, 7, 2), numbers(3, 3, 2, 4, seed=1)),
        lambda x, w: np.einsum("nhwijc,ijcf->nhwf", windows(x, 3, 3, 2), w),
    ),
    "a depthwise convolution": Case(
        f"""func.func @f(%x: tensor<2x5x5x3xf32>, %w: tensor<3x3x3xf32>) -> tensor<2x3x3x3xf32> {{
        {filled("zeros", "tensor<2x3x3x3xf32>")}
        %0 = linalg.depthwise_conv_2d_nhwc_hwc
             ins(%x, %w : tensor<2x5x5x3xf32>, tensor<3x3x3xf32>)
             outs(%zeros : tensor<2x3x3x3xf32>) -> tensor<2x3x3x3xf32>
        return %0 : tensor<2x3x3x3xf32>
        }}""",
        (numbers(2, 5, 5, 3), numbers(3, 3, 3, seed=1)),
        lambda x, w: np.einsum("nhwijc,ijc->nhwc", windows(x, 3, 3, 1), w),
    ),
    "maxima of windows": Case(
        f"""func.func @f(%x: tensor<1x6x6x2xf32>, %w: tensor<2x2xf32>) -> tensor<1x3x3x2xf32> {{
        {filled("low", "tensor<1x3x3x2xf32>", "0xFF800000")}
        %0 = linalg.pooling_nhwc_max {{strides = dense<2> : tensor<2xi64>}}
             ins(%x, %w : tensor<1x6x6x2xf32>, tensor<2x2xf32>)
             outs(%low : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
        return %0 : tensor<1x3x3x2xf32>
        }}""",
        (numbers(1, 6, 6, 2), numbers(2, 2)),
        lambda x, _: windows(x, 2, 2, 2).max((3, 4)),
    ),
    "softmax": Case(
        f"""func.func @f(%x: {T}) -> {T} {{
        %empty = tensor.empty() : {T}
        %0 = linalg.softmax dimension(1) ins(%x : {T}) outs(%empty : {T}) -> {T}
        return %0 : {T}
        }}""",
        (X,),
        softmax,
    ),
    "softmax of its parts": Case(
        f"""func.func @f(%x: {T}) -> {T} {{
        %empty = tensor.empty() : {T}
        {filled("low", "tensor<3xf32>", "0xFF800000")}
        {filled("zeros", "tensor<3xf32>")}
        %most = linalg.reduce {{ arith.maximumf }} ins(%x : {T}) outs(%low : tensor<3xf32>)
                dimensions = [1]
        %wide = linalg.broadcast ins(%most : tensor<3xf32>) outs(%empty : {T}) dimensions = [1]
        %less = arith.subf %x, %wide : {T}
        %grown = math.exp %less : {T}
        %all = linalg.reduce {{ arith.addf }} ins(%grown : {T}) outs(%zeros : tensor<3xf32>)
               dimensions = [1]
        %alls = linalg.broadcast ins(%all : tensor<3xf32>) outs(%empty : {T}) dimensions = [1]
        %0 = arith.divf %grown, %alls : {T}
        return %0 : {T}
        }}""",
        (X,),
        softmax,
    ),
    "a transpose": Case(
        """func.func @f(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
        %empty = tensor.empty() : tensor<4x2x3xf32>
        %0 = linalg.transpose ins(%x : tensor<2x3x4xf32>) outs(%empty : tensor<4x2x3xf32>)
             permutation = [2, 0, 1]
        return %0 : tensor<4x2x3xf32>
        }""",
        (numbers(2, 3, 4),),
        lambda x: x.transpose(2, 0, 1),
    ),
    "rows by their numbers": Case(
        """func.func @f(%x: tensor<5x4xf32>, %rows: tensor<3xi32>) -> tensor<3x4xf32> {
        %empty = tensor.empty() : tensor<3x4xf32>
        %0 = linalg.generic {
              indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
              iterator_types = ["parallel", "parallel"]}
            ins(%rows : tensor<3xi32>) outs(%empty : tensor<3x4xf32>) {
          ^bb0(%row: i32, %out: f32):
            %i = arith.index_cast %row : i32 to index
            %j = linalg.index 1 : index
            %e = tensor.extract %x[%i, %j] : tensor<5x4xf32>
            linalg.yield %e : f32
        } -> tensor<3x4xf32>
        return %0 : tensor<3x4xf32>
        }""",
        (numbers(5, 4), np.int32([4, 0, 4])),
        lambda x, rows: x[rows],
    ),
    "a memref that is written": Case(
        """func.func @f(%x: memref<2x3xf32>, %w: memref<3x4xf32>, %y: memref<2x4xf32>) {
        %zero = arith.constant 0.0 : f32
        linalg.fill ins(%zero : f32) outs(%y : memref<2x4xf32>)
        linalg.matmul ins(%x, %w : memref<2x3xf32>, memref<3x4xf32>) outs(%y : memref<2x4xf32>)
        return
        }""",
        (numbers(2, 3), numbers(3, 4, seed=1)),
        lambda x, w: x @ w,
    ),
    "a memref that is read, too": Case(
        """func.func @f(%x: memref<2x3xf32>, %w: memref<3x4xf32>, %y: memref<2x4xf32>) {
        linalg.matmul ins(%x, %w : memref<2x3xf32>, memref<3x4xf32>) outs(%y : memref<2x4xf32>)
        return
        }""",
        (numbers(2, 3), numbers(3, 4, seed=1), numbers(2, 4, seed=2)),
        lambda x, w, y: x @ w + y,
    ),
    "a part": Case(
        """func.func @f(%x: tensor<6x8xf32>) -> tensor<2x3xf32> {
        %0 = tensor.extract_slice %x[1, 2] [2, 3] [2, 1] : tensor<6x8xf32> to tensor<2x3xf32>
        return %0 : tensor<2x3xf32>
        }""",
        (numbers(6, 8),),
        lambda x: x[1:5:2, 2:5],
    ),
    "a border of ones": Case(
        f"""func.func @f(%x: {T}) -> tensor<6x5xf32> {{
        %one = arith.constant 1.0 : f32
        %0 = tensor.pad %x low[1, 0] high[2, 1] {{
          ^bb0(%i: index, %j: index):
            tensor.yield %one : f32
        }} : {T} to tensor<6x5xf32>
        return %0 : tensor<6x5xf32>
        }}""",
        (X,),
        lambda x: np.pad(x, ((1, 2), (0, 1)), constant_values=1),
    ),
    "one behind the other": Case(
        f"""func.func @f(%x: {T}, %y: {T}) -> tensor<3x8xf32> {{
        %0 = tensor.concat dim(1) %x, %y : ({T}, {T}) -> tensor<3x8xf32>
        return %0 : tensor<3x8xf32>
        }}""",
        (X, Y),
        lambda x, y: np.concatenate((x, y), 1),
    ),
    "other shapes": Case(
        f"""func.func @f(%x: {T}) -> tensor<2x6xf32> {{
        %0 = tensor.collapse_shape %x [[0, 1]] : {T} into tensor<12xf32>
        %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 6]
             : tensor<12xf32> into tensor<2x6xf32>
        return %1 : tensor<2x6xf32>
        }}""",
        (X,),
        lambda x: x.reshape(2, 6),
    ),
    "a choice": Case(
        elementwise(
            f"""%c = arith.cmpf olt, %0, %1 : {T}
            %r = arith.select %c, %0, %1 : tensor<3x4xi1>, {T}""",
            X, Y,
        ),
        (X, Y),
        np.minimum,
    ),
    "integers": Case(
        elementwise(
            """%p = arith.muli %0, %1 : tensor<3x4xi32>
            %q = arith.subi %p, %0 : tensor<3x4xi32>
            %r = arith.maxsi %q, %1 : tensor<3x4xi32>""",
            I, J, result="tensor<3x4xi32>",
        ),
        (I, J),
        lambda x, y: np.maximum(x * y - x, y),
    ),
    "other types": Case(
        elementwise(
            f"""%n = arith.sitofp %0 : tensor<3x4xi32> to {T}
            %h = arith.divf %n, %1 : {T}
            %i = arith.fptosi %h : {T} to tensor<3x4xi32>
            %r = arith.extsi %i : tensor<3x4xi32> to tensor<3x4xi64>""",
            I, Y, result="tensor<3x4xi64>",
        ),
        (I, Y),
        lambda x, y: (x.astype(np.float32) / y).astype(np.int64),
    ),
    "constants": Case(
        f"""func.func @f(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {{
        %a = arith.constant dense<[[1.0, 2.0], [-3.0, 4.5]]> : tensor<2x2xf32>
        %b = arith.constant dense<0.25> : tensor<2x2xf32>
        %0 = arith.mulf %x, %a : tensor<2x2xf32>
        %1 = arith.addf %0, %b : tensor<2x2xf32>
        return %1 : tensor<2x2xf32>
        }}""",
        (numbers(2, 2),),
        lambda x: x * np.float32([[1, 2], [-3, 4.5]]) + np.float32(0.25),
    ),
    "several results": Case(
        f"""func.func @f(%x: {T}, %y: {T}) -> ({T}, {T}, {T}) {{
        %0 = arith.addf %x, %y : {T}
        %1 = arith.subf %x, %y : {T}
        return %0, %1, %0 : {T}, {T}, {T}
        }}""",
        (X, Y),
        lambda x, y: (x + y, x - y, x + y),
    ),
    "gelu": Case(
        elementwise(
            f"""%half = arith.constant dense<0.5> : {T}
            %one = arith.constant dense<1.0> : {T}
            %root = arith.constant dense<0.70710678> : {T}
            %s = arith.mulf %0, %root : {T}
            %e = math.erf %s : {T}
            %o = arith.addf %e, %one : {T}
            %h = arith.mulf %0, %half : {T}
            %r = arith.mulf %h, %o : {T}""",
            X,
        ),
        (X,),
        lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    ),
    "roots and logarithms": Case(
        elementwise(
            f"""%a = math.absf %0 : {T}
            %s = math.sqrt %a : {T}
            %l = math.log %a : {T}
            %t = math.tanh %l : {T}
            %r = arith.addf %s, %t : {T}""",
            X,
        ),
        (X,),
        lambda x: np.sqrt(abs(x)) + np.tanh(np.log(abs(x))),
    ),
    "tosa": Case(
        f"""func.func @f(%x: {T}, %y: tensor<1x4xf32>) -> {T} {{
        %0 = tosa.add %x, %y : ({T}, tensor<1x4xf32>) -> {T}
        %1 = tosa.tanh %0 : ({T}) -> {T}
        return %1 : {T}
        }}""",
        (X, numbers(1, 4, seed=4)),
        lambda x, y: np.tanh(x + y),
    ),
    "a call": Case(
        f"""func.func private @twice(%x: {T}) -> {T} {{
        %0 = arith.addf %x, %x : {T}
        return %0 : {T}
        }}
        func.func @f(%x: {T}) -> {T} {{
        %0 = func.call @twice(%x) : ({T}) -> {T}
        %1 = func.call @twice(%0) : ({T}) -> {T}
        return %1 : {T}
        }}""",
        (X,),
        lambda x: 4 * x,
    ),
    "places": Case(
        f"""func.func @f(%x: {T}) -> {T} {{
        %empty = tensor.empty() : {T}
        %0 = linalg.generic {{
              indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
              iterator_types = ["parallel", "parallel"]}} ins(%x : {T}) outs(%empty : {T}) {{
          ^bb0(%a: f32, %out: f32):
            %j = linalg.index 1 : index
            %k = arith.index_cast %j : index to i64
            %n = arith.sitofp %k : i64 to f32
            %s = arith.addf %a, %n : f32
            linalg.yield %s : f32
        }} -> {T}
        return %0 : {T}
        }}""",
        (X,),
        lambda x: x + np.arange(4, dtype=np.float32),
    ),
}

#: By version, what it writes as bytecode of
#:
#:     func.func @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
#:       %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
#:       %0 = arith.addf %x, %c : tensor<2xf32>
#:       return %0 : tensor<2xf32>
#:     }
BYTECODE = {
    19: base64.b85decode(
        "O-%1n4NXi*QZYF$F)lX%0U-wg1qllQ0}lfQ2NMMa7aIdD7Y6|q3lj?q6B92J6B7jkSpf$V7Y7291rHYi0Ras"
        "I1rZkk0|OTU10^K^5dZ*yKL7v#Ko<c85f=dm5f=do2P0u}X>@2VW?^%5ZDDk1JZ^7pWj+8K0|^BM0|5g83j|"
        "vQ0Z;=02Lww40R;n42?GZNHv<O`0|N^H2SN`80|5y}5eEYS1pxyE1QP=V1_J>F0RV#&4FwAm4-X9s5n^>|Y;"
        "<XE0A_V=V*p`tX>@1+ZEs|CY-Ip)Wps6NZUAF%ZgX^DZgc=)WMpOlEdX?PX=7yo2ptIp0RamE1px;E0}TT!"
    ),
    22: base64.b85decode(
        "O-%1n4NXi*QZh0wF)la&0U-wg1qllQ0}lfQ2NMMa7aIdD7Y6|q3lj?q6B92J6B7jkSpf$V7Y7291rHYi0Ras"
        "I1rZkk0|OTU10^K^5dZ*yKL7v#Ko<c85f=dm5f=do2P0u}X>@2VW?^%5ZDDk1JZ^7pWj+8K0|^BM0|5g83j|"
        "vQ0Z;=02Lww40R;n42?GZNHv<O`0|N^H2SN`80|5y}5eEYS1pxyE1QP=V1_J>F0RV#&4FwAm4-X9s5n^>|Y;"
        "<XE0A_V=V*p`tX>@1+ZEs|CY-Ip)Wps6NZUAF%ZgX^DZgc=)WMpOlEdX?PX=7yo2p<Ur0RasG1pxsE0Rs&KD"
        "*"
    ),
}
