"""A member that a type may inherit from outside of the root, and one that no type there has."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools import CodeBase
from operator_schema.code_tools.language import language_named
from operator_schema.code_tools.rust_traits import PRELUDE, PROVIDED

RUST = """\
use std::fmt;
use std::io::Read;
use other::Kind;
pub struct Own;
pub struct Foreign;
pub struct Points;
impl fmt::Debug for Own {}
impl fmt::Display for Own {}
impl Iterator for Own {}
impl Read for Own {}
impl Kind for Foreign {}
impl std::ops::Deref for Points {}
"""
JAVA = """\
package a;
import org.b.Kind;
class Own extends RuntimeException implements Comparable<Own>, Cloneable {}
class Foreign extends Kind {}
"""
TYPESCRIPT = """\
import { Kind } from 'b'
class Own extends Error {}
class Foreign extends Kind {}
"""
GO = """\
package a
import (
	"sync"
	"io"
	"example.org/b"
)
type Own struct {
	sync.Mutex
	io.Reader
}
type Foreign struct {
	b.Kind
}
"""
FILES = {
    "rust": ("src/lib.rs", RUST),
    "java": ("src/a/Own.java", JAVA),
    "typescript": ("a.ts", TYPESCRIPT),
    "go": ("a.go", GO),
}
INHERITED = {
    "rust": ["to_string", "map", "read_to_end"],
    "java": ["getMessage", "compareTo", "hashCode"],
    "typescript": ["message", "toString"],
    "go": ["Lock", "Read"],
}


@pytest.mark.parametrize("language", FILES)
def test_a_member_that_nothing_gives_is_not_declared(tmp_path, language):
    path, text = FILES[language]
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text, encoding="utf-8")
    code = CodeBase(tmp_path)
    assert code.inspect("Own.nobodyHasThis")["reason"] == "not declared"
    assert code.inspect("Foreign.nobodyHasThis")["reason"] == "outside of the root"
    for name in INHERITED[language]:
        found = code.inspect(f"Own.{name}")  # Go's own library may be installed, with its sources
        assert found["found"] or found["reason"] == "outside of the root", name
    if language == "rust":
        assert code.inspect("Points.nobodyHasThis")["reason"] == "outside of the root"  # by `Deref`


def test_a_header_gives_its_name_to_nothing(tmp_path):
    (tmp_path / "shop.h").write_text("#include <vector>\nint sell();\n", encoding="utf-8")
    (tmp_path / "shop.py").write_text("def buy(): ...\n", encoding="utf-8")
    code = CodeBase(tmp_path)
    assert code.inspect("shop.restart")["reason"] == "not declared"
    assert code.inspect("shop.buy")["found"]


RUSTC = shutil.which("rustc")


def documented():
    """Return the methods that each trait provides, as the documentation installed with Rust has them."""
    done = subprocess.run([RUSTC, "--print", "sysroot"], check=True, capture_output=True, text=True)
    found = {}
    pages = Path(done.stdout.strip(), "share/doc/rust/html/std").rglob("trait.*.html")
    for page in [each for each in pages if each.stem.removeprefix("trait.") in PRELUDE | PROVIDED.keys()]:
        own = re.split('id="(?:foreign-impls|implementors)"', page.read_text(encoding="utf-8"))[0]
        methods = found.setdefault(page.stem.removeprefix("trait."), set())
        methods.update(re.findall(r'<section id="method\.(\w+)" class="method', own))
    return found


@pytest.mark.skipif(RUSTC is None, reason="Rust isn't installed")
@pytest.mark.needs_process
def test_the_methods_of_traits_are_those_of_the_documentation():
    known = documented()
    if not known:
        pytest.skip("Rust is installed without its documentation")
    assert known.keys() == PRELUDE | PROVIDED.keys()
    rust = language_named("rust")
    for trait in known:
        assert known[trait] <= set(rust.passed_on(f"std.{trait}")), trait
