"""What a server says of itself reaches a terminal escaped, and on the lines where it belongs."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("mcp")

from operator_schema import Finding
from operator_schema.message_text import escape
from operator_schema.workbench.cli import main
from operator_schema.workbench.cli.output import Printer
from operator_schema.workbench.probe.calls import Call
from operator_schema.workbench.probe.checks import CHECKS
from operator_schema.workbench.probe.report_files import as_html, as_junit
from operator_schema.workbench.probe.reports import LEVELS, FoundFault, Plan, ProbeReport
from operator_schema.workbench.probe.sequences import Step

SERVER = r"""
import json, sys

RED = "\x1b[31m\x9b31mred\u202e\u2028"
NAMES = [RED, "two\nlines\n::error::forged", "carriage\rreturn\x07", "\x1b]0;title\x07"]

def schema(name):
    inner = {"type": "string", "description": RED, "enum": [RED, "a\nb"]}
    return {"type": "object", "properties": {name: inner, "n": {"type": "integer"}}, "required": [name]}

def tool(name):
    said = {"readOnlyHint": True, "title": name}
    return {"name": name, "description": f"Say {name}.\n{RED}", "inputSchema": schema(name),
            "outputSchema": {"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]},
            "annotations": said}

for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    match request["method"]:
        case "initialize":
            version, info = request["params"]["protocolVersion"], {"name": RED, "version": RED}
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            result = {"tools": [tool(name) for name in NAMES]}
        case "tools/call":
            print(f"noise {RED}", file=sys.stderr)
            data = {request["params"]["name"]: RED}
            content = [{"type": "text", "text": f"{RED}\n::error::forged"}]
            result = {"content": content, "structuredContent": data}
        case _:
            result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""

COMMANDS = [
    ["probe", "--dry-run"],
    *[["probe", "--calls", "1", "--seconds", "4", "--level", "note", *more] for more in ([], ["--json"])],
    ["probe", "--calls", "1", "--seconds", "4", "--format", "github"],
    ["check", "--level", "note"],
    ["check", "--verbose", "--tokens"],
    ["check", "--format", "github"],
    ["snapshot"],
]


@pytest.mark.needs_process
@pytest.mark.slow("starts a server for each command, and probes it")
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_prints_what_a_terminal_or_a_ci_system_obeys(words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.py").write_text(SERVER, encoding="utf-8")
    main([*words, f"mcp:{shlex.join([sys.executable, '-S', str(tmp_path / 'server.py')])}"])
    shown = "".join(capsys.readouterr())
    assert "u001b" in shown
    assert [line for line in shown.split("\n") if not line.isprintable()] == []
    forged = [line for line in shown.split("\n") if re.match(r"\s*(::error::|lines$)", line)]
    assert forged == []


ANYTHING = st.text(st.characters() | st.sampled_from("\x1b\x9b\r\n\t\x00\u2028\u202e"))
WRITERS = {
    "line": lambda output, text: output.line(text),
    "styled": lambda output, text: output.styled((text, "bold"), (text, "")),
    "table": lambda output, text: output.table(("a", "b"), [(text, text)], frozenset()),
    "changed": lambda output, text: output.changed("+", text),
    "json": lambda output, text: output.json({text: text}),
}


@pytest.mark.parametrize("how", WRITERS)
@given(text=ANYTHING)
def test_any_text_stays_on_its_line(how, text):
    def lines(shown):
        stream = io.StringIO()
        WRITERS[how](Printer(stream), shown)
        return stream.getvalue().split("\n")

    assert all(line.isprintable() for line in lines(text))
    assert len(lines(text)) == len(lines("plain"))


def test_what_is_json_stays_json():
    stream = io.StringIO()
    value = {"a\x1b\n": ["\u2028", "\x9b"]}
    Printer(stream).json(value, 2)
    assert json.loads(stream.getvalue()) == value


# --- the reports for other programs ----------------------------------------------------------------

MARKS = "\x00\x0b\n\r\x85\u2028\ufffe\uffff\ud800\udfff\U0001fffe"
REPORTED = st.text(st.characters() | st.sampled_from(MARKS)) | st.sampled_from(
    [
        "]]>",
        "<![CDATA[",
        "&#0;",
        "<!--",
        "</testcase>",
        '" name="x',
        "x\nfix: forged",
        "</title><script>",
        "\x00",
    ]
)


@st.composite
def founds(draw: st.DrawFn) -> FoundFault:
    texts = REPORTED.filter(bool)
    path = tuple(draw(st.lists(texts | st.integers(0, 9), max_size=2)))
    finding = Finding(path, draw(st.sampled_from(list(CHECKS))), draw(texts), tool=draw(st.none() | texts))
    finding = finding.replace(remedy=draw(st.none() | texts), severity=draw(st.sampled_from(LEVELS)))
    call = Call(draw(texts), {draw(texts): draw(texts)}, "valid", "")
    return FoundFault(finding, draw(st.sampled_from([(), (Step(call),)])), True, draw(REPORTED))


@pytest.mark.slow("writes and parses a report and a page for each example")
@given(found=st.lists(founds(), max_size=3), target=REPORTED, called=st.lists(REPORTED, max_size=2))
def test_reports_can_be_read_whatever_a_server_says(found, target, called):
    plans = [Plan(name, True, "", {}, None) for name in called]
    report = ProbeReport(target, found, plans, 1, 0, [], True, 0)
    suite = ET.fromstring(as_junit(report, found, ["error"]).encode())  # noqa: S314  # our own
    assert suite.get("name") == escape(f"probe {target}")
    cases = {(case.get("classname"), case.get("name")): "".join(case.itertext()) for case in suite}
    named = {(each.finding.tool or "server", each.finding.code) for each in found}
    named |= {(name, check) for name in called for check in CHECKS}
    assert cases.keys() == {(escape(tool), check) for tool, check in named}
    assert int(suite.get("tests", "")) == len(named)
    for each in found:
        lines = cases[escape(each.finding.tool or "server"), each.finding.code].split("\n")
        assert {escape(line) for line in each.lines()} <= set(lines)
        assert sum(line.startswith("fix: ") for line in each.lines()) == (each.finding.remedy is not None)
    assert all(line.isprintable() for text in cases.values() for line in text.split("\n"))

    assert all(line.isprintable() for line in str(report).split("\n"))
    assert sum(line.startswith(LEVELS) for line in str(report).split("\n")) <= len(found) + 1

    page = as_html(report, found)
    assert all(line.isprintable() for line in page.split("\n"))
    read = ReadPage(page)
    assert read.open == []
    assert read.texts[:2] == ["\n".join(map(escape, target.split("\n")))] * 2 or not target.strip()
    assert {"script", "img"}.isdisjoint(read.tags)
    cells = "\n".join(read.texts)
    assert all(
        "\n".join(map(escape, (each.finding.tool or "").split("\n"))).strip() in cells for each in found
    )


class ReadPage(HTMLParser):
    """The tags of a page, its texts, and the tags that it doesn't close."""

    ALONE = frozenset({"meta"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        self.tags.add(tag)
        self.open += [] if tag in self.ALONE else [tag]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and "style" not in self.open:
            self.texts.append(data)
