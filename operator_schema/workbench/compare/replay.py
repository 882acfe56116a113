"""Which recorded calls do the present tools still accept?"""

from __future__ import annotations

import json
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, TypeVar

from ... import rounds
from ...errors import DecodeError
from ...immutable import Value
from ...json_values import is_finite, to_json_text
from ...message_text import clip, show_place
from ...recordings import Unreadable, records_of, without_redacted
from ...tools import tools_of
from .recorded_calls import calls_in, count_bare_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeAlias

    from ...findings import Finding
    from ...recordings import Part
    from ...tools import Tool
    from .parallel_engines import Lost
    from .recorded_calls import RecordedCall

K = TypeVar("K", bound="str | CallFault")

_EXAMPLE_LENGTH = 500
_TEXT_LENGTH = 2_000
_MOST_KEYS = 1_000
_MOST_PLACES = 1_000


class CallFault(NamedTuple):
    """A fault in calls of a tool.

    Attributes:
        path: the path of the argument, with `*` for every index.
        code: the kind of fault, such as `missing`.
    """

    path: str
    code: str


def fault_key(finding: Finding) -> CallFault:
    """Return the key by which a problem of a call is counted."""
    steps = tuple(["*" if isinstance(step, int) else step for step in finding.path])
    return CallFault(show_place(steps), finding.code)


class Tally(Counter[K], Generic[K]):
    """Counts of keys in limited memory: if there are more than 1,000 keys, the shortest ones are kept.

    The choice depends only on the keys, not on their order. So the tallies of all parts of a log add up to
    the tally of the whole log, for any way to split it.

    Attributes:
        others: the count of keys that aren't kept.
    """

    def __init__(self) -> None:
        super().__init__()
        self.others = 0
        self._last: K | None = None

    def add(self, key: K, number: int = 1) -> K | None:
        """Count a key; return the key that is dropped because of it, if there is one."""
        if key in self:
            self[key] += number
            return None
        if len(self) < _MOST_KEYS:
            self[key] = number
            self._last = None
            return None
        last = self._last = self._last or max(self, key=_rank)
        if _rank(key) > _rank(last):
            self.others += number
            return key
        self.others += self.pop(last)
        self[key] = number
        self._last = None
        return last

    def merge(self, later: Tally[K]) -> list[K]:
        """Add the counts of a later part; return the keys that are dropped."""
        left_out = [self.add(key, number) for key, number in later.items()]
        self.others += later.others
        return [key for key in left_out if key is not None]

    def ranked(self) -> list[tuple[K, int]]:
        """Return keys and counts, the most frequent first."""
        return sorted(self.items(), key=lambda item: (-item[1], _rank(item[0])))

    def __reduce__(self) -> tuple[Any, ...]:
        return _tally, (dict(self), self.others)


def _tally(counts: dict[Any, int], others: int) -> Tally[Any]:
    made: Tally[Any] = Tally()
    made.update(counts)
    made.others = others
    return made


def _rank(key: str | CallFault) -> tuple[int, str]:
    text = key if isinstance(key, str) else "\0".join(key)
    return len(text), text


class ReplayedOutcome(NamedTuple):
    """The outcome of one call.

    Attributes:
        kind: whether the call fits, fits after repairs, or fails; whether that isn't known, since only
            redacted values don't fit; or whether no tool has its name.
        faults: the faults of the call without repairs.
        repairs: the kinds of repairs that it needs.
        ignored: its unknown keys, which are ignored.
    """

    kind: Literal["fits", "repaired", "fails", "redacted", "unknown"]
    faults: tuple[CallFault, ...] = ()
    repairs: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    @property
    def may_fit(self) -> bool:
        """Whether the call fits without repairs, as far as its values are known."""
        return self.kind in {"fits", "redacted"}


_FITS: Final = ReplayedOutcome("fits")
_REDACTED: Final = ReplayedOutcome("redacted")
_UNKNOWN: Final = ReplayedOutcome("unknown")


class Example(NamedTuple):
    """The first call with a fault.

    Attributes:
        arguments: the arguments of the call, as JSON text, cut.
        text: the text that the model would read, cut.
    """

    arguments: str
    text: str


