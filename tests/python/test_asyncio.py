"""`acall`: results, errors, cancelling and ends of loops; asyncio and uvloop, both backends."""

import asyncio
import gc
import threading
import weakref

import numpy as np
import pytest

import pyringkernel as rk

F32, I32 = np.float32, np.int32


def at_once(coroutine):
    """What a coroutine returns that never waits."""
    with pytest.raises(StopIteration) as caught:
        coroutine.send(None)
    return caught.value.value


async def until(condition):
    """Turns of the loop until it holds."""
    while not condition():
        await asyncio.sleep(0.001)


def test_results(kernel, run):
    async def calls():
        assert (await kernel.acall("add", F32([1, 2]), F32([3, 4]))).tolist() == [4, 6]
        got = await kernel.acall("add", F32([1, 2]), 1, timeout=10, priority=1)
        assert got.tolist() == [2, 3]
        assert (await kernel.acall("sum", F32([[1, 2]]), axes=[1])).tolist() == [3]
        assert await kernel.acall("noop") is None

    run(calls())


def test_a_short_op_takes_no_turn_of_the_loop(native_kernel, native, run):
    function = native.function(lambda x: x + 1)
    function(F32([1]))

    async def calls():
        # Once the resident slice, which others want too, has left.
        for awaitable in (
            lambda: native_kernel.acall("add", F32([1]), 1),
            lambda: function.acall(F32([1])),
        ):
            for _ in range(10000):
                call = awaitable()
                try:
                    call.send(None)
                except StopIteration as ended:
                    assert ended.value.tolist() == [2]
                    break
                call.close()
            else:
                raise AssertionError("it never ran at once")

    run(calls())


def test_out(runtime, kernel, run):
    tensor = runtime.tensor(2)
    out = np.zeros(2, F32)

    async def calls():
        assert await kernel.acall("add", F32([1, 2]), 1, out=out) is out
        assert out.tolist() == [2, 3]
        assert await kernel.acall("add", F32([1, 2]), 2, out=tensor) is tensor
        assert await kernel.acall("add", tensor, 1, out=tensor) is tensor
        for wrong, error in (
            (np.zeros(3, F32), rk.ShapeError),
            (np.zeros(2, I32), rk.DTypeError),
            (np.zeros(4, F32)[::2], rk.MessageError),
        ):
            with pytest.raises(error):
                await kernel.acall("add", F32([1, 2]), 1, out=wrong)
            assert not wrong.any()

    run(calls())
    assert tensor.read().tolist() == [4, 5]


def test_functions(runtime, run):
    function = runtime.function(lambda x: (x + 1, x * 2))
    outs = np.zeros(2, F32), np.zeros(2, F32)

    async def calls():
        for _ in range(3):
            first, second = await function.acall(F32([1, 2]))
            assert (first.tolist(), second.tolist()) == ([2, 3], [2, 4])
        got = await function.acall(F32([5, 6]), out=outs)
        assert got[0] is outs[0] and got[1] is outs[1]
        assert outs[1].tolist() == [10, 12]
        with pytest.raises(rk.NotANumber):
            await function.acall(F32([1, np.nan]), check_nan=True)
        with pytest.raises(TypeError):
            await function.acall(F32([1]), nothing=1)
        compiled = function.functions[0]
        assert (await compiled.acall(F32([1, 2]), timeout=10))[0].tolist() == [2, 3]
        with pytest.raises(rk.ShapeError):
            await compiled.acall(F32([1, 2, 3]))
        gathered = await asyncio.gather(*(function.acall(F32([i, i])) for i in range(200)))
        assert [pair[0].tolist() for pair in gathered] == [[i + 1] * 2 for i in range(200)]

    run(calls())


def test_exceptions_arrive(kernel, run):
    async def calls():
        with pytest.raises(rk.ShapeError):
            await kernel.acall("add", F32([1, 2]), F32([1, 2, 3]))
        with pytest.raises(rk.IndexOutOfBounds) as caught:
            await kernel.acall("gather", F32([1]), I32([1]))
        assert caught.value.message > 0
        with pytest.raises(rk.DTypeError, match="astype"):
            await kernel.acall("relu", np.zeros(3))
        with pytest.raises(TypeError):
            await kernel.acall("relu", F32([1]), nothing=1)
        kernel.terminate()
        with pytest.raises(rk.Closed):
            await kernel.acall("relu", F32([1]))

    run(calls())


def test_a_thousand_tasks_at_once(kernel, run):
    async def calls():
        tasks = [
            asyncio.ensure_future(kernel.acall("mul", np.full(3, i, F32), np.full(3, 2, F32)))
            for i in range(1000)
        ]
        return await asyncio.gather(*tasks)

    for i, got in enumerate(run(calls())):
        assert got.tolist() == [2 * i] * 3


def test_operands_may_change_while_messages_wait_for_room(runtime, new_id, run):
    kernel = runtime.launch(new_id(), in_flight_max=2, queue_max=1)
    kernel.deactivate()
    operand = np.zeros(500, F32)

    async def calls():
        tasks = []
        for i in range(20):
            operand[:] = i
            tasks.append(asyncio.ensure_future(kernel.acall("copy", operand)))
            await asyncio.sleep(0)
        operand[:] = -1
        kernel.activate()
        return await asyncio.gather(*tasks)

    assert [set(got.tolist()) for got in run(calls())] == [{i} for i in range(20)]
    kernel.terminate()


