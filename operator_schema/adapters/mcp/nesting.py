"""Does a gateway start itself, or a gateway that starts it again?"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, cast

from mcp import StdioServerParameters

from ...json_values import is_array

if TYPE_CHECKING:
    from ..mcp_connection import Source

__all__ = ["check_depth", "gateways_above", "started_below"]

_VARIABLE = "OPERATOR_SCHEMA_GATEWAYS"
"""Of the environment of each server that a gateway starts: the files of the gateways above it, as JSON."""

_MOST = 4
"""Gateways that may be behind each other: each starts its servers anew, so a circle takes a whole machine."""


def gateways_above() -> list[str]:
    """Return the files of the gateways that this process was started by, the first one first.

    Returns:
        Their absolute paths; empty texts for gateways without a file.
    """
    return _listed(os.environ.get(_VARIABLE, "[]"))


def _listed(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    is_list = is_array(found) and all(isinstance(one, str) for one in found)
    return cast("list[str]", found) if is_list else [""]


def check_depth() -> None:
    """Check that a gateway may be opened in this process.

    Raises:
        ConnectionError: too many gateways are behind each other.
    """
    if len(gateways_above()) >= _MOST:
        remedy = "put the servers of the last into the one before it"
        message = f"more than {_MOST} gateways are behind each other: {remedy}"
        raise ConnectionError(message)


def started_below(source: Source, file: str = "") -> Source:
    """Return a server such that, if it is started and is a gateway, it knows of the gateways above it.

    Args:
        source: as for `Gateway`; what isn't a command stays as it is.
        file: of the gateway that starts it; empty if it has none.
    """
    if isinstance(source, str) or (callable(source) and not isinstance(source, StdioServerParameters)):
        return source
    if not isinstance(source, StdioServerParameters):
        source = StdioServerParameters(command=source[0], args=[*source[1:]])
    env, above = source.env or {}, gateways_above()
    known = _listed(env.get(_VARIABLE, "[]"))
    if len(known) > len(above) and known[: len(above)] == above:
        return source  # it is said already
    return source.model_copy(update={"env": {**env, _VARIABLE: json.dumps([*above, file])}})
