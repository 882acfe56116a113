"""What a provider gets of tools: what is kept, described, weakened, refused or renamed, and its size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ..immutable import Value
from ..wording import show_path

if TYPE_CHECKING:
    from ..complaints import Complaint
    from ..schema.dialect import Loss
    from .strictness import Strict

__all__ = ["Report", "ToolReport"]

Fate = Literal["kept", "described", "null", "weakened", "renamed", "refused"]


class ToolReport(Value):
    """What a provider gets of one tool.

    Attributes:
        name: its own.
        wire_name: on the wire.
        paths: of all parameters and their parts, in order; `*` stands for the items of an array.
        losses: what the schema says in another way.
        refused: what can't be said, with the remedy; then a request raises a `SchemaError`.
        size: bytes of the tool in a request, as JSON on one line; None if it is refused.
        tokens: that it takes, by `tiktoken` or an estimate; None if it is refused.
        strict: whether the provider holds the model to its schema.
        not_strict: why it doesn't, where `strict="auto"` left that to what its strict mode takes.
    """

    name: str
    wire_name: str
    paths: tuple[tuple[str, ...], ...]
    losses: tuple[Loss, ...]
    refused: tuple[Complaint, ...]
    size: int | None
    tokens: int | None
    strict: bool = False
    not_strict: tuple[Complaint, ...] = ()

    def fate_of(self, path: tuple[str, ...]) -> tuple[Fate, ...]:
        """Return what becomes of a parameter, or of a part of one."""
        found: list[Fate] = [loss.kind for loss in self.losses if loss.path == path]
        if any(complaint.path == path for complaint in self.refused):
            found.append("refused")
        return tuple(dict.fromkeys(found)) or ("kept",)


class Report(Value):
    """What a provider gets of the tools of one request.

    Attributes:
        provider: its name.
        strict: as it was given.
        tools: in their order.
        refused: what is wrong with the request as a whole: it is too large, or two tools have the same name.
        is_estimate: whether the numbers of tokens are estimates; with `tiktoken` installed, they aren't.
    """

    provider: str
    strict: Strict
    tools: tuple[ToolReport, ...]
    refused: tuple[Complaint, ...]
    is_estimate: bool

    @property
    def is_accepted(self) -> bool:
        """Whether `request` takes the tools."""
        return not self.refused and not any(tool.refused for tool in self.tools)

    @property
    def size(self) -> int:
        """Bytes of all tools that aren't refused."""
        return sum([tool.size or 0 for tool in self.tools])

    @property
    def tokens(self) -> int:
        """Tokens of all tools that aren't refused."""
        return sum([tool.tokens or 0 for tool in self.tools])

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "provider": self.provider,
            "strict": self.strict,
            "accepted": self.is_accepted,
            "size": self.size,
            "tokens": self.tokens,
            "tokens_are_estimated": self.is_estimate,
            "refused": [str(complaint) for complaint in self.refused],
            "tools": [_tool_as_dict(tool) for tool in self.tools],
        }

    def __str__(self) -> str:
        """Write a line for the request, one for each tool, and one for each thing that isn't kept."""
        about = "an estimate" if self.is_estimate else "by tiktoken"
        mode = _MODES[self.strict]
        lines = [f"{self.provider}{mode}: {self.size:,} bytes, {self.tokens:,} tokens ({about})"]
        lines += [f"  refused: {complaint}" for complaint in self.refused]
        for tool in self.tools:
            renamed = "" if tool.wire_name == tool.name else f", renamed to {tool.wire_name}"
            size = "refused" if tool.size is None else f"{tool.size:,} bytes, {tool.tokens:,} tokens"
            lines.append(f"  {tool.name}{renamed}: {size}")
            lines += [
                f"    {show_path(loss.path)}: {_WORDS[loss.kind]} ({loss.keyword})" for loss in tool.losses
            ]
            lines += [f"    refused: {complaint}" for complaint in tool.refused]
            lines += [f"    not strict: {complaint}" for complaint in tool.not_strict]
        return "\n".join(lines)


_MODES: dict[Strict, str] = {True: ", strict", False: "", "auto": ", strict where possible"}
_WORDS = {
    "described": "moved to the description",
    "null": "required, null means that it is left out",
    "weakened": "weakened",
    "renamed": "renamed",
}


def _tool_as_dict(tool: ToolReport) -> dict[str, Any]:
    return {
        "name": tool.name,
        "wire_name": tool.wire_name,
        "size": tool.size,
        "tokens": tool.tokens,
        "paths": [{"path": list(path), "fate": list(tool.fate_of(path))} for path in tool.paths],
        "losses": [
            {"path": list(loss.path), "kind": loss.kind, "keyword": loss.keyword} for loss in tool.losses
        ],
        "refused": _complaints_as_dicts(tool.refused),
        "strict": tool.strict,
        "not_strict": _complaints_as_dicts(tool.not_strict),
    }


def _complaints_as_dicts(complaints: tuple[Complaint, ...]) -> list[dict[str, Any]]:
    return [{"path": list(one.path), "message": one.message, "remedy": one.remedy} for one in complaints]
