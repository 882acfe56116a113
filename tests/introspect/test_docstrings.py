"""What docstrings say, in the forms in which people write them."""

from __future__ import annotations

import collections
import copy
import dataclasses
import enum
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from patience import assert_takes

from operator_schema.introspect.classes import own_docstring
from operator_schema.introspect.docstrings import Docstring, parse_docstring, split_summary

GOOGLE = """Search the web.

    Follows redirects. Note: results are cached.

    Args:
        query: what to look for
        max_results (int, optional): how many at most (default: 5)
        url (dict[str, tuple(int, ...)]): the URL: with scheme,
            as in http://example.com:80/

            A second paragraph,
            on two lines.
        *tags (str): one of
            - new: the latest
              and greatest
            - old
            unless given
        **options:
            passed on

    Returns:
        hits: the hits.

    Raises:
        ValueError: if query is empty.
    """

NUMPY = """Search the web.

    Follows redirects. Note: results are cached.

    Parameters
    ----------
    query : str
        what to look for
    max_results : int, optional
        how many at most (default: 5)
    url : dict[str, tuple(int, ...)]
        the URL: with scheme,
        as in http://example.com:80/

        A second paragraph,
        on two lines.
    *tags
        one of
        - new: the latest
          and greatest
        - old
        unless given
    **options : {'a', 'b'}
        passed on

    Returns
    -------
    hits : list
        the hits.

    Raises
    ------
    ValueError
        if query is empty.
    """

REST = """Search the web.

    Follows redirects. Note: results are cached.

    :param str query: what to look for
    :parameter max_results: how many at most (default: 5)
    :type max_results: int, optional
    :arg url: the URL: with scheme,
        as in http://example.com:80/

        A second paragraph,
        on two lines.
    :argument dict[str, int] \\*tags: one of
        - new: the latest
          and greatest
        - old
        unless given
    :keyword options:
        passed on
    :returns: hits: the hits.
    :raises ValueError: if query is empty.
    """

SEARCH = Docstring(
    "Search the web.\n\nFollows redirects. Note: results are cached.",
    {
        "query": "what to look for",
        "max_results": "how many at most (default: 5)",
        "url": "the URL: with scheme, as in http://example.com:80/\n\nA second paragraph, on two lines.",
        "tags": "one of\n- new: the latest and greatest\n- old\nunless given",
        "options": "passed on",
    },
)


def parameters(doc):
    return dict(parse_docstring(doc).parameters)


def test_three_styles_say_the_same():
    epydoc = REST.replace("    :", "    @")
    for doc in (GOOGLE, NUMPY, REST, epydoc, GOOGLE.replace("\n", "\r\n"), NUMPY.replace("\n", "\r")):
        found = parse_docstring(doc)
        assert found.parameters == SEARCH.parameters
        assert found.text.startswith(SEARCH.text)
        assert "hits: the hits." in found.text or "hits : list\n    the hits." in found.text
        assert "if query is empty." in found.text
        assert list(parse_docstring(doc).parameters) == list(SEARCH.parameters)


def test_it_is_a_value():
    found = parse_docstring("Add.\n\nArgs:\n  a: one")
    assert found == Docstring("Add.", {"a": "one"})
    assert repr(found) == "Docstring(text='Add.', parameters={'a': 'one'})"
    assert pickle.loads(pickle.dumps(found)) == copy.deepcopy(found) == found
    with pytest.raises(AttributeError, match="immutable"):
        found.text = "other"


@pytest.mark.parametrize(
    ("doc", "text"),
    [
        (None, ""),
        ("", ""),
        (" \n\t\n ", ""),
        ("One line.", "One line."),
        ("  One line.  ", "One line."),
        ("\n    First.\n\n      Deeper\n    last.\n    ", "First.\n\n  Deeper\nlast."),
        ("First.\n    Second.\n    ", "First.\nSecond."),
        ("Note: text.\nWarning: foo.\nurl: no section.", "Note: text.\nWarning: foo.\nurl: no section."),
        (
            "Go.\n\nWarning:\n    No way back.\n\nReturns:\n    x",
            "Go.\n\nWarning:\n    No way back.\n\nReturns:\n    x",
        ),
        ("Delete.\n\nNotes\n-----\nNo way back.", "Delete.\n\nNotes\n-----\nNo way back."),
        ("Take\nargs: and more\n", "Take\nargs: and more"),
        ("Take one\nexample:\n  this", "Take one\nexample:\n  this"),
        (":class:`Foo` does it.\n@see http://x", ":class:`Foo` does it.\n@see http://x"),
        (":param: nothing", ":param: nothing"),
        ("Heading\n=======\nText", "Heading\n=======\nText"),
        ("Raw::\n\n    Args:\n        a: b\nEnd.", "Raw::\n\n    Args:\n        a: b\nEnd."),
    ],
)
def test_prose(doc, text):
    assert parse_docstring(doc) == Docstring(text, {})


