"""Restore rounds from saved data: everything is checked, and nothing is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeVar, cast

from ..codec.codec import Codec
from ..errors import DecodeError, ToolError, ToolNotFoundError
from ..findings import Finding
from ..json_reading import read_distinct
from ..json_values import is_object
from ..message_text import exception_text, fault_list, received
from ..similar_names import nearest_names
from ..tools.calls import RawCall, ToolResult, arguments_to_decode
from .input_copies import check_same, schema_digest
from .own_json import own_json
from .questions import answer_codec, check_answer
from .round import Round
from .serialization import (
    CALLS,
    DEPTH,
    FORMAT,
    HEADS,
    TEXTS_OF_HEAD,
    SavedCall,
    in_seconds,
    read_decisions,
    read_result,
    without_texts,
)
from .settlement import Settlement
from .signatures import digests_with, is_same_digest, what_is_signed
from .tool_call import FAILURES, ONE_APPROVAL, Question, ToolCall, Wait, call_issue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..tools.calls import ResultCode
    from ..tools.tool import Tool
    from .named_tools import NamedTools
    from .serialization import SavedHead, SavedWait
    from .signatures import Digest, Secret

Saved = TypeVar("Saved")

_SUGGESTED = 3
_TEXTS: Codec[Any] = Codec(Any, max_depth=DEPTH)
_SIGNED_OTHERWISE = " (or they were saved with another secret, or without one)"
MAYBE_SIGNED = " (or they were signed, and secret= is missing: give the one that as_dict got)"
_OF_ANOTHER = "the data of a call that ended were changed after they were saved, or are of another round"
_CHANGED = "this call can't be restored: its saved data were changed"


RestoreProblemCode = Literal["not_a_round", "newer_format", "data_changed", "tool_gone", "input_does_not_fit"]
"""Why saved data can't be restored: they have another form · a newer version of this package wrote them ·
they were changed · the toolset no longer has the tool · the tool doesn't accept the input any more, or reads
it differently."""


class RestoreError(ValueError):
    """A saved round can't be restored.

    Attributes:
        findings: everything that no longer fits.
        round: the round, in which each call that no longer fits is an issue; None if the data as a whole
            can't be used.
    """

    def __init__(self, findings: Sequence[Finding], so_far: Round[Any] | None = None) -> None:
        super().__init__(tuple(findings), so_far)
        self.findings: tuple[Finding, ...] = tuple(findings)
        self.round = so_far

    def __str__(self) -> str:
        """Write the problems, one per line."""
        return fault_list("the saved round doesn't fit any more", self.findings)


def restore_round(toolset: NamedTools, data: object, secret: Secret) -> Round[Any]:
    """Return the saved round; see `Toolset.restore_round`.

    Raises:
        RestoreError: a part no longer fits.
    """
    head, digest = _read_head(data, digests_with(secret), _SIGNED_OTHERWISE if secret else MAYBE_SIGNED)
    problems: list[Finding] = []
    calls = [_restore_call(toolset, index, call, digest, problems) for index, call in enumerate(head.calls)]
    about = (head.provider, head.conversation, head.about)
    found = Round(toolset, tuple(head.offered), tuple(calls), head.assistant, Settlement(head.round), *about)
    if problems:
        raise RestoreError(problems, found)
    return found


def with_ended(work: Round[Any], saved: Iterable[object], secret: Secret) -> Round[Any]:
    """Return a round with calls that ended after it was saved; see `save_ended`.

    Args:
        work: the round as it was when its calls began.
        saved: the saved data of each call that ended; if a call ended twice, the last data count.
        secret: as for `restore_round`.

    Raises:
        RestoreError: some of the data were changed, or belong to another round. Its `round` has the other
            calls.
    """
    digests = digests_with(secret)
    problems: list[Finding] = []
    calls = list(work.calls)
    for one in saved:
        own = _json_copy(one)
        digest = _signer_of_ended(own, work, digests)
        if digest is None:
            problems.append(Finding((), "data_changed", _OF_ANOTHER, tool=""))
        else:
            index = own["index"]
            calls[index] = _restore_call(work.toolset, index, own["call"], digest, problems)
    found = work.replace(calls=tuple(calls))
    if problems:
        raise RestoreError(problems, found)
    return found


def _signer_of_ended(own: Any, work: Round[Any], digests: Sequence[Digest]) -> Digest | None:
    """Return the digest function that signed the data of an ended call; None if they aren't of this round."""
    call = own.get("call") if is_object(own) else None
    if not is_object(call) or own.get("round") != work.id:
        return None
    index = own.get("index")
    own_call = work.calls[index] if type(index) is int and 0 <= index < len(work.calls) else None
    if own_call is None or (call.get("id"), call.get("name")) != (own_call.id, own_call.name):
        return None
    return _signer_of(own, own.get("digest"), digests)


