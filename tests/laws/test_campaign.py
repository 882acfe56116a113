"""A small slice of the agreement campaign; `make campaign` runs the whole of it."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("jsonschema_rs", reason="the third judge has compiled parts")
sys.path.insert(0, str(Path(__file__).parents[1] / "campaign"))

from run import SHARE_VALID, chunk

SEEDS = [f"test:{number}" for number in range(4)]
outcome_of = cache(chunk)


@pytest.mark.slow("draws hundreds of types")
@pytest.mark.parametrize("seed", SEEDS)
def test_decoder_and_schema_agree(seed):
    outcome = outcome_of(seed)
    assert outcome.disagreements == []
    assert outcome.accepted / outcome.pairs > SHARE_VALID / 2


def test_a_seed_says_which_run_it_is():
    first, again, other = outcome_of(SEEDS[0]), chunk(SEEDS[0]), outcome_of(SEEDS[1])
    assert first[:4] == again[:4]
    assert first.kinds == again.kinds
    assert first.kinds != other.kinds
