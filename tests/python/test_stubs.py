"""What type checkers see."""

import importlib.util
import inspect
import pathlib
import subprocess
import sys

import pyringkernel as rk
from conftest import skip_without
from pyringkernel import _core

STUB = next(
    (
        stub
        for folder in (pathlib.Path(_core.__file__), pathlib.Path(_core.__file__).resolve())
        if (stub := folder.parent / "_core.pyi").exists()
    ),
    None,
)

GOOD = '''
import asyncio
import numpy as np
import pyringkernel as rk

def program() -> float:
    with rk.Runtime(target="cpu", backend="native", call_timeout=1.5, log=True) as runtime:
        kernel: rk.Kernel = runtime.launch("a", "core", activate=True, backpressure="reject")
        x = np.zeros((2, 3), np.float32)
        kernel.add(x, 1.0, out=x, timeout=0.5, priority=1)
        kernel.sum(x, axes=[0], keepdims=True)
        kernel.conv2d(x, x, strides=(1, 1), padding="same", groups=2)
        kernel.call("sum", x, axes=[1])
        number: int = kernel.send("relu", x)
        outcome: rk.Outcome = kernel.receive(timeout=1.0)
        tensor: rk.Tensor = runtime.tensor((2, 3), "float32")
        tensor[...] = x
        array = np.asarray(tensor)

        @runtime.function
        def scores(value: rk.Value) -> rk.Value:
            return rk.ops.softmax(rk.ops.relu(value @ x + 1) - value)

        @runtime.function(name="other")
        def other(value: rk.Value) -> rk.Value:
            return -value

        scores(x, out=x, check_nan=True)
        compiled: rk.Function = scores.functions[0]
        compiled.instance()
        graph: rk.Graph = rk.onnx.read("model.onnx", inputs={"x": (1, 4)})
        told: list[rk.Diagnostic] = []
        graph = rk.mlir.read("text", function="f", state={0: 1}, diagnostics=told)
        graph = rk.mlir.read_file("model.mlir", name="model", library="lib.so")
        version: tuple[int, int, int] = rk.mlir.library().version
        value: rk.Value = graph.add(graph.input((2,)), 1.0)
        graph.output(value)
        runtime.compile(graph)
        reply: bytes = kernel.call_bytes(b"x", "Method", timeout=1.0)
        runtime.add_program("p", path="p.cl", schema=b"")
        answer: dict[str, object] = kernel.call_json("Method", {"a": 1}, timeout=1.0)
        kernel.write_state_json(kernel.read_state_json())
        swap: rk.SwapInfo = runtime.swap_program("p", "text")
        free: int = runtime.metrics().arena_free_bytes
        latency: rk.LatencySummary = kernel.metrics().latency
        records: list[rk.ErrorRecord] = runtime.errors()
        ids: list[str] = runtime.kernels()
        try:
            pass
        except rk.ShapeError as error:
            code: int = error.code
            shape: ValueError = error
            lines: list[int] = [one.line for one in error.diagnostics]
        event: rk.Event = runtime.events(repeat_period=1).next(0.5)
        async def awaits() -> bytes:
            async for each in runtime.events():
                status: str | None = each.status
            await kernel.acall("add", x, x, timeout=1.0)
            await scores.acall(x)
            answered: dict[str, object] = await kernel.acall_json("Method", answer)
            return await kernel.acall_bytes(b"x")
        asyncio.run(awaits())
        counts = free + latency.p50_ns + len(records) + len(ids)
        return swap.pause + number + counts + len(reply) + outcome.id + array.size
'''

BAD = {
    'rk.Runtime(targets="cpu")': "call-arg",
    "rk.Runtime(arena_bytes='x')": "arg-type",
    "kernel.sun(x)": "attr-defined",
    "kernel.add(x)": "call-arg",
    "kernel.add(x, x, outs=x)": "call-arg",
    "kernel.receive().valu": "attr-defined",
    "runtime.launch(5)": "arg-type",
    "kernel.metrics().acepted": "attr-defined",
    "runtime.metrics().kernels = 1": "misc",
    "rk.mlir.read('text', state={'x': 1})": "dict-item",
    "rk.Wrong": "attr-defined",
}


def need_stub():
    if STUB is None:
        skip_without("stub", "no _core.pyi beside _core")


def mypy(folder, text, *options):
    if importlib.util.find_spec("mypy") is None:
        skip_without("mypy", "it is not installed")
    need_stub()
    # A copy of the package's types: the one under test may be linked from several places.
    package = folder / "pyringkernel"
    package.mkdir()
    for file in pathlib.Path(rk.__file__).parent.glob("*.py*"):
        (package / file.name).write_bytes(file.read_bytes())
    (package / "_core.pyi").write_bytes(STUB.read_bytes())
    (folder / "sample.py").write_text(text)
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_program_passes_a_type_checker(tmp_path):
    done = mypy(tmp_path, GOOD, "--strict", "sample.py")
    assert [line for line in done.stdout.splitlines() if line.startswith("sample.py")] == []


def test_the_package_passes_a_type_checker(tmp_path):
    done = mypy(tmp_path, "", "pyringkernel")
    assert done.stdout == ""


def test_mistakes_are_found(tmp_path):
    head = (
        "import numpy as np\nimport pyringkernel as rk\n"
        "runtime = rk.Runtime()\nkernel = runtime.launch('a')\nx = np.zeros(3, np.float32)\n"
    )
    done = mypy(tmp_path, head + "\n".join(BAD) + "\n", "--strict", "sample.py")
    first = head.count("\n") + 1
    for number, (text, code) in enumerate(BAD.items(), first):
        found = [line for line in done.stdout.splitlines() if f"sample.py:{number}:" in line]
        assert any(f"[{code}]" in line for line in found), (text, found)


def test_the_stub_has_everything_that_is_public():
    need_stub()
    text = STUB.read_text()
    for name in rk.__all__:
        thing = getattr(rk, name)
        if getattr(thing, "__module__", "").endswith("_core"):
            assert f"class {name}:" in text, name
            for member in vars(thing):
                if not member.startswith("_"):
                    assert f"def {member}(" in text, f"{name}.{member}"


def test_everything_public_says_what_it_is():
    names = [name for name in rk.__all__ if not getattr(rk, name).__doc__]
    assert names == []
    methods = [
        f"{cls.__name__}.{name}"
        for cls in (rk.Runtime, rk.Kernel, rk.Graph, rk.Tensor)
        for name, member in inspect.getmembers(cls, callable)
        if not name.startswith("_") and not member.__doc__
    ]
    assert methods == []


def test_the_package_is_marked_as_typed():
    package = pathlib.Path(rk.__file__).parent
    source = pathlib.Path(rk.__file__).resolve().parent
    assert (package / "py.typed").exists() or (source / "py.typed").exists()
