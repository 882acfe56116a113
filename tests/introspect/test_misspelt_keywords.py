"""A keyword that was misspelt in the schema of a leaf is an error: the limit would be lost silently."""

from __future__ import annotations

from typing import Any

import pytest

from operator_schema import SchemaError, SchemaLeaf
from operator_schema.engine import KEYWORDS
from operator_schema.schema.written import describe_unfit_parts

HOLDERS = {
    "schema": lambda schema: schema,
    "schemas": lambda schema: [{}, schema],
    "either": lambda schema: schema,
    "named": lambda schema: {"a": schema},
}


def leaf(schema: dict[str, Any]) -> SchemaLeaf[float]:
    return SchemaLeaf(float, {"type": "number", **schema}, float, float, 1.0)


def slips_of(word: str) -> set[str]:
    """Return the word with one letter missing, doubled, wrong or swapped, where the first one stays."""
    return {
        *[word[:i] + word[i + 1 :] for i in range(1, len(word))],
        *[word[:i] + word[i] + word[i:] for i in range(len(word))],
        *[f"{word[:i]}q{word[i + 1 :]}" for i in range(1, len(word))],
        *[word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(1, len(word) - 1)],
    }


@pytest.mark.parametrize("keyword", sorted(name for name in KEYWORDS if len(name) > 3))
def test_each_slip_in_each_keyword_is_noticed_and_the_keyword_itself_is_not(keyword):
    for name in sorted(slips_of(keyword) - KEYWORDS.keys()):
        message, remedy = describe_unfit_parts({"type": "object", name: 1}) or ("", "")
        assert f'json_schema has "{name}", which isn\'t a keyword of JSON Schema; did you mean' in message
        assert remedy == f"Correct it, or write x-{name}"
        assert describe_unfit_parts({"type": "object", f"x-{name}": 1}) is None
    assert "isn't a keyword" not in str(describe_unfit_parts({"type": "object", keyword: 1}))


@pytest.mark.parametrize("holder", [row.name for row in KEYWORDS.values() if row.holds != "value"])
def test_a_slip_is_noticed_wherever_a_schema_may_be(holder):
    inside = HOLDERS[KEYWORDS[holder].holds]
    with pytest.raises(SchemaError, match=rf'has "minimun" at #/{holder.replace("$", "[$]")}.*"minimum"'):
        SchemaLeaf(str, {"type": "string", holder: inside({"minimun": 1})}, str, str, "x")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("minLen", "minLength"),
        ("exclusive_minimum", "exclusiveMinimum"),
        ("additionalProperty", "additionalProperties"),
        ("MaxLength", "maxLength"),
        ("any_of", "anyOf"),
        ("item", "items"),
    ],
)
def test_other_spellings_are_noticed_too(name, meant):
    with pytest.raises(SchemaError) as caught:
        leaf({name: 1})
    assert caught.value.findings[0].code == "bad_leaf"
    assert f'did you mean "{meant}"?' in caught.value.findings[0].message


@pytest.mark.parametrize(
    "name",
    [
        *(
            "x-minimun",
            "unit",
            "note",
            "enumNames",
            "enumDescriptions",
            "markdownDescription",
        ),
        *("order", "id", "version", "formatMinimum", "formatExclusiveMinimum", "$recursiveAnchor", "strict"),
        *("q" * 65, "", "-", "ÿ"),
    ],
)
def test_keywords_of_ones_own_are_allowed(name):
    assert leaf({name: {"minimun": 1}}).json_schema[name] == {"minimun": 1}


def test_values_and_names_are_not_keywords():
    schema = {
        "type": "object",
        "properties": {"minimun": {"enum": [{"minimun": 1}]}},
        "default": {"minimun": {"minimun": 1}},
    }
    assert describe_unfit_parts(schema) is None


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"pattern": "(?=a)"}, "pattern: it looks at the text ahead, which is only possible right after a"),
        ({"pattern": "a(?!b)"}, "pattern: it looks at the text ahead"),
        ({"pattern": "(?<=a)b"}, "pattern: it looks at the text behind"),
        ({"pattern": "(?<!a)b"}, "pattern: it looks at the text behind"),
        ({"pattern": r"(a)\1"}, "pattern: it refers to a group"),
        ({"pattern": r"(?<a>b)\k<a>"}, "pattern: it refers to a group"),
        ({"pattern": "(?P<a>b)"}, "pattern: it isn't an expression of ECMA 262, or engines read it in"),
        ({"pattern": "a("}, "pattern: it isn't an expression of ECMA 262"),
        ({"pattern": 1}, "pattern: it isn't an expression of ECMA 262"),
        ({"pattern": "a" * 1001}, "pattern: it is too large"),
        ({"pattern": "a{5001}"}, "pattern: it is too large"),
        ({"pattern": "(" * 50 + ")" * 50}, "pattern: it is too large"),
        ({"pattern": "(a?){1200}"}, "pattern: it is too large"),
        ({"patternProperties": {"a": {}, "(?=a)": {}}}, "patternProperties: it looks at the text ahead"),
        ({"patternProperties": 1}, "patternProperties: it can't be read"),
        (
            {"allOf": [{"pattern": f"{letter}{{4999}}"} for letter in "abcdefghijkl"]},
            "#/allOf/11 pattern: all expressions together are too large",
        ),
    ],
)
def test_the_one_cause_is_named_for_which_a_pattern_cant_be_checked(schema, said):
    with pytest.raises(SchemaError) as caught:
        leaf(schema)
    assert f"json_schema can't be checked: {said}" in caught.value.findings[0].message
    assert caught.value.findings[0].message.count(",") <= 1
