"""The same output for a terminal, drawn by `rich`; nothing else imports that."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from rich.console import Console
from rich.highlighter import JSONHighlighter
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ..wording import escape
from .plain_output import OFFER_TITLES, Output, count, offer_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from .plain_output import Offer, Verdict

__all__ = ["ColourOutput"]


class ColourOutput(Output):
    """Write to a terminal in colour.

    Every text is given as `Text`, never as a string: brackets in it are no markup.

    Args:
        stream: a terminal; it stays open.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._console = Console(file=stream, soft_wrap=True, markup=False, emoji=False, highlight=False)

    def _write_json(self, text: str) -> None:
        shown = Text(text)
        JSONHighlighter().highlight(shown)
        self._console.print(shown)

    def write_line(self, text: str) -> None:
        """Write a text that is safe to print."""
        self._console.print(Text(text))

    def _write_report(self, place: str, head: str, rest: Sequence[str]) -> None:
        text = Text.assemble((place, "bold"), (head, "red"))
        for line in rest:
            text.append("\n")
            text.append(line, "" if line.lstrip().startswith("- ") else "dim")
        self._console.print(text)

    def write_verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """Write a table with one row a dataclass, and the complaints below it."""
        table = Table("", "Type", box=None)
        for title in ("Fields", "Bytes"):
            table.add_column(title, justify="right")
        for verdict in verdicts:
            mark = Text("bad", "bold red") if verdict.complaints else Text("ok", "green")
            fields = "" if verdict.fields is None else f"{verdict.fields:,}"
            size = f"{verdict.size:,}" if verdict.size else ""
            table.add_row(mark, Text(escape(verdict.name)), Text(fields), Text(size))
        self._console.print(table, soft_wrap=False)
        for verdict in verdicts:
            if verdict.complaints:
                head = f"{verdict.name}: {count(len(verdict.complaints), 'complaint')}"
                complaints = [f"  - {escape(str(complaint))}" for complaint in verdict.complaints]
                self._write_report("", escape(head), complaints)

    def write_offers(self, offers: Sequence[Offer]) -> None:
        """Write a table with one row a tool."""
        table = Table(box=None)
        for title in OFFER_TITLES:
            table.add_column(title, justify="right" if title in {"parameters", "bytes"} else "left")
        for offer in offers:
            name, *others = offer_cells(offer)
            table.add_row(Text(name, "bold"), *[Text(cell) for cell in others])
        self._console.print(table, soft_wrap=False)

    @contextmanager
    def progress(self, size: int | None) -> Generator[Callable[[int], None]]:
        """Draw a bar while the context lasts; it is gone afterwards.

        Args:
            size: bytes of the whole, or None where that is not known.

        Yields:
            What to call with the number of bytes done since the last call.
        """
        columns = (TextColumn("decoding"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        # What is printed to standard output is data: the bar must not draw it on its own stream.
        bar = Progress(*columns, console=self._console, transient=True, redirect_stdout=False)
        with bar:
            task = bar.add_task("", total=size)
            yield lambda done: bar.advance(task, done)
