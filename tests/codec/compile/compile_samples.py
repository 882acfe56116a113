"""Types and helpers that several tests of the compiled tier share."""

from __future__ import annotations

import copy
import enum
import functools
from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import Any, Literal, Union

import pytest
from compare import same

from operator_schema import Codec, DecodeError
from operator_schema.codec.compile.decoder import compile_decoder
from operator_schema.codec.compile.encoder import compile_encoder
from operator_schema.codec.compile.items import ItemDecoders
from operator_schema.codec.corrections import add_suggestions
from operator_schema.codec.encode import encode_node
from operator_schema.codec.interpret import interpret
from operator_schema.codec.problems import GiveUp


class Refused(Exception):  # noqa: N818  # what an exception that is handed on carries
    pass


def leave(_codec: object, _value: object) -> Any:
    """Fall back to nothing, so that a test sees what the compiled function gives up on."""
    return GiveUp


def refusal(_codec: object, reason: Exception, _value: object) -> Exception:
    return Refused(reason)


def compiled_decoder(graph: Any, max_depth: int, **options: Any) -> Callable[[Any], Any] | None:
    compiled = compile_decoder(graph, max_depth, leave, refusal, **options)
    return None if compiled is None else partial(compiled, None)


def options_of(codec: Codec[Any]) -> dict[str, Any]:
    """Return all options of a codec, as it is pickled with them."""
    return codec.__reduce__()[1][1]


def graph_finder(codec: Codec[Any]) -> Callable[[Any], Any]:
    """Return the function that finds the graph of a class that only a value names."""
    return codec._graph_of


@functools.lru_cache(maxsize=32)
def decoder_of(codec: Codec[Any]) -> Callable[[Any], Any]:
    """Return the compiled decoder with no interpreter behind it."""
    options = options_of(codec)
    decode = compiled_decoder(codec.graph, options["max_depth"], exact=options["repair"])
    return decode or partial(leave, None)


@functools.lru_cache(maxsize=32)
def encoder_of(codec: Codec[Any]) -> Callable[[Any], Any]:
    compiled = compile_encoder(codec.graph, options_of(codec)["max_depth"], leave, graph_finder(codec))
    return partial(compiled or leave, None)


@functools.lru_cache(maxsize=32)
def items_of(codec: Codec[Any]) -> ItemDecoders:
    """Return decoders of the items of arrays that are compiled at first use."""
    return ItemDecoders(options_of(codec)["max_depth"], cold=0)


def check_items(codec: Codec[Any], value: Any) -> None:
    """Hold the interpreter that leaves items of arrays to compiled code against the one that doesn't."""
    graph, max_depth = codec.graph, options_of(codec)["max_depth"]
    expected, problems = interpret(graph, value, max_depth)
    made, others = interpret(graph, value, max_depth, filler_of=items_of(codec).filler)
    assert same(made, expected)
    assert (others.found, others.omitted) == (problems.found, problems.omitted)
    assert same(others.ignored, problems.ignored)


def check_decoder(codec: Codec[Any], value: Any) -> Any:
    """Hold the compiled decoder against the interpreter; return the instance, if there is one."""
    expected, problems = interpret(codec.graph, value, options_of(codec)["max_depth"])
    before = copy.deepcopy(value)
    try:
        made = decoder_of(codec)(value)
    except Refused as refused:
        assert [p.code for p in problems.found] == ["rejected"]
        assert str(refused.args[0]) in str(problems.found[0])
        made = GiveUp
    assert same(value, before)
    if problems.found:
        assert made is GiveUp
        with pytest.raises(DecodeError) as caught:
            codec.decode(value)
        add_suggestions(problems)
        assert list(caught.value.findings) == problems.found
        return GiveUp
    assert made is GiveUp or same(made, expected)
    assert same(codec.decode(value), expected)
    return expected


def check_encoder(codec: Codec[Any], instance: Any) -> None:
    graph = codec.graph
    expected, problems = encode_node(graph.root, graph.definitions, instance, 100, graph_finder(codec))
    made = encoder_of(codec)(instance)
    assert made is GiveUp if problems.found else made is GiveUp or same(made, expected)


def check(codec: Codec[Any], value: Any) -> None:
    check_items(codec, value)
    instance = check_decoder(codec, value)
    if instance is not GiveUp:
        check_encoder(codec, instance)


class Colour(enum.Enum):
    RED = "red"
    BLUE = 2


class Text(str):
    __slots__ = ()


@dataclass
class Part:
    name: str
    size: int = 3


@dataclass
class Add:
    kind: Literal["add"]
    left: Expression
    right: Expression


@dataclass
class Neg:
    kind: Literal["neg"]
    of: Expression


Expression = Union[Add, Neg, int]


@dataclass
class Counting:
    x: int
    made: list[int] = field(default_factory=list, init=False)
    hint: InitVar[int] = 0


@dataclass
class Checked:
    x: int

    def __post_init__(self):
        if self.x < 0:
            raise ValueError("x is negative")


@dataclass
class Tree:
    value: Any = None
    kids: list[Tree] = field(default_factory=list)
    named: dict[str, Tree] = field(default_factory=dict)
    pair: tuple[Tree, int] | None = None
