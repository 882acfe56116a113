"""JSON Schema documents of others: what is read of them, what is left, what they can't do to us."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import jsonschema
import pytest
from patience import assert_takes
from provider_traffic import exchanges

from operator_schema.engine import DocumentCodec, Judge, Patterns, SchemaDocument
from operator_schema.errors import DecodeError, EncodeError, SchemaError
from operator_schema.schema.document_reader import MAX_SCHEMAS, read_document
from operator_schema.schema.value_check import MAX_STEPS

ISSUE = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1, "description": "One line"},
        "state": {"enum": ["open", "closed"], "default": "open"},
        "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
        "parent": {"$ref": "#/definitions/Issue"},
        "size": {"type": ["integer", "null"], "minimum": 0},
        "point": {
            "type": "array",
            "items": [{"type": "number"}, {"type": "number"}],
            "minItems": 2,
            "maxItems": 2,
        },
        "meta": {"type": "object", "additionalProperties": {"type": "integer"}},
        "who": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "user"}, "id": {"type": "integer"}},
                    "required": ["kind", "id"],
                },
                {
                    "type": "object",
                    "properties": {"kind": {"const": "team"}, "name": {"type": "string"}},
                    "required": ["kind"],
                },
            ]
        },
    },
    "required": ["title"],
    "additionalProperties": False,
    "definitions": {
        "Issue": {
            "type": "object",
            "properties": {"title": {"type": "string"}, "parent": {"$ref": "#/definitions/Issue"}},
            "required": ["title"],
        }
    },
}


def codec(schema: dict[str, object], **options: object) -> DocumentCodec:
    return DocumentCodec(SchemaDocument("tool", schema), **options)  # type: ignore[arg-type]  # options of tests


def messages(schema: dict[str, object], value: object, **options: object) -> list[str]:
    with pytest.raises(DecodeError) as caught:
        codec(schema, **options).decode(value)
    return [str(problem) for problem in caught.value.findings]


def of(schema: object) -> dict[str, object]:
    return {"type": "object", "properties": {"a": schema}}


def left(schema: object) -> list[str]:
    """Return what no graph holds of a schema, so that a judge checks it."""
    return [str(each) for each in read_document(of(schema), "tool").left]


def unchecked(schema: object) -> list[str]:
    """Return what nobody checks of a schema."""
    return [str(each) for each in codec(of(schema)).left]


def test_everything_that_is_wrong_is_said_at_once() -> None:
    value = {
        "titel": "x",
        "state": "opened",
        "labels": ["a", 2],
        "parent": {"title": "p", "parent": {"titel": "q"}},
        "size": -1,
        "point": [1],
        "meta": {"k": "v"},
        "who": {"kind": "tema"},
    }
    assert messages(ISSUE, value) == [
        'title: missing (string (length ≥ 1), required); rename "titel" to "title"',
        'state: "opened" is not one of "open", "closed"; did you mean "open"?',
        'labels[1]: expected string, got integer 2; did you mean "2"?',
        'parent.parent.title: missing (string, required); rename "titel" to "title"',
        "size: -1 is below the minimum 0",
        "point: 1 item, exactly 2 expected",
        'meta.k: expected integer, got string "v"',
        'who.kind: "tema" is not one of "user", "team"; did you mean "team"?',
        (
            'titel: unknown key; the keys are "title", "state", "labels", "parent", "size", "point", "meta",'
            ' "who"; rename "titel" to "title"'
        ),
    ]


def test_all_of_a_document_is_read_where_nodes_can_say_it() -> None:
    assert codec(ISSUE).left == ()
    rendered = super(DocumentCodec, codec(ISSUE)).json_schema()
    jsonschema.Draft202012Validator.check_schema(rendered)
    assert rendered["required"] == ["title"]
    assert rendered["properties"]["title"] == {"type": "string", "minLength": 1, "description": "One line"}
    assert rendered["properties"]["state"]["default"] == "open"


def test_what_fits_comes_out_as_it_went_in() -> None:
    value = {"title": "x", "point": [1, 2.0], "who": {"kind": "user", "id": 1, "more": [1]}}
    decoded = codec(ISSUE).decode(value)
    assert decoded == value
    assert decoded["who"] is not value["who"]
    assert isinstance(decoded["point"], list)


def test_keys_without_a_name_are_handed_on_unless_they_are_refused() -> None:
    schema = of({"type": "integer"})
    assert codec(schema).decode({"a": 1, "b": 2}) == {"a": 1, "b": 2}
    assert messages(schema, {"a": 1, "A": 2}, unknown_fields="reject") == ['A: unknown key; the keys are "a"']
    open_to_all = {**schema, "additionalProperties": True}
    assert codec(open_to_all, unknown_fields="reject").decode({"b": 2}) == {"b": 2}


def test_repair_corrects_what_can_be_meant_in_one_way() -> None:
    text = '{"Title": "x", "labels": "[\\"a\\"]", "size": "3", "state": null, "who": null}'
    found = codec(ISSUE, repair=True).decode_json_report(text)
    assert found.instance == {"title": "x", "labels": ["a"], "size": 3}
    assert len(found.repairs) == 5


def test_the_document_stays_as_it_was_written() -> None:
    own = codec(ISSUE)
    assert json.dumps(own.json_schema()) == json.dumps(ISSUE)
    own.json_schema()["properties"].clear()
    assert json.dumps(own.json_schema()) == json.dumps(ISSUE)
    assert "$schema" not in own.json_schema(inline=True)


def test_hosts_that_dont_take_all_of_json_schema_get_nearly_the_same() -> None:
    schema = {**of({"type": "array", "uniqueItems": True, "items": True}), "title": "Find", "x-own": 1}
    changed = {**of({"type": "array", "uniqueItems": True, "items": {}}), "title": "Find", "x-own": 1}
    assert codec(schema).json_schema(boolean_schemas=False) == changed
    assert codec(schema).json_schema(boolean_schemas=True) == schema


def test_other_descriptions_can_be_given() -> None:
    own = codec(ISSUE, param_descriptions={"title": "What it is about"})
    assert own.json_schema()["properties"]["title"]["description"] == "What it is about"
    with pytest.raises(SchemaError, match=r'"titel".*Did you mean "title"'):
        codec(ISSUE, param_descriptions={"titel": "x"})


def test_a_codec_is_pickled_as_its_document() -> None:
    again = pickle.loads(pickle.dumps(codec(ISSUE, repair=True)))
    assert again.decode({"title": "x", "size": "1"}) == {"title": "x", "size": 1}
    assert again.type == SchemaDocument("tool", ISSUE)
    assert hash(again.type) == hash(SchemaDocument("tool", ISSUE))
    assert repr(again.type) == "SchemaDocument('tool')"


def test_results_are_written_as_they_are() -> None:
    own = codec(ISSUE)
    assert own.encode({"title": "x"}) == {"title": "x"}
    with pytest.raises(EncodeError, match="title"):
        own.encode({})
    assert own.encode_leniently({"title": 1})[0] == {"title": 1}
    assert [note.code for note in own.encode_leniently({"title": 1})[1]] == ["wrong_type"]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "array", "uniqueItems": True}, "#/properties/a uniqueItems: it isn't checked"),
        ({"not": {"type": "string"}}, "#/properties/a not: it can't be decoded"),
        (
            {"type": "string", "pattern": "a(?=b)"},
            "#/properties/a pattern: it looks at the text ahead",
        ),
        (
            {"type": "integer", "multipleOf": 0.1},
            "#/properties/a multipleOf: its value can't be a limit of integer",
        ),
        (
            {"type": "integer", "minimum": "1"},
            "#/properties/a minimum: its value can't be a limit of integer",
        ),
        ({"type": "integer", "maximum": 10**700}, "#/properties/a maximum: its value can't be a limit"),
        (
            {"type": "string", "minLength": -1},
            "#/properties/a minLength: its value can't be a limit of string",
        ),
        (
            {"type": "string", "maxLength": True},
            "#/properties/a maxLength: its value can't be a limit of string",
        ),
        ({"minLength": 1}, "#/properties/a minLength: there is no type beside it"),
        ({"type": "strnig"}, "#/properties/a type: it isn't a type of JSON"),
        ({"type": []}, "#/properties/a type: it isn't a type of JSON"),
        ({"enum": [{}]}, "#/properties/a enum: it contains more than texts"),
        ({"enum": "abc"}, "#/properties/a enum: it contains more than texts"),
        ({"type": "string", "enum": [1]}, "#/properties/a enum: no value fits"),
        (
            {"type": "string", "enum": ["a"], "minLength": 2},
            "#/properties/a minLength: it stands beside choices",
        ),
        ({"anyOf": {}}, "#/properties/a anyOf: it isn't a list of schemas"),
        ({"anyOf": [{}], "oneOf": [{}]}, "#/properties/a oneOf: it stands beside other alternatives"),
        (
            {"type": "string", "maxLength": 1, "anyOf": [{}]},
            "#/properties/a anyOf: it stands beside other keywords",
        ),
        (
            {"oneOf": [{"type": "integer"}, {"type": "number"}]},
            "#/properties/a oneOf: it isn't checked that no second one fits",
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "string"}]},
            "#/properties/a oneOf: it isn't checked that no second one fits",
        ),
        (
            {"oneOf": [{}, {"type": "string"}]},
            "#/properties/a oneOf: it isn't checked that no second one fits",
        ),
        (
            {"allOf": [{"type": "string"}, {"type": "string", "minLength": 1}]},
            "#/properties/a allOf: only one",
        ),
        ({"anyOf": [{"type": "object"}, of({})]}, "#/properties/a: its alternatives can't be told apart"),
        (
            {"type": "array", "prefixItems": [{}]},
            "#/properties/a prefixItems: the number of items isn't fixed",
        ),
        ({"type": "array", "prefixItems": {}}, "#/properties/a prefixItems: it isn't a list of schemas"),
        (
            {"type": "object", "patternProperties": {"^x": {}}},
            "#/properties/a patternProperties: keys are known",
        ),
        (
            {**of({}), "additionalProperties": {"type": "string"}},
            "#/properties/a additionalProperties: the values",
        ),
        (
            {"type": "object", "properties": [], "required": "a"},
            "#/properties/a properties: it isn't an object",
        ),
        ({"type": "object", "required": [1]}, "#/properties/a required: it isn't a list of keys"),
        (
            {"type": "object", "propertyNames": {"format": "uuid"}},
            "#/properties/a propertyNames: it isn't checked",
        ),
        ({"$ref": "https://example.com/schema.json"}, "#/properties/a $ref: it refers to another document"),
        ({"$ref": "#/$defs/None"}, "#/properties/a $ref: it refers to another document, or to nothing"),
        ({"$ref": "#/properties/a"}, "#/properties/a $ref: it leads back to itself"),
        ({"$ref": 7}, "#/properties/a $ref: it refers to another document, or to nothing"),
        ({"$ref": "#", "type": "object"}, "#/properties/a type: it stands beside a reference"),
        ({"$id": "https://example.com", "type": "string"}, "#/properties/a $id: a document inside"),
        (False, "#/properties/a: nothing fits"),
        ("string", "#/properties/a: it isn't a schema"),
        ({"allOf": [{"type": "string"}], "type": "integer"}, "#/properties/a/allOf/0 type: no value fits"),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else "",
)
def test_what_is_left_is_said(schema: object, said: str) -> None:
    assert any(line.startswith(said) for line in left(schema)), left(schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "format": "date-time", "title": "When", "examples": ["2025-01-31T12:00:00Z"]},
        {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "minProperties": 1},
        {"type": "object", "propertyNames": {"enum": ["a", "b"]}},
        {"type": "array", "items": False},
        {"allOf": [of({"type": "string"}), {"type": "object", "properties": {"b": {}}, "required": ["b"]}]},
        {"allOf": [{"type": "string"}]},
        {"allOf": [{}, {}]},
        {"anyOf": [{}, {"type": "string"}]},
        {"anyOf": [{"type": "string"}, {"type": "string"}]},
        {"type": "object", "anyOf": [{"required": ["x"]}, {"required": ["y"]}]},
        {"oneOf": [{"const": "a"}, {"const": "b"}, {"type": "integer"}]},
        {"enum": ["a", 1, None, True]},
        {"const": 1, "enum": [1, 2]},
        {"$ref": "#"},
        {"$ref": "#/properties/a%7E1b"},
        True,
        {},
        {"nullable": True, "x-own": 1, "$comment": "words"},
    ],
)
def test_all_of_it_is_read(schema: object) -> None:
    document = {"type": "object", "properties": {"a": schema, "a/b": {"type": "integer"}}}
    assert read_document(document, "tool").left == ()


@pytest.mark.parametrize(
    ("schema", "is_whole"),
    [
        ({"$ref": "#/$defs/In", "$defs": {"In": of({})}}, True),
        ({"anyOf": [of({"const": 1}), of({"const": 2})]}, True),
        ({"type": "object", "$defs": 1, "additionalProperties": True}, True),
        ({"type": "object", "additionalProperties": {"type": "string"}}, False),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, False),
    ],
)
def test_arguments_are_objects(schema: dict[str, object], is_whole: bool) -> None:  # a parameter of a test
    own = codec(schema)
    assert (read_document(schema, "tool").left == ()) is is_whole
    assert own.left == ()
    assert (own.decode({"a": 1}) == {"a": 1}) if is_whole else own.report({"a": 1})
    with pytest.raises(DecodeError):
        own.decode([])


REST = {
    **of({"type": "array", "uniqueItems": True}),
    "dependentRequired": {"a": ["b"]},
    "not": {"required": ["z"]},
    "allOf": [{"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}],
    "propertyNames": {"maxLength": 1},
}


def test_what_no_graph_holds_is_checked_too() -> None:
    own = codec(REST)
    assert own.left == ()
    assert messages(REST, {"a": [1, 1], "zz": 0}) == [
        "a[1]: 1 equals an earlier one; items must differ",
        'b: missing (required because "a" is there)',
        "zz: this key isn't allowed: expected at most 1 character, got 2",
    ]
    assert [problem.code for problem in own.report({"a": [1], "b": 1})] == ["no_match"]
    assert own.report({"a": 1})[0].message == "expected array, got integer 1"
    assert own.decode({"b": 1, "c": 0}) == {"b": 1, "c": 0}
    with pytest.raises(EncodeError):
        own.encode({"a": [1, 1]})
    many = {"type": "object", "propertyNames": {"maxLength": 1}}
    assert len(codec(many).report({f"x{i}": 0 for i in range(50)})) == 20


@pytest.mark.parametrize(
    ("schema", "value", "said", "unread"),
    [
        ({"type": ["string", "null"]}, 1, ["expected string or null, got integer 1"], []),
        ({"enum": ["a", {"b": 1}]}, "c", ['"c" is not one of "a", {"b": 1}'], []),
        ({"const": {"a": 1.0}}, {"a": 2}, ['{"a": 2} is not one of {"a": 1.0}'], []),
        ({"const": {"a": 1.0}}, {"a": 1}, [], []),
        ({"minimum": 3}, 2, ["2 is below the minimum 3"], []),
        ({"exclusiveMaximum": 3}, 3, ["3 is not below 3"], []),
        ({"maximum": 3, "exclusiveMaximum": True}, 3, ["3 is not below 3"], []),
        ({"multipleOf": 0.1}, 0.25, ["0.25 is not a multiple of 0.1"], []),
        ({"multipleOf": 0.1}, 0.3, [], []),
        ({"minLength": 2}, "a", ["expected at least 2 characters, got 1"], []),
        ({"pattern": "^(a|a)*$"}, "ab", ['"ab" does not match the pattern "^(a|a)*$"'], []),
        (
            {"items": [{"type": "string"}], "additionalItems": False},
            ["a", 1],
            ["[1]: no value is allowed here; leave it out"],
            [],
        ),
        (
            {"prefixItems": [{"type": "string"}], "items": {"type": "integer"}},
            [1, "b"],
            ["[0]: expected string, got integer 1", '[1]: expected integer, got string "b"'],
            [],
        ),
        (
            {"contains": {"const": 1}, "minContains": 2},
            [1],
            ['at least 2 of the items must fit {"const": 1}, got 1'],
            [],
        ),
        (
            {"contains": {"const": 1}, "maxContains": 1},
            [1, 1],
            ['at most 1 of the items may fit {"const": 1}, got 2'],
            [],
        ),
        ({"uniqueItems": True}, [1, 1.0], ["[1]: 1.0 equals an earlier one; items must differ"], []),
        ({"uniqueItems": True}, [1, True, "1", [1], [True]], [], []),
        (
            {"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": False},
            {"ab": 1, "b": 2},
            ["ab: expected string, got integer 1", "b: unknown key"],
            [],
        ),
        (
            {"unevaluatedProperties": False, "allOf": [{"properties": {"a": {}}}]},
            {"a": 1, "b": 2},
            ["b: unknown key"],
            [],
        ),
        (
            {"unevaluatedItems": False, "prefixItems": [{}]},
            [1, 2],
            ["[1]: no value is allowed here; leave it out"],
            [],
        ),
        ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, ["b: missing (required)"], []),
        ({"dependencies": {"a": ["b"]}}, {"a": 1}, ['b: missing (required because "a" is there)'], []),
        (
            {"anyOf": [{"type": "string"}, {"type": "array"}]},
            1,
            [
                "it fits none of the alternatives: expected string, got integer 1; expected array, got integer 1"  # noqa: E501  # one case a line
            ],
            [],
        ),
        (
            {"oneOf": [{"type": "integer"}, {"type": "number"}]},
            1,
            ["it fits more than one of the alternatives, but has to fit exactly one"],
            [],
        ),
        ({"not": {"type": "integer"}}, 1, ['it fits {"type": "integer"}, which isn\'t allowed'], []),
        ({"if": {"type": "integer"}, "then": {"minimum": 5}}, 1, ["1 is below the minimum 5"], []),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
            1,
            ["expected string, got integer 1"],
            [],
        ),
        (
            {"$ref": "#b", "$defs": {"a": {"$anchor": "b", "type": "string"}}},
            1,
            ["expected string, got integer 1"],
            [],
        ),
        (
            {"$ref": "other.json#/$defs/a", "$defs": {"a": {"type": "string"}}},
            1,
            [],
            ["# $ref: it refers to another document, or to nothing"],
        ),
        ({"$dynamicRef": "#a"}, 1, [], ["# $dynamicRef: it isn't followed"]),
        ({"not": {"$ref": "#/nowhere"}}, 1, [], ["#/not $ref: it refers to another document, or to nothing"]),
        (
            {"anyOf": [{"$ref": "#/nowhere"}, {"type": "string"}]},
            1,
            [],
            ["#/anyOf/0 $ref: it refers to another document, or to nothing"],
        ),
        ({"type": "strnig"}, 1, [], ["# type: it can't be read"]),
        ({"minLength": "1"}, "a", [], ["# minLength: it can't be read"]),
        ({"enum": "a"}, 1, [], ["# enum: it can't be read"]),
        ({"required": "a"}, {}, [], ["# required: it can't be read"]),
        ({"properties": []}, {}, [], ["# properties: it can't be read"]),
        ({"anyOf": []}, 1, [], ["# anyOf: it can't be read"]),
        (
            {"pattern": "a(?=b)"},
            "x",
            [],
            ["# pattern: it looks at the text ahead, which is only possible right after a leading ^"],
        ),
        (
            {"patternProperties": {r"(a)\1": False}},
            {"aa": 1},
            [],
            ["# patternProperties: it refers to a group"],
        ),
        (
            {"not": {"pattern": "a(?=b)"}},
            "x",
            [],
            ["#/not pattern: it looks at the text ahead, which is only possible right after a leading ^"],
        ),
        ({"properties": {"a": False}}, {"a": 1}, ["a: no value is allowed here; leave it out"], []),
        (
            {"additionalProperties": {"type": "string"}, "properties": {"b": {}}},
            {"a": 1, "b": 2},
            ["a: expected string, got integer 1"],
            [],
        ),
        ({"uniqueItems": 1}, [1, 1], [], ["# uniqueItems: it can't be read"]),
        (
            {"if": {"$ref": "#/nowhere"}, "then": False},
            1,
            [],
            ["#/if $ref: it refers to another document, or to nothing"],
        ),
        (
            {"contains": {"$ref": "#/nowhere"}, "maxContains": 0},
            [1],
            [],
            ["#/contains $ref: it refers to another document, or to nothing"],
        ),
        ({"dependentRequired": []}, {}, [], ["# dependentRequired: it can't be read"]),
        ({"minContains": -1, "contains": {}}, [1], [], ["# contains: it can't be read"]),
        ({"items": 7}, [1], [], ["#/items: it isn't a schema"]),
        ({"$ref": "#"}, 1, [], []),
        ({"not": {"$ref": "#"}}, 1, [], []),
        (
            {"$id": "https://e.com/a", "$ref": "b", "$defs": {"x": {"$id": "b", "type": "string"}}},
            1,
            ["expected string, got integer 1"],
            [],
        ),
        ({"type": "array", "maxItems": 1}, [1, 2], ["expected at most 1 item, got 2"], []),
        ({"minProperties": 2}, {"a": 1}, ["expected at least 2 keys, got 1"], []),
        (
            {"propertyNames": {"pattern": "^a"}},
            {"b": 1},
            ['b: this key isn\'t allowed: "b" does not match the pattern "^a"'],
            [],
        ),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_each_keyword_says_what_is_wrong_or_that_it_isnt_checked(
    schema: dict[str, object], value: object, said: list[str], unread: list[str]
) -> None:
    judge = Judge(schema, Patterns())
    assert [str(problem) for problem in judge.problems(value)] == said
    assert [str(left) for left in judge.left] == unread


def test_references_that_go_round_and_round_end() -> None:
    doubled: dict[str, object] = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(60)}
    schema = {**of({"$ref": "#/$defs/a0"}), "$defs": {**doubled, "a60": {"not": {"const": 5}}}}

    def read() -> None:
        assert codec(schema).decode({"a": 1}) == {"a": 1}
        assert codec(schema).report({"a": 5})

    assert_takes(5, read)
    for round_and_round in ({"not": {"$ref": "#/$defs/a"}}, {"$ref": "#/$defs/a"}):
        rounds = {**of(round_and_round), "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
        assert codec(rounds).decode({"a": 1}) == {"a": 1}
    tree = {"type": "object", "properties": {"a": {"$ref": "#"}}, "not": {"required": ["x"]}}
    deep: dict[str, object] = {}
    for _ in range(90):
        deep = {"a": deep}
    assert codec(tree).decode(deep) == deep


def test_what_is_too_much_to_check_is_refused() -> None:
    many = of({"items": {"not": {"const": 1}}})
    assert codec(many).decode({"a": [2] * 10_000}) == {"a": [2] * 10_000}
    assert messages(many, {"a": [2] * MAX_STEPS}) == ["it is too large to be checked; send less"]
    deeper: list[object] = []
    for _ in range(90):
        deeper = [deeper]
    chain = {"items": {"$ref": "#/$defs/l"}, "not": {"const": 1}}
    for _ in range(3):
        chain = {"allOf": [chain]}
    judge = Judge({"$ref": "#/$defs/l", "$defs": {"l": chain}}, Patterns())
    assert [problem.code for problem in judge.problems(deeper)] == ["too_deep"]


@pytest.mark.needs_process
def test_nothing_has_to_be_installed() -> None:
    program = """
