"""Checks of tools: problems for a model, and for providers."""

from __future__ import annotations

from .checks import lint

__all__ = ["lint"]
