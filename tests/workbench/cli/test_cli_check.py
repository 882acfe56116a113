"""The command check."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from textwrap import dedent

import pytest
import warm_processes
from sarif_logs import places_in, read_log

MAIL = '''
from operator_schema import tool

@tool(name="3d_send")
def send(to: str, headers: dict[str, str], pages: int = 1) -> str:
    """Send a mail, 100% sure.

    Args:
        to: Address of the reader.
        headers: More headers.
        pages: How many: 1, 2 or more.
    """
    return to

@tool
def bare(value: str) -> str:
    return value
'''


@pytest.fixture
def checked(tmp_path, monkeypatch, run):
    """Return how to check a module of a given text, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def check(text, *words, name="check_sample"):
        (tmp_path / f"{name}.py").write_text(dedent(text))
        sys.modules.pop(name, None)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        monkeypatch.delitem(sys.path_importer_cache, "", raising=False)
        return run("check", *words, name)

    yield check
    sys.modules.pop("check_sample", None)


def findings(out):
    """List level, subject and code of each line, without the summary."""
    lines = [re.sub(r"^[\w./\\]+:\d+: ", "", line) for line in out.splitlines() if line.endswith("]")]
    return [(line.split(": ")[0], line.split(": ")[1], line.rpartition(" [")[2][:-1]) for line in lines]


def test_every_dataclass_that_the_module_defines_is_registered(run):
    status, out, err = run("check", "-v", "clitools")
    assert (status, err) == (0, "")
    names = ["Search", "Search.Option", "Plain.Inside", "_Private", "Strict", "Changes", "Later"]
    *lines, warning, summary = out.splitlines()
    assert [line.split()[:2] for line in lines] == [["checked", name] for name in names]
    assert warning == (
        "clitools.py:26: warning: _Private.x: Any says nothing about the value. Name the type. [any_value]"
    )
    assert summary == "7 types: 0 errors, 1 warning, 0 notes"


def test_the_bytes_are_those_of_the_compact_schema(run):
    _, schema, _ = run("schema", "--compact", "clitools:Search")
    _, out, _ = run("check", "--verbose", "clitools")
    assert out.splitlines()[0] == f"checked Search (type, 2 fields, {len(schema.encode()) - 1} bytes)"
    assert "checked" not in run("check", "clitools")[1]


def test_each_complaint_about_a_type_is_an_error_with_its_place(run):
    status, out, err = run("check", "-v", "faulty")
    assert (status, err) == (1, "")
    *_, first, second, summary = out.splitlines()
    assert "failed  Faulty (type)" in out
    assert first.startswith("faulty.py:9: error: Faulty.x: complex ")
    assert first.endswith(" [unsupported]")
    assert second.startswith("faulty.py:9: error: Faulty.y: the ")
    assert second.endswith(" [unresolved]")
    assert summary == "2 types: 2 errors, 0 warnings, 0 notes"


def test_two_complaints_about_one_place_are_two_lines(checked):
    status, out, _ = checked("""
        from dataclasses import dataclass

        @dataclass
        class Booking:
            seats: int
            price: float = "free"

            param_descriptions = {"seat": "How many"}
    """)
    assert status == 1
    assert findings(out) == [
        ("error", "Booking.param_descriptions", "unknown_description"),
        ("error", "Booking.price", "bad_default"),
    ]
    assert 'isn\'t a field. Did you mean "seats"? Rename or remove it' in out


NO_TYPES = (
    "there are no dataclasses or tools in empty: decorate functions with @tool, or classes with @dataclass"
)
NO_TOOLS = "there are no tools in empty_registry:no_tools: add some, as in Registry([search])"


