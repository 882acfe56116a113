"""Which values of one schema another one takes: the proofs and witnesses, judged by `jsonschema`."""

from __future__ import annotations

import random
from typing import Any

import pytest
from patience import assert_takes
from schema_edits import Documents, flips, search

from operator_schema.workbench.compare.narrowings import NO_VALUE, narrowings


def arguments(*required: str, closed: bool = False, **properties: Any) -> dict[str, Any]:
    """Write a document of arguments."""
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {**schema, "additionalProperties": False} if closed else schema


TEXT, INTEGER, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
KIND_A = arguments("kind", kind={"const": "a"}, size=INTEGER)
KIND_B = arguments("kind", kind={"const": "b"}, size=INTEGER)

WITHIN = {
    "the same, written otherwise": ({"a": {"type": ["string"]}}, {"a": TEXT}),
    "an integer is a number": ({"a": INTEGER}, {"a": NUMBER}),
    "above zero is at least one": (
        {"a": {**INTEGER, "exclusiveMinimum": 0}},
        {"a": {**INTEGER, "minimum": 1}},
    ),
    "multiples of four are even": ({"a": {**INTEGER, "multipleOf": 4}}, {"a": {**INTEGER, "multipleOf": 2}}),
    "a number of whole steps": ({"a": {**NUMBER, "multipleOf": 2}}, {"a": INTEGER}),
    "a choice more": ({"a": {"enum": ["x"]}}, {"a": {"enum": ["x", "y"]}}),
    "a choice of texts is text": ({"a": {"enum": ["x", "y"]}}, {"a": {**TEXT, "maxLength": 1}}),
    "null more": ({"a": TEXT}, {"a": {"anyOf": [TEXT, {"type": "null"}]}}),
    "anything": ({"a": TEXT}, {"a": {}}),
    "a tuple is an array": (
        {"a": {"type": "array", "prefixItems": [TEXT], "items": False, "minItems": 1, "maxItems": 1}},
        {"a": {"type": "array", "items": TEXT}},
    ),
    "arrays of fewer": (
        {"a": {"type": "array", "items": TEXT, "maxItems": 2}},
        {"a": {"type": "array", "items": TEXT, "maxItems": 3}},
    ),
    "an object is a map": (
        {"a": arguments(x=INTEGER, closed=True)},
        {"a": {"type": "object", "additionalProperties": NUMBER}},
    ),
    "a tag with two values is two objects": (
        {"a": arguments("kind", kind={"enum": ["a", "b"]}, size=INTEGER)},
        {"a": {"anyOf": [KIND_A, arguments("kind", kind={"const": "b"}, size=NUMBER)]}},
    ),
    "one alternative more": ({"a": KIND_A}, {"a": {"anyOf": [KIND_A, KIND_B]}}),
}


@pytest.mark.parametrize("case", WITHIN)
def test_what_is_within_is_proven(case):
    old, new = (arguments(**properties) for properties in WITHIN[case])
    assert narrowings(old, new) == ()


BEYOND = {
    "type": ({"a": INTEGER}, {"a": TEXT}, ("a",), {"a": 0}),
    "part of a number": ({"a": NUMBER}, {"a": INTEGER}, ("a",), {"a": 0.5}),
    "minimum": ({"a": INTEGER}, {"a": {**INTEGER, "minimum": 5}}, ("a",), {"a": 0}),
    "maximum": ({"a": {**INTEGER, "minimum": 7}}, {"a": {**INTEGER, "maximum": 9}}, ("a",), {"a": 10}),
    "step": ({"a": INTEGER}, {"a": {**INTEGER, "multipleOf": 2}}, ("a",), {"a": 1}),
    "choice": ({"a": {"enum": ["x", "y"]}}, {"a": {"enum": ["x"]}}, ("a",), {"a": "y"}),
    "any text": ({"a": TEXT}, {"a": {"enum": ["text", "other"]}}, ("a",), {"a": ""}),
    "length": ({"a": TEXT}, {"a": {**TEXT, "maxLength": 2}}, ("a",), {"a": "ext"}),
    "pattern": ({"a": TEXT}, {"a": {**TEXT, "pattern": "^b"}}, ("a",), {"a": "text"}),
    "null": ({"a": {"type": ["string", "null"]}}, {"a": TEXT}, ("a",), {"a": None}),
    "item": (
        {"a": {"type": "array", "items": NUMBER}},
        {"a": {"type": "array", "items": TEXT}},
        ("a", 0),
        {"a": [0]},
    ),
    "value of a map": (
        {"a": {"type": "object", "additionalProperties": INTEGER}},
        {"a": {"type": "object", "additionalProperties": TEXT}},
        ("a", "*"),
        {"a": {"text": 0}},
    ),
    "inside": (
        {"a": KIND_A},
        {"a": arguments("size", **KIND_A["properties"])},
        ("a", "size"),
        {"a": {"kind": "a"}},
    ),
    "an alternative less": (
        {"a": {"anyOf": [KIND_A, KIND_B]}},
        {"a": KIND_A},
        ("a", "kind"),
        {"a": {"kind": "b"}},
    ),
}


