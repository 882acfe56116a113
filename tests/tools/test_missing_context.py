"""What a program reads when its context lacks what a tool needs."""

from __future__ import annotations

import pickle
from typing import Annotated

import pytest

from operator_schema import skip, tool
from operator_schema.errors import MissingContextError


class Db:
    pass


@tool
def store(name: str, db: Annotated[Db | None, skip], other: Annotated[int, skip] = 1) -> str:
    return name


@pytest.mark.parametrize("context", [{"Db": Db()}, {"Db": Db(), "x": 1}])
def test_the_name_of_a_class_in_place_of_the_class(context):
    with pytest.raises(MissingContextError) as caught:
        store.run({"name": "a"}, context=context)
    assert str(caught.value).endswith(
        'or by type (context={Db: …}); the context has the text "Db" as a key, not the class'
    )
    assert caught.value.parameters == ("db",)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.parameters) == (str(caught.value), ("db",))


def test_a_parameter_without_a_type_is_given_by_name():
    @tool(skip=("db",))
    def count(db) -> int: ...

    with pytest.raises(MissingContextError, match=r'by name \(db=… or context=\{"db": …\}\)$'):
        count.run({})


@pytest.mark.parametrize("context", [None, {}, {"int": 1}, {"name": 1}])
def test_no_hint_where_no_name_of_a_class_is_given(context):
    with pytest.raises(MissingContextError, match=r"by type \(context=\{Db: …\}\)$"):
        store.run({"name": "a"}, context=context)
    assert store.run({"name": "a"}, context={Db: Db()}) == "a"


@pytest.mark.parametrize("key", ["dbb", "DB", "d_b"])
def test_a_name_in_the_context_that_is_nearly_the_parameter(key):
    @tool(skip=("db",))
    def count(db) -> int: ...

    with pytest.raises(MissingContextError) as caught:
        count.run({}, context={Db: Db(), "user": 1, key: Db()})
    assert str(caught.value).endswith(f'; the context has "{key}": did you mean "db"?')


def test_the_name_of_another_parameter_is_not_what_was_meant():
    @tool(skip=("db", "db1"))
    def count(db, db1) -> int: ...

    with pytest.raises(MissingContextError, match=r"\}\)$"):
        count.run({}, context={"db": 1})
    with pytest.raises(MissingContextError, match=r"\}\)$"):
        count.run({}, context={"other": 1})
