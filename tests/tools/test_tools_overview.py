"""What a tool is, in one page of tests: names, texts, schema, run, documentation on demand, results."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal, TypedDict

import pytest

from operator_schema import (
    DecodeError,
    SchemaError,
    Tool,
    ToolError,
    describe_tools,
    skip,
    tool,
    tool_input,
)
from operator_schema.errors import MissingContextError
from operator_schema.tools import InputTool, parameters_of, schema_response
from operator_schema.tools.metadata import read_documentation
from operator_schema.types import RawArguments


class Db:
    def __init__(self, rows=()):
        self.rows = rows


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Hit:
    title: str
    score: float


@dataclass
class GlobParams:
    """Which files."""

    pattern: str
    limit: int = 10


class GlobKeys(TypedDict):
    pattern: str


@tool
def search_glob_files(params: GlobParams, project: Annotated[Db, skip]) -> list[str]:
    """Search for files matching a glob pattern."""
    return [row for row in project.rows if row.endswith(params.pattern)][: params.limit]


@tool
async def web_search(query: str, max_results: int | None = None, *, db: Annotated[Db, skip]) -> list[Hit]:
    """Search the web. Results are ranked,
    the best first.

    Args:
        query: The query to search for. Quotes are taken as they are.
        max_results: Maximum number of results to return.
        db: Where results are kept.
    """
    return [Hit(query, float(max_results or 0))]


# --- 000: nixcode --------------------------------------------------------------------------------


def test_the_name_of_a_tool_comes_from_its_function():
    assert search_glob_files.name == "search_glob_files"
    assert repr(search_glob_files) == "<SearchGlobFilesTool 'search_glob_files'>"


def test_the_description_comes_from_the_docstring_or_the_decorator():
    @tool("Given.")
    def given() -> str:
        """Documented."""

    @tool
    def documented() -> str:
        """Documented."""

    @tool
    def neither() -> str: ...

    assert given.definition()["description"] == "Given."
    assert documented.definition()["description"] == "Documented."
    assert neither.definition()["description"] == "Use this tool for neither. Auto generated."
    assert tool(description="Said so.")(documented).summary == "Said so."


def test_what_is_missing_is_an_error_at_definition():
    with pytest.raises(SchemaError) as caught:

        @tool
        def search(query, db: Db): ...

    assert [(c.path, c.code) for c in caught.value.findings] == [
        (("query",), "unannotated"),
        (("db",), "unsupported"),
    ]
    assert "write db: Annotated[…, skip]" in caught.value.findings[1].remedy


def test_the_schema_has_types_defaults_and_descriptions():
    @tool
    def now() -> str: ...

    @tool
    def by_keys(keys: GlobKeys) -> str: ...

    assert now.input_schema() == {"type": "object", "properties": {}}
    assert search_glob_files.input_schema()["properties"].keys() == {"pattern", "limit"}
    assert search_glob_files.input_type is GlobParams
    assert search_glob_files.decode({"pattern": ".py"}) == GlobParams(".py")
    assert by_keys.input_schema()["required"] == ["pattern"]
    assert by_keys.input_type is GlobKeys


@pytest.mark.needs_threads
def test_a_tool_runs_on_the_arguments_of_a_model():
    db = Db(["a.py", "b.py", "c.md"])
    assert search_glob_files.run({"pattern": ".py", "limit": 1}, context={Db: db}) == '["a.py"]'
    assert search_glob_files(GlobParams(".md"), db) == ["c.md"]
    result = asyncio.run(web_search.arun('{"query": "x", "max_results": 2}', context={Db: db}))
    assert result == '[{"title":"x","score":2.0}]'
    assert asyncio.run(web_search("x", db=db)) == [Hit("x", 0.0)]


def test_the_override_is_kept_for_the_registry():
    assert search_glob_files.enabled is None
    assert tool(enabled=False)(lambda_free).enabled is False
    assert tool(enabled=bool)(lambda_free).enabled is bool
    assert search_glob_files.with_(enabled=False).enabled is False
    assert search_glob_files.enabled is None


# --- 001: mantra ---------------------------------------------------------------------------------


def test_a_tool_has_a_name_a_description_a_schema_and_runs():
    assert web_search.definition().keys() == {"name", "description", "input_schema"}
    assert web_search.definition()["name"] == "web_search"
    assert search_glob_files.run({"pattern": "x"}, project=Db(["x"])) == '["x"]'


def test_a_timeout_of_its_own():
    assert search_glob_files.timeout is None
    assert search_glob_files.with_(timeout=2.5).timeout == 2.5


def test_bad_json_has_its_position():
    with pytest.raises(DecodeError) as caught:
        web_search.decode('{"query": ')
    assert caught.value.findings[0].code == "invalid_json"
    assert "line 1 column" in str(caught.value)


# --- 002: JP -------------------------------------------------------------------------------------


@dataclass
class Change:
    old: str
    new: str
    paths: list[str] | None
    regex: bool | None


@tool
def fs_modify_file(patterns: list[Change], path: str | None, replace_using_regex: bool = False) -> str:
    """Modify a file."""
    return ""


@tool
def cargo_check(package: str | None) -> str:
    """Check a package.

    Args:
        package: Package to run check for.
    """
    return package or "all"


def test_parameters_in_order_with_everything_stated():
    assert parameters_of(cargo_check) == [
        ("package", {"type": "string", "required": False, "summary": "Package to run check for."})
    ]
    assert parameters_of(fs_modify_file) == [
        (
            "patterns",
            {
                "type": "array",
                "required": True,
                "items": {
                    "type": "object",
                    "properties": {
                        "old": {"type": "string", "required": True},
                        "new": {"type": "string", "required": True},
                        "paths": {"type": "array", "required": False, "items": {"type": "string"}},
                        "regex": {"type": "boolean", "required": False},
                    },
                },
            },
        ),
        ("path", {"type": "string", "required": False}),
        ("replace_using_regex", {"type": "boolean", "required": False, "default": False}),
    ]


@dataclass
class Tree:
    name: str
    children: list[Tree]
    color: Color = Color.RED


def test_references_are_resolved():
    (_, name), (_, children), (_, color) = parameters_of(Tree)
    assert name == {"type": "string", "required": True}
    assert children == {"type": "array", "required": True, "items": {"type": "object"}}
    assert color == {"type": "string", "required": False, "default": "red", "enum": ["red", "blue"]}
    assert "$ref" not in json.dumps(parameters_of(Tree))


def test_a_docstring_has_a_summary_and_details():
    assert web_search.summary == "Search the web."
    assert web_search.details == "Results are ranked,\nthe best first."
    assert web_search.description == f"{web_search.summary} {web_search.details}"
    assert web_search.definition()["description"] == "Search the web. Results are ranked,\nthe best first."
    asked = web_search.with_(described_by="describe_tools")
    assert asked.definition()["description"] == "Search the web."


def test_schema_response_describes_tools_by_name():
    answer = schema_response([cargo_check, web_search])
    assert [entry["name"] for entry in answer["tools"]] == ["cargo_check", "web_search"]
    assert answer["tools"][0] == {
        "name": "cargo_check",
        "summary": "Check a package.",
        "parameters": dict(parameters_of(cargo_check)),
    }
    described = answer["tools"][1]
    assert described["description"] == "Results are ranked,\nthe best first."
    assert described["parameters"]["query"] == {
        "type": "string",
        "required": True,
        "summary": "The query to search for.",
        "description": "Quotes are taken as they are.",
    }
    assert schema_response({"cargo_check": cargo_check}) == schema_response([cargo_check])


def test_describe_tools_gives_the_documentation_on_demand():
    asked = describe_tools([web_search, cargo_check, fs_modify_file])
    assert asked.name == "describe_tools"
    assert asked.run({"tools": ["web_search", "cargo_check", "fs_modify_file"]}) == (
        "## web_search\n\nSearch the web.\n\nResults are ranked,\nthe best first.\n\n"
        "### Parameters\n\n#### `query`\n\nThe query to search for.\n\nQuotes are taken as they are.\n\n"
        "---\n\nThere is no more documentation of: cargo_check, fs_modify_file"
    )
    for arguments in ({}, {"tools": []}):
        with pytest.raises(DecodeError) as caught:
            asked.run(arguments)
        assert caught.value.findings[0].path == ("tools",)
    assert asked.run({"tools": ["web_serch"]}) == "No such tool: web_serch (did you mean web_search?)"


def test_examples_are_checked_at_definition():
    example = {"patterns": [{"old": "a", "new": "b"}]}
    asked = describe_tools({"fs_modify_file": tool(examples=[example])(fs_modify_file)})
    shown = asked.run({"tools": ["fs_modify_file"]})
    assert '### Examples\n\n```json\n{"patterns":[{"old":"a","new":"b"}]}\n```' in shown


def test_repair_defaults_and_checks_come_before_the_run():
    class Entry(TypedDict):
        count: int

    ran = []

    @tool(repair=True)
    def read(
        path: str,
        start_line: int,
        enabled: bool,
        string_or_integer: str | int,
        patterns: list[Entry],
        limit: int = 7,
    ) -> str:
        ran.append((path, start_line, enabled, string_or_integer, patterns, limit))
        return "done"

    sent = (
        '{"path":"README.md","start_line":"1","enabled":"true","string_or_integer":"3",'
        '"patterns":"[{\\"count\\":\\"2\\"}]"}'
    )
    assert read.run(sent) == "done"
    assert ran == [("README.md", 1, True, "3", [{"count": 2}], 7)]
    with pytest.raises(DecodeError):
        read.run('{"path": 1}')
    assert len(ran) == 1


def test_bad_arguments_name_the_missing_and_the_unknown_and_point_on():
    asked = web_search.with_(described_by="describe_tools")
    with pytest.raises(DecodeError) as caught:
        asked.decode({"extra": 1})
    report = str(caught.value)
    assert "- query: missing" in report
    assert 'unknown, and ignored: "extra"' in report
    assert report.endswith('call describe_tools with {"tools": ["web_search"]}')
    with pytest.raises(DecodeError) as caught:
        web_search.decode({})
    assert "describe_tools" not in str(caught.value)
    with pytest.raises(DecodeError) as caught:
        fs_modify_file.with_(described_by="describe_tools").decode({})
    assert "describe_tools" not in str(caught.value)


def test_raw_arguments_are_read_one_by_one():
    @tool
    def legacy(arguments: RawArguments) -> str:
        path = arguments.require("path", str)
        return (
            f"{path}:{arguments.optional('line', int)}:{arguments.optional('color', Color, Color.BLUE).value}"
        )

    assert legacy.run({"path": "a", "line": None}) == "a:None:blue"
    assert legacy.run('{"path": "a", "line": 3.0, "color": "red"}') == "a:3:red"
    with pytest.raises(DecodeError) as caught:
        legacy.run({"line": 1})
    assert caught.value.findings[0].message == "Missing argument 'path' for tool 'legacy'"
    with pytest.raises(DecodeError) as caught:
        legacy.run({"path": ["a"]})
    assert caught.value.findings[0].path == ("path",)
    with pytest.raises(DecodeError):
        legacy.run([])


@pytest.mark.parametrize(
    ("text", "summary", "description"),
    [
        ("Check it. Then go on.", "Check it.", "Then go on."),
        ("Check it.\nthen go on.", "Check it.", "then go on."),
        (
            "Take a file, e.g. foo, and read it. Then stop.",
            "Take a file, e.g. foo, and read it.",
            "Then stop.",
        ),
        ("No period here\nmore", "No period here", "more"),
        ("  Trimmed.  ", "Trimmed.", None),
    ],
)
def test_the_first_sentence_is_the_summary(text, summary, description):
    assert read_documentation("x", text, None, None)[:2] == (summary, description)
    assert tool(text)(cargo_check).summary == summary


def test_an_empty_docstring_has_no_summary():
    assert read_documentation("x", None, "", None)[:2] == ("", None)


# --- 003: lutum ----------------------------------------------------------------------------------


@dataclass
class Create:
    """Create a file."""

    kind: Literal["create"]
    path: str


@dataclass
class Remove:
    kind: Literal["remove"]
    path: str


def test_a_dataclass_becomes_a_tool_without_a_function():
    @tool_input(name="web_search", output=list[Hit])
    @dataclass
    class WebSearchArgs:
        """Search the web.

        Attributes:
            query: The query to search for.
        """

        query: str
        max_results: int | None

    assert isinstance(WebSearchArgs, InputTool)
    assert WebSearchArgs.name == "web_search"
    assert WebSearchArgs.summary == "Search the web."
    assert WebSearchArgs.decode({"query": "x"}) == WebSearchArgs("x", None)
    assert isinstance(WebSearchArgs("x", None), WebSearchArgs)
    assert WebSearchArgs.input_schema()["properties"]["query"]["description"] == "The query to search for."
    assert WebSearchArgs.output_schema()["items"]["properties"].keys() == {"title", "score"}
    assert WebSearchArgs.encode_output([Hit("a", 1)]) == '[{"title":"a","score":1.0}]'
    assert tool_input(Create).name == "create"
    with pytest.raises(ToolError, match="has no function"):
        WebSearchArgs.run({"query": "x"})


def test_a_union_of_tagged_dataclasses():
    edit = tool_input(name="edit_file")(Create | Remove)
    assert edit.decode({"kind": "remove", "path": "a"}) == Remove("remove", "a")
    assert edit.input_schema()["type"] == "object"
    assert len(edit.input_schema()["anyOf"]) == 2
    assert isinstance(Create("create", "a"), edit)
    assert not isinstance(Hit("a", 1), edit)
    with pytest.raises(SchemaError):
        tool_input(name="edit_file")(Create | int)
    with pytest.raises(SchemaError, match=r"tool: it has no name\. Give a name= of"):
        tool_input(Create | Remove)


@pytest.mark.needs_threads
def test_functions_become_tools():
    assert web_search.input_type.__name__ == "WebSearchInput"
    given = web_search.input_type("x", max_results=3)
    assert asyncio.run(web_search.acall(given, db=Db())) == [Hit("x", 3.0)]
    assert asyncio.run(web_search.acall(given, context={Db: Db()})) == [Hit("x", 3.0)]
    properties = web_search.input_schema()["properties"]
    assert properties["max_results"]["description"] == "Maximum number of results to return."
    assert "db" not in properties
    with pytest.raises(MissingContextError) as caught:
        asyncio.run(web_search.acall(given))
    assert caught.value.parameters == ("db",)


def test_output_is_compact_json():
    assert tool(lambda_free).encode_output({"a": [1, None]}) == '{"a":[1,null]}'


def lambda_free() -> dict[str, list[int | None]]:
    return {}


# --- 004: Operator -------------------------------------------------------------------------------


def test_tools_of_functions_and_of_inputs_have_the_same_interface():
    @tool
    def none() -> str:
        return "ok"

    @tool
    def raw(arguments: RawArguments) -> int:
        return len(arguments)

    assert none.input_schema() == {"type": "object", "properties": {}}
    assert none.run("{}") == "ok"
    assert raw.run({"a": 1, "b": 2}) == "2"
    assert raw.input_schema() == {"type": "object", "properties": {}}


def test_what_is_no_tool_is_refused_among_tools():
    with pytest.raises(TypeError, match="isn't a Tool"):
        schema_response([lambda_free])  # type: ignore[list-item]


def test_the_declared_result_has_a_schema():
    @tool
    def say(text: str) -> str:
        return text

    @tool
    def count(text: str) -> int:
        return len(text)

    assert say.run({"text": 'a "b"'}) == 'a "b"'
    assert count.run({"text": "abc"}) == "3"
    assert isinstance(say, Tool)


def test_what_has_no_parameters_is_named():
    with pytest.raises(SchemaError) as caught:
        parameters_of(list[int])
    assert caught.value.name == "list[int]"
