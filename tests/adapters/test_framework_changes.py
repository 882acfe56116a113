"""What a framework made of a schema, path by path."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import pytest

from operator_schema import tool
from operator_schema.schema.framework_changes import schema_changes


@dataclass
class Person:
    name: str
    age: int = 5


@tool
def invite(people: list[Person], host: Person | None = None, place: str | int = "here") -> None:
    """Invite.

    Args:
        people: Who comes.
    """


def test_our_own_schema_is_not_changed():
    assert schema_changes(invite, invite.input_schema()) == []
    assert schema_changes(invite, invite.input_schema(inline=True)) == []


def test_each_change_has_its_place():
    sent = invite.input_schema(inline=True)
    del sent["properties"]["people"]["description"]
    sent["properties"]["people"]["items"]["properties"]["age"]["default"] = 6
    sent["properties"]["place"]["anyOf"][0]["title"] = "Text"
    sent["properties"]["host"]["properties"].pop("name")
    sent["properties"]["more"] = {"type": "string"}
    sent["additionalProperties"] = False
    found = schema_changes(invite, sent)
    assert [(one.path, one.keyword, one.code) for one in found] == [
        (("people", "*", "age"), "default", "changed"),
        (("people",), "description", "removed"),
        (("host", "name"), "properties", "removed"),
        (("place", "0"), "title", "added"),
        (("more",), "properties", "added"),
        ((), "additionalProperties", "added"),
    ]
    assert str(found[0]) == "people[*].age: changed default 5 → 6"
    assert str(found[1]) == 'people: removed description "Who comes."'
    assert str(found[-1]) == "added additionalProperties false"


def test_what_is_written_otherwise_is_one_change():
    sent = copy.deepcopy(invite.input_schema(inline=True))
    sent["properties"]["place"] = {"type": ["string", "integer"], "default": "here"}
    assert [str(one) for one in schema_changes(invite, sent)] == [
        'place: removed anyOf [{"type": "string"}, {"type": "integer"}]',
        'place: added type ["string", "integer"]',
    ]
    sent["properties"]["people"]["items"] = True
    assert schema_changes(invite, sent)[0].received == "true"


def test_booleans_are_not_numbers():
    (change,) = schema_changes(invite, {**invite.input_schema(), "required": [1]})
    assert (change.keyword, change.received) == ("required", "[1]")

    @tool
    def count(number: int = 1) -> None: ...

    sent = count.input_schema()
    sent["properties"]["number"]["default"] = True
    assert [one.code for one in schema_changes(count, sent)] == ["changed"]


def test_what_comes_is_bounded():
    wide = {"type": "object", "properties": {f"p{number}": {} for number in range(1000)}}
    assert len(schema_changes(invite, wide)) == 200
    deep = {}
    for _ in range(5000):
        deep = {"items": deep}
    found = schema_changes(invite, {**invite.input_schema(), "items": deep})
    assert [one.code for one in found] == ["added"]
    for _ in range(5000):
        deep = [deep]
    found = schema_changes(invite, {**invite.input_schema(), "required": deep})
    assert [(one.keyword, one.code) for one in found] == [("required", "changed")]


@pytest.mark.parametrize("sent", [None, [], "x", 5])
def test_wrong_use_is_told(sent):
    with pytest.raises(TypeError, match="sent must be a JSON Schema as a dict, not"):
        schema_changes(invite, sent)
    with pytest.raises(TypeError, match="takes a tool made by"):
        schema_changes(len, {})
