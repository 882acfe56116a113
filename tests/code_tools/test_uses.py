"""Who uses a declaration, what is below it, and a map of a folder."""

from __future__ import annotations

import random
import sysconfig
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

import pyright_judge

from operator_schema.code_tools import CodeBase
from operator_schema.code_tools.code_places import Places
from operator_schema.code_tools.language import LANGUAGES, language_named
from operator_schema.code_tools.words import places_of

CORE = """\
class Root:
    def save(self): ...
class Model(Root):
    def save(self):
        super().save()
        self.check()
    def check(self): ...
    alias = save
class Other:
    def save(self): ...
def run(model):  # save it
    return model
"""
USE = """\
from shop import Model as M
from shop import core, Model
from shop.core import run
import shop.core as c
class Child(M):
    def save(self):
        super().save()
    def go(self):
        self.check()
def typed(m: Model, other, k=None):
    m.save()
    other.save()
    M.save(m)
    core.Model.save(m)
    made = Model()
    made.save()
    made2 = f'{made.save()} save'
    other(save=1)
    c.Other().save()
    c.Other.save(1)
    run(made2)
def shadowed(run):
    run()
def later():
    from shop.core import run as go, run
    run(), go()
def text(x: 'Model') -> None:
    'save the Model'
    lambda save: save
def again():
    run = core.run
    run()
"""
FILES = {
    "shop/__init__.py": 'from .core import Model\n__all__ = ["Model"]\n',
    "shop/core.py": CORE,
    "shop/use.py": USE,
    "other/run.py": "def run(): ...\nrun()\n",
}


@pytest.fixture
def base(tmp_path):
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return CodeBase(tmp_path)


def uses(base, name, sure, path=""):
    found = base.references(name, path)
    assert found["found"]
    return [one["location"] for one in found["places"] if one["sure"] == sure]


def test_uses_of_a_method(base):
    found = base.references("Model.save")
    assert found["location"] == "shop/core.py:4"
    assert uses(base, "Model.save", "certain") == [
        "shop/core.py:8",  # alias = save
        "shop/use.py:7",  # super().save()
        "shop/use.py:11",  # m: Model
        "shop/use.py:13",  # M.save
        "shop/use.py:14",  # core.Model.save
        "shop/use.py:16",  # made = Model()
        "shop/use.py:17",  # in the code inside of a string
    ]
    assert uses(base, "Model.save", "likely") == ["shop/core.py:5", "shop/use.py:12", "shop/use.py:19"]
    assert uses(base, "Model.save", "text") == ["shop/core.py:11", "shop/use.py:17", "shop/use.py:28"]
    assert found["files"] == [
        "shop/use.py: 6 certain, 2 likely, 2 text",
        "shop/core.py: 1 certain, 1 likely, 1 text",
    ]
    assert (found["certain"], found["likely"], found["text"]) == (7, 3, 3)
    # `Other.save`, what a lambda names so, an argument's name, and three other declarations.
    assert "more places of this name certainly mean something else." in found["note"]
    (place,) = [one for one in found["places"] if one["location"] == "shop/use.py:11"]
    assert place == {"location": "shop/use.py:11", "sure": "certain", "line": "m.save()", "inside": "typed"}
    assert uses(base, "Model.save", "certain", "shop/core.py") == ["shop/core.py:8"]


def test_uses_of_a_function(base):
    certain = uses(base, "shop.core.run", "certain")
    assert {"shop/use.py:3", "shop/use.py:21", "shop/use.py:26", "shop/use.py:31"} <= set(certain)
    assert "shop/use.py:23" not in certain
    assert "other/run.py:2" not in certain
    assert uses(base, "other.run.run", "certain") == ["other/run.py:2"]


def test_uses_of_a_class(base):
    certain = uses(base, "Model", "certain")
    assert {
        "shop/__init__.py:1",
        "shop/use.py:1",
        "shop/use.py:2",
        "shop/use.py:10",
        "shop/use.py:15",
    } <= set(certain)
    assert set(uses(base, "Model", "likely")) == {"shop/__init__.py:2", "shop/use.py:27"}
    assert uses(base, "Model", "text") == ["shop/use.py:28"]
    assert uses(base, "Model.check", "certain") == ["shop/core.py:6", "shop/use.py:9"]


def test_what_is_below_a_class_or_method(base):
    found = base.implements("Root")
    assert [(one["name"], one["sure"], one.get("by")) for one in found["implementations"]] == [
        ("Model", "certain", None),
        ("Child", "certain", "Model"),
    ]
    found = base.implements("Root.save")
    assert [one["location"] for one in found["implementations"]] == ["shop/core.py:4", "shop/use.py:6"]
    assert base.implements("Child")["note"] == "No type that is read extends, implements or replaces it."
    assert base.implements("shop.core.run")["reason"] == "of another kind"


