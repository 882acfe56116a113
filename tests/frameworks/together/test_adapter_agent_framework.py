"""agent-framework: our tools in its agent, with a model on this machine."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

from agent_framework import Agent, AgentSession, Content, FunctionInvocationContext, Message
from agent_framework.openai import OpenAIChatCompletionClient
from chat_turns import DONE, answers, asked
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver, nothing
from local_server import serving
from patience import cancelled_once
from turn_table import run_section
from turns import CALLS, OURS, PNG, TOOLS, Call, Db, check_schemas

from operator_schema import Registry, skip, tool
from operator_schema.adapters import agent_framework as adapter
from operator_schema.adapters.agent_framework import to_tool, to_tools
from operator_schema.content import Image

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": 'the arguments become {"raw": …}, of which our text says what is missing',
    "unknown": 'its own text: Error: Requested function "ad" not found',
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": "text over chat completions, which take no images from tools; its content elsewhere",
    "approval": "asks, by approval_mode",
}
SCHEMA = OURS


def agent_of(address, tools):
    client = OpenAIChatCompletionClient(model="gpt-4o", api_key="x", base_url=address)
    return Agent(client=client, tools=tools)


def talk(tools, calls, **options):
    """Return what the model reads of its calls, and its first request."""
    with serving(asked(calls), DONE) as (address, requests):
        end = asyncio.run(agent_of(address, tools).run("go", **options))
        assert end.text == "done"
    return answers(requests[1]), requests[0]


def ask(tools, agrees, meanwhile=nothing):
    async def main(address):
        agent = agent_of(address, to_tools(tools))
        session = agent.create_session()
        (request,) = (await agent.run("go", session=session)).user_input_requests
        meanwhile()
        said = Message(role="user", contents=[request.to_function_approval_response(approved=agrees)])
        assert (await agent.run(said, session=session)).text == "done"

    with serving(asked(CALLS["approval"]), DONE) as (address, requests):
        asyncio.run(main(address))
    return answers(requests[1])


def pause(called, call, folder):
    async def main(address):
        agent = agent_of(address, to_tools([called]))
        session = agent.create_session()
        (request,) = (await agent.run("go", session=session)).user_input_requests
        saved = [session.to_dict(), request.to_dict()]
        (folder / "session").write_text(json.dumps(saved, default=lambda one: one.to_dict()))
        return request.function_call.arguments

    with serving(asked([call]), DONE) as (address, _):
        return asyncio.run(main(address)), ""


def resume(called, _call, folder):
    async def main(address):
        session, request = json.loads((folder / "session").read_text())
        response = Content.from_dict(request).to_function_approval_response(approved=True)
        said = Message(role="user", contents=[response])
        agent = agent_of(address, to_tools([called]))
        await agent.run(said, session=AgentSession.from_dict(session))

    with serving(DONE) as (address, requests):
        asyncio.run(main(address))
    return answers(requests[0])[0].text


DRIVER = Driver(
    adapter,
    TURNS,
    lambda tools, calls, _is_async, **options: talk(to_tools(tools, **options), calls)[0],
    host=FunctionInvocationContext,
    native=lambda: Content.from_text("all"),
    ask=ask,
    pause=pause,
    resume=resume,
)


def test_what_is_no_call_is_told_otherwise():
    ((malformed,), _), ((unknown,), _) = (
        talk(to_tools(TOOLS), CALLS["malformed"]),
        talk(to_tools(TOOLS), CALLS["unknown"]),
    )
    assert "add: " in malformed.text
    assert "raw" in malformed.text
    assert 'Requested function "ad" not found' in unknown.text


def test_cancelling_the_run_cancels_the_tool():
    begun, ended = [], []

    @tool
    async def hang() -> int:
        """Hang."""
        begun.append(True)
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)
        return 1

    async def main(address):
        await cancelled_once(begun, agent_of(address, [to_tool(hang)]).run("go"))

    with serving(asked([Call("hang", {})]), DONE) as (address, _):
        asyncio.run(main(address))
    assert ended == [True]


def test_the_schemas_on_the_wire_are_ours():
    _, request = talk(to_tools(TOOLS), CALLS["good"])
    offered = [one["function"] for one in request["tools"]]
    assert [(one["name"], one["description"], one["parameters"]) for one in offered] == [
        (one["name"], one["description"], one["input_schema"]) for one in Registry(TOOLS).definitions()
    ]
    check_schemas(SCHEMA, {one["name"]: one["parameters"] for one in offered})


def test_the_context_the_session_and_what_the_run_was_given_are_injected():
    @tool
    def who(ctx: FunctionInvocationContext, session: AgentSession, db: Annotated[Db, skip]) -> list[object]:
        """Say who asks."""
        return [ctx.session is session, db.rows]

    with serving(asked([Call("who", {})]), DONE) as (address, requests):
        agent = agent_of(address, [to_tool(who)])
        given = {"db": Db()}
        asyncio.run(agent.run("go", session=agent.create_session(), function_invocation_kwargs=given))
    assert answers(requests[1])[0].text == "[true,7]"


def test_a_parameter_of_any_name_arrives():
    @tool
    def echo(self: str, ctx: str, arguments: str, call_id: str) -> str:
        """Say it again."""
        return self + ctx + arguments + call_id

    given = {"self": "a", "ctx": "b", "arguments": "c", "call_id": "d"}
    ((answer,), _) = talk([to_tool(echo)], [Call("echo", given)])
    assert answer.text == "abcd"


def test_options_of_theirs_go_before_ours():
    @tool(confirm=True)
    def delete() -> int:
        """Delete."""
        return 1

    assert to_tool(delete).approval_mode == "always_require"
    assert to_tool(delete, approval_mode="never_require").approval_mode == "never_require"
    assert to_tool(delete, max_invocations=1).max_invocations == 1


def test_a_tool_may_declare_their_content():
    @tool
    def give() -> Content:
        """Give."""
        return Content.from_text("all")

    ((answer,), _) = talk([to_tool(give)], [Call("give", {})])
    assert answer.text == "all"


def test_images_are_content():
    @tool
    def look() -> Image:
        """Look."""
        return Image.from_bytes(PNG)

    text, block = asyncio.run(to_tool(look).invoke(arguments={}))
    assert (text.type, text.text) == ("text", "[image image/png, 28 bytes]")
    assert (block.type, block.media_type) == ("data", "image/png")


def test_the_example_of_the_page_works():
    assert [one.name for one in run_section("agent-framework")["tools"]] == ["search"]