import sys
for name in ("jsonschema", "referencing", "rpds", "regex", "re2"):
    sys.modules[name] = None
from operator_schema.engine import DocumentCodec, SchemaDocument
schema = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
own = DocumentCodec(SchemaDocument("tool", schema))
print(own.left, own.report({"a": [1, 1]})[0].message)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "() 1 equals an earlier one; items must differ\n"


def nested(levels: int) -> dict[str, object]:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return of(schema)


def test_large_and_deep_documents_are_bounded() -> None:
    doubled: dict[str, object] = {
        f"a{i}": {
            "type": "object",
            "properties": {k: {"$ref": f"#/$defs/a{i + 1}"} for k in "xy"},
            "required": ["x", "y"],
        }
        for i in range(40)
    }
    graphs = {**of({"$ref": "#/$defs/a0"}), "$defs": {**doubled, "a40": {"type": "string"}}}
    chain = {
        **of({"$ref": "#/$defs/a0"}),
        "$defs": {f"a{i}": {"$ref": f"#/$defs/a{i + 1}"} for i in range(2000)},
    }
    wide = {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(MAX_SCHEMAS + 5)}}

    def read() -> None:
        for schema in (graphs, chain, wide, nested(60), of({"enum": list(range(20_000))})):
            own = codec(schema, repair=True)
            assert len(own.left) <= 100
            for value in ({}, {"a": 1}, {"a": {"x": {"y": []}}}, {"a": [[[[1]]]]}):
                try:
                    own.decode(value)
                except DecodeError as error:
                    assert len(str(error)) < 3000

    assert_takes(20, read)


