"""Rounds as data: the saved form, and the functions that write it."""

from __future__ import annotations

from dataclasses import dataclass, field
from json import dumps
from typing import TYPE_CHECKING, Any, Literal

from ..codec.codec import Codec
from ..errors import DecodeError, EncodeError, ToolError
from ..findings import Finding
from ..json_reading import read_distinct
from ..json_values import copy_json, has_surrogate, to_json_text
from ..message_text import exception_text
from ..sameness import is_equal
from ..tools.calls import RawCall, ResultCode, ToolResult, arguments_to_decode
from ..tools.changes import ChangedArguments  # noqa: TC001  # the codecs below read it
from ..tools.content import Audio, File, Image, Resource, Text
from ..tools.decision_records import Decider, DecisionKind, DecisionRecord
from .input_copies import gives_back, is_certainly, makes, schema_digest
from .own_json import MESSAGE_DEPTH, own_json
from .signatures import canonical_text, seal_with, what_is_signed
from .tool_call import CallState, DecidedBy  # noqa: TC001  # the codecs below read them

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ..tools.content import Part
    from .signatures import Secret
    from .tool_call import ToolCall

FORMAT = 1
"""The version of the saved form; a change that an older reader would misread gets the next number."""


PartType = Literal["text", "image", "audio", "file", "resource"]

_PART_CLASSES: dict[PartType, type[Part]] = {
    "text": Text,
    "image": Image,
    "audio": Audio,
    "file": File,
    "resource": Resource,
}
_PART_TYPES: dict[type[Part], PartType] = {cls: name for name, cls in _PART_CLASSES.items()}


@dataclass
class SavedPart:
    """A content part with its data; it has the attributes of all kinds of parts."""

    type: PartType
    text: str | None = None
    data: bytes | None = None
    media_type: str | None = None
    name: str | None = None
    uri: str | None = None


@dataclass
class SavedResult:
    """A `ToolResult`, without the attributes for the program that ran the function."""

    content: str
    is_error: bool = False
    code: ResultCode | None = None
    json: Any = None
    parts: list[SavedPart] = field(default_factory=list[SavedPart])
    changed: ChangedArguments | None = None


@dataclass
class SavedQuestion:
    """A `Question`."""

    text: str
    parameter: str
    answer_schema: dict[str, Any]


@dataclass
class SavedDecision:
    """A `DecisionRecord`; `when` is in milliseconds since 1970."""

    kind: DecisionKind
    decider: Decider
    when: int
    by: str | None = None
    words: str = ""
    before: dict[str, Any] | None = None
    arguments: dict[str, Any] | None = None


@dataclass
class SavedWait:
    """A `Wait`; `expires_at` is in milliseconds since 1970."""

    approvals: int = 1
    expires_at: int | None = None
    approved_by: list[str] = field(default_factory=list[str])


@dataclass
class SavedCall:
    """A call of the turn, with its state.

    `input` is the input that the call runs with, including defaults; restoring must give the same input. If
    `source` says so, it is read from the `arguments`. The same holds if a part of it can't be written
    (`InitVar`); then `schema` is the digest of the schema that the tool must have. `runs` is the number of
    earlier runs. `deferred_at` is in milliseconds since 1970, because a database may change fractions.
    `issue` says that a handled call was an issue before. `id` and `name` are checked with the head.
    """

    state: CallState
    id: str = ""
    name: str = ""
    arguments: Any = None
    is_cut_off: bool = False
    caller: dict[str, Any] | None = None
    is_from_text: bool = False
    sent_name: str | None = None
    is_malformed: bool = False
    input: dict[str, Any] | None = None
    source: Literal["arguments"] | None = None
    schema: str | None = None
    approved: bool = False
    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    runs: int = 0
    issue: bool = False
    by: DecidedBy | None = None
    reason: str | None = None
    deferred_at: int | None = None
    question: SavedQuestion | None = None
    changed: ChangedArguments | None = None
    decisions: list[SavedDecision] = field(default_factory=list[SavedDecision])
    wait: SavedWait | None = None
    result: SavedResult | None = None
    code: ResultCode | None = None
    content: str | None = None
    digest: str | None = None


@dataclass
class SavedHead:
    """The header of a saved round."""

    format: int
    round: str
    offered: list[str]
    calls: list[Any]
    digest: str
    assistant: Any = None
    provider: str | None = None
    conversation: str | None = None
    about: Any = None


