"""What went wrong: every exception of this package and the data that it carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ._value import Value, set_once
from .wording import clip, escape, show_path

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Complaint",
    "ComplaintCode",
    "DecodeError",
    "EncodeError",
    "Problem",
    "ProblemCode",
    "SchemaError",
]

ProblemCode = Literal[
    "missing",
    "unknown",
    "wrong_type",
    "not_one_of",
    "out_of_range",
    "bad_length",
    "bad_format",
    "duplicate",
    "no_match",
    "rejected",
    "too_deep",
    "too_large",
    "invalid_json",
]

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
    "too_deep",
    "too_large",
]

SHOWN_PROBLEMS = 10
"""Problems that `str(error)` writes out before it counts the rest."""

REPORT_LENGTH = 2000
"""Characters of `str(error)` at most."""

_NAME_LENGTH = 100
_LINE_LENGTH = 300
_EXPECTS_LENGTH = 600


class Problem(Value):
    """One thing that is wrong with a value.

    Attributes:
        path: keys and indexes that lead from the root to the value.
        code: what kind of problem it is; a closed vocabulary.
        message: one line for the model, without path and suggestion.
        expected: what would have been right, such as `integer`.
        received: what came, as a bounded excerpt; None where nothing came.
        suggestion: the name or value that was probably meant, or None.
    """

    __slots__ = ("path", "code", "message", "expected", "received", "suggestion")

    path: tuple[str | int, ...]
    code: ProblemCode
    message: str
    expected: str | None
    received: str | None
    suggestion: str | None

    def __init__(
        self,
        path: tuple[str | int, ...],
        code: ProblemCode,
        message: str,
        expected: str | None = None,
        received: str | None = None,
        suggestion: str | None = None,
    ) -> None:
        set_once(self, "path", path)
        set_once(self, "code", code)
        set_once(self, "message", message)
        set_once(self, "expected", expected)
        set_once(self, "received", received)
        set_once(self, "suggestion", suggestion)

    def __str__(self) -> str:
        """Write path, message and suggestion on one line of bounded length."""
        where = clip(show_path(self.path), _LINE_LENGTH // 2)
        hint = f"; did you mean {self.suggestion}?" if self.suggestion else ""
        line = clip(self.message, _LINE_LENGTH) + hint
        return f"{where}: {line}" if where else line


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

    __slots__ = ("path", "code", "type", "message", "remedy", "suggestion")

    path: tuple[str, ...]
    code: ComplaintCode
    type: str
    message: str
    remedy: str
    suggestion: str | None

    def __init__(
        self,
        path: tuple[str, ...],
        code: ComplaintCode,
        type: str,  # noqa: A002  # the attribute's name
        message: str,
        remedy: str,
        suggestion: str | None = None,
    ) -> None:
        set_once(self, "path", path)
        set_once(self, "code", code)
        set_once(self, "type", type)
        set_once(self, "message", message)
        set_once(self, "remedy", remedy)
        set_once(self, "suggestion", suggestion)

    def __str__(self) -> str:
        """Write path, type, message and remedy on one line."""
        where = _show_annotation_path(self.path)
        hint = f" Did you mean {self.suggestion}?" if self.suggestion else ""
        place = f"{where} (in {self.type})" if where else self.type
        return f"{place}: {self.message}.{hint} {self.remedy}."


class SchemaError(TypeError):
    """A type can't become a tool input; raised at registration, for the developer.

    Attributes:
        name: name of the type that was to be registered.
        complaints: everything that is wrong with it, in the order of its fields.
    """

    def __init__(self, name: str, complaints: Sequence[Complaint]) -> None:
        super().__init__(name, tuple(complaints))
        self.name = name
        self.complaints: tuple[Complaint, ...] = tuple(complaints)

    def __str__(self) -> str:
        """Write one line a complaint, below a line that names the type."""
        head = f"{self.name}: {_count(len(self.complaints), 'complaint')} about the type"
        return "\n".join([head, *[f"- {complaint}" for complaint in self.complaints]])


class _ProblemsError(ValueError):
    """What `DecodeError` and `EncodeError` share."""

    _with = "the value"

    def __init__(
        self,
        name: str,
        problems: Sequence[Problem],
        expects: str | None = None,
        omitted: int = 0,
    ) -> None:
        super().__init__(name, tuple(problems), expects, omitted)
        self.name = name
        self.problems: tuple[Problem, ...] = tuple(problems)
        self.expects = expects
        self.omitted = omitted

    def __str__(self) -> str:
        """Write the report: bounded in length, whatever the value was."""
        total = len(self.problems) + self.omitted
        lines = [f"{clip(escape(self.name), _NAME_LENGTH)}: {_count(total, 'problem')} with {self._with}"]
        tail = "" if self.expects is None else clip(self.expects, _EXPECTS_LENGTH)
        room = REPORT_LENGTH - len(lines[0]) - len(tail) - len("- … and 1000000000 more\n") - 2
        shown = 0
        for problem in self.problems[:SHOWN_PROBLEMS]:
            line = f"- {problem}"
            room -= len(line) + 1
            if room < 0:
                break
            lines.append(line)
            shown += 1
        if total > shown:
            lines.append(f"- … and {total - shown} more")
        if tail:
            lines.append(tail)
        return "\n".join(lines)


class DecodeError(_ProblemsError):
    """Arguments do not fit their type; its text goes back to the model.

    Attributes:
        name: name of the type, or of the tool.
        problems: everything that is wrong, in the order of the type's fields; at most
            `operator_schema.codec.limits.MAX_PROBLEMS`.
        expects: one line that says what the type takes, or None.
        omitted: number of problems past those in `problems`.
    """

    _with = "the arguments"


class EncodeError(_ProblemsError):
    """A value does not fit the type that it is to be encoded as.

    Attributes:
        name: name of the type.
        problems: everything that is wrong; paths are made of JSON keys and indexes.
        expects: always None.
        omitted: number of problems past those in `problems`.
    """


class Unfit(Exception):  # noqa: N818  # not an error of the caller's: a complaint is made of it
    """A constraint that no schema can hold, or that says nothing about its type; kept inside.

    Attributes:
        message: what is wrong.
        remedy: what to do about it.
    """

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy


class TextRefused(ValueError):  # noqa: N818  # likewise: a `DecodeError` is made of it
    """Ends the parser of JSON text with the one problem that is to be reported; kept inside.

    Attributes:
        problem: what is wrong with the text.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


class BuildRefused(Exception):  # noqa: N818  # likewise
    """Carries what a class said to fields that are right out of compiled code; kept inside.

    Attributes:
        reason: the ValueError or TypeError of the class's own check.
    """

    def __init__(self, reason: Exception) -> None:
        super().__init__(reason)
        self.reason = reason


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _show_annotation_path(path: Sequence[str]) -> str:
    return "".join(["[*]" if step == "*" else f".{step}" for step in path]).removeprefix(".")
