"""What is wrong with a type: complaints, which a `SchemaError` lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from .immutable import Value
from .wording import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Complaint", "ComplaintCode", "UnfitError"]

ComplaintCode = Literal[
    "unsupported",
    "unresolved",
    "unknown_description",
    "bad_description",
    "bad_metadata",
    "bad_constraint",
    "bad_default",
    "bad_enum",
    "bad_leaf",
    "alias_collision",
    "ambiguous",
    "unannotated",
    "bad_name",
    "bad_option",
    "too_deep",
    "too_large",
]


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
        where: file and line of the class, such as `/app/models.py:12`; None for the registered type
            itself, and where the source can't be found.
    """

    path: tuple[str, ...]
    code: ComplaintCode
    type: str
    message: str
    remedy: str
    suggestion: str | None = None
    where: str | None = None

    def __str__(self) -> str:
        """Write path, type, place, message and remedy on one line."""
        path = _show_annotation_path(self.path)
        hint = f" Did you mean {self.suggestion}?" if self.suggestion else ""
        of = escape(self.type)
        if self.where is not None:
            of = f"{of}, {self.where}" if path else f"{of} ({self.where})"
        place = f"{path} (in {of})" if path else of
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