@pytest.mark.parametrize(("target", "what"), [("empty", NO_TYPES), ("empty_registry:no_tools", NO_TOOLS)])
def test_where_nothing_can_be_checked_nothing_is_green_and_the_others_are_checked(run, target, what):
    for options in ([], ["--fail-on", "never"], ["--json"]):
        assert run("check", *options, target) == (2, "", f"operator-schema: error: {what}\n")
        _, alone, _ = run("check", *options, "shared")
        for targets in ([target, "shared"], ["shared", target]):
            assert run("check", *options, *targets) == (2, alone, f"operator-schema: error: {what}\n")


@pytest.mark.parametrize("command", ["check", "tools"])
@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("host:nonsense", "the module host has no nonsense"),
        ("host:regstry", "did you mean registry?"),
        ("clitools:Search", "Search is a type, not a tool, an Executor, a Registry or a Toolset"),
    ],
)
def test_a_registry_that_is_not_there_is_an_error(run, command, target, message):
    status, out, err = run(command, target)
    assert (status, out) == (2, "")
    assert message in err


@pytest.mark.parametrize("target", ["host:registry", "host:toolset"])
def test_check_takes_what_the_list_of_tools_takes(run, target):
    _, listed, _ = run("tools", target)
    status, out, _ = run("check", "-v", target)
    assert status == 0
    names = [line.split()[0] for line in listed.splitlines()[1:-1]]
    assert [line.split()[1] for line in out.splitlines() if line.startswith("checked")] == names


def test_several_modules_are_one_report(run):
    status, out, _ = run("check", "-v", "shared", "faulty", "shared")
    assert status == 1
    assert [line.split()[1] for line in out.splitlines()[:3]] == ["Imported", "Good", "Faulty"]
    assert out.splitlines()[-1] == "3 types: 2 errors, 0 warnings, 0 notes"


def test_a_module_that_is_not_found_hides_none_of_the_others(run):
    status, out, err = run("check", "nowhere_at_all", "shared")
    assert (status, out) == (2, run("check", "shared")[1])
    assert err == "operator-schema: error: no module nowhere_at_all in this folder or on the path\n"


def test_a_bad_tool_has_the_users_file_and_line(run):
    status, out, err = run("check", "bad_tool")
    assert (status, err) == (1, "")
    first, second, ended, summary = out.splitlines()
    assert first.startswith("bad_tool.py:6: error: search.query: it has no annotation")
    assert second.startswith("bad_tool.py:6: error: search.wait: complex")
    assert ended.startswith("bad_tool.py:6: warning: bad_tool: its import ended here, so the rest of the ")
    assert summary == "nothing registered: 2 errors, 1 warning, 0 notes"


def test_other_commands_report_a_bad_tool_readably(run):
    status, out, err = run("tools", "bad_tool")
    assert (status, out) == (1, "")
    assert err.splitlines()[0].startswith("search: 2 complaints about the ")
    assert err.splitlines()[-1] == "(bad_tool.py, line 6)"


def test_check_goes_into_the_modules_of_a_package(run):
    status, out, _ = run("check", "-v", "clipkg2")
    assert status == 1
    assert [subject for _, subject, _ in findings(out)] == ["search.query", "search.wait", "clipkg2.bad"]
    assert "checked Good (type, 1 field" in out


def test_check_warns_about_what_tells_a_model_too_little(run):
    status, out, _ = run("check", "weak")
    assert status == 0
    assert findings(out) == [
        ("warning", "bare", "no_description"),
        ("warning", "bare.x", "undescribed"),
        ("warning", "vague.level", "undescribed"),
        ("warning", "vague.note", "undescribed"),
        ("warning", "vague.note", "any_value"),
        ("warning", "vague.level", "numbered_choices"),
    ]
    assert run("check", "--fail-on", "warning", "weak")[0] == 1
    assert run("check", "--fail-on", "warning", "shared")[0] == 0


