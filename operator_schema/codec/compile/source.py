"""Python source, written line by line: functions, and the objects that are bound to their names.

Text of the user's gets into generated code in three ways alone: as the `repr` of an exact `str`, `int`
or `float`; as an attribute name that is a plain identifier; and as a hint, in names that are made
here. A subclass could write code by its own `repr`. All other objects are bound to a name.
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

__all__ = ["Function", "Source", "hint_of"]

_INDENT = "    "
_UNFIT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME_LENGTH = 24
_LARGEST_LITERAL = 10**18
_BUILT_IN: dict[int, str] = {
    id(cls): cls.__name__ for cls in (str, int, float, bool, list, tuple, set, frozenset, dict)
}
"""By identity, as a metaclass may say that its classes equal these."""
_numbers = count(1)


class Function:
    """One function of the generated source, written line by line.

    Attributes:
        name: by which the others call it.
        depth: number of blocks around the next line.
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
        """Return a new name that begins with a hint, such as the user's own name for the thing."""
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
        return _BUILT_IN.get(id(cls)) or self.bind(cls, hint_of(cls))

    def quoted(self, text: str) -> str:
        """Return the expression of a text, such as a key.

        Raises:
            TypeError: it is a subclass of `str`, which the graph should not have.
        """
        _require_exact(text)
        return repr(text)

    def literal(self, value: Any, hint: str = "value") -> str:
        """Return an expression for a constant: written out where that is exact, else its name."""
        kind = _class_of(value)
        if value is None or kind is bool or kind is str:
            return repr(value)
        if kind is int and -_LARGEST_LITERAL < value < _LARGEST_LITERAL:
            return repr(value)
        if kind is float and isfinite(value):
            return repr(value)
        return self.bind(value, hint)

    def attribute(self, name: str) -> str | None:
        """Return an attribute's name as it is written after a dot; None if it can't be written so.

        Raises:
            TypeError: it is a subclass of `str`, which the graph should not have.
        """
        _require_exact(name)
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


def hint_of(cls: type) -> str:
    """Return the name of a class, whatever its metaclass says."""
    return _name_of_class(cls)


_class_of: Callable[[Any], type[Any]] = type
_name_of_class: Callable[[type], str] = vars(type)["__name__"].__get__


def _require_exact(text: str) -> None:
    if type(text) is not str:
        message = f"internal error: generated code takes text of class str alone, not {type(text)}"
        raise TypeError(message)


def _plain(hint: str) -> str:
    text = _UNFIT_IN_NAMES.sub("", hint if type(hint) is str else "")[:_NAME_LENGTH]
    return text if text[:1].isalpha() else f"v{text}"
