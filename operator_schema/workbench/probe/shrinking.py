"""Which smallest value, or shortest sequence, still shows something?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ...json_values import is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")


def shrunk(value: Any, shows: Callable[[Any], bool]) -> Any:
    """Return a smallest value that still shows a fault: nothing can be taken away from it.

    Args:
        value: JSON values that show the fault.
        shows: a function that returns whether a value shows the fault; False, too, if no time is left.

    Returns:
        A value of which no key, item or character can be left out without losing the fault.
    """
    found = value
    while True:
        for candidate in smaller(found):
            if shows(candidate):
                found = candidate
                break
        else:
            return found


def shrunk_sequence(
    steps: list[T], shows: Callable[[list[T]], bool], without: Callable[[list[T], int], list[T]]
) -> list[T]:
    """Return a shortest part of a sequence that still shows a fault: no step can be left out.

    Args:
        steps: the steps that show the fault.
        shows: a function that returns whether some steps show the fault.
        without: a function that returns the steps without one.
    """
    found = steps
    index = 0
    while index < len(found):
        candidate = without(found, index)
        if candidate and shows(candidate):
            found, index = candidate, 0
        else:
            index += 1
    return found


def smaller(value: Any) -> Iterator[Any]:
    """Return simpler values, those with much less first; the last ones lack one key, item or character."""
    if is_object(value):
        yield from _smaller_object(value)
    elif is_array(value):
        yield from _smaller_list(value)
    elif isinstance(value, str):
        yield from _smaller_text(value)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from _smaller_number(value)


def _smaller_object(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    keys = list(value)
    if len(keys) > 2:  # noqa: PLR2004  # fewer are left out one by one
        half = len(keys) // 2
        yield {key: value[key] for key in keys[:half]}
        yield {key: value[key] for key in keys[half:]}
    for key in keys:
        yield {other: value[other] for other in keys if other != key}
    for key in keys:
        for inner in smaller(value[key]):
            yield {**value, key: inner}


def _smaller_list(value: list[Any]) -> Iterator[list[Any]]:
    for part in _parts(len(value)):
        yield value[: part.start] + value[part.stop :]
    for index, item in enumerate(value):
        for inner in smaller(item):
            yield [*value[:index], inner, *value[index + 1 :]]


def _smaller_text(value: str) -> Iterator[str]:
    for part in _parts(len(value)):
        yield value[: part.start] + value[part.stop :]
    if value.strip("0"):
        yield "0" * len(value)
    for index, character in enumerate(value[:50]):
        for plain in "0a":
            if character not in "0a" or (character == "a" and plain == "0"):
                yield value[:index] + plain + value[index + 1 :]


def _parts(size: int) -> Iterator[slice]:
    """Return the parts that may be left out: all, halves, quarters, …, and each one."""
    step = size
    while step:
        for start in range(0, size, step):
            yield slice(start, min(start + step, size))
        step //= 2


def _smaller_number(value: float) -> Iterator[float]:
    if value < 0:
        yield -value
    size = abs(value)
    if isinstance(value, float):
        if value.is_integer():
            yield int(value)
        elif size > 1:
            yield float(int(value))
        if size % 1 not in (0, 0.5):
            yield 0.5
    if size > 0:
        yield 0
    step = int(size) // 2
    sign = -1 if value < 0 else 1
    while step:
        yield value - sign * step
        step //= 2
