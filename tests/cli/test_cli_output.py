"""What the command writes."""

from __future__ import annotations

import io
import json
import os
import sys

import pytest
from cli_samples import process

from operator_schema.cli.output import Output, to_json


def test_json_escapes_what_a_terminal_could_obey():
    value = {"a": "\x7f\x9b\u2028\U000e0001é", "b": [1.5, None]}
    for indent in (None, 2):
        text = to_json(value, indent)
        assert json.loads(text) == value
        assert all(line.isprintable() for line in text.split("\n"))
        assert "é" in text
    assert to_json(value, ascii_only=True).isascii()


def test_a_stream_without_encoding_takes_everything():
    stream = io.StringIO()
    output = Output(stream)
    output.line("é")
    output.report("", "one\ntwo\x1b")
    assert stream.getvalue() == "é\none\ntwo\\u001b\n"


def test_a_narrow_stream_takes_every_line():
    raw = io.BytesIO()
    output = Output(io.TextIOWrapper(raw, encoding="ascii"))
    output.line("é…")
    output.flush()
    assert raw.getvalue() == b"\\xe9\\u2026" + os.linesep.encode()


@pytest.mark.needs_process
def test_the_package_and_its_command_line_do_not_import_rich(folder):
    code = (
        "import sys, operator_schema.cli; print(*[n for n in sys.modules if n.partition('.')[0] == 'rich'])"
    )
    assert process(["-c", code], folder, program=(sys.executable,)) == (0, "\n", "")


@pytest.mark.needs_process
@pytest.mark.parametrize("variable", ["GITHUB_ACTIONS", "TF_BUILD"])
@pytest.mark.parametrize("command", ["::warning::x", "  ::set-env name=a::b", "##[error]x", "##vso[task.x]y"])
def test_no_text_of_a_tool_is_a_command_of_a_ci(folder, variable, command):
    call = ["call", "host:count_named", json.dumps({"table": f"a\n{command}\n:: b"})]
    plain = process(call, folder)[1]
    assert plain == f"a\n{command}\n:: b\n"
    status, shown, _ = process(call, folder, **{variable: "true"})[:3]
    assert status == 0
    lines = shown.splitlines()
    assert not any(line.lstrip().startswith(("::", "##[", "##vso[")) for line in lines)
    assert lines[1].lstrip()[:6] in {"\\u003a", "\\u0023"}
