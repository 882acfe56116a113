"""Hostile files and snippets for the code tools: four times the text may take about four times as long.

Each shape is a short unit, repeated up to a size, where declarations stand, in a function or in a class. It is
read by the index, and asked about by each of the tools; a file that takes the parser too long may be skipped.
Texts of 40,000 characters are asked about, and ones of 160,000 and 1,000,000 where the time of a question
grows faster than the text. Ends with status 1 if a question takes longer than its text explains, or fails.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).parent.parent)]

from patience import cpu_seconds
from rich.console import Console
from rich.progress import Progress

from operator_schema.code_tools import CodeBase

TIMES = 4
MOST_GROWTH = 1.75 * TIMES
"""How many times as long `TIMES` the text may take: what takes the square takes `TIMES * TIMES`."""

MOST_SECONDS = 4.0
"""What any question may take: the parser has a limit of its own, and some questions parse up to four times."""

SIZES = (40_000, 160_000, 1_000_000)
"""Characters of the texts: a longer one is asked about if its questions may take too long."""

MOST_AT_SIZE = 0.4
"""What any question about a text but the longest may take in seconds, however short the shorter text takes."""

SUSPECT = 1.25 * TIMES
"""How many times as long `TIMES` the text takes if it makes one ask about a longer text: a part that grows with
the square of the text, and takes a quarter of the time, is suspect."""

GIVEN_UP = 60
NAMES = ("f", "A", "A.f", "a", "a1", "zz.a.b", "no" * 80)
PATTERNS = ("*", "a*a*b", "*.f", "?" * 100, "nothing*at*all")
SNIPPET = 200_000


class Shape(NamedTuple):
    """How a text is made: `{}` in what is repeated is a number of its own each time."""

    language: str
    before: str
    unit: str
    close: str = ""
    after: str = ""

    def text(self, size: int) -> str:
        """Make a text of about so many characters."""
        each = len(self.unit.replace("{}", "1234")) + len(self.close)
        number = max(size // each, 1)
        units = "".join([self.unit.replace("{}", str(i)) for i in range(number)])
        return f"{self.before}{units}{self.close * number}{self.after}"

    def __str__(self) -> str:
        return f"{self.language}: {f'{self.before}|{self.unit}|{self.close}|{self.after}'!r}"


SUFFIX = {
    "python": "py",
    "go": "go",
    "rust": "rs",
    "typescript": "ts",
    "tsx": "tsx",
    "java": "java",
    "c": "c",
    "cpp": "cpp",
}
PLACES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "python": (("", ""), ("def f():\n x = ", "\n"), ("class A:\n x = ", "\n")),
    "go": (
        ("package p\n", ""),
        ("package p\nfunc f() {\n", "\n}\n"),
        ("package p\ntype A struct {\n", "\n}\n"),
    ),
    "rust": (("", ""), ("fn f() {\n", "\n}\n"), ("impl A {\n", "\n}\n")),
    "typescript": (("", ""), ("function f() {\n", "\n}\n"), ("class A {\n", "\n}\n")),
    "tsx": (("", ""), ("const f = () => <p>", "</p>;\n")),
    "java": (("", ""), ("class A { void f() {\n", "\n} }\n"), ("class A {\n", "\n}\n")),
    "c": (("", ""), ("int f(void) {\n", "\n}\n"), ("struct A {\n", "\n};\n")),
    "cpp": (("", ""), ("int f() {\n", "\n}\n"), ("class A {\n", "\n};\n")),
}
"""What a unit of any language stands in: a file, a function, a type."""

ANYWHERE = (
    "a = ", "a{} = ", "a.b().", "a(", "a[0].b", "a, ", "a + ", "-", "not ", "!", "(", "[", "{", "{}", ")", '"',
    "'", '\\"', "\\\n", "a\\\n", "\n", " ", "\t", "\r", "a", "a.", "a::", "a->", "#", "//", "/*", "/**/", '"""',
    "`", 'r#"', "case a:\n", "if a:\n", "else ", "if a { ", "a ? ", "&", "*", "<", "a<", "a::<", "|", "||", "=> ",
    ";", "\0", "é", "0x", "1_", "1.", "\\u", "{}\n", "f(a{}, ", "a{}(); ", '"a" ', "a: ", "lambda: ", "x.f{}().", "@",
    "\u2028", "...", "func f(f,\n", "# x\n", "// x\n", "/// x\n", "'a ", "b'", 'f"{', "$", "%", "macro!{", "a{}.f()\n ", "a.f{}()\n ",
)  # fmt: skip
NESTED = (
    ("(", ")"), ("[", "]"), ("{", "}"), ("a(", ")"), ("a[", "]"), ("(a, ", ")"), ("a.b(", ").c"), ("{a: ", "}"),
    ("if a { ", " }"), ("func() { ", " }()"), ("|x| { ", " }"), ("lambda x: (", ")"), ("f'{", "}'"), ("Box<", ">"),
    ("/*", "*/"), ("struct { a ", " }"), ("mod a { ", " }"), ("map[a]", ""), ("fn a() { ", " }"), ("if a:(", ")"),
)  # fmt: skip
OWN = (
    Shape("python", "", "a = ", after="1\n"),
    Shape("python", "class A:\n ", "a{} = ", after="1\n"),
    Shape("python", "class A:\n def __init__(self):\n  ", "self.a{} = ", after="1\n"),
    Shape("python", "", "a, ", after="b: int[c] = f(1)\n"),
    Shape("python", "a, b, c, d, e = ", "f.", after="f(1)\n"),
    Shape("python", "", "a = 1\n"),
    Shape("python", "class A:\n", " a{}: int = 1\n"),
    Shape("python", "class A:\n", " a = 1\n"),
    Shape("python", "class A:\n", " def f(self): ...\n"),
    Shape("python", "from typing import overload\n", "@overload\ndef f(a): ...\n", after="def f(a): ...\n"),
    Shape("python", "@a", "\n", after="def f(): ...\n"),
    Shape("python", "", "@a{}\n", after="def f(): ...\n"),
    Shape("python", "", "@a\n", after="class A: ...\n"),
    Shape("python", "def f(a", " ", after="): ...\n"),
    Shape("python", "def f(a", "\n", after="): ...\n"),
    Shape("python", "def f(", "a{}, ", after="): ...\n"),
    Shape("python", "def f(\n", "a{}: int,\n", after="): ...\n"),
    Shape("python", "def f(a=", "(", ")", "): ...\n"),
    Shape("python", "class A(", "B, ", after="):\n def f(self): super().g()\n"),
    Shape("python", "class A(", "B{}, ", after="):\n def f(self): super().g()\n"),
    Shape("python", "class A(", "B[", "]", "):\n def f(self): super().g()\n"),
    Shape("python", "class A(B", "b", after="):\n def f(self): super().g()\n"),
    Shape("python", "class A(B, ", "k{}=1, ", after="):\n def f(self): super().g()\n"),
    Shape("python", "class A:\n def f(self):\n  super().g()\n", "class B{}(A): ...\n"),
    Shape("python", "", "class A(A):\n def f(self): super().g()\n"),
    Shape("python", "", "import a{}\n", after="def f(): a1.b()\n"),
    Shape("python", "from a", "a", after=" import b, c\n"),
    Shape("python", "from aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa import ", "b{}, ", after="c\n"),
    Shape("python", "def f():\n", " import a{}; a{}.b()\n"),
    Shape("python", "def f():\n", " from a import *\n", after=" g()\n"),
    Shape("python", "def f():\n", " a{}.f()\n"),
    Shape("python", "def f():\n x = ", "fn a() { ", " }", "\n"),
    Shape("python", "def f():\n '''", " def a\n", after="'''\n"),
    Shape("python", "", "def f{}():\n 'def a'\n"),
    Shape("python", "def f():\n", " self.a{}()\n"),
    Shape("python", "def f():\n a", ".b()"),
    Shape("python", "def f():\n a", "[0].b()"),
    Shape("python", "def f():\n a", ".b{}"),
    Shape("python", "def f():\n ", "a(", ")"),
    Shape("python", "def f():\n ", "f{}(", ")"),
    Shape("python", "def f():\n '''", "a\n", after="'''\n"),
    Shape("python", "def f():\n '''", "a\n ", after="'''\n"),
    Shape("python", "def f():\n '''\n", "\t", after="'''\n"),
    Shape("python", "def f():\n ", "'a' ", after="\n"),
    Shape("python", "", "def f(): ...\n"),
    Shape("python", "", "def f{}(): f()\n"),
    Shape("python", "", "class A: pass\n"),
    Shape("python", "", "type a{} = b\n"),
    Shape("python", "", "if a: b = 1\nelse: b = 2\n"),
    Shape("python", "if a: b = 1\n", "elif a: b = 1\n"),
    Shape("python", "try: a = 1\n", "except E{}: a = 1\n"),
    Shape("python", "x = f'", "{a}", after="'\n"),
    Shape("python", "", "x: A = a{}\n"),
    Shape("go", "package p\nfunc f() {\n a", ".b()", after="\n}\n"),
    Shape("go", "package p\ntype A struct {\n", "0x", after="\n}\n"),
    Shape("go", "package p\nfunc f() {\n", " a{}.f()\n", after="}\n"),
    Shape("go", "package p\nfunc f() {\n", " f{}()\n", after="}\n"),
    Shape("go", "package p\nfunc (a A) f(", "b int, ", after=") { a.g() }\n"),
    Shape("go", "package p\n", "func f() {}\n"),
    Shape("go", "package p\n", "func f(f,\n"),
    Shape("go", "package p\n", "var a{} int\n"),
    Shape("go", "package p\n", "var (\n"),
    Shape("go", "package p\n", "type A interface {\n"),
    Shape("go", "package p\n", "func (a A) f() {}\n"),
    Shape("go", "package p\n", "func (a A) f{}() { a.f() }\n"),
    Shape("go", "package p\n", "type A struct {}\n"),
    Shape("go", "package p\n", "type A interface { f() }\n"),
    Shape("go", "package p\ntype A interface {\n", " f{}()\n", after="}\n"),
    Shape("go", "package p\ntype A struct {\n", " a{} int\n", after="}\n"),
    Shape("go", "package p\ntype A struct {\n a", ", a{}", after=" struct { b int; c int }\n}\n"),
    Shape("go", "package p\ntype A ", "struct { a ", " }", "\n"),
    Shape("go", "package p\ntype A ", "[]", after="int\n"),
    Shape("go", "package p\ntype A ", "*", after="int\n"),
    Shape("go", "package p\nfunc (a ", "*", after="A) f() {}\n"),
    Shape("go", "package p\nfunc (a ", "(", ")", "A) f() {}\n"),
    Shape("go", "package p\nvar a", ", a{}", after=" = f()\n"),
    Shape("go", "package p\nvar a", ", a", after=" = f()\n"),
    Shape("go", "package p\nconst (\n", " a{} = iota\n", after=")\n"),
    Shape("go", "package p\nvar (\n", " a = 1\n", after=")\n"),
    Shape("go", "package p\nvar (", "(", ")", ")\n"),
    Shape("go", "package p\nimport (\n", ' "a{}"\n', after=")\nfunc f() { a1.b() }\n"),
    Shape("go", 'package p\nimport "a', "/v2", after='"\n'),
    Shape("go", "package p\n", "// a\n", after="func f() {}\n"),
    Shape("go", "package p\n", "// a\n\n", after="func f() {}\n"),
    Shape("go", "package p\n/*", " * a\n", after="*/\nfunc f() {}\n"),
    Shape("go", 'package p\nvar a = "', '\\"', after="\n"),
    Shape("go", "package p\nvar a = '", "\\'", after="\n"),
    Shape("rust", "fn f() { a", ".b()", after=" }\n"),
    Shape("rust", "fn f() { a", "?.b()", after=" }\n"),
    Shape("rust", "fn f() {\n", " a{}.f();\n", after="}\n"),
    Shape("rust", "fn f() { a", "::b", after="() }\n"),
    Shape("rust", "fn f() { ", "a!(", ")", " }\n"),
    Shape("rust", "", "trait A { ", " }"),
    Shape("rust", "", "impl A { fn f() {} ", " }"),
    Shape("rust", "", "mod A { ", " }"),
    Shape("rust", "", "fn f() {}\n"),
    Shape("rust", "", "impl A { fn f(&self) {} }\n"),
    Shape("rust", "impl A {\n", " fn f{}(&self) { self.f() }\n", after="}\n"),
    Shape("rust", "use ", "a::{", "}", ";\n"),
    Shape("rust", "use ", "a::", after="{b, c};\nfn f() { b() }\n"),
    Shape("rust", "use aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa::{", "b{}, ", after="c};\nfn f() { b1() }\n"),
    Shape("rust", "fn f() {\n", " use a{}::b; b();\n", after="}\n"),
    Shape("rust", "", "/// a\n", after="fn f() {}\n"),
    Shape("rust", "", "#[a]\n", after="fn f() {}\n"),
    Shape("rust", "struct A {\n", " a{}: B,\n", after="}\n"),
    Shape("rust", "struct A { a: ", "Box<", ">", " }\n"),
    Shape("rust", "fn f<", "A{}, ", after=">() {}\n"),
    Shape("rust", "const A: B = ", "[", "]", ";\n"),
    Shape("rust", "", "const a{}: B = 1;\n"),
    Shape("rust", 'const A: B = "', '\\"', after="\n"),
    Shape("rust", "const A: B = ", 'r#"', after="\n"),
    Shape("rust", 'const A: B = "', '\\"', after="\\"),
    Shape("rust", "const A: B = r", "#", after='"\n'),
    Shape("typescript", "", "export "),
    Shape("typescript", "", "declare ", after="var a: b\n"),
    Shape("typescript", "", "@a\n", after="class A {}\n"),
    Shape("typescript", "", "/** a */\n", after="function f() {}\n"),
    Shape("typescript", "import { ", "b{}, ", after='c } from "a";\nfunction f() { b1(); }\n'),
    Shape("typescript", 'import { b } from "', "a", after='";\n'),
    Shape("typescript", "", 'export * from "./a{}";\n'),
    Shape("typescript", "", 'export {{ A as A{} }} from "./a{}";\n'.replace("{{", "{").replace("}}", "}", 1)),
    Shape("typescript", "const [", "a{}, ", after="b] = f();\n"),
    Shape("typescript", "const ", "[", "]", " = f();\n"),
    Shape("typescript", "const {a: ", "{a: ", "}", "} = f();\n"),
    Shape("typescript", "class A extends ", "B<", ">", " { f() { this.g(); } }\n"),
    Shape("typescript", "class A implements ", "B{}, ", after="C { f() { this.g(); } }\n"),
    Shape("typescript", "class A { constructor(", "private a{}: b, ", after=") {} }\n"),
    Shape("typescript", "class A { ", "f = class { ", " }", " }\n"),
    Shape("typescript", "class A {\n", " @a\n", after=" f() {}\n}\n"),
    Shape("typescript", "", "namespace A { ", " }"),
    Shape("typescript", "", "class A { f() { this.g(); } }\n"),
    Shape("typescript", "function f() {\n a", "?.b()", after="\n}\n"),
    Shape("typescript", "function f() {\n a", "\n.b()", after="\n}\n"),
    Shape("typescript", "const a = `", "${`", "`}", "`;\n"),
    Shape("typescript", "const a = ", "/[(]/ + "),
    Shape("typescript", "type A = ", "B | "),
    Shape("tsx", "const a = ", "<p>", "</p>", ";\n"),
    Shape("java", "", "@A "),
    Shape("java", "", "@A(", ")", " class A {}\n"),
    Shape("java", "", "public ", after="class A {}\n"),
    Shape("java", "class A {\n", " int a{}, b{};\n", after="}\n"),
    Shape("java", "class A { int a", ", a{}", after=" = 1; }\n"),
    Shape("java", "class A extends ", "B<", ">", " { void f() { this.g(); } }\n"),
    Shape("java", "class A implements ", "B{}, ", after="C { void f() { this.g(); } }\n"),
    Shape("java", "enum A { ", "A{}(1), ", after="}\n"),
    Shape("java", "record A(", "int a{}, ", after="int b) {}\n"),
    Shape("java", "", "import a.b{}.*;\n", after="class A { void f() { g(); } }\n"),
    Shape("java", "import a", ".a", after=";\n"),
    Shape("java", "", "class A { ", " }"),
    Shape("java", "class A { void f() { a", ".b()", after="; } }\n"),
    Shape("java", "class A { void f() { ", "new A() {{ ", " }}", "; } }\n"),
    Shape("c", "int ", "*", after="f(void) {}\n"),
    Shape("c", "int ", "(", ")", "(void) {}\n"),
    Shape("c", "int a", "[1]", after=";\n"),
    Shape("c", "int a", ", *a{}", after=";\n"),
    Shape("c", "", "typedef struct { int a; } A{};\n"),
    Shape("c", "", "struct { ", " } a;"),
    Shape("c", "enum A { ", "A{} = 1, ", after="};\n"),
    Shape("c", "", "#define A{} \\\n 1\n"),
    Shape("c", "#define A ", "\\\n"),
    Shape("c", "", "#if A\n", "#endif\n"),
    Shape("c", "int f(\n", "#else\n"),
    Shape("c", "int f( {\n", "}\n"),
    Shape("c", "int f( {\n", "int f(void) {\n}\n"),
    Shape("c", "", "A_BEGIN_DECLS\n"),
    Shape("c", "", "A_API "),
    Shape("c", "extern ", "A "),
    Shape("c", "int f()", " __a ((1))", after=";\n"),
    Shape("c", "", "A_FUNC(a", ")", " f(void);\n"),
    Shape("c", "", '#include "a{}.h"\n', after="int f(void) { return g(); }\n"),
    Shape("c", "", "class a "),
    Shape("c", "int f(void) { a", "->b()", after="; }\n"),
    Shape("cpp", "", "template <class T> "),
    Shape("cpp", "template <", "class T{}, ", after="class U> class A {};\n"),
    Shape("cpp", "", "namespace a { ", " }"),
    Shape("cpp", "namespace ", "a::", after="b {}\n"),
    Shape("cpp", "int ", "A::", after="f() {}\n"),
    Shape("cpp", "int ", "A<", ">", "::f() {}\n"),
    Shape("cpp", "class A : ", "public B{}, ", after="C { void f() { this->g(); } };\n"),
    Shape("cpp", "class A {\n", " void f{}() { this->f(); }\n", after="};\n"),
    Shape("cpp", "class A { operator ", "a ", after="(); };\n"),
    Shape("cpp", "A::A() : ", "a{}(1), ", after="b(2) {}\n"),
    Shape("cpp", 'auto a = R"', "a", after='(b)";\n'),
)  # fmt: skip

