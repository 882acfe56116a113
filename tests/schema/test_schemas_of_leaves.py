"""The schema of a leaf is kept as that of `document_tool` is: the same values fit, with the same findings."""

from __future__ import annotations

import copy
import pickle
import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from judge import validator
from own_leaves import OF_ANY_TYPE
from schema_edits import Documents
from strategies import Limits

from operator_schema import Codec, DecodeError, EncodeError, SchemaError, SchemaLeaf, tool
from operator_schema.engine import DocumentCodec, SchemaDocument
from operator_schema.schema.written import says_more
from operator_schema.tools import document_tool
from operator_schema.types import RawArguments


@dataclass
class Held:
    """Any JSON value."""

    value: Any

    def __hash__(self) -> int:
        return hash(repr(self.value))


def held(schema: dict[str, Any], placeholder: Any) -> SchemaLeaf[Held]:
    return SchemaLeaf(Held, schema, Held, lambda each: each.value, Held(placeholder))


@dataclass
class Drawn:
    """A schema that fits at least one value, with its leaf, its document, and values near it."""

    schema: dict[str, Any]
    leaf: SchemaLeaf[Held]
    document: DocumentCodec
    fitting: list[Any]
    others: list[Any]


@st.composite
def schemas(draw: st.DrawFn, values: int = 40) -> Drawn:
    documents = Documents(random.Random(draw(st.integers(0, 2**32))))  # noqa: S311  # a sample
    root = draw(st.sampled_from(OF_ANY_TYPE))
    schema = getattr(documents, root)(*[2] * (root in {"array", "tuple", "map", "keyed"}))
    document = DocumentCodec(SchemaDocument("Held", schema, is_arguments=False))
    found = [documents.value_of(schema) for _ in range(values)]
    fitting = [value for value in found if not document.report(value)]
    others = [value for value in found if document.report(value)]
    assume(fitting and says_more(schema))
    try:
        leaf = held(schema, fitting[0])
    except SchemaError:
        assume(document.left or "'#'" in repr(schema))  # it can't be checked, or refers to the root
        assume(False)
    return Drawn(schema, leaf, document, fitting, others)


def findings(decode: Any, value: Any) -> Any:
    try:
        decode(value)
    except (DecodeError, EncodeError) as error:
        return error.findings
    return ()


@pytest.mark.slow("draws hundreds of schemas")
@settings(max_examples=2 * settings().max_examples)
@given(schemas())
def test_a_leaf_refuses_what_a_document_refuses_with_the_same_findings(drawn):
    cold, warm = Codec(Held, leaves=[drawn.leaf]), Codec(Held, leaves=[drawn.leaf]).compile()
    is_valid = validator(drawn.schema).is_valid
    for value in [*drawn.fitting, *drawn.others]:
        found = drawn.document.report(value)
        assert cold.report(value) == found
        assert findings(cold.decode, value) == findings(warm.decode, value) == found
        assert findings(cold.encode, Held(value)) == findings(warm.encode, Held(value)) == found
        if found:
            with pytest.raises(SchemaError, match=r"encode\(placeholder\) is|placeholder doesn't fit"):
                held(drawn.schema, value)
        else:
            assert warm.decode(value) == cold.decode(value) == Held(value)
            assert warm.encode(Held(value)) == cold.encode(Held(value)) == value
        assert is_valid(value) is not bool(found) or "'format'" in repr(drawn.schema)


SIZE = held({"type": "string", "enum": ["small", "medium"]}, "small")
CODE = held({"type": "string", "pattern": "^[A-Z]{3}$", "maxLength": 3}, "EUR")
PAIRS = held({"type": "array", "items": {"type": "integer"}, "minItems": 2, "uniqueItems": True}, [1, 2])
POINT = held(
    {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/N"}, "y": {"type": "integer"}},
        "required": ["x"],
        "dependentRequired": {"y": ["z"]},
        "$defs": {"N": {"type": "number", "minimum": -1}},
    },
    {"x": 0},
)
Size, Code, Pairs, Point = [Annotated[Held, leaf] for leaf in (SIZE, CODE, PAIRS, POINT)]