# --- the data as a whole -------------------------------------------------------------------------


def _read_head(data: object, digests: Sequence[Digest], or_else: str) -> tuple[SavedHead, Digest]:
    """Return the data of a round, whose calls are still unchecked, and the function that signed it."""
    own = _json_copy(data)
    if not is_object(own):
        _raise_refusal("not_a_round", f"a saved round must be a JSON object, not {received(own)}")
    version = own.get("format")
    if isinstance(version, (int, float)) and version > FORMAT:
        _raise_refusal(
            "newer_format",
            f"it has format {version}, and this version of operator_schema reads up to {FORMAT}",
        )
    try:
        head = _decode_form(HEADS, without_texts(own, TEXTS_OF_HEAD), {"assistant": dict, "about": dict})
    except DecodeError as error:
        _raise_refusal("not_a_round", "; ".join([str(problem) for problem in error.findings[:5]]))
    except (RecursionError, TypeError, ValueError) as error:
        _raise_refusal("not_a_round", exception_text(error))
    if head.format < 1:
        _raise_refusal("not_a_round", f"there is no format {head.format}")
    for index, call in enumerate(head.calls):
        if (
            not is_object(call)
            or not isinstance(call.get("id"), str)
            or not isinstance(call.get("name"), str)
        ):
            _raise_refusal("not_a_round", f"calls[{index}] isn't an object with id and name")
    signer = _signer_of(what_is_signed(own), head.digest, digests)
    if signer is None:
        _raise_refusal("data_changed", f"the data were changed after they were saved{or_else}")
    return head, signer


def _signer_of(signed: Mapping[str, Any], found: object, digests: Sequence[Digest]) -> Digest | None:
    """Return the function that made a digest; None if none of them did."""
    for digest in digests:
        if is_same_digest(digest(signed), found):
            return digest
    return None


def _json_copy(data: object) -> Any:
    """Return a copy of the data, which has only JSON values."""
    if issubclass(type(data), Round):  # not by its `__class__`, which may be code
        _raise_refusal("not_a_round", "this is a round already: restore what round.as_dict() returned")
    try:
        if type(data) in {str, bytes, bytearray}:
            data = _read_text(cast("str", data))
        return own_json(data, DEPTH)
    except DecodeError as error:
        _raise_refusal("not_a_round", str(error.findings[0]))
    except ValueError as error:
        _raise_refusal("not_a_round", str(error))


def _read_text(text: str | bytes) -> Any:
    try:
        return read_distinct(text)  # unlike a codec, it takes the lone surrogates that a model may write
    except (ValueError, RecursionError):
        return _TEXTS.decode_json(text)  # its message explains the problem better


def _raise_refusal(code: RestoreProblemCode, message: str) -> NoReturn:
    raise RestoreError([Finding((), code, message, tool="")]) from None


# --- its calls -----------------------------------------------------------------------------------


def _restore_call(
    toolset: NamedTools, index: int, data: dict[str, Any], digest: Digest, problems: list[Finding]
) -> ToolCall[Any]:
    """Return a saved call in its state, or an issue if it no longer fits."""
    is_unchanged = is_same_digest(digest(data), data.get("digest"))
    data = _with_decoded_texts(data)
    caller: Any = data.get("caller")
    sent_name = data.get("sent_name")
    raw = RawCall(
        *(data["id"], data["name"], data.get("arguments"), data.get("is_cut_off") is True),
        caller if caller.__class__ is dict else None,
        data.get("is_from_text") is True,
        sent_name if isinstance(sent_name, str) else None,
        data.get("is_malformed") is True,
    )
    try:
        if not is_unchanged:
            _raise_damaged("its data were changed after they were saved")
        checked = _read_call(data)
        found = _call_in_state(toolset, index, raw, checked)
        return found.replace(decisions=read_decisions(checked.decisions)) if checked.decisions else found
    except _MisfitError as misfit:
        problems.append(Finding((), misfit.code, misfit.message, tool=raw.name, call_id=raw.id))
        return _issue_for(toolset, index, raw, misfit)


