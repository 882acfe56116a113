"""What the report of wrong arguments adds to the problems: ignored arguments, and where to read more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..wording import listed, quote

if TYPE_CHECKING:
    from ..errors import DecodeError
    from .tool_properties import ToolProperties

__all__ = ["error_hint", "unknown_keys"]

_SHOWN_UNKNOWN = 5
_LISTED = 1000


def unknown_keys(error: DecodeError) -> list[str]:
    """Return the arguments that name no parameter and were ignored by the decoder that raised an error."""
    found: list[str] = []
    for path, node, value in error.run.ignored if error.run else ():
        if path is None:
            keys = {field.key for field in node.fields}
            found += [key for key in value if isinstance(key, str) and key not in keys]
    return found


def error_hint(tool: ToolProperties, unknown: list[str]) -> str | None:
    """Return what else may help a model whose arguments were wrong.

    Args:
        tool: that was called.
        unknown: the arguments that were ignored.

    Returns:
        The ignored arguments, and the call that gets the documentation; None if there is nothing to add.
    """
    lines: list[str] = []
    if unknown:
        shown = listed([quote(key) for key in unknown[:_LISTED]], _SHOWN_UNKNOWN)
        lines.append(f"unknown, and ignored: {shown}")
    if tool.described_by is not None and tool.has_more:
        lines.append(f'For more about it call {tool.described_by} with {{"tools": ["{tool.name}"]}}')
    return "\n".join(lines) or None