@pytest.mark.parametrize("title", ["Returns", "Raises", "Yields", "Example", "Examples", "See Also"])
def test_a_section_without_parameters_is_prose_and_ends_those_with_parameters(title):
    google = f"{title}:\n  b: two\n\n  c: three\nlast: one"
    numpy = f"{title}\n{'-' * len(title)}\nb : int\n  two"
    for section in (google, numpy):
        for opening in (
            "Do.\nArgs:\n  a: one\n",
            "Do.\n\nParameters\n---\na\n  one\n\n",
            "Do.\n:param a: one\n\n",
        ):
            if section is google and "---" in opening:
                continue  # each to its own form
            assert parse_docstring(opening + section) == Docstring(f"Do.\n\n{section}", {"a": "one"})
    first = f"Do.\n\n{title}:\n    x: y\n\nArgs:\n    a: one\n"
    assert parse_docstring(first) == Docstring(f"Do.\n\n{title}:\n    x: y", {"a": "one"})


@pytest.mark.parametrize(
    "title",
    [
        "Args",
        "args",
        "ARGS",
        "Arguments",
        "Parameters",
        "Attributes",
        "Keyword Args",
        "Keyword Arguments",
        "Other Parameters",
    ],
)
def test_titles_of_parameters(title):
    assert parse_docstring(f"Do.\n{title}:\n    a: one") == Docstring("Do.", {"a": "one"})
    assert parse_docstring(f"Do.\n\n{title}\n-----\na: int\n    one") == Docstring("Do.", {"a": "one"})


@pytest.mark.parametrize(
    "name", ["param", "parameter", "arg", "argument", "key", "keyword", "ivar", "cvar", "var"]
)
@pytest.mark.parametrize("mark", [":", "@"])
def test_fields_of_parameters(mark, name):
    doc = f"Do.\n{mark}{name} a: one\n{mark}type a: int\n{mark}{name} int b: two: 2\n{mark}return: three"
    text = f"Do.\n\n{mark}return: three"
    assert parse_docstring(doc) == Docstring(text, {"a": "one", "b": "two: 2"})


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Do it.\nArgs:\n    a: one\n    b: two", {"a": "one", "b": "two"}),
        ("Args:\n    a: one", {"a": "one"}),
        ("Do.\n\nArgs:\n\n    a: one\n\n    b: two", {"a": "one", "b": "two"}),
        ("Args :\n    a : one", {"a": "one"}),
        ("Do.\n\n\tArgs:\n\t\ta: one\n\t\t\tand more\n\t\tb: two", {"a": "one and more", "b": "two"}),
        ("Do.\n\n Args:\n  a: one\n\n Returns:\n  b: two", {"a": "one"}),
        ("Args:\n    a, *b , c: each", {"a": "each", "b": "each", "c": "each"}),
        ("Args:\n    a (str), optional: one\n    b: two", {"b": "two"}),
        ("Args:\n    a ((x): one", {}),
        ("Args:\n    a () : one", {"a": "one"}),
        ("Args:\n    `a`: one\n    **b**: two", {"a": "one", "b": "two"}),
        ("Args:\n    a:one", {"a": "one"}),
        ("Args:\n    a: see\n    http://example.com/", {"a": "see http://example.com/"}),
        ("Args:\n    a: one\n    wrapped to here\n    b: two", {"a": "one wrapped to here", "b": "two"}),
        ("Args:\n    a: one\n\n    All of them count.\n        b: no", {"a": "one"}),
        ("Do.\nArgs:\n      a: one\n    b: two\n  c: three", {"a": "one", "b": "two", "c": "three"}),
        ("Args:\n    a:\n    b: two", {"a": "", "b": "two"}),
        ("Args:\n    a: one\n    a: other", {"a": "one"}),
        ("Args:\n    example: one\n    returns:\n        two", {"example": "one", "returns": "two"}),
        ("Args:\n    a: {'x': 1}\n        y: z", {"a": "{'x': 1} y: z"}),
        ("Args:\n    straße: one", {"straße": "one"}),
    ],
)
def test_google(doc, expected):
    assert parameters(doc) == expected


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Do.\n\nArgs:\na: one\nb: two\n  more\n\nprose: no", {"a": "one", "b": "two more"}),
        ("Do.\n\nArgs:\na: one\n\n  more\nReturns:\nb: two", {"a": "one\n\nmore"}),
        ("Do.\n\nArgs:\na: one\nReturns: b", {"a": "one"}),
        ("Do.\n\nArgs:\na: one\n:param b: two", {"a": "one", "b": "two"}),
        ("Do.\nArgs:\n    Args:\n    a: one", {"a": "one", "Args": ""}),
        ("Args:\n    a: one\n    b: two", {"a": "one", "b": "two"}),
    ],
)
def test_google_without_indentation(doc, expected):
    assert parameters(doc) == expected


