"""What is the person at a terminal asked: missing arguments, agreement, what a tool wants to know?"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from ..codec.codec import codec_of
from ..codec.problem_texts import expected_field
from ..errors import DecodeError, NeedsInput, SchemaError, ToolError
from ..introspect.node_kinds import json_types_of
from ..introspect.nodes import ObjectNode
from ..json_values import is_object
from ..message_text import escape, listed
from ..rounds.questions import answer_codec, call_text
from ..tools.calls import arguments_to_decode
from .output import json_types, to_json, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ..findings import Finding
    from ..introspect.nodes import Field
    from ..rounds.tool_call import ToolCall
    from ..tools.calls import RawCall, ToolResult
    from ..tools.tool import Tool
    from .output import Output

__all__ = ["Person", "missing_of", "person_at"]


_YES_OR_NO = {"y": "true", "yes": "true", "n": "false", "no": "false"}
_SHOWN = 20
"""Parameters that may be left out, in one line."""


def person_at(err: Output) -> Person | None:
    """Return who is at the terminal; None if nobody is there."""
    return Person(err) if sys.stdin.isatty() and sys.stderr.isatty() else None


def missing_of(tool: Tool[..., Any], raw: RawCall) -> tuple[Field, ...]:
    """Return the required parameters that a call lacks.

    Args:
        tool: that is called.
        raw: the call.

    Returns:
        None of them if the call is wrong in another way, which asking doesn't change: it has a key that names
        no parameter, which may be a misspelt one, or a value that doesn't fit.
    """
    root, sent = tool.codec.graph.resolve_root(), _sent(raw)
    if not isinstance(root, ObjectNode) or not is_object(sent):
        return ()
    missing = [field for field in root.fields if field.required and field.key not in sent]
    absent = {key for field in missing for key in (field.key, field.name)}
    found = _problems(tool, arguments_to_decode(raw))  # as it was written, with keys that stand there twice
    others = [problem for problem in found if not absent.intersection(problem.path[:1])]
    is_known = set(sent) <= {field.key for field in root.fields}
    return tuple(missing) if is_known and not others else ()


def _sent(raw: RawCall) -> Any:
    sent = arguments_to_decode(raw)
    if is_object(sent):
        return sent
    try:
        return json.loads(sent)
    except (ValueError, RecursionError):
        return None


def _problems(tool: Tool[..., Any], arguments: object) -> Sequence[Finding]:
    try:
        tool.decode_report(arguments)
    except DecodeError as error:
        return error.findings
    except Exception:  # noqa: BLE001  # a class's own code, about which the call itself says more
        return ()
    return ()


class Person:
    """Somebody who reads questions and types answers; the end of their input, or Ctrl-C, ends the program.

    Args:
        err: where the questions are written; standard output is for results.
    """

    def __init__(self, err: Output) -> None:
        self._err = err

    def complete(self, tool: Tool[..., Any], raw: RawCall) -> RawCall:
        """Ask for the required arguments that a call lacks, each until it fits.

        Raises:
            click.Abort: nobody types any more.
        """
        missing = missing_of(tool, raw)
        if not missing:
            return raw
        arguments: dict[str, Any] = dict(_sent(raw))
        self._say_optional(tool, arguments)
        types = json_types(tool)
        for field in missing:
            self._describe(tool, field)
            arguments[field.key] = self._ask(field.key, types[field.key], _checked(tool, arguments, field))
        return raw.replace(arguments=arguments)

    def _say_optional(self, tool: Tool[..., Any], arguments: Mapping[str, Any]) -> None:
        root: Any = tool.codec.graph.resolve_root()
        others = [field for field in root.fields if not field.required and field.key not in arguments]
        if others:
            texts = [f"{field.key}{_default_of(field)}" for field in others]
            self._err.text(f"{tool.name} may also get {listed(texts, _SHOWN)}")

    def _describe(self, tool: Tool[..., Any], field: Field) -> None:
        self._err.text(f"{field.key} ({expected_field(field, tool.codec.graph.definitions)})")
        for line in (field.description or "").split("\n"):
            if line.strip():
                self._err.text(f"  {line.strip()}")

    def _ask(
        self,
        prompt: str,
        types: Collection[str],
        check: Callable[[Any], Any],
        *,
        may_be_empty: bool = False,
    ) -> Any:
        """Ask until a check takes the answer, and return what the check makes of it."""

        def read(typed: str) -> Any:
            if may_be_empty and not typed.strip():
                return None
            text = _YES_OR_NO.get(typed.strip().lower(), typed) if "boolean" in types else typed
            try:
                return check(value_of(text, types))
            except DecodeError as error:
                message = "; ".join([escape(problem.message) for problem in error.findings[:3]])
                raise click.UsageError(message) from None

        default = "" if may_be_empty else None
        return click.prompt(escape(prompt), default=default, value_proc=read, show_default=False, err=True)

    def confirm(self, call: ToolCall[Any]) -> bool:
        """Ask whether a call may run.

        Raises:
            KeyboardInterrupt: nobody types any more.
        """
        self._err.text(call_text(call))
        try:
            return click.confirm("Run it?", default=False, err=True)
        except click.Abort:
            raise KeyboardInterrupt from None  # an executor takes no other exception for the end

    def answers(
        self, tool: Tool[..., Any], result: ToolResult, known: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Ask what a tool wants to know, until the answer fits.

        Args:
            tool: that was called.
            result: of the call.
            known: the answers so far, by the name of the parameter.

        Returns:
            All answers; none if it asked nothing, or an empty line was typed.

        Raises:
            click.Abort: nobody types any more.
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

        def check(value: Any) -> tuple[Any]:
            narrow.decode(value)
            return (codec.decode(value),)

        self._err.text(raised.question)
        answer = self._ask(raised.parameter, types, check, may_be_empty=True)
        return {} if answer is None else {**(known or {}), raised.parameter: answer[0]}


def _checked(tool: Tool[..., Any], others: Mapping[str, Any], field: Field) -> Callable[[Any], Any]:
    """Return what takes the value of a field, as it is, if it fits."""

    def check(value: Any) -> Any:
        found = _problems(tool, {**others, field.key: value})
        wrong = [problem for problem in found if problem.path[:1] in {(field.key,), (field.name,)}]
        if wrong:
            raise DecodeError(field.key, wrong)
        return value

    return check


def _default_of(field: Field) -> str:
    default = field.default
    return f" (default {to_json(default)})" if type(default) in {str, int, float, bool} else ""