DEPTH = MESSAGE_DEPTH + 10
"""The maximum depth of a saved round; the message of the model and schemas are the deepest parts."""

_ABOVE_RESULTS = 3
"""The levels of a saved round above a result: the round, its calls, the call."""

HEADS: Codec[SavedHead] = Codec(SavedHead, unknown_fields="reject", max_depth=DEPTH)
CALLS: Codec[SavedCall] = Codec(SavedCall, unknown_fields="reject", max_depth=DEPTH)


@dataclass
class SavedSentCall:
    """A `RawCall`."""

    id: str
    name: str
    arguments: Any
    is_cut_off: bool = False
    caller: dict[str, Any] | None = None
    is_from_text: bool = False
    sent_name: str | None = None
    is_malformed: bool = False


@dataclass
class SavedTurn:
    """A `Turn`."""

    id: str
    calls: list[SavedSentCall]
    results: list[SavedResult]
    assistant: Any = None
    provider: str | None = None
    about: Any = None
    decisions: list[list[SavedDecision]] = field(default_factory=list[list[SavedDecision]])


_TURNS: Codec[SavedTurn] = Codec(SavedTurn, max_depth=DEPTH)
_RESULTS: Codec[SavedResult] = Codec(SavedResult, max_depth=DEPTH - _ABOVE_RESULTS)

# --- saving --------------------------------------------------------------------------------------


def save_round(known: Mapping[str, Any], calls: Sequence[ToolCall[Any]], secret: Secret) -> dict[str, Any]:
    """Return a round as JSON values; see `Round.as_dict`.

    Args:
        known: the data of the round besides its calls, under the names of `SavedHead`.
        calls: its calls.
        secret: the key that signs the round; None for a digest alone.
    """
    seal = seal_with(secret)
    saved = [_seal_call(_saved_call(call), seal) for call in calls]
    free = {name: value for name, value in known.items() if value is not None or name == "assistant"}
    head = {"format": FORMAT, **free, "calls": saved}
    text = canonical_text(what_is_signed(head))
    if _SURROGATE in text:
        head = {"format": FORMAT, **_with_texts(free), "calls": saved}
        text = canonical_text(what_is_signed(head))
    return {**head, "digest": seal(text)}


def save_ended(round_id: str, call: ToolCall[Any], secret: Secret) -> dict[str, Any]:
    """Return a call that has ended as JSON values; a store saves it before the other calls end."""
    seal = seal_with(secret)
    own = {"round": round_id, "index": call.index, "call": _seal_call(_saved_call(call), seal)}
    return {**own, "digest": seal(canonical_text(own))}


_SURROGATE = "\\ud"
"""The beginning of a lone surrogate in ASCII text; an escaped backslash or half of an emoji may look the
same."""


def _seal_call(saved: dict[str, Any], seal: Callable[[str], str]) -> dict[str, Any]:
    """Return a saved call in a form that every database accepts, with its digest."""
    text = canonical_text(saved)
    if _SURROGATE in text:
        saved = _with_texts(saved)
        text = canonical_text(saved)
    return {**saved, "digest": seal(text)}


TEXTS_OF_HEAD = ("assistant", "about")
"""The values of a header that may be JSON text, because they may contain a lone surrogate."""


def _with_texts(saved: dict[str, Any]) -> dict[str, Any]:
    """Write values that contain a lone surrogate as JSON text, which every encoding and database accepts."""
    if not has_surrogate(to_json_text(saved)):
        return saved
    texts = {name: dumps(value) for name, value in saved.items() if has_surrogate(to_json_text(value))}
    return {**saved, **texts, "texts": list(texts)}