def test_a_union_that_no_decoder_can_decide_is_left() -> None:
    schema: dict[str, object] = {"type": "string"}
    for i in range(8):
        schema = {"anyOf": [{"type": "object"}, {"type": "object", "properties": {f"k{i}": schema}}]}
    reading = read_document(of(schema), "tool")
    assert [each.where for each in reading.left] == ["#/properties/a"]


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ([], "it is array [], not an object"),
        ({"type": "array"}, '"type" is string "array", and arguments are an object'),
        ({"type": "object", "x": {1: 2}}, "a key in it isn't a text"),
        ({"type": "object", "x": float("nan")}, "a number in it isn't finite"),
        ({"type": "object", "x": "\ud800"}, "a text in it has a lone surrogate"),
        ({"type": "object", "x": {1, 2}}, "isn't a value of JSON"),
        ({"type": "object", "x": "a" * 1_000_001}, "it is too large"),
        (nested(300), "it nests too deep"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_what_isnt_a_document_is_refused(schema: object, fault: str) -> None:
    with pytest.raises(SchemaError) as caught:
        SchemaDocument("tool", schema)  # type: ignore[arg-type]  # what servers send
    assert fault in str(caught.value)


def test_a_default_that_doesnt_fit_is_passed_over() -> None:
    root = codec(of({"type": "integer", "default": "x", "examples": [1, "y"]})).graph.resolve_root()
    assert root.fields[0].examples == (1,)  # type: ignore[union-attr]  # an object
    assert (
        "default"
        not in super(DocumentCodec, codec(of({"type": "integer", "default": "x"}))).json_schema()[
            "properties"
        ]["a"]
    )


def recorded_schemas() -> list[dict[str, object]]:
    found: dict[str, dict[str, object]] = {}
    for exchange in exchanges():
        for offered in (exchange["request"] or {}).get("tools") or []:
            declared = offered.get("functionDeclarations") or [offered.get("function", offered)]
            for each in declared:
                schema = (
                    each.get("parameters") or each.get("input_schema") or each.get("parametersJsonSchema")
                )
                if isinstance(schema, dict) and schema.get("type") == "object":
                    found[json.dumps(schema)] = schema
    return list(found.values())


def test_recorded_tools_are_read_as_a_whole() -> None:
    schemas = recorded_schemas()
    assert len(schemas) > 50
    assert not any(codec(schema).left for schema in schemas)
    lines = {str(each) for schema in schemas for each in read_document(schema, "tool").left}
    assert lines == {"#/properties/code allOf: only one of several schemas is read"}
    for schema in schemas:
        own = codec(schema)
        value = own.example()
        assert own.decode(value) == value
        assert jsonschema.Draft202012Validator(schema).is_valid(value)


def test_a_reference_to_a_schema_that_is_true_or_false_counts() -> None:
    document = {**of({"$ref": "#/$defs/no"}), "$defs": {"no": False, "yes": True}}
    judge = Judge(document, Patterns())
    said = [problem.message for problem in judge.problems({"a": 1})]
    assert said == ["no value is allowed here; leave it out"]
    assert judge.problems({}) == []
    open_ = Judge({**of({"$ref": "#/$defs/yes"}), "$defs": {"yes": True}}, Patterns())
    assert open_.problems({"a": 1}) == []


def test_a_message_with_many_reasons_has_a_greatest_length() -> None:
    long = [{"enum": [letter * 200, letter * 201]} for letter in "abc"]
    [problem] = Judge({"anyOf": long}, Patterns()).problems("d")
    assert problem.message.startswith("it fits none of the alternatives")
    assert len(problem.message) == 300


@pytest.mark.parametrize("argument", [0, -2, True, "2", None, [2]], ids=repr)
def test_a_multiple_of_what_is_no_positive_number_is_left_out(argument: object) -> None:
    schema = {"multipleOf": argument, "allOf": [{"multipleOf": argument}]}
    assert any("multipleOf" in each for each in unchecked(schema))
    assert Judge(schema, Patterns()).problems(3) == []


def test_a_multiple_of_a_number_that_python_writes_no_more():
    judge = Judge({"multipleOf": 10**5000}, Patterns())
    assert judge.left == ()
    assert judge.problems(3 * 10**5000) == []
    assert len(judge.problems(10**5000 + 1)) == len(judge.problems(0.5)) == 1


@pytest.mark.parametrize(("multiple", "is_read"), [(2**60, True), (0.375, True), (1e-9, False)])
def test_multiples_are_read_where_floats_hold_them_exactly(multiple: float, is_read: bool) -> None:
    assert (left({"type": "number", "multipleOf": multiple}) == []) == is_read


def test_a_part_of_a_document_fits_doesnt_or_isnt_known():
    chain: object = {"type": "integer"}
    for _ in range(2000):
        chain = {"allOf": [chain]}
    document = {
        "$defs": {"small": {"type": "integer", "maximum": 3}, "odd": {"pattern": "(?<a"}, "long": chain}
    }
    judge = Judge(
        {**document, "anyOf": [{"$ref": f"#/$defs/{name}"} for name in document["$defs"]]}, Patterns()
    )
    small = document["$defs"]["small"]
    assert judge.fits(small, 3) is True
    assert judge.fits(small, 4) is False
    assert judge.fits(chain, 3) is None
