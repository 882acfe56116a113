"""What a program may get wrong in what it asks and answers, and how it is told."""

from __future__ import annotations

import json
import sys
from binascii import b2a_base64
from typing import TYPE_CHECKING, Any

import pytest

from operator_schema import Executor, RawCall, Registry, tool
from operator_schema.adapters.process import answer, tools_of

if TYPE_CHECKING:
    from pathlib import Path


PICTURE = b2a_base64(b"\x89PNG\r\n\x1a\n" + b"x" * 8, newline=False).decode()
SOUND = b2a_base64(b"RIFF\0\0\0\0WAVE" + b"x" * 8, newline=False).decode()


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ('{"action": "schema",}', "the request isn't JSON: not valid JSON at line 1 column 20"),
        ("", "the request isn't JSON: "),
        ("[]", 'a request is an object whose "action" is one of "schema", "run"'),
        ({"action": "run"}, 'the "tool" of a request is the name of a tool'),
        ({"action": "run", "tool": "add", "answers": []}, '"answers"'),
    ],
    ids=["trailing comma", "nothing", "an array", "no tool", "answers"],
)
def test_a_wrong_request_is_answered_with_what_is_wrong(request_: object, said: str) -> None:
    answered = answer([add], request_)
    assert answered["code"] == "invalid_request"
    assert said in answered["message"]


def parts_of(folder: Path, *parts: Any) -> list[str]:
    """Return what becomes of content parts that a program answers."""
    tools = {"tools": [{"name": "show", "input_schema": {"type": "object"}}]}
    shown = {"type": "success", "content": "x", "parts": parts}
    path = folder / "program.py"
    answers = {"schema": json.dumps(tools), "run": json.dumps(shown)}
    source = f"import json, sys\nprint({answers}[json.load(sys.stdin)['action']])\n"
    path.write_text(source, encoding="utf-8")
    executor = Executor(Registry(tools_of([sys.executable, str(path)])))
    return [str(part) for part in executor.run_sync(RawCall("1", "show", {})).parts]


@pytest.mark.needs_process
def test_parts_that_are_broken_are_told_as_such(tmp_path: Path) -> None:
    broken = [
        f"{PICTURE[:8]}*{PICTURE[8:]}",
        f"{PICTURE[:8]}\n{PICTURE[8:]}",
        PICTURE + PICTURE,
        "%%%",
        "=",
        3,
        None,
    ]
    parts = [{"type": "image", "media_type": "image/png", "data": data} for data in broken]
    found = parts_of(tmp_path, *parts, {"type": "image", "data": "YQ=="}, "text", {"type": "text"})
    assert len(found) == len(parts) + 3
    assert all("a part that can't be shown" in part for part in found)


@pytest.mark.needs_process
def test_parts_that_are_right_are_what_they_are(tmp_path: Path) -> None:
    found = parts_of(
        tmp_path,
        {"type": "text", "text": "hello"},
        {"type": "image", "media_type": "image/png", "data": PICTURE},
        {"type": "audio", "media_type": "audio/wav", "data": SOUND},
        {"type": "file", "media_type": "text/plain", "data": "YQ==", "name": "a.txt"},
        {"type": "resource", "uri": "file:///a", "text": "b"},
    )
    assert [part.partition("(")[0] for part in found] == ["Text", "Image", "Audio", "File", "Resource"]
    assert "a.txt" in found[3]
    assert "file:///a" in found[4]
