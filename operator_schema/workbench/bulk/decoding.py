"""Decode logs of any length into typed columns."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

from ... import rounds
from ...engine import Codec, codec_of
from ...errors import DecodeError, EncodeError
from ...immutable import Value
from ...json_values import without_surrogates
from ...message_text import checked_path, show_path
from ...recordings import Unreadable, logs_in, parts_of, records_of
from ...tools import Tool
from ..compare.parallel_engines import Lost, make_engine
from ..compare.recorded_calls import calls_in
from .columns import NOT_HELD, Columns, columns_of, import_arrow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    import pyarrow as pa

    from ...recordings import Part

__all__ = ["DecodedBatch", "decode_lines"]

_BATCH_ROWS: Final = 10_000


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
        TypeError: a path isn't a path.
    """
    tools = _tools_of(subject)
    work = _Work(
        subject if tools is None else tools, tools is not None, repair, json_text, decimals, uuid4().hex
    )
    work.decoders()  # raises errors in the subject before anything is read
    paths = source if isinstance(source, Iterable) and not isinstance(source, str) else [source]
    files = logs_in([checked_path("the path of a log", path) for path in paths])
    runner = make_engine(engine, workers, scheduler)
    return _batches(work, files, runner)


def _batches(work: _Work, files: list[str], runner: Any) -> Iterator[DecodedBatch]:
    for part, result in runner.map(work, (part for file in files for part in parts_of(file))):
        if isinstance(result, Lost):
            yield work.lost(part, result)
        else:
            yield from result


