"""What happens in a runtime, awaited and waited for."""

import asyncio
import dataclasses
import gc
import signal
import threading
import time
import weakref

import numpy as np
import pytest

import pyringkernel as rk
from conftest import BACKENDS

F32, I32 = np.float32, np.int32
LIFE = ["launched", "active", "terminating", "terminated"]


@pytest.fixture(params=BACKENDS)
def runtime(request):
    """One that a test may close."""
    with rk.Runtime(backend=request.param) as runtime:
        yield runtime


@pytest.fixture
def own():
    with rk.Runtime(backend="native") as runtime:
        yield runtime


def live(runtime, kernel="a"):
    runtime.launch(kernel).terminate()


def fail(kernel, times=1):
    for _ in range(times):
        with pytest.raises(rk.IndexOutOfBounds):
            kernel.gather(F32([1]), I32([1]))


def rest_of(events):
    """The events that are there by now."""
    found = []
    with pytest.raises(rk.DeadlineExceeded):
        while True:
            found.append(events.next(0))
    return found


# --- for a thread ---------------------------------------------------------------------------------


def test_states_and_errors_come_in_order(runtime):
    events = runtime.events()
    before = time.monotonic_ns()
    with runtime.launch("a") as kernel:
        fail(kernel)
    told = [events.next(10) for _ in range(5)]
    assert [event.status for event in told] == ["launched", "active", None, *LIFE[2:]]
    assert {event.kernel for event in told} == {"a"}
    assert [type(event.error) for event in told if event.error] == [rk.IndexOutOfBounds]
    assert "gather" in str(told[2].error) or "index" in str(told[2].error)
    a_tick = 10**8
    assert before - a_tick <= told[0].time_ns <= told[-1].time_ns <= time.monotonic_ns()
    assert rest_of(events) == []


def test_an_event_is_a_dataclass(own):
    events = own.events()
    with own.launch("a") as kernel:
        fail(kernel)
    told = [events.next(10) for _ in range(3)]
    assert repr(told[0]) == f"Event(kernel='a', status='launched', time_ns={told[0].time_ns})"
    with pytest.raises(dataclasses.FrozenInstanceError):
        told[0].kernel = "b"
    as_dict = dataclasses.asdict(told[2])
    assert as_dict["status"] is None and as_dict["error"].code == 6001
    assert (as_dict["missed"], as_dict["left_out"]) == (0, 0)


def test_a_timeout_is_over_and_nothing_is_lost(runtime):
    events = runtime.events()
    for timeout in (0, 0.01):
        with pytest.raises(rk.DeadlineExceeded, match=f"no event came in {timeout} s") as caught:
            events.next(timeout)
        assert isinstance(caught.value, TimeoutError) and caught.value.name == "deadline_exceeded"
    live(runtime)
    assert [event.status for event in rest_of(events)] == LIFE
    for wrong in (-1, float("nan")):
        with pytest.raises(ValueError, match="a number of seconds"):
            events.next(wrong)


def test_a_signal_handler_that_raises_loses_nothing(own):
    class Mine(Exception):
        pass

    def handler(*_):
        live(own)
        raise Mine

    events, before = own.events(), signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(Mine):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            events.next()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert [event.status for event in rest_of(events)] == LIFE


def test_a_thread_waits_for_what_comes(runtime):
    events = runtime.events()
    got = []
    waiting = threading.Thread(target=lambda: got.append(events.next()))
    waiting.start()
    live(runtime)
    waiting.join(20)
    assert [event.status for event in got] == ["launched"]


def test_iterating_ends_when_the_runtime_is_closed(runtime):
    events, got = runtime.events(), []
    iterating = threading.Thread(target=lambda: got.extend(events))
    iterating.start()
    live(runtime)
    runtime.close()
    iterating.join(20)
    assert [event.status for event in got] == LIFE
    with pytest.raises(rk.Closed):
        events.next()
    assert list(events) == [] and list(runtime.events()) == []


def test_repetitions_are_left_out_and_counted(own):
    few, all_of_them = own.events(), own.events(repeat_period=0)
    with own.launch("a") as kernel:
        fail(kernel, 10)
    own.close()
    assert len([event for event in all_of_them if event.error]) == 10
    errors = [event for event in few if event.error]
    assert [event.left_out for event in errors] == [0, 8]  # the last one is told at the end
    with pytest.raises(ValueError, match="repeat_period"):
        own.events(repeat_period=-1)


def test_who_is_slow_is_told_how_many_he_missed(own):
    events = own.events()
    for _ in range(300):
        live(own)
    kept = rest_of(events)
    assert len(kept) == 1024
    live(own)
    assert events.next(0).missed == 300 * 4 - 1024


def test_each_stream_has_all(own):
    one, other = own.events(), own.events()
    live(own)
    assert len(rest_of(one)) == len(rest_of(other)) == 4


