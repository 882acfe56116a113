"""Rust: declarations, fields, methods, and what functions use."""

from __future__ import annotations

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools import CodeBase
from operator_schema.code_tools.language import language_named

LIB = """\
//! A shop.
mod users;

pub const LIMIT: usize = 5;
static NAMES: [&str; 1] = ["a"];

// not documentation

/// Where users are kept.
/// There is one of them.
#[derive(Debug)]
pub struct Store<T> {
    pub users: Vec<T>,
    size: usize,
}

pub enum Fault { Full, Missing(String) }

type Users = Store<users::User>;

/// What can be counted.
pub trait Counted {
    fn count(&self) -> usize;
}

impl<T> Counted for Store<T> {
    fn count(&self) -> usize {
        self.size
    }
}

impl<T> Store<T> {
    /// Add one.
    pub fn add(&mut self, user: T) -> Result<(), Fault> {
        use std::mem::{replace, take as taken};
        self.check()?;
        let _ = taken(&mut self.size);
        helper(self.users.len());
        Ok(())
    }

    fn check(&self) -> Result<(), Fault> { Ok(()) }
}

fn helper(n: usize) -> usize { n }
"""

USERS = """\
use std::collections::{HashMap, HashSet as Set};
use crate::helper;
use std::fmt;

pub struct User { pub name: String }

pub mod inner {
    pub fn deep(set: Set<u8>) -> usize { helper(set.len()) }
}

fn broken( {
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    root = tmp_path_factory.mktemp("rust")
    (root / "lib.rs").write_text(LIB)
    (root / "users.rs").write_text(USERS)
    return CodeBase(root)


def test_every_declaration_has_its_kind(code):
    found = {one["name"]: one["kind"] for one in code.search("*", limit=50)["results"]}
    assert found == {
        "LIMIT": "const",
        "NAMES": "var",
        "Store": "struct",
        "Fault": "type",
        "Fault.Full": "const",
        "Fault.Missing": "const",
        "Users": "type",
        "Counted": "interface",
        "Counted.count": "method",
        "Store.count": "method",
        "Store.add": "method",
        "Store.check": "method",
        "helper": "func",
        "User": "struct",
        "deep": "func",
    }


def test_a_struct_has_its_documentation_fields_and_methods(code):
    found = code.inspect("Store")
    assert found["doc"] == "Where users are kept.\nThere is one of them."
    assert found["fields"] == [{"name": "users", "type": "Vec<T>"}, {"name": "size", "type": "usize"}]
    assert [one["name"] for one in found["methods"]] == ["count", "add", "check"]
    assert [one["name"] for one in code.inspect("Counted")["methods"]] == ["count"]
    assert code.inspect("LIMIT")["value"] == "5"


def test_what_a_function_uses_and_calls(code):
    found = code.read_func("Store.add")
    assert found["signature"] == "pub fn add(&mut self, user: T) -> Result<(), Fault>"
    assert found["imports_used"] == ["use std::mem::replace", "use std::mem::take as taken"]
    assert [(one["name"], one.get("location")) for one in found["calls"]] == [
        ("self.check", "lib.rs:42"),
        ("taken", None),
        ("helper", "lib.rs:45"),
        ("self.users.len", None),
        ("Ok", None),
    ]
    deep = code.read_func("users.deep")
    assert deep["imports_used"] == ["use std::collections::HashSet as Set", "use crate::helper"]
    assert deep["calls"][0] == {
        "name": "helper",
        "location": "lib.rs:45",
        "signature": "fn helper(n: usize) -> usize",
    }


def test_a_path_from_the_crate_is_one_below_its_own_sources(tmp_path):
    for path, text in {
        "one/src/lib.rs": "mod kept;\nmod hidden;\npub use crate::kept::Found;\n",
        "one/src/kept.rs": "pub struct Found;\n",
        "one/src/hidden.rs": "use crate::kept;\npub struct Other;\n",
        "two/src/lib.rs": "mod kept;\npub use crate::kept::Found;\n",
        "two/src/kept.rs": "pub struct Found;\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    base = CodeBase(tmp_path)
    for crate in ("one", "two"):
        found = base.references(f"{crate}/src/kept.rs:Found")
        assert [place["location"] for place in found["places"] if place["sure"] == "certain"] == [
            f"{crate}/src/lib.rs:{3 if crate == 'one' else 2}"
        ]


CRATE = {
    "one-1.2.0/Cargo.toml": '[package]\nname = "one"\n',
    "one-1.2.0/src/lib.rs": """\
