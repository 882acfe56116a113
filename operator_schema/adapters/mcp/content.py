"""How do parts of a result become MCP content?"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import mcp_types as types

from ...tools.content import Audio, File, Image, Text

if TYPE_CHECKING:
    from ...tools.content import Part, Resource

__all__ = ["content_of"]


def content_of(part: Part) -> types.ContentBlock:
    """Return a part as content of the protocol.

    A file is a resource with its data. Its address is its name, because the protocol asks for one.
    """
    match part:
        case Text():
            return types.TextContent(type="text", text=part.text)
        case Image():
            return types.ImageContent(type="image", data=part.base64, mime_type=part.media_type)
        case Audio():
            return types.AudioContent(type="audio", data=part.base64, mime_type=part.media_type)
        case File():
            uri = f"file:///{quote(part.name or 'file', safe='')}"
            return _embedded(types.BlobResourceContents(uri=uri, mime_type=part.media_type, blob=part.base64))
        case _:
            return _resource(part)


def _resource(part: Resource) -> types.ContentBlock:
    uri, kind = part.uri, part.media_type
    if part.text is not None:
        return _embedded(types.TextResourceContents(uri=uri, mime_type=kind, text=part.text))
    if part.base64 is not None:
        return _embedded(types.BlobResourceContents(uri=uri, mime_type=kind, blob=part.base64))
    return types.ResourceLink(type="resource_link", name=uri, uri=uri, mime_type=kind)


def _embedded(
    contents: types.TextResourceContents | types.BlobResourceContents,
) -> types.EmbeddedResource:
    return types.EmbeddedResource(type="resource", resource=contents)
