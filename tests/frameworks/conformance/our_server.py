"""Our server with what the conformance tests of the protocol ask for: `our_server.py [PORT]`.

Without a port it serves standard input and output.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import sys
from secrets import token_bytes
from typing import Annotated, Any

from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from scenario_values import (
    AGREEMENT,
    CHOICES,
    COLOR,
    DEFAULTS,
    HEADER_SCHEMA,
    NAME,
    PNG,
    RICH_SCHEMA,
    USER,
    WAV,
)

from operator_schema import CallError, Registry, skip, tool
from operator_schema.adapters import mcp
from operator_schema.adapters.mcp.http import Address, serve_http
from operator_schema.content import Audio, Image, Resource
from operator_schema.tools import document_tool
from operator_schema.types import Progress

LOG = logging.getLogger("conformance")
LOG.setLevel(logging.INFO)
Context = Annotated[ServerRequestContext[Any, Any], skip]

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
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        LOG.info(line)
        await asyncio.sleep(0.05)
    return "logged"


@registry.register
@tool
def test_logging_tool() -> str:
    """Log once."""
    LOG.info("Tool execution started")
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
def test_trigger_tool_change() -> str:
    """Change the list of tools."""

    @tool
    def test_added() -> str:
        """Return nothing of interest."""
        return "added"

    if test_added.name in registry:
        registry.unregister(test_added.name)
    else:
        registry.register(test_added)
    return "changed"


# --- questions to the client, before 2026-07-28 ------------------------------------------------------


@registry.register
@tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Ask the client's model.

    Args:
        prompt: The question.
    """
    asked = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=prompt))
    answer = await ctx.session.create_message([asked], max_tokens=100)
    return f"LLM response: {getattr(answer.content, 'text', answer.content)}"


async def _asked(ctx: ServerRequestContext[Any, Any], message: str, schema: dict[str, Any]) -> str:
    answer = await ctx.session.elicit_form(message, schema, ctx.request_id)
    return f"User response: action={answer.action}, content={answer.content}"


@registry.register
@tool
async def test_elicitation(message: str, ctx: Context) -> str:
    """Ask the user.

    Args:
        message: The question.
    """
    return await _asked(ctx, message, USER)


@registry.register
@tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Ask the user with a form that has defaults."""
    return await _asked(ctx, "Who are you?", DEFAULTS)


@registry.register
@tool
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Ask the user with a form of choices."""
    return await _asked(ctx, "Which ones?", CHOICES)


# --- questions to the client, from 2026-07-28 on -----------------------------------------------------


def _form(message: str, schema: dict[str, Any]) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
    return types.ElicitRequest(params=params)


def _prompt(text: str) -> types.CreateMessageRequest:
    asked = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[asked], max_tokens=100)
    )


def _answers(ctx: ServerRequestContext[Any, Any]) -> dict[str, Any]:
    return dict((ctx.params or {}).get("inputResponses") or {})


def _once(
    ctx: ServerRequestContext[Any, Any], state: str | None = None, **requests: Any
) -> types.InputRequiredResult | str:
    """Ask for what isn't answered yet, or return the answers."""
    found = _answers(ctx)
    if all(isinstance(found.get(name), dict) for name in requests):
        return f"answers: {sorted(found.items())}"
    return types.InputRequiredResult(input_requests=requests, request_state=state)


@registry.register
@tool
def test_input_required_result_elicitation(ctx: Context) -> Any:
    """Ask the user for a name."""
    return _once(ctx, user_name=_form("What is your name?", NAME))


test_streaming_elicitation = registry.register(
    test_input_required_result_elicitation.with_(name="test_streaming_elicitation")
)


@registry.register
@tool
def test_input_required_result_sampling(ctx: Context) -> Any:
    """Ask the client's model."""
    return _once(ctx, capital_question=_prompt("What is the capital of France?"))


@registry.register
@tool
def test_input_required_result_list_roots(ctx: Context) -> Any:
    """Ask for the client's folders."""
    return _once(ctx, client_roots=types.ListRootsRequest())


@registry.register
@tool
def test_input_required_result_multiple_inputs(ctx: Context) -> Any:
    """Ask three questions at once."""
    return _once(
        ctx,
        _sealed("three"),
        user_name=_form("What is your name?", NAME),
        greeting=_prompt("Generate a greeting"),
        client_roots=types.ListRootsRequest(),
    )


_SECRET = token_bytes(32)


def _sealed(state: str) -> str:
    return f"{state}.{hmac.digest(_SECRET, state.encode(), 'sha256').hex()}"


