"""Strict schemas, judged by meta-schemas that others wrote from the providers' pages.

The profiles and their cases are those of jsonschemaprofiles (UnitVectorY Labs); their licence is beside them.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given, reject
from jsonschema import Draft202012Validator
from strategies import OBJECTS

from operator_schema import Codec, SchemaError
from operator_schema.providers import gemini, openai_chat
from operator_schema.schema.dialect_renderer import dialect_schema

FOLDER = Path(__file__).parent / "data" / "schema_profiles"
OPENAI, GEMINI = (
    json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("openai_202602", "gemini_202602")
)

# Keys that must be equal to each other: the profiles can't say that.
UNSAID = {
    "property_ordering_not_in_properties",
    "required_extra_keys",
    "required_missing_keys",
    "required_not_in_properties",
}


def with_null_as_documented(part):
    """Write `{"type": "null"}` as the profile takes it; OpenAI's own examples have it alone."""
    if isinstance(part, list):
        return [with_null_as_documented(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    kept = {key: with_null_as_documented(value) for key, value in part.items()}
    if kept.get("type") == "null":
        kept["type"] = ["string", "null"]
    members = kept.get("anyOf", ())
    if len(members) == 1 and "$ref" in members[0]:  # a reference with a description beside it
        kept["anyOf"] = members * 2
    return kept


TAKEN = {"$defs", "minLength", "maxLength", "pattern", "uniqueItems", "default"}


def without_unions_and_references(part):
    """Leave out what the profile hasn't: its page has `anyOf` and `$ref`; Gemini itself takes the rest."""
    if isinstance(part, list):
        return [without_unions_and_references(inner) for inner in part]
    if not isinstance(part, dict):
        return part
    if "anyOf" in part or "$ref" in part:
        for member in part.get("anyOf", ()):
            assert not list(GEMINI_JUDGE.iter_errors(without_unions_and_references(member)))
        return {"type": "string"}
    return {
        # The keys of these are names, also such as `anyOf`.
        key: {name: without_unions_and_references(inner) for name, inner in value.items()}
        if key in {"properties", "$defs"}
        else without_unions_and_references(value)
        for key, value in part.items()
        if key not in TAKEN
    }


OPENAI_JUDGE = Draft202012Validator(OPENAI["profile"])
GEMINI_JUDGE = Draft202012Validator(GEMINI["profile"])


@pytest.mark.parametrize(
    ("judge", "cases"), [(OPENAI_JUDGE, OPENAI), (GEMINI_JUDGE, GEMINI)], ids=["openai", "gemini"]
)
def test_the_judge_knows_its_own_cases(judge, cases):
    for name, schema in cases["valid"].items():
        assert judge.is_valid(schema), name
    wrong = {name for name, schema in cases["invalid"].items() if judge.is_valid(schema)}
    assert wrong <= UNSAID


def rendered(annotation, provider):
    """Return the strict schema of a type; None if it has none."""
    try:
        found = dialect_schema(Codec(annotation), provider.dialect, "tool", provider.name)
    except SchemaError:
        return None
    return None if found.complaints else found.schema


@pytest.mark.slow("draws many types")
@given(OBJECTS)
def test_strict_schemas_fit_the_profiles_of_openai_and_gemini(annotation):
    for_openai, for_gemini = rendered(annotation, openai_chat), rendered(annotation, gemini)
    if for_openai is None and for_gemini is None:
        reject()
    if for_openai is not None:
        assert not list(OPENAI_JUDGE.iter_errors(with_null_as_documented(for_openai)))
    if for_gemini is not None:
        assert not list(GEMINI_JUDGE.iter_errors(without_unions_and_references(for_gemini)))
