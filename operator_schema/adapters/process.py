"""Tools of another program, which gets one JSON request on standard input and writes one JSON answer."""

from __future__ import annotations

import os
import sys
from binascii import a2b_base64
from collections.abc import Iterable, Mapping
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ..codec.json_text import read_json
from ..errors import CallError, DecodeError, NeedsInput, SchemaError, ToolError, ToolNotFoundError
from ..execution import Executor
from ..immutable import Value
from ..json_values import is_array, is_object, to_json_text
from ..lazy import answer_misnamed
from ..message_text import as_written, checked_path, excerpt, one_line, received
from ..rounds import Registry, answer_codec, answer_schema
from ..schema.document import SchemaDocument
from ..tools import (
    STATEMENTS,
    Audio,
    DocumentOutput,
    File,
    Image,
    RawCall,
    Resource,
    Text,
    WrittenOutput,
    check_options_for_all,
    is_duration,
    schema_of_parameters,
    schema_response,
    skip,
    tool_of_document,
)
from .conversions import NameGiver
from .program_runs import StartedProgram, aask, ask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Unpack

    from ..tools import Part, Tool, ToolOptions, ToolResult

    Context = Mapping[Any, Any]

__all__ = ["answer", "atools_of", "main", "tools_of"]

answer_misnamed(__name__)


_SCHEMA = {"action": "schema"}
_NAME = "schema"
TIMEOUT = 30.0
_TYPES: Mapping[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool}


def tools_of(
    command: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    /,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    prefix: str = "",
    **options: Unpack[ToolOptions],
) -> list[Tool[..., Any]]:
    """Run a program to ask for its tools, and return them.

    Each call runs the program again, in a process of its own: `await` them, or run them with an
    `Executor`. A call that is cancelled or takes too long ends the program and all processes that it
    started.

    Args:
        command: path of the program, or path and arguments; no shell is involved.
        env: all environment variables of the program; those of this process unless given.
        cwd: working directory of the program; that of this process unless given.
        prefix: the prefix of all names.
        options: as `tool` takes them, for all tools, such as `repair=True`. `timeout` is the number of
            seconds that one run may take: 30 unless given.

    Raises:
        SchemaError: the schema of a tool can't be used, or an option has a value of the wrong kind.
        TimeoutError: the program took too long.
        ToolError: the program can't be started, failed, or gave no valid answer.
        TypeError: an option doesn't exist, or the command, `env` or `cwd` has the wrong type.
        ValueError: the time limit isn't a number of seconds, or the command is empty.
    """
    program = _program(command, options.get("timeout"), env, cwd)
    check_options_for_all("tools_of", options)
    return _tools(program, ask(program, _NAME, _SCHEMA), prefix, options)


async def atools_of(
    command: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    /,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    prefix: str = "",
    **options: Unpack[ToolOptions],
) -> list[Tool[..., Any]]:
    """Get the tools as `tools_of` does, without blocking the event loop."""
    program = _program(command, options.get("timeout"), env, cwd)
    check_options_for_all("atools_of", options)
    return _tools(program, await aask(program, _NAME, _SCHEMA), prefix, options)


def _program(
    command: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    timeout: float | None,
    env: Mapping[str, str] | None,
    cwd: str | os.PathLike[str] | None,
) -> StartedProgram:
    seconds = TIMEOUT if timeout is None else timeout
    is_alone = isinstance(command, (str, os.PathLike)) or not isinstance(command, Iterable)
    given: Any = [command] if is_alone else command
    words = [checked_path("a word of a command", word) for word in given]
    if not words:
        message = "a command has at least the path of a program"
        raise ValueError(message)
    if not is_duration(seconds) or seconds == float("inf"):
        message = f"timeout must be a number of seconds, not {received(timeout)}"
        raise ValueError(message)
    if env is not None and not isinstance(env, Mapping):  # callers may break the annotation
        message = f"env must be a mapping, name to value, not {received(env)}"
        raise TypeError(message)
    given_env: Mapping[Any, Any] = env or {}
    for name, value in given_env.items():
        if not (isinstance(name, str) and isinstance(value, str)):  # which may be a secret
            message = f"names and values in env must be strings: look at {excerpt(name)}"
            raise TypeError(message)
    where = None if cwd is None else checked_path("cwd", cwd)
    return StartedProgram(tuple(words), seconds, None if env is None else dict(env), where)


# --- tools -------------------------------------------------------------------------------------------


def _tools(
    program: StartedProgram, answered: Mapping[str, Any], prefix: str, options: Mapping[str, Any]
) -> list[Tool[..., Any]]:
    described: Any = answered.get("tools")
    if not is_array(described) or not all(map(_is_described, described)):
        message = f"its program doesn't describe its tools: {excerpt(answered)}"
        raise ToolError(_NAME, message)
    names = NameGiver(prefix)
    return [_tool(program, each, names.give(each["name"]), options) for each in described]


