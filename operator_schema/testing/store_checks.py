"""Does a store keep the promises of stores?"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import signal
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from ..execution import Executor
from ..message_text import one_line, received, show_error
from ..rounds import (
    HookError,
    InterruptedRoundError,
    RestoreError,
    Round,
    RoundError,
    StoreError,
    Toolset,
    Turn,
    databases,
    hook,
)
from ..tools.calls import RawCall
from ..tools.function import tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from ..rounds import Store, StuckRound

_PROCESSES = 4
_MANY = 50
_PAGE = 7
_PATIENCE = 120.0
_CODES = ("done", "running", "changed", "taken_back")


class MakeStore(Protocol):
    """A function that opens the store to check; each call must return a store over the same database."""

    def __call__(self) -> Store:
        """Open the store."""
        ...


def check_store(make: MakeStore, *, away: Callable[[], AbstractContextManager[Any]] | None = None) -> None:
    """Check that a store gives a round to one process only, and loses and repeats nothing.

    It runs rounds in this process and in others, some of which it kills with SIGKILL, and writes into the
    database of the store: give one that has nothing else.

    Args:
        make: opens the store, over the same database each time. Other processes call it too, so it is a
            function of a module, or a `functools.partial` of one.
        away: returns a context manager in whose block the database can't be reached, such as one that stops
            the server and starts it again; None if you have nothing like that. The behaviour of the store
            without its database is only checked with it.

    Raises:
        AssertionError: the store breaks a promise; the message lists all that it breaks.
        TypeError: `make` isn't a function that other processes can call.
    """
    _check_is_for_all(make)
    faults: list[str] = []
    checks: list[Callable[[MakeStore], None]] = [*CHECKS]
    if away is not None:
        checks.append(lambda made: _survives_an_outage(made, away))
    for check in checks:
        try:
            check(make)
        except Exception as error:  # noqa: BLE001  # a store may raise anything: that is what is looked for
            promise = (check.__doc__ or _GOES_ON).strip()
            faults.append(f"- {promise} But: {show_error(error)}")
    if faults:
        message = "\n".join([f"the store breaks {len(faults)} of {len(checks)} promises:", *faults])
        raise AssertionError(message)


def _check_is_for_all(make: object) -> None:
    if not callable(make):
        message = f"check_store opens the store often, so it takes a function that does, not {received(make)}"
        raise TypeError(message)
    try:
        pickle.dumps(make)
    except Exception as error:  # noqa: BLE001  # a function may have any __reduce__
        why = one_line(str(error), 200)
        message = (
            f"other processes open the store, too: give a function of a module, not {received(make)} ({why})"
        )
        raise TypeError(message) from None


_GOES_ON = "A store reports that its database is away, and works again afterwards."

# --- the program whose rounds are stored -----------------------------------------------------------

_RAN: list[str] = []
_STOPS: dict[str, Callable[[], None]] = {}
"""By place in the program, a function to call there, such as one that ends the process."""


def _pass_place(place: str) -> None:
    _STOPS.get(place, lambda: None)()


class _StopError(Exception):
    """An exception that the executor passes through."""


@tool
def look(order: str) -> str:
    """Look up an order."""
    _pass_place("in a call")
    _RAN.append(f"look {order}")
    return f"{order} is there"


@tool(confirm=True)
def refund(order: str) -> str:
    """Pay money back."""
    _RAN.append(f"refund {order}")
    if order == "stop":
        raise _StopError
    return f"paid {order}"


@tool
async def wait(seconds: float) -> str:
    """Wait."""
    _pass_place("in a wait")
    await asyncio.sleep(seconds)
    return "waited"


@hook(look)
def _deciding(_: Any) -> None:
    _pass_place("while deciding")


_TOOLS = Toolset(look, refund, wait)


def _executor(store: Store, **options: Any) -> Executor:
    return Executor(_TOOLS, hooks=[_deciding], store=store, threads=False, **options)


def _round_of(*calls: tuple[str, Any]) -> Round[Any]:
    """Return a round of calls, each the name of a tool and its argument."""
    raw = [
        RawCall(f"call_{at}", name, {"seconds" if name == "wait" else "order": given})
        for at, (name, given) in enumerate(calls)
    ]
    return _TOOLS.offer().round(raw)


def _asked(store: Store, order: str = "A7") -> Round[Any]:
    """Return a round in the store that waits for a person."""
    return _executor(store).run_sync(_round_of(("look", order), ("refund", order)))


def _approved(work: Round[Any]) -> Round[Any]:
    for call in work.deferred:
        work = work.approve(call)
    return work


def _expect(is_so: object, what: str) -> None:
    if not is_so:
        raise AssertionError(what)


def _refuses(use: Callable[[], object], *codes: str) -> None:
    try:
        found = use()
    except StoreError as error:
        wanted = codes or _CODES
        _expect(error.code in wanted, f"the code of {error} is {error.code}, not {' or '.join(wanted)}")
    else:
        what = f"it gave {found!r} in place of a StoreError"
        raise AssertionError(what)


def _waiting(store: Store) -> list[str]:
    return [one.id for one in store.waiting()]


# --- other processes -------------------------------------------------------------------------------

_SPAWN: Any = multiprocessing.get_context("spawn")
"""Processes start with a new interpreter, because a fork breaks the connections and threads of drivers."""


def _other(target: Callable[..., None], *arguments: Any) -> Any:
    process = _SPAWN.Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def _join(process: Any) -> int:
    process.join(_PATIENCE)
    if process.exitcode is None:
        process.kill()
        what = f"a process hasn't ended after {_PATIENCE:.0f} seconds"
        raise AssertionError(what)
    return int(process.exitcode)


def _click(make: MakeStore, round_id: str, barrier: Any, found: Any) -> None:
    """Load a round, approve its calls and run it, at the same time as other processes."""
    store = make()
    work = _approved(store.load(round_id, _TOOLS))
    barrier.wait(_PATIENCE)
    try:
        _executor(store).run_sync(work)
    except StoreError as error:
        found.put(error.code)
    else:
        found.put(f"ran {len(_RAN)}")


def _after_each_call(store: Store, then: Callable[[], object]) -> None:
    """Do something each time that the store has saved a call that ended."""
    keep_call = store.keep_call

    def keep_and_then(claimed: Round[Any], call: Any) -> None:
        keep_call(claimed, call)
        then()

    vars(store)["keep_call"] = keep_and_then


def _die(make: MakeStore, place: str, round_id: str) -> None:
    """Run a round, and be killed at a place."""

    def kill() -> None:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    store = make()
    _STOPS[place] = kill
    if place == "after a call":
        _after_each_call(store, kill)
    second = ("wait", 3600.0) if place == "after a call" else ("refund", "A7")
    work = _approved(store.load(round_id, _TOOLS)) if round_id else _round_of(("look", "A7"), second)
    if place == "before it is taken":
        kill()
    done = _executor(store, max_concurrency=1).run_sync(work)
    if place == "after the run":
        kill()
    done.commit(store.transcript("died"))


# --- the promises ----------------------------------------------------------------------------------


def _one_runs(make: MakeStore) -> None:
    """If several processes run the same round at once, only one of them runs it."""
    waiting = _asked(make())
    barrier, found = _SPAWN.Barrier(_PROCESSES), _SPAWN.Queue()
    others = [_other(_click, make, waiting.id, barrier, found) for _ in range(_PROCESSES)]
    said = sorted([found.get(timeout=_PATIENCE) for _ in others])
    for process in others:
        _join(process)
    ran = [one for one in said if one.startswith("ran")]
    _expect(ran == ["ran 1"], f"{_PROCESSES} processes said {said}")
    done = make().load(waiting.id, _TOOLS)
    _expect(done.is_complete, f"afterwards the round is {done!r}")


def _a_new_round_is_taken_once(make: MakeStore) -> None:
    """A round that the store doesn't have yet is taken by the first process that runs it."""
    store, work = make(), _round_of(("look", "A7"))
    store.claim(work)
    _refuses(lambda: make().claim(work), "running")


