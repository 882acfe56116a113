"""How is generated Python source put together, named and compiled?"""

from __future__ import annotations

import keyword
import linecache
import re
import weakref
from itertools import count
from math import isfinite
from typing import TYPE_CHECKING, Any

from ...message_text import class_name

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self


_INDENT = "    "
_UNFIT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME_LENGTH = 24
_LARGEST_LITERAL = 10**18
_BUILT_IN: dict[int, str] = {
    id(cls): cls.__name__ for cls in (str, int, float, bool, list, tuple, set, frozenset, dict)
}
"""The names of built-in classes, by identity, because a metaclass may claim that its classes equal these."""
_numbers = count(1)


class Function:
    """One function of the generated source, written line by line.

    Attributes:
        name: the name by which other functions call it.
        depth: number of blocks around the next line.
    """

    def __init__(self, name: str, parameters: tuple[str, ...]) -> None:
        self.name = name
        self._head = f"def {name}({', '.join(parameters)}):"
        self.lines: list[str] = []
        self.depth = 1

    def line(self, text: str) -> None:
        """Write one line."""
        self.lines.append(_INDENT * self.depth + text)

    def insert(self, index: int, text: str) -> None:
        """Insert a line at an index."""
        self.lines.insert(index, _INDENT * self.depth + text)

    def block(self, head: str) -> Self:
        """Write the head of a block; lines written inside the `with` statement are its body."""
        self.line(head)
        return self

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_error: object) -> None:
        self.depth -= 1

    def text(self) -> list[str]:
        """Return the lines of the whole function."""
        return [self._head, *self.lines]


class GeneratedSource:
    """One piece of generated source: its functions, and the objects that they use.

    Args:
        purpose: its name in tracebacks.
    """

    def __init__(self, purpose: str) -> None:
        self._purpose = _plain(purpose)
        self._functions: list[Function] = []
        self._closing: list[str] = []
        self._bound: dict[str, Any] = {}
        self._names: dict[int, str] = {}
        self._last = 0

    def name(self, hint: str) -> str:
        """Return a new name that begins with a hint, such as the user's own name for the thing."""
        self._last += 1
        return f"{_plain(hint)}_{self._last}"

    def bind(self, value: Any, hint: str) -> str:
        """Return the name of an object in the generated code."""
        known = self._names.get(id(value))
        if known is None:
            known = self._names[id(value)] = self.name(hint)
            self._bound[known] = value
        return known

    def class_name(self, cls: type) -> str:
        """Return the name of a class in the generated code: its own name for common built-in classes."""
        return _BUILT_IN.get(id(cls)) or self.bind(cls, class_name(cls))

    def quoted(self, text: str) -> str:
        """Return the expression for a text, such as a key.

        Raises:
            TypeError: the text is of a subclass of `str`, which the graph should not have.
        """
        _require_exact(text)
        return repr(text)

    def literal(self, value: Any, hint: str = "value") -> str:
        """Return an expression for a constant: written out if that is exact, else its name."""
        kind = _class_of(value)
        if value is None or kind is bool or kind is str:
            return repr(value)
        if kind is int and -_LARGEST_LITERAL < value < _LARGEST_LITERAL:
            return repr(value)
        if kind is float and isfinite(value):
            return repr(value)
        return self.bind(value, hint)

    def attribute(self, name: str) -> str | None:
        """Return an attribute's name as written after a dot; None if the name can't be written there.

        Raises:
            TypeError: the name is of a subclass of `str`, which the graph should not have.
        """
        _require_exact(name)
        return name if _PLAIN_NAME.fullmatch(name) and not keyword.iskeyword(name) else None

    def function(self, hint: str, *parameters: str) -> Function:
        """Begin a function."""
        made = Function(self.name(hint), parameters)
        self._functions.append(made)
        return made

    def close_with(self, line: str) -> None:
        """Add a line below all functions, such as a table of them."""
        self._closing.append(line)

    def text(self, main: str) -> str:
        """Return the whole source, which defines and returns the main function."""
        lines = [f"def make({', '.join(self._bound)}):"]
        for function in self._functions:
            lines += ["", *[_INDENT + line for line in function.text()]]
        lines += ["", *[_INDENT + line for line in self._closing], f"{_INDENT}return {main}", ""]
        return "\n".join(lines)

    def link(self, main: str) -> Callable[..., Any]:
        """Compile the source and return the function of that name.

        Tracebacks and debuggers can show its lines as long as the function exists.
        """
        text = self.text(main)
        file = f"<operator_schema {self._purpose} {next(_numbers)}>"
        namespace: dict[str, Any] = {"__name__": __name__}
        exec(compile(text, file, "exec"), namespace)  # noqa: S102  # generating code is what this module is for
        made: Callable[..., Any] = namespace["make"](**self._bound)
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        weakref.finalize(made, linecache.cache.pop, file, None).atexit = False
        return made


_class_of: Callable[[Any], type[Any]] = type


def _require_exact(text: str) -> None:
    if type(text) is not str:
        message = f"internal error: generated code takes text of class str alone, not {type(text)}"
        raise TypeError(message)


def _plain(hint: str) -> str:
    text = _UNFIT_IN_NAMES.sub("", hint if type(hint) is str else "")[:_NAME_LENGTH]
    return text if text[:1].isalpha() else f"v{text}"
