"""In every provider's form, the members of a union require their tag, and what stands alone doesn't."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from libraries import library
from tagged_classes import Delete, Keep
from test_dialect_laws import FORMS, root_in

from operator_schema import Toolset, json_schema, tool
from operator_schema.code_mode import stubs

pydantic = library("pydantic")


class Copy(pydantic.BaseModel):
    """Copy it."""

    path: str
    kind: Literal["copy"] = "copy"


@dataclass
class Several:
    """Do several things, which may be such groups themselves."""

    steps: list[Keep | Several] = field(default_factory=list)
    kind: Literal["several"] = "several"


@dataclass
class Nested:
    """Something that is alone and a member inside itself."""

    alone: Nested | None = None
    steps: list[Keep | Nested] = field(default_factory=list)
    kind: Literal["nested"] = "nested"


@tool
def act(what: Keep | Delete, more: list[Keep | Copy], either: Delete | Keep | None = None) -> str:
    """Act on a file."""
    return f"{what} {more} {either}"


@tool
def repeat(group: Several) -> str:
    """Act on a group."""
    return str(group)


@tool
def keep(what: Keep, again: bool = False) -> str:
    """Keep a file."""
    return f"{what} {again}"


def members_in(schema: Any) -> list[dict[str, Any]]:
    """Return the objects with a tag among the alternatives of a schema, at any depth."""
    if isinstance(schema, list):
        return [found for each in schema for found in members_in(each)]
    if not isinstance(schema, dict):
        return []
    own = [each for each in schema.get("anyOf", ()) if "kind" in each.get("properties", {})]
    return [*own, *[found for each in schema.values() for found in members_in(each)]]


@pytest.mark.parametrize(("provider", "strict"), FORMS)
def test_every_form_requires_the_tags_of_members(provider, strict):
    body = provider.request(Toolset(act).offer(strict=strict))
    (sent,) = body.get("tools") or body["toolConfig"]["tools"]
    members = members_in(root_in(sent))
    assert len(members) >= 6
    assert [each for each in members if "kind" not in each["required"]] == []


def test_the_definition_and_the_description_for_people_require_them_too():
    members = members_in(act.definition())
    assert len(members) == 6
    assert [each for each in members if "kind" not in each["required"]] == []
    assert 'kind: "keep"' in str(act.codec.report({"what": 5, "more": []})[0])


def test_a_class_alone_keeps_its_default():
    (what,) = (each for key, each in keep.input_schema()["properties"].items() if key == "what")
    assert what["required"] == ["path"]
    assert keep.run({"what": {"path": "/"}}) == "Keep(path='/', kind='keep') False"


def test_a_recursive_class_has_a_form_for_each_use():
    schema = repeat.input_schema()
    assert "required" not in schema
    assert {name: each["required"] for name, each in schema["$defs"].items()} == {"Several": ["kind"]}
    assert repeat.run({"steps": [{"kind": "several"}]}) == str(Several([Several()]))
    (problem,) = repeat.codec.report({"steps": [{"steps": []}]})
    assert (problem.path, problem.code) == (("steps", 0, "kind"), "missing")
    beside = json_schema(Nested)
    assert [each.get("required") for each in beside["$defs"].values()] == [None, ["kind"]]


@pytest.mark.parametrize("language", ["python", "typescript"])
def test_stubs_require_them(language):
    text = str(stubs([act], language))
    assert text.count("kind") >= 3
    assert "kind?" not in text
    assert "NotRequired[Literal" not in text
