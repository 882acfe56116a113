"""What is wrong with tools for a model, and for the providers that get them."""

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge
from tagged_classes import Delete, Keep

from operator_schema import Codec, Registry, Toolset, tool, tool_input
from operator_schema.engine import places_of
from operator_schema.json_values import to_json_text
from operator_schema.providers import anthropic, gemini, gemini_parameters, mistral, openai_chat
from operator_schema.tools import NO_OUTPUT, document_tool, tool_of_document
from operator_schema.workbench.lint import lint, lint_type
from operator_schema.workbench.lint.checks import CODEC_CHECKS, SET_CHECKS, TOOL_CHECKS


@tool
def good(city: str, days: int = 1) -> str:
    """Get the forecast of a city.

    Args:
        city: Its name, in English.
        days: How many days to look ahead.
    """
    return f"{city} {days}"


def codes(*tools, providers=(), strict=False):
    return [
        (finding.code, finding.tool, ".".join(finding.path))
        for finding in lint(tools, providers, strict=strict)
    ]


def test_nothing_is_wrong_with_a_good_tool():
    assert codes(good) == []
    assert lint(Registry([good])) == lint(Toolset(good)) == []
    assert codes(good, providers=[anthropic]) == []


def test_a_tool_without_a_docstring():
    @tool
    def run(code: Annotated[str, "What to run."]) -> str:
        return code

    assert codes(run) == [("no_description", "run", "")]


def test_a_description_that_repeats_the_name():
    @tool
    def send_mail() -> str:
        """Send mail."""
        return ""

    assert codes(send_mail) == [("description_repeats_name", "send_mail", "")]


def test_parameters_and_fields_without_a_description():
    @dataclass
    class Row:
        text: str
        note: Annotated[str, "What to add."] = ""

    @tool
    def save(rows: list[Row], either: Annotated[int, "A number."] | str) -> str:
        """Save some rows of text.

        Args:
            rows: What to save.
        """
        return f"{rows} {either}"

    assert codes(save) == [("undescribed", "save", "rows.*.text"), ("description_in_union", "save", "either")]


def test_values_of_any_type_and_enums_of_numbers():
    class Color(Enum):
        RED = 1
        BLUE = 2

    @tool
    def paint(color: Color, extra: dict[str, Any]) -> str:
        """Paint the house.

        Args:
            color: Of the walls.
            extra: Whatever else.
        """
        return f"{color} {extra}"

    assert codes(paint) == [("any_value", "paint", "extra.*"), ("numbered_choices", "paint", "color")]


def test_too_many_choices():
    choice = Literal[tuple(f"country {number}" for number in range(101))]

    @tool
    def visit(country: Annotated[choice, "Where to."], other: Annotated[Literal["a", "b"], "What."]) -> str:
        """Visit a country once."""
        return f"{country} {other}"

    assert codes(visit) == [("many_choices", "visit", "country")]


def test_deep_arguments():
    @tool
    def nest(values: list[list[list[list[list[int]]]]]) -> str:
        """Take nested lists of numbers.

        Args:
            values: The numbers.
        """
        return str(values)

    assert codes(nest) == [("deep", "nest", "values.*.*.*.*.*")]


def test_a_large_definition():
    long = tool_input(Note, name="note", description="x" * 9000)
    assert ("large_definition", "note", "") in codes(long)


def test_the_size_of_a_definition_is_counted_in_bytes():
    def sized(length):
        made = tool_input(Note, name="note", description="x" * length)
        return len(to_json_text(made.definition())), [code for code, _, _ in codes(made)]

    least = sized(1)[0]
    assert sized(8_001 - least) == (8_000, ["long_description"])
    assert sized(8_002 - least) == (8_001, ["large_definition", "long_description"])


