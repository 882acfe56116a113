"""The compiled parts: a value that is not all right gives what the whole walk gives."""

from __future__ import annotations

import random
import sys
import traceback
from collections import deque
from dataclasses import dataclass, field
from functools import cache
from operator import eq
from pathlib import Path
from typing import Annotated, Any

import pytest
from compile_samples import check_parts, with_parts
from shares import seeds
from strategies import Limits

from operator_schema import Codec, DecodeError, SchemaError, SchemaLeaf
from operator_schema.codec import tiered_compilation
from operator_schema.codec.compile.writer import _require_exact

sys.path.insert(0, str(Path(__file__).parents[2] / "campaign"))

from types_ import random_type
from values import Values

# --- law 3 ---------------------------------------------------------------------------------------


@pytest.mark.hypothesis
@pytest.mark.parametrize("seed", seeds(17))
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of the regular expressions among the values
def test_one_meaning_over_the_campaigns_types(seed):
    rng = random.Random(f"parts:{seed}")  # noqa: S311  # repeatable on purpose
    failed = asked = 0
    for _ in range(25):
        try:
            codec = with_parts(random_type(rng, 3), unknown_fields=rng.choice(["ignore", "reject"]))
        except SchemaError:
            continue
        values = Values(codec.graph, rng)
        for _ in range(20):
            failed += check_parts(codec, values.value())
            asked += codec._tiers.interpret is not None
    assert failed > 100
    assert asked > 200


# --- kinds of parts ------------------------------------------------------------------------------


@dataclass
class Part:
    name: str
    size: int = 3
    tags: list[str] = field(default_factory=list)


@dataclass
class Whole:
    parts: list[Part]
    grid: list[list[int]]
    by_name: dict[str, Part] = field(default_factory=dict)
    pair: tuple[Part, int] | None = None
    either: Part | list[int] | str = ""
    different: set[int] = field(default_factory=set)
    few: Annotated[deque[int], Limits(max_length=3)] = field(default_factory=deque)
    one: Part | None = None


PART = {"name": "a", "tags": ["x", "y"]}
BAD = {"name": 5, "tags": ["x", None]}
RIGHT: dict[str, Any] = {"parts": [PART, PART], "grid": [[1, 2], [], [3]]}
CASES = [
    {"parts": [BAD]},
    {"parts": [PART, BAD, PART, BAD]},
    {"parts": [BAD, BAD, PART]},
    {"parts": [PART, {"name": "b", "size": 4.0, "more": 1}, PART]},
    {"parts": {"0": PART}},
    {"parts": [None, [], "a"]},
    {"grid": [[1, 2], [3, "x", 4, None], 5, [6.0, 7]]},
    {"grid": [[1], [2.0]]},
    {"grid": [["x"] * 70, ["y"] * 70]},
    {"by_name": {"a": PART, "b": BAD, "c": PART, "\ud800": PART}},
    {"pair": [BAD, 1]},
    {"pair": [PART, 1, 2]},
    {"pair": [PART, 1.0]},
    {"either": BAD},
    {"either": [1, "x", 2]},
    {"either": [1.0]},
    {"either": "\ud800"},
    {"different": [1, 2, 1, 2.0]},
    {"different": [1, 2.0]},
    {"different": [1, "x", 1]},
    {"few": [1, 2, 3, "x"]},
    {"few": [1, 2.0]},
    {"one": BAD},
    {"one": {"name": "b", "size": 3.0}},
    {"parts": 5, "grid": [[None]], "one": 5, "few": "x"},
]


@cache
def compiled_once(annotation: Any, unknown: Any) -> Codec[Any]:
    return with_parts(annotation, unknown_fields=unknown)


@pytest.mark.parametrize("unknown", ["ignore", "reject"])
@pytest.mark.parametrize("changed", CASES, ids=str)
def test_each_kind_of_part(changed, unknown):
    codec = compiled_once(Whole, unknown)
    check_parts(codec, {**RIGHT, **changed})
    check_parts(codec, {**changed})
    check_parts(compiled_once(list[Whole], unknown), [{**RIGHT, **changed}, RIGHT, {**RIGHT, **changed}])


def test_only_what_is_not_right_is_walked():
    seen: list[str] = []

    def decode(text):
        seen.append(text)
        return Code(text)

    leaf = SchemaLeaf(Code, {"type": "string"}, decode, str, Code("c"))
    codec = with_parts(list[dict[str, Code]], leaves=[leaf])
    seen.clear()
    with pytest.raises(DecodeError):
        codec.decode([{"a": "1"}, {"b": "2", "c": None}, {"d": "4"}])
    # Once by the decoder, then by the parts; the one that is not right is walked besides.
    assert seen == ["1", "2", "1", "2", "2", "4"]


class Code(str):
    __slots__ = ()


class Items(list):
    """An array of somebody else's, whose length is not that of its items."""

    def __len__(self):
        return 10**9


def test_a_list_of_another_class_is_walked():
    codec = with_parts(list[int])
    assert codec.decode(Items([1, 2.0])) == [1, 2]
    with pytest.raises(DecodeError) as caught:
        codec.decode(Items([1, "x"]))
    assert caught.value.findings[0].path == (1,)


# --- depth ---------------------------------------------------------------------------------------


