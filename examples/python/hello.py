"""Ten lines: a ring kernel, a function that stays on the device, and numpy beside both."""
import numpy as np
import pyringkernel as rk

x, w = np.random.rand(1, 64).astype(np.float32), np.random.rand(64, 10).astype(np.float32)
with rk.Runtime() as runtime, runtime.launch("adder") as adder:
    print(runtime)
    print("1 + 2 is", adder.add(np.float32([1]), 2)[0])
    scores = runtime.function(lambda x: rk.ops.softmax(x @ w))
    print("the most likely class is", scores(x).argmax(), "and numpy says", (x @ w).argmax())
