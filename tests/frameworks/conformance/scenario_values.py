"""What the scenarios of the conformance tests ask a server to send, whatever it is written with."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from typing import Any


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack("!I", len(data)) + kind + data + struct.pack("!I", zlib.crc32(kind + data))


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack("!IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
    + _chunk(b"IEND", b"")
)
WAV = (
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00"
    + struct.pack("<HHIIHH", 1, 1, 8000, 8000, 1, 8)
    + (b"data\x00\x00\x00\x00")
)
PNG_TEXT, WAV_TEXT = b64encode(PNG).decode(), b64encode(WAV).decode()


def form(*required: str, **fields: Any) -> dict[str, Any]:
    """Return the schema of a form."""
    return {"type": "object", "properties": fields, "required": [*required]}


def titled(**titles: str) -> list[dict[str, str]]:
    """Return choices with a title each."""
    return [{"const": value, "title": title} for value, title in titles.items()]


USER = form(
    "username",
    "email",
    username={"type": "string", "description": "User's response"},
    email={"type": "string", "description": "User's email address"},
)
DEFAULTS = form(
    name={"type": "string", "default": "John Doe"},
    age={"type": "integer", "default": 30},
    score={"type": "number", "default": 95.5},
    status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    verified={"type": "boolean", "default": True},
)
_OPTIONS = ["option1", "option2", "option3"]
_TITLES = titled(value1="First", value2="Second", value3="Third")
CHOICES = form(
    untitledSingle={"type": "string", "enum": _OPTIONS},
    titledSingle={"type": "string", "oneOf": _TITLES},
    legacyEnum={"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
    untitledMulti={"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
    titledMulti={"type": "array", "items": {"anyOf": _TITLES}},
)
NAME = form("name", name={"type": "string"})
COLOR = form("color", color={"type": "string"})
AGREEMENT = form("ok", ok={"type": "boolean"})

RICH_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADER_SCHEMA = form("region", region={"type": "string", "x-mcp-header": "Region"})
