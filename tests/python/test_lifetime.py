"""What is made goes again: memory, kernels, cycles; and what outlives what."""

import asyncio
import copy
import gc
import pickle
import sys
import weakref

import numpy as np
import pytest

import pyringkernel as rk

F32, I32 = np.float32, np.int32


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def without_growth(make, times=400):
    """That making something again and again keeps no memory."""
    for _ in range(times // 4):
        make()
    gc.collect()
    before = resident_bytes()
    for _ in range(times):
        make()
    gc.collect()
    assert resident_bytes() - before < 8 * 2**20


@pytest.fixture
def own(request):
    with rk.Runtime(backend="native") as runtime:
        with runtime.launch("first"):
            pass  # the program is there
        yield runtime


def free_bytes(runtime):
    gc.collect()
    return runtime.metrics().arena_free_bytes


def test_kernels_go(own):
    free = free_bytes(own)

    def make():
        with own.launch("again") as kernel:
            kernel.add(F32([1]), 1)
            kernel.add(F32([1]), 1)

    without_growth(make, 2000)
    assert own.kernels() == []
    assert free_bytes(own) == free


def test_functions_go(own):
    free = free_bytes(own)
    x = F32([1, 2])

    def make():
        function = own.function(lambda v: v + 1)
        function(x)
        function.functions[0].instance()(x)

    without_growth(make, 1000)
    assert own.kernels() == []
    assert free_bytes(own) == free


def test_tensors_go(own):
    free = free_bytes(own)

    def make():
        own.tensor((10, 10))[...] = np.zeros((10, 10), F32)

    without_growth(make, 2000)
    assert own.metrics().tensors == 0
    assert free_bytes(own) == free


def test_runtimes_go():
    def make():
        with rk.Runtime(backend="native") as runtime:
            runtime.launch("a").add(F32([1]), 1)

    without_growth(make, 40)


def test_calls_keep_nothing(native, native_kernel, run):
    x = np.zeros(1000, F32)
    out = np.zeros(1000, F32)
    function = native.function(lambda v: v + 1)

    async def awaits():
        for _ in range(20):
            await native_kernel.acall("add", x, x)
            await function.acall(x, out=out)

    def make():
        native_kernel.add(x, x)
        native_kernel.call("add", x, x, out=out)
        native_kernel.send("add", x, x)
        native_kernel.receive()
        function(x)
        for wrong in (np.zeros(3), x[::2], F32([1, 2])):
            with pytest.raises(rk.Error):
                native_kernel.add(x, wrong)
        with pytest.raises(rk.Error):
            function(x, out=x[:5])
        run(awaits())

    without_growth(make, 200)


def references(operands):
    gc.collect()
    return [sys.getrefcount(operand) for operand in operands]


def test_operands_are_given_back(native, native_kernel):
    x, y, out = np.zeros(3, F32), np.zeros(4, F32), np.zeros(3, F32)
    function = native.function(lambda v: v + 1)
    function(x)

    def calls():
        for _ in range(10):
            native_kernel.add(x, x, out=out)
            function(x, out=out)
            native_kernel.send("relu", x)
            native_kernel.receive()
            with pytest.raises(rk.Error):
                native_kernel.add(x, y, out=out)
            with pytest.raises(rk.Error):
                native_kernel.add(x, x, out=y)
            with pytest.raises(rk.Error):
                function(x, out=y)
            with pytest.raises(rk.Error):
                function.functions[0](x, x)

    before = references((x, y, out))
    calls()
    assert references((x, y, out)) == before
    x.resize(5)  # numpy refuses where a buffer is still in use


def test_a_kernel_keeps_its_runtime():
    kernel = rk.Runtime(backend="native").launch("a")
    function = rk.Runtime(backend="native").function(lambda v: v * 2)
    tensor = rk.Runtime(backend="native").tensor(2)
    gc.collect()
    for _ in range(3):
        assert kernel.add(F32([1]), 1).tolist() == [2]
        assert function(F32([2])).tolist() == [4]
        tensor[...] = F32([1, 2])
        assert tensor.read().tolist() == [1, 2]


def test_a_runtime_that_nobody_has_ends():
    runtime = rk.Runtime(backend="native")
    kernel = runtime.launch("a")
    ended = weakref.ref(runtime)
    del runtime
    gc.collect()
    assert ended() is not None
    del kernel
    gc.collect()
    assert ended() is None


def test_a_kernel_that_nobody_has_goes_on(own):
    own.launch("a")
    gc.collect()
    assert own.kernels() == ["a"]
    assert own.kernel("a").add(F32([1]), 1).tolist() == [2]


def test_after_close(run):
    runtime = rk.Runtime(backend="native")
    kernel = runtime.launch("a")
    function = runtime.function(lambda v: v + 1)
    tensor = runtime.tensor(1)
    for _ in range(3):
        function(F32([1]))
        kernel.add(F32([1]), 1)
    runtime.close()
    runtime.close()
    uses = (
        lambda: runtime.launch("b"),
        lambda: runtime.tensor(3),
        lambda: function(F32([1])),
        lambda: function(F32([1, 2])),
        lambda: function.functions[0].instance(),
        lambda: run(function.acall(F32([1]))),
        lambda: kernel.add(F32([1]), 1),
        lambda: kernel.exp(F32([1])),
        lambda: kernel.send("exp", F32([1])),
        lambda: kernel.receive(),
        lambda: run(kernel.acall("add", F32([1]), 1)),
        lambda: tensor.read(),
        lambda: tensor.write(F32([1])),
        lambda: np.asarray(tensor),
        lambda: runtime.add_program("p", "RK_ON_BYTES { return RK_OK; }"),
    )
    for number, use in enumerate(uses):
        with pytest.raises(rk.Closed):
            use()
            pytest.fail(f"use {number} did not raise")
    assert runtime.kernels() == []
    for thing in (runtime, kernel, tensor, function.functions[0]):
        assert repr(thing).startswith("<")
    assert runtime.metrics().kernels == 0 and kernel.metrics().status == "terminated"


def test_a_with_block_closes_a_runtime():
    with pytest.raises(ZeroDivisionError), rk.Runtime(backend="native") as runtime:
        raise ZeroDivisionError
    with pytest.raises(rk.Closed):
        runtime.launch("a")


def test_a_runtime_that_did_not_open_leaves_nothing():
    def make():
        with pytest.raises(rk.BackendUnavailable):
            rk.Runtime(backend="nothing")

    without_growth(make, 200)


class Canary:
    """Something whose end can be seen."""


def test_a_model_with_a_traced_method_is_collected(native):
    class Model:
        def __init__(self):
            self.scores = native.function(self.body)

        def body(self, x):
            return x + 1

    model = Model()
    model.scores(F32([1]))
    ended = weakref.ref(model)
    del model
    gc.collect()
    assert ended() is None


def test_a_runtime_that_holds_its_function_is_collected():
    runtime = rk.Runtime(backend="native")
    runtime.scores = runtime.function(lambda x: x + 1)
    runtime.scores(F32([1]))
    runtime.kernel_of_mine = runtime.launch("a")
    ended = weakref.ref(runtime)
    del runtime
    gc.collect()
    assert ended() is None


def test_an_outcome_whose_error_was_raised_is_collected(native_kernel):
    def fails():
        canary = Canary()
        native_kernel.send("gather", F32([1]), I32([5]))
        outcome = native_kernel.receive(10)
        try:
            outcome.result()
        except rk.IndexOutOfBounds:
            return weakref.ref(canary)

    ended = fails()
    gc.collect()
    assert ended() is None


@pytest.mark.parametrize("waits", (False, True))
def test_an_awaited_error_is_collected(native_kernel, run, waits):
    async def fails():
        canary = Canary()
        if waits:
            native_kernel.deactivate()
            asyncio.get_running_loop().call_soon(native_kernel.activate)
        try:
            await native_kernel.acall("gather", F32([1]), I32([5]))
        except rk.IndexOutOfBounds:
            return weakref.ref(canary)

    ended = run(fails())
    gc.collect()
    assert ended() is None


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_nothing_is_pickled_and_the_error_says_what_to_send(native, native_kernel, protocol):
    traced = native.function(lambda x: x + 1)
    traced(F32([1]))
    things = (
        (native, "open one in each process"),
        (native_kernel, r"kernel\.id"),
        (native.tensor(2), r"tensor\.read\(\)"),
        (traced.functions[0], "text|path"),
        (traced, ""),
    )
    for thing, advice in things:
        with pytest.raises(TypeError, match=f"pickle.*{advice}"):
            pickle.dumps(thing, protocol)
    for thing, _ in things[:4]:
        with pytest.raises(TypeError):
            copy.copy(thing)


def test_an_error_is_pickled_as_it_is(native_kernel):
    with pytest.raises(rk.ShapeError) as caught:
        native_kernel.add(F32([1, 2]), F32([1, 2, 3]))
    error = caught.value
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is rk.ShapeError
    assert (again.code, again.name, again.number, str(again)) == (
        error.code, error.name, error.number, str(error),
    )  # fmt: skip