def _what_runs_is_nobody_elses(make: MakeStore) -> None:
    """A round that runs can't be loaded, run or committed by anybody else."""
    store = make()
    waiting = _asked(store)
    claimed = store.claim(_approved(waiting))
    _expect(waiting.id not in _waiting(store), "a round that runs is listed as waiting")
    _refuses(lambda: make().load(waiting.id, _TOOLS), "running")
    _refuses(lambda: make().claim(_approved(waiting)), "running")
    _refuses(lambda: make().transcript("a").commit_turn(_turn_of(waiting), None))
    store.give_back(claimed)


def _old_decisions_change_nothing(make: MakeStore) -> None:
    """A decision about an older state of a round is refused."""
    store = make()
    waiting = _asked(store)
    first = _executor(store).run_sync(store.load(waiting.id, _TOOLS).reject_open("no"))
    _refuses(lambda: _executor(make()).run_sync(_approved(waiting)), "changed")
    kept = store.load(waiting.id, _TOOLS)
    _expect(kept == first, f"it changed the round to {kept!r}")


def _failed_hooks_leave_it(make: MakeStore) -> None:
    """A hook that fails leaves the round unchanged."""

    @hook(look)
    def fails(_: Any) -> None:
        raise ValueError

    store = make()
    work = _round_of(("look", "A7"))
    with suppress(HookError):
        Executor(_TOOLS, hooks=[fails], store=store, threads=False).run_sync(work)
    _expect(work.id not in [one.id for one in store.stuck()], "the round is stuck")
    _RAN.clear()
    _executor(store).run_sync(work)
    _expect(_RAN == ["look A7"], f"afterwards it ran {_RAN}")


