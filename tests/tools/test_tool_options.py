"""`tool`, `tool_input` and `with_` take the options of `Codec`; one parameter may stay one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from operator_schema import Codec, DecodeError, SchemaError, SchemaLeaf, tool, tool_input
from operator_schema.codec.codec import DEFAULTS
from operator_schema.tools import check_options_for_all


class Money:
    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and other.cents == self.cents

    __hash__ = None


MONEY = SchemaLeaf(Money, {"type": "integer"}, Money, lambda money: money.cents, Money(1))


@dataclass
class Place:
    """A place on the map."""

    x: int
    """Where it is."""
    y: int = 0


def pay(amount: Money, note: str = "") -> Money:
    """Pay."""
    return amount


def go(place: Place) -> str:
    """Go somewhere."""
    return f"{place.x}, {place.y}"


OPTIONS: dict[str, Any] = {
    "param_descriptions": {"x": "How far."},
    "unknown_fields": "reject",
    "repair": True,
    "leaves": [MONEY],
    "namespace": {"Unheard": int},
    "max_depth": 3,
    "attribute_docs": True,
    "json_loads": json.loads,
}


def test_these_are_all_options_of_a_codec():
    assert OPTIONS.keys() == DEFAULTS.keys() - {"name"}


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_of_a_codec_is_one_of_a_tool(option):
    given = {option: OPTIONS[option]}
    expected = Codec(Place, name="go", **given)
    for made in (tool(**given)(go), tool(go).with_(**given), tool_input(name="go", **given)(Place)):
        assert made.input_schema() == expected.json_schema()
        for arguments in ({"x": 1}, {"x": "1"}, {"x": 1, "z": 2}):
            assert _outcome(made.codec, arguments) == _outcome(expected, arguments)


def _outcome(codec, arguments):
    try:
        return codec.decode_json(json.dumps(arguments))
    except DecodeError as error:
        return error.findings


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("leaves", [1], "leaves must be SchemaLeaf values, not integer 1"),
        ("max_depth", 0, "max_depth must be an integer of at least 1"),
        ("attribute_docs", 1, "attribute_docs must be True or False"),
        ("json_loads", "orjson", "json_loads must be a function"),
        ("flatten", "no", 'flatten is "no", not True or False'),
        ("param_descriptions", {"z": "No field."}, 'describes "z"'),
    ],
)
def test_a_wrong_value_is_a_complaint(option, value, message):
    with pytest.raises(SchemaError) as caught:
        tool(**{option: value})(go)
    assert message in str(caught.value)


def test_unknown_options_name_the_nearest():
    with pytest.raises(TypeError, match=r"tool\(\) got an unexpected option 'leafs'; .* leaves"):
        tool(leafs=[MONEY])
    with pytest.raises(
        TypeError, match=r"tool\(\) got an unexpected option 'zzz'; it takes attribute_docs, "
    ):
        tool(zzz=1)
    with pytest.raises(TypeError, match=r"with_\(\) got an unexpected option 'flaten' for go"):
        tool(go).with_(flaten=False)
    with pytest.raises(TypeError, match=r"tool_input\(\) got an unexpected option 'skip'"):
        tool_input(skip=("x",))(Place)


@pytest.mark.parametrize(
    ("option", "remedy"),
    [
        ("func", r"the function comes first, without a name: tool\(function\)"),
        ("args_schema", r"document_tool\(function, schema\) takes one that is written already"),
        ("needs_approval", "write confirm=True"),
        ("strict", r"set it for a request: toolset.offer\(strict=True\)"),
        ("annotations", "each has an option of its own, such as read_only=True"),
    ],
)
def test_an_option_of_another_library_says_what_it_is_here(option, remedy):
    with pytest.raises(TypeError, match=f"unexpected option '{option}'; .*{remedy}$"):
        tool(**{option: go})


def test_leaves_count_for_arguments_and_results():
    made = tool(leaves=[MONEY])(pay)
    assert made.run({"amount": 5}) == "5"
    assert made.output_schema() == {"type": "integer"}
    with pytest.raises(SchemaError, match="Money"):
        tool(pay)


def test_a_leaf_for_the_only_parameter_keeps_it():
    leaf = SchemaLeaf(
        Place, {"type": "string"}, lambda text: Place(int(text)), lambda place: str(place.x), Place(1)
    )
    assert tool(leaves=[leaf])(go).run({"place": "7"}) == "7, 0"


def test_with_keeps_and_changes_options():
    made = tool(repair=True, param_descriptions={"x": "How far."})(go)
    changed = made.with_(unknown_fields="reject", param_descriptions={"y": "How high."})
    assert changed.run({"x": "3"}) == "3, 0"
    properties = changed.input_schema()["properties"]
    assert (properties["x"]["description"], properties["y"]["description"]) == ("How far.", "How high.")
    with pytest.raises(DecodeError, match="z: unknown"):
        changed.decode({"x": 1, "z": 1})
    assert changed.with_(repair=False).codec.decode({"x": 1}) == Place(1)
    with pytest.raises(DecodeError):
        changed.with_(repair=False).decode({"x": "3"})
    assert made.with_(leaves=[MONEY]).run({"x": 1}) == "1, 0"


CHANGES: dict[str, Any] = {
    **OPTIONS,
    "name": "walk",
    "summary": "Walk somewhere.",
    "description": "Walk.",
    "timeout": 5,
    "tags": ["slow"],
    "examples": [{"x": 1}],
    "enabled": False,
    "confirm": True,
    "max_content": 1000,
    "threads": False,
}


@pytest.mark.parametrize("option", CHANGES)
def test_copies_of_a_tool_are_equal_if_they_were_changed_alike(option):
    made = tool(go)
    one, other = made.with_(**{option: CHANGES[option]}), made.with_(**{option: CHANGES[option]})
    assert one == other
    assert hash(one) == hash(other)
    assert one != made
    assert made.with_() == made
    others = [made.with_(**{name: value}) for name, value in CHANGES.items() if name != option]
    assert [other for other in others if other == one] == []


def test_tools_whose_inputs_are_of_other_classes_are_not_equal():
    """The input of one isn't an input of the other."""
    assert tool(leaves=[MONEY])(pay) != tool(leaves=[MONEY])(pay)
    assert tool_input(name="go")(Place) != tool(go)
    assert tool(go) != "go"


