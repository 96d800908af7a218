"""What happens in a runtime, told as it happens: `Runtime.events`."""

import asyncio
import math
import select
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from . import _core, aio
from .errors import Closed, Error, make
from .metrics import _Brief


@dataclass(frozen=True, repr=False)
class Event(_Brief):
    """A change of state of a ring kernel, or an error.

    kernel    its id; empty: none's.
    status    that the kernel is in from here on; None: it is an error.
    error     the exception; None: it is a change of state.
    time_ns   on the clock of `time.monotonic_ns()`, to a few milliseconds.
    missed    events before this one that found no room, because nobody took those before them.
    left_out  errors like this one that were left out before it; see `repeat_period`.
    """

    kernel: str = ""
    status: "str | None" = None
    error: "Error | None" = None
    time_ns: int = 0
    missed: int = 0
    left_out: int = 0


class _Ended:
    """Takes what a `Pending` has come to, as a future does, but for a thread that waits."""

    event: "Event | None" = None
    error: "BaseException | None" = None

    def done(self) -> bool:
        return self.event is not None or self.error is not None

    def set_result(self, event: Event) -> None:
        self.event = event

    def set_exception(self, error: BaseException) -> None:
        self.error = error


class Events(AsyncIterator[Event], Iterator[Event]):
    """The events of a runtime from the moment on when this was made. Made by `Runtime.events`.

    `async for event in events` and `for event in events` end when the runtime is closed. A wait
    that is cancelled, or whose timeout is over, loses no event. One wait at a time. It keeps 1,024
    events, and it does not keep the runtime.
    """

    def __init__(self, stream: _core.EventStream) -> None:
        self._stream = stream
        self._is_awaited = False
        # What came while a wait was given up.
        self._kept: "Event | None" = None

    def __aiter__(self) -> "Events":
        return self

    async def __anext__(self) -> Event:
        if self._is_awaited:
            raise RuntimeError("another task awaits these events: give each its runtime.events()")
        self._is_awaited = True
        try:
            return await self._await_next()
        except Closed:
            raise StopAsyncIteration from None
        finally:
            self._is_awaited = False

    async def _await_next(self) -> Event:
        if self._kept is not None:
            return self._take()
        pending = self._stream.start_next(aio.of_running_loop())
        if isinstance(pending, Event):
            return pending
        future: "asyncio.Future[Event]" = asyncio.get_running_loop().create_future()
        future.add_done_callback(_retrieve)
        pending.attach(future)
        try:
            # Which leaves the future as it is when this task is cancelled: an event may be in it.
            await asyncio.wait((future,))
        except asyncio.CancelledError:
            # Nothing is left behind, because this loop may never run again. The queue is asked for
            # here: a frame that kept it would keep its own task when the loop is closed.
            if not future.done():
                ended = _Ended()
                _give_up(pending, aio.of_running_loop(), ended)
                self._kept = ended.event
            elif future.exception() is None:
                self._kept = future.result()
            raise
        return future.result()

    def __iter__(self) -> "Events":
        return self

    def __next__(self) -> Event:
        try:
            return self.next()
        except Closed:
            raise StopIteration from None

    def next(self, timeout: "float | None" = None) -> Event:
        """The next event. None: waits for ever.

        Raises `DeadlineExceeded` after `timeout` seconds, and `Closed` when the runtime was closed
        and its last event was taken.
        """
        if timeout is not None and not timeout >= 0:
            raise ValueError("a timeout is a number of seconds, or None")
        if self._kept is not None:
            return self._take()
        ended, over = _Ended(), _core.Completions()
        pending = self._stream.start_next(over)
        if isinstance(pending, Event):
            return pending
        pending.attach(ended)
        try:
            _wait(over, ended, timeout)
        finally:
            is_over = ended.done()
            if not is_over:  # the time is over, or a signal handler has raised
                _give_up(pending, over, ended)
            self._kept = ended.event
        if self._kept is not None:
            return self._take()
        if is_over and ended.error is not None:
            raise ended.error
        raise make(
            _core.codes["deadline_exceeded"], f"deadline_exceeded: no event came in {timeout} s"
        )

    def _take(self) -> Event:
        event, self._kept = self._kept, None
        assert event is not None
        return event


def _wait(over: _core.Completions, ended: _Ended, timeout: "float | None") -> None:
    poll = select.poll()
    poll.register(over.descriptor, select.POLLIN)
    end = math.inf if timeout is None else time.monotonic() + timeout
    while not ended.done() and (left := end - time.monotonic()) > 0:
        poll.poll(math.ceil(1000 * min(left, 3600)))
        over.run()


def _give_up(pending: _core.Pending, over: _core.Completions, ended: _Ended) -> None:
    pending.cancel()
    over.run()
    pending.attach(ended)  # an event may have come first


def _retrieve(future: "asyncio.Future[Any]") -> None:
    """Nobody has to be told of an error that nobody waits for."""
    if not future.cancelled():
        future.exception()
