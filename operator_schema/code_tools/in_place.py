"""A snippet in the file that it is for."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from .. import CallError
from .language import TooHardError
from .type_checkers import Snippet

if TYPE_CHECKING:
    from .language import Declaration, Language

__all__ = ["in_file", "in_function"]

_COLON = re.compile(rb"[^\n:]*:")
_INDENT = 4


def in_file(path: str, code: str) -> Snippet:
    """Return a whole file in place of another one."""
    return Snippet(code, 1, code.count("\n") + 1, path=path)


def in_function(
    path: str, source: bytes, declaration: Declaration, language: Language, code: str
) -> tuple[Snippet, bool]:
    """Return a file with a snippet in place of the body of a function, or of all of it if it declares that.

    Args:
        path: of the file.
        source: of it.
        declaration: of the function in it.
        language: of the file.
        code: the inside of the function, or the function itself.

    Returns:
        The file, and whether the snippet is the function itself.

    Raises:
        CallError: the function has no body.
    """
    is_whole = _declares(language, code, declaration.name)
    if language.name == "python":
        return _indented(path, source, declaration, code, is_whole=is_whole), is_whole
    start, end = (
        (declaration.whole.start, declaration.whole.end)
        if is_whole
        else _braces(language, source, declaration)
    )
    before, after = source[:start].decode(errors="replace"), source[end:].decode(errors="replace")
    if is_whole:
        return _between(path, before, code, after), True
    return _between(path, f"{before}\n", code, f"\n{after}"), False


def _between(path: str, before: str, code: str, after: str, columns: int = 0) -> Snippet:
    first = before.count("\n") + 1
    return Snippet(f"{before}{code}{after}", first, first + code.count("\n"), columns, path)


def _indented(path: str, source: bytes, declaration: Declaration, code: str, *, is_whole: bool) -> Snippet:
    start = declaration.head.start
    own = source[source.rfind(b"\n", 0, start) + 1 : start]
    indent = own.decode(errors="replace") if not own.strip() else ""
    colon = _COLON.match(source, declaration.head.end)
    if colon is None:
        raise _no_body(declaration)
    cut = start - len(own) if is_whole else colon.end()
    before = source[:cut].decode(errors="replace") + ("" if is_whole else "\n")
    after = source[declaration.whole.end :].decode(errors="replace")
    plain = textwrap.dedent(code)
    added = indent if is_whole else f"{indent}{' ' * _INDENT}"
    removed = len(code.partition("\n")[0]) - len(plain.partition("\n")[0])
    body = textwrap.indent(plain, added) if plain.strip() else f"{added}pass"
    # A body that ends with its line leaves no empty one.
    return _between(path, before, body, after, len(added) - removed)


def _declares(language: Language, code: str, name: str) -> bool:
    """Return whether a snippet is a whole function of this name, and not the inside of it."""
    for text in (textwrap.dedent(code), f"class _ {{\n{code}\n}}"):
        source = text.encode(errors="replace")
        try:
            found = language.parse(source).declarations
        except TooHardError:
            return False
        for one in found:
            around = (source[: one.whole.start] + source[one.whole.end :]).strip()
            if one.name == name and around in {b"", b"class _ {\n}", b"class _ {\n\n}", b"class _ {\n\n\n}"}:
                return one.kind in {"func", "method"}
    return False


def _braces(language: Language, source: bytes, declaration: Declaration) -> tuple[int, int]:
    """Return where the inside of the last braces of a function begins and ends."""
    text = source[declaration.head.end : declaration.whole.end].decode(errors="replace")
    level, start, found = 0, 0, None
    for match in language.tokens.finditer(text):
        mark = match.group()
        if mark in {"{", "("}:
            if level == 0 and mark == "{":
                start = match.end()
            level += 1
        elif mark in {"}", ")"}:
            level -= 1
            if level == 0 and mark == "}":
                found = (start, match.start())
    if found is None:
        raise _no_body(declaration)
    offset = declaration.head.end
    return offset + len(text[: found[0]].encode()), offset + len(text[: found[1]].encode())


def _no_body(declaration: Declaration) -> CallError:
    return CallError(f"{declaration.qualified} has no body that code could be put into")
