"""The MIND runtime from Python, without a binding: mind.py PATH_OF_LIBRINGKERNEL."""
import sys
from ctypes import CDLL, byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_void_p

library = CDLL(sys.argv[1])
library.mind_runtime_last_error.restype = c_char_p
CPU, F32 = 0, 0


def call(function, *arguments):
    if getattr(library, function)(*arguments) != 0:
        raise RuntimeError(library.mind_runtime_last_error().decode())


class Runtime:
    def __init__(self):
        self.handle = c_void_p()
        call("mind_runtime_new", c_int(CPU), byref(self.handle))

    def tensor(self, *shape):
        made, extents = c_void_p(), (c_int64 * len(shape))(*shape)
        call("mind_tensor_alloc", self.handle, c_int(F32), extents, c_size_t(len(shape)),
             byref(made))
        return made

    def run(self, op, inputs, output):
        handles = (c_void_p * len(inputs))(*(each.value for each in inputs))
        call("mind_runtime_run_op", self.handle, op.encode(), handles, c_size_t(len(inputs)),
             byref(output), c_size_t(1))


runtime = Runtime()
x, sums = runtime.tensor(2, 3), runtime.tensor(2)
numbers, result = (c_float * 6)(1, 2, 3, 4, 5, 6), (c_float * 2)()
call("mind_tensor_write_f32", runtime.handle, x, numbers, c_size_t(6))
runtime.run("Sum(%0, [1], false)", [x], sums)
call("mind_tensor_read_f32", runtime.handle, sums, result, c_size_t(2))
print("row sums:", *result)
