"""Replay a log part by part: what an engine runs, and how the reports of the parts become one."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..immutable import Value
from .logs import Unreadable, records_of
from .recorded_calls import calls_in, count_bare_spans
from .replay import Replay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..tools import Tool
    from .engines import Lost
    from .logs import Part

__all__ = ["CallRow", "PartReport", "ReplayWork"]


class CallRow(NamedTuple):
    """What became of one call, or of a line that can't be read.

    Attributes:
        source: the log.
        line: its number, from 1; 0 if the log is one value.
        tool: the name in the call; None for what can't be read.
        outcome: `fits`, `repaired`, `fails`, `unknown` or `unreadable`.
        codes: what is wrong with the call as it is.
        paths: where, in the same order.
        repairs: kinds of the repairs that it needs.
        ignored: its keys that are ignored as unknown.
        reason: why it can't be read, or None.
    """

    source: str
    line: int
    tool: str | None
    outcome: str
    codes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    reason: str | None = None


class PartReport(NamedTuple):
    """What was counted in one part of a log.

    Attributes:
        found: by the tools of today.
        before: by the old tools, where only calls that fitted those are counted.
        rows: one a call, if they were asked for.
    """

    found: Replay
    before: Replay | None
    rows: list[CallRow]

    def merge(self, later: PartReport) -> None:
        """Add the counts of the part that follows; rows aren't collected."""
        self.found.merge(later.found)
        if self.before is not None and later.before is not None:
            self.before.merge(later.before)


class ReplayWork(Value):
    """Replays one part of a log; can be pickled if its attributes can.

    Attributes:
        tools: returns the tools of today; called once in a process.
        old: returns tools of before: only calls that fit them are counted. None to count every call.
        with_rows: whether the report has a row for each call.
        run: a text that no other run has. Processes that outlive a run don't keep its tools for the next one.
    """

    tools: Callable[[], Sequence[Tool[..., Any]]]
    old: Callable[[], Sequence[Tool[..., Any]]] | None
    with_rows: bool
    run: str

    def empty(self) -> PartReport:
        """Return the report of no calls at all."""
        before = None if self.old is None else _replay(self.old, self.run).emptied()
        return PartReport(_replay(self.tools, self.run).emptied(), before, [])

    def __call__(self, part: Part) -> PartReport:
        """Return the report of a part."""
        report = self.empty()
        for row in self._rows(part, report):
            if self.with_rows:
                report.rows.append(row)
        return report

    def lost(self, part: Part, lost: Lost) -> PartReport:
        """Return the report of a part that no process could read."""
        report = self.empty()
        line = part.first if part.kind in {"lines", "parquet"} else 0
        where = "everything in it" if line == 0 else "this and what follows in its part"
        reason = f"{where}: {lost.reason}"
        report.found.add_unreadable(part.place(line), reason)
        if self.with_rows:
            report.rows.append(CallRow(part.log, line, None, "unreadable", reason=reason))
        return report

    def _rows(self, part: Part, report: PartReport) -> Iterator[CallRow]:
        """Count the calls of a part; yield what became of each."""
        found, before, _ = report
        for line, _, record in records_of(part):
            if isinstance(record, Unreadable):
                found.add_unreadable(part.place(record.line), record.reason)
                yield CallRow(part.log, record.line, None, "unreadable", reason=record.reason)
                continue
            has_calls = False
            for call in calls_in(record):
                has_calls = True
                if before is not None and not before.add(call).fits:
                    continue
                kind, faults, repairs, ignored = found.add(call)
                if self.with_rows:
                    codes, paths = tuple(each.code for each in faults), tuple(each.path for each in faults)
                    yield CallRow(part.log, line, call.name, kind, codes, paths, repairs, ignored)
            if not has_calls:
                found.bare_spans += count_bare_spans(record)


@lru_cache(2)
def _replay(tools: Callable[[], Sequence[Tool[..., Any]]], run: str) -> Replay:  # noqa: ARG001  # part of the key
    """Return what decodes by tools: each process makes it once, so that its decoders stay compiled."""
    return Replay(tools())
