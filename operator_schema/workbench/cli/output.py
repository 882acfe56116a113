"""How do commands print: the same text everywhere, with colours on a terminal?"""

from __future__ import annotations

import codecs
import json
import os
import re
import stat
from contextlib import contextmanager, suppress
from difflib import unified_diff
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

from ...message_text import escape, show_place

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from rich.console import Console
    from rich.progress import Progress

    from ...findings import Finding


_DIM = "dim"
_CHANGED = {"-": "red", "+": "green", " ": ""}
_COMMAND = re.compile(r"^(\s*)(:)(?=:)|()(#)(?=#(?:vso|teamcity)?\[)", re.IGNORECASE | re.MULTILINE)
_CI = ("GITHUB_ACTIONS", "TF_BUILD", "TEAMCITY_VERSION")
"""Environment variables of CI systems that read commands in the output."""


SEVERITY_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}
"""The style of `rich` for each severity."""


class Printer:
    """Write to a stream: plain text, or styled by `rich` on a terminal.

    Args:
        stream: a text stream; it stays open.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._encoding = stream.encoding or "utf-8"

    @property
    def is_terminal(self) -> bool:
        """Whether the output goes to a terminal."""
        return self._stream.isatty()

    @property
    def may_reach_terminal(self) -> bool:
        """Whether the output is a terminal, or a pipe whose reader may write to one, as `head` does."""
        if self.is_terminal:
            return True
        try:
            mode = os.fstat(self._stream.fileno()).st_mode
        except OSError:  # a stream without a file
            return False
        return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)

    @cached_property
    def console(self) -> Console | None:
        """The console that writes in colour; None for plain text."""
        forced = bool(os.environ.get("FORCE_COLOR"))
        if not (forced or self.is_terminal) or not _is_unicode(self._encoding):
            return None
        if os.environ.get("NO_COLOR") or (os.environ.get("TERM") == "dumb" and not forced):
            return None
        from rich.console import Console

        return Console(file=self._stream, soft_wrap=True, markup=False, emoji=False, highlight=False)

    def json(self, value: Any, indent: int | None = None) -> None:
        """Write a JSON value, on one line unless an indent is given."""
        text = without_commands(to_json(value, indent, ascii_only=not _is_unicode(self._encoding)))
        if self.console is None:
            self._write(text)
            return
        from rich.highlighter import JSONHighlighter

        self.console.print(JSONHighlighter()(text))

    def line(self, text: str, style: str = "") -> None:
        """Write one line, in a style of `rich` on a terminal. The text may contain any characters."""
        self.styled((text, style))

    def command(self, text: str) -> None:
        """Write a line that a CI system reads as a command. Other methods escape such lines."""
        self._write(text)

    def styled(self, *parts: tuple[str, str]) -> None:
        """Write one line of texts, each with its style. They may contain any characters."""
        self._write_parts([(escape(text), style) for text, style in parts])

    def _write_parts(self, parts: Sequence[tuple[str, str]]) -> None:
        """Write one line of texts that are safe to print."""
        plain = "".join([text for text, _ in parts])
        safe = without_commands(plain)
        if self.console is None:
            self._write(safe)
            return
        if safe != plain:  # a command may begin in one part and end in the next
            parts = [(safe, parts[0][1])]
        from rich.text import Text

        self.console.print(Text.assemble(*parts))

    def _write(self, text: str) -> None:
        self._stream.write(f"{text.encode(self._encoding, 'backslashreplace').decode(self._encoding)}\n")

    def report(self, place: str, report: str) -> None:
        """Write the text of an error; its further lines are indented if it has a place.

        Args:
            place: file and line of the value, such as `calls.jsonl:3: `; or empty.
            report: one line or more.
        """
        head, *rest = [escape(line) for line in report.split("\n")]
        indent = "  " if place else ""
        self.styled((escape(place), "bold"), (head, "red"))
        for line in rest:
            self.line(f"{indent}{line}", "" if line.lstrip().startswith("- ") else _DIM)

    def table(self, titles: Sequence[str], rows: Sequence[Sequence[str]], numbers: frozenset[str]) -> None:
        """Write rows under titles.

        Args:
            titles: the titles of the columns.
            rows: the cells, which may contain any characters.
            numbers: the titles whose columns are aligned to the right.
        """
        rows = [[escape(cell) for cell in row] for row in rows]
        widths = [max(len(row[column]) for row in (titles, *rows)) for column in range(len(titles))]
        for row in (titles, *rows):
            cells = [
                cell.rjust(width) if title in numbers else cell.ljust(width)
                for title, cell, width in zip(titles, row, widths, strict=True)
            ]
            name, others = cells[0], "  ".join(cells[1:]).rstrip()
            self.styled((f"{name}  ", "bold"), (others, _DIM if row is titles else ""))

    def text(self, text: str) -> None:
        """Write lines that may contain any characters."""
        for line in text.removesuffix("\n").split("\n"):
            self._write_parts([("\t".join([escape(part) for part in line.split("\t")]), "")])

    def changes(self, before: str, after: str) -> None:
        """Write the changed lines of a text, with `-` and `+` before them."""
        found = unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
        for line in list(found)[2:]:  # without the names of two files
            if not line.startswith("@@"):
                self.changed(line[:1], escape(line[1:]))

    def changed(self, mark: str, text: str) -> None:
        """Write a line with a mark before it: `-` for removed, `+` for added, a space for unchanged."""
        self.line(f"{mark}{text}", _CHANGED[mark])

    def flush(self) -> None:
        """Flush the buffer of the stream."""
        self._stream.flush()

    @contextmanager
    def progress(
        self, size: int | None, doing: str = "decoding", *, counts_bytes: bool = True
    ) -> Generator[Callable[[int], None]]:
        """Draw a progress bar while the context lasts, if the output is a terminal; it disappears afterwards.

        Args:
            size: the total number of bytes, or None if it isn't known.
            doing: the text of the bar.
            counts_bytes: whether `size` is in bytes; otherwise it is a number of items.

        Yields:
            A function to call with the number of bytes, or items, since the last call.
        """
        if self.console is None:
            yield lambda _: None
            return
        columns = ("DownloadColumn" if counts_bytes else "MofNCompleteColumn", "TimeRemainingColumn")
        with _bar(self.console, doing, columns) as bar:
            task = bar.add_task("", total=size)
            yield lambda done: bar.advance(task, done)

    @contextmanager
    def steps(self) -> Generator[Callable[[str, int, int], None]]:
        """While the context lasts, show the current task, if the output is a terminal; it disappears then.

        Yields:
            A function to call with the current task, how many of its steps are done, and how many there are.
        """
        if self.console is None:
            yield lambda _doing, _done, _total: None
            return
        columns = ("MofNCompleteColumn", "TimeElapsedColumn")
        with _bar(self.console, "{task.description}", columns) as bar:
            task = bar.add_task("", total=None)
            yield lambda doing, done, total: bar.update(
                task, description=escape(doing), completed=done, total=total
            )


@contextmanager
def _bar(console: Console, doing: str, columns: Sequence[str]) -> Generator[Progress]:
    """Draw a bar after a text, and columns of `rich.progress` after it."""
    from rich import progress

    behind = [getattr(progress, column)() for column in columns]
    # Standard output is data: the bar must not redirect it to its own stream.
    begun = (progress.TextColumn(doing), progress.BarColumn())
    bar = progress.Progress(*begun, *behind, console=console, transient=True, redirect_stdout=False)
    bar.start()
    try:
        yield bar
    finally:
        with suppress(OSError):  # the terminal may have been closed
            bar.stop()


def without_commands(text: str) -> str:
    """Escape the first character of each command for a CI system, as in JSON.

    GitHub Actions, Azure Pipelines and TeamCity read commands in everything that a program prints: after `##`
    anywhere in a line, or `::` at its start.
    Source: https://docs.github.com/actions/reference/workflow-commands-for-github-actions,
    https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands,
    https://www.jetbrains.com/help/teamcity/service-messages.html
    """
    if not any(os.environ.get(name) for name in _CI):
        return text
    return _COMMAND.sub(lambda found: f"{found[1] or ''}\\u{ord(found[2] or found[4]):04x}", text)


def to_json(value: Any, indent: int | None = None, *, ascii_only: bool = False) -> str:
    """Write a JSON value. Control characters, which could be commands for a terminal, are escaped.

    Args:
        value: a JSON value.
        indent: the number of spaces per level; None for one line without spaces.
        ascii_only: whether to escape all characters outside ASCII.

    Returns:
        JSON text.
    """
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent, separators=separators)
    return "\n".join([escape(line) for line in text.split("\n")])


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 field`, `1,164 values`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def subject_of(finding: Finding) -> str:
    """Return the tool or type of a finding, with the path in it."""
    name, path = finding.tool or finding.type or "", show_place(finding.path)
    return f"{name}.{path}".replace(".[", "[").strip(".") or "all tools"


def text_of(finding: Finding) -> str:
    """Write the problem and the remedy, each as a sentence."""
    stop = "" if finding.message.endswith(("?", ".")) else "."
    hint = f" Did you mean {finding.suggestion}?" if finding.suggestion else ""
    remedy = f" {finding.remedy}." if finding.remedy else ""
    return f"{finding.message}{stop}{hint}{remedy}"


def _is_unicode(encoding: str) -> bool:
    return codecs.lookup(encoding).name.startswith("utf")