def test_implementations_in_go_and_rust(tmp_path):
    (tmp_path / "a.go").write_text(
        "package a\ntype Reader interface {\n\tRead() int\n\tCloser\n}\ntype Closer interface { Close() }\n"
        "type Base struct{}\nfunc (Base) Close() {}\n"
        "type File struct{ Base }\nfunc (f *File) Read() int { return 1 }\n"
        "type Half struct{}\nfunc (Half) Read() int { return 2 }\n"
    )
    (tmp_path / "b.rs").write_text(
        "pub trait Finder { fn go(&self); }\npub trait Deep: Finder {}\nstruct One;\n"
        "impl Finder for One { fn go(&self) {} }\nimpl<T> Finder for &Two<T> {}\nstruct Two<T>(T);\n"
    )
    base = CodeBase(tmp_path)
    assert [(one["name"], one["sure"]) for one in base.implements("Reader")["implementations"]] == [
        ("File", "likely")
    ]
    found = base.implements("Finder")
    assert {one["name"] for one in found["implementations"]} == {"Deep", "One", "Two"}


def test_uses_in_go_are_told_by_imports_and_receivers(tmp_path):
    (tmp_path / "go.mod").write_text("module example.com/m\n")
    for path, text in {
        "store/s.go": (
            "package store\ntype S struct{}\nfunc (s *S) Get() { s.get() }\nfunc (s *S) get() {}\n"
            "func New() *S { return nil }\n"
        ),
        "main.go": (
            'package main\nimport "example.com/m/store"\n'
            "func main() {\n\tx := store.New()\n\tx.Get() // Get\n}\n"
        ),
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    base = CodeBase(tmp_path)
    assert uses(base, "store.New", "certain") == ["main.go:4"]
    assert uses(base, "S.get", "certain") == ["store/s.go:3"]
    assert uses(base, "(*S).Get", "likely") == ["main.go:5"]
    assert uses(base, "(*S).Get", "text") == ["main.go:5"]


def test_a_map_has_what_is_used_most_within_its_budget(base):
    found = base.overview()
    assert found["files"] == 4
    assert found["map"].splitlines()[:2] == ["shop/ 3 files", "other/ 1 files"]
    assert "class Model(Root)" in found["map"]
    small = base.overview("shop", 100)
    assert len(small["map"]) <= 400
    assert base.overview("nope")["reason"] == "no such file"
    with pytest.raises(ValueError, match="the tokens are from 100 to 20,000, not 5"):
        base.overview(tokens=5)
    for number in range(20):
        (base.root / f"p{number}").mkdir()
        (base.root / f"p{number}" / "m.py").write_text(f"def function_{number}(): ...\n")
    many = base.overview("", 200)
    assert "… 10 more folders" in many["map"]
    assert len(many["map"]) <= 800
    assert "are left out: give a path in it, or more tokens." in many["note"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x: Foo, y):\n  x.a()", "Foo"),
        ("def f(x: 'a.Foo' = None): x.a(), g(x, 1)", "a.Foo"),
        ("def f(x: Foo):\n  x = 1", ""),
        ("def f():\n  x = a.Foo(1)\n  x.a()", "a.Foo"),
        ("def f():\n  x = Foo(1)\n  x = Bar()", ""),
        ("def f():\n  x = foo(1)", ""),
        ("def f():\n  for x in y: x = Foo()", ""),
        ("def f():\n  y, x = Foo()", ""),
        ("def f(x):\n  if z: x = Foo()", ""),
        ("def f(x: list[Foo]): ...", ""),
    ],
)
def test_the_type_of_a_variable_is_told_where_it_is_certain(text, expected):
    assert language_named("python").type_of(text.encode(), "x") == expected


@pytest.mark.slow("runs the language server of pyright")
@pytest.mark.needs_process
def test_pyright_finds_the_same_uses():
    if not pyright_judge.is_there():
        pytest.skip("pyright isn't installed")
    root = Path(sysconfig.get_paths()["stdlib"]) / "asyncio"  # its imports are relative
    code, server = CodeBase(root), pyright_judge.Pyright(root)
    try:
        drawn = pyright_judge.drawn(code, random.Random(0), 3)  # noqa: S311  # the same each time
        compared = [pyright_judge.compare(code, server, one) for one in drawn]
    finally:
        server.close()
    assert [one for one in compared if one.wrong or one.missed] == []


def test_the_name_of_a_field_is_not_a_use_of_the_type_of_this_name(tmp_path):
    text = (
        "package p\n\ntype Dots struct {\n\tDots int\n\tA, Dots2 Dots\n}\n\n"
        'func make(a int) Dots {\n\tprint("(Dots: ")\n\treturn Dots{\n\t\tDots: a,\n\t}\n}\n'
    )
    (tmp_path / "a.go").write_text(text, encoding="utf-8")
    base = CodeBase(tmp_path)
    assert uses(base, "Dots", "certain") == ["a.go:5", "a.go:8", "a.go:10"]
    assert uses(base, "Dots", "likely") == ["a.go:11"]


