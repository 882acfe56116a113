"""The base of immutable values."""

from __future__ import annotations

import copy
import pickle
from dataclasses import MISSING

import pytest

from operator_schema.immutable import Value, draft_of
from operator_schema.introspect.graph import Graph
from operator_schema.introspect.nodes import ANY, AnyNode, ArrayNode, Field, FieldDraft, ScalarNode


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


@pytest.mark.parametrize("default", [MISSING, None, 0, (), [1]])
def test_a_copied_field_has_a_default_where_the_field_has_one(default):
    field = Field("a", "b", ANY, False, default, False, False, "text", (1,))
    for copied in (pickle.loads(pickle.dumps(field)), copy.copy(field), copy.deepcopy(field)):
        assert copied == field
        assert (copied.default is MISSING) == (default is MISSING)


def test_a_draft_is_written_and_becomes_a_value():
    draft = FieldDraft()
    written = Field("a", "b", ANY, True, None, False, False, "text", (1,))
    for name in Field.__slots__:
        setattr(draft, name, getattr(written, name))
    draft.__class__ = Field
    assert draft == written
    assert pickle.loads(pickle.dumps(draft)) == written
    with pytest.raises(AttributeError, match="Field is immutable: name can't be set"):
        draft.name = "c"
    with pytest.raises(AttributeError, match="immutable"):
        draft.__class__ = FieldDraft
    with pytest.raises(AttributeError, match="immutable"):
        del draft.name


def test_a_draft_takes_the_slots_of_its_class_alone():
    with pytest.raises(AttributeError):
        draft_of(AnyNode)().other = 1
