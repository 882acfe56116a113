"""The commands tools, call and describe."""

from __future__ import annotations

import json
import sys

import pytest

from operator_schema.workbench.cli.output import to_json


def test_tools_prints_a_table(run):
    status, out, err = run("tools", "callable")
    assert (status, err) == (0, "")
    *lines, summary = [line.split(maxsplit=4) for line in out.splitlines()]
    assert lines[0] == ["tool", "kind", "parameters", "bytes", "summary"]
    assert [(line[0], line[1], line[2], line[4]) for line in lines[1:]] == [
        ("shout", "sync", "1", "Shout it."),
        ("sleep-well", "async", "0", "Use this tool for sleep-well. Auto generated."),
        ("rows", "sync", "0", "Count rows."),
        ("move", "input", "1", "Move a piece."),
    ]
    sizes = [int(line[3]) for line in lines[1:]]
    assert " ".join(summary) == f"4 tools, {sum(sizes)} bytes"
    _, definitions, _ = run("tools", "--json", "callable")
    assert [len(to_json(definition).encode()) for definition in json.loads(definitions)] == sizes


def test_tools_counts_the_parameters_of_unions_and_raw_arguments(run):
    status, out, err = run("tools", "unlisted")
    assert (status, err) == (0, "")
    rows = [line.split()[:3] for line in out.splitlines()[1:-1]]
    assert rows == [["edit", "input", "3"], ["raw", "sync", "1"]]


def test_tools_prints_the_definitions(run):
    status, out, err = run("tools", "--json", "callable")
    module = sys.modules["callable"]
    assert (status, err) == (0, "")
    assert json.loads(out) == [
        tool.definition() for tool in (module.shout, module.sleep, module.rows, module.Move)
    ]
    remedy = "operator-schema: error: there are no tools in empty: decorate functions with @tool\n"
    assert run("tools", "empty") == (2, "", remedy)
    assert run("tools", "--json", "callable", "empty") == (2, "", remedy)


def test_tools_reads_the_modules_below_a_package(run, tmp_path, monkeypatch):
    package = tmp_path / "tools_below"
    package.mkdir()
    (package / "__init__.py").write_text("from .web import search\n__all__ = ['search']\n")
    source = "from operator_schema import tool\n@tool\ndef {0}(x: int) -> int:\n    return x\n"
    for module, name in (("web", "search"), ("files", "read"), ("_private", "hidden")):
        (package / f"{module}.py").write_text(source.format(name))
    monkeypatch.syspath_prepend(tmp_path)
    status, out, err = run("tools", "--json", "tools_below")
    assert (status, err) == (0, "")
    assert [tool["name"] for tool in json.loads(out)] == ["search", "read"]


@pytest.mark.needs_threads
def test_call_prints_the_result_alone(run, stdin):
    shown = (0, "HI\\u001b\t!\n", "taking a breath\n")
    assert run("call", "callable:shout", '{"text": "hi"}') == shown
    stdin(b'{"text": "hi"}')
    assert run("call", "callable:shout", "-") == shown
    assert run("call", "callable:Box.size", '{"x": 4}') == (0, "8\n", "")


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["callable:shout"], "shout: 1 problem with the arguments\n- text: missing"),
        (["callable:shout", '{"text": '], "not valid JSON"),
        (["callable:shout", '{"text": "stop"}'], "I will not.\n"),
        (["callable:shout", '{"text": "bug"}'], "shout failed: ZeroDivisionError: no\n"),
        (["callable:shout", '{"text": "half"}'], "shout: 1 problem with the value\n- "),
        (["callable:sleep"], "sleep-well: no result within 0.05 s"),
        (["callable:sleep-well"], "sleep-well: no result within 0.05 s"),
        (["callable:rows"], "rows needs db from your program: give it with --context MODULE:NAME\n"),
        (["ending:die"], "die failed: it tried to end the process (SystemExit: 3)\n"),
        (["ending:leave"], "leave failed: it tried to end the process (SystemExit: 3)\n"),
        (
            ["ending:unsure"],
            "unsure needs an answer first: Really?\nnobody has answered it: call it from a terminal",
        ),
        (["callable:Move", '{"to": "a1"}'], "move: it has no function"),
    ],
)
def test_call_says_why_there_is_no_result(run, argv, told):
    status, out, err = run("call", *argv)
    assert (status, out) == (1, "")
    assert told in err
    assert "Traceback" not in err


@pytest.mark.needs_threads
def test_call_shows_the_traceback_when_asked_for(run):
    status, _, err = run("call", "--traceback", "callable:shout", '{"text": "bug"}')
    assert status == 1
    assert "Traceback (most recent call last):" in err
    assert "callable.py" in err


@pytest.mark.needs_threads
def test_call_may_end_earlier(run):
    status, _, err = run("call", "--timeout", "20", "callable:Box.size", '{"x": 1}')
    assert (status, err) == (0, "")


def test_describe_prints_the_whole_documentation(run):
    assert run("describe", "callable:shout") == (
        0,
        "## shout\n\nShout it.\n\nWith feeling.\n\nshout expects: text (string, required)\n",
        "",
    )


def test_tools_lists_what_a_registry_really_offers(run):
    status, out, _ = run("tools", "host:registry", "callable")
    assert status == 0
    rows = [line.split()[:2] for line in out.splitlines()[1:-1]]
    assert rows[:2] == [["db_count", "sync"], ["db_drop", "sync,"]]
    assert rows[2] == ["shout", "sync"]
    status, _, err = run("tools", "host:context")
    assert (status, err) == (
        2,
        "operator-schema: error: context is a dict, not a tool, an Executor, a Registry or a Toolset\n",
    )


