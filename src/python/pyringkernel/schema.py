"""Programs with a schema: its text, and messages and states as JSON.

The parser of FlatBuffers, `_json`, is loaded by who needs it.
"""

import functools
import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import make, missing

if TYPE_CHECKING:
    from ._json import Codec

#: What FlatBuffers writes for floats that JSON has no number for, and Python's words for them.
_TO_PYTHON = {"nan": "NaN", "inf": "Infinity", "-nan": "NaN", "-inf": "-Infinity"}
_TO_FLATBUFFERS = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
_STRING_OR_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|-?[A-Za-z]+')


def _parser() -> Any:
    try:
        from . import _json
    except ImportError as error:
        raise make(
            _core.codes["unsupported"],
            f"unsupported: no parser of FlatBuffers ({error}). Where this package was built, "
            "libflatbuffers was missing. `flatc -b --schema` makes binary schemas without it",
        ) from error
    return _json


def binary_of(
    program: str, schema: "bytes | str | os.PathLike[str] | None"
) -> "tuple[bytes | None, str, str]":
    """A schema's binary form, what errors call it, and its text, if that is known."""
    if schema is None:
        return None, "", ""
    name, content = f"{program}.bfbs", b""
    if isinstance(schema, bytes):
        content = schema
    elif isinstance(schema, str) and ("\n" in schema or "{" in schema):  # no path
        name, content = f"{program}.fbs", schema.encode()
    else:
        name = os.fspath(schema)
        try:
            with open(schema, "rb") as file:
                content = file.read()
        except FileNotFoundError:
            raise missing(schema) from None
    if content[4:8] == b"BFBS" or not name.endswith(".fbs"):
        return content, name, ""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise make(_core.codes["invalid_argument"], f"invalid_argument: {name}: {error}") from None
    return _parser().schema_from_text(name, text), name, text


@functools.lru_cache(maxsize=64)
def _codec_for(schema: bytes, behaviour: str) -> "Codec":
    codec: "Codec" = _parser().Codec(schema, behaviour)
    return codec


def _codec_of(kernel: _core.Kernel) -> "Codec":
    """By what the kernel's program understands now: another version has another schema."""
    return _codec_for(*kernel._interface())


def _elements(value: Any) -> Any:
    """numpy's numbers and arrays as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"no JSON of {type(value).__name__}")


def _with_words(text: str, words: "dict[str, str]") -> str:
    return _STRING_OR_WORD.sub(lambda found: words.get(found[0], found[0]), text)


def _text_of(value: "Mapping[str, Any]") -> str:
    if not isinstance(value, Mapping):
        raise TypeError(f"a request or a state is a dict, not {type(value).__name__}")
    text = json.dumps(dict(value), default=_elements)
    return _with_words(text, _TO_FLATBUFFERS) if "NaN" in text or "Infinity" in text else text


def _value_of(text: str) -> "dict[str, Any]":
    try:
        value: "dict[str, Any]" = json.loads(text)
    except ValueError:
        value = json.loads(_with_words(text, _TO_PYTHON))
    return value


def _call_json(
    self: _core.Kernel,
    method: str,
    request: "Mapping[str, Any]" = {},
    *,
    timeout: "float | None" = None,
    priority: int = 0,
) -> "dict[str, Any]":
    """A method of your own program, by its schema: request and reply as dicts."""
    codec = _codec_of(self)
    data = codec.to_request(method, _text_of(request))
    reply = self.call_bytes(data, method, timeout=timeout, priority=priority)
    return _value_of(codec.from_reply(method, reply))


async def _acall_json(
    self: _core.Kernel,
    method: str,
    request: "Mapping[str, Any]" = {},
    *,
    timeout: "float | None" = None,
    priority: int = 0,
) -> "dict[str, Any]":
    """As `call_json`, awaited. Cancelling the task cancels the message."""
    codec = _codec_of(self)
    data = codec.to_request(method, _text_of(request))
    reply = await self.acall_bytes(data, method, timeout=timeout, priority=priority)
    return _value_of(codec.from_reply(method, reply))


def _read_state_json(self: _core.Kernel) -> "dict[str, Any]":
    """As `read_state`, as a dict by the program's schema."""
    codec = _codec_of(self)
    return _value_of(codec.from_state(self.read_state(codec.state_bytes)))


def _write_state_json(self: _core.Kernel, state: "Mapping[str, Any]") -> None:
    """As `write_state`, from a dict by the program's schema."""
    self.write_state(_codec_of(self).to_state(_text_of(state)))


for _name, _method in (
    ("call_json", _call_json),
    ("acall_json", _acall_json),
    ("read_state_json", _read_state_json),
    ("write_state_json", _write_state_json),
):
    setattr(_core.Kernel, _name, _method)
