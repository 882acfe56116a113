"""Plans from data that come from outside: everything is checked, and nothing is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from ..errors import DecodeError, ToolNotFoundError
from ..json_values import is_object
from ..tools.calls import RawCall, arguments_to_decode, exception_text
from ..wording import nearest_names, received
from .decoding import FAILURES, own_json
from .errors import RestoreError, RestoreProblem
from .plan import ToolRoundPlan
from .questions import decoded_call
from .saved import CALLS, DEPTH, FORMAT, HEADS, SavedCall, digest_of, head_digest, read_result
from .settlement import Settlement
from .tool_call import CallIssue, HandledCall, Question, RejectedCall, ToolCall

if TYPE_CHECKING:
    from .errors import RestoreProblemCode
    from .saved import SavedHead
    from .tool_call import State
    from .toolset import Toolset

__all__ = ["restore_plan"]

_SUGGESTED = 3
_CHANGED = "this call can't be restored: its saved data were changed"


def restore_plan(toolset: Toolset[Any], data: object, secret: bytes | None) -> ToolRoundPlan[Any]:
    """Return the plan that data say; see `Toolset.restore_plan`.

    Raises:
        RestoreError: something no longer fits.
    """
    head = _head(data, secret)
    problems: list[RestoreProblem] = []
    states = [_restored(toolset, index, call, secret, problems) for index, call in enumerate(head.calls)]
    found = tuple([state for state in states if state is not None])
    if len(found) < len(states):  # what isn't even a call has no result that could be committed
        raise RestoreError(problems)
    offered = tuple(head.offered)
    plan = ToolRoundPlan(toolset, offered, found, head.assistant, Settlement(head.round))
    if problems:
        raise RestoreError(problems, plan)
    return plan


def _head(data: object, secret: bytes | None) -> SavedHead:
    try:
        own = own_json(data, DEPTH)
    except ValueError as error:
        _refuse("not_a_plan", str(error))
    if not is_object(own):
        _refuse("not_a_plan", f"a saved plan is a JSON object, not {received(own)}")
    version = own.get("format")
    if isinstance(version, int) and version > FORMAT:
        _refuse(
            "newer_format",
            f"it has format {version}, and this version of operator_schema reads up to {FORMAT}",
        )
    try:
        head = HEADS.decode(own)
    except DecodeError as error:
        _refuse("not_a_plan", "; ".join([str(problem) for problem in error.problems[:5]]))
    if head.format != FORMAT:
        _refuse("not_a_plan", f"there is no format {head.format}")
    if not _is_same(head_digest(own, secret), head.digest):
        with_key = " (or the secret is another one)" if secret is not None else ""
        _refuse("data_changed", f"the data were changed after they were saved{with_key}")
    return head


def _refuse(code: RestoreProblemCode, message: str) -> NoReturn:
    raise RestoreError([RestoreProblem(code, None, None, message)]) from None


def _is_same(one: str, other: object) -> bool:
    from hmac import compare_digest

    return isinstance(other, str) and compare_digest(one.encode(), other.encode(errors="replace"))


def _restored(
    toolset: Toolset[Any],
    index: int,
    data: dict[str, Any],
    secret: bytes | None,
    problems: list[RestoreProblem],
) -> State | None:
    """Return what a saved call is at, an issue if it doesn't fit any more, or None if it isn't a call."""
    call_id, name = data.get("id"), data.get("name")
    if not isinstance(call_id, str) or not isinstance(name, str):
        problems.append(RestoreProblem("data_changed", None, None, f"call {index} has no id or name"))
        return None
    raw = RawCall(call_id, name, data.get("arguments"))
    try:
        if not _is_same(digest_of(data, secret), data.get("digest")):
            _damaged("its data were changed after they were saved")
        return _state(toolset, index, raw, _checked(data))
    except _MisfitError as misfit:
        problems.append(RestoreProblem(misfit.code, call_id, name, misfit.message))
        return misfit.issue or CallIssue(index, raw, raw.arguments, "execution_failed", _CHANGED)


class _MisfitError(Exception):
    """A saved call doesn't fit; a signal that never leaves this module."""

    def __init__(self, code: RestoreProblemCode, message: str, issue: CallIssue | None = None) -> None:
        super().__init__(message)
        self.code: RestoreProblemCode = code
        self.message = message
        self.issue = issue


