"""Texts of declarations, as a model reads them."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from .index import full_name
from .results import Match
from .source_files import Content, read_source

if TYPE_CHECKING:
    from .budget import Budget
    from .declarations import Declaration, Span
    from .index import Found, Index

__all__ = [
    "ChangedError",
    "doc_text",
    "location",
    "match",
    "named_uniquely",
    "one_line",
    "source_of",
    "span_text",
    "whole_text",
]


class ChangedError(Exception):
    """A file has changed since the index read it."""


def source_of(index: Index, found: Found) -> bytes:
    """Return the bytes of the file of a declaration.

    Raises:
        ChangedError: they aren't those that the index knows.
    """
    content = read_source(index.root, found.file.path)
    if not isinstance(content, Content) or (
        content.key != found.file.key and not found.file.is_same(content.source)
    ):
        raise ChangedError
    return content.source


def span_text(source: bytes, span: Span) -> str:
    """Return the text of a place."""
    return source[span.start : span.end].decode(errors="replace")


def one_line(text: str) -> str:
    """Return a text that spans lines as one."""
    joined = re.sub(r"\s*\n\s*", " ", text.strip())
    return re.sub(r",? ([)\]])", r"\1", re.sub(r"([(\[]) ", r"\1", joined)) if "\n" in text else joined


def whole_text(source: bytes, declaration: Declaration) -> str:
    """Return the text of a declaration, without the indentation that it has in its file."""
    start = declaration.whole.start
    indent = start - (source.rfind(b"\n", 0, start) + 1)
    before = source[start - indent : start]
    text = span_text(source, declaration.whole)
    return textwrap.dedent(before.decode(errors="replace") + text) if not before.strip() else text


def doc_text(source: bytes, declaration: Declaration) -> str:
    """Return a docstring without its indentation, or a comment without its slashes."""
    text = span_text(source, declaration.doc)
    if text.startswith(("//", "/*")):
        lines = [re.sub(r"^\s*(///?!?|/\*\*?|\*/|\*) ?", "", line) for line in text.split("\n")]
        return "\n".join(lines).removesuffix("*/").strip()
    first, _, rest = text.partition("\n")
    return f"{first.strip()}\n{textwrap.dedent(rest)}".strip()


def location(found: Found) -> str:
    """Return file and line of a declaration."""
    return f"{found.file.path}:{found.declaration.line}"


def match(index: Index, found: Found, budget: Budget) -> Match:
    """Return what a list of declarations says of one."""
    declaration = found.declaration
    shown = Match(name=budget.line(declaration.qualified), kind=declaration.kind, location=location(found))
    if declaration.head.end:
        shown["signature"] = budget.line(one_line(span_text(source_of(index, found), declaration.head)))
    return shown


def named_uniquely(found: Found) -> str:
    """Return the name that means this declaration and no other one."""
    return full_name(found.file.path, found.declaration)
