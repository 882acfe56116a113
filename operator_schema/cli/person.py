"""The person at the terminal: what a tool asks before it runs, and while it does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..codec.codec import codec_of
from ..errors import DecodeError, NeedsInput, SchemaError, ToolError
from ..introspect.traits import json_types_of
from ..rounds.questions import answer_codec, call_text
from .words import value_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..rounds.tool_call import ToolCall
    from ..tools.calls import ToolResult
    from ..tools.tool import Tool
    from .output import Output

__all__ = ["Person", "person_at"]

_YES_OR_NO = {"y": "true", "yes": "true", "n": "false", "no": "false"}


def person_at(err: Output) -> Person | None:
    """Return who is at the terminal; None if nobody is there."""
    return Person(err) if sys.stdin.isatty() and sys.stderr.isatty() else None


class Person:
    """Somebody who reads questions and types answers.

    Args:
        err: where the questions are written; standard output is for results.
    """

    def __init__(self, err: Output) -> None:
        self._err = err

    def confirm(self, call: ToolCall[Any]) -> bool:
        """Ask whether a call may run."""
        self._err.text(call_text(call))
        return _typed("[y/N] ").lower() in {"y", "yes"}

    def answers(
        self, tool: Tool[..., Any], result: ToolResult, known: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Ask what a tool wants to know, until the answer fits.

        Args:
            tool: that was called.
            result: of the call.
            known: the answers so far, by the name of the parameter.

        Returns:
            All answers; none if it asked nothing, or nothing was typed.
        """
        raised = (result.details or {}).get("exception")
        if result.code != "needs_input" or not isinstance(raised, NeedsInput):
            return {}
        try:
            codec = answer_codec(tool, raised.parameter)
            narrow = codec if raised.answer_type is None else codec_of(raised.answer_type)
        except (SchemaError, ToolError):
            return {}
        types = json_types_of(narrow.graph.resolve_root(), narrow.graph.definitions)
        self._err.text(raised.question)
        while typed := _typed("> "):
            text = _YES_OR_NO.get(typed.lower(), typed) if "boolean" in types else typed
            value = value_of(text, types)
            try:
                narrow.decode(value)
                return {**(known or {}), raised.parameter: codec.decode(value)}
            except DecodeError as error:
                self._err.text(error.problems[0].message)
        return {}


def _typed(prompt: str) -> str:
    # Not `click.prompt`, which writes the question to standard output.
    sys.stderr.write(prompt)
    sys.stderr.flush()
    return sys.stdin.readline().strip()