def _tools_of(subject: Any) -> tuple[Tool[..., Any], ...] | None:
    """Return the tools of a subject; None if it is a type."""
    if isinstance(subject, Tool):
        return (subject,)  # pyright: ignore[reportUnknownVariableType]  # of any tool
    if isinstance(subject, (rounds.Toolset, rounds.Registry)):
        return tuple(subject)
    if isinstance(subject, (list, tuple)) and subject and all(isinstance(each, Tool) for each in subject):
        unlike: dict[Tool[..., Any], None] = dict.fromkeys(subject)
        rounds.Toolset(*unlike)  # raises if two have one name
        return tuple(unlike)
    return None


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
        decode: a function that returns an instance.
        encode: a function that writes an instance as JSON values.
        columns: the columns for the values.
    """

    decode: Any
    encode: Any
    columns: Columns


class _Work(Value):
    """Decodes one part of a log; can be pickled if its subject can.

    Attributes:
        subject: a type, or tools.
        has_tools: whether the subject is a collection of tools.
        repair: as for `decode_lines`.
        json_text: as for `decode_lines`.
        decimals: as for `decode_lines`.
        run: a text that is unique to this run, so that nothing is kept for the next one.
    """

    subject: Any
    has_tools: bool
    repair: bool
    json_text: bool
    decimals: tuple[int, int] | None
    run: str

    def decoders(self) -> dict[str | None, _ValueDecoder]:
        """Return the decoders by the name of the tool; they are made once in a process."""
        known = _known(self.run)
        if not known:
            subjects = {tool.name: tool for tool in self.subject} if self.has_tools else {None: self.subject}
            known.update({name: self._decoder(subject) for name, subject in subjects.items()})
        return known

    def _decoder(self, subject: Any) -> _ValueDecoder:
        columns = columns_of(subject, json_text=self.json_text, decimals=self.decimals)
        if isinstance(subject, Tool):
            codec: Any = subject.with_(repair=self.repair).codec
            return _ValueDecoder(_arguments_decoder(codec), codec.encode, columns)
        codec = subject if isinstance(subject, Codec) else codec_of(subject, repair=self.repair)
        return _ValueDecoder(codec.decode, codec.encode, columns)

    def __call__(self, part: Part) -> list[DecodedBatch]:
        """Return the batches of a part."""
        return list(self._batches(part))

    def lost(self, part: Part, lost: Lost) -> DecodedBatch:
        """Return the batch for a part that no process could read; it contains one problem."""
        problem = _Problem(part.log, part.first, "", "unreadable", f"this and what follows: {lost.reason}")
        return self._builder(None).with_problem(problem).taken()

    def _builder(self, name: str | None) -> _Builder:
        decoder = self.decoders().get(name)
        return _Builder(name, None if decoder is None else decoder.columns)

    def _batches(self, part: Part) -> Iterator[DecodedBatch]:
        builders: dict[str | None, _Builder] = {}
        decoders = self.decoders()
        for line, name, value in self._values(part):
            decoder = decoders.get(name)
            known = name if decoder is not None else None
            builder = builders.get(known) or builders.setdefault(known, self._builder(known))
            if isinstance(value, Unreadable):
                builder.with_problem(_Problem(part.log, line, "", "unreadable", value.reason))
            elif decoder is None:
                message = f"there is no tool {name}"
                builder.with_problem(_Problem(part.log, line, "", "unknown_tool", message))
            else:
                builder.add(part.log, line, value, decoder)
            if builder.is_full:
                yield from builder.batches()
        for builder in builders.values():
            yield from builder.batches()

    def _values(self, part: Part) -> Iterator[tuple[int, str | None, Any]]:
        """Yield line, name of the tool, and value."""
        for line, record, _ in records_of(part):
            if isinstance(record, Unreadable):
                yield record.line, None, record
            elif not self.has_tools:
                yield line, None, record
            else:
                is_empty = True
                for call in calls_in(record):
                    is_empty = False
                    yield line, call.name, call.arguments
                if is_empty:
                    yield line, None, Unreadable(line, "there is no call in it")


def _arguments_decoder(codec: Codec[Any]) -> Callable[[Any], Any]:
    """Return a function that decodes the arguments of a call, which may be recorded as text."""

    def decode(arguments: Any) -> Any:
        return codec.decode_json(arguments) if isinstance(arguments, str) else codec.decode(arguments)

    return decode


@lru_cache(2)
def _known(run: str) -> dict[str | None, _ValueDecoder]:  # noqa: ARG001  # the key
    """Return the cache of the decoders of a run."""
    return {}


class _Builder:
    """Collects rows and problems until there are enough for a batch."""

    def __init__(self, tool: str | None, columns: Columns | None) -> None:
        self._tool = tool
        self._columns = columns
        self._rows: list[dict[str, Any]] = []
        self._places: list[tuple[str, int]] = []
        self._problems: list[_Problem] = []

    @property
    def is_full(self) -> bool:
        """Whether there are enough rows or problems for a batch."""
        return len(self._rows) >= _BATCH_ROWS or len(self._problems) >= _BATCH_ROWS

    def with_problem(self, problem: _Problem) -> _Builder:
        """Return the builder after adding a problem."""
        self._problems.append(problem)
        return self

    def add(self, source: str, line: int, value: Any, decoder: _ValueDecoder) -> None:
        """Decode a value, and add its row or its problems."""
        try:
            row = decoder.columns.row(decoder.encode(decoder.decode(value)))
        except (DecodeError, EncodeError) as error:
            self._problems += [
                _Problem(source, line, show_path(finding.path), finding.code, finding.message)
                for finding in error.findings
            ]
            if error.omitted:
                more = f"{error.omitted:,} more problems of this value"
                self._problems.append(_Problem(source, line, "", "omitted", more))
            return
        self._rows.append(row)
        self._places.append((source, line))

    def batches(self) -> Iterator[DecodedBatch]:
        """Yield a batch of the collected rows and problems, unless there are none."""
        if self._rows or self._problems:
            yield self.taken()

    def taken(self) -> DecodedBatch:
        """Return the collected batch, and start a new one."""
        rows = self._held()
        sources, lines = [place[0] for place in self._places], [place[1] for place in self._places]
        pa = import_arrow()
        name = pa.dictionary(pa.int32(), pa.string())
        places = pa.record_batch(
            [pa.array(sources, type=name), pa.array(lines, type=pa.int64())], names=["source", "line"]
        )
        types = [name, pa.int64(), pa.string(), name, pa.string()]
        columns = list(zip(*self._problems, strict=True)) or [()] * len(types)
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
        self._rows, self._places, self._problems = [], [], []
        return DecodedBatch(self._tool, rows, places, problems)

    def _held(self) -> Any:
        """Return the rows as columns; a row that doesn't fit its columns becomes a problem."""
        pa = import_arrow()
        if self._columns is None:
            return pa.record_batch([], schema=pa.schema([]))
        try:
            return self._columns.batch(self._rows)
        except NOT_HELD:
            pass
        kept = []
        for number, row in enumerate(self._rows):
            fault = self._columns.fault(row)
            if fault is None:
                kept.append(number)
            else:
                path, reason = fault
                source, line = self._places[number]
                self._problems.append(_Problem(source, line, show_path(path), "no_column", reason))
        self._rows = [self._rows[number] for number in kept]
        self._places = [self._places[number] for number in kept]
        return self._columns.batch(self._rows)
