"""The side of the program: one request, one answer."""

from __future__ import annotations

import os
import sys
from binascii import b2a_base64
from typing import TYPE_CHECKING, Any, Literal

from ...codec.json_text import read_json
from ...errors import DecodeError, NeedsInput, SchemaError, ToolError, ToolNotFoundError
from ...json_values import is_object, to_json_text
from ...rounds.questions import answer_codec, answer_schema
from ...tools.calls import RawCall
from ...tools.execution.executor import Executor
from ...tools.registry import Registry
from ...tools.schema_response import schema_response
from ...wording import as_written, clip, escape
from .wire import ACTIONS, error_answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...tools.calls import ToolResult
    from ...tools.content import Part
    from ...tools.tool import Tool

    Context = Mapping[Any, Any]

__all__ = ["answer", "main"]

_SHOWN = 500


def main(
    tools: Registry | Iterable[Tool[..., Any]],
    *,
    context: Context | None = None,
    executor: Executor | None = None,
) -> int:
    """Answer the request on standard input on standard output, as the whole work of a program.

    What the tools print goes to standard error. Write `sys.exit(main([...]))`.

    Args:
        tools: a registry, or tools.
        context: type, or name of a parameter, to value, for the injected parameters.
        executor: runs the calls; one without a time limit unless given, because whoever started the
            program has one.

    Returns:
        The exit status: 0, as there is an answer in every case.
    """
    request = sys.stdin.buffer.read()
    sys.stdout.flush()
    out = os.dup(1)
    os.dup2(2, 1)
    text = to_json_text(answer(tools, request, context=context, executor=executor))
    sys.stdout.flush()
    with os.fdopen(out, "wb") as stream:
        stream.write(text.encode("utf-8", "backslashreplace") + b"\n")
    return 0


def answer(
    tools: Registry | Iterable[Tool[..., Any]],
    request: object,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
) -> dict[str, Any]:
    """Return the answer to one request.

    Args:
        tools: a registry, or tools.
        request: `{"action": "schema"}` or `{"action": "run", "tool": name, "arguments": object,
            "answers": {parameter: JSON value}, "approved": bool}`, as JSON values or as their text.
            `approved` says that a person agreed on the other side, which calls of tools with
            `confirm=True` need, unless the executor asks somebody.
        context: type, or name of a parameter, to value, for the injected parameters.
        executor: runs the calls, of the same tools; one without a time limit unless given.

    Returns:
        JSON values: for `schema`, `{"tools": […]}`; for `run`, an object whose `type` is `success`,
        `error` or `needs_input`. A request that can't be answered is an `error` with the code
        `invalid_request`.
    """
    registry = tools if isinstance(tools, Registry) else Registry(tools)
    try:
        asked = _read(request)
    except ValueError as error:
        return error_answer(clip(escape(str(error)), _SHOWN), "invalid_request")
    if asked["action"] == "schema":
        return {"tools": [_described(tool) for tool in registry.offered(context=context)]}
    return _run(registry, asked, context, executor or Executor(registry, timeout=None))


def _read(request: object) -> dict[str, Any]:
    if isinstance(request, (str, bytes, bytearray)):
        request, problems = read_json(request)
        if problems.found:
            message = f"the request isn't JSON: {problems.found[0]}"
            raise ValueError(message)
    if not is_object(request) or request.get("action") not in ACTIONS:
        message = f'a request is an object whose "action" is one of {", ".join(map(as_written, ACTIONS))}'
        raise ValueError(message)
    if request["action"] == "run":
        if not isinstance(request.get("tool"), str):
            message = 'the "tool" of a request is the name of a tool'
            raise ValueError(message)
        if not is_object(request.get("answers", {})):
            message = 'the "answers" of a request are an object: parameter to answer'
            raise ValueError(message)
    return request


# --- schema ------------------------------------------------------------------------------------------


def _described(tool: Tool[..., Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema_response([tool])["tools"][0]
    found["input_schema"] = tool.input_schema()
    output = tool.output_schema()
    if output is not None:
        found["output_schema"] = output
    annotations = tool.annotations.as_dict()
    if annotations:
        found["annotations"] = annotations
    if tool.timeout is not None:
        found["timeout"] = tool.timeout
    answers = _answers(tool)
    return {**found, "answers": answers} if answers else found


def _answers(tool: Tool[..., Any]) -> dict[str, Any]:
    """Return the schemas of the answers that a tool may ask for, by parameter."""
    found: dict[str, Any] = {}
    for name in tool.injected:
        try:
            found[name] = answer_codec(tool, name).json_schema()
        except SchemaError:  # it isn't read from JSON: your program gives it
            continue
    return found


# --- run ---------------------------------------------------------------------------------------------


def _run(
    registry: Registry, asked: Mapping[str, Any], context: Context | None, executor: Executor
) -> dict[str, Any]:
    name: str = asked["tool"]
    answers: Mapping[str, Any] = asked.get("answers", {})
    try:
        given = {key: answer_codec(registry.get(name), key).decode(value) for key, value in answers.items()}
    except (DecodeError, SchemaError, ToolError) as error:
        return error_answer(f"an answer doesn't fit: {error}", "invalid_request")
    except ToolNotFoundError:
        given = {}  # the executor says so, with the nearest names
    call = RawCall(name=name, arguments=asked.get("arguments"))
    agreed: Literal["run"] | None = "run" if asked.get("approved") is True else None
    result = executor.run_sync(call, context={**(context or {}), **given}, confirm=agreed)
    raised = (result.details or {}).get("exception")
    if result.code == "needs_input" and isinstance(raised, NeedsInput):
        return _question(registry.get(name), raised)
    return error_answer(result.content, result.code) if result.is_error else _success(result)


def _question(tool: Tool[..., Any], raised: NeedsInput) -> dict[str, Any]:
    try:
        schema = answer_schema(tool, raised)
    except (SchemaError, ToolError) as error:
        return error_answer(str(error), "execution_failed")
    question = {"id": raised.parameter, "text": raised.question, "answer_schema": schema}
    return {"type": "needs_input", "question": question}


def _success(result: ToolResult) -> dict[str, Any]:
    found = {"type": "success", "content": result.content, "json": result.json}
    parts = [_part(part) for part in result.parts]
    return found if [part["type"] for part in parts] == ["text"] else {**found, "parts": parts}


def _part(part: Part) -> dict[str, Any]:
    found = part.as_dict()
    for key in ("text", "uri", "name"):
        if getattr(part, key, None) is not None:
            found[key] = getattr(part, key)
    data: bytes | None = getattr(part, "data", None)
    if data is not None:
        found["data"] = b2a_base64(data, newline=False).decode("ascii")
    return found
