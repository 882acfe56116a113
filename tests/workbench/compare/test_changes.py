"""What a comparison of two versions of tools lists, and in which words."""

from __future__ import annotations

import copy
import json
import pickle
import re
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import pytest
from annotated_types import Ge

from operator_schema import Toolset, tool
from operator_schema.providers import anthropic, bedrock, gemini, openai_chat, openai_responses
from operator_schema.workbench.compare import (
    LEVELS,
    Comparison,
    Snapshot,
    SnapshotError,
    compare,
    containment,
    read_snapshot,
    snapshot_of,
)
from operator_schema.workbench.compare.accepted import (
    Accepted,
    AcceptError,
    notes_on_entries,
    read_accepted,
    sort_changes,
)
from operator_schema.workbench.compare.codes import CODES, label_of
from operator_schema.workbench.compare.reports import as_html, lines_of, summary_of

IGNORED = "calls that give it still work, and it is ignored"


def before() -> Toolset:
    @tool(read_only=True)
    def search(query: str, limit: int = 10, kind: Literal["a", "b"] = "a") -> list[str]:
        """Search."""
        return [query, str(limit), kind]

    @tool(confirm=True)
    def pay(amount: float) -> str:
        """Pay."""
        return str(amount)

    @tool
    def count(items: list[str]) -> int:
        """Count."""
        return len(items)

    return Toolset(search, pay, count)


def after() -> Toolset:
    @tool(read_only=True)
    def search(
        text: str, limit: Annotated[int, Ge(1)] = 20, kind: Literal["a", "b", "c"] = "a", deep: bool = False
    ) -> list[str | int]:
        """Search for a text."""
        return [text, limit, kind, deep]

    @tool
    def pay(amount: float, currency: str) -> str:
        """Pay."""
        return f"{amount} {currency}"

    @tool
    def count_items(items: list[str]) -> int:
        """Count."""
        return len(items)

    return Toolset(search, pay, count_items)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(before(), after())


def test_every_change_is_told_in_its_words(comparison):
    assert [f"{change.level} {change}" for change in comparison.changes] == [
        "breaking count: renamed: count → count_items",
        "breaking pay: currency: required: not there → required",
        "breaking search: [0] in results: type: string → also integer",
        "breaking search: limit: minimum: integer → integer (≥ 1)",
        'breaking search: text: renamed: called "query" → required',
        "meaning pay: confirm: true → not stated",
        "meaning search: limit: default: 10 → 20",
        'text search: description: "Search." → "Search for a text."',
        "wider search: deep: new key: ignored as unknown → boolean",
        'wider search: kind: choices: "a" | "b" → also "c"',
    ]


def test_a_breaking_call_worked_and_fails_now(comparison):
    tools = {
        name: {each.name: each for each in tools} for name, tools in (("old", before()), ("new", after()))
    }
    assert pickle.loads(pickle.dumps(comparison)) == copy.deepcopy(comparison) == comparison
    shown = [change for change in comparison.of("breaking") if change.has_witness and change.side == "send"]
    assert len(shown) == 3
    for change in shown:
        assert not tools["old"][change.tool].codec.report(change.witness)
        assert tools["new"][change.tool].codec.report(change.witness)


def test_levels_come_in_their_order(comparison):
    assert comparison.level == "breaking"
    places = [LEVELS.index(change.level) for change in comparison.changes]
    assert places == sorted(places)
    assert compare(before(), before()) == Comparison(())
    assert compare(before(), before()).level is None


def test_a_tool_that_went_and_one_that_came():
    old, new = snapshot_of(list(before())[:1]), snapshot_of(list(before())[1:2])
    assert [(change.tool, change.code, change.level) for change in compare(old, new).changes] == [
        ("search", "removed", "breaking"),
        ("pay", "added", "wider"),
    ]


def test_results_that_are_no_longer_described():
    (search, *_) = snapshot_of(before()).tools
    bare = search.replace(output_schema=None)
    gone = compare(Snapshot([search]), Snapshot([bare])).changes
    come = compare(Snapshot([bare]), Snapshot([search])).changes
    assert [(change.level, change.code, change.side) for change in (*gone, *come)] == [
        ("breaking", "output", "read"),
        ("wider", "output", "read"),
    ]