def test_two_kernels_at_once(runtime, kernel, new_id, run):
    other = runtime.launch(new_id())

    async def calls():
        return await asyncio.gather(
            *(k.acall("add", F32([i]), j) for i in range(50) for j, k in enumerate((kernel, other)))
        )

    assert [got[0] for got in run(calls())] == [i + j for i in range(50) for j in range(2)]
    other.terminate()


def test_a_timeout(kernel, run):
    kernel.deactivate()

    async def calls():
        with pytest.raises(rk.DeadlineExceeded):
            await kernel.acall("relu", F32([1]), timeout=0.01)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(kernel.acall("relu", F32([1])), 0.01)
        kernel.activate()
        assert (await kernel.acall("relu", F32([2]))).tolist() == [2]

    run(calls())


def test_a_cancelled_task_cancels_its_message(kernel, run):
    kernel.deactivate()
    out = np.zeros(1, F32)

    async def calls():
        task = asyncio.ensure_future(kernel.acall("add", F32([1]), 1, out=out))
        await until(lambda: kernel.metrics().in_flight == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert kernel.metrics().cancelled == 1
        kernel.activate()
        assert (await kernel.acall("add", F32([1]), 2)).tolist() == [3]

    run(calls())
    assert out.tolist() == [0]  # nobody writes into what the task had


def test_cancelling_many(kernel, run):
    kernel.deactivate()

    async def calls():
        tasks = [asyncio.ensure_future(kernel.acall("add", F32([i]), 1)) for i in range(100)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        kernel.activate()
        return await asyncio.gather(*tasks, return_exceptions=True)

    for i, got in enumerate(run(calls())):
        if i % 2 == 0:
            assert isinstance(got, asyncio.CancelledError)
        else:
            assert got.tolist() == [i + 1]


def test_the_loop_goes_on_meanwhile(kernel, run):
    kernel.deactivate()

    async def calls():
        task = asyncio.ensure_future(kernel.acall("add", F32([1]), 1))
        await until(lambda: kernel.metrics().in_flight == 1)  # turns that the wait leaves
        assert not task.done()
        kernel.activate()
        return await task

    assert run(calls()).tolist() == [2]


def test_loops_one_after_the_other(kernel, run):
    for i in range(20):
        kernel.deactivate()

        async def calls():
            task = asyncio.ensure_future(kernel.acall("add", F32([i]), 1))
            await asyncio.sleep(0)
            kernel.activate()
            return await task

        assert run(calls()).tolist() == [i + 1]


def test_loops_side_by_side(kernel, run):
    results = {}

    def thread(number):
        async def calls():
            return [(await kernel.acall("add", F32([number]), i))[0] for i in range(50)]

        results[number] = run(calls())

    threads = [threading.Thread(target=thread, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert results == {number: [number + i for i in range(50)] for number in range(4)}


def test_outside_of_a_loop(kernel):
    coroutine = kernel.acall("add", F32([1]), 1)
    try:
        got = at_once(coroutine)  # the native backend may be through with it
    except RuntimeError as error:
        assert "event loop" in str(error)
    else:
        assert got.tolist() == [2]


def start_and_close(kernel, cancels):
    """A loop that is closed while a message of it is in flight; and the loop, weakly."""
    loop = asyncio.new_event_loop()

    async def starts():
        task = asyncio.ensure_future(kernel.acall("add", F32([1]), 1))
        await until(lambda: kernel.metrics().in_flight == 1)
        if cancels:
            task.cancel()
            await asyncio.wait([task])
        else:
            task._log_destroy_pending = False

    loop.run_until_complete(starts())
    loop.close()
    return weakref.ref(loop)


@pytest.mark.parametrize("cancels", (True, False))
def test_a_loop_that_is_closed_while_a_message_is_in_flight(kernel, cancels):
    for i in range(5):
        kernel.deactivate()
        closed = start_and_close(kernel, cancels)
        gc.collect()
        kernel.activate()
        assert kernel.add(F32([i]), 1).tolist() == [i + 1]
    gc.collect()
    assert closed() is None, "the closed loop is kept"


def test_a_result_that_nobody_awaits_any_more(kernel):
    kernel.deactivate()

    async def starts():
        coroutine = kernel.acall("add", F32([1]), 1)
        assert isinstance(coroutine.send(None), asyncio.Future)
        coroutine.close()

    loop = asyncio.new_event_loop()
    loop.run_until_complete(starts())
    kernel.activate()
    assert loop.run_until_complete(kernel.acall("add", F32([2]), 1)).tolist() == [3]
    loop.close()


def test_the_end_of_a_kernel_ends_what_awaits_it(runtime, new_id, run):
    kernel = runtime.launch(new_id())
    kernel.deactivate()

    async def calls():
        tasks = [asyncio.ensure_future(kernel.acall("add", F32([i]), 1)) for i in range(10)]
        await until(lambda: kernel.metrics().in_flight == 10)
        kernel.terminate()
        return await asyncio.gather(*tasks, return_exceptions=True)

    assert {type(got) for got in run(calls())} == {rk.Closed}
