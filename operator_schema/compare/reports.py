"""A comparison as somebody reads it: on a terminal, as a page, or as notes of a CI."""

from __future__ import annotations

from html import escape as escape_html
from typing import TYPE_CHECKING, Final

from ..message_text import escape
from .changes import LEVELS
from .containment import show_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .changes import Change, Level

__all__ = ["MEANINGS", "as_html", "html_page", "html_section", "lines_of", "summary_of"]

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
  overflow-wrap: anywhere; white-space: pre-wrap; }
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
        html_section(level, MEANINGS[level], _TITLES, [_cells(one) for one in listed if one.level == level])
        for level in LEVELS
        if any(change.level == level for change in listed)
    ]
    return html_page(title, summary_of(listed), sections)


def html_page(title: str, summary: str, sections: Iterable[str]) -> str:
    """Return a page that needs nothing from elsewhere.

    Args:
        title: of the page, as text.
        summary: a line below it, as text.
        sections: HTML, such as `html_section` makes it.
    """
    head = escape_html(title)
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{head}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{head}</h1><p>{escape_html(summary)}</p>",
            *sections,
            "</body></html>\n",
        ]
    )


def html_section(name: str, meaning: str, titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a heading, a line below it, and a table, all from text; the last cell of a row is code."""
    head = "".join(f"<th scope=col>{escape_html(title)}</th>" for title in titles)
    body = "".join(_row(cells) for cells in rows)
    return (
        f"<h2>{escape_html(name)}</h2><p>{escape_html(meaning)}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cells(change: Change) -> list[str]:
    place = show_place(change.path)
    where = f"result {place}".strip() if change.side == "read" else place
    witness = change.shown_witness() if change.has_witness else ""
    return [change.tool, where, change.code.replace("_", " "), change.before, change.after, witness]


def _row(cells: Sequence[str]) -> str:
    *texts, code = [escape_html("\n".join(map(escape, cell.split("\n")))) for cell in cells]
    shown = f"<code>{code}</code>" if code else ""
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in (*texts, shown)) + "</tr>"
