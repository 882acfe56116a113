"""Which changes and findings does a file accept, why, and until when?

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
from ...message_text import count_of, escape, show_place
from ...similar_names import nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Protocol

    class Acceptable(Protocol):
        """A change of a tool, or a finding about a tool."""

        @property
        def tool(self) -> str | None:
            """The name of the tool; None for all tools."""
            ...

        @property
        def code(self) -> str:
            """The kind of change or finding."""
            ...

        @property
        def path(self) -> tuple[str | int, ...]:
            """The path of its place."""
            ...


T = TypeVar("T", bound="Acceptable")


class AcceptError(ValueError):
    """A file of accepted changes can't be read; the message names the entry and its fault."""


@dataclass(frozen=True)
class Accepted:
    """An entry of a file: it accepts some changes.

    Attributes:
        tool: the tool that changed.
        reason: the reason why the changes are accepted.
        until: the last day on which they are accepted.
        code: the kind of changes; empty for all.
        path: the place, in the form of a comparison; empty for every place.
    """

    tool: str
    reason: str
    until: date
    code: str = ""
    path: str = ""

    def __post_init__(self) -> None:
        """Refuse an entry without a reason.

        Raises:
            ValueError: the reason is empty.
        """
        if not self.reason.strip():
            message = "the reason is empty: say why it is accepted"
            raise ValueError(message)

    def covers(self, change: Acceptable) -> bool:
        """Return whether the entry accepts a change."""
        is_code = not self.code or self.code == change.code
        is_place = not self.path or self.path == show_place(change.path)
        return self.tool == (change.tool or "") and is_code and is_place


@dataclass(frozen=True)
class AcceptedFile:
    """All entries of a file."""

    accept: list[Accepted] = field(default_factory=list[Accepted])


class Sorted(NamedTuple, Generic[T]):
    """Changes, separated into accepted ones and others.

    Attributes:
        left: the changes that no entry accepts.
        accepted: the accepted changes, each with its entry.
        expired: the entries whose last day is over.
        unused: the entries that accept no change.
    """

    left: list[T]
    accepted: list[tuple[T, Accepted]]
    expired: list[Accepted]
    unused: list[Accepted]


def read_accepted(text: str, file: str = "") -> list[Accepted]:
    """Read a file of accepted changes or findings.

    Args:
        text: TOML in the form above. A file without entries accepts nothing.
        file: the name of the file, for the message.

    Raises:
        AcceptError: the file can't be read, or an entry has no tool, reason or day.
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
    """Return TOML values as JSON values: days become texts."""
    if is_object(value):
        return {key: _as_json(inner) for key, inner in value.items()}
    if is_array(value):
        return [_as_json(inner) for inner in value]
    return value.isoformat() if isinstance(value, date) else value


def sort_changes(changes: Iterable[T], entries: Iterable[Accepted], today: date) -> Sorted[T]:
    """Separate accepted changes from others.

    Args:
        changes: the changes of a comparison, or the findings of a probe.
        entries: the entries of a file.
        today: the present day; entries whose last day is before it have no effect.
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
    """Write a line for each entry that has no effect any more, with the reason.

    Args:
        found: the changes or findings, sorted by the entries.
        what: the word for the missing event, such as `changed`.
        codes: the codes that an entry may have.
    """
    notes = [
        (entry, f"accepted until {entry.until}, which is over: {_in_words(entry)}") for entry in found.expired
    ]
    changes = [*found.left, *[change for change, _ in found.accepted]]
    tools = {change.tool for change in changes if change.tool is not None}
    known = {*codes, *[change.code for change in changes]}
    for entry in found.unused:
        hints = (("tool", entry.tool, tools), ("code", entry.code, known))
        near = [(kind, nearest(name, names)) for kind, name, names in hints if name not in names]
        meant = [f"the {kind} {escape(name)}" for kind, name in near if name]
        hint = f"; did you mean {' and '.join(meant)}?" if meant else ""
        notes.append((entry, f"accepted, and nothing like it {what}: {_in_words(entry)}{hint}"))
    return notes


def _in_words(entry: Accepted) -> str:
    return escape(" ".join(filter(None, [entry.tool, entry.path, entry.code])))
