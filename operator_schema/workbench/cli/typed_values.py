"""Which value does a word of the command line mean for a parameter?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ...engine import ObjectNode, json_types_of
from ...json_reading import RepeatedKeyError, read_distinct
from ...json_values import type_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...tools import Tool


def json_types(tool: Tool[..., Any]) -> dict[str, Collection[str]]:
    """Return the JSON types of each parameter; empty if the input is a union."""
    graph = tool.codec.graph
    root = graph.resolve_root()
    fields = root.fields if isinstance(root, ObjectNode) else ()
    return {field.key: json_types_of(field.node, graph.definitions) for field in fields}


def value_of(text: str, types: Collection[str]) -> Any:
    """Read a value as JSON, unless the parameter takes text and no value of this JSON type.

    Raises:
        click.UsageError: the parameter takes no text, and the value has a key more than once in an object.
    """
    try:
        value = read_distinct(text)
    except RepeatedKeyError as error:
        if "string" in types:
            return text
        message = f"{error}: keep one of them"
        raise click.UsageError(message) from None
    except ValueError:
        return text
    return value if "string" not in types or type_of(value) in types else text
