"""Forks, Ctrl-C, ends of processes, and imports where there is no OpenCL."""

import os

import pytest

from conftest import BACKENDS

HEAD = """
import asyncio, gc, os, signal, sys, threading, time, warnings
# Python 3.12 and later warn of every fork of a process with threads.
warnings.filterwarnings("ignore", message=".*use of fork", category=DeprecationWarning)
import numpy as np
import pyringkernel as rk
backend = sys.argv[1]
x = np.float32([1, 2])
"""

each_backend = pytest.mark.parametrize("backend", BACKENDS)


@pytest.fixture
def quiet(script):
    """Runs HEAD and a text in a process, which ends with 0 and says nothing but what is given."""

    def run(text, backend, wrote="", **options):
        done = script(HEAD + text, backend, **options)
        assert (done.stderr, done.stdout, done.returncode) == ("", wrote, 0)

    return run


# --- ends -----------------------------------------------------------------------------------------

ENDS = {
    "idle": "",
    "kernel": """
kernel = rk.Runtime(backend=backend).launch("a")
kernel.add(x, x)
""",
    "runtime in a function": """
def main():
    runtime = rk.Runtime(backend=backend)
    kernel = runtime.launch("a")
    kernel.add(x, x)
main()
""",
    "everything": """
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
function = runtime.function(lambda v: v + 1)
function(x)
tensor = runtime.tensor(5)
""",
    "pending send": """
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
kernel.deactivate()
for _ in range(10):
    kernel.send("add", x, x)
""",
    "outcomes that nobody received": """
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
for _ in range(10):
    kernel.send("add", x, x)
""",
    "open loop": """
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
kernel.deactivate()
async def starts():
    task = asyncio.ensure_future(kernel.acall("add", x, x))
    await asyncio.sleep(0)
    task._log_destroy_pending = False
    return task
loop = asyncio.new_event_loop()
task = loop.run_until_complete(starts())
""",
    "closed loop": """
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
kernel.deactivate()
async def starts():
    task = asyncio.ensure_future(kernel.acall("add", x, x))
    await asyncio.sleep(0)
    task._log_destroy_pending = False
loop = asyncio.new_event_loop()
loop.run_until_complete(starts())
loop.close()
""",
    "awaited events": """
runtime = rk.Runtime(backend=backend)
events = runtime.events()
async def starts():
    task = asyncio.ensure_future(events.__anext__())
    await asyncio.sleep(0)
    task._log_destroy_pending = False
    return task
loop = asyncio.new_event_loop()
task = loop.run_until_complete(starts())
kernel = runtime.launch("a")
""",
    "daemon that hears events": """
runtime = rk.Runtime(backend=backend)
begun = threading.Event()
def hears():
    for event in runtime.events():
        begun.set()
threading.Thread(target=hears, daemon=True).start()
for number in range(1000):
    kernel = runtime.launch("a")
    kernel.terminate()
    if begun.wait(0.01):
        break
""",
    "two runtimes": """
one, two = rk.Runtime(backend=backend), rk.Runtime(backend="native")
kernels = one.launch("a"), two.launch("a")
for kernel in kernels:
    kernel.add(x, x)
""",
    "daemon that receives": """
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
begun = threading.Event()
def receives():
    begun.set()
    try:
        kernel.receive()
    except rk.Closed:
        pass
threading.Thread(target=receives, daemon=True).start()
begun.wait()
""",
    "daemon that calls": """
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
begun = threading.Event()
def calls():
    try:
        while True:
            kernel.add(x, x)
            begun.set()
    except rk.Closed:
        pass
threading.Thread(target=calls, daemon=True).start()
begun.wait()
""",
    "log": """
import logging
logging.basicConfig(level=logging.CRITICAL)
runtime = rk.Runtime(backend=backend, log=True)
kernel = runtime.launch("a")
kernel.add(x, x)
""",
    "cycle": """
class Holder:
    def __init__(self):
        self.runtime = rk.Runtime(backend=backend)
        self.kernel = self.runtime.launch("a")
        self.self = self
Holder()
""",
    "in a thread that has ended": """
def opens():
    global kernel
    kernel = rk.Runtime(backend=backend).launch("a")
thread = threading.Thread(target=opens)
thread.start()
thread.join()
kernel.add(x, x)
""",
}


@each_backend
@pytest.mark.parametrize("text", ENDS.values(), ids=ENDS.keys())
def test_a_process_ends_without_a_close(quiet, text, backend):
    quiet(text, backend)


