"""How are the changes of a comparison shown to people: as lines, or as a page?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...message_text import escape, show_place
from ..report_pages import code, page, section, shown, table
from .changes import LEVELS, MEANINGS
from .codes import label_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .changes import Change, Level


def lines_of(changes: Iterable[Change]) -> list[tuple[Level, list[str]]]:
    """Return the lines about changes, by level, each with its witness below."""
    found: dict[Level, list[str]] = {}
    for alike in alike_changes(changes):
        first = alike[0]
        lines = found.setdefault(first.level, [])
        lines.append(escape(f"{', '.join([change.tool for change in alike])}{first.said}"))
        if _shows_witness(first):
            what = "result" if first.side == "read" else "call"
            lines.append(f"  {what}: {escape(first.shown_witness())}")
    return [(level, found[level]) for level in LEVELS if level in found]


def alike_changes(changes: Iterable[Change]) -> list[list[Change]]:
    """Return changes, grouped if they are equal for several tools."""
    found: dict[tuple[object, ...], list[Change]] = {}
    for change in changes:
        # a witness belongs to one tool
        tool = change.tool if _shows_witness(change) else ""
        found.setdefault((change.level, change.said, tool), []).append(change)
    return list(found.values())


def _shows_witness(change: Change) -> bool:
    return change.has_witness and change.level in ("breaking", "undecided")


def summary_of(changes: Iterable[Change]) -> str:
    """Return the number of changes of each level, such as `2 breaking, 1 text`."""
    levels = [change.level for change in changes]
    counts = [f"{levels.count(level)} {level}" for level in LEVELS if level in levels]
    return ", ".join(counts) or "nothing changed"


_TITLES = ("tool", "place", "what", "before", "now", "smallest value that shows it")


def as_html(changes: Iterable[Change], title: str) -> str:
    """Return a page that loads nothing.

    Args:
        changes: the changes of a comparison.
        title: the compared versions, as text.
    """
    listed = list(changes)
    sections = [
        _section(level, [change for change in listed if change.level == level])
        for level in LEVELS
        if any(change.level == level for change in listed)
    ]
    return page(title, f"<p>{shown(summary_of(listed))}</p>", *sections)


def _section(level: Level, changes: list[Change]) -> str:
    rows = [_row(alike) for alike in alike_changes(changes)]
    return section(level, f"<p>{shown(MEANINGS[level])}</p>", table(_TITLES, rows))


def _row(alike: list[Change]) -> list[str]:
    change, tools = alike[0], ", ".join([each.tool for each in alike])
    place = show_place(change.path)
    where = f"result {place}".strip() if change.side == "read" else place
    texts = (tools, where, label_of(change.code), change.before, change.after)
    return [
        *map(shown, texts),
        code(change.shown_witness()) if change.has_witness and len(alike) == 1 else "",
    ]
