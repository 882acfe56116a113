"""Nothing that is there is denied: each notation of a name leads to it, and a miss has its reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema import CallError
from operator_schema.code_tools import CodeBase, code_tools, installed_packages
from operator_schema.code_tools.index import Index, UnfinishedError
from operator_schema.code_tools.language import LANGUAGES
from operator_schema.code_tools.source_tree import UNREAD, Tree
from operator_schema.code_tools.written_names import WrittenName, pattern_hint, read_name, read_pattern

FILES = {
    "pkg/__init__.py": (
        "from .core import run\nfrom .core import Thing as Public\nfrom .stars import *\nPublic2 = Public\n"
        "from . import core as engine\nmade = Public()\nfrom .missing import gone\nfrom .elsewhere import *\n"
    ),
    "pkg/core.py": (
        "class Base:\n    limit = 3\n    def __init__(self):\n        self.size = 1\n"
        "    def inherited(self):\n        return self.size\n"
        "class Thing(Base):\n    def own(self): ...\ndef run():\n    def helper():\n"
        "        def deep(): ...\n    class Local:\n        def method(self): ...\n"
    ),
    "pkg/stars.py": "def starred(): ...\n_hidden = 1\n",
    "pkg/lazy.py": "class Lazy: ...\n",
    "pkg/use.py": "import pkg\nfrom pkg import engine\nfrom outside_of_here import odd\n",
    "web/app.zig": "const App = struct {};\n",
}


def write(root: Path, files):
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.fixture
def base(tmp_path):
    write(tmp_path, FILES)
    return CodeBase(tmp_path)


@pytest.mark.parametrize(
    ("name", "location", "via"),
    [
        ("pkg.run", "pkg/core.py:9", ["pkg/__init__.py:1 from .core import run"]),
        ("pkg.Public", "pkg/core.py:7", ["pkg/__init__.py:2 from .core import Thing as Public"]),
        ("Public", "pkg/core.py:7", ["pkg/__init__.py:2 from .core import Thing as Public"]),
        ("pkg.starred", "pkg/stars.py:1", ["pkg/__init__.py:3 from .stars import *"]),
        ("engine.run", "pkg/core.py:9", ["pkg/__init__.py:5 from . import core as engine"]),
        ("Thing.inherited", "pkg/core.py:5", ["inherited: Thing → Base"]),
        ("Thing.size", "pkg/core.py:4", ["inherited: Thing → Base"]),
        ("Base.size", "pkg/core.py:4", None),
        ("run.helper", "pkg/core.py:10", ["inside run"]),
        ("run.helper.deep", "pkg/core.py:11", ["inside run"]),
        ("helper", "pkg/core.py:10", ["inside run"]),
        ("Local.method", "pkg/core.py:13", ["inside run"]),
        ("pkg/__init__.py:Public", "pkg/core.py:7", ["pkg/__init__.py:2 from .core import Thing as Public"]),
        ("pkg/core.py:5", "pkg/core.py:5", None),
        ("pkg/core.py:6", "pkg/core.py:5", None),
        ("pkg/core.py::Thing::own", "pkg/core.py:8", None),
        ("pkg.core:run()", "pkg/core.py:9", None),
        ("pkg:run", "pkg/core.py:9", None),
        ("pkg.lazy.Lazy", "pkg/lazy.py:1", None),
        ("pkg.Lazy", "pkg/lazy.py:1", ["declared below pkg, which may export it when it runs"]),
    ],
)
def test_what_is_there_is_found_as_people_write_it(base, name, location, via):
    found = base.inspect(name)
    assert (found.get("location"), found.get("via")) == (location, via)


def test_one_step_of_an_assignment_is_followed(base):
    assert base.inspect("pkg.Public2.own")["via"] == [
        "pkg/__init__.py:4 Public2 = Public",
        "pkg/__init__.py:2 from .core import Thing as Public",
    ]
    found = base.inspect("pkg.made.inherited")
    assert found["location"] == "pkg/core.py:5"
    assert found["via"][0] == "pkg/__init__.py:6 made = Public(…)"


@pytest.mark.parametrize(
    ("name", "reason", "note"),
    [
        ("nothing_like_it", "not declared", "No file that is read declares"),
        ("", "not understood", "No name was given"),
        ("a|b", "not understood", "This is a pattern, not a name: call search."),
        ("two words", "not understood", "A name has no spaces in it"),
        ("pkg/core.py:", "not understood", "A name is missing after pkg/core.py."),
        ("pkg", "a module", "This is a module: search for pkg/__init__.py:*"),
        ("pkg/core.py", "a file", "This is a file: search for pkg/core.py:*"),
        ("no/such.py:Foo", "no such file", "There is no file no/such.py below the root."),
        ("../other.py:Foo", "outside of the root", "../other.py is outside of the root."),
        ("pkg/core.py:400", "not declared", "Nothing is declared at this line of 14"),
        ("len", "outside of the root", "len is built into Python."),
        ("odd", "outside of the root", "outside_of_here.odd is imported from outside of the root"),
        ("sys.nothing", "outside of the root", "sys.nothing may be of Python's standard library"),
        ("pkg.wanted", "outside of the root", "pkg/__init__.py imports all names of pkg.elsewhere"),
        ("Thing.nothing", "not declared", 'No file that is read declares "Thing.nothing"'),
    ],
)
def test_what_is_not_found_has_a_reason(base, monkeypatch, name, reason, note):
    monkeypatch.setattr(installed_packages, "_package_folders", lambda _: iter(()))
    for ask in (base.inspect, base.read_func, base.references, base.implements):
        found = ask(name)
        assert (found["found"], found["reason"]) == (False, reason)
        assert found["note"].startswith(note)


def test_the_ending_of_a_file_says_either_that_it_is_read_or_in_which_other_language_it_is(tmp_path):
    read = [suffix for suffixes in LANGUAGES.values() for suffix in suffixes]
    assert not set(UNREAD).intersection(read)
    write(tmp_path, dict.fromkeys([f"a{suffix}" for suffix in [*read, *UNREAD]], ""))
    tree = Tree(str(tmp_path))
    tree.refresh()
    assert sorted(tree.files()) == sorted([f"a{suffix}" for suffix in read])
    assert sorted(tree.unread().elements()) == sorted(UNREAD.values())


def test_files_in_other_languages_are_counted(tmp_path):
    write(tmp_path, {"a.py": "x = 1\n", "web/app.zig": "", "web/more.zig": "", "b.kt": "", "c.rb": ""})
    base = CodeBase(tmp_path)
    note = base.inspect("App")["note"]
    assert "Files in other languages aren't read (2 of Zig, 1 of Kotlin, 1 of Ruby)" in note
    assert base.inspect("web/app.zig:App")["reason"] == "language not read"
    for found in (base.inspect("App"), base.search("App")):
        assert found["reason"] == "not declared"
        assert "Files in other languages aren't read" in found["note"]
    write(tmp_path, {"d.txt": "", "large.bin": "", ".gitignore": "*.zig\n"})
    assert "Zig" not in base.inspect("App")["note"]
    assert base.inspect("d.txt:x")["reason"] == "file not read"


def test_names_of_packages_and_of_the_standard_library_are_found_outside(tmp_path):
    where = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    write(where, {"shop/__init__.py": "from .api import Client\n", "shop/api.py": "class Client: ...\n"})
    write(tmp_path, {"a.py": "from shop import Client as C\nimport shop as s\nimport nowhere\n"})
    base = CodeBase(tmp_path)
    for name in ("shop.Client", "C", "s.Client", "shop.api.Client"):
        found = base.inspect(name)
        assert (found["location"], found["note"]) == ("shop/api.py:1", f"Outside of the root, in {where}.")
    write(where, {"shop/api.py": "\nclass Client: ...\n"})
    assert base.inspect("shop.Client")["location"] == "shop/api.py:2"
    assert base.inspect("json.loads")["location"].startswith("json/__init__.py:")
    assert base.read_func("json.loads")["implementation"].startswith("def loads(")
    assert base.inspect("nowhere.x")["reason"] == "outside of the root"
    # Their uses are asked of the root alone.
    assert base.references("shop.Client")["reason"] == "outside of the root"


def test_what_a_type_inherits_from_outside_of_the_root_is_found_or_said_to_be_there(tmp_path):
    where = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    write(where, {"shop/__init__.py": "from .api import Client\n"})
    write(where, {"shop/api.py": "class Base:\n    def close(self): ...\nclass Client(Base): ...\n"})
    write(
        tmp_path,
        {
            "a.py": "from shop import Client\nimport nowhere\nclass Mine(Client): ...\n"
            "class Second(Mine): ...\nclass Lost(nowhere.Thing): ...\nclass OurError(ValueError): ...\n"
        },
    )
    base = CodeBase(tmp_path)
    for name in ("Mine.close", "a.Second.close"):
        found = base.inspect(name)
        assert found["location"] == "shop/api.py:2"
        assert found["via"][0] == f"{name.split('.')[-2]} inherits from shop.Client"
        assert found["note"] == f"Outside of the root, in {where}."
    assert base.references("Mine.close")["note"].startswith(
        "Mine inherits from shop.Client. Outside of the root"
    )
    lost = base.inspect("Lost.go")
    assert (lost["reason"], lost["note"]) == (
        "outside of the root",
        'Lost inherits from nowhere.Thing, whose source isn\'t here: "go" may be there.',
    )
    assert (
        base.inspect("OurError.with_traceback")["note"]
        == "OurError inherits from ValueError, which is built into Python."
    )
    for name in ("Mine.nothing", "OurError.nothing"):
        assert base.inspect(name)["reason"] == "not declared"


@pytest.mark.parametrize("ask", ["inspect", "read_func", "references"])
def test_no_file_is_looked_for_whose_name_would_be_too_long(tmp_path, ask):
    write(tmp_path, {"a.go": f"package p\ntype A struct {{\n{'x' * 5000}\n}}\n", "a.py": ""})
    base = CodeBase(tmp_path)
    assert getattr(base, ask)(f"{'x' * 300}.y")["reason"] == "not declared"
    assert getattr(base, ask)("A.f")["reason"] == "outside of the root"


def test_the_declaration_that_most_files_import_comes_first(tmp_path):
    write(tmp_path, {"kept/buffer.py": "class Found: ...\n", "kept/public/api.py": "class Found: ...\n"})
    write(tmp_path, {"b.py": "from kept import buffer\n", "c.py": "import kept.buffer\n"})
    write(tmp_path, {"d.py": "from kept.public.api import Found\n"})
    assert CodeBase(tmp_path).inspect("Found")["location"] == "kept/public/api.py:1"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Type::method", "Type.method"),
        ("crate::Type", "Type"),
        ("<T as Trait>::go", "T.go"),
        ("Vec<Option<T>>::push", "Vec.push"),
        ("Foo::<T>::bar", "Foo.bar"),
        ("mac!", "mac"),
        ("(*Server).ListenAndServe", "Server.ListenAndServe"),
        ("func (s *Store[T]) Get(key string)", "Store.Get"),
        ("net/http.Client.Do", "net.http.Client.Do"),
        ("net/http.(*Client).Do", "net.http.Client.Do"),
        ("Pointer[T].Load", "Pointer.Load"),
        ("f()", "f"),
        ("a.b(c(d)).e", "a.b.e"),
        ("Class#method", "Class.method"),
        ("object->method()", "object.method"),
        ("@app.route", "app.route"),
        ("*Other", "Other"),
        ("async def run(self):", "run"),
        ("`Codec`", "Codec"),
        ("self.close", "close"),
        ("operator==", "operator=="),
        ("~Foo", "~Foo"),
    ],
)
def test_each_notation_is_read(text, name):
    assert read_name(text) == WrittenName(name)


def test_paths_and_lines_in_front_of_a_name_are_read():
    assert read_name("a/b.py:81") == WrittenName("", "a/b.py", 81)
    assert read_name("a/b.py:81:4") == WrittenName("", "a/b.py", 81)
    assert read_name("a/b.py#L81-L90") == WrittenName("", "a/b.py", 81)
    assert read_name("./a/b.py:Foo.bar") == WrittenName("Foo.bar", "a/b.py")
    assert read_name("a/b.py::Foo::test[x-y]") == WrittenName("Foo.test", "a/b.py")
    assert read_pattern("a/*:class F*") == ("a/*", "F*")
    assert read_pattern("Regex::*") == ("", "Regex.*")
    assert pattern_hint("*Dict") == ""
    assert (
        pattern_hint("a b")
        == "Patterns have only * and ?, so a space can't be a part of one: search once for each name."
    )


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("pkg/*:*un", ["run"]),
        ("pkg:*ing", ["Thing"]),
        ("pkg.stars:*", ["starred", "_hidden"]),
        ("stars.*", ["starred", "_hidden"]),
        ("class Th*", ["Thing"]),
        ("Thing::*", ["Thing.own"]),
        ("pk?/cor?.py:run", ["run"]),
    ],
)
def test_patterns_with_paths_modules_and_notation_fit(base, pattern, names):
    assert [one["name"] for one in base.search(pattern)["results"]] == names


@pytest.mark.parametrize(
    ("pattern", "reason", "note"),
    [
        ("^Th.*$", "not understood", "Patterns have only * and ?, so ^, .*, $ can't be"),
        ("*Dict|*List", "not understood", "Patterns have only * and ?, so | can't be"),
        ("", "not understood", "No pattern was given"),
        ("nope/*:x", "no such file", "There is no file nope/* below the root."),
        (
            "hin",
            "not declared",
            "No declared name matches: a pattern must match the whole name, so try *hin*.",
        ),
    ],
)
def test_patterns_that_fit_nothing_say_why(base, pattern, reason, note):
    found = base.search(pattern)
    assert (found["results"], found["reason"]) == ([], reason)
    assert found["note"].startswith(note)


def test_every_definition_of_a_name_can_be_reached(tmp_path):
    text = (
        "class A:\n    @property\n    def x(self): return 1\n    @x.setter\n    def x(self, value): ...\n"
        "if W:\n    def f(): return 'w'\nelse:\n    def f(): return 'p'\n"
    )
    write(tmp_path, {"a.py": text})
    base = CodeBase(tmp_path)
    for name in ("A.x", "f"):
        found = base.read_func(name)
        texts = {found["implementation"]} | {
            base.read_func(other["location"])["implementation"] for other in found["others"]
        }
        assert len(texts) == 2
    assert base.read_func("f", first_line=400)["note"] == "The function ends at line 7, before line 400."


def test_public_types_come_before_aliases_and_private_ones(tmp_path):
    write(
        tmp_path,
        {
            "a.py": "Ordered = alias(1)\n",
            "deep/er/b.py": "class Ordered: ...\n",
            "_c.py": "class Ordered: ...\n",
            "one/x.py": "class Same: ...\n",
            "two/x.py": "class Same: ...\n",
            "u.py": "from two.x import Same\n",
            "p.rs": "struct Read;\n",
            "q/r.rs": "pub struct Read;\n",
        },
    )
    base = CodeBase(tmp_path)
    assert base.inspect("Ordered")["location"] == "deep/er/b.py:1"
    assert base.inspect("Same")["location"] == "two/x.py:1"
    assert base.inspect("Read")["location"] == "q/r.rs:1"


def test_members_of_go_come_from_what_is_embedded(tmp_path):
    write(
        tmp_path,
        {
            "go.mod": "module example.com/shop\n",
            "users/a.go": (
                'package users\nimport "example.com/shop/store"\n'
                "type User struct {\n\t*store.Named\n\tEmail string\n}\nfunc (u *User) Say() { u.Hello() }\n"
            ),
            "store/b.go": "package store\ntype Named struct { First string }\nfunc (n *Named) Hello() {}\n",
        },
    )
    base = CodeBase(tmp_path)
    assert base.inspect("User.Hello")["via"] == ["inherited: User → Named"]
    assert base.inspect("users.User.First")["location"] == "store/b.go:2"
    assert base.inspect("User.Email")["kind"] == "var"
    assert base.inspect("example.com/shop/users.User")["location"] == "users/a.go:3"
    assert base.read_func("(*User).Say")["calls"][0]["location"] == "store/b.go:3"
    assert base.inspect("User")["bases"] == ["Named store/b.go:2"]


def test_names_of_rust_by_crate_and_impl(tmp_path):
    write(
        tmp_path,
        {
            "crates/search/Cargo.toml": '[package]\nname = "grep-search"\n',
            "crates/search/src/lib.rs": "pub use crate::inner::Finder;\nmod inner;\n",
            "crates/search/src/inner.rs": (
                "#[derive(Debug)]\n#[non_exhaustive]\npub struct Finder;\n"
                "impl Finder { pub fn go(&self) {} }\n"
                "impl std::fmt::Display for Finder { fn fmt(&self) {} }\n"
            ),
        },
    )
    base = CodeBase(tmp_path)
    for name in ("grep_search::Finder", "crate::inner::Finder", "Finder"):
        assert base.inspect(name)["location"] == "crates/search/src/inner.rs:3"
    assert base.inspect("Finder::go")["location"] == "crates/search/src/inner.rs:4"
    found = base.inspect("Finder")
    assert found["signature"] == "#[derive(Debug)] #[non_exhaustive] pub struct Finder;"
    assert found["definition"].startswith("#[derive(Debug)]")


def test_an_attribute_that_is_set_is_not_the_method_of_its_name(tmp_path):
    write(
        tmp_path,
        {
            "a.py": (
                "class cached:\n    @staticmethod\n    def func(x): ...\n"
                "    def __init__(self, func):\n        self.func = func\n"
                "    def get(self): return self.func(1), self.other()\n    def other(self): ...\n"
            )
        },
    )
    calls = CodeBase(tmp_path).read_func("cached.get")["calls"]
    assert calls == [
        {"name": "self.func"},
        {"name": "self.other", "location": "a.py:7", "signature": "def other(self)"},
    ]


def test_values_of_constants(tmp_path):
    write(
        tmp_path,
        {
            "a.go": (
                "package p\ntype Role int\nconst (\n\tGuest Role = iota\n\tAdmin\n\t_\n\tRoot\n)\n"
                "const (\n\tKB = 1 << (10 * (iota + 1))\n\tMB\n)\nconst Plain = 5\n"
                "const (\n\tA, B = iota, iota + 10\n\tC, D\n)\n"
            ),
            "b.py": "c, d = 1, 2\ne = f = 3\n(g, *h) = 4, 5\n",
        },
    )
    base = CodeBase(tmp_path)
    assert [base.inspect(name)["value"] for name in ("Guest", "Admin", "Root")] == [
        "Role(0)",
        "Role(1)",
        "Role(3)",
    ]
    assert base.inspect("MB")["value"] == "1 << (10 * (1 + 1))"
    assert [base.inspect(name)["value"] for name in ("Plain", "C", "D")] == ["5", "1", "1 + 10"]
    assert [base.inspect(f"b.py:{name}")["value"] for name in "cdefg"] == ["1", "2", "3", "3", "4, 5"]


def test_line_ends_of_windows_and_declared_encodings_are_read(tmp_path):
    write(
        tmp_path,
        {
            "a.py": b"class A:\r\n    def f(self):\r\n        return 1\r\n",
            "b.py": "# -*- coding: latin-1 -*-\ncafé = 1\n".encode("latin-1"),
            "c.py": b"# coding: no-such-encoding\nx = 1\n",
        },
    )
    base = CodeBase(tmp_path)
    assert base.read_func("f")["implementation"] == "def f(self):\n    return 1"
    assert base.search("A.f")["results"][0]["signature"] == "def f(self)"
    assert base.inspect("café")["location"] == "b.py:2"
    assert base.inspect("c.py:x")["found"]


def test_an_outline_has_no_texts(base):
    found = base.inspect("Thing", "outline")
    assert "definition" not in found
    assert found["methods"] == [{"name": "own", "location": "pkg/core.py:8", "signature": "def own(self)"}]
    assert found["bases"] == ["Base pkg/core.py:1"]
    with pytest.raises(ValueError, match='the detail is one of full, outline, not string "short"'):
        base.inspect("Thing", "short")


def test_methods_of_a_trait_are_sent_once(tmp_path):
    write(tmp_path, {"a.rs": "pub trait T {\n    fn a(&self) -> u8;\n}\n"})
    assert CodeBase(tmp_path).inspect("T")["methods"] == [{"name": "a", "location": "a.rs:2"}]


def test_an_index_that_runs_out_of_time_goes_on(tmp_path, monkeypatch):
    root, cache = tmp_path / "root", tmp_path / "cache.db"
    write(root, {f"m{number}.py": f"x{number} = 1\n" for number in range(5)})
    index = Index(str(root))
    with pytest.raises(UnfinishedError, match="4 files still have to be read: try again, it continues"):
        index.refresh(until=0.0)
    assert index.refresh() == 4
    monkeypatch.setattr("operator_schema.code_tools.code_base._SECONDS_TO_READ", -1.0)
    for left in (4, 3, 2, 1):  # each time by another process
        with pytest.raises(CallError, match=f"{left} files still have to be read"):
            CodeBase(root, cache=cache).inspect("x4")
        monkeypatch.setattr("operator_schema.code_tools.index._BATCH", 1)
        break
    assert CodeBase(root, cache=cache).refresh() == 4


def test_the_tools_cost_little(tmp_path):
    import json

    texts = [
        f"{each.name}{each.description}{json.dumps(each.input_schema())}" for each in code_tools(tmp_path)
    ]
    assert sum(map(len, texts)) <= 4096


@pytest.mark.slow("reads packages with two parsers")
@pytest.mark.parametrize("package", ["anyio", "click"])
def test_what_packages_export_and_inherit_is_found(package):
    names_judge = pytest.importorskip("names_judge", reason="griffe is there")
    module = pytest.importorskip(package)
    folder = Path(module.__file__).parents[1]
    names = [*names_judge.exported(folder, package), *list(names_judge.inherited(folder, package))[::80]]
    assert len(names) > 20
    assert names_judge.denied(folder / package, names) == []


sys.path.insert(0, str(Path(__file__).parent))