@each_backend
def test_a_process_that_fails_says_only_that(script, backend):
    done = script(HEAD + ENDS["everything"] + "raise SystemExit(3)", backend)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 3)


# --- forks ----------------------------------------------------------------------------------------


@each_backend
def test_a_forked_child_is_answered_and_opens_its_own(quiet, backend):
    text = """
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
function = runtime.function(lambda v: v + 1)
tensor = runtime.tensor(2)
events = runtime.events()
for _ in range(3):
    kernel.add(x, x), function(x), kernel.add(tensor, 1, out=tensor)
child = os.fork()
if child == 0:
    uses = dict(
        method=lambda: kernel.add(x, x),
        unprepared=lambda: kernel.exp(x),
        call=lambda: kernel.call("add", x, x),
        resident=lambda: kernel.add(tensor, 1, out=tensor),
        acall=lambda: asyncio.run(kernel.acall("add", x, x)),
        send=lambda: kernel.send("add", x, x),
        receive=lambda: kernel.receive(),
        terminate=lambda: kernel.terminate(),
        deactivate=lambda: kernel.deactivate(),
        function=lambda: function(x),
        compile=lambda: function(np.float32([1])),
        function_acall=lambda: asyncio.run(function.acall(x)),
        instance=lambda: function.functions[0].instance(),
        read=lambda: tensor.read(),
        write=lambda: tensor.write(x),
        tensor=lambda: runtime.tensor(3),
        launch=lambda: runtime.launch("b"),
        defragment=lambda: runtime.defragment(),
        event=lambda: events.next(),
        awaited_event=lambda: asyncio.run(events.__anext__()),
    )
    for name, use in uses.items():
        try:
            use()
        except rk.StateError as error:
            assert "fork" in str(error), error
        else:
            print("no error:", name)
    repr(runtime), repr(kernel), repr(tensor), runtime.metrics(), kernel.metrics()
    with rk.Runtime(backend="native") as own:
        with own.launch("a") as mine:
            assert mine.add(x, x).tolist() == [2, 4]
        assert asyncio.run(own.launch("b").acall("add", x, x)).tolist() == [2, 4]
    del tensor, function, kernel
    gc.collect()
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert kernel.add(x, x).tolist() == [2, 4]
assert tensor.read().tolist() == [3, 3]
"""
    quiet(text, backend)


def test_a_child_of_multiprocessing(quiet):
    text = """
import multiprocessing
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
def work(i):
    with rk.Runtime(backend=backend) as own, own.launch("a") as mine:
        return mine.add(x, i).tolist()
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(work, range(4)) == [[1 + i, 2 + i] for i in range(4)]
assert kernel.add(x, x).tolist() == [2, 4]
"""
    quiet(text, "native")


# --- Ctrl-C ---------------------------------------------------------------------------------------

#: SIGINT for the main thread once it gives up the interpreter's lock: that is, once it waits.
WAITS = """
runtime = rk.Runtime(backend=backend, call_timeout=50)
kernel = runtime.launch("a")
function = runtime.function(lambda v: v + 1)
function(x)
begins = threading.Event()
def interrupts():
    begins.wait()
    global at
    at = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupts).start()
async def awaits():
    begins.set()
    await kernel.acall("add", x, x)
def stays(call):
    try:
        call()
    except rk.Closed:  # by the end of the process
        pass
sys.setswitchinterval(1000)
try:
    WAIT
except KeyboardInterrupt:
    assert time.monotonic() - at < 5, "only after a while"
    print("interrupted")
sys.setswitchinterval(0.005)
if kernel.status == "deactivated":
    kernel.activate()
print(kernel.add(x, x, timeout=20))
"""