@pytest.mark.parametrize(
    ("annotation", "value", "said"),
    [
        (Size, "a million", '"a million" is not one of "small", "medium"'),
        (Size, "smal", 'did you mean "small"?'),
        (Size, 5, '5 is not one of "small", "medium"'),
        (list[Size], ["small", "big"], '[1]: "big" is not one of'),
        (set[Code], ["EUR", "eur"], '[1]: "eur" does not match the pattern ^[A-Z]{3}$'),
        (dict[Code, int], {"eur": 1}, 'eur: "eur" does not match the pattern'),
        (dict[str, Size | None], {"a": None, "b": "big"}, "b: "),
        (tuple[Size, Code], ["small", "EU"], '[1]: "EU" does not match'),
        (Size | int, "big", '"big" is not one of "small", "medium"'),
        (Size | Literal["none"], "big", 'fits none of "small" | "medium" | "none"'),
        (Pairs, [1], "1 item, at least 2 expected"),
        (Pairs, [1, 1], "[1]: 1 equals an earlier one"),
        (Pairs, [1, "2"], "[1]: expected integer"),
        (list[Point], [{"y": 1}], "[0].x: missing"),
        (list[Point], [{"x": -2}], "[0].x: -2 is below the minimum -1"),
        (list[Point], [{"x": 0, "y": 1}], '[0].z: missing (required because "y" is there)'),
    ],
)
def test_what_a_schema_says_holds_wherever_the_leaf_is(annotation, value, said):
    cold, warm = Codec(annotation), Codec(annotation).compile()
    for decode in (cold.decode, warm.decode):
        with pytest.raises(DecodeError) as caught:
            decode(value)
        assert said in str(caught.value)


def test_what_fits_the_leaf_is_the_leafs_in_a_union():
    codec = Codec(list[Size | str])
    for decode in (codec.decode, codec.compile().decode):
        assert decode(["small", "big"]) == [Held("small"), "big"]


def test_what_a_tool_expects_is_what_its_leaf_says():
    @tool
    def charge(amount: Size) -> str:
        """Charge an amount."""
        return amount.value

    def str_of(arguments: dict[str, Any]) -> str:
        return f"{arguments}"

    by_hand = document_tool(
        str_of,
        {"type": "object", "properties": {"amount": SIZE.json_schema}, "required": ["amount"]},
        name="charge",
        description="Charge an amount.",
    )
    texts = []
    for each in (charge, by_hand):
        with pytest.raises(DecodeError) as caught:
            each.decode({"amount": "a million"})
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_what_is_written_fits_the_schema_too():
    codec = Codec(list[Size])
    for encode in (codec.encode, codec.compile().encode):
        with pytest.raises(EncodeError, match='"big" is not one of "small", "medium"'):
            encode([Held("big")])
    written, (note,) = codec.encode_leniently([Held("small"), Held("big")])
    assert written == ["small", "big"]
    assert note.path == (1,)


def test_a_default_and_an_example_fit_the_schema():
    @dataclass
    class Order:
        size: Size = field(default=Held("big"))

    with pytest.raises(SchemaError, match='its default does not fit: "big" is not one of'):
        Codec(Order)


@pytest.mark.parametrize(
    ("annotation", "value", "repaired"),
    [
        (Size, "SMALL", Held("small")),
        (list[Pairs], [["1", 2]], [Held([1, 2])]),
        (Pairs, "[1, 2]", Held([1, 2])),
        (Point, {"X": 0.5}, Held({"x": 0.5})),
    ],
)
def test_what_is_in_the_value_of_a_leaf_is_repaired_as_its_schema_says(annotation, value, repaired):
    assert Codec(annotation, repair=True).decode(value) == repaired
    with pytest.raises(DecodeError):
        Codec(annotation).decode(value)


def test_what_the_leaf_itself_refuses_is_not_repaired():
    def refuse(text):
        if text != "large":
            raise ValueError("it isn't large")
        return Held(text)

    leaf = SchemaLeaf(
        Held, {"type": "string", "enum": ["small", "large"]}, refuse, lambda each: each.value, Held("large")
    )
    with pytest.raises(DecodeError, match='"SMALL" is not one of'):
        Codec(Held, leaves=[leaf], repair=True).decode("SMALL")


