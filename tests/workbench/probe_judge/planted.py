"""The faults of the three servers: where each shows, what a right finding is, and calls that show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = dict[str, Any] | None
"""The message that answers a call; None if there is none."""

Call = tuple[str, dict[str, Any]]


class Fault(NamedTuple):
    server: str
    name: str
    tools: tuple[str, ...]
    codes: tuple[str, ...]
    calls: tuple[Call, ...]
    shows: Callable[[list[Answer]], bool]
    alone: bool = False


def error_of(answer: Answer) -> str | None:
    """Return the text of an error, or None if the call worked."""
    if answer is None:
        return None
    if "error" in answer:
        return str(answer["error"]["message"])
    result = answer["result"]
    return "".join(part["text"] for part in result["content"]) if result.get("isError") else None


def works(answer: Answer) -> bool:
    return answer is not None and "result" in answer and not answer["result"].get("isError")


def refused(answers: list[Answer]) -> bool:
    return error_of(answers[-1]) is not None


def accepted(answers: list[Answer]) -> bool:
    return works(answers[-1])


def unanswered(answers: list[Answer]) -> bool:
    return answers[-1] is None


def data(answer: Answer) -> Any:
    return answer["result"].get("structuredContent") if answer else None


def lacks(word: str) -> Callable[[list[Answer]], bool]:
    """Return a test for an error of the last call that doesn't contain a word."""
    return lambda answers: word not in (error_of(answers[-1]) or word)


NOT_JSON_RPC = ("channel_noise", "bad_result")
CAKE = {"name": "Torte", "category": "cake", "price_cents": 900}
ORDER = {"article_id": "art-1", "quantity": 2}
TICKET = {"title": "No paper", "priority": "low"}
KELVIN = {"from_unit": "kelvin", "to_unit": "celsius"}


def shop(name: str, tool: str, code: str, *calls: dict[str, Any] | Call, **more: Any) -> Fault:
    return _fault("shop", name, tool, code, calls, **more)


def tickets(name: str, tool: str, code: str, *calls: dict[str, Any] | Call, **more: Any) -> Fault:
    return _fault("tickets", name, tool, code, calls, **more)


def lab(name: str, tool: str, code: str, *calls: dict[str, Any] | Call, **more: Any) -> Fault:
    return _fault("lab", name, tool, code, calls, **more)


SHOWN_BY = {"valid_refused": refused, "invalid_accepted": accepted}


def _fault(server: str, name: str, tool: str, codes: str, calls: Any, **more: Any) -> Fault:
    """Make a fault; arguments without a tool are a call of the first tool."""
    tools, found = tuple(tool.split()), tuple(codes.split())
    more.setdefault("shows", SHOWN_BY.get(found[0]))
    full = tuple(call if isinstance(call, tuple) else (tools[0], call) for call in calls)
    return Fault(server, name, tools, found, full, **more)


