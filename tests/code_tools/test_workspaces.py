"""Packages of one workspace that use each other: every way to write that, in every language."""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools import CodeBase

NPM_ENTRIES = {
    "exports as text": '"exports": "./src/index.ts"',
    "exports with conditions": '"exports": {"import": {"types": "./x.d.ts", "default": "./src/index.ts"}}',
    "exports of the package": '"exports": {".": {"types": "./dist/index.d.ts", "import": "./dist/index.js"}}',
    "exports by a pattern": '"exports": {".": "./src/index.ts", "./*": "./src/*.ts"}',
    "main": '"main": "dist/index.js"',
    "module in a folder of its kind": '"module": "./lib/esm/index.mjs"',
    "nothing": '"private": true',
    "conditions in conditions": '"exports": {".": {"node": {"import": "./lib/index.mjs"}, "default": null}}',
    "globs": '"workspaces": {"packages": ["inner/**"]}, "exports": [{"import": "./dist/index.js"}, "./x.js"]',
}
NPM_USES = {
    "import": "import { helperFn } from '@acme/a';\nhelperFn();\n",
    "alias": "import { helperFn as h } from '@acme/a';\nfunction f() { h(); }\n",
    "namespace": "import * as a from '@acme/a';\nfunction f() { a.helperFn(); }\n",
    "export": "export { helperFn } from '@acme/a';\n",
    "require": "const { helperFn } = require('@acme/a');\nfunction f() { helperFn(); }\n",
    "require a module": "const a = require('@acme/a');\nfunction f() { a.helperFn(); }\n",
    "require inside": "function f() { const { helperFn } = require('@acme/a'); helperFn(); }\n",
    "await import": "async function f() { const a = await import('@acme/a'); a.helperFn(); }\n",
}
CARGO = '[package]\nname = "alpha-lib"\n'
CARGO_MANIFESTS = {
    "plain": ("alpha/src/lib.rs", CARGO),
    "path": ("alpha/source/all.rs", f'{CARGO}[lib]\npath = "source/all.rs"\n'),
    "name": ("alpha/src/lib.rs", '[package]\nname = "other"\n[lib]\nname = "alpha_lib"\n'),
}
CARGO_RENAMED = {
    "in a line": '[dependencies]\nnew = { path = "../alpha", package = "alpha-lib" } # not = "x"',
    "in a table": '[dependencies.new]\npath = "../alpha"\npackage = "alpha-lib"',
    "for tests": '[dev-dependencies]\nnew = { package = "alpha-lib", version = "1" }',
    "for a system": "[target.'cfg(unix)'.dependencies]\nnew = { package = \"alpha-lib\" }",
    "in the workspace": "[dependencies]\nnew.workspace = true",
}
COMPILER = '// of the compiler\n{"compilerOptions": {%s,},}'
NPM_ALIASES = {
    "imports": ("#lib/a", {"app/package.json": '{"imports": {"#lib/*": "./src/lib/*.ts"}}'}),
    "imports of a file": ("#a", {"app/package.json": '{"imports": {"#a": {"default": "./dist/lib/a.js"}}}'}),
    "paths": ("@/lib/a", {"app/tsconfig.json": COMPILER % '"paths": {"@/*": ["./none/*", "./src/*"]}'}),
    "paths of a file": (
        "a",
        {"app/tsconfig.json": COMPILER % '"paths": {"a": ["src/lib/a.ts"], "*": ["x/*"]}'},
    ),
    "paths in JavaScript": ("~/a", {"app/jsconfig.json": COMPILER % '"paths": {"~/*": ["src/lib/*"]}'}),
    "paths above a base": (
        "@a",
        {"tsconfig.json": COMPILER % '"baseUrl": "app/src", "paths": {"@*": ["lib/*"]}'},
    ),
    "a base": ("lib/a", {"app/tsconfig.json": COMPILER % '"baseUrl": "./src"'}),
    "paths of another file": (
        "@/a",
        {
            "app/tsconfig.json": '{"extends": ["../tsconfig.base"]}',
            "tsconfig.base.json": COMPILER % '"paths": {"@/*": ["app/src/lib/*"]}',
        },
    ),
    "paths of a part": (
        "@/a",
        {
            "app/tsconfig.json": '{"files": [], "references": [{"path": "./tsconfig.app.json"}]}',
            "app/tsconfig.app.json": COMPILER % '"paths": {"@/*": ["src/lib/*"]}',
        },
    ),
}
CARGO_USES = {
    "use": "use alpha_lib::helperFn;\nfn f() { helperFn(); }\n",
    "use the crate": "use alpha_lib as a;\nfn f() { a::helperFn(); }\n",
    "all": "use alpha_lib::*;\nfn f() { helperFn(); }\n",
    "path": "fn f() { alpha_lib::helperFn(); }\n",
    "use inside": "fn f() { use alpha_lib::helperFn; helperFn(); }\n",
}
GO_LINKS = {
    "work": {"go.work": "go 1.22\nuse (\n\t./a\n\t./b\n)\n", "a/go.mod": "module example.com/acme/a\n"},
    "no work": {"a/go.mod": "module example.com/acme/a\n", "go.mod": "module example.com/root\n"},
    "work of one line each": {
        "go.work": "go 1.22\nuse ./a\nuse ./b\n",
        "a/go.mod": "module example.com/acme/a\n",
    },
    "replaced": {
        "go.mod": "module example.com/root\nreplace example.com/acme/a => ./a\n",
        "a/go.mod": "module example.com/another/name\n",
    },
}
GO_USES = {
    "import": 'import "example.com/acme/a"\nfunc F() { a.HelperFn() }\n',
    "alias": 'import other "example.com/acme/a"\nfunc F() { other.HelperFn() }\n',
    "dot": 'import . "example.com/acme/a"\nfunc F() { HelperFn() }\n',
}
PYTHON_ROOTS = ("packages/a/src/acme_a", "packages/a/acme_a", "lib/acme_a", "src/acme_a")
PYTHON_USES = {
    "from": "from acme_a import helperFn\nhelperFn()\n",
    "module": "import acme_a\ndef f():\n    acme_a.helperFn()\n",
    "alias": "from acme_a import helperFn as h\nh()\n",
    "inside": "def f():\n    from acme_a import helperFn\n    helperFn()\n",
}
JAVA_A = "package org.a;\npublic class A { public static void helperFn() {} }\n"
JAVA_USES = {
    "static import": "package org.b;\nimport static org.a.A.helperFn;\nclass B { int x = helperFn(); }\n",
    "import": "package org.b;\nimport org.a.A;\nclass B { void f() { A.helperFn(); } }\n",
    "all": "package org.b;\nimport org.a.*;\nclass B { void f() { A.helperFn(); } }\n",
    "same package": "package org.a;\nclass B { void f() { A.helperFn(); } }\n",
}


