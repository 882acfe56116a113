"""How is a text parsed with tree-sitter, within limits of time and stack?"""

from __future__ import annotations

import time  # `thread_time` is looked up where it is used: WebAssembly has none
from functools import cache, partial
from importlib import import_module
from threading import Lock, Thread, stack_size
from typing import TYPE_CHECKING

from .. import CallError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node, Parser

_SECONDS = 0.5
_SECONDS_A_BYTE = 5e-7
"""Time of a processor that parsing may take: at least five times what ordinary code takes."""

_SECONDS_BETWEEN = 0.002
"""Time of the clock between two looks at the time of the processor, which takes ten times as long to tell."""

_PART = 64
"""Bytes of a text that a node reads at once."""

_SMALL = 1 << 12
"""Bytes of a text that never takes long: the parser gets it without a time limit."""

_FITS_ANY_STACK = 1 << 15
"""Bytes of a text that is parsed on the stack of the caller, which has 2 MB on Windows and more elsewhere.

A thread for each of these, too, would take a fifth of the time of parsing.
"""

_STACK_A_BYTE = 128
"""Stack for each byte of a longer text, three times what was found: `{[` again and again takes 40 in Go."""

_PAGE = 1 << 16
"""A stack is a whole number of these, which are pages on every system."""

_STACKS = Lock()

_MOST_READ, _BYTES_A_READ = 1000, 1000
"""How often the parser may ask for a text, and for how many bytes once more.

It asks again where it has looked behind the end of the text, as for a string that is never closed: at most
13 times for any file of CPython, of Go's library and of Debian's headers of C.
"""


class SlowParseError(CallError):
    """A text takes too long to parse; the message is written for the model."""

    def __init__(self) -> None:
        super().__init__("it takes too long to parse")


def missing_package(error: ModuleNotFoundError, package: str) -> ImportError:
    """Return the error that says how to install what is missing."""
    name = (error.name or package).replace("_", "-")
    return ModuleNotFoundError(
        f"the code tools need {name}: pip install 'operator-schema[code]'", name=error.name
    )


@cache
def _parser_of(package: str) -> Callable[[], Parser]:
    """Return a function that makes parsers for a grammar, because each thread needs a parser of its own."""
    try:
        from tree_sitter import Language as Grammar
        from tree_sitter import Parser

        module, _, dialect = package.partition(":")
        capsule: object = getattr(import_module(module), dialect or "language")()
        return partial(Parser, Grammar(capsule))
    except ModuleNotFoundError as error:
        raise missing_package(error, package) from None


def parse_tree(package: str, source: bytes) -> Node:
    """Parse a text, also if it has errors or isn't a program at all.

    Args:
        package: of the grammar, such as `tree_sitter_go`, with the name of the function after a colon where
            it has several.
        source: UTF-8; other bytes are errors at their place.

    Returns:
        The root of its tree.

    Raises:
        ImportError: the grammar isn't installed.
        SlowParseError: it takes too long. The parser is quadratic for some texts, and holds the lock of the
            interpreter between two questions whether to go on, which are milliseconds apart.
    """
    make = _parser_of(package)
    if len(source) <= _SMALL:
        return make().parse(source).root_node
    if len(source) <= _FITS_ANY_STACK:
        return _parsed_in_time(make, source)
    return _with_stack(len(source) * _STACK_A_BYTE, lambda: _parsed_in_time(make, source))


def _parsed_in_time(make: Callable[[], Parser], source: bytes) -> Node:
    """Parse a text within a time limit; freeing the parser takes stack, so it is freed here."""
    end = time.thread_time() + _SECONDS + len(source) * _SECONDS_A_BYTE
    look = time.monotonic()
    reader = _TextReader(source, _MOST_READ + len(source) // _BYTES_A_READ)

    def is_over(*_: object) -> bool:
        nonlocal look
        now = time.monotonic()
        if now < look:
            return False
        look = now + _SECONDS_BETWEEN
        return reader.is_empty or time.thread_time() > end

    try:
        root = make().parse(reader, progress_callback=is_over).root_node
    except ValueError:  # what the package makes of a parse that was stopped
        raise SlowParseError from None
    finally:
        reader.close()
    if reader.is_empty:
        raise SlowParseError
    return root


def _with_stack(size: int, work: Callable[[], Node]) -> Node:
    """Run a function that recurses in C, in a thread whose stack is large enough.

    Raises:
        SlowParseError: the system gives no such stack.
    """
    found: list[Node] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(work())
        except BaseException as error:  # noqa: BLE001  # it is raised where it is waited for
            failed.append(error)

    worker = Thread(target=run, name="operator_schema parser", daemon=True)
    with _STACKS:  # the size is one for all threads that begin
        before = stack_size()
        try:
            stack_size(-(-size // _PAGE) * _PAGE)
            worker.start()
        except (MemoryError, RuntimeError, ValueError):
            raise SlowParseError from None
        finally:
            stack_size(before)
    worker.join()
    if failed:
        raise failed[0]
    return found[0]


class _TextReader:
    """Lets the parser read a text, and later returns the texts of nodes.

    tree_sitter 0.26 never frees what it is given: a reference to it is left over. A view that was released
    has a few words of memory, and the text is no longer behind it.

    Args:
        source: the text.
        most: how often the parser may ask.
    """

    def __init__(self, source: bytes, most: int) -> None:
        self._source = source
        self._views: list[memoryview] | None = []
        self._most = most
        self.is_empty = False
        """Whether the parser asked too often, and got nothing."""

    def __call__(self, start: int, _: object) -> bytes | memoryview:
        """Return the text from a byte on: all of it for the parser, a part for a node."""
        if self._views is None or start >= len(self._source):
            return self._source[start : start + _PART]
        self.is_empty = len(self._views) >= self._most
        if self.is_empty:
            return b""
        self._views.append(memoryview(self._source)[start:])
        return self._views[-1]

    def close(self) -> None:
        """Release the text that the parser has read; from then on, only nodes read."""
        for view in self._views or ():
            view.release()
        self._views = None
