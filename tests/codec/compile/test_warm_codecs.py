"""When a codec compiles itself."""

from __future__ import annotations

import copy
import enum
import inspect
import pickle
from collections import OrderedDict, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, make_dataclass
from functools import partial
from typing import Annotated, Any

import pytest
from compare import same
from compile_samples import Checked, Part, check, check_encoder, options_of

from operator_schema import Codec, DecodeError, EncodeError, SchemaLeaf
from operator_schema.codec import tiered_compilation


@dataclass
class Queued:
    queue: deque[int] = field(default_factory=deque)
    ordered: OrderedDict[str, int] = field(default_factory=OrderedDict)


def test_containers_that_are_empty_by_default():
    codec = Codec(Queued).compile()
    check(codec, {})
    assert codec.decode({}) == Queued()


class Digit(enum.Enum):
    ZERO, ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT, NINE = range(10)
    NONE = 0


def test_an_enum_of_many_members():
    codec = Codec(list[Digit]).compile()
    check(codec, list(range(10)))
    check_encoder(codec, [Digit.ONE, 1])
    assert codec.encode(list(Digit)) == list(range(10))


def test_a_codec_compiles_when_it_is_warm():
    codec = Codec(Part)
    for i in range(tiered_compilation.COLD_CALLS - 1):
        codec.encode(codec.decode({"name": "a", "size": i}))
    assert codec.compiled == set()
    codec.encode(codec.decode({"name": "a"}))
    assert codec.compiled == {"decode", "encode"}
    assert codec.decode({"name": "a"}) == Part("a")
    assert codec.encode(Part("a")) == {"name": "a", "size": 3}


def test_a_warm_codec_has_the_compiled_functions_under_the_names_of_its_methods():
    codec = Codec(Part)
    early = codec.decode
    codec.compile()
    assert vars(codec)["decode"] == codec.decode
    assert vars(codec)["encode"] == codec.encode
    cold = Codec(Part)
    for bound, method in ((codec.decode, cold.decode), (codec.encode, cold.encode)):
        assert inspect.ismethod(bound)
        assert bound.__self__ is codec
        for what in (inspect.getdoc, inspect.signature, inspect.getmodule):
            assert what(bound) == what(method)
        assert (bound.__name__, bound.__qualname__) == (method.__name__, method.__qualname__)
    again = pickle.loads(pickle.dumps(codec.decode))
    assert again({"name": "a"}) == Part("a")
    for decode in (codec.decode, early, partial(Codec.decode, codec)):
        assert decode({"name": "a"}) == Part("a")
        with pytest.raises(DecodeError, match="name: missing"):
            decode({})
    assert Codec.encode(codec, Part("a")) == {"name": "a", "size": 3}
    with pytest.raises(AttributeError, match="immutable"):
        codec.decode = None


def test_a_method_of_a_subclass_is_not_passed_over():
    class Counting(Codec[Any]):
        __slots__ = ("calls",)

        def decode(self, value):
            object.__setattr__(self, "calls", getattr(self, "calls", 0) + 1)
            return super().decode(value)

    codec = Counting(Part).compile()
    assert codec.decode({"name": "a"}) == codec.decode({"name": "a"}) == Part("a")
    assert codec.calls == 2
    assert "decode" not in vars(codec)
    assert vars(codec)["encode"] == codec.encode


def test_what_stands_under_a_method_s_name_stays_there(monkeypatch):
    codec = Codec(Part)
    object.__setattr__(codec, "decode", len)
    assert codec.compile().decode("ab") == 2
    patched = Codec(Part)
    monkeypatch.setattr(Codec, "decode", lambda _codec, value: value)
    assert patched.compile().decode(7) == 7


class Fussy:
    pass


def refuse_to_read(calls: list[Any], error: type[Exception]) -> SchemaLeaf[Any]:
    fussy = Fussy()

    def read(text: str) -> Any:
        if text == "f":
            return fussy
        calls.append(text)
        raise error

    return SchemaLeaf(Fussy, {"type": "string"}, read, lambda _: "f", placeholder=fussy)


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("value", [{}, {"n": "no", "f": "a"}, {"n": 1, "f": "a"}])
def test_an_error_of_a_warm_codec_has_no_other_behind_it(value, repair):
    calls: list[Any] = []
    fields = [("n", int), ("f", Annotated[Fussy, refuse_to_read(calls, ValueError)])]
    codec = Codec(make_dataclass("Holder", fields), repair=repair).compile()
    with pytest.raises(DecodeError) as caught:
        codec.decode(value)
    assert caught.value.__context__ is None
    with pytest.raises(EncodeError) as unwritten:
        codec.encode(object.__new__(codec.type))
    assert unwritten.value.__context__ is None


def test_a_recursion_error_of_a_leaf_s_is_not_met_twice():
    calls: list[Any] = []
    leaf = refuse_to_read(calls, RecursionError)
    codec = Codec(make_dataclass("Holder", [("n", int), ("f", Annotated[Fussy, leaf])])).compile()
    with pytest.raises(RecursionError):
        codec.decode({"n": "no", "f": "a"})
    assert calls == ["a"]


def test_options_are_a_codec_s_own():
    codec = Codec(Part)
    options_of(codec)["repair"] = True
    assert options_of(Codec(Part))["repair"] is False


@pytest.mark.parametrize("annotation", [list[Checked], list[Part]])
def test_what_stays_interpreted_and_what_is_left_answer_alike(annotation):
    cold, warm = Codec(annotation), Codec(annotation).compile()
    for value in ([{}], [{"x": 1, "name": "a"}], [1], None):
        outcomes = []
        for codec in (cold, warm):
            try:
                outcomes.append(codec.decode(value))
            except DecodeError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("method", ["compile_decoder", "compile_encoder"])
def test_a_caller_that_stands_deep_compiles_later(monkeypatch, method):
    codec = Codec(Part)
    attempts = []

    def run_out(_tiers, *_functions):
        attempts.append(1)
        raise RecursionError

    monkeypatch.setattr(tiered_compilation, "COLD_CALLS", 2)
    monkeypatch.setattr(tiered_compilation.Tiers, method, run_out)
    for _ in range(4):
        assert codec.encode(codec.decode({"name": "a"})) == {"name": "a", "size": 3}
    assert len(attempts) == 2


@pytest.mark.needs_threads
def test_threads_may_compile_at_once():
    codec = Codec(list[Part])
    value = [{"name": "a", "size": i} for i in range(5)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: codec.decode(value), range(8 * tiered_compilation.COLD_CALLS)))
        written = list(pool.map(codec.encode, made))
    assert all(same(one, made[0]) for one in made)
    assert all(same(one, value) for one in written)
    assert codec.compiled == {"decode", "encode"}


def test_a_compiled_codec_pickles_and_copies():
    codec = Codec(Part).compile()
    assert codec.compile() is codec
    for again in (pickle.loads(pickle.dumps(codec)), copy.deepcopy(codec)):
        assert again.compiled == set()
        assert again.decode({"name": "a"}) == Part("a")