@pytest.mark.parametrize("rest", ["", "\n", "\n    None", "\n    None.", "\n    None: x", "\n    - None"])
def test_no_entries(rest):
    assert parse_docstring("Do.\n\nArgs:" + rest) == Docstring("Do.", {})
    assert parse_docstring("Do.\n\nParameters\n---\nNone\n") == Docstring("Do.", {})


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        (
            "Parameters\n---\na, b : int\n    each\nc\nd : str",
            {"a": "each", "b": "each", "c": "", "d": ""},
        ),
        ("Parameters\n---\n    a : int\n        one\n    b\n        two", {"a": "one", "b": "two"}),
        ("Parameters:\n-----------\na : int\n    one", {"a": "one"}),
        ("Parameters\n---\na: int\n    one\nb:\n    two", {"a": "one", "b": "two"}),
        (
            "Parameters\n---\na : int\n    one\nb.c : int\n    no\nd\n    four",
            {"a": "one", "d": "four"},
        ),
        ("Parameters\n---\na : int\none", {"a": "", "one": ""}),
        ("Parameters\n---\na : int\nthe one", {"a": "the one"}),
        ("Parameters\n---\na : int\n    one\n\nProse here.\n    b : int", {"a": "one"}),
        ("Parameters\n---\na : int\n    one\n\nBackground\n-----\nb : int", {"a": "one"}),
        ("Parameters\n---\na : int\n    one\n\nNote: not b\n", {"a": "one"}),
        ("Parameters\n---\na : int\n    one\nArgs:\n    b: two", {"a": "one", "b": "two"}),
        ("Parameters\n---\na\n    one\n\nOther Parameters\n---\nb\n    two", {"a": "one", "b": "two"}),
        ("Parameters\n---\na\n\nAttributes\n----------\na : int\n    one", {"a": "one"}),
        ("Parameters\n---\nNote : str\n    one\nargs : str\n    two", {"Note": "one", "args": "two"}),
    ],
)
def test_numpy(doc, expected):
    assert parameters(doc) == expected


@pytest.mark.parametrize(
    ("doc", "expected"),
    [
        ("Do.\n:param a: one\nand more\n:param b:\n  two", {"a": "one and more", "b": "two"}),
        (":param a: one\n\n  second\n\nProse.\n  no\n:param b: two", {"a": "one\n\nsecond", "b": "two"}),
        (":param a:one\n:param dict[str, int] b: two", {"a": "one", "b": "two"}),
        (":param Literal['a:b'] c: no\n:param a.b: no\n:param d: yes", {"d": "yes"}),
        (":type a: int\n   deeper: text\n:param a: one", {"a": "one"}),
        (":param a: one\n:param a: other\n\nArgs:\n    a: third\n    b: two", {"a": "one", "b": "two"}),
    ],
)
def test_rest(doc, expected):
    assert parameters(doc) == expected


