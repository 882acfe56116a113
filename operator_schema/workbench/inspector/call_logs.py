"""Which calls of a log don't fit the tools, and why?"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from ...immutable import Value
from ...message_text import clip
from ...recordings import Unreadable, records_in, without_redacted
from ..compare.recorded_calls import calls_in
from ..compare.replay import fault_key
from .decode_call import LONGEST_TEXT, read_call_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from ...tools import Tool
    from .decode_call import CallReading

LARGEST_LOG = 64 * 2**20
"""The maximum size of a log, in bytes."""

_MOST_CALLS = 20_000
_MOST_SHOWN = 300
_MOST_CHARACTERS = 5_000_000
"""The maximum number of characters of all failing calls that are shown."""


class LoggedCall(Value):
    """A call of a log, or a record that isn't a call.

    Attributes:
        record: the number of the record, such as of a line; the first is 1.
        name: the name of the tool; None for a record that can't be read.
        arguments: the recorded arguments; for an unreadable record, why it isn't a call.
    """

    record: int
    name: str | None
    arguments: Any


def read_log(path: Path) -> list[LoggedCall]:
    """Read the calls of a log, in any form of recording.

    Args:
        path: the path of the file: one JSON value in each line, or one value, compressed with gzip or not. At
            most 20,000 calls are read.

    Raises:
        OSError: the file can't be read.
        ValueError: the file is too large, or isn't a regular file, such as a pipe.
    """
    check_size(path)
    found: list[LoggedCall] = []
    with path.open("rb") as stream:
        for number, record in enumerate(records_in(stream), 1):
            found += _calls_of(number, record)
            if len(found) >= _MOST_CALLS:
                break
    return found[:_MOST_CALLS]


def check_has_calls(path: Path) -> None:
    """Check that a log has a call.

    Raises:
        OSError: the file can't be read.
        ValueError: the file is too large, isn't a regular file, or contains no call.
    """
    check_size(path)
    why = "it is empty"
    with path.open("rb") as stream:
        for number, record in enumerate(records_in(stream), 1):
            found = _calls_of(number, record)
            if any(call.name is not None for call in found):
                return
            why = f"record {number}: {found[0].arguments}" if number == 1 else why
    message = f"it has no calls ({why})"
    raise ValueError(message)


def _calls_of(number: int, record: Any) -> list[LoggedCall]:
    if isinstance(record, Unreadable):
        return [LoggedCall(record.line or number, None, record.reason)]
    calls = [LoggedCall(number, call.name, call.arguments) for call in calls_in(record)]
    return calls or [LoggedCall(number, None, "there is no call in it")]


def check_size(path: Path) -> None:
    """Check that a path is a file of a limited size.

    Raises:
        OSError: the file can't be read.
        ValueError: the file is too large, or isn't a regular file, such as a pipe.
    """
    if not path.is_file():  # opening a pipe would wait for a writer
        message = f"{path.name} isn't a file"
        raise ValueError(message)
    if path.stat().st_size > LARGEST_LOG:
        message = f"{path.name} is larger than {LARGEST_LOG // 2**20} MiB: give a part of it"
        raise ValueError(message)


def replayed_log(calls: Iterable[LoggedCall], find: Callable[[str], Tool[..., Any]]) -> dict[str, Any]:
    """Read the calls of a log again, and report which ones don't fit, with the reasons.

    Args:
        calls: the calls from `read_log`.
        find: a function that returns a tool by its name, or raises a `LookupError`.

    Returns:
        `counts` of calls that fit and that don't, `reasons`, the most frequent first, and `failing`: the
        first 300 calls that don't fit, or fewer if they are long.
    """
    counts = {"calls": 0, "fit": 0, "repaired": 0, "failing": 0, "redacted": 0, "unreadable": 0}
    reasons: Counter[tuple[str, str, str]] = Counter()
    failing: list[dict[str, Any]] = []
    room = _MOST_CHARACTERS
    for call in calls:
        counts["calls"] += 1
        found = None if call.name is None else read_call_of(find, call.name, call.arguments)
        if found is not None and found.fits:
            counts["fit"] += 1
            counts["repaired"] += any(finding.code != "ignored" for finding in found.findings)
            continue
        if found is not None and found.findings and not without_redacted(found.findings, call.arguments):
            counts["redacted"] += 1
            continue
        counts["unreadable" if found is None else "failing"] += 1
        reasons.update(_reasons_of(found, call.arguments))
        if len(failing) < _MOST_SHOWN and room > 0:
            failing.append(_failing(call, found))
            room -= len(failing[-1]["arguments"])
    listed = [
        {"tool": tool, "path": path, "code": code, "calls": number}
        for (tool, path, code), number in reasons.most_common(50)
    ]
    return {"counts": counts, "reasons": listed, "failing": failing}


def _reasons_of(found: CallReading | None, arguments: Any) -> set[tuple[str, str, str]]:
    if found is None:
        return {("", "", "not a call")}
    faults = [fault_key(finding) for finding in without_redacted(found.findings, arguments)]
    places = {(found.tool, fault.path, fault.code) for fault in faults}
    return places or {(found.tool, "", found.code or "")}


def _failing(call: LoggedCall, found: CallReading | None) -> dict[str, Any]:
    if found is None:
        return {"record": call.record, "tool": None, "arguments": "", "text": call.arguments, "code": None}
    sent = call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, indent=2)
    about = {"record": call.record, "tool": call.name, "arguments": clip(sent, LONGEST_TEXT)}
    return {**about, "text": found.text, "code": found.code}
