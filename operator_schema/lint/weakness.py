"""What a check finds, and how it says where."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..introspect.places import Place

__all__ = ["Weakness", "weakness_at"]


class Weakness(NamedTuple):
    """What a check finds.

    Attributes:
        code: what kind of thing it is.
        path: where it is.
        message: what it is.
        remedy: what to do about it.
    """

    code: str
    path: tuple[str, ...]
    message: str
    remedy: str


def weakness_at(place: Place, code: str, message: str, remedy: str) -> Weakness:
    """Return what a check finds at a place; inside a union, the path alone doesn't say of which member."""
    of = "" if place.member is None else f" (in {place.member})"
    return Weakness(code, place.path, f"{message}{of}", remedy)
