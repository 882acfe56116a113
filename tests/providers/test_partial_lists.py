"""Of an answer that is a list, each item is known as soon as it has ended."""

import json
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from random import Random

import pytest
from splitting import FORMS
from test_moves import PROVIDERS

from operator_schema import RawCall, tool
from operator_schema.providers import deepseek, openai_chat
from operator_schema.testing import ScriptedModel
from tests.shares import seeds


@dataclass
class Stop:
    place: str
    minutes: int = 5
    gates: tuple[str, ...] = ()


@tool
def search(query: str) -> str:
    """Search."""
    return query


def drawn(draw):
    place = "".join(draw.choices('ab"\\]}{[é😀,', k=draw.randrange(6)))
    more = {"minutes": draw.randrange(100)} if draw.random() < 0.5 else {}
    return {"place": place, **more, "gates": ["x"] * draw.randrange(3)}


def ended_in(text):
    """Count the items that have ended in the text of an object with one list, by another parser."""
    at, count = text.find("[") + 1, 0
    while at:
        rest = text[at:].lstrip(" ,")
        try:
            _, end = JSONDecoder().raw_decode(rest)
        except JSONDecodeError:
            break
        at, count = len(text) - len(rest) + end, count + 1
    return count


@pytest.mark.parametrize("seed", seeds(2))
@pytest.mark.parametrize("by_tool", [False, True])
def test_each_item_is_shown_when_it_has_ended_and_never_changes(seed, by_tool):
    draw = Random(f"items:{seed}")  # noqa: S311  # the same each time
    values = [drawn(draw) for _ in range(draw.randrange(5))]
    whole = [Stop(value["place"], value.get("minutes", 5), tuple(value["gates"])) for value in values]
    text = json.dumps({"value": values}, ensure_ascii=draw.random() < 0.5)
    stream = (deepseek if by_tool else openai_chat).stream([], output=list[Stop])
    at = 0
    while at < len(text):
        size = draw.choice([1, 2, 7])
        function = {"name": "final_answer" if at == 0 else None, "arguments": text[at : at + size]}
        call = {"index": 0, "id": "call_1" if at == 0 else None, "function": function}
        delta = {"tool_calls": [call]} if by_tool else {"content": text[at : at + size]}
        stream.feed({"choices": [{"index": 0, "delta": delta}]})
        at += size
        if draw.random() < 0.7:
            found = stream.partial_output
            assert found.findings == ()
            assert found.fields.get("value", []) == whole[: ended_in(text[:at])]
    assert (stream.partial_output.is_complete, stream.partial_output.fields["value"]) == (True, whole)


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
@pytest.mark.parametrize("offer", [[], [search]], ids=["alone", "with a tool"])
@pytest.mark.parametrize("output", [list[Stop], set[int], tuple[str, ...]], ids=str)
def test_what_is_shown_of_a_list_only_grows(provider, offer, output):
    values = {list[Stop]: [{"place": "FRA"}, {"place": "OSL"}], set[int]: [1, 2, 3]}.get(output, ["a", "b"])
    body = provider.request(offer, ["Hello"], output=output)
    by_tool = "final_answer" in json.dumps([body.get("tools"), body.get("toolConfig")])
    said = {"value": values}
    response = ScriptedModel(
        provider, [RawCall("c1", "final_answer", said) if by_tool else json.dumps(said)]
    )(**body)
    stream = provider.stream(offer, output=output)
    lengths = []
    for event in FORMS[type(provider.wire).__name__](response, Random(1)):  # noqa: S311  # the same each time
        stream.feed(event)
        partial = stream.partial_output
        lengths.append(0 if partial is None else len(partial.fields.get("value", ())))
    assert lengths == sorted(lengths)
    assert stream.partial_output.fields["value"] == stream.close().output


@pytest.mark.parametrize(
    "text",
    ['{"value": [{"place": 5}, {"place": "OSL"}', '{"other": [{"place": "FRA"}], "value": [{"place": "OSL"}'],
)
def test_an_item_that_does_not_fit_or_is_of_another_key_is_not_shown(text):
    stream = openai_chat.stream([], output=list[Stop])
    stream.feed({"choices": [{"index": 0, "delta": {"content": text}}]})
    assert Stop("FRA") not in stream.partial_output.fields.get("value", [])
    assert all(isinstance(item.place, str) for item in stream.partial_output.fields.get("value", []))
