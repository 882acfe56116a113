"""A new kind of node can't be half done: every `match` and every table over kinds has an arm for each.

The few that answer for some kinds alone are listed with what they say of the others.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, get_args

import pytest

import operator_schema
import operator_schema.providers as all_providers
from operator_schema import Codec
from operator_schema.codec import interpret
from operator_schema.codec.codec import DEFAULTS
from operator_schema.codec.compile.decoder import compile_decoder
from operator_schema.codec.encode import EncodeRun
from operator_schema.codec.repair import repair_value
from operator_schema.engine import NO_EXAMPLE, Renderer, example_of, expected
from operator_schema.immutable import Value
from operator_schema.introspect import node_kinds
from operator_schema.introspect.ambiguity_checks import node_name
from operator_schema.introspect.node_kinds import TRAITS, Traits
from operator_schema.introspect.nodes import ANY, STRING, ArrayNode, Graph, Node, RefNode, Target, TupleNode
from operator_schema.providers import Provider
from operator_schema.providers.nulls import without_nulls
from operator_schema.schema.dialect_renderer import DialectRenderer, dialect_schema, lost
from operator_schema.schema.style import SchemaStyle, restyled
from operator_schema.testing.valid_values import ValidValues

PACKAGE = Path(operator_schema.__file__).parent
KINDS = {kind.__name__ for kind in get_args(Node)}
AN_ARM = re.compile(rf"\b(?:{'|'.join(KINDS)})\s*:|\bcase\b[^:]*\b(?:{'|'.join(KINDS)})\s*\(")
"""Finds kinds of nodes among the keys of a table, and in the patterns of a `match`."""

OTHERS = {
    "code_mode/declarations.py: _fits": ("Any Leaf Ref Tuple Union", "have defaults that are only said"),
    "code_mode/declarations.py: type": ("Any", "is any value"),
    "code_mode/declarations.py: _words": ("Any Object Ref", "say no more than their type"),
    "codec/compile/decoder.py: Decoder": ("Ref", "decoded by a call of the interpreter"),
    "codec/compile/encoder.py: _Encoder": ("Any Ref", "encoded by a call of the interpreter"),
    "codec/encode.py: _distance": ("Any Array Enum Literal Map Ref Scalar Tuple Union", "all are as near"),
    "codec/expected_values.py: _describe": ("Any", "named by their JSON types"),
    "codec/lenient_encode.py: _LenientRun": ("Enum Literal Ref Scalar", "encoded as they are elsewhere"),
    "codec/repair.py: read": ("Enum Literal Scalar", "repaired as a whole, like a scalar"),
    "introspect/ambiguity_checks.py: node_name": ("Any", "named by their JSON types"),
    "introspect/annotations.py: _key_node": ("Array Map Object Ref Tuple Union", "can't be keys of maps"),
    "introspect/constraints.py: _constrain": ("Any Enum Literal Object Tuple", "take no constraints"),
    "introspect/input_parts.py: _inside": ("Any Enum Leaf Literal Ref Scalar", "have nothing inside"),
    "introspect/set_checks.py: _numbers_of": (
        "Any Array Leaf Map Object Ref Tuple Union",
        "hold no numbers",
    ),
    "codec/faithful_values.py: _is_faithful": ("Leaf", "run code of their own"),
    "codec/faithful_values.py: module": ("Leaf", "run code of their own"),
    "schema/render.py: module": ("Any Enum Leaf Literal Object Ref Scalar", "are never shared"),
    "testing/refused_values.py: _near": ("Any", "missed by values of other JSON types"),
    "testing/refused_values.py: _whole_types": ("Enum Leaf Literal Object Tuple", "take no type as a whole"),
    "testing/valid_values.py: _distinct": ("Any Array Leaf Map Object Ref Tuple Union", "have many values"),
}
"""Where some kinds alone have an arm: the others, and what becomes of them.