INTERRUPTED = {
    "method": "kernel.deactivate(); begins.set(); kernel.add(x, x)",
    "call": "kernel.deactivate(); begins.set(); kernel.call('exp', x)",
    "prepared": "[kernel.add(x, x) for _ in range(3)]; kernel.deactivate(); begins.set(); "
    "kernel.add(x, x)",
    "receive": "begins.set(); kernel.receive(None)",
    "receive with a timeout": "begins.set(); kernel.receive(50)",
    "event": "begins.set(); runtime.events().next()",
    "event with a timeout": "begins.set(); runtime.events().next(50)",
    "await": "kernel.deactivate(); asyncio.run(awaits())",
    "read": "t = runtime.tensor(2); kernel.deactivate(); kernel.send('add', t, 1, out=t); "
    "begins.set(); t.read(timeout=8)",
    "send": "small = runtime.launch('s', in_flight_max=1); small.deactivate(); "
    "small.send('exp', x); begins.set(); small.send('exp', x, timeout=50)",
    "call_bytes": "echo = runtime.launch('e', 'echo'); echo.deactivate(); begins.set(); "
    "echo.call_bytes(b'x')",
    "function": "f = runtime.kernel(runtime.kernels()[-1]); f.deactivate(); begins.set(); "
    "function(x)",
    "write": "t = runtime.tensor(2); kernel.deactivate(); kernel.send('add', t, 1, out=t); "
    "begins.set(); t.write(x, timeout=8)",
    "states": "g = rk.Graph('sum'); s = g.state((2,)); t = s + g.input((2,)); g.update(s, t); "
    "g.output(t); sum = runtime.compile(g); k = runtime.kernel(runtime.kernels()[-1]); "
    "k.deactivate(); call = lambda: sum(x); "
    "threading.Thread(target=stays, args=(call,), daemon=True).start(); "
    "in_flight = lambda: (time.sleep(0.001), k.metrics().in_flight)[1]; "
    "any(iter(in_flight, 1)); begins.set(); sum.read_state(0, timeout=8)",
}


@each_backend
@pytest.mark.parametrize("wait", INTERRUPTED)
def test_ctrl_c_ends_a_wait(quiet, wait, backend):
    text = WAITS.replace("WAIT\n", INTERRUPTED[wait] + "\n")
    quiet(text, backend, "interrupted\n[2. 4.]\n")


@each_backend
def test_a_handler_of_ones_own_raises_what_it_likes(quiet, backend):
    text = """
class Mine(Exception):
    pass
def handler(*_):
    raise Mine("here")
signal.signal(signal.SIGALRM, handler)
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    kernel.receive()
except Mine as error:
    print(error)
"""
    quiet(text, backend, "here\n")


@each_backend
def test_a_handler_that_raises_nothing_ends_nothing(quiet, backend):
    text = """
count = 0
def handler(*_):
    global count
    count += 1
    if count == 3:
        threading.Thread(target=lambda: kernel.send("add", x, x)).start()
        signal.setitimer(signal.ITIMER_REAL, 0)
signal.signal(signal.SIGALRM, handler)
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
print(kernel.receive().value, count >= 3)
"""
    quiet(text, backend, "[2. 4.] True\n")


# --- imports --------------------------------------------------------------------------------------


def test_without_opencl_there_is_the_native_backend(quiet, tmp_path):
    text = """
with rk.Runtime() as runtime:
    print(runtime.metrics().backend, runtime.launch("a").add(x, x))
try:
    rk.Runtime(backend="opencl")
except rk.BackendUnavailable as error:
    assert isinstance(error, OSError)
    print("pocl" in str(error) or str(error))
"""
    environment = os.environ | {"OCL_ICD_VENDORS": str(tmp_path)}
    quiet(text, "native", "native [2. 4.]\nTrue\n", environment=environment)


def test_an_import_opens_nothing(quiet):
    text = """
threads = os.listdir("/proc/self/task")
maps = open("/proc/self/maps").read()
assert "libOpenCL" not in maps and "libpocl" not in maps
import importlib
importlib.import_module("pyringkernel.aio")
assert os.listdir("/proc/self/task") == threads
"""
    quiet(text, "native")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_child_of_busy_threads_ends(quiet, backend):
    # Those of the parent that were about to have the interpreter's lock are not in the child.
    text = """
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
ends = threading.Event()
def work():
    while not ends.is_set():
        kernel.add(x, x)
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for _ in range(5):
    child = os.fork()
    if child == 0:
        ends.set()
        signal.alarm(20)  # what never ends is killed
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
ends.set()
for thread in threads:
    thread.join()
"""
    quiet(text, backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_signal_that_comes_with_the_reply_is_raised(quiet, backend):
    text = """
class Tick(Exception):
    pass
def tick(*_):
    kernel.activate()  # the call that is interrupted may succeed before it looks
    raise Tick
signal.signal(signal.SIGALRM, tick)
runtime = rk.Runtime(backend=backend)
kernel = runtime.launch("a")
for _ in range(10):
    kernel.deactivate()
    signal.setitimer(signal.ITIMER_REAL, 0.005)
    try:
        kernel.add(x, x)
        raise AssertionError("nothing was raised")
    except Tick:
        pass
"""
    quiet(text, backend)
