"""What implements a type: from outside of the root, of several of one name, and by the methods of Go."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("tree_sitter", reason="no wheels for WebAssembly")

from operator_schema.code_tools import CodeBase

OUTER = {
    "A.java": "import org.x.Validator;\nclass PetValidator implements Validator { void check() {} }\n",
    "B.java": "package a;\nimport org.x.Repo;\ninterface Pets extends Repo<Pet, Long> {}\n",
    "C.java": "package a;\nclass Sub extends PetValidator {}\n",
    "a.ts": "export class TRPCError extends Error {}\nexport class Deep extends TRPCError {}\n",
    "b.ts": "import { Base } from 'lib';\nclass Own extends Base {}\n",
    "src/a.rs": "use std::fmt;\npub struct Token;\nimpl fmt::Display for Token {}\n",
    "src/b.rs": "use std::error::Error;\nuse crate::a::Token;\nimpl Error for Token {}\n",
    "a.py": "from enum import Enum\nclass Color(Enum): ...\n",
    "d.py": "import collections.abc as c\nclass M(c.Mapping): ...\n",
    "b.py": "class Bad(ValueError):\n    def __str__(self): ...\n",
    "c.py": "class Local: ...\nclass Other(Local): ...\n",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Validator", [("PetValidator", "certain"), ("Sub", "certain")]),
        ("org.x.Validator", [("PetValidator", "certain"), ("Sub", "certain")]),
        ("Validator.check", [("PetValidator.check", "certain")]),
        ("Repo", [("Pets", "certain")]),
        ("Error", [("TRPCError", "certain"), ("Token", "certain"), ("Deep", "certain")]),
        ("Base", [("Own", "certain")]),
        ("Display", [("Token", "certain")]),
        ("fmt::Display", [("Token", "certain")]),
        ("std::fmt::Display", [("Token", "certain")]),
        ("Enum", [("Color", "certain")]),
        ("enum.Enum", [("Color", "certain")]),
        ("Mapping", [("M", "certain")]),
        ("collections.abc.Mapping", [("M", "certain")]),
        ("ValueError", [("Bad", "certain")]),
    ],
)
def test_a_type_from_outside_is_answered_by_the_bases_as_written(tmp_path, name, expected):
    base = written(tmp_path, OUTER)
    found = base.implements(name)
    assert found["found"], found
    assert found["reason"] == "outside of the root"
    assert [(one["name"], one["sure"]) for one in found["implementations"]] == expected


GO_LIBRARY = {
    "p/p.go": """package p

type File struct{}

func (f *File) Read(p []byte) (n int, err error) { return 0, nil }
func (f *File) Close() error                      { return nil }

type Named struct{ *File }

func (Named) String() string { return "" }

type Wrong struct{}

func (Wrong) Read(p []byte, at int) (int, error) { return 0, nil }
func (Wrong) String(base int) string             { return "" }

type failed struct{}

func (failed) Error() string { return "" }

