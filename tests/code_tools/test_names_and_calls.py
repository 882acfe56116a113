"""What isn't declared any more is neither found nor suggested, and what has no name isn't called by one."""

import sys

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools import CodeBase
from operator_schema.code_tools.index import Index
from operator_schema.code_tools.language import language_named
from operator_schema.code_tools.parsing import _parser_of


def write(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)


def suggested(base, name):
    return base.inspect(name).get("nearest", [])


@pytest.mark.parametrize(
    "change", [lambda file: file.unlink(), lambda file: file.write_text("def weight(): ...\n")]
)
def test_a_name_that_is_gone_is_not_suggested(tmp_path, change):
    write(tmp_path, a="def velocity(): ...\n", b="def distance(): ...\n")
    base, index = CodeBase(tmp_path), Index(str(tmp_path))
    index.refresh()
    assert "velocity" in str(suggested(base, "velocty"))
    change(tmp_path / "a.py")
    index.refresh()
    assert "velocity" not in str(suggested(base, "velocty"))
    assert not base.inspect("velocity")["found"]
    assert "velocity" not in [*index.names()]  # in memory, either
    assert base.inspect("distance")["found"]


def test_a_name_that_is_left_in_one_file_is_found_there(tmp_path):
    write(tmp_path, a="def speed(): ...\n", b="def speed(): ...\n")
    base, index = CodeBase(tmp_path), Index(str(tmp_path))
    assert (base.refresh(), index.refresh()) == (2, 2)
    (tmp_path / "a.py").unlink()
    assert base.inspect("speed")["location"] == "b.py:1"
    write(tmp_path, b="def weight(): ...\n", c="x = 1\n\ndef speed(): ...\n")
    assert base.inspect("speed")["location"] == "c.py:3"
    index.refresh()
    assert sorted(index.names()) == ["speed", "weight", "x"]


def test_one_overload_stands_behind_its_implementation(tmp_path):
    write(
        tmp_path,
        a="from typing import overload\n\n@overload\ndef f(a: int) -> int: ...\n\ndef f(a):\n    return a\n",
        b="class A:\n    def g(self): ...\n\nclass B:\n    def g(self): ...\n",
    )
    base = CodeBase(tmp_path)
    assert base.inspect("f")["location"] == "a.py:6"
    assert base.inspect("g")["location"] == "b.py:2"


def test_only_what_has_a_name_is_a_call_by_name(tmp_path):
    lines = ["one()", "two()()", "table[0](3)", "(lambda: 4)()", "five.six.seven()", "return eight(nine())"]
    body = "".join(f"    {line}\n" for line in lines)
    write(tmp_path, a=f"def f():\n{body}")
    calls = [one["name"] for one in CodeBase(tmp_path).read_func("f")["calls"]]
    assert sorted(calls) == ["eight", "five.six.seven", "nine", "one", "two"]


@pytest.mark.parametrize(
    ("target", "path", "meant"),
    [
        ("a.b", "p/q/r/s.py", "a.b"),
        (".", "p/q/r/s.py", "p.q.r"),
        (".t.f", "p/q/r/s.py", "p.q.r.t.f"),
        ("..t", "p/q/r/s.py", "p.q.t"),
        ("...t", "p/q/r/s.py", "p.t"),
        ("..", "p/q/r/__init__.py", "p.q"),
        (".t", "s.py", "t"),
    ],
)
def test_an_import_with_dots_begins_at_the_folder_of_its_file(target, path, meant):
    assert language_named("python").import_target(target, path) == meant


def test_a_grammar_that_isnt_installed_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "tree_sitter_go", None)
    _parser_of.cache_clear()
    with pytest.raises(ModuleNotFoundError, match="need tree-sitter-go: pip install"):
        language_named("go").parse(b"package p\n")
    monkeypatch.undo()
    assert language_named("go").parse(b"package p\n\nvar x = 1\n").declarations
