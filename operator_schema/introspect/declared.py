"""One field as its class declares it, before its annotation is read."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .hints import Scope

__all__ = ["Declared"]


class Declared:
    """One field as its class declares it.

    Attributes:
        name: of the attribute.
        hint: the evaluated annotation, or an `Unresolved`.
        scope: what names inside the annotation mean.
        default: the default, or `dataclasses.MISSING`.
        has_factory: whether a factory makes the default.
        required: for a TypedDict, whether the key must be there; None for the class whose `None`
            says so.
        init_only: whether the instance does not keep it.
        metadata: of a dataclass field, or None.
    """

    __slots__ = ("default", "has_factory", "hint", "init_only", "metadata", "name", "required", "scope")

    def __init__(
        self,
        name: str,
        hint: Any,
        scope: Scope,
        default: Any = MISSING,
        *,
        has_factory: bool = False,
        required: bool | None = None,
    ) -> None:
        self.name = name
        self.hint = hint
        self.scope = scope
        self.default = default
        self.has_factory = has_factory
        self.required = required
        self.init_only = False
        self.metadata: Mapping[Any, Any] | None = None

    def with_metadata(self, metadata: Mapping[Any, Any]) -> Declared:
        """Return a copy with more metadata; what is there already wins."""
        copy = Declared.__new__(Declared)
        for name in self.__slots__:
            setattr(copy, name, getattr(self, name))
        copy.metadata = {**metadata, **(self.metadata or {})}
        return copy
