"""Python source in the making: what the compiled tier is written with.

Text enters by `repr`, objects by a bound name, attribute names after a check that they are plain
identifiers. Nothing else of the user's gets into generated code.
"""

from __future__ import annotations

import keyword
import linecache
import re
import weakref
from itertools import count
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

__all__ = ["Function", "Source"]

_INDENT = "    "
_UNFIT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME_LENGTH = 24
_LARGEST_LITERAL = 10**18
_BUILT_IN = frozenset({str, int, float, bool, list, tuple, set, frozenset, dict})
_numbers = count(1)


class Function:
    """One function of the generated source, written line by line.

    Attributes:
        name: by which the others call it.
        depth: blocks that the next line stands in.
    """

    __slots__ = ("_head", "depth", "lines", "name")

    def __init__(self, name: str, parameters: tuple[str, ...]) -> None:
        self.name = name
        self._head = f"def {name}({', '.join(parameters)}):"
        self.lines: list[str] = []
        self.depth = 1

    def line(self, text: str) -> None:
        """Write one line."""
        self.lines.append(_INDENT * self.depth + text)

    def insert(self, index: int, text: str) -> None:
        """Write one line in front of the one of that index."""
        self.lines.insert(index, _INDENT * self.depth + text)

    def block(self, head: str) -> Self:
        """Write the head of a block; what is written inside `with` is its body."""
        self.line(head)
        return self

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_error: object) -> None:
        self.depth -= 1

    def text(self) -> list[str]:
        """Return the lines of the whole function."""
        return [self._head, *self.lines]


class Source:
    """One piece of generated source: its functions, and the objects that they use.

    Args:
        purpose: what tracebacks call it.
    """

    def __init__(self, purpose: str) -> None:
        self._purpose = _plain(purpose)
        self._functions: list[Function] = []
        self._closing: list[str] = []
        self._bound: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._last = 0

    def name(self, hint: str) -> str:
        """Return a name that no other thing has, reminding of what the user calls it."""
        self._last += 1
        return f"{_plain(hint)}_{self._last}"

    def bind(self, value: Any, hint: str) -> str:
        """Return the name by which the functions know an object."""
        known = self._names.get(id(value))
        if known is None:
            known = self._names[id(value)] = self.name(hint)
            self._bound[known] = value
        return known

    def class_name(self, cls: type) -> str:
        """Return the name by which the functions know a class: its own for the usual built-in ones."""
        return cls.__name__ if cls in _BUILT_IN else self.bind(cls, cls.__name__)

    def literal(self, value: Any, hint: str = "value") -> str:
        """Return an expression for a constant: written out where that is exact, else its name."""
        kind: type[Any] = value.__class__
        if value is None or kind is bool or kind is str:
            return repr(value)
        if kind is int and -_LARGEST_LITERAL < value < _LARGEST_LITERAL:
            return repr(value)
        if kind is float and isfinite(value):
            return repr(value)
        return self.bind(value, hint)

    def attribute(self, name: str) -> str | None:
        """Return what follows the dot for an attribute; None for a name that is not written so."""
        return name if _PLAIN_NAME.fullmatch(name) and not keyword.iskeyword(name) else None

    def function(self, hint: str, *parameters: str) -> Function:
        """Begin a function."""
        made = Function(self.name(hint), parameters)
        self._functions.append(made)
        return made

    def close_with(self, line: str) -> None:
        """Write a line below all functions, for a table of them."""
        self._closing.append(line)

    def text(self, main: str) -> str:
        """Return the whole source, which makes and returns the function of that name."""
        lines = [f"def make({', '.join(self._bound)}):"]
        for function in self._functions:
            lines += ["", *[_INDENT + line for line in function.text()]]
        lines += ["", *[_INDENT + line for line in self._closing], f"{_INDENT}return {main}", ""]
        return "\n".join(lines)

    def link(self, main: str) -> Callable[..., Any]:
        """Compile the source and return the function of that name.

        Its lines can be seen in tracebacks and debuggers for as long as it exists.
        """
        text = self.text(main)
        file = f"<operator_schema {self._purpose} {next(_numbers)}>"
        namespace: dict[str, Any] = {"__name__": __name__}
        exec(compile(text, file, "exec"), namespace)  # noqa: S102  # generating code is what this module is for
        made: Callable[..., Any] = namespace["make"](**self._bound)
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        weakref.finalize(made, linecache.cache.pop, file, None).atexit = False
        return made


def _plain(hint: str) -> str:
    text = _UNFIT_IN_NAMES.sub("", hint)[:_NAME_LENGTH]
    return text if text[:1].isalpha() else f"v{text}"
