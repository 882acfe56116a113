"""What is written into the log of decisions, and at which level."""

from __future__ import annotations

import logging
from typing import Any

from round_samples import done, fetch, raw, search, toolset

from operator_schema import Complete, Defer, Reject, RunNormally, Toolset, hook, tool
from operator_schema.rounds import Hooks

CONFIRM = "the tool needs a person's approval (confirm=True)"


def query(text):
    return search.input_type(query=text)


def logged(caplog, level, hooks, *calls):
    caplog.clear()
    with caplog.at_level(level, logger="operator_schema"):
        done(toolset.offer().round(calls).apply(hooks))
    return [(record.levelname, record.getMessage()) for record in caplog.records]


@hook(search)
def decide_search(call):
    return RunNormally(query("edited"))


@hook(fetch)
def decide_fetch(call):
    return {"1": Complete("secret page"), "2": Reject("why not"), "3": Defer("ask"), "4": Reject()}[call.id]


CALLS = [raw("fetch", str(i), url="secret") for i in range(1, 5)]


def test_what_stops_a_call_is_logged_at_info(caplog):
    found = logged(
        caplog,
        logging.INFO,
        Hooks(decide_search, decide_fetch),
        *CALLS,
        raw("search", "5", query="secret"),
        raw("pay", "6", amount=1),
    )
    assert found == [
        ("INFO", "fetch (call 1): decide_fetch decided Complete"),
        ("INFO", "fetch (call 2): decide_fetch decided Reject: why not"),
        ("INFO", "fetch (call 3): decide_fetch decided Defer: ask"),
        ("INFO", "fetch (call 4): decide_fetch decided Reject"),
        ("INFO", f"pay (call 6): the tool decided Defer: {CONFIRM}"),
    ]


def test_what_goes_on_is_logged_at_debug_with_the_input(caplog):
    found = logged(caplog, logging.DEBUG, decide_search, raw("search", "5", query="q"))
    message = 'search (call 5): decide_search decided RunNormally: {"query":"edited","limit":10}'
    assert found == [("DEBUG", message)]
    assert logged(caplog, logging.WARNING, decide_fetch, *CALLS) == []


def test_the_log_is_bounded_and_on_one_line(caplog):
    long = "x\ny\x1b[31m" * 30_000
    for decision in (Reject(long), Defer(long), RunNormally(query(long))):
        (found,) = logged(
            caplog, logging.DEBUG, lambda call, made=decision: made, raw("search", long, query=long)
        )
        assert len(found[1]) < 5000
        assert "\n" not in found[1]
        assert "\x1b" not in found[1]


def test_an_input_that_can_not_be_written_is_logged_without_it(caplog):
    @tool
    def anything(value: Any) -> None:
        """Take anything."""

    with caplog.at_level(logging.DEBUG, logger="operator_schema"):
        done(Toolset(anything).offer().round([raw("anything", value="\ud800")]).apply(lambda _: None))
    assert (
        caplog.records[-1].getMessage().endswith("decided RunNormally: (the input can't be written as JSON)")
    )


def test_a_handler_that_raises_loses_nothing(caplog):
    class Broken(logging.Handler):
        def emit(self, record):
            raise ZeroDivisionError

    logger = logging.getLogger("operator_schema")
    broken = Broken()
    logger.addHandler(broken)
    try:
        assert logged(caplog, logging.DEBUG, decide_fetch, *CALLS) is not None
    finally:
        logger.removeHandler(broken)
