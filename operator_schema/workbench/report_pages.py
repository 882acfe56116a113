"""Write a report as one page that a browser shows safely.

A page has no script and loads nothing, and its own policy (https://www.w3.org/TR/CSP3/) enforces that: a
browser runs nothing that a model or a server wrote into a report.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape as escape_html
from typing import TYPE_CHECKING, Final

from ..message_text import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_STYLE: Final = """
:root { color-scheme: light dark; --edge: #d0d7de; --text: #1f2328; --page: #fff; --code: #f6f8fa;
  --fits: #0969da; --repaired: #bf8700; --fails: #cf222e;
  --count: #8250df; }
@media (prefers-color-scheme: dark) {
  :root { --edge: #30363d; --text: #e6edf3; --page: #0d1117; --code: #161b22;
    --fits: #4493f8; --repaired: #d29922; --fails: #f85149;
    --count: #a371f7; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid var(--edge); }
td.number, th.number { text-align: right; }
td p { margin: 0; }
code { font: 13px/1.5 ui-monospace, monospace; background: var(--code); padding: .1rem .3rem;
  overflow-wrap: anywhere; white-space: pre-wrap; }
svg { width: 100%; height: auto; }
svg text { font: 13px system-ui, sans-serif; fill: var(--text); }
.fits { fill: var(--fits); } .repaired { fill: var(--repaired); } .fails { fill: var(--fails); }
.count { fill: var(--count); }
"""
_HASH: Final = b64encode(sha256(_STYLE.encode()).digest()).decode()
_POLICY: Final = f"default-src 'none'; style-src 'sha256-{_HASH}'"


def shown(text: str) -> str:
    """Return a foreign text as HTML: it contains no markup, and control characters are visible."""
    return "\n".join([escape_html(escape(line)) for line in text.split("\n")])


def code(text: str) -> str:
    """Return a foreign text as code in HTML."""
    return f"<code>{shown(text)}</code>"


def page(title: str, *parts: str) -> str:
    """Return a page that loads nothing.

    Args:
        title: the title as text.
        parts: the parts as HTML.
    """
    head = shown(title)
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{head}</title><style>{_STYLE}</style></head><body>",
            f"<h1>{head}</h1>",
            *parts,
            "</body></html>\n",
        ]
    )


def section(title: str, *parts: str) -> str:
    """Return a part of a page with a title, which is text; the parts are HTML."""
    return "\n".join([f"<h2>{shown(title)}</h2>", *parts])


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], numbers: frozenset[str] = frozenset()) -> str:
    """Return a table.

    Args:
        titles: the titles of the columns, as text.
        rows: the cells, as HTML.
        numbers: the titles whose columns are aligned to the right.
    """
    kinds = [' class="number"' if title in numbers else "" for title in titles]
    head = "".join(
        [f'<th scope="col"{kind}>{shown(title)}</th>' for title, kind in zip(titles, kinds, strict=True)]
    )
    lines = [
        "<tr>" + "".join([f"<td{kind}>{cell}</td>" for cell, kind in zip(row, kinds, strict=True)]) + "</tr>"
        for row in rows
    ]
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