def test_errors_come_first_and_notes_last():
    @tool
    def bare(place: Annotated[int, Ge(1)], labels: dict[str, int]) -> str:
        return f"{place} {labels}"

    found = [finding.severity for finding in lint([bare], [gemini_parameters, anthropic], strict=True)]
    assert found == sorted(found, key=["error", "warning", "note"].index)
    assert set(found) == {"error", "warning", "note"}


@dataclass
class Note:
    """A note."""

    text: Annotated[str, "What to write."]


def test_two_tools_with_the_same_first_sentence():
    @tool
    def direct() -> str:
        """Search for flights. Direct ones alone."""
        return ""

    @tool
    def onestop() -> str:
        """Search  for flights. Those with one stop."""
        return ""

    (finding,) = lint([direct, onestop])  # and not once more that it seems to do the same
    assert (finding.code, finding.tool) == ("same_first_sentence", "onestop")
    assert finding.message == 'its first sentence is the same as that of "direct"'


def test_too_many_tools():
    many = [good.with_(name=f"tool_{number}", description=f"Get number {number}.") for number in range(41)]
    assert codes(*many) == [("many_tools", "", "")]
    assert codes(*many[:40]) == []


def test_a_recursive_type_ends():
    found = lint([tool_input(Tree, name="tree", description="Plant a tree.")])
    assert [(finding.code, finding.path) for finding in found] == [("undescribed", ("below",))]


@dataclass
class Tree:
    """A tree."""

    below: "list[Tree]" = field(default_factory=list)


# --- providers ---------------------------------------------------------------------------------------


@tool(name="3d_render")
def render(sizes: dict[str, int], pages: Annotated[int, "How many."] = 1) -> str:
    """Render a file.

    Args:
        sizes: Width and height.
    """
    return f"{sizes} {pages}"


def test_what_a_provider_refuses_is_an_error():
    (finding, *_) = lint([good, render], [openai_chat], strict=True)
    assert (finding.severity, finding.code, finding.tool, finding.path) == (
        "error",
        "refused",
        "3d_render",
        ("sizes",),
    )
    assert finding.provider == "OpenAI Chat Completions"
    assert (
        finding.message
        == "it is an object with free keys, which the strict mode of OpenAI Chat Completions doesn't take"
    )
    assert finding.remedy.startswith("Write a list of a dataclass")


def test_what_a_provider_gets_in_another_way():
    found = lint([render], [gemini_parameters, gemini])
    assert [(one.severity, one.code, one.path, one.provider) for one in found] == [
        ("warning", "renamed", (), "Gemini with parameters"),
        ("warning", "weakened", ("sizes",), "Gemini with parameters"),
        ("warning", "renamed", (), "Gemini"),
        ("note", "described", ("pages",), "Gemini with parameters"),
    ]


def test_a_request_that_is_too_large():
    many = [good.with_(name=f"tool_{number}", description=f"Get number {number}.") for number in range(21)]
    found = lint(many, [anthropic], strict=True)
    assert [(one.code, one.tool, one.message) for one in found if one.severity == "error"] == [
        ("refused", "", "there are 21 strict tools, but a request takes only 20")
    ]


def test_a_provider_without_a_strict_mode_is_told():
    (finding,) = [one for one in lint([good], [openai_chat, mistral], strict=True) if one.severity != "note"]
    assert (finding.severity, finding.code, finding.provider) == ("warning", "no_strict_mode", "Mistral")
    assert finding.message == "no strict mode of Mistral is known, so the tools were checked without it"
    assert lint([good], [mistral]) == []


def test_where_strictness_is_left_to_the_provider_notes_say_what_isnt_strict():
    found = lint([good, render], [openai_chat, mistral], strict="auto")
    assert [(one.code, one.tool, one.path, one.provider) for one in found if one.code == "not_strict"] == [
        ("not_strict", "3d_render", ("sizes",), "OpenAI Chat Completions"),
        ("not_strict", "good", (), "Mistral"),
        ("not_strict", "3d_render", (), "Mistral"),
    ]
    assert {one.severity for one in found} == {"note"}
    first, second, _ = [one.message for one in found if one.code == "not_strict"]
    assert first.startswith(
        "without strict for OpenAI Chat Completions: it is an object with free keys, which "
    )
    assert second == "without strict for Mistral: no strict mode of Mistral is known"
    with pytest.raises(TypeError, match='strict must be True, False or "auto", not string "yes"'):
        lint([good], [openai_chat], strict="yes")


