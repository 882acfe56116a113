"""What people are asked: whether a call may run, and what a tool wants to know while it runs."""

from __future__ import annotations

import json
from types import NoneType
from typing import TYPE_CHECKING, Any, Union, cast, get_args

from ..codec.codec import codec_of
from ..errors import DecodeError, NeedsInput, SchemaError, ToolError
from ..findings import Finding
from ..json_values import is_array, is_object
from ..message_text import escape, listed, show_path, writable_text
from ..tools.calls import DecodedCall, arguments_to_decode
from ..tools.injection import is_union
from .hooks import CONFIRM
from .input_copies import check_written, own_json
from .tool_call import FAILURES, Question, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..tools.calls import ToolResult
    from ..tools.tool import Tool

__all__ = [
    "answer_codec",
    "answer_schema",
    "answered",
    "call_text",
    "check_question",
    "decoded_call",
    "after_run",
]


def decoded_call(call: ToolCall[Any]) -> DecodedCall:
    """Return a call in the form that an executor runs.

    Raises:
        DecodeError: an answer no longer fits its parameter.
        ToolError: the tool has no such parameter any more.
    """
    answers = {name: answer_codec(call.tool, name).decode(value) for name, value in call.answers.items()}
    return DecodedCall(
        call.raw,
        call.input,
        answers,
        call.approved,
        details=call.details,
        deferred_at=call.deferred_at,
    )


def after_run(call: ToolCall[Any], result: ToolResult) -> ToolCall[Any]:
    """Return a call in its state after its run."""
    raised: Any = (result.details or {}).get("exception") if result.code == "needs_input" else None
    if not isinstance(raised, NeedsInput):
        return call.with_result(result, "executor")
    try:
        question = _question(call.tool, raised)
    except (SchemaError, ToolError) as error:
        return call.with_result(_failed(call, error), "executor")
    return call.again().defer(raised.question, question)


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
    codec = answer_codec(tool, raised.parameter)  # even if the answer has a type of its own
    if raised.answer_type is not None:
        codec = codec_of(raised.answer_type)
    schema: dict[str, Any] = codec.json_schema()
    return schema


def _failed(call: ToolCall[Any], error: SchemaError | ToolError) -> ToolResult:
    """Return the result for a question whose answer could never reach the function; it is logged."""
    failure = error if isinstance(error, ToolError) else ToolError(call.name, str(error))
    return cast("ToolResult", FAILURES.failed(call.raw, failure))  # nothing is passed through here


def answered(call: ToolCall[Any], question: Question, answer: object) -> ToolCall[Any]:
    """Return a deferred call as pending again, with the answer to its question.

    Raises:
        DecodeError: the answer doesn't fit.
    """
    codecs = [answer_codec(call.tool, question.parameter)]
    if question._answer_type is not None:  # noqa: SLF001  # a value of this room
        codecs.append(codec_of(question._answer_type))  # noqa: SLF001  # as above
    about = f"the answer for {call.name}"
    try:
        own = own_json(answer)
        for codec in codecs[1:]:
            codec.decode(own)
        own = _as_read(codecs[0], own, codecs[0].decode(own))
    except DecodeError as error:
        raise DecodeError(about, error.findings, error.expects) from None
    except ValueError as error:
        raise DecodeError(
            about, [Finding((), "invalid_json", f"the answer has to be JSON: {error}")]
        ) from None
    kept = [(name, value) for name, value in call._answers if name != question.parameter]  # noqa: SLF001  # as above
    answers = (*kept, (question.parameter, own))
    return call.as_pending().replace(approved=True, _answers=answers)


def _as_read(codec: Any, answer: Any, given: Any) -> Any:
    """Return an answer with defaults and without ignored keys, to compare it after a restart."""
    try:
        written = codec.encode(given)
        return written if codec.decode(written) == given else answer
    except Exception:  # noqa: BLE001  # what it was made of isn't kept (`InitVar`), or a class's own code
        return answer


