"""Snippets, checked in the function or file that they are for."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from patience import assert_takes

from operator_schema import CallError
from operator_schema.code_tools import CodeBase
from operator_schema.code_tools.syntax_check import without_fence

FILES = {
    "shop/users.py": (
        "import re\n\nLIMIT = 5\n\n\nclass Users:\n    def add(self, name: str) -> int:\n"
        "        return len(name)\n\n    @property\n    def size(self) -> int: return 1\n\n\n"
        "def plain(a: int) -> str:\n    return str(a)\n"
    ),
    "users/user.go": "package users\n\ntype User struct{ Email string }\n",
    "users/service.go": (
        'package users\n\nimport "fmt"\n\ntype Service struct{}\n\n// Create makes one.\n'
        "func (s *Service) Create(email string) (*User, error) {\n"
        '\treturn nil, fmt.Errorf("no %s", email)\n}\n\ntype Maker interface{ Make() int }\n'
    ),
    "go.mod": "module example.com/shop\n\ngo 1.19\n",
    "web/app.ts": """export class App {
  run(a: number): string { return `${a}`; }
  go = (b: number) => { return b; };
}
""",
    "lib/list.cpp": """struct List {
  List() : n_{1} { n_ = 2; }
  int n_;
};
int size(int a) { return a; }
""",
    "src/User.java": "class User {\n  int age() { return 1; }\n}\n",
    "src/lib.rs": "pub fn area(a: u32) -> u32 { a * 2 }\n",
    "broken.go": "package p\n\nfunc good() int { return 1 }\n\nfunc bad( {\n",
}


@pytest.fixture
def project(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.fixture
def code(project):
    return CodeBase(project)


VALID = [
    ("Users.add", "return LIMIT + len(name)"),
    ("Users.add", "    if name:\n        return 1\n    return 2\n"),
    ("Users.add", "def add(self, name: str) -> int:\n    return 2"),
    ("Users.size", "return 2"),
    ("plain", "x = '''\na\n'''\nreturn x"),
    ("plain", "@cache\ndef plain(a):\n    return a\n"),
    ("plain", ""),
    ("Service.Create", "if email == `}` {\n\treturn &User{}, nil\n}\nreturn nil, nil"),
    ("Service.Create", "func (s *Service) Create(email string) (*User, error) {\n\treturn nil, nil\n}"),
    ("App.run", "return `${a + '}'}`;"),
    ("App.run", "run(a: number): string { return ''; }"),
    ("App.go", "return b + 1;"),
    ("List.List", "n_ = 3;"),
    ("size", "int size(int a) { return a + 1; }"),
    ("User.age", "return 2;"),
    ("User.age", "int age() { return 2; }"),
    ("area", "a * 3"),
    ("good", "return 2"),
    ("shop/users.py", "def f(): ...\n"),
    ("users/service.go", "package users\n"),
]


@pytest.mark.parametrize(("inside", "snippet"), VALID)
def test_what_is_valid_in_its_place(code, inside, snippet):
    found = code.check_syntax(snippet, inside=inside)
    assert (found["valid"], found["errors"]) == (True, [])


@pytest.mark.parametrize(
    ("inside", "snippet", "position", "said"),
    [
        ("Users.add", "return await name", "1:8", "outside async function"),
        ("Users.add", "x = 1\nbreak", "2:1", "outside loop"),
        ("Users.add", "x = 1\ny = (", "2:5", "was never closed"),
        ("Users.add", "def add(self):\n    return (", "2:12", "was never closed"),
        ("plain", "nonlocal LIMIT", "1:1", "nonlocal"),
        ("Service.Create", "if true {", "1:9", "never closed"),
        ("Service.Create", "return nil, nil }\nfunc other() {", "1:17", "never opened"),
        ("Service.Create", "func (s *Service) Create( {\n}", "1:25", "never closed"),
        ("App.run", "return 1 +;", "1:11", "a name is missing"),
        ("area", "let = 5;", "1:5", "can't be read"),
        ("users/service.go", "package users\nfunc f( {}", "2:7", "never closed"),
    ],
)
def test_errors_have_places_in_the_snippet(code, inside, snippet, position, said):
    found = code.check_syntax(snippet, inside=inside)
    assert not found["valid"]
    assert said in found["errors"][0]["message"]
    assert found["errors"][0]["position"] == position


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("Service.Creat", "Did you mean Service.Create?"),
        ("Maker.Make", "Maker.Make has no body that code could be put into"),
        ("no/such.py", "no/such.py isn't a function to put code in"),
        ("Users", "Users isn't a function to put code in: This name is a class"),
        ("\x1b[31m\n", "\\u001b[31m\\u000a isn't a function to put code in"),
    ],
)
def test_a_place_that_is_not_there_is_said(code, inside, said):
    with pytest.raises(CallError) as caught:
        code.check_syntax("x", inside=inside)
    assert said in str(caught.value)


def test_a_fence_is_left_out_and_said(code):
    found = code.check_syntax("```python\nx = (\n```", language=None)
    assert found["checked_as"].startswith("python")
    assert found["errors"][0]["position"] == "2:5"
    assert "fence of Markdown" in found["note"]
    assert code.check_syntax("```\npackage p\n```")["checked_as"].startswith("go")
    assert code.check_syntax("~~~rs\nfn f() {}\n~~~\n")["checked_as"].startswith("rust")


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("```py\nx\n```", "x"),
        ("\n ~~~~\nx\n\n  ~~~~ \n", "x\n"),
        ("```\n```", ""),
        ("```\nx\n````", "x\n`"),
        ("````\nx\n```", None),
        ("```\nx", None),
        ("```", None),
        ("x\n```\ny\n```", None),
    ],
)
def test_what_a_fence_has_in_it(text, inner):
    assert without_fence(text).code == (text if inner is None else inner)


def test_a_long_row_of_fence_signs_is_read_in_time():
    def read():
        for text in ("`" * 200_000, "```\n" + "~" * 200_000, "```\n" + "```  " * 40_000 + "x"):
            without_fence(text)

    assert_takes(1, read)


@pytest.mark.parametrize(
    "patch",
    [
        "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n",
        "diff --git a/x b/x\n",
        "Here it is:\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
    ],
)
def test_a_patch_is_recognised(code, patch):
    found = code.check_syntax(patch)
    assert found["errors"] == [{"position": "1:1", "message": "this is a patch, not code"}]
    assert found["suggestions"] == ["Call check_patch with it"]


def test_the_language_is_guessed_and_said(project):
    (project / "more.go").write_text("package p\n")
    (project / "most.go").write_text("package p\n")
    code = CodeBase(project)
    assert code.check_syntax("package p")["checked_as"].startswith("go")
    found = code.check_syntax("def f(a):\n    return {a: 1}\n")
    assert found["checked_as"].startswith("python")
    assert "As go, the main language, it has errors" in found["note"]
    found = code.check_syntax(
        "import re\n\ndef f(a):\n    x = [b for b in a if b is not None]\n    return x +\n"
    )
    assert (found["valid"], found["errors"][0]["position"]) == (False, "5:15")
    assert "It looks like python, not go" in found["note"]


def test_a_language_in_which_code_is_too_hard_to_parse_is_not_guessed(project, monkeypatch):
    monkeypatch.setattr("operator_schema.code_tools.parsing._SECONDS", 0.2)
    for name in ("a.py", "b.py", "c.py", "d.py"):
        (project / name).write_text("x = 1\n")
    found = CodeBase(project).check_syntax("case a:\n" * 1200 + "= )")  # takes Go seconds
    assert not found["valid"]
    assert not found["checked_as"].startswith("go")


def test_newer_syntax_is_a_note(code):
    if sys.version_info >= (3, 12):
        assert code.check_syntax("type X = int", language="python")["valid"]
        return
    found = code.check_syntax("def f():\n    pass\n\ntype X[T] = list[T]\n", language="python")
    assert (found["valid"], found["errors"], found["checked_as"]) == (True, [], "python 3.11")
    assert found["note"] == "4:1: type aliases need Python 3.12; this is Python 3.11."


NEWER = [
    ("def f[T: int, **P](a: T) -> T: ...", (3, 12)),
    ("class A[\n  T\n](B): ...", (3, 12)),
    ("class A[T = int]: ...", (3, 13)),
    ("x = f'{a['b']}'", (3, 12)),
    ("x = f'{\n  a\n}'", (3, 12)),
    ("x = f'{a:{'>'}}' 'b'", (3, 12)),
    ("try:\n    pass\nexcept A, B:\n    pass", (3, 14)),
    ("x = t'{a}'", (3, 14)),
    ("x = rT'{a}'", (3, 14)),
]


@pytest.mark.parametrize(("snippet", "version"), NEWER)
@pytest.mark.parametrize("context", ["file", "statements"])
def test_syntax_of_newer_versions(code, snippet, version, context):
    found = code.check_syntax(snippet, context, language="python")
    assert (found["valid"], found["errors"]) == (True, [])
    assert ("need Python" in found.get("note", "")) is (version > sys.version_info)


@pytest.mark.parametrize(
    ("snippet", "position"),
    [
        ("type X = int\ny = = 1", "2:5"),
        ("def f[T](a: T) -> T:\n    return a\n\nreturn 1\n", "4:1"),
        ("type X = int\nreturn 1", "2:1"),
        ("try:\n    pass\nexcept A, B as e:\n    pass", None),
        ("print 'a'", "1:1"),
        ("x = t'a", None),
    ],
)
def test_errors_beside_newer_syntax_stay_errors(code, snippet, position):
    found = code.check_syntax(snippet, language="python")
    assert not found["valid"]
    assert position in {None, found["errors"][0]["position"]}


def test_words_of_a_grammar_are_not_told_as_code(code):
    found = code.check_syntax("fn f() { a.; }", language="rust")
    assert found["errors"] == [{"position": "1:12", "message": "a name is missing"}]
    assert "suggestions" not in found
    found = code.check_syntax("a +", "expression", language="go")
    assert found["errors"] == [{"position": "1:1", "message": "can't be read from here: a +"}]


with_go = pytest.mark.skipif(shutil.which("go") is None, reason="Go isn't installed")


def types(project, snippet, inside, **options):
    return CodeBase(project, type_checks=True, type_check_seconds=100, **options).check_syntax(
        snippet, inside=inside, type_check=True
    )


@with_go
@pytest.mark.needs_process
@pytest.mark.slow("builds a package of Go")
@pytest.mark.parametrize(
    ("snippet", "errors", "note"),
    [
        ('return &User{Email: email}, fmt.Errorf("a")', [], None),
        ("return nil, nil", [], "3:8"),
        ("x := 1\nreturn nil, fmt.Errorf(5)", ["1:1", "2:24"], None),
        ('fmt.Println("a")', ["1:1"], None),
        ("return &Usr{}, nil", ["1:9"], "3:8"),
        (
            'func (s *Service) Create(email string) (*User, error) {\n\treturn 5, fmt.Errorf("a")\n}',
            ["2:9"],
            None,
        ),
    ],
)
def test_types_of_go_in_place(project, snippet, errors, note):
    found = types(project, snippet, "Service.Create")
    assert found["checked_with"] == "go"
    assert [one["position"] for one in found["errors"]] == errors
    assert (note is not None) is ("note" in found)
    assert note is None or f"In the rest of the file: {note} " in found["note"]


def install(project, name, options):
    program = project / ".venv" / "bin" / name
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {Path(sys.executable).parent / name} "$@" {options}\n')
    program.chmod(0o755)


@pytest.mark.needs_process
@pytest.mark.skipif(sys.platform == "win32", reason="the programs are scripts of a shell")
@pytest.mark.slow("starts a type checker")
@pytest.mark.parametrize("name", ["mypy", "pyright"])
def test_types_of_python_in_place(project, tmp_path_factory, name):
    if not (Path(sys.executable).parent / name).exists():
        pytest.skip(f"{name} isn't installed here")
    # With a cache it reads the types of the standard library once.
    install(project, name, f"--cache-dir {tmp_path_factory.mktemp('cache')}" if name == "mypy" else "")
    (project / "shop" / "other.py").write_text(
        "from shop.users import plain\n\n\ndef twice(a: int) -> int: ...\n"
    )
    (project / "shop" / "__init__.py").write_text("")
    before = {path: path.read_bytes() for path in project.rglob("*.py")}
    found = types(project, "from shop.other import twice\nx: int = re\nreturn twice(name)", "Users.add")
    assert found["checked_with"] == name
    assert [one["position"] for one in found["errors"]] == ["2:10", "3:14"]
    assert {path: path.read_bytes() for path in project.rglob("*.py")} == before
    if name == "pyright":  # it starts slowly
        return
    assert types(project, "return LIMIT + self.size", "Users.add")["errors"] == []
    assert [one["position"] for one in types(project, "self.size", "Users.add")["errors"]] == ["1:1"]


@pytest.mark.needs_process
@pytest.mark.skipif(sys.platform == "win32", reason="the program is a script of a shell")
def test_what_a_checker_found_before_it_was_stopped_is_kept(project):
    (project / ".venv" / "bin").mkdir(parents=True)
    program = project / ".venv" / "bin" / "mypy"
    program.write_text('#!/bin/sh\nfor last; do :; done\necho "$last:8:9: error: wrong"\nexec sleep 20\n')
    program.chmod(0o755)
    base = CodeBase(project, type_checks=True, type_check_seconds=1)
    found = base.check_syntax("return 'a'", inside="Users.add", type_check=True)
    assert found["errors"] == [{"position": "1:1", "message": "wrong"}]
    assert found["checked_with"] == "mypy took more than 1 seconds, and was stopped"
