"""Encoding values that are made on the way: generators, views, properties, own sequences and maps.

What `decode` returns holds every value that it is made of. What a program encodes need not: the items may be
made while they are read, and be gone right after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypedDict, TypeVar

from hypothesis import given
from hypothesis import strategies as st

from operator_schema import Codec

T = TypeVar("T")


class Note(TypedDict, total=False):
    note: str


class Row(TypedDict):
    id: int


class Both(TypedDict):
    id: int
    note: str


class Made(Sequence[T], Generic[T]):
    """Makes each item when it is asked for."""

    def __init__(self, items: list[T]) -> None:
        self.kept = items

    def __len__(self) -> int:
        return len(self.kept)

    def __getitem__(self, index: Any) -> Any:
        return copied(self.kept[index])


class MadeMap(Mapping[str, T], Generic[T]):
    """Makes each value when it is asked for."""

    def __init__(self, items: dict[str, T]) -> None:
        self.kept = items

    def __len__(self) -> int:
        return len(self.kept)

    def __iter__(self) -> Iterator[str]:
        return iter(self.kept)

    def __getitem__(self, key: str) -> T:
        return copied(self.kept[key])


def copied(value: Any) -> Any:
    return dict(value) if isinstance(value, dict) else value


@dataclass
class Page:
    rows: Iterable[Note | Row | Both]


class LivePage(Page):
    """Reads its rows anew each time, as classes over a database do."""

    def __init__(self, rows: list[Any]) -> None:
        self.kept_rows = rows

    @property
    def rows(self) -> Any:  # type: ignore[override]
        return [copied(row) for row in self.kept_rows]


ROWS = st.lists(
    st.one_of(
        st.builds(dict, note=st.text(max_size=3)),
        st.builds(dict, id=st.integers(0, 9)),
        st.builds(dict, id=st.integers(0, 9), note=st.text(max_size=3)),
    ),
    max_size=6,
)
FORMS = {
    "iterator": lambda rows: (copied(row) for row in rows),
    "view": lambda rows: {i: copied(row) for i, row in enumerate(rows)}.values(),
    "sequence": Made,
    "list": list,
}
BY_ITERABLE = Codec(dict[str, Iterable[Note | Row | Both]])
BY_SEQUENCE = Codec(Mapping[str, Sequence[Note | Row | Both]])
BY_MAP = Codec(list[Mapping[str, Note | Row | Both]])
BY_PAGE = Codec(list[Page | Note])


@given(st.dictionaries(st.text(max_size=2), st.tuples(st.sampled_from(sorted(FORMS)), ROWS), max_size=4))
def test_items_made_on_the_way_are_written_as_if_they_were_kept(drawn: dict[str, tuple[str, list[Any]]]):
    made = {key: FORMS[form](rows) for key, (form, rows) in drawn.items()}
    assert BY_ITERABLE.encode(made) == {key: rows for key, (_, rows) in drawn.items()}  # type: ignore[arg-type]


@given(st.dictionaries(st.text(max_size=2), ROWS, max_size=4))
def test_own_sequences_are_written_as_lists_are(drawn: dict[str, list[Any]]):
    assert BY_SEQUENCE.encode({key: Made(rows) for key, rows in drawn.items()}) == drawn
    assert BY_SEQUENCE.encode(MadeMap({key: Made(rows) for key, rows in drawn.items()})) == drawn


@given(st.lists(ROWS.map(lambda rows: {str(i): row for i, row in enumerate(rows)}), max_size=4))
def test_own_maps_are_written_as_dicts_are(drawn: list[dict[str, Any]]):
    assert BY_MAP.encode([MadeMap(entries) for entries in drawn]) == drawn


@given(st.lists(ROWS, max_size=4))
def test_properties_are_written_as_attributes_are(drawn: list[list[Any]]):
    assert BY_PAGE.encode([LivePage(rows) for rows in drawn]) == [{"rows": rows} for rows in drawn]


class Items(TypedDict):
    items: Iterable[int]


class Named(TypedDict):
    items: Iterable[int]
    name: str


def test_an_iterator_that_a_trial_has_read_is_written_in_full():
    codec = Codec(Items | Named)
    for _ in range(250):  # interpreted, then compiled
        assert codec.encode({"items": iter([1, 2])}) == {"items": [1, 2]}
        assert codec.encode({"items": iter([1, 2]), "name": "x"}) == {"items": [1, 2], "name": "x"}


def test_what_compiled_code_gives_up_on_has_read_no_iterator():
    codec = Codec(tuple[Items | Named, int | list[int]]).compile()
    value: Any = ({"items": iter([1, 2])}, Made([3]))
    mixed = Codec(tuple[Items | Named, Sequence[int]]).compile()
    assert mixed.encode(value) == [{"items": [1, 2]}, [3]]
    assert codec.encode(({"items": iter([1, 2])}, [True][:0])) == [{"items": [1, 2]}, []]


def test_one_iterator_in_two_places_is_written_in_both():
    shared = iter([1, 2])
    assert Codec(dict[str, Iterable[int]]).encode({"a": shared, "b": shared}) == {"a": [1, 2], "b": [1, 2]}


def test_a_value_is_tried_once_however_deep_unions_nest():
    class Leaf(TypedDict):
        value: int

    class Left(TypedDict):
        inner: Left | Right | Leaf  # type: ignore[misc]

    class Right(TypedDict):
        inner: Left | Right | Leaf  # type: ignore[misc]
        right: bool

    value: Any = {"value": 1}
    for level in range(60):
        value = {"inner": value} if level % 2 else {"inner": value, "right": True}
    codec = Codec(Left | Right | Leaf, namespace={"Left": Left, "Right": Right, "Leaf": Leaf})
    assert codec.encode(value) == value
