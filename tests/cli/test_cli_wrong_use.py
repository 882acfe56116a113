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
        (["schema", "host:registry"], "registry is a Registry, not a type or a tool"),
        (["tools", "host:settings"], "settings is a dict, not an Executor, a Registry or a Toolset"),
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
            "registry has db_count, db_drop: add the name of one, with a dot, as in host:registry.db_count",
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
            "No such option '--net'; a parameter is written net=…, and the nearest option is --yes",
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
            "no command 'zzz'; the commands are schema, decode, check, lint, tools, call, describe, serve",
        ),
        (["schema"], "Missing argument 'MODULE:TYPE'"),
        (["check"], "Missing argument 'MODULE[:REGISTRY]...'"),
        (["schema", "clitools"], "'clitools' isn't MODULE:TYPE, such as tools:WebSearch"),
        (["schema", "clitools.Search"], "'clitools.Search' isn't MODULE:TYPE; did you mean clitools:Search?"),
        (["schema", "clitools:a:b"], "'clitools:a:b' isn't MODULE:TYPE: TYPE must be a name"),
        (["schema", "clitools:"], "'clitools:' isn't MODULE:TYPE: TYPE must be a name"),
        (["schema", ":Search"], "'' isn't the name of a module"),
        (["schema", ".clitools:Search"], "'.clitools' isn't the name of a module"),
        (
            ["schema", "clitools.py:Search"],
            "'clitools.py' is a path; give MODULE by its name: clitools:Search",
        ),
        (["schema", "./clitools.py"], "'./clitools.py' is a path; give MODULE by its name: clitools:TYPE"),
        (
            ["call", "clipkg/inner.py"],
            "'clipkg/inner.py' is a path; give MODULE by its name: clipkg.inner:TOOL",
        ),
        (
            ["check", "./clipkg/inner.py"],
            "'./clipkg/inner.py' is a path; give MODULE by its name: clipkg.inner",
        ),
        (["check", "../else/tools.py"], "is a path; give MODULE by its name: tools"),
        (
            ["decode", "clitools:Search", "--unknown-fields", "forbid"],
            "'forbid' is not one of 'ignore', 'reject'",
        ),
        (["call", "callable.shout"], "'callable.shout' isn't MODULE:TOOL; did you mean callable:shout?"),
        (["call", "callable"], "'callable' isn't MODULE:TOOL, such as tools:web_search"),
        (["call", "--timeout", "0", "callable:shout"], "0 is not in the range x>0"),
        (["call", "--timeout", "soon", "callable:shout"], "'soon' is not a valid float"),
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


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("serve", "app.py"), "app"),
        (("serve", "pkg/app.py"), "pkg.app"),
        (("serve", "pkg/app.py:registry"), "pkg.app:registry"),
        (("serve", "../app.py"), "app.py".removesuffix(".py")),
        (("call", "app.py"), "app:TOOL"),
        (("call", "pkg/app.py:look"), "pkg.app:look"),
        (("schema", "app.py"), "app:TYPE"),
        (("serve", "--context", "app.py", "app"), "app:NAME"),
    ],
)
def test_a_path_gets_the_name_that_was_meant(run, words, meant):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert f"is a path; give MODULE by its name: {meant}\n" in err
