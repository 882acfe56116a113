"""Whether a function takes a number of arguments is seen from its code, as from its signature."""

from __future__ import annotations

import functools
import inspect
from itertools import product

import pytest

from operator_schema.tools.signature import takes

POSITIONAL = ["", "a", "a, /", "a=1", "a, b", "a, /, b", "a, b=1", "a=1, b=1", "a, b, c", "a, b, c=1"]
FUNCTIONS = {
    text: eval(f"lambda {text}: None")  # noqa: S307  # of this file alone
    for positional, rest, named in product(POSITIONAL, ["", "*rest"], ["", "k", "k=1", "k, m=1"])
    for parts in [[positional, rest or ("*" if named else ""), named]]
    for more in ["", "**others"]
    for text in [", ".join(filter(None, [*parts, more]))]
}


def binds(function, count):
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("text", FUNCTIONS)
def test_code_and_signature_agree(text):
    function = FUNCTIONS[text]
    for count in range(5):
        assert takes(function, count) == binds(function, count)


def test_the_marks_of_decorators_count():
    wrapped = functools.wraps(lambda a, b: None)(lambda *_: None)
    assert [takes(wrapped, count) for count in range(4)] == [False, False, True, False]
    assert [takes(functools.partial(lambda a, b: None, 1), count) for count in range(3)] == [
        False,
        True,
        False,
    ]
    narrower = functools.wraps(lambda a, b: None)(lambda: None)
    assert [takes(narrower, count) for count in range(3)] == [True, False, False]
    assert [takes([].append, count) for count in range(3)] == [False, True, False]
