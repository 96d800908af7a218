"""Functions in MLIR as graphs."""

import os
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass

from . import _core
from .diagnostics import Diagnostic
from .errors import Error, missing

_FILES = (".mlir", ".mlirbc")


def read(
    text: "str | bytes",
    *,
    name: str = "",
    function: str = "",
    state: "Mapping[int, int] | None" = None,
    library: "str | os.PathLike[str]" = "",
    diagnostics: "list[Diagnostic] | None" = None,
) -> _core.Graph:
    """The graph of a function in MLIR, for `Runtime.compile`.

    text         a module as text, or as bytecode.
    name         of the graph, and of the text in errors; empty: the function's, and "-".
    function     which; empty: the only one that is public.
    state        which arguments the function keeps, and the results that they become for the next
                 call, both by their places from 0 on.
    library      with MLIR's C API; empty: it is looked for (docs/MLIR.md).
    diagnostics  gets all that is said of the text, warnings of one that is read, too.

    Raises `MessageError` with what MLIR refuses, `Unsupported` with every op that is not read, and
    `BackendUnavailable` where there is no library. `diagnostics` of the exception has the places.
    """
    if isinstance(text, os.PathLike):
        raise TypeError("read() takes the text, as str or bytes; read_file() takes a path")
    if isinstance(text, str) and "\n" not in text and text.endswith(_FILES):
        raise ValueError(f"read() takes the text; read_file({text!r}) reads a file")
    told: "list[Diagnostic]" = []
    try:
        return _core.read_mlir(text, name, function, dict(state or {}), os.fspath(library), told)
    except Error as error:
        error.diagnostics = tuple(told)
        raise
    finally:
        if diagnostics is not None:
            diagnostics += told


def read_file(
    path: "str | os.PathLike[str]",
    *,
    name: str = "",
    function: str = "",
    state: "Mapping[int, int] | None" = None,
    library: "str | os.PathLike[str]" = "",
    diagnostics: "list[Diagnostic] | None" = None,
) -> _core.Graph:
    """As `read`, of the text or bytecode in a file; `name` is the file's, if it is empty.

    Raises `MissingFile`, and what `read` does.
    """
    if not os.path.exists(path):
        raise missing(path)
    return read(
        pathlib.Path(path).read_bytes(),
        name=name or os.path.basename(path),
        function=function,
        state=state,
        library=library,
        diagnostics=diagnostics,
    )


@dataclass(frozen=True)
class Library:
    """A library with MLIR's C API, and the version of its MLIR."""

    path: str
    version: "tuple[int, int, int]"


def library(path: "str | os.PathLike[str]" = "") -> Library:
    """The library by which models are read: that at `path`, or the first one that is found.

    Raises `BackendUnavailable` with every path that was tried, and `Unsupported` where its version
    is not read.
    """
    where, *version = _core.find_mlir(os.fspath(path))
    major, minor, patch = version
    return Library(where, (major, minor, patch))