def _results_are_kept(make: MakeStore) -> None:
    """Calls that ended before an exception or a cancellation keep their results."""
    store = make()
    work = _approved(_executor(store).run_sync(_round_of(("look", "A7"), ("refund", "stop"))))
    with suppress(InterruptedRoundError):
        _executor(store, pass_through=(_StopError,), max_concurrency=1).run_sync(work)
    kept = store.load(work.id, _TOOLS)
    _expect(kept.calls[0].state == "handled", f"after an exception the round is {kept!r}")

    async def cancelled(sent: Round[Any]) -> None:
        task = asyncio.ensure_future(_executor(store, max_concurrency=1).run(sent))
        begun = asyncio.Event()
        _STOPS["in a wait"] = begun.set
        await begun.wait()
        task.cancel()
        await asyncio.wait([task])

    sent = _round_of(("look", "B8"), ("wait", 3600.0))
    asyncio.run(cancelled(sent))
    kept = store.load(sent.id, _TOOLS)
    _expect(kept.calls[0].state == "handled", f"after a cancellation the round is {kept!r}")
    waits = bool(kept.deferred) and not kept.calls[1].approved
    _expect(waits, "the call that was cancelled doesn't wait for a person")


def _killed(make: MakeStore) -> None:
    """A process that is killed loses nothing, and nothing runs again without a person."""
    for place in ("before it is taken", "while deciding", "in a call", "after a call", "after the run"):
        store = make()
        known = {*_waiting(store), *[one.id for one in store.stuck()]}
        _join(_other(_die, make, place, ""))
        left = [one for one in store.stuck() if one.id not in known]
        waiting = [one for one in _waiting(store) if one not in known]
        if place == "before it is taken":
            _expect(not left and not waiting, f"killed {place}, it left {left or waiting}")
        elif place == "after the run":
            _expect(waiting and not left, f"killed {place}, the round isn't one that waits")
            kept = store.load(waiting[0], _TOOLS)
            _expect([call.state for call in kept.calls] == ["handled", "deferred"], f"it left {kept!r}")
        else:
            _expect(len(left) == 1, f"killed {place}, it left {left}")
            _check_after_death(store, place, left[0])


_AFTER_DEATH = {
    "while deciding": ["pending", "pending"],
    "in a call": ["deferred", "deferred"],
    "after a call": ["handled", "deferred"],
}
"""The states of the calls of a round that is taken back, by the place where its process died."""


def _check_after_death(store: Store, place: str, left: StuckRound) -> None:
    """Check the state of a round whose process was killed."""
    begun = place != "while deciding"
    _expect(left.has_begun is begun, f"killed {place}, has_begun is {left.has_begun}")
    _expect(left.owner is not None and left.owner.pid != os.getpid(), f"its owner is {left.owner}")
    _refuses(lambda: store.load(left.id, _TOOLS), "running")
    if left.is_running:
        _refuses(lambda: store.take_back(left.id, _TOOLS), "running")
    back = store.take_back(left.id, _TOOLS, force=True)
    _expect([call.state for call in back.calls] == _AFTER_DEATH[place], f"killed {place}, it gave {back!r}")
    approved = [call.id for call in back.calls if call.approved]
    _expect(not approved, f"killed {place}, a call counts as approved")


