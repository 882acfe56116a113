"""Check tools and types: the facts that a model has to guess, and the parts that providers refuse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from ..engine import (
    ADD_TAG,
    GIVE_TOOLS,
    AnyNode,
    DocumentCodec,
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
from ..findings import Finding
from ..json_values import to_json_text
from ..lazy import answer_misnamed
from ..message_text import listed, quote, received
from ..providers import Provider
from ..rounds import Registry, Toolset
from ..similar_names import words_of
from ..tools import is_undescribed, place_of_tool, tools_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ..engine import Codec, Node, ParameterPart
    from ..findings import Severity
    from ..providers import Strict
    from ..tools import Tool

__all__ = ["lint", "lint_type", "place_of_tool"]

answer_misnamed(__name__)

_ORDER = ("error", "warning", "note")


def lint(
    tools: Iterable[Tool[..., Any]], providers: Sequence[Provider] = (), *, strict: Strict = False
) -> list[Finding]:
    """List the problems of tools: for a model, and with providers.

    Args:
        tools: a list, a registry or a toolset.
        providers: providers from `operator_schema.providers`; none for only the checks that apply to all.
        strict: as for `Provider.request`. With True, a provider without a strict mode is checked without it,
            and a warning says so. With `"auto"`, notes list the tools that aren't strict, and why.

    Returns:
        The findings: errors first, then warnings and notes, each in the order of the tools.

    Raises:
        TypeError: something isn't a tool, or isn't a provider.
    """
    if isinstance(tools, (Registry, Toolset)):
        tools = list(cast("Iterable[Tool[..., Any]]", tools))
    found = tools_of(tools)
    _check_providers(providers)
    places = {tool.name: place_of_tool(tool) for tool in found}
    findings = [*_weaknesses(found)]
    for provider in providers:
        lacks = strict is True and provider.dialect is None
        findings += _of_provider(provider, found, strict=False if lacks else strict)
        findings += [_without_strict_mode(provider)] if lacks else []
    named = [finding.replace(where=finding.where or places.get(finding.tool or "")) for finding in findings]
    return sorted(named, key=lambda finding: _ORDER.index(finding.severity))


def lint_type(codec: Codec[Any]) -> list[Finding]:
    """List the facts that a model would have to guess in a type that isn't the input of a tool.

    Args:
        codec: the codec of the type.

    Returns:
        Warnings, without the name of the type.
    """
    return [found for check in TYPE_CHECKS for found in check(codec)]


_OF_DOCUMENTS: Mapping[str, tuple[str | None, str]] = {
    "no_description": (
        "it has no description, so a model knows only its name",
        "Write one: what it does, and when to use it",
    ),
    "any_value": ("nothing says which values it takes", 'Write a "type"'),
    "choices_in_words": (None, 'List them in an "enum"'),
    "date_as_text": (None, 'Write "format": "date", "date-time" or "time"'),
    "json_in_text": (None, "Take the value itself: an object or an array, with its schema"),
    "large_definition": (None, "Shorten descriptions, or split the tool"),
    "long_description": (None, "Shorten it; details can go to the parameters"),
    "opposite_flags": (None, 'Keep one of them, or write one parameter with an "enum"'),
    "secret": (None, "Leave it out: the program that runs the tool can know it"),
    "unmarked_deletion": (None, 'State the hint: "destructiveHint": true'),
}
"""For each code, the message if it differs, and the remedy, for tools from a JSON Schema document."""


def _of_document(finding: Finding) -> Finding:
    message, remedy = _OF_DOCUMENTS.get(finding.code, (None, finding.remedy))
    return finding.replace(message=message or finding.message, remedy=remedy)


def _check_providers(providers: Any) -> None:
    wrong: list[Any] = [providers] if isinstance(providers, Provider) else list(providers)
    for one in wrong:
        if wrong[0] is providers or not isinstance(one, Provider):
            message = f"providers must be a list of providers, such as [openai_chat], not {received(one)}"
            raise TypeError(message)


def _without_strict_mode(provider: Provider) -> Finding:
    message = f"no strict mode of {provider.name} is known, so the tools were checked without it"
    remedy = "Make its requests without strict"
    return _provided(provider, "", "no_strict_mode", "warning", (), message, remedy)


def _weaknesses(tools: Sequence[Tool[..., Any]]) -> Iterator[Finding]:
    for tool in tools:
        place = place_of_tool(tool)
        of_tool = _of_described(tool, tool.codec) if isinstance(tool.codec, DocumentCodec) else _of_tool(tool)
        for found in of_tool:
            yield found.replace(tool=tool.name, where=place)
    for set_check in SET_CHECKS:
        yield from [found.replace(tool=name) for name, found in set_check(tools)]


def _of_described(tool: Tool[..., Any], codec: DocumentCodec) -> Iterator[Finding]:
    """Yield the findings about a tool from a document; a part of a wrong type isn't reported as missing."""
    mistakes = codec.mistakes
    wrong = {each.path for each in mistakes}
    yield from [each.replace(keyword=None) for each in mistakes]
    for found in _of_tool(tool):
        if found.code != "any_value" or found.path not in wrong:
            yield _of_document(found)