def test_a_finding_says_where_the_tool_is():
    @tool
    def run() -> str:
        return ""

    (finding,) = lint([run])
    assert finding.where == f"{__file__}:{run.__wrapped__.__code__.co_firstlineno}"
    (of_class,) = lint([tool_input(Tree, name="tree", description="Plant it.")])
    assert of_class.where.rpartition(":")[0] == __file__
    assert int(of_class.where.rpartition(":")[2])
    assert (finding.as_dict()["path"], finding.as_dict()["where"]) == ("", finding.where)


def test_what_is_no_tool_or_provider_is_refused():
    with pytest.raises(TypeError):
        lint([print])
    with pytest.raises(TypeError, match=r"expected a list of tools, not the tool good alone: write \[good\]"):
        lint(good)
    for wrong in (anthropic, [None]):
        with pytest.raises(
            TypeError, match=r"providers must be a list of providers, such as \[openai_chat\], not"
        ):
            lint([good], wrong)


def test_two_tools_of_one_name_have_their_own_places():
    def first(value: str) -> str:
        """Do one thing."""
        return value

    def second(value: str) -> str:
        """Do the other."""
        return value

    findings = lint([tool(first, name="do_it"), tool(second, name="do_it")])
    lines = [int((finding.where or "").rpartition(":")[2]) for finding in findings]
    assert [code for code, *_ in codes(tool(first, name="do_it"))] == ["undescribed"]
    assert lines[1] - lines[0] == 4


def test_a_type_of_its_own_may_lack_descriptions():
    @dataclass
    class Note:
        text: str
        about: Any

    assert [(found.code, found.path) for found in lint_type(Codec(Note))] == [("any_value", ("about",))]


def run(**arguments: Any) -> str:
    return str(arguments)


def described(properties, description="Do it well, if it can be done.", **options):
    """Make a tool that a JSON Schema document describes."""
    schema = {"type": "object", "properties": properties}
    return document_tool(run, schema, **{"name": "do_it", "description": description, **options})


TEXT = {"type": "string", "description": "What it is about."}
FLAG = {"type": "boolean", "description": "What it does."}


