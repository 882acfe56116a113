"""How is the content of a store printed, so that no text in it can imitate a line of ours?

Models, tools and customers wrote much of it. Their text is in quotes, or behind a bar; `Printer` escapes
characters that could control a terminal.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ...immutable import Value
from ...json_values import copy_json, is_object
from ...message_text import clip, listed, one_line, quote
from ...rounds import StoredCall, StoredRound, Turn
from .output import count, to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...rounds import DecisionRecord, StoreCounts, StuckRound, WaitingRound

_NAME = 100
_CELL = 60
_ARGUMENTS = 2_000
_QUOTED_LINES = 20
_MOST_NAMES = 8


def as_json(value: Any) -> Any:
    """Convert a value from a store to JSON values; times are in seconds since 1970."""
    if isinstance(value, Turn):
        return value.as_dict()
    if isinstance(value, Value):
        return {name: as_json(getattr(value, name)) for name in value.__slots__}
    if isinstance(value, tuple):
        return [as_json(one) for one in value]  # pyright: ignore[reportUnknownVariableType]  # of any values
    return copy_json(value)


def time_text(seconds: float | None) -> str:
    """Write a time, in UTC."""
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    except (OSError, OverflowError, ValueError):  # somebody wrote it into the database
        return f"{seconds:g} s after 1970"


def waiting_row(one: WaitingRound) -> list[str]:
    """Write the cells of a round that waits, for a list."""
    tools = listed([shown_name(name) for name in one.tools], _MOST_NAMES)
    known = [shown_name(one.conversation), tools, quote(one.reason, _CELL) if one.reason else ""]
    return [shown_name(one.id), one.state, time_text(one.since), *known]


def stuck_row(one: StuckRound) -> list[str]:
    """Write the cells of a round that runs or is stuck, for a list."""
    begun = "may have run" if one.has_begun else "nothing has run"
    state = "runs" if one.is_running else "stuck"
    owner = "" if one.owner is None else one_line(str(one.owner), _CELL)
    calls = listed([shown_name(call.name) for call in one.calls], _MOST_NAMES)
    return [
        shown_name(one.id),
        state,
        f"{one.seconds:,.0f}",
        begun,
        owner,
        shown_name(one.conversation),
        calls,
    ]


def counts_line(counts: StoreCounts) -> str:
    """Write how many rounds there are, in a sentence."""
    oldest = "" if counts.oldest is None else f", the oldest for {counts.oldest:,.0f} s"
    others = (
        f"{counts.pending:,} to be run, {counts.complete:,} to be committed, {counts.running:,} running, "
        f"{counts.stuck:,} stuck"
    )
    return f"{count(counts.deferred, 'round')} waiting for a person{oldest}; {others}"


def round_lines(found: StoredRound) -> list[str]:
    """Write everything that a store knows about a round."""
    of = "" if found.conversation is None else f" of {shown_name(found.conversation)}"
    since = "" if found.since is None else f" since {time_text(found.since)}"
    revision = "" if found.revision is None else f" (revision {found.revision})"
    head = [f"{shown_name(found.id)}{of}: {found.state}{since}{revision}"]
    if found.owner is not None:
        begun = "its calls may have done their work" if found.has_begun else "nothing has run"
        head.append(f"  taken by {found.owner}; {begun}")
    if found.about is not None:
        head.append(f"  about: {_json(found.about)}")
    return [*head, *[line for call in found.calls for line in _call_lines(call)]]


def _call_lines(call: StoredCall) -> list[str]:
    """Write a call: the arguments of the model and of the run, the decisions, and the result."""
    ending = {"execution_failed": "failed", None: call.state}.get(call.code, call.code)
    lines = [f"  {shown_name(call.name)} (call {shown_name(call.id)}): {ending}"]
    lines.append(f"    the model sent {_json(call.sent)}")
    if call.sent_name is not None:
        lines.append(f"    the model wrote the name {quote(call.sent_name, _NAME)}")
    if call.runs_with is not None and call.runs_with != call.sent:
        lines.append(f"    it {'ran' if call.content is not None else 'runs'} with {_json(call.runs_with)}")
    if call.state == "deferred":
        lines += _wait_lines(call)
    elif call.since is not None:
        lines.append(f"    it began to wait at {time_text(call.since)}")
    lines += [f"    {_decision_line(one)}" for one in call.decisions]
    if call.state == "rejected" and call.reason:
        lines += ["    rejected with the reason", *_quoted(call.reason)]
    if call.content is not None:
        lines += ["    the model read", *_quoted(call.content)]
    return lines


def _wait_lines(call: StoredCall) -> list[str]:
    lines = [f"    it waits since {time_text(call.since)}: {quote(call.reason or '', _ARGUMENTS)}"]
    if call.question is not None:
        lines.append(f"    it asks {quote(call.question, _ARGUMENTS)}")
    if call.approvals > 1:
        names = listed([shown_name(name) for name in call.approved_by], _MOST_NAMES) or "nobody"
        lines.append(f"    {call.approvals} people have to agree; so far: {names}")
    if call.expires_at is not None:
        lines.append(f"    it can be approved until {time_text(call.expires_at)}")
    return lines


def _decision_line(one: DecisionRecord) -> str:
    who = one.decider if one.by is None else f"{one.decider} {shown_name(one.by)}"
    words = f": {quote(one.words, _ARGUMENTS)}" if one.words else ""
    return f"{time_text(one.when)} {one.kind} by {who}{words}"


def message_lines(item: Any) -> list[str]:
    """Write a message of a transcript, which isn't a turn."""
    if isinstance(item, str):
        return ["user", *_quoted(item, "  ")]
    role = item.get("role") if is_object(item) else None
    content = item.get("content") if is_object(item) else None
    if isinstance(role, str) and isinstance(content, str):
        return [shown_name(role), *_quoted(content, "  ")]
    return ["message", f"  {_json(item)}"]


def shown_name(name: str | None) -> str:
    """Write a name: in quotes if it has anything but letters, digits and a few signs."""
    if name is None:
        return ""
    return name if _PLAIN.fullmatch(name) else quote(name, _NAME)


_PLAIN = re.compile(rf"[\w.:@/-]{{1,{_NAME}}}")


def _json(value: Any) -> str:
    """Write a JSON value on one bounded line."""
    return clip(to_json(copy_json(value)), _ARGUMENTS)


def _quoted(text: str, indent: str = "    ") -> Sequence[str]:
    """Write a text of somebody else with a bar before each line, cut after some lines."""
    lines = clip(text, _ARGUMENTS).splitlines() or [""]
    more = (
        []
        if len(lines) <= _QUOTED_LINES
        else [f"{indent}| … ({count(len(lines) - _QUOTED_LINES, 'more line')})"]
    )
    return [*[f"{indent}| {line}" for line in lines[:_QUOTED_LINES]], *more]
