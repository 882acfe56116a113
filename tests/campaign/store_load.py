# ruff: noqa: S311, ASYNC110, ASYNC240, T201  # dice and short waits of a program that only developers start
"""Run a support desk under load: workers that are killed, decisions elsewhere, a database that goes away.

Each worker is a process with an event loop. A conversation takes turns: a look-up and a voucher, and sometimes
a refund that needs a person. Whoever finds a broken connection goes on at another worker, which looks into the
store for the open round of the conversation: the program notes nothing of its own. In the end it is counted
what ran twice, what is lost, and what ran though nobody had agreed to it.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext, suppress
from pathlib import Path

from operator_schema import DecodeError, Executor, RawCall, RoundError, Toolset, Turn, tool
from operator_schema.rounds import INTERRUPTED, RestoreError, SqliteStore

HERE = Path(__file__).resolve().parent
SECRET = b"0123456789abcdef0123456789abcdef"
LEASE = 3.0
REFUNDS, AGREED = 0.3, 0.8


def note(ledger, line):
    """Write down what was done, as another system would."""
    file = os.open(ledger, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, f"{line}\n".encode())
    os.close(file)


def tools_of(ledger):
    @tool
    async def look_up(key: str) -> str:
        """Look up an order."""
        await asyncio.sleep(0.01)
        return f"{key}: 3 apples for 6 USD"

    @tool
    async def voucher(key: str) -> str:
        """Send a voucher."""
        await asyncio.sleep(0.01)
        note(ledger, f"voucher {key}")
        await asyncio.sleep(0.01)
        return "sent"

    @tool(confirm=True)
    async def refund(key: str) -> str:
        """Pay money back."""
        await asyncio.sleep(0.01)
        note(ledger, f"refund {key}")
        await asyncio.sleep(0.01)
        return "paid"

    return Toolset(look_up, voucher, refund)


def opened(where):
    if where.startswith("pg:"):
        from operator_schema.adapters.postgres import PostgresStore

        return PostgresStore(where[3:], secret=SECRET, lease=LEASE)
    return SqliteStore(where, secret=SECRET, lease=LEASE)


def has_refund(key):
    return random.Random(key).random() < REFUNDS


def is_agreed(key):
    return random.Random(f"{key} person").random() < AGREED


# --- a worker --------------------------------------------------------------------------------------


class Desk:
    def __init__(self, where, ledger):
        self.tools = tools_of(ledger)
        self.store = opened(where)
        self.executor = Executor(self.tools, store=self.store)
        self.lags = []

    async def model(self, items):
        """Answer the last message of the user with calls, and a turn with calls with none."""
        await asyncio.sleep(random.uniform(0.025, 0.075))
        if isinstance(items[-1], Turn) and items[-1].calls:
            return []
        key = next(item for item in reversed(items) if isinstance(item, str))
        names = ["look_up", "voucher", *(["refund"] if has_refund(key) else [])]
        return [RawCall(f"{key} {name}", name, {"key": key}) for name in names]

    async def go_on(self, name, work):
        history = self.store.transcript(name)
        while True:
            if work is None:
                items = await asyncio.to_thread(history.last, 3)
                work = self.tools.offer().round(await self.model(items))
            if not work.is_complete or work.revision is None:
                work = await self.executor.run(work, history)
            if not work.is_complete:
                return {"waits": work.id, "calls": [self.shown(call) for call in work.deferred]}
            turn = await work.acommit(history)
            if not turn.calls:
                return {"done": True}
            work = None

    def shown(self, call):
        return call.id, call.arguments["key"], call.name, call.reason == INTERRUPTED

    async def say(self, conversation, text):
        history = self.store.transcript(conversation)
        items = await asyncio.to_thread(history.last, 3)
        if text not in items:
            await asyncio.to_thread(history.append, text)
            return await self.go_on(conversation, None)
        return await self.resume(conversation, items)

    async def resume(self, conversation, items):
        """Go on after a crash: the store knows the open round of a conversation."""
        taken = [one for one in await asyncio.to_thread(self.store.stuck) if one.conversation == conversation]
        if taken:
            work = await asyncio.to_thread(self.store.take_back, taken[0].id, self.tools)
        else:
            found = await asyncio.to_thread(lambda: self.store.waiting(conversation=conversation))
            if not found and isinstance(items[-1], Turn) and not items[-1].calls:
                return {"done": True}
            if not found:
                return await self.go_on(conversation, None)
            work = await asyncio.to_thread(self.store.load, found[0].id, self.tools)
        if work.deferred:
            return {"waits": work.id, "calls": [self.shown(call) for call in work.deferred]}
        return await self.go_on(conversation, work)

    async def decide(self, conversation, round_id, calls):
        work = await asyncio.to_thread(self.store.load, round_id, self.tools)
        for call, agreed in calls:
            work = work.approve(call, by="person") if agreed else work.reject(call, "A person said no.")
        return await self.go_on(conversation, work)

    async def serve(self, reader, writer):
        try:
            what, *given = json.loads(await reader.readline())
            try:
                found = self.lags if what == "lags" else await getattr(self, what)(*given)
            except (RoundError, DecodeError, RestoreError) as error:
                found = {"error": getattr(error, "code", type(error).__name__), "text": str(error)}
            writer.write(json.dumps(found).encode() + b"\n")
            await writer.drain()
        finally:
            writer.close()

    async def watch(self):
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.005)
            self.lags.append(time.perf_counter() - began - 0.005)


async def work_at(socket, where, ledger):
    desk = Desk(where, ledger)
    server = await asyncio.start_unix_server(desk.serve, socket, limit=2**26)
    async with server:
        await desk.watch()


# --- the load --------------------------------------------------------------------------------------


class Load:
    def __init__(self, options, where, folder):
        self.options, self.where = options, where
        self.ledger = folder / "ledger"
        self.ledger.touch()
        self.sockets = [str(folder / f"worker{number}") for number in range(options.workers)]
        self.processes = {}
        self.kills, self.finished = 0, 0
        self.errors = collections.Counter()

    async def start(self, socket):
        Path(socket).unlink(missing_ok=True)
        command = (sys.executable, str(Path(__file__)), "--worker", socket, self.where, str(self.ledger))
        self.processes[socket] = await asyncio.create_subprocess_exec(*command)

    async def ask(self, socket, *what):
        try:
            reader, writer = await asyncio.open_unix_connection(socket, limit=2**26)
            try:
                writer.write(json.dumps(what).encode() + b"\n")
                line = await reader.readline()
            finally:
                writer.close()
            return json.loads(line) if line else None
        except (OSError, ValueError):
            return None

    def did(self, name, key):
        return f"{name} {key}\n" in self.ledger.read_text()

    async def conversation(self, number):
        name = f"c{number}"
        for turn in range(self.options.turns):
            key = f"{name}.{turn}"
            found = await self.ask(random.choice(self.sockets), "say", name, key)
            while not (found or {}).get("done"):
                if found and "waits" in found:
                    await asyncio.sleep(random.uniform(0, self.options.wait))
                    calls = [
                        # A person looks into the other system before a call runs again.
                        (call, not self.did(tool_name, of) if again else is_agreed(of))
                        for call, of, tool_name, again in found["calls"]
                    ]
                    found = await self.ask(random.choice(self.sockets), "decide", name, found["waits"], calls)
                    continue
                self.errors[(found or {"error": "broken connection"})["error"]] += 1
                await asyncio.sleep(0.3)
                found = await self.ask(random.choice(self.sockets), "say", name, key)
            self.finished += 1

    async def kill(self):
        while True:
            await asyncio.sleep(random.uniform(0.5, 1.5) * self.options.kills)
            socket = random.choice(self.sockets)
            self.processes[socket].send_signal(signal.SIGKILL)
            await self.processes[socket].wait()
            self.kills += 1
            await self.start(socket)

    async def away(self, server):
        await asyncio.sleep(self.options.away_at)
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(4)
        for _ in range(5):  # as a supervisor does: workers that connect meanwhile may delay its end
            try:
                await asyncio.to_thread(server.start)
            except subprocess.CalledProcessError as error:
                print(error, error.stderr)
                await asyncio.sleep(1)
            else:
                return

    async def run(self, server):
        await asyncio.gather(*[self.start(socket) for socket in self.sockets])
        for socket in self.sockets:
            while await self.ask(socket, "lags") is None:
                await asyncio.sleep(0.1)
        began = time.perf_counter()
        beside = [asyncio.create_task(self.kill())] if self.options.kills else []
        if server is not None and self.options.away_at:
            beside.append(asyncio.create_task(self.away(server)))
        await asyncio.gather(*[self.conversation(number) for number in range(self.options.conversations)])
        took = time.perf_counter() - began
        for task in beside:
            task.cancel()
        lags = [lag for socket in self.sockets for lag in await self.ask(socket, "lags") or []]
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()
        return self.report(took, sorted(lags))

    def report(self, took, lags):
        effects = collections.Counter(self.ledger.read_text().split("\n")[:-1])
        total = self.options.conversations * self.options.turns
        keys = [f"c{c}.{t}" for c in range(self.options.conversations) for t in range(self.options.turns)]
        agreed = {f"refund {key}" for key in keys if has_refund(key) and is_agreed(key)}
        wanted = {f"voucher {key}" for key in keys} | agreed
        twice = [name for name, count in effects.items() if count > 1]
        # A person who was asked about a call that began may say no to it: then it isn't lost.
        lost = total - self.finished
        unapproved = sorted(name for name in set(effects) - wanted)
        print(f"{self.where.split(':')[0][:40]}: {total} turns in {took:.1f} s, {total / took:.1f} a second")
        print(f"  {self.kills} workers killed; not reached: {dict(self.errors)}")
        print(
            f"  twice {len(twice)}, lost turns {lost}, unapproved {len(unapproved)}",
            twice[:5],
            unapproved[:5],
        )
        print(f"  effects missing: {len(wanted - set(effects))}", sorted(wanted - set(effects))[:5])
        if lags:
            p99 = lags[int(len(lags) * 0.99)]
            print(f"  the loop is late by {p99 * 1000:.1f} ms (99 %), at most {lags[-1] * 1000:.0f} ms")
        return bool(twice or lost or unapproved)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--postgres", action="store_true", help="a server of its own, from Debian's packages")
    parser.add_argument("--conversations", type=int, default=50)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--wait", type=float, default=5.0, help="seconds until a person decides, at most")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kills", type=float, default=0.0, help="seconds between kills; 0 for none")
    parser.add_argument("--away-at", type=float, default=0.0, help="when the server is killed for 4 seconds")
    options = parser.parse_args()
    if options.worker:
        asyncio.run(work_at(*options.worker))
        return 0
    folder = Path(tempfile.mkdtemp(prefix="desk"))
    server = nullcontext()
    if options.postgres:
        sys.path[:0] = [str(HERE.parent), str(HERE.parent / "frameworks" / "stores")]
        from postgres_server import PostgresServer

        server = PostgresServer()
    with server as running:
        where = f"pg:{running.conninfo}" if options.postgres else str(folder / "desk.db")
        opened(where)
        return int(asyncio.run(Load(options, where, folder).run(running)))


if __name__ == "__main__":
    sys.exit(main())
