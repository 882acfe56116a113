"""What the preprocessor of C does to a file, as far as its text alone tells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .language import Declaration, Span

__all__ = ["Offset", "TOKENS", "looks_like_cpp", "pieces", "shifted", "without_macros"]

TOKENS = re.compile(
    r"""//[^\n]* | /\*.*?(?:\*/|\Z) | \bR"(\w*)\(.*?(?:\)\1"|\Z) | "(?:\\.|[^"\\\n])*"? |
        (?<![\da-fA-F])'(?:\\.|[^'\\\n])+'? | [\[\](){}]""",
    re.DOTALL | re.VERBOSE,
)
"""Strings, characters and comments as a whole, and brackets."""

_MACROS = re.compile(
    rb"""^[ \t]*\w*(?:BEGIN|END)_\w*(?:DECLS?|EXTERN|NAMESPACE)\w*[ \t]*$ |
        ^(?:(?:extern|static)[ \t]+)?(?:[A-Z][A-Z\d_]*|\w+_API)[ \t]+(?=(?:\w+[ \t*]+)+\w+[ \t]*[(;=\[]) |
        \b(?P<word>(?:class|struct|union)[ \t]+)[A-Z][A-Z\d_]+[ \t]+(?=\w+\s*(?:final\s*)?[:{]) |
        \b(?:PyAPI|[A-Z][A-Z\d_]*)_(?:API|DATA|EXPORT|EXTERN|FUNC)\((?P<type>[\w \t*]+)\)(?=\s+\w) |
        (?<=\))(?:\s*__\w+(?:[ \t]*\(\([^;{}()]*\)\)|[ \t]*\([^;{}()]*\))?)+(?=\s*;)""",
    re.MULTILINE | re.VERBOSE,
)
"""What the preprocessor would take away from declarations, as far as its name or place tells."""
_CPP = re.compile(
    rb"""^[ \t]*(?:class\s+\w[^;()\n]*(?:\{|$) | (?:inline[ ])?namespace\b[\s\w:]*\{ | template\s*< |
        using\s+(?:namespace\b|\w+\s*=) | (?:public|private|protected)[ \t]*:) |
        ^[^/*"\n]*\w::\w""",
    re.MULTILINE | re.VERBOSE,
)
_NOT_SPACE = re.compile(rb"\S")
_CONDITION = re.compile(
    rb"^[ \t]*\#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL
)
_END = re.compile(rb"^\}[^\n]*\n", re.MULTILINE)
_SMALLEST = 1 << 9
"""Bytes of a piece: one for each function would take long."""


def looks_like_cpp(source: bytes) -> bool:
    """Return whether a header seems to be one of C++."""
    return _CPP.search(source) is not None


def without_macros(source: bytes) -> bytes:
    """Return a text of the same length without macros around declarations."""
    return _blank(_MACROS, source)


def _blank(pattern: re.Pattern[bytes], source: bytes) -> bytes:
    """Put spaces in place of what a pattern matches, but of what a named group of it does."""

    def spaces(found: re.Match[bytes]) -> bytes:
        start, end = found.span(found.lastgroup) if found.lastgroup else (found.start(), found.start())
        before, after = source[found.start() : start], source[end : found.end()]
        return _NOT_SPACE.sub(b" ", before) + source[start:end] + _NOT_SPACE.sub(b" ", after)

    return pattern.sub(spaces, source)


class Offset(NamedTuple):
    """Where a piece of a file begins."""

    bytes: int
    lines: int


def pieces(source: bytes) -> Iterator[tuple[Offset, bytes]]:
    """Yield the pieces of a file that end with a brace at the beginning of a line, without conditions.

    Both branches of a condition are kept. What can't be read of one piece leaves the others alone.
    """
    text = _blank(_CONDITION, source)
    start = lines = 0
    for found in [*_END.finditer(text), None]:
        end = len(text) if found is None else found.end()
        if found is None or end - start > _SMALLEST:
            yield Offset(start, lines), text[start:end]
            lines += text.count(b"\n", start, end)
            start = end


def shifted(declaration: Declaration, by: Offset) -> Declaration:
    """Return the declaration of a piece as one of the file."""

    def moved(span: Span) -> Span:
        return span._replace(start=span.start + by.bytes, end=span.end + by.bytes) if span.end else span

    return declaration._replace(
        line=declaration.line + by.lines,
        last_line=declaration.last_line + by.lines,
        whole=moved(declaration.whole),
        head=moved(declaration.head),
        doc=moved(declaration.doc),
        value=moved(declaration.value),
    )
