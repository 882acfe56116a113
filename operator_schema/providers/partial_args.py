"""Arguments of a call that Gemini sends in parts, each with its place (`partialArgs`); Vertex AI does so.

Source: https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/Content#PartialArg
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..json_values import is_array, is_object
from .growing import joined

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    Path: TypeAlias = tuple[str | int, ...]

__all__ = ["PartialArguments"]

_STEP = re.compile(r"""\.([^.\[\]'"]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]""")
_MOST_STEPS = 100


class PartialArguments:
    """The arguments of one call so far.

    Attributes:
        value: what has come, as the object that comes without parts.
    """

    __slots__ = ("value", "_path", "_pieces", "_in_order")

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self._path: Path = ()
        self._pieces: list[str] | None = None  # of a text that goes on
        self._in_order = True

    def take(self, part: Mapping[str, Any]) -> str:
        """Take a part.

        Returns:
            What it adds to the JSON text of the arguments; empty once a place comes that isn't behind all
            others, as text can only grow at its end.

        Raises:
            ValueError, TypeError: it has another form, or its place can't be there.
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
        """Return the end of the JSON text; then `value` is whole."""
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
        written = _written(value)
        return before + opened + (written[:-1] if goes_on else written)

    def _closed(self, shared: int) -> str:
        """Return what ends the last text, and all containers that the next place isn't in."""
        ends = ["]" if isinstance(step, int) else "}" for step in reversed(self._path[shared + 1 :])]
        return self._text_ended() + "".join(ends)

    def _text_ended(self) -> str:
        """Put a text that went on where it belongs, and return its end."""
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
    return ""  # a text whose first part is empty is left out of what comes


def _place(container: Any, path: Path, value: Any) -> int:
    """Put a value where its path says; what leads to it is made.

    Returns:
        How many steps led to what was there before.

    Raises:
        ValueError: there is something else on the way.
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
    message = "the parts of an argument don't belong together"
    raise ValueError(message)


def _escaped(text: str) -> str:
    return _written(text)[1:-1]


def _written(value: Any) -> str:
    from json import dumps

    return dumps(value, allow_nan=False)
