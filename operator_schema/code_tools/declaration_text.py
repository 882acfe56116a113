"""What the file of a declaration says about it: its text, signature and comment."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from .source_files import Content, read_part, read_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .index import Found, Index, SourceFile
    from .language import Declaration, Span

__all__ = [
    "ChangedError",
    "doc_text",
    "head_of",
    "implementation_first",
    "likeliest_first",
    "location",
    "one_line",
    "source_of",
    "span_text",
    "whole_text",
]


class ChangedError(Exception):
    """A file has changed since the index read it."""


def source_of(index: Index, file: SourceFile) -> bytes:
    """Return the bytes of a file, in UTF-8 and with one byte at the ends of lines.

    Raises:
        ChangedError: they differ from the ones that the index knows.
    """
    known = index.recent.text(file)
    if known is not None:
        return known
    if file.is_plain and (source := read_part(index.root, file.path, file.key, 0, file.key[0])) is not None:
        index.recent.keep(file, source)  # as it was when it was read, which needs no second look
        return source
    content = read_source(index.root, file.path)
    if not isinstance(content, Content) or (content.key != file.key and not file.is_same(content.source)):
        raise ChangedError
    index.recent.keep(file, content.source)
    return content.source


def head_of(index: Index, found: Found) -> str:
    """Return the signature of a declaration on one line, the names of its decorators before it.

    Only this part of its file is read.

    Raises:
        ChangedError: the file isn't the one that the index knows.
    """
    before, head = _parts_of_head(index, found)
    return " ".join([*_decorators(before), one_line(head)])


def implementation_first(index: Index, all_found: list[Found]) -> list[Found]:
    """Return declarations of a name, the one that has a body before its overloads.

    Raises:
        ChangedError: the file isn't the one that the index knows.
    """
    first = all_found[0]
    alike = [
        one
        for one in all_found
        if one.file is first.file and one.declaration.qualified == first.declaration.qualified
    ]
    if len(alike) == 1:
        return all_found
    overloaded = [not _has_body(one) or _is_overload(_parts_of_head(index, one)[0]) for one in alike]
    if not any(overloaded) or all(overloaded):
        return all_found
    chosen = alike[overloaded.index(False)]
    return [chosen, *[one for one in all_found if one is not chosen]]


def _has_body(found: Found) -> bool:
    """Return whether more than a semicolon follows the signature of a declaration."""
    declaration = found.declaration
    return not declaration.head.end or declaration.whole.end > declaration.head.end + 1


_MOST_LOOKED_AT = 10


def likeliest_first(index: Index, all_found: list[Found]) -> list[Found]:
    """Return declarations of a name, what others may use before what is private where the name is alike.

    The one that has a body comes before its overloads.

    Raises:
        ChangedError: the file isn't the one that the index knows.
    """
    first = all_found[0]
    if first.file.path.endswith(".rs"):
        alike = [
            one
            for one in all_found[:_MOST_LOOKED_AT]
            if one.file.is_aside == first.file.is_aside
            and one.declaration.qualified.count(".") == first.declaration.qualified.count(".")
        ]
        alike.sort(key=lambda one: not head_of(index, one).startswith("pub"))
        all_found = [*alike, *[one for one in all_found if one not in alike]]
    return implementation_first(index, all_found)


def _parts_of_head(index: Index, found: Found) -> tuple[str, str]:
    """Return the decorators of a declaration, and its signature."""
    declaration = found.declaration
    start, middle, end = declaration.whole.start, declaration.head.start, declaration.head.end
    part = None
    if found.file.is_plain and index.recent.text(found.file) is None:
        part = read_part(index.root, found.file.path, found.file.key, start, end)
    if part is None:
        part = source_of(index, found.file)[start:end]
    cut = middle - start
    return part[:cut].decode(errors="replace"), part[cut:].decode(errors="replace")


_DECORATOR = re.compile(r"^[^\S\n]*(#\[[^\n]*\]|@[\w.]+(?:\((?:[^()\n]|\([^()\n]*\))*\))?)", re.MULTILINE)
_LONGEST_DECORATOR = 60


def _decorators(text: str) -> list[str]:
    """Return the decorators above a declaration, with their arguments where these are short."""
    found = dict.fromkeys(_DECORATOR.findall(text))
    return [one if len(one) <= _LONGEST_DECORATOR else one.partition("(")[0] for one in found]


def _is_overload(decorators: str) -> bool:
    names = [one.partition("(")[0].lstrip("@") for one in _decorators(decorators)]
    return any(name.rpartition(".")[2] == "overload" for name in names)


def span_text(source: bytes, span: Span) -> str:
    """Return the text of a place."""
    return source[span.start : span.end].decode(errors="replace")


def one_line(text: str) -> str:
    """Return a text that spans lines as one."""
    if "\n" not in text:
        return text.strip()
    joined = " ".join(filter(None, map(str.strip, text.split("\n"))))
    return re.sub(r",? ([)\]])", r"\1", re.sub(r"([(\[]) ", r"\1", joined))


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
        return "\n".join(_without_marks(text.split("\n"))).strip()
    first, _, rest = text.partition("\n")
    return f"{first.strip()}\n{textwrap.dedent(rest)}".strip()


def _without_marks(lines: list[str]) -> Iterator[str]:
    """Yield the lines of comments without the marks that begin and end them."""
    in_block = False
    for line in lines:
        bare = line.lstrip()
        if not in_block and bare.startswith("//"):
            yield re.sub(r"^///?!? ?", "", bare)
            continue
        shown = re.sub(r"^\s*\*(?!/) ?" if in_block else r"^/\*\*? ?", "", line if in_block else bare)
        in_block = not shown.rstrip().endswith("*/")
        yield shown if in_block else shown.rstrip().removesuffix("*/").rstrip()


def location(found: Found) -> str:
    """Return file and line of a declaration."""
    return f"{found.file.path}:{found.declaration.line}"