def test_descriptions_keep_paragraphs_and_lists():
    doc = """Do.

    Args:
        a: first
            line

            second

            1. one
               more
            2) two
            2024. is a year
            - x


            * y
            last
    """
    expected = "first line\n\nsecond\n\n1. one more\n2) two\n2024. is a year\n- x\n\n* y\nlast"
    assert parameters(doc) == {"a": expected}


TEXT = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1)
"""Words, without anything that breaks or separates."""

WORDS = TEXT.filter(lambda word: not (word in "-*" or word[-1] in ".)"))
PARAGRAPHS = st.lists(st.lists(WORDS, min_size=1, max_size=8), min_size=1, max_size=3)
NAMES = TEXT.filter(str.isidentifier).filter(lambda name: name != "None") | st.sampled_from(
    ["query", "args", "Args", "returns", "Parameters", "param", "kwargs", "_x"]
)


def indented(paragraphs, width, per_line):
    lines = []
    for words in paragraphs:
        chunks = [words[i : i + per_line] for i in range(0, len(words), per_line)]
        lines += ["", *[" " * width + " ".join(chunk) for chunk in chunks]]
    return lines[1:]


def render_google(described, width, per_line):
    lines = ["Args:"]
    for name, paragraphs in described.items():
        first, *rest = indented(paragraphs, 2 * width, per_line)
        lines += [f"{' ' * width}{name}: {first.strip()}", *rest]
    return lines


def render_numpy(described, width, per_line):
    lines = ["Parameters", "----------"]
    for name, paragraphs in described.items():
        lines += [f"{name} : int" if width % 2 else name, *indented(paragraphs, width, per_line)]
    return lines


def render_rest(described, width, per_line):
    lines = []
    for name, paragraphs in described.items():
        first, *rest = indented(paragraphs, width, per_line)
        lines += [f":param {'int ' * (width % 2)}{name}: {first.strip()}", *rest]
    return lines


