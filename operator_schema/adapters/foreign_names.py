"""Names that others gave to their tools, as names that every model provider takes."""

from __future__ import annotations

import re
from hashlib import sha256

__all__ = ["NameGiver"]

_LONGEST = 64
_DIGEST = 8
_OTHER = re.compile(r"[^a-zA-Z0-9_-]")


class NameGiver:
    """Gives each tool a name of its own: as it is, if that is allowed.

    Args:
        prefix: of all names.
    """

    __slots__ = ("_given", "_prefix")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._given: set[str] = set()

    def give(self, name: str) -> str:
        """Return the name for a tool; a digest follows where the name itself can't be had."""
        whole = self._prefix + name
        wanted = _OTHER.sub("_", whole)
        if not wanted or len(wanted) > _LONGEST or wanted in self._given:
            digest = sha256(whole.encode("utf-8", "replace")).hexdigest()[:_DIGEST]
            wanted = f"{wanted[: _LONGEST - _DIGEST - 1]}_{digest}"
        self._given.add(wanted)
        return wanted
