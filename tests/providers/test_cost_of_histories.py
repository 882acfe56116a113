"""A request with a history costs as much as its turns and its tools, and not as their product.

A turn keeps the messages that it becomes, and an offer its names on the wire. What is kept is what would be
made.
"""

import copy
import pickle
import sys
from itertools import product
from random import Random

import pytest
from test_moves import PROVIDERS

from operator_schema import Executor, RawCall, Toolset, Transcript, tool
from operator_schema.providers import anthropic, openai_compatible
from tests.shares import seeds

pytestmark = pytest.mark.needs_threads

SIZES = [(1, 1), (1, 30), (30, 1), (30, 30)]


@tool
def plain(a: int = 0, b: int = 0) -> str:
    """Do it."""
    return f"{a} {b}"


@tool
def accented(a: int = 0, b: int = 0, é: int = 0) -> str:  # noqa: PLC2401  # a name that Anthropic does not take
    """Do it."""
    return f"{a} {b} {é}"


def tools_of(number, name, one=plain):
    return [one.with_(name=name.format(index)) for index in range(number)]


def turns_of(toolset, number, name):
    history = Transcript()
    executor = Executor(toolset)
    for index in range(number):
        calls = [
            RawCall(f"call_{index}", name, {"a": index}),
            RawCall(f"more_{index}", name, '{"b": 1, "é": 2}'),
        ]
        executor.run_sync(toolset.offer().round(calls, assistant=None)).commit(history)
    return list(history)


def fresh(turns):
    """Copy turns: a copy has nothing of what the turn keeps."""
    return copy.deepcopy(turns)


def calls_of(work):
    """Count the calls of functions, Python's and C's, that something makes."""
    count = 0

    def note(_frame, event, _argument):
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_a_request_costs_its_turns_and_its_tools(provider):
    first, again = {}, {}
    for size in SIZES:
        turns, tools = size
        toolset = Toolset(*tools_of(tools, "1-tool-{}", accented))
        history = turns_of(toolset, turns, "1-tool-0")
        provider.request(toolset.offer(), fresh(history))  # the tools are written, and modules loaded
        for cost in (first, again):
            cost[size] = calls_of(lambda: provider.request(toolset.offer(), history))  # noqa: B023  # called here
    for cost in (first, again):
        together = cost[30, 30] - cost[30, 1] - cost[1, 30] + cost[1, 1]
        assert together < 30, (first, again)  # a product would be 900 and more
    assert again[30, 1] < first[30, 1] / 3


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_a_turn_that_was_sent_before_is_only_copied(provider):
    toolset = Toolset(*tools_of(3, "1-tool-{}", accented))
    history = turns_of(toolset, 20, "1-tool-0")
    for _ in range(25):  # after 20 copies of a turn, a function is made that builds it
        body = provider.request(toolset.offer(), history)
    again = calls_of(lambda: provider.request(toolset.offer(), history))
    rest = calls_of(lambda: provider.request(toolset.offer(), []))
    completed = calls_of(lambda: provider.wire.complete(body))
    assert again - rest - completed <= 10 * len(history)


def changed(value, draw):
    """Change everything in a JSON value, in place."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        if isinstance(value[key], (dict, list)):
            changed(value[key], draw)
        if draw.random() < 0.5:
            value[key] = None


OFFERS = [Toolset(*tools_of(2, name, one)) for name in ("tool_{}", "1-tool-{}") for one in (plain, accented)]


NAMESAKE = openai_compatible(anthropic.name)
"""Another provider of the same name."""


@pytest.mark.parametrize("seed", seeds(25))
def test_what_is_kept_is_what_would_be_made(seed):
    draw = Random(f"kept:{seed}")  # noqa: S311  # the same each time
    history = [turn for toolset in OFFERS for turn in turns_of(toolset, 2, toolset.names[0])]
    pairs = [*product([*PROVIDERS, NAMESAKE], [toolset.offer() for toolset in OFFERS])]
    for provider, offer in draw.choices(pairs, k=2 * len(pairs)):
        turns = draw.choices(history, k=3)
        made = provider.request([*offer.tools], fresh(turns))  # a list keeps nothing
        body = provider.request(offer, turns)
        assert body == made
        assert provider.turn(turns[0], offer) == provider.turn(fresh(turns)[0], [*offer.tools])
        changed(body, draw)  # the caller's own
        assert provider.request(offer, turns) == made


def test_what_a_turn_and_an_offer_keep_is_no_part_of_them():
    (toolset, *_) = OFFERS
    (turn,) = turns_of(toolset, 1, "tool_0")
    (offer, other), same = (toolset.offer(), toolset.offer()), copy.deepcopy(turn)
    before = repr(turn), repr(offer), len(pickle.dumps(turn))
    PROVIDERS[0].request(offer, [turn])
    assert (repr(turn), repr(offer), len(pickle.dumps(turn))) == before
    assert (turn, offer) == (same, other)
    assert [turn.kept(PROVIDERS[0].name) is None, same.kept(PROVIDERS[0].name) is None] == [False, True]
