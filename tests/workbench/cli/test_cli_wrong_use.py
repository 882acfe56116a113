"""Wrong use of the command line."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

IN_PACKAGE = str(Path("clipkg", "needs.py"))


MORE = "; --traceback shows all of it"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["schema", "clitolls:Search"],
            "no module clitolls in this folder or on the path; did you mean clitools?",
        ),
        (["schema", "clipkg.iner:Deep"], "no module clipkg.iner; did you mean clipkg.inner?"),
        (
            ["schema", "clipgk.inner:X"],
            "no module clipgk.inner: there is no clipgk; did you mean clipkg.inner?",
        ),
        (["schema", "clitools.inner:X"], "no module clitools.inner"),
        (["schema", "clitools:Serch"], "the module clitools has no Serch; did you mean Search?"),
        (["schema", "clitools:Search.Optoin"], "Search has no Optoin; did you mean Option?"),
        (["schema", "faulty:Zzzzzz"], "the module faulty has no Zzzzzz; its dataclasses are Good, Faulty"),
        (["check", "needs"], "the module needs imports yarrl, which is not found (needs.py, line 1)"),
        (
            ["check", "clipkg.needs"],
            f"the module clipkg.needs imports clipkg.missing, which is not found ({IN_PACKAGE}, line 1)",
        ),
        (
            ["check", "raises"],
            f"the module raises can't be imported: LookupError: no\\u000aluck (raises.py, line 2){MORE}",
        ),
        (
            ["check", "exits"],
            f"the module exits can't be imported: SystemExit: 0 (exits.py, line 2){MORE}",
        ),
        (["call", "callable:shuot"], "the module callable has no shuot; did you mean shout?"),
        (
            ["describe", "callable:zzzzzz"],
            "the module callable has no zzzzzz; its tools are shout, sleep-well, rows, move",
        ),
        (["call", "clitools:zzzzzz"], "the module clitools has no zzzzzz"),
        (["schema", "host:settings"], "settings is a dict, not a type or a tool"),
        (["schema", "host:password"], "password is a str, not a type or a tool"),
        (["decode", "host:make_context"], "make_context is a function, not a type or a tool"),
        (
            ["schema", "host:registry"],
            "registry has db_count, db_drop: add a dot and the name of one, as in host:registry.db_count",
        ),
        (
            ["check", "--strict", "clitools"],
            "--strict is for --provider: the strict modes of providers differ",
        ),
        (["tools", "host:settings"], "settings is a dict, not a tool, an Executor, a Registry or a Toolset"),
        (
            ["call", "--context", "host:settings.password", "host:count", "table=a"],
            "settings has no password",
        ),
        (
            ["call", "--context", "host:make_no_context", "host:count", "table=a"],
            f"make_no_context() failed: LookupError: no database (host.py, line 29){MORE}",
        ),
        (["call", "callable:plain"], "plain isn't a tool; decorate it with @tool or @tool_input"),
        (
            ["call", "host:registry", "db_count", "table=a"],
            "registry has db_count, db_drop: add a dot and the name of one, as in host:registry.db_count",
        ),
        (
            ["call", "host:count_named", "--table", "a"],
            "No such option '--table'; a parameter is written table=…",
        ),
        (
            ["call", "host:count_named", "--yet-more", "a"],
            "No such option '--yet-more'; a parameter is written yet_more=…",
        ),
        (
            ["call", "host:count_named", "--net", "1"],
            "No such option '--net'; a parameter is written net=…",
        ),
        (["call", "callable:Box.sise"], "Box has no sise; did you mean size?"),
        (["decode", "clitools:Search", "nowhere.json"], "can't read nowhere.json: No such file or directory"),
    ],
)
def test_wrong_use_is_one_line(run, argv, message):
    assert run(*argv) == (2, "", f"operator-schema: error: {message}\n")


def test_a_name_that_is_not_in_another_module_is_an_import_error(run):
    status, _, err = run("check", "needs_name")
    assert status == 2
    assert "the module needs_name can't be imported: ImportError: cannot import name 'Nothing'" in err


def test_a_link_to_itself_beside_the_modules_is_none_of_them(run, tmp_path, monkeypatch):
    Path(tmp_path, "ring").symlink_to("ring")
    Path(tmp_path, "ledger").mkdir()
    Path(tmp_path, "ledger", "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    told = "no module legder in this folder or on the path; did you mean ledger?"
    assert run("check", "legder") == (2, "", f"operator-schema: error: {told}\n")


def test_a_module_that_does_not_parse(run):
    status, _, err = run("check", "unparsable")
    assert status == 2
    assert "can't be imported: SyntaxError: " in err
    assert "(unparsable.py, line 1)" in err


def test_a_folder_is_no_file(run, tmp_path):
    status, out, err = run("decode", "--lines", "clitools:Search", str(tmp_path))
    assert (status, out) == (2, "")
    assert err.startswith(f"operator-schema: error: can't read {tmp_path}: ")


def test_input_that_breaks_off_is_wrong_use_too(run, monkeypatch):
    class Broken(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, _):
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Broken())))
    status, _, err = run("decode", "--lines", "clitools:Search")
    assert (status, err) == (2, "operator-schema: error: can't read <stdin>: Input/output error\n")


def test_traceback_shows_all_of_it(run):
    status, out, err = run("check", "--traceback", "raises")
    assert (status, out) == (2, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert "raise LookupError(" in err
    assert err.endswith("(raises.py, line 2)\n")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["scheme"], "no command 'scheme'; did you mean schema?"),
        (
            ["zzz"],
            "no command 'zzz'; the commands are schema, decode, check, tools, call, describe, stubs, serve",
        ),
        (["schema"], "Missing argument 'MODULE:TYPE'"),
        (["tools"], "Missing argument 'MODULE[:REGISTRY]...'"),
        (["schema", "clitools"], "'clitools' isn't MODULE:TYPE, such as tools:WebSearch"),
        (["schema", "clitools.Search"], "'clitools.Search' isn't MODULE:TYPE; did you mean clitools:Search?"),
        (["schema", "clitools:a:b"], "'clitools:a:b' isn't MODULE:TYPE: TYPE must be a name"),
        (["schema", "clitools:"], "'clitools:' isn't MODULE:TYPE: TYPE must be a name"),
        (["schema", ":Search"], "'' isn't the name of a module"),
        (["schema", ".clitools:Search"], "'.clitools' isn't the name of a module"),
        (
            ["schema", "./clitools.py"],
            "'./clitools.py' isn't MODULE:TYPE; add a colon and its name: ./clitools.py:TYPE",
        ),
        (["call", "clipkg/inner.py"], "; add a colon and its name: clipkg/inner.py:TOOL"),
        (["serve", "--context", "host.py", "host"], "; add a colon and its name: host.py:NAME"),
        (
            ["decode", "clitools:Search", "--unknown-fields", "forbid"],
            "'forbid' is not one of 'ignore', 'reject'",
        ),
        (["call", "callable.shout"], "'callable.shout' isn't MODULE:TOOL; did you mean callable:shout?"),
        (["call", "callable"], "'callable' isn't MODULE:TOOL, such as tools:web_search"),
        (["call", "--timeout", "0", "callable:shout"], "'0' isn't a number of seconds above 0"),
        (
            ["call", "--timeout", "soon", "callable:shout"],
            "'soon' isn't a number of seconds above 0, such as 2.5",
        ),
        (["schema", "clitools:Search", "--comp"], "No such option"),
    ],
)
def test_wrong_arguments_show_the_usage(run, argv, message, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    status, out, err = run(*argv)
    assert (status, out) == (2, "")
    assert err.startswith("Usage: operator-schema")
    assert message in err


@pytest.mark.needs_threads
def test_options_may_stand_anywhere(run, here):
    call = ["call", "callable:shout", '{"text": "hi"}']
    file = here / "calls.jsonl"
    file.write_text('{"query": "x"}\n', encoding="utf-8")
    decode = ["decode", "clitools:Search", str(file)]
    for words, options in ((call, ["--timeout", "5"]), (decode, ["--lines"])):
        expected = run(*words[:1], *options, *words[1:])
        assert expected[0] == 0
        assert run(*words[:2], *options, *words[2:]) == expected
        assert run(*words, *options) == expected
    _, _, err = run(*decode[:2], "--lines", str(file), "more.jsonl")
    assert "unexpected extra argument (more.jsonl)" in err
    _, _, err = run(*decode[:2], "--line", str(file))
    assert "No such option" in err


def test_main_leaves_the_path_as_it_was(run):
    before = list(sys.path)
    run("check", "shared")
    run("check", "nowhere_at_all")
    assert sys.path == before


def test_a_failing_context_shows_its_traceback_on_request(run):
    words = ("host:count", "table=a")
    status, out, err = run("call", "--traceback", "--context", "host:make_no_context", *words)
    assert (status, out) == (2, "")
    assert err.startswith("Traceback (most recent call last):\n")
    assert err.endswith("make_no_context() failed: LookupError: no database (host.py, line 29)\n")


IMPORTING = {
    "desk_own.py": "from operator_schema import tool\n"
    "@tool\ndef convert(x: int) -> int: ...\n@tool\ndef refund(x: int) -> int: ...\n",
    "desk_both.py": "from desk_own import convert, refund\n",
    "desk_one.py": "from desk_own import convert as change\n",
    "desk_none.py": "from operator_schema import Toolset\nimport desk_own\ntools = Toolset()\n",
}
BOTH = "convert and refund are imported from desk_own: name that module, or a Toolset of them\n"


@pytest.fixture
def importing(run, tmp_path, monkeypatch):
    for name, text in IMPORTING.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    yield run
    for name in IMPORTING:
        sys.modules.pop(name.removesuffix(".py"), None)


@pytest.mark.parametrize("command", ["tools", "snapshot", "serve", "check"])
def test_a_module_that_merely_imports_its_tools_says_from_where(importing, command):
    if command == "serve" and sys.platform == "emscripten":
        pytest.skip("there is no wheel of mcp for WebAssembly")
    status, out, err = importing(command, "desk_both")
    assert (status, out, err.endswith(BOTH)) == (2, "", True), err


def test_where_imported_tools_come_from_is_said_of_one_tool_and_of_no_toolset(importing):
    one = "desk_one: change is imported from desk_own: name that module, or a Toolset of it\n"
    assert importing("check", "desk_one")[2].endswith(one)
    assert importing("check", "desk_none:tools")[2].endswith(
        "there are no tools in desk_none:tools: add some, as in Registry([search])\n"
    )
    assert importing("tools", "desk_both:convert")[1].splitlines()[1].startswith("convert ")


@pytest.mark.parametrize("name", ["nope", "x", "conrevert_all_of_it"])
def test_a_name_that_is_far_from_all_others_gets_no_guess(importing, name):
    assert "did you mean" not in importing("schema", f"desk_own:{name}")[2]
    assert "did you mean" not in importing("tools", name)[2]


@pytest.mark.parametrize(
    ("name", "meant"), [("convrt", "convert"), ("refnd", "refund"), ("Convert", "convert")]
)
def test_a_name_that_is_near_is_the_one_that_was_meant(importing, name, meant):
    assert f"did you mean {meant}?" in importing("call", f"desk_own:{name}")[2]


TWO_REFUNDS = """
from operator_schema import Toolset, tool


