"""What `--context` may name: whatever is opened for a call is closed after it."""

from __future__ import annotations

import asyncio

import pytest

from operator_schema.workbench.cli.contexts import GivenContext, OpenContexts
from operator_schema.workbench.cli.module_loading import WrongUse

pytestmark = pytest.mark.needs_threads

MODULE = """
import contextlib
import shelve
from typing import Annotated

from operator_schema import skip, tool


class Db:
    def __init__(self, name="mapping"):
        self.name = name


@tool
async def seen(db: Annotated[Db, skip]) -> str:
    "Say what is seen."
    return f"{db.name} {events}"


@tool
def seen_plainly(db: Annotated[Db, skip]) -> str:
    "Say what is seen."
    return f"{db.name} {events}"


events = []
mapping = {Db: Db()}


def returns():
    return {Db: Db("returned")}


async def returns_later():
    events.append("awaited")
    return {Db: Db("returned later")}


@contextlib.contextmanager
def opens():
    events.append("opened")
    yield {Db: Db("plain")}
    print("closed")


@contextlib.asynccontextmanager
async def opens_later():
    events.append("opened")
    yield {Db: Db("async")}
    print("closed")


async def returns_a_manager():
    return opens_later()


class Manager:
    async def __aenter__(self):
        return {Db: Db("of a class")}

    async def __aexit__(self, *args):
        print("closed")


manager = Manager()
fits_all = lambda: returns_later()


async def fails_later():
    raise LookupError("no database")


@contextlib.asynccontextmanager
async def fails_to_open():
    raise LookupError("no database")
    yield {}


@contextlib.asynccontextmanager
async def fails_to_close():
    yield {Db: Db("open")}
    raise LookupError("no end")


async def ends():
    raise SystemExit(3)


async def gives_nothing():
    return None


@contextlib.contextmanager
def opens_nothing():
    yield


async def undecorated():
    yield {}


def undecorated_too():
    yield {}
"""


@pytest.fixture
def app(folder, here):  # noqa: ARG001  # where it runs
    (folder / "contexts.py").write_text(MODULE, encoding="utf-8")
    yield "contexts"
    (folder / "contexts.py").unlink()


@pytest.fixture
def call(app, run, monkeypatch):
    import sys

    def ask(context, tool="seen"):
        monkeypatch.delitem(sys.modules, app, raising=False)
        return run("call", "--context", f"{app}:{context}", f"{app}:{tool}")

    return ask


@pytest.mark.parametrize("tool", ["seen", "seen_plainly"])
@pytest.mark.parametrize(
    ("context", "seen", "said"),
    [
        ("mapping", "mapping []", ""),
        ("returns", "returned []", ""),
        ("returns_later", "returned later ['awaited']", ""),
        ("opens", "plain ['opened']", "closed\n"),
        ("opens_later", "async ['opened']", "closed\n"),
        ("returns_a_manager", "async ['opened']", "closed\n"),
        ("manager", "of a class []", "closed\n"),
        ("fits_all", "returned later ['awaited']", ""),
    ],
)
def test_it_is_opened_for_the_call_and_closed_after_it(call, context, seen, said, tool):
    assert call(context, tool) == (0, f"{seen}\n", said)


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("fails_later", "fails_later() failed: LookupError: no database (contexts.py, line "),
        ("fails_to_open", "fails_to_open() failed: LookupError: no database (contexts.py, line "),
        ("fails_to_close", "fails_to_close failed at its end: LookupError: no end (contexts.py, line "),
        ("ends", "ends() failed: SystemExit: 3"),
        ("gives_nothing", "gives_nothing returns a NoneType, not a mapping such as {Db: db}"),
        ("opens_nothing", "opens_nothing gives a NoneType, not a mapping such as {Db: db}"),
        (
            "undecorated",
            "an async_generator, not a mapping; decorate it with @contextlib.asynccontextmanager",
        ),
        (
            "undecorated_too",
            "undecorated_too returns a generator, not a mapping; decorate it with @contextlib.contextmanager",
        ),
        ("MODULE", "has no MODULE"),
    ],
)
def test_what_is_no_context_says_so(call, context, message):
    status, out, err = call(context)
    assert (status, out) == (2, "")
    assert message in err


def manager_of(name, events, *, fails=False):
    class Manager:
        async def __aenter__(self):
            events.append((f"{name} opens", asyncio.current_task()))
            if fails:
                raise LookupError
            return {"name": name}

        async def __aexit__(self, *_):
            events.append((f"{name} closes", asyncio.current_task()))

    return GivenContext(name, Manager(), show_traceback=False)


def test_a_reload_closes_the_context_before_the_last():
    events = []

    async def main():
        contexts = OpenContexts()
        assert await contexts.open(None) is None
        for name in "abc":
            assert await contexts.open(manager_of(name, events)) == {"name": name}
        with pytest.raises(WrongUse, match=r"d\(\) failed: LookupError"):
            await contexts.open(manager_of("d", events, fails=True))
        await contexts.close()
        await contexts.close()

    asyncio.run(main())
    assert [event for event, _ in events] == [
        *("a opens", "b opens", "c opens", "a closes", "d opens", "c closes", "b closes")
    ]
    tasks = {name: {task for event, task in events if event[0] == name} for name in "abc"}
    assert [len(task) for task in tasks.values()] == [1, 1, 1]
    assert len(set.union(*tasks.values())) == 3