class ToolCounts:
    """The outcomes of the calls of one tool.

    Attributes:
        fits: the number of calls that fit without repairs.
        repaired: the number of calls that fit after repairs.
        fails: the number of calls that don't fit in either way.
        redacted: the number of calls with an unknown outcome, since only redacted values don't fit.
        faults: the number of calls with each fault, among those that don't fit without repairs.
        examples: the first call with each fault.
        ignored: the number of calls with each unknown key, which is ignored.
        repairs: the number of repairs of each kind, such as `scalar`.
    """

    __slots__ = ("examples", "fails", "faults", "fits", "ignored", "redacted", "repaired", "repairs")

    def __init__(self) -> None:
        self.fits = 0
        self.repaired = 0
        self.fails = 0
        self.redacted = 0
        self.faults: Tally[CallFault] = Tally()
        self.examples: dict[CallFault, Example] = {}
        self.ignored: Tally[str] = Tally()
        self.repairs: Counter[str] = Counter()

    @property
    def calls(self) -> int:
        """The number of all calls of the tool."""
        return self.fits + self.repaired + self.fails + self.redacted

    def merge(self, later: ToolCounts) -> None:
        """Add the outcomes of the calls in a later part of the log."""
        self.fits += later.fits
        self.repaired += later.repaired
        self.fails += later.fails
        self.redacted += later.redacted
        self.repairs.update(later.repairs)
        self.ignored.merge(later.ignored)
        left_out = self.faults.merge(later.faults)
        self.examples = {**later.examples, **self.examples}
        for fault in left_out:
            self.examples.pop(fault, None)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values; the most frequent first."""
        rare = {"other_faults": self.faults.others} if self.faults.others else {}
        rare |= {"redacted": self.redacted} if self.redacted else {}
        return {
            "calls": self.calls,
            "fits": self.fits,
            "repaired": self.repaired,
            "fails": self.fails,
            "faults": [
                {"path": fault.path, "code": fault.code, "calls": number, **self.examples[fault]._asdict()}
                for fault, number in self.faults.ranked()
            ],
            **rare,
            "ignored": _with_others(self.ignored),
            "repairs": dict(sorted(self.repairs.items(), key=lambda item: (-item[1], item[0]))),
        }


def _with_others(tally: Tally[str]) -> dict[str, int]:
    return {**dict(tally.ranked()), **({"…": tally.others} if tally.others else {})}


_Both: TypeAlias = "tuple[Tool[..., Any], Tool[..., Any]]"
"""A tool without and with repair."""


class Replay:
    """Counts recorded calls by their outcome with the present tools.

    The counts of the parts of a log can be merged in order, with the same result as for the whole log. A
    pickled copy has the counts, and can't decode.

    Args:
        tools: the tools that decode the calls.

    Attributes:
        tools: the outcomes for the calls of each tool, by its name; also for a tool without calls.
        unknown: the number of calls of each name that no tool has.
        broken: the files that can't be read to their end, each with the reason.
        unreadable: the first other unreadable parts of the files, in words.
        unreadable_count: the number of all unreadable parts.
        bare_spans: the number of spans of calls without arguments, in records without any call.

    Raises:
        DuplicateToolError: two different tools have the same name.
        TypeError: an item isn't a tool, or `tools` is a single tool.
    """

    def __init__(self, tools: Iterable[Tool[..., Any]]) -> None:
        unlike = dict.fromkeys(tools_of(tools))
        rounds.Toolset(*unlike)  # raises if two have one name
        plain = {tool.name: tool.with_(repair=False) for tool in unlike}
        self._tools = {name: (tool, tool.with_(repair=True)) for name, tool in plain.items()}
        self.tools: dict[str, ToolCounts] = {name: ToolCounts() for name in self._tools}
        self.unknown: Tally[str] = Tally()
        self.broken: list[str] = []
        self.unreadable: list[str] = []
        self.unreadable_count = 0
        self.bare_spans = 0

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_tools"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _tools={})

    def emptied(self) -> Replay:
        """Return a replay without counts, with the same decoders."""
        made = Replay([])
        made._tools = self._tools
        made.tools = {name: ToolCounts() for name in self._tools}
        return made

    def merge(self, later: Replay) -> None:
        """Add the counts of a later part of the log, from the same tools."""
        for name, counts in later.tools.items():
            self.tools.setdefault(name, ToolCounts()).merge(counts)
        self.unknown.merge(later.unknown)
        self.unreadable_count += later.unreadable_count
        self.bare_spans += later.bare_spans
        self.broken += later.broken[: _MOST_PLACES - len(self.broken)]
        self.unreadable += later.unreadable[: _MOST_PLACES - len(self.unreadable)]

    @property
    def calls(self) -> int:
        """The number of all calls, also of unknown tools."""
        return sum(counts.calls for counts in self.tools.values()) + self._unknown_calls

    @property
    def _unknown_calls(self) -> int:
        return self.unknown.total() + self.unknown.others

    @property
    def redacted(self) -> int:
        """The number of calls with an unknown outcome."""
        return sum(counts.redacted for counts in self.tools.values())

    @property
    def fails(self) -> int:
        """The number of calls that fail, also of unknown tools."""
        return sum(counts.fails for counts in self.tools.values()) + self._unknown_calls

    def add(self, call: RecordedCall, *, finite: bool = False) -> ReplayedOutcome:
        """Count a call; return its outcome.

        Args:
            call: a call with arguments as they were recorded.
            finite: whether all their numbers are known to be finite.
        """
        both = self._tools.get(call.name)
        if both is None:
            self.unknown.add(call.name)
            return _UNKNOWN
        counts = self.tools[call.name]
        codec = both[0].codec
        if not finite and not is_finite(call.arguments):
            call = call._replace(
                arguments=json.dumps(call.arguments)
            )  # as text, which is refused in the same way as in the call
        arguments = call.arguments
        try:
            is_text = isinstance(arguments, str)
            if codec.fits_exactly(codec.read_json(arguments) if is_text else arguments):
                counts.fits += 1
                return _FITS
            report = codec.decode_json_report(arguments) if is_text else codec.decode_report(arguments)
        except DecodeError as error:
            return self._add_fault(counts, both, call, error)
        counts.fits += 1
        if not report.findings:
            return _FITS
        ignored = tuple(dict.fromkeys(show_place(each.path) for each in report.ignored))
        for key in ignored:
            counts.ignored.add(key)
        return ReplayedOutcome("fits", ignored=ignored)

    def add_unreadable(self, place: str, reason: str, *, is_broken: bool = False) -> None:
        """Count an unreadable part of a file.

        Args:
            place: the place of the part.
            reason: the reason why it can't be read.
            is_broken: whether the rest of the file can't be read either.
        """
        self.unreadable_count += 1
        places = self.broken if is_broken else self.unreadable
        if len(places) < _MOST_PLACES:
            places.append(f"{place}: {reason}")

    def _add_fault(
        self, counts: ToolCounts, both: _Both, call: RecordedCall, error: DecodeError
    ) -> ReplayedOutcome:
        findings = without_redacted(error.findings, call.arguments)
        if not findings:
            counts.redacted += 1
            return _REDACTED
        faults = tuple(dict.fromkeys(fault_key(finding) for finding in findings))
        tool, repairing = both
        try:
            report = repairing.decode_report(call.arguments)
        except DecodeError:
            counts.fails += 1
            outcome = ReplayedOutcome("fails", faults)
        else:
            counts.repaired += 1
            codes = tuple(repair.code for repair in report.repairs)
            counts.repairs.update(codes)
            ignored = tuple(dict.fromkeys(show_place(each.path) for each in report.ignored))
            outcome = ReplayedOutcome("repaired", faults, codes, ignored)
        for fault in faults:
            left_out = counts.faults.add(fault)
            if left_out is not None:
                counts.examples.pop(left_out, None)
            if fault in counts.faults and fault not in counts.examples:
                sent = call.arguments if isinstance(call.arguments, str) else to_json_text(call.arguments)
                text = _text_for_model(error, tool, call.arguments)
                counts.examples[fault] = Example(clip(sent, _EXAMPLE_LENGTH), clip(text, _TEXT_LENGTH))
        return outcome

    def as_dict(self) -> dict[str, Any]:
        """Return the whole report as JSON values."""
        places = [*self.broken, *self.unreadable][:_MOST_PLACES]
        return {
            "calls": self.calls,
            "tools": {name: counts.as_dict() for name, counts in sorted(self.tools.items())},
            "unknown": _with_others(self.unknown),
            "unreadable": {
                "count": self.unreadable_count,
                "first": places,
            },
        }


def _text_for_model(error: DecodeError, tool: Tool[..., Any], arguments: Any) -> str:
    """Return the text for a model about arguments that don't fit; the tool adds more than its codec."""
    try:
        tool.decode(arguments)
    except DecodeError as with_hint:
        return str(with_hint)
    return str(error)  # the check of a class may refuse a value once and then accept it


