"""Checks of tools: problems for a model, and for providers."""

from __future__ import annotations

from .checks import lint, lint_type, place_of_tool

__all__ = ["lint", "lint_type", "place_of_tool"]