@pytest.mark.parametrize("case", BEYOND)
def test_what_is_beyond_has_a_smallest_witness(case):
    before, after, path, witness = BEYOND[case]
    old, new = arguments(**before), arguments(**after)
    (found,) = narrowings(old, new)
    assert (found.path, found.verdict, found.witness) == (path, "breaking", witness)
    assert flips(old, new, witness)


def test_a_key_that_is_required_now():
    (found,) = narrowings(arguments(a=TEXT), arguments("b", a=TEXT, b=INTEGER))
    assert (found.code, found.path, found.witness) == ("required", ("b",), {})


def test_an_object_that_is_closed_now():
    found = narrowings(arguments(a=TEXT, b=TEXT), arguments(a=TEXT, closed=True))
    assert [(each.code, each.witness) for each in found] == [
        ("unknown", {"b": "text"}),
        ("closed", {"unknown_key": None}),
    ]


def test_an_optional_key_more_breaks_only_who_sent_it_unasked():
    (found,) = narrowings(arguments(a=TEXT), arguments(a=TEXT, b=INTEGER))
    assert (found.code, found.path, found.verdict) == ("new_key", ("b",), "unasked")
    assert flips(arguments(a=TEXT), arguments(a=TEXT, b=INTEGER), found.witness)


def test_a_key_that_was_described_with_all_others_is_no_unasked_one():
    old = {**arguments(a=TEXT), "additionalProperties": INTEGER}
    new = {**arguments(a=TEXT, b={**INTEGER, "minimum": 1}), "additionalProperties": INTEGER}
    (found,) = narrowings(old, new)
    assert (found.path, found.verdict) == (("b",), "breaking")
    assert flips(old, new, found.witness)


def test_a_witness_shows_one_thing():
    old, new = arguments(a=INTEGER, b=TEXT), arguments("c", a={**INTEGER, "minimum": 1}, b=TEXT, c=TEXT)
    found = {each.path: each.witness for each in narrowings(old, new)}
    assert found == {("a",): {"a": 0}, ("c",): {}}


@pytest.mark.parametrize(
    "after",
    [
        {"not": {"minLength": 50_000}},
        {**TEXT, "format": "date"},
        {"$ref": "https://example.com/x.json"},
    ],
    ids=str,
)
def test_what_nothing_proves_is_undecided(after):
    (found,) = narrowings(arguments(a=TEXT), arguments(a=after))
    assert (found.verdict, found.witness) == ("undecided", NO_VALUE)


def test_an_alternative_of_which_only_a_part_is_read_takes_no_value_of_another_type():
    array = {"type": "array"}
    old = arguments(a={"anyOf": [array, {"type": "null"}]})
    new = arguments(a={"anyOf": [array, {"type": "boolean", "allOf": [NUMBER, {"minimum": 0}]}]})
    found = narrowings(old, new)
    assert {each.verdict for each in found} == {"breaking"}
    assert all(flips(old, new, each.witness) for each in found)


def test_what_no_graph_holds_is_proven_where_it_stands_unchanged():
    a = {"type": "array", "items": TEXT, "uniqueItems": True}
    assert narrowings(arguments(a=a, b=INTEGER), arguments(a=a, b=NUMBER)) == ()


