"""A conversation in which a person decides about some calls, later and in another process.

The model is a script. Run `approval.py begin DATABASE`, then `approval.py decide DATABASE CALL yes` for each
call that waits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from airline import Airline, sample_airline
from airline_functions import book_reservation
from airline_tools import BookReservation, FlightLeg, Passenger, Payment
from desk import Desk
from layout import WIDTH, wrapped
from policy import CUSTOMER, POLICY, TOOLSET

from operator_schema import DecodeError, Executor, RawCall, RoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from operator_schema import Round, ToolCall

EXECUTOR = Executor(TOOLSET, hooks=POLICY)

_INDENT = " " * 4

# --- the model ------------------------------------------------------------------------------------


@dataclass
class Answer:
    """One turn of the model: its text and its calls."""

    text: str
    calls: list[RawCall]


REQUEST = "Please cancel HAT001. How can I fly a day later?"

SCRIPT = [
    Answer(
        "I look at the reservation and cancel it.",
        [
            RawCall("1", "get_reservation_details", {"reservation_id": "hat001"}),
            RawCall("2", "get_user_details", {"user_id": "mia_li_3668"}),
            RawCall("3", "search_direct_flights", {"origin": "JFK", "destination": "DEN"}),
            RawCall("4", "search_onestop_flight", {"origin": "JFK", "destination": "DEN", "date": 21}),
            RawCall("5", "send_certificate", {"user_id": CUSTOMER, "amount": 500}),
            RawCall("6", "send_certificate", {"user_id": CUSTOMER, "amount": 80}),
            RawCall("7", "cancel_reservation", {"reservation_id": "HAT001"}),
        ],
    ),
    Answer(
        "Now I look for other flights.",
        [RawCall("8", "search_direct_flight", {"origin": "JFK", "destination": "DEN", "date": "2024-05-21"})],
    ),
    Answer("HAT001 is cancelled. You can fly to Denver on May 21.", []),
]


def ask_model(number_of_turns: int) -> Answer:
    """Return the model's answer after this many turns; a real model would get the conversation."""
    return SCRIPT[number_of_turns]


# --- the conversation -----------------------------------------------------------------------------


async def begin(path: Path) -> None:
    """Begin the conversation, at an airline where the customer has booked HAT001.

    Args:
        path: path of the database, which is created.
    """
    airline = sample_airline()
    wanted = BookReservation(
        user_id=CUSTOMER,
        origin="JFK",
        destination="DEN",
        flight_type="one_way",
        cabin="economy",
        flights=[FlightLeg("HAT911", "2024-05-20")],
        passengers=[Passenger("Ada", "Moss", "1985-12-10")],
        payment_methods=[Payment("credit_card_1000001", 140)],
        total_baggages=0,
        nonfree_baggages=0,
        insurance="no",
    )
    await book_reservation(wanted, airline)
    with Desk(path, airline) as desk:
        print(f"customer: {REQUEST}")
        await converse(desk)


async def converse(desk: Desk) -> None:
    """Let the model call tools until it has nothing more to do, or a call waits for a person."""
    while True:
        answer = ask_model(len(desk.turns()))
        print(wrapped(f"model: {answer.text}", rest=_INDENT))
        if not answer.calls:
            return
        offer = TOOLSET.offer()
        after = await run(desk, offer.round(answer.calls, assistant=answer.text))
        show(after, "")
        if not finish(desk, after):
            return


async def run(desk: Desk, work: Round[Any]) -> Round[Any]:
    """Run the calls that the policy lets through."""
    return await EXECUTOR.run(work, context={Airline: desk.airline})


def finish(desk: Desk, work: Round[Any]) -> bool:
    """Commit a round that is complete, or save it; return whether the model can go on."""
    if not work.is_complete:
        desk.save(work)
        print(f"the turn waits for a person: {', '.join([call.id for call in work.deferred])}")
        return False
    work.commit(desk)
    return True


