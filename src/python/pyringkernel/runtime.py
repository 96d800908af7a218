"""`Runtime`."""

import atexit
import functools
import inspect
import logging
import os
import weakref
from typing import Any, Callable, overload

from . import _core
from .errors import Error, missing
from .events import Events
from .schema import binary_of

_logger = logging.getLogger("pyringkernel")
_LEVELS = (logging.INFO, logging.WARNING, logging.ERROR)


def _log(level: int, text: str) -> None:
    _logger.log(_LEVELS[level], text)


class Runtime(_core.RuntimeBase):
    """One device, its memory, and the ring kernels on it.

    target        "automatic": a GPU that passes its self-test, else this processor; "cpu"; "gpu".
    backend       "native", "opencl" or a plugin; empty: by target.
    device        index of the device among those that fit.
    name          what rkstat, metrics and the log call it.
    arena_bytes   memory for rings, tensors and functions.
    transfer      "automatic", "zero_copy", "dma" or "sliced".
    call_timeout  seconds that a call waits that says nothing else; None: 30.
    http_address  where metrics and a live page are shown: "9464"; empty: nowhere.
    telemetry     whether rkstat can see it.
    log           whether it tells `logging` what happens, as the logger "pyringkernel".

    The end of a `with` block closes it, as the end of the process does.
    """

    def __init__(
        self,
        *,
        target: str = "automatic",
        backend: str = "",
        device: "int | None" = None,
        name: str = "",
        arena_bytes: int = 128 << 20,
        transfer: str = "automatic",
        call_timeout: "float | None" = None,
        http_address: str = "",
        telemetry: bool = True,
        log: bool = False,
    ) -> None:
        super().__init__(
            target=target,
            backend=backend,
            device=device,
            name=name,
            arena_bytes=arena_bytes,
            transfer=transfer,
            call_timeout=call_timeout,
            http_address=http_address,
            telemetry=telemetry,
            log=_log if log else None,
        )
        _open_runtimes.add(self)

    def __enter__(self) -> "Runtime":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @overload
    def function(
        self, trace: Callable[..., Any], *, name: str = "", kinds_max: int = 64
    ) -> _core.Traced: ...
    @overload
    def function(
        self, trace: None = None, *, name: str = "", kinds_max: int = 64
    ) -> Callable[[Callable[..., Any]], _core.Traced]: ...
    def function(
        self, trace: "Callable[..., Any] | None" = None, *, name: str = "", kinds_max: int = 64
    ) -> Any:
        """Makes a Python function of graph values one that runs on the device by one message.

        It is called once for each kind of operands (element types and shapes), with values of a
        graph; what it returns, one value or several, is what a call gives. Arrays that it uses
        become constants on the device. Also a decorator: `@runtime.function`. Of the kinds it
        keeps the `kinds_max` that were used last.
        """
        if trace is None:
            return functools.partial(self.function, name=name, kinds_max=kinds_max)
        if not callable(trace):
            raise TypeError(f"a function is made of a function, not of a {type(trace).__name__}")
        if kinds_max < 1:
            raise ValueError("a function keeps one kind at least: kinds_max is above 0")
        called = name or getattr(trace, "__name__", "function").strip("<>")
        names, needed = _operands_of(trace)

        def compile(kinds: Any) -> _core.Function:
            graph = _core.Graph(called)
            inputs = [
                graph.input(shape, dtype, names[i] if i < len(names) else "")
                for i, (dtype, shape) in enumerate(kinds)
            ]
            values = trace(*inputs)
            for value in values if isinstance(values, (tuple, list)) else (values,):
                if not isinstance(value, _core.Value):
                    raise TypeError(
                        f"{called} returned {type(value).__name__}, not a value of the graph"
                    )
                graph.output(value)
            return self.compile(graph)

        return _core.Traced(compile, called, names, needed, kinds_max)

    def events(self, *, repeat_period: float = 5.0) -> Events:
        """Changes of state of ring kernels, and errors, from here on.

            async for event in runtime.events():

        repeat_period  of errors of one kernel with one code, one is told in so many seconds, with
                       the number of those left out; 0: each is told.
        """
        return Events(self._events(repeat_period))

    def add_program(
        self,
        name: str,
        source: str = "",
        *,
        path: "str | os.PathLike[str] | None" = None,
        schema: "bytes | str | os.PathLike[str] | None" = None,
        state_bytes: int = 0,
        reply_bytes: int = 0,
        guard: "bool | None" = None,
    ) -> None:
        """A program of your own, for `launch(id, name)`: handlers in OpenCL C or C.

        source, path  the text, or the file that has it.
        schema        a FlatBuffers schema: text, the path of a file with it, or its binary form
                      (`flatc -b --schema`) as bytes or as a file. The generated header is called
                      as that file, NAME.rk.h, or as the program.
        state_bytes, reply_bytes  of a program without a schema.
        guard         whether a handler that writes beyond its reply or state is found.
        """
        self._add_program(
            name, source, _path(path), *binary_of(name, schema), state_bytes, reply_bytes, guard
        )

    def swap_program(
        self,
        name: str,
        source: str = "",
        *,
        path: "str | os.PathLike[str] | None" = None,
        schema: "bytes | str | os.PathLike[str] | None" = None,
        state_bytes: int = 0,
        reply_bytes: int = 0,
        guard: "bool | None" = None,
    ) -> _core.SwapInfo:
        """Another build takes the place of a program while its kernels go on; as `add_program`."""
        return self._swap_program(
            name, source, _path(path), *binary_of(name, schema), state_bytes, reply_bytes, guard
        )


def _operands_of(trace: Callable[..., Any]) -> "tuple[list[str], int]":
    """The names of the operands, and how many of them have no default; none of `*operands`."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    try:
        given = inspect.signature(trace).parameters.values()
    except (TypeError, ValueError):  # of some that are not written in Python
        return [], 0
    operands = [parameter for parameter in given if parameter.kind in kinds]
    for parameter in given:
        if parameter.kind == parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise TypeError(f"'{parameter.name}' is given by keyword only; operands have places")
    names = [operand.name for operand in operands]
    return names, sum(operand.default is operand.empty for operand in operands)


_open_runtimes: "weakref.WeakSet[Runtime]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    try:
        for runtime in list(_open_runtimes):
            try:
                runtime.close()
            except Error:  # the process ends anyway
                pass
    finally:
        _core.end_interpreter()


def _path(path: "str | os.PathLike[str] | None") -> "str | None":
    if path is not None and not os.path.exists(path):
        raise missing(path)
    return None if path is None else os.fspath(path)
