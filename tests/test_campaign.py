"""A small slice of the agreement campaign; `make campaign` runs the whole of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("jsonschema_rs", reason="the third judge has compiled parts")
sys.path.insert(0, str(Path(__file__).parent / "campaign"))

from run import SHARE_VALID, chunk


@pytest.mark.slow("draws hundreds of types")
@pytest.mark.parametrize("seed", [f"test:{i}" for i in range(6)])
def test_decoder_and_schema_agree(seed):
    outcome = chunk(seed)
    assert outcome.disagreements == []
    assert outcome.accepted / outcome.pairs > SHARE_VALID / 2


def test_a_seed_says_which_run_it_is():
    first, second = chunk("again"), chunk("again")
    assert first[:4] == second[:4]
    assert first.kinds == second.kinds