pub use self::part::{inner::{Deep, deeper as lower}, part_of, self};
pub use crate::made::*;
pub use crate::all::*;
""",
    "one-1.2.0/src/part.rs": "pub mod inner { pub struct Deep; pub fn deeper() {} }\npub fn part_of() {}\n",
    "one-1.2.0/src/all.rs": "pub fn of_all() {}\n",
    "one-1.2.0/src/made.rs": "macro_rules! make { () => {\n    pub struct Made;\n} }\nmake!();\n",
    "two/Cargo.toml": '[package]\nname = "two"\n',
    "two/src/lib.rs": "pub mod part;\n",
    "two/src/part.rs": "pub fn part_of() {}\n",
    "two/scripts/run.py": "import one\n",
    "two/src/three.rs": "pub struct Three;\n",
    "three/Cargo.toml": '[package]\nname = "three"\n',
    "three/lib.rs": "mod macros;\npub struct Three;\n",
    "three/macros.rs": "#[macro_export]\nmacro_rules! three { () => {} }\nmacro_rules! own { () => {} }\n",
}


@pytest.fixture(scope="module")
def crates(tmp_path_factory):
    root = tmp_path_factory.mktemp("crates")
    for path, text in CRATE.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return CodeBase(root)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("one::part_of", "one-1.2.0/src/part.rs:2"),
        ("one::of_all", "one-1.2.0/src/all.rs:1"),
        ("two::part::part_of", "two/src/part.rs:1"),
        ("three::Three", "three/lib.rs:2"),
        ("three::three", "three/macros.rs:2"),
    ],
)
def test_a_use_leads_to_the_module_of_its_own_crate(crates, name, place):
    assert crates.inspect(name)["location"] == place


def test_groups_inside_of_groups_are_read():
    source = b"use a::{b::{self, c as d}, // e,\n  f::*, g};\nuse h::{i};\nuse j;\n"
    assert [(one.name, one.target) for one in language_named("rust").parse(source).imports] == [
        ("b", "a::b"),
        ("d", "a::b::c"),
        ("*", "a::f"),
        ("g", "a::g"),
        ("i", "h::i"),
        ("j", "j"),
    ]


def test_what_a_macro_declares_is_not_said_to_be_outside(crates):
    for name in ("one::Made", "one::Made::new"):
        missed = crates.inspect(name)
        assert missed["reason"] == "not declared"
        assert "The text of one-1.2.0/src/made.rs:2 may declare it" in missed["note"]


VARIANTS = """\
mod a;
/// Forms.
pub enum Shape {
    /// Round.
    Circle,
    #[serde(rename = "sq")]
    Square(f64),
    Rect { w: u8 },
    Num = 5,
}
impl Shape {
    fn all() -> Vec<Self> { vec![Self::Circle, Shape::Square(1.0), Self::Rect { w: 1 }, Shape::Num] }
}
"""
VARIANTS_USED = """\
use crate::Shape;
use crate::Shape::*;
fn all() -> Vec<Shape> { vec![Circle, Square(1.0), Rect { w: 1 }, Num] }
fn named() -> Vec<Shape> { vec![Shape::Circle, crate::Shape::Square(1.0), Shape::Rect { w: 1 }, Shape::Num] }
mod tests {
    use super::*;
    fn all() -> Vec<Shape> { vec![Circle, Square(1.0), Rect { w: 1 }, Num] }
}
"""


@pytest.mark.parametrize(("name", "line"), [("Circle", 5), ("Square", 7), ("Rect", 8), ("Num", 9)])
def test_variants_of_an_enum_are_members(tmp_path, name, line):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").write_text(VARIANTS)
    (tmp_path / "src" / "a.rs").write_text(VARIANTS_USED)
    base = CodeBase(tmp_path)
    for written in (f"Shape::{name}", f"crate::Shape::{name}", name):
        assert base.inspect(written)["location"] == f"src/lib.rs:{line}"
    assert f"Shape.{name}" in [one["name"] for one in base.search("Shape.*")["results"]]
    found = base.references(f"Shape::{name}")
    places = [("src/lib.rs", 12), ("src/a.rs", 3), ("src/a.rs", 4), ("src/a.rs", 7)]
    assert {one["location"]: one["sure"] for one in found["places"]} == {
        f"{path}:{at}": "certain" for path, at in places
    }


PARTS = ['"a text with ) and ] in it"', "x = [1, (2)]", "all(unix, not(windows))", "Debug", 'r#"}"#', "'('"]


def test_an_attribute_is_shown_whole_or_left_out_whole(tmp_path):
    """The brackets of each signature close, however long and nested the attributes are."""
    texts = [
        f"#[{name}({', '.join([part] * times)})]{between}#[b]{between}pub fn f{number}_{place}(a: u8) {{}}"
        for number, part in enumerate(PARTS)
        for place, (name, times, between) in enumerate(
            (name, times, between)
            for name in ("tool", "a::b")
            for times in (1, 2, 9)
            for between in (" ", "\n")
        )
    ]
    texts.append('#[doc = "more than sixty characters of text, which is too long to be shown"]\nfn last() {}')
    (tmp_path / "a.rs").write_text("\n".join(texts))
    found = CodeBase(tmp_path, budget=200_000).search("*", limit=200)["results"]
    signatures = {one["name"]: one["signature"] for one in found}
    assert len(signatures) == len(texts)
    assert signatures.pop("last") == "#[doc = …] fn last()"
    for name, signature in signatures.items():
        first, second, rest = signature.partition("#[b]")
        assert second
        assert first.startswith("#[")
        assert first.endswith("] ")
        assert rest == f" pub fn {name}(a: u8)"
        assert "(…)]" in first or len(first) <= 61
