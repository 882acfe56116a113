"""Equality that misses nothing: types, order of keys, and what is inside."""

from __future__ import annotations

import dataclasses
from collections import deque
from typing import Any

__all__ = ["same"]


def same(one: Any, other: Any) -> bool:
    """Say whether two values are the same to whoever looks: classes, order, parts."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(
            same(first, second) for first, second in zip(one.items(), other.items(), strict=True)
        )
    if isinstance(one, (list, tuple, deque)):
        return len(one) == len(other) and all(map(same, one, other))
    if dataclasses.is_dataclass(one):
        return same(_attributes(one), _attributes(other))
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, (set, frozenset)):
        return one == other and sorted(map(repr, one)) == sorted(map(repr, other))
    return bool(one == other)


def _attributes(instance: Any) -> list[Any]:
    """Return what an instance keeps: its `__dict__`, in order, and its slots."""
    stored = getattr(instance, "__dict__", {})
    # Each once: comparing a part twice at each level takes too long for a deep one.
    names = [field.name for field in dataclasses.fields(instance) if field.name not in stored]
    return [list(stored.items()), [getattr(instance, name, dataclasses.MISSING) for name in names]]
