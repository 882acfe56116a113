"""The arguments of a call that Gemini sends in parts, each with its path."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..json_values import is_array, is_object
from .response_json import joined

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Path: TypeAlias = tuple[str | int, ...]

_STEP = re.compile(r"""\.([^.\[\]'"]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_MOST_STEPS = 100


class PartialArguments:
    """The arguments of one call so far.

    Attributes:
        value: the arguments so far, as the object that would be sent without parts.
    """

    __slots__ = ("value", "_path", "_pieces", "_in_order")

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self._path: Path = ()
        self._pieces: list[str] | None = None  # pieces of a text that continues
        self._in_order = True

    def take(self, part: Mapping[str, Any]) -> str:
        """Take a part of the arguments.

        Returns:
            The JSON text that the part adds to the arguments. Once a path isn't behind all others, it is
            always empty, because text can only grow at its end.

        Raises:
            ValueError, TypeError: the part isn't in the expected form, or its path can't exist.
        """
        path = _path_of(part["jsonPath"])
        value = _value_of(part)
        goes_on = part.get("willContinue") is True and isinstance(value, str)
        if self._pieces is not None and path == self._path:
            text = self._continue(value, goes_on=goes_on)
        else:
            text = self._begin(path, value, goes_on=goes_on)
        return text if self._in_order else ""

    def end(self) -> str:
        """Return the end of the JSON text; after that, `value` is complete."""
        text = (self._closed(0) if self._path else "{") + "}"
        return text if self._in_order else ""

    def _continue(self, value: Any, *, goes_on: bool) -> str:
        if not isinstance(value, str) or self._pieces is None:
            raise TypeError
        self._pieces.append(value)
        return _escaped(value) + ("" if goes_on else self._text_ended())

    def _begin(self, path: Path, value: Any, *, goes_on: bool) -> str:
        shared = 0
        for own, other in zip(path, self._path, strict=False):
            if own != other:
                break
            shared += 1
        before = f"{self._closed(shared)}," if self._path else "{"
        if _place(self.value, path, value) != shared or shared == len(path):
            self._in_order = False
        opened = "".join(
            [
                ("" if isinstance(step, int) else f'"{_escaped(step)}":')
                + ("" if inner is None else "[" if isinstance(inner, int) else "{")
                for step, inner in zip(path[shared:], (*path[shared + 1 :], None), strict=True)
            ]
        )
        self._path, self._pieces = path, [value] if goes_on else None
        written = _json_of(value)
        return before + opened + (written[:-1] if goes_on else written)

    def _closed(self, shared: int) -> str:
        """Return the JSON that ends the last text, and all containers that don't contain the next path."""
        ends = ["]" if isinstance(step, int) else "}" for step in reversed(self._path[shared + 1 :])]
        return self._text_ended() + "".join(ends)

    def _text_ended(self) -> str:
        """Store a text that has ended at its path, and return the end of its JSON."""
        if self._pieces is None:
            return ""
        _place(self.value, self._path, joined(self._pieces))
        self._pieces = None
        return '"'


def _path_of(text: Any) -> Path:
    """Return the steps of a path such as `$.foo.bar[0].data` (RFC 9535)."""
    steps: list[str | int] = []
    end = 1
    while end < len(text) and len(steps) < _MOST_STEPS:
        found = _STEP.match(text, end)
        if found is None:
            break
        plain, index, *quoted = found.groups()
        steps.append(int(index) if index else plain or _unquoted(quoted[0] or quoted[1] or ""))
        end = found.end()
    if not text.startswith("$") or end != len(text) or not steps or isinstance(steps[0], int):
        message = "the path of an argument can't be read"
        raise ValueError(message)
    return tuple(steps)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _value_of(part: Mapping[str, Any]) -> Any:
    for key, kind in (("stringValue", str), ("boolValue", bool), ("numberValue", (int, float))):
        found = part.get(key)
        if found is not None:
            if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
                raise TypeError
            return int(found) if isinstance(found, float) and found.is_integer() else found
    if "nullValue" in part:
        return None
    return ""  # a text whose first part is empty isn't sent at all


def _place(container: Any, path: Path, value: Any) -> int:
    """Store a value at its path, and create the objects and lists above it.

    Returns:
        The number of steps of the path that existed before.

    Raises:
        ValueError: the path leads through a value of another kind.
    """
    known = 0
    for step, inner in pairwise(path):
        if _is_new(container, step):
            _put(container, step, [] if isinstance(inner, int) else {})
        else:
            known += 1
        container = container[step]
    known += not _is_new(container, path[-1])
    _put(container, path[-1], value)
    return known


def _put(container: Any, step: Any, value: Any) -> None:
    if is_array(container) and step == len(container):
        container.append(value)
    else:
        container[step] = value


def _is_new(container: Any, step: str | int) -> bool:
    if is_object(container) and isinstance(step, str):
        return step not in container
    if is_array(container) and isinstance(step, int) and step <= len(container):
        return step == len(container)
    message = "the pieces of an argument don't fit together"
    raise ValueError(message)


def _escaped(text: str) -> str:
    return _json_of(text)[1:-1]


def _json_of(value: Any) -> str:
    from json import dumps

    return dumps(value, allow_nan=False)
