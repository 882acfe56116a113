"""google-adk: our tools in its agent, with a model that says what the test wants."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver, nothing
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from patience import cancelled_once
from turn_table import run_section
from turns import CALLS, OURS, PNG, TOOLS, Answer, Call, check_schemas

from operator_schema import Registry, tool
from operator_schema.adapters import google_adk as adapter
from operator_schema.adapters.google_adk import Toolset, to_tool, to_tools

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "can't happen: its models give objects",
    "unknown": "its own text, which lists the tools",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": OURS,
    "approval": "asks, by adk_request_confirmation",
}
SCHEMA = OURS


class Scripted(BaseLlm):
    """A model that makes calls, and then says "done"."""

    model: str = "scripted"
    calls: Any
    seen: Any

    async def generate_content_async(self, llm_request, stream=False):
        self.seen.append(llm_request)
        calls, self.calls = self.calls, []
        parts = [
            types.Part(function_call=types.FunctionCall(id=f"t{number}", name=name, args=arguments))
            for number, (name, arguments) in enumerate(calls)
        ] or [types.Part(text="done")]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def talk(tools, calls):
    """Return the responses that the model gets, all events, and its first request."""

    async def main():
        model = Scripted(calls=list(calls), seen=[])
        agent = LlmAgent(name="agent", model=model, tools=tools)
        runner = InMemoryRunner(agent=agent, app_name="app")
        session = await runner.session_service.create_session(app_name="app", user_id="u")
        go = types.Content(role="user", parts=[types.Part(text="go")])
        events = [one async for one in runner.run_async(user_id="u", session_id=session.id, new_message=go)]
        return events, model.seen[0]

    events, request = asyncio.run(main())
    return [one for event in events for one in event.get_function_responses()], events, request


def answer_of(response):
    told = response.response
    text = told.get("error") or told.get("result", told)
    return Answer(text if isinstance(text, str) else json.dumps(text), "error" in told, bool(response.parts))


def turn_of(tools, calls, _is_async, **options):
    got, events, _ = talk(to_tools(tools, **options), calls)
    assert events[-1].content.parts[0].text == "done"
    return [answer_of(one) for one in got]


def ask(tools, agrees, meanwhile=nothing):
    async def main():
        agent = LlmAgent(
            name="agent", model=Scripted(calls=[*CALLS["approval"]], seen=[]), tools=to_tools(tools)
        )
        runner = InMemoryRunner(agent=agent, app_name="app")
        session = await runner.session_service.create_session(app_name="app", user_id="u")

        async def say(part):
            said = types.Content(role="user", parts=[part])
            run = runner.run_async(user_id="u", session_id=session.id, new_message=said)
            return [one async for one in run]

        calls = [call for event in await say(types.Part(text="go")) for call in event.get_function_calls()]
        (waiting,) = [call for call in calls if call.name == "adk_request_confirmation"]
        meanwhile()
        response = types.FunctionResponse(id=waiting.id, name=waiting.name, response={"confirmed": agrees})
        events = await say(types.Part(function_response=response))
        return [one for event in events for one in event.get_function_responses()]

    return [answer_of(one) for one in asyncio.run(main())]


def in_file(called, calls, folder, part):
    """Say something to an agent whose session is in a file, and return the events."""

    async def main():
        service = SqliteSessionService(db_path=str(folder / "sessions.db"))
        agent = LlmAgent(name="agent", model=Scripted(calls=list(calls), seen=[]), tools=to_tools([called]))
        runner = Runner(agent=agent, app_name="app", session_service=service)
        where = {"app_name": "app", "user_id": "u", "session_id": "s"}
        if await service.get_session(**where) is None:
            await service.create_session(**where)
        said = types.Content(role="user", parts=[part])
        return [one async for one in runner.run_async(user_id="u", session_id="s", new_message=said)]

    return asyncio.run(main())


def pause(called, call, folder):
    events = in_file(called, [call], folder, types.Part(text="go"))
    waiting = [one for event in events for one in event.get_function_calls() if "adk" in one.name]
    if not waiting:
        (got,) = [one for event in events for one in event.get_function_responses()]
        return "", answer_of(got).text
    (folder / "id").write_text(waiting[0].id)
    args = waiting[0].args
    return json.dumps(args["originalFunctionCall"]["args"]) + args["toolConfirmation"]["hint"], ""


def resume(called, _call, folder):
    name, response = "adk_request_confirmation", {"confirmed": True}
    answer = types.FunctionResponse(id=(folder / "id").read_text(), name=name, response=response)
    events = in_file(called, [], folder, types.Part(function_response=answer))
    (got,) = [one for event in events for one in event.get_function_responses()]
    return answer_of(got).text


DRIVER = Driver(
    adapter,
    TURNS,
    turn_of,
    host=ToolContext,
    live=Toolset,
    live_names=lambda toolset: [one.name for one in asyncio.run(toolset.get_tools())],
    ask=ask,
    pause=pause,
    resume=resume,
)


def test_an_unknown_tool_is_told_in_its_words():
    (got,), _, _ = talk([Toolset(TOOLS)], CALLS["unknown"])
    assert "no tool with that name is available" in answer_of(got).text


def test_cancelling_the_run_cancels_the_tool():
    begun, ended = [], []

    @tool
    async def wait() -> int:
        """Wait."""
        begun.append(True)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(True)
            raise
        return 1

    async def main():
        agent = LlmAgent(
            name="agent", model=Scripted(calls=[Call("wait", {})], seen=[]), tools=[to_tool(wait)]
        )
        runner = InMemoryRunner(agent=agent, app_name="app")
        await cancelled_once(begun, runner.run_debug("go", quiet=True))

    asyncio.run(main())
    assert ended == [True]


def test_the_schemas_on_the_wire_are_ours():
    _, _, request = talk([Toolset(TOOLS)], CALLS["good"])
    (offered,) = request.config.tools
    shown = [(one.name, one.description, one.parameters_json_schema) for one in offered.function_declarations]
    assert shown == [
        (one["name"], one["description"], one["input_schema"]) for one in Registry(TOOLS).definitions()
    ]
    check_schemas(SCHEMA, {name: schema for name, _, schema in shown})


def test_its_context_is_found_and_an_object_is_the_response():
    @tool
    def note(word: str, ctx: ToolContext) -> dict[str, str]:
        """Note.

        Args:
            word: What.
        """
        ctx.state["word"] = word
        return {"word": word, "call": ctx.function_call_id}

    (got,), events, _ = talk([to_tool(note)], [Call("note", {"word": "a"})])
    assert got.response == {"word": "a", "call": "t0"}
    assert any(event.actions.state_delta == {"word": "a"} for event in events)


def test_their_parts_arrive_untouched():
    picture = types.Part.from_bytes(data=PNG, mime_type="image/png")

    @tool
    def look() -> Any:
        """Look."""
        return picture

    @tool
    def compare() -> Any:
        """Compare."""
        return ["Two:", picture, picture]

    (one,), _, _ = talk([to_tool(look)], [Call("look", {})])
    (two,), _, _ = talk([to_tool(compare)], [Call("compare", {})])
    assert [len(one.parts), len(two.parts)] == [1, 2]
    assert one.parts[0].inline_data.data == PNG


def test_a_person_confirms_a_call():
    @tool(confirm=True)
    def delete() -> int:
        """Delete."""
        raise AssertionError

    (got, *_), events, _ = talk([to_tool(delete)], [Call("delete", {})])
    assert "a person has to agree to it" in str(got.response)
    (asked,) = [found for event in events for found in event.actions.requested_tool_confirmations.values()]
    assert asked.hint == asked.payload["question"] == "Run delete?"


def test_a_toolset_follows_the_registry_the_filter_and_the_prefix():
    registry = Registry(TOOLS[:3])

    def names(**options):
        return [one.name for one in asyncio.run(Toolset(registry, **options).get_tools_with_prefix())]

    assert names() == ["add", "book", "refuse"]
    registry.switch("book", enabled=False)
    assert names(tool_filter=["add", "book"], tool_name_prefix="x") == ["x_add"]
    assert [one.name for one in to_tools(registry)] == ["add", "refuse"]


def test_a_prefix_doesnt_change_which_tool_is_called():
    (got,), _, _ = talk([Toolset(TOOLS, tool_name_prefix="x")], [Call("x_add", {"a": 1})])
    assert got.response == {"result": 1}


def test_the_example_of_the_page_works():
    names = run_section("google-adk")
    (got,), _, _ = talk([names["toolset"]], [Call("weather", {"city": "Rome"})])
    assert got.response == {"degrees": 20}
