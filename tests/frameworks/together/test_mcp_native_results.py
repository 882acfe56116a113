"""Objects of frameworks that a tool returns are what they are for a client of MCP, too."""

from __future__ import annotations

import base64
from typing import Any

import anyio
import fastmcp.utilities.types as of_fastmcp
import pytest
from fastmcp.tools import ToolResult
from mcp import Client, types
from pydantic_ai import BinaryContent, ToolReturn

from operator_schema import tool
from operator_schema.adapters.mcp import server

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
DATA = base64.b64encode(PNG).decode()
PICTURE = types.ImageContent(type="image", data=DATA, mime_type="image/png")
BINARY = BinaryContent(PNG, media_type="image/png")
HERE = types.TextContent(type="text", text="here")


def asked(value, output=Any):
    def give() -> output:
        """Give it."""
        return value

    async def main():
        async with Client(server([tool(give)])) as client:
            return await client.call_tool("give", {})

    return anyio.run(main)


@pytest.mark.parametrize("output", [Any, None])
@pytest.mark.parametrize(
    ("value", "content"),
    [
        (of_fastmcp.Image(data=PNG, format="png"), [PICTURE]),
        (["here", of_fastmcp.Image(data=PNG, format="png")], [HERE, PICTURE]),
        (BinaryContent(PNG, media_type="image/png"), [PICTURE]),
        (
            ToolReturn("here", content=[BinaryContent(PNG, media_type="image/png")], metadata=5),
            [HERE, PICTURE],
        ),
        (ToolReturn({"a": 1}, content="here"), [types.TextContent(type="text", text='{"a":1}'), HERE]),
        (ToolReturn("here"), [HERE]),
    ],
)
def test_an_object_of_a_framework_becomes_content(value, content, output):
    result = asked(value, type(value) if output is None else output)
    assert result.content == content
    assert not result.is_error


def test_sounds_and_files():
    sound = asked(BinaryContent(b"RIFF", media_type="audio/wav")).content[0]
    assert (sound.type, sound.mime_type) == ("audio", "audio/wav")
    file = asked(BinaryContent(b"%PDF-1.7", media_type="application/pdf")).content[0]
    assert (file.type, file.resource.mime_type) == ("resource", "application/pdf")
    assert base64.b64decode(file.resource.blob) == b"%PDF-1.7"
    file = asked(of_fastmcp.File(data=b"a,b", format="csv", name="t")).content[0]
    assert (file.type, file.resource.text) == ("resource", "a,b")


@pytest.mark.parametrize("is_error", [True, False])
def test_a_result_of_fastmcp_keeps_its_mark_and_its_data(is_error):
    whole = ToolResult(content=[HERE, PICTURE], structured_content={"a": 1}, is_error=is_error)
    result = asked(whole, ToolResult)
    assert (result.content, result.structured_content) == ([HERE, PICTURE], {"a": 1})
    assert result.is_error == is_error
