"""Models in ONNX files as graphs."""

import os
from collections.abc import Mapping, Sequence

from . import _core
from .errors import missing


def read(
    file: "str | os.PathLike[str] | bytes",
    *,
    name: str = "",
    inputs: "Mapping[str, Sequence[int]] | None" = None,
    state: "Mapping[str, str] | None" = None,
    outputs: Sequence[str] = (),
) -> _core.Graph:
    """The graph of an ONNX file, for `Runtime.compile`.

    file     a path, or the file's bytes.
    name     of the graph; empty: as the file calls it.
    inputs   extents of inputs by their names, where the file leaves them open.
    state    which inputs the function keeps, and the outputs that they become for the next call.
    outputs  which outputs, in this order; empty: all that are no state.

    Raises `MissingFile`, and `Unsupported` with every node whose op is not read.
    """
    if not isinstance(file, bytes) and not os.path.exists(file):
        raise missing(file)
    return _core.read_onnx(file, name, dict(inputs or {}), dict(state or {}), list(outputs))