@pytest.mark.parametrize("is_server", [False, True])
def test_a_server_that_cant_describe_a_result_breaks_nothing(is_server):
    for each in snapshot_of([*before(), tool(described)]).tools:
        listed = each.replace(output_schema=None, decoder=None if is_server else each.decoder)
        levels = {change.level for change in compare(Snapshot([each]), Snapshot([listed])).changes}
        is_object = each.output_schema["type"] == "object"
        assert ("breaking" in levels) == (is_object or not is_server)
        assert ("meaning" in levels) != ("breaking" in levels)


def described() -> dict[str, int]:
    """Return an object."""
    return {"a": 1}


# --- snapshots -----------------------------------------------------------------------------------


def test_a_file_is_read_as_it_was_written():
    found = snapshot_of(before())
    assert read_snapshot(json.loads(found.as_text())) == found
    assert [each.name for each in found.tools] == ["count", "pay", "search"]
    assert found.as_text() == snapshot_of(reversed(list(before()))).as_text()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (next(iter(before())), r"expected a list of tools, not the tool \w+ alone: write \[\w+\]$"),
        ([5], "isn't a Tool"),
        (5, "expected a list of tools, not 5"),
    ],
)
def test_what_isnt_tools_is_refused(given, said):
    for refuse in (
        lambda: snapshot_of(given),
        lambda: compare(given, before()),
        lambda: compare(before(), given),
    ):
        with pytest.raises(TypeError, match=said):
            refuse()


@pytest.mark.parametrize(
    "provider", [anthropic, openai_chat, openai_responses, gemini, bedrock], ids=lambda p: p.name
)
def test_requests_to_providers_are_read(provider):
    ours = snapshot_of(before()).by_name()
    theirs = read_snapshot(provider.request(before().offer())).by_name()
    assert theirs.keys() == ours.keys()
    for name, each in theirs.items():
        assert each.input_schema["properties"] == ours[name].input_schema["properties"]
        assert each.description == ours[name].description


def test_a_list_of_an_mcp_server_is_read():
    hints = {"title": "Shown", "readOnlyHint": True, "openWorldHint": False}
    described = {"name": "go", "inputSchema": {"type": "object"}, "annotations": hints}
    for listed in ({"tools": [described]}, {"jsonrpc": "2.0", "id": 1, "result": {"tools": [described]}}):
        (found,) = read_snapshot(listed).tools
        assert found.hints == {"title": "Shown", "read_only": True, "open_world": False}
        assert (found.name, found.description, found.output_schema) == ("go", "", None)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({}, 'it has no tools: a snapshot, the result of "tools/list" or a request to a provider has'),
        ("text", "has no tools"),
        ({"tools": [1]}, "tool 1 is integer 1, not an object"),
        ({"tools": [{}]}, "tool 1 has no name"),
        ({"tools": [{"name": "a", "description": 3}]}, 'the description of "a" is integer 3, not a text'),
        ({"tools": [{"name": "a"}, {"name": "a"}]}, 'two tools are called "a"'),
        (
            {"tools": [{"name": "a", "inputSchema": {"type": "string"}}]},
            'inputSchema of "a": its JSON Schema can\'t be used: "type" is string "string"',
        ),
    ],
    ids=str,
)
def test_what_has_no_tools_is_refused(data, said):
    with pytest.raises(SnapshotError) as caught:
        read_snapshot(data)
    assert said in caught.value.reason


# --- changes that are accepted -------------------------------------------------------------------

ALLOW = """
[[accept]]
tool = "pay"
code = "required"
path = "currency"
reason = "Every caller sends it."
until = 2026-12-31

[[accept]]
tool = "search"
reason = "Nobody uses it."
until = 2026-06-30

[[accept]]
tool = "other"
reason = "A tool that there isn't."
until = 2026-12-31
"""


def test_changes_are_accepted_until_their_day(comparison):
    entries = read_accepted(ALLOW)
    found = sort_changes(comparison.changes, entries, date(2026, 11, 1))
    assert [(change.tool, change.code, entry.reason) for change, entry in found.accepted] == [
        ("pay", "required", "Every caller sends it.")
    ]
    assert len(found.left) == len(comparison.changes) - 1
    assert [entry.tool for entry in found.expired] == ["search"]
    assert [entry.tool for entry in found.unused] == ["other"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[accept", "it isn't TOML"),
        ("accept = 3", "- accept: expected array"),
        ("accept = []\nother = 3", '- other: unknown key; the keys are "accept"'),
        ("accept = [3]", "- accept[0]: expected object"),
        ('[[accept]]\ntool = "a"\nuntil = 2026-01-01', "- accept[0].reason: missing"),
        ('[[accept]]\ntool = "a"\nreason = " "\nuntil = 2026-01-01', "the reason is empty: say why"),
        ('[[accept]]\ntool = "a"\nreason = "b"', "- accept[0].until: missing"),
        ('[[accept]]\ntool = "a"\nreason = "b"\nuntil = "soon"', '- accept[0].until: "soon" is not accepted'),
    ],
)
def test_an_entry_needs_a_reason_and_a_day(text, said):
    with pytest.raises(AcceptError) as caught:
        read_accepted(text)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["", "# The last entry is gone.\n"])
