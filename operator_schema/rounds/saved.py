"""Plans as data: the form in which they are saved, and how it is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..codec.codec import Codec
from ..codec.limits import MAX_DEPTH
from ..errors import EncodeError, ToolError
from ..json_values import copy_json, is_array, is_object, to_json_text
from ..tools.calls import RawCall, ResultCode, ToolResult, arguments_to_decode
from ..tools.results.content import Audio, File, Image, Resource, Text
from .tool_call import CallIssue, DecidedBy, DeferredCall, HandledCall, RejectedCall, ToolCall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..tools.results.content import Part
    from .plan import ToolRoundPlan
    from .tool_call import State

__all__ = [
    "CALLS",
    "DEPTH",
    "FORMAT",
    "HEADS",
    "SavedCall",
    "SavedHead",
    "digest_of",
    "head_digest",
    "read_result",
    "save_call",
    "save_plan",
    "save_result",
]

FORMAT = 1
"""The version of the form; a change that an older reader would misread gets the next number."""


@dataclass
class SavedPart:
    """A content part, with its data."""

    type: Literal["text", "image", "audio", "file", "resource"]
    text: str | None = None
    data: bytes | None = None
    media_type: str | None = None
    name: str | None = None
    uri: str | None = None


@dataclass
class SavedResult:
    """A `ToolResult`, without what is for the program that ran the function."""

    content: str
    is_error: bool = False
    code: ResultCode | None = None
    json: Any = None
    parts: list[SavedPart] = field(default_factory=list[SavedPart])


@dataclass
class SavedQuestion:
    """A `Question`."""

    text: str
    parameter: str
    answer_schema: dict[str, Any]


@dataclass
class SavedCall:
    """A call of the turn, and what it is at.

    `input` is there if the input isn't what the arguments say: a hook or a person has changed it.
    """

    state: Literal["pending", "handled", "rejected", "deferred", "issue"]
    id: str
    name: str
    arguments: Any = None
    input: dict[str, Any] | None = None
    approved: bool = False
    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    by: DecidedBy | None = None
    reason: str | None = None
    question: SavedQuestion | None = None
    result: SavedResult | None = None
    code: ResultCode | None = None
    content: str | None = None
    digest: str | None = None


@dataclass
class SavedHead:
    """A plan, without what each call is at."""

    format: int
    round: str
    offered: list[str]
    calls: list[dict[str, Any]]
    digest: str
    assistant: Any = None


DEPTH = MAX_DEPTH + 10
"""Levels of arrays and objects in a saved plan: arguments, answers and results lie a few below its root."""

HEADS: Codec[SavedHead] = Codec(SavedHead, unknown_fields="reject", max_depth=DEPTH)
CALLS: Codec[SavedCall] = Codec(SavedCall, unknown_fields="reject", max_depth=DEPTH)
_RESULTS: Codec[SavedResult] = Codec(SavedResult, max_depth=DEPTH)

# --- saving --------------------------------------------------------------------------------------


def save_plan(plan: ToolRoundPlan[Any], secret: bytes | None) -> dict[str, Any]:
    """Return a plan as JSON values; see `ToolRoundPlan.as_dict`."""
    calls = [_saved_state(state) for state in plan.states]
    for call in calls:
        call["digest"] = digest_of(call, secret)
    head: dict[str, Any] = {
        "format": FORMAT,
        "round": plan.id,
        "offered": list(plan.offered),
        "assistant": plan.assistant,
        "calls": calls,
    }
    return {**head, "digest": head_digest(head, secret)}


def save_call(call: RawCall) -> dict[str, Any]:
    """Return a call as the model sent it, as JSON values."""
    return {"id": call.id, "name": call.name, "arguments": copy_json(call.arguments)}


def save_result(result: ToolResult) -> dict[str, Any]:
    """Return a result as JSON values, with the data of its parts."""
    is_plain = result.parts == (Text(result.content),)
    parts = [] if is_plain else [_saved_part(part) for part in result.parts]
    saved = SavedResult(result.content, result.is_error, result.code, result.json, parts)
    return _short(_RESULTS.encode(saved))


def _saved_part(part: Part) -> SavedPart:
    kinds: dict[type, Any] = {
        Text: "text",
        Image: "image",
        Audio: "audio",
        File: "file",
        Resource: "resource",
    }
    names = ("text", "data", "media_type", "name", "uri")
    return SavedPart(kinds[type(part)], **{name: getattr(part, name, None) for name in names})


def _saved_state(state: State) -> dict[str, Any]:
    return {**save_call(state.metadata), **_short(_DETAILS[type(state)](state))}


def _short(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what says nothing; but `content` and `json` may be empty and mean it."""
    return {
        name: value
        for name, value in saved.items()
        if (value is not None if name in {"content", "json"} else value)
    }


