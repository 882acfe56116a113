"""What a docstring says outside of its parameters stays in the description."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import SchemaError, tool
from operator_schema.introspect.docstrings import Docstring, parse_docstring


@pytest.mark.parametrize(
    "remark",
    [
        "This tool deletes files; ask the user first.",
        "Warning:\n    it deletes files!",
        "Note:\n    Two\n    lines.\n\n    And a paragraph.",
        "Returns:\n    The hits, best first.",
        "Raises:\n    ValueError: if x is empty.",
        "Example:\n    >>> f(1)\n    2",
        "Notes\n-----\nIt is slow.",
        "Returns\n-------\nint\n    The sum.",
    ],
)
@pytest.mark.parametrize(
    "parameters", ["Args:\n    x: The x", "Parameters\n----------\nx : int\n    The x", ":param x: The x"]
)
def test_what_is_written_below_the_parameters_is_kept(remark, parameters):
    if "----" in parameters and not ("----" in remark or ":\n" in remark or "This" in remark):
        return
    doc = f"Short.\n\n{parameters}\n\n{remark}\n"
    assert parse_docstring(doc) == Docstring(f"Short.\n\n{remark}", {"x": "The x"})


@pytest.mark.parametrize(
    "entries",
    [
        "- x: The x\n    - y: The y",
        "* x: The x\n    * y: The y",
        "- x (int): The x\n    - y (int): The y",
        "- `x` - The x\n    - `y` - The y",
        "x - The x\n    y - The y",
        "x -- The x\n    y -- The y",
        "x \u2013 The x\n    y \u2014 The y",
        "x (int) - The x\n    y (str, optional) - The y",
        "- x:\n        The x\n    - y: The\n      y",
    ],
)
def test_entries_are_read_as_people_write_them(entries):
    doc = f"Short.\n\nArgs:\n    {entries}\n"
    assert parse_docstring(doc) == Docstring("Short.", {"x": "The x", "y": "The y"})


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        (
            "mode: one of\n    - new: the latest\n    - old: the rest",
            "one of\n- new: the latest\n- old: the rest",
        ),
        ("mode: wrapped\n    to here - as it is", "wrapped to here - as it is"),
        ("mode - wrapped\n    to: here", "wrapped to: here"),
    ],
)
def test_the_first_entry_decides_how_the_others_look(entries, found):
    assert parse_docstring(f"Do.\n\nArgs:\n    {entries}") == Docstring("Do.", {"mode": found})


@pytest.mark.parametrize(
    ("doc", "text", "parameters"),
    [
        ("Do.\n\nArgs:\n    x=The x\n    y=The y", "Do.\n\nArgs:\n    x=The x\n    y=The y", {}),
        (
            "Do.\n\nArgs:\n    x: one\n\n    All of them count.",
            "Do.\n\nAll of them count.",
            {"x": "one"},
        ),
        ("Do.\n\nArgs:\n    x, or y - one", "Do.\n\nArgs:\n    x, or y - one", {}),
        (
            "Parameters\n---\nx.y : int\n    no\nz\n    yes",
            "x.y : int\n    no",
            {"z": "yes"},
        ),
        (":param x.y: no\n    more\n:param z: yes", ":param x.y: no\n    more", {"z": "yes"}),
        (
            ":returns: one\n    two\n:param z: yes\n:rtype: int\n    long",
            ":returns: one\n    two",
            {"z": "yes"},
        ),
        (":raises ValueError: never", ":raises ValueError: never", {}),
    ],
)
def test_entries_that_can_not_be_read_stay_in_the_text(doc, text, parameters):
    assert parse_docstring(doc) == Docstring(text, parameters)


WORD = st.from_regex("[a-z]{3,9}", fullmatch=True).filter(str.isidentifier)


@given(st.lists(WORD, min_size=1, max_size=5, unique=True), st.data())
def test_every_word_of_a_docstring_is_somewhere(names, data):
    sections = [
        f"{title}:\n    {data.draw(WORD)}z {data.draw(WORD)}z"
        for title in data.draw(st.lists(st.sampled_from(["Note", "Returns", "Raises", "Example", "Warning"])))
    ]
    args = "Args:\n" + "\n".join(f"    {name}: {data.draw(WORD)}z" for name in names)
    doc = "\n\n".join(["Do.", *data.draw(st.permutations([*sections, args])), "Last words."])
    found = parse_docstring(doc)
    everything = f"{found.text} {' '.join(found.parameters)} {' '.join(found.parameters.values())}"
    assert set(found.parameters) == set(names)
    assert {word.strip(":") for word in doc.split()} - {"Args"} <= {
        word.strip(":") for word in everything.split()
    }


def test_a_tool_sends_what_is_written_below_its_arguments():
    @tool
    def remove(path: str) -> str:
        """Remove a file.

        Args:
            path: Which one.

        Warning:
            It is gone for good.

        Returns:
            What is left.
        """
        return path

    sent = remove.definition()["description"]
    assert sent == "Remove a file.\n\nWarning:\n    It is gone for good.\n\nReturns:\n    What is left."
    assert remove.input_schema()["properties"]["path"]["description"] == "Which one."


def test_a_misspelt_name_in_a_list_is_a_complaint():
    with pytest.raises(SchemaError, match='describes "qury"'):

        @tool
        def search(query: str) -> str:
            """Search.

            Args:
                - qury: What to look for.
            """
            return query


@dataclass
class Base:
    """A base.

    Args:
        x: The x.

    Note:
        Only for tests.
    """

    x: int


def test_a_nested_class_keeps_its_remarks():
    @tool
    def take(base: Base, y: int) -> int:
        """Take it."""
        return y + base.x

    assert take.input_schema()["properties"]["base"]["description"] == "A base.\n\nNote:\n    Only for tests."