@pytest.mark.parametrize(
    ("made", "code", "remedy"),
    [
        (described({}, ""), "no_description", "Write one: what it does"),
        (described({}, "Do it!", name="do_it"), "description_repeats_name", "Say what it does"),
        (described({"any": {"description": "What."}}), "any_value", 'Write a "type"'),
        (described({"a": {"type": "string"}}), "undescribed", "Say what it is"),
        (
            described({"state": {**TEXT, "description": "One of 'open', 'closed'."}}),
            "choices_in_words",
            'List them in an "enum"',
        ),
        (described({"on": FLAG, "off": FLAG}), "opposite_flags", 'with an "enum"'),
        (described({"api_key": TEXT}), "secret", "Leave it out"),
        (
            described({"timeout": {"type": "number", "description": "How long."}}),
            "no_unit",
            "Say it in the name",
        ),
        (described({"start_date": TEXT}), "date_as_text", 'Write "format"'),
        (described({"filters_json": TEXT}), "json_in_text", "an object or an array"),
        (
            described({"account_id": {**TEXT, "description": "The account."}}),
            "description_repeats_name",
            "Say",
        ),
        (described({f"part_{n}": TEXT for n in range(16)}), "many_parameters", "Make several tools"),
        (described({}, "x" * 1_600), "long_description", "Shorten it; details can go to the parameters"),
        (described({}, name="delete_order"), "unmarked_deletion", '"destructiveHint": true'),
        (
            described({}, name="list_orders", output_schema={"type": "array"}),
            "unlimited_result",
            "such as limit",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_document_describes_is_judged_like_a_function(made, code, remedy):
    (finding,) = lint([made])
    assert finding.code == code
    assert remedy in (finding.remedy or "")
    assert not re.search("docstring|Literal|Annotated|@tool|datetime", f"{finding.message} {finding.remedy}")


def test_documents_that_say_it_have_nothing_wrong():
    properties = {
        "start_date": {**TEXT, "format": "date"},
        "state": {**TEXT, "enum": ["open", "closed"]},
        "timeout": {"type": "number", "description": "Seconds to wait."},
        "limit": {"type": "integer", "description": "How many at most."},
    }
    output = {"type": "array", "items": {"type": "string"}}
    assert lint([described(properties, name="search_orders", output_schema=output)]) == []
    assert lint([described({}, name="delete_order", destructive=True)]) == []


def test_each_check_has_its_test():
    checks = {*CODEC_CHECKS, *TOOL_CHECKS, *SET_CHECKS}
    assert len(checks) == 23


def test_each_place_is_there_once():
    @tool
    def plant(pair: tuple[Tree, int], other: Tree | None = None) -> str:
        """Plant two trees.

        Args:
            pair: A tree and its age.
            other: One more.
        """
        return f"{pair} {other}"

    paths = [".".join(place.path) for place in places_of(plant.codec.graph)]
    assert paths == ["", "pair", "pair.*", "pair.*", "other", "other.below", "other.below.*"]


@pytest.mark.parametrize(
    ("schema", "message", "suggestion"),
    [
        ({"type": "strng"}, '"strng" isn\'t a type', '"string"'),
        ({"type": ["null", "strng"]}, '"strng" isn\'t a type', '"string"'),
        ({"type": 3}, 'its "type" is integer 3', None),
        ({"$ref": "#/nope"}, 'its "$ref" "#/nope" leads nowhere', None),
    ],
    ids=["type", "types", "number", "reference"],
)
def test_a_mistake_in_a_schema_is_named_rather_than_that_the_type_is_missing(schema, message, suggestion):
    """A server of others may send it; where a developer writes it, `document_tool` refuses it."""
    document = described({"any": {"description": "What."}}).codec.json_schema()
    document["properties"]["any"] |= schema
    (found,) = lint([tool_of_document(run, document, NO_OUTPUT, name="do_it", description="Do it well.")])
    assert (found.code, found.severity, found.path) == ("unchecked", "warning", ("any",))
    assert (found.message, found.suggestion) == (message, suggestion)


def test_a_reference_to_another_document_may_lead_somewhere():
    reference = {"$ref": "https://example.com/x.json", "description": "What."}
    assert [found.code for found in lint([described({"any": reference})])] == ["any_value"]


@dataclass
class Archive:
    path: str
    zip: bool = False


@dataclass
class Remove:
    path: str
    force: bool = False


@dataclass
class Measured:
    size: int


@dataclass
class Described:
    size: str


@pytest.mark.parametrize(
    ("annotation", "pairs"),
    [
        (Remove | Archive, ["Archive and Remove"]),
        (list[Archive | Remove | None], ["Archive and Remove"]),
        (Archive | Remove | Keep, ["Archive and Keep", "Archive and Remove", "Keep and Remove"]),
        (Keep | Delete, []),
        (Keep | Delete | Measured, []),
        (Measured | Described | Archive, []),
        (Archive | str, []),
    ],
)
def test_members_that_the_same_object_may_fit(annotation, pairs):
    found = [finding for finding in lint_type(Codec(annotation)) if finding.code == "overlapping_members"]
    assert sorted(finding.message for finding in found) == [
        f"an object may fit both {pair}, and is refused then" for pair in pairs
    ]
    assert all("Give each a tag" in finding.remedy for finding in found)
