"""What is wrong with tools for a model, and for the providers that get them."""

from __future__ import annotations

from .checks import lint

__all__ = ["lint"]
