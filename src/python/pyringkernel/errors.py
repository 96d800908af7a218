"""Exceptions: one class for each cause, which is also the builtin exception that fits.

Each has its number and name in `code` and `name`; `str()` says what exactly was wrong.
"""

import errno
import os
import re

from ._core import codes
from .diagnostics import Diagnostic


class Error(Exception):
    """What the library answers. Caught as `Error`, it is any of them."""

    #: The error's number.
    code: int = 0
    #: Its name, `broadcast_failure`.
    name: str = ""
    #: "E3001" for the codes of the MIND specification, else None.
    number: "str | None" = None
    #: Id of the message that ended with it; 0: none did.
    message: int = 0
    #: What the handler of a program of your own said (`HandlerFault`).
    fault_code: int = 0
    fault_detail: int = 0
    #: What was said of the model's text, and of which places in it (`mlir.read`).
    diagnostics: "tuple[Diagnostic, ...]" = ()


class ShapeError(Error, ValueError):
    """Shapes, axes or extents that do not fit."""


class DTypeError(Error, TypeError):
    """An element type that the operation does not take."""


class GraphError(Error, ValueError):
    """A graph, or its text, that means nothing."""


class MessageError(Error, ValueError):
    """A message or an argument that is not acceptable."""


class MissingFile(MessageError, FileNotFoundError):
    """The file of a program, a schema or a model is not there; `filename` says which."""

    def __str__(self) -> str:
        return str(self.args[0])


class TooLargeError(Error, ValueError):
    """More than there is room for in a message, or than a limit allows."""


class IndexOutOfBounds(Error, IndexError):
    """An index that was found to be out of bounds where the op ran."""


class NotFound(Error, LookupError):
    """No ring kernel, program, tensor or method has this name."""


class StateError(Error, RuntimeError):
    """What was asked for cannot be done in this state."""


class Exists(StateError):
    """The name is in use."""


class Backpressure(Error, RuntimeError):
    """There is no room at the moment: try again later, or with fewer at once."""


class DeadlineExceeded(Error, TimeoutError):
    """The timeout was over first."""


class Closed(Error, ConnectionError):
    """The ring kernel or the runtime has ended."""


class Unsupported(Error, NotImplementedError):
    """This backend, or this version, cannot do that."""


class OutOfMemory(Error, MemoryError):
    """The host's memory or the runtime's arena is used up."""


class BackendUnavailable(Error, OSError):
    """No device, driver, compiler or library of that kind; `str()` says what to install."""


class DeviceError(Error, RuntimeError):
    """The device, its driver or its program failed."""


class HandlerFault(Error, RuntimeError):
    """The handler of a program of your own answered with a fault, see `fault_code`."""


class NotANumber(Error, ArithmeticError):
    """An element is NaN, and the call was made with `check_nan`."""


#: Which codes each class stands for. What is in none is a `DeviceError`.
CODES: "dict[type[Error], str]" = {
    ShapeError: (
        "broadcast_failure rank_mismatch dimension_mismatch invalid_axis duplicate_axis "
        "invalid_dimension element_count_mismatch invalid_permutation not_squeezable "
        "ragged_literal index_count_mismatch slice_count_mismatch invalid_slice_step "
        "channel_mismatch invalid_stride arity_mismatch"
    ),
    DTypeError: "dtype_mismatch invalid_dtype invalid_index_dtype",
    GraphError: "undefined_value redefined_value undefined_output constant_mismatch",
    MessageError: (
        "malformed_message truncated_message unknown_field invalid_argument malformed_request"
    ),
    TooLargeError: "message_too_large limit_exceeded",
    IndexOutOfBounds: "out_of_bounds index_out_of_bounds",
    NotFound: "kernel_not_found tensor_not_found program_not_found unknown_method",
    Exists: "kernel_exists",
    StateError: "invalid_state incompatible_program state_mismatch cancelled",
    Backpressure: "queue_full message_dropped busy",
    DeadlineExceeded: "deadline_exceeded deadline_passed",
    Closed: "kernel_terminated runtime_closed",
    Unsupported: "unsupported unsupported_operation",
    OutOfMemory: "allocation_failure",
    BackendUnavailable: "backend_unavailable library_not_found symbol_not_found",
    HandlerFault: "handler_fault",
    NotANumber: "not_a_number",
}

