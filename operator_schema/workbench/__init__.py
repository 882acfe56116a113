"""What a developer starts beside a program: the command line, lint, comparisons, the probe, the inspector.

Nothing that runs in a program imports anything of it; it uses what the other rooms export.
"""

from __future__ import annotations

from typing import Final

from ..lazy import answer_misnamed

__all__ = ["PACKAGE"]

PACKAGE: Final = __name__.rpartition(".")[0]
"""The name of the whole package, for `python -m`; a vendored copy has another."""

answer_misnamed(__name__)
