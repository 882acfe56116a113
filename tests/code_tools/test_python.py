"""Python: what is declared in the rarer ways."""

from __future__ import annotations

import argparse
import dataclasses
import logging
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools import CodeBase
from operator_schema.code_tools.language import language_named

SOURCE = """\
import os, a.b as c
from .near import (one as uno, two)
from typing import NewType, TypeAlias, Final

type Pair[T] = tuple[T, T]
UserId = NewType("UserId", int)
Names: TypeAlias = list[str]
LIMIT = other = 5
fixed: Final[int] = 3
first, (second, third) = 1, (2, 3)
box.attribute = 1
announced: int

if TYPE_CHECKING:
    class Inside:
        X = 1
else:
    def inside(): ...

try:
    import json
except ImportError:
    fallback = None

@decorator
async def wait(): uno(os.path.join("a")); c.run(two)

class Nested:
    class Inner:
        "Deep."
        def method(self): ...
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    root = tmp_path_factory.mktemp("python")
    (root / "a.py").write_text(SOURCE)
    return CodeBase(root)


def test_every_declaration_has_its_kind(code):
    found = {one["name"]: one["kind"] for one in code.search("a.py:*", limit=50)["results"]}
    assert found == {
        "Pair": "type",
        "UserId": "type",
        "Names": "type",
        "LIMIT": "const",
        "other": "var",
        "fixed": "const",
        "first": "var",
        "announced": "var",
        "Inside": "class",
        "Inside.X": "const",
        "inside": "func",
        "fallback": "var",
        "wait": "func",
        "Nested": "class",
        "Nested.Inner": "class",
        "Nested.Inner.method": "method",
    }


def test_values_and_documentation(code):
    assert code.inspect("Pair")["value"] == "tuple[T, T]"
    assert code.inspect("LIMIT")["value"] == "5"
    assert "value" not in code.inspect("announced")
    assert code.inspect("Inner")["definition"] == 'class Inner:\n    "Deep."\n    ...'


def test_imports_that_a_function_uses(code):
    found = code.read_func("wait")
    assert found["signature"] == "@decorator async def wait()"
    assert found["imports_used"] == [
        "import os",
        "import a.b as c",
        "from .near import one as uno",
        "from .near import two",
    ]
    assert [one["name"] for one in found["calls"]] == ["uno", "os.path.join", "c.run"]


def test_what_a_decorated_init_sets_is_a_field(tmp_path):
    methods = [f" @deco\n def {name}(self):\n  self.{name[-3]} = 1\n" for name in ("__init__", "other")]
    (tmp_path / "a.py").write_text(f"class A:\n a: int\n{''.join(methods)}")
    assert [one["name"] for one in CodeBase(tmp_path).inspect("A")["fields"]] == ["a", "t"]


def test_a_type_alias_is_where_its_name_is(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\ntype A[T] = (\n    list[T]\n)\n")
    found = CodeBase(tmp_path).inspect("A")
    assert (found["location"], found["kind"]) == ("a.py:2", "type")


def test_a_field_is_where_its_name_is():
    python = language_named("python")
    found = 0
    for module in (argparse, dataclasses, logging, tarfile, zipfile):
        source = Path(module.__file__).read_bytes()
        for one in python.parse(source).declarations:
            text = source[one.whole.start : one.whole.end]
            fields = python.fields(text) if one.kind == "class" else []
            assert all(text.startswith(field.name.encode(), field.at) for field in fields)
            found += len(fields)
    assert found > 200
