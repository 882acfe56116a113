"""Lines of files in any language: which are found, which files are read, and what a call may take."""

from __future__ import annotations

import itertools
import re

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema import Executor, RawCall
from operator_schema.code_tools import CodeBase, code_tools

WORDS = ["", "ab", "abc def", "ABC", "a.b", "f(x)", "aab ba", "x = [1]", "  ab\tcd", "ab|cd"]
ATOMS = ["a", "b", ".", "[a-c]", r"\w", r"\.", r"\(", "(ab)"]
PATTERNS = [
    *WORDS[1:4],
    *(
        f"{one}{sign}{other}"
        for one, sign, other in itertools.product(ATOMS, ("", "*", "+", "?", "{2}"), ATOMS)
    ),
    *(f"^{one}" for one in ATOMS),
    *(f"{one}$" for one in ATOMS),
    *(f"{one}|{other}" for one, other in itertools.product(["ab", "f", r"x\s"], ["cd", "AB", "d$"])),
]


def locations(found):
    return [one["location"] for one in found["lines"]]


def test_the_lines_are_those_that_re_finds(tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(WORDS))
    base = CodeBase(tmp_path)
    for pattern in PATTERNS:
        expected = [f"a.txt:{number}" for number, line in enumerate(WORDS, 1) if re.search(pattern, line)]
        assert locations(base.search_text(pattern)) == expected, pattern


def test_files_in_any_language_are_read_but_for_what_git_ignores(tmp_path):
    files = ["a.swift", "README", "deep/b.go", "deep/er/c.css", ".github/d.yml"]
    others = ["build/e.txt", "f.log", "node_modules/g.js", ".git/config", "deep/h.tmp"]
    for path in [*files, *others]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("package p\n// needle\n")
    (tmp_path / ".gitignore").write_text("build/\n*.log\n")
    (tmp_path / "deep" / ".gitignore").write_text("*.tmp\n")
    (tmp_path / "binary").write_bytes(b"needle\0needle")
    (tmp_path / "link").symlink_to(tmp_path / "a.swift")
    base = CodeBase(tmp_path)
    assert sorted(locations(base.search_text("needle"))) == sorted(f"{path}:2" for path in files)
    assert locations(base.search_text("needle", "deep")) == ["deep/b.go:2", "deep/er/c.css:2"]
    assert locations(base.search_text("needle", "*.css")) == ["deep/er/c.css:2"]
    (tmp_path / "a.swift").write_text("nothing")
    (tmp_path / "new").write_text("needle")
    assert "new:1" in locations(base.search_text("needle"))
    assert "a.swift:2" not in locations(base.search_text("needle"))


def test_a_line_of_code_has_the_declaration_around_it(tmp_path):
    (tmp_path / "a.py").write_text("class A:\n    def f(self):\n        # needle\n        pass\n")
    (line,) = CodeBase(tmp_path).search_text("needle")["lines"]
    assert line == {"location": "a.py:3", "line": "# needle", "inside": "A.f"}


@pytest.mark.parametrize("pattern", ["f(", "[a", r"(a)\1", "(?<=a)b", "a" * 1000 + "("])
def test_what_is_no_expression_is_searched_as_a_text(tmp_path, pattern):
    (tmp_path / "a.txt").write_text(f"x {pattern} y\nab\n")
    found = CodeBase(tmp_path).search_text(pattern) if len(pattern) <= 1000 else None
    if found is None:
        with pytest.raises(ValueError, match="1 to 1,000"):
            CodeBase(tmp_path).search_text(pattern)
        return
    assert locations(found) == ["a.txt:1"]
    assert "the text itself was" in found["note"]


def test_no_expression_takes_long(tmp_path):
    (tmp_path / "a.txt").write_text(f"{'a' * 5000}!\n" * 3)
    assert CodeBase(tmp_path).search_text(r"^(a+)+$")["lines"] == []


def test_what_is_left_out_is_said(tmp_path):
    (tmp_path / "a.txt").write_text(f"needle {'x' * 1000}\n" * 300)
    found = CodeBase(tmp_path, budget=1000).search_text("needle", limit=200)
    assert found["more"] == 100
    assert "left out" in found["note"]
    assert all(len(one["line"]) < 250 for one in found["lines"])
    assert "No line" in CodeBase(tmp_path).search_text("nothing")["note"]


