"""What an adapter says where its framework is missing or too old, and what it leaves as it is."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from operator_schema.adapters.base import needing

NEEDS = "this adapter needs frame 4.1 or newer: pip install 'operator-schema[frame]'"


def importing(statement, module="frame"):
    with needing(module, "frame 4.1 or newer", "frame"):
        exec(statement, {})  # noqa: S102  # a statement of this file


@pytest.fixture
def old_frame(monkeypatch):
    frame, lib = ModuleType("frame"), ModuleType("frame.lib")
    frame.__path__ = []
    monkeypatch.setitem(sys.modules, "frame", frame)
    monkeypatch.setitem(sys.modules, "frame.lib", lib)


@pytest.mark.parametrize(
    ("module", "statement"),
    [
        ("frame", "import frame"),
        ("frame", "from frame.tools import base"),
        ("frame.core", "from frame.core.tools import Tool"),
    ],
)
def test_a_missing_framework_is_answered_with_what_to_install(module, statement):
    with pytest.raises(ModuleNotFoundError) as caught:
        importing(statement, module)
    assert str(caught.value) == NEEDS
    assert caught.value.name == module


@pytest.mark.usefixtures("old_frame")
@pytest.mark.parametrize(
    ("statement", "lacks"),
    [
        ("import frame.tools.base", "No module named 'frame.tools'"),
        ("from frame.tools import Tool", "No module named 'frame.tools'"),
        ("from frame import Tool", "cannot import name 'Tool' from 'frame'"),
        ("from frame.lib import Tool", "cannot import name 'Tool' from 'frame.lib'"),
    ],
)
def test_a_framework_that_is_too_old_is_answered_with_what_it_lacks(statement, lacks):
    with pytest.raises(ImportError) as caught:
        importing(statement)
    assert str(caught.value).startswith(f"{NEEDS} (with what is installed: {lacks}")
    assert isinstance(caught.value.__cause__, ImportError)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("import frames", "^No module named 'frames'$"),
        ("from types import Frame", "^cannot import name 'Frame' from 'types'"),
        ("raise ImportError('no reason')", "^no reason$"),
        ("raise ValueError('wrong')", "^wrong$"),
    ],
)
def test_what_else_fails_inside_of_a_framework_stays_what_it_is(statement, said):
    with pytest.raises((ImportError, ValueError), match=said):
        importing(statement)
