"""Findings: problems and corrections. Exceptions, decoding and `lint` list them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .immutable import Generic, T, Value
from .message_text import clip, escape, one_line, quote, show_path, show_place

if TYPE_CHECKING:
    from typing import Self


ValueCode = Literal[
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
"""The kinds of problems with a value."""

TypeCode = Literal[
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
"""The kinds of problems with a type."""

Severity: TypeAlias = Literal["error", "warning", "note"]

_LINE_LENGTH = 300
_PATH_LENGTH = 150
_NAME_LENGTH = 100
_MESSAGE_LENGTH = 500


class Finding(Value):
    """One thing that is wrong, or was corrected.

    An attribute that doesn't apply has its default.

    Attributes:
        path: keys and indexes that lead from the root to a value; for a type, attribute names that lead
            to the annotation, where `*` stands for the items of an array and the values of a map.
        code: the kind of problem or correction, from a fixed list.
        message: a description on one line, without path and suggestion; for a call it may be the text of an
            exception, with several lines.
        expected: a description of a valid value, such as `integer`.
        received: an excerpt of the value, of bounded length; None if there is no value.
        suggestion: the name or value that was probably meant, or None.
        remedy: how to fix it, on one line.
        severity: `error`: it doesn't work · `warning`: a model has to guess · `note`: nothing is wrong.
        type: name of the class that the finding is in, or of the annotation if there is no class.
        where: file and line of the class or function, such as `/app/models.py:12`; for a JSON Schema document
            the pointer to the schema, such as `#/properties/city`.
        tool: name of the tool; empty for several tools, or for a saved round.
        call_id: id of the call.
        provider: name of the provider; None for all providers.
        keyword: the keyword of JSON Schema; empty for a schema as a whole.
    """

    path: tuple[str | int, ...]
    code: str
    message: str
    expected: str | None = None
    received: str | None = None
    suggestion: str | None = None
    remedy: str | None = None
    severity: Severity = "error"
    type: str | None = None
    where: str | None = None
    tool: str | None = None
    call_id: str | None = None
    provider: str | None = None
    keyword: str | None = None

    if not TYPE_CHECKING:  # for speed: a failing decode makes it, and leaves the rare slots unset

        def __new__(
            cls,
            path: tuple[str | int, ...],
            code: str,
            message: str,
            expected: str | None,
            received: str | None,
            suggestion: str | None,
            remedy: str | None,
            severity: Severity,
            type: str | None,  # noqa: A002  # the name of the attribute
            where: str | None,
            tool: str | None,
            call_id: str | None,
            provider: str | None,
            keyword: str | None,
        ) -> Self:
            """Make a finding."""
            self = cls._draft()
            self.path = tuple(path) if path.__class__ is list else path
            self.code = code
            self.message = message
            self.expected = expected
            self.received = received
            self.suggestion = suggestion
            self.remedy = remedy
            if not (type is where is tool is call_id is provider is keyword is None and severity == "error"):
                self.severity = severity
                self.type = type
                self.where = where
                self.tool = tool
                self.call_id = call_id
                self.provider = provider
                self.keyword = keyword
            self.__class__ = cls
            return self

        def __getattr__(self, name: str) -> Any:
            # Only asked for a slot that is unset.
            if name in self.__field_defaults__:
                return self.__field_defaults__[name]
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values, for logs: the path as text, such as `attendees[2].email`.

        The keys from `remedy` on are left out if they have no value.
        """
        content = {name: getattr(self, name) for name in self.__slots__}
        rare = {name: content[name] for name in self.__slots__[6:] if content[name] is not None}
        if self.remedy is None and self.keyword is None:
            del rare["severity"]
        often = {name: content[name] for name in self.__slots__[:6]}
        return {**often, "path": clip(self._shown_path(), _PATH_LENGTH), **rare}

    def __str__(self) -> str:
        """Write path, message, suggestion and remedy on one line, bounded for a value or a call.

        Further lines of an exception's text are indented.
        """
        if self.remedy is not None:
            return self._about_type()
        if self.keyword is not None:
            place = self._shown_path()
            if self.where is not None:
                place = one_line(f"{self.where} {self.keyword}".rstrip(), _MESSAGE_LENGTH)
            return f"{place}: {self.message}" if place else self.message
        if not self.path and self.tool is not None:
            if self.call_id is None:
                return one_line(self.message, _MESSAGE_LENGTH)
            lines = [escape(line) for line in self.message.split("\n")]
            text = clip("\n  ".join(lines), _MESSAGE_LENGTH)
            return f"{shown_call(self.tool, self.call_id)}: {text}"
        where = clip(show_path(self.path), _PATH_LENGTH)
        if self.code == "ignored":
            return f"{where} (did you mean {self.suggestion}?)" if self.suggestion else where
        hint = self._hint() if self.suggestion else ""
        line = clip(self.message, _LINE_LENGTH) + hint
        return f"{where}: {line}" if where else line

    def __repr__(self) -> str:
        given = {name: getattr(self, name) for name in self.__slots__}
        defaults = self.__field_defaults__
        known = [f"{name}={value!r}" for name, value in given.items() if value != defaults.get(name, ...)]
        return f"Finding({', '.join(known)})"

    def _hint(self) -> str:
        if self.code == "unknown" and self.path:
            return f"; rename {quote(str(self.path[-1]))} to {self.suggestion}"
        return f"; did you mean {self.suggestion}?"

    def _about_type(self) -> str:
        path = self._shown_path()
        hint = f" Did you mean {self.suggestion}?" if self.suggestion else ""
        of = escape(self.type or self.tool or "")
        if self.where is not None:
            of = f"{of}, {self.where}" if path else f"{of} ({self.where})"
        place = f"{path} (in {of})" if path and of else path or of
        stop = "" if self.message.endswith(("?", ".")) else "."
        return f"{place}{': ' if place else ''}{self.message}{stop}{hint} {self.remedy}."

    def _shown_path(self) -> str:
        if self.keyword is not None:
            return clip(show_place(self.path), _PATH_LENGTH)
        if self.remedy is None:
            return show_path(self.path)
        return "".join(["[*]" if step == "*" else f".{step}" for step in self.path]).removeprefix(".")