def _is_described(each: object) -> bool:
    if not is_object(each) or not isinstance(each.get("name"), str):
        return False
    has_schema = is_object(each.get("input_schema")) or is_object(each.get("parameters"))
    return has_schema and is_object(each.get("answers", {}))


def _schema_of(described: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    schema = described.get("input_schema")
    if is_object(schema):
        return schema
    bounded = SchemaDocument(name, {"properties": described["parameters"]})  # whose depth is checked, too
    return schema_of_parameters(bounded.schema["properties"])


def _tool(
    program: StartedProgram, described: Mapping[str, Any], name: str, given: Mapping[str, Any]
) -> Tool[..., Any]:
    said = described.get("annotations")
    stated = {key: said[key] for key in STATEMENTS & said.keys()} if is_object(said) else {}
    texts = {key: described[key] for key in ("summary", "description") if isinstance(described.get(key), str)}
    if "summary" not in texts:
        texts.setdefault("description", "")
    limit = {"timeout": described["timeout"]} if is_duration(described.get("timeout")) else {}
    answers: dict[str, Any] = described.get("answers") or {"answer": {}}
    agreed = {"approved": True} if stated.get("confirm") is True else {}
    call = _caller(program, {"action": "run", "tool": described["name"], **agreed}, name, answers)
    options: dict[str, Any] = {"name": name, **texts, **stated, **limit, **given}
    return tool_of_document(
        call,
        _schema_of(described, name),
        _ProgramOutput.of_schema(described.get("output_schema"), name),
        **options,
    )


def _caller(
    program: StartedProgram, asked: Mapping[str, Any], name: str, answers: Mapping[str, Any]
) -> Callable[..., Any]:
    """Return the async function that calls a program's tool, with a parameter for each answer it may need.

    If the program says that a person has to agree, the caller of the function has asked already, because a
    tool with `confirm=True` isn't run before.
    """

    async def call(arguments: dict[str, Any], **given: Any) -> Any:
        known = {key: value for key, value in given.items() if value is not None}
        request = {**asked, "arguments": arguments, "answers": known}
        return _result(await aask(program, name, request), name, answers)

    parameters = [Parameter("arguments", Parameter.POSITIONAL_OR_KEYWORD, annotation=dict[str, Any])]
    for key, schema in answers.items():
        if key.isidentifier() and key != "arguments":
            hint: Any = Annotated[_type_of(schema) | None, skip]
            parameters.append(Parameter(key, Parameter.KEYWORD_ONLY, annotation=hint, default=None))
    function: Any = call
    function.__signature__ = Signature(parameters)
    return call


def _type_of(schema: object) -> Any:
    """Return the type of an answer if it is a simple one, else `Any`."""
    declared = schema.get("type") if is_object(schema) else None
    found = _TYPES.get(declared) if isinstance(declared, str) else None
    return object if found is None else found


# --- results -----------------------------------------------------------------------------------------


class _Success(Value):
    """The answer of a program.

    Attributes:
        content: the text for the model.
        json: the JSON value of the result.
        parts: the parts of the content, if it is more than a text.
    """

    content: str
    json: Any
    parts: tuple[Part, ...]


def _result(answered: Mapping[str, Any], name: str, answers: Mapping[str, Any]) -> _Success:
    match answered:
        case {"type": "success", "content": str(content)}:
            parts: Any = answered.get("parts", ())
            found = [_part(part) for part in parts] if is_array(parts) else []
            return _Success(content, answered.get("json", content), tuple(found))
        case {"type": "error", "message": str(message)}:
            raise CallError(message)
        case {"type": "needs_input", "question": {"id": str(key), "text": str(text)}} if text.strip():
            if key not in answers:
                fault = f"its program asks for {key!r}, which isn't among its answers"
                raise ToolError(name, fault)
            raise NeedsInput(text, parameter=key)
        case _:
            fault = f'its program answered neither "success", "error" nor "needs_input": {excerpt(answered)}'
            raise ToolError(name, fault)


def _part(part: Any) -> Part:
    try:
        data = a2b_base64(part["data"], strict_mode=True) if "data" in part else None
        match part["type"]:
            case "text":
                return Text(part["text"])
            case "image":
                return Image(data or b"", part["media_type"])
            case "audio":
                return Audio(data or b"", part["media_type"])
            case "file":
                return File(data or b"", part["media_type"], part.get("name"))
            case _:
                return Resource(part["uri"], part.get("text"), data, part.get("media_type"))
    except (ValueError, TypeError, LookupError) as error:
        return Text(f"[a part that can't be shown: {excerpt(str(error))}]")


class _ProgramOutput(DocumentOutput):
    """The output type of a program's tool."""

    __slots__ = ()

    def write(self, value: object, name: str, *, is_lenient: bool) -> WrittenOutput:
        """Write a program's answer; write anything else as a JSON value."""
        if isinstance(value, _Success):
            return WrittenOutput(value.content, value.json, (), value.parts)
        return super().write(value, name, is_lenient=is_lenient)


_ACTIONS = ("schema", "run")
_SHOWN = 500


def main(
    tools: Registry | Iterable[Tool[..., Any]],
    *,
    context: Context | None = None,
    executor: Executor | None = None,
) -> int:
    """Read a request from standard input and answer it on standard output: a complete `main` of a program.

    Output that the tools print goes to standard error. Write `sys.exit(main([...]))`.

    Args:
        tools: a registry, or tools.
        context: type, or name of a parameter, to value, for the injected parameters.
        executor: runs the calls; by default one without a time limit, because the program that started this
            one has a limit.

    Returns:
        The exit status: always 0, because there is an answer in every case.
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
            `approved` tells whether a person agreed on the other side; calls of tools with `confirm=True`
            need this, unless the executor asks somebody.
        context: type, or name of a parameter, to value, for the injected parameters.
        executor: runs the calls, with the same tools; by default one without a time limit.

    Returns:
        JSON values: for `schema`, `{"tools": […]}`; for `run`, an object whose `type` is `success`,
        `error` or `needs_input`. A request that can't be answered is an `error` with the code
        `invalid_request`.
    """
    registry = tools if isinstance(tools, Registry) else Registry(tools)
    try:
        asked = _read(request)
    except ValueError as error:
        return _error_answer(one_line(str(error), _SHOWN), "invalid_request")
    if asked["action"] == "schema":
        return {"tools": [_described(tool) for tool in registry.offered(context=context)]}
    return _run(registry, asked, context, executor or Executor(registry, timeout=None))


def _read(request: object) -> dict[str, Any]:
    if isinstance(request, (str, bytes, bytearray)):
        request, problems = read_json(request)
        if problems.found:
            message = f"the request isn't JSON: {problems.found[0]}"
            raise ValueError(message)
    if not is_object(request) or request.get("action") not in _ACTIONS:
        message = f'a request is an object whose "action" is one of {", ".join(map(as_written, _ACTIONS))}'
        raise ValueError(message)
    if request["action"] == "run":
        if not isinstance(request.get("tool"), str):
            message = 'the "tool" of a request is the name of a tool'
            raise ValueError(message)
        if not is_object(request.get("answers", {})):
            message = 'the "answers" of a request are an object: parameter to answer'
            raise ValueError(message)
    return request


def _error_answer(message: str, code: str | None = None) -> dict[str, Any]:
    """Return the answer for a call that has no result."""
    return {"type": "error", "message": message, "code": code}


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
        except SchemaError:  # it can't be read from JSON, so your program has to give it
            continue
    return found


# --- run ---------------------------------------------------------------------------------------------


def _run(
    registry: Registry, asked: Mapping[str, Any], context: Context | None, executor: Executor
) -> dict[str, Any]:
    name: str = asked["tool"]
    answers: Mapping[str, Any] = asked.get("answers", {})
    try:
        given = {key: answer_codec(registry[name], key).decode(value) for key, value in answers.items()}
    except (DecodeError, SchemaError, ToolError) as error:
        return _error_answer(f"an answer doesn't fit: {error}", "invalid_request")
    except ToolNotFoundError:
        given = {}  # the executor says so, with the nearest names
    call = RawCall(name=name, arguments=asked.get("arguments"))
    agreed: Literal["run"] | None = "run" if asked.get("approved") is True else None
    result = executor.run_sync(call, context={**(context or {}), **given}, confirm=agreed)
    raised = (result.details or {}).get("exception")
    if result.code == "needs_input" and isinstance(raised, NeedsInput):
        return _question(registry[name], raised)
    return _error_answer(result.content, result.code) if result.is_error else _success(result)


def _question(tool: Tool[..., Any], raised: NeedsInput) -> dict[str, Any]:
    try:
        schema = answer_schema(tool, raised)
    except (SchemaError, ToolError) as error:
        return _error_answer(str(error), "execution_failed")
    question = {"id": raised.parameter, "text": raised.question, "answer_schema": schema}
    return {"type": "needs_input", "question": question}


def _success(result: ToolResult) -> dict[str, Any]:
    found = {"type": "success", "content": result.content, "json": result.json}
    parts = [_written_part(part) for part in result.parts]
    return found if [part["type"] for part in parts] == ["text"] else {**found, "parts": parts}


def _written_part(part: Part) -> dict[str, Any]:
    found = part.as_dict()
    for key in ("text", "uri", "name"):
        if getattr(part, key, None) is not None:
            found[key] = getattr(part, key)
    data: str | None = getattr(part, "base64", None)
    if data is not None:
        found["data"] = data
    return found
