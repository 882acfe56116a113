"""The other side: the tools of a program as tools of ours."""

from __future__ import annotations

import os
from binascii import a2b_base64
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any

from ...errors import CallError, NeedsInput, SchemaError, ToolError
from ...immutable import Value
from ...json_values import is_array, is_object
from ...schema.document import SchemaDocument
from ...tools.content import Audio, File, Image, Resource, Text
from ...tools.document_tool import DocumentOutput, tool_of_document
from ...tools.injection import skip
from ...tools.metadata import STATEMENTS, is_duration
from ...tools.output import WrittenOutput
from ...tools.schema_response import schema_of_parameters
from ...wording import excerpt, received
from ..foreign_names import NameGiver
from .child import Program, aask, ask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Unpack

    from ...tools.content import Part
    from ...tools.options import ToolOptions
    from ...tools.tool import Tool

__all__ = ["atools_of", "tools_of"]

_SCHEMA = {"action": "schema"}
_NAME = "schema"
_TIMEOUT = 30.0
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
        prefix: of all names.
        options: as `tool` takes them, for all tools, such as `repair=True`. `timeout` is the number of
            seconds that one run may take: 30 unless given.

    Raises:
        SchemaError: the schema of a tool can't be used.
        TimeoutError: the program took too long.
        ToolError: it can't be started, failed, or answered something else.
        ValueError: the time limit isn't a number of seconds, or the command is empty.
    """
    program = _program(command, options.get("timeout"), env, cwd)
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
    """Do what `tools_of` does without blocking the event loop."""
    program = _program(command, options.get("timeout"), env, cwd)
    return _tools(program, await aask(program, _NAME, _SCHEMA), prefix, options)


def _program(
    command: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    timeout: float | None,
    env: Mapping[str, str] | None,
    cwd: str | os.PathLike[str] | None,
) -> Program:
    seconds = _TIMEOUT if timeout is None else timeout
    words = [command] if isinstance(command, (str, os.PathLike)) else list(command)
    if not words:
        message = "a command has at least the path of a program"
        raise ValueError(message)
    if not is_duration(seconds) or seconds == float("inf"):
        message = f"timeout is a number of seconds, not {received(timeout)}"
        raise ValueError(message)
    where = None if cwd is None else os.fspath(cwd)
    return Program(
        tuple([os.fspath(word) for word in words]), seconds, None if env is None else dict(env), where
    )


# --- tools -------------------------------------------------------------------------------------------


def _tools(
    program: Program, answered: Mapping[str, Any], prefix: str, options: Mapping[str, Any]
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
    program: Program, described: Mapping[str, Any], name: str, given: Mapping[str, Any]
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
    return tool_of_document(call, _schema_of(described, name), _Output.of(described, name), **options)


def _caller(
    program: Program, asked: Mapping[str, Any], name: str, answers: Mapping[str, Any]
) -> Callable[..., Any]:
    """Return the function of a tool, with a parameter for each answer that it may need.

    Where the program says that a person has to agree, whoever runs the function has asked: a tool with
    `confirm=True` isn't run before.
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
    """Return the type of an answer, as far as it is a simple one."""
    declared = schema.get("type") if is_object(schema) else None
    found = _TYPES.get(declared) if isinstance(declared, str) else None
    return object if found is None else found


# --- results -----------------------------------------------------------------------------------------


class _Success(Value):
    """What a program answered.

    Attributes:
        content: for the model.
        json: of which it is the text.
        parts: of the content, if it is more than a text.
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


class _Output(DocumentOutput):
    """The results of a tool of a program."""

    __slots__ = ()

    @classmethod
    def of(cls, described: Mapping[str, Any], name: str) -> _Output:
        schema = described.get("output_schema")
        if not is_object(schema):
            return cls(None)
        try:
            return cls(SchemaDocument(name, schema, is_arguments=False))
        except SchemaError:
            return cls(None)

    def write(self, value: object, name: str, *, is_lenient: bool) -> WrittenOutput:
        """Write what a program answered; anything else as a JSON value."""
        if isinstance(value, _Success):
            return WrittenOutput(value.content, value.json, (), value.parts)
        return super().write(value, name, is_lenient=is_lenient)