def check_answer(tool: Tool[..., Any], parameter: str, answer: Any) -> None:
    """Check that a saved answer still means what it meant.

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
    """Return the codec of the answers for an injected parameter.

    Raises:
        SchemaError: its type can't be read from JSON.
        ToolError: the tool has no such parameter.
    """
    return codec_of(_without_none(tool.injected_type(parameter)))


def _without_none(annotation: Any) -> Any:
    """Return X for `X | None`: None stands for a missing answer, and isn't an answer."""
    if not is_union(annotation):
        return annotation
    others = tuple([member for member in get_args(annotation) if member is not NoneType])
    return Union[others] if others else annotation  # noqa: UP007  # made of what it holds


_SHOWN = 2000
"""The most characters of arguments that a person reads, unless there are very many arguments."""

_LEAST = 60
"""Characters that every argument may have in any case."""

_MOST_INSIDE = 8
"""How many values of a long object or array are shown."""

_DEEPEST = 3
"""The longest path, in keys and indexes, of a value with a line of its own."""

_MOST_IGNORED = 8


def call_text(call: ToolCall[Any]) -> str:
    """Write which tool is to run, why a hook makes it wait, and a line for each argument.

    The arguments are those that run, with defaults and repairs. Each long argument is cut on its own, so that
    none hides another one, and no argument can look like something else.

    Args:
        call: a call that nobody has agreed to.
    """
    title = call.tool.annotations.title or call.name
    name = escape(call.name)
    head = f"Run {name}?" if title == call.name else f"Run {escape(title)} ({name})?"
    why = [] if call.reason in {None, "", CONFIRM} else [f"({escape(call.reason or '')[:_SHOWN]})"]
    return "\n".join([head, *why, *_argument_lines(call), *_ignored_lines(call)])


def _argument_lines(call: ToolCall[Any]) -> list[str]:
    try:
        arguments: Any = call.arguments
    except Exception:  # noqa: BLE001  # what it was made of isn't kept (`InitVar`), or a class's own code
        sent = arguments_to_decode(call.raw)
        return ["(as the model sent it; defaults aren't shown)", *_shown(sent)]
    return _shown(arguments)


def _ignored_lines(call: ToolCall[Any]) -> list[str]:
    """Write which arguments of the model are ignored."""
    try:
        ignored = call.tool.decode_report(arguments_to_decode(call.raw)).ignored
    except Exception:  # noqa: BLE001  # the input is there, so a hook made it of something else; or own code
        return []
    names = [str(key) for key in ignored]
    return [f"(the tool doesn't know, and ignores: {listed(names, _MOST_IGNORED)})"] if names else []


def _shown(arguments: Any) -> list[str]:
    if not is_object(arguments):
        return _lines((), arguments, _SHOWN)
    return _lines_of(((key,), value) for key, value in arguments.items())


def _lines_of(pairs: Iterable[tuple[tuple[str | int, ...], Any]], most: int = _SHOWN) -> list[str]:
    """Write values line by line; short values leave their room to long ones."""
    shown = list(pairs)
    room = _room_for([len(_as_json(value)) for _, value in shown], most)
    return [line for path, value in shown for line in _lines(path, value, room)]


def _room_for(lengths: Sequence[int], most: int) -> int:
    """Return how long each value may be, so that all together have a number of characters."""
    room = most
    for position, length in enumerate(sorted(lengths)):
        share = most // (len(lengths) - position)
        if length > share:
            return max(share, _LEAST)
        most -= length
    return room


def _lines(path: tuple[str | int, ...], value: Any, room: int) -> list[str]:
    text = _as_json(value)
    where = f"{show_path(path)}: " if path else ""
    if len(text) <= room:
        return [f"{where}{text}"]
    inside = _inside(value) if len(path) < _DEEPEST else []
    if not inside:
        return [f"{where}{text[:room]}… ({len(text) - room:,} more characters are not shown)"]
    rest = len(inside) - _MOST_INSIDE
    lines = _lines_of((((*path, key), one) for key, one in inside[:_MOST_INSIDE]), room)
    return lines if rest <= 0 else [*lines, f"{where}… ({rest:,} more values are not shown)"]


def _inside(value: Any) -> list[tuple[str | int, Any]]:
    if is_object(value):
        return list(value.items())
    return list(enumerate(value)) if is_array(value) else []


def _as_json(value: Any) -> str:
    return escape(json.dumps(value, ensure_ascii=False))
