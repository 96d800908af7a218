"""Talking to code that stays on the device.

    import numpy as np, pyringkernel as rk

    with rk.Runtime() as runtime:
        kernel = runtime.launch("adder")
        kernel.add(np.float32([1, 2]), np.float32([3, 4]))
"""

from . import aio, onnx, ops
from ._core import (
    ErrorRecord,
    Function,
    Graph,
    Kernel,
    KernelMetrics,
    LatencySummary,
    MethodMetrics,
    Outcome,
    RuntimeMetrics,
    SwapInfo,
    Tensor,
    Traced,
    Value,
)
from .errors import *  # noqa: F403
from .errors import __all__ as _errors
from .runtime import Runtime

__version__ = "0.1.0"

__all__ = [
    "ErrorRecord",
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
    "onnx",
    "ops",
    *_errors,
]
