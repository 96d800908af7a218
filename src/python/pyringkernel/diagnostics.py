"""What is said of a model's text, and of which place in it."""

from dataclasses import dataclass

from .metrics import _Brief


@dataclass(frozen=True, repr=False)
class Diagnostic(_Brief):
    """An error, a warning, a note or a remark. `str()` has its place and what it says.

    severity  "error", "warning", "note" or "remark".
    message   what it says.
    file      the name of the text; empty: not known.
    line      from 1 on; 0: not known.
    column    from 1 on; 0: not known.
    node      of a model that has no lines; empty: not known.
    notes     more on it.
    """

    severity: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    node: str = ""
    notes: "tuple[Diagnostic, ...]" = ()

    def __str__(self) -> str:
        place = [self.file] if self.file else []
        if self.line:
            place += [str(number) for number in (self.line, self.column) if number]
        head = ":".join(place) + ": " if place else ""
        return head + (f"node '{self.node}': " if self.node else "") + self.message


__all__ = ["Diagnostic"]
