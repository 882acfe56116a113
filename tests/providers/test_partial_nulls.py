"""Strict modes send null for what is left out: while a stream arrives, it is as if the null weren't there."""

import json
from dataclasses import dataclass, field
from random import Random

import pytest
from splitting import FORMS

from operator_schema import Codec, RawCall, Toolset, tool
from operator_schema import providers as all_providers
from operator_schema.providers import Provider
from operator_schema.testing import ScriptedModel
from tests.shares import seeds


@dataclass
class Stop:
    place: str
    gate: str = "A"
    minutes: int | None = None


@dataclass
class Trip:
    """A trip."""

    name: str
    seats: int = 1
    first: Stop = field(default_factory=lambda: Stop("FRA"))
    stops: list[Stop] = field(default_factory=list)
    note: str | None = None


FIRST = Stop("FRA")


@tool
def book(
    name: str,
    seats: int = 1,
    first: Stop = FIRST,
    stops: tuple[Stop, ...] = (),
    note: str | None = None,
) -> str:
    """Book a trip."""
    return f"{name} {seats} {first} {stops} {note}"


def drawn(draw, whole):
    """Return some of an object, and the same with null in place of what is left out and can't be null."""
    left_out = {key for key in whole if key not in {"name", "place"} and draw.random() < 0.5}
    some, nulled = {}, {}
    for key, value in whole.items():
        if key in left_out:
            # A field that may be null has its null for itself.
            nulled |= {} if key in {"note", "minutes"} else {key: None}
            continue
        inner = [drawn(draw, one) for one in value] if isinstance(value, list) else value
        some[key] = [one for one, _ in inner] if isinstance(value, list) else inner
        nulled[key] = [one for _, one in inner] if isinstance(value, list) else inner
        if isinstance(value, dict):
            some[key], nulled[key] = drawn(draw, value)
    return some, nulled


STOP = {"place": "FRA", "gate": "B", "minutes": 3}
WHOLE = {"name": "Ann", "seats": 2, "first": STOP, "stops": [STOP, {**STOP, "minutes": None}], "note": "x"}
NULLING = [
    provider
    for name in dir(all_providers)
    if isinstance(provider := getattr(all_providers, name), Provider)
    and provider.dialect is not None
    and provider.dialect.required != "any"
]


def test_some_strict_modes_send_nulls():
    assert {provider.name for provider in NULLING} >= {"OpenAI Chat Completions", "OpenAI Responses"}


def seen(provider, offer, said, look, **output):
    """List what is known after each piece of a stream in which a model says something."""
    body = provider.request(offer, ["Hello"], **output)
    response = ScriptedModel(provider, [said])(**body)
    stream = provider.stream(offer, **output)
    found = []
    for event in FORMS[type(provider.wire).__name__](response, Random(1)):  # noqa: S311  # the same each time
        stream.feed(event)
        partial = look(stream)
        if partial is not None:
            found.append(partial)
    return found


def first_call(stream):
    return stream.calls[0].partial if stream.calls else None


def answer_so_far(stream):
    return stream.partial_output


def check(some, nulled):
    """Check that nulls never show: at the end, all is the same, and before it, nothing is wrong."""
    assert nulled[-1] == some[-1]
    assert nulled[-1].is_complete
    for partial in nulled:
        assert partial.findings == ()
        assert partial.fields.items() <= nulled[-1].fields.items()


@pytest.mark.parametrize("provider", NULLING, ids=lambda provider: provider.name)
@pytest.mark.parametrize("seed", seeds(10))
def test_nulls_of_a_strict_mode_arent_wrong_while_a_call_or_an_answer_arrives(provider, seed):
    draw = Random(f"nulls:{seed}")  # noqa: S311  # the same each time
    values = drawn(draw, WHOLE)
    offer = Toolset(book).offer(strict=True)
    calls = [[RawCall("call_1", "book", json.dumps(value))] for value in values]
    check(*[seen(provider, offer, said, first_call) for said in calls])
    if provider.features.outputs:
        check(*[seen(provider, [], json.dumps(value), answer_so_far, output=Trip) for value in values])
        listed = [json.dumps({"value": [value]}) for value in values]
        check(*[seen(provider, [], said, answer_so_far, output=list[Trip]) for said in listed])
    assert Codec(Trip).decode(values[0])