def without_texts(saved: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return saved values, and decode those that were written as JSON text.

    Args:
        saved: a saved round, possibly from an untrusted source.
        names: the names of the values that may be JSON text.

    Raises:
        RecursionError: a text nests too deeply to be read.
        TypeError: such a value isn't a text.
        ValueError: a text isn't JSON, nests too deeply, or isn't a text of this kind.
    """
    if "texts" not in saved:
        return saved
    rest = {name: value for name, value in saved.items() if name != "texts"}
    for name in saved["texts"]:
        if name not in names:
            message = "it has a text that isn't known"
            raise ValueError(message)
        text: Any = saved.get(name)
        rest[name] = own_json(read_distinct(text), DEPTH)
    return rest


def save_call(call: RawCall) -> dict[str, Any]:
    """Return a call as the model sent it, as JSON values."""
    return _save_raw(call, call.arguments)


def _save_raw(call: RawCall, arguments: Any) -> dict[str, Any]:
    saved = {"id": call.id, "name": call.name, "arguments": copy_json(arguments)}
    if call.is_cut_off:
        saved["is_cut_off"] = True
    if call.caller is not None:
        saved["caller"] = copy_json(call.caller)
    if call.is_from_text:
        saved["is_from_text"] = True
    if call.sent_name is not None:
        saved["sent_name"] = call.sent_name
    if call.is_malformed:
        saved["is_malformed"] = True
    return saved


def save_result(result: ToolResult) -> dict[str, Any]:
    """Return a result as JSON values, with the data of its parts.

    Raises:
        EncodeError: the result can't be written as JSON.
    """
    content, json = result.content, result.json
    is_plain = result.parts == (Text(content),)
    if is_plain and content.isascii() and not (result.is_error or result.code or result.changed):
        # Most results are a text: the codec would take a third of the time of saving a call.
        if json is None:
            return {"content": content}
        if json.__class__ is str and json.isascii():
            return {"content": content, "json": json}
    parts = [] if is_plain else [_saved_part(part) for part in result.parts]
    saved = SavedResult(result.content, result.is_error, result.code, result.json, parts, result.changed)
    try:
        return _without_empty(_RESULTS.encode(saved))
    except EncodeError as error:
        about = f"the result of {result.name}"
        raise EncodeError(about, error.findings, error.omitted) from None


def _saved_part(part: Part) -> SavedPart:
    content: dict[str, Any] = {name: getattr(part, name) for name in part.__slots__}
    return SavedPart(_PART_TYPES[type(part)], **content)


def _saved_call(call: ToolCall[Any]) -> dict[str, Any]:
    raw = _save_raw(call._raw, call._arguments)  # noqa: SLF001  # a value of this room, whose copy would be one too many
    saved = {"state": call.state, **raw, **_without_empty(_saved_state(call))}
    if call.decisions:
        saved["decisions"] = [one.as_dict() for one in call.decisions]
    return saved


def _saved_state(call: ToolCall[Any]) -> dict[str, Any]:
    """Return what a call has in its state, besides what the model sent."""
    match call.state:
        case "pending":
            return _saved_work(call)
        case "deferred":
            waits = {"question": _saved_question(call), "wait": _saved_wait(call)}
            return {**_saved_work(call), "reason": call.reason, **waits}
        case "handled":
            result: Any = call.result
            return {**_saved_end(call), "result": save_result(result)}
        case "rejected":
            return {**_saved_end(call), "reason": call.reason}
        case _:  # an issue
            return {"code": call.code, "content": call.content}


def _without_empty(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out empty values, except for `content`, `input` and `json`, where empty values have a meaning."""
    return {
        name: value
        for name, value in saved.items()
        if (value is not None if name in {"content", "input", "json"} else value)
    }


def _saved_work(call: ToolCall[Any]) -> dict[str, Any]:
    """Return what a call runs with."""
    changed = None if call.changed is None else call.changed.as_dict()
    return {**_saved_input(call), **_saved_past(call), "changed": changed}


def _saved_end(call: ToolCall[Any]) -> dict[str, Any]:
    """Return who ended a call, and what it ran with if that can still be written."""
    if not call.has_input:
        kept = call._saved  # noqa: SLF001  # a call of this room
        return {**({"issue": True} if kept is None else kept), "by": call.by}
    try:
        given = _saved_input(call)
    except Exception:  # noqa: BLE001  # the function may have left anything in it, and its result counts
        given = {}
    return {**given, **_saved_past(call), "by": call.by}


def _saved_past(call: ToolCall[Any]) -> dict[str, Any]:
    """Return what happened to a call so far."""
    return {
        "approved": call.approved,
        "answers": call.answers,
        "runs": call.run[1],
        "deferred_at": _milliseconds(call.deferred_at),
    }


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1_000)


def _saved_question(call: ToolCall[Any]) -> dict[str, Any] | None:
    question = call.question
    if question is None:
        return None
    schema = question.answer_schema
    return {"text": question.text, "parameter": question.parameter, "answer_schema": schema}


