"""What several tests of tools start from."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("rtools"):
            del sys.modules[name]
