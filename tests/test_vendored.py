"""The folder, copied into another package under another name, works for everything but the adapters."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import operator_schema

PACKAGE = Path(operator_schema.__file__).parent
CORE = {"introspect", "schema", "codec", "tools", "rounds", "execution", "providers"}

PROGRAM = '''
import asyncio
import sys

from acme._vendor import operator_schema as o
from acme._vendor.operator_schema import providers
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
calls = [o.RawCall("1", "add", '{"a": 1, "b": "x"}'), o.RawCall("2", "find", {"Name": "a"})]
registry = o.Registry(tools)
wrong, found = o.Executor(registry).run_sync(calls)
assert "- b: expected integer" in wrong.content, wrong
assert found.json == {"name": "a"}, found
assert o.Executor(registry).run_sync(o.RawCall("1", "add", {"a": 1})).json == 1
plan = o.Toolset(add).offer().round([o.RawCall("1", "add", {"a": 1, "b": 2})])
plan = asyncio.run(o.Executor(registry).run(plan))
assert plan.handled[0].result.json == 3
sent = providers.openai_chat.request(o.Toolset(registry).offer(strict=True))
assert sent["tools"][0]["function"]["name"] == "add"
assert o.Codec(list[int], repair=True).decode('["1"]') == [1]
try:
    from acme._vendor.operator_schema import DuplicateToolError
except ImportError as error:
    assert str(error).endswith("it is in acme._vendor.operator_schema.errors"), error
try:
    from acme._vendor.operator_schema import nothing
except ImportError as error:
    assert "cannot import name 'nothing'" in str(error), error
for name in o.__all__:
    getattr(o, name)
assert "operator_schema" not in sys.modules
print("as expected")
'''


def test_no_module_names_the_package_by_its_own_name() -> None:
    absolute = re.compile(r"^\s*(from|import) operator_schema\b", re.MULTILINE)
    for path in PACKAGE.rglob("*.py"):
        assert not absolute.search(path.read_text(encoding="utf-8")), path


@pytest.mark.needs_process
@pytest.mark.needs_threads
@pytest.mark.parametrize("folders", [None, CORE])
def test_tools_rounds_and_providers_work_in_a_copy(tmp_path: Path, folders: set[str] | None) -> None:
    vendor = tmp_path / "acme" / "_vendor"
    others = {path.name for path in PACKAGE.iterdir() if path.is_dir()} - (folders or set())
    left_out = shutil.ignore_patterns("__pycache__", *(others if folders else ["adapters"]))
    shutil.copytree(PACKAGE, vendor / "operator_schema", ignore=left_out)
    for folder in (vendor, vendor.parent):
        (folder / "__init__.py").touch()
    (tmp_path / "program.py").write_text(PROGRAM)
    arguments = [
        sys.executable,
        "-I",
        "-S",
        "-c",
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import program",
    ]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("as expected\n", "")
