"""Offers of tools, as requests and answers take them."""

from __future__ import annotations

from operator_schema.providers.offered_tools import offered_now
from operator_schema.providers.wire_format import Wanted


def offer_of(tools, *, strict=False, choice=None):
    """Return an offer that is strict, or has another choice than its own."""
    found = offered_now(tools).replace(strict=strict)
    return found if choice is None else found.replace(choice=Wanted(choice.mode, choice.name))
