"""Decode logs of any length into typed columns."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

from ... import rounds
from ...engine import Codec, codec_of
from ...errors import DecodeError, EncodeError
from ...immutable import Value
from ...json_values import without_surrogates
from ...message_text import checked_path, show_path
from ...recordings import Unreadable, logs_in, parts_of, records_of
from ...tools import Tool, tools_of
from ..compare.parallel_engines import Lost, make_engine
from ..compare.recorded_calls import calls_in
from .columns import NOT_HELD, Columns, columns_of, import_arrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    import pyarrow as pa

    from ...recordings import Part

_BATCH_ROWS: Final = 10_000
_ROWS_AT_ONCE: Final = 500
"""Rows that become columns at once: more of them would be many objects for the garbage collector."""


class DecodedBatch(NamedTuple):
    """Decoded values, and the problems of values that don't fit.

    Attributes:
        tool: the name of the tool whose arguments the rows contain. None if no tools were given; also for
            unreadable lines and calls of unknown tools, which have no rows.
        rows: the values, in the columns of `arrow_schema`.
        places: `source` and `line` of each row.
        problems: `source`, `line`, `path`, `code` and `message` of each problem; a line may have several.
    """

    tool: str | None
    rows: pa.RecordBatch
    places: pa.RecordBatch
    problems: pa.RecordBatch


def decode_lines(
    subject: Any,
    source: str | PathLike[str] | Iterable[str | PathLike[str]],
    /,
    *,
    repair: bool = False,
    json_text: bool = False,
    decimals: tuple[int, int] | None = None,
    engine: str = "plain",
    workers: int = 1,
    scheduler: str | None = None,
) -> Iterator[DecodedBatch]:
    """Decode files of any length; the memory used doesn't depend on their length.

    No line is lost: each line gives a row or a problem. The code of an unreadable line is `unreadable`, of a
    call of another tool `unknown_tool`, and of a value that doesn't fit its column, such as an integer of
    more than 64 bits, `no_column`.

    Args:
        subject: a type, if each line is a value of it; or a tool, a list of tools, a toolset or a registry,
            whose calls are found in each line in any form of recording.
        source: path or paths of files: JSON lines or one JSON value, maybe compressed with gzip or zstd,
            Parquet, or a store of rounds. `*` in a path stands for any text.
        repair: whether to correct a value if only one meaning is possible; a codec has its own option.
        json_text: as for `arrow_schema`.
        decimals: as for `arrow_schema`.
        engine: `plain`, `dask` or `ray`. With several processes, the type or the tools must be importable.
        workers: the number of processes, 1 to 10,000.
        scheduler: the address of a running cluster of dask or ray.

    Yields:
        Batches in the order of the lines, of at most 10,000 rows each; the same with every engine.

    Raises:
        ColumnError: parts of the type have no columns in Arrow; the error lists all of them.
        DuplicateToolError: two different tools have the same name.
        EngineError: there is no such engine or number of workers, or the engine can't run.
        ImportError: pyarrow isn't installed.
        LogError: a file can't be opened.
        SchemaError: the type has complaints; the error lists all of them.
        TypeError: a path isn't a path, or there is no tool, or something in a list of tools isn't one.
    """
    tools = _tools_of(subject)
    work = _Work(
        subject if tools is None else tools, tools is not None, repair, json_text, decimals, uuid4().hex
    )
    _decoders_of(work)  # raises errors in the subject before anything is read
    is_one = isinstance(source, str) or hasattr(source, "read")  # an open file would give its lines as paths
    paths = source if isinstance(source, Iterable) and not is_one else [source]
    files = logs_in([checked_path("the path of a log", path) for path in paths])
    runner = make_engine(engine, workers, scheduler)
    return _batches(work, files, runner)


def _batches(work: _Work, files: list[str], runner: Any) -> Iterator[DecodedBatch]:
    for part, result in runner.map(work, (part for file in files for part in parts_of(file))):
        if isinstance(result, Lost):
            yield work.lost(part, result)
        else:
            yield from result


_COLLECTIONS: Final = (list, tuple, set, frozenset, dict, rounds.Toolset, rounds.Registry)
"""The classes of collections of tools; not all iterables, because annotations such as `list[int]` are too."""


def _tools_of(subject: Any) -> tuple[Tool[..., Any], ...] | None:
    """Return the tools of a subject; None if it is a type."""
    if isinstance(subject, Tool):
        return (subject,)  # pyright: ignore[reportUnknownVariableType]  # of any tool
    if not isinstance(subject, _COLLECTIONS):
        return None
    tools = tuple(dict.fromkeys(tools_of(subject)))
    if not tools:
        kind = type(subject).__name__.lower()
        message = f"the {kind} has no tools: decode_lines needs a type, or at least one tool"
        raise TypeError(message)
    rounds.Toolset(*tools)  # raises if two have one name
    return tools


class _Problem(NamedTuple):
    """One row of the problems."""

    source: str
    line: int
    path: str
    code: str
    message: str


class _ValueDecoder(NamedTuple):
    """Decodes the values of a type, or the arguments of a tool.

    Attributes:
        row: a function that decodes a value, and returns it in the form for `columns`.
        columns: the columns for the values.
    """

    row: Callable[[Any], dict[str, Any]]
    columns: Columns


class _Work(Value):
    """Decodes one part of a log; can be pickled if its subject can.

    Attributes:
        subject: a type, or tools.
        has_tools: whether the subject is a collection of tools.
        repair: as for `decode_lines`.
        json_text: as for `decode_lines`.
        decimals: as for `decode_lines`.
        run: a text that is unique to this run; two works of one run are equal.
    """

    subject: Any
    has_tools: bool
    repair: bool
    json_text: bool
    decimals: tuple[int, int] | None
    run: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Work) and self.run == other.run

    def __hash__(self) -> int:
        return hash(self.run)

    def __call__(self, part: Part) -> list[DecodedBatch]:
        """Return the batches of a part."""
        return list(self._batches(part))

    def lost(self, part: Part, lost: Lost) -> DecodedBatch:
        """Return the batch for a part that no process could read; it contains one problem."""
        batch = _Batch(part.log, None, _decoders_of(self).get(None))
        batch.add_problem(part.first, "unreadable", f"this and what follows: {lost.reason}")
        return batch.taken()

    def _batches(self, part: Part) -> Iterator[DecodedBatch]:
        batches: dict[str | None, _Batch] = {}
        for line, record, _ in records_of(part):
            for name, value in self._values_in(line, record):
                batch = batches.get(name) or self._batch_of(name, part, batches)
                batch.add(line, name, value)
                if batch.is_full:
                    yield batch.taken()
        for batch in batches.values():
            if not batch.is_empty:
                yield batch.taken()

    def _values_in(self, line: int, record: Any) -> Sequence[tuple[str | None, Any]]:
        """Return the values in a record, each with the name of its tool."""
        if not self.has_tools or isinstance(record, Unreadable):
            return ((None, record),)
        return calls_in(record) or ((None, Unreadable(line, "there is no call in it")),)

    def _batch_of(self, name: str | None, part: Part, batches: dict[str | None, _Batch]) -> _Batch:
        """Return the batch for values with a name; there is one for all names that no tool has."""
        decoders = _decoders_of(self)
        known = name if name in decoders else None
        if known not in batches:
            batches[known] = _Batch(part.log, known, decoders.get(known))
        return batches[known]


@lru_cache(2)
def _decoders_of(work: _Work) -> dict[str | None, _ValueDecoder]:
    """Return the decoders by the name of the tool; each process makes them once."""
    if not work.has_tools:
        return {None: _decoder_of(work.subject, work)}
    return {tool.name: _decoder_of(tool, work) for tool in work.subject}


def _decoder_of(subject: Any, work: _Work) -> _ValueDecoder:
    columns = columns_of(subject, json_text=work.json_text, decimals=work.decimals)
    if isinstance(subject, Tool):
        codec: Any = subject.with_(repair=work.repair).codec
        return _ValueDecoder(_row_of_call(codec, columns), columns)
    codec = subject if isinstance(subject, Codec) else codec_of(subject, repair=work.repair)
    return _ValueDecoder(lambda value: columns.row(codec.encode(codec.decode(value))), columns)


def _row_of_call(codec: Codec[Any], columns: Columns) -> Callable[[Any], dict[str, Any]]:
    """Return a function that makes a row of the arguments of a call, which may be recorded as text."""

    def row(arguments: Any) -> dict[str, Any]:
        decoded = codec.decode_json(arguments) if isinstance(arguments, str) else codec.decode(arguments)
        return columns.row(codec.encode(decoded))

    return row


class _Batch:
    """Collects rows and problems until there are enough for a batch.

    Args:
        source: the log.
        tool: the name of the tool.
        decoder: the decoder of its calls; None if there are only problems.

    Attributes:
        is_full: whether there are enough rows or problems for a batch.
    """

    def __init__(self, source: str, tool: str | None, decoder: _ValueDecoder | None) -> None:
        self._source = source
        self._tool = tool
        self._row = None if decoder is None else decoder.row
        self._columns = None if decoder is None else decoder.columns
        self._begin()

    def _begin(self) -> None:
        self.is_full = False
        self._rows: list[dict[str, Any]] = []
        self._row_lines: list[int] = []
        self._stored: list[Any] = []
        self._lines: list[int] = []
        self._problems: list[_Problem] = []
        self._not_held: list[_Problem] = []

    @property
    def is_empty(self) -> bool:
        """Whether there are neither rows nor problems."""
        return not (self._rows or self._stored or self._problems)

    def add(self, line: int, name: str | None, value: Any) -> None:
        """Decode a value, and add its row or its problems."""
        if isinstance(value, Unreadable):
            self.add_problem(line, "unreadable", value.reason)
        elif self._row is None:
            self.add_problem(line, "unknown_tool", f"there is no tool {name}")
        else:
            try:
                self._rows.append(self._row(value))
            except (DecodeError, EncodeError) as error:
                self._add_findings(line, error)
            else:
                self._row_lines.append(line)
                if len(self._rows) >= _ROWS_AT_ONCE:
                    self._store()

    def add_problem(self, line: int, code: str, message: str, path: tuple[str | int, ...] = ()) -> None:
        """Add a problem of a line."""
        self._problems.append(_Problem(self._source, line, show_path(path), code, message))
        self.is_full = self.is_full or len(self._problems) >= _BATCH_ROWS

    def _add_findings(self, line: int, error: DecodeError | EncodeError) -> None:
        for finding in error.findings:
            self.add_problem(line, finding.code, finding.message, finding.path)
        if error.omitted:
            self.add_problem(line, "omitted", f"{error.omitted:,} more problems of this value")

    def taken(self) -> DecodedBatch:
        """Return the collected batch, and start a new one."""
        pa = import_arrow()
        self._store()
        rows = pa.record_batch([], schema=pa.schema([]))
        if self._columns is not None:
            rows = self._columns.batch(self._stored)
        name = pa.dictionary(pa.int32(), pa.string())
        sources = pa.array([self._source] * len(self._lines), type=name)
        places = pa.record_batch([sources, pa.array(self._lines, type=pa.int64())], names=["source", "line"])
        types = [name, pa.int64(), pa.string(), name, pa.string()]
        columns = list(zip(*self._problems, *self._not_held, strict=True)) or [()] * len(types)
        problems = pa.record_batch(
            [
                pa.array(
                    [without_surrogates(each) if isinstance(each, str) else each for each in column],
                    type=kind,
                )
                for column, kind in zip(columns, types, strict=True)
            ],
            names=_Problem._fields,
        )
        self._begin()
        return DecodedBatch(self._tool, rows, places, problems)

    def _store(self) -> None:
        """Turn the last rows into columns; a row that doesn't fit its columns becomes a problem."""
        columns, rows, lines = self._columns, self._rows, self._row_lines
        self._rows, self._row_lines = [], []
        if columns is None or not rows:
            return
        try:
            self._stored.append(columns.stored(rows))
        except NOT_HELD:
            faults = [columns.fault(row) for row in rows]
            for line, fault in zip(lines, faults, strict=True):
                if fault is not None:
                    path, reason = fault
                    self._not_held.append(_Problem(self._source, line, show_path(path), "no_column", reason))
            fits = [fault is None for fault in faults]
            self._stored.append(columns.stored([*compress(rows, fits)]))
            lines = [*compress(lines, fits)]
        self._lines += lines
        self.is_full = self.is_full or len(self._lines) + len(self._not_held) >= _BATCH_ROWS
