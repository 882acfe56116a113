"""The folder, or the parts of it that the page names, copied into another package under another name."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import operator_schema

PACKAGE = Path(operator_schema.__file__).parent
ENGINE = {"introspect", "schema", "codec"}
CORE = {*ENGINE, "tools", "rounds", "execution"}
FOLDERS = {path.name for path in PACKAGE.iterdir() if path.is_dir()}

OF_THE_ENGINE = """
import json
import pickle
import sys
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Literal
from uuid import UUID

import acme._vendor.operator_schema as o
from acme._vendor.operator_schema.types import URL


class Part(Enum):
    HOST = "host"
    PATH = "path"


@dataclass
class Place:
    latitude: float
    longitude: float


class Celsius(float):
    pass


LEAF = o.SchemaLeaf(Celsius, {"type": "number", "minimum": -273.15}, Celsius, float, Celsius(20))


@dataclass
class Search:
    url: URL
    parts: list[Part]
    near: Place
    heat: Annotated[Celsius, LEAF]
    unit: Literal["km", "mi"] = "km"
    id: UUID | None = None
    param_descriptions = {"near": "Where to look"}


NEAR = {"latitude": 1, "longitude": 2}
SENT = {"url": "https://a.example/b", "parts": ["host"], "near": NEAR, "heat": 21.5}
codec = o.Codec(Search)
for _ in range(300):  # until it is compiled
    found = codec.decode(SENT)
assert (found.near, found.parts, found.url.hostname) == (Place(1.0, 2.0), [Part.HOST], "a.example"), found
assert codec.decode_json(json.dumps(SENT)) == found
assert codec.encode(found) == {**SENT, "unit": "km"}, codec.encode(found)
schema = codec.json_schema()
assert schema["required"] == ["url", "parts", "near", "heat"], schema
assert schema["properties"]["near"]["description"] == "Where to look", schema
assert o.Codec(Search, repair=True).decode({**SENT, "parts": "Host", "Unit": "MI"}).unit == "mi"
assert pickle.loads(pickle.dumps(codec)).decode(SENT) == found
stream = codec.stream()
assert dict(stream.feed(json.dumps(SENT)[:30]).fields)["url"].hostname == "a.example"
try:
    codec.decode({**SENT, "parts": ["hots"], "heat": -300})
except o.DecodeError as error:
    assert [finding.path for finding in error.findings] == [("parts", 0), ("heat",)], error
    assert 'did you mean "host"' in str(error), error
else:
    raise AssertionError("-300 was taken")
try:
    o.Codec(Search, param_descriptions={"nera": "?"})
except o.SchemaError as error:
    assert 'Did you mean "near"' in str(error), error
assert o.decode(o.Codec(dict[str, int]).type, {"a": 1}) == {"a": 1}
try:
    o.tool
except ModuleNotFoundError as error:
    assert error.name == "acme._vendor.operator_schema.tools", error
assert "operator_schema" not in sys.modules
print("as expected")
"""

PROVIDERS = """
from acme._vendor.operator_schema import providers
sent = providers.openai_chat.request(o.Toolset(registry).offer(strict=True))
assert sent["tools"][0]["function"]["name"] == "add"
assert issubclass(o.AnswerError, Exception)
"""

RECORDED = """
from acme._vendor.operator_schema.testing import playback, record
path = "calls.jsonl"
call = o.RawCall("1", "add", {"a": 1, "b": 2})
record(o.Executor(registry), path, redact=["b"]).run_sync(call)
with open(path) as file:
    assert '"b":"[redacted]"' in file.read()
assert playback(registry, path).run_sync(call).json == 3
"""

PROGRAM = '''
import asyncio
import sys

from acme._vendor import operator_schema as o
from acme._vendor.operator_schema.tools import document_tool


@o.tool(read_only=True)
def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


def find(arguments: dict) -> object:
    """Find it."""
    return arguments


schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
tools = [add, document_tool(find, schema, name="find", repair=True)]
beside = {"__name__": "acme.own", "add": add}
exec("copied = add.with_(name='plus')", beside)
assert beside["copied"].home == "acme.own", beside["copied"].home
exec("""
class Unreadable(type):
    def __getattribute__(cls, name):
        if name == "__mro__":
            raise ValueError(name)
        return super().__getattribute__(name)