_NAMES = {number: name for name, number in codes.items()}
_CLASSES = {codes[name]: cls for cls, names in CODES.items() for name in names.split()}


def make(
    code: int, text: str, message: int = 0, fault_code: int = 0, fault_detail: int = 0
) -> Error:
    """The exception for an error of the library; not for users."""
    if code == codes["message_too_large"]:
        text += _room_for(text)
    if code == codes["allocation_failure"] and "the arena of" in text:
        text += ". Open the runtime with a larger arena_bytes, or let functions and tensors go"
    error = _CLASSES.get(code, DeviceError)(text)
    error.code = code
    error.name = _NAMES.get(code, "")
    error.number = f"E{code}" if code >= 2000 else None
    error.message, error.fault_code, error.fault_detail = message, fault_code, fault_detail
    return error


#: What the library says of a message that is too large for its ring, and the words of `launch`.
_TOO_LARGE = (
    (re.compile(r"(\d+) bytes; the input ring takes"), "input_bytes"),
    (re.compile(r"(\d+) bytes; the output ring takes"), "output_bytes"),
)

_RING_BYTES_MAX = 1 << 30


def _room_for(text: str) -> str:
    """How a kernel is launched that takes it. A message may fill half of its ring, with a head."""
    for pattern, word in _TOO_LARGE:
        if found := pattern.search(text):
            needed = 2 * (int(found[1]) + 64)
            room = 1 << (needed - 1).bit_length()
            return f". Launch it with {word}={room}" if room <= _RING_BYTES_MAX else ""
    return ""


def missing(path: "str | os.PathLike[str]") -> MissingFile:
    """The exception for a file that is not there; not for users."""
    error = MissingFile(f"invalid_argument: no file {os.fspath(path)!r}")
    error.code, error.name = codes["invalid_argument"], "invalid_argument"
    error.errno, error.strerror = errno.ENOENT, os.strerror(errno.ENOENT)
    error.filename = os.fspath(path)
    return error


_NO_SIGNATURE = re.compile(
    r"(\w+)\(\): incompatible function arguments.*\n"
    r"    1\. \w+\((.*)\) -> .*\n\n"
    r"Invoked with types: ([\w.]*).*kwargs = { (.*) }"
)


def explain_call(text: str) -> str:
    """What the binding says of a call, in fewer words where a keyword is wrong; not for users."""
    found = _NO_SIGNATURE.fullmatch(text)
    if found is None:
        return text
    name, signature, first_type, keywords = found.groups()
    known = re.findall(r"(?:^|, )(\w+):", signature)
    wrong = [word for word in re.findall(r"(?:^|, )(\w+): ", keywords) if word not in known]
    if not wrong:
        return text
    if signature.startswith("self"):
        cls = first_type.rpartition(".")[2]
        name = cls if name == "__init__" else f"{cls}.{name}"
    import difflib  # here, because nobody else needs it

    close = difflib.get_close_matches(wrong[0], known, 1)
    hint = f". Did you mean '{close[0]}'?" if close else "."
    takes = f" It takes {', '.join(known)}" if known else ""
    return f"{name}() got an unexpected keyword argument '{wrong[0]}'{hint}{takes}"


__all__ = [
    "Error",
    "ShapeError",
    "DTypeError",
    "GraphError",
    "MessageError",
    "MissingFile",
    "TooLargeError",
    "IndexOutOfBounds",
    "NotFound",
    "StateError",
    "Exists",
    "Backpressure",
    "DeadlineExceeded",
    "Closed",
    "Unsupported",
    "OutOfMemory",
    "BackendUnavailable",
    "DeviceError",
    "HandlerFault",
    "NotANumber",
]
