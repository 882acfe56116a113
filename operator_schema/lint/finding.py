"""One thing that could be better about a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from ..immutable import Value

if TYPE_CHECKING:
    from ..introspect.parameter_places import Place

__all__ = ["Finding", "Severity", "Weakness", "weakness_at"]


Severity: TypeAlias = Literal["error", "warning", "note"]


class Finding(Value):
    """One thing that is wrong with a tool, or with several, or that a provider gets in another way.

    Attributes:
        code: what kind of thing it is, such as `no_description`.
        severity: `error`: a provider refuses it · `warning`: a model has to guess · `note`: the provider gets
            it in another way, and nothing is wrong.
        tool: name of the tool; empty if it is about all of them.
        path: attribute names that lead to the parameter; `*` stands for the items of an array. Empty for the
            tool itself.
        message: what it is, on one line.
        remedy: what to do about it, on one line.
        provider: name of the provider that it is about; None if it is about any.
        file: where the tool is defined, if that is known.
        line: of the file, from 1.
    """

    code: str
    severity: Severity
    tool: str
    path: tuple[str, ...]
    message: str
    remedy: str
    provider: str | None = None
    file: str | None = None
    line: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values."""
        return {
            "code": self.code,
            "severity": self.severity,
            "tool": self.tool,
            "path": list(self.path),
            "message": self.message,
            "remedy": self.remedy,
            "provider": self.provider,
            "file": self.file,
            "line": self.line,
        }


class Weakness(NamedTuple):
    """What a check finds.

    Attributes:
        code: what kind of thing it is.
        path: where it is.
        message: what it is.
        remedy: what to do about it.
    """

    code: str
    path: tuple[str, ...]
    message: str
    remedy: str


def weakness_at(place: Place, code: str, message: str, remedy: str) -> Weakness:
    """Return what a check finds at a place; inside a union, the path alone doesn't say of which member."""
    of = "" if place.member is None else f" (in {place.member})"
    return Weakness(code, place.path, f"{message}{of}", remedy)
