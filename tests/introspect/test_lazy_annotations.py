"""Annotations that Python 3.14 evaluates when they are asked for (PEP 649): no future import here."""

import sys
from dataclasses import dataclass, field

import pytest

from operator_schema import decode

pytestmark = pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are lazy since Python 3.14")


def test_a_class_that_is_defined_later_in_the_same_function():
    @dataclass
    class Here:
        a: There | None = None  # noqa: F821  # defined below
        b: list[There] = field(default_factory=list)  # noqa: F821  # likewise

    @dataclass
    class There:
        x: int

    assert decode(Here, {"a": {"x": 1}, "b": [{"x": 2}]}) == Here(There(1), [There(2)])


def test_a_class_that_refers_to_itself():
    @dataclass
    class Node:
        next: Node | None = None  # noqa: F821  # its own name

    assert decode(Node, {"next": {}}) == Node(Node())