def _with_decoded_texts(data: dict[str, Any]) -> dict[str, Any]:
    """Return a saved call with its texts decoded; unchanged if they are damaged, and then refused later."""
    if "texts" not in data:
        return data
    try:
        found = without_texts(data, SavedCall.__dataclass_fields__)
    except (RecursionError, TypeError, ValueError):
        return data
    return found if isinstance(found["id"], str) and isinstance(found["name"], str) else data


class _MisfitError(Exception):
    """A saved call no longer fits; a signal that never leaves this module."""

    def __init__(self, code: RestoreProblemCode, message: str, error: Exception | None = None) -> None:
        super().__init__(message)
        self.code: RestoreProblemCode = code
        self.message = message
        self.error = error


def _raise_damaged(message: str) -> NoReturn:
    code: RestoreProblemCode = "data_changed"
    raise _MisfitError(code, message) from None


def _raise_misfit(code: RestoreProblemCode, error: Exception) -> NoReturn:
    raise _MisfitError(code, exception_text(error), error) from None


_FREE: dict[str, type[Any]] = {
    **dict.fromkeys(("id", "name", "sent_name"), str),
    **dict.fromkeys(("arguments", "input", "caller", "answers"), dict),
}
"""Values from the model and from people: they may have any characters, and only the tool can check them."""


def _decode_form(codec: Codec[Saved], data: dict[str, Any], free: Mapping[str, type[Any]]) -> Saved:
    """Decode saved data, but leave values unchanged that may be any text, array or object.

    Args:
        codec: the codec of the saved data.
        data: our own copy of the data.
        free: the class of each of these values by its name; each may be missing.
    """
    rest = {**data}
    taken: dict[str, Any] = {}
    for name, cls in free.items():
        if type(data.get(name)) is cls:
            taken[name] = rest.pop(name)
    saved = codec.decode(rest)
    for name, value in taken.items():
        setattr(saved, name, value)
    return saved


def _read_call(data: dict[str, Any]) -> SavedCall:
    """Check the form of a saved call, and return it."""
    try:
        saved = _decode_form(CALLS, data, _FREE)
    except DecodeError as error:
        _raise_damaged(str(error.findings[0]))
    missing = [name for name in _NEEDED[saved.state] if getattr(saved, name) is None]
    if saved.state in {"pending", "deferred"} and saved.input is None and saved.schema is None:
        missing.append("input")
    if missing:
        _raise_damaged(f"it has no {' and no '.join(missing)}")
    if saved.deferred_at is not None or saved.decisions or saved.wait is not None:
        _check_record(saved)
    return saved


_LATEST = 2**53
"""The largest time in milliseconds that a float represents exactly."""


def _check_record(saved: SavedCall) -> None:
    """Check the values that a codec can't check: times, the number of approvals, and changes of arguments."""
    wait = saved.wait
    times = [saved.deferred_at, None if wait is None else wait.expires_at]
    for one in saved.decisions:
        times.append(one.when)
        if (one.before is None) != (one.arguments is None):
            _raise_damaged("it has a change that is only half there")
    for time in times:
        if time is not None and abs(time) > _LATEST:
            _raise_damaged("it has a time that no clock shows")
    if wait is not None and wait.approvals < 1:
        _raise_damaged("it needs less than one approval")


_NEEDED: dict[str, tuple[str, ...]] = {
    "pending": (),
    "deferred": (),
    "handled": ("result", "by"),
    "rejected": ("by",),
    "issue": ("code", "content"),
}
"""The keys that a saved call must have in each state, besides those of all calls."""


def _call_in_state(toolset: NamedTools, index: int, raw: RawCall, saved: Any) -> ToolCall[Any]:
    reason = saved.reason or ""
    match saved.state:
        case "issue":
            return call_issue(index, raw, raw.arguments, _failed_result(raw, saved.code, saved.content))
        case "handled":
            try:
                result = read_result(raw, saved.result)
            except (TypeError, ValueError) as error:
                _raise_damaged(str(error))
            return _ended_call(toolset, index, raw, saved).replace(
                state="handled", by=saved.by, _result=result
            )
        case "rejected":
            return _ended_call(toolset, index, raw, saved).replace(
                state="rejected", by=saved.by, reason=reason
            )
        case "deferred":
            call = _open_call(toolset, index, raw, saved)
            question = _read_question(call, saved)
            return call.replace(
                state="deferred", reason=reason, question=question, _wait=_read_wait(saved.wait)
            )
        case _:
            return _open_call(toolset, index, raw, saved)


