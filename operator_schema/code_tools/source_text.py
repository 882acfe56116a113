"""Which text of a file belongs to a declaration: its signature, comment or all of it?"""

from __future__ import annotations

import re
import textwrap
from itertools import islice
from typing import TYPE_CHECKING

from .source_files import Content, read_source
from .words import places_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .index import FoundDeclaration, Index, SourceFile
    from .language import Declaration, Language, Span


_BEFORE_NAME = re.compile(
    rb"\b(?:class|const|def|enum|fn|func|function|static|struct|trait|type|union)[ \t]+\Z"
)
_LONGEST_BEFORE = 40
_MOST_FILES = 300


class ChangedError(Exception):
    """A file has changed since the index read it."""


def source_of(index: Index, file: SourceFile) -> bytes:
    """Return the content of a file in UTF-8 with line feeds.

    Raises:
        ChangedError: they differ from the ones that the index knows.
    """
    known = index.recent.text(file)
    if known is not None:
        return known
    content = read_source(index.root, file.path)
    if not isinstance(content, Content) or (content.key != file.key and not file.is_same(content.source)):
        raise ChangedError
    index.recent.keep(file, content.source)
    return content.source


def head_of(index: Index, found: FoundDeclaration) -> str:
    """Return the signature of a declaration on one line, with the names of its decorators before it.

    Raises:
        ChangedError: the file isn't the one that the index knows.
    """
    before, head = _parts_of_head(index, found)
    return " ".join([*_decorators(before, found.file.language), one_line(head)])


def implementation_first(index: Index, all_found: list[FoundDeclaration]) -> list[FoundDeclaration]:
    """Sort declarations of one name, so that the one with a body comes before its overloads.

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
    overloaded = [not _has_body(one) or _is_overload(one, _parts_of_head(index, one)[0]) for one in alike]
    if not any(overloaded) or all(overloaded):
        return all_found
    chosen = alike[overloaded.index(False)]
    return [chosen, *[one for one in all_found if one is not chosen]]


def _has_body(found: FoundDeclaration) -> bool:
    """Return whether more than a semicolon follows the signature of a declaration."""
    declaration = found.declaration
    return not declaration.head.end or declaration.whole.end > declaration.head.end + 1


_MOST_LOOKED_AT = 10


def likeliest_first(index: Index, all_found: list[FoundDeclaration]) -> list[FoundDeclaration]:
    """Sort declarations, so that public ones come before private ones of the same name.

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
        alike.sort(key=lambda one: not _parts_of_head(index, one)[1].startswith("pub"))
        all_found = [*alike, *[one for one in all_found if one not in alike]]
    return implementation_first(index, all_found)


def _parts_of_head(index: Index, found: FoundDeclaration) -> tuple[str, str]:
    """Return the decorators of a declaration, and its signature."""
    source = source_of(index, found.file)
    whole, head = found.declaration.whole, found.declaration.head
    return span_text(source, whole._replace(end=head.start)), span_text(source, head)


_DECORATOR = re.compile(r"^[^\S\n]*(@[\w.]+(?:\((?:[^()\n]|\([^()\n]*\))*\))?)", re.MULTILINE)
_ATTRIBUTE_NAME = re.compile(r"#\[\s*[\w:]+\s*")
_LONGEST_DECORATOR = 60


def _decorators(text: str, language: Language) -> list[str]:
    """Return the decorators above a declaration, with their arguments where these are short."""
    if language.name == "rust":
        return list(dict.fromkeys(map(_short_attribute, _attributes(text, language.tokens))))
    found = dict.fromkeys(_DECORATOR.findall(text))
    return [one if len(one) <= _LONGEST_DECORATOR else one.partition("(")[0] for one in found]


def _attributes(text: str, tokens: re.Pattern[str]) -> Iterator[str]:
    """Yield the attributes of Rust in a text, each from `#` to its closing bracket."""
    start, level = -1, 0
    for found in tokens.finditer(text):
        if found[0] in {"(", "[", "{"}:
            if level == 0 and text[: found.start()].endswith("#"):
                start = found.start() - 1
            level += 1
        elif found[0] in {")", "]", "}"}:
            level -= 1
            if level == 0 and start >= 0:
                yield text[start : found.end()]
                start = -1


def _short_attribute(text: str) -> str:
    """Return an attribute on one line; a long one is cut to its name and brackets."""
    line = one_line(text)
    name = _ATTRIBUTE_NAME.match(line)
    if len(line) <= _LONGEST_DECORATOR or name is None:
        return line
    is_called = line[name.end() : name.end() + 1] == "("
    return f"{name[0].rstrip()}{'(…)' if is_called else ' = …'}]"


def _is_overload(found: FoundDeclaration, decorators: str) -> bool:
    each = _decorators(decorators, found.file.language)
    names = [one.partition("(")[0].lstrip("@") for one in each]
    return any(name.rpartition(".")[2] == "overload" for name in names)


def span_text(source: bytes, span: Span) -> str:
    """Return the text in a span of a file."""
    return source[span.start : span.end].decode(errors="replace")


def one_line(text: str) -> str:
    """Join the lines of a text into one."""
    if "\n" not in text:
        return text.strip()
    joined = " ".join(filter(None, map(str.strip, text.split("\n"))))
    return re.sub(r",? ([)\]])", r"\1", re.sub(r"([(\[]) ", r"\1", joined))


def whole_text(source: bytes, declaration: Declaration) -> str:
    """Return the text of a declaration without its indentation in the file."""
    start = declaration.whole.start
    indent = start - (source.rfind(b"\n", 0, start) + 1)
    before = source[start - indent : start]
    text = span_text(source, declaration.whole)
    return textwrap.dedent(before.decode(errors="replace") + text) if not before.strip() else text


def doc_text(source: bytes, declaration: Declaration) -> str:
    """Return the text of a docstring without indentation, or of a comment without its marks."""
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


def declaring_lines(index: Index, name: str, path: str = "") -> Iterator[tuple[SourceFile, int]]:
    """Yield the lines whose text seems to declare a name without dots, inside of functions and macros too.

    Raises:
        ChangedError: a file has changed since the index read it.
    """
    files = (one for one in index.with_word(name) if not path or one.path.endswith(path))
    for file in islice(files, _MOST_FILES) if name else ():
        source = source_of(index, file)
        line, counted, last = 1, 0, 0
        for place in places_of(name.encode(), source):
            if _BEFORE_NAME.search(source, max(place - _LONGEST_BEFORE, 0), place) is None:
                continue
            line, counted = line + source.count(b"\n", counted, place), place
            if line != last:
                last = line
                yield file, line
