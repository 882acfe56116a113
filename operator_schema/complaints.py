"""What is wrong with a type: complaints, which a `SchemaError` lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .immutable import Value
from .wording import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .errors import ComplaintCode

__all__ = ["Complaint", "UnfitError"]


class Complaint(Value):
    """One thing that is wrong with a type, found at registration.

    Attributes:
        path: attribute names that lead from the registered type to the annotation; `*` stands for
            the items of an array and the values of a map.
        code: what kind of complaint it is; a closed vocabulary.
        type: name of the class in which it was found, or of the annotation where there is none.
        message: what is wrong, on one line.
        remedy: what to do about it, on one line.
        suggestion: the name that was probably meant, or None.
    """

    path: tuple[str, ...]
    code: ComplaintCode
    type: str
    message: str
    remedy: str
    suggestion: str | None = None

    def __str__(self) -> str:
        """Write path, type, message and remedy on one line."""
        where = _show_annotation_path(self.path)
        hint = f" Did you mean {self.suggestion}?" if self.suggestion else ""
        of = escape(self.type)
        place = f"{where} (in {of})" if where else of
        stop = "" if self.message.endswith(("?", ".")) else "."
        return f"{place}: {self.message}{stop}{hint} {self.remedy}."


class UnfitError(Exception):
    """Something about a type that can't be registered; the walk makes a complaint of it.

    Attributes:
        message: what is wrong.
        remedy: what to do about it.
    """

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy


def _show_annotation_path(path: Sequence[str]) -> str:
    return "".join(["[*]" if step == "*" else f".{step}" for step in path]).removeprefix(".")
