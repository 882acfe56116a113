"""What a decode did besides decoding: the repairs that it made, the keys that it ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from ..findings import Finding
from ..immutable import Value
from ..message_text import quote

__all__ = ["DecodeReport", "RepairKind", "ignored", "repaired"]

T = TypeVar("T")

RepairKind = Literal["json_text", "scalar", "default", "choice", "key", "array", "syntax"]
"""What was done: a string that contained JSON was parsed · a number, boolean or null was taken out of its
quotes · the field's default took the place of a null · the choice that was meant was found · a key
was written as the field's own · one value became an array of it · the text was made JSON."""


def repaired(path: tuple[str | int, ...], kind: RepairKind, before: str, after: str) -> Finding:
    """Return that something was put right, from excerpts of what came and of what was read instead."""
    return Finding(path, kind, f"{before} read as {after} ({kind})", after, before, severity="note")


def ignored(path: tuple[str | int, ...], near: str | None) -> Finding:
    """Return that a key names no field and was left out; `near` is the nearest key that names one."""
    suggestion = None if near is None else quote(near)
    return Finding(path, "ignored", "unknown key, left out", None, None, suggestion, severity="note")


class DecodeReport(Value, Generic[T]):
    """An instance, and what was done to the arguments on the way to it.

    Attributes:
        instance: what `decode` returns.
        findings: what was put right, in the order of the fields, then the keys that name no field, at most
            100 of them. The code of a repair is its kind, `received` what came and `expected` what was read
            instead; the code of a key is `ignored`.
    """

    instance: T
    findings: tuple[Finding, ...]

    if not TYPE_CHECKING:  # for speed alone, as in `introspect/nodes.py`: every call makes one

        def __new__(cls, instance: T, findings: tuple[Finding, ...]) -> DecodeReport[T]:
            """Make a report."""
            self = cls._draft()
            self.instance = instance
            self.findings = findings
            self.__class__ = cls
            return self

    @property
    def repairs(self) -> tuple[Finding, ...]:
        """The findings about what was put right; there are none without `repair=True`."""
        return tuple([finding for finding in self.findings if finding.code != "ignored"])

    @property
    def ignored(self) -> tuple[Finding, ...]:
        """The findings about keys that name no field."""
        return tuple([finding for finding in self.findings if finding.code == "ignored"])
