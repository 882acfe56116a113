"""The session in docs/code-tools.md is what the tools answer about this library now."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema import Executor, RawCall
from operator_schema.code_tools import code_tools

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "code-tools.md"
BEGIN, END = "<!-- recorded -->\n```text\n", "```\n<!-- end of recorded -->"

CALLS = [
    ("search", {"pattern": "*nearest*", "kind": "func", "limit": 3}),
    ("inspect", {"name": "nearest_nams"}),
    ("inspect", {"name": "nearest"}),
    ("read_func", {"name": "_with_nearest"}),
    ("check_syntax", {"code": 'found = nearest(name, known\nreturn found or ""', "context": "function_body"}),
    (
        "check_syntax",
        {"code": 'found = nearest(name, known)\nreturn found or ""', "context": "function_body"},
    ),
]


def recorded():
    """Return the calls and their answers, a line for each key and each item of an answer."""
    executor = Executor(code_tools(ROOT / "operator_schema"))
    told = []
    for tool, arguments in CALLS:
        answer = executor.run_sync(RawCall(None, tool, arguments))
        while "still have to be read" in answer.content:  # on a machine that is busy
            answer = executor.run_sync(RawCall(None, tool, arguments))
        assert not answer.is_error, answer.content
        told.append(f"{tool} {json.dumps(arguments)}\n{shown(json.loads(answer.content))}\n")
    return "\n".join(told)


def shown(answer):
    lines = []
    for key, value in answer.items():
        if isinstance(value, list):
            lines.append(f"  {json.dumps(key)}: [")
            lines += [f"    {json.dumps(item, ensure_ascii=False)}" for item in value]
            lines.append("  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines)


def stable(session):
    """Return what stays when something is added elsewhere, and on every Python.

    No numbers of lines and further results, and not as which Python code was judged.
    """
    return re.sub(r'(\.py:|"more": |python 3\.)\d+', r"\1N", session)


@pytest.mark.slow("answers a whole session again")
def test_the_recorded_session_is_what_the_tools_answer(request):
    session = recorded()
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    written, _, after = rest.partition(END)
    if request.config.getoption("--write-golden"):
        PAGE.write_text(f"{before}{BEGIN}{session}{END}{after}", encoding="utf-8")
        return
    assert stable(written) == stable(session), "pytest --write-golden tests/code_tools records it again"