FAULTS = (
    shop("enum_member", "find_articles", "valid_refused", {"query": "", "category": "drink"}),
    shop("null_refused", "find_articles", "valid_refused", {"query": "", "category": None}),
    shop("large_number", "find_articles", "valid_refused", {"query": "", "max_price": 2**31}),
    shop("non_ascii", "find_articles", "valid_refused", {"query": "Käse"}),
    shop("empty_list", "find_articles", "valid_refused", {"query": "", "labels": []}),
    shop("optional_required", "order", "valid_refused", ORDER),
    shop("nested_null", "add_article", "valid_refused", {**CAKE, "details": {"weight_g": 5, "note": None}}),
    shop("missing_accepted", "add_article", "invalid_accepted", {"name": "Torte", "category": "cake"}),
    shop("out_of_range_accepted", "order", "invalid_accepted", {**ORDER, "quantity": 1001}),
    shop(
        "wrong_output",
        "get_article",
        "wrong_result",
        {"article_id": "art-1"},
        shows=lambda answers: isinstance(data(answers[0])["price_cents"], str),
    ),
    shop("unflagged", "cancel_order", "unflagged_error invalid_accepted", {"order_id": "x"}, shows=accepted),
    shop(
        "read_only_writes",
        "get_article",
        "read_only_changed",
        ("list_articles", {}),
        {"article_id": "art-1"},
        ("list_articles", {}),
        shows=lambda answers: data(answers[0]) != data(answers[2]),
    ),
    shop("hangs", "order", "hang", {**ORDER, "gift": True}, shows=unanswered, alone=True),
    shop(
        "traceback",
        "get_article",
        "unnamed_parameter internal_error",
        {"article_id": 5},
        shows=lambda answers: "Traceback" in (error_of(answers[0]) or "") and lacks("article_id")(answers),
    ),
    tickets("z_refused", "open_ticket", "valid_refused", {**TICKET, "due": "2027-01-01T00:00:00Z"}),
    tickets(
        "pair_refused",
        "assign_ticket",
        "valid_refused",
        {"ticket_id": "T-1001", "user": "kim", "notify": False},
    ),
    tickets(
        "unknown_key_accepted",
        "comment",
        "invalid_accepted",
        {"ticket_id": "T-1001", "text": "Hm", "color": 1},
    ),
    tickets(
        "nested_enum_accepted",
        "open_ticket",
        "invalid_accepted",
        {**TICKET, "contact": {"name": "Kim", "language": "xx"}},
    ),
    tickets("text_as_number", "list_tickets", "invalid_accepted", {"limit": "5"}),
    tickets("id_refused", "get_ticket", "valid_refused never_succeeded", {"ticket_id": "T-1001"}),
    tickets(
        "no_structured",
        "close_ticket",
        "no_structured_result",
        {"ticket_id": "T-1001", "reason": "spam"},
        shows=lambda answers: data(answers[0]) is None,
    ),
    tickets(
        "internal_error",
        "comment",
        "internal_error",
        {"ticket_id": "x", "text": "Hm"},
        shows=lambda answers: answers[0]["error"]["code"] == -32603 if "error" in answers[0] else False,
    ),
    tickets("one_text", "open_ticket", "unnamed_parameter", {"title": "Hm"}, shows=lacks("priority")),
    tickets(
        "wrong_name", "close_ticket", "unnamed_parameter", {"ticket_id": "T-1001"}, shows=lacks("reason")
    ),
    tickets(
        "dies",
        "assign_ticket",
        "crash",
        {"ticket_id": "T-1001", "notify": True},
        shows=unanswered,
        alone=True,
    ),
    tickets(
        "wrong_id",
        "comment",
        "hang channel_noise bad_result",
        {"ticket_id": "T-1001", "text": "Hm"},
        shows=unanswered,
        alone=True,
    ),
    tickets(
        "twice",
        "list_tickets",
        "channel_noise bad_result",
        {},
        shows=lambda answers: answers[0].get("times") == 2,
        alone=True,
    ),
    tickets(
        "stuck_cancel",
        "*",
        "stuck_after_cancel",
        ("list_tickets", {}),
        ("notifications/cancelled", {"requestId": 1}),
        ("list_tickets", {}),
        shows=unanswered,
        alone=True,
    ),
    tickets(
        "counts_closings",
        "close_ticket",
        "not_idempotent",
        {"ticket_id": "T-1001", "reason": "spam"},
        {"ticket_id": "T-1001", "reason": "spam"},
        shows=lambda answers: data(answers[0]) != data(answers[1]),
    ),
    tickets(
        "mixed",
        "get_ticket",
        "mixed_answers",
        {"ticket_id": "T-1001"},
        {"ticket_id": "T-1002"},
        shows=lambda answers: data(answers[0]) == data(answers[1]),
        alone=True,
    ),
    tickets(
        "huge",
        "export_tickets",
        "large_answer",
        {},
        shows=lambda answers: len(str(answers[0])) > 1_000_000,
        alone=True,
    ),
    lab("lax_number", "convert", "invalid_accepted", {"value": "5", **KELVIN}),
    lab("whole_refused", "convert", "valid_refused", {"value": 5, **KELVIN}),
    lab(
        "nested_range",
        "add_sensor",
        "invalid_accepted",
        {"name": "Attic", "unit": "kelvin", "place": {"latitude": 95, "longitude": 0}},
    ),
    lab(
        "second_call",
        "convert",
        "valid_refused not_idempotent read_only_changed unstable",
        {"value": 7.5, **KELVIN},
        {"value": 7.5, **KELVIN},
    ),
    lab(
        "refused_changes",
        "remove_sensor",
        "changed_by_refused",
        ("list_sensors", {}),
        {"sensor_id": "x"},
        ("list_sensors", {}),
        shows=lambda answers: data(answers[0]) != data(answers[2]),
    ),
    lab(
        "wrong_mean",
        "summary",
        "wrong_result",
        {"sensor_id": "sensor-2"},
        shows=lambda answers: isinstance(data(answers[0])["mean"], str),
    ),
    lab("unknown_tool", "*", "unknown_tool_accepted", ("measure", {}), shows=accepted),
    lab(
        "noise",
        "calibrate",
        "channel_noise",
        {"sensor_id": "sensor-1", "offset": 0.5},
        shows=lambda answers: bool(answers[0].get("noise")),
        alone=True,
    ),
    lab(
        "tags_accepted",
        "record",
        "invalid_accepted",
        {"sensor_id": "sensor-1", "value": 1.5, "tags": [1]},
    ),
)

