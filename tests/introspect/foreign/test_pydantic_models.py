"""pydantic models: leaves with their own schema, validator and serializer, told apart from other types."""

from __future__ import annotations

import gc
import json
import sys
import warnings
import weakref
from collections.abc import Callable  # pydantic reads it
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

import pytest
from jsonschema import Draft202012Validator
from libraries import library

from operator_schema import (
    Codec,
    DecodeError,
    EncodeError,
    Executor,
    Finding,
    RawCall,
    SchemaError,
    SchemaLeaf,
    json_schema,
    tool,
)

pydantic = library("pydantic")

Field = pydantic.Field
T = TypeVar("T")


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int = Field(9, ge=1, le=9)


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    name: str = Field(min_length=2, alias="petName")


class User(pydantic.BaseModel):
    """Who it is for."""

    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]]
    since: datetime
    mail: str = Field(pattern="@")

    @pydantic.field_validator("mail")
    @classmethod
    def _not_spam(cls, mail: str) -> str:
        if "spam" in mail:
            message = "it is spam"
            raise ValueError(message)
        return mail


class Tree(pydantic.BaseModel):
    children: list[Tree] = []


class Page(pydantic.BaseModel, Generic[T]):
    items: list[T]


class Names(pydantic.RootModel[list[str]]):
    pass


class Strict(pydantic.BaseModel, strict=True, extra="forbid"):
    when: datetime
    count: int


@dataclass
class Team:
    users: list[User]
    best: User | None = None
    tree: Tree | str = "none"


@dataclass
class Undecorated:
    part: Cat


USER = {"pets": [{"kind": "dog", "petName": "Rex"}], "since": "2026-01-31T09:30:00Z", "mail": "a@b"}


def test_its_schema_is_its_own_with_the_definitions_at_the_root() -> None:
    document = json_schema(Team)
    Draft202012Validator.check_schema(document)
    assert sorted(document["$defs"]) == ["Cat", "Dog", "Tree"]
    users = document["properties"]["users"]["items"]
    own = User.model_json_schema()
    own.pop("$defs")
    assert users == own
    check = Draft202012Validator(document)
    assert check.is_valid({"users": [USER], "tree": {"children": [{}]}})
    assert not check.is_valid({"users": [{**USER, "pets": [{"kind": "dog"}]}]})
    assert not check.is_valid({"users": [], "tree": {"children": [3]}})


@pytest.mark.parametrize("calls", [1, 300])
def test_it_is_validated_and_dumped_by_pydantic_in_both_tiers(calls: int) -> None:
    codec = Codec(Team)
    for _ in range(calls):
        value = codec.decode({"users": [USER], "best": USER, "tree": {"children": [{}]}})
        assert value.users == [User.model_validate(USER)]
        assert value.best == value.users[0]
        assert value.tree == Tree(children=[Tree()])
        written = codec.encode(value)
        assert written == {"users": [USER], "best": USER, "tree": {"children": [{"children": []}]}}
        assert codec.decode(written) == value
        assert codec.decode({"users": []}).tree == "none"


@pytest.mark.parametrize("calls", [1, 300])
def test_each_error_of_pydantic_is_a_problem_with_its_whole_path(calls: int) -> None:
    codec = Codec(Team)
    wrong = {
        "pets": [
            {"kind": "cat", "lives": 10},
            {"kind": "dog"},
            {"kind": "cow"},
            {"kind": "dog", "petName": "x"},
        ],
        "since": 3.5,
        "mail": "spam@b",
    }
    for _ in range(calls):
        with pytest.raises(DecodeError) as caught:
            codec.decode({"users": [USER, wrong]})
        found = {problem.path[2:]: problem.code for problem in caught.value.findings}
        assert all(problem.path[:2] == ("users", 1) for problem in caught.value.findings)
        assert found == {
            ("pets", 0, "lives"): "out_of_range",
            ("pets", 1, "petName"): "missing",
            ("pets", 2): "no_match",
            ("pets", 3, "petName"): "bad_length",
            ("mail",): "rejected",
        }
    assert "users[1].pets[1].petName: missing (required)" in str(caught.value)


