"""Which facts about a tool does a model have to guess, or get wrong?

Each check is a function that yields findings. The tables at the end list them all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ...engine import (
    ADD_TAG,
    AnyNode,
    EnumNode,
    LeafNode,
    LiteralNode,
    ObjectNode,
    ScalarNode,
    UnionNode,
    guessed_unions,
    overlapping_names,
    places_of,
)
from ...findings import Finding
from ...json_values import to_json_text
from ...message_text import listed, quote
from ...similar_names import words_of
from ...tools import is_undescribed
from .words import (
    DATES,
    DELETING,
    LIMITS,
    LISTING,
    MEASURED,
    SECRETS,
    STAMPED,
    UNIT,
    are_opposite,
    choices_in,
    content_words,
    meaning,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ...engine import Codec, Node, ParameterPart
    from ...tools import Tool

MOST_CHOICES = 100
MOST_BYTES = 8_000
MOST_LEVELS = 5
MOST_TOOLS = 40
MOST_PARAMETERS = 15

MOST_CHARACTERS = 1_024
"""OpenAI's limit for the description of a tool."""


# --- one tool -------------------------------------------------------------------------------------


def no_docstring(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield a finding if a tool has no description of its own."""
    if not tool.summary or is_undescribed(tool):
        message = "it has no docstring, so a model knows only its name"
        yield _warning("no_description", (), message, "Write one: what it does, and when to use it")


def repeated_name(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield a finding if a description only repeats the name."""
    if _letters(tool.summary) == _letters(tool.name):
        message = f"its description only repeats its name: {quote(tool.summary)}"
        yield _warning("description_repeats_name", (), message, "Say what it does, and when to use it")


def large_definition(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield a finding if a definition is so large that each request becomes expensive."""
    size = len(to_json_text(tool.definition()).encode(errors="replace"))
    if size > MOST_BYTES:
        message = f"its definition has {size:,} bytes, which every request sends"
        remedy = "Shorten descriptions, or split the tool; examples and details can go to tool.documentation"
        yield _warning("large_definition", (), message, remedy)


def long_description(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield a finding if a description is too long for a model or for OpenAI."""
    size = len(tool.description)
    if size > MOST_CHARACTERS:
        message = f"its description has {size:,} characters, but OpenAI takes only {MOST_CHARACTERS:,}"
        remedy = "Shorten it; details can go to the parameters, or to tool.documentation"
        yield _warning("long_description", (), message, remedy)


def unmarked_deletion(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield a finding if a tool deletes something, but its hints don't say so."""
    hints = tool.annotations
    verb = (*words_of(tool.name), "")[0]
    if verb in DELETING and hints.destructive is None and hints.read_only is None:
        message = f"its name says that it may {verb} something, but its hints don't say so"
        remedy = "Write @tool(destructive=True), and confirm=True if a person has to agree"
        yield _warning("unmarked_deletion", (), message, remedy)


def unlimited_result(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield a finding if a tool returns a list of any length, and the model can't limit it."""
    root = tool.codec.graph.resolve_root()
    if LISTING.isdisjoint(words_of(tool.name)[:1]) or not isinstance(root, ObjectNode):
        return
    said = [word for field in root.fields for word in words_of(field.name)]
    if LIMITS.isdisjoint(said) and (tool.output_schema() or {}).get("type") == "array":
        message = "it returns a list of any length, and all of it goes into the history"
        remedy = "Take a parameter such as limit, with a default"
        yield _warning("unlimited_result", (), message, remedy)


# --- an input: its parameters, and their parts ----------------------------------------------------


def undescribed(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the fields without a description; if only a member of a union has one, say so."""
    for place in places_of(codec.graph):
        if place.field is None or place.field.description or place.node.description:
            continue
        if isinstance(place.node, UnionNode) and any(member.description for member in place.node.members):
            message = "only a member of its union has a description, which some providers move or drop"
            yield _warning_at(place, "description_in_union", message, "Describe the parameter itself")
        else:
            yield _warning_at(
                place, "undescribed", "it has no description", "Say what it is, and the unit of a number"
            )


def anything(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the places that take a value of any type."""
    for place in places_of(codec.graph):
        if isinstance(place.node, AnyNode):
            yield _warning_at(place, "any_value", "Any says nothing about the value", "Name the type")


def numbered_choices(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the enums whose numbers have no meaning for a model."""
    for place in places_of(codec.graph):
        node = place.node
        if isinstance(node, EnumNode) and node.values == tuple(range(1, len(node.values) + 1)):
            message = f"{node.type.__name__} shows a model numbers; give its members text"
            yield _warning_at(place, "numbered_choices", message, 'Write RED = "red" in place of RED = 1')


def many_choices(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the enums that are too long to choose from."""
    for place in places_of(codec.graph):
        node = place.node
        if isinstance(node, (EnumNode, LiteralNode)) and len(node.values) > MOST_CHOICES:
            message = f"it has {len(node.values)} choices, all of which every request sends"
            remedy = "Take text, and answer an unknown name with the nearest ones; or offer a search tool"
            yield _warning_at(place, "many_choices", message, remedy)


def overlapping_members(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the unions with several members that may accept the same object, which is then refused."""
    for place in places_of(codec.graph):
        for one, other in overlapping_names(place.node, codec.graph.definitions):
            message = f"an object may fit both {one} and {other}, and is refused then"
            yield _warning_at(place, "overlapping_members", message, ADD_TAG)
        if isinstance(place.node, LeafNode):
            yield from _guessed_members(place)


def _guessed_members(place: ParameterPart) -> Iterator[Finding]:
    """Yield the unions inside a Pydantic model with several members that may accept the same object."""
    for path, union in guessed_unions(place.node):
        for one, other in overlapping_names(union, {}):
            message = f"an object may fit both {one} and {other}, and pydantic guesses which is meant"
            inside = place.replace(path=(*place.path, *path))
            yield _warning_at(inside, "overlapping_members", message, _ADD_DISCRIMINATOR)


_ADD_DISCRIMINATOR = (
    'Give each a tag, such as kind: Literal["first"], and the union Field(discriminator="kind")'
)


def deep(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield where the arguments nest deeply."""
    places = list(places_of(codec.graph))
    deepest = max(places, key=lambda place: place.level)
    if deepest.level > MOST_LEVELS:
        message = (
            f"it nests {deepest.level} levels of objects and arrays; models make mistakes in such values"
        )
        yield _warning_at(deepest, "deep", message, "Make a flat list of parameters, or several tools")


def many_parameters(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield a finding if there are more parameters than a model fills in reliably."""
    root = codec.graph.resolve_root()
    if isinstance(root, ObjectNode) and len(root.fields) > MOST_PARAMETERS:
        message = f"it has {len(root.fields)} parameters; models mix them up"
        remedy = "Make several tools, or leave to your program what it knows"
        yield _warning("many_parameters", (), message, remedy)


def choices_in_words(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield texts whose description lists their choices."""
    for place in _texts(codec):
        choices = choices_in(_description_of(place))
        if choices:
            message = f"its description lists its values: {listed([quote(one) for one in choices])}"
            literal = ", ".join([quote(one) for one in choices])
            yield _warning_at(place, "choices_in_words", message, f"Write Literal[{literal}]")


def opposite_flags(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield flags that are the opposite of another flag, since both can be true."""
    for place in places_of(codec.graph):
        if not isinstance(place.node, ObjectNode):
            continue
        flags = [field.name for field in place.node.fields if _is_a(field.node, "boolean")]
        for number, flag in enumerate(flags):
            other = next((one for one in flags[:number] if are_opposite(one, flag)), None)
            if other is not None:
                path = (*place.path, flag)
                message = f"it is the opposite of {quote(other)}, and a model may say yes to both"
                remedy = "Keep one of them, or write one parameter with a Literal"
                yield _warning("opposite_flags", path, message, remedy)


def secrets(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the texts that a model shouldn't know, such as passwords."""
    for place in _texts(codec):
        words = words_of(_name_of(place))
        if any(one in (words[start : start + len(one)] for start in range(len(words))) for one in SECRETS):
            message = "its name says that it is a secret, which the model and the history would see"
            remedy = "Give it in your program: Annotated[…, skip] hides a parameter from the model"
            yield _warning_at(place, "secret", message, remedy)


def without_unit(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield numbers with a description that doesn't name their unit."""
    for place in places_of(codec.graph):
        if place.field is None or not _is_a(place.node, "integer", "number"):
            continue
        words, description = words_of(_name_of(place)), _description_of(place)
        said = f"{' '.join(words)} {description}"
        if description and not MEASURED.isdisjoint(words) and not UNIT.search(said):
            remedy = f"Say it in the name or in the description: {_name_of(place)}_…, or “in seconds”"
            yield _warning_at(place, "no_unit", "its unit isn't stated", remedy)


def dates_as_text(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield dates and times whose type is any text."""
    for place in _texts(codec):
        words = words_of(_name_of(place))
        is_stamp = words[-1:] in {("at",), ("on",)} and not STAMPED.isdisjoint(words[-2:-1])
        if is_stamp or not DATES.isdisjoint(words[-1:]):
            message = "its name says that it is a date or a time, but it takes any text"
            remedy = "Write date, datetime or time of the module datetime"
            yield _warning_at(place, "date_as_text", message, remedy)


def json_in_text(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield texts that contain JSON."""
    for place in _texts(codec):
        if words_of(_name_of(place))[-1:] == ("json",) or _JSON.search(_description_of(place)):
            message = "it is JSON inside a text, which models get wrong, and nothing says what is in it"
            yield _warning_at(
                place, "json_in_text", message, "Take the value itself: a dataclass, or a list of one"
            )


_JSON = re.compile(
    r"\bjson[- ](?:array|encoded|list|object|string|text)\b|\b(?:as|serialized|in) json\b", re.IGNORECASE
)


def repeated_parameter_names(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield descriptions of parameters that only repeat the name."""
    for place in places_of(codec.graph):
        description = _description_of(place)
        if place.field is None or not description:
            continue
        name = content_words(" ".join(words_of(_name_of(place)))) | {_name_of(place).casefold()}
        if content_words(description) <= name:
            message = f"its description only repeats its name: {quote(description)}"
            remedy = "Say what it is, where it comes from, and in which form"
            yield _warning_at(place, "description_repeats_name", message, remedy)


# --- several tools --------------------------------------------------------------------------------


def same_first_sentence(tools: Sequence[Tool[..., Any]]) -> Iterator[tuple[str, Finding]]:
    """Yield the tools that share their first sentence with another tool."""
    first: dict[str, str] = {}
    for tool in tools:
        text = " ".join(tool.summary.casefold().split())
        other = first.setdefault(text, tool.name)
        if other != tool.name and not is_undescribed(tool):
            message = f"its first sentence is the same as that of {quote(other)}"
            remedy = "Begin with what makes it different"
            yield tool.name, _warning("same_first_sentence", (), message, remedy)


def same_in_other_words(tools: Sequence[Tool[..., Any]]) -> Iterator[tuple[str, Finding]]:
    """Yield tools whose name or description means the same as another tool's."""
    names: dict[frozenset[str], str] = {}
    summaries: dict[frozenset[str], tuple[str, str]] = {}
    for tool in tools:
        said = tuple(re.findall(r"[^\W_]+", tool.summary.casefold()))
        other = names.setdefault(meaning(words_of(tool.name)), tool.name)
        if other == tool.name and len(meaning(said)) > 1:
            like, text = summaries.setdefault(meaning(said), (tool.name, " ".join(said)))
            other = like if text != " ".join(said) else other  # there is another finding for equal words
        if other != tool.name:
            message = f"it seems to do the same as {quote(other)}, in other words"
            remedy = "Keep one, or say when to use which"
            yield tool.name, _warning("same_in_other_words", (), message, remedy)


def many_tools(tools: Sequence[object]) -> Iterator[tuple[str, Finding]]:
    """Yield a finding if there are more tools than a model can choose from reliably."""
    if len(tools) > MOST_TOOLS:
        message = f"there are {len(tools)} tools; models choose less well among many"
        remedy = "Offer only the tools that a turn needs: toolset.offer(…), or switches of the registry"
        yield "", _warning("many_tools", (), message, remedy)


# --- parts of the checks --------------------------------------------------------------------------


def _warning(code: str, path: tuple[str, ...], message: str, remedy: str) -> Finding:
    """Return a finding at a path of the arguments; at the tool itself for an empty path."""
    return Finding(path, code, message, remedy=remedy, severity="warning")


def _warning_at(place: ParameterPart, code: str, message: str, remedy: str) -> Finding:
    """Return a finding at a place of a type; inside a union, the path doesn't show the member."""
    of = "" if place.member is None else f" (in {place.member})"
    return _warning(code, place.path, f"{message}{of}", remedy)


def _texts(codec: Codec[Any]) -> Iterator[ParameterPart]:
    """Yield the fields that take any text."""
    for place in places_of(codec.graph):
        if place.field is not None and _is_a(place.node, "string"):
            yield place


def _name_of(place: ParameterPart) -> str:
    return place.path[-1]


def _description_of(place: ParameterPart) -> str:
    return (place.field is not None and place.field.description) or ""


def _is_a(node: Node, *types: str) -> bool:
    """Return whether a node takes only values of these JSON types, or null."""
    members = node.members if isinstance(node, UnionNode) else (node,)
    kinds = {one.type if isinstance(one, ScalarNode) else "" for one in members} - {"null"}
    return bool(kinds) and kinds <= set(types)


def _letters(text: str) -> str:
    return "".join(re.findall(r"[a-z0-9]+", text.casefold()))


# --- all checks -----------------------------------------------------------------------------------

TOOL_CHECKS: tuple[Callable[[Tool[..., Any]], Iterator[Finding]], ...] = (
    no_docstring,
    repeated_name,
    large_definition,
    long_description,
    unmarked_deletion,
    unlimited_result,
)
"""The checks of a tool, apart from those of its input."""

CODEC_CHECKS: tuple[Callable[[Codec[Any]], Iterator[Finding]], ...] = (
    undescribed,
    anything,
    numbered_choices,
    many_choices,
    overlapping_members,
    deep,
    many_parameters,
    choices_in_words,
    opposite_flags,
    secrets,
    without_unit,
    dates_as_text,
    json_in_text,
    repeated_parameter_names,
)
"""The checks of an input."""

TYPE_CHECKS = (numbered_choices, anything, overlapping_members)
"""The checks of a type that isn't for a tool: its descriptions may be for people alone."""

SET_CHECKS: tuple[Callable[[Sequence[Tool[..., Any]]], Iterator[tuple[str, Finding]]], ...] = (
    same_first_sentence,
    same_in_other_words,
    many_tools,
)
"""The checks of several tools. Each finding has the name of its tool; it is empty for all of them."""