@pytest.mark.parametrize("limit", [0, 201])
def test_limits_have_bounds(tmp_path, limit):
    with pytest.raises(ValueError, match="from 1 to 200"):
        CodeBase(tmp_path).search_text("a", limit=limit)


ARGUMENTS = {
    "inspect": {"name": "f"},
    "search": {"pattern": "*"},
    "search_text": {"pattern": "f"},
    "read_func": {"name": "f"},
    "references": {"name": "f"},
    "implements": {"name": "A"},
    "overview": {},
    "check_syntax": {"code": "x = 1"},
    "check_patch": {"diff": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-class A: ...\n+class B: ...\n"},
}


@pytest.mark.parametrize("type_checks", [False, True])
def test_null_is_as_if_a_parameter_were_left_out(tmp_path, type_checks):
    (tmp_path / "a.py").write_text("class A: ...\ndef f(): ...\n")
    tools = code_tools(tmp_path, type_checks=type_checks)
    assert {tool.name for tool in tools} == set(ARGUMENTS)
    executor = Executor(tools)
    for tool in tools:
        schema = tool.input_schema()
        given = ARGUMENTS[tool.name]
        nulls = {name: None for name in schema["properties"] if name not in schema.get("required", [])}
        bare, full = (
            executor.run_sync(RawCall("1", tool.name, each)) for each in (given, {**nulls, **given})
        )
        assert not bare.is_error, bare.content
        assert full.content == bare.content


@pytest.mark.parametrize("type_checks", [False, True])
def test_types_are_only_offered_to_be_checked_where_they_can_be(tmp_path, type_checks):
    tools = code_tools(tmp_path, type_checks=type_checks)
    offered = [tool.name for tool in tools if "type_check" in tool.input_schema()["properties"]]
    assert offered == (["check_syntax"] if type_checks else [])


FILES = {
    "desk/pay.py": "def pay():\n    return 1\n",
    "desk/deep/use.py": "from desk.pay import pay\n\nprint(pay())\n",
    "notes.txt": "pay\n",
    "build/out.py": "from desk.pay import pay\n\nprint(pay())\n",
    ".gitignore": "build/\n",
}
SPELLINGS = ["{}", "./{}", "{}/", ".//{}/.", " {} ", "desk/../{}", "{root}/{}", "{root}/desk/../{}/"]


@pytest.fixture
def desk(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return CodeBase(tmp_path)


def answers_at(desk, path):
    return [desk.search_text("pay", path), desk.references("pay", path), desk.overview(path)]


@pytest.mark.parametrize(
    "path", ["", "desk", "desk/deep", "desk/pay.py", "desk/*.py", "build", "nothing", ".."]
)
def test_a_path_means_the_same_however_it_is_written(desk, path):
    expected = answers_at(desk, path)
    for spelling in SPELLINGS:
        assert answers_at(desk, spelling.format(path, root=desk.root)) == expected, spelling


@pytest.mark.parametrize(
    ("path", "note"),
    [
        ("nothing", "There is no file nothing below the root."),
        ("desk/nothing.py", "There is no file desk/nothing.py below the root."),
        ("nothing/*.py", "There is no file nothing/*.py below the root."),
        ("../elsewhere", "../elsewhere is outside of the root."),
        ("/elsewhere", "/elsewhere is outside of the root."),
        ("build/out.py", "build/out.py is ignored, by .gitignore:1 build/."),
    ],
)
def test_a_path_without_files_is_named_by_each_tool_that_takes_one(desk, path, note):
    for answer in answers_at(desk, path):
        assert answer["note"] == note


def test_a_path_with_files_is_not_blamed_for_what_they_do_not_have(desk):
    assert "note" not in desk.references("pay", "desk/pay.py")
    assert desk.search_text("zzz", "desk")["note"] == "No line of a file that git doesn't ignore has this."
    assert (
        desk.search_text("zzz", "notes.txt")["note"] == "No line of a file that git doesn't ignore has this."
    )