def _leases(make: MakeStore) -> None:
    """A round that runs is taken back only by force, as long as its process renews its lease."""
    store, work = make(), _round_of(("look", "A7"), ("wait", 3600.0))

    async def looks() -> None:
        loop, saved = asyncio.get_running_loop(), asyncio.Event()
        _after_each_call(store, lambda: loop.call_soon_threadsafe(saved.set))
        task = asyncio.ensure_future(_executor(store).run(work))
        await asyncio.wait(
            [task, asyncio.ensure_future(saved.wait())], timeout=_PATIENCE, return_when="FIRST_COMPLETED"
        )
        _expect(saved.is_set(), "a call that ended isn't saved while another one runs")
        (one,) = [one for one in make().stuck() if one.id == work.id]
        _expect(one.is_running, "a round that runs isn't shown as running")
        _expect(one.owner is not None and one.owner.pid == os.getpid(), f"its owner is {one.owner}")
        _refuses(lambda: make().take_back(work.id, _TOOLS), "running")
        back = make().take_back(work.id, _TOOLS, force=True)
        states = [call.state for call in back.calls]
        _expect(states == ["handled", "deferred"], f"while a call still ran, it gave {back!r}")
        task.cancel()
        await asyncio.wait([task])
        _expect(make().load(work.id, _TOOLS) == back, "the process that had it changed it")

    asyncio.run(looks())


def _ahead(make: MakeStore, seconds: float, found: Any) -> None:
    """Take a round in a process whose clock is ahead."""
    real = time.time
    for module in (time, databases):
        setattr(module, "time", lambda: real() + seconds)  # noqa: B010  # a module has no such attribute to assign
    found.put(make().claim(_round_of(("look", "A7")), is_renewed=True).id)


def _clocks(make: MakeStore) -> None:
    """If the database has a clock, it counts, and not those of the processes."""
    if make().database.clock is None:
        return
    for seconds in (-7200.0, 7200.0):
        found = _SPAWN.Queue()
        process = _other(_ahead, make, seconds, found)
        name = found.get(timeout=_PATIENCE)
        _join(process)
        (one,) = [one for one in make().stuck() if one.id == name]
        _expect(one.is_running, f"with a clock {seconds} s ahead, the round doesn't count as running")
        _expect(abs(one.seconds) < _PATIENCE, f"with a clock {seconds} s ahead, it began {one.seconds} s ago")


def _decided_elsewhere(make: MakeStore) -> None:
    """Decisions can be saved without running, and somebody else finds and runs them."""
    store = make()
    waiting = _asked(store)
    decided = store.save(_approved(waiting))
    _refuses(lambda: make().save(waiting.reject_open("no")), "changed")
    found = [one.id for one in make().waiting(state="pending")]
    _expect(decided.id in found, "the decided round isn't listed as pending")
    done = _executor(make()).run_sync(make().load(decided.id, _TOOLS))
    _expect(done.is_complete, f"it ran as {done!r}")


def _lists(make: MakeStore) -> None:
    """Rounds that wait are listed in pages, found by what they are about, and counted."""
    store = make()
    last = max([one.position for one in store.waiting()], default=0)
    before = store.counts()
    for number in range(_MANY):
        name = f"list {number % 3}"
        work = _TOOLS.offer().round(
            [RawCall("1", "refund", {"order": "A7"})], conversation=name, about={"number": number}
        )
        store.save(work.confirmed())
    pages: list[Any] = []
    while page := make().waiting(after=last, limit=_PAGE):
        _expect(len(page) <= _PAGE, f"a page has {len(page)} rounds")
        pages += page
        last = page[-1].position
    _expect([one.about for one in pages] == [{"number": n} for n in range(_MANY)], "the pages differ")
    _expect({one.tools for one in pages} == {("refund",)}, "the tools that wait are others")
    one = store.waiting(conversation="list 1", tool="refund", state="deferred", older_than=0)
    _expect([found.id for found in one] == [found.id for found in pages[1::3]], "a filter finds others")
    _expect(not store.waiting(conversation="list 1", tool="look"), "a filter finds too many")
    _expect(store.counts().deferred == before.deferred + _MANY, "the counts are others")


def _taken_back(make: MakeStore) -> None:
    """A process whose round was taken back can't change it any more."""
    store = make()
    slow = store.claim(_asked(store))
    back = make().take_back(slow.id, _TOOLS, force=True)
    for use in (
        lambda: store.keep(slow, slow),
        lambda: store.begin(slow),
        lambda: store.give_back(slow),
        lambda: store.take_back(slow.id, _TOOLS),
    ):
        _refuses(use)
    _expect(make().load(slow.id, _TOOLS) == back, "it changed the round")


def _committed_once(make: MakeStore) -> None:
    """A turn is committed once, and its round never runs again."""
    store = make()
    waiting = _asked(store)
    done = _executor(store).run_sync(_approved(waiting))
    copy = store.load(waiting.id, _TOOLS)
    turn = done.commit(store.transcript("once"))
    twice = make().transcript("twice")
    for again in (lambda: copy.commit(twice), lambda: store.transcript("once").append(turn)):
        try:
            again()
        except RoundError:
            continue
        what = "it took a turn twice"
        raise AssertionError(what)
    _refuses(lambda: make().claim(copy), "done")
    _refuses(lambda: make().load(waiting.id, _TOOLS), "done")
    _expect(list(make().transcript("once")) == [turn], "the transcript has another turn")
    _expect(not list(twice), "a refused turn is in a transcript")


