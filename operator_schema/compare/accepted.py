"""Changes that somebody accepts, each with a reason and until a day: an allow file.

```toml
[[accept]]
tool = "pay"
code = "required"
path = "currency"
reason = "Every caller sends it since March."
until = 2026-12-31
```
"""

from __future__ import annotations

import tomllib
from datetime import date
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..immutable import Value
from ..wording import quote, received, show_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .changes import Change

__all__ = ["Accepted", "AcceptError", "Sorted", "read_accepted", "sort_changes"]

_TEXTS: Final = ("tool", "code", "path", "reason")
_NEEDED: Final = ("tool", "reason", "until")


class AcceptError(ValueError):
    """Raised if an allow file can't be read; its text says which entry, and what is wrong with it."""


class Accepted(Value):
    """Some changes that somebody accepts.

    Attributes:
        tool: whose changes.
        code: what kind of changes; empty for all.
        path: the place, as a comparison shows it; empty for every place.
        reason: why they are accepted.
        until: the last day on which they are.
    """

    tool: str
    code: str
    path: str
    reason: str
    until: date

    def covers(self, change: Change) -> bool:
        """Return whether a change is one of them."""
        is_code = not self.code or self.code == change.code
        is_place = not self.path or self.path == show_path(change.path)
        return self.tool == change.tool and is_code and is_place


class Sorted(NamedTuple):
    """Changes, by whether they are accepted.

    Attributes:
        left: those that nobody accepts.
        accepted: the others, each with the entry.
        expired: entries whose day is over.
        unused: entries that cover no change.
    """

    left: list[Change]
    accepted: list[tuple[Change, Accepted]]
    expired: list[Accepted]
    unused: list[Accepted]


def read_accepted(text: str) -> list[Accepted]:
    """Read an allow file.

    Args:
        text: TOML, as above.

    Raises:
        AcceptError: it can't be read, or an entry lacks its tool, its reason or its day.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"it isn't TOML: {error}"
        raise AcceptError(message) from None
    entries = data.pop("accept", [])
    if data or not isinstance(entries, list):
        message = "it has [[accept]] entries, and nothing else"
        raise AcceptError(message)
    return [_read(entry, number) for number, entry in enumerate(entries, 1)]


def _read(entry: Any, number: int) -> Accepted:
    place = f"entry {number}"
    if not isinstance(entry, dict):
        message = f"{place} is {received(entry)}, not a table"
        raise AcceptError(message)
    missing = [name for name in _NEEDED if not entry.get(name)]
    unknown = [name for name in entry if name not in (*_TEXTS, "until")]
    if missing or unknown:
        what = f"lacks {missing[0]}" if missing else f"has {quote(unknown[0])}, which nobody knows"
        message = f"{place} {what}; an entry has tool, reason and until, and may have code and path"
        raise AcceptError(message)
    tool, code, path, reason = texts = [entry.get(name, "") for name in _TEXTS]
    until = entry["until"]
    if not all(isinstance(text, str) for text in texts) or type(until) is not date:
        message = f"{place}: until is a day as in 2026-12-31, and all else is text"
        raise AcceptError(message)
    return Accepted(tool, code, path, reason, until)


def sort_changes(changes: Iterable[Change], entries: Iterable[Accepted], today: date) -> Sorted:
    """Tell accepted changes from others.

    Args:
        changes: of a comparison.
        entries: of an allow file.
        today: entries whose last day is before count for nothing.
    """
    listed = list(entries)
    valid = [entry for entry in listed if entry.until >= today]
    expired = [entry for entry in listed if entry.until < today]
    found = Sorted([], [], expired, [])
    used: set[int] = set()
    for change in changes:
        covering = [entry for entry in valid if entry.covers(change)]
        used.update(map(id, covering))
        if covering:
            found.accepted.append((change, covering[0]))
        else:
            found.left.append(change)
    found.unused.extend(entry for entry in valid if id(entry) not in used)
    return found
