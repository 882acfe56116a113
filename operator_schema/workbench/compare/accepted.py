"""Changes and findings that a file lists as accepted, each with a reason and a last day.

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
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from ...engine import Codec
from ...errors import DecodeError
from ...json_values import is_array, is_object
from ...message_text import count_of, escape, nearest, show_place

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Protocol

    class Acceptable(Protocol):
        """A change of a tool, or a finding about one."""

        @property
        def tool(self) -> str | None:
            """The name of the tool; None for all of them."""
            ...

        @property
        def code(self) -> str:
            """What kind of change or finding it is."""
            ...

        @property
        def path(self) -> tuple[str | int, ...]:
            """Where it is."""
            ...


T = TypeVar("T", bound="Acceptable")

__all__ = ["Accepted", "AcceptError", "Sorted", "notes_on_entries", "read_accepted", "sort_changes"]


class AcceptError(ValueError):
    """A file of accepted changes can't be read; the text says which entry, and what is wrong with it."""


@dataclass(frozen=True)
class Accepted:
    """Some changes that somebody accepts.

    Attributes:
        tool: the tool that changed.
        reason: why they are accepted.
        until: the last day on which they are.
        code: what kind of changes; empty for all.
        path: the place, as a comparison shows it; empty for every place.
    """

    tool: str
    reason: str
    until: date
    code: str = ""
    path: str = ""

    def __post_init__(self) -> None:
        """Refuse an entry that doesn't say why.

        Raises:
            ValueError: the reason is empty.
        """
        if not self.reason.strip():
            message = "the reason is empty: say why it is accepted"
            raise ValueError(message)

    def covers(self, change: Acceptable) -> bool:
        """Return whether a change is one of them."""
        is_code = not self.code or self.code == change.code
        is_place = not self.path or self.path == show_place(change.path)
        return self.tool == (change.tool or "") and is_code and is_place


@dataclass(frozen=True)
class AcceptedFile:
    """All entries of a file."""

    accept: list[Accepted] = field(default_factory=list[Accepted])


class Sorted(NamedTuple, Generic[T]):
    """Changes, by whether they are accepted.

    Attributes:
        left: those that nobody accepts.
        accepted: the others, each with the entry.
        expired: entries whose day is over.
        unused: entries that cover no change.
    """

    left: list[T]
    accepted: list[tuple[T, Accepted]]
    expired: list[Accepted]
    unused: list[Accepted]


def read_accepted(text: str, file: str = "") -> list[Accepted]:
    """Read a file of accepted changes or findings.

    Args:
        text: TOML, as above. A file without entries accepts nothing.
        file: its name, for the message.

    Raises:
        AcceptError: it can't be read, or an entry lacks its tool, its reason or its day.
    """
    name = f"{escape(file)}: " if file else ""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message = f"{name}it isn't TOML: {escape(str(error))}"
        raise AcceptError(message) from None
    try:
        found = Codec(AcceptedFile, name="the file", unknown_fields="reject").decode(_as_json(data))
    except DecodeError as error:
        number = count_of(len(error.findings) + error.omitted, "problems")
        which = [escape(line) for line in str(error).split("\n")[1:]]
        message = "\n".join([f"{name}{number} with the entries", *which])
        raise AcceptError(message) from None
    return found.accept


def _as_json(value: object) -> Any:
    """Return values of TOML as those of JSON, which has no days."""
    if is_object(value):
        return {key: _as_json(inner) for key, inner in value.items()}
    if is_array(value):
        return [_as_json(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else value


def sort_changes(changes: Iterable[T], entries: Iterable[Accepted], today: date) -> Sorted[T]:
    """Separate accepted changes from others.

    Args:
        changes: of a comparison, or findings of a probe.
        entries: of a file of accepted changes or findings.
        today: entries whose last day is before it have no effect.
    """
    listed = list(entries)
    valid = [entry for entry in listed if entry.until >= today]
    expired = [entry for entry in listed if entry.until < today]
    found: Sorted[T] = Sorted([], [], expired, [])
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


def notes_on_entries(found: Sorted[T], what: str, codes: Collection[str]) -> list[tuple[Accepted, str]]:
    """Say which entries accept nothing any more, and why, a line for each.

    Args:
        found: the changes or findings, sorted by the entries.
        what: what did not happen, such as `changed`.
        codes: that an entry may name.
    """
    notes = [
        (entry, f"accepted until {entry.until}, which is over: {_named(entry)}") for entry in found.expired
    ]
    changes = [*found.left, *[change for change, _ in found.accepted]]
    tools = {change.tool for change in changes if change.tool is not None}
    known = {*codes, *[change.code for change in changes]}
    for entry in found.unused:
        hints = (("tool", entry.tool, tools), ("code", entry.code, known))
        near = [(kind, nearest(name, names)) for kind, name, names in hints if name not in names]
        meant = [f"the {kind} {escape(name)}" for kind, name in near if name]
        hint = f"; did you mean {' and '.join(meant)}?" if meant else ""
        notes.append((entry, f"accepted, and nothing like it {what}: {_named(entry)}{hint}"))
    return notes


def _named(entry: Accepted) -> str:
    return escape(" ".join(filter(None, [entry.tool, entry.path, entry.code])))