def test_json_has_what_was_checked_and_what_was_found(run):
    status, out, _ = run("check", "--json", "bad_tool", "shared")
    assert status == 1
    found = json.loads(out)
    assert found["checked"][0].items() >= {"name": "Imported", "kind": "type", "fields": 1}.items()
    first = found["findings"][0]
    assert (first["level"], first["code"], first["type"], first["path"]) == (
        "error",
        "unannotated",
        "search",
        ["query"],
    )
    assert (first["file"], first["line"]) == ("bad_tool.py", 6)
    assert run("check", "--format", "json", "bad_tool", "shared")[1] == out


def test_a_tool_that_is_offered_under_another_name_is_checked_once(checked):
    offering = """
        from operator_schema import Registry, Toolset, tool

        @tool
        def count(table: str) -> int:
            "Count rows."
            return 0

        @tool
        def forgotten(table: str) -> int:
            "Drop it all."
            return 0

        __tools__ = Registry(Toolset(count).prefix("db_"))
    """
    _, out, _ = checked(offering, "-v")
    assert [line.split()[1] for line in out.splitlines() if line.startswith("checked")] == [
        "db_count",
        "forgotten",
    ]
    assert "same_first_sentence" not in out


def test_what_a_program_injects_is_not_a_type_for_a_model(checked):
    injecting = """
        from dataclasses import dataclass
        from sqlite3 import Connection
        from typing import Annotated
        from operator_schema import skip, tool

        @dataclass
        class App:
            db: Connection

        @dataclass
        class Other:
            db: Connection

        @tool
        def count(*, app: Annotated[App, skip]) -> int:
            "Count rows."
            return 0
    """
    status, out, _ = checked(injecting)
    assert (status, findings(out)) == (1, [("error", "Other.db", "unsupported")])


@pytest.mark.parametrize("order", [("Asked", "Told"), ("Told", "Asked")])
def test_a_class_that_is_the_input_of_a_tool_is_judged_with_its_tool(checked, order):
    classes = [f'@dataclass\nclass {name}:\n    """Say."""\n\n    a: int\n\n\n' for name in order]
    text = (
        "from dataclasses import dataclass\n\nfrom operator_schema import tool_input\n\n\n"
        f'{"".join(classes)}ask = tool_input(Asked, name="ask")\n'
    )
    status, out, _ = checked(text, "-v")
    assert status == 0
    assert {"ask", "Asked", "Told"} & {*out.split()} == {"ask", "Told"}


# --- levels, providers and forms -----------------------------------------------------------------


def test_the_status_is_that_of_the_level(checked):
    status, out, err = checked(MAIL)
    assert (status, err) == (0, "")
    assert findings(out) == [("warning", "bare", "no_description"), ("warning", "bare.value", "undescribed")]
    assert out.splitlines()[-1] == "2 tools: 0 errors, 2 warnings, 0 notes"
    assert checked(MAIL, "--fail-on", "warning")[0] == 1
    assert checked(MAIL, "--fail-on", "never", "--strict", "--provider", "anthropic")[0] == 0
    assert checked(MAIL, "--fail-on", "note", "--provider", "gemini_parameters")[0] == 1


def test_what_a_provider_refuses_makes_the_status_1(checked):
    strict = ("--provider", "openai_chat", "--strict")
    status, out, _ = checked(MAIL, *strict)
    assert status == 1
    assert ("error", "3d_send.headers", "refused, OpenAI Chat Completions") in findings(out)
    assert "; --level note shows all" in out
    assert checked(MAIL, "--provider", "all")[0] == 0
    noted = checked(MAIL, *strict, "--level", "note")[1]
    assert ("note", "3d_send.pages", "null, OpenAI Chat Completions") in findings(noted)
    assert "shows all" not in noted
    assert {level for level, _, _ in findings(checked(MAIL, *strict, "--level", "error")[1])} == {"error"}


def test_what_makes_the_status_1_is_shown_at_any_level(checked):
    status, out, _ = checked(MAIL, "--level", "error", "--fail-on", "warning")
    assert (status, [level for level, _, _ in findings(out)]) == (1, ["warning", "warning"])