@tool
def refund(order: str) -> str:
    return order


@tool(name="refund")
def pay_back(order: str) -> str:
    return order
"""

ALREADY = 'tool "refund" already registered: desk_twice.refund and desk_twice.pay_back have this name'


@pytest.mark.parametrize("command", ["tools", "snapshot", "serve", "check", "diff", "replay", "inspect"])
def test_two_tools_of_one_name_are_refused_by_each_command_in_the_same_words(
    run, monkeypatch, tmp_path, command
):
    if command in {"serve", "inspect"} and sys.platform == "emscripten":
        pytest.skip("there are no wheels of mcp and uvicorn for WebAssembly")
    (tmp_path / "desk_twice.py").write_text(TWO_REFUNDS)
    (tmp_path / "calls.jsonl").write_text('{"name": "refund", "arguments": {"order": "A7"}}\n')
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "desk_twice", raising=False)
    before = {"diff": ["desk_twice"], "replay": [str(tmp_path / "calls.jsonl"), "--against"]}
    status, out, err = run(command, *before.get(command, []), "desk_twice")
    assert (status, out) == (2, "")
    assert ALREADY in err


def test_what_a_module_offers_may_leave_out_one_of_two_tools_of_one_name(run, monkeypatch, tmp_path):
    (tmp_path / "desk_twice.py").write_text(f"{TWO_REFUNDS}\n__tools__ = Toolset(refund)\n")
    monkeypatch.syspath_prepend(tmp_path)
    for command in ("tools", "snapshot", "check"):
        monkeypatch.delitem(sys.modules, "desk_twice", raising=False)
        status, _, err = run(command, "desk_twice")
        assert "already registered" not in err
        assert status == 0 or command == "check"


@pytest.mark.parametrize("command", ["call", "decode", "schema", "tools"])
@pytest.mark.parametrize("target", ["http://127.0.0.1:9/mcp", "mcp:uvx"])
def test_a_server_where_a_module_belongs_is_told_which_commands_take_one(run, command, target):
    status, out, err = run(command, target)
    assert (status, out) == (2, "")
    assert "listed by check, snapshot and stubs, and tried with inspect" in " ".join(err.split())


@pytest.mark.parametrize(
    "target", ["htp://example.com/mcp", "HTTPs:/example.com", "ws://a.b", "file:///a.py"]
)
@pytest.mark.parametrize("command", ["check", "tools", "schema", "serve"])
def test_an_address_of_another_scheme_is_told_the_right_ones(run, command, target):
    status, out, err = run(command, target)
    assert (status, out) == (2, "")
    assert "the address of a server begins with http:// or https://" in " ".join(err.split())


@pytest.mark.parametrize("command", ["tools", "call", "describe", "serve"])
def test_a_file_of_definitions_where_a_module_belongs_is_told_which_commands_take_one(run, command, tmp_path):
    (tmp_path / "tools.json").write_text("[]")
    status, out, err = run(command, str(tmp_path / "tools.json"))
    assert (status, out) == (2, "")
    assert "definitions in a file are taken by check, snapshot, diff and stubs" in " ".join(err.split())


@pytest.mark.parametrize("text", ['{"query": "tides"}', "[1, 2]", '"tides"', ' {"order": "a=b"}'])
def test_json_where_a_file_belongs_is_told_where_json_is_read(run, text):
    status, out, err = run("decode", "clitools:Search", text)
    assert (status, out) == (2, "")
    assert "JSON itself is read from standard input" in " ".join(err.split())


def test_a_pair_where_a_file_belongs_is_told_which_command_takes_one(run, monkeypatch, tmp_path):
    (tmp_path / "desk_pair.py").write_text(TWO_REFUNDS)
    monkeypatch.syspath_prepend(tmp_path)
    status, out, err = run("decode", "desk_pair:refund", "order=x")
    assert (status, out) == (2, "")
    assert "it takes JSON from a file or standard input, and call takes KEY=VALUE" in " ".join(err.split())