@dataclass
class Tree:
    name: str
    trees: list[Tree] = field(default_factory=list)


@dataclass
class Forest:
    rows: list[list[Tree]]
    deep: list[list[list[int]]] = field(default_factory=list)


def tree(depth: int, name: Any) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name}
    for _ in range(depth - 1):
        made = {"name": "a", "trees": [made]}
    return made


@pytest.mark.parametrize("depth", [1, 3, 48, 49, 50, 51, 60])
def test_types_that_come_round(depth):
    codec = with_parts(Forest)
    for name in ("a", 5):
        check_parts(codec, {"rows": [[tree(1, "b")], [tree(depth, name), tree(2, name)]]}, eq)
    check_parts(with_parts(Tree), tree(depth, 5), eq)
    check_parts(with_parts(list[Tree]), [tree(depth, 5), tree(depth, "a"), {}], eq)


@pytest.mark.parametrize("depth", [5, 6, 7, 8])
def test_the_limit_on_depth(depth):
    codec = with_parts(Forest, max_depth=depth)
    for item in (1, "x", 2.0):
        check_parts(codec, {"rows": [[{"name": "x", "trees": [tree(2, 5)]}]], "deep": [[[1], [item]], [[]]]})


def recurse(text):
    if text == "deep":
        raise RecursionError
    return Code(text)


@pytest.mark.parametrize("value", [{"b": "deep"}, [{"b": "deep"}], [{"b": "x"}, {"b": 5}, {"b": "deep"}]])
def test_a_recursion_error_of_the_user_s_goes_through(value):
    leaf = SchemaLeaf(Code, {"type": "string"}, recurse, str, Code("c"))
    codec = with_parts(dict[str, dict[str, Code] | list[dict[str, Code]]], leaves=[leaf])
    with pytest.raises(RecursionError):
        codec.decode({"a": value})


# --- user code, and when -------------------------------------------------------------------------


@dataclass
class Checked:
    parts: list[Part]
    log = []

    def __post_init__(self):
        self.log.append(len(self.parts))


def test_the_root_s_own_check_runs_once():
    codec = with_parts(Checked)
    Checked.log.clear()
    assert codec.decode({"parts": [{"name": "a", "size": 3.0}, PART]}).parts[0].size == 3
    with pytest.raises(DecodeError):
        codec.decode({"parts": [PART, BAD]})
    assert Checked.log == [2]


def test_what_stays_interpreted_has_no_parts():
    codec = with_parts(list[Checked])
    assert codec._tiers.interpret is None
    Checked.log.clear()
    check_parts(codec, [{"parts": [PART]}, {"parts": [BAD]}])


def test_what_stays_interpreted_is_not_compiled_again_and_again(monkeypatch):
    codec = Codec(list[Checked]).compile()
    attempts = []
    monkeypatch.setattr(tiered_compilation.Tiers, "compile_parts", attempts.append)
    for _ in range(2 * tiered_compilation.COLD_CALLS):
        assert codec.decode([]) == []
    assert attempts == []


def test_keys_that_are_ignored_are_still_reported():
    codec = with_parts(Whole)
    report = codec.decode_report({**RIGHT, "one": {"name": "a", "nmae": 1}})
    assert [key.path for key in report.ignored] == [("one", "nmae")]


@pytest.mark.parametrize("repair", [True, False])
def test_parts_are_compiled_when_enough_was_given_up(repair):
    codec = Codec(Whole, repair=repair).compile()
    value = {**RIGHT, "one": {"name": "a", "size": 3.0}}
    for _ in range(tiered_compilation.COLD_CALLS - 1):
        codec.decode(value)
    codec.decode(RIGHT)
    assert codec._tiers.interpret is None
    first = codec.decode(value)
    assert codec._tiers.interpret is not None
    assert codec.decode(value) == first
    if repair:
        assert codec.decode({**RIGHT, "one": {"name": "a", "size": "4"}}).one == Part("a", 4)


def test_a_caller_that_stands_deep_compiles_later(monkeypatch):
    codec = Codec(Part).compile()
    attempts = []

    def run_out(_tiers):
        attempts.append(1)
        raise RecursionError

    monkeypatch.setattr(tiered_compilation, "COLD_CALLS", 2)
    monkeypatch.setattr(tiered_compilation.Tiers, "compile_parts", run_out)
    for _ in range(4):
        assert codec.decode({"name": "a", "size": 1.0}) == Part("a", 1)
    assert len(attempts) == 2


def test_a_traceback_shows_the_source_of_a_part():
    def explode(text):
        if text == "bad":
            message = "a bug in a leaf"
            raise KeyError(message)
        return Code(text)

    leaf = SchemaLeaf(Code, {"type": "string"}, explode, str, Code("c"))
    codec = with_parts(dict[str, dict[str, Code]], leaves=[leaf])
    with pytest.raises(KeyError) as caught:
        codec.decode({"a": {"x": 5}, "b": {"x": "bad"}})
    assert "= decode_" in "".join(traceback.format_exception(caught.value))


def test_generated_code_takes_no_subclass_of_str():
    class Text(str):
        __slots__ = ()

    _require_exact("a")
    with pytest.raises(TypeError, match="text of class str alone"):
        _require_exact(Text("a"))
