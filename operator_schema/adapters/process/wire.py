"""Requests and answers, as both sides write them."""

from __future__ import annotations

from typing import Any

__all__ = ["ACTIONS", "error_answer"]

ACTIONS = ("schema", "run")
"""What a request may ask for."""


def error_answer(message: str, code: str | None = None) -> dict[str, Any]:
    """Return the answer for a call that has no result."""
    return {"type": "error", "message": message, "code": code}