def test_what_a_string_says_binds_no_name(tmp_path):
    text = 'package p\n\nfunc kept() {}\n\nfunc use() {\n\tprint("(kept: ")\n\tkept()\n}\n'
    (tmp_path / "a.go").write_text(text, encoding="utf-8")
    assert uses(CodeBase(tmp_path), "kept", "certain") == ["a.go:7"]


def test_a_common_name_is_looked_for_where_its_type_is_named(tmp_path):
    lines = "\n".join(["    x.get()"] * 400)
    for number in range(4):
        (tmp_path / f"many{number}.py").write_text(f"def f(x):\n{lines}\n", encoding="utf-8")
    (tmp_path / "zkept.py").write_text("class Kept:\n    def get(self): ...\n", encoding="utf-8")
    (tmp_path / "zuse.py").write_text("import zkept\nzkept.Kept.get(1)\n", encoding="utf-8")
    found = CodeBase(tmp_path).references("Kept.get")
    assert (found["certain"], found["places"][0]["location"]) == (1, "zuse.py:2")
    assert found["likely"] == 400
    assert "3 more files have the word, and weren't looked into" in found["note"]


def test_the_declaration_at_the_path_is_meant(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("def run(): ...\nrun()\n", encoding="utf-8")
    base = CodeBase(tmp_path)
    assert base.references("run")["location"] == "a.py:1"
    found = base.references("run", "b.py")
    assert (found["location"], found["certain"]) == ("b.py:1", 1)
    assert "Other declarations of this name: a.py:1." in found["note"]


def test_files_that_import_a_common_name_are_looked_into_first(tmp_path):
    (tmp_path / "core.py").write_text("def common(): ...\n", encoding="utf-8")
    for number in range(30):
        text = "# common\n" * 40
        (tmp_path / f"m{number:02}.py").write_text(text, encoding="utf-8")
    (tmp_path / "z.py").write_text(
        "from core import common as c\nimport core\ncore.common()\n", encoding="utf-8"
    )
    found = CodeBase(tmp_path).references("common")
    assert found["certain"] == 2
    assert "20 more files have the word, and weren't looked into: give a path." in found["note"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (b"save", [0]),
        (b" save saved _save save1 resave \xc3\xa9save save\xc3\xa9 a.save", [1, 47]),
        (b"save(save)", [0, 5]),
    ],
)
def test_places_of_a_word_are_whole_words(source, expected):
    assert list(places_of(b"save", source)) == expected


PIECES = {
    "python": ("'", '"', '"""', "'''", "\\", "#", "\n", " ", "save", "(", "f'{"),
    "go": ("'", '"', "`", "\\", "//", "/*", "*/", "\n", " ", "save", "("),
    "rust": ("'", '"', 'r#"', '"#', "\\", "//", "/*", "*/", "\n", " ", "save"),
    "typescript": ("'", '"', "`", "\\", "//", "/*", "*/", "/", "=", "\n", " ", "save", "["),
    "java": ("'", '"', '"""', "\\", "//", "/*", "*/", "\n", " ", "save"),
    "cpp": ("'", '"', 'R"(', ')"', "\\", "//", "/*", "*/", "\n", " ", "save", "#"),
}


@pytest.mark.parametrize("name", PIECES)
def test_a_place_is_in_the_string_or_comment_that_reading_all_of_the_text_finds(name):
    draw = random.Random(name)  # noqa: S311  # the same texts each time
    language = language_named(name)
    inside = 0
    for _ in range(400):
        text = "".join(draw.choices(PIECES[name], k=draw.randrange(1, 40)))
        places = Places((), language, text.encode())
        spans = [one.span() for one in language.tokens.finditer(text) if one.end() - one.start() > 1]
        for at in places_of(b"save", text.encode()):
            expected = next((span for span in spans if span[0] <= at < span[1]), None)
            assert places._token(at) == expected, text
            inside += expected is not None
    assert inside > 50


@pytest.mark.parametrize("name", LANGUAGES)
def test_what_hides_code_is_the_same_with_brackets_and_without(name):
    draw = random.Random(name)  # noqa: S311  # the same texts each time
    language = language_named(name)
    pieces = [*{piece for pieces in PIECES.values() for piece in pieces}, "[", "]", "{", ")"]
    pieces.sort()
    for _ in range(300):
        text = "".join(draw.choices(pieces, k=draw.randrange(1, 40)))
        hidden = [one.span() for one in language.hidden.finditer(text)]
        tokens = [one.span() for one in language.tokens.finditer(text) if one[0] not in set("[](){}")]
        assert hidden == tokens, text
