"""What a docstring says: its prose, and what it says about each parameter.

The parameters are read in the forms of Google, NumPy and reST (Sphinx, Epydoc). Nothing in this
module takes time that grows faster than the docstring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..immutable import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Line = tuple[int, str]  # how far it is indented, and its text without that
    Entry = tuple[tuple[str, ...], str]  # the names, and the text on their line
    EntryReader = Callable[[str], Entry | None]
    Opening = tuple[str, EntryReader, int]  # what the section holds, how to read it, its first line

__all__ = ["Docstring", "parse_docstring", "split_summary"]

_PARAMETERS: Final = "parameters"
_REMARK: Final = "a remark, which is prose until a section has begun"
_OTHER: Final = "something else"

_SECTIONS: Final = {
    **dict.fromkeys(("args", "arguments", "parameters", "params", "attributes"), _PARAMETERS),
    **dict.fromkeys(("keyword args", "keyword arguments"), _PARAMETERS),
    **dict.fromkeys(("other args", "other arguments", "other parameters"), _PARAMETERS),
    **dict.fromkeys(("return", "returns", "yield", "yields", "receives"), _OTHER),
    **dict.fromkeys(("raises", "warns", "methods"), _OTHER),
    **dict.fromkeys(("example", "examples", "see also", "references", "todo"), _OTHER),
    **dict.fromkeys(("note", "notes", "tip", "hint", "important", "usage"), _REMARK),
    **dict.fromkeys(("warning", "warnings", "attention", "caution", "danger"), _REMARK),
}
"""Titles of sections (Google Python Style Guide, 3.8; numpydoc; Napoleon) and what these hold."""

_FIELDS: Final = {
    **dict.fromkeys(("param", "parameter", "arg", "argument", "key", "keyword"), True),
    **dict.fromkeys(("ivar", "cvar", "var"), True),
    **dict.fromkeys(("type", "vartype", "return", "returns", "rtype", "yield", "yields", "ytype"), False),
    **dict.fromkeys(("raise", "raises", "except", "exception", "throws", "meta"), False),
}
"""Fields of reST (Sphinx's Python domain, "Info field lists") and whether they describe a parameter."""

_CODE_INDENT: Final = 4
"""Columns from which on a title is taken for part of an example."""

_SHORTEST_UNDERLINE: Final = 3
_LONGEST_NUMBER: Final = 3
_ABBREVIATIONS: Final = ("e.g.", "i.e.", "cf.", "vs.")


class Docstring(Value):
    """What a docstring says.

    Attributes:
        text: the prose before the first section, trimmed, its lines and paragraphs kept.
        parameters: each documented name, stars left off, and its description, in order. The
            description is empty where the name stands alone.
    """

    text: str
    parameters: Mapping[str, str]


def parse_docstring(doc: str | None) -> Docstring:
    """Read a docstring in Google, NumPy or reST form.

    Args:
        doc: the docstring as it stands in the source, or None.

    Returns:
        Its prose and its parameters. Where a name is documented twice, the first description wins.
        The lines of a description's paragraphs are joined, its lists keep theirs.
    """
    lines, margin = _split_lines(doc or "")
    found: dict[str, str] = {}
    prose_end = None
    i = 0
    while i < len(lines):
        opening = _opening(lines, i, margin)
        if opening is None or (opening[0] is _REMARK and prose_end is None):
            i += 1
            continue
        if prose_end is None:
            prose_end = i
        holds, read, start = opening
        end = _section_end(lines, i, opening)
        if holds is _PARAMETERS:
            _read_entries(lines[start:end], read, found)
        i = end
    return Docstring(_prose(lines[:prose_end], margin), found)


def _split_lines(doc: str) -> tuple[list[Line], int]:
    """Return the lines of a docstring, and how far all of them are indented."""
    first, *rows = doc.replace("\r\n", "\n").replace("\r", "\n").expandtabs().rstrip().split("\n")
    lines = [(row.find(text := row.strip()), text) for row in rows]
    margin = min([indent for indent, text in lines if text], default=0)
    # The first line begins behind the quotes, so that it says nothing about the margin.
    lines.insert(0, (margin, first.strip()))
    return lines, margin


def _prose(lines: Sequence[Line], margin: int) -> str:
    return "\n".join([" " * (indent - margin) + text if text else "" for indent, text in lines]).strip()


def _opening(lines: Sequence[Line], i: int, margin: int) -> Opening | None:
    indent, text = lines[i]
    if not text or indent - margin >= _CODE_INDENT:
        return None
    if _field_entry(text) is not None:
        return _PARAMETERS, _field_entry, i
    holds = _SECTIONS.get(text.removesuffix(":").rstrip().lower())
    if holds is None:
        return None
    if _is_underlined(lines, i):
        return holds, _numpy_entry, i + 2
    if text.endswith(":") and (holds is _PARAMETERS or text[0].isupper()):
        return holds, _google_entry, i + 1
    return None


def _is_underlined(lines: Sequence[Line], i: int) -> bool:
    if i + 1 == len(lines) or lines[i + 1][0] != lines[i][0]:
        return False
    text = lines[i + 1][1]
    return len(text) >= _SHORTEST_UNDERLINE and not text.strip("-")


def _section_end(lines: Sequence[Line], i: int, opening: Opening) -> int:
    _, read, start = opening
    margin = lines[i][0]
    is_google = read is _google_entry
    is_indented = is_google and _is_deeper(lines, start, margin)
    for j in range(max(start, i + 1), len(lines)):
        indent, text = lines[j]
        if indent > margin or not text:
            continue
        # A body that is no deeper than its title goes on to the next title, in Google's form no
        # further than a blank line: otherwise it would swallow the prose.
        if is_indented or (is_google and not lines[j - 1][1]) or _ends_flat_body(lines, j):
            return j
    return len(lines)


def _is_deeper(lines: Sequence[Line], start: int, margin: int) -> bool:
    """Say whether what comes first, from a line on, is indented further than a margin."""
    for j in range(start, len(lines)):
        indent, text = lines[j]
        if text:
            return indent > margin
    return False


def _ends_flat_body(lines: Sequence[Line], j: int) -> bool:
    text = lines[j][1]
    title, colon, _ = text.partition(":")
    if colon and title[:1].isupper() and title.lower() in _SECTIONS:
        return True
    return _is_underlined(lines, j) or _field_entry(text) is not None


def _read_entries(lines: Sequence[Line], read: EntryReader, found: dict[str, str]) -> None:
    level: int | None = None
    names: tuple[str, ...] = ()
    description: list[Line] = []
    after_blank = False
    for line in lines:
        indent, text = line
        if level is None and text:
            level = indent
        is_outer = level is not None and indent <= level and text
        entry = read(text) if is_outer else None
        if entry is not None:
            _keep(names, description, found)
            names, rest = entry
            description = [(indent, rest)]
            level = indent
        elif is_outer and after_blank:
            _keep(names, description, found)
            names, description = (), []
        else:
            # Deeper, or not set off by a blank line: people forget to indent what they wrap.
            description.append(line)
        after_blank = not text
    _keep(names, description, found)


def _keep(names: Sequence[str], description: Sequence[Line], found: dict[str, str]) -> None:
    if names:
        text = description[0][1] if len(description) == 1 else _join(description)
        for name in names:
            if not found.get(name):
                found[name] = text


def _google_entry(text: str) -> Entry | None:
    # `name: text`, `name (type): text`, `a, *b: text`
    head, colon, rest = text.partition(":")
    if "(" in head:
        head, _, inside = text.partition("(")
        _, colon, rest = _after_bracket(inside).partition(":")
    names = _names(head)
    # What is wrapped without indentation may begin with a URL.
    if not colon or not names or rest.startswith("//"):
        return None
    return names, rest.strip()


def _after_bracket(inside: str) -> str:
    depth = 1
    for i, character in enumerate(inside):
        if character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth == 0:
                after = inside[i + 1 :].lstrip()
                return after if after.startswith(":") else ""
    return ""


def _numpy_entry(text: str) -> Entry | None:
    # `name`, `name : type`, `a, *b : type`
    head, colon, _ = (text + " ").partition(" : ")
    if colon:
        return _names(head), ""
    names = _names(text.partition(":")[0])
    return (names, "") if names else None


def _field_entry(text: str) -> Entry | None:
    # `:param name: text`, `:param type name: text`, `@param name: text`, `:rtype: type`
    if not text.startswith((":", "@")):
        return None
    head, colon, rest = text[1:].partition(":")
    words = head.split()
    describes = _FIELDS.get(words[0]) if words else None
    if not colon or describes is None or (describes and len(words) == 1):
        return None
    return (_names(words[-1]), rest.strip()) if describes else ((), "")


def _names(head: str) -> tuple[str, ...]:
    # Stars may be escaped, and names may be marked up: `\*args`, `**name**`, "`name`". A section of
    # parameters that says "None" has none.
    if head.isidentifier() and head != "None":
        return (head,)
    names = tuple([name.strip(" `*\\") for name in head.split(",")])
    return names if all(name.isidentifier() and name != "None" for name in names) else ()


def _join(lines: Sequence[Line]) -> str:
    pieces: list[str] = []
    item: int | None = None
    after_blank = False
    for indent, text in lines:
        if not text:
            item, after_blank = None, True
            continue
        begins, leaves = _is_item(text), item is not None and indent <= item
        if pieces:
            pieces.append("\n\n" if after_blank else "\n" if begins or leaves else " ")
        pieces.append(text)
        if begins or leaves:
            item = indent if begins else None
        after_blank = False
    return "".join(pieces)


def _is_item(text: str) -> bool:
    if text.startswith(("- ", "* ")):
        return True
    marker, space, _ = text.partition(" ")
    is_short = 1 < len(marker) <= _LONGEST_NUMBER
    return bool(space) and is_short and marker[-1] in ".)" and marker[:-1].isdecimal()


def split_summary(text: str) -> tuple[str, str | None]:
    """Split prose into its first sentence and the rest.

    A sentence ends with a period before a line break, before blanks and an upper-case letter, or at
    the end of the first paragraph; not with an abbreviation such as "e.g.". Where the first paragraph
    has no such period, its first line is the summary.

    Args:
        text: prose, such as a `Docstring.text`.

    Returns:
        The summary on one line, and the rest, trimmed, or None where nothing is left.
    """
    text = text.strip()
    if "\n" in text or "\r" in text:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        text = "\n".join([line.rstrip() for line in lines])
    paragraph = text.partition("\n\n")[0]
    end = _sentence_end(paragraph) or len(paragraph.partition("\n")[0])
    summary = text[:end]
    if "\n" in summary:
        summary = " ".join([line.strip() for line in summary.split("\n")])
    return summary, text[end:].strip() or None


def _sentence_end(paragraph: str) -> int | None:
    end = paragraph.find(".") + 1
    while end:
        after = end
        while after < len(paragraph) and paragraph[after].isspace():
            after += 1
        breaks = after == len(paragraph) or "\n" in paragraph[end:after]
        ends = breaks or (after > end and paragraph[after].isupper())
        if ends and not paragraph.endswith(_ABBREVIATIONS, 0, end):
            return end
        end = paragraph.find(".", end) + 1
    return None
