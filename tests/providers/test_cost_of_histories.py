"""A request with a history costs as much as its turns and its tools, and not as their product.

A turn keeps the messages that it becomes, and an offer its names on the wire. What is kept is what would be
made.
"""

import copy
import gc
import pickle
import sys
from functools import cache
from itertools import product
from random import Random

import pytest
from test_moves import PROVIDERS

from operator_schema import Executor, RawCall, Toolset, Transcript, tool
from operator_schema.providers import anthropic, openai_compatible
from operator_schema.rounds import Turn
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


LONG_TOOLSET = Toolset(*tools_of(3, "1-tool-{}", accented))


@cache
def long_history():
    """Return 96 turns with a text of the user after each."""
    turns = turns_of(LONG_TOOLSET, 96, "1-tool-0")
    return [item for number, turn in enumerate(turns) for item in (turn, f"Go on {number}.")]


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
def test_what_was_sent_before_is_only_copied_and_many_turns_at_once(provider):
    offer, key = LONG_TOOLSET.offer(), provider.wire.HISTORY

    def again(items):
        for _ in range(25):  # after 20 copies, a function is made that builds the messages
            provider.request(offer, items)
        body = {key: [message for item in items for message in provider.request(offer, [item])[key]]}
        return calls_of(lambda: provider.request(offer, items)) - calls_of(
            lambda: provider.wire.complete(body)
        )

    history = long_history()
    assert again(history) - again(history[:96]) < 96


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

PAIRS = [*product([*PROVIDERS, NAMESAKE], [toolset.offer() for toolset in OFFERS])]


@pytest.mark.parametrize("seed", seeds(25))
def test_what_is_kept_is_what_would_be_made(seed):
    draw = Random(f"kept:{seed}")  # noqa: S311  # the same each time
    history = [turn for toolset in OFFERS for turn in turns_of(toolset, 2, toolset.names[0])]
    for provider, offer in draw.choices(PAIRS, k=2 * len(PAIRS)):
        turns = draw.choices(history, k=3)
        made = provider.request([*offer.tools], fresh(turns))  # a list keeps nothing
        body = provider.request(offer, turns)
        assert body == made
        assert provider.turn(turns[0], offer) == provider.turn(fresh(turns)[0], [*offer.tools])
        changed(body, draw)  # the caller's own
        assert provider.request(offer, turns) == made


@pytest.mark.parametrize("seed", seeds(25))
def test_any_part_of_a_history_is_sent_as_if_it_were_new(seed):
    """Histories that grow, lose items at either end or inside, repeat turns, and have messages of dicts."""
    draw = Random(f"parts:{seed}")  # noqa: S311  # the same each time
    items = long_history()[:80]
    for _ in range(15):
        place = draw.randrange(len(items))
        moved = draw.choice([[], [items[place]], [items.pop(place)], [{"role": "user"}], ["Please."]])
        items[place:place] = moved
        provider, offer = draw.choice(PAIRS)
        first = draw.randrange(20)
        for last in (50, 50, 70):
            said = [own_form(provider) if item == {"role": "user"} else item for item in items[first:last]]
            unsent = [item.replace() if isinstance(item, Turn) else item for item in said]
            body = provider.request(offer, said)
            assert body == provider.request([*offer.tools], unsent)
            changed(body, draw)  # the caller's own


def own_form(provider):
    return provider.wire.text_message("user", "In its own form.")


def test_a_turn_is_freed_with_its_last_reference():
    """Nothing that a turn keeps for requests refers to the turn."""
    turns = [turn.replace() for turn in long_history()[::2]]
    for _ in range(25):
        openai_compatible("x").request(LONG_TOOLSET.offer(), turns)
    gc.collect()
    del turns
    assert gc.collect() == 0


def test_what_a_turn_and_an_offer_keep_is_no_part_of_them():
    (toolset, *_) = OFFERS
    (turn,) = turns_of(toolset, 1, "tool_0")
    (offer, other), same = (toolset.offer(), toolset.offer()), copy.deepcopy(turn)
    before = repr(turn), repr(offer), len(pickle.dumps(turn))
    PROVIDERS[0].request(offer, [turn])
    assert (repr(turn), repr(offer), len(pickle.dumps(turn))) == before
    assert (turn, offer) == (same, other)
    assert [turn.kept(PROVIDERS[0].name) is None, same.kept(PROVIDERS[0].name) is None] == [False, True]
