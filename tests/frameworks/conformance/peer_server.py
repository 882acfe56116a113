"""The same tools, with resources and prompts, by the SDK or FastMCP: `peer_server.py LIBRARY PORT`."""

import asyncio
import json
import sys
from typing import Annotated, Any

import mcp_types as types
from pydantic import Field
from scenario_values import AGREEMENT, CHOICES, COLOR, DEFAULTS, NAME, PNG, PNG_TEXT, USER, WAV_TEXT

LIBRARY = sys.argv[1] if __name__ == "__main__" else "sdk"
if LIBRARY == "sdk":
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.shared.exceptions import MCPError

    server: Any = MCPServer("conformance")
else:
    from fastmcp import Context, FastMCP
    from mcp.shared.exceptions import MCPError

    server = FastMCP("conformance")


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _resource(uri: str, text: str, media_type: str) -> types.EmbeddedResource:
    held = types.TextResourceContents(uri=uri, text=text, mime_type=media_type)
    return types.EmbeddedResource(type="resource", resource=held)


@server.tool()
def test_simple_text() -> str:
    """Return text."""
    return "This is a simple text response for testing."


@server.tool()
def test_image_content() -> types.ImageContent:
    """Return an image."""
    return types.ImageContent(type="image", data=PNG_TEXT, mime_type="image/png")


@server.tool()
def test_audio_content() -> types.AudioContent:
    """Return a recording."""
    return types.AudioContent(type="audio", data=WAV_TEXT, mime_type="audio/wav")


@server.tool()
def test_embedded_resource() -> types.EmbeddedResource:
    """Return a resource."""
    return _resource("test://embedded-resource", "This is an embedded resource content.", "text/plain")


@server.tool()
def test_multiple_content_types() -> list[types.ContentBlock]:
    """Return several parts."""
    held = _resource("test://mixed-content-resource", '{"test":"data","value":123}', "application/json")
    image = types.ImageContent(type="image", data=PNG_TEXT, mime_type="image/png")
    return [_text("Multiple content types test:"), image, held]


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    """Log."""
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(line)
        await asyncio.sleep(0.05)
    return "logged"


@server.tool()
async def test_logging_tool(ctx: Context) -> str:
    """Log once."""
    await ctx.info("Tool execution started")
    return "logged"


@server.tool()
def test_error_handling() -> str:
    """Fail."""
    raise ValueError("This tool intentionally returns an error for testing")


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    """Report progress."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100)
        await asyncio.sleep(0.05)
    return "done"


@server.tool()
async def test_trigger_tool_change(ctx: Context) -> str:
    """Change the list of tools."""

    def test_added() -> str:
        """Return nothing of interest."""
        return "added"

    server.tool()(test_added)
    if LIBRARY == "sdk":
        await ctx.notify_tools_changed()
    return "changed"


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Ask the client's model."""
    asked = types.SamplingMessage(role="user", content=_text(prompt))
    answer = await ctx.session.create_message([asked], max_tokens=100)
    return f"LLM response: {getattr(answer.content, 'text', answer.content)}"


async def _asked(ctx: Any, message: str, schema: dict[str, Any]) -> str:
    answer = await ctx.session.elicit_form(message, schema, ctx.request_context.request_id)
    return f"User response: action={answer.action}, content={answer.content}"


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    """Ask the user."""
    return await _asked(ctx, message, USER)


@server.tool()
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Ask the user with a form that has defaults."""
    return await _asked(ctx, "Who are you?", DEFAULTS)


@server.tool()
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Ask the user with a form of choices."""
    return await _asked(ctx, "Which ones?", CHOICES)


# --- questions from 2026-07-28 on --------------------------------------------------------------------


def _form(message: str, schema: dict[str, Any]) -> types.ElicitRequest:
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def _prompt(text: str) -> types.CreateMessageRequest:
    asked = types.SamplingMessage(role="user", content=_text(text))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[asked], max_tokens=100)
    )


def _once(ctx: Any, state: str | None = None, **requests: Any) -> Any:
    found = ctx.input_responses or {}
    if all(name in found for name in requests):
        return f"answers: {found}"
    return types.InputRequiredResult(input_requests=requests, request_state=state)


Answer = str | types.InputRequiredResult


@server.tool()
def test_input_required_result_elicitation(ctx: Context) -> Answer:
    """Ask the user for a name."""
    return _once(ctx, user_name=_form("What is your name?", NAME))


@server.tool()
def test_streaming_elicitation(ctx: Context) -> Answer:
    """Ask the user for a name."""
    return _once(ctx, user_name=_form("What is your name?", NAME))


