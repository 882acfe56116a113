"""Types and helpers that several tests of partial arguments share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from hypothesis import strategies as st

from operator_schema import Codec, DecodeError


@dataclass
class Nest:
    inner: Nest | None = None
    items: list[int] = field(default_factory=list)


@dataclass
class Write:
    path: str
    mode: Literal["write", "append"]
    lines: int | None
    nest: Nest = field(default_factory=Nest)
    most: int = field(default=9, metadata={"alias": "maxLines"})


WRITE = Codec(Write)


def outcome(decode, *given):
    try:
        return decode(*given), None
    except DecodeError as error:
        return None, (str(error), error.findings, error.omitted)


def found(text, annotation=Write, **options):
    partial = Codec(annotation, **options).decode_partial(text)
    return [(problem.path, problem.code) for problem in partial.findings]


def fed(stream, text, size=1):
    for start in range(0, len(text), size):
        stream.feed(text[start : start + size])
    return stream


def chunks(draw, text):
    sizes = draw(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any))
    index, which = 0, 0
    while index < len(text):
        size = sizes[which % len(sizes)]
        yield text[index : index + size]
        index, which = index + size, which + 1
