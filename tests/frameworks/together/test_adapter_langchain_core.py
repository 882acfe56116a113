"""langchain-core and langgraph: our tools in a graph, whose model says what the test wants."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Iterable
from dataclasses import dataclass

import pytest
from contract import *  # noqa: F403  # what every adapter promises
from contract import Driver, nothing
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime, tools_condition
from langgraph.types import Command, Send
from patience import cancelled_once
from turn_table import run_section
from turns import CALLS, OURS, TOOLS, Answer, Call, add, check_schemas

from operator_schema import Registry, tool
from operator_schema.adapters import langchain_core as adapter
from operator_schema.adapters.langchain_core import Toolkit, to_tool, to_tools

TURNS = {
    "good": OURS,
    "problems": OURS,
    "malformed": "can't happen: the model's class keeps such a call back",
    "unknown": "its own text: Error: ad is not a valid tool",
    "call_error": OURS,
    "exception": OURS,
    "parallel": OURS,
    "context": OURS,
    "cancelled": OURS,
    "rich": OURS,
    "approval": "asks, by an interrupt of langgraph; as ours outside of a graph",
}
SCHEMA = "recursive types lose what is inside; all others are unchanged"


def graph_of(tools, calls, checkpointer=None):
    made = [ToolCall(name=one.name, args=one.arguments, id=f"t{place}") for place, one in enumerate(calls)]
    model = FakeMessagesListChatModel(responses=[AIMessage("", tool_calls=made), AIMessage("done")])
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("tools", ToolNode(tools))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    return builder.compile(checkpointer=checkpointer)


GO = {"messages": [("user", "go")]}


def talk(tools, calls, *, is_async=True):
    """Return what the model reads of its calls."""
    graph = graph_of(tools, calls)
    state = asyncio.run(graph.ainvoke(GO)) if is_async else graph.invoke(GO)
    assert state["messages"][-1].content == "done"
    told = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    return [
        Answer(message.text, message.status == "error", "image" in str(message.content))
        for message in sorted(told, key=lambda message: message.tool_call_id)
    ]


def ask_in_graph(tools, agrees, meanwhile=nothing):
    graph = graph_of(to_tools(tools), CALLS["approval"], InMemorySaver())
    assert graph.invoke(GO, THREAD)["__interrupt__"]
    meanwhile()
    end = graph.invoke(Command(resume=agrees), THREAD)
    return [Answer(end["messages"][-2].text)]


def plain(value):
    """Return nested defaults as dicts, which can be pickled."""
    return {key: plain(one) for key, one in value.items()} if isinstance(value, dict) else value


def pause(called, call, folder):
    saver = InMemorySaver()
    (asked,) = graph_of(to_tools([called]), [call], saver).invoke(GO, THREAD)["__interrupt__"]
    saved = {name: plain(getattr(saver, name)) for name in ("storage", "writes", "blobs")}
    (folder / "checkpoints").write_bytes(pickle.dumps(saved))
    return asked.value["question"], ""


def resume(called, call, folder):
    saver, saved = InMemorySaver(), pickle.loads((folder / "checkpoints").read_bytes())
    for thread, by_place in saved["storage"].items():
        for place, found in by_place.items():
            saver.storage[thread][place].update(found)
    saver.writes.update(saved["writes"])
    saver.blobs.update(saved["blobs"])
    end = graph_of(to_tools([called]), [call], saver).invoke(Command(resume=True), THREAD)
    return end["messages"][-2].text


THREAD = {"configurable": {"thread_id": "1"}}
DRIVER = Driver(
    adapter,
    TURNS,
    lambda tools, calls, is_async, **options: talk(to_tools(tools, **options), calls, is_async=is_async),
    (True, False),
    host=ToolRuntime,
    live=Toolkit,
    live_names=lambda kit: [one.name for one in kit.get_tools()],
    ask=ask_in_graph,
    pause=pause,
    resume=resume,
)


def test_an_unknown_tool_is_told_in_its_words():
    (answer,) = talk(to_tools(TOOLS), CALLS["unknown"])
    assert "ad is not a valid tool" in answer.text


def test_cancelling_the_graph_cancels_the_tool():
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

    from turns import Call

    async def main():
        await cancelled_once(begun, graph_of([to_tool(hang)], [Call("hang", {})]).ainvoke(GO))

    asyncio.run(main())
    assert ended == [True]


@dataclass
class Tree:
    children: list[Tree]


@tool
def plant(tree: Tree) -> int:
    """Plant.

    Args:
        tree: What.
    """
    return len(tree.children)


def test_a_model_that_is_bound_gets_our_schemas():
    from langchain_core.utils.function_calling import convert_to_openai_tool

    for made, theirs in zip(TOOLS, to_tools(TOOLS), strict=True):
        function = convert_to_openai_tool(theirs)["function"]
        assert function["parameters"] == made.input_schema()
        assert function["description"] == made.definition()["description"]
    made = [convert_to_openai_tool(one)["function"] for one in to_tools([*TOOLS, plant])]
    check_schemas(SCHEMA, {one["name"]: one["parameters"] for one in made}, plant)


def test_a_toolkit_follows_the_switches():
    registry = Registry(TOOLS[:2])
    toolkit = Toolkit(registry, tags=["ours"])
    assert [one.name for one in toolkit.get_tools()] == ["add", "book"]
    registry.switch("book", enabled=False)
    (only,) = toolkit.get_tools()
    assert (only.name, only.tags) == ("add", ["ours"])


def test_the_examples_of_the_page_run():
    assert run_section("langchain-core and langgraph")["node"].tools_by_name.keys() == {"search"}


def test_an_unknown_option_is_refused():
    for take in (lambda: to_tool(TOOLS[0], extra={}), lambda: to_tools(TOOLS, extra={})):
        with pytest.raises(TypeError, match=r'unknown option "extra": .*; did you mean extras\?'):
            take()


def delete_tool(ran):
    @tool(confirm=True)
    def delete(path: str) -> str:
        """Delete.

        Args:
            path: Which file.
        """
        ran.append(path)
        return f"{path} is gone"

    return delete


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (True, "a is gone"),
        ("yes", "a is gone"),
        ({"type": "approve"}, "a is gone"),
        (False, "This call was rejected: a person declined it"),
        ("no", "This call was rejected: a person declined it"),
        ({"type": "reject"}, "This call was rejected: a person declined it"),
        ({"type": "reject", "approved": True}, "This call was rejected: a person declined it"),
        ({"type": "approve", "approved": False}, "This call was rejected: a person declined it"),
    ],
)
def test_a_graph_asks_a_person_by_an_interrupt(answer, said, is_async):
    ran = []
    graph = graph_of(to_tools([delete_tool(ran)]), [Call("delete", {"path": "a"})], InMemorySaver())

    def turn(given):
        return asyncio.run(graph.ainvoke(given, THREAD)) if is_async else graph.invoke(given, THREAD)

    (asked,) = turn(GO)["__interrupt__"]
    assert asked.value["question"] == 'Run delete?\npath: "a"'
    assert (asked.value["tool"], asked.value["arguments"]) == ("delete", {"path": "a"})
    assert ran == []
    end = turn(Command(resume=answer))
    assert end["messages"][-2].text == said
    assert ran == (["a"] if "gone" in said else [])


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("changes", [True, False])
@pytest.mark.parametrize("how", ["an agent", "a graph in a graph", "saved at the end"])
def test_an_answer_is_compared_with_its_question_in_each_kind_of_graph(how, changes, is_async):
    ran, saver = [], InMemorySaver()

    @tool(name="delete", confirm=True)
    def another(path: str, deep: bool = True) -> str:
        """Delete more."""
        ran.append(deep)
        return "more is gone"

    def turn(called, given):
        calls, tools = [Call("delete", {"path": "a"})] if given is GO else [], to_tools([called])
        graph = graph_of(tools, calls, saver if how == "saved at the end" else None)
        if how == "an agent":
            made = [ToolCall(name=one.name, args=one.arguments, id="t0") for one in calls]
            model = Bound(responses=[AIMessage("", tool_calls=made)])
            graph = create_agent(model, tools=tools, checkpointer=saver)
        elif how == "a graph in a graph":
            builder = StateGraph(MessagesState).add_node("inner", graph).add_edge(START, "inner")
            graph = builder.compile(checkpointer=saver)
        more = {"durability": "exit"} if how == "saved at the end" else {}
        if is_async:
            return asyncio.run(graph.ainvoke(given, THREAD, **more))
        return graph.invoke(given, THREAD, **more)

    assert turn(delete_tool(ran), GO)["__interrupt__"]
    end = turn(another if changes else delete_tool(ran), Command(resume=True))
    (told,) = [message.text for message in end["messages"] if isinstance(message, ToolMessage)]
    assert ran == ([] if changes else ["a"])
    assert ("have changed since a person was asked" in told) == changes


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("others", [["delete"], ["add"], ["ad"]], ids=["another", "of no person", "unknown"])
def test_a_node_with_several_calls_asks_about_none_because_it_would_run_the_others_twice(others, is_async):
    """A graph runs the whole node again when an interrupt is answered."""
    ran, arguments = [], {"delete": {"path": "b"}, "add": {"a": 1, "b": 2}, "ad": {}}
    calls = [Call("delete", {"path": "a"}), *[Call(name, arguments[name]) for name in others]]
    graph = graph_of(to_tools([delete_tool(ran), add]), calls, InMemorySaver())
    end = asyncio.run(graph.ainvoke(GO, THREAD)) if is_async else graph.invoke(GO, THREAD)
    told = [message.text for message in end["messages"] if isinstance(message, ToolMessage)]
    alone = "a person can be asked about it only if it is the only call: make it again, alone"
    assert told[0] == f"This call was rejected: {alone}"
    assert ran == []


@pytest.mark.parametrize("given", ["calls", "state"])
def test_a_node_that_is_sent_several_calls_asks_about_none(given):
    ran = []
    made = [ToolCall(name="delete", args={"path": "a"}, id="a"), ToolCall(name="add", args={"a": 1}, id="b")]
    answers = iter([AIMessage("", tool_calls=made), AIMessage("done")])

    def send(state):
        message = state["messages"][-1]
        calls = [{**call, "type": "tool_call"} for call in message.tool_calls]
        return [Send("tools", calls if given == "calls" else {"messages": [message]})] if calls else "__end__"

    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [next(answers)]})
    builder.add_node("tools", ToolNode(to_tools([delete_tool(ran), add])))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", send)
    builder.add_edge("tools", "model")
    end = builder.compile(checkpointer=InMemorySaver()).invoke(GO, THREAD)
    told = {
        message.tool_call_id: message.text for message in end["messages"] if isinstance(message, ToolMessage)
    }
    assert told["a"].endswith("it is the only call: make it again, alone")
    assert told["b"] == "1"
    assert ran == []


class Bound(FakeMessagesListChatModel):
    """A model that takes tools."""

    def bind_tools(self, tools, **options):
        return self


@pytest.mark.parametrize("is_by_create_agent", [True, False])
def test_where_each_call_has_a_node_of_its_own_a_person_is_asked_about_each(is_by_create_agent):
    ran = []
    made = [ToolCall(name="delete", args={"path": path}, id=path) for path in "ab"]
    tools, answer = to_tools([delete_tool(ran)]), AIMessage("", tool_calls=made)
    if is_by_create_agent:
        model = Bound(responses=[answer, AIMessage("done")])
        agent = create_agent(model, tools=tools, checkpointer=InMemorySaver())
    else:
        builder = StateGraph(MessagesState)
        builder.add_node("model", lambda state: {"messages": [answer]})
        builder.add_node("tools", ToolNode(tools))
        builder.add_edge(START, "model")
        builder.add_conditional_edges(
            "model", lambda state: [Send("tools", [call]) for call in state["messages"][-1].tool_calls]
        )
        agent = builder.compile(checkpointer=InMemorySaver())
    asked = agent.invoke(GO, THREAD)["__interrupt__"]
    assert sorted([one.value["arguments"]["path"] for one in asked]) == ["a", "b"]
    agent.invoke(Command(resume={one.id: one.value["arguments"]["path"] == "a" for one in asked}), THREAD)
    assert ran == ["a"]


def test_outside_of_a_graph_nobody_can_be_asked():
    ran = []
    (made,) = to_tools([delete_tool(ran)])
    assert "a person has to agree to it first" in made.invoke({"path": "a"})
    assert ran == []
    (made,) = to_tools([delete_tool(ran)], confirm=lambda call: call.input.path == "a")
    assert made.invoke({"path": "a"}) == "a is gone"
    assert made.invoke({"path": "b"}) == "This call was rejected: a person declined it"
    (made,) = to_tools([delete_tool(ran)], confirm="run")
    assert made.invoke({"path": "c"}) == "c is gone"


def test_a_checkpoint_can_hold_every_result():
    @tool
    def numbers(count: int) -> Iterable[int]:
        """Numbers.

        Args:
            count: How many.
        """
        return map(int, range(count))

    graph = graph_of(to_tools([numbers]), [Call("numbers", {"count": 3})], InMemorySaver())
    message = graph.invoke(GO, THREAD)["messages"][-2]
    assert (message.content, message.artifact) == ("[0,1,2]", [0, 1, 2])