def _state(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """Return the state that comes back with the answers.

    Raises:
        MCPError: it isn't one that was given.
    """
    given = (ctx.params or {}).get("requestState")
    if given is None:
        return None
    state = str(given).partition(".")[0]
    if not hmac.compare_digest(str(given).encode(), _sealed(state).encode()):
        raise MCPError(types.INVALID_PARAMS, "requestState isn't one that this server gave")
    return state


@registry.register
@tool
def test_input_required_result_request_state(ctx: Context) -> Any:
    """Ask the user, and check the state that comes back."""
    if _state(ctx) is None:
        asked = {"confirm": _form("Please confirm", AGREEMENT)}
        return types.InputRequiredResult(input_requests=asked, request_state=_sealed("asked"))
    return f"state-ok: {_answers(ctx)}"


test_input_required_result_tampered_state = registry.register(
    test_input_required_result_request_state.with_(name="test_input_required_result_tampered_state")
)


@registry.register
@tool
def test_input_required_result_multi_round(ctx: Context) -> Any:
    """Ask the user twice."""
    match _state(ctx):
        case None:
            asked = {"step1": _form("Step 1: What is your name?", NAME)}
            return types.InputRequiredResult(input_requests=asked, request_state=_sealed("one"))
        case "one":
            asked = {"step2": _form("Step 2: What is your favorite color?", COLOR)}
            return types.InputRequiredResult(input_requests=asked, request_state=_sealed("two"))
        case _:
            return f"answers: {_answers(ctx)}"


@registry.register
@tool
def test_input_required_result_capabilities(ctx: Context) -> Any:
    """Ask only what the client can answer."""
    can = ctx.session.client_capabilities
    requests: dict[str, Any] = {}
    if can is not None and can.sampling is not None:
        requests["greeting"] = _prompt("Generate a greeting")
    if can is not None and can.elicitation is not None:
        requests["user_name"] = _form("What is your name?", NAME)
    return _once(ctx, **requests)


@registry.register
@tool
def test_missing_capability(ctx: Context) -> str:
    """Need a client with a model."""
    can = ctx.session.client_capabilities
    if can is None or can.sampling is None:
        needed = {"requiredCapabilities": {"sampling": {}}}
        code = types.MISSING_REQUIRED_CLIENT_CAPABILITY
        raise MCPError(code, "this tool needs sampling", data=needed)
    return "the client has a model"


# --- schemas of their own ----------------------------------------------------------------------------


def _received(arguments: dict[str, Any]) -> str:
    return f"received {arguments}"


registry.register(
    document_tool(
        _received,
        RICH_SCHEMA,
        name="json_schema_2020_12_tool",
        description="Tool with JSON Schema 2020-12 features",
    )
)
registry.register(
    document_tool(
        _received, HEADER_SCHEMA, name="test_region", description="Take an argument that is also a header."
    )
)


# --- resources and prompts ---------------------------------------------------------------------------


def from_template(id: str) -> dict[str, Any]:  # noqa: A002  # the scenario names it
    """Return a text for each id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


RESOURCES = {
    "test://static-text": "This is the content of the static text resource.",
    "test://static-binary": Image.from_bytes(PNG),
    "test://watched-resource": "watched",
    "test://template/{id}/data": from_template,
}


def test_simple_prompt() -> str:
    """Say something."""
    return "This is a simple prompt for testing."


def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Say what is given."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:  # noqa: N803  # the scenario names it
    """Say something of a resource."""
    held = Resource(resourceUri, text="Embedded resource content for testing.", media_type="text/plain")
    return [held, "Please process the embedded resource above."]


def test_prompt_with_image() -> list[Any]:
    """Say something of an image."""
    return [Image.from_bytes(PNG), "Please analyze the image above."]


def test_input_required_result_prompt(ctx: Context) -> Any:
    """Ask the user what to say."""
    schema = {"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]}
    return _once(ctx, user_context=_form("What context should the prompt use?", schema))


PROMPTS = [
    test_simple_prompt,
    test_prompt_with_arguments,
    test_prompt_with_embedded_resource,
    test_prompt_with_image,
    test_input_required_result_prompt,
]
OFFERED: dict[str, Any] = {"resources": RESOURCES, "prompts": PROMPTS, "logger": "conformance"}


if __name__ == "__main__":
    if sys.argv[1:]:
        app = mcp.server(registry, **OFFERED)
        sys.exit(asyncio.run(serve_http(app, Address("127.0.0.1", int(sys.argv[1])), print)))
    sys.exit(mcp.serve(registry, **OFFERED))