def _of_tool(tool: Tool[..., Any]) -> Iterator[Finding]:
    for tool_check in TOOL_CHECKS:
        yield from tool_check(tool)
    for codec_check in CODEC_CHECKS:
        yield from codec_check(tool.codec)


def _provided(
    provider: Provider,
    tool: str,
    code: str,
    severity: Severity,
    path: tuple[str | int, ...],
    message: str,
    remedy: str | None,
) -> Finding:
    return Finding(path, code, message, remedy=remedy, severity=severity, tool=tool, provider=provider.name)


def _of_provider(provider: Provider, tools: Sequence[Tool[..., Any]], *, strict: Strict) -> Iterator[Finding]:
    report = provider.report(tools, strict=strict)
    yield from [_refused("", one, provider) for one in report.refused]
    for tool in report.tools:
        yield from [_refused(tool.name, one, provider) for one in tool.refused]
        for reason in tool.not_strict:
            message = f"without strict for {provider.name}: {reason.message}"
            yield _provided(provider, tool.name, "not_strict", "note", reason.path, message, reason.remedy)
        if tool.wire_name != tool.name:
            message = f"{provider.name} doesn't take its name, and gets {tool.wire_name} instead"
            remedy = f"{GIVE_TOOLS}, or rename it: tool.with_(name=…)"
            yield _provided(provider, tool.name, "renamed", "warning", (), message, remedy)
        yield from tool.losses


def _refused(tool: str, complaint: Finding, provider: Provider) -> Finding:
    path, message = complaint.path, complaint.message
    return _provided(provider, tool, "refused", "error", path, message, complaint.remedy)


# --- the checks ----------------------------------------------------------------------------------


def warning(code: str, path: tuple[str, ...], message: str, remedy: str) -> Finding:
    """Return the findings of a check in a tool."""
    return Finding(path, code, message, remedy=remedy, severity="warning")


def warning_at(place: ParameterPart, code: str, message: str, remedy: str) -> Finding:
    """Return a finding at a place of a type; inside a union, the path doesn't show the member."""
    of = "" if place.member is None else f" (in {place.member})"
    return warning(code, place.path, f"{message}{of}", remedy)


def choices_in_words(codec: Codec[Any]) -> Iterator[Finding]:
    """Find texts whose description lists their choices."""
    for place in _texts(codec):
        choices = _choices_in(_description_of(place))
        if choices:
            message = f"its description lists its values: {listed([quote(one) for one in choices])}"
            literal = ", ".join([quote(one) for one in choices])
            yield warning_at(place, "choices_in_words", message, f"Write Literal[{literal}]")