def _damaged(message: str) -> NoReturn:
    code: RestoreProblemCode = "data_changed"
    raise _MisfitError(code, message) from None


def _checked(data: dict[str, Any]) -> SavedCall:
    """Return a saved call in its form.

    Raises:
        _MisfitError: it has another one.
    """
    try:
        saved = CALLS.decode(data)
    except DecodeError as error:
        _damaged(str(error.problems[0]))
    missing = [name for name in _NEEDED[saved.state] if getattr(saved, name) is None]
    if missing:
        _damaged(f"it has no {' and no '.join(missing)}")
    return saved


_NEEDED: dict[str, tuple[str, ...]] = {
    "pending": (),
    "deferred": (),
    "handled": ("result", "by"),
    "rejected": ("by",),
    "issue": ("code", "content"),
}
"""What a saved call has to have, beside what all have."""


def _state(toolset: Toolset[Any], index: int, raw: RawCall, saved: SavedCall) -> State:
    match saved:
        case SavedCall(state="issue", code=code, content=content) if code is not None and content is not None:
            return CallIssue(index, raw, raw.arguments, code, content)
        case SavedCall(state="handled", result=result, by=by) if result is not None and by is not None:
            call = _call_or_none(toolset, index, raw, saved)
            try:
                read = read_result(raw, result)
            except (TypeError, ValueError) as error:
                _damaged(str(error))
            return HandledCall(index, raw, raw.arguments, call, read, by, saved.input)
        case SavedCall(state="rejected", by=by) if by is not None:
            call = _call_or_none(toolset, index, raw, saved)
            return RejectedCall(index, raw, raw.arguments, call, saved.reason or "", by, saved.input)
        case _:
            call = _call(toolset, index, raw, saved)
            if saved.state == "pending":
                return call
            return call.defer(saved.reason or "", _question(saved))


def _call_or_none(toolset: Toolset[Any], index: int, raw: RawCall, saved: SavedCall) -> ToolCall[Any] | None:
    """Return a decided call with its input, None if it no longer fits: its result counts all the same."""
    try:
        return _call(toolset, index, raw, saved)
    except _MisfitError:
        return None


def _call(toolset: Toolset[Any], index: int, raw: RawCall, saved: SavedCall) -> ToolCall[Any]:
    """Return a call with its input.

    Raises:
        _MisfitError: the tool is gone, or its input or answers don't fit any more.
    """
    if raw.name not in toolset:
        names = toolset.names
        error = ToolNotFoundError(raw.name, nearest_names(raw.name, names, _SUGGESTED))
        _misfit("tool_gone", index, raw, error, FAILURES.not_found(raw, error, names))
    tool = toolset[raw.name]
    try:
        given = tool.decode(arguments_to_decode(raw) if saved.input is None else saved.input)
        call = ToolCall(index, raw, raw.arguments, tool, given, saved.approved, tuple(saved.answers.items()))
        decoded_call(call)  # the answers still fit
    except DecodeError as error:
        _misfit("input_does_not_fit", index, raw, error, FAILURES.invalid(raw, error))
    except Exception as error:  # noqa: BLE001  # a class's own code runs in it
        _misfit("input_does_not_fit", index, raw, error, FAILURES.failed(raw, error))
    return call


def _misfit(code: RestoreProblemCode, index: int, raw: RawCall, error: Exception, result: Any) -> NoReturn:
    issue = CallIssue(index, raw, raw.arguments, result.code, result.content, error)
    raise _MisfitError(code, exception_text(error), issue) from None


def _question(saved: SavedCall) -> Question | None:
    asked = saved.question
    return None if asked is None else Question(asked.text, asked.parameter, asked.answer_schema)
