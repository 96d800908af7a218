"""The Python of the documents runs, and prints what they say."""

import ast
import asyncio
import contextlib
import inspect
import io
import re
import threading

import pytest

from conftest import ROOT, mlir_libraries

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

#: A program that counts, and a request of it.
PROGRAM = """
import pathlib, struct
pathlib.Path("counter.fbs").write_text('attribute "state_of"; table Add { by: uint = 1; } '
    'table Sum { sum: ulong; } struct CounterState (state_of: "Counter") { sum: ulong; } '
    'rpc_service Counter { Add(Add): Sum; }')
pathlib.Path("counter.cl").write_text('#include "counter.rk.h"\\n'
    'RK_ON(Counter, Add) { reply->sum = state->sum += Add_by(request); return RK_OK; }')
request = struct.pack("<IHHi", 8, 4, 4, 4)  # a table without fields
"""


def blocks_of(name):
    """(line number, code, what it prints or None) of each block of Python in a page."""
    page = (ROOT / "docs" / name).read_text()
    found = [
        (page[: match.start(2)].count("\n"), match[1], match[2]) for match in BLOCK.finditer(page)
    ]
    printed = {
        number: text
        for number, (_, language, text) in enumerate(found)
        if language == "text" and found[number - 1][1] == "python"
    }
    return [
        (line, text, printed.get(number + 1))
        for number, (line, language, text) in enumerate(found)
        if language == "python"
    ]


def matches(expected, printed):
    """As doctest's ELLIPSIS: `...` stands for anything within its line."""
    pattern = ".*".join(map(re.escape, expected.rstrip().split("...")))
    return re.fullmatch(pattern, printed.rstrip()) is not None


async def run_block(name, line, code, names):
    """What it prints. `await` needs no function around it."""
    tree = compile(
        "\n" * line + code, f"docs/{name}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    )
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        names["printed"] = printed
        awaited = eval(tree, names)
        if inspect.iscoroutine(awaited):
            await asyncio.wait_for(awaited, 60)
    return printed.getvalue()


def test_the_tutorial_prints_what_it_says():
    names = {"__name__": "tutorial"}
    blocks = blocks_of("PYTHON_TUTORIAL.md")
    assert len(blocks) > 15 and sum(printed is not None for _, _, printed in blocks) > 12
    for line, code, expected in blocks:
        coroutine = run_block("PYTHON_TUTORIAL.md", line, code, names)
        with pytest.raises(StopIteration) as ended:  # a block of plain code, which has its own loop
            coroutine.send(None)
        printed = ended.value.value
        assert matches(expected or "", printed), (f"PYTHON_TUTORIAL.md:{line}", printed)


#: What the blocks of the reference take for granted, by what they begin with. `beside` runs in a
#: thread beside the block.
GIVEN = {
    "import numpy": "",
    "@runtime.function": """
runtime = rk.Runtime()
w1, b1 = np.ones((64, 32), np.float32), np.ones(32, np.float32)
w2, b2 = np.ones((32, 10), np.float32), np.ones(10, np.float32)
image, result = np.ones((1, 64), np.float32), np.zeros((1, 10), np.float32)
""",
    "graph = rk.Graph": "samples = np.ones(16, np.float32)",
    'text = """': "",
    "weights = runtime.tensor": """
kernel = runtime.launch("kernel")
numbers, image = np.ones((784, 10), np.float32), np.ones((1, 784), np.float32)
""",
    "latency = kernel": "",
    "async for event": """
def beside(is_over):
    while "heard active" not in printed.getvalue() and not is_over():
        runtime.launch("heard").terminate()
    runtime.close()
""",
    "events = runtime": """
runtime = rk.Runtime()
def beside(is_over):
    while not is_over():
        runtime.launch("heard").terminate()
""",
    "runtime.add_program": PROGRAM,
}


#: What a block needs that may not be here, by what it begins with.
NEEDED = {'text = """': mlir_libraries}


@contextlib.contextmanager
def running(beside):
    """Runs `beside(is_over)` in a thread. `is_over()` says whether this context has ended."""
    over = threading.Event()
    thread = threading.Thread(target=beside, args=(over.is_set,))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_the_reference_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLIR_LIBRARY_PATH", ":".join(mlir_libraries().values()))

    async def run_all():
        names = {"__name__": "reference"}
        blocks, printed = blocks_of("PYTHON.md"), ""
        for line, code, _ in blocks:
            ((start, given),) = [one for one in GIVEN.items() if code.startswith(one[0])]
            if start in NEEDED and not NEEDED[start]():
                continue
            await run_block("a preamble", line, given, names)
            with running(names.pop("beside", lambda _: None)):
                printed += await run_block("PYTHON.md", line, code, names)
        names["runtime"].close()
        return len(blocks), printed

    count, printed = asyncio.run(run_all())
    assert count == len(GIVEN)
    assert printed.startswith("[4. 6.]\n") and "heard active\n" in printed
