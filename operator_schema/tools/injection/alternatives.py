"""Which types does an annotation allow: the members of a union, and what is in `Annotated`."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Final, ForwardRef, Literal, TypeVar, Union, get_origin

from ...introspect.hints import Unresolved

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["AnnotatedAlias", "alternatives_of", "is_union", "members_of", "takes_none"]

AnnotatedAlias: Final[Any] = type(Annotated[int, None])
"""The class of `Annotated[…]`; `get_origin` says the same in five times the time."""

_ALIASES_AT_MOST = 100


def alternatives_of(hint: Any) -> Sequence[Any]:
    """Return the types that a parameter takes: those of a union, without None."""
    hint = _without_names(hint)
    members = members_of(hint)
    if members[0] is hint:
        return () if hint is None else members
    return [part for arg in members if arg is not NoneType for part in alternatives_of(arg)]


def _without_names(hint: Any) -> Any:
    """Return what is in `Annotated`, and what a type alias (PEP 695) means."""
    for _ in range(_ALIASES_AT_MOST):
        if isinstance(hint, AnnotatedAlias):
            hint = hint.__origin__
        elif type(hint).__name__ == "TypeAliasType":
            try:
                hint = hint.__value__
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001  # it is evaluated now, and may raise anything
                break
        else:
            break
    return hint


def members_of(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union; of anything else, itself alone."""
    return hint.__args__ if is_union(hint) else (hint,)


def is_union(hint: Any) -> bool:
    """Return whether an annotation is a union, however it is written."""
    return isinstance(hint, UnionType) or getattr(hint, "__origin__", None) is Union


def takes_none(hint: Any) -> bool:
    """Return whether None fits an annotation; also True where that can't be known."""
    hint = _without_names(hint)
    if is_union(hint):
        return any(map(takes_none, hint.__args__))
    if get_origin(hint) is Literal:
        return None in hint.__args__
    if hint is None or hint is Any or hint is object or hint is NoneType:
        return True
    return isinstance(hint, (str, ForwardRef, TypeVar, Unresolved)) or type(hint).__name__ == "TypeAliasType"