def test_tools_lists_a_toolset(run):
    status, out, _ = run("tools", "host:toolset")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:-1]] == ["db_count", "db_drop", "count"]


def test_tools_marks_what_a_toolset_hides(run):
    status, out, _ = run("tools", "host:hiding")
    assert status == 0
    rows = [line.split()[:3] for line in out.splitlines()[1:-1]]
    assert rows == [["count", "sync", "2"], ["count_named", "sync,", "off"]]


@pytest.mark.needs_threads
def test_call_finds_a_tool_of_a_toolset(run):
    of_registry = run("call", "--context", "host:context", "host:registry.db_count", "table=a", "times=2")
    assert of_registry[0] == 0
    words = ("host:toolset.count", "table=a", "times=2")
    assert run("call", "--context", "host:context", *words) == of_registry
    status, _, err = run("call", "host:toolset.cuont", "table=a")
    assert (status, "toolset has no cuont; did you mean count?" in err) == (2, True)


@pytest.mark.needs_threads
def test_call_takes_words_and_a_context(run):
    words = ("host:registry.db_count", "table=a", "times=2")
    assert run("call", "--context", "host:make_context", *words) == (0, "6\n", "")
    assert run("call", "--context", "host:context", *words) == (0, "6\n", "")
    status, _, err = run("call", "--context", "host:make_nothing", *words)
    assert (status, "make_nothing returns a NoneType, not a mapping" in err) == (2, True)
    status, _, err = run("call", *words)
    assert (status, "db from your program: give it with --context MODULE:NAME" in err) == (1, True)
    status, _, err = run("call", "host:registry.db_cuont", "table=a")
    assert (status, "registry has no db_cuont; did you mean db_count?" in err) == (2, True)
    status, _, err = run("call", "host:count", "table=a", "oops")
    assert (status, "'oops' isn't KEY=VALUE" in err) == (2, True)


@pytest.mark.parametrize("word", ["path", "5", "true", "table", "=a", "ta ble"])
def test_a_word_that_is_no_pair_is_told_how_pairs_are_written(run, word):
    status, out, err = run("call", "host:count_named", word)
    assert (status, out) == (2, "")
    assert "isn't KEY=VALUE; give one JSON object, or words such as query=x" in err


@pytest.mark.needs_threads
def test_call_says_what_it_ignores(run):
    words = ("--context", "host:context", "host:count", "table=a")
    assert run("call", *words, "tmes=2") == (0, "3\n", 'unknown, and ignored: tmes (did you mean "times"?)\n')
    assert run("call", *words, "zz=2") == (0, "3\n", "unknown, and ignored: zz\n")
    assert run("call", *words, "times=2") == (0, "6\n", "")


def test_a_registry_that_is_written_like_a_module_is_told_with_a_colon(run):
    status, _, err = run("call", "host.registry:db_count", "table=a")
    assert status == 2
    assert "no module host.registry; registry is in the module host: write host:registry.db_count" in err
    assert "write host:toolset\n" in run("tools", "host.toolset")[2]


@pytest.mark.needs_threads
@pytest.mark.parametrize("word", ["7", "true", "null", "[1]", "007", "rye"])
def test_call_takes_any_word_for_a_string(run, word):
    assert run("call", "host:count_named", f"table={word}") == (0, f"{word}\n", "")
    status, _, err = run("call", "--context", "host:context", "host:count", "table=a", "times=x")
    assert (status, 'expected integer, got string "x"' in err) == (1, True)


def test_call_refuses_a_word_given_twice(run):
    status, out, err = run("call", "host:count", "table=a", "times=2", "table=b")
    assert (status, out) == (2, "")
    assert "'table' is given twice; for a list give JSON: 'table=[…]'" in err


def test_a_context_that_is_not_found_is_not_looked_for_among_dataclasses(run):
    status, _, err = run("call", "--context", "host:Zzzzzz", "host:count", "table=a")
    assert (status, err) == (2, "operator-schema: error: the module host has no Zzzzzz\n")


def test_schema_and_decode_take_a_tool(run, stdin):
    status, out, _ = run("schema", "--compact", "callable:shout")
    assert status == 0
    assert json.loads(out)["properties"] == {"text": {"type": "string"}}
    stdin(b'{"text": 1}')
    status, _, err = run("decode", "callable:shout")
    assert status == 1
    assert err.startswith("<stdin>: shout: 1 problem with the arguments")


def test_decode_reports_as_json(run, stdin):
    stdin(b'{"x": "a"}\n{"x": 1}\n')
    status, _, err = run("decode", "--json", "--lines", "clitools:Strict")
    assert status == 1
    report = json.loads(err.splitlines()[0])
    assert (report["place"], report["findings"][0]["path"]) == ("<stdin>:1", "x")


def test_describe_takes_all_tools_of_a_module_or_registry(run):
    whole = run("describe", "callable")
    names = [tool["name"] for tool in json.loads(run("tools", "--json", "callable")[1])]
    parts = [run("describe", f"callable:{name}") for name in names]
    assert len(names) > 1
    assert whole == (0, "\n".join(out for _, out, _ in parts), "")
    assert "Count rows." in run("describe", "host:registry")[1]


def test_describe_prints_json_for_programs(run):
    status, out, _ = run("describe", "--json", "callable:shout")
    (found,) = json.loads(out)
    assert (status, found["name"]) == (0, "shout")
    assert set(found) >= {"name", "summary", "parameters"}
    assert json.loads(run("describe", "--json", "callable")[1])[0] == found


def test_each_command_that_prints_a_report_has_json():
    from operator_schema.workbench.cli.app import commands

    with_json = {
        name for name, command in commands().items() if "as_json" in {one.name for one in command.params}
    }
    assert with_json == {"schema", "decode", "check", "tools", "describe", "diff", "replay", "probe", "store"}
