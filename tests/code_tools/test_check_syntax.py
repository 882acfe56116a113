"""Snippets of Go, Python and Rust, judged without being run."""

from __future__ import annotations

import threading
import time
import tracemalloc

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from hypothesis import given
from hypothesis import strategies as st
from patience import assert_linear, assert_takes

from operator_schema.code_tools import CodeBase, index, parsing

VALID = [
    ("go", "function_body", "return user, nil"),
    ("go", "statements", "x := 1\nif x > 0 {\n\tx++\n}"),
    ("go", "expression", "users[0].Name + fmt.Sprint(1)"),
    ("go", "file", "package p\n\nfunc main() {}\n"),
    ("go", "file", "var a = 1\nx := 2\n"),
    ("python", "function_body", "return user, None"),
    ("python", "function_body", "    x = 1\n    return await f(x)"),
    ("python", "statements", "for x in y:\n    continue\nbreak"),
    ("python", "expression", "[x async for x in y] if z else await q"),
    ("python", "file", "import a\n\n\ndef f(): ...\n"),
    ("python", "file", "x = '\\d'\n"),
    ("rust", "statements", "let x = vec![1, 2];"),
    ("rust", "expression", "a.b(1)? + 2"),
    ("rust", "file", "fn main() {}"),
]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return CodeBase(tmp_path_factory.mktemp("empty"))


@pytest.mark.parametrize(("language", "context", "code"), VALID)
def test_what_is_valid(base, language, context, code):
    found = base.check_syntax(code, context, language=language)
    assert (found["valid"], found["errors"]) == (True, [])
    assert found.keys() == {"valid", "errors", "checked_as"}


@pytest.mark.parametrize(
    ("language", "context", "code", "position", "said"),
    [
        ("go", "statements", "if user != nil {", "1:16", "missing closing brace"),
        ("go", "statements", "x := 1\ny = = 2", "2:5", "can't be read from here"),
        ("go", "statements", "} func q() {", "1:1", "closes what was never opened"),
        ("go", "file", "package p\nfunc f() { g( }", "2:15", "does not close '('"),
        ("go", "file", "package p\n\nvar a = 1\n/* é */ x := 1\ny := 2\n", "4:9", "outside of a function"),
        ("go", "expression", "a; b", "1:1", "isn't one expression"),
        ("go", "function_body", 'x := "}" // {', None, None),
        ("python", "statements", "if user is not None:", None, "expected an indented block"),
        ("python", "file", "x = (1", "1:5", "was never closed"),
        ("python", "file", "return 1", "1:1", "'return' outside function"),
        ("python", "function_body", "break", "1:1", "'break' outside loop"),
        ("python", "file", "x = 1\0", "1:6", "null character"),
        ("rust", "statements", "let x = (1;", None, "never closed"),
    ],
)
def test_what_is_wrong_has_a_place_and_a_reason(base, language, context, code, position, said):
    found = base.check_syntax(code, context, language=language)
    assert found["valid"] is (said is None)
    if said is not None:
        assert said in found["errors"][0]["message"]
        assert position in {None, found["errors"][0]["position"]}


def test_suggestions(base):
    assert base.check_syntax("if user != nil {", "statements", language="go")["suggestions"] == ["Add '}'"]
    found = base.check_syntax("return 1", language="python")
    assert found["suggestions"] == ["Use the context function_body for the inside of a function"]


def test_the_main_language_is_that_of_most_files(tmp_path):
    (tmp_path / "a.go").write_text("package a")
    base = CodeBase(tmp_path)
    assert not base.check_syntax("def f(): ...")["valid"]
    assert base.check_syntax("package a")["checked_as"].startswith("go, as tree-sitter-go ")
    with pytest.raises(ValueError, match="the language is one of python, go, rust"):
        base.check_syntax("x", language="cobol")


@pytest.mark.parametrize("language", ["go", "python", "rust"])
@pytest.mark.parametrize(
    "code",
    ["(" * 10_000, "[" * 10_000 + "]" * 10_000, "a." * 50_000, "x" * 190_000, "not " * 40_000, "\ud800"],
)
def test_hostile_snippets_have_an_answer_in_time(base, language, code):
    def check():
        assert isinstance(base.check_syntax(code, "file", language=language)["valid"], bool)

    assert_takes(10, check)
    too_long = base.check_syntax("x" * 200_001, language=language)
    assert not too_long["valid"]


@given(
    st.text(max_size=300),
    st.sampled_from(["file", "function_body", "expression", "statements"]),
    st.sampled_from(["go", "python", "rust"]),
)
def test_any_text_has_an_answer(code, context, language):
    found = CodeBase(".").check_syntax(code, context, language=language)
    assert found["valid"] is (not found["errors"])


