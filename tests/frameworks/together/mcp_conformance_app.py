"""The tools that the conformance tests of the protocol ask for."""

import asyncio
import logging
from typing import Annotated, Any

from mcp.server.context import ServerRequestContext

from operator_schema import CallError, Registry, skip, tool
from operator_schema.content import Audio, Image, Resource
from operator_schema.types import Progress

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(20)
LOG = logging.getLogger("conformance")
LOG.setLevel(logging.INFO)

registry = Registry()


@registry.register
@tool
def test_simple_text() -> str:
    """Return text."""
    return "This is a simple text response for testing."


@registry.register
@tool
def test_image_content() -> Image:
    """Return an image."""
    return Image.from_bytes(PNG)


@registry.register
@tool
def test_audio_content() -> Audio:
    """Return a recording."""
    return Audio.from_bytes(WAV)


@registry.register
@tool
def test_embedded_resource() -> Resource:
    """Return a resource."""
    return Resource("test://embedded-resource", text="This is an embedded resource content.")


@registry.register
@tool
def test_multiple_content_types() -> Any:
    """Return several parts."""
    return [
        "Multiple content types test:",
        Image.from_bytes(PNG),
        Resource(
            "test://mixed-content-resource",
            text='{"test":"data","value":123}',
            media_type="application/json",
        ),
    ]


@registry.register
@tool
async def test_tool_with_logging() -> str:
    """Log."""
    LOG.info("Tool execution started")
    await asyncio.sleep(0.05)
    LOG.info("Tool processing data")
    await asyncio.sleep(0.05)
    LOG.info("Tool execution completed")
    return "logged"


@registry.register
@tool
def test_error_handling() -> str:
    """Fail."""
    raise CallError("This tool intentionally returns an error for testing")


@registry.register
@tool
async def test_tool_with_progress(progress: Annotated[Progress, skip]) -> str:
    """Report progress."""
    for done in (0, 50, 100):
        progress(done, 100)
        await asyncio.sleep(0.05)
    return "done"


@registry.register
@tool
async def test_elicitation(message: str, ctx: Annotated[ServerRequestContext[Any, Any], skip]) -> str:
    """Ask the user.

    Args:
        message: The question.
    """
    fields = {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    }
    form = {"type": "object", "properties": fields, "required": ["username", "email"]}
    answer = await ctx.session.elicit_form(message, form, ctx.request_id)
    return f"User response: {answer.action}, {answer.content}"
