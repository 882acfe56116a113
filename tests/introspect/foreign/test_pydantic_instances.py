"""Instances of pydantic models that aren't what the model says: of a subclass, changed, unvalidated."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from libraries import library

from operator_schema import Codec, EncodeError, tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pydantic = library("pydantic")


class User(pydantic.BaseModel):
    name: str
    age: int = pydantic.Field(1, ge=0, alias="theAge")


class StoredUser(User):
    hidden: str = "pw"


class Group(pydantic.BaseModel):
    owner: User
    members: list[User] = []
    extra: pydantic.Json[int] = 1


@dataclass
class Report:
    users: list[User]
    best: User | None = None


ADA = {"name": "Ada", "theAge": 1}


@pytest.fixture(autouse=True)
def _no_warning() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("calls", [1, 300])
def test_an_instance_of_a_subclass_is_written_without_the_fields_of_the_subclass(calls: int) -> None:
    stored = StoredUser(name="Ada")
    group = Group(owner=stored, members=[stored], extra="7")
    codecs: list[tuple[Codec[Any], Any, Any]] = [
        (Codec(User), stored, ADA),
        (Codec(Report), Report([stored], stored), {"users": [ADA], "best": ADA}),
        (Codec(Group), group, {"owner": ADA, "members": [ADA], "extra": "7"}),
        (Codec(User | int), stored, ADA),
    ]
    for codec, value, written in codecs:
        for _ in range(calls):
            assert codec.encode(value) == written
        assert codec.encode_leniently(value) == (written, ())
        codec.decode(written)


def test_a_tool_writes_its_result_by_the_model_that_it_declares() -> None:
    @tool
    def find() -> list[User]:
        """Find."""
        return [StoredUser(name="Ada")]

    assert json.loads(find.run({})) == [ADA]


def test_an_instance_whose_class_is_not_annotated_is_written_by_its_own_class() -> None:
    assert Codec(list[Any]).encode([StoredUser(name="Ada")]) == [{**ADA, "hidden": "pw"}]


def changed() -> Any:
    user = StoredUser(name="Ada")
    user.age = "zz"
    return user


def out_of_range() -> Any:
    user = User(name="Ada")
    user.age = -1
    return user


def incomplete() -> Any:
    return User.model_construct()


MISFITS = [
    (changed, (), "Expected `int`", {"name": "Ada", "theAge": "zz"}),
    (out_of_range, ("theAge",), "greater than or equal to 0", {"name": "Ada", "theAge": -1}),
    (incomplete, ("name",), "missing", {"theAge": 1}),
]


@pytest.mark.parametrize(("make", "path", "said"), [case[:3] for case in MISFITS])
@pytest.mark.parametrize("calls", [1, 300])
def test_an_instance_that_no_longer_fits_its_model_is_refused(
    make: Callable[[], Any], path: tuple[str, ...], said: str, calls: int
) -> None:
    codec = Codec(Report)
    for _ in range(calls):
        codec.encode(Report([User(name="Ada")]))
    with pytest.raises(EncodeError) as caught:
        codec.encode(Report([make()]))
    (problem,) = caught.value.findings
    assert problem.path == ("users", 0, *path)
    assert said in problem.message
    assert "\\u000a" not in problem.message
    assert "may not be as expected" not in problem.message


@pytest.mark.parametrize(("make", "path", "said", "written"), MISFITS)
def test_a_lenient_encode_writes_it_by_its_model_with_a_mismatch(
    make: Callable[[], Any], path: tuple[str, ...], said: str, written: Any
) -> None:
    for annotation in (list[User], list[User | int], list[User | None]):
        encoded, notes = Codec[Any](annotation).encode_leniently([make()])
        assert encoded == [written]
        assert [note.path for note in notes] == [(0, *path)]
        assert said in notes[0].message


def test_a_lenient_encode_writes_it_by_its_own_class_where_none_is_annotated() -> None:
    encoded, notes = Codec(list[Any]).encode_leniently([changed()])
    assert encoded == [{"name": "Ada", "theAge": "zz", "hidden": "pw"}]
    assert [note.path for note in notes] == [(0,)]


def test_what_pydantic_cannot_write_at_all_is_refused() -> None:
    user = User(name="Ada")
    user.name = object()
    with pytest.raises(EncodeError, match="Unable to serialize unknown type"):
        Codec(User).encode(user)
    with pytest.raises(EncodeError, match="JSON"):
        Codec(User).encode_leniently(user)


class Chain(pydantic.BaseModel):
    name: str
    next: Chain | None = None


def test_a_recursive_model_is_told_apart_from_text():
    assert Codec(Chain | str).decode("a") == "a"
    assert Codec(Chain | str).decode({"name": "a"}) == Chain(name="a")
