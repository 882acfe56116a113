"""The laws of unions of objects: nothing is guessed, whatever the names of the classes and their order."""

from __future__ import annotations

import enum
import types
from dataclasses import dataclass, field, make_dataclass
from itertools import product
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, Optional, TypedDict, Union, get_args

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from judge import validator
from libraries import library
from shares import share
from typing_extensions import TypeAliasType

from operator_schema import Codec, DecodeError, EncodeError, SchemaError
from operator_schema.workbench.lint import lint_type

attrs, msgspec, pydantic = library("attrs"), library("msgspec"), library("pydantic")

pytestmark = pytest.mark.slow("draws hundreds of types")

NOTHING: Any = object()
KINDS: dict[str, tuple[Any, list[Any]]] = {
    "number": (int, [1, 2]),
    "text": (str, ["x", "p"]),
    "flag": (bool, [True]),
    "letter": (Literal["p", "q"], ["p", "q"]),
    "other": (Literal["r"], ["r"]),
}
"""Types of fields, each with some of its values."""
KEYS = ["a", "b", "c", "d"]
TAG_KEYS = ["kind", "mode"]
ANY_VALUE = st.sampled_from([1, 2, "x", "p", "q", "r", True, None])
COIN = st.booleans()


@dataclass(frozen=True)
class Declared:
    """A field of a member: its type, JSON values that it takes, and the default of the class."""

    annotation: Any
    values: tuple[Any, ...]
    default: Any


@dataclass(frozen=True)
class Member:
    """A class of a union: how it is made, and its fields by key."""

    form: str
    fields: dict[str, Declared]

    def make(self, name: str) -> Any:
        return FORMS[self.form](name, self.fields)


def _dataclass(name: str, fields: dict[str, Declared]) -> Any:
    specs = [
        (key, each.annotation, field() if each.default is NOTHING else field(default=each.default))
        for key, each in fields.items()
    ]
    return make_dataclass(name, specs, kw_only=True)


def _typed_dict(name: str, fields: dict[str, Declared]) -> Any:
    items = {
        key: each.annotation if each.default is NOTHING else NotRequired[each.annotation]
        for key, each in fields.items()
    }
    return TypedDict(name, items)  # type: ignore[operator]


def _named_tuple(name: str, fields: dict[str, Declared]) -> Any:
    ordered = sorted(fields.items(), key=lambda item: item[1].default is not NOTHING)
    own: dict[str, Any] = {
        "__module__": __name__,
        "__annotations__": {key: each.annotation for key, each in ordered},
        **{key: each.default for key, each in ordered if each.default is not NOTHING},
    }
    return types.new_class(name, (NamedTuple,), {}, lambda namespace: namespace.update(own))


def _model(name: str, fields: dict[str, Declared]) -> Any:
    given: Any = {
        key: (_strict(each.annotation), ... if each.default is NOTHING else each.default)
        for key, each in fields.items()
    }
    return pydantic.create_model(name, **given)


def _strict(annotation: Any) -> Any:
    """A type that pydantic converts nothing to, so that its schema says what it takes."""
    return Annotated[annotation, pydantic.Strict()] if annotation in {int, str, bool} else annotation


def _struct(name: str, fields: dict[str, Declared]) -> Any:
    given: list[Any] = [
        (key, each.annotation) if each.default is NOTHING else (key, each.annotation, each.default)
        for key, each in fields.items()
    ]
    return msgspec.defstruct(name, given, kw_only=True)


def _attrs_class(name: str, fields: dict[str, Declared]) -> Any:
    given = {
        key: attrs.field(
            type=each.annotation, **({} if each.default is NOTHING else {"default": each.default})
        )
        for key, each in fields.items()
    }
    return attrs.make_class(name, given, kw_only=True)


FORMS = {
    "dataclass": _dataclass,
    "typed_dict": _typed_dict,
    "named_tuple": _named_tuple,
    "model": _model,
    "struct": _struct,
    "attrs": _attrs_class,
}


