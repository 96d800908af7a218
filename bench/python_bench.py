"""What a call from Python costs, beside what a user would take instead: `./rk bench python`.

    python_bench.py BASELINE [--rounds N] [--only TEXT] [--json FILE]

BASELINE is bench/python_baseline. Every round measures every case once, so that a figure compares
what ran within the same second; a figure is the median of its rounds.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import time
from typing import NamedTuple

import numpy as np
import pyringkernel as rk

SECONDS = 0.15  # of each case in a round


def timed(call):
    """Nanoseconds of one call, over about SECONDS."""
    count = 1
    while True:
        begin = time.perf_counter_ns()
        for _ in range(count):
            call()
        elapsed = time.perf_counter_ns() - begin
        if elapsed > SECONDS * 1e9 / 2:
            return elapsed / count
        count = max(count * 2, int(count * SECONDS * 1e9 / max(elapsed, 1)))


class Mlp:
    """64-32-10 with biases, for one row."""

    def __init__(self, seed=7):
        random = np.random.default_rng(seed)
        self.w1 = random.standard_normal((64, 32), dtype=np.float32)
        self.b1 = random.standard_normal(32, dtype=np.float32)
        self.w2 = random.standard_normal((32, 10), dtype=np.float32)
        self.b2 = random.standard_normal(10, dtype=np.float32)
        self.x = random.standard_normal((1, 64), dtype=np.float32)

    def numpy(self):
        return np.maximum(self.x @ self.w1 + self.b1, 0) @ self.w2 + self.b2

    def trace(self, x):
        return rk.ops.relu(x @ self.w1 + self.b1) @ self.w2 + self.b2

    def onnx(self):
        from onnx import TensorProto, helper, numpy_helper

        nodes = [
            helper.make_node("Gemm", ["x", "w1", "b1"], ["a"]),
            helper.make_node("Relu", ["a"], ["h"]),
            helper.make_node("Gemm", ["h", "w2", "b2"], ["y"]),
        ]
        weights = [
            numpy_helper.from_array(getattr(self, name), name) for name in ("w1", "b1", "w2", "b2")
        ]
        shapes = {"x": [1, 64], "y": [1, 10]}
        x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items())
        graph = helper.make_graph(nodes, "mlp", [x], [y], weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        return model.SerializeToString()


def baseline(cases, path, case, *how):
    child = subprocess.Popen(
        [path, *how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def round_of():
        child.stdin.write("\n")
        child.stdin.flush()
        return float(child.stdout.readline())

    cases[case] = round_of
    return child


def onnxruntime_cases(cases, mlp):
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(mlp.onnx(), options, providers=["CPUExecutionProvider"])
    feed = {"x": mlp.x}
    assert np.allclose(session.run(None, feed)[0], mlp.numpy(), atol=1e-4)
    cases["ort_run"] = lambda: timed(lambda: session.run(None, feed))
    binding = session.io_binding()
    result = np.empty((1, 10), np.float32)
    binding.bind_input("x", "cpu", 0, np.float32, (1, 64), mlp.x.ctypes.data)
    binding.bind_output("y", "cpu", 0, np.float32, (1, 10), result.ctypes.data)
    cases["ort_iobinding"] = lambda: timed(lambda: session.run_with_iobinding(binding))


def pyopencl_cases(cases, a, b):
    import pyopencl as cl

    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue = cl.CommandQueue(context)
    program = cl.Program(
        context,
        "kernel void add(global const float* a, global const float* b, global float* c)"
        "{ size_t i = get_global_id(0); c[i] = a[i] + b[i]; }",
    ).build()
    kernel = cl.Kernel(program, "add")
    buffers = [cl.Buffer(context, cl.mem_flags.READ_WRITE, a.nbytes) for _ in range(3)]
    kernel.set_args(*buffers)
    result = np.empty_like(a)

    def add():
        cl.enqueue_copy(queue, buffers[0], a, is_blocking=False)
        cl.enqueue_copy(queue, buffers[1], b, is_blocking=False)
        cl.enqueue_nd_range_kernel(queue, kernel, a.shape, None)
        cl.enqueue_copy(queue, result, buffers[2])

    add()
    assert np.array_equal(result, a + b)
    cases["pyopencl_add16"] = lambda: timed(add)


def awaited(function, x):
    """Nanoseconds of an awaited call in a running loop."""

    async def measure():
        count = 20000
        begin = time.perf_counter_ns()
        for _ in range(count):
            await function.acall(x)
        return (time.perf_counter_ns() - begin) / count

    return asyncio.run(measure())


class Figure(NamedTuple):
    """One case, or one over another."""

    name: str
    what: str
    above: str
    below: "str | None" = None
    bar: "float | None" = None
    better: str = "<="


FIGURES = [
    Figure("py_add_ns", "kernel.add on 16 floats, native", "py_add16"),
    Figure("py_mlp_ns", "MLP 64-32-10, one row, native", "py_mlp"),
    Figure("py_native_add_vs_c", "that add over ringkernel_call in C", "py_add16", "c_add16", 2),
    Figure("c_prepared_vs_call", "in C, that call prepared, over not", "c_prepared_add16",
           "c_add16"),
    Figure("c_async_vs_call", "in C, begun and taken from a queue, over called", "c_async_add16",
           "c_add16"),
    Figure("py_add_vs_numpy", "that add over numpy's", "py_add16", "numpy_add16"),
    Figure("py_mlp_vs_numpy", "numpy's MLP over ours", "numpy_mlp", "py_mlp", 3, ">="),
    Figure("py_mlp_vs_ort_run", "onnxruntime's run over ours", "ort_run", "py_mlp", 5, ">="),
    Figure("py_mlp_into_vs_ort_iobinding", "its io_binding over ours with out=", "ort_iobinding",
           "py_mlp_into", 3, ">="),
    Figure("py_await_vs_sync", "the MLP awaited over called", "py_mlp_await", "py_mlp", 1.2),
    Figure("py_add_vs_pyopencl", "pyopencl's add over ours, on PoCL", "pyopencl_add16",
           "py_pocl_add16", 20, ">="),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("baseline")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    options = parser.parse_args()
    figures = [figure for figure in FIGURES if options.only in figure.name]
    wanted = {case for figure in figures for case in (figure.above, figure.below)}

    mlp = Mlp()
    a, b = np.ones(16, np.float32), np.full(16, 2, np.float32)
    cases, absent, children = {}, {}, []
    with rk.Runtime(backend="native") as native:
        adder = native.launch("adder")
        function = native.function(mlp.trace)
        result = np.empty((1, 10), np.float32)
        assert np.allclose(function(mlp.x), mlp.numpy(), atol=1e-4)
        cases["py_add16"] = lambda: timed(lambda: adder.add(a, b))
        cases["numpy_add16"] = lambda: timed(lambda: a + b)
        cases["py_mlp"] = lambda: timed(lambda: function(mlp.x))
        cases["py_mlp_into"] = lambda: timed(lambda: function(mlp.x, out=result))
        cases["py_mlp_await"] = lambda: awaited(function, mlp.x)
        cases["numpy_mlp"] = lambda: timed(mlp.numpy)
        children = [
            baseline(cases, options.baseline, "c_add16"),
            baseline(cases, options.baseline, "c_prepared_add16", "prepared"),
            baseline(cases, options.baseline, "c_async_add16", "async"),
        ]
        for add, given in ((onnxruntime_cases, (mlp,)), (pyopencl_cases, (a, b))):
            try:
                add(cases, *given)
            except Exception as error:  # a baseline that is not to be had
                absent[str(error)] = True
        pocl = None
        try:
            pocl = rk.Runtime(backend="opencl")
            device_adder = pocl.launch("adder")
            cases["py_pocl_add16"] = lambda: timed(lambda: device_adder.add(a, b))
        except rk.Error as error:
            absent[str(error)] = True

        print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} CPUs, {native}")
        for reason in absent:
            print("absent:", reason)
        rounds = {name: [] for name in cases if name in wanted}
        for _ in range(options.rounds):
            for name in rounds:
                rounds[name].append(cases[name]())
        if pocl is not None:
            pocl.close()
    for child in children:
        child.stdin.close()
        child.wait()
    report(figures, rounds, options)


def report(figures, rounds, options):
    rows = []
    for name, what, above, below, bar, better in figures:
        if above not in rounds or (below is not None and below not in rounds):
            print(f"{name:30} absent")
            continue
        values = rounds[above]
        unit = "ns"
        if below is not None:
            values = [x / y for x, y in zip(values, rounds[below])]
            unit = "x"
        value = statistics.median(values)
        spread = (max(values) - min(values)) / value
        met = bar is None or (value <= bar if better == "<=" else value >= bar)
        aim = "" if bar is None else f"{better} {bar}{'' if met else '  MISSED'}"
        print(f"{name:30} {value:9.2f} {unit:3} +-{spread:4.0%}  {aim:14} {what}")
        rows.append({"name": name, "value": value, "unit": unit, "samples": len(values),
                     "spread": spread})
    for name, values in rounds.items():
        print(f"  {name:20} {statistics.median(values):9.0f} ns")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file)


if __name__ == "__main__":
    main()
