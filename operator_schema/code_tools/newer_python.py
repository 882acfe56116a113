"""Which syntax of a snippet exists only in newer versions of Python than the running one?"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, NamedTuple

from .nodes import nodes_in, text_of
from .snippets import SyntaxProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

    from .snippets import Context

_GRAMMAR = "tree_sitter_python"


class _Newer(NamedTuple):
    """A place that uses the syntax of a newer version.

    Attributes:
        node: the node with this syntax.
        what: the name of the syntax.
        version: of Python that introduced it.
        edits: places in bytes, each with older syntax of the same length to put there.
    """

    node: Node
    what: str
    version: tuple[int, int]
    edits: list[tuple[int, bytes]]


def with_newer_syntax(
    problems: Callable[[str, Context], list[SyntaxProblem]], code: str, context: Context
) -> list[SyntaxProblem]:
    """List the errors of a snippet of Python; syntax that only newer versions have is a note.

    Args:
        problems: lists the errors that this interpreter finds.
        code: the snippet.
        context: the kind of text that it is.
    """
    found = problems(code, context)
    if not found or "\0" in code:
        return found
    source = code.encode(errors="replace")
    newer = list(_newer_syntax(source))
    if not newer:
        return found
    older = bytearray(source)
    for one in newer:
        for start, text in one.edits:
            older[start : start + len(text)] = text
    notes = {one.what: _note(one, source) for one in reversed(newer)}
    return [*problems(older.decode(errors="replace"), context), *list(notes.values())[::-1]]


def _note(newer: _Newer, source: bytes) -> SyntaxProblem:
    row, column = newer.node.start_point
    before = source.split(b"\n", row + 1)[row][:column].decode(errors="replace")
    major, minor = newer.version
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    message = f"{newer.what} need Python {major}.{minor}; this is Python {here}"
    return SyntaxProblem(row + 1, len(before) + 1, message, severity="note")


def _newer_syntax(source: bytes) -> Iterator[_Newer]:
    """Yield the outermost places whose syntax this interpreter doesn't have."""
    end = 0
    for node in nodes_in(_GRAMMAR, source):
        read = _READERS.get(node.type)
        newer = None if read is None or node.start_byte < end else read(node)
        if newer is not None and newer.version > sys.version_info[:2]:
            yield newer
            if node.type == "string":
                end = node.end_byte


def _read_alias(node: Node) -> _Newer | None:
    left = node.child_by_field_name("left")
    if left is None or left.end_byte <= node.start_byte:
        return None
    keyword = node.start_byte + len(b"type")
    edits = [(keyword, b"_" * (left.start_byte - keyword))]
    for child in left.named_children:
        edits += [_blank_out(part) for part in child.named_children if part.type == "type_parameter"]
    return _Newer(node, "type aliases", (3, 12), edits)


def _read_generic(node: Node) -> _Newer | None:
    parameters = node.child_by_field_name("type_parameters")
    if parameters is None:
        return None
    has_default = "=" in text_of(parameters)
    what, version = ("defaults of type parameters", (3, 13)) if has_default else ("type parameters", (3, 12))
    return _Newer(node, what, version, [_blank_out(parameters)])


def _read_except(node: Node) -> _Newer | None:
    types = node.children_by_field_name("value")
    if len(types) < 2 or types[-1].type == "as_pattern":  # noqa: PLR2004  # one has no comma
        return None
    commas = [child for child in node.children if child.type == ","]
    # `A + B` is as long as `A, B`, and an expression.
    return _Newer(
        node,
        "several exceptions without parentheses",
        (3, 14),
        [(comma.start_byte, b"+") for comma in commas],
    )


def _read_string(node: Node) -> _Newer | None:
    start = node.children[0]
    opening = start.text or b""
    prefix = opening.rstrip(b"\"'").lower()
    inside = [child for child in node.named_children if child.type == "interpolation"]
    if b"t" in prefix:
        place = start.start_byte + prefix.index(b"t")
        return _Newer(node, "template strings", (3, 14), [(place, b"f")])
    quotes = opening[len(prefix) :]
    if not any(mark in (part.text or b"") for part in inside for mark in (quotes, b"\\", b"#", b"\n")):
        return None
    text = node.text or b""
    mark = b'"""' if b"\n" in text and len(text) >= len(b'""""""') else b'"'
    blank = re.sub(rb"[^\n]", b" ", text[len(mark) : -len(mark)])
    what = "f-strings with quotes, backslashes, comments or lines inside of braces"
    return _Newer(node, what, (3, 12), [(node.start_byte, mark + blank + mark)])


def _blank_out(node: Node) -> tuple[int, bytes]:
    """Replace a node by spaces, and its line breaks too, since they were in brackets."""
    blank = re.sub(rb"[^\n]", b" ", node.text or b"")
    return node.start_byte, re.sub(rb" \n", b"\\\n", blank)


_READERS: dict[str, Callable[[Node], _Newer | None]] = {
    "class_definition": _read_generic,
    "except_clause": _read_except,
    "function_definition": _read_generic,
    "string": _read_string,
    "type_alias_statement": _read_alias,
}
