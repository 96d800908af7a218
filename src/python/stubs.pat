# What nanobind cannot know of the stubs: methods that are slots or Python.

_core.Kernel.__suffix__:
    async def acall(self, op: str, *operands: object, **words: object) -> numpy.ndarray:
        """As `call`, awaited. Cancelling the task cancels the message."""

    async def acall_bytes(
        self,
        data: object,
        method: str | None = None,
        *,
        timeout: float | None = None,
        priority: int = 0,
    ) -> bytes:
        """As `call_bytes`, awaited. Cancelling the task cancels the message."""

_core.(Function|Traced).__suffix__:
    def __call__(
        self,
        *operands: object,
        out: object | None = None,
        timeout: float | None = None,
        check_nan: bool = False,
        priority: int = 0,
    ) -> Any:
        """Runs it: an array, or a tuple of several; with `out`, the elements go there."""

    async def acall(
        self,
        *operands: object,
        out: object | None = None,
        timeout: float | None = None,
        check_nan: bool = False,
        priority: int = 0,
    ) -> Any:
        """As a call, awaited. Cancelling the task cancels the message."""

_core.__prefix__:
    from typing import Any
    import numpy