class Result(metaclass=Unreadable):
    pass

def give() -> Result:
    'Give it.'
""", beside)
try:
    o.tool(beside["give"])
except o.SchemaError as error:
    assert "its own code raised ValueError" in str(error), error
calls = [o.RawCall("1", "add", '{"a": 1, "b": "x"}'), o.RawCall("2", "find", {"Name": "a"})]
registry = o.Registry(tools)
wrong, found = o.Executor(registry).run_sync(calls)
assert "- b: expected integer" in wrong.content, wrong
assert found.json == {"name": "a"}, found
assert o.Executor(registry).run_sync(o.RawCall("1", "add", {"a": 1})).json == 1
plan = o.Toolset(add).offer().round([o.RawCall("1", "add", {"a": 1, "b": 2})])
plan = asyncio.run(o.Executor(registry).run(plan))
assert plan.handled[0].result.json == 3
assert o.Codec(list[int], repair=True).decode('["1"]') == [1]
try:
    from acme._vendor.operator_schema import DuplicateToolError
except ImportError as error:
    assert str(error).endswith("it is in acme._vendor.operator_schema.errors"), error
try:
    from acme._vendor.operator_schema import nothing
except ImportError as error:
    assert "cannot import name 'nothing'" in str(error), error
for name in set(o.__all__) - {"AnswerError"}:  # which is one of the providers'
    getattr(o, name)
assert "operator_schema" not in sys.modules
print("as expected")
'''


def test_no_module_names_the_package_by_its_own_name() -> None:
    absolute = re.compile(r"^\s*(from|import) operator_schema\b", re.MULTILINE)
    for path in PACKAGE.rglob("*.py"):
        assert not absolute.search(path.read_text(encoding="utf-8")), path


def test_no_module_takes_the_first_part_of_its_name_for_the_package() -> None:
    """In a copy that is `acme`: `python -m acme` would run something else."""
    for path in PACKAGE.rglob("*.py"):
        assert not re.search(r"__(name|package)__\.(split|partition)\(", path.read_text(encoding="utf-8")), (
            path
        )


ROWS = {
    "the engine": (ENGINE, OF_THE_ENGINE),
    "tools and rounds": (CORE, PROGRAM),
    "providers": ({*CORE, "providers"}, PROGRAM + PROVIDERS),
    "the runtime": (FOLDERS - {"workbench"}, PROGRAM + PROVIDERS + RECORDED),
    "all but adapters": (FOLDERS - {"adapters"}, PROGRAM + PROVIDERS + RECORDED),
}


@pytest.mark.needs_process
@pytest.mark.needs_threads
@pytest.mark.parametrize("row", ROWS)
def test_what_the_page_promises_works_in_a_copy(tmp_path: Path, row: str) -> None:
    folders, program = ROWS[row]
    vendor = tmp_path / "acme" / "_vendor"
    others = FOLDERS - folders
    shutil.copytree(
        PACKAGE, vendor / "operator_schema", ignore=shutil.ignore_patterns("__pycache__", *others)
    )
    for folder in (vendor, vendor.parent):
        (folder / "__init__.py").touch()
    (tmp_path / "program.py").write_text(program)
    arguments = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import program",
    ]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == "as expected\n"


def test_the_rows_are_those_of_the_page() -> None:
    page = (PACKAGE.parent / "docs" / "vendoring.md").read_text(encoding="utf-8")
    rows = page.split("|---|---|\n")[1].partition("\n\n")[0].split("\n")
    named = [set(re.findall(r"`(\w+)/`", row)) for row in rows]
    assert named == [ENGINE, CORE - ENGINE, {"providers"}, {"workbench"}]
