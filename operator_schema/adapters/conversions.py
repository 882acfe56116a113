"""Definitions, names, results and final answers in the forms of frameworks."""

from __future__ import annotations

import re
from copy import copy
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ..codec.codec import Codec
from ..errors import DecodeError
from ..tools import MCP_HINTS, Audio, File, Image, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Unpack

    from ..schema.style import StyleOptions
    from ..tools import Tool, ToolDefinition, ToolResult

T = TypeVar("T")


def hints_of(tool: Tool[..., Any]) -> dict[str, Any]:
    """Return a tool's statements about itself under their names in MCP, which frameworks use too."""
    said = {name: getattr(tool.annotations, name) for name in MCP_HINTS}
    return {MCP_HINTS[name]: hint for name, hint in said.items() if hint is not None}


def flat_definition(tool: Tool[..., Any], framework: str, **style: Unpack[StyleOptions]) -> ToolDefinition:
    """Return the definition of a tool without `$defs`, for a framework that drops these.

    Raises:
        ValueError: the tool takes a recursive type.
    """
    style["inline"] = True
    definition = tool.definition(**style)
    if "$defs" in definition["input_schema"]:
        message = f"{framework} can't show recursive types, and {tool.name} takes one"
        raise ValueError(message)
    return definition


def blocks_of(
    result: ToolResult,
    table: Mapping[Any, Callable[[Any], Any]],
    text: Callable[[str], Any],
    native: tuple[type, ...] = (),
) -> Any:
    """Return a result as blocks of a framework; None if its text contains everything.

    Objects of the framework's own classes stay unchanged: a single value, or items of a list. If there would
    be no text, a first block describes the others, because some clients send only texts to a model.

    Args:
        result: the result of the call.
        table: class of a part to a function that turns it into a block, or returns None if the framework
            doesn't take such data. Other parts become texts.
        text: turns a text into a block.
        native: the framework's own classes.
    """
    value: Any = result.value
    told = [] if result.changed is None else [text(change_line(result))]
    if isinstance(value, native):
        return [*told, value] if told else value
    if isinstance(value, (list, tuple)) and any(isinstance(one, native) for one in cast("list[Any]", value)):
        return [*told, *cast("list[Any]", value)]
    made = [(part, table[type(part)](part) if type(part) in table else None) for part in result.parts]
    blocks = [text(part.as_text()) if block is None else block for part, block in made]
    texts = sum([block is None for _, block in made])
    if texts == len(made):
        return None
    return blocks if texts else [text("\n".join([part.as_text() for part, _ in made])), *blocks]


def content_of(
    result: ToolResult,
    table: Mapping[Any, Callable[[Any], Any]],
    text: Callable[[str], Any],
    native: tuple[type, ...] = (),
) -> Any:
    """Return a result as blocks of a framework, or its text if that contains everything; see `blocks_of`."""
    blocks = blocks_of(result, table, text, native)
    return result.content if blocks is None else blocks


def media_of(result: ToolResult) -> list[Image | Audio | File]:
    """List the images, sounds and files of a result."""
    return [part for part in result.parts if isinstance(part, (Image, Audio, File))]


def data_of(result: ToolResult) -> Any:
    """Return the JSON of a result; its text if that contains more, was replaced by a hook, or was cut."""
    data = json_of(result)
    return result.content if data is None and result.content != "null" else data


def json_of(result: ToolResult) -> Any:
    """Return the JSON of a result; None if its text also says that somebody changed the arguments."""
    return result.json if result.changed is None else None


def change_line(result: ToolResult) -> str:
    """Return the line of a result about changed arguments, to show beside an object of a framework."""
    return result.content.partition("\n")[0]


def with_change_line(result: ToolResult, field: str) -> Any:
    """Return the framework's object in a result; if somebody changed the arguments, its text says so.

    Args:
        result: a result with the object as its value.
        field: the attribute that the model reads: a text, or anything else.
    """
    value: Any = result.value
    if result.changed is None:
        return value
    told, read, line = copy(value), getattr(value, field), change_line(result)
    setattr(told, field, f"{line}\n{read}" if isinstance(read, str) else [line, read])
    return told


def texts_of(result: ToolResult, text: Callable[[str], Any]) -> list[Any]:
    """Return the parts of a result as blocks of text."""
    return [text(part.as_text()) for part in result.parts]


def is_text(result: ToolResult) -> bool:
    """Return whether a result has neither images nor other data."""
    return all(isinstance(part, Text) for part in result.parts)


def output_class(cls: type[T], failed: Callable[[str], Exception]) -> type[T]:
    """Return a class that looks like a pydantic model to frameworks, and makes instances of another class.

    Args:
        cls: the class of the answer.
        failed: makes the exception for an answer that doesn't fit, from the text for the model.

    Raises:
        SchemaError: its fields can't be read.
        TypeError: its JSON isn't an object.
    """
    from pydantic import BaseModel  # a framework that takes such a class has it
    from pydantic_core import core_schema

    codec = Codec(cls)
    name = codec.name
    schema = codec.json_schema(inline=True)
    if schema.get("type") != "object":
        message = f"output_type takes a class whose JSON is an object, such as a dataclass, not {name}"
        raise TypeError(message)

    def decode(answer: object) -> T:
        try:
            return codec.decode(answer)
        except DecodeError as error:
            raise failed(str(error)) from None

    class Output(BaseModel):
        def __new__(cls, /, **fields: Any) -> Any:
            return decode(fields)

        @classmethod
        def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:
            return core_schema.no_info_plain_validator_function(decode)

        @classmethod
        def __get_pydantic_json_schema__(cls, _schema: Any, _handler: Any) -> Any:
            return {"title": name, **schema}

    Output.__name__ = Output.__qualname__ = name
    Output.__doc__ = cls.__doc__
    return cast("type[T]", Output)


_LONGEST = 64
_DIGEST = 8
_OTHER = re.compile(r"[^a-zA-Z0-9_-]")


class NameGiver:
    """Gives each tool a unique name: its own one, if that is allowed.

    Args:
        prefix: the prefix of all names.
    """

    __slots__ = ("_given", "_prefix")

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._given: set[str] = set()

    def give(self, name: str) -> str:
        """Return the name for a tool, with a digest if its own name is taken or not allowed."""
        whole = self._prefix + name
        wanted = _OTHER.sub("_", whole)
        if not wanted or len(wanted) > _LONGEST or wanted in self._given:
            digest = sha256(whole.encode("utf-8", "replace")).hexdigest()[:_DIGEST]
            wanted = f"{wanted[: _LONGEST - _DIGEST - 1]}_{digest}"
        self._given.add(wanted)
        return wanted
