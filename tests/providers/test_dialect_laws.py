"""What holds for every provider, in every mode, whatever the type and whatever a leaf's schema holds."""

import builtins
import copy
import datetime as dt
import decimal
import enum
import ipaddress
import os
import pathlib
import re
import urllib.parse
import uuid
import zoneinfo
from collections import deque
from typing import Annotated, Literal

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from offers import offer_of

from operator_schema import SchemaError, SchemaLeaf, tool_input
from operator_schema import providers as all_providers
from operator_schema.engine import shipped_leaf
from operator_schema.json_values import JSON_TYPES
from operator_schema.json_values import to_json_text as json_text
from operator_schema.providers import Provider
from operator_schema.schema.dialect_renderer import strange_parts
from operator_schema.types import LocalDateTime, LocalTime

pytestmark = pytest.mark.slow("draws hundreds of types")

PROVIDERS = {
    name: found for name in dir(all_providers) if isinstance(found := getattr(all_providers, name), Provider)
}
FORMS = [
    pytest.param(provider, strict, id=f"{name}{' strict' if strict else ''}")
    for name, provider in PROVIDERS.items()
    for strict in (False, True)
    if not strict or provider.dialect is not None
]


def record(*types):
    """Return a dataclass with a field for each type."""
    from dataclasses import make_dataclass

    return make_dataclass("Record", [(f"value_{place}", one) for place, one in enumerate(types)])


def sent_schema(provider, annotation, strict):
    """Return the properties that a provider gets of a tool with one parameter of this type, and the root."""
    return sent_of(provider, made_of(annotation), strict)


def made_of(annotation):
    return tool_input(record(annotation), name="made", description="Made.")


def sent_of(provider, made, strict):
    body = provider.request(offer_of([made], strict=strict))
    (sent,) = body.get("tools") or body["toolConfig"]["tools"]
    return root_in(sent)


def root_in(sent):
    """Return the schema of a tool as it is in a request of any provider."""
    for key in ("functionDeclarations", "function", "toolSpec", "inputSchema"):
        found = sent.get(key)
        if found is not None:
            return root_in(found[0] if isinstance(found, list) else found)
    keys = ("parameters", "parametersJsonSchema", "input_schema", "json")
    return next(sent[key] for key in keys if key in sent)


def types_of(schema, root):
    """Return the JSON types that a schema takes; all of them where it says none."""
    if "$ref" in schema:
        return types_of(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "anyOf" in schema:
        return set().union(*[types_of(member, root) for member in schema["anyOf"]])
    kinds = schema.get("type", list(JSON_TYPES))
    found = {kind.lower() for kind in (kinds if isinstance(kinds, list) else [kinds])}
    return found | ({"null"} if schema.get("nullable") else set())


def wide(types):
    return types | {"integer"} if "number" in types else types


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.Enum):
    LOW = 1
    HIGH = 2


def shipped():
    """List the classes of all shipped leaves that there are in this Python, on this system."""
    modules = [dt, decimal, ipaddress, pathlib, re, urllib.parse, uuid, zoneinfo, builtins]
    found = {one for module in modules for one in vars(module).values() if isinstance(one, type)}
    other = pathlib.PosixPath if os.name == "nt" else pathlib.WindowsPath
    return sorted(
        [one for one in found - {other} if shipped_leaf(one) is not None], key=lambda one: one.__name__
    )


SHIPPED = shipped()
SCALARS = [str, int, float, bool, Literal["a", "b"], Literal[1, 2], Literal["a", 1, None], Colour, Level]
LEAVES = [*SCALARS, *SHIPPED, LocalDateTime, LocalTime]
CONTAINERS = [list, set, frozenset, deque]


ANNOTATIONS = [
    *LEAVES,
    *[one | None for one in LEAVES],
    *[list[one] for one in LEAVES],
    *[tuple[one, one] for one in LEAVES],
    *[container[one] for container in CONTAINERS[1:] for one in (str, dt.date)],
]


def test_the_leaves_are_all_there():
    assert {decimal.Decimal, uuid.UUID, bytes, re.Pattern, pathlib.Path, dt.timedelta} <= set(SHIPPED)
    assert {zoneinfo.ZoneInfo, ipaddress.IPv4Network} <= set(SHIPPED)
    assert len(SHIPPED) >= 20


@pytest.fixture(scope="module")
def made_of_each():
    """Return a tool for each annotation, and the schema that a provider gets who takes everything."""
    own = all_providers.openai_compatible("plain")
    made = [made_of(annotation) for annotation in ANNOTATIONS]
    return [(one, sent_of(own, one, strict=False)) for one in made]