def test_annotations_for_github(checked):
    _, out, _ = checked(MAIL, "--format", "github", "--provider", "gemini_parameters", "--level", "note")
    lines = out.splitlines()
    assert lines[0] == (
        "::warning file=check_sample.py,line=15,title=bare%3A no_description::"
        "it has no docstring, so a model knows only its name. Write one: what it does, and when to use it."
    )
    assert any(
        line.startswith("::notice file=check_sample.py,line=4,title=3d_send.pages%3A described::")
        for line in lines
    )


def test_a_log_for_code_scanning_says_the_same(checked):
    words = [MAIL, "--provider", "gemini_parameters", "--level", "note"]
    listed = json.loads(checked(*words, "--json")[1])["findings"]
    (run,) = read_log(checked(*words, "--format", "sarif")[1]).runs
    assert [(each.rule_id, each.level) for each in run.results] == [
        (each["code"], each["level"]) for each in listed
    ]
    assert {rule.id for rule in run.tool.driver.rules} == {each["code"] for each in listed}
    assert {places_in(each)[0] for each in run.results} == {"check_sample.py"}


@pytest.mark.parametrize(
    ("options", "meant"),
    [
        (["--provider", "openai"], "there is no openai; did you mean openai_chat or openai_responses?"),
        (["--provider", "Gemni"], "there is no Gemni; did you mean gemini?"),
        (["--provider", "parameters"], "there is no parameters; did you mean gemini_parameters?"),
        (["--format", "jsno"], "there is no jsno; did you mean json?"),
        (["--fail-on", "warnings"], "there is no warnings; did you mean warning?"),
        (["--level", "notes"], "there is no notes; did you mean note?"),
        (["--provider", "watson"], "'watson' is not one of 'anthropic'"),
    ],
)
def test_a_word_that_is_nearly_right_is_answered_with_the_right_one(checked, options, meant):
    status, _, err = checked(MAIL, *options)
    assert status == 2
    assert meant in err


def test_each_provider_has_a_line_of_its_own_behind_the_findings(checked):
    status, out, err = checked(MAIL, "--provider", "openai_chat", "--provider", "anthropic")
    assert (status, err) == (0, "")
    *_, first, second = out.splitlines()
    assert first.startswith("OpenAI Chat Completions")
    assert second.startswith("Anthropic")


def test_a_finding_inside_a_union_names_its_member(checked):
    _, out, _ = checked("""
        from dataclasses import dataclass
        from typing import Literal
        from operator_schema import tool

        @dataclass
        class Cash:
            "Cash."
            kind: Literal["cash"]

        @dataclass
        class Card:
            "Card."
            kind: Literal["card"]

        @tool
        def pay(payment: Cash | Card) -> str:
            \"\"\"Pay a bill.

            Args:
                payment: How.
            \"\"\"
            return ""
    """)
    assert "pay.payment.kind: it has no description (in Cash)." in out
    assert "pay.payment.kind: it has no description (in Card)." in out


# --- definitions of others -----------------------------------------------------------------------

LISTED = {
    "tools": [
        {
            "name": "delete/files",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "api_key": {"type": "string", "description": "Of the account."},
                    "where": {
                        "type": "object",
                        "description": "Which.",
                        "properties": {"timeout": {"type": "number", "description": "How long."}, "any": {}},
                    },
                    "start_date": {"type": "string", "format": "date", "description": "The first day."},
                    "pages": {"type": "integer", "description": "Which.", "minimum": "none"},
                },
            },
        },
        {"name": "broken", "description": "Do.", "inputSchema": {"type": "object", "properties": []}},
        {"name": "wrong", "inputSchema": {"type": "string"}},
        {"description": "Nameless."},
        {"name": "broken", "description": "Do it again."},
        {
            "name": "read",
            "description": "Read one file.",
            "annotations": {"readOnlyHint": True, "destructiveHint": True, "title": "Read"},
            "inputSchema": {
                "type": "object",
                "properties": {"path": {"type": "string", "description": "Below the root."}},
            },
        },
    ]
}
FOUND = [
    ("error", "wrong", "unsupported"),
    ("error", "tool 4", "bad_definition"),
    ("error", "broken", "bad_definition"),
    ("warning", "delete/files", "bad_name"),
    ("warning", "delete/files", "no_description"),
    ("warning", "delete/files", "unmarked_deletion"),
    ("warning", "delete/files.where.any", "undescribed"),
    ("warning", "delete/files.where.any", "any_value"),
    ("warning", "delete/files.api_key", "secret"),
    ("warning", "delete/files.where.timeout", "no_unit"),
]


