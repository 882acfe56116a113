"""Tags of unions: required for members, and nowhere else."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict, Union

import pytest
from libraries import library
from tagged_classes import Delete, Keep
from typing_extensions import TypeAliasType

from operator_schema import Codec, DecodeError, EncodeError, SchemaError
from operator_schema.codec.codec import ResultCodec

pydantic = library("pydantic")


@dataclass
class Holder:
    what: Keep | Delete = Keep("z")  # noqa: RUF009  # it is frozen
    alone: Keep | None = None


@dataclass
class Num:
    value: int
    op: Literal["num"] = "num"


@dataclass
class Add:
    left: Expr
    right: Expr | None = None
    more: list[Expr | None] = field(default_factory=list)
    op: Literal["add"] = "add"


Expr = TypeAliasType("Expr", "Num | Add")


@dataclass
class Tree:
    """A tree."""

    leaves: list[Keep | Tree] = field(default_factory=list)
    kind: Literal["tree"] = "tree"


@dataclass
class Twofold:
    alone: Twofold | None = None
    steps: list[Keep | Twofold] = field(default_factory=list)
    others: dict[str, Twofold | Keep] = field(default_factory=dict)
    kind: Literal["twofold"] = "twofold"


@dataclass
class Link:
    to: Folder
    next: Link | None = None
    kind: Literal["link"] = "link"


@dataclass
class Folder:
    entries: list[Link | Folder] = field(default_factory=list)
    last: Link | None = None
    kind: Literal["folder"] = "folder"


@dataclass
class Black:
    kind: Literal["cat"] = "cat"
    color: Literal["black"] = "black"


@dataclass
class White:
    kind: Literal["cat"] = "cat"
    color: Literal["white"] = "white"


@dataclass
class Lizard:
    kind: Literal["lizard"] = "lizard"


class Node(pydantic.BaseModel):
    inner: list[Node] = []
    kind: Literal["node"] = "node"


class End(pydantic.BaseModel):
    size: int
    kind: Literal["end"] = "end"


def found(annotation: Any, value: Any, **options: Any) -> list[tuple[Any, str]]:
    """The problems of a value, which are the same in both tiers."""
    codec = Codec(annotation, **options)
    problems = codec.report(value)
    if problems:
        with pytest.raises(DecodeError) as caught:
            codec.compile().decode(value)
        assert caught.value.findings == problems
    return [(problem.path, problem.code) for problem in problems]


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("bare", [{"path": "/"}, {"path": "/", "type": "keep"}, {"path": "/", "kind": None}])
def test_nothing_makes_up_for_a_missing_tag(bare, repair):
    for annotation, around, path in [
        (Keep | Delete, lambda value: value, ()),
        (list[Delete | Keep], lambda value: [value], (0,)),
        (dict[str, Keep | Delete | None], lambda value: {"k": value}, ("k",)),
        (Holder, lambda value: {"what": value}, ("what",)),
    ]:
        [(where, _)] = found(annotation, around(bare), repair=repair)
        assert where == (*path, "kind")


def test_a_class_alone_keeps_its_default_and_a_default_is_written_with_its_tag():
    schema = Codec(Holder).json_schema()
    assert [each["required"] for each in schema["properties"]["what"]["anyOf"]] == [["path", "kind"]] * 2
    assert schema["properties"]["what"]["default"] == {"path": "z", "kind": "keep"}
    assert schema["properties"]["alone"]["required"] == ["path"]
    assert Codec(Holder).decode({"alone": {"path": "/"}}) == Holder(Keep("z"), Keep("/"))


def test_members_in_a_tuple_and_under_several_descriptions():
    first, second = Annotated[Keep, "The first."], Annotated[Keep, "The second."]
    codec = Codec(tuple[Union[first, Delete], Union[second, Delete], int])
    items = codec.json_schema()["prefixItems"]
    assert [each["required"] for item in items[:2] for each in item["anyOf"]] == [["path", "kind"]] * 4
    assert found(codec.type, [{"path": "a", "kind": "keep"}, {"path": "b"}, 1]) == [((1, "kind"), "missing")]


def test_a_recursive_class_that_is_alone_and_a_member_has_two_definitions():
    schema = Codec(Twofold).json_schema()
    alone, member = schema["$defs"].values()
    assert "required" not in alone
    assert member["required"] == ["kind"]
    assert all(name.endswith(("Twofold", "Twofold_with_kind")) for name in schema["$defs"])
    assert Codec(Twofold).decode({"alone": {}, "steps": [{"kind": "twofold"}]}) == Twofold(
        Twofold(), [Twofold()]
    )
    assert found(Twofold, {"alone": {}, "steps": [{}]}) == [(("steps", 0, "kind"), "missing")]


def test_classes_that_contain_each_other():
    codec = Codec(Folder)
    value = {"entries": [{"kind": "link", "to": {}}, {"kind": "folder"}], "last": {"to": {}}}
    decoded = codec.decode(value)
    assert decoded == Folder([Link(Folder()), Folder()], Link(Folder()))
    assert codec.decode(codec.encode(decoded)) == decoded
    assert found(Folder, {"entries": [{"to": {}}]}) == [(("entries", 0, "kind"), "missing")]


def test_a_described_union_inside_another_one_requires_the_tag_of_the_whole():
    described = Annotated[Union[Keep, Delete], "What to do."]
    codec = Codec(list[Union[described, Lizard, int]])
    assert codec.decode([1, {"kind": "lizard"}, {"kind": "keep", "path": "/"}]) == [1, Lizard(), Keep("/")]
    assert found(codec.type, [{"path": "/"}, {}]) == [((0, "kind"), "missing"), ((1, "kind"), "missing")]


def test_a_recursive_alias_has_one_definition():
    codec = Codec(Expr)
    schema = codec.json_schema()
    assert list(schema["$defs"]) == ["Expr"]
    assert [each["required"] for each in schema["$defs"]["Expr"]["anyOf"]] == [
        ["value", "op"],
        ["left", "op"],
    ]
    value = {"op": "add", "left": {"op": "num", "value": 1}, "more": [None, {"op": "num", "value": 2}]}
    assert codec.decode(value) == Add(Num(1), None, [None, Num(2)])
    assert found(Expr, {"op": "add", "left": {"value": 1}}) == [(("left", "op"), "missing")]
    assert pickle.loads(pickle.dumps(codec.graph)) == codec.graph


def test_a_recursive_class_in_a_described_place():
    schema = Codec(Annotated[Tree, "The whole."]).json_schema()
    assert schema["description"] == "The whole."
    assert schema["$defs"]["Tree"]["required"] == ["kind"]
    assert found(Tree, {"leaves": [{"leaves": []}]}) == [(("leaves", 0, "kind"), "missing")]


def test_an_alias_that_is_a_member_of_another_union_is_not_one_of_its_own():
    either = TypeAliasType("either", Union[Keep, str])
    codec = Codec(dict[str, Union[either, Delete]])
    assert codec.decode({"a": {"path": "/", "kind": "delete"}, "b": "c"}) == {"a": Delete("/"), "b": "c"}
    assert found(codec.type, {"a": {"path": "/"}}) == [(("a", "kind"), "missing")]
    assert Codec(either).decode({"path": "/"}) == Keep("/")


def test_all_discriminators_are_required_unless_one_is_named():
    @dataclass
    class One:
        kind: Literal["one"] = "one"
        mode: Literal["a"] = "a"

    @dataclass
    class Two:
        kind: Literal["two"] = "two"
        mode: Literal["b"] = "b"

    assert found(One | Two, {"kind": "one"}) == [(("mode",), "missing")]
    by_name = Annotated[Union[One, Two], pydantic.Field(discriminator="kind")]
    assert found(by_name, {"kind": "one"}) == []
    assert found(list[Optional[by_name]], [None, {"kind": "two"}, {"mode": "a"}]) == [
        ((2, "kind"), "missing")
    ]


def test_each_named_discriminator_counts_where_it_is_named():
    cats = Annotated[Union[Black, White], pydantic.Field(discriminator="color")]
    codec = Codec(Annotated[Union[cats, Lizard], pydantic.Field(discriminator="kind")])
    assert codec.decode({"kind": "cat", "color": "white"}) == White()
    assert codec.decode({"kind": "lizard"}) == Lizard()
    for value in ({}, {"kind": "cat"}, {"color": "white"}):
        assert codec.report(value)


def test_models_of_pydantic_require_them_too():
    codec = Codec(Node | End)
    assert [each["required"] for each in codec.json_schema()["anyOf"]] == [["kind"], ["size", "kind"]]
    assert codec.decode({"kind": "node", "inner": [{}]}) == Node(inner=[Node()])
    assert codec.decode(codec.example())
    assert found(Node | End, {"size": "x"}) == [(("kind",), "missing")]
    assert found(Node | End, {"kind": "end", "size": "x"}) == [(("size",), "wrong_type")]
    assert codec.report([])[0].code == "wrong_type"
    assert Codec(End).decode({"size": 1}) == End(size=1)


def test_a_leaf_that_lacks_its_tag_says_what_else_is_wrong():
    codec = Codec(Node | End)
    leaf = codec.graph.root.members[1].leaf
    with pytest.raises(DecodeError) as caught:
        leaf.decode({"size": "x"})
    assert [problem.path for problem in caught.value.findings] == [("kind",), ("size",)]
    with pytest.raises(DecodeError) as caught:
        leaf.decode({"size": 1})
    assert [problem.path for problem in caught.value.findings] == [("kind",)]
    with pytest.raises(DecodeError):
        leaf.decode(3)


class Loose(TypedDict):
    x: int
    kind: NotRequired[Literal["loose"]]


class Strict(TypedDict):
    y: int
    kind: Literal["strict"]


def test_keys_that_a_typed_dict_may_lack_are_required_for_reading_and_not_for_results():
    codec = Codec(Loose | Strict)
    assert found(Loose | Strict, {"x": 1}) == [(("kind",), "missing")]
    with pytest.raises(EncodeError):
        codec.encode({"x": 1})
    results = ResultCodec(Union[Loose, Strict])
    assert results.encode({"x": 1}) == {"x": 1}
    assert results.json_schema()["anyOf"][0]["required"] == ["x"]
    assert [each["required"] for each in ResultCodec(Keep | Delete).json_schema()["anyOf"]] == [
        ["path", "kind"],
        ["path", "kind"],
    ]


def test_the_default_of_a_tag_is_still_checked():
    @dataclass
    class Wrong:
        kind: Literal["a"] = "b"  # type: ignore[assignment]

    with pytest.raises(SchemaError, match="its default does not fit"):
        Codec(Wrong | Keep)


@dataclass
class Other:
    name: str


@dataclass
class Removal:
    path: str
    force: bool = False
    kind: Literal["delete"] = "delete"


@dataclass
class Circle:
    size: int
    shape: Literal["circle"] = "circle"


@dataclass
class Square:
    size: int
    round: int = 0
    shape: Literal["square"] = "square"


@dataclass
class Free:
    size: int
    kind: str = "free"


EITHER = TypeAliasType("EITHER", Union[Keep, Removal])
SHAPE = TypeAliasType("SHAPE", Union[Circle, Square])


@pytest.mark.parametrize(
    "union",
    [
        Union[Keep, Removal, Other],
        Union[Other, Removal, Keep],
        Union[EITHER, Other],
        Union[EITHER, SHAPE],
        Union[EITHER, Keep, Other],
        Union[EITHER, Free],
        Union[Union[EITHER, Other], int],
        Union[Annotated[Union[Keep, Removal], pydantic.Field(discriminator="kind")], Other],
    ],
)
def test_a_tag_that_some_members_have_is_required_in_those(union):
    codec = Codec(union)
    for each in (codec, codec.compile(), Codec(union, repair=True)):
        assert each.report({"path": "/", "force": True})[0].code in {"missing", "no_match"}
        assert each.report({"path": "/"})
        assert each.decode({"path": "/", "kind": "keep"}) == Keep("/")
        assert each.decode(each.encode(Removal("/"))) == Removal("/")


def test_a_text_is_no_tag():
    codec = Codec(Union[EITHER, Free])
    assert codec.decode({"size": 1}) == Free(1)


def test_an_inner_tag_that_is_named_is_the_only_one_among_those():
    @dataclass
    class One:
        kind: Literal["one"] = "one"
        mode: Literal["a"] = "a"

    @dataclass
    class Two:
        kind: Literal["two"] = "two"
        mode: Literal["b"] = "b"

    codec = Codec(Union[Annotated[Union[One, Two], pydantic.Field(discriminator="kind")], Other])
    assert codec.decode({"kind": "two"}) == Two()
    assert codec.report({"mode": "a"})


def test_a_tag_that_may_be_null_is_required_where_the_others_have_a_default():
    @dataclass
    class Null:
        path: str
        kind: Literal["null"] | None = None

    class Loose(TypedDict):
        path: str
        kind: NotRequired[Literal["loose"]]

    codec = Codec(Union[Null, Keep, Loose])
    assert codec.decode({"path": "/", "kind": None}) == Null("/")
    assert codec.decode({"path": "/", "kind": "loose"}) == {"path": "/", "kind": "loose"}
    assert codec.encode(Null("/")) == {"path": "/", "kind": None}
    assert codec.report({"path": "/"})


@pytest.mark.parametrize(
    ("members", "name", "wrong"),
    [
        (Union[Keep, Delete], "path", ["Delete", "Keep"]),
        (Union[Keep, Delete], "nothing", ["Delete", "Keep"]),
        (Union[Keep, Free], "kind", ["Free"]),
        (Union[Node, End], "size", ["End"]),
        (Union[Keep, Delete, None], "kind", []),
    ],
)
def test_a_discriminator_that_is_none_is_refused(members, name, wrong):
    annotation = Annotated[members, pydantic.Field(discriminator=name)]
    if not wrong:
        Codec(annotation)
        return
    with pytest.raises(SchemaError) as caught:
        Codec(annotation)
    assert sorted(finding.message for finding in caught.value.findings) == [
        f'the discriminator "{name}" isn\'t a Literal or an Enum in {each}' for each in wrong
    ]
