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

    def call_json(
        self,
        method: str,
        request: Mapping[str, Any] = ...,
        *,
        timeout: float | None = None,
        priority: int = 0,
    ) -> dict[str, Any]:
        """A method of your own program, by its schema: request and reply as dicts."""

    async def acall_json(
        self,
        method: str,
        request: Mapping[str, Any] = ...,
        *,
        timeout: float | None = None,
        priority: int = 0,
    ) -> dict[str, Any]:
        """As `call_json`, awaited. Cancelling the task cancels the message."""

    def read_state_json(self) -> dict[str, Any]:
        """As `read_state`, as a dict by the program's schema."""

    def write_state_json(self, state: Mapping[str, Any]) -> None:
        """As `write_state`, from a dict by the program's schema."""

    def _interface(self) -> tuple[bytes, str]: ...

_core.(Function|Traced).__call__:
    def __call__(
        self,
        *operands: object,
        out: object | None = None,
        timeout: float | None = None,
        check_nan: bool = False,
        priority: int = 0,
        **named: object,
    ) -> Any:
        """Runs it: an array, or a tuple of several; with `out`, the elements go there."""

_core.(Function|Traced).__suffix__:
    async def acall(
        self,
        *operands: object,
        out: object | None = None,
        timeout: float | None = None,
        check_nan: bool = False,
        priority: int = 0,
        **named: object,
    ) -> Any:
        """As a call, awaited. Cancelling the task cancels the message."""

_core.RuntimeBase.__suffix__:
    def _events(self, repeat_period: float) -> EventStream: ...

    def _add_program(
        self,
        name: str,
        source: str,
        path: str | None,
        schema: bytes | None,
        schema_name: str,
        schema_text: str,
        state_bytes: int,
        reply_bytes: int,
        guard: bool | None,
    ) -> None: ...

    def _swap_program(
        self,
        name: str,
        source: str,
        path: str | None,
        schema: bytes | None,
        schema_name: str,
        schema_text: str,
        state_bytes: int,
        reply_bytes: int,
        guard: bool | None,
    ) -> SwapInfo: ...

_core.__prefix__:
    from collections.abc import Mapping
    from typing import Any
    import numpy
    from .metrics import ErrorRecord, KernelMetrics, RuntimeMetrics
