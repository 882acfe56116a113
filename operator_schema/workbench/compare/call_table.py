"""How is a table of calls written, so that an interrupted run leaves no incomplete file?"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from ...files import replacement, resolved
from ...json_values import without_surrogates
from .replay import CallRow

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from pathlib import Path

_ROW_GROUP: Final = 100_000


class TableError(Exception):
    """A table can't be written; the message says why, and gives a remedy."""


@contextmanager
def call_table(file: str) -> Generator[Callable[[Sequence[CallRow]], None]]:
    """Write a Parquet file of calls, which replaces the file when the context ends.

    The file is first written under another name beside its place; if an exception ends the context, it is
    deleted.

    Args:
        file: the path of the file.

    Yields:
        A function that adds rows.

    Raises:
        TableError: pyarrow isn't installed, the file can't be written, or the disk is full.
    """
    try:
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        message = "to write Parquet, install the extra: pip install 'operator-schema[arrow]'"
        raise TableError(message) from None
    path = cast("Path", _write_or_explain(file, lambda: resolved(file)))
    if path.is_dir():
        message = f"{file} is a folder: give a file, such as calls.parquet"
        raise TableError(message)
    schema = _schema()
    rows: list[CallRow] = []

    def add(more: Sequence[CallRow]) -> None:
        rows.extend(more)
        while len(rows) >= _ROW_GROUP:
            _write_or_explain(file, lambda: writer.write_batch(_batch(rows[:_ROW_GROUP], schema)))
            del rows[:_ROW_GROUP]

    def finish() -> None:
        if rows:
            writer.write_batch(_batch(rows, schema))
        writer.close()

    with ExitStack() as stack:
        made = _write_or_explain(file, lambda: stack.enter_context(replacement(path)))
        writer: Any = _write_or_explain(file, lambda: parquet.ParquetWriter(made, schema, compression="zstd"))
        try:
            yield add
            _write_or_explain(file, finish)
        except BaseException:  # also after an interrupt: it is closed before it is deleted
            with suppress(OSError):  # the disk may still be full
                writer.close()
            raise
        _write_or_explain(file, stack.close)


def _write_or_explain(file: str, write: Callable[[], Any]) -> Any:
    try:
        return write()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        message = f"{file} can't be written: {reason}; nothing of it was kept"
        raise TableError(message) from None


def _schema() -> Any:
    pa: Any = import_module("pyarrow")
    name, names = pa.dictionary(pa.int32(), pa.string()), pa.list_(pa.string())
    types = {"line": pa.int64(), "reason": pa.string(), "source": name, "tool": name, "outcome": name}
    return pa.schema([(column, types.get(column, names)) for column in CallRow._fields])


def _batch(rows: Sequence[CallRow], schema: Any) -> Any:
    pa: Any = import_module("pyarrow")
    columns = [
        pa.array([_writable(value) for value in column], type=field.type)
        for column, field in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return pa.record_batch(columns, schema=schema)


def _writable(value: str | int | tuple[str, ...] | None) -> Any:
    """Return a value without lone surrogates, which UTF-8 can't write."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, tuple):
        return [without_surrogates(each) for each in value]
    return value
