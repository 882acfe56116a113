"""langchain-core and langgraph: our tools as theirs, in a graph whose model says what the test wants."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import pytest
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime, tools_condition
from langgraph.types import Command, interrupt

from operator_schema import skip, tool
from operator_schema.adapters.langchain_core import to_tools
from operator_schema.content import Image

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def theirs(*tools):
    return to_tools(tools)


def graph_of(tools, *calls, context_schema=None):
    """Return a graph whose model makes these calls, one a turn, and then says "done"."""
    turns = [
        AIMessage("", tool_calls=[ToolCall(name=n, args=a, id=f"call_{i}")]) for i, (n, a) in enumerate(calls)
    ]
    model = FakeMessagesListChatModel(responses=[*turns, AIMessage("done")])
    builder = StateGraph(MessagesState, context_schema=context_schema)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("tools", ToolNode(theirs(*tools)))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=InMemorySaver())


threads = itertools.count()


def config():
    return {"configurable": {"thread_id": str(next(threads))}}


GO = {"messages": [("user", "go")]}


def tool_messages(state):
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


class Point(NamedTuple):
    x: int
    y: int


@tool
def point(x: int, y: int = 0) -> Point:
    """Make a point.

    Args:
        x: To the right.
        y: Up.
    """
    return Point(x, y)


@pytest.mark.parametrize("is_async", [False, True])
def test_the_model_gets_text_and_the_program_the_value_as_json(is_async):
    graph = graph_of([point], ("point", {"x": 1}))
    state = asyncio.run(graph.ainvoke(GO, config())) if is_async else graph.invoke(GO, config())
    (message,) = tool_messages(state)
    assert message.content == '{"x":1,"y":0}'
    assert message.artifact == {"x": 1, "y": 0}  # as checkpoints can keep it
    assert state["messages"][-1].content == "done"


def test_errors_are_told_in_our_words_and_marked():
    state = graph_of([point], ("point", {"x": "a", "y": "b"})).invoke(GO, config())
    (message,) = tool_messages(state)
    assert message.status == "error"
    assert message.content.startswith("point: 2 problems with the arguments")


def test_a_tool_in_a_running_event_loop_is_invoked_without_await():
    # What a cell of a notebook does.
    async def main():
        return theirs(point)[0].invoke(ToolCall(name="point", args={"x": 3}, id="1", type="tool_call"))

    assert asyncio.run(main()).artifact == {"x": 3, "y": 0}


def approving(is_async):
    done = []

    def pay(amount: int) -> str:
        """Pay.

        Args:
            amount: How much.
        """
        answer = interrupt({"question": f"pay {amount}?"})
        done.append(answer)
        return f"paid: {answer}"

    async def pay_async(amount: int) -> str:
        """Pay.

        Args:
            amount: How much.
        """
        return pay(amount)

    return tool(pay_async if is_async else pay, name="pay"), done


@pytest.mark.parametrize("how", ["sync", "async", "sync in a running event loop"])
@pytest.mark.parametrize("is_async", [False, True])
def test_an_interrupt_asks_a_human_and_the_answer_comes_back(is_async, how):
    pay, done = approving(is_async)
    graph, thread = graph_of([pay], ("pay", {"amount": 5})), config()

    def turn(given):
        async def beside():
            return graph.invoke(given, thread)

        if how == "sync":
            return graph.invoke(given, thread)
        return asyncio.run(graph.ainvoke(given, thread) if how == "async" else beside())

    (asked,) = turn(GO)["__interrupt__"]
    assert asked.value == {"question": "pay 5?"}
    assert done == []
    state = turn(Command(resume="yes"))
    assert done == ["yes"]
    assert tool_messages(state)[0].content == "paid: yes"


def test_state_and_the_context_of_the_run_reach_the_tool():
    @dataclass
    class Host:
        user: str

    @tool
    async def who(runtime: Annotated[ToolRuntime[Host, Any], skip], host: Annotated[Host, skip]) -> list[str]:
        """Say who asks."""
        return [host.user, runtime.context.user, runtime.state["messages"][0].content]

    graph = graph_of([who], ("who", {}), context_schema=Host)
    state = asyncio.run(graph.ainvoke(GO, config(), context=Host("Ada")))
    assert tool_messages(state)[0].artifact == ["Ada", "Ada", "go"]


def test_a_command_steers_the_graph():
    @tool
    def leave(runtime: Annotated[ToolRuntime, skip]) -> Any:
        """Leave."""
        told = ToolMessage("gone", tool_call_id=runtime.tool_call_id)
        return Command(update={"messages": [told]}, goto=END)

    state = graph_of([leave], ("leave", {})).invoke(GO, config())
    assert [message.content for message in tool_messages(state)] == ["gone"]


@pytest.mark.parametrize("is_async", [False, True])
def test_what_the_framework_keeps_in_context_variables_is_there(is_async):
    def tell(word: str) -> str:
        """Tell.

        Args:
            word: What.
        """
        get_stream_writer()({"told": word})
        return get_config()["configurable"]["thread_id"]

    async def tell_async(word: str) -> str:
        """Tell.

        Args:
            word: What.
        """
        return tell(word)

    async def main():
        graph, thread = graph_of([made], ("tell", {"word": "a"})), config()
        events = [one async for one in graph.astream(GO, thread, stream_mode=["custom", "values"])]
        return thread["configurable"]["thread_id"], events

    made = tool(tell_async if is_async else tell, name="tell")
    thread_id, events = asyncio.run(main())
    assert [data for mode, data in events if mode == "custom"] == [{"told": "a"}]
    assert tool_messages(events[-1][1])[0].content == thread_id


def test_parameters_may_have_the_names_that_the_framework_uses_itself():
    @tool
    def odd(config: str, runtime: int, run_manager: bool, callbacks: list[str]) -> list[Any]:
        """Take odd names.

        Args:
            config: One.
            runtime: Two.
            run_manager: Three.
            callbacks: Four.
        """
        return [config, runtime, run_manager, callbacks]

    given = {"config": "a", "runtime": 1, "run_manager": True, "callbacks": ["b"]}
    (message,) = tool_messages(graph_of([odd], ("odd", given)).invoke(GO, config()))
    assert message.artifact == ["a", 1, True, ["b"]]


def test_an_image_arrives_as_a_content_block():
    @tool
    def look() -> Any:
        """Look."""
        return ["Here:", Image.from_bytes(PNG)]

    (message,) = tool_messages(graph_of([look], ("look", {})).invoke(GO, config()))
    text, image = message.content_blocks
    assert text["text"] == "Here:"
    assert image["mime_type"] == "image/png"


@dataclass
class Inner:
    value: int


def test_a_schema_without_definitions_reaches_the_model_whole():
    # The framework drops `$defs` on this way.
    @tool
    def use(first: Inner, second: list[Inner]) -> int:
        """Use them.

        Args:
            first: One.
            second: Others.
        """
        return first.value + sum(one.value for one in second)

    (made,) = theirs(use)
    shown = made.tool_call_schema
    assert shown["properties"] == use.input_schema(inline=True)["properties"]
    assert "$ref" not in str(shown)