@pytest.mark.parametrize(("provider", "strict"), FORMS)
def test_no_leaf_is_refused_and_none_is_wider_than_its_json_types(provider, strict, made_of_each):
    wrong = []
    for annotation, (made, plain) in zip(ANNOTATIONS, made_of_each, strict=True):
        try:
            root = sent_of(provider, made, strict=strict)
        except SchemaError as error:
            wrong.append((annotation, str(error)))
            continue
        # Null stands for a property that is left out, where all are required.
        absent = set() if "required" in plain else {"null"}
        pairs = [(plain["properties"]["value_0"], root["properties"]["value_0"])]
        for expected, found in pairs:
            if types_of(found, root) - wide(types_of(expected, plain)) - absent:
                wrong.append((annotation, found))
            if "prefixItems" in found:
                pairs += zip(expected["prefixItems"], found["prefixItems"], strict=True)
            elif "items" in found:
                inner = expected.get("items") or expected["prefixItems"][0]
                pairs.append((inner, found["items"]))
    assert wrong == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
UNKNOWN = st.sampled_from(
    [
        *["not", "if", "then", "oneOf", "allOf", "$ref", "$dynamicRef", "$anchor", "contains", "minContains"],
        *[
            "patternProperties",
            "dependentRequired",
            "dependentSchemas",
            "unevaluatedProperties",
            "minProperties",
        ],
        *[
            "additionalItems",
            "prefixItems",
            "propertyNames",
            "nullable",
            "discriminator",
            "readOnly",
            "x-order",
        ],
    ]
) | st.text("abcxyz$-", min_size=1, max_size=8)
WHOLE = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "rows": {
            "type": "array",
            "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
        },
        "either": {"anyOf": [{"type": "integer"}, {"type": ["string", "null"], "pattern": "^a"}]},
    },
    "required": ["name", "rows", "either"],
}


def schemas_in(schema):
    """List a schema and all schemas in it."""
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    inner += [schema["items"]] if "items" in schema else []
    return [schema, *[part for one in inner for part in schemas_in(one)]]


def leaf_with(schema):
    return SchemaLeaf(Thing, schema, lambda _: Thing(), lambda _: SAMPLE, Thing())


class Thing:
    """What a leaf reads."""

    def __eq__(self, other):
        return isinstance(other, Thing)

    __hash__ = None


SAMPLE = {"name": "a", "rows": [], "either": 1}


def test_the_schema_without_an_unknown_keyword_is_taken():
    for provider in PROVIDERS.values():
        if provider.dialect is not None:
            assert sent_schema(provider, Annotated[Thing, leaf_with(WHOLE)], strict=True)["properties"]


@given(st.data(), UNKNOWN, JSON)
def test_an_unknown_keyword_anywhere_is_refused_aloud_in_every_strict_form(data, keyword, value):
    schema = copy.deepcopy(WHOLE)
    parts = schemas_in(schema)
    data.draw(st.sampled_from(parts))[keyword] = value
    try:
        annotation = Annotated[Thing, leaf_with(schema)]
        made = tool_input(record(annotation), name="made", description="Made.")
    except SchemaError:
        reject()  # such as a reference that leads nowhere: there is no such leaf at all
    for name, provider in PROVIDERS.items():
        if provider.dialect is not None:
            with pytest.raises(SchemaError) as caught:
                provider.request(offer_of([made], strict=True))
            (complaint,) = caught.value.findings
            assert complaint.path[0] == "value_0", name
            assert not provider.report([made], strict=True).is_accepted
        if provider.always is not None:
            assert f'"{keyword}":' not in json_text(
                without_words(sent_schema(provider, annotation, strict=False))
            )


def without_words(schema):
    """Return a schema without its descriptions."""
    if isinstance(schema, list):
        return [without_words(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: without_words(inner) for key, inner in schema.items() if key != "description"}


@given(UNKNOWN)
def test_a_keyword_that_a_renderer_adds_is_refused_too(keyword):
    """Whatever wrote it: the finished document is looked through once more."""
    document = {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"type": "string", keyword: 1}}},
    }
    assume(keyword not in {"prefixItems", "$ref"})  # a schema in a dialect may have these
    dialect = all_providers.openai_chat.dialect
    ((path, what),) = strange_parts(document, dialect)
    assert path == ("a", "*")
    assert keyword in what