def about_type(
    path: tuple[str, ...],
    code: TypeCode,
    type: str,  # noqa: A002  # the name of the attribute
    message: str,
    remedy: str,
    suggestion: str | None = None,
    where: str | None = None,
) -> Finding:
    """Make a finding about a type, for a `SchemaError`."""
    return Finding(path, code, message, None, None, suggestion, remedy, "error", type, where)


def shown_call(name: str, call_id: str) -> str:
    """Show a call by the name of its tool and its id, bounded and escaped."""
    return f"{one_line(name, _NAME_LENGTH)} (call {quote(call_id, _NAME_LENGTH)})"


class UnfitError(Exception):
    """The reason why a type can't be registered; the walk turns it into a finding.

    Attributes:
        message: a description of the problem.
        remedy: how to fix it.
    """

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy


RepairKind = Literal["json_text", "scalar", "default", "choice", "key", "array", "syntax", "wrapper", "name"]
"""The kinds of corrections: a string that contained JSON was parsed · a number, boolean or null was taken out
of its quotes · the field's default took the place of a null · the choice that was meant was found · a key was
written as the field's own · one value became an array of it · the text was made JSON · the arguments were
taken out of the one key that they were sent under · the name of a tool was read as a near one."""


def repaired(path: tuple[str | int, ...], kind: RepairKind, before: str, after: str) -> Finding:
    """Make a finding about a correction, from excerpts of the received value and the corrected one."""
    return Finding(path, kind, f"{before} read as {after} ({kind})", after, before, severity="note")


def ignored(path: tuple[str | int, ...], near: str | None) -> Finding:
    """Make a finding about an ignored unknown key; `near` is the most similar key of a field."""
    suggestion = None if near is None else quote(near)
    return Finding(path, "ignored", "unknown key, left out", None, None, suggestion, severity="note")


class DecodeReport(Value, Generic[T]):
    """An instance, and the corrections that were made to its arguments.

    Attributes:
        instance: the result of `decode`.
        findings: the corrections in the order of the fields, then the keys that name no field, at most 100 of
            them. The code of a repair is its kind, `received` is the original value and `expected` the value
            that was read instead; the code of a key is `ignored`.
    """

    instance: T
    findings: tuple[Finding, ...]

    if not TYPE_CHECKING:  # for speed alone, as in `introspect/nodes.py`: every call makes one

        def __new__(cls, instance: T, findings: tuple[Finding, ...]) -> DecodeReport[T]:
            """Make a report."""
            self = cls._draft()
            self.instance = instance
            self.findings = tuple(findings) if findings.__class__ is list else findings
            self.__class__ = cls
            return self

    @property
    def repairs(self) -> tuple[Finding, ...]:
        """The findings about corrections; there are none without `repair=True`."""
        return tuple([finding for finding in self.findings if finding.code != "ignored"])

    @property
    def ignored(self) -> tuple[Finding, ...]:
        """The findings about keys that name no field."""
        return tuple([finding for finding in self.findings if finding.code == "ignored"])

    def as_details(self) -> dict[str, tuple[Finding, ...]]:
        """Return the repairs and the ignored keys as the details of a result; empty if there are none."""
        if not self.findings:
            return {}
        notes = {"repairs": self.repairs, "ignored": self.ignored}
        return {kind: found for kind, found in notes.items() if found}
