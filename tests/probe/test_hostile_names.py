"""What a server says of itself reaches a terminal escaped, and on the lines where it belongs."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("mcp")

from operator_schema.cli import main
from operator_schema.cli.output import Output

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
        WRITERS[how](Output(stream), shown)
        return stream.getvalue().split("\n")

    assert all(line.isprintable() for line in lines(text))
    assert len(lines(text)) == len(lines("plain"))


def test_what_is_json_stays_json():
    stream = io.StringIO()
    value = {"a\x1b\n": ["\u2028", "\x9b"]}
    Output(stream).json(value, 2)
    assert json.loads(stream.getvalue()) == value
