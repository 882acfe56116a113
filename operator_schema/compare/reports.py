"""A comparison as somebody reads it: on a terminal, as a page, or as notes of a CI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..message_text import escape
from .changes import LEVELS
from .containment import show_place
from .page import code, page, section, shown, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .changes import Change, Level

__all__ = ["MEANINGS", "as_html", "lines_of", "summary_of"]

MEANINGS: Final[Mapping[Level, str]] = {
    "breaking": "a call that used to work is refused, or a result may come that wasn't allowed before",
    "undecided": "it may be breaking: neither a proof nor a witness was found",
    "meaning": "every call still works, and does something else",
    "text": "what a model reads",
    "wider": "all that worked works, and more does",
}
"""What each level means."""


def lines_of(changes: Iterable[Change]) -> list[tuple[Level, list[str]]]:
    """Return the lines about some changes, by level: the change, and its witness below it."""
    found: dict[Level, list[str]] = {}
    for change in changes:
        lines = found.setdefault(change.level, [])
        lines.append(escape(str(change)))
        if change.has_witness and change.level in ("breaking", "undecided"):
            what = "result" if change.side == "read" else "call"
            lines.append(f"  {what}: {escape(change.shown_witness())}")
    return [(level, found[level]) for level in LEVELS if level in found]


def summary_of(changes: Iterable[Change]) -> str:
    """Return how many changes of each level there are, such as `2 breaking, 1 text`."""
    levels = [change.level for change in changes]
    counts = [f"{levels.count(level)} {level}" for level in LEVELS if level in levels]
    return ", ".join(counts) or "nothing changed"


_TITLES = ("tool", "place", "what", "before", "now", "smallest value that shows it")


def as_html(changes: Iterable[Change], title: str) -> str:
    """Return a page that needs nothing from elsewhere.

    Args:
        changes: of a comparison.
        title: what is compared, as text.
    """
    listed = list(changes)
    sections = [
        _section(level, [change for change in listed if change.level == level])
        for level in LEVELS
        if any(change.level == level for change in listed)
    ]
    return page(title, f"<p>{shown(summary_of(listed))}</p>", *sections)


def _section(level: Level, changes: list[Change]) -> str:
    rows = [_row(change) for change in changes]
    return section(level, f"<p>{shown(MEANINGS[level])}</p>", table(_TITLES, rows))


def _row(change: Change) -> list[str]:
    place = show_place(change.path)
    where = f"result {place}".strip() if change.side == "read" else place
    texts = (change.tool, where, change.code.replace("_", " "), change.before, change.after)
    return [*map(shown, texts), code(change.shown_witness()) if change.has_witness else ""]