@pytest.mark.needs_process
def test_types_are_checked_with_what_the_project_has(tmp_path):
    base = CodeBase(tmp_path, type_checks=True)
    found = base.check_syntax('x: int = "a"\nreturn x', "function_body", type_check=True, language="python")
    if "no type checker was found" in found["checked_with"]:
        assert found["valid"]
        return
    assert found["checked_with"] in {"ty", "pyright", "mypy"}
    assert found["errors"][0]["position"].startswith("1:")


def test_a_language_without_a_checker_says_so(tmp_path):
    base = CodeBase(tmp_path, type_checks=True)
    found = base.check_syntax("fn main() {}", type_check=True, language="rust")
    assert found["checked_with"] == "no type checker for rust is known"


CONTINUED = "\\\n" * 60_000


@pytest.fixture
def hurry(monkeypatch):
    """Let the parser give up sooner: what these tests give it takes minutes."""
    monkeypatch.setattr(parsing, "_SECONDS", 0.03)


@pytest.mark.slow("reads a text that is hard to parse")
@pytest.mark.usefixtures("hurry")
def test_a_text_that_takes_the_parser_too_long_is_said_in_time(tmp_path):
    base = CodeBase(tmp_path)

    def check():
        checked = [
            base.check_syntax(text, "file", language=language)
            for text, language in [
                (CONTINUED, "python"),
                ("a\\\n" * 50_000, "python"),
                ("case a:\n" * 20_000, "go"),
            ]
        ]
        assert [one["valid"] for one in checked] == [False, False, False]
        assert "too long to parse" in checked[2]["errors"][0]["message"]

    assert_takes(15, check)  # without a limit, minutes


@pytest.mark.slow("checks a text many times")
@pytest.mark.parametrize(
    ("code", "language"),
    [
        (CONTINUED, "python"),
        ("def f():\n x = " + "# x\n" * 15_000, "python"),
        ("case a:\n" * 20_000, "go"),
        ("def f(): ...\n" * 300, "python"),
        (";" * 100_000, "rust"),
    ],
)
@pytest.mark.usefixtures("hurry")
def test_no_memory_is_kept_of_what_was_checked(base, code, language):
    tracemalloc.start()
    try:
        base.check_syntax(code, "file", language=language)
        before = tracemalloc.get_traced_memory()[0]
        base.check_syntax(code, "file", language=language)
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert kept < 5_000_000 + 20 * len(code)  # the parser keeps the parts that it got of a long text


def test_a_few_continued_lines_are_read(base):
    assert base.check_syntax("x = 1 + " + "\\\n" * 900 + "2\n", language="python")["valid"]


@pytest.mark.slow("measures growth")
@pytest.mark.parametrize(
    "unit",
    [
        *("lambda:0\n", "def f(): pass\n", "class f: pass\n"),
        *("{0:0 for x in y}\n", "[0 for x in y]\n", "[0for x in y]\n", "{1jfor x in y}\n"),
    ],
)
def test_many_functions_that_are_alike_take_time_that_grows_with_their_number(base, unit):
    def check(count):
        assert base.check_syntax(unit * count, "file", language="python")["valid"]

    assert_linear(check, 625, slack=4)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("lambda: (yield)", None),
        ("class A:\n    'doc'\n    x = [y for y in z if (lambda: y)()]", None),
        (
            "def f():\n    'doc'\n    {a: b async for a in c}",
            "asynchronous comprehension outside of an asynchronous",
        ),
        ("def f(x):\n    'doc'\n    global x", "name 'x' is parameter and global"),
        ("class A:\n    [(yield) for y in z]", "'yield' inside list comprehension"),
        ("class A:\n    [(y := 1) for y in z]", "assignment expression cannot"),
        ("lambda x, x: 0", "duplicate argument 'x' in function definition"),
    ],
)
def test_what_is_wrong_inside_of_functions_is_found_as_before(base, code, said):
    found = base.check_syntax(code, "file", language="python")
    assert found["valid"] == (said is None)
    assert said is None or said in found["errors"][0]["message"]


@pytest.mark.usefixtures("hurry")
def test_a_file_that_takes_the_parser_too_long_is_skipped_and_said(tmp_path, monkeypatch):
    (tmp_path / "hard.py").write_text(CONTINUED)
    (tmp_path / "easy.py").write_text("def f(): ...\n")
    base = CodeBase(tmp_path)
    ran = []
    ticking = threading.Thread(target=lambda: [ran.append(time.sleep(0.01)) for _ in range(20)])
    ticking.start()
    assert base.inspect("f")["found"]
    ticking.join()
    assert base.skipped == {"hard.py": "it takes too long to parse"}
    read, language_of = [], index.known_language
    monkeypatch.setattr(index, "known_language", lambda path: read.append(path) or language_of(path))
    assert base.refresh() == 0
    assert read == []  # it isn't tried again while it stays as it is
    (tmp_path / "hard.py").write_text("def g(): ...\n")
    assert base.inspect("g")["found"]
    assert base.skipped == {}
    assert set(read) == {"hard.py"}
