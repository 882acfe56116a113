"""What a function's docstring says about the tool."""

from __future__ import annotations

from typing import (
    Annotated,
)

from tool_samples import rest

from operator_schema import (
    tool,
)


def google(query: str, *terms: str, limit: int = 5) -> str:
    """Search it.

    Longer.

    Args:
        query (str): What to look for,
            over two lines.
        *terms: More of it.

    Keyword Args:
        limit: How many.

    Returns:
        Something.
    """


def close_google(query: str, *terms: str, limit: int = 5) -> str:
    """Search it.

    Longer.
    Args:
        query: What to look for,
            over two lines.
        terms: More of it.
        limit: How many.
    """


def numpy(query: str, *terms: str, limit: int = 5) -> str:
    """Search it.

    Longer.

    Parameters
    ----------
    query : str
        What to look for,
        over two lines.
    *terms : str
        More of it.
    limit : int, optional
        How many.

    Returns
    -------
    str
    """


def test_docstrings_in_every_style_give_one_schema():
    made = [tool(function) for function in (google, close_google, numpy, rest)]
    schemas = [entry.input_schema() for entry in made]
    assert schemas[0]["properties"] == {
        "query": {"type": "string", "description": "What to look for, over two lines."},
        "terms": {"type": "array", "items": {"type": "string"}, "description": "More of it."},
        "limit": {"type": "integer", "default": 5, "description": "How many."},
    }
    assert all(schema == schemas[0] for schema in schemas)
    assert {entry.summary for entry in made} == {"Search it."}
    assert {entry.definition()["description"] for entry in made} == {
        "Search it.\n\nLonger.",
        "Search it.\n\nLonger.\n\nReturns:\n    Something.",
        "Search it.\n\nLonger.\n\nReturns\n-------\nstr",
        "Search it.\n\nLonger.\n\n:returns: Something.",
    }


def test_annotated_text_wins_over_the_docstring():
    @tool
    def search(query: Annotated[str, "Said here."]) -> str:
        """Search.

        Args:
            query: Said there.
        """

    assert search.input_schema()["properties"]["query"]["description"] == "Said here."


def test_what_no_encoding_can_write_is_replaced():
    def act(a: int) -> int:
        return a

    act.__doc__ = "Do \ud800 it.\n\nArgs:\n    a: Half \udc00 of it.\n"
    made = tool(act)
    assert made.description == "Do \ufffd it."
    assert made.input_schema()["properties"]["a"]["description"] == "Half \ufffd of it."
    assert tool(act, description="x \ud800").description == "x \ufffd"
    assert tool(act, summary="s \ud800", description="y").definition()["description"] == "s \ufffd\n\ny"