def _saved_wait(call: ToolCall[Any]) -> dict[str, Any] | None:
    if call.approvals == 1 and call.expires_at is None:
        return None
    until = _milliseconds(call.expires_at)
    return _without_empty(
        {"approvals": call.approvals, "expires_at": until, "approved_by": [*call.approved_by]}
    )


def _saved_input(call: ToolCall[Any]) -> dict[str, Any]:
    """Return the saved form of the input of a call.

    The input is written again, since somebody may have changed it in place. It is saved even if it equals the
    arguments, so that the tool can't read them differently after a restart.
    """
    tool = call.tool
    try:
        now = call.arguments
    except (EncodeError, ToolError):
        if _is_as_sent(call):
            return {"schema": schema_digest(tool)}
        raise
    if is_certainly(tool, now, call.input):
        return {"input": now}
    sent = arguments_to_decode(call.raw)
    is_stable = gives_back(tool, now, now)
    if (is_stable and makes(tool, now, call.input)) or not gives_back(tool, sent, now):
        return {"input": now}
    if is_stable and not makes(tool, sent, call.input):
        return {"input": now}
    # If the written form is stable but reads as another input, it doesn't contain everything that matters.
    lossy = {"schema": schema_digest(tool)} if is_stable else {}
    return {"input": now, "source": "arguments", **lossy}


def _is_as_sent(call: ToolCall[Any]) -> bool:
    try:
        return is_equal(call.input, call.tool.decode(arguments_to_decode(call.raw)))
    except Exception:  # noqa: BLE001  # a class's own code may see another state of the world by now
        return False


# --- comparing -----------------------------------------------------------------------------------


def is_same_call(one: ToolCall[Any], other: ToolCall[Any]) -> bool:
    """Return whether two calls are equal, so that the same data would be saved."""
    if one == other:
        return True
    try:
        saved, others = _saved_call(one), _saved_call(other)
    except (EncodeError, ToolError):
        return False
    if one.decisions != other.decisions:
        return False
    ignored: tuple[str, ...] = ("deferred_at", "changed", "decisions")
    # Equal sets may be written in different orders.
    if one.has_input and other.has_input and is_equal(one.input, other.input):
        ignored += ("input", "source")
    for name in ignored:
        saved.pop(name, None)
        others.pop(name, None)
    return saved == others


# --- reading -------------------------------------------------------------------------------------


def in_seconds(milliseconds: int | None) -> float | None:
    """Return a saved time in seconds."""
    return None if milliseconds is None else milliseconds / 1_000


def read_decisions(saved: Sequence[SavedDecision]) -> tuple[DecisionRecord, ...]:
    """Return the decisions about a call."""
    return tuple(
        [
            DecisionRecord(
                one.kind, one.decider, one.by, one.words, one.when / 1_000, one.before, one.arguments
            )
            for one in saved
        ]
    )


def read_result(call: RawCall, saved: SavedResult) -> ToolResult:
    """Return a saved result.

    Raises:
        TypeError: a part lacks data that its type needs.
        ValueError: the data of a part don't fit its type.
    """
    parts = tuple([_read_part(part) for part in saved.parts])
    about = (saved.content, saved.is_error, saved.code, None, parts, saved.json, None)
    return ToolResult(call.id, call.name, *about, changed=saved.changed)


def read_turn(data: object) -> tuple[Any, ...]:
    """Return the attributes of a saved turn, as `Turn` takes them.

    Raises:
        DecodeError: the data have another form.
    """
    saved = _TURNS.decode(data)
    try:
        calls = tuple([RawCall(*[getattr(call, name) for name in _SENT]) for call in saved.calls])
        results = tuple([read_result(*pair) for pair in zip(calls, saved.results, strict=True)])
        decisions = tuple([read_decisions(found) for found in saved.decisions])
    except (OverflowError, TypeError, ValueError) as error:
        about = "the saved turn"
        raise DecodeError(about, [Finding((), "invalid_json", exception_text(error))]) from None
    return saved.id, calls, results, saved.assistant, saved.provider, saved.about, decisions


_SENT = tuple(SavedSentCall.__dataclass_fields__)


def _read_part(saved: SavedPart) -> Part:
    cls: Any = _PART_CLASSES[saved.type]
    part: Part = cls(*[getattr(saved, name) for name in cls.__slots__])
    return part