def maybe(default: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from([default, NOTHING])


@st.composite
def plain_fields(draw: st.DrawFn) -> dict[str, Declared]:
    fields: dict[str, Declared] = {}
    for key in draw(st.lists(st.sampled_from(KEYS), max_size=3, unique=True)):
        annotation, values = KINDS[draw(st.sampled_from(list(KINDS)))]
        fields[key] = Declared(annotation, tuple(values), draw(maybe(values[0])))
    return fields


def tag_of_member(draw: st.DrawFn, kind: str, number: int) -> Declared:
    """The tag of the member of a number, whose values no other member has."""
    first = f"t{number}"
    if kind == "several":
        return Declared(Literal[first, f"u{number}"], (first, f"u{number}"), draw(maybe(first)))
    if kind in {"enum", "one of an enum"}:
        cls = enum.Enum(f"Tag{number}", {"ONE": first, "TWO": f"u{number}"})
        if kind == "enum":
            return Declared(cls, (first, f"u{number}"), draw(maybe(cls.ONE)))
        return Declared(Literal[cls.ONE], (first,), draw(maybe(cls.ONE)))
    if kind == "nullable" and number == 0:
        return Declared(Optional[Literal[first]], (first, None), draw(maybe(None)))
    return Declared(Literal[first], (first,), draw(maybe(first)))


TAG_KINDS = st.sampled_from(["text", "text", "several", "enum", "one of an enum", "nullable"])


@st.composite
def members(draw: st.DrawFn, *, tagged: bool | None = None) -> tuple[Member, ...]:
    """Two to four classes with overlapping keys, most often with one tag, or two, or one that some lack."""
    found = [
        (draw(st.sampled_from(list(FORMS))), draw(plain_fields())) for _ in range(draw(st.integers(2, 4)))
    ]
    tags = TAG_KEYS[: draw(st.integers(1, 2))] if tagged or draw(st.integers(0, 2)) else []
    for tag in tags:
        kind = draw(TAG_KINDS)
        without = draw(st.integers(-8, len(found) - 1)) if not tagged else -1
        for number, (form, fields) in enumerate(found):
            if number != without:
                # Models of pydantic refuse the values of a Literal of members of an Enum.
                is_odd = form == "model" and kind == "one of an enum"
                fields[tag] = tag_of_member(draw, "enum" if is_odd else kind, number)
    made = [Member(form, dict(draw(st.permutations(list(fields.items()))))) for form, fields in found]
    return tuple(made)


@st.composite
def values_of(draw: st.DrawFn, union: tuple[Member, ...]) -> dict[str, Any]:
    """A value of a member with some changes, or anything with its keys."""
    member = draw(st.sampled_from(union))
    value = {
        key: draw(st.sampled_from(each.values))
        for key, each in member.fields.items()
        if each.default is NOTHING or draw(COIN)
    }
    for key in draw(st.lists(st.sampled_from([*KEYS, *TAG_KEYS, "more"]), max_size=2)):
        other = draw(st.sampled_from(union)).fields.get(key)
        value[key] = draw(st.sampled_from(other.values) if other and draw(COIN) else ANY_VALUE)
    if value and not draw(st.integers(0, 3)):
        del value[draw(st.sampled_from(sorted(value)))]
    return value


def registered(classes: list[Any], **options: Any) -> Codec[Any] | None:
    try:
        return Codec(Union[tuple(classes)], **options)
    except SchemaError as error:
        assert {finding.code for finding in error.findings} == {"ambiguous"}
        return None


def named(union: tuple[Member, ...], names: str = "ABCD") -> list[Any]:
    return [member.make(name) for member, name in zip(union, names, strict=False)]


def outcome(codec: Codec[Any], classes: list[Any], value: Any) -> Any:
    """What becomes of a value, in terms that no name and no order changes."""
    try:
        decoded = codec.decode(value)
    except DecodeError as error:
        return {(problem.path, problem.code) for problem in error.findings}
    return _shown(classes, decoded)


def _shown(classes: list[Any], decoded: Any) -> Any:
    if isinstance(decoded, dict):
        return dict(decoded)
    number = classes.index(type(decoded))
    names = classes[number].__annotations__
    return number, {name: getattr(decoded, name) for name in names}


# --- names and order ------------------------------------------------------------------------------


@settings(max_examples=2 * settings().max_examples)
@given(st.data(), members())
def test_names_and_order_never_change_what_a_value_decodes_to(data, union):
    classes = named(union)
    order = data.draw(st.permutations(range(len(union))))
    others = named(union, "".join(data.draw(st.permutations("ABCD"))))
    codec, other = registered(classes), registered([others[number] for number in order])
    assert (codec is None) == (other is None)
    if codec is None or other is None:
        return
    pairs = [(codec, other), (codec.compile(), other.compile())]
    pairs.append((registered(classes, repair=True), registered([others[i] for i in order], repair=True)))
    for value in data.draw(st.lists(values_of(union), min_size=1, max_size=5)):
        for one, two in pairs:
            assert outcome(one, classes, value) == outcome(two, others, value)
    assert {finding.code for finding in lint_type(codec)} == {finding.code for finding in lint_type(other)}


# --- a second judge -------------------------------------------------------------------------------


def judged(codec: Codec[Any], union: tuple[Member, ...], value: dict[str, Any]) -> list[int]:
    """The members that a validator accepts and that leave the fewest keys unused.

    An explicit null means an absent key where a field may be None: the one exception of annotations.md.
    """
    schema = codec.json_schema()
    shared = {"$defs": schema.get("$defs", {})}
    accepting = {
        number: len(value.keys() - each["properties"].keys())
        for number, each in enumerate(schema["anyOf"])
        if any(
            validator({**each, **shared}).is_valid(given)
            for given in (value, _without_nulls(union[number], value))
        )
    }
    return [number for number, unused in accepting.items() if unused == min(accepting.values())]


def _without_nulls(member: Member, value: dict[str, Any]) -> dict[str, Any]:
    nullable = {key for key, each in member.fields.items() if NoneType in get_args(each.annotation)}
    return {key: item for key, item in value.items() if item is not None or key not in nullable}


@settings(max_examples=2 * settings().max_examples)
@given(st.data(), members())
def test_a_value_belongs_to_the_one_member_that_a_validator_accepts(data, union):
    classes = named(union)
    codec = registered(classes)
    assume(codec is not None)
    for value in data.draw(st.lists(values_of(union), min_size=1, max_size=5)):
        best = judged(codec, union, value)
        for each in (codec, codec.compile()):
            problems = each.report(value)
            assert bool(problems) == (len(best) != 1), (best, problems)
            if len(best) == 1:
                decoded = each.decode(value)
                assert isinstance(decoded, dict) or type(decoded) is classes[best[0]]
            elif best:
                (problem,) = problems
                assert (problem.path, problem.code) == ((), "no_match")
                assert all(classes[number].__name__ in problem.message for number in best)


# --- tags -----------------------------------------------------------------------------------------

WRAPPERS = [
    (lambda union: union, lambda value: value),
    (lambda union: list[union], lambda value: [value]),
    (lambda union: dict[str, union], lambda value: {"k": value}),
    (lambda union: Optional[union], lambda value: value),
    (lambda union: tuple[int, union], lambda value: [1, value]),
    (lambda union: TypeAliasType("Alias", union), lambda value: value),
    (lambda union: Union[Annotated[union, "described"], int], lambda value: value),
    (lambda union: make_dataclass("Around", [("inner", union)]), lambda value: {"inner": value}),
    (
        lambda union: make_dataclass("Around", [("inner", Optional[union], None)]),
        lambda value: {"inner": value},
    ),
]


@given(st.data(), members(tagged=True), st.sampled_from(WRAPPERS))
def test_leaving_out_a_tag_never_decodes(data, union, wrapper):
    wrap, around = wrapper
    try:
        codec = Codec(wrap(Union[tuple(named(union))]))
        repairing = Codec(codec.type, repair=True)
    except SchemaError:
        return
    schema = codec.json_schema()
    assert not [path for path, objects in unions_in(schema) if not has_required_tag(objects)], schema
    for value in data.draw(st.lists(values_of(union), min_size=1, max_size=5)):
        bare = {key: item for key, item in value.items() if key not in TAG_KEYS}
        for each in (codec, codec.compile(), repairing):
            assert each.report(around(bare))
            assert each.report(around({**bare, "type": "t0", "tag": "t1"}))


@given(st.data(), members())
def test_what_decodes_without_a_tag_is_of_a_member_that_has_none(data, union):
    classes = named(union)
    codec = registered(classes)
    assume(codec is not None)
    tagged = [set(TAG_KEYS) & member.fields.keys() for member in union]
    assume(not any(sum(key in keys for keys in tagged) == 1 for key in TAG_KEYS))  # of one, it is no tag
    for value in data.draw(st.lists(values_of(union), min_size=1, max_size=5)):
        bare = {key: item for key, item in value.items() if key not in TAG_KEYS}
        for each in (codec, codec.compile()):
            if not each.report(bare):
                decoded = each.decode(bare)
                numbers = [
                    i for i, cls in enumerate(classes) if isinstance(decoded, dict) or type(decoded) is cls
                ]
                assert any(not tagged[number] for number in numbers)


def unions_in(schema: Any, path: str = "") -> list[tuple[str, list[Any]]]:
    if isinstance(schema, list):
        return [found for each in schema for found in unions_in(each, path)]
    if not isinstance(schema, dict):
        return []
    objects = [each for each in schema.get("anyOf", ()) if each.get("type") == "object"]
    inner = [found for key, each in schema.items() for found in unions_in(each, f"{path}/{key}")]
    return [*([(path, objects)] if len(objects) > 1 else []), *inner]


def has_required_tag(objects: list[Any]) -> bool:
    return any(all(key in each.get("required", ()) for each in objects) for key in TAG_KEYS)


# --- examples -------------------------------------------------------------------------------------


@settings(max_examples=2 * settings().max_examples)
@given(members())
def test_an_example_of_a_union_decodes(union):
    codec = registered(named(union))
    assume(codec is not None)
    codec.decode(codec.example())


# --- round trip -----------------------------------------------------------------------------------


@settings(max_examples=2 * settings().max_examples)
@given(st.data(), members())
def test_what_is_encoded_decodes_to_the_same_or_says_why_not(data, union):
    classes = named(union)
    codec = registered(classes)
    assume(codec is not None)
    number = data.draw(st.sampled_from(range(len(union))))
    member = union[number]
    given_values = {
        key: data.draw(st.sampled_from(each.values))
        for key, each in member.fields.items()
        if each.default is NOTHING or data.draw(COIN)
    }
    try:
        instance = Codec(classes[number]).decode(given_values)
    except DecodeError:
        return
    alone = Codec(classes[number]).encode(instance)
    for each in (codec, codec.compile()):
        try:
            encoded = each.encode(instance)
        except EncodeError as error:
            assert judged(codec, union, alone) != [number]
            assert classes[number].__name__ in str(error) or "missing" in str(error)
            continue
        decoded = each.decode(encoded)
        assert decoded == instance
        assert type(decoded) is type(instance)


# --- leaves that convert --------------------------------------------------------------------------


class Whole(enum.IntEnum):
    ONE = 1


class Text(enum.StrEnum):
    ONE = "1"


class HasWhole(pydantic.BaseModel):
    v: int


class HasText(pydantic.BaseModel):
    v: str


class HasBefore(pydantic.BaseModel):
    v: Annotated[int, pydantic.BeforeValidator(lambda value: 1 if value == [1] else value)]


@dataclass
class Holds:
    v: HasWhole


CONVERTED: list[Any] = [
    *[Whole, Text, HasWhole, HasText, HasBefore, Holds, Literal[1], Literal["1"], Literal[True]],
    *[int, str, bool, float, list[int], dict[str, int], Optional[HasText], HasWhole | int],
]
"""Types of fields some of which take values that their schema doesn't have, as pydantic reads them."""
CONVERTIBLE = [1, "1", True, 1.0, [1], {"v": 1}, {"v": "1"}, {"v": [1]}, {"v": {"v": "1"}}, None, "x"]


def _converting(form: str, name: str, annotation: Any) -> Any:
    if form == "model":
        return pydantic.create_model(name, e=(annotation, ...), **{f"own_{name}": (int, 0)})
    return make_dataclass(name, [("e", annotation), (f"own_{name}", int, 0)])


@dataclass
class Third:
    """A member without the key of the others, so that it is no tag."""

    other: int


@pytest.mark.hypothesis
@pytest.mark.parametrize("forms", [("model", "model"), ("model", "class"), ("class", "class")])
def test_no_tier_and_no_order_chooses_among_leaves_that_convert(forms):
    own = {
        (form, i): _converting(form, f"{form}{i}", each) for form in forms for i, each in enumerate(CONVERTED)
    }
    pairs = [
        pair for pair in product(range(len(CONVERTED)), repeat=2) if forms[0] != forms[1] or pair[0] < pair[1]
    ]
    for one, other in share(pairs, 7):  # 17 types in a row: none is left out
        _agree([own[forms[0], one], own[forms[1], other], Third])


def _agree(classes: list[Any]) -> None:
    """Compare both tiers and two orders on all values, and on what each member writes."""
    codec, other = Codec(Union[tuple(classes)]), Codec(Union[tuple(reversed(classes))])
    codecs = [codec, codec.compile(), other.compile()]
    alone = {cls: Codec(cls) for cls in classes[:2]}
    for item in CONVERTIBLE:
        first, *rest = [_decoded(each, {"e": item}) for each in codecs]
        assert all(each == first for each in rest), (classes, item, first, rest)
        for cls in classes[:2]:
            made = _decoded(alone[cls], {"e": item})
            if made is None:
                continue
            first, *rest = [_encoded(each, made[1]) for each in codecs]
            assert all(each == first for each in rest), (made, first, rest)
            assert first is None or _decoded(codec, first) == made, (made, first)


def _decoded(codec: Codec[Any], value: Any) -> Any:
    try:
        made = codec.decode(value)
    except DecodeError:
        return None
    return type(made), made


def _encoded(codec: Codec[Any], value: Any) -> Any:
    try:
        return codec.encode(value)
    except EncodeError:
        return None
