"""Hypothesis strategies for the results of tools."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ..message_text import quote
from ..schema.document import DocumentCodec, SchemaDocument
from ..tools.tool_sources import check_is_tool
from .strategies import instances
from .valid_values import values_of

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..codec.codec import Codec
    from ..tools.tool import Tool


def results(tool: Tool[..., Any], /) -> SearchStrategy[Any]:
    """Generate results of a tool, as its function would return them.

    Args:
        tool: a tool that declares the type of its result, or has an output schema.

    Returns:
        A strategy of instances of the type; of JSON values if a JSON Schema document describes the result.

    Raises:
        TypeError: `tool` isn't a tool.
        ValueError: the tool doesn't declare its result, or no value fits the declaration.
    """
    check_is_tool("results", tool)
    output: Any = tool.output_type
    if output is None or tool.output_schema() is None:
        message = (
            f"the tool {quote(tool.name)} doesn't say what it returns: annotate its result, "
            "or give its results yourself"
        )
        raise ValueError(message)
    structured = tool.structured_output()
    if isinstance(output, SchemaDocument):
        return _json_values(DocumentCodec(output))
    if structured is None:
        return instances(output)
    return _json_values(structured.codec).map(structured.codec.decode)


def _json_values(codec: Codec[Any]) -> SearchStrategy[Any]:
    values = values_of(codec)
    if values.is_empty:
        message = f"no value fits {codec.name}: its constraints leave none, or it never ends"
        raise ValueError(message)
    return values


_MOST_RUNS = 20


def drawn(strategy: SearchStrategy[Any], seed: int, number: int) -> list[Any]:
    """Draw values outside of a property test, the same for the same seed.

    Hypothesis needs much time for each run of a test. So the simplest value is drawn in one run, all others
    in a second one, and further runs are only needed if that was aborted.

    Args:
        strategy: the strategy to draw from.
        seed: any integer.
        number: the most values.
    """
    from hypothesis.errors import Flaky

    found: list[Any] = []
    for more in range(_MOST_RUNS):
        try:
            _draw_into(found, strategy, seed + more, number)
            break
        except Flaky:  # a run went on where one before ended after the same beginning: its values are right
            pass
    return found


def _draw_into(found: list[Any], strategy: SearchStrategy[Any], seed: int, number: int) -> None:
    from random import Random

    import hypothesis.strategies
    from hypothesis.errors import NoSuchExample

    def collect(source: Any) -> bool:
        wanted = number if found else 1
        while len(found) < wanted:
            found.append(source.draw(strategy))
        return False  # so that the next run begins

    settings = hypothesis.settings(
        max_examples=min(number, 2), database=None, deadline=None, phases=[hypothesis.Phase.generate]
    )
    # A test would have its source read and hashed each time, which takes longer than to draw a value.
    with suppress(NoSuchExample):
        hypothesis.find(hypothesis.strategies.data(), collect, settings=settings, random=Random(seed))  # noqa: S311  # no secret
