"""The user's own code runs once, in both tiers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar
from uuid import UUID, uuid4

import pytest
from compile_samples import Checked, check, leave, refusal

from operator_schema import Codec, DecodeError
from operator_schema.codec.compile.decoder import compile_decoder, why_interpreted


@dataclass
class Logged:
    x: int
    y: int | None
    z: int | None = None
    id: UUID = field(default_factory=uuid4)

    log: ClassVar[list[int]] = []

    def __post_init__(self):
        self.log.append(self.x)
        if self.x < 0:
            raise ValueError("x is negative")
        if self.x == 100:
            raise RecursionError
        if self.x == 101:
            raise KeyError("a bug")


@pytest.mark.parametrize("raised", [(100, RecursionError), (101, KeyError)])
def test_the_root_s_own_check_runs_once(raised):
    codec = Codec(Logged).compile()
    Logged.log.clear()
    assert codec.decode({"x": 1, "z": None}).y is None
    assert codec.decode({"x": 1.0, "y": 3}).x == 1
    with pytest.raises(DecodeError) as caught:
        codec.decode({"x": -1})
    problem = caught.value.findings[0]
    assert (problem.path, problem.code, problem.message) == (
        (),
        "rejected",
        "Logged refused it: x is negative",
    )
    assert str(caught.value) == str(interpreted_error(Codec(Logged), {"x": -1}))
    with pytest.raises(DecodeError):
        codec.decode({"x": "5"})
    with pytest.raises(raised[1]):
        codec.decode({"x": raised[0]})
    assert Logged.log == [1, 1, -1, -1, raised[0]]


def interpreted_error(codec, value):
    with pytest.raises(DecodeError) as caught:
        codec.decode(value)
    return caught.value


@dataclass
class Stamped:
    x: int
    id: int = field(default_factory=lambda: Stamped.made.append(1) or len(Stamped.made))

    made: ClassVar[list[int]] = []


def test_factories_run_once_and_only_on_valid_values():
    codec = Codec(list[Stamped]).compile()
    Stamped.made.clear()
    assert codec.compiled == {"decode", "encode"}
    assert codec.decode([{"x": 1, "id": 7}]) == [Stamped(1, 7)]
    assert Stamped.made == []
    assert [s.id for s in codec.decode([{"x": 1}, {"x": 2}])] == [1, 2]
    with pytest.raises(DecodeError):
        codec.decode([{"x": "a"}])
    assert len(Stamped.made) == 2


@dataclass
class Nest:
    inner: Nest | None = None
    checked: Checked | None = None


@dataclass
class Ring:
    next: Ring | None = None

    def __post_init__(self):
        pass


@pytest.mark.parametrize("annotation", [list[Checked], Nest, Ring, Checked | None])
def test_classes_inside_that_run_their_own_code_stay_interpreted(annotation):
    codec = Codec(annotation).compile()
    assert "stays interpreted: making a '" in codec.source()
    assert why_interpreted(codec.graph)
    assert compile_decoder(codec.graph, 100, leave, refusal) is None
    for value in ([{"x": 1}], {"checked": {"x": -1}}, {}, {"next": {}}, {"x": 1}, None):
        check(codec, value)