UNSTOPPED = {("python", "/*", "*/")}
"""What takes the parser the square in one last step, in which it can't be stopped; the page says so."""


class Product(Shape):
    """A text of two units, one half each: the first one stands at the `%`, the second one before the end."""

    def text(self, size: int) -> str:
        """Make a text of about so many characters."""
        first, second = (Shape("", "", unit).text(size // 2) for unit in (self.unit, self.close))
        return f"{self.before.replace('%', first)}{second}{self.after}"


PRODUCTS = (
    Product("python", "from a%b import ", "a", "b{}, ", "c\n"),
    Product("python", "%def f():\n", "def g(): ...\n", " a{}.g()\n"),
    Product("python", "%def f():\n", "class A{}: ...\n", " a{}.A1()\n"),
    Product("python", "%def f():\n", "import a{}\n", " a{}.g()\n"),
    Product("python", "%class A(", "class B: ...\n", "B{}, B, ", "):\n def f(self): super().g()\n"),
    Product("python", "def f(%):\n x = 1\n", "a{}, ", " a{}.g()\n"),
    Product("python", "class A:\n a = '%'\n", "a", " b{} = 1\n"),
    Product("python", "%", "@a\n", "@b{}\n", "def f(): ...\n"),
    Product("python", "%a: int[b", "a, ", "b", "] = 1\n"),
    Product("python", "%a = f", "a, ", ".f", ".TypeVar()\n"),
    Product("python", "def f():\n '''%\n", " ", "  a\n", "'''\n"),
    Product("go", "package p\nfunc (z A) f(%) {\n", "a{} int, ", " b{}.g()\n", "}\n"),
    Product("go", "package p\ntype A struct { %a struct { b int\n", "a{}, ", " c{} int\n", "} }\n"),
    Product("go", "package p\nvar %a = f(1", "a{}, ", ", 1", ")\n"),
    Product("go", "package p\n%type A struct {\n", "func (a A) f{}() {}\n", " a{} int\n", "}\n"),
    Product("rust", "use a%::{", "::a", "b{}, ", "};\n"),
    Product("rust", "%fn f() {\n", "fn g() {}\n", " a{}.g();\n", "}\n"),
    Product("rust", "struct A { %a: B", "a{}: C, ", "<D", " }\n"),
)
SHAPES = (
    *[
        Shape(language, before, unit, close, after)
        for language, places in PLACES.items()
        for before, after in places
        for unit, close in [*[(unit, "") for unit in ANYWHERE], *NESTED]
        if (language, unit, close) not in UNSTOPPED
    ],
    *OWN,
    *PRODUCTS,
)


class Slow(NamedTuple):
    """A question that took too long, or failed."""

    shape: str
    question: str
    seconds: tuple[float, float]
    failure: str = ""

    def __str__(self) -> str:
        short, long = self.seconds
        return f"{self.failure or f'{short:.2f} s, then {long:.2f} s'}: {self.question} of {self.shape}"


@contextmanager
def given_up() -> Iterator[None]:
    """Raise TimeoutError in what takes a minute, where the system and the thread can."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: object, _frame: object) -> None:
        raise TimeoutError(GIVEN_UP)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, GIVEN_UP)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def questions(folder: Path, shape: Shape, text: str) -> dict[str, Callable[[], object]]:
    """Return what is asked about a text, in this order."""
    for old in folder.iterdir():
        old.unlink()
    file = folder / f"a.{SUFFIX[shape.language]}"
    file.write_text(text, encoding="utf-8", newline="")
    os.utime(file, (0, 0))  # what was written just now would be read again for each question
    base = CodeBase(folder)
    asked: dict[str, Callable[[], object]] = {"refresh": base.refresh}
    for name in NAMES:
        asked[f"inspect {name}"] = partial(base.inspect, name)
        asked[f"read_func {name}"] = partial(base.read_func, name)
    for pattern in PATTERNS:
        asked[f"search {pattern}"] = partial(base.search, pattern)
    lines = text[:SNIPPET].count("\n") + 1
    body = "\n".join(f"+{line}" for line in text[:SNIPPET].split("\n"))
    made = f"--- /dev/null\n+++ b/new.{SUFFIX[shape.language]}\n@@ -0,0 +1,{lines} @@\n{body}\n"
    asked["check_patch"] = partial(base.check_patch, made)
    asked["check_patch text"] = partial(base.check_patch, text[:SNIPPET])
    asked["check_syntax"] = partial(base.check_syntax, text[:SNIPPET], language=shape.language)
    asked["check_syntax inside"] = partial(
        base.check_syntax, text[:SNIPPET], "statements", language=shape.language
    )
    return asked


def seconds(folder: Path, shape: Shape, size: int) -> dict[str, float | str]:
    """Ask all questions about a text; return what each took, or how it failed."""
    took: dict[str, float | str] = {}
    for name, ask in questions(folder, shape, shape.text(size)).items():
        try:
            with given_up():
                took[name] = cpu_seconds(ask)
        except Exception as error:  # noqa: BLE001  # any is one too many
            took[name] = f"{type(error).__name__} {str(error)[:80]}"
    return took


def slow_questions(shape: Shape, size: int, most: float = MOST_SECONDS) -> list[Slow]:
    """Ask about a text, and about one that is a part of it if a question of the text takes long.

    Args:
        shape: of the texts.
        size: of the longer one.
        most: seconds that any question may take.

    Returns:
        What took longer than the shorter text explains, twice: once may be the machine.
    """

    def ask() -> list[Slow]:
        return _too_slow(shape, most, _times(shape, size, most))

    return ask() and ask()


def slow_at_any_size(shape: Shape, sizes: Sequence[int] = SIZES) -> tuple[list[Slow], int]:
    """Ask about texts that become longer, for as long as the time grows faster than they do.

    Args:
        shape: of the texts.
        sizes: of the texts.

    Returns:
        What took too long, and the size of the longest text that was asked about.
    """
    *shorter, largest = sizes
    for size in shorter:
        # What takes less is quick at the largest size even if it takes the square of the text.
        least = MOST_SECONDS * (size / largest) ** 2
        known = _times(shape, size, least)
        if _too_slow(shape, MOST_AT_SIZE, known):  # once may be the machine
            return slow_questions(shape, size, MOST_AT_SIZE), size
        if not (_suspect(known) and _suspect(_times(shape, size, least))):
            return [], size
    return slow_questions(shape, largest), largest


def _suspect(times: Mapping[str, tuple[float | str, float | str]]) -> bool:
    return any(
        isinstance(before, str) or isinstance(after, str) or after > SUSPECT * before
        for before, after in times.values()
    )


def _times(shape: Shape, size: int, least: float) -> dict[str, tuple[float | str, float | str]]:
    """Return what each question took that took longer than so many seconds: of the shorter text, and of all."""
    with tempfile.TemporaryDirectory() as folder:
        long = seconds(Path(folder), shape, size)
        after = {name: took for name, took in long.items() if isinstance(took, str) or took > least}
        before = seconds(Path(folder), shape, size // TIMES) if after else {}
    return {name: (before[name], took) for name, took in after.items()}


def _too_slow(shape: Shape, most: float, times: Mapping[str, tuple[float | str, float | str]]) -> list[Slow]:
    found: list[Slow] = []
    for question, (before, after) in times.items():
        if isinstance(before, str) or isinstance(after, str):
            found.append(Slow(str(shape), question, (0, 0), f"{before} / {after}"))
        elif after > most + MOST_GROWTH * before:
            found.append(Slow(str(shape), question, (before, after)))
    return found


def main() -> int:
    """Run the campaign that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="characters of the texts")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    console = Console(highlight=False, markup=False, soft_wrap=True)
    found: list[Slow] = []
    sizes: Counter[int] = Counter()
    with (
        ProcessPoolExecutor(options.processes) as pool,
        Progress(console=console, transient=True) as bar,
    ):
        waiting = [pool.submit(slow_at_any_size, shape, options.sizes) for shape in SHAPES]
        for one in bar.track(as_completed(waiting), total=len(waiting), description="shapes"):
            slow, size = one.result()
            sizes[size] += 1
            found += slow
            for each in slow:
                console.print(str(each))
    asked = ", ".join([f"{sizes[size]:,} up to {size:,} characters" for size in options.sizes])
    console.print(f"{len(SHAPES):,} shapes, {asked}: {len(found)} questions are too slow or fail")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
