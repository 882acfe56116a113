"""What is written to a stream, as plain text."""

from __future__ import annotations

import codecs
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from ..wording import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from ..errors import Complaint

__all__ = ["OFFER_TITLES", "Offer", "Output", "Verdict", "count", "is_unicode", "offer_cells", "to_json"]


class Verdict(NamedTuple):
    """What the registration of one dataclass gave.

    Attributes:
        name: of the dataclass, with those that it is nested in.
        fields: number of its fields; None where a leaf or complaints stand in their place.
        size: bytes of its schema on one line; 0 where there are complaints.
        complaints: everything that is wrong with it.
    """

    name: str
    fields: int | None
    size: int
    complaints: tuple[Complaint, ...]


class Offer(NamedTuple):
    """One tool, as the table of tools shows it.

    Attributes:
        name: of the tool.
        kind: how it is called: `async`, `sync`, or `input` where there is no function.
        parameters: number of its parameters.
        size: bytes of its definition on one line.
        summary: the first sentence of its documentation.
    """

    name: str
    kind: str
    parameters: int
    size: int
    summary: str


class Output:
    """Write plain text to a stream.

    Args:
        stream: where to; it stays open.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._encoding = stream.encoding or "utf-8"

    @property
    def is_terminal(self) -> bool:
        """Whether somebody is looking."""
        return self._stream.isatty()

    def write_json(self, value: Any, indent: int | None = None) -> None:
        """Write a JSON value, on one line unless an indent is given."""
        self._write_json(to_json(value, indent, ascii_only=not is_unicode(self._encoding)))

    def _write_json(self, text: str) -> None:
        self.write_line(text)

    def write_line(self, text: str) -> None:
        """Write a text that is safe to print."""
        safe = text.encode(self._encoding, "backslashreplace").decode(self._encoding)
        self._stream.write(f"{safe}\n")

    def write_report(self, place: str, report: str) -> None:
        """Write the text of an error, its further lines indented when it has a place.

        Args:
            place: where it was found, such as `calls.jsonl:3: `; or empty.
            report: one line or more.
        """
        head, *rest = [escape(line) for line in report.split("\n")]
        indent = "  " if place else ""
        self._write_report(escape(place), head, [f"{indent}{line}" for line in rest])

    def _write_report(self, place: str, head: str, rest: Sequence[str]) -> None:
        self.write_line(place + head)
        for line in rest:
            self.write_line(line)

    def write_verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """Write one line a dataclass, with its complaints below it."""
        for verdict in verdicts:
            if not verdict.complaints:
                size = count(verdict.size, "byte")
                shown = size if verdict.fields is None else f"{count(verdict.fields, 'field')}, {size}"
                self.write_line(f"ok  {escape(verdict.name)}  ({shown})")
                continue
            self.write_line(f"bad {escape(verdict.name)}  ({count(len(verdict.complaints), 'complaint')})")
            for complaint in verdict.complaints:
                self.write_line(f"    - {escape(str(complaint))}")

    def write_offers(self, offers: Sequence[Offer]) -> None:
        """Write a table with one line a tool."""
        rows = [OFFER_TITLES, *[offer_cells(offer) for offer in offers]]
        widths = [max([len(row[column]) for row in rows]) for column in range(4)]
        for name, kind, parameters, size, summary in rows:
            cells = (name.ljust(widths[0]), kind.ljust(widths[1]))
            numbers = (parameters.rjust(widths[2]), size.rjust(widths[3]))
            self.write_line("  ".join([*cells, *numbers, summary]))

    def write_text(self, text: str) -> None:
        """Write lines that may hold anything."""
        for line in text.removesuffix("\n").split("\n"):
            self.write_line("\t".join([escape(part) for part in line.split("\t")]))

    def flush(self) -> None:
        """Write out what is buffered."""
        self._stream.flush()

    @contextmanager
    def progress(self, size: int | None) -> Generator[Callable[[int], None]]:  # noqa: ARG002  # for those who draw it
        """Show how far the work is while the context lasts.

        Args:
            size: bytes of the whole, or None where that is not known.

        Yields:
            What to call with the number of bytes done since the last call.
        """
        yield lambda _: None


OFFER_TITLES = ("tool", "kind", "parameters", "bytes", "summary")


def offer_cells(offer: Offer) -> tuple[str, str, str, str, str]:
    """Return what the table shows of a tool."""
    summary = escape(offer.summary.partition("\n")[0])
    return offer.name, offer.kind, f"{offer.parameters:,}", f"{offer.size:,}", summary


def to_json(value: Any, indent: int | None = None, *, ascii_only: bool = False) -> str:
    """Write a JSON value, with everything escaped that a terminal could take for a command.

    Args:
        value: what JSON can hold.
        indent: spaces a level; one line without a space when None.
        ascii_only: whether to escape all that is not ASCII.

    Returns:
        JSON text.
    """
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent, separators=separators)
    return "\n".join([escape(line) for line in text.split("\n")])


def count(number: int, noun: str) -> str:
    """Say how many there are: `1 field`, `1,164 values`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def is_unicode(encoding: str) -> bool:
    """Say whether an encoding has every character."""
    return codecs.lookup(encoding).name.startswith("utf")
