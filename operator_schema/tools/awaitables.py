"""Coroutines and the like that a function returns although it isn't async."""

from __future__ import annotations

from contextlib import suppress

__all__ = ["close_awaitable", "is_awaitable"]


def is_awaitable(value: object) -> bool:
    """Return whether `await` takes a value.

    `await` looks at the class alone, and so does this: to ask the value itself would run its own
    `__getattr__`.
    """
    try:
        return hasattr(type(value), "__await__")
    except Exception:  # noqa: BLE001  # the code of its metaclass
        return False


def close_awaitable(value: object) -> None:
    """Close a coroutine that nothing will await, so that Python gives no warning about it."""
    with suppress(Exception):  # the code of the value
        close = getattr(value, "close", None)
        if close is not None:
            close()