async def decide(desk: Desk, call_id: str, *, approved: bool, changes: dict[str, Any]) -> None:
    """Take a person's decision about one call, and go on with the conversation if it was the last one."""
    waiting = desk.claim()
    if waiting is None:
        print("no call waits: somebody has decided already")
        return
    try:
        decided = decision(waiting, call_id, approved=approved, changes=changes)
    except (DecodeError, RoundError) as error:
        desk.save(waiting)
        print(wrapped(str(error), rest=_INDENT))
        return
    after = await run(desk, decided)
    show(after, call_id)
    if finish(desk, after):
        await converse(desk)


def decision(waiting: Round[Any], call_id: str, *, approved: bool, changes: dict[str, Any]) -> Round[Any]:
    """Return the round with the decision of a person.

    Args:
        waiting: the round with the call.
        call_id: the id of the call.
        approved: whether it may run.
        changes: arguments changed by the person.
    """
    if not approved:
        return waiting.reject(call_id, "A person said no.")
    given = [
        call.tool.decode({**call.arguments, **changes}) for call in waiting.deferred if call.id == call_id
    ]
    return waiting.approve(call_id, input=given[0] if given else None)


# --- what is shown --------------------------------------------------------------------------------


def show(work: Round[Any], call_id: str) -> None:
    """Print the state of every call, or of one."""
    for call in work.calls:
        if call_id in {"", call.id}:
            print(one_line(f"  {call.id} {call.name} {json.dumps(call.raw.arguments)}"))
            print(one_line(_INDENT + outcome(call)))


def one_line(text: str) -> str:
    """Return a text as one line, and cut."""
    text = text.replace("\n", " ")
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 4].rstrip()} ..."


def outcome(call: ToolCall) -> str:
    """Return the state of a call in a few words."""
    match call.state:
        case "handled":
            return f"handled: {call.content}"
        case "issue":
            return f"issue, {call.code}: {(call.content or '').splitlines()[0]}"
        case "pending":
            return "pending"
        case decided:
            return f"{decided}: {call.reason}"


CLICKS = (
    ["7", "yes"],
    ["7", "yes"],
    ["6", "yes", "--change", '{"amount": 60}'],
    ["6", "no"],
)
"""What people decide in the demo, each of them too often."""


def show_approval() -> None:
    """Run the conversation, and each decision of a person, in a process of its own."""
    print("\nA turn that waits for a person, in a database. Each command is another process:\n")
    with TemporaryDirectory() as folder:
        for step in [["begin", "desk.db"], *[["decide", "desk.db", *click] for click in CLICKS]]:
            print(f"$ approval.py {shlex.join(step)}")
            print(output_of(step, Path(folder)), end="")


def output_of(step: Sequence[str], folder: Path) -> str:
    """Run this program in a process of its own, and return what it prints.

    Args:
        step: the arguments of the command line.
        folder: the folder of the database.
    """
    command = [sys.executable, str(Path(__file__).resolve()), *step]
    # Its errors go where those of this process go.
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=True, encoding="utf-8")  # noqa: S603  # its own file
    return done.stdout


# --- the command line -----------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> None:
    """Begin the conversation, or take one decision.

    Args:
        argv: the arguments of the command line; those of the process by default.
    """
    parser = argparse.ArgumentParser(description="A conversation in which a person decides about calls.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("begin").add_argument("database", type=Path)
    decides = commands.add_parser("decide")
    decides.add_argument("database", type=Path)
    decides.add_argument("call", help="the id of the call")
    decides.add_argument("approved", choices=["yes", "no"])
    decides.add_argument("--change", type=json.loads, default={}, help="JSON object of changed arguments")
    given = parser.parse_args(argv)
    if given.command == "begin":
        asyncio.run(begin(given.database))
    else:
        with Desk(given.database) as desk:
            asyncio.run(decide(desk, given.call, approved=given.approved == "yes", changes=given.change))


if __name__ == "__main__":
    main()