def test_a_file_without_entries_accepts_nothing(text):
    assert read_accepted(text) == []


def test_each_code_is_listed_and_a_misspelt_one_is_told(comparison):
    assert {change.code for change in comparison.changes} <= CODES.keys()
    entry = Accepted("pay", "It is known.", date(2026, 12, 31), "requird")
    found = sort_changes(comparison.changes, [entry], date(2026, 11, 1))
    ((_, line),) = notes_on_entries(found, "changed", CODES)
    assert line == "accepted, and nothing like it changed: pay requird; did you mean the code required?"


def test_a_code_that_there_is_gets_no_hint(comparison):
    entry = Accepted("pay", "It is known.", date(2026, 12, 31), "max_length")
    found = sort_changes(comparison.changes, [entry], date(2026, 11, 1))
    ((_, line),) = notes_on_entries(found, "changed", CODES)
    assert line == "accepted, and nothing like it changed: pay max_length"


def test_the_codes_of_a_comparison_are_those_of_the_table():
    source = Path(containment.__file__).read_text("utf-8")
    written = set(re.findall(r'Escape\([^"\n]*?\), "(\w+)"', source))
    written |= set(re.findall(r'(?:code=|_escape\(|codes.append\(\(|code = )"(\w+)"', source))
    assert len(written) > 10
    assert written <= CODES.keys()


def test_the_page_lists_every_code():
    page = (Path(__file__).parents[3] / "docs" / "changes.md").read_text("utf-8")
    _, table = page.split("| code | in the report |")
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) \|$", table, re.MULTILINE)
    assert rows == [(code, label_of(code), meaning) for code, meaning in CODES.items()]


# --- reports -------------------------------------------------------------------------------------


def test_a_report_has_its_witnesses(comparison):
    (breaking, lines), *_ = lines_of(comparison.changes)
    assert breaking == "breaking"
    assert lines[1:3] == [
        "pay: currency: required: not there → required",
        '  call: {"amount":0}',
    ]
    assert summary_of(comparison.changes) == "5 breaking, 2 meaning, 1 text, 2 wider"
    assert summary_of(()) == "nothing changed"


def test_a_page_escapes_what_tools_say():
    evil = "<script>alert(1)</script>"
    old = read_snapshot({"tools": [{"name": "a", "description": "x"}]})
    new = read_snapshot({"tools": [{"name": "a", "description": evil}, {"name": evil}]})
    page = as_html(compare(old, new).changes, evil)
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 4
    assert "http" not in page.replace("http-equiv", "")


# --- renamed arguments ----------------------------------------------------------------------------


@pytest.mark.parametrize("is_closed", [False, True])
@pytest.mark.parametrize("is_required", [False, True])
def test_a_renamed_argument_is_one_entry(is_closed, is_required):
    def version(name: str) -> Snapshot:
        schema = {"type": "object", "properties": {name: {"type": "string"}}}
        more = {"required": [name]} if is_required else {}
        closed = {"additionalProperties": False} if is_closed else {}
        return read_snapshot([{"name": "find", "input_schema": {**schema, **more, **closed}}])

    (change,) = compare(version("query"), version("text")).changes
    level = "breaking" if is_closed or is_required else "meaning"
    said = "required" if is_required else "optional"
    assert (change.level, str(change)) == (level, f'find: text: renamed: called "query" → {said}')


def test_an_example_of_a_wider_change_keeps_to_formats():
    def version(kinds: list[str], **due: str) -> Snapshot:
        properties = {"priority": {"type": kinds}, "due": {"type": "string", **due}}
        schema = {"type": "object", "properties": properties, "required": ["due"]}
        return read_snapshot([{"name": "find", "input_schema": schema}])

    old, new = version(["integer"], pattern="^A"), version(["integer", "array"], format="date")
    wider = compare(old, new).of("wider")
    assert [change.path for change in wider] == [("due",), ("priority",)]
    assert [change.witness["due"] for change in wider if change.has_witness] == ["2025-01-31"]
