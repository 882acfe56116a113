"""Annotations as text: where their names are looked up."""

from __future__ import annotations

import builtins
import itertools
import sys
import types
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import Codec, SchemaError
from operator_schema.introspect import hints


def module_of(name, source, monkeypatch):
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec("from __future__ import annotations\n" + source, vars(module))  # noqa: S102  # a module of its own
    return module


BASE = """
from dataclasses import dataclass
from uuid import UUID as Identity
@dataclass
class Base:
    id: Identity
    parent: Base | None = None
"""
DERIVED = """
from dataclasses import dataclass
from base_module import Base
from datetime import date as Identity
@dataclass
class Derived(Base):
    day: Identity | None = None
"""


def test_inherited_annotations_belong_to_the_module_of_their_class(monkeypatch):
    module_of("base_module", BASE, monkeypatch)
    derived = module_of("derived_module", DERIVED, monkeypatch).Derived
    properties = Codec(derived).json_schema()["properties"]
    assert properties["id"]["format"] == "uuid"
    assert properties["day"]["format"] == "date"


def test_one_bad_annotation_does_not_hide_the_others(monkeypatch):
    source = (
        "from dataclasses import dataclass\n"
        "@dataclass\nclass Some:\n"
        "    a: int\n    b: Nowhere\n    c: 'int, str'\n    d: 1 + 'x'\n    e: complex\n"
    )
    cls = module_of("some_module", source, monkeypatch).Some
    with pytest.raises(SchemaError) as caught:
        Codec(cls)
    assert [(c.path, c.code) for c in caught.value.findings] == [
        (("b",), "unresolved"),
        (("c",), "unsupported"),
        (("d",), "unresolved"),
        (("e",), "unsupported"),
    ]
    assert "Import Nowhere at run time" in caught.value.findings[0].remedy
    assert "TypeError" in caught.value.findings[2].message


def test_text_that_looks_like_several_annotations(monkeypatch):
    source = "from dataclasses import dataclass\n@dataclass\nclass Odd:\n    a: 'int, int'\n    b: 'int'\n"
    with pytest.raises(SchemaError) as caught:
        Codec(module_of("odd_module", source, monkeypatch).Odd)
    assert [c.path for c in caught.value.findings] == [("a",)]


def test_forward_references_inside_real_annotations():
    from typing import Optional

    cls = type("Chain", (), {"__annotations__": {"value": int, "next": Optional["Chain"]}, "next": None})  # noqa: F821  # defined below
    chain = dataclass(cls)
    chain.__module__ = __name__
    globals()["Chain"] = chain
    try:
        codec = Codec(chain)
    finally:
        del globals()["Chain"]
    assert codec.decode({"value": 1, "next": {"value": 2}}) == chain(1, chain(2))


def test_a_class_knows_its_own_name():
    @dataclass
    class Local:
        next: Local | None = None

    assert Codec(Local).decode({"next": {}}) == Local(Local())


def test_the_namespace_goes_first():
    @dataclass
    class Thing:
        value: int

    assert Codec(Thing, namespace={"int": str}).decode({"value": "x"}) == Thing("x")


TEXTS = (
    "x",
    " x",
    "(x)",
    "list[x]",
    "list[int]",
    "int",
    "None",
    "x, int",
    "x), (x",
    "x)",
    "(x",
    "list[(x",
    "x)]",
    "x # why",
    "x |\n int",
    "y := x",
    "y for y in x",
    "int\\",
    'Literal["""',
    '"""]',
    "nowhere",
    "class",
    "",
    "list",
    "dict[str, x]",
    "dict[str, list[int]] | None",
    "x | None",
    "x[int]",
    "int | 3",
    "list[int",
    "list[int | None, ...]",
    "list[x] | dict[str, int] | None",
    "list[list[dict[str, int]] | None]",
    "list[int]]",
    "list[]",
    "list['a, b']",
    "list['a | b', \"c\"]",
    "list['a']['b']",
    "'x'",
    "'",
    "'a\"",
    "'a' 'b'",
    "'a\\x41'",
    "'a\nb'",
    "list[" * 80 + "int" + "]" * 80,
    "list[" * 20 + "int" + "]" * 20,
)


@pytest.mark.parametrize("namespace", [{}, {"x": int}])
@pytest.mark.parametrize("others", [(), ("list[str]", "dict[str, int]")])
def test_an_annotation_means_the_same_beside_others_as_alone(namespace, others, monkeypatch):
    module = types.ModuleType("beside")
    exec("x = int", module.__dict__)  # noqa: S102  # a module of its own
    monkeypatch.setitem(sys.modules, "beside", module)
    owner = type("Owner", (), {"__module__": "beside", "__qualname__": "Owner"})
    scope = hints.Scope(owner, namespace)
    alone = {text: scope.evaluate(text) for text in (*TEXTS, *others)}
    for pair in itertools.product(TEXTS, repeat=2):
        texts = [*pair, *others]
        assert scope.evaluate_all(texts) == [alone[text] for text in texts]


PLAIN = st.recursive(
    st.sampled_from(["A", "x", "list", "None", "'a'", '"b c"', "'a, x'", "'x | A'"]),
    lambda inner: st.one_of(
        inner.map("A[{}]".format),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"A[{', '.join(parts)}]"),
        st.lists(inner, min_size=2, max_size=3).map(" | ".join),
    ),
    max_leaves=6,
)
PIECES = ("", "A", "[", "]", ", ", " | ", "'", '"', "\\", " ", ".", "(", ")")


@given(PLAIN, st.integers(0, 40), st.integers(0, 2), st.sampled_from(PIECES))
def test_a_text_that_is_read_means_what_evaluating_it_gives(plain, start, removed, piece):
    text = plain[:start] + piece + plain[start + removed :]
    names = {"A": Anything, "x": int}
    try:
        found = hints.read_plain(text, names, vars(builtins))
    except TypeError:  # 'a' | None; an unknown name beside it may be found first
        with pytest.raises((TypeError, SyntaxError, NameError)):
            eval(text, dict(names))  # noqa: S307  # what it is compared with
        return
    assert found is hints.NOT_FOUND or found == eval(text, dict(names))  # noqa: S307  # likewise


class Anything:
    """Takes whatever it is given as type argument, and keeps it."""

    def __class_getitem__(cls, args):
        return list[args]


def test_a_module_may_have_builtins_of_its_own(monkeypatch):
    module = types.ModuleType("limited")
    module.__dict__["__builtins__"] = {"int": str}
    monkeypatch.setitem(sys.modules, "limited", module)
    scope = hints.Scope(type("Owner", (), {"__module__": "limited", "__qualname__": "Owner"}), {})
    found = scope.evaluate_all(["int", "list", "list[int]"])
    assert found == [str, list, list[int]]
