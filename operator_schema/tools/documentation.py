"""What a model reads besides the summary of a tool: whether there is documentation, and hints in errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..introspect.docstrings import split_summary
from ..introspect.nodes import ObjectNode
from ..wording import listed, quote

if TYPE_CHECKING:
    from ..codec.codec import Codec
    from ..errors import DecodeError
    from .metadata import Metadata

__all__ = ["error_hint", "has_more", "unknown_keys"]

_SHOWN_UNKNOWN = 5
_LISTED = 1000


def has_more(metadata: Metadata, codec: Codec[Any]) -> bool:
    """Return whether there is more documentation than the summaries of a tool and of its parameters."""
    if metadata.documentation.details is not None or metadata.examples:
        return True
    root = codec.graph.resolve_root()
    fields = root.fields if isinstance(root, ObjectNode) else ()
    return any(field.examples or split_summary(field.description or "")[1] for field in fields)


def unknown_keys(error: DecodeError) -> list[str]:
    """Return the arguments that name no parameter and were ignored by the decoder that raised an error."""
    found: list[str] = []
    for path, node, value in error.ignored:
        if path is None:
            keys = {field.key for field in node.fields}
            found += [key for key in value if isinstance(key, str) and key not in keys]
    return found


def error_hint(metadata: Metadata, codec: Codec[Any], unknown: list[str]) -> str | None:
    """Return what else may help a model whose arguments were wrong.

    Args:
        metadata: of the tool.
        codec: of its input.
        unknown: the arguments that were ignored.

    Returns:
        The ignored arguments, and the call that gets the documentation; None if there is nothing to add.
    """
    lines: list[str] = []
    if unknown:
        shown = listed([quote(key) for key in unknown[:_LISTED]], _SHOWN_UNKNOWN)
        lines.append(f"unknown, and ignored: {shown}")
    if metadata.described_by is not None and has_more(metadata, codec):
        lines.append(f'For more about it call {metadata.described_by} with {{"tools": ["{metadata.name}"]}}')
    return "\n".join(lines) or None