A new kind is missing in each of these places until it has an arm there, or is listed here.
"""


def names_in(pattern: ast.pattern) -> set[str]:
    classes = [part.cls for part in ast.walk(pattern) if isinstance(part, ast.MatchClass)]
    return {cls.id for cls in classes if isinstance(cls, ast.Name)} & KINDS


def kinds_of(node: ast.AST) -> set[str]:
    """Return the kinds of nodes that a `match` or a table has an arm for."""
    if isinstance(node, ast.Match):
        return {name for case in node.cases for name in names_in(case.pattern)}
    if isinstance(node, ast.Dict):
        return {key.id for key in node.keys if isinstance(key, ast.Name)} & KINDS
    return set()


@cache
def places() -> dict[str, set[str]]:
    """Return the kinds that each `match` and each table over kinds has an arm for."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if not AN_ARM.search(source):  # most modules have none, and parsing takes long
            continue
        for owner in ast.walk(ast.parse(source)):
            if not isinstance(owner, (ast.FunctionDef, ast.ClassDef, ast.Module)):
                continue
            inside = ast.walk(owner) if isinstance(owner, ast.FunctionDef) else ast.iter_child_nodes(owner)
            for node in inside:
                value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else node
                kinds = kinds_of(value) if value is not None else set()
                if kinds:
                    found[f"{path.relative_to(PACKAGE)}: {getattr(owner, 'name', 'module')}"] = kinds
    return found


def test_every_match_and_table_covers_every_kind_or_says_what_becomes_of_the_others():
    missing = {place: KINDS - kinds for place, kinds in places().items()}
    listed = {place: {f"{kind}Node" for kind in kinds.split()} for place, (kinds, _) in OTHERS.items()}
    faults = [
        f"{place} {'has no arm for' if kind in missing.get(place, ()) else 'is listed without'} {kind}"
        for place in {**missing, **listed}
        for kind in sorted(missing.get(place, set()) ^ listed.get(place, set()))
    ]
    assert not faults, "\n".join(faults)


def test_what_makes_schemas_values_messages_and_samples_has_such_a_place():
    assert {place.partition(":")[0] for place in places()} >= {
        "codec/encode.py",
        "codec/example.py",
        "codec/expected_values.py",
        "codec/interpret.py",
        "codec/lenient_encode.py",
        "codec/repair.py",
        "schema/render.py",
        "testing/valid_values.py",
    }


def test_the_tables_that_are_looked_into_cover_every_kind():
    for table in (TRAITS, interpret.DECODERS, EncodeRun.ARMS, Renderer.ARMS, DialectRenderer.ARMS):
        assert {kind.__name__ for kind in table} == KINDS


class Switch(Value):
    """A kind of node that no module but the table of traits knows: `"on"` or `"off"`."""

    description: str | None = None


@pytest.fixture
def switch(monkeypatch):
    row = Traits(Switch, json_types=lambda _: frozenset({"string"}), classes=lambda _: (bool,))
    monkeypatch.setattr(node_kinds, "TRAITS", {**TRAITS, Switch: row})
    decode = lambda run, _node, value, path, _depth: (  # noqa: E731  # a row of a table
        value == "on" if value in ["on", "off"] else run.problems.too_large(path, 0)
    )
    monkeypatch.setattr(interpret, "DECODERS", {**interpret.DECODERS, Switch: decode})
    return ArrayNode(Switch())


def test_a_kind_without_arms_is_handled_by_its_traits(switch):
    graph = Graph(switch, {})
    assert expected(switch) == "array of string"
    assert node_name(switch) == "an array of string"
    assert example_of(Graph(switch.items, {})) is NO_EXAMPLE
    assert interpret.interpret(graph, ["on", "off"], 10)[0] == [True, False]
    assert repair_value(graph, "on", 10)[0] == ["on"]
    assert repair_value(graph, ["maybe"], 10) == (["maybe"], ())
    assert list(node_kinds.visit([switch])) == [switch, switch.items]
    assert node_kinds.may_be(switch.items, True)
    assert not node_kinds.may_be(switch.items, "on")
    assert not node_kinds.takes_null(switch.items)


def test_the_compiled_tier_hands_a_kind_without_arms_to_the_interpreter(switch):
    graph = Graph(switch, {})
    for exact in (False, True):
        decode = compile_decoder(graph, 10, lambda _, value: value, lambda _, error: error, exact=exact)
        assert decode(None, ["on", "off"]) == [True, False]
        assert decode(None, ["on", "maybe"]) == ["on", "maybe"]


