"""Which tools have more to say than their summary, and what is said when arguments are bad."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..introspect.docstrings import split_summary
from ..introspect.nodes import ObjectNode
from ..json_values import is_object
from ..wording import listed, quote

if TYPE_CHECKING:
    from ..codec.codec import Codec
    from .metadata import Metadata

__all__ = ["has_more", "hint_of"]

_SHOWN_UNKNOWN = 5
_LISTED = 1000


def has_more(metadata: Metadata, codec: Codec[Any]) -> bool:
    """Return whether there is more documentation than the summaries of a tool and of its parameters."""
    if metadata.documentation.details is not None or metadata.examples:
        return True
    root = codec.graph.resolve_root()
    fields = root.fields if isinstance(root, ObjectNode) else ()
    return any(field.examples or split_summary(field.description or "")[1] for field in fields)


def hint_of(metadata: Metadata, codec: Codec[Any], arguments: object) -> str | None:
    """Return what else may help a model whose arguments were bad.

    Args:
        metadata: about the tool.
        codec: of its input.
        arguments: as they came; text that was refused as no JSON is not to be given.

    Returns:
        The keys that no parameter has, and where the documentation is to be had; None where there is
        nothing to say.
    """
    lines: list[str] = []
    root = codec.graph.resolve_root()
    value = _value_of(arguments) if isinstance(root, ObjectNode) and not root.closed else None
    if isinstance(root, ObjectNode) and is_object(value):
        keys = {field.key for field in root.fields}
        unknown = [key for key in value if isinstance(key, str) and key not in keys]
        if unknown:
            shown = listed([quote(key) for key in unknown[:_LISTED]], _SHOWN_UNKNOWN)
            lines.append(f"unknown, and ignored: {shown}")
    if metadata.described_by is not None and has_more(metadata, codec):
        lines.append(f'For more about it call {metadata.described_by} with {{"tools": ["{metadata.name}"]}}')
    return "\n".join(lines) or None


def _value_of(arguments: object) -> Any:
    """Return arguments as JSON values, as the decoder saw them; None for text that can't be read."""
    if not isinstance(arguments, (str, bytes, bytearray)):
        return arguments
    from ..codec.json_text.reader import read_json, read_nearly_json

    value, problems = read_json(arguments)
    return read_nearly_json(arguments, problems)[0] if problems.found else value