def test_with_checks_examples_and_descriptions():
    made = tool(go).with_(examples=[{"x": 1}, Place(2)])
    assert made.examples == ({"x": 1}, {"x": 2, "y": 0})
    with pytest.raises(SchemaError, match="example 1 doesn't fit"):
        made.with_(examples=[{"x": "a"}])
    with pytest.raises(SchemaError, match='describes "z"'):
        made.with_(param_descriptions={"z": "No field."})


# --- the only parameter --------------------------------------------------------------------------


def test_the_only_parameter_may_stay_a_parameter():
    flat, kept = tool(go), tool(flatten=False)(go)
    assert flat.run({"x": 1}) == kept.run({"place": {"x": 1}}) == "1, 0"
    assert kept.input_schema()["required"] == ["place"]
    assert kept.input_type(Place(1)).place == Place(1)
    assert tool(flatten=True)(go).input_schema() == flat.input_schema()


def documented(place: Place) -> str:
    """Go somewhere. It takes a while.

    Args:
        place: Where to go.
    """
    return ""


def annotated(place: Annotated[Place, "Where to go."]) -> str:
    """Go somewhere. It takes a while."""
    return ""


class Doc:
    documentation = "Where to go."


def with_doc(place: Annotated[Place, Doc(), 3]) -> str:
    """Go somewhere. It takes a while."""
    return ""


@pytest.mark.parametrize("function", [documented, annotated, with_doc])
def test_what_is_written_about_it_follows_the_description(function):
    made = tool(function)
    assert made.description == "Go somewhere. It takes a while.\n\nWhere to go."
    assert made.summary == "Go somewhere."


def test_it_alone_describes_the_tool():
    def bare(place: Annotated[Place, "Where to go."]) -> str: ...

    assert tool(bare).description == "Where to go."


def test_options_for_many_tools_are_checked_before_there_are_any():
    check_options_for_all("my_tools", {"repair": True, "timeout": 5, "name": "one"})
    with pytest.raises(SchemaError) as caught:
        check_options_for_all("my_tools", {"repair": "yes", "timeout": -1})
    assert str(caught.value).startswith("my_tools: 2 complaints about the options\n")
    with pytest.raises(TypeError, match="unexpected option 'repairs' for my_tools; did you mean repair"):
        check_options_for_all("my_tools", {"repairs": True})