VALID: dict[str, tuple[Call, ...]] = {
    "shop": (
        ("list_articles", {}),
        ("find_articles", {"query": "ä", "category": None, "max_price": 10**12, "labels": []}),
        ("get_article", {"article_id": "art-1"}),
        ("add_article", {**CAKE, "details": {"weight_g": 1, "note": None}}),
        ("order", {**ORDER, "deliver_at": "2027-01-01T00:00:00Z", "gift": True, "message": "Für Kim"}),
        ("list_orders", {}),
        ("cancel_order", {"order_id": "cmd-1"}),
    ),
    "tickets": (
        ("open_ticket", {**TICKET, "due": "2027-01-01t00:00:00+00:00"}),
        ("get_ticket", {"ticket_id": "T-1003"}),
        ("list_tickets", {"status": "open", "limit": 1.0}),
        ("comment", {"ticket_id": "T-1003", "text": "Hm", "internal": True}),
        ("assign_ticket", {"ticket_id": "T-1003", "user": "kim", "notify": True}),
        ("close_ticket", {"ticket_id": "T-1003", "reason": "solved"}),
        ("export_tickets", {"separator": "é"}),
    ),
    "lab": (
        ("list_sensors", {}),
        (
            "add_sensor",
            {"name": "É", "unit": "kelvin", "place": {"latitude": 90, "longitude": 0, "height": None}},
        ),
        ("record", {"sensor_id": "sensor-3", "value": 1, "at": "2027-01-01T00:00:00Z", "tags": []}),
        ("read_series", {"sensor_id": "sensor-3", "since": None, "limit": 1.0}),
        ("summary", {"sensor_id": "sensor-3"}),
        ("convert", {"value": 0, **KELVIN}),
        ("calibrate", {"sensor_id": "sensor-3", "offset": -1}),
        ("remove_sensor", {"sensor_id": "sensor-3"}),
    ),
}
"""Calls of all tools of each server, which have to work one after the other."""


def groups(faults: tuple[Fault, ...]) -> list[list[Fault]]:
    """Return the faults in groups that can be on at the same time.

    Those of a group belong to one server, and to different tools. A fault that stops the server, or that
    disturbs the answers of other tools, is alone.
    """
    found: list[list[Fault]] = []
    for fault in faults:
        for group in found:
            taken = {tool for each in group for tool in each.tools}
            if not (
                fault.alone
                or group[0].alone
                or group[0].server != fault.server
                or taken.intersection(fault.tools)
            ):
                group.append(fault)
                break
        else:
            found.append([fault])
    return found
