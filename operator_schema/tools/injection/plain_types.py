"""The type of a parameter that your program injects, without the mark."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Annotated, Any, ForwardRef, Literal, Union, get_origin

from ...introspect.hints import Unresolved
from .alternatives import AnnotatedAlias, is_union
from .skip import skip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..signature import Parameter

__all__ = ["plain_type"]

_UNION: Any = Union  # of members that are known only now, some of which have no `|`


def plain_type(parameter: Parameter, kinds: Sequence[Any], hint: Any) -> Any:
    """Return the annotation of an injected parameter without `skip`.

    Args:
        parameter: the parameter.
        kinds: the types that it may have, as far as they are known.
        hint: its evaluated annotation, or `dataclasses.MISSING`.

    Returns:
        The annotation; of one with forward references in it, the union of the types. `Any` where
        nothing is known.
    """
    if parameter.kind in {"rest", "extra"} or hint is MISSING or isinstance(hint, Unresolved):
        return Any
    if not _has_forward_references(hint):
        return _without_skip(hint)
    if not kinds:
        return Any
    return _UNION[(*kinds, None)] if parameter.default is None else _UNION[tuple(kinds)]


def _has_forward_references(hint: Any) -> bool:
    waiting = [hint]
    while waiting:
        current = waiting.pop()
        if isinstance(current, (str, ForwardRef)):
            return True
        if not isinstance(current, type) and get_origin(current) is not Literal:
            waiting += getattr(current, "__args__", ())
    return False


def _without_skip(hint: Any) -> Any:
    if is_union(hint):
        return _UNION[tuple([_without_skip(member) for member in hint.__args__])]
    if not isinstance(hint, AnnotatedAlias):
        return hint
    kept = [item for item in hint.__metadata__ if item is not skip]
    return Annotated[(hint.__origin__, *kept)] if kept else hint.__origin__
