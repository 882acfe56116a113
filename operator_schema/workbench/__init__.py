"""Tools for developers: the command line, lint, comparisons, the probe, and the inspector.

The code that runs in programs imports nothing from here; this room uses the exports of the other rooms.
"""

from __future__ import annotations

from typing import Final

from ..lazy import answer_misnamed

__all__ = ["PACKAGE"]

PACKAGE: Final = __name__.rpartition(".")[0]
"""The name of the whole package, for `python -m`; a vendored copy has another name."""

answer_misnamed(__name__)
