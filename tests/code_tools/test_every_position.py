"""A use is found wherever a language allows a name: no place of it certainly means something else."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from hypothesis import settings

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools import CodeBase

EXPRESSIONS = {
    "python": (
        *(
            "({})",
            "[{}]",
            "{{{}: 1}}",
            "{{1: {}}}",
            "-{}",
            "not {}",
            "f({})",
            "f(*[{}])",
            "f(**{})",
            "f(k={})",
        ),
        *("a[{}]", "a[{}:]", "a[:{}]", "[b for b in {}]", "lambda: {}", "lambda b={}: b", "{} if a else 0"),
        *("0 if {} else 1", "a < {}", "{} @ a", "{}[0]", "{}().c", "(yield {})", "(b := {})", "*{},"),
    ),
    "typescript": (
        *("({})", "[{}]", "[...{}]", "[a, ...{}]", "({{...{}}})", "({{k: {}}})", "({{[{}]: 1}})", "f({})"),
        *("f(...{})", "{}()", "{}?.c", "{}!", "a[{}]", "a?.[{}]", "-{}", "!{}", "typeof {}", "a ? {} : 0"),
        *("a ?? {}", "a\n || {}", "() => {}", "(b = {}) => b", "new {}()", "({} as any)", "a < {}", "{}\n.c"),
    ),
    "go": (
        *("({})", "[]any{{{}}}", "map[any]any{{{}: 1}}", "map[any]any{{1: {}}}", "f({})", "f({}...)", "-{}"),
        *("&{}", "*{}", "a[{}]", "a[{}:]", "a[:{}]", "{}[0]", "{}()", "{}.c", "a == {}", "a &^ {}"),
        *("func() any {{ return {} }}", "B{{k: {}}}", "any({})", "{}.(int)", "<-{}"),
    ),
    "rust": (
        *(
            "({})",
            "[{}]",
            "[{}; 2]",
            "({}, 1)",
            "f({})",
            "&{}",
            "&mut {}",
            "*{}",
            "-{}",
            "!{}",
            "{}?",
            "{}()",
        ),
        *("{}[0]", "a[{}]", "0..{}", "0..={}", "(..{})", "{}..1", "{}.c", "{}.c()", "a == {}", "|b| {}"),
        *("vec![{}]", "vec![a, {}]", 'format!("x", {})', "if a {{ {} }} else {{ 1 }}", "{} as u8"),
        *("B {{ k: {} }}", "B {{ ..{} }}", "match a {{ _ => {} }}", "move || {}"),
    ),
}
"""Expressions with a place for another one."""

TYPES = {
    "python": (
        *("list[{}]", "dict[str, {}]", "{} | None", "Callable[[{}], int]", "tuple[{}, ...]", "type[{}]"),
    ),
    "typescript": (
        *("{}[]", "({})", "Array<{}>", "Map<string, {}>", "{} | null", "null | {}", "a & {}", "keyof {}"),
        *("[{}]", "[...{}]", "[a: {}]", "(a: {}) => void", "(...a: {}[]) => void", "() => {}", "{{ k: {} }}"),
        *("{{ [k: string]: {} }}", "readonly {}[]", "{}['k']", "a extends {} ? 1 : 2"),
    ),
    "go": (
        *("*{}", "[]{}", "[2]{}", "map[string]{}", "map[{}]int", "chan {}", "<-chan {}", "func({}) int"),
        *("func(...{}) int", "func() {}", "func() (int, {})", "struct {{ k {} }}"),
    ),
    "rust": (
        *("&{}", "&'a {}", "&mut {}", "*const {}", "[{}]", "[{}; 2]", "({}, u8)", "Vec<{}>", "Map<u8, {}>"),
        *("Option<&{}>", "fn({}) -> u8", "fn() -> {}", "Box<dyn Fn({})>", "impl Iterator<Item = {}>"),
    ),
}
"""Types with a place for another one."""

STATEMENTS = {
    "python": ("def f{n}(a):\n    return {x}\n", "def f{n}(a, b={x}): ...\n", "@g({x})\ndef f{n}(): ...\n"),
    "typescript": (
        "function f{n}(a: any, f: any) {{ return {x} }}\n",
        "function f{n}(a: any, b = {x}) {{}}\n",
    ),
    "go": ("func F{n}(a []any) {{ g = {x} }}\n", "var V{n} = {x}\n"),
    "rust": ("fn f{n}(a: u8) {{ let b = {x}; }}\n", "fn f{n}(a: u8) -> u8 {{ {x} }}\n"),
}
TYPED = {
    "python": (
        "def f{n}(a: {t}): ...\n",
        "def f{n}() -> {t}: ...\n",
        "v{n}: {t}\n",
        "class C{n}:\n    a: {t}\n",
    ),
    "typescript": (
        *("function f{n}(a: {t}) {{}}\n", "function f{n}(): {t} {{ return null }}\n", "let v{n}: {t}\n"),
        *("type A{n} = {t}\n", "class C{n} {{ a: {t}; m(b: {t}) {{}} }}\n", "interface I{n} {{ a?: {t} }}\n"),
    ),
    "go": (
        *("func F{n}(a {t}) {{}}\n", "func F{n}(a int, b {t}) (c {t}) {{ return }}\n", "var V{n} {t}\n"),
        *("type A{n} {t}\n", "func (r *R) F{n}(a {t}) {{}}\n", "type S{n} struct {{\n\ta {t}\n}}\n"),
    ),
    "rust": (
        *("fn f{n}(a: {t}) {{}}\n", "fn f{n}() -> {t} {{ a }}\n", "struct S{n} {{ a: {t} }}\n"),
        *(
            "type A{n} = {t};\n",
            "impl R {{ pub(crate) fn f{n}(&self, a: {t}) {{}} }}\n",
            "struct U{n}({t});\n",
        ),
    ),
}
DECLARED = {
    "python": (
        "far.py",
        "def Far(): ...\n",
        "near.py",
        "from far import Far\nimport far\n",
        "Far",
        "far.Far",
    ),
    "typescript": (
        *("far.ts", "export class Far {}\n", "near.ts"),
        *('import { Far } from "./far"\nimport * as far from "./far"\n', "Far", "far.Far"),
    ),
    "go": (
        *("far/far.go", "package far\n\ntype Far int\n", "near/near.go"),
        *('package near\n\nimport (\n\t. "example.com/m/far"\n\t"example.com/m/far"\n)\n', "Far", "far.Far"),
    ),
    "rust": (
        "src/far.rs",
        "pub struct Far;\n",
        "src/near.rs",
        "use crate::far::Far;\n",
        "Far",
        "crate::far::Far",
    ),
}


def nested(language, contexts, name):
    """Return the name in each context, and in pairs of them: `make laws` takes each pair."""
    once = [one.format(name) for one in contexts[language]]
    pairs = [outer.format(inner) for outer in contexts[language] for inner in once]
    return [name, *once, *pairs[:: max(350 // settings().max_examples, 1)]]


def written(folder, language, name):
    """Write a declaration, and a file that uses it everywhere; return the text of that file."""
    far, declaration, near, imports, *_ = DECLARED[language]
    expressions, types = (nested(language, each, name) for each in (EXPRESSIONS, TYPES))
    lines = [
        *(one.format(n="{n}", x=x) for one in STATEMENTS[language] for x in expressions),
        *(one.format(n="{n}", t=t) for one in TYPED[language] for t in types),
    ]
    text = "".join(line.replace("{n}", str(number), 1) for number, line in enumerate(lines))
    files = {far: declaration, near: f"{imports}{text}", "go.mod": "module example.com/m\n"}
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    return text


@pytest.mark.parametrize(("language", "way"), [*itertools.product(DECLARED, (4, 5))])
def test_a_name_is_used_wherever_its_language_allows_one(tmp_path, language, way):
    text = written(tmp_path, language, DECLARED[language][way])
    far, near = DECLARED[language][0], DECLARED[language][2]
    found = CodeBase(tmp_path, budget=5_000_000).references(f"{far}:Far", near)
    places = Counter([int(one["location"].rpartition(":")[2]) for one in found["places"]])
    head = DECLARED[language][3].count("\n")
    used = {head + row: line for row, line in enumerate(text.splitlines(), 1) if "Far" in line}
    missed = [line for row, line in used.items() if places[row] < line.count("Far")]
    assert missed == []
    assert "certainly" not in found.get("note", "")


SURROUNDINGS = {
    "a decorator in a class": {
        "a.py": "class A:\n    @a\n    def far(self): ...\n    @far.setter\n    def far(self, b): ...\n"
    },
    "a default in a class": {"a.py": "class A:\n    far = 1\n    def f(self, b=far): ...\n"},
    "all of an enum": {"src/a.rs": "enum E { Far }\nfn f() {\n    use E::*;\n    g(Far);\n}\n"},
    "an import in a macro": {
        "src/lib.rs": "cfg_if! {\n    if #[cfg(x)] {\n        pub use crate::b::{G, Far};\n    }\n}\n",
        "src/b.rs": "pub struct Far;\npub struct G;\n",
    },
    "a macro of another file": {
        "src/lib.rs": "#[macro_use]\nmod b;\nfn f() { far!(1) }\n",
        "src/b.rs": "macro_rules! far { ($a:expr) => { $a } }\n",
    },
    "a variable beside a module": {
        "src/b.rs": "pub const FAR: u8 = 1;\n",
        "src/lib.rs": "use crate::b;\nfn f(b: u8) -> bool { match b { b::FAR => true, _ => false } }\n",
    },
    "a type that a macro declares": {
        "src/lib.rs": "make! { enum E { A } }\nimpl E { fn far() {} }\nfn f() { E::far(); }\n"
    },
    "a nested class": {
        "A.java": "class A {\n  void f(Far b) { Far c = new Far(); }\n  static class Far {}\n}\n"
    },
    "a namespace": {
        "a.ts": "declare namespace n {\n  type Far = 1\n  interface I { b: Far }\n}\nfunction n() {}\n"
    },
    "what a module brings": {"a.js": "function far() {}\n", "b.js": "require('./a').far = 1\n"},
    "what an object brings": {
        "a.js": "function far() {}\n",
        "b.js": "function f() { const { far } = g(); far() }\n",
    },
    "a field of the name of its type": {
        "a.go": "package a\ntype Far struct{}\ntype B struct { Far }\nfunc f(b B) { g(b.Far) }\n"
    },
    "a file that can't be read": {
        "a.ts": "export class Far {}\n",
        "b.ts": "import { Far from './a'\nlet b = Far\n",
    },
}
"""Places whose meaning depends on what is around them."""


@pytest.mark.parametrize("surroundings", SURROUNDINGS)
def test_what_is_around_a_use_leads_to_it(tmp_path, surroundings):
    for path, text in SURROUNDINGS[surroundings].items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    code = CodeBase(tmp_path)
    declared = next(one["name"] for one in code.search("*")["results"] if one["name"].lower().endswith("far"))
    found = code.references(declared)
    assert found["certain"] + found["likely"] >= 1, found
    assert "certainly" not in found.get("note", ""), found


TWICE = {
    "rust": (
        "src/a.rs",
        "pub fn far() {}\n",
        "src/b.rs",
        "pub fn far() {}\n",
        "src/c.rs",
        "mod c { use crate::a::far; fn f() { far() } }\nmod d { use crate::b::far; fn g() { far() } }\n",
    ),
    "python": (
        "a.py",
        "def far(): ...\n",
        "b.py",
        "def far(): ...\n",
        "c.py",
        "try:\n    from a import far\nexcept ImportError:\n    from b import far\nfar()\n",
    ),
}
"""Two declarations, and a file that imports both under one name."""


@pytest.mark.parametrize("language", TWICE)
def test_a_place_is_certain_of_one_declaration_at_most(tmp_path, language):
    files = TWICE[language]
    for path, text in zip(files[::2], files[1::2], strict=True):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    code = CodeBase(tmp_path)
    found = [code.references(f"{path}:far") for path in files[:4:2]]
    sure = Counter([one["location"] for each in found for one in each["places"] if one["sure"] == "certain"])
    assert [place for place, number in sure.items() if number > 1] == []
    assert min(each["certain"] + each["likely"] for each in found) >= 2, found
