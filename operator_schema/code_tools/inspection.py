"""What `inspect` tells about a declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .index import Found
from .language import language_of
from .results import FieldShown, Inspection, MethodShown
from .source_text import (
    doc_text,
    head_of,
    implementation_first,
    location,
    one_line,
    others_shown,
    source_of,
    span_text,
    whole_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .budget import Budget
    from .declarations import Span
    from .index import Index
    from .language import Field, Language

__all__ = ["inspected", "members_of"]

_LONGEST_TYPE = 300
_LONGEST_VALUE = 100
_LONGEST_CHARACTER = 4
"""Bytes of UTF-8."""
_TYPES = frozenset({"struct", "class", "interface", "protocol", "type"})


def inspected(index: Index, all_found: list[Found], budget: Budget) -> Inspection:
    """Describe the first of some declarations, and name the others.

    Args:
        index: that they are from.
        all_found: at least one.
        budget: of the result.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    found, *others = implementation_first(index, all_found)
    declaration, source = found.declaration, source_of(index, found)
    language = language_of(found.file.path)
    assert language is not None  # noqa: S101  # the index holds nothing else
    result = Inspection(
        found=True,
        name=budget.line(declaration.qualified),
        kind=declaration.kind,
        location=budget.line(location(found)),
    )
    if declaration.head.end:
        result["signature"] = budget.line(head_of(index, found))
    if others:
        result["others"] = others_shown(index, others, budget, "declarations")
    if declaration.value.end:
        result["value"] = budget.text(span_text(source, declaration.value), 0.5, "read the file")
    methods = list(members_of(index, found, language)) if declaration.kind in _TYPES else []
    outlined = language.bodies_inside and declaration.kind in _TYPES
    text = _outline(source, found, methods) if outlined else whole_text(source, declaration)
    result["definition"] = budget.text(text, 0.5, "ask for a member by its own name, or use read_func")
    is_told = declaration.whole.start <= declaration.doc.start and result["definition"] == text
    if declaration.doc.end and not is_told:
        result["doc"] = budget.text(doc_text(source, declaration), 0.4, "read the file")
    _add_members(result, index, found, methods, budget)
    if budget.note:
        result["note"] = budget.note
    return result


def _add_members(
    result: Inspection, index: Index, found: Found, methods: list[Found], budget: Budget
) -> None:
    """Add the fields and methods of a type."""
    declaration, language = found.declaration, language_of(found.file.path)
    assert language is not None  # noqa: S101  # the index holds nothing else
    source = source_of(index, found)
    own = source[declaration.whole.start : declaration.whole.end]
    fields = language.fields(own) if declaration.kind in _TYPES else []
    if fields:
        shown = (_field(own, field) for field in fields)
        result["fields"] = budget.items(shown, 0.4, "fields", of=len(fields))
    if methods:
        each = (
            MethodShown(
                name=one.declaration.name,
                signature=head_of(index, one),
                location=location(one),
            )
            for one in methods
        )
        hint = f"search for {declaration.name}.*"
        result["methods"] = budget.items(each, 1, "methods", hint, of=len(methods))


def members_of(index: Index, found: Found, language: Language) -> Iterator[Found]:
    """Yield the methods of a type, in the order of their files."""
    owner = found.declaration.qualified
    files = [found.file]
    if language.package_is_folder:
        folder = found.file.path.rpartition("/")[0]
        files = [file for file in index.files() if file.path.rpartition("/")[0] == folder]
    for file in files:
        for declaration in file.parsed.declarations:
            if declaration.kind == "method" and declaration.owner == owner:
                yield Found(file, declaration)


def _field(text: bytes, field: Field) -> FieldShown:
    """Return what is told of a field: its type and value, of which only the beginning may be shown."""
    shown = FieldShown(name=field.name)
    if field.type.end:
        shown["type"] = _short(text, field.type, _LONGEST_TYPE)
    if field.value.end:
        shown["value"] = _short(text, field.value, _LONGEST_VALUE)
    return shown


def _short(text: bytes, span: Span, most: int) -> str:
    is_cut = span.end - span.start > most * _LONGEST_CHARACTER
    end = span.start + most * _LONGEST_CHARACTER if is_cut else span.end
    line = one_line(span_text(text, span._replace(end=end)))
    return f"{line[:most]}…" if is_cut or len(line) > most else line


def _outline(source: bytes, found: Found, methods: list[Found]) -> str:
    """Return what a class holds before its methods, which have a list of their own."""
    whole = found.declaration.whole
    if not methods:
        return whole_text(source, found.declaration)
    first = min([one.declaration.whole.start for one in methods])
    before = whole._replace(end=first)
    return f"{whole_text(source, found.declaration._replace(whole=before)).rstrip()}\n    ..."
