"""The questions that tools ask, and checks of the answers."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any, Union, get_args

from ..codec.codec import codec_of
from ..message_text import writable_text
from ..tools.injection import is_union
from .input_copies import check_written
from .tool_call import Question

if TYPE_CHECKING:
    from ..errors import NeedsInput
    from ..tools.tool import Tool


def question_of(tool: Tool[..., Any], raised: NeedsInput) -> Question:
    """Return the question that a function raised."""
    schema = answer_schema(tool, raised)
    text = writable_text("a question", raised.question)
    return Question(text, raised.parameter, schema, raised.answer_type)


def answer_schema(tool: Tool[..., Any], raised: NeedsInput) -> dict[str, Any]:
    """Return the JSON Schema of the answer that a function asked for.

    Raises:
        SchemaError: the type of the answer can't be read from JSON.
        ToolError: the tool has no parameter for the answer.
    """
    codec = answer_codec(tool, raised.parameter)  # also if the question gives the answer a type
    if raised.answer_type is not None:
        codec = codec_of(raised.answer_type)
    schema: dict[str, Any] = codec.json_schema()
    return schema


def answer_as_read(codec: Any, answer: Any, given: Any) -> Any:
    """Return an answer with defaults and without ignored keys, for a comparison after a restart."""
    try:
        written = codec.encode(given)
        return written if codec.decode(written) == given else answer
    except Exception:  # noqa: BLE001  # what it was made of isn't kept (`InitVar`), or a class's own code
        return answer


def check_answer(tool: Tool[..., Any], parameter: str, answer: Any) -> None:
    """Check that a tool still understands a saved answer in the same way."""
    codec = answer_codec(tool, parameter)
    now = answer_as_read(codec, answer, codec.decode(answer))
    check_written(f"the answer for {tool.name}", answer, now)


def answer_codec(tool: Tool[..., Any], parameter: str) -> Any:
    """Return the codec of the answers for an injected parameter.

    Raises:
        SchemaError: the type of the parameter can't be read from JSON.
        ToolError: the tool has no such parameter.
    """
    return codec_of(_without_none(tool.injected_type(parameter)))


def _without_none(annotation: Any) -> Any:
    """Return X for `X | None`: None means that there is no answer, and isn't an answer."""
    if not is_union(annotation):
        return annotation
    others = tuple([member for member in get_args(annotation) if member is not NoneType])
    return Union[others] if others else annotation  # noqa: UP007  # made of what it holds
