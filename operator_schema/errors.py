"""Exceptions for a faulty type, value, tool or call, and the data that they carry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .json_values import copy_json
from .message_text import clip, count_of, escape, fault_list, one_line, quote, received

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from .findings import Finding

__all__ = [
    "CallError",
    "DecodeError",
    "DuplicateToolError",
    "EncodeError",
    "MissingContextError",
    "NeedsInput",
    "SchemaError",
    "ToolError",
    "ToolNotFoundError",
]

if not TYPE_CHECKING:  # a type checker would take any name for one of this module

    def __getattr__(name: str) -> Any:
        from .lazy import absent_name

        raise absent_name(__name__, name)


SHOWN_PROBLEMS = 10
"""How many problems `str(error)` writes out; it only counts the rest."""

SHOWN_COMPLAINTS = 50
"""How many complaints the text of a SchemaError writes out; it only counts the rest."""

REPORT_LENGTH = 2000
"""The most characters of `str(error)`."""

_NAME_LENGTH = 100
_EXPECTS_LENGTH = 600
_EXAMPLE_LENGTH = 400
_CORRECTION_LENGTH = 1000
_LEAST_ROOM = 400
"""The least characters left for the first line and the problems, however long the rest is."""

_MORE = "- … and {} more"
_MORE_LENGTH = len(_MORE.format(10**9))
_NO_ARGUMENTS = frozenset({"wrong_type", "no_match", "invalid_json"})
"""Codes of a problem with the arguments as a whole."""


class SchemaError(TypeError):
    """A type can't become a tool input; raised at registration, for the developer.

    Attributes:
        name: name of the type that was to be registered.
        findings: everything that is wrong with it, in the order of its fields.
        about: the kind of thing that is wrong, such as `type` or `function`.
    """

    def __init__(self, name: str, findings: Sequence[Finding], about: str = "type") -> None:
        super().__init__(name, tuple(findings), about)
        self.about = about
        self.name = name
        self.findings: tuple[Finding, ...] = tuple(findings)

    def __str__(self) -> str:
        """Write a line that names the type, then one line for each finding; past 50 they are only counted."""
        head = f"{self.name}: {count_of(len(self.findings), 'complaints')} about the {self.about}"
        return fault_list(head, self.findings, SHOWN_COMPLAINTS)

    def as_dict(self) -> dict[str, Any]:
        """Return the error as JSON values, for logs.

        Returns:
            `error`, `name`, `about`, `findings` (at most 50, each as `Finding.as_dict` gives it), and
            `omitted`, the number of the others.
        """
        shown = self.findings[:SHOWN_COMPLAINTS]
        return {
            "error": type(self).__name__,
            "name": one_line(self.name, _NAME_LENGTH),
            "about": self.about,
            "findings": [finding.as_dict() for finding in shown],
            "omitted": len(self.findings) - len(shown),
        }


class _FindingsError(ValueError):
    """The common part of `DecodeError` and `EncodeError`."""

    _with = "the value"

    __slots__ = ("run",)  # a slot, so that copies and pickles leave it out
    run: Any
    """The `Problems` of the decode or encode that failed, for this package; None where there was none."""

    def __init__(self, name: str, findings: Sequence[Finding], omitted: int = 0) -> None:
        super().__init__(name)
        self.run = None
        self.name = name
        self.findings: tuple[Finding, ...] = tuple(findings)
        self.omitted = omitted

    @property
    def _total(self) -> int:
        return len(self.findings) + self.omitted

    def _tail(self) -> list[str]:
        return []

    def __str__(self) -> str:
        """Write the report. Its length is bounded, however large the value is."""
        total = self._total
        head = f"{one_line(self.name, _NAME_LENGTH)}: {count_of(total, 'problems')} with {self._with}"
        tail = self._tail()
        room = REPORT_LENGTH - len(head) - len("".join(tail)) - 1 - len(tail) - _MORE_LENGTH
        lines: list[str] = []
        for finding in self.findings[:SHOWN_PROBLEMS]:
            line = f"- {finding!s}"
            room -= len(line) + 1
            if room < 0:
                break
            lines.append(line)
        rest = total - len(lines)
        more = [_MORE.format(rest)] if rest else []
        return "\n".join([head, *lines, *more, *tail])

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({clip(self.name, _NAME_LENGTH)!r}, {count_of(self._total, 'problems')})"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.findings, self.omitted)

    def with_findings(self, findings: Sequence[Finding]) -> Self:
        """Return the same error with other findings in place of those it carries."""
        again = type(self).__new__(type(self), *self.args)
        again.__dict__.update(self.__dict__, findings=tuple(findings))
        again.run = None
        return again

    def as_dict(self) -> dict[str, Any]:
        """Return the error as JSON values, for logs.

        Returns:
            `error`, `name`, `findings` (each as `Finding.as_dict` gives it) and `omitted`, the number
            of problems that are counted only. Every text in it is bounded, and printable.
        """
        return {
            "error": type(self).__name__,
            "name": one_line(self.name, _NAME_LENGTH),
            "findings": [finding.as_dict() for finding in self.findings],
            "omitted": self.omitted,
        }


class DecodeError(_FindingsError):
    """Arguments do not fit their type; its text goes back to the model.

    Args:
        name: the name of the type, or of the tool.
        findings: everything that is wrong.
        expects: one line that describes the type, or a function that makes this line on demand.
        omitted: number of problems past those in `findings`.
        example: valid arguments, or a function that makes them on demand.
        hint: another text that may help, such as how to get the documentation of the tool.
        correction: the complete corrected arguments, or a function that makes them on demand.

    Attributes:
        name: name of the type, or of the tool.
        findings: everything that is wrong, in the order of the type's fields; at most
            `operator_schema.json_values.MAX_PROBLEMS`.
        omitted: number of problems past those in `findings`.
        hint: more help for the model, or None.
    """

    _with = "the arguments"

    def __init__(
        self,
        name: str,
        findings: Sequence[Finding],
        expects: str | Callable[[], str | None] | None = None,
        omitted: int = 0,
        example: Any = None,
        hint: str | None = None,
        correction: Any = None,
    ) -> None:
        super().__init__(name, findings, omitted)
        self._expects = expects
        self._example = example
        self._correction = correction
        self.hint = hint

    def with_hint(self, hint: str | None) -> Self:
        """Return the same error with another hint."""
        again = self.with_findings(self.findings)
        again.hint = hint
        return again

    @property
    def expects(self) -> str | None:
        """One line that describes the type, or None."""
        if callable(self._expects):
            self._expects = self._expects()
        return self._expects

    def example(self) -> Any:
        """Return a minimal valid value for the type.

        Optional fields are left out; the others have their first example, the placeholder of their leaf,
        their first choice, or the smallest value that fits. The class's own checks are run.

        Returns:
            JSON values that decode; None if none was found, because a class's own check or a pattern refuses
            every value that was tried.
        """
        if callable(self._example):
            self._example = self._example()
        return copy_json(self._example)

    def correction(self) -> Any:
        """Return the complete arguments that were probably meant, for the model to send.

        A problem is only corrected if it has exactly one reading; missing values are never made up. The
        class's own checks are run.

        Returns:
            JSON values that decode without repair, keys in the order of the schema; None if a problem has
            no correction, or several.
        """
        if callable(self._correction):
            self._correction = self._correction()
        return copy_json(self._correction)

    def as_dict(self) -> dict[str, Any]:
        """Return the error as JSON values, for logs.

        Returns:
            `error`, `name`, `findings` (each as `Finding.as_dict` gives it), `omitted`, the number of
            problems that are counted only, `expects`, and `correction` where `str(error)` shows it. Every
            text in it is bounded; the texts of the correction are the model's own.
        """
        shown = None if self._shown_correction() is None else self.correction()
        return {**super().as_dict(), "expects": self._shown_expects(), "correction": shown}

    def _shown_expects(self) -> str | None:
        expects = self.expects
        return None if expects is None else clip(expects, _EXPECTS_LENGTH)

    def _tail(self) -> list[str]:
        correction = self._shown_correction()
        example = self._shown_example() if correction is None else None
        lines = (self._shown_expects(), example, self._shown_hint(), correction)
        return [line for line in lines if line]

    def _shown_hint(self) -> str | None:
        return None if self.hint is None else clip(self.hint, _EXPECTS_LENGTH)

    def _shown_correction(self) -> str | None:
        is_long = getattr(self._correction, "is_long", None)
        if is_long is not None and is_long(_CORRECTION_LENGTH):
            return None
        correction = self.correction()
        if correction is None:
            return None
        from json import dumps

        line = f"send: {escape(dumps(correction, ensure_ascii=False))}"
        others = (self._shown_expects() or "", self._shown_hint() or "")
        room = REPORT_LENGTH - _LEAST_ROOM - len("".join(others))
        return line if len(line) <= min(room, _CORRECTION_LENGTH) else None

    def _shown_example(self) -> str | None:
        for finding in self.findings:
            if not finding.path and finding.code in _NO_ARGUMENTS:
                break
        else:
            return None
        from json import dumps

        example = self.example()
        line = f"for example: {dumps(example)}"
        return None if example is None or len(line) > _EXAMPLE_LENGTH else line

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            self.name,
            self.findings,
            self.expects,
            self.omitted,
            self.example(),
            self.hint,
            self.correction(),
        )


class EncodeError(_FindingsError):
    """A value does not fit the type that it should be encoded as.

    Args:
        name: the name of the type.
        findings: everything that is wrong.
        omitted: number of problems past those in `findings`.

    Attributes:
        name: name of the type.
        findings: everything that is wrong; paths are made of JSON keys and indexes.
        omitted: number of problems past those in `findings`.
    """


class ToolError(RuntimeError):
    """A tool can't be called in this way; for your program, never for the model.

    Attributes:
        tool: name of the tool.
        message: the problem and the remedy, on one line.
    """

    def __init__(self, tool: str, message: str) -> None:
        super().__init__(tool, message)
        self.tool = tool
        self.message = message

    def __str__(self) -> str:
        """Write the name of the tool and the message."""
        return f"{one_line(self.tool, _NAME_LENGTH)}: {self.message}"


class MissingContextError(ToolError):
    """Values to inject are missing; raised before the function runs.

    Attributes:
        tool: name of the tool.
        parameters: names of the injected parameters without a value.
        message: the remedy.
    """

    def __init__(self, tool: str, parameters: Sequence[str], remedy: str) -> None:
        super().__init__(tool, f"{', '.join(parameters)} must be injected: {remedy}")
        self.parameters: tuple[str, ...] = tuple(parameters)
        self._remedy = remedy

    def __reduce__(self) -> tuple[type[MissingContextError], tuple[str, tuple[str, ...], str]]:
        return type(self), (self.tool, self.parameters, self._remedy)


class CallError(Exception):
    """Raised by a tool's own function to tell the model why it can't do its work.

    Attributes:
        message: the text for the model, in words that it can act on; it may have several lines.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class NeedsInput(Exception):  # noqa: N818  # it isn't an error: the tool asks
    """Raised by a tool's own function when it needs an answer from a person before it can do its work.

    When the function runs again, it gets the answer in a parameter that your program injects:
    `answer: Annotated[bool | None, skip] = None`. It then starts from its beginning, so raise this before
    the function does anything that must not happen twice.

    Attributes:
        question: for the person, in words that can be answered.
        answer_type: annotation of the answer; None for the annotation of the parameter.
        parameter: name of the injected parameter that takes the answer.

    Raises:
        TypeError: the question isn't a string or is blank, or the parameter isn't a name.
    """

    def __init__(self, question: str, answer_type: Any = None, parameter: str = "answer") -> None:
        if not _is_text(question) or not question.strip():
            message = (
                f"the question of NeedsInput must be a string that isn't empty, not {received(question)}"
            )
            raise TypeError(message)
        if not _is_text(parameter) or not parameter.isidentifier():
            message = f"parameter must be the name of an injected parameter, not {received(parameter)}"
            raise TypeError(message)
        super().__init__(question, answer_type, parameter)
        self.question = question
        self.answer_type = answer_type
        self.parameter = parameter

    def __str__(self) -> str:
        """Write the question."""
        return self.question


