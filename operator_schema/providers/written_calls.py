"""Calls that a model wrote as text, in a form that its provider couldn't read or refused."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

from ..json_values import is_array, is_object
from ..tools import RawCall
from .answer import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["written_calls"]

_MAX_TEXT = 2**20
_MAX_PYTHON = 2**16
"""Characters: Python's parser takes some two hundred bytes for each."""

_FENCE = re.compile(r"```[a-z_]*\n(.*)```", re.DOTALL)
_TAG = re.compile(r"<(tool_call|tool-use|tool_use|function_call)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"<function=([\w.-]+)[\s>,:=(\[]*(\{.*?)(?:</?function>|(?=<function=)|\Z)", re.DOTALL)
_MOONSHOT = re.compile(
    r"<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+?)(?::\d+)?\s*"
    r"<\|tool_call_argument_begin\|>(.*?)(?:<\|tool_call_end\|>|\Z)",
    re.DOTALL,
)
_MOONSHOT_SECTION = re.compile(r"<\|tool_calls_section_(?:begin|end)\|>")
_PREFIX = re.compile(r"[A-Z][a-z]+ [a-z ]*call: ")
_ARGUMENTS = ("arguments", "parameters", "args", "input")


class _NoCallError(Exception):
    """A part of a text isn't a call."""


def written_calls(text: str) -> list[RawCall]:
    """Return the calls in a text that has only calls; none if it says anything else.

    Known are: JSON, also in a code block or between `<tool_call>` tags; `<function=NAME>{…}</function>` of
    Llama; `<|tool_call_begin|>` of Kimi; `print(default_api.NAME(key=1))` of Gemini.
    """
    if len(text) > _MAX_TEXT:
        return []
    inner = _PREFIX.sub("", text.strip(), count=1).strip()
    fence = _FENCE.fullmatch(inner)
    inner = fence.group(1).strip() if fence else inner
    try:
        for read in (_json_calls, _tagged, _functions, _moonshot, _python):
            if found := read(inner):
                return found
    except _NoCallError:
        return []
    return []


def _json_calls(text: str) -> list[RawCall]:
    """Read a call as a JSON object, or a list of calls."""
    value = parsed(text)
    if is_object(value) and is_array(value.get("tool_calls")):
        value = value["tool_calls"]
    return [_json_call(one) for one in (value if is_array(value) else [value]) if value is not None]


def _json_call(value: Any) -> RawCall:
    said = value.get("function", value) if is_object(value) else value
    name = said.get("name") if is_object(said) else None
    if not name or not isinstance(name, str):
        raise _NoCallError
    arguments: Any = next((said[key] for key in _ARGUMENTS if key in said), None)
    return RawCall(None, name, arguments)


def _tagged(text: str) -> list[RawCall]:
    inner = _alone(_TAG, text)
    calls = [_json_calls(found.group(2)) for found in inner]
    if not all(calls):
        raise _NoCallError
    return [call for some in calls for call in some]


def _functions(text: str) -> list[RawCall]:
    return [
        RawCall(None, found.group(1), found.group(2).rstrip(" \t\r\n)]")) for found in _alone(_FUNCTION, text)
    ]


def _moonshot(text: str) -> list[RawCall]:
    inner = _MOONSHOT_SECTION.sub("", text).strip()
    return [RawCall(None, found.group(1), found.group(2).strip()) for found in _alone(_MOONSHOT, inner)]


def _alone(form: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Return the places of a form in a text; none if there is anything between them."""
    found = list(form.finditer(text))
    ends = [0, *[one.end() for one in found]]
    begins = [*[one.start() for one in found], len(text)]
    between = [text[end:begin].strip() for end, begin in zip(ends, begins, strict=True)]
    return found if found and not any(between) else []


def _python(text: str) -> list[RawCall]:
    """Read calls as Python code, whose arguments are literals with names."""
    if len(text) > _MAX_PYTHON:
        return []
    try:
        body = ast.parse(text).body
        return [call for statement in body for call in _python_calls(statement)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # each is what `ast.parse` may raise
        return []


def _python_calls(statement: ast.stmt) -> Iterator[RawCall]:
    match statement:
        case ast.Expr(ast.Call(ast.Name("print"), found, [])) | ast.Expr(ast.List(found)):
            expressions = found
        case ast.Expr(one):
            expressions = [one]
        case _:
            raise _NoCallError
    for expression in expressions:
        match expression:
            case ast.Call(ast.Attribute(ast.Name(), name) | ast.Name(name), []):
                yield RawCall(None, name, _keywords(expression))
            case _:
                raise _NoCallError


def _keywords(call: ast.Call) -> dict[str, Any]:
    """Return the arguments of a call, each of which has a name."""
    found = {keyword.arg: _value(keyword.value) for keyword in call.keywords}
    if None in found or len(found) < len(call.keywords):
        raise _NoCallError
    return {str(name): value for name, value in found.items()}


def _value(node: ast.expr | None) -> Any:
    """Return the JSON value of a literal; a call with names only is an object, as Gemini writes them.

    Raises:
        _NoCallError: it is something else.
    """
    match node:
        case ast.Constant(str() | bool() | int() | float() | None as value):
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)):
            return -number
        case ast.List(elements) | ast.Tuple(elements):
            return [_value(one) for one in elements]
        case ast.Dict(keys, values) if all(isinstance(key, ast.Constant) for key in keys):
            return {_text(key): _value(value) for key, value in zip(keys, values, strict=True)}
        case ast.Call(ast.Attribute() | ast.Name(), []):
            return _keywords(node)
        case _:
            raise _NoCallError


def _text(key: ast.expr | None) -> str:
    found = _value(key)
    if isinstance(found, str):
        return found
    raise _NoCallError
