"""The base of immutable values."""

from __future__ import annotations

import pickle

import pytest

from operator_schema._value import Value
from operator_schema.introspect.graph import Graph
from operator_schema.introspect.nodes import ANY, AnyNode, ArrayNode, Field, ScalarNode


def test_nodes_are_values():
    one, two = ArrayNode(ScalarNode("string")), ArrayNode(ScalarNode("string"))
    assert one == two
    assert hash(one) == hash(two)
    assert one != ArrayNode(ANY)
    assert one != ScalarNode("string")
    assert repr(ANY) == "AnyNode(description=None)"
    assert one.replace(description="x").description == "x"
    assert one.description is None
    assert pickle.loads(pickle.dumps(one)) == one


def test_what_holds_a_dict_has_a_hash_only_where_it_can():
    graph = Graph(AnyNode(), {})
    assert graph == Graph(ANY, {})
    with pytest.raises(TypeError):
        hash(graph)


def test_a_value_needs_an_init_of_its_own():
    with pytest.raises(NotImplementedError):
        Value()


def test_fields_are_replaced_by_name():
    field = Field("a", "a", ANY, True, None, False, False, None, ())
    assert field.replace(key="b").key == "b"
