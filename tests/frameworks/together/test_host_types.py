"""The context classes of real frameworks, and a tool that is given where a function is expected."""

from __future__ import annotations

import importlib
import inspect
from typing import Annotated, Any

import pytest

from operator_schema import Executor, RawCall, SchemaError, skip, tool
from operator_schema.tools import injection
from operator_schema.types import register_injected


@pytest.fixture(autouse=True)
def _without_adapters(monkeypatch):
    """Forget the classes that adapters have registered, which other tests import."""
    monkeypatch.setattr(injection, "_registered", {})


class Db:
    rows = 3


def class_of(path: str) -> Any:
    module, name = path.split(":")
    return getattr(importlib.import_module(module), name)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    "path",
    [
        *("agents:RunContextWrapper", "agents.tool_context:ToolContext", "pydantic_ai:RunContext"),
        *(
            "mcp.server.mcpserver:Context",
            "mcp.server:ServerRequestContext",
            "mcp.server.session:ServerSession",
        ),
        *("fastmcp:Context", "langgraph.prebuilt:ToolRuntime", "langgraph.runtime:Runtime"),
        *("langgraph.store.base:BaseStore", "langchain_core.runnables:RunnableConfig"),
        *("langchain_core.callbacks:CallbackManagerForToolRun", "agno.run:RunContext", "agno.agent:Agent"),
        *("agno.team:Team", "llm:ToolCall"),
    ],
)
def test_a_context_without_skip_is_one_complaint(path, alone):
    cls = class_of(path)

    def act(q: int, ctx) -> str: ...

    def act_alone(ctx) -> str: ...

    function = act_alone if alone else act
    function.__annotations__["ctx"] = cls
    with pytest.raises(SchemaError) as caught:
        tool(function)
    (complaint,) = caught.value.findings
    assert (complaint.path, complaint.code) == (("ctx",), "unsupported")
    assert complaint.message.endswith("is given by the framework, not by the model")
    assert f"ctx: Annotated[{cls.__name__}, skip]" in complaint.remedy

    function.__annotations__["ctx"] = Annotated[cls, skip]
    assert "ctx" not in tool(function).input_schema()["properties"]


@pytest.mark.parametrize(
    "path",
    [
        *("agents:RunContextWrapper", "pydantic_ai:RunContext", "mcp.server:ServerRequestContext"),
        "langgraph.runtime:Runtime",
    ],
)
def test_a_generic_context_is_found_by_its_class(path):
    cls = class_of(path)
    annotation = cls[(Db,) * len(cls.__parameters__)]

    async def act(q: str, *, ctx) -> str:
        return f"{q} {ctx}"

    act.__annotations__["ctx"] = Annotated[annotation, skip]
    executor = Executor([tool(act)])
    call = RawCall("1", "act", {"q": "a"})
    assert executor.run_sync(call, context={cls: "given"}).content == "a given"
    other = cls[(int,) * len(cls.__parameters__)]
    assert executor.run_sync(call, context={other: "given"}).is_error


def test_a_registered_context_needs_no_mark():
    from pydantic_ai import RunContext

    own = type("OwnContext", (RunContext,), {})  # so that other tests find theirs unregistered
    register_injected(own)

    def act(q: str, ctx) -> str:
        return f"{q} {ctx}"

    act.__annotations__["ctx"] = own
    assert tool(act).run({"q": "a"}, context={own: "given"}) == "a given"


@tool
def look(q: str, *, db: Annotated[Db, skip]) -> str:
    """Look."""
    return f"{q} {db.rows}"


def as_agents(each: Any) -> Any:
    from agents import function_tool

    return function_tool(each)


def as_pydantic_ai(each: Any) -> Any:
    from pydantic_ai import Tool

    return Tool(each)


def as_mcp(each: Any) -> Any:
    from mcp.server.mcpserver.tools import Tool

    return Tool.from_function(each)


def as_llm(each: Any) -> Any:
    import llm

    return llm.Tool.function(each)


def as_langchain(each: Any) -> Any:
    from langchain_core.tools import tool as make

    return make(each).args


@pytest.mark.parametrize("define", [as_agents, as_pydantic_ai, as_mcp, as_llm, as_langchain])
def test_a_framework_finds_what_it_can_not_give_when_the_tool_is_defined(define):
    """Without `db` in the signature each call would fail instead."""
    assert list(inspect.signature(look).parameters) == ["q", "db"]
    with pytest.raises(Exception, match="Db"):
        define(look)


def test_fastmcp_says_what_to_give_instead():
    from fastmcp import FastMCP
    from fastmcp.tools import Tool

    with pytest.raises(
        AttributeError, match=r"__fastmcp__ can't be set on it; give the framework the function"
    ):
        FastMCP("server").tool(look)
    with pytest.raises(TypeError, match=r"pydantic can't read it; give the framework the function"):
        Tool.from_function(look)


def part_of(annotation: Any) -> Any:
    return list[str | annotation]


@pytest.mark.parametrize(
    "path",
    [
        *("mcp.types:CallToolResult", "mcp.types:ImageContent", "mcp.server.mcpserver:Image"),
        *("fastmcp.tools.base:ToolResult", "fastmcp.utilities.types:Image"),
        *("pydantic_ai:ToolReturn", "pydantic_ai:BinaryContent", "agents:ToolOutputImage"),
        *("anthropic.lib.tools:BetaFunctionToolResultType", "langgraph.types:Command"),
        *("langchain_core.messages:ToolMessage", "google.genai.types:Part", "llm:ToolOutput"),
    ],
)
@pytest.mark.parametrize("wrap", [lambda cls: cls, part_of, lambda cls: cls | None])
def test_what_a_framework_handles_itself_may_be_annotated(path, wrap):
    def give() -> None: ...

    give.__annotations__["return"] = wrap(class_of(path))
    assert tool(give).output_schema() == {}
