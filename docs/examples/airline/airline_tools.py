"""The 14 tools of tau-bench's airline domain as plain dataclasses.

A class is the input of one tool. Its docstring describes the tool, and its `param_descriptions` describe the
fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

Cabin = Literal["basic_economy", "economy", "business"]
FlightType = Literal["one_way", "round_trip"]

_PAYMENT_ID = (
    "The payment id stored in user profile, "
    "such as 'credit_card_7815826', 'gift_card_7815826', 'certificate_7815826'."
)


# Docstrings of nested types stand in the schema, and the published definitions have none.
@dataclass
class FlightLeg:  # noqa: D101
    flight_number: str
    date: str

    param_descriptions: ClassVar[dict[str, str]] = {
        "flight_number": "Flight number, such as 'HAT001'.",
        "date": "The date for the flight in the format 'YYYY-MM-DD', such as '2024-05-01'.",
    }


@dataclass
class Passenger:  # noqa: D101
    first_name: str
    last_name: str
    dob: str

    param_descriptions: ClassVar[dict[str, str]] = {
        "first_name": "The first name of the passenger, such as 'Noah'.",
        "last_name": "The last name of the passenger, such as 'Brown'.",
        "dob": "The date of birth of the passenger in the format 'YYYY-MM-DD', such as '1990-01-01'.",
    }


@dataclass
class Payment:  # noqa: D101
    payment_id: str
    amount: float

    param_descriptions: ClassVar[dict[str, str]] = {
        "payment_id": _PAYMENT_ID,
        "amount": "The amount to be paid.",
    }


@dataclass
class BookReservation:
    """Book a reservation."""

    user_id: str
    origin: str
    destination: str
    flight_type: FlightType
    cabin: Cabin
    flights: list[FlightLeg]
    passengers: list[Passenger]
    payment_methods: list[Payment]
    total_baggages: int
    nonfree_baggages: int
    insurance: Literal["yes", "no"]

    param_descriptions: ClassVar[dict[str, str]] = {
        "user_id": "The ID of the user to book the reservation, such as 'sara_doe_496'.",
        "origin": "The IATA code for the origin city, such as 'SFO'.",
        "destination": "The IATA code for the destination city, such as 'JFK'.",
        "flights": "An array of objects containing details about each piece of flight.",
        "passengers": "An array of objects containing details about each passenger.",
        "payment_methods": "An array of objects containing details about each payment method.",
        "total_baggages": "The total number of baggage items included in the reservation.",
        "nonfree_baggages": "The number of non-free baggage items included in the reservation.",
    }


@dataclass
class Calculate:
    """Calculate the result of a mathematical expression."""

    expression: str

    param_descriptions: ClassVar[dict[str, str]] = {
        "expression": (
            "The mathematical expression to calculate, such as '2 + 2'. "
            "The expression can contain numbers, operators (+, -, *, /), parentheses, and spaces."
        ),
    }


@dataclass
class CancelReservation:
    """Cancel the whole reservation."""

    reservation_id: str

    param_descriptions: ClassVar[dict[str, str]] = {
        "reservation_id": "The reservation ID, such as 'ZFA04Y'.",
    }


@dataclass
class GetReservationDetails:
    """Get the details of a reservation."""

    reservation_id: str

    param_descriptions: ClassVar[dict[str, str]] = {
        "reservation_id": "The reservation id, such as '8JX2WO'.",
    }


@dataclass
class GetUserDetails:
    """Get the details of an user, including their reservations."""

    user_id: str

    param_descriptions: ClassVar[dict[str, str]] = {
        "user_id": "The user id, such as 'sara_doe_496'.",
    }


@dataclass
class ListAllAirports:
    """List all airports and their cities."""


@dataclass
class SearchDirectFlight:
    """Search direct flights between two cities on a specific date."""

    origin: str
    destination: str
    date: str

    param_descriptions: ClassVar[dict[str, str]] = {
        "origin": "The origin city airport in three letters, such as 'JFK'.",
        "destination": "The destination city airport in three letters, such as 'LAX'.",
        "date": "The date of the flight in the format 'YYYY-MM-DD', such as '2024-01-01'.",
    }


@dataclass
class SearchOnestopFlight:
    """Search direct flights between two cities on a specific date."""

    origin: str
    destination: str
    date: str

    param_descriptions: ClassVar[dict[str, str]] = {
        "origin": "The origin city airport in three letters, such as 'JFK'.",
        "destination": "The destination city airport in three letters, such as 'LAX'.",
        "date": "The date of the flight in the format 'YYYY-MM-DD', such as '2024-05-01'.",
    }


@dataclass
class SendCertificate:
    """Send a certificate to a user. Be careful!"""

    user_id: str
    amount: float

    param_descriptions: ClassVar[dict[str, str]] = {
        "user_id": "The ID of the user to book the reservation, such as 'sara_doe_496'.",
        "amount": "Certificate amount to send.",
    }


@dataclass
class Think:
    """Use the tool to think about something.

    It will not obtain new information or change the database, but just append the thought to the
    log. Use it when complex reasoning is needed.
    """

    thought: str

    param_descriptions: ClassVar[dict[str, str]] = {
        "thought": "A thought to think about.",
    }


@dataclass
class TransferToHumanAgents:
    """Transfer the user to a human agent, with a summary of the user's issue.

    Only transfer if the user explicitly asks for a human agent, or if the user's issue cannot be
    resolved by the agent with the available tools.
    """

    summary: str

    param_descriptions: ClassVar[dict[str, str]] = {
        "summary": "A summary of the user's issue.",
    }


@dataclass
class UpdateReservationBaggages:
    """Update the baggage information of a reservation."""

    reservation_id: str
    total_baggages: int
    nonfree_baggages: int
    payment_id: str

    param_descriptions: ClassVar[dict[str, str]] = {
        "reservation_id": "The reservation ID, such as 'ZFA04Y'.",
        "total_baggages": "The updated total number of baggage items included in the reservation.",
        "nonfree_baggages": "The updated number of non-free baggage items included in the reservation.",
        "payment_id": _PAYMENT_ID,
    }


@dataclass
class UpdateReservationFlights:
    """Update the flight information of a reservation."""

    reservation_id: str
    cabin: Cabin
    flights: list[FlightLeg]
    payment_id: str

    param_descriptions: ClassVar[dict[str, str]] = {
        "reservation_id": "The reservation ID, such as 'ZFA04Y'.",
        "flights": (
            "An array of objects containing details about each piece of flight in the ENTIRE new "
            "reservation. Even if the a flight segment is not changed, it should still be included "
            "in the array."
        ),
        "payment_id": _PAYMENT_ID,
    }


@dataclass
class UpdateReservationPassengers:
    """Update the passenger information of a reservation."""

    reservation_id: str
    passengers: list[Passenger]

    param_descriptions: ClassVar[dict[str, str]] = {
        "reservation_id": "The reservation ID, such as 'ZFA04Y'.",
        "passengers": "An array of objects containing details about each passenger.",
    }


TOOLS: dict[str, type[Any]] = {
    "book_reservation": BookReservation,
    "calculate": Calculate,
    "cancel_reservation": CancelReservation,
    "get_reservation_details": GetReservationDetails,
    "get_user_details": GetUserDetails,
    "list_all_airports": ListAllAirports,
    "search_direct_flight": SearchDirectFlight,
    "search_onestop_flight": SearchOnestopFlight,
    "send_certificate": SendCertificate,
    "think": Think,
    "transfer_to_human_agents": TransferToHumanAgents,
    "update_reservation_baggages": UpdateReservationBaggages,
    "update_reservation_flights": UpdateReservationFlights,
    "update_reservation_passengers": UpdateReservationPassengers,
}
