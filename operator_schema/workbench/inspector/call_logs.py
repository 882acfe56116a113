"""Find the calls of a log that fail, and the tried calls that are read differently now."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from ...files import check_can_be_made, replacement, resolved
from ...immutable import Value
from ...json_reading import read_distinct
from ...json_values import is_object, nests_deeper
from ...message_text import clip
from ...recordings import Unreadable, records_in, without_redacted
from ..compare.recorded_calls import calls_in
from ..compare.replay import fault_key
from .decode_call import LONGEST_TEXT, CallReading, read_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from ...tools import Tool

    Find = Callable[[str], Tool[..., Any]]

LARGEST_LOG = 64 * 2**20
"""The maximum size of a log, in bytes."""

_MOST_CALLS = 20_000
_MOST_SHOWN = 300
_MOST_TRIED = 1_000
_LONGEST_TRIED = 100_000
_MOST_CHARACTERS = 5_000_000
"""The maximum number of characters of all failing calls that are shown."""

_DEEPEST = 200


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
    _check_size(path)
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
    _check_size(path)
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


def _check_size(path: Path) -> None:
    if not path.is_file():  # opening a pipe would wait for a writer
        message = f"{path.name} isn't a file"
        raise ValueError(message)
    if path.stat().st_size > LARGEST_LOG:
        message = f"{path.name} is larger than {LARGEST_LOG // 2**20} MiB: give a part of it"
        raise ValueError(message)


def replayed_log(calls: Iterable[LoggedCall], find: Find) -> dict[str, Any]:
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
        found = None if call.name is None else _replayed(call.name, call.arguments, find)
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


def _replayed(name: str, arguments: Any, find: Find) -> CallReading:
    try:
        return read_call(find(name), arguments)
    except LookupError as error:
        return CallReading(name, None, None, str(error), "tool_not_found", ())


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


class TriedCalls:
    """The calls that a person tried, each with its reading, in a file or in memory.

    Args:
        path: the path of the file, JSON Lines, which is created if it doesn't exist and which only its owner
            can read; None to forget the calls at the end.

    Raises:
        OSError: the file can't be read or created.
        ValueError: the file doesn't contain tried calls.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._calls: list[dict[str, Any]] = []
        if path is not None and not path.exists():
            check_can_be_made(path)
        elif path is not None:
            _check_size(path)
            with path.open(encoding="utf-8") as lines:
                self._calls = [_tried(number, line) for number, line in enumerate(lines, 1) if line.strip()]

    def __len__(self) -> int:
        return len(self._calls)

    def keep(self, tool: Tool[..., Any], arguments: str) -> None:
        """Store a call, once.

        Raises:
            OSError: the file can't be written.
            ValueError: there are too many calls, or this one is too long.
        """
        if len(arguments) > _LONGEST_TRIED:
            message = f"only calls of at most {_LONGEST_TRIED:,} characters are kept"
            raise ValueError(message)
        others = [call for call in self._calls if (call["name"], call["arguments"]) != (tool.name, arguments)]
        if len(others) >= _MOST_TRIED:
            message = f"{_MOST_TRIED:,} calls are kept: forget some first"
            raise ValueError(message)
        outcome = read_call(tool, arguments).outcome
        self._keep_all([*others, {"name": tool.name, "arguments": arguments, "outcome": outcome}])

    def forget(self, index: int) -> None:
        """Delete a call by its position; if it isn't there, do nothing.

        Raises:
            OSError: the file can't be written.
        """
        if 0 <= index < len(self._calls):
            self._keep_all(self._calls[:index] + self._calls[index + 1 :])

    def accept(self, find: Find) -> None:
        """Store the present reading of each call as the expected one.

        Raises:
            OSError: the file can't be written.
        """
        self._keep_all(
            [
                {**call, "outcome": _replayed(call["name"], call["arguments"], find).outcome}
                for call in self._calls
            ]
        )

    def replayed(self, find: Find) -> dict[str, Any]:
        """Read all calls again, and report which ones are read differently now.

        Args:
            find: as for `replayed_log`.
        """
        calls: list[dict[str, Any]] = []
        for index, call in enumerate(self._calls):
            now = _replayed(call["name"], call["arguments"], find)
            changed = now.outcome != call["outcome"]
            about = {"index": index, "tool": call["name"], "arguments": call["arguments"], "fits": now.fits}
            calls.append({**about, "changed": changed, "before": call["outcome"], "now": now.outcome})
        number = sum([call["changed"] for call in calls])
        kept = None if self.path is None else str(self.path)
        return {"calls": calls, "changed": number, "summary": _summary(number, len(calls)), "file": kept}

    def _keep_all(self, calls: list[dict[str, Any]]) -> None:
        """Write the calls to the file, and then store them here: either both succeed, or neither does."""
        if self.path is not None:
            text = "".join([f"{json.dumps(call)}\n" for call in calls])
            # Only its owner can read the file, since arguments may be private.
            with replacement(resolved(self.path), is_private=True) as made:
                made.write_text(text, encoding="utf-8")
        self._calls = calls


def _summary(changed: int, number: int) -> str:
    if not number:
        return "no calls are kept yet"
    return f"{changed} of {number} {'reads' if changed == 1 else 'read'} differently now"


def _tried(number: int, line: str) -> dict[str, Any]:
    try:
        call = read_distinct(line)
    except (ValueError, RecursionError):
        call = None
    if (
        is_object(call)
        and isinstance(call.get("name"), str)
        and isinstance(call.get("arguments"), str)
        and is_object(call.get("outcome"))
        and not nests_deeper(call, _DEEPEST)
    ):
        return {key: call[key] for key in ("name", "arguments", "outcome")}
    message = f"line {number} isn't a tried call: an object with name, arguments (a text) and outcome"
    raise ValueError(message)