_ITEMS: Any = (
    "",
    "Grüße \U0001f600 \ud800 \0",
    {"role": "user", "content": [{"type": "image", "data": "A" * 100_000}]},
    {"role": "user", "content": 10**400},
    {"role": "user", "content": [1.5, -0.0, True, None, {"": {}}]},
)


def _items(make: MakeStore) -> None:
    """A transcript returns the items that it got, in their order, under any name."""
    for name in ("odd", "Ünï \U0001f600", "' ; -- %s ? {}", "x" * 1000):
        store = make()
        for item in _ITEMS:
            store.transcript(name).append(item)
        found = list(make().transcript(name))
        _expect(found == [*_ITEMS], f"the transcript {name[:20]!r} has {str(found)[:200]}")
        _expect(len(store.transcript(name)) == len(_ITEMS), "its length is another one")
        _expect(name in make().transcripts(), f"{name[:20]!r} isn't listed")


def _in_order(make: MakeStore) -> None:
    """Rounds that wait are listed, the oldest first, and threads share a store."""
    store = make()
    known = _waiting(store)
    made = [_asked(store, str(number)).id for number in range(20)]
    _expect([one for one in _waiting(store) if one not in known] == made, "the order is another one")
    failed: list[BaseException] = []

    def use(number: int) -> None:
        try:
            done = _executor(store).run_sync(_approved(store.load(made[number], _TOOLS)))
            done.commit(store.transcript("shared"))
        except BaseException as error:  # noqa: BLE001  # it is shown by the thread that waits for this one
            failed.append(error)

    threads = [threading.Thread(target=use, args=(number,)) for number in range(len(made))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_PATIENCE)
    _expect(not failed, f"of {len(threads)} threads {len(failed)} failed: {failed[:1]}")
    _expect(len(store.transcript("shared")) == len(made), "a turn is lost")


def _absent_rounds_are_named(make: MakeStore) -> None:
    """An absent round is refused with its own code, and a toolset that doesn't fit is named."""
    store = make()
    for use in (store.load, store.take_back):
        for name in ("round_0", "", "\ud800", "\0", "' OR 1=1 --"):
            _refuses(lambda: use(name, _TOOLS), "done")  # noqa: B023  # it is called at once
    waiting = _asked(store)
    try:
        store.load(waiting.id, Toolset(look))
    except RestoreError as error:
        _expect(error.round is not None, "the round that still fits isn't given")
    else:
        what = "a round was loaded without its tool"
        raise AssertionError(what)


def _survives_an_outage(make: MakeStore, away: Callable[[], AbstractContextManager[Any]]) -> None:
    store = make()
    waiting = _asked(store)
    with away():
        _refuses(lambda: store.load(waiting.id, _TOOLS), "unavailable")
        try:
            _executor(store).run_sync(_approved(waiting))
        except StoreError as error:
            _expect(error.code == "unavailable", f"its code is {error.code}")
        else:
            what = "a round ran that could not be taken"
            raise AssertionError(what)
    done = _executor(store).run_sync(_approved(store.load(waiting.id, _TOOLS)))
    _expect(done.is_complete, "the round can't go on afterwards")

    def leaves() -> None:
        with away():
            pass

    _STOPS["in a call"] = leaves
    try:
        work = _executor(store).run_sync(_round_of(("look", "B8"), ("refund", "B8")))
    finally:
        del _STOPS["in a call"]
    kept = make().load(work.id, _TOOLS)
    _expect([call.state for call in kept.calls] == ["handled", "deferred"], f"it kept {kept!r}")


def _turn_of(work: Round[Any]) -> Turn:
    rejected = work.reject_open("no")
    return rejected.commit([])


CHECKS: tuple[Callable[[MakeStore], None], ...] = (
    _absent_rounds_are_named,
    _a_new_round_is_taken_once,
    _what_runs_is_nobody_elses,
    _old_decisions_change_nothing,
    _failed_hooks_leave_it,
    _results_are_kept,
    _taken_back,
    _leases,
    _clocks,
    _committed_once,
    _decided_elsewhere,
    _items,
    _in_order,
    _lists,
    _one_runs,
    _killed,
)
