"""Awaiting: `acall` of kernels and functions.

What ends while it is started gives its result without a turn of the event loop. Everything else
ends in another thread, which writes to one eventfd for each loop; that is the loop's only reader.
"""

import asyncio
import weakref
from typing import Any

from . import _core
from ._core import Pending

# Of each loop. The loop's reader keeps it, and lets it go when the loop is closed.
_completions: "weakref.WeakKeyDictionary[Any, weakref.ref[_core.Completions]]"
_completions = weakref.WeakKeyDictionary()


def of_running_loop() -> _core.Completions:
    """What has ended for the loop that runs in this thread; for the module itself."""
    loop = asyncio.get_running_loop()
    reference = _completions.get(loop)
    known = reference() if reference is not None else None
    if known is None:
        known = _core.Completions()
        loop.add_reader(known.descriptor, known.run)
        _completions[loop] = weakref.ref(known)
    return known


async def _end_of(pending: Pending) -> Any:
    future = asyncio.get_running_loop().create_future()
    pending.attach(future)
    try:
        return await future
    except asyncio.CancelledError:
        pending.cancel()
        raise


async def _acall(self: Any, *operands: Any, **words: Any) -> Any:
    """As the call without `a`, awaited. Cancelling the task cancels the message."""
    ended = self._start(*operands, **words) if words else self._start(*operands)
    return ended if type(ended) is not Pending else await _end_of(ended)


async def _acall_function(self: Any, *operands: Any, **words: Any) -> Any:
    """As the call without `a`, awaited. Cancelling the task cancels the message."""
    ended = self._start(operands, words)
    return ended if type(ended) is not Pending else await _end_of(ended)


async def _acall_bytes(
    self: Any,
    data: Any,
    method: "str | None" = None,
    *,
    timeout: "float | None" = None,
    priority: int = 0,
) -> Any:
    """As `call_bytes`, awaited. Cancelling the task cancels the message."""
    ended = self._start_bytes(data, method, timeout, priority)
    return ended if type(ended) is not Pending else await _end_of(ended)


setattr(_core.Kernel, "acall", _acall)
setattr(_core.Kernel, "acall_bytes", _acall_bytes)
for _cls in (_core.Function, _core.Traced):
    setattr(_cls, "acall", _acall_function)
