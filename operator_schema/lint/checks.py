"""What leaves a model guessing, whichever provider it is from: a function for each check."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..introspect.nodes import AnyNode, EnumNode, LiteralNode, ObjectNode, UnionNode
from ..introspect.places import places_of
from ..json_values import to_json_text
from ..wording import quote
from .meanings import (
    choices_in_words,
    dates_as_text,
    json_in_text,
    opposite_flags,
    repeated_parameter_names,
    same_in_other_words,
    secrets,
    unlimited_result,
    unmarked_deletion,
    warning,
    warning_at,
    without_unit,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..codec.codec import Codec
    from ..findings import Finding
    from ..tools.tool import Tool

__all__ = ["CODEC_CHECKS", "SET_CHECKS", "TOOL_CHECKS"]

MOST_CHOICES = 100
MOST_BYTES = 8_000
MOST_LEVELS = 5
MOST_TOOLS = 40
MOST_PARAMETERS = 15
MOST_CHARACTERS = 1_024
"""OpenAI takes no more in the description of a tool."""


def no_docstring(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield that a tool has no description of its own."""
    if not tool.summary or tool.summary.endswith("Auto generated."):
        message = "it has no docstring, so a model knows only its name"
        yield warning("no_description", (), message, "Write one: what it does, and when to use it")


def repeated_name(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield that a description says no more than the name."""
    if _words(tool.summary) == _words(tool.name):
        message = f"its description only repeats its name: {quote(tool.summary)}"
        yield warning("description_repeats_name", (), message, "Say what it does, and when to use it")


def large_definition(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield that each request pays for a large definition."""
    size = len(to_json_text(tool.definition()).encode(errors="replace"))
    if size > MOST_BYTES:
        message = f"its definition has {size:,} bytes, which every request sends"
        remedy = "Shorten descriptions, or split the tool; examples and details can go to tool.documentation"
        yield warning("large_definition", (), message, remedy)


def long_description(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield that a description is too long, for a model and for OpenAI."""
    size = len(tool.description)
    if size > MOST_CHARACTERS:
        message = f"its description has {size:,} characters, of which OpenAI takes {MOST_CHARACTERS:,}"
        remedy = "Shorten it; details can go to the parameters, or to tool.documentation"
        yield warning("long_description", (), message, remedy)


def many_parameters(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield that there are more parameters than a model fills in well."""
    root = codec.graph.resolve_root()
    if isinstance(root, ObjectNode) and len(root.fields) > MOST_PARAMETERS:
        message = f"it has {len(root.fields)} parameters; models mix them up"
        remedy = "Make several tools, or leave to your program what it knows"
        yield warning("many_parameters", (), message, remedy)


def undescribed(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the fields without a description; where only a member of a union has one, say so."""
    for place in places_of(codec.graph):
        if place.field is None or place.field.description or place.node.description:
            continue
        if isinstance(place.node, UnionNode) and any(member.description for member in place.node.members):
            message = "only a member of its union has a description, which some providers move or drop"
            yield warning_at(place, "description_in_union", message, "Describe the parameter itself")
        else:
            yield warning_at(
                place, "undescribed", "it has no description", "Say what it is, and in which unit"
            )


def anything(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the places that take a value of any type."""
    for place in places_of(codec.graph):
        if isinstance(place.node, AnyNode):
            yield warning_at(place, "any_value", "Any says nothing about the value", "Name the type")


def numbered_choices(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the enums that show a model numbers without a meaning."""
    for place in places_of(codec.graph):
        node = place.node
        if isinstance(node, EnumNode) and node.values == tuple(range(1, len(node.values) + 1)):
            message = f"{node.type.__name__} shows a model numbers; give its members text"
            yield warning_at(place, "numbered_choices", message, 'Write RED = "red" in place of RED = 1')


def many_choices(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the enums that are too long to choose from."""
    for place in places_of(codec.graph):
        node = place.node
        if isinstance(node, (EnumNode, LiteralNode)) and len(node.values) > MOST_CHOICES:
            message = f"it has {len(node.values)} choices, all of which every request sends"
            remedy = (
                "Take text, and answer a wrong one with the nearest names; or offer a tool that searches them"
            )
            yield warning_at(place, "many_choices", message, remedy)


def deep(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield where the arguments nest deep."""
    places = list(places_of(codec.graph))
    deepest = max(places, key=lambda place: place.level)
    if deepest.level > MOST_LEVELS:
        message = f"it nests {deepest.level} levels of objects and arrays; models lose their way in these"
        yield warning_at(deepest, "deep", message, "Make a flat list of parameters, or several tools")


def same_first_sentence(tools: Sequence[Tool[..., Any]]) -> Iterator[tuple[str, Finding]]:
    """Yield the tools that share their first sentence with another tool."""
    first: dict[str, str] = {}
    for tool in tools:
        text = " ".join(tool.summary.casefold().split())
        other = first.setdefault(text, tool.name)
        if other != tool.name and not tool.summary.endswith("Auto generated."):
            message = f"its first sentence is that of {quote(other)}"
            remedy = "Say first what makes it different"
            yield tool.name, warning("same_first_sentence", (), message, remedy)


def many_tools(tools: Sequence[Tool[..., Any]]) -> Iterator[tuple[str, Finding]]:
    """Yield that there are more tools than a model chooses well from."""
    if len(tools) > MOST_TOOLS:
        message = f"there are {len(tools)} tools; models choose worse among many"
        remedy = "Offer those that a turn needs: toolset.offer(…), or switches of the registry"
        yield "", warning("many_tools", (), message, remedy)


CODEC_CHECKS: tuple[Callable[[Codec[Any]], Iterator[Finding]], ...] = (
    undescribed,
    anything,
    numbered_choices,
    many_choices,
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
"""What may be wrong with an input."""

TOOL_CHECKS: tuple[Callable[[Tool[..., Any]], Iterator[Finding]], ...] = (
    no_docstring,
    repeated_name,
    large_definition,
    long_description,
    unmarked_deletion,
    unlimited_result,
)
"""What may be wrong with a tool besides its input."""

SET_CHECKS: tuple[Callable[[Sequence[Tool[..., Any]]], Iterator[tuple[str, Finding]]], ...] = (
    same_first_sentence,
    same_in_other_words,
    many_tools,
)
"""What may be wrong with tools together; the name of the tool comes first, empty for all."""


def _words(text: str) -> str:
    return "".join(re.findall(r"[a-z0-9]+", text.casefold()))