def npm(entry, use):
    return {
        "packages/a/package.json": f'{{"name": "@acme/a", {NPM_ENTRIES[entry]}}}',
        "packages/a/src/index.ts": "export function helperFn(): number { return 1; }\n",
        "packages/b/package.json": '{"name": "@acme/b"}',
        "packages/b/src/index.ts": NPM_USES[use],
    }


def npm_part(use):
    return {
        "a/package.json": '{"name": "@acme/a", "exports": {"./part": "./dist/part/index.js"}}',
        "a/src/part/index.ts": "export function helperFn(): number { return 1; }\n",
        "b/index.tsx": NPM_USES[use].replace("@acme/a", "@acme/a/part"),
    }


def cargo(manifest, use):
    path, text = CARGO_MANIFESTS[manifest]
    return {
        "Cargo.toml": '[workspace]\nmembers = ["alpha", "beta"]\n',
        "alpha/Cargo.toml": text,
        path: "pub fn helperFn() {}\n",
        "beta/Cargo.toml": '[package]\nname = "beta"\n[dependencies]\nalpha-lib = { path = "../alpha" }\n',
        "beta/src/main.rs": CARGO_USES[use],
    }


def cargo_renamed(way, use):
    """Return crates of which one uses another under a new name, beside a third one that has that name."""
    workspace = '[workspace.dependencies]\nnew = { path = "alpha", package = "alpha-lib" }\n'
    return {
        **cargo("plain", use),
        "Cargo.toml": workspace,
        "beta/Cargo.toml": f'[package]\nname = "beta"\n{CARGO_RENAMED[way]}\n',
        "beta/src/main.rs": CARGO_USES[use].replace("alpha_lib", "new"),
        "gamma/Cargo.toml": '[package]\nname = "new"\n',
        "gamma/src/lib.rs": "pub fn otherFn() {}\n",
    }


def aliased(way, use):
    """Return files of which one imports another by a name that a manifest gives it."""
    name, manifests = NPM_ALIASES[way]
    return {
        **manifests,
        "app/src/lib/a.ts": "export function helperFn(): number { return 1; }\n",
        "app/src/deep/b.ts": NPM_USES[use].replace("@acme/a", name),
    }


def go(link, use):
    return {
        **GO_LINKS[link],
        "a/a.go": "package a\nfunc HelperFn() {}\n",
        "b/go.mod": "module example.com/acme/b\n",
        "b/b.go": f"package b\n{GO_USES[use]}",
    }


