"""Questions that tools have while they run: from `NeedsInput` to the answer."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any, Union, cast, get_args

from ..codec.codec import codec_of
from ..errors import DecodeError, NeedsInput, Problem, SchemaError, ToolError
from ..tools.execution.rounds import DecodedCall
from ..tools.injection import is_union
from ..wording import writable_text
from .decoding import FAILURES
from .inputs import check_written
from .own_json import own_json
from .tool_call import DeferredCall, HandledCall, Question

if TYPE_CHECKING:
    from ..tools.calls import ToolResult
    from ..tools.tool import Tool
    from .tool_call import State, ToolCall

__all__ = ["answer_codec", "answer_schema", "answered", "check_question", "decoded_call", "outcome_state"]


def decoded_call(call: ToolCall[Any]) -> DecodedCall:
    """Return what an executor runs of a call.

    Raises:
        DecodeError: an answer no longer fits its parameter.
        ToolError: the tool has no such parameter any more.
    """
    answers = {name: answer_codec(call.tool, name).decode(value) for name, value in call.answers.items()}
    return DecodedCall(call.metadata, call.input, answers, call.approved)


def outcome_state(call: ToolCall[Any], result: ToolResult) -> State:
    """Return the state of a call after it ran."""
    raised: Any = (result.details or {}).get("exception") if result.code == "needs_input" else None
    if not isinstance(raised, NeedsInput):
        return _handled(call, result)
    try:
        question = _question(call.tool, raised)
    except (SchemaError, ToolError) as error:
        return _handled(call, _failed(call, error))
    return call.again().defer(raised.question, question)


def _handled(call: ToolCall[Any], result: ToolResult) -> HandledCall:
    return HandledCall(call.index, call._raw, call._arguments, call, result, "executor")  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # a state of this room


def _question(tool: Tool[..., Any], raised: NeedsInput) -> Question:
    schema = answer_schema(tool, raised)
    text = writable_text("a question", raised.question)
    return Question(text, raised.parameter, schema, raised.answer_type)


def answer_schema(tool: Tool[..., Any], raised: NeedsInput) -> dict[str, Any]:
    """Return the JSON Schema of the answer that a function asked for.

    Raises:
        SchemaError: its type can't be read from JSON.
        ToolError: the tool has no such parameter.
    """
    codec = answer_codec(tool, raised.parameter)  # also where the answer has a type of its own
    if raised.answer_type is not None:
        codec = codec_of(raised.answer_type)
    schema: dict[str, Any] = codec.json_schema()
    return schema


def _failed(call: ToolCall[Any], error: SchemaError | ToolError) -> ToolResult:
    """Return the result for a question whose answer could never reach the function; it is logged."""
    failure = error if isinstance(error, ToolError) else ToolError(call.name, str(error))
    return cast("ToolResult", FAILURES.failed(call.metadata, failure))  # nothing is passed through here


def answered(waiting: DeferredCall[Any], question: Question, answer: object) -> ToolCall[Any]:
    """Return a call that is to be run again, with the answer to its question.

    Raises:
        DecodeError: the answer doesn't fit.
    """
    call = waiting.call
    codecs = [answer_codec(call.tool, question.parameter)]
    if question._answer_type is not None:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # a value of this room
        codecs.append(codec_of(question._answer_type))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # as above
    about = f"the answer for {call.name}"
    try:
        own = own_json(answer)
        for codec in codecs[1:]:
            codec.decode(own)
        own = _as_read(codecs[0], own, codecs[0].decode(own))
    except DecodeError as error:
        raise DecodeError(about, error.problems, error.expects) from None
    except ValueError as error:
        raise DecodeError(
            about, [Problem((), "invalid_json", f"the answer has to be JSON: {error}")]
        ) from None
    kept = [(name, value) for name, value in call._answers if name != question.parameter]  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # as above
    answers = (*kept, (question.parameter, own))
    return call.replace(approved=True, _answers=answers)


def _as_read(codec: Any, answer: Any, given: Any) -> Any:
    """Return an answer with defaults and without ignored keys, as it is compared after a restart."""
    try:
        written = codec.encode(given)
        return written if codec.decode(written) == given else answer
    except Exception:  # noqa: BLE001  # what it was made of isn't kept (`InitVar`), or a class's own code
        return answer


def check_answer(tool: Tool[..., Any], parameter: str, answer: Any) -> None:
    """Check that an answer that was saved is still read as what it was.

    Raises:
        DecodeError: it doesn't fit any more, or would be read as something else.
        SchemaError: the type of the parameter can't be read from JSON.
        ToolError: the tool has no such parameter.
    """
    codec = answer_codec(tool, parameter)
    now = _as_read(codec, answer, codec.decode(answer))
    check_written(f"the answer for {tool.name}", answer, now)


def check_question(tool: Tool[..., Any], parameter: str) -> None:
    """Check that a tool can take the answer to a question.

    Raises:
        SchemaError: the type of the parameter can't be read from JSON.
        ToolError: the tool has no such parameter.
    """
    answer_codec(tool, parameter)


def answer_codec(tool: Tool[..., Any], parameter: str) -> Any:
    """Return what reads the answers for an injected parameter.

    Raises:
        SchemaError: its type can't be read from JSON.
        ToolError: the tool has no such parameter.
    """
    return codec_of(_without_none(tool.injected_type(parameter)))


def _without_none(annotation: Any) -> Any:
    """Return X for `X | None`: that the answer isn't there yet is no answer."""
    if not is_union(annotation):
        return annotation
    others = tuple([member for member in get_args(annotation) if member is not NoneType])
    return Union[others] if others else annotation  # noqa: UP007  # made of what it holds