def test_strategies_leave_out_a_kind_of_which_no_value_is_known(switch):
    assert ValidValues(Graph(switch.items, {}), {}).root().is_empty


class Box(Value):
    """A kind of node that holds another one for each key, and that only the table of traits knows."""

    values: Node
    description: str | None = None


@pytest.fixture
def box(monkeypatch):
    row = Traits(
        Box,
        json_types=lambda _: frozenset({"object"}),
        classes=lambda _: (dict,),
        parts=lambda node: [(("*",), node.values)],
    )
    monkeypatch.setattr(node_kinds, "TRAITS", {**TRAITS, Box: row})

    class Boxed(Renderer):
        ARMS: ClassVar = {**Renderer.ARMS, Box: "box"}

        def box(self, node: Any) -> dict[str, Any]:
            return {"type": "object", "additionalProperties": self.schema(node.values)}

    return Boxed, Box(ArrayNode(STRING))


@dataclass
class Holder:
    held: str


@dataclass
class OpenHolder:
    held: str = ""


PROVIDERS = [
    found for name in all_providers.__all__ if isinstance(found := getattr(all_providers, name), Provider)
]


def holding(node: Any) -> Codec[Any]:
    """Return a codec of an object that has a value of a node in its only field."""
    codec = Codec(Holder)
    root: Any = codec.graph.resolve_root()
    field = root.fields[0].replace(node=node)
    graph = codec.graph.replace(root=root.replace(fields=(field,)))
    return Codec.from_graph(graph, Holder, "Holder", DEFAULTS)


def test_no_dialect_sends_a_kind_that_its_table_lacks(box):
    _, node = box
    for provider in PROVIDERS:
        if provider.dialect is not None:
            made = dialect_schema(holding(node), provider.dialect, "hold", provider.name)
            assert made.schema == {}
            assert [(one.path, one.message) for one in made.complaints] == [
                (("held",), f"it is a Box, which {provider.name} doesn't take")
            ]
        if provider.always is not None:
            made = dialect_schema(holding(node), provider.always, "hold", provider.name)
            assert lost(("held",), "weakened", "type", "hold", provider.name) in made.losses
            assert made.schema["properties"]["held"]["type"].lower() == "object"
            assert made.complaints == ()


def test_a_definition_of_such_a_kind_is_refused_too(box):
    _, node = box
    target = Target("Box", "Box", "Box", is_object=True)
    codec = holding(RefNode(target))
    graph = codec.graph.replace(definitions={target: node})
    codec = Codec.from_graph(graph, Holder, "Holder", DEFAULTS)
    made = dialect_schema(codec, all_providers.openai_chat.dialect, "hold", "OpenAI")
    assert [one.message for one in made.complaints] == ["it is a Box, which OpenAI doesn't take"]


def test_nulls_inside_such_a_kind_are_left_out(box):
    _, node = box
    root: Any = Codec(OpenHolder).graph.resolve_root()
    graph = Graph(node.replace(values=root), {})
    assert without_nulls(graph, {"a": {"held": None}, "b": {"held": "x"}}) == {"a": {}, "b": {"held": "x"}}
    assert without_nulls(graph, [{"held": None}]) == [{"held": None}]
    two = Graph(TupleNode((root, root)), {})
    assert without_nulls(two, [{"held": None}, {}]) == [{}, {}]
    assert without_nulls(two, [{"held": None}, {}, {}]) == [{"held": None}, {}, {}]
    assert without_nulls(two, [[]]) == [[]]


def test_the_style_of_a_host_holds_for_such_a_kind(box):
    make, node = box
    document = make({}, {}, lambda _, value: value, 100).schema(node.replace(values=TupleNode((ANY,))))
    assert document["additionalProperties"]["items"] is False
    assert restyled(document, SchemaStyle(boolean_schemas=False, empty_schemas=False)) == {
        "type": "object",
        "additionalProperties": {
            "type": "array",
            "prefixItems": [{"anyOf": [{"type": name} for name in EVERY]}],
            "minItems": 1,
            "maxItems": 1,
        },
    }


EVERY = ("string", "number", "boolean", "null", "array", "object")
