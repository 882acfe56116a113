"""The effort of repair, in readings of a value and not in seconds: a bounded number for each value."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from typing_extensions import TypeAliasType

from operator_schema import Codec, DecodeError
from operator_schema.codec.repair import repair_value

Flags = TypeAliasType("Flags", "bool | list[Numbers]")
Numbers = TypeAliasType("Numbers", int | list[Flags])  # type: ignore[misc]
Value = TypeAliasType("Value", "int | list[Value] | dict[str, Value] | None")
RING = [TypeAliasType(f"R{i}", f"int | list[R{(i + 1) % 30}]") for i in range(30)]
NAMES: dict[str, Any] = {
    "Numbers": Numbers,
    "Value": Value,
    **{f"R{i}": alias for i, alias in enumerate(RING)},
}

MOST_READINGS = 60
"""Of one value: in each array that it may be the one item of, at each depth that follows."""


def readings(annotation: Any, value: Any) -> int:
    graph, count = Codec(annotation, namespace=NAMES).graph, 0

    def watch(frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_qualname == "_Repairer.read"

    sys.setprofile(watch)
    try:
        repair_value(graph, value, 100)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow("measures growth")
@pytest.mark.parametrize("annotation", [Numbers, Value, RING[0], list[list[list[int]]]])
@pytest.mark.parametrize("levels", [0, 5, 40])
def test_wrong_items_of_recursive_lists_are_read_a_bounded_number_of_times(annotation: Any, levels: int):
    value: Any = [f"wrong {number}" for number in range(40)]
    for _ in range(levels):
        value = [value]
    assert readings(annotation, value) <= MOST_READINGS * (40 + levels)


def test_one_value_becomes_an_array_of_a_recursive_type_once():
    codec = Codec(Numbers, namespace=NAMES, repair=True)
    assert codec.decode(True) == [True]
    assert codec.decode([[5, True], True]) == [[5, [True]], True]
    with pytest.raises(DecodeError):
        codec.decode("wrong")


def test_a_value_is_put_into_as_many_arrays_as_a_type_that_is_not_recursive_has():
    assert Codec(list[list[list[list[int]]]], repair=True).decode(5) == [[[[5]]]]
    with pytest.raises(DecodeError):
        Codec(list[list[list[list[list[int]]]]], repair=True).decode(5)