def _pending(state: ToolCall[Any]) -> dict[str, Any]:
    changed = _changed_input(state)
    return {"state": "pending", "input": changed, "approved": state.approved, "answers": state.answers}


def _deferred(state: DeferredCall[Any]) -> dict[str, Any]:
    question = state.question
    shown = question and {
        "text": question.text,
        "parameter": question.parameter,
        "answer_schema": question.answer_schema,
    }
    return {**_pending(state.call), "state": "deferred", "reason": state.reason, "question": shown}


def _handled(state: HandledCall) -> dict[str, Any]:
    return {**_decided(state), "state": "handled", "result": save_result(state.result)}


def _rejected(state: RejectedCall) -> dict[str, Any]:
    return {**_decided(state), "state": "rejected", "reason": state.reason}


def _decided(state: HandledCall | RejectedCall) -> dict[str, Any]:
    saved = state._saved_input if state.call is None else _changed_input(state.call)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # a state of this room
    return {"input": saved, "by": state.by}


def _issue(state: CallIssue) -> dict[str, Any]:
    return {"state": "issue", "code": state.code, "content": state.content}


_DETAILS: dict[type, Callable[[Any], dict[str, Any]]] = {
    ToolCall: _pending,
    DeferredCall: _deferred,
    HandledCall: _handled,
    RejectedCall: _rejected,
    CallIssue: _issue,
}


def _changed_input(call: ToolCall[Any]) -> dict[str, Any] | None:
    """Return the input of a call as JSON values; None if it is what the arguments say.

    Whoever changed it may have done so in place, so it is compared with what the arguments give.
    """
    tool = call.tool
    try:
        as_sent = tool.encode_input(tool.decode(arguments_to_decode(call.metadata)))
    except (EncodeError, ToolError):
        return None  # such an input can't be changed: `with_input` refuses it
    except Exception:  # noqa: BLE001  # a class's own code may see another state of the world by now
        as_sent = None
    now = call.arguments
    return None if as_sent is not None and to_json_text(now) == to_json_text(as_sent) else now


# --- digests -------------------------------------------------------------------------------------


def digest_of(saved: Mapping[str, Any], secret: bytes | None) -> str:
    """Return the digest of a saved call, or of anything else that is JSON.

    It is the same after a database has reordered keys, or written `1.0` as `1`.

    Args:
        saved: JSON values; a key `digest` in it doesn't count.
        secret: the key for HMAC-SHA-256 (RFC 2104), or None for SHA-256 alone.
    """
    from hashlib import sha256
    from json import dumps

    content = {name: _canonical(value) for name, value in saved.items() if name != "digest"}
    text = dumps(content, sort_keys=True, separators=(",", ":")).encode()
    if secret is None:
        return sha256(text).hexdigest()
    from hmac import new

    return new(secret, text, "sha256").hexdigest()


def head_digest(head: Mapping[str, Any], secret: bytes | None) -> str:
    """Return the digest of a saved plan: of its head, and of the digests of its calls."""
    return digest_of({**head, "calls": [call.get("digest") for call in head["calls"]]}, secret)


def _canonical(value: Any) -> Any:
    if is_object(value):
        return {key: _canonical(item) for key, item in value.items()}
    if is_array(value):
        return [_canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value


_EXACT = 2**53
"""Every integer up to here is a float, too (RFC 8259 section 6)."""


# --- reading -------------------------------------------------------------------------------------


def read_result(call: RawCall, saved: SavedResult) -> ToolResult:
    """Return a saved result.

    Raises:
        TypeError: a part lacks what its type needs.
        ValueError: the data of a part aren't of its type.
    """
    parts = tuple([_part(part) for part in saved.parts])
    return ToolResult(
        call.id, call.name, saved.content, saved.is_error, saved.code, None, parts, saved.json, None
    )


def _part(saved: SavedPart) -> Part:
    data: Any = saved.data
    text: Any = saved.text
    media_type: Any = saved.media_type
    uri: Any = saved.uri
    match saved.type:
        case "text":
            return Text(text)
        case "image":
            return Image(data, media_type)
        case "audio":
            return Audio(data, media_type)
        case "file":
            return File(data, media_type, saved.name)
        case "resource":
            return Resource(uri, text, data, media_type)