def secrets(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the texts that a model shouldn't know, such as passwords."""
    for place in _texts(codec):
        words = words_of(_name_of(place))
        if any(one in (words[start : start + len(one)] for start in range(len(words))) for one in SECRETS):
            message = "its name says that it is a secret, which the model and the history would see"
            remedy = "Give it in your program: Annotated[…, skip] hides a parameter from the model"
            yield warning_at(place, "secret", message, remedy)


def dates_as_text(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield dates and times whose type is any text."""
    for place in _texts(codec):
        words = words_of(_name_of(place))
        is_stamp = words[-1:] in {("at",), ("on",)} and not STAMPED.isdisjoint(words[-2:-1])
        if is_stamp or not DATES.isdisjoint(words[-1:]):
            message = "its name says that it is a date or a time, but it takes any text"
            remedy = "Write date, datetime or time of the module datetime"
            yield warning_at(place, "date_as_text", message, remedy)


_JSON = re.compile(
    r"\bjson[- ](?:array|encoded|list|object|string|text)\b|\b(?:as|serialized|in) json\b", re.IGNORECASE
)


def json_in_text(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield texts that contain JSON."""
    for place in _texts(codec):
        if words_of(_name_of(place))[-1:] == ("json",) or _JSON.search(_description_of(place)):
            message = "it is JSON inside a text, which models get wrong, and nothing says what is in it"
            yield warning_at(
                place, "json_in_text", message, "Take the value itself: a dataclass, or a list of one"
            )


def without_unit(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield numbers with a description that doesn't name their unit."""
    for place in places_of(codec.graph):
        if place.field is None or not _is_a(place.node, "integer", "number"):
            continue
        words, description = words_of(_name_of(place)), _description_of(place)
        said = f"{' '.join(words)} {description}"
        if description and not MEASURED.isdisjoint(words) and not UNIT.search(said):
            remedy = f"Say it in the name or in the description: {_name_of(place)}_…, or “in seconds”"
            yield warning_at(place, "no_unit", "its unit isn't stated", remedy)


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
            yield warning_at(place, "description_repeats_name", message, remedy)


def opposite_flags(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield flags that are the opposite of another flag, since both can be true."""
    for place in places_of(codec.graph):
        if not isinstance(place.node, ObjectNode):
            continue
        flags = [field.name for field in place.node.fields if _is_a(field.node, "boolean")]
        for number, flag in enumerate(flags):
            other = next((one for one in flags[:number] if _are_opposite(one, flag)), None)
            if other is not None:
                path = (*place.path, flag)
                message = f"it is the opposite of {quote(other)}, and a model may say yes to both"
                remedy = "Keep one of them, or write one parameter with a Literal"
                yield warning("opposite_flags", path, message, remedy)


def unmarked_deletion(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield a finding if a tool deletes something, but its hints don't say so."""
    hints = tool.annotations
    verb = (*words_of(tool.name), "")[0]
    if verb in DELETING and hints.destructive is None and hints.read_only is None:
        message = f"its name says that it may {verb} something, but its hints don't say so"
        remedy = "Write @tool(destructive=True), and confirm=True if a person has to agree"
        yield warning("unmarked_deletion", (), message, remedy)


def unlimited_result(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield a finding if a tool returns a list of any length, and the model can't limit it."""
    root = tool.codec.graph.resolve_root()
    if LISTING.isdisjoint(words_of(tool.name)[:1]) or not isinstance(root, ObjectNode):
        return
    said = [word for field in root.fields for word in words_of(field.name)]
    if LIMITS.isdisjoint(said) and (tool.output_schema() or {}).get("type") == "array":
        message = "it returns a list of any length, and all of it goes into the history"
        remedy = "Take a parameter such as limit, with a default"
        yield warning("unlimited_result", (), message, remedy)


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
            yield tool.name, warning("same_in_other_words", (), message, remedy)


def _texts(codec: Codec[Any]) -> Iterator[ParameterPart]:
    """Yield the fields that take any text."""
    for place in places_of(codec.graph):
        if place.field is not None and _is_a(place.node, "string"):
            yield place


def _name_of(place: ParameterPart) -> str:
    return place.path[-1]


def _is_a(node: Node, *types: str) -> bool:
    """Return whether a node takes only values of these JSON types, or null."""
    members = node.members if isinstance(node, UnionNode) else (node,)
    kinds = {one.type if isinstance(one, ScalarNode) else "" for one in members} - {"null"}
    return bool(kinds) and kinds <= set(types)


def _description_of(place: ParameterPart) -> str:
    return (place.field is not None and place.field.description) or ""


_QUOTED = re.compile(r"""(?<!\w)(?:"[^"\s]+"|'[^'\s]+'|`[^`\s]+`|“[^”\s]+”)""")
_INTRODUCED = re.compile(
    r"\b(?:one of|either|must be|can be|may be|allowed|possible|values?|choices?|options?)\b", re.IGNORECASE
)
_EXAMPLES = re.compile(r"\b(?:such as|like|for example|for instance|e\.g\.)", re.IGNORECASE)
_PLAIN = re.compile(r"\bone of:? ([\w-]+(?:(?:, or |, | or )[\w-]+)+)[.;]?$", re.IGNORECASE | re.MULTILINE)


def _choices_in(description: str) -> list[str]:
    """List the values that a description presents as the only ones."""
    if _EXAMPLES.search(description):
        return []
    quoted = [found[0].strip("\"'`“”") for found in _QUOTED.finditer(description)]
    if len(quoted) > 1 and _INTRODUCED.search(description):
        return list(dict.fromkeys(quoted))
    plain = _PLAIN.search(description)
    return re.split(r", or |, | or ", plain[1]) if plain else []


def _are_opposite(first: str, second: str) -> bool:
    """Return whether the names of two flags differ only in a word and its opposite, or in `no`."""
    one, other = words_of(first), words_of(second)
    if other in {("no", *one), ("not", *one)} or one in {("no", *other), ("not", *other)}:
        return True
    apart = [frozenset(pair) for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    return len(one) == len(other) and len(apart) == 1 and apart[0] in OPPOSITES


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_FILLERS = _set("a an and any by for from given in is it its of or that the this to which with")

SECRETS = (
    *[(word,) for word in ("apikey", "credential", "passphrase", "passwd", "password", "secret")],
    *[(first, "token") for first in ("access", "api", "auth", "bearer", "refresh", "session")],
    *[(first, "key") for first in ("access", "api", "private", "signing")],
)
"""Words next to each other in names of secrets."""

MEASURED = _set(
    "cooldown delay distance duration height interval lifetime radius speed temperature timeout ttl "
    "weight width"
)
"""Names of numbers that have a unit."""

UNIT = re.compile(
    r"[%°]|\b(?:ms|millis(?:econds)?|m?secs?|s|seconds?|mins?|minutes?|hours?|h|days?|weeks?|months?|years?"
    r"|mm|cm|m|km|inch(?:es)?|feet|foot|ft|yards?|miles?|(?:milli|centi|kilo)?met(?:er|re)s?|pixels?|px"
    r"|points?|percent|columns?|characters?|chars|[kmg]?bytes?|[kmg]i?b|kmh|mph|knots|g|kg|(?:kilo)?grams?|lbs?"
    r"|pounds?|ounces?|tons?|tonnes?|celsius|fahrenheit|kelvin|c|f|k|degrees?)\b",
    re.IGNORECASE,
)

DATES = _set("birthday date datetime deadline time timestamp")
"""The last word in the name of a date or a time."""

STAMPED = _set(
    "created deleted due ended ends expires finished modified published scheduled sent started starts updated"
)
"""Words before `at` or `on` in the name of a date or a time."""

DELETING = _set("clear delete destroy drop erase kill purge remove revoke terminate truncate uninstall wipe")
"""The first word in the name of a tool that takes something away."""

LISTING = _set("find list query search")
"""The first words in names of tools that may return any number of items."""

LIMITS = _set("batch count cursor limit max maximum most offset page pages size take top")
"""Words in names of parameters that limit the number of items."""

OPPOSITES = frozenset(
    frozenset(pair)
    for pair in (
        ("allow", "deny"),
        ("allow", "forbid"),
        ("ascending", "descending"),
        ("asc", "desc"),
        ("disable", "enable"),
        ("disabled", "enabled"),
        ("down", "up"),
        ("exclude", "include"),
        ("hidden", "visible"),
        ("hide", "show"),
        ("lock", "unlock"),
        ("locked", "unlocked"),
        ("mute", "unmute"),
        ("off", "on"),
        ("closed", "open"),
        ("close", "open"),
        ("private", "public"),
        ("start", "stop"),
    )
)

_SAME: Mapping[str, str] = {
    word: group[0]
    for group in (
        ("get", "fetch", "load", "read", "retrieve"),
        ("search", "find", "lookup", "query"),
        ("create", "make", "new"),
        ("delete", "erase", "remove"),
        ("update", "change", "edit", "modify"),
        ("send", "submit"),
    )
    for word in group
}
"""Verbs with the same meaning, for the first word of a name or a description."""


def content_words(text: str) -> frozenset[str]:
    """Return the topics of a text: its words without plurals and joining words."""
    words = frozenset([_singular(word) for word in re.findall(r"[^\W_]+", text.casefold())])
    return words - _FILLERS or words


def meaning(words: tuple[str, ...]) -> frozenset[str]:
    """Return the meaning of words that begin with a verb; different verbs may mean the same."""
    first = [_SAME.get(word, word) for word in words[:1]]
    return frozenset([*first, *[_singular(word) for word in words[1:]]]) - _FILLERS


def _singular(word: str) -> str:
    return word[:-1] if word.endswith("s") and not word.endswith("ss") and len(word) > 2 else word  # noqa: PLR2004


MOST_CHOICES = 100
MOST_BYTES = 8_000
MOST_LEVELS = 5
MOST_TOOLS = 40
MOST_PARAMETERS = 15
MOST_CHARACTERS = 1_024
"""OpenAI's limit for the description of a tool."""


def no_docstring(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Find a tool without a description of its own."""
    if not tool.summary or is_undescribed(tool):
        message = "it has no docstring, so a model knows only its name"
        yield warning("no_description", (), message, "Write one: what it does, and when to use it")


def repeated_name(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield a finding if a description only repeats the name."""
    if _words(tool.summary) == _words(tool.name):
        message = f"its description only repeats its name: {quote(tool.summary)}"
        yield warning("description_repeats_name", (), message, "Say what it does, and when to use it")


def large_definition(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield a finding if a definition is so large that each request becomes expensive."""
    size = len(to_json_text(tool.definition()).encode(errors="replace"))
    if size > MOST_BYTES:
        message = f"its definition has {size:,} bytes, which every request sends"
        remedy = "Shorten descriptions, or split the tool; examples and details can go to tool.documentation"
        yield warning("large_definition", (), message, remedy)


def long_description(tool: Tool[..., Any]) -> Iterator[Finding]:
    """Yield a finding if a description is too long for a model or for OpenAI."""
    size = len(tool.description)
    if size > MOST_CHARACTERS:
        message = f"its description has {size:,} characters, but OpenAI takes only {MOST_CHARACTERS:,}"
        remedy = "Shorten it; details can go to the parameters, or to tool.documentation"
        yield warning("long_description", (), message, remedy)


def many_parameters(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield a finding if there are more parameters than a model fills in reliably."""
    root = codec.graph.resolve_root()
    if isinstance(root, ObjectNode) and len(root.fields) > MOST_PARAMETERS:
        message = f"it has {len(root.fields)} parameters; models mix them up"
        remedy = "Make several tools, or leave to your program what it knows"
        yield warning("many_parameters", (), message, remedy)


def undescribed(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the fields without a description; if only a member of a union has one, say so."""
    for place in places_of(codec.graph):
        if place.field is None or place.field.description or place.node.description:
            continue
        if isinstance(place.node, UnionNode) and any(member.description for member in place.node.members):
            message = "only a member of its union has a description, which some providers move or drop"
            yield warning_at(place, "description_in_union", message, "Describe the parameter itself")
        else:
            yield warning_at(
                place, "undescribed", "it has no description", "Say what it is, and the unit of a number"
            )


def anything(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the places that take a value of any type."""
    for place in places_of(codec.graph):
        if isinstance(place.node, AnyNode):
            yield warning_at(place, "any_value", "Any says nothing about the value", "Name the type")


def numbered_choices(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the enums whose numbers have no meaning for a model."""
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
            remedy = "Take text, and answer an unknown name with the nearest ones; or offer a search tool"
            yield warning_at(place, "many_choices", message, remedy)


def overlapping_members(codec: Codec[Any]) -> Iterator[Finding]:
    """Yield the unions with several members that may accept the same object, which is then refused."""
    for place in places_of(codec.graph):
        for one, other in overlapping_names(place.node, codec.graph.definitions):
            message = f"an object may fit both {one} and {other}, and is refused then"
            yield warning_at(place, "overlapping_members", message, ADD_TAG)
        if isinstance(place.node, LeafNode):
            yield from _guessed_members(place)


def _guessed_members(place: ParameterPart) -> Iterator[Finding]:
    """Yield the unions inside a Pydantic model with several members that may accept the same object."""
    for path, union in guessed_unions(place.node):
        for one, other in overlapping_names(union, {}):
            message = f"an object may fit both {one} and {other}, and pydantic guesses which is meant"
            inside = place.replace(path=(*place.path, *path))
            yield warning_at(inside, "overlapping_members", message, _ADD_DISCRIMINATOR)


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
        yield warning_at(deepest, "deep", message, "Make a flat list of parameters, or several tools")


def same_first_sentence(tools: Sequence[Tool[..., Any]]) -> Iterator[tuple[str, Finding]]:
    """Yield the tools that share their first sentence with another tool."""
    first: dict[str, str] = {}
    for tool in tools:
        text = " ".join(tool.summary.casefold().split())
        other = first.setdefault(text, tool.name)
        if other != tool.name and not is_undescribed(tool):
            message = f"its first sentence is the same as that of {quote(other)}"
            remedy = "Begin with what makes it different"
            yield tool.name, warning("same_first_sentence", (), message, remedy)


def many_tools(tools: Sequence[object]) -> Iterator[tuple[str, Finding]]:
    """Yield a finding if there are more tools than a model can choose from reliably."""
    if len(tools) > MOST_TOOLS:
        message = f"there are {len(tools)} tools; models choose less well among many"
        remedy = "Offer only the tools that a turn needs: toolset.offer(…), or switches of the registry"
        yield "", warning("many_tools", (), message, remedy)


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

TOOL_CHECKS: tuple[Callable[[Tool[..., Any]], Iterator[Finding]], ...] = (
    no_docstring,
    repeated_name,
    large_definition,
    long_description,
    unmarked_deletion,
    unlimited_result,
)
"""The checks of a tool, apart from those of its input."""

SET_CHECKS: tuple[Callable[[Sequence[Tool[..., Any]]], Iterator[tuple[str, Finding]]], ...] = (
    same_first_sentence,
    same_in_other_words,
    many_tools,
)
"""The checks of several tools. Each finding has the name of its tool; it is empty for all of them."""


def _words(text: str) -> str:
    return "".join(re.findall(r"[a-z0-9]+", text.casefold()))


TYPE_CHECKS = (numbered_choices, anything, overlapping_members)
"""The checks of a type that isn't for a tool: its descriptions may be for people alone."""
