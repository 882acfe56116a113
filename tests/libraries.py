"""The libraries that users bring along, all of them test requirements; Pyodide has no wheels of some."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import pytest

REASON = "there is no wheel of it for Pyodide"


def library(name: str) -> Any:
    """Import a library, or skip the module where it can't be installed."""
    if sys.platform == "emscripten":  # pragma: no cover  # `make matrix` runs it
        return pytest.importorskip(name, reason=REASON)
    return import_module(name)