def _ended_call(toolset: NamedTools, index: int, raw: RawCall, saved: SavedCall) -> ToolCall[Any]:
    """Return a call without its result: with its input, or without it if the tool no longer takes that."""
    without = ToolCall(index, raw, raw.arguments, None, None)
    if saved.issue:
        return without
    try:
        return _open_call(toolset, index, raw, saved)
    except _MisfitError:
        names = ("input", "source", "schema", "approved", "answers", "runs", "deferred_at")
        return without.replace(_saved={name: getattr(saved, name) for name in names})


def _open_call(toolset: NamedTools, index: int, raw: RawCall, saved: SavedCall) -> ToolCall[Any]:
    """Return a call that has no result yet, with its input."""
    try:
        tool = toolset[raw.name]
    except ToolNotFoundError:
        _raise_misfit(
            "tool_gone", ToolNotFoundError(raw.name, nearest_names(raw.name, toolset.names, _SUGGESTED))
        )
    try:
        given, answers = _read_input(tool, raw, saved), _read_answers(tool, saved)
        call = ToolCall(
            index,
            raw,
            raw.arguments,
            tool,
            given,
            "pending",
            saved.approved,
            answers,
            saved.runs,
            deferred_at=in_seconds(saved.deferred_at),
            _changed=saved.changed if saved.result is None else saved.result.changed,
        )
    except Exception as error:  # noqa: BLE001  # a class's own code runs in it
        _raise_misfit("input_does_not_fit", error)
    return call


def _read_wait(saved: SavedWait | None) -> Wait:
    if saved is None:
        return ONE_APPROVAL
    return Wait(saved.approvals, in_seconds(saved.expires_at), tuple(saved.approved_by))


def _read_input(tool: Tool[..., Any], raw: RawCall, saved: SavedCall) -> Any:
    """Return the saved input, as the tool reads it now."""
    from_arguments = saved.input is None or saved.source is not None
    given = tool.decode(arguments_to_decode(raw) if from_arguments else saved.input)
    if saved.input is not None:
        check_same(tool, saved.input, given)
    if saved.schema is not None and saved.schema != schema_digest(tool):
        raise ToolError(tool.name, "its schema has changed, and not all of its input was written")
    return given


def _read_answers(tool: Tool[..., Any], saved: SavedCall) -> tuple[tuple[str, Any], ...]:
    """Return the saved answers after checking that the tool still reads them in the same way."""
    for name, answer in saved.answers.items():
        check_answer(tool, name, answer)
    return tuple(saved.answers.items())


def _read_question(call: ToolCall[Any], saved: SavedCall) -> Question | None:
    """Return the question of a tool, if that still takes an answer."""
    asked = saved.question
    if asked is None:
        return None
    try:
        answer_codec(call.tool, asked.parameter)  # the tool must still take an answer
    except Exception as error:  # noqa: BLE001  # a class's own code runs in it
        _raise_misfit("input_does_not_fit", error)
    return Question(asked.text, asked.parameter, asked.answer_schema)


def _issue_for(toolset: NamedTools, index: int, raw: RawCall, misfit: _MisfitError) -> ToolCall[Any]:
    """Return the issue in place of a call that no longer fits, with the text for the model."""
    match misfit.error:
        case None:
            result: Any = _failed_result(raw, "execution_failed", _CHANGED)
        case ToolNotFoundError():
            from .near_tools import unknown_tool  # most tools are still there

            error = unknown_tool(raw, {tool.name: tool for tool in toolset}, toolset)
            result = FAILURES.not_found(raw, error, toolset.names)
        case DecodeError() as error:
            result = FAILURES.invalid(raw, error)
        case error:
            result = FAILURES.failed(raw, error)
    return call_issue(index, raw, raw.arguments, result.replace(details={"exception": misfit.error}))


def _failed_result(raw: RawCall, code: ResultCode, content: str) -> ToolResult:
    return ToolResult(raw.id, raw.name, content, is_error=True, code=code)