def test_definitions_in_a_file_are_judged_each_on_its_own(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "listed.json").write_text(json.dumps(LISTED))
    status, out, err = run("check", "listed.json")
    assert (status, err) == (1, "")
    assert findings(out) == FOUND
    assert out.splitlines()[-1] == "3 tools: 3 errors, 7 warnings, 2 notes; --level note shows all"
    assert "docstring" not in out
    assert "Annotated" not in out
    noted = run("check", "--level", "note", "listed.json")[1]
    assert ("note", "delete/files.pages", "unchecked") in findings(noted)
    assert "its minimum isn't checked: it can't be read" in noted
    data = json.loads(run("check", "--json", "listed.json")[1])
    assert {one["file"] for one in data["findings"]} == {None}


@pytest.mark.parametrize("text", ["[]", '{"tools": []}', "null", '{"tool": []}'])
def test_a_file_without_tools_is_an_error(run, tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "listed.json").write_text(text)
    status, out, err = run("check", "listed.json")
    assert (status, out) == (2, "")
    assert "no tools" in err


def test_what_others_write_cant_control_the_terminal_or_the_ci(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    name = "a\x1b[31m\n::error::x"
    hostile = {"name": name, "description": name, "inputSchema": {"properties": {name: {"title": name}}}}
    (tmp_path / "listed.json").write_text(json.dumps([hostile, hostile]))
    for form in ("text", "json", "github"):
        status, out, _ = run("check", "-v", "--format", form, "--provider", "anthropic", "listed.json")
        assert status == 1
        assert "\x1b" not in out
        lines = [line for line in out.splitlines() if line.startswith("::")]
        assert bool(lines) == (form == "github")
        assert all(line.startswith(("::error title=", "::warning title=")) for line in lines)


SERVER = """
import json, sys

LISTED = json.loads({listed!r})

for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        given = {{"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {{"tools": {{}}}},
                 "serverInfo": {{"name": "files", "version": "1"}}}}
    elif asked.get("method") == "tools/list":
        given = LISTED
    elif "id" in asked:
        print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"],
                          "error": {{"code": -32601, "message": "unknown"}}}}), flush=True)
        continue
    else:
        continue
    print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": given}}), flush=True)
"""


@pytest.mark.needs_process
@pytest.mark.slow("starts a server")
def test_tools_of_any_mcp_server_are_judged_by_their_definitions(tmp_path):
    pytest.importorskip("mcp", reason="the extra mcp isn't installed")
    listed = {"tools": [LISTED["tools"][0], LISTED["tools"][-1]]}
    (tmp_path / "files_server.py").write_text(SERVER.format(listed=json.dumps(listed)))
    command = f"{sys.executable} {tmp_path / 'files_server.py'}"
    # A process of its own: the server writes to the standard error that it gets from there.
    done = subprocess.run(
        [*warm_processes.command(serves=True), "check", f"mcp:{command}", "--fail-on", "warning"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert findings(done.stdout) == FOUND[3:]


@pytest.mark.parametrize("words", [["check"], ["snapshot"], ["stubs"], ["diff", "x.json"], ["inspect"]])
def test_a_target_with_a_space_is_a_command_or_a_file(run, tmp_path, monkeypatch, words):
    if words == ["inspect"]:
        pytest.importorskip("starlette", reason="the extra inspector isn't installed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.json").write_text(json.dumps({"tools": [{"name": "x", "inputSchema": {}}]}))
    said = "there is no file no-such-program y, and the command no-such-program isn't found"
    assert run(*words, "no-such-program y")[2] == f"operator-schema: error: {said}\n"


def test_a_file_with_a_space_in_its_name_is_a_file(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my tools.json").write_text(json.dumps(LISTED))
    assert run("check", "my tools.json") == run("check", f"{tmp_path / 'my tools.json'}")


@pytest.mark.needs_process
def test_a_server_that_ends_is_said_to_have_ended(tmp_path):
    pytest.importorskip("mcp", reason="the extra mcp isn't installed")
    (tmp_path / "dies.py").write_text("import sys\nsys.exit('no database')\n")
    command = f"{sys.executable} {tmp_path / 'dies.py'}"
    words = [*warm_processes.command(serves=True), "check", command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    said = (
        "can't be used: the program ended with exit status 1; its standard error ends with:\n  no database\n"
    )
    assert done.stderr.endswith(said)


def test_a_server_that_cant_be_asked_is_an_error(run):
    pytest.importorskip("mcp", reason="the extra mcp isn't installed")
    status, out, err = run("check", "mcp:no-such-program-here")
    assert (status, out) == (2, "")
    assert "mcp:no-such-program-here: the command no-such-program-here isn't found" in err
    assert "Missing argument 'TARGET...'" in run("check")[2]


def test_tokens_say_what_each_tool_takes_for_each_provider(checked):
    words = ["--tokens", "--fail-on", "never", "--level", "error"]
    status, out, _ = checked(MAIL, *words)
    rows = [line.split() for line in out.splitlines()]
    assert status == 0
    title, first, second, total = rows[-4:]
    assert title == ["tool", "tokens"]
    assert [first[0], second[0]] == ["3d_send", "bare"]
    assert int(first[-1]) + int(second[-1]) == int(total[-1])
    assert int(first[-1]) > int(second[-1]) > 0

    status, out, _ = checked(MAIL, *words, "--provider", "openai_chat", "--provider", "gemini", "--json")
    costs = json.loads(out)["tokens"]
    assert [cost["provider"] for cost in costs] == ["OpenAI Chat Completions", "Gemini"]
    for cost in costs:
        assert cost["total"] == sum(one["tokens"] or 0 for one in cost["tools"])
    assert [one["name"] for one in costs[0]["tools"]] == ["3d_send", "bare"]


def test_without_tokens_nothing_is_counted_and_a_tool_that_is_refused_has_none(checked):
    _, out, _ = checked(MAIL, "--json")
    assert "tokens" not in json.loads(out)
    _, out, _ = checked(MAIL, "--tokens", "--provider", "openai_chat", "--strict", "--fail-on", "never")
    rows = [line.split() for line in out.splitlines()]
    assert ["bare", "refused"] in rows or ["3d_send", "refused"] in rows, out


def test_mistakes_in_a_file_of_definitions_are_warned_of_once(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    properties = {
        "a": {"type": "strng", "description": "Where to look."},
        "b": {"$ref": "#/nope", "description": "What to look for."},
    }
    schema = {"type": "object", "properties": properties}
    listed = [{"name": "find", "description": "Find a thing in a shelf.", "inputSchema": schema}]
    (tmp_path / "bad.json").write_text(json.dumps({"tools": listed}))
    status, out, _ = run("check", "--fail-on", "warning", "--level", "note", "bad.json")
    assert status == 1
    assert out.splitlines()[:-1] == [
        (
            'warning: find.a: "strng" isn\'t a type. Did you mean "string"?'
            " The types are string, integer, number, boolean, null, array, object. [unchecked]"
        ),
        'warning: find.b: its "$ref" "#/nope" leads nowhere. Refer to a schema of the document. [unchecked]',
    ]
