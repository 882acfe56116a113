"""What does a docstring say of each parameter, and what in general?

The parameters are read in the forms of Google, NumPy and reST (Sphinx, Epydoc): one `_Form` each. All the
rest is prose, so that nothing is lost. The time taken is linear in the length of the docstring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..immutable import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Line = tuple[int, str]  # how far it is indented, and its text without that
    Entry = tuple[tuple[str, ...], str]  # the names, and the text on their line
    EntryReader = Callable[[str], Entry | None]


_PARAMETERS: Final = True
_PROSE: Final = False

_SECTIONS: Final = {
    **dict.fromkeys(("args", "arguments", "parameters", "params", "attributes"), _PARAMETERS),
    **dict.fromkeys(("keyword args", "keyword arguments"), _PARAMETERS),
    **dict.fromkeys(("other args", "other arguments", "other parameters"), _PARAMETERS),
    **dict.fromkeys(("return", "returns", "yield", "yields", "receives"), _PROSE),
    **dict.fromkeys(("raises", "warns", "methods"), _PROSE),
    **dict.fromkeys(("example", "examples", "see also", "references", "todo"), _PROSE),
    **dict.fromkeys(("note", "notes", "tip", "hint", "important", "usage"), _PROSE),
    **dict.fromkeys(("warning", "warnings", "attention", "caution", "danger"), _PROSE),
}
"""Titles of sections (Google Python Style Guide, 3.8; numpydoc; Napoleon): True if they hold parameters."""

_PARAMETER_FIELDS: Final = frozenset(
    {"param", "parameter", "arg", "argument", "key", "keyword", "ivar", "cvar", "var"}
)
_TYPE_FIELDS: Final = frozenset({"type", "vartype", "rtype", "ytype", "meta"})
_PROSE_FIELDS: Final = frozenset(
    {"return", "returns", "yield", "yields", "raise", "raises", "except", "exception", "throws"}
)
"""Fields of reST (Sphinx's Python domain, "Info field lists"): for parameters, for types, for the reader."""

_FIELD_MARKS: Final = (":", "@")

_NOTHING: Final[Entry] = ((), "")
"""An entry without text for a reader, such as a type."""

_LONGEST_TITLE: Final = 20
"""The most characters of a title with its colon; most lines are longer and needn't be looked up."""

_CODE_INDENT: Final = 4
"""The indentation at which a title counts as part of a code example."""

_MOST_TYPE_LINES: Final = 20
_SHORTEST_UNDERLINE: Final = 3
_LONGEST_NUMBER: Final = 3
_ABBREVIATIONS: Final = ("e.g.", "i.e.", "cf.", "vs.")
_BULLETS: Final = ("- ", "* ")
_DASHES: Final = (" - ", " -- ", " \u2013 ", " \u2014 ")


class Docstring(Value):
    """The content of a docstring.

    Attributes:
        text: everything but the parameters, trimmed, its lines and paragraphs kept.
        parameters: each documented name without stars, and its description (empty if it has none), in order.
    """

    text: str
    parameters: Mapping[str, str]

    if not TYPE_CHECKING:

        def __new__(cls, text, parameters):
            self = cls._draft()
            self.text = text
            self.parameters = parameters
            self.__class__ = cls
            return self


class _Form(Value):
    """A form in which people write the sections of a docstring.

    Attributes:
        title_lines: how many lines the title of a section has.
        reader: takes the first text of a section of parameters, returns a function that reads the first line
            of each entry.
        before_type: the text between a name and its type, which may continue on the next line; None if a type
            has an entry of its own.
        ends_by_layout: whether a section ends with its indentation, or at a blank line if it has none;
            otherwise it ends at the next title.
    """

    title_lines: int
    reader: Callable[[str], EntryReader]
    before_type: str | None = None
    ends_by_layout: bool = False


def parse_docstring(doc: str | None) -> Docstring:
    """Read a docstring in Google, NumPy or reST form.

    Args:
        doc: the docstring as the source has it, or None.

    Returns:
        Its parameters, and everything else as prose, including entries of parameters that could not be read.
        If a name is documented twice, the first description wins. The lines of a description's paragraphs are
        joined, its lists keep theirs.
    """
    lines, margin = _split_lines(doc or "")
    found: dict[str, str] = {}
    prose: list[str] = []
    begin = end = 0  # of the prose since the last section of parameters; of the last section
    for i, (indent, text) in enumerate(lines):
        if i < end or not text or (len(text) > _LONGEST_TITLE and text[0] not in _FIELD_MARKS):
            continue
        opening = _opening(lines, i) if indent - margin < _CODE_INDENT else None
        if opening is None:
            continue
        form, holds_parameters = opening
        start = i + form.title_lines
        end = _section_end(lines, i, start, form, holds_parameters=holds_parameters)
        if holds_parameters:
            prose.append(_prose(lines[begin:i], margin))
            known = len(found)
            unread = _read_entries(_with_whole_types(lines[start:end], form.before_type), form.reader, found)
            if unread:
                # Only with its title is it clear what the text of a section without entries is about.
                title = lines[i:start] if len(found) == known and any(text for _, text in unread) else []
                prose.append(_prose([*title, *unread], margin))
            begin = end
    if begin < len(lines):
        prose.append(_prose(lines[begin:], margin))
    return Docstring("\n\n".join(filter(None, prose)), found)


def _split_lines(doc: str) -> tuple[list[Line], int]:
    """Return the lines of a docstring, and their common indentation."""
    if "\r" in doc or "\t" in doc:
        doc = doc.replace("\r\n", "\n").replace("\r", "\n").expandtabs()
    first, *rows = doc.rstrip().split("\n")
    lines: list[Line] = []
    margin: int | None = None
    for row in rows:
        line = row.rstrip()
        text = line.lstrip()
        indent = len(line) - len(text)
        lines.append((indent, text))
        if text and (margin is None or indent < margin):
            margin = indent
    margin = margin or 0
    # The first line begins behind the quotes, so that it says nothing about the margin.
    lines.insert(0, (margin, first.strip()))
    return lines, margin


def _prose(lines: Sequence[Line], margin: int) -> str:
    return "\n".join([" " * (indent - margin) + text if text else "" for indent, text in lines]).strip()


# --- sections ------------------------------------------------------------------------------------


def _opening(lines: Sequence[Line], i: int) -> tuple[_Form, bool] | None:
    """Return the form of the section that begins at a line, and whether it holds parameters."""
    text = lines[i][1]
    if text[0] in _FIELD_MARKS:
        return None if _field_entry(text) is None else (_FIELDS, _PARAMETERS)
    holds_parameters = _SECTIONS.get(text.removesuffix(":").rstrip().lower())
    if holds_parameters is None:
        return None
    if _is_underlined(lines, i):
        return _NUMPY, holds_parameters
    is_google = text.endswith(":") and (holds_parameters or text[0].isupper())
    return (_GOOGLE, holds_parameters) if is_google else None


def _is_underlined(lines: Sequence[Line], i: int) -> bool:
    if i + 1 == len(lines) or lines[i + 1][0] != lines[i][0]:
        return False
    text = lines[i + 1][1]
    return len(text) >= _SHORTEST_UNDERLINE and not text.strip("-")


def _section_end(lines: Sequence[Line], i: int, start: int, form: _Form, *, holds_parameters: bool) -> int:
    """Return the number of the first line after a section.

    A body that isn't indented deeper than its title ends at the next title; if the layout ends a section, it
    also ends at a blank line, because otherwise it would swallow the prose. The title of a prose section also
    ends the section when it is indented like the parameters.
    """
    margin = lines[i][0]
    level = _first_indent(lines, start)
    is_indented = form.ends_by_layout and level > margin
    level = level if is_indented and holds_parameters else margin
    for j in range(max(start, i + 1), len(lines)):
        indent, text = lines[j]
        if indent > level or not text:
            continue
        if indent > margin:
            if _title_of(text) is _PROSE:
                return j
            continue
        if is_indented or (form.ends_by_layout and not lines[j - 1][1]) or _ends_flat_body(lines, j):
            return j
    return len(lines)


def _first_indent(lines: Sequence[Line], start: int) -> int:
    """Return the indentation of the first text at or after a line; -1 if there is none."""
    for j in range(start, len(lines)):
        indent, text = lines[j]
        if text:
            return indent
    return -1


def _ends_flat_body(lines: Sequence[Line], j: int) -> bool:
    text = lines[j][1]
    return _title_of(text) is not None or _is_underlined(lines, j) or _field_entry(text) is not None


def _title_of(text: str) -> bool | None:
    """Return True for the title of a section of parameters, False for one of prose, None for other text."""
    title, colon, _ = text.partition(":")
    return _SECTIONS.get(title.lower()) if colon and title[:1].isupper() else None


# --- entries -------------------------------------------------------------------------------------


def _with_whole_types(lines: Sequence[Line], before_type: str | None) -> Sequence[Line]:
    """Join each line that opens a bracket in a type with the lines up to the closing bracket."""
    if before_type is None:
        return lines
    whole: list[Line] = []
    i = 0
    while i < len(lines):
        end = _end_of_type(lines, i, before_type)
        whole.append((lines[i][0], " ".join([text for _, text in lines[i:end]])))
        i = end
    return whole


def _end_of_type(lines: Sequence[Line], i: int, before_type: str) -> int:
    """Return the number of the line after the end of a type whose brackets may span lines."""
    head, mark, kind = lines[i][1].partition(before_type)
    depth = _depth_after(kind, before_type.count("("))
    if not mark or depth <= 0 or not _names(head.removeprefix("- ").removeprefix("* ")):
        return i + 1
    for j in range(i + 1, min(i + _MOST_TYPE_LINES, len(lines))):
        text = lines[j][1]
        depth = _depth_after(text, depth)
        if not text or depth <= 0:
            return j + 1 if text else i + 1
    return i + 1


def _depth_after(text: str, depth: int) -> int:
    """Return how many brackets are open after a text; 0 as soon as it closes those that were open before."""
    is_open = depth > 0
    for character in text:
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth == 0 and is_open:
                return 0
    return depth


def _read_entries(
    lines: Sequence[Line], reader: Callable[[str], EntryReader], found: dict[str, str]
) -> list[Line]:
    """Add the descriptions of parameters to `found`; return the lines that belong to no parameter."""
    unread: list[Line] = []
    read: EntryReader = _google_entry
    level = -1  # until the first text, which decides how entries are read
    names: tuple[str, ...] = ()
    body = unread
    after_blank = False
    for line in lines:
        indent, text = line
        if level < 0 and text:
            read, level = reader(text), indent
        is_outer = text and indent <= level
        entry = read(text) if is_outer else None
        if entry is not None:
            _keep(names, body, found)
            names, rest = entry
            # An entry without names is prose, and where it has no text either it is dropped.
            body = unread if rest and not names else []
            body.append((indent, rest))
            level = indent
        else:
            if is_outer and after_blank:
                _keep(names, body, found)
                names, body = (), unread
            # Deeper, or not set off by a blank line: people forget to indent what they wrap.
            body.append(line)
        after_blank = not text
    _keep(names, body, found)
    return unread


def _keep(names: Sequence[str], description: Sequence[Line], found: dict[str, str]) -> None:
    if names:
        text = description[0][1] if len(description) == 1 else _join(description)
        for name in names:
            if not found.get(name):
                found[name] = text


def _google_reader(first: str) -> EntryReader:
    """Return the reader for the style of the first entry: `name: text`, `- name: text` or `name - text`.

    Only the first entry decides, because wrapped text may begin with a dash or contain one.
    """
    if not first.startswith(_BULLETS):
        return _item_reader(first)
    read = _item_reader(first[2:].lstrip())
    return lambda text: read(text[2:].lstrip()) if text.startswith(_BULLETS) else None


def _item_reader(first: str) -> EntryReader:
    return _dash_entry if _google_entry(first) is None and _dash_entry(first) is not None else _google_entry


def _google_entry(text: str) -> Entry | None:
    # `name: text`, `name (type): text`, `a, *b: text`
    head, colon, rest = text.partition(":")
    if "(" in head:
        head, _, inside = text.partition("(")
        _, colon, rest = _after_bracket(inside).partition(":")
    names = _names(head)
    # A line wrapped without indentation may begin with a URL.
    if not colon or not names or rest.startswith("//"):
        return _NOTHING if _says_none(text) else None
    return names, rest.strip()


def _dash_entry(text: str) -> Entry | None:
    # `name - text`, `name (type) -- text`
    ends = [(end, dash) for dash in _DASHES if (end := text.find(dash)) > 0]
    if not ends:
        return _NOTHING if _says_none(text) else None
    end, dash = min(ends)
    names = _names(text[:end].partition("(")[0])
    return (names, text[end + len(dash) :].strip()) if names else None


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
    if _says_none(text):
        return _NOTHING
    head, colon, _ = (text + " ").partition(" : ")
    if colon:
        names = _names(head)
        return names, "" if names else text
    names = _names(text.partition(":")[0])
    return (names, "") if names else None


def _field_entry(text: str) -> Entry | None:
    # `:param name: text`, `:param type name: text`, `@param name: text`, `:rtype: type`
    if not text.startswith(_FIELD_MARKS):
        return None
    head, colon, rest = text[1:].partition(":")
    words = head.split()
    if not colon or not words:
        return None
    if words[0] in _TYPE_FIELDS:
        return _NOTHING
    if words[0] in _PROSE_FIELDS:
        return (), text
    if words[0] not in _PARAMETER_FIELDS or len(words) == 1:
        return None
    names = _names(words[-1])
    return names, rest.strip() if names else text


def _names(head: str) -> tuple[str, ...]:
    # Stars may be escaped, and names may be marked up: `\*args`, `**name**`, "`name`". A section of
    # parameters that says "None" has none.
    if head.isidentifier() and head != "None":
        return (head,)
    names = tuple([name.strip(" `*\\") for name in head.split(",")])
    return names if all(name.isidentifier() and name != "None" for name in names) else ()


def _says_none(text: str) -> bool:
    return text.partition(":")[0].rstrip(" .") == "None"


_FIELDS: Final = _Form(0, lambda _: _field_entry)
_NUMPY: Final = _Form(2, lambda _: _numpy_entry, " : ")
_GOOGLE: Final = _Form(1, _google_reader, "(", ends_by_layout=True)


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

    A sentence ends with a period before a line break, before spaces and an upper-case letter, or at the end
    of the first paragraph; an abbreviation such as "e.g." doesn't end it. If the first paragraph has no such
    period, its first line is the summary.

    Args:
        text: prose, such as a `Docstring.text`.

    Returns:
        The summary on one line, and the rest, trimmed, or None if nothing is left.
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
