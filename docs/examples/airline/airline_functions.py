"""The 14 tools with functions behind them, for a program that gives each call its `Airline`.

The functions that change the airline are async and don't await anything, so no other call runs between
their checks and their changes.
"""

# ruff: noqa: D103  # the docstring of the input says what a tool does

from __future__ import annotations

import ast
from typing import Annotated, Any

from airline import Airline, Offer, Reservation, User
from airline_tools import (
    BookReservation,
    Calculate,
    CancelReservation,
    GetReservationDetails,
    GetUserDetails,
    SearchDirectFlight,
    SearchOnestopFlight,
    SendCertificate,
    Think,
    TransferToHumanAgents,
    UpdateReservationBaggages,
    UpdateReservationFlights,
    UpdateReservationPassengers,
)

from operator_schema import CallError, Registry, skip, tool

OurAirline = Annotated[Airline, skip]


@tool
async def book_reservation(wanted: BookReservation, airline: OurAirline) -> Reservation:
    draft = Reservation(
        reservation_id="",
        user_id=wanted.user_id,
        origin=wanted.origin,
        destination=wanted.destination,
        flight_type=wanted.flight_type,
        cabin=wanted.cabin,
        flights=[],
        passengers=wanted.passengers,
        payment_history=[],
        total_baggages=wanted.total_baggages,
        nonfree_baggages=wanted.nonfree_baggages,
        insurance=wanted.insurance,
    )
    return airline.book(draft, wanted.flights, wanted.payment_methods)


@tool
def calculate(wanted: Calculate) -> str:
    try:
        result = _value(ast.parse(wanted.expression.strip(), mode="eval").body)
    except ZeroDivisionError:
        message = "That divides by zero."
        raise CallError(message) from None
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        message = "An expression has numbers, + - * / and parentheses, such as (2 + 3) * 4.5."
        raise CallError(message) from None
    return f"{result:.2f}".rstrip("0").rstrip(".")


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.UnaryOp(ast.USub(), operand):
            return -_value(operand)
        case ast.BinOp(left, ast.Add(), right):
            return _value(left) + _value(right)
        case ast.BinOp(left, ast.Sub(), right):
            return _value(left) - _value(right)
        case ast.BinOp(left, ast.Mult(), right):
            return _value(left) * _value(right)
        case ast.BinOp(left, ast.Div(), right):
            return _value(left) / _value(right)
        case _:
            raise ValueError


@tool
async def cancel_reservation(wanted: CancelReservation, airline: OurAirline) -> Reservation:
    return airline.cancel(wanted.reservation_id)


@tool
async def get_reservation_details(wanted: GetReservationDetails, airline: OurAirline) -> Reservation:
    return airline.reservation(wanted.reservation_id)


@tool
async def get_user_details(wanted: GetUserDetails, airline: OurAirline) -> User:
    return airline.user(wanted.user_id)


@tool("List all airports and their cities.")
async def list_all_airports(airline: OurAirline) -> dict[str, str]:
    return airline.airports


@tool
async def search_direct_flight(wanted: SearchDirectFlight, airline: OurAirline) -> list[Offer]:
    return airline.direct(wanted.origin, wanted.destination, wanted.date)


@tool
async def search_onestop_flight(
    wanted: SearchOnestopFlight, airline: OurAirline
) -> list[tuple[Offer, Offer]]:
    return airline.onestop(wanted.origin, wanted.destination, wanted.date)


@tool
async def send_certificate(wanted: SendCertificate, airline: OurAirline) -> str:
    payment_id = airline.send_certificate(wanted.user_id, wanted.amount)
    return f"{payment_id}, worth {wanted.amount:g}, was added to {wanted.user_id}."


@tool
def think(wanted: Think) -> str:  # noqa: ARG001  # thinking changes nothing
    return ""


@tool
def transfer_to_human_agents(wanted: TransferToHumanAgents) -> str:  # noqa: ARG001  # nobody is there
    return "Transfer successful"


@tool
async def update_reservation_baggages(wanted: UpdateReservationBaggages, airline: OurAirline) -> Reservation:
    return airline.change_baggages(
        wanted.reservation_id, wanted.total_baggages, wanted.nonfree_baggages, wanted.payment_id
    )


@tool
async def update_reservation_flights(wanted: UpdateReservationFlights, airline: OurAirline) -> Reservation:
    return airline.change_flights(wanted.reservation_id, wanted.cabin, wanted.flights, wanted.payment_id)


@tool
async def update_reservation_passengers(
    wanted: UpdateReservationPassengers, airline: OurAirline
) -> Reservation:
    return airline.change_passengers(wanted.reservation_id, wanted.passengers)


def registry() -> Registry:
    """Return all 14, in the published order."""
    tools: list[Any] = [
        *(book_reservation, calculate, cancel_reservation, get_reservation_details, get_user_details),
        *(list_all_airports, search_direct_flight, search_onestop_flight, send_certificate, think),
        *(transfer_to_human_agents, update_reservation_baggages, update_reservation_flights),
        update_reservation_passengers,
    ]
    return Registry(tools)