def referring(definition: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**arguments(a={"not": {"$ref": "#/$defs/X"}}, **more), "$defs": {"X": definition}}


def test_what_nothing_proves_is_refuted_by_a_value_that_was_drawn():
    (found,) = narrowings(arguments(a=TEXT), arguments(a={"not": {"const": "q"}}))
    assert (found.path, found.code, found.witness) == (("a",), "not", {"a": "q"})


def test_what_no_graph_holds_counts_as_changed_where_what_it_refers_to_changed():
    (found,) = narrowings(referring({"const": 1}), referring({"const": 2}))
    assert (found.path, found.code, found.witness) == (("a",), "not", {"a": 2})
    assert narrowings(referring({"const": 1}, b=INTEGER), referring({"const": 1}, b=NUMBER)) == ()


def test_what_no_graph_holds_is_found_below_items_too():
    tags = {"type": "array", "items": TEXT, "uniqueItems": True}
    below = {"type": "array", "items": arguments(tags=tags)}
    assert narrowings(arguments(a=below, b=INTEGER), arguments(a=below, b=NUMBER)) == ()
    (found,) = narrowings(
        arguments(a={"type": "array", "items": arguments(tags={"type": "array", "items": TEXT})}),
        arguments(a=below),
    )
    assert (found.path, found.verdict) == (("a", "*", "tags"), "breaking")
    assert flips(
        arguments(a={"type": "array", "items": arguments(tags={"type": "array"})}),
        arguments(a=below),
        found.witness,
    )


UNIQUE = {"type": "array", "items": TEXT, "uniqueItems": True}
FIRST = {"type": "array", "prefixItems": [TEXT], "items": UNIQUE}
HELD = {
    "definitions have other names": (
        {**arguments(a={"$ref": "#/$defs/X"}), "$defs": {"X": UNIQUE}},
        {**arguments(a={"$ref": "#/definitions/Y"}), "definitions": {"Y": UNIQUE}},
    ),
    "it is described in other words": (
        arguments(a={"not": {"const": 1, "title": "One"}}),
        arguments(a={"not": {"const": 1, "description": "Another"}}),
    ),
    "a union has one more": (
        arguments(a={"anyOf": [UNIQUE, INTEGER]}),
        arguments(a={"anyOf": [{"type": "null"}, UNIQUE, NUMBER]}),
    ),
    "other keys fit too": (
        arguments(a={**arguments(x=TEXT), "additionalProperties": INTEGER}),
        arguments(a={**arguments(x=TEXT), "additionalProperties": NUMBER}),
    ),
    "items after the first fit too": (
        arguments(a={**FIRST, "items": INTEGER}),
        arguments(a={**FIRST, "items": NUMBER}),
    ),
    "less is excepted": (
        arguments(a={"not": NUMBER}),
        arguments(a={"not": INTEGER}),
    ),
    "a format moved": (
        arguments(a={**TEXT, "format": "date"}),
        {**arguments(a={"$ref": "#/$defs/D"}), "$defs": {"D": {**TEXT, "format": "date"}}},
    ),
    "one choice more": (arguments(a={"enum": [["a"]]}), arguments(a={"enum": [["a"], {}]})),
}


@pytest.mark.parametrize("case", HELD)
def test_what_no_graph_holds_is_proven_where(case):
    assert narrowings(*HELD[case]) == ()


DRAFT_7 = {"$schema": "http://json-schema.org/draft-07/schema#"}


@pytest.mark.parametrize("case", [each for each in HELD if "prefixItems" not in str(HELD[each])])
def test_documents_of_an_older_draft_are_compared_in_the_same_way(case):
    old, new = HELD[case]
    assert narrowings({**DRAFT_7, **old}, {**DRAFT_7, **new}) == ()
    assert narrowings({**DRAFT_7, **old}, new) == ()


