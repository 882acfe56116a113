"""fastmcp: our tools in a server of it, asked by its own client."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import pytest
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver, nothing
from fastmcp import Client, Context, FastMCP
from fastmcp.client.elicitation import ElicitResult
from fastmcp.exceptions import ToolError
from fastmcp.utilities.types import Image as TheirImage
from mcp_types import InputRequiredResult, TextContent
from turn_table import run_section
from turns import CALLS, OURS, PNG, TOOLS, Answer, check_schemas, wipe

from operator_schema import Executor, Registry, RunNormally, skip, tool
from operator_schema.adapters import fastmcp as adapter
from operator_schema.adapters.fastmcp import RegistryProvider, to_tool, to_tools
from operator_schema.content import Image
from operator_schema.types import Progress

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "can't happen: the client reads the JSON",
    "unknown": "its own text: Unknown tool: 'ad'",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": OURS,
    "approval": "asks, by an elicitation; as ours where a client can't",
}
SCHEMA = OURS


def answer_of(result):
    texts = [part.text for part in result.content if part.type == "text"]
    return Answer("\n".join(texts), result.is_error, any(part.type == "image" for part in result.content))


def ask(app, calls):
    async def main():
        async with Client(app) as client:
            done = [client.call_tool(one.name, one.arguments, raise_on_error=False) for one in calls]
            return [answer_of(result) for result in await asyncio.gather(*done)]

    return asyncio.run(main())


def app_of(tools, **options):
    app = FastMCP("test")
    executor = options.get("executor")
    app.add_provider(RegistryProvider(tools if executor is None else executor.registry, **options))
    return app


def turn_of(tools, calls, _is_async, **options):
    return ask(app_of(tools, **options), calls)


def ask_a_person(tools, agrees, meanwhile=nothing):
    async def elicit(*_):
        meanwhile()
        return ElicitResult(action="accept" if agrees else "decline", content={} if agrees else None)

    async def main():
        async with Client(app_of(tools), elicitation_handler=elicit) as client:
            return answer_of(await client.call_tool("wipe", {"path": "a"}, raise_on_error=False))

    return [asyncio.run(main())]


async def offered(provider):
    return [one.name for one in await provider.list_tools()]


DRIVER = Driver(
    adapter,
    TURNS,
    turn_of,
    host=Context,
    live=RegistryProvider,
    live_names=offered,
    native=lambda: TextContent(type="text", text="all"),
    ask=ask_a_person,
)


def test_an_unknown_tool_is_told_in_its_words():
    (answer,) = ask(app_of(TOOLS), CALLS["unknown"])
    assert answer == ("Unknown tool: 'ad'", True, False)


def test_a_client_that_waits_no_longer_cancels_the_tool():
    ended = []

    @tool
    async def wait() -> int:
        """Wait."""
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(True)
            raise
        return 1

    async def main():
        async with Client(app_of([wait])) as client:
            with pytest.raises(Exception, match=r"(?i)time"):
                await client.call_tool("wait", {}, timeout=0.05)
            for _ in range(100):
                if ended:
                    break
                await asyncio.sleep(0.01)

    asyncio.run(main())
    assert ended == [True]


def test_the_schemas_on_the_wire_are_ours():
    async def main():
        async with Client(app_of(TOOLS)) as client:
            return await client.list_tools()

    offered = asyncio.run(main())
    assert [(one.name, one.description, one.input_schema) for one in offered] == [
        (one["name"], one["description"], one["input_schema"]) for one in Registry(TOOLS).definitions()
    ]
    check_schemas(SCHEMA, {one.name: one.input_schema for one in offered})


def call(made, arguments=None, **options):
    async def main():
        async with Client(app_of([made])) as client:
            return await client.call_tool(made.name, arguments or {}, **options)

    return asyncio.run(main())


@dataclass
class Meeting:
    start: datetime
    attendees: list[str]


@pytest.mark.parametrize(
    ("output", "value", "expected"),
    [
        (int, 5, 5),
        (list[int], [1, 2], [1, 2]),
        (int | None, None, None),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (Meeting | None, None, None),
    ],
)
def test_a_result_is_the_same_value_for_the_client(output, value, expected):
    @tool
    def give() -> output:
        """Give it."""
        return value

    assert call(give).data == expected


def test_a_result_is_typed_again_for_the_client():
    @tool
    def meet() -> Meeting:
        """Meet."""
        return Meeting(datetime(2026, 1, 2, tzinfo=UTC), ["Ada"])

    got = call(meet)
    assert got.structured_content == {"start": "2026-01-02T00:00:00+00:00", "attendees": ["Ada"]}
    assert got.data.start == datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(("structured", "data"), [("all", {"result": 1}), ("objects", None), ("none", None)])
def test_who_offers_a_tool_decides_what_comes_as_data(structured, data):
    @tool
    def one() -> int:
        """Give one."""
        return 1

    app = FastMCP("test")
    app.add_tool(to_tool(one, structured=structured))

    async def main():
        async with Client(app) as client:
            return await client.call_tool("one", {})

    assert asyncio.run(main()).structured_content == data


def test_a_result_that_is_wrong_is_an_error_with_its_text():
    @tool
    def one() -> int:
        """Give one."""
        return "no number"

    got = call(one, raise_on_error=False)
    assert got.is_error
    assert got.content[0].text == "no number"


def test_its_context_is_found_without_a_mark():
    @tool
    async def who(ctx: Context) -> str:
        """Say who asks."""
        return ctx.fastmcp.name

    assert call(who).content[0].text == "test"


def test_a_function_makes_the_context_of_a_call_from_theirs():
    @tool
    def who(name: Annotated[str, skip]) -> str:
        """Say who asks."""
        return name

    app = app_of([who], context=lambda ctx: {"name": f"in {ctx.fastmcp.name}"})

    async def main():
        async with Client(app) as client:
            return await client.call_tool("who", {})

    assert asyncio.run(main()).content[0].text == "in test"


def test_progress_reaches_the_client():
    @tool
    def work(progress: Annotated[Progress, skip]) -> int:
        """Work."""
        progress(1, 2, "half")
        return 1

    seen = []

    async def on_progress(done, total, message):
        seen.append((done, total, message))

    assert call(work, progress_handler=on_progress).data == 1
    assert seen == [(1, 2, "half")]


def test_their_content_arrives_untouched():
    @tool
    def look() -> Any:
        """Look."""
        return TheirImage(data=PNG, format="png")

    @tool
    def compare() -> Any:
        """Compare."""
        return ["Two:", TheirImage(data=PNG, format="png"), TheirImage(data=PNG, format="png")]

    (image,) = call(look).content
    assert (image.type, image.mime_type) == ("image", "image/png")
    assert [one.type for one in call(compare).content] == ["text", "image", "image"]


def test_a_question_to_the_client_is_their_result():
    @tool
    def ask_back() -> Any:
        """Ask back."""
        return InputRequiredResult(result_type="input_required", request_state="s")

    made = to_tool(ask_back)
    app = FastMCP("test")
    app.add_tool(made)

    async def main():
        return await app.call_tool("ask_back", {})

    assert asyncio.run(main()).input_required.request_state == "s"


def test_their_tool_error_passes_through():
    @tool
    def refuse() -> str:
        """Refuse."""
        raise ToolError("not you")

    got = call(refuse, raise_on_error=False)
    assert got.is_error
    assert got.content[0].text == "not you"


def test_what_a_tool_says_about_itself_reaches_the_client():
    @tool(title="Delete a row", destructive=True, meta={"team": "db"}, tags=["rows"])
    def delete() -> int:
        """Delete."""
        return 1

    async def main():
        async with Client(app_of([delete])) as client:
            return await client.list_tools()

    (offered,) = asyncio.run(main())
    assert offered.title == "Delete a row"
    assert offered.annotations.destructive_hint is True
    assert offered.annotations.read_only_hint is None
    assert offered.meta["team"] == "db"
    assert offered.meta["fastmcp"]["tags"] == ["rows"]


def test_a_switch_is_seen_at_once():
    @tool
    def find() -> int:
        """Find."""
        return 1

    registry = Registry([find])
    app = FastMCP("test")
    app.add_provider(RegistryProvider(registry))

    async def main():
        async with Client(app) as client:
            before = await client.list_tools()
            registry.switch("find", enabled=False)
            return len(before), await client.list_tools(), await app.list_tools()

    assert asyncio.run(main()) == (1, [], [])


def test_native_options_are_theirs_and_an_executor_may_be_shared():
    @tool
    def find() -> int:
        """Find."""
        return 1

    executor = Executor([find], timeout=1)
    (made,) = to_tools(executor.registry, executor=executor, tags={"mine"})
    assert made.tags == {"mine"}
    with pytest.raises(ValueError, match="no such tool add"):
        to_tool(TOOLS[0], executor=executor)
    with pytest.raises(ValueError, match="the executor has other tools"):
        to_tools(TOOLS, executor=executor)
    with pytest.raises(TypeError, match="made by @tool"):
        to_tool(print)
    with pytest.raises(TypeError, match="context must be a mapping"):
        to_tool(find, context=5)


def test_our_tool_under_their_decorator_is_refused():
    @tool
    def find() -> int:
        """Find."""
        return 1

    with pytest.raises(AttributeError, match=r"a Tool isn't a function, and __fastmcp__"):
        FastMCP("test").tool(find)


def test_our_image_arrives_as_content():
    @tool
    def look() -> Image:
        """Look."""
        return Image.from_bytes(PNG)

    (image,) = call(look).content
    assert image.mime_type == "image/png"


def test_the_example_of_the_page_works():
    app = run_section("fastmcp")["app"]

    async def main():
        async with Client(app) as client:
            (offered,) = await client.list_tools()
            return offered.annotations.read_only_hint, await client.call_tool("who", {"greeting": "Hello"})

    is_read_only, result = asyncio.run(main())
    assert is_read_only
    assert result.content[0].text == "Hello, demo"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("accept", "a is gone"),
        ("decline", "This call was rejected: a person declined it"),
        ("cancel", "This call was rejected: nobody agreed to it"),
        (None, "a person has to agree to it first"),
    ],
)
def test_a_person_is_asked_by_an_elicitation(answer, said, mode):
    ran, questions = [], []

    @tool(confirm=True)
    def delete(path: str) -> str:
        """Delete.

        Args:
            path: Which file.
        """
        ran.append(path)
        return f"{path} is gone"

    async def elicit(message, *_):
        questions.append(message)
        return ElicitResult(action=answer, content={} if answer == "accept" else None)

    async def main():
        handler = {} if answer is None else {"elicitation_handler": elicit}
        async with Client(app_of([delete]), mode=mode, **handler) as client:
            return answer_of(await client.call_tool("delete", {"path": "a"}, raise_on_error=False))

    found = asyncio.run(main())
    assert said in found.text
    assert found.is_error == (answer != "accept")
    assert ran == (["a"] if answer == "accept" else [])
    assert questions == ([] if answer is None else ['Run delete?\npath: "a"'])


def test_an_answer_about_other_arguments_gives_a_new_question(wiped):
    paths, questions = (
        ["b", "c", "c"],
        [],
    )  # what a hook makes of the arguments, each time that the call comes

    async def elicit(message, *_):
        questions.append(message)
        return ElicitResult(action="accept", content={})

    executor = Executor([wipe], hooks=lambda call: RunNormally(call.tool.decode({"path": paths.pop(0)})))

    async def main():
        async with Client(app_of(executor), mode="2026-07-28", elicitation_handler=elicit) as client:
            return await client.call_tool("wipe", {"path": "a"}, raise_on_error=False)

    assert not asyncio.run(main()).is_error
    assert questions == ['Run wipe?\npath: "b"', 'Run wipe?\npath: "c"']
    assert wiped == ["c"]