class DuplicateToolError(ValueError):
    """A registry has a tool of this name already.

    Attributes:
        tool: the name.
        places: module and name of the registered tool, and of the refused one.
    """

    def __init__(self, tool: str, places: Sequence[str] = ()) -> None:
        super().__init__(tool, tuple(places))
        self.tool = tool
        self.places: tuple[str, ...] = tuple(places)

    def __str__(self) -> str:
        """Write the name, both places and the remedy."""
        message = f"tool {quote(self.tool, _NAME_LENGTH)} already registered"
        if not self.places:
            return message
        first, *others = [one_line(place, 2 * _NAME_LENGTH) for place in dict.fromkeys(self.places)]
        if not others:
            return f"{message}: {first} is there twice. Leave one out, or rename it: tool.with_(name=…)"
        names = f"{first} and {others[0]} have this name"
        return f"{message}: {names}. Rename one (tool.with_(name=…)) or a group (group.prefix(…))"


class ToolNotFoundError(KeyError):
    """A registry has no tool of this name.

    Attributes:
        tool: the name.
        suggestions: the most similar names in the registry, the nearest first.
        call: the call to send instead, as `{"name": …, "arguments": …}`; None if it isn't known.
    """

    def __init__(
        self, tool: str, suggestions: Sequence[str] = (), call: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(tool, tuple(suggestions), *(() if call is None else (call,)))
        self.tool = tool
        self.suggestions: tuple[str, ...] = tuple(suggestions)
        self.call = call

    def __str__(self) -> str:
        """Write the name, the names that were probably meant, and the whole call if it is known."""
        near = " or ".join([quote(name) for name in self.suggestions])
        hint = f"; did you mean {near}?" if near else ""
        return f"tool {quote(self.tool, _NAME_LENGTH)} not found{hint}{_to_send(self.call)}"


def _to_send(call: Mapping[str, Any] | None) -> str:
    """Write the last line of a text for the model: the call to send; nothing if it would be too long."""
    if call is None:
        return ""
    from json import dumps

    line = f"\nsend: {escape(dumps(call, ensure_ascii=False))}"
    return line if len(line) <= _CORRECTION_LENGTH else ""


def _is_text(value: object) -> bool:
    return isinstance(value, str)