NOT_HELD = {
    "it was said of later items only": (FIRST, {"type": "array", "items": {**UNIQUE, "items": {}}}),
    "it was said of keys without a name only": (
        {**arguments(x={"type": "array"}), "additionalProperties": UNIQUE},
        {"type": "object", "additionalProperties": {"type": "array", "uniqueItems": True}},
    ),
    "another alternative said it": (
        {
            "anyOf": [
                arguments("k", k={"const": 1}, u=UNIQUE),
                arguments("k", k={"const": 2}, u={"type": "array", "items": TEXT}),
            ]
        },
        {"anyOf": [arguments("k", k={"const": 1}, u=UNIQUE), arguments("k", k={"const": 2}, u=UNIQUE)]},
    ),
    "more is excepted": ({"not": INTEGER}, {"not": NUMBER}),
    "no alternative is of the type": ({"type": "boolean"}, {"type": "boolean", "anyOf": [NUMBER, TEXT]}),
    "the constant is none of the choices": ({"enum": ["x"]}, {"enum": ["x"], "const": 2}),
    "choices and a constant": ({"enum": ["x", []]}, {"enum": ["x", []], "const": "x"}),
}


@pytest.mark.parametrize("case", NOT_HELD)
def test_what_no_graph_holds_is_not_taken_for_proven_where(case):
    before, after = (arguments(a=each) for each in NOT_HELD[case])
    found = narrowings(before, after)
    assert found
    assert all(each.witness is NO_VALUE or flips(before, after, each.witness) for each in found)


def test_what_is_noted_past_the_most_notes_is_not_taken_for_proven():
    old = arguments(**{f"p{number}": UNIQUE for number in range(120)})
    new = arguments(
        **{f"p{number}": {**UNIQUE, "minItems": 0} for number in range(119)},
        p119={**UNIQUE, "not": {"const": ["q", "r"]}},
    )
    assert narrowings(old, new)


@pytest.mark.parametrize("said", ["date", "phone"])
def test_a_format_is_undecided_beside_limits_too(said):
    short = {**TEXT, "maxLength": 9}
    (found,) = narrowings(arguments(a=short), arguments(a={**short, "format": said}))
    assert (found.path, found.code, found.verdict) == (("a",), "format", "undecided")
    assert narrowings(arguments(a={**short, "format": said}), arguments(a=short)) == ()


def recursive(label: dict[str, Any]) -> dict[str, Any]:
    node = arguments("label", label=label, below={"type": "array", "items": {"$ref": "#/$defs/Node"}})
    return {**arguments("root", root={"$ref": "#/$defs/Node"}), "$defs": {"Node": node}}


def test_recursive_types_are_compared():
    assert narrowings(recursive(INTEGER), recursive(NUMBER)) == ()
    found = narrowings(recursive(NUMBER), recursive(INTEGER))
    assert found[0].witness == {"root": {"label": 0.5}}


def nested(depth: int, leaf: dict[str, Any]) -> dict[str, Any]:
    """Write alternatives in alternatives, each of which may be any of the others."""
    definitions = {f"D{depth}": leaf}
    for level in range(depth):
        below = {"$ref": f"#/$defs/D{level + 1}"}
        members = [
            arguments("k", k=below, **{f"n{which}": each}) for which, each in enumerate((TEXT, NUMBER))
        ]
        definitions[f"D{level}"] = {"anyOf": members}
    return {**arguments(a={"$ref": "#/$defs/D0"}), "$defs": definitions}


def test_many_alternatives_end_soon():
    def compare_them():
        assert narrowings(nested(20, INTEGER), nested(20, TEXT))

    assert_takes(5, compare_them)  # each pair is looked at once: 2 ** 40 ways lead to the leaf


def test_random_edits_against_a_judge():
    documents = Documents(random.Random(7))  # noqa: S311  # a sample that can be drawn again
    verdicts = []
    for _ in range(80):
        old = documents.arguments()
        new = documents.edited(old)
        found = narrowings(old, new)
        for each in found:
            assert each.witness is NO_VALUE or flips(old, new, each.witness), (old, new, each)
        values = list(search(documents, old, new, 60))
        assert found or not values, (old, new, values)
        verdicts.append({each.verdict for each in found})
    assert sum("breaking" in each for each in verdicts) > 20
    assert sum(each <= {"unasked"} for each in verdicts) > 10
    assert sum(bool(each) and "breaking" not in each and "undecided" in each for each in verdicts) < 8
