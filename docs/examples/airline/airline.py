"""A small airline, kept in memory: users, flights, reservations, and the rules for them.

Everything is made up, except the ids, names and dates of the recorded conversation, so that its calls
work. Money is in US dollars.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from airline_tools import Cabin, FlightLeg, FlightType, Passenger, Payment

from operator_schema import CallError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BAG_PRICE = 50
INSURANCE_PRICE = 30
MAX_STOP_HOURS = 12


@dataclass
class PaymentMethod:
    """A way to pay. `amount` is the money left on it, or None for a credit card."""

    source: Literal["credit_card", "gift_card", "certificate"]
    amount: float | None = None


@dataclass
class User:
    """A customer."""

    user_id: str
    first_name: str
    last_name: str
    dob: str
    membership: Literal["regular", "silver", "gold"]
    payment_methods: dict[str, PaymentMethod]
    reservations: list[str] = field(default_factory=list[str])


@dataclass
class Flight:
    """A flight that leaves each day. `seats` are the free seats by date and cabin."""

    flight_number: str
    origin: str
    destination: str
    departs: str
    arrives: str
    prices: dict[Cabin, int]
    seats: dict[str, dict[Cabin, int]]


@dataclass
class Offer:
    """A flight on one date, as in the results of a search."""

    flight_number: str
    origin: str
    destination: str
    date: str
    departs: str
    arrives: str
    prices: dict[Cabin, int]
    seats: dict[Cabin, int]


@dataclass
class BookedFlight:
    """A flight of a reservation, with the price at booking."""

    flight_number: str
    date: str
    price: int


@dataclass
class Reservation:
    """A booking and its payments. A refund is a negative payment."""

    reservation_id: str
    user_id: str
    origin: str
    destination: str
    flight_type: FlightType
    cabin: Cabin
    flights: list[BookedFlight]
    passengers: list[Passenger]
    payment_history: list[Payment]
    total_baggages: int
    nonfree_baggages: int
    insurance: Literal["yes", "no"]
    status: Literal["booked", "cancelled"] = "booked"


class Airline:
    """An airline with its users, flights and reservations.

    Each operation checks everything before it changes anything.

    Args:
        airports: code to city.
        users: the customers.
        flights: the daily flights.
    """

    def __init__(self, airports: dict[str, str], users: Iterable[User], flights: Iterable[Flight]) -> None:
        self.airports = airports
        self.users = {user.user_id: user for user in users}
        self.flights = {flight.flight_number: flight for flight in flights}
        self.reservations: dict[str, Reservation] = {}

    # --- lookups ---------------------------------------------------------------------------------

    def user(self, user_id: str) -> User:
        """Return a user."""
        if user_id not in self.users:
            message = f"There is no user {user_id}."
            raise CallError(message)
        return self.users[user_id]

    def reservation(self, reservation_id: str) -> Reservation:
        """Return a reservation."""
        if reservation_id not in self.reservations:
            message = f"There is no reservation {reservation_id}."
            raise CallError(message)
        return self.reservations[reservation_id]

    def open_reservation(self, reservation_id: str) -> Reservation:
        """Return a reservation that can still be changed."""
        reservation = self.reservation(reservation_id)
        if reservation.status == "cancelled":
            message = f"Reservation {reservation_id} is cancelled."
            raise CallError(message)
        return reservation

    def direct(self, origin: str, destination: str, date: str) -> list[Offer]:
        """List the flights between two airports on a date."""
        self._check_airports(origin, destination)
        return [
            _offer(flight, date)
            for flight in self.flights.values()
            if (flight.origin, flight.destination) == (origin, destination) and date in flight.seats
        ]

    def onestop(self, origin: str, destination: str, date: str) -> list[tuple[Offer, Offer]]:
        """List the pairs of flights between two airports, both on one date."""
        self._check_airports(origin, destination)
        return [
            (first, second)
            for stop in self.airports
            if stop not in {origin, destination}
            for first in self.direct(origin, stop, date)
            for second in self.direct(stop, destination, date)
            if 0 < _hour(second.departs) - _hour(first.arrives) <= MAX_STOP_HOURS
        ]

    def _check_airports(self, *codes: str) -> None:
        for code in codes:
            if code not in self.airports:
                message = f"There is no airport {code}; the airports are {', '.join(self.airports)}."
                raise CallError(message)

    # --- changing --------------------------------------------------------------------------------

    def book(self, draft: Reservation, legs: Sequence[FlightLeg], payments: Sequence[Payment]) -> Reservation:
        """Book a reservation.

        Args:
            draft: the wanted reservation, without an id and flights.
            legs: the flights, in their order.
            payments: must add up to the price.
        """
        user = self.user(draft.user_id)
        if not draft.passengers:
            message = "A reservation must have at least one passenger."
            raise CallError(message)
        flights = self._take_seats(legs, draft.cabin, len(draft.passengers), draft)
        price = _price(flights, len(draft.passengers)) + BAG_PRICE * draft.nonfree_baggages
        if draft.insurance == "yes":
            price += INSURANCE_PRICE * len(draft.passengers)
        paid = sum(payment.amount for payment in payments)
        if paid != price:
            message = f"The payments do not add up: the total price is {price}, but {paid:g} is paid."
            raise CallError(message)
        for payment in payments:
            self._check_payment(user, payment)
        made = replace(
            draft,
            reservation_id=f"HAT{len(self.reservations) + 1:03}",
            flights=flights,
            payment_history=list(payments),
        )
        for payment in payments:
            _pay(user, payment)
        self._count_seats(made, -1)
        self.reservations[made.reservation_id] = made
        user.reservations.append(made.reservation_id)
        return made

    def cancel(self, reservation_id: str) -> Reservation:
        """Cancel a reservation, and refund everything."""
        reservation = self.open_reservation(reservation_id)
        user = self.user(reservation.user_id)
        refunds = [Payment(payment.payment_id, -payment.amount) for payment in reservation.payment_history]
        for refund in refunds:
            _pay(user, refund)
        reservation.payment_history += refunds
        self._count_seats(reservation, 1)
        reservation.status = "cancelled"
        return reservation

    def change_flights(
        self, reservation_id: str, cabin: Cabin, legs: Sequence[FlightLeg], payment_id: str
    ) -> Reservation:
        """Change the flights of a reservation, and settle the difference."""
        reservation = self.open_reservation(reservation_id)
        people = len(reservation.passengers)
        self._count_seats(reservation, 1)  # the new flights may be the old ones
        try:
            flights = self._take_seats(legs, cabin, people, reservation)
            difference = _price(flights, people) - _price(reservation.flights, people)
            self._settle(reservation, payment_id, difference)
            reservation.flights, reservation.cabin = flights, cabin
        finally:
            self._count_seats(reservation, -1)
        return reservation

    def change_baggages(self, reservation_id: str, total: int, nonfree: int, payment_id: str) -> Reservation:
        """Change the number of bags, and charge the added ones."""
        reservation = self.open_reservation(reservation_id)
        if not 0 <= nonfree <= total:
            message = "The number of paid bags must be between 0 and the number of all bags."
            raise CallError(message)
        added = max(0, nonfree - reservation.nonfree_baggages)
        self._settle(reservation, payment_id, BAG_PRICE * added)
        reservation.total_baggages, reservation.nonfree_baggages = total, nonfree
        return reservation

    def change_passengers(self, reservation_id: str, passengers: list[Passenger]) -> Reservation:
        """Change the passengers, but not their number."""
        reservation = self.open_reservation(reservation_id)
        if len(passengers) != len(reservation.passengers):
            message = f"The number of passengers can't change: it is {len(reservation.passengers)}."
            raise CallError(message)
        reservation.passengers = passengers
        return reservation

    def send_certificate(self, user_id: str, amount: float) -> str:
        """Give a user a certificate, and return its id."""
        user = self.user(user_id)
        if amount <= 0:
            message = "The amount of a certificate must be above 0."
            raise CallError(message)
        number = 1 + sum(method.source == "certificate" for method in user.payment_methods.values())
        payment_id = f"certificate_{number:07}"
        user.payment_methods[payment_id] = PaymentMethod("certificate", amount)
        return payment_id

    # --- seats and money -------------------------------------------------------------------------

    def _take_seats(
        self, legs: Sequence[FlightLeg], cabin: Cabin, people: int, trip: Reservation
    ) -> list[BookedFlight]:
        if not legs:
            message = "A reservation must have at least one flight."
            raise CallError(message)
        found = [self._flight_with_seats(leg, cabin, people) for leg in legs]
        ends = (found[0].origin, trip.destination if trip.flight_type == "one_way" else trip.origin)
        if (trip.origin, found[-1].destination) != ends:
            message = f"These flights do not go from {trip.origin} to {ends[1]}."
            raise CallError(message)
        return [
            BookedFlight(leg.flight_number, leg.date, flight.prices[cabin])
            for leg, flight in zip(legs, found, strict=True)
        ]

    def _flight_with_seats(self, leg: FlightLeg, cabin: Cabin, people: int) -> Flight:
        flight = self.flights.get(leg.flight_number)
        if flight is None or leg.date not in flight.seats:
            message = f"There is no flight {leg.flight_number} on {leg.date}."
            raise CallError(message)
        left = flight.seats[leg.date][cabin]
        if left < people:
            message = f"Flight {leg.flight_number} on {leg.date} has {left} seats left in {cabin}."
            raise CallError(message)
        return flight

    def _count_seats(self, reservation: Reservation, sign: int) -> None:
        for booked in reservation.flights:
            seats = self.flights[booked.flight_number].seats[booked.date]
            seats[reservation.cabin] += sign * len(reservation.passengers)

    def _check_payment(self, user: User, payment: Payment) -> None:
        method = user.payment_methods.get(payment.payment_id)
        if method is None:
            message = f"{user.user_id} has no payment method {payment.payment_id}."
            raise CallError(message)
        if method.amount is not None and method.amount < payment.amount:
            message = f"{payment.payment_id} has only {method.amount:g} left, not {payment.amount:g}."
            raise CallError(message)

    def _settle(self, reservation: Reservation, payment_id: str, amount: float) -> None:
        user = self.user(reservation.user_id)
        payment = Payment(payment_id, amount)
        self._check_payment(user, payment)
        if user.payment_methods[payment_id].source == "certificate":
            message = "A reservation can't be changed with a certificate."
            raise CallError(message)
        if amount:
            _pay(user, payment)
            reservation.payment_history.append(payment)


def _offer(flight: Flight, date: str) -> Offer:
    return Offer(
        flight.flight_number,
        flight.origin,
        flight.destination,
        date,
        flight.departs,
        flight.arrives,
        flight.prices,
        flight.seats[date],
    )


def _hour(time: str) -> float:
    hours, _, minutes = time.partition(":")
    return int(hours) + int(minutes) / 60


def _price(flights: Iterable[BookedFlight], people: int) -> int:
    return sum(flight.price for flight in flights) * people


def _pay(user: User, payment: Payment) -> None:
    method = user.payment_methods[payment.payment_id]
    if method.amount is not None:
        method.amount -= payment.amount


# --- the data -------------------------------------------------------------------------------------

_AIRPORTS = {"JFK": "New York", "SEA": "Seattle", "ATL": "Atlanta", "DEN": "Denver", "SFO": "San Francisco"}
_DATES = [f"2024-05-{day:02}" for day in range(16, 31)]
# Number, origin, destination, departure, arrival, and the price of a seat in economy.
_FLIGHTS = [
    ("HAT136", "JFK", "ATL", "11:00", "13:30", 152),
    ("HAT039", "ATL", "SEA", "16:00", "18:30", 103),
    ("HAT911", "JFK", "DEN", "09:00", "11:15", 140),
    ("HAT912", "DEN", "SEA", "12:30", "14:15", 131),
    ("HAT913", "SEA", "JFK", "08:00", "16:30", 198),
    ("HAT914", "JFK", "SFO", "07:30", "11:00", 175),
    ("HAT915", "SFO", "SEA", "13:00", "15:00", 96),
]


def sample_airline() -> Airline:
    """Make an airline with seven flights and two users."""
    users = [
        User(
            "mia_li_3668",
            "Mia",
            "Li",
            "1990-04-05",
            "gold",
            {
                "credit_card_4421486": PaymentMethod("credit_card"),
                "certificate_7504069": PaymentMethod("certificate", 250),
            },
        ),
        User(
            "ada_moss_1815",
            "Ada",
            "Moss",
            "1985-12-10",
            "regular",
            {
                "credit_card_1000001": PaymentMethod("credit_card"),
                "gift_card_1000002": PaymentMethod("gift_card", 300),
                "certificate_1000003": PaymentMethod("certificate", 100),
            },
        ),
    ]
    return Airline(dict(_AIRPORTS), users, [_flight(*row) for row in _FLIGHTS])


def _flight(number: str, origin: str, destination: str, departs: str, arrives: str, price: int) -> Flight:
    prices: dict[Cabin, int] = {"basic_economy": price // 2, "economy": price, "business": price * 3}
    seats: dict[str, dict[Cabin, int]] = {
        date: {"basic_economy": 12, "economy": 9, "business": 2} for date in _DATES
    }
    return Flight(number, origin, destination, departs, arrives, prices, seats)