def python(root, use):
    return {f"{root}/__init__.py": "def helperFn(): ...\n", "packages/b/b.py": PYTHON_USES[use]}


def java(use):
    where = "src/test/java/org/a" if use == "same package" else "b/src/main/java/org/b"
    return {"src/main/java/org/a/A.java": JAVA_A, f"{where}/B.java": JAVA_USES[use]}


LINKED = [
    *(npm(*each) for each in itertools.product(NPM_ENTRIES, NPM_USES)),
    *map(npm_part, NPM_USES),
    *(cargo(*each) for each in itertools.product(CARGO_MANIFESTS, CARGO_USES)),
    *map(cargo_renamed, CARGO_RENAMED, CARGO_USES),
    *map(aliased, NPM_ALIASES, itertools.cycle(NPM_USES)),
    *(go(*each) for each in itertools.product(GO_LINKS, GO_USES)),
    *(python(*each) for each in itertools.product(PYTHON_ROOTS, PYTHON_USES)),
    *map(java, JAVA_USES),
]


def written(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return CodeBase(folder)


def uses(base):
    found = base.references("HelperFn" if "HelperFn" in {one["name"] for one in names(base)} else "helperFn")
    assert found["found"], found
    return found


def names(base):
    return base.search("*elperFn", limit=10)["results"]


def places(files):
    """Return each place where a use of the law's function is written, from its text alone."""
    return {
        f"{path}:{number}"
        for path, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        if "elperFn" in line
    }


def test_uses_across_packages_are_certain(tmp_path):
    for number, files in enumerate(LINKED):
        found = uses(written(tmp_path / str(number), files))
        sure = {one["location"] for one in found["places"] if one["sure"] == "certain"}
        assert sure == places(files) - {found["location"]}, files
        assert "certainly" not in found.get("note", ""), files


def test_an_import_that_leads_nowhere_is_never_certainly_something_else(tmp_path):
    strange = {
        "@acme/a": "@else/a",
        "alpha_lib": "gamma",
        "example.com/acme/a": "example.org/x/a",
        "acme_a": "no",
    }
    for number, files in enumerate(LINKED):
        given = dict(files)
        user = [path for path in files if "elperFn" in files[path]][-1]
        for known, other in strange.items():
            given[user] = given[user].replace(known, other)
        found = uses(written(tmp_path / str(number), given))
        assert {one["location"] for one in found["places"]} == places(given) - {found["location"]}, given
        assert "certainly" not in found.get("note", ""), given


@pytest.mark.parametrize("way", NPM_ALIASES)
def test_a_name_that_a_manifest_gives_holds_only_below_it(tmp_path, way):
    files = aliased(way, "import")
    files["other/b.ts"] = files.pop("app/src/deep/b.ts")
    found = uses(written(tmp_path, files))
    assert found["certain"] == 2 * ("tsconfig.json" in files), files
    assert "certainly" not in found.get("note", ""), files


def test_a_crate_is_renamed_only_where_its_manifest_says_so(tmp_path):
    files = cargo_renamed("in a line", "path")
    files["delta/Cargo.toml"] = '[package]\nname = "delta"\n[dependencies]\nnew = { path = "../gamma" }\n'
    files["delta/src/main.rs"] = "fn f() { new::otherFn(); }\n"
    files["gamma/src/lib.rs"] += "pub fn helperFn() {}\n"
    base = written(tmp_path, files)
    assert base.references("gamma/src/lib.rs:helperFn")["certain"] == 0
    assert base.references("alpha/src/lib.rs:helperFn")["certain"] == 1
    assert base.references("otherFn")["certain"] == 1


ROUNDABOUT = {
    "a package with the name of its folder's end": {
        "a/go.mod": "module example.com/go-a\n",
        "a/a.go": "package a\nfunc HelperFn() {}\n",
        "b/go.mod": "module example.com/b\n",
        "b/b.go": 'package b\nimport "example.com/go-a"\nfunc F() { a.HelperFn() }\n',
    },
    "a package with a name of its own": {
        "a/go.mod": "module example.com/folder\n",
        "a/a.go": "package other\nfunc HelperFn() {}\n",
        "b/go.mod": "module example.com/b\n",
        "b/b.go": 'package b\nimport "example.com/folder"\nfunc F() { other.HelperFn() }\n',
    },
    "all that is static": {
        "a/src/main/java/org/a/A.java": JAVA_A,
        "b/src/B.java": "package org.b;\nimport static org.a.A.*;\nclass B { int x = helperFn(); }\n",
    },
}
"""Ways to write an import that nothing here follows to its end, or only by a convention."""


@pytest.mark.parametrize("way", ROUNDABOUT)
def test_a_roundabout_import_is_never_certainly_something_else(tmp_path, way):
    files = ROUNDABOUT[way]
    found = uses(written(tmp_path, files))
    assert {one["location"] for one in found["places"]} >= places(files) - {found["location"]}, found
    assert "certainly" not in found.get("note", ""), found


def test_a_patch_that_renames_tells_of_other_packages(tmp_path):
    files = npm("exports of the package", "import")
    path = "packages/a/src/index.ts"
    line = files[path].rstrip("\n")
    patch = f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{line}\n+{line.replace('helperFn', 'other')}\n"
    found = written(tmp_path, files).check_patch(patch)
    assert found["applies"], found
    told = str(found)
    assert "packages/b/src/index.ts:1" in told, found
    assert "packages/b/src/index.ts:2" in told, found


def test_what_a_manifest_says_is_read_again(tmp_path):
    files = npm("nothing", "import")
    base = written(tmp_path, files)
    assert uses(base)["certain"] == 2
    (tmp_path / "packages/a/package.json").write_text('{"name": "@acme/another-name"}')
    found = uses(base)
    assert (found["certain"], found["likely"]) == (0, 2)


def test_a_package_is_known_by_its_name(tmp_path):
    base = written(tmp_path, npm_part("import"))
    assert base.inspect("@acme/a/part.helperFn")["location"] == "a/src/part/index.ts:1"
    assert base.inspect("@acme/a/part")["reason"] == "a module"


def test_two_packages_of_the_same_name_are_never_certain(tmp_path):
    files = {**java("import"), "c/src/main/java/org/a/A.java": JAVA_A}
    found = written(tmp_path, files).references("c/src/main/java/org/a/A.java:A.helperFn")
    assert (found["certain"], found["likely"]) == (0, 1)


@pytest.mark.parametrize(
    "text", ['{"name": 1}', "[]", "{", '{"name": "@acme/a", "exports": {"./*/x": [{"a": null}]}}']
)
def test_odd_manifests(tmp_path, text):
    files = {**npm("nothing", "import"), "packages/a/package.json": text}
    found = uses(written(tmp_path, files))
    assert "certainly" not in found.get("note", "")


def test_libraries_of_the_languages_are_something_else(tmp_path):
    files = {
        "a.py": "def join(): ...\n",
        "b.py": "from os.path import join\njoin()\n",
        "a.ts": "export function join() {}\n",
        "b.ts": "import { join } from 'node:path';\njoin();\n",
        "c.ts": "import { join } from 'path';\njoin();\n",
    }
    base = written(tmp_path, files)
    for name, others in (("a.py:join", 2), ("a.ts:join", 4)):
        found = base.references(name)
        assert found["places"] == []
        assert f"{others} more places of this name certainly mean something else." in found["note"]


OUTSIDE = {
    "a.go": 'package a\nimport (\n\t"time"\n\tother "net/url"\n\t"example.org/x/yaml"\n)\n',
    "src/a.rs": "use std::collections::HashMap;\nuse serde::Serialize as S;\n",
    "a.ts": "import { readFile } from 'node:fs';\nimport * as r from 'react';\n",
    "A.java": "import java.util.List;\nimport org.x.Tool;\nclass A {}\n",
    "a.py": "import numpy as np\n",
}


@pytest.mark.parametrize(
    "name",
    [
        *(
            "time.Time",
            "other.Values",
            "url.Values",
            "net/url.Values",
            "yaml.Node",
            "example.org/x/yaml.Node",
        ),
        *("HashMap", "std::collections::HashMap", "HashMap::new", "serde::Serialize", "S"),
        *("readFile", "r.useState", "react.useState"),
        *("List", "java.util.List", "List.of", "Tool", "org.x.Tool"),
        *("np.array", "numpy.array"),
    ],
)
def test_what_is_imported_from_outside_is_outside_of_the_root(tmp_path, name):
    found = written(tmp_path, OUTSIDE).inspect(name)
    if found["found"]:  # where its language is installed with its sources
        assert "Outside of the root" in found["note"]
    else:
        assert found["reason"] == "outside of the root", found


def test_a_type_is_used_by_its_own_members_beside_its_constructor(tmp_path):
    text = "package a;\nclass A {\n  static final A ONE = new A();\n  A() { A.ONE.hashCode(); }\n}\n"
    broken = "package b;\nimport a.A;\nclass B { record R(int x) { R { } } ] A a; }\n"
    base = written(tmp_path, {"src/main/java/a/A.java": text, "src/main/java/b/B.java": broken})
    found = base.references("src/main/java/a/A.java:2")
    assert found["note"].startswith("1 more place"), found  # the constructor itself
    assert {"src/main/java/a/A.java:3", "src/main/java/b/B.java:2"} <= {
        one["location"] for one in found["places"]
    }
