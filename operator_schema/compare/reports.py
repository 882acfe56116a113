"""A comparison as somebody reads it: on a terminal, as a page, or as notes of a CI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..message_text import escape
from .changes import LABELS, LEVELS
from .containment import show_place
from .page import code, page, section, shown, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .changes import Change, Level

__all__ = ["MEANINGS", "as_html", "lines_of", "summary_of"]

MEANINGS: Final[Mapping[Level, str]] = {
    "breaking": "a call that worked is refused now, or a result may come that wasn't allowed before",
    "undecided": "it may be breaking: it could neither be proven nor ruled out",
    "meaning": "every call still works, but its effect, or what the tool says about it, may differ",
    "text": "only what a model reads is different",
    "wider": "everything that worked still works, and more does",
}
"""What each level means."""


def lines_of(changes: Iterable[Change]) -> list[tuple[Level, list[str]]]:
    """Return the lines about some changes, by level: the change, and its witness below it."""
    found: dict[Level, list[str]] = {}
    for alike in _alike(changes):
        first = alike[0]
        lines = found.setdefault(first.level, [])
        lines.append(escape(f"{', '.join([change.tool for change in alike])}{first.said}"))
        if _shows_witness(first):
            what = "result" if first.side == "read" else "call"
            lines.append(f"  {what}: {escape(first.shown_witness())}")
    return [(level, found[level]) for level in LEVELS if level in found]


def _alike(changes: Iterable[Change]) -> list[list[Change]]:
    """Return changes, those together that say the same of several tools."""
    found: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        # A witness is about one tool.
        tool = change.tool if _shows_witness(change) else ""
        found.setdefault((change.level, change.said, tool), []).append(change)
    return list(found.values())


def _shows_witness(change: Change) -> bool:
    return change.has_witness and change.level in ("breaking", "undecided")


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
    kind = LABELS.get(change.code, change.code.replace("_", " "))
    texts = (change.tool, where, kind, change.before, change.after)
    return [*map(shown, texts), code(change.shown_witness()) if change.has_witness else ""]
