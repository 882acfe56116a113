"""Which tools the model of the airline gets, and the rules for its calls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from airline_functions import cancel_reservation, registry
from airline_tools import GetReservationDetails, SendCertificate

from operator_schema import Defer, Reject, RunNormally, ToolCall, Toolset, hook
from operator_schema.rounds import Hooks

CUSTOMER = "ada_moss_1815"
"""Who is talking to the model."""

LARGEST_CERTIFICATE = 100
LARGEST_WITHOUT_ASKING = 50

TOOLSET: Toolset[Any] = Toolset(
    Toolset(registry()).without(cancel_reservation),
    cancel_reservation.with_(confirm=True),
)
"""All 14 tools; each cancellation waits for a person."""


@hook("get_reservation_details")
def capital_letters(call: ToolCall[GetReservationDetails]) -> RunNormally:
    """Write the id of a reservation as the airline writes it."""
    return RunNormally(replace(call.input, reservation_id=call.input.reservation_id.upper()))


@hook("send_certificate")
def no_large_certificates(call: ToolCall[SendCertificate]) -> Reject | None:
    """Refuse certificates that the model may never give."""
    if call.input.amount > LARGEST_CERTIFICATE:
        return Reject(f"A certificate may be worth at most {LARGEST_CERTIFICATE} USD.")
    return None


@hook("send_certificate")
def ask_about_certificates(call: ToolCall[SendCertificate]) -> Defer | None:
    """Let a person decide about everything but small amounts."""
    if call.input.amount > LARGEST_WITHOUT_ASKING:
        return Defer(f"a certificate of more than {LARGEST_WITHOUT_ASKING} USD")
    return None


async def only_this_customer(call: ToolCall) -> Reject | None:
    """Refuse calls about other customers, for every tool."""
    if getattr(call.input, "user_id", CUSTOMER) != CUSTOMER:
        return Reject(f"The customer is {CUSTOMER}: you can't use the data of others.")
    return None


POLICY = Hooks(only_this_customer, capital_letters, no_large_certificates, ask_about_certificates)
