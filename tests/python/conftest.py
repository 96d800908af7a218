"""What the tests share: a runtime for each backend, kernels, and processes of their own."""

import asyncio
import functools
import importlib.util
import itertools
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import pyringkernel as rk

ROOT = pathlib.Path(__file__).parents[2]
BACKENDS = ("native", "opencl")
MLIR_VERSIONS = (19, 22)
_numbers = itertools.count()


def skip_without(part, why):
    """Ends a test that needs what is missing: a failure where `RINGKERNEL_REQUIRE` names it."""
    if part in os.environ.get("RINGKERNEL_REQUIRE", "").split(","):
        pytest.fail(f"{part} is required (RINGKERNEL_REQUIRE), and missing: {why}")
    pytest.skip(f"without {part}: {why}")


@functools.cache
def mlir_libraries():
    """{version: path}: what `MLIR_LIBRARY_PATH` names, what was built here, what is installed."""
    places = [place for place in os.environ.get("MLIR_LIBRARY_PATH", "").split(":") if place]
    for preset in ("python/*", "release", "dev"):
        places += ROOT.glob(f"build/{preset}/src/mlir/capi/libringkernel_mlir-*.so")
    found = {}
    for place in (*places, ""):
        try:
            library = rk.mlir.library(place)
        except rk.Error:
            continue
        found.setdefault(library.version[0], library.path)
    return found


@pytest.fixture(scope="session", params=BACKENDS)
def runtime(request):
    """A runtime of each backend."""
    with rk.Runtime(backend=request.param, name=f"tests on {request.param}") as runtime:
        yield runtime


@pytest.fixture(scope="session")
def native():
    """A runtime for what needs only one backend."""
    with rk.Runtime(backend="native") as runtime:
        yield runtime


def _launched(runtime):
    kernel = runtime.launch(f"k{next(_numbers)}")
    yield kernel
    kernel.terminate()


@pytest.fixture
def kernel(runtime):
    """An active kernel of each backend."""
    yield from _launched(runtime)


@pytest.fixture
def native_kernel(native):
    yield from _launched(native)


@pytest.fixture(scope="session")
def shared_kernel(runtime):
    """An active kernel of each backend, for tests that leave nothing behind."""
    yield from _launched(runtime)


@pytest.fixture
def new_id():
    """Gives an id that no other kernel of these tests has."""
    return lambda: f"k{next(_numbers)}"


@pytest.fixture(params=("asyncio", "uvloop"))
def run(request):
    """Runs a coroutine in a new event loop of each kind, and closes the loop."""
    if request.param == "uvloop":
        if importlib.util.find_spec("uvloop") is None:
            skip_without("uvloop", "it is not installed")
        new_loop = importlib.import_module("uvloop").new_event_loop
    else:
        new_loop = asyncio.new_event_loop

    def run_in_new_loop(coroutine):
        loop = new_loop()
        try:
            return loop.run_until_complete(asyncio.wait_for(coroutine, 60))
        finally:
            loop.close()

    return run_in_new_loop


@pytest.fixture(scope="session")
def script():
    """Runs Python text in a process of its own. Gives what it wrote and its exit code."""

    def run_script(text, *arguments, environment=None):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(text), *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
            check=False,
        )
        return done

    return run_script
