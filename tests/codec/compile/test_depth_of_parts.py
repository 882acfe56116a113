"""Parts that the interpreter handles inside generated code count the levels above them."""

from dataclasses import dataclass, field

import pytest

from operator_schema import Codec, DecodeError


@dataclass
class Leaf:
    text: str


@dataclass
class Branch:
    inner: "Branch | Leaf | None" = None


@dataclass
class Listing:
    items: list["Listing | Leaf"] = field(default_factory=list)


@dataclass
class Named:
    parts: dict[str, "Named | Leaf"] = field(default_factory=dict)


def branch(levels):
    return {"inner": branch(levels - 1)} if levels else {"text": "x"}


def listing(levels):
    return {"items": [listing(levels - 1)]} if levels else {"text": "x"}


def named(levels):
    return {"parts": {"a": named(levels - 1)}} if levels else {"text": "x"}


def fits(codec, value):
    try:
        codec.decode(value)
    except DecodeError as error:
        assert {problem.code for problem in error.findings} == {"too_deep"}
        return False
    return True


@pytest.mark.parametrize(
    ("kind", "make"), [(Branch, branch), (Listing, listing), (Named, named)], ids=lambda kind: kind.__name__
)
@pytest.mark.parametrize("max_depth", [3, 4, 5, 6, 7])
def test_generated_code_stops_at_the_same_level(kind, make, max_depth):
    cold, warm = Codec(kind, max_depth=max_depth), Codec(kind, max_depth=max_depth)
    warm.compile()
    values = [make(levels) for levels in range(1, 9)]
    found = [fits(cold, value) for value in values]
    assert found == [fits(warm, value) for value in values]
    assert found[0] is True
    assert found[-1] is False