@server.tool()
def test_input_required_result_sampling(ctx: Context) -> Answer:
    """Ask the client's model."""
    return _once(ctx, capital_question=_prompt("What is the capital of France?"))


@server.tool()
def test_input_required_result_list_roots(ctx: Context) -> Answer:
    """Ask for the client's folders."""
    return _once(ctx, client_roots=types.ListRootsRequest())


@server.tool()
def test_input_required_result_multiple_inputs(ctx: Context) -> Answer:
    """Ask three questions at once."""
    return _once(
        ctx,
        "three",
        user_name=_form("What is your name?", NAME),
        greeting=_prompt("Generate a greeting"),
        client_roots=types.ListRootsRequest(),
    )


def _stated(ctx: Any) -> Any:
    if ctx.request_state is None:
        asked = {"confirm": _form("Please confirm", AGREEMENT)}
        return types.InputRequiredResult(input_requests=asked, request_state="asked")
    return f"state-ok: {ctx.input_responses}"


@server.tool()
def test_input_required_result_request_state(ctx: Context) -> Answer:
    """Ask the user, and get the state back."""
    return _stated(ctx)


@server.tool()
def test_input_required_result_tampered_state(ctx: Context) -> Answer:
    """Ask the user, and get the state back."""
    return _stated(ctx)


@server.tool()
def test_input_required_result_multi_round(ctx: Context) -> Answer:
    """Ask the user twice."""
    match ctx.request_state:
        case None:
            asked = {"step1": _form("Step 1: What is your name?", NAME)}
            return types.InputRequiredResult(input_requests=asked, request_state="one")
        case "one":
            asked = {"step2": _form("Step 2: What is your favorite color?", COLOR)}
            return types.InputRequiredResult(input_requests=asked, request_state="two")
        case _:
            return f"answers: {ctx.input_responses}"


@server.tool()
def test_input_required_result_capabilities(ctx: Context) -> Answer:
    """Ask only what the client can answer."""
    can = ctx.session.client_capabilities
    requests: dict[str, Any] = {}
    if can is not None and can.sampling is not None:
        requests["greeting"] = _prompt("Generate a greeting")
    if can is not None and can.elicitation is not None:
        requests["user_name"] = _form("What is your name?", NAME)
    return _once(ctx, **requests)


@server.tool()
def test_missing_capability(ctx: Context) -> str:
    """Need a client with a model."""
    can = ctx.session.client_capabilities
    if can is None or can.sampling is None:
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "this tool needs sampling", needed)
    return "the client has a model"


@server.tool()
def test_region(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
    """Take an argument that is also a header."""
    return f"received {region}"


# --- resources, prompts, completion ------------------------------------------------------------------


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """Return a text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """Return an image."""
    return PNG


@server.resource("test://template/{id}/data", mime_type="application/json")
def from_template(id: str) -> str:  # noqa: A002  # the scenario names it
    """Return a text for each id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    """Return a text."""
    return "watched"


def _said(*contents: Any) -> list[Any]:
    if LIBRARY == "sdk":
        from mcp.server.mcpserver.prompts.base import UserMessage

        return [UserMessage(content=content) for content in contents]
    from fastmcp.prompts import Message

    return [Message(content) for content in contents]


@server.prompt()
def test_simple_prompt() -> Any:
    """Say something."""
    return _said(_text("This is a simple prompt for testing."))


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> Any:
    """Say what is given."""
    return _said(_text(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"))


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> Any:  # noqa: N803  # the scenario names it
    """Say something of a resource."""
    held = _resource(resourceUri, "Embedded resource content for testing.", "text/plain")
    return _said(held, _text("Please process the embedded resource above."))


@server.prompt()
def test_prompt_with_image() -> Any:
    """Say something of an image."""
    image = types.ImageContent(type="image", data=PNG_TEXT, mime_type="image/png")
    return _said(image, _text("Please analyze the image above."))


@server.prompt()
def test_input_required_result_prompt(ctx: Context) -> Any:
    """Ask the user what to say."""
    if "user_context" not in (ctx.input_responses or {}):
        schema = {"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]}
        asked = {"user_context": _form("What context should the prompt use?", schema)}
        return types.InputRequiredResult(input_requests=asked)
    return _said(_text(f"context: {ctx.input_responses}"))


@server.completion()
async def complete(ref: Any, argument: Any, context: Any) -> types.Completion:
    """Complete nothing."""
    return types.Completion(values=[], total=0, has_more=False)


if __name__ == "__main__":
    port = int(sys.argv[2])
    if LIBRARY == "sdk":
        server.run("streamable-http", port=port)
    else:
        server.run("http", port=port, show_banner=False, host_origin_protection=True)
