"""Which calls that a person tried are read differently now?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...files import check_can_be_made, replacement, resolved
from ...json_reading import read_distinct
from ...json_values import is_object, nests_deeper
from .call_logs import check_size
from .decode_call import read_call, read_call_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ...tools import Tool

    FindTool = Callable[[str], Tool[..., Any]]

_MOST_TRIED = 1_000
_LONGEST_TRIED = 100_000
_DEEPEST = 200


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
            check_size(path)
            with path.open(encoding="utf-8") as lines:
                self._calls = [
                    _read_line(number, line) for number, line in enumerate(lines, 1) if line.strip()
                ]

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

    def accept(self, find: FindTool) -> None:
        """Store the present reading of each call as the expected one.

        Raises:
            OSError: the file can't be written.
        """
        self._keep_all(
            [
                {**call, "outcome": read_call_of(find, call["name"], call["arguments"]).outcome}
                for call in self._calls
            ]
        )

    def replayed(self, find: FindTool) -> dict[str, Any]:
        """Read all calls again, and report which ones are read differently now.

        Args:
            find: a function that returns a tool by its name, or raises a `LookupError`.
        """
        calls: list[dict[str, Any]] = []
        for index, call in enumerate(self._calls):
            now = read_call_of(find, call["name"], call["arguments"])
            changed = now.outcome != call["outcome"]
            about = {"index": index, "tool": call["name"], "arguments": call["arguments"], "fits": now.fits}
            calls.append({**about, "changed": changed, "before": call["outcome"], "now": now.outcome})
        number = sum([call["changed"] for call in calls])
        kept = None if self.path is None else str(self.path)
        return {"calls": calls, "changed": number, "summary": _in_words(number, len(calls)), "file": kept}

    def _keep_all(self, calls: list[dict[str, Any]]) -> None:
        """Write the calls to the file, and then store them here: either both succeed, or neither does."""
        if self.path is not None:
            text = "".join([f"{json.dumps(call)}\n" for call in calls])
            # Only its owner can read the file, since arguments may be private.
            with replacement(resolved(self.path), is_private=True) as made:
                made.write_text(text, encoding="utf-8")
        self._calls = calls


def _in_words(changed: int, number: int) -> str:
    if not number:
        return "no calls are kept yet"
    return f"{changed} of {number} {'reads' if changed == 1 else 'read'} differently now"


def _read_line(number: int, line: str) -> dict[str, Any]:
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
