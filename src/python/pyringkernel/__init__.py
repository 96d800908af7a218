"""Talking to code that stays on the device.

    import numpy as np, pyringkernel as rk

    with rk.Runtime() as runtime:
        kernel = runtime.launch("adder")
        kernel.add(np.float32([1, 2]), np.float32([3, 4]))
"""

from . import aio, mlir, onnx, ops
from ._core import (
    Function,
    Graph,
    Kernel,
    Outcome,
    SwapInfo,
    Tensor,
    Traced,
    Value,
)
from .diagnostics import Diagnostic
from .errors import (
    BackendUnavailable,
    Backpressure,
    Closed,
    DTypeError,
    DeadlineExceeded,
    DeviceError,
    Error,
    Exists,
    GraphError,
    HandlerFault,
    IndexOutOfBounds,
    MessageError,
    MissingFile,
    NotANumber,
    NotFound,
    OutOfMemory,
    ShapeError,
    StateError,
    TooLargeError,
    Unsupported,
)
from .events import Event, Events
from .metrics import ErrorRecord, KernelMetrics, LatencySummary, MethodMetrics, RuntimeMetrics
from .runtime import Runtime

__version__ = "0.1.0"

__all__ = [
    "Diagnostic",
    "ErrorRecord",
    "Event",
    "Events",
    "Function",
    "Graph",
    "Kernel",
    "KernelMetrics",
    "LatencySummary",
    "MethodMetrics",
    "Outcome",
    "Runtime",
    "RuntimeMetrics",
    "SwapInfo",
    "Tensor",
    "Traced",
    "Value",
    "mlir",
    "onnx",
    "ops",
    "BackendUnavailable",
    "Backpressure",
    "Closed",
    "DTypeError",
    "DeadlineExceeded",
    "DeviceError",
    "Error",
    "Exists",
    "GraphError",
    "HandlerFault",
    "IndexOutOfBounds",
    "MessageError",
    "MissingFile",
    "NotANumber",
    "NotFound",
    "OutOfMemory",
    "ShapeError",
    "StateError",
    "TooLargeError",
    "Unsupported",
]
