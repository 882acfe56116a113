"""Turns with thousands of calls: linear time, short messages."""

from __future__ import annotations

import pytest
from patience import assert_linear
from round_samples import done, raw, toolset

from operator_schema import RoundError, RunNormally
from operator_schema.rounds import CommitError


def of(many):
    return toolset.offer().round([raw("pay", "same", amount=1) for _ in range(many)])


def test_a_huge_turn_takes_linear_time_and_short_messages():
    assert_linear(decided_and_committed, 500, setup=of)


def decided_and_committed(found):
    many = len(found.calls)
    plan = found.confirmed()
    with pytest.raises(RoundError) as caught:
        plan.approve("same")
    assert caught.value.count == many
    assert len(str(caught.value)) < 500
    plan = plan.approve(many - 1).reject(0)
    agreed = done(found.apply(lambda call: RunNormally(approved=True)))
    results = [call.complete("p") for call in agreed.pending]
    with pytest.raises(CommitError) as refused:
        agreed.commit([], results=[*results, *results])
    assert len(refused.value.findings) == many
    assert len(str(refused.value)) < 2000
    turn = agreed.with_results(results[: many // 2]).commit([], results=results[many // 2 :])
    assert turn.results == tuple(results)
