"""A new kind of node has an arm in each table; where a `match` stands instead, the type checker says so."""

from __future__ import annotations

from typing import get_args

import pytest

from operator_schema import schema
from operator_schema.codec import interpret
from operator_schema.introspect.nodes import Node


@pytest.mark.parametrize("arms", [{*schema.Renderer.ARMS}, {*interpret.DECODERS}])
def test_every_kind_of_node_has_an_arm(arms):
    assert arms == set(get_args(Node))