@pytest.mark.parametrize(
    ("annotation", "value", "path", "code"),
    [
        (Strict, {"when": "2026-01-31T09:30:00Z", "count": "3"}, ("count",), "wrong_type"),
        (Strict, {"when": "soon", "count": 3}, ("when",), "bad_format"),
        (Strict, {"when": "2026-01-31T09:30:00Z", "count": 3, "x": 1}, ("x",), "unknown"),
        (Tree, {"children": 3}, ("children",), "wrong_type"),
        (Cat, {"kind": "cow"}, ("kind",), "not_one_of"),
        (User, {**USER, "mail": "b"}, ("mail",), "bad_format"),
        (Tree, [], (), "wrong_type"),
        (Names, [1], (0,), "wrong_type"),
        (Cat, {"kind": "cat", "lives": "many"}, ("lives",), "wrong_type"),
        (Cat, {"kind": "cat", "lives": float("nan")}, (), "bad_format"),
    ],
)
def test_pydantics_errors_have_codes_of_ours(
    annotation: Any, value: Any, path: tuple[Any, ...], code: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        Codec(annotation).decode(value)
    assert [(problem.path, problem.code) for problem in caught.value.findings] == [(path, code)]


def test_strict_models_read_json_as_pydantic_does() -> None:
    assert Codec(Strict).decode({"when": "2026-01-31T09:30:00Z", "count": 3}).count == 3


def test_generic_and_root_models_work() -> None:
    page: Codec[Any] = Codec(Page[Cat])
    assert page.decode({"items": [{"kind": "cat"}]}) == Page[Cat](items=[Cat(kind="cat")])
    assert json_schema(dict[str, Names])["additionalProperties"]["type"] == "array"
    assert Codec(Names | dict[str, int]).decode(["a"]) == Names(["a"])
    assert Codec(Names | dict[str, int]).decode({"a": 1}) == {"a": 1}


def test_a_model_and_a_map_in_one_union_are_refused() -> None:
    with pytest.raises(SchemaError, match="can't be told apart by their JSON"):
        json_schema(Cat | dict[str, int])


def test_a_tool_takes_and_returns_models() -> None:
    @tool
    def adopt(user: User, cat: Cat | None = None) -> User:
        """Adopt."""
        return user.model_copy(update={"pets": [cat] if cat else user.pets})

    schema = adopt.input_schema()
    Draft202012Validator.check_schema(schema)
    assert schema["required"] == ["user"]
    assert schema["properties"]["user"]["description"] == "Who it is for."
    output = adopt.output_schema()
    assert output is not None
    Draft202012Validator.check_schema(output)
    text = adopt.run({"user": USER, "cat": {"kind": "cat"}})
    assert '"pets":[{"kind":"cat","lives":9}]' in text


def test_an_example_is_valid_for_the_model() -> None:
    with pytest.raises(DecodeError) as caught:
        Codec(Team).decode({"users": 3})
    example = caught.value.example()
    assert Codec(Team).decode(example) is not None
    codec = Codec(tuple[Strict, Tree, Cat, Names])
    with pytest.raises(DecodeError) as caught:
        codec.decode(3)
    assert codec.decode(caught.value.example())[2] == Cat(kind="cat")


class Never(pydantic.BaseModel):
    text: str = Field(pattern="^only this$")
    loop: Never


class Rest(pydantic.BaseModel):
    flag: bool
    nothing: None
    share: float = Field(gt=0)
    tags: list[str] = Field(min_length=1)
    kind: Literal["a", "b"]
    either: int | str
    example: str = Field(examples=["this"], pattern="^this$")
    anything: Any


def test_an_example_covers_what_models_are_made_of() -> None:
    codec = Codec(tuple[Rest, int])
    with pytest.raises(DecodeError) as caught:
        codec.decode(3)
    assert codec.decode(caught.value.example())[0].example == "this"


def test_a_model_without_a_small_value_has_no_example() -> None:
    with pytest.raises(DecodeError) as caught:
        Codec(list[Never]).decode([3])
    assert "expected object" in str(caught.value)


def test_a_model_of_pydantic_1_is_refused_by_name() -> None:
    class Old:
        __fields__: dict[str, Any] = {}  # as pydantic 1 has it

        @classmethod
        def parse_obj(cls, value: object) -> object:
            return value

    with pytest.raises(SchemaError, match="Old can't be used: it is a model of pydantic 1"):
        json_schema(Old)


class Functional(pydantic.BaseModel):
    call: type


def test_a_model_without_json_schema_is_refused_with_pydantics_reason() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(
            SchemaError, match=r"Functional can't be read: .* raised PydanticInvalidForJsonSchema"
        ):
            json_schema(Functional)


class Unfinished(pydantic.BaseModel):
    part: Nowhere  # type: ignore[name-defined]  # noqa: F821  # on purpose


def test_a_model_that_is_not_fully_defined_is_refused_in_one_line() -> None:
    with pytest.raises(SchemaError) as caught:
        json_schema(Unfinished)
    (complaint,) = caught.value.findings
    assert complaint.message.endswith("you should define `Nowhere`, then call `Unfinished.model_rebuild()`.")


def test_an_alternation_of_types_is_known_where_the_schema_says_it() -> None:
    class Either(pydantic.RootModel[int | str]):
        pass

    class Whatever(pydantic.RootModel[Any]):
        pass

    assert json_schema(Either)["type"] == ["integer", "string"]
    assert Codec(Either).decode("a") == Either("a")
    assert Codec(Whatever).decode([1]) == Whatever([1])
    assert Codec(Either | list[int]).decode([1]) == [1]


class Own(pydantic.BaseModel):
    @classmethod
    def model_validate_json(cls, *_: Any, **__: Any) -> Own:
        message = "not today"
        raise ValueError(message)


def test_what_a_models_own_reader_raises_is_a_problem_of_the_whole() -> None:
    with pytest.raises(DecodeError, match="not today") as caught:
        Codec(list[Own]).decode([{}])
    assert [problem.path for problem in caught.value.findings] == [(0,)]


def test_a_leaf_may_report_problems_with_paths_of_its_own() -> None:
    class Pair:
        pass

    def refuse(value: Any) -> Pair:
        if value == {}:
            return Pair()
        raise DecodeError("Pair", [Finding(("x",), "rejected", "odd"), Finding((), "rejected", "odd too")])

    leaf = SchemaLeaf(Pair, {"type": "object"}, refuse, lambda _: {}, Pair())
    with pytest.raises(DecodeError) as caught:
        Codec(dict[str, list[Pair]], leaves=[leaf]).decode({"a": [{}, {"x": 1}]})
    assert [problem.path for problem in caught.value.findings] == [("a", 1, "x"), ("a", 1)]


class Renamed(pydantic.BaseModel):
    size: int = pydantic.Field(validation_alias="in_size", serialization_alias="out_size")


class Holder(pydantic.BaseModel):
    inner: Renamed


class Computed(pydantic.BaseModel):
    size: int = pydantic.Field(alias="theSize")

    @pydantic.computed_field  # type: ignore[prop-decorator]  # as pydantic's documentation has it
    @property
    def double(self) -> int:
        return 2 * self.size


@pytest.mark.parametrize("model", [Renamed, Holder])
def test_a_model_may_read_another_key_than_it_writes(model: Any) -> None:
    value, written = {"in_size": 3}, {"out_size": 3}
    if model is Holder:
        value, written = {"inner": value}, {"inner": written}

    @tool
    def same(given: model) -> model:
        return given

    assert "in_size" in str(same.input_schema())
    assert "out_size" in str(same.output_schema())
    assert "out_size" not in str(same.input_schema())
    assert json.loads(same.run({"given": value})) == written
    Draft202012Validator(same.output_schema()).validate(written)
    with pytest.raises(
        EncodeError, match='it writes the key "out_size", but reads the value from another one'
    ):
        Codec(model).encode(model.model_validate(value))


class Optional(pydantic.BaseModel):
    size: int = Field(5, validation_alias="in_size")


class Counting(pydantic.BaseModel):
    size: int

    @pydantic.field_validator("size")
    @classmethod
    def _more(cls, size: int) -> int:
        return size + 1


def test_what_would_be_read_as_another_value_is_not_written() -> None:
    """The key that is lost is optional, so that the model reads what it wrote without a complaint."""
    with pytest.raises(EncodeError, match='it writes the key "size", but reads the value from another one'):
        Codec(Optional).encode(Optional(in_size=7))
    with pytest.raises(EncodeError, match="what it writes would be read back as another value"):
        Codec(Counting).encode(Counting(size=7))
    assert Codec(set_of_names).encode(set_of_names(names={"a", "b", "c"}))


class set_of_names(pydantic.BaseModel):  # noqa: N801  # names of classes are free
    names: set[str]


class Unwritable(pydantic.BaseModel):
    size: int

    @pydantic.computed_field  # type: ignore[prop-decorator]  # as pydantic's documentation has it
    @property
    def later(self) -> Callable[[int], int]:
        return lambda more: self.size + more


def test_a_parameter_needs_no_schema_for_writing() -> None:
    codec = Codec(Unwritable)
    assert codec.decode({"size": 1}).size == 1
    assert codec.encode(Unwritable(size=1)) == {"size": 1}
    assert codec.json_schema()["required"] == ["size"]


def test_the_result_of_a_tool_has_computed_fields() -> None:
    @tool
    def make(size: int) -> list[Computed]:
        return [Computed(theSize=size)]

    output = make.output_schema()
    assert json.loads(make.run({"size": 2})) == [{"theSize": 2, "double": 4}]
    Draft202012Validator(output).validate([{"theSize": 2, "double": 4}])
    assert not Draft202012Validator(output).is_valid([{"theSize": 2}])

    @tool
    def spoil() -> Computed:
        changed = Computed(theSize=2)
        changed.size = "xx"  # type: ignore[assignment]  # wrong on purpose
        return changed

    result = Executor([spoil]).run_sync(RawCall("1", "spoil", "{}"))
    assert result.json == {"theSize": "xx", "double": "xxxx"}
    assert result.details is not None
    assert "size" in str(result.details["mismatches"])


class Closed(Computed, extra="forbid"):
    pass


@pytest.mark.parametrize("model", [Computed, Closed])
@pytest.mark.parametrize("calls", [1, 300])
def test_a_computed_field_is_not_written_because_it_cannot_be_read(model: Any, calls: int) -> None:
    codec: Codec[Any] = Codec(list[model])
    for _ in range(calls):
        value = codec.decode([{"theSize": 2}])
        assert codec.encode(value) == [{"theSize": 2}]
        assert codec.decode(codec.encode(value)) == value


def test_a_model_that_is_rebuilt_is_read_anew_by_the_next_codec() -> None:
    class Growing(pydantic.BaseModel):
        size: int

    assert list(Codec(Growing).json_schema()["properties"]) == ["size"]
    Growing.model_fields["size"].description = "How big"
    Growing.model_rebuild(force=True)
    assert Codec(Growing).json_schema()["properties"]["size"]["description"] == "How big"


def test_a_model_is_let_go_with_its_codec() -> None:
    class Short(pydantic.BaseModel):
        size: int

    codec = Codec(Short)
    assert codec.decode({"size": 1}) == Short(size=1)
    known = weakref.ref(Short)
    del Short, codec
    gc.collect()
    assert known() is None


def test_graphs_of_the_same_model_are_equal() -> None:
    assert Codec(list[Computed]).graph == Codec(list[Computed]).graph


def test_no_class_is_a_model_where_pydantic_is_not_loaded(monkeypatch):
    monkeypatch.delitem(sys.modules, "pydantic")
    with pytest.raises(SchemaError, match="Cat"):
        Codec(Undecorated)


def test_the_example_of_a_model_has_small_values_that_fit():
    class Order(pydantic.BaseModel):
        number: int = Field(gt=5, lt=7)
        seats: int | None
        note: Any = Field(json_schema_extra={"type": ["integer", "null"]})

    assert Codec(Order).example() == {"number": 6, "seats": 0, "note": 0}


class Count(pydantic.BaseModel):
    number: float
    count: int


class StrictCount(Count):
    model_config = pydantic.ConfigDict(strict=True)


@pytest.mark.parametrize("model", [Count, StrictCount])
@pytest.mark.parametrize("value", [1, 1.0, 6.5, "1", "x", True, None, [], {}, 10**20, -0.0])
def test_a_model_reads_more_or_less_than_its_schema_only_as_the_page_says(model, value) -> None:
    codec = Codec(model)
    validator = Draft202012Validator(codec.json_schema())
    for given in ({"number": value, "count": 1}, {"number": 1, "count": value}):
        is_read, is_valid = not codec.report(given), validator.is_valid(given)
        is_lax = model is Count and (value is True or value == "1")
        is_whole_float = model is StrictCount and isinstance(value, float) and given["count"] is value
        if is_read != is_valid:
            assert is_lax if is_read else is_whole_float
