"""What a provider checks in every request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..immutable import Value

if TYPE_CHECKING:
    from .names import NameRule

__all__ = ["Rules"]


class Rules(Value):
    """What a provider checks in every request, strict or not; one tool that breaks a rule fails all.

    Attributes:
        keys: which names of properties it takes; None for any. The others are renamed on the wire.
        longest_description: characters that the description of a tool may have; None for no limit.
        most_tools: in a request; None for no limit.
    """

    keys: NameRule | None = None
    longest_description: int | None = None
    most_tools: int | None = None