@given(
    st.dictionaries(NAMES, PARAGRAPHS, min_size=1, max_size=4),
    st.integers(1, 8),
    st.integers(1, 8),
    st.sampled_from(["", "    ", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_what_is_rendered_is_read_back_in_each_form(described, width, per_line, margin, newline):
    expected = {
        name: "\n\n".join(" ".join(words) for words in paragraphs) for name, paragraphs in described.items()
    }
    for render in (render_google, render_numpy, render_rest):
        lines = ["Say it.", "", *render(described, width, per_line)]
        doc = newline.join([lines[0], *[margin + line for line in lines[1:]], margin])
        found = parse_docstring(doc)
        assert found == Docstring("Say it.", expected)
        assert list(found.parameters) == list(expected)


PIECES = (
    st.sampled_from(["Args:", "Parameters", "----", "Returns:", "Note:", ":param x: y", "@param", ": "])
    | st.sampled_from(["a", "a: b", "a (", ")", "*", "- ", "1. ", ".", "A", ",", " : ", "\ud800"])
    | st.sampled_from(["\n", "\n\n", " ", "    ", "\t", "\r", "\x0c", "\u2028"])
)


@given(st.text() | st.lists(PIECES).map("".join))
@example("Parameters\n---")
@example("---")
@example("\n---\n---")
@example(":param")
def test_any_text_is_read(doc):
    found = parse_docstring(doc)
    assert found.text == found.text.strip()
    for name, text in found.parameters.items():
        assert name.isidentifier()
        assert text == text.strip()
    summary, description = split_summary(doc)
    assert summary == summary.strip()
    assert "\n" not in summary
    assert description is None or description == description.strip() != ""


FORMS = ["Args:\n", "args:\n", "Args:\n\n\n\n", "Args:\n a: b\n", " a: b\n  c: d\n", "Args:\n a (((((: x\n"]
TITLES = ["Returns:\n x\n", "Note:\n", "Parameters\n---\n", "Parameters\n---\na\n b\n", ":param x: y\n"]


@pytest.mark.slow("measures how time grows with the text")
@pytest.mark.parametrize("unit", [*":@( \n\t\r", "é\u2028", "a,", "a (", *FORMS, *TITLES])
@pytest.mark.parametrize("opening", ["", "Do.\nArgs:\n    a: ", "Parameters\n---\n", ":param a: "])
def test_time_is_linear(unit, opening):
    assert_linear(parse_docstring, opening, unit)


@pytest.mark.parametrize("unit", [".", ". ", ".  ", "e.g. E", "e.g.\n", " ", "\n", "a.b", "\r\n"])
def test_the_summary_takes_linear_time(unit):
    assert_linear(split_summary, "a", unit)


def assert_linear(function, opening, unit):
    doc = opening + unit * (20_000 // len(unit))
    # Quadratic time would be seconds, linear is hundredths of one.
    assert_takes(0.4, lambda: function(doc))


@pytest.mark.parametrize(
    ("text", "summary", "description"),
    [
        ("", "", None),
        ("  \n ", "", None),
        ("One sentence.", "One sentence.", None),
        ("No period", "No period", None),
        ("One. Two. Three.", "One.", "Two. Three."),
        ("One.\ntwo", "One.", "two"),
        ("One.  \r\n  two", "One.", "two"),
        ("One.  Two", "One.", "Two"),
        ("Use it, e.g. foo, with v1.2 or a.B. Stop.", "Use it, e.g. foo, with v1.2 or a.B.", "Stop."),
        ("Ask one, e.g. Google or cf.\nBing. Then stop.", "Ask one, e.g. Google or cf. Bing.", "Then stop."),
        ("e.g. Berlin. Then Paris.", "e.g. Berlin.", "Then Paris."),
        ("Wrapped over\n  two lines. Rest\nof it.", "Wrapped over two lines.", "Rest\nof it."),
        ("Wrapped over\ntwo lines.", "Wrapped over two lines.", None),
        ("First line\nsecond line\n", "First line", "second line"),
        ("Title\n\nText. More.", "Title", "Text. More."),
        ("Title\n \nText", "Title", "Text"),
        ("  One. Étoile.  ", "One.", "Étoile."),
        ("...", "...", None),
        (". A", ".", "A"),
    ],
)
def test_summary(text, summary, description):
    assert split_summary(text) == (summary, description)


@dataclass
class Generated:
    name: str
    size: int = dataclasses.field(default=3)
    text: str = "a)"


@dataclass
class Written:
    """Written(by, hand) and meant (really)."""

    s: str


@dataclass
class File:
    """File(s) to read (at once)"""

    s: str


@dataclass
class Empty:
    pass


@dataclass(kw_only=True, slots=True)
class Keywords:
    name: str


@dataclass(init=False)
class Custom:
    def __init__(self, a, b=(1, 2), *c, **d):
        pass


@dataclass
class Derived(Written):
    pass


class Undecorated(Written):
    pass


class Plain:
    """Plain(x)"""


class Blank:
    """ """


class Point(NamedTuple):
    x: int


class DocumentedPoint(NamedTuple):
    """A point."""

    x: int


class Movie(TypedDict):
    name: str


class DocumentedMovie(TypedDict):
    """A movie."""

    name: str


class Color(enum.Enum):
    RED = 1


class DocumentedColor(enum.StrEnum):
    """A color."""

    RED = "red"


@pytest.mark.parametrize(
    "cls",
    [
        Generated,
        Empty,
        Keywords,
        Custom,
        Derived,
        Undecorated,
        Blank,
        Point,
        Movie,
        Color,
        dataclasses.make_dataclass("Made", [("a", int)]),
        collections.namedtuple("Pair", "a b"),  # noqa: PYI024  # what is tested
        TypedDict("Functional", {"a": int}),
        enum.Enum("Functional", "A B"),
        enum.Flag("Bits", "A B"),
    ],
)
def test_a_docstring_that_nobody_wrote_is_none(cls):
    assert own_docstring(cls) is None


@pytest.mark.parametrize(
    ("cls", "doc"),
    [
        (Written, "Written(by, hand) and meant (really)."),
        (File, "File(s) to read (at once)"),
        (Plain, "Plain(x)"),
        (DocumentedPoint, "A point."),
        (DocumentedMovie, "A movie."),
        (DocumentedColor, "A color."),
    ],
)
def test_own_docstring(cls, doc):
    assert own_docstring(cls) == doc


def test_what_dataclass_writes_without_a_signature():
    cls = dataclass(type("Odd", (), {"__signature__": 3}))
    assert own_docstring(cls) is None


@pytest.mark.needs_process
def test_importing_brings_no_other_module():
    code = (
        "import sys, typing, operator_schema.immutable; before = set(sys.modules);"
        "import operator_schema.introspect.docstrings;"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["operator_schema.introspect", "operator_schema.introspect.docstrings"]


def test_a_field_without_its_second_colon_describes_nothing():
    found = parse_docstring("A point.\n\n:param x: across\n:param\n:\n")
    assert found.parameters.keys() == {"x"}


PARTS = st.lists(st.sampled_from(["int", '"a"', "dict[str, int]", "(0, 1)", "{1}"]), min_size=1, max_size=5)
GOOGLE_ENTRIES = ["a ({}): The first", "- a ({}): The first", "a ({}) - The first", "`a` ({}): The first"]


@given(PARTS, st.sampled_from(["", "  ", "        "]), st.sampled_from(GOOGLE_ENTRIES))
def test_a_type_may_go_on_in_the_next_lines(parts, indent, entry):
    kind = f"list[{f',{chr(10)}    {indent}'.join(parts)}]"
    last = "b - The last" if " - " in entry else "- b: The last" if entry[0] == "-" else "b (int): The last"
    found = parse_docstring(f"Do it.\n\nArgs:\n    {entry.format(kind)}\n    {last}\n")
    assert found == Docstring("Do it.", {"a": "The first", "b": "The last"})
    numpy = f"a : list[{f',{chr(10)}{indent}'.join(parts)}], optional\n    The first\nb : int\n    The last"
    found = parse_docstring(f"Do it.\n\nParameters\n----------\n{numpy}")
    assert found == Docstring("Do it.", {"a": "The first", "b": "The last"})


@pytest.mark.parametrize("first", ["a (see", "a: (b", "a ((b)", "a [b"])
def test_a_bracket_that_is_never_closed_takes_no_other_entry(first):
    found = parse_docstring(f"Do it.\n\nArgs:\n    {first}\n    c: The last\n")
    assert found.parameters["c"] == "The last"


PROSE_TITLES = [
    *("Return", "Returns", "Yields", "Raises", "Warns", "Example", "Examples", "See also", "References"),
    *("Todo", "TODO", "Note", "Notes", "Tip", "Hint", "Important", "Usage", "Warning", "Attention"),
]


@pytest.mark.parametrize("title", PROSE_TITLES)
@pytest.mark.parametrize(
    "rest", [" what comes", "\n        What: comes", "\n    What: comes\n    x (int): of it"]
)
@pytest.mark.parametrize("blank", ["", "\n"])
@pytest.mark.parametrize("margin", ["", "    "])
def test_a_title_among_the_parameters_ends_them(title, rest, blank, margin):
    doc = f"Do it.\n\nArgs:\n    a: The first\n        and more\n{blank}    {title}:{rest}\n".replace(
        "\n", f"\n{margin}"
    )
    found = parse_docstring(doc)
    assert found.parameters == {"a": "The first and more"}
    words = found.text.split()
    assert words == ["Do", "it.", *f"{title}:{rest}".split()]


def test_a_word_of_a_title_may_be_a_parameter():
    found = parse_docstring(
        "Do.\n\nArgs:\n    note: A\n    example (str): B\n    returns: C\n    Notes (str): D\n"
    )
    assert list(found.parameters) == ["note", "example", "returns", "Notes"]


@pytest.mark.parametrize(
    "text",
    [
        'Args:\n    a (Literal["a",\n        "c",\n        "b"]): The first\n    c: The last',
        "Args:\n    - a (dict[str,\n      list[int]]): The first\n    - c: The last",
        'Parameters\n----------\na : {"a",\n    "b"}, (optional)\n    The first\nc : int\n    The last',
    ],
)
def test_types_over_two_lines(text):
    assert parse_docstring(f"Do it.\n\n{text}") == Docstring("Do it.", {"a": "The first", "c": "The last"})


def test_a_mark_alone_is_no_field():
    assert parse_docstring("Do it.\n\n:param\n: x").parameters == {}
    assert (
        parse_docstring("Do it.\n\nArgs:\n    a: one\n\n    10) two (three\n    b: two").parameters["a"]
        == "one"
    )
