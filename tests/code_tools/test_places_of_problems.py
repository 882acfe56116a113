"""Where a problem of a snippet is, wherever the snippet begins."""

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools import CodeBase

BROKEN = [
    ("go", "statements", "x := := 1"),
    ("go", "statements", "if x == { y() }"),
    ("go", "function_body", "y(); x := := 1"),
    ("go", "expression", "f(1, ä, := 2)"),
    ("go", "file", "package p; var x := := 1"),
    ("rust", "statements", "let x = = 1;"),
    ("rust", "function_body", "let ü = 1; let = 2;"),
    ("rust", "expression", "f(1, , 2)"),
    ("rust", "file", "fn f() {} struct struct A;"),
    ("python", "statements", "x = = 1"),
    ("python", "function_body", "ä = 1; return return x"),
    ("python", "expression", "f(1, , 2)"),
    ("python", "file", "x = 1; def f(: pass"),
]


def places(base, code, context, language):
    found = base.check_syntax(code, context, language=language)
    assert not found["valid"]
    return [tuple(map(int, one["position"].split(":"))) for one in found["errors"]]


@pytest.mark.parametrize(("language", "context", "code"), BROKEN)
def test_a_problem_is_at_the_same_column_in_any_line(tmp_path, language, context, code):
    base = CodeBase(tmp_path)
    first = places(base, code, context, language)
    assert all(line == 1 and 1 < column <= len(code) + 1 for line, column in first)
    for lines in (1, 2, 7):
        shifted = [(line + lines, column) for line, column in first]
        assert places(base, "\n" * lines + code, context, language) == shifted


@pytest.mark.parametrize("before", ["", "\n", "  ", "\n    ", "\n\n  \n\t"])
@pytest.mark.parametrize("context", ["statements", "function_body", "expression"])
@pytest.mark.parametrize("after", ["", "\n", "  \n"])
def test_what_python_reads_without_its_indentation_keeps_its_place(tmp_path, before, context, after):
    code = f"{before}f(1, , 2){after}"
    line, indentation = before.count("\n") + 1, len(before.rpartition("\n")[2])
    assert places(CodeBase(tmp_path), code, context, "python") == [(line, indentation + 6)]


def test_a_later_line_of_an_indented_snippet_keeps_its_place(tmp_path):
    base = CodeBase(tmp_path)
    assert places(base, "\n    x = 1\n    if x:\n        y = = 1\n", "statements", "python") == [(4, 13)]
    assert places(base, "  (1,\n   2, , 3)", "expression", "python") == [(2, 7)]
