"""The compiled tier and the interpreter agree."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from compile_samples import GiveUp, check, check_encoder, decoder_of
from hypothesis import given
from hypothesis import strategies as st
from shares import seeds
from strategies import TYPES, supposedly_valid, values_for

from operator_schema import Codec, SchemaError
from operator_schema.codec.interpret import interpret
from operator_schema.testing import arguments

sys.path.insert(0, str(Path(__file__).parents[2] / "campaign"))

from types_ import random_type
from values import Values

pytestmark = pytest.mark.slow("draws hundreds of types")


@given(st.data())
def test_one_meaning(data):
    """Law 3: compiled, compiled in parts and interpreted agree on every value, and on what is wrong with it.

    Drawing the types takes most of the time, so that each is looked at in both ways.
    """
    unknown = data.draw(st.sampled_from(["ignore", "ignore", "reject"]))
    annotation = data.draw(TYPES)
    codec = Codec(annotation, unknown_fields=unknown).compile()
    for value in data.draw(values_for(codec)):
        check(codec, value)


@pytest.mark.hypothesis
@pytest.mark.parametrize("seed", seeds(25))
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of the regular expressions among the values
def test_one_meaning_over_the_campaigns_types(seed):
    rng = random.Random(f"compiled:{seed}")  # noqa: S311  # repeatable on purpose
    taken = valid = 0
    for _ in range(25):
        try:
            codec = Codec(random_type(rng, 3), unknown_fields=rng.choice(["ignore", "reject"])).compile()
        except SchemaError:
            continue
        values = Values(codec.graph, rng)
        for _ in range(20):
            value = values.value()
            check(codec, value)
            valid += not codec.report(value)
            taken += not codec.report(value) and decoder_of(codec)(value) is not GiveUp
    assert taken / valid > 0.7


@given(TYPES, st.data())
def test_an_encoder_refuses_what_the_interpreter_refuses(annotation, data):
    """Instances of one type given to the encoder of another."""
    codec = Codec(annotation).compile()
    other = Codec(data.draw(TYPES))
    for value in data.draw(st.tuples(arguments(other), supposedly_valid(other))):
        instance, problems = interpret(other.graph, value, 100)
        if not problems.found:
            check_encoder(codec, instance)
