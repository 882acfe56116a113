"""Random types of the agreement campaign, as schemas that go over the wire and as what decodes them."""

from __future__ import annotations

import json
import sys
from dataclasses import field, make_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

sys.path[:0] = [
    str(Path(__file__).resolve().parents[2] / "campaign"),
    str(Path(__file__).resolve().parents[2]),
]

from judge import validator
from types_ import random_type
from values import Values

from operator_schema import Codec, DecodeError, SchemaError, Toolset, tool_input
from operator_schema.providers import ResponseError, anthropic, deepseek, llama_cpp, openai_chat
from operator_schema.providers.property_names import property_names, schema_with_keys, value_with_keys

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator

    from operator_schema import Finding, Tool
    from operator_schema.providers import Provider

PLAIN = "as it is"
"""The wire form without a dialect."""

LOCAL = "llama.cpp"

DIALECTS: dict[str, tuple[Provider, bool]] = {
    "OpenAI strict": (openai_chat, True),
    "Anthropic strict": (anthropic, True),
    "DeepSeek strict": (deepseek, True),
    LOCAL: (llama_cpp, False),
}
"""By name, the provider whose dialect it is, and whether that is one of its strict mode."""

WIRES = (PLAIN, *DIALECTS)

MOST_TRIES = 200


class Subject(NamedTuple):
    """One schema, and what it says about.

    Attributes:
        wire: in which form.
        schema: that the model is held to.
        full_schema: without what the wire form can't say.
        described: keywords that its descriptions say in words.
        problems: of a text that the model wrote; empty if it decodes.
        instances: endless random instances as JSON values, in the form that the model writes them.
    """

    wire: str
    schema: dict[str, Any]
    full_schema: dict[str, Any]
    described: frozenset[str]
    problems: Callable[[str], tuple[Finding, ...]]
    instances: Iterator[Any]


def subject_of(wire: str, rng: random.Random) -> Subject:
    """Draw a random type that a wire form takes."""
    make = _plain if wire == PLAIN else partial(_in_dialect, wire)
    for _ in range(MOST_TRIES):
        try:
            return make(rng)
        except SchemaError:
            continue
    message = f"no type in {MOST_TRIES} is one for {wire}"
    raise RuntimeError(message)


def _plain(rng: random.Random) -> Subject:
    codec = Codec(random_type(rng, 3))
    schema = codec.json_schema()
    problems = partial(_problems, codec.decode_json)
    return Subject(PLAIN, schema, schema, frozenset(), problems, _encoded(codec, rng))


def _problems(decode: Callable[[Any], Any], arguments: Any) -> tuple[Finding, ...]:
    try:
        decode(arguments)
    except DecodeError as error:
        return error.findings
    return ()


def _encoded(codec: Codec[Any], rng: random.Random) -> Iterator[Any]:
    values = Values(codec.graph, rng)
    while True:
        try:
            instance = codec.decode(values.valid(codec.graph.root))
        except DecodeError:  # the values are the campaign's idea of valid ones
            continue
        yield json.loads(codec.encode_json(instance))


def _in_dialect(wire: str, rng: random.Random) -> Subject:
    provider, strict = DIALECTS[wire]
    tool = tool_input(input_class(rng))
    offer = Toolset(tool).offer(strict=strict)
    sent = json.loads(json.dumps(provider.request(offer)))["tools"][0]
    schema = sent["input_schema"] if "input_schema" in sent else sent["function"]["parameters"]
    described = frozenset(
        loss.keyword for loss in provider.report(offer).tools[0].losses if loss.code == "described"
    )
    whole = tool.input_schema()
    names = _wire_keys(provider, tool)
    sent_values = (value_with_keys(value, names) for value in _encoded(tool.codec, rng))
    filled = (_filled(schema, schema, value) for value in sent_values)
    problems = partial(_problems_of_call, provider, tool, strict)
    return Subject(wire, schema, schema_with_keys(whole, names), described, problems, filled)


def _wire_keys(provider: Provider, tool: Tool[..., Any]) -> dict[str, str]:
    """Return the name on the wire of each property that has another one there."""
    rule = provider.rules.keys
    names = [] if rule is None else property_names(tool.input_schema())
    return {own: rule.wire_name(own) for own in names if rule is not None and not rule.takes(own)}


def input_class(rng: random.Random) -> type[Any]:
    """Make the class of an input, of types that strict modes are likely to take."""
    members: list[Any] = []
    for name in rng.sample(["a", "b", "city", "type", "größe"], rng.randint(1, 3)):
        annotation = random_type(rng, rng.choice([0, 0, 1, 1, 2]))
        kind = rng.choice(["plain", "plain", "nullable", "list", "default"])
        if kind == "nullable":
            members.append((name, Optional[annotation], field(default=None)))
        elif kind == "list":
            members.append((name, list[annotation], field(default_factory=list)))
        elif kind == "default":
            members.append((name, int, field(default=5)))
        else:
            members.append((name, annotation))
    return make_dataclass("Input", members, kw_only=True)


def _problems_of_call(
    provider: Provider, tool: Tool[..., Any], strict: bool, text: str
) -> tuple[Finding, ...]:
    if provider is anthropic:
        part = {"type": "tool_use", "id": "call", "name": tool.name, "input": json.loads(text)}
        response: Any = {"type": "message", "role": "assistant", "content": [part], "stop_reason": "tool_use"}
    else:
        function = {"name": tool.name, "arguments": text}
        message = {
            "role": "assistant",
            "tool_calls": [{"id": "call", "type": "function", "function": function}],
        }
        response = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    try:
        call = provider.calls(response, Toolset(tool).offer(strict=strict))[0]
    except ResponseError:  # a number such as 1e999, which no JSON object can hold
        own = {wire: own for own, wire in _wire_keys(provider, tool).items()}
        return _problems(tool.decode, value_with_keys(json.loads(text), own))
    return _problems(tool.decode, call.arguments)


def _filled(root: Any, schema: Any, value: Any) -> Any:
    """Return a value with null for each property that the schema requires and the value leaves out."""
    if "$ref" in schema:
        return _filled(root, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], value)
    if "anyOf" in schema:
        members = [_filled(root, member, value) for member in schema["anyOf"]]
        judges = [validator({"$defs": root.get("$defs", {}), **member}) for member in schema["anyOf"]]
        fits = [made for made, judge in zip(members, judges, strict=True) if judge.is_valid(made)]
        return fits[0] if fits else value
    if isinstance(value, dict) and "properties" in schema:
        inner = schema["properties"]
        missing = {key: None for key in schema.get("required", ()) if key not in value}
        filled = {**missing, **{key: _filled(root, inner.get(key, {}), item) for key, item in value.items()}}
        return {key: filled[key] for key in sorted(filled, key=[*inner, *filled].index)}
    if isinstance(value, list) and "items" in schema:
        return [_filled(root, schema["items"], item) for item in value]
    return value
