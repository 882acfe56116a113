"""A new kind of node can't be half done: every `match` and every table over kinds has an arm for each.

The few that answer for some kinds alone are listed with what they say of the others.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

import operator_schema
from operator_schema.codec import interpret
from operator_schema.codec.compile.decoder import compile_decoder
from operator_schema.codec.encode import EncodeRun
from operator_schema.codec.example import NO_EXAMPLE, example_of
from operator_schema.codec.expected import expected
from operator_schema.codec.repair import repair_value
from operator_schema.immutable import Value
from operator_schema.introspect import node_kinds
from operator_schema.introspect.graph_checks import node_name
from operator_schema.introspect.node_kinds import TRAITS, Traits
from operator_schema.introspect.nodes import ArrayNode, Graph, Node
from operator_schema.schema import Renderer
from operator_schema.testing.valid_values import ValidValues

PACKAGE = Path(operator_schema.__file__).parent
KINDS = {kind.__name__ for kind in get_args(Node)}

OTHERS = {
    "codec/encode.py: _distance": "all are as near",
    "codec/expected.py: _describe": "named by their JSON types",
    "codec/lenient_encode.py: _by_node": "written as they are",
    "codec/repair.py: read": "repaired as a whole, like a scalar",
    "introspect/graph_checks.py: node_name": "named by their JSON types",
    "introspect/annotations.py: _key_node": "can't be keys of maps",
    "introspect/constraints.py: constrained": "take no constraints",
    "introspect/places.py: _inside": "have nothing inside",
    "introspect/graph_checks.py: _numbers_of": "hold no numbers",
    "schema.py: module": "are never shared",
    "testing/near_misses.py: _near": "missed by values of other JSON types",
    "testing/near_misses.py: _whole_types": "take no type as a whole",
    "testing/valid_values.py: _distinct": "have many values",
}
"""Where some kinds alone have an arm, and what that says of the others."""


def names_in(pattern: ast.pattern) -> set[str]:
    classes = [part.cls for part in ast.walk(pattern) if isinstance(part, ast.MatchClass)]
    return {cls.id for cls in classes if isinstance(cls, ast.Name)} & KINDS


def kinds_of(node: ast.AST) -> set[str]:
    """Return the kinds of nodes that a `match` or a table has an arm for, whatever their value."""
    if isinstance(node, ast.Match):
        return {name for case in node.cases if case.guard is None for name in names_in(case.pattern)}
    if isinstance(node, ast.Dict):
        return {key.id for key in node.keys if isinstance(key, ast.Name)} & KINDS
    return set()


def partial_places() -> dict[str, set[str]]:
    """Return each place where some kinds have an arm and others have not, with those that have not."""
    found: dict[str, set[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for owner in [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Module))]:
            inside = ast.walk(owner) if isinstance(owner, ast.FunctionDef) else ast.iter_child_nodes(owner)
            for node in inside:
                value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else node
                kinds = kinds_of(value) if value is not None else set()
                if kinds and kinds != KINDS:
                    name = getattr(owner, "name", "module")
                    found[f"{path.relative_to(PACKAGE)}: {name}"] = KINDS - kinds
    return found


def test_every_match_and_table_covers_every_kind_or_says_what_becomes_of_the_others():
    assert partial_places().keys() == OTHERS.keys()


def test_the_tables_that_are_looked_into_cover_every_kind():
    for table in (TRAITS, interpret.DECODERS, EncodeRun.ARMS, Renderer.ARMS):
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
    assert example_of(Graph(switch.items, {}), lambda _, value: value) is NO_EXAMPLE
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