type Handler struct{}

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {}
"""
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("error", ["failed"]),
        ("io.Reader", ["File", "Named"]),
        ("io.ReadCloser", ["File", "Named"]),
        ("fmt.Stringer", ["Named"]),
        ("http.Handler", ["Handler"]),
        ("io.Writer", []),
        ("io.Unknown", []),
    ],
)
def test_an_interface_of_gos_own_library_is_known_by_its_methods(tmp_path, name, expected):
    found = written(tmp_path, GO_LIBRARY).implements(name)
    assert found["found"] == bool(expected)
    shown = found.get("implementations", [])
    assert [(one["name"], one["sure"]) for one in shown] == [(each, "likely") for each in expected]


def test_what_nothing_names_as_a_base_is_not_found(tmp_path):
    base = written(tmp_path, OUTER)
    assert not base.implements("Nothing")["found"]
    assert not base.implements("other.Validator")["found"]
    assert [one["name"] for one in base.implements("Local")["implementations"]] == ["Other"]


def test_of_several_types_the_one_that_is_implemented_is_meant(tmp_path):
    files = {
        "a/a.go": "package a\ntype Tool struct{ n int }\n",
        "b/deep/b.go": "package b\ntype Tool interface{ F(n int) }\ntype One int\nfunc (One) F(n int) {}\n",
    }
    found = written(tmp_path, files).implements("Tool")
    assert found["location"] == "b/deep/b.go:2"
    assert [one["name"] for one in found["implementations"]] == ["One"]
    assert "a/a.go:2" in found["note"]


PARAMETERS = [
    "",
    "n int",
    "a, b int",
    "f func(x, y int) (int, error), m map[string]int",
    "a int,\n\tb ...string,\n",
]
RESULTS = [
    ("", 0),
    (" error", 1),
    (" (int, error)", 2),
    (" (n, m int, err error)", 3),
    (" func(a, b int) int", 1),
]


def go_program(chosen):
    """Return a random program of Go, and the structs that implement its interface by the rules of Go."""
    shapes = [(chosen.randrange(len(PARAMETERS)), chosen.randrange(len(RESULTS))) for _ in range(4)]
    text = ["package p"]
    for number, shape in enumerate(shapes):
        text.append(f"type I{number} interface {{\n\t{method(number, shape)}\n}}")
    text.append("type Inner interface {\n\tI0\n\tI1\n}")
    wanted = {0, 1, *chosen.sample([2, 3], chosen.randrange(3))}
    text.append("type Whole interface {\n\tInner\n" + "".join(f"\tI{one}\n" for one in wanted - {0, 1}) + "}")
    sets, own_of = {}, {}
    for place in range(8):
        embedded = chosen.sample(sorted(sets), min(len(sets), chosen.randrange(3)))
        direct = chosen.sample(range(4), chosen.randrange(4))
        inherited = [one for other in embedded for one in sets[other]]
        if len(inherited) != len(set(inherited)):  # two of a depth exclude each other
            embedded, inherited = [], []
        own = {one: shapes[one] if chosen.random() < 0.8 else other_shape(shapes[one]) for one in direct}
        sets[f"T{place}"] = {**{one: sets[o][one] for o in embedded for one in sets[o]}, **own}
        own_of[f"T{place}"] = own
        pointer = chosen.choice(["", "*"])
        text.append(f"type T{place} struct {{\n" + "".join(f"\t{pointer}{one}\n" for one in embedded) + "}")
        text += [f"func (t *T{place}) {method(one, shape)} {{ panic(0) }}" for one, shape in own.items()]
    whole = {name for name, own in sets.items() if all(own.get(one) == shapes[one] for one in wanted)}
    return "\n".join(text), whole


def method(number, shape):
    return f"M{number}({PARAMETERS[shape[0]]}){RESULTS[shape[1]][0]}"


def other_shape(shape):
    """Return one with another number of parameters."""
    counts = [0, 1, 2, 2, 2]
    return next((place, shape[1]) for place in range(3) if counts[place] != counts[shape[0]])


def test_method_sets_of_go_are_closed_over_what_is_embedded(tmp_path):
    implemented = 0
    for seed in range(60):
        text, expected = go_program(random.Random(seed))  # noqa: S311  # no secret
        folder = tmp_path / str(seed)
        found = written(folder, {"p/p.go": text}).implements("Whole")
        assert {one["name"] for one in found["implementations"]} == expected, text
        implemented += len(expected)
    assert implemented > 30  # the law says something


def test_an_embedded_interface_brings_its_methods(tmp_path):
    text = """package p
type Users interface { Get(id int) error }
type Teams interface { All() []int }
type Store interface {
	Users
	Teams
}
type store struct {
	Users
	*teams
}
type teams struct{}
func (t *teams) All() []int { return nil }
"""
    base = written(tmp_path, {"p/p.go": text})
    assert [one["name"] for one in base.implements("Store")["implementations"]] == ["store"]
    assert "store" in [one["name"] for one in base.implements("Users")["implementations"]]


def written(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return CodeBase(folder)
