"""Check tools and types: the facts that a model has to guess, and the parts that providers refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .linting import lint as lint
    from .linting import lint_type as lint_type
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__, {".linting": "lint lint_type"})
