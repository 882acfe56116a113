"""A comparison as somebody reads it: on a terminal, as a page, or as notes of a CI."""

from __future__ import annotations

from html import escape as escape_html
from typing import TYPE_CHECKING, Final

from ..message_text import escape
from .changes import LABELS, LEVELS
from .containment import show_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .changes import Change, Level

__all__ = ["MEANINGS", "as_html", "lines_of", "summary_of"]

MEANINGS: Final[Mapping[Level, str]] = {
    "breaking": "a call that used to work is refused now, or a result may come that wasn't allowed before",
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


_STYLE = """
:root { color-scheme: light dark; --edge: #d0d7de; --text: #1f2328; --page: #fff; --code: #f6f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --edge: #30363d; --text: #e6edf3; --page: #0d1117; --code: #161b22; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--edge); }
code { font: 13px/1.5 ui-monospace, monospace; background: var(--code); padding: .1rem .3rem;
  overflow-wrap: anywhere; }
"""
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
    head = escape_html(title)
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{head}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{head}</h1><p>{escape_html(summary_of(listed))}</p>",
            *sections,
            "</body></html>\n",
        ]
    )


def _section(level: Level, changes: list[Change]) -> str:
    head = "".join(f"<th scope=col>{title}</th>" for title in _TITLES)
    rows = "".join(_row(change) for change in changes)
    meaning = escape_html(MEANINGS[level])
    return (
        f"<h2>{level}</h2><p>{meaning}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _row(change: Change) -> str:
    place = show_place(change.path)
    where = f"result {place}".strip() if change.side == "read" else place
    witness = f"<code>{escape_html(change.shown_witness())}</code>" if change.has_witness else ""
    texts = (
        change.tool,
        where,
        LABELS.get(change.code, change.code.replace("_", " ")),
        change.before,
        change.after,
    )
    cells = [escape_html(escape(text)) for text in texts]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in (*cells, witness)) + "</tr>"