# --- for asyncio ----------------------------------------------------------------------------------


def test_async_for_ends_when_the_runtime_is_closed(runtime, run):
    async def hears():
        return [event.status async for event in runtime.events()]

    async def both():
        hearing = asyncio.ensure_future(hears())
        await asyncio.sleep(0.01)
        await asyncio.to_thread(live, runtime)
        await asyncio.sleep(0.01)
        live(runtime, "b")
        runtime.close()
        return await hearing

    assert run(both()) == LIFE * 2


def test_a_cancelled_wait_loses_nothing(own, run):
    events = own.events()

    async def hears():
        got = []
        for number in range(30):
            waiting = asyncio.ensure_future(events.__anext__())
            if number % 3:
                await asyncio.sleep(0)  # it has begun
            own.launch(f"k{number}", activate=False)
            if number % 2:
                await asyncio.sleep(0)  # it is over
            waiting.cancel()
            try:
                got.append(await waiting)
            except asyncio.CancelledError:
                got.append(await asyncio.wait_for(events.__anext__(), 10))
        return [event.kernel for event in got]

    assert run(hears()) == [f"k{number}" for number in range(30)]


def test_wait_for_again_and_again(own, run):
    events = own.events()

    async def hears():
        for _ in range(5):
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(events.__anext__(), 0.002)
        live(own)
        return [(await asyncio.wait_for(events.__anext__(), 10)).status for _ in range(4)]

    assert run(hears()) == LIFE


def test_one_wait_at_a_time(own, run):
    events = own.events()

    async def hears():
        waiting = asyncio.ensure_future(events.__anext__())
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match=r"give each its runtime\.events\(\)"):
            await events.__anext__()
        with pytest.raises(rk.Backpressure) as caught:
            events.next(0)
        assert caught.value.name == "busy"
        live(own)
        return (await waiting).status

    assert run(hears()) == "launched"
    assert [event.status for event in rest_of(events)] == LIFE[1:]


@pytest.mark.parametrize("closes", (True, False))
def test_another_loop_goes_on(own, closes):
    events = own.events()

    async def gives_up():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(events.__anext__(), 0.002)

    async def hears():
        return (await events.__anext__()).status

    first, second = asyncio.new_event_loop(), asyncio.new_event_loop()
    first.run_until_complete(gives_up())
    if closes:
        first.close()
    hearing = second.create_task(hears())
    second.call_later(0.01, live, own)
    assert second.run_until_complete(asyncio.wait_for(hearing, 10)) == "launched"
    second.close()
    first.close()
    assert [event.status for event in rest_of(events)] == LIFE[1:]


@pytest.mark.parametrize("comes", ("while it rests", "before it closes", "later"))
def test_a_thread_goes_on_where_a_loop_has_stopped(own, comes):
    events = own.events()

    async def gives_up():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(events.__anext__(), 0.002)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(gives_up())
    if comes == "later":
        threading.Timer(0.02, live, (own,)).start()
    else:
        live(own)
    if comes == "before it closes":
        loop.close()
    assert [events.next(10).status for _ in range(4)] == LIFE
    loop.close()


def test_a_thread_goes_on_beside_a_loop_that_runs(own):
    events, loop = own.events(), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    first = asyncio.run_coroutine_threadsafe(asyncio.wait_for(events.__anext__(), 0.002), loop)
    with pytest.raises((TimeoutError, asyncio.TimeoutError)):
        first.result(10)
    assert rest_of(events) == []
    second = asyncio.run_coroutine_threadsafe(events.__anext__(), loop)
    live(own)
    assert second.result(10).status == "launched"
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()
    assert [event.status for event in rest_of(events)] == LIFE[1:]


# --- ends -----------------------------------------------------------------------------------------


def test_a_stream_keeps_nobody(own):
    runtime = rk.Runtime(backend="native")
    events = runtime.events()
    ended = weakref.ref(runtime)
    del runtime
    gc.collect()
    assert ended() is None and list(events) == []
    gone = weakref.ref(own.events())
    gc.collect()
    assert gone() is None


def test_a_stream_that_is_awaited_goes_with_its_task(own):
    async def hears():
        async for _ in own.events():
            raise AssertionError("nothing happens")

    loop = asyncio.new_event_loop()
    task = loop.create_task(hears())
    loop.run_until_complete(asyncio.sleep(0.01))
    task._log_destroy_pending = False
    ended = weakref.ref(task)
    del task
    loop.close()
    gc.collect()
    assert ended() is None
    live(own)


def test_asyncio_run_ends_a_task_that_hears(own):
    heard = []

    async def hears():
        async for event in own.events():
            heard.append(event)

    async def main():
        asyncio.ensure_future(hears())
        await asyncio.sleep(0.01)
        live(own)
        await asyncio.sleep(0.01)

    asyncio.run(main())
    assert len(heard) == 4