@pytest.mark.parametrize(
    ("schema", "placeholder", "said"),
    [
        (
            {"enum": ["a"]},
            "zz",
            'placeholder doesn\'t fit json_schema: "zz" is not one of "a".',
        ),
        (
            {"pattern": "(?=a)a"},
            "a",
            "json_schema can't be checked: pattern: it looks at the text ahead",
        ),
        ({"enum": "a"}, "a", "json_schema can't be checked: enum: it can't be read"),
        ({"minLength": "1"}, "a", "json_schema can't be checked: minLength: it can't be read"),
        ({"$ref": "https://example.com/a"}, "a", 'json_schema refers to "https://example.com/a", which'),
        ({"enum": [object()]}, "a", "json_schema can't be used: object isn't a value of JSON"),
        ({"default": 5}, "a", "a value under default in json_schema doesn't fit: 5"),
        ({"not": {"enum": ["x"], "examples": ["y"]}}, "a", 'under examples in json_schema doesn\'t fit: "y"'),
    ],
)
def test_a_schema_that_can_not_be_kept_is_no_leaf(schema, placeholder, said):
    with pytest.raises(SchemaError) as caught:
        held({"type": "string", **schema}, placeholder)
    assert said in str(caught.value)


def test_a_schema_that_says_a_type_alone_is_a_plain_dict():
    examples = held({"type": "string", "examples": ["a"], "title": "A", "$comment": "c"}, "a")
    assert type(examples.json_schema) is dict
    assert type(SIZE.json_schema) is not dict


def test_a_leaf_with_its_check_is_copied_and_pickled():
    sizes = SchemaLeaf(str, {"type": "string", "enum": ["small", "medium"]}, str, str, "small")
    for codec in (Codec(Annotated[str, sizes]), pickle.loads(pickle.dumps(Codec(Annotated[str, sizes])))):
        assert codec.decode("medium") == "medium"
        assert codec.report("big")[0].suggestion is None
    assert Codec(str, leaves=[copy.deepcopy(sizes)]).report("big")
    again = SIZE.replace(placeholder=Held("medium"))
    assert Codec(Held, leaves=[again]).report("big")
    with pytest.raises(SchemaError):
        SIZE.replace(placeholder=Held("big"))


def test_limits_on_decimals_stand_beside_the_schema_of_a_leaf_of_ones_own():
    prices = SchemaLeaf(Decimal, {"type": "string", "enum": ["1.00", "2.50"]}, Decimal, str, Decimal("1.00"))
    codec = Codec(Annotated[Decimal, prices, Limits(ge=1)])
    assert codec.decode("2.50") == Decimal("2.5")
    assert codec.report("3.00")[0].code == "not_one_of"
    with pytest.raises(SchemaError, match="no decimal that is ≥ 2 was found"):
        Codec(Annotated[Decimal, prices, Limits(ge=2)])
    cents = SchemaLeaf(
        Decimal, {"type": "integer"}, lambda value: Decimal(value) / 100, lambda d: int(d * 100), Decimal(1)
    )
    limited = Codec(Annotated[Decimal, cents, Limits(le=2)])
    assert limited.decode(150) == Decimal("1.5")
    assert "maximum" not in limited.json_schema()


NUMBER = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]}


def test_described_arguments_are_checked_inside_other_types():
    given = RawArguments.described_by(NUMBER)
    codec = Codec(list[Annotated[RawArguments, given]])
    assert codec.decode([{"n": 1}])[0].arguments == {"n": 1}
    assert [str(each) for each in codec.report([{"n": 0}])] == ["[0].n: 0 is below the minimum 1"]
    assert Codec(Annotated[RawArguments, given]).example() == {"n": 1}
    impossible = {"type": "string", "pattern": "^(?=b)a", "minLength": 1, "maxLength": 0}
    never = {**NUMBER, "properties": {"n": impossible}}
    unreadable = RawArguments.described_by(never)
    assert unreadable.placeholder.arguments == {}
    codec = Codec(Annotated[RawArguments, unreadable])
    for each in (codec, pickle.loads(pickle.dumps(codec))):
        assert each.report({"n": "x"})
