"""JSON Schema documents of others: what is read of them, what is left, what they can't do to us."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import jsonschema
import pytest
from patience import PATIENCE, cpu_time
from provider_traffic import exchanges

from operator_schema.documents.codec import DocumentCodec
from operator_schema.documents.document import SchemaDocument
from operator_schema.documents.judge import make_judge
from operator_schema.documents.reader import MAX_SCHEMAS, read_document
from operator_schema.errors import DecodeError, EncodeError, SchemaError

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
    return [str(problem) for problem in caught.value.problems]


def of(schema: object) -> dict[str, object]:
    return {"type": "object", "properties": {"a": schema}}


def left(schema: object) -> list[str]:
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
        'title: missing (string (length ≥ 1), required); you sent "titel" instead',
        'state: "opened" is not one of "open", "closed"; did you mean "open"?',
        "labels[1]: expected string, got integer 2",
        'parent.parent.title: missing (string, required); you sent "titel" instead',
        "size: -1 is below the minimum 0",
        "point: 1 item, exactly 2 expected",
        'meta.k: expected integer, got string "v"',
        'who.kind: "tema" is not one of "user", "team"; did you mean "team"?',
        (
            'titel: unknown key; the keys are "title", "state", "labels", "parent", "size", "point", "meta",'
            ' "who"; did you mean "title"?'
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
        ({"type": "string", "pattern": "(a+)+$"}, "#/properties/a pattern: it may take too long"),
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
        ({"enum": [{}]}, "#/properties/a enum: it holds more than texts"),
        ({"enum": "abc"}, "#/properties/a enum: it holds more than texts"),
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
            "#/properties/a oneOf: that no second one fits",
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "string"}]},
            "#/properties/a oneOf: that no second one fits",
        ),
        ({"oneOf": [{}, {"type": "string"}]}, "#/properties/a oneOf: that no second one fits"),
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
        ({"$ref": "https://example.com/schema.json"}, "#/properties/a $ref: it leads out of the document"),
        ({"$ref": "#/$defs/None"}, "#/properties/a $ref: it leads out of the document, or nowhere"),
        ({"$ref": "#/properties/a"}, "#/properties/a $ref: it leads back to itself"),
        ({"$ref": 7}, "#/properties/a $ref: it leads out of the document, or nowhere"),
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
    assert codec(document).left == ()


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
    if not is_whole:
        pytest.importorskip("referencing", reason="jsonschema needs it, and it has no wheel for WebAssembly")
    own = codec(schema)
    assert (own.left == ()) is is_whole
    assert (own.decode({"a": 1}) == {"a": 1}) if is_whole else own.problems({"a": 1})
    with pytest.raises(DecodeError):
        own.decode([])


def test_jsonschema_says_what_is_wrong_with_the_rest() -> None:
    pytest.importorskip("referencing", reason="jsonschema needs it, and it has no wheel for WebAssembly")
    schema = {
        **of({"type": "array", "uniqueItems": True}),
        "dependentRequired": {"a": ["b"]},
        "not": {"required": ["z"]},
        "allOf": [{"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}],
        "propertyNames": {"maxLength": 1},
    }
    own = codec(schema)
    assert own.is_judged
    assert messages(schema, {"a": [1, 1], "zz": 0}) == [
        "a: [1, 1] has non-unique elements",
        "'b' is a dependency of 'a'",
        "'zz' is too long",
    ]
    assert own.problems({"a": [1, 1], "b": 1})[1].code == "no_match"
    assert own.problems({"a": 1})[0].message == "expected array, got integer 1"
    with pytest.raises(EncodeError):
        own.encode({"a": [1, 1]})
    many = {"type": "object", "propertyNames": {"maxLength": 1}}
    assert len(codec(many).problems({f"x{i}": 0 for i in range(50)})) == 20


def test_jsonschema_is_left_out_where_it_could_take_too_long() -> None:
    pytest.importorskip("referencing", reason="jsonschema needs it, and it has no wheel for WebAssembly")
    slow = {"type": "object", "patternProperties": {"(a+)+$": {}}}
    assert not codec(slow).is_judged
    assert make_judge({"$schema": []}) is None
    assert not codec({**of({"not": {"pattern": "(a+)+$"}}), "not": {}}).is_judged
    doubled: dict[str, object] = {f"a{i}": {"allOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(60)}
    schema = {**of({"$ref": "#/$defs/a0"}), "$defs": {**doubled, "a60": {"not": {"const": 5}}}}
    started = cpu_time()
    assert codec(schema).decode({"a": 1}) == {"a": 1}
    assert cpu_time() - started < 5 * PATIENCE
    for round_and_round in ({"not": {"$ref": "#/$defs/a"}}, {"$ref": "#/$defs/a"}):
        schema = {**of(round_and_round), "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}
        assert codec(schema).decode({"a": 1}) == {"a": 1}
    tree = {"type": "object", "properties": {"a": {"$ref": "#"}}, "not": {"required": ["x"]}}
    deep: dict[str, object] = {}
    for _ in range(90):
        deep = {"a": deep}
    assert codec(tree).decode(deep) == deep


@pytest.mark.needs_process
def test_without_jsonschema_the_rest_is_left_to_the_server() -> None:
    program = """
import sys
sys.modules["jsonschema"] = None
from operator_schema.documents.codec import DocumentCodec
from operator_schema.documents.document import SchemaDocument
schema = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
own = DocumentCodec(SchemaDocument("tool", schema))
print(own.is_judged, len(own.left), own.decode({"a": [1, 1]}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False 1 {'a': [1, 1]}\n"


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
        "$defs": {f"a{i}": {"$ref": f"#/$defs/a{i + 1}"} for i in range(5000)},
    }
    wide = {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(MAX_SCHEMAS + 5)}}
    started = cpu_time()
    for schema in (graphs, chain, wide, nested(60), of({"enum": list(range(20_000))})):
        own = codec(schema, repair=True)
        assert len(own.left) <= 100
        for value in ({}, {"a": 1}, {"a": {"x": {"y": []}}}, {"a": [[[[1]]]]}):
            try:
                own.decode(value)
            except DecodeError as error:
                assert len(str(error)) < 3000
    assert cpu_time() - started < 20 * PATIENCE


def test_a_union_that_no_decoder_can_decide_is_left() -> None:
    schema: dict[str, object] = {"type": "string"}
    for i in range(8):
        schema = {"anyOf": [{"type": "object"}, {"type": "object", "properties": {f"k{i}": schema}}]}
    reading = read_document(of(schema), "tool")
    assert [each.where for each in reading.left] == ["/properties/a"]


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
    lines = {str(each) for schema in schemas for each in codec(schema).left}
    assert lines == {"#/properties/code allOf: only one of several schemas is read"}
    for schema in schemas:
        own = codec(schema)
        value = own.example()
        assert own.decode(value) == value
        assert jsonschema.Draft202012Validator(schema).is_valid(value)