# --- one part of a log ---------------------------------------------------------------------------


class CallRow(NamedTuple):
    """The outcome of one call, or of an unreadable line.

    Attributes:
        source: the log.
        line: its number, from 1; 0 if the log is one value.
        tool: the name in the call; None for an unreadable line.
        outcome: `fits`, `repaired`, `fails`, `redacted`, `unknown` or `unreadable`.
        codes: the faults of the call without repairs.
        paths: the places of these faults, in the same order.
        repairs: the kinds of repairs that it needs.
        ignored: its unknown keys, which are ignored.
        reason: the reason why the line can't be read, or None.
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
    """The counts of one part of a log.

    Attributes:
        found: the counts for the present tools.
        before: the counts for the old tools; then `found` counts only calls that fit these.
        rows: a row for each call, if requested.
    """

    found: Replay
    before: Replay | None
    rows: list[CallRow]

    def merge(self, later: PartReport) -> None:
        """Add the counts of the next part; rows aren't collected."""
        self.found.merge(later.found)
        if self.before is not None and later.before is not None:
            self.before.merge(later.before)


class ReplayWork(Value):
    """Replays one part of a log; can be pickled if its attributes can.

    Attributes:
        tools: a function that returns the present tools; called once in a process.
        old: a function that returns the old tools: only calls that fit them are counted. None to count every
            call.
        with_rows: whether the report has a row for each call.
        run: a text that no other run has. So processes that outlive a run don't reuse its tools for the next
            one.
    """

    tools: Callable[[], Sequence[Tool[..., Any]]]
    old: Callable[[], Sequence[Tool[..., Any]]] | None
    with_rows: bool
    run: str

    def empty(self) -> PartReport:
        """Return the report without calls."""
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
        report.found.add_unreadable(part.place(line), reason, is_broken=True)
        if self.with_rows:
            report.rows.append(CallRow(part.log, line, None, "unreadable", reason=reason))
        return report

    def _rows(self, part: Part, report: PartReport) -> Iterator[CallRow]:
        """Count the calls of a part; yield a row for each."""
        found, before, _ = report
        for line, record, finite in records_of(part):
            if isinstance(record, Unreadable):
                is_broken = part.kind == "unreadable"
                found.add_unreadable(part.place(record.line), record.reason, is_broken=is_broken)
                yield CallRow(part.log, record.line, None, "unreadable", reason=record.reason)
                continue
            calls = calls_in(record)
            for call in calls:
                if before is not None and not before.add(call, finite=finite).may_fit:
                    continue
                kind, faults, repairs, ignored = found.add(call, finite=finite)
                if self.with_rows:
                    codes, paths = tuple(each.code for each in faults), tuple(each.path for each in faults)
                    yield CallRow(part.log, line, call.name, kind, codes, paths, repairs, ignored)
            if not calls:
                found.bare_spans += count_bare_spans(record)


@lru_cache(2)
def _replay(tools: Callable[[], Sequence[Tool[..., Any]]], run: str) -> Replay:  # noqa: ARG001  # part of the key
    """Return the decoder for tools: each process creates it once, so that it stays compiled."""
    return Replay(tools())
