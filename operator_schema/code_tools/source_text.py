"""Which parts of a file's text belong to a declaration, and what surrounds a place in it?"""

from __future__ import annotations

import re
import textwrap
from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING

from .language import end_of_head, lines_with, places_of
from .source_files import Content, read_part, read_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .index import FoundDeclaration, Index, SourceFile
    from .language import Declaration, Import, Language, Span


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
    if file.is_plain and (source := read_part(index.root, file.path, file.key, 0, file.key[0])) is not None:
        index.recent.keep(file, source)  # as it was when it was read, which needs no second look
        return source
    content = read_source(index.root, file.path)
    if not isinstance(content, Content) or (content.key != file.key and not file.is_same(content.source)):
        raise ChangedError
    index.recent.keep(file, content.source)
    return content.source


def head_of(index: Index, found: FoundDeclaration) -> str:
    """Return the signature of a declaration on one line, with the names of its decorators before it.

    Only this part of its file is read.

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
    declaration = found.declaration
    start, middle, end = declaration.whole.start, declaration.head.start, declaration.head.end
    part = None
    if found.file.is_plain and index.recent.text(found.file) is None:
        part = read_part(index.root, found.file.path, found.file.key, start, end)
    if part is None:
        part = source_of(index, found.file)[start:end]
    cut = middle - start
    return part[:cut].decode(errors="replace"), part[cut:].decode(errors="replace")


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
    """Return the text of a place."""
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


def location(found: FoundDeclaration) -> str:
    """Return the file and line of a declaration, such as `codec/codec.py:12`."""
    return f"{found.file.path}:{found.declaration.line}"


IMPORT = re.compile(
    rb"(?:^|[;:{])[ \t]*(?:pub(?:\([^()\n]*\))?[ \t]+)?(?:export|from|import|use)\b", re.MULTILINE
)
_REQUIRED = re.compile(rb"=\s*(?:require|await[ \t]+import)[ \t]*\(")
_TYPE_TEXT = re.compile(rb"['\"][\w.\[\], |]+['\"]")
_BEFORE_TYPE = re.compile(rb"(?::|->|\w\[|\|)[ \t]*\Z")
_EXPORTED = re.compile(rb"__all__\s*(?:\+?=|\.\w+\()\s*[\[(][^\])]*\Z")
_LONGEST_LIST = 20_000
_LONGEST_CODE = 2000
_MOST_BEFORE = 3000
"""Declarations before a place among which the one around it is looked for."""


_BINDING = re.compile(
    rb"^[ \t]*(?:(?:let|var|const|mut)[ \t]+)*(\(?[^=\n#'\"\[{(:]*)(?::[^=\n]*)?(?<![!<>])=(?!=)"
    rb"|\bfor\b([^:\n{]*?)\b(?:in|range)\b|\bas[ \t]+(\w+)|\b(?:def|class)[ \t]+(\w+)"
    rb"|\b(\w+)[ \t]*:=|\blambda\b([^:\n]*):|[(,|][ \t\n]*(\w+)[ \t]*:(?!:)[^=]",
    re.MULTILINE,
)
"""Where a text binds names: in one of its groups."""
_IS_SET = re.compile(rb"[ \t]*=(?!=)")
_NO_NAMES = frozenset({b"let", b"var", b"const", b"mut"})
_IN_NAMES = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_NOT_BOUND = frozenset(b".(")
_LINE_END, _DOT = b"\n."
_ALL = b"::*"
"""How `use` of Rust takes all names of a module or enum."""
_NAMED = re.compile(rb"\b(?:as|def|class)[ \t]+\Z")
_SET_AS = re.compile(rb"[ \t]*:=")


def _is_plainly_bound(name: bytes, lines: bytes) -> bool | None:
    """Return whether a name is bound if that is obvious; None if it needs a search.

    Args:
        name: to look for.
        lines: all that have it.

    Returns:
        True if a line begins by setting it, False if each place only reads it; None if that can't be told.
    """
    if not _IN_NAMES.issuperset(name):
        return None
    is_bound: bool | None = False
    at = lines.find(name)
    while at >= 0:
        end = at + len(name)
        before = lines[at - 1] if at else _LINE_END
        after = lines[end] if end < len(lines) else _LINE_END
        if before not in _IN_NAMES and after not in _IN_NAMES:
            start = lines.rfind(b"\n", 0, at) + 1
            if name not in _NO_NAMES and not lines[start:at].strip(b" \t") and _IS_SET.match(lines, end):
                return True
            if before == _DOT:
                is_read = _SET_AS.match(lines, end) is None
            elif _NAMED.search(lines, start, at) is not None:
                is_read = False
            elif after in _NOT_BOUND:
                is_read = True
            else:
                last = lines.find(b"\n", end)
                rest = lines[end : len(lines) if last < 0 else last]
                is_read = b"=" not in rest and b":" not in rest and lines.find(b"for", start, at) < 0
            if not is_read:
                is_bound = None
        at = lines.find(name, end)
    return is_bound


_STRING = re.compile(rb'"(?:[^"\\\n]++|\\.)*+"')
_PARAMETER = re.compile(rb"[(,|][ \t\n]*[*&]*(?:mut )?(\w+)(?=[ \t]*[:,)=| ])")
_NAME = re.compile(rb"(?<![\w.])[A-Za-z_]\w*(?![\w.(])")


_IMPORTED = re.compile(rb"[^#\n]*?\bimport\b[ \t]*(?:\([^)]*\)?|[^\n]*(?:\\\n[^\n]*)*)")
"""From the beginning of its line on, what seems to be an import of Python, with the names in it."""


class FunctionText:
    """The text of one function, with its imports and variables.

    Args:
        declaration: of the function.
        language: of its file.
        text: from its head to its end.
    """

    def __init__(self, declaration: Declaration, language: Language, text: bytes) -> None:
        self.declaration = declaration
        self._language = language
        self._text = text
        self._imports: tuple[Import, ...] | None = None
        self._parameters: set[bytes] | None = None
        self._bound: dict[str, bool] = {}
        self._types: dict[str, str] = {}
        self._taken: dict[str, bool] = {}
        self._imported: bytes | None = None

    def imports(self, name: str) -> list[Import]:
        """List the imports inside the function that make a name known, or all names of something."""
        if self._imports is None:
            if self._imported is None:
                self._imported = self._texts_of_imports()
            if _ALL not in self._imported and next(places_of(name.encode(), self._imported), None) is None:
                return []
            self._imports = self._language.imports(self._text)  # parses all of it
        return [one for one in self._imports if one.name in {name, "*"}]

    def _texts_of_imports(self) -> bytes:
        """Return the parts of the text with imported names; empty if there are no imports."""
        text = self._text
        if self._language.name != "python":
            return text if IMPORT.search(text) or _REQUIRED.search(text) else b""
        found: list[bytes] = []
        at = text.find(b"import")
        while at >= 0:
            start = text.rfind(b"\n", 0, at) + 1
            whole = _IMPORTED.match(text, start)
            end = whole.end() if whole is not None else at + len(b"import")
            found.append(text[start:end])
            at = text.find(b"import", max(end, at + 1))
        return b"\n".join(found)

    def binds(self, name: str) -> bool:
        """Return whether the function seems to bind a name, other than by an import."""
        if name not in self._bound:
            is_imported = any(one.name == name for one in self.imports(name))
            self._bound[name] = not is_imported and self._is_bound(name.encode())
        return self._bound[name]

    def _is_bound(self, name: bytes) -> bool:
        """Return whether the function seems to bind a name as a parameter or variable."""
        if self._parameters is None:
            self._parameters = set(_PARAMETER.findall(self._text[: end_of_head(self._text)]))
        if name in self._parameters:
            return True
        lines = lines_with(self._text, name)
        is_long = len(lines) > _LONGEST_CODE
        if is_long:
            lines = _STRING.sub(b'""', lines)
            if any(len(line) > _LONGEST_CODE for line in lines.split(b"\n")):
                return True  # nobody wrote this by hand
        is_bound = _is_plainly_bound(name, lines)
        if is_bound is not None:
            return is_bound
        lines = lines if is_long else _STRING.sub(b'""', lines)
        return any(
            group is not None and name in _NAME.findall(group)
            for place in _BINDING.finditer(lines)
            for group in place.groups()
        )

    def type_of(self, name: str) -> str:
        """Return the type of a name in the function; empty if it isn't the same everywhere."""
        if name not in self._types:
            self._types[name] = self._language.type_of(self._text, name)
        return self._types[name]

    def takes_apart(self, name: str) -> bool:
        """Return whether the function takes a name out of an object, as `const { name } = made()` does."""
        if self._language.family != "typescript":
            return False
        taken = rb"\{[^{}()=;]*\b%b\b[^{}()=;]*\}[ \t]*=(?![=>])" % re.escape(name.encode())
        return re.search(taken, self._text) is not None

    def takes_again(self, name: str) -> bool:
        """Return whether several functions in the text seem to have a parameter of this name."""
        if name not in self._taken:
            places = re.findall(rb"[(,]\s*%b\s*[,)]" % re.escape(name.encode()), self._text)
            self._taken[name] = len(places) > 1
        return self._taken[name]


_START = attrgetter("whole.start")


class Places:
    """Finds the declaration, string or comment around a place in a file.

    Args:
        declarations: of the file.
        language: of the file.
        source: its text.
    """

    def __init__(self, declarations: Sequence[Declaration], language: Language, source: bytes) -> None:
        self._source = source
        self._text = ""
        """The source with a character for each byte, where it is needed."""
        self._declarations = declarations
        self._language = language
        self._is_python = language.name == "python"
        self._exports: bool | None = None
        """Whether it has a list of the names that it exports; None until that is asked."""
        self._nearest: tuple[int, int] = (-1, -1)
        """The place that was last looked up, and the index of the last declaration before it."""
        self._begun = -1
        self._read = 0
        """A place in code, up to which is read what began at another one."""
        self._ahead: tuple[int, int] | None = None
        """The next string or comment behind it, once that is found."""
        self._signs: list[tuple[int, bool]] = []
        """For each text of `Language.spanning` a place, and whether it is there; else it isn't before it."""
        self._line_of: tuple[int, int] = (-1, 0)
        """A place, and where its line begins."""
        self._lines: tuple[int, int] = (0, 1)

    def line(self, at: int) -> int:
        """Return the line number of a place; callers must ask for places in ascending order."""
        place, line = self._lines
        if at < place:
            place, line = 0, 1
        if self._is_python:  # the line of a function is the one where its head begins
            number = self._before(at)
            near = self._declarations[number] if number >= 0 else None
            if near is not None and near.head.end and place < near.head.start <= at:
                place, line = near.head.start, near.line
        line += self._source.count(b"\n", place, at)
        self._lines = at, line
        return line

    def text(self, at: int) -> str:
        """Return the text of the line around a place."""
        begin = self._source.rfind(b"\n", 0, at) + 1
        end = self._source.find(b"\n", at)
        return self._source[begin : len(self._source) if end < 0 else end].decode(errors="replace").strip()

    def around(self, at: int) -> list[Declaration]:
        """Return the declarations around a place, the outermost first."""
        last = self._before(at)
        found: list[Declaration] = []
        for number in range(last, max(last + 1 - _MOST_BEFORE, 0) - 1, -1):
            one = self._declarations[number]
            if one.whole.end > at:
                found.append(one)
                if "." not in one.qualified:
                    break
            elif "." not in one.qualified and one.whole.start < at:
                break
        return found[::-1]

    def is_code(self, at: int) -> bool:
        """Return whether a place is code: not in a comment or string, or in the code inside of a string."""
        token = self._token(at)
        if token is None:
            return True
        start, _ = token
        prefix = self._source[max(start - 2, 0) : start].lower()
        if not self._is_python or b"f" not in prefix:
            return False
        return self._source.rfind(b"{", start, at) > self._source.rfind(b"}", start, at)

    def is_type(self, at: int) -> bool:
        """Return whether a place is in a type that is written as a string."""
        token = self._token(at)
        if token is None or not self._is_python:
            return False
        start, end = token
        before = _BEFORE_TYPE.search(self._source, max(start - 20, 0), start)
        return before is not None and _TYPE_TEXT.fullmatch(self._source, start, end) is not None

    def is_exported(self, at: int) -> bool:
        """Return whether a place is in `__all__` of a module of Python."""
        if self._exports is None:
            self._exports = self._is_python and b"__all__" in self._source
        if not self._exports:
            return False
        start = self._source.rfind(b"__all__", max(at - _LONGEST_LIST, 0), at)
        return start >= 0 and _EXPORTED.match(self._source, start, at) is not None

    def _before(self, at: int) -> int:
        """Return the index of the last declaration that begins before a place; -1 if there is none."""
        if self._nearest[0] != at:
            self._nearest = at, bisect_right(self._declarations, at, key=_START) - 1
        return self._nearest[1]

    def _token(self, at: int) -> tuple[int, int] | None:
        """Return the string or comment around a place; callers must ask for places in ascending order.

        Before the line of the place, only lines are read with something that may go on behind their end.
        """
        begin = self._begin(at)
        if begin != self._begun or at < self._read:
            self._begun, self._read, self._ahead, self._signs = begin, begin, None, []
            self._line_of = -1, 0
        while True:
            if self._ahead is None:
                self._text = self._text or self._source.decode("latin-1")
                found = self._language.hidden.search(self._text, self._line_to_read(at))
                self._ahead = (len(self._text), len(self._text)) if found is None else found.span()
            start, end = self._ahead
            if at < start:
                return None
            if at < end:
                return start, end
            self._read, self._ahead = end, None

    def _line_to_read(self, at: int) -> int:
        """Return a place in code before which no string or comment can reach a given place."""
        sign = self._next_sign(at)
        if self._line_of[0] != sign:
            last = sign
            start = self._text.rfind("\n", self._read, last) + 1
            while sign < at and start > self._read and not self._text[start:last].strip():
                last = start - 1  # what the sign belongs to may begin in the line before
                start = self._text.rfind("\n", self._read, last) + 1
            self._line_of = sign, start
        return max(self._line_of[1], self._read)

    def _next_sign(self, at: int) -> int:
        """Find the first sign, such as a quote, of a string or comment that may continue on the next line."""
        signs = self._language.spanning
        if not self._signs:
            self._signs = [(self._read, False)] * len(signs)
        nearest = at
        for number, sign in enumerate(signs):
            place, is_there = self._signs[number]
            if place < self._read or (place < at and not is_there):
                # One of its letters may be before the place.
                place = self._source.find(
                    sign, self._read if is_there else max(self._read, place - len(sign)), at
                )
                is_there = place >= 0
                self._signs[number] = (place, True) if is_there else (at, False)
            if is_there:
                nearest = min(nearest, place)
        return nearest

    def _begin(self, at: int) -> int:
        """Return where to begin reading in order to know whether `at` is in a string."""
        place = self._before(at)
        if place < 0:
            return 0
        # Declarations begin in code, and after a docstring there is code again.
        start, end = self._declarations[place].whole.start, self._declarations[place].doc.end
        if not start < end <= at:
            return start
        return end + (3 if self._source.startswith((b'"""', b"'''"), end) else 1)
