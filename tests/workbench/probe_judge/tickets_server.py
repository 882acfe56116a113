"""A ticket desk as an MCP server without an SDK.

Its errors are terse codes, in JSON-RPC errors or in structured content.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from typing import Any

FAULTS = frozenset(os.environ.get("FAULT", "").split(","))
"""Names of the faults that are switched on."""

PRIORITIES = ["low", "normal", "high"]
REASONS = ["solved", "duplicate", "spam"]
STATUSES = ["open", "closed"]
RFC_3339 = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)")
SHOWN = 20


class CodedError(Exception):
    """A refusal: a code, and the parameter that is wrong."""

    def __init__(self, code: str, param: str, *, about_form: bool = False) -> None:
        super().__init__(code, param)
        self.code = code
        self.param = param
        self.about_form = about_form


def an_object(properties: dict[str, Any], required: tuple[str, ...] = ()) -> dict[str, Any]:
    found = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**found, "required": list(required)} if required else found


def or_null(schema: dict[str, Any], description: str) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}], "description": description}


TICKET_ID = {"type": "string", "maxLength": 30, "description": "The ticket_id, as list_tickets returns it."}
TICKET = an_object(
    {
        "ticket_id": {"type": "string"},
        "title": {"type": "string"},
        "priority": {"type": "string", "enum": PRIORITIES},
        "status": {"type": "string", "enum": STATUSES},
        "due": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "user": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "comments": {"type": "integer", "minimum": 0},
        "changes": {"type": "integer", "minimum": 0},
    },
    ("ticket_id", "title", "priority", "status", "due", "user", "comments", "changes"),
)
CONTACT = {
    **an_object(
        {
            "name": {"type": "string", "minLength": 1, "maxLength": 60, "description": "Who asks."},
            "phone": or_null({"type": "string", "maxLength": 30}, "A telephone number."),
            "language": {"type": "string", "enum": ["de", "en", "fr"], "description": "The language."},
        },
        ("name", "language"),
    ),
    "description": "Who asks, and how to answer.",
}

TOOLS: dict[str, dict[str, Any]] = {
    "open_ticket": {
        "description": "Open a ticket.",
        "inputSchema": an_object(
            {
                "title": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 120,
                    "description": "What it is about.",
                },
                "priority": {"type": "string", "enum": PRIORITIES, "description": "How urgent it is."},
                "due": or_null({"type": "string", "format": "date-time"}, "When it has to be done."),
                "contact": CONTACT,
            },
            ("title", "priority"),
        ),
        "outputSchema": TICKET,
        "annotations": {"readOnlyHint": False, "destructiveHint": False},
    },
    "get_ticket": {
        "description": "Show a ticket.",
        "inputSchema": an_object({"ticket_id": TICKET_ID}, ("ticket_id",)),
        "outputSchema": TICKET,
        "annotations": {"readOnlyHint": True},
    },
    "list_tickets": {
        "description": "List tickets, the newest last.",
        "inputSchema": an_object(
            {
                "status": or_null({"type": "string", "enum": STATUSES}, "Only tickets of this status."),
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": SHOWN,
                    "description": "How many at most.",
                },
            }
        ),
        "outputSchema": an_object({"tickets": {"type": "array", "items": TICKET}}, ("tickets",)),
        "annotations": {"readOnlyHint": True},
    },
    "comment": {
        "description": "Write a comment on a ticket.",
        "inputSchema": an_object(
            {
                "ticket_id": TICKET_ID,
                "text": {"type": "string", "minLength": 1, "maxLength": 500, "description": "The comment."},
                "internal": {"type": "boolean", "description": "Whether customers can't see it."},
            },
            ("ticket_id", "text"),
        ),
        "annotations": {"readOnlyHint": False, "destructiveHint": False},
    },
    "assign_ticket": {
        "description": "Give a ticket to somebody, or to nobody.",
        "inputSchema": an_object(
            {
                "ticket_id": TICKET_ID,
                "user": or_null({"type": "string", "maxLength": 40}, "Who gets it; null for nobody."),
                "notify": {"type": "boolean", "description": "Whether to send a mail."},
            },
            ("ticket_id",),
        ),
        "outputSchema": TICKET,
        "annotations": {"readOnlyHint": False, "idempotentHint": True},
    },
    "close_ticket": {
        "description": "Close a ticket, if it is open.",
        "inputSchema": an_object(
            {
                "ticket_id": TICKET_ID,
                "reason": {"type": "string", "enum": REASONS, "description": "Why it is closed."},
            },
            ("ticket_id", "reason"),
        ),
        "outputSchema": TICKET,
        "annotations": {"readOnlyHint": False, "idempotentHint": True},
    },
    "export_tickets": {
        "description": "Export the newest tickets as lines of text.",
        "inputSchema": an_object(
            {"separator": {"type": "string", "minLength": 1, "maxLength": 3, "description": "Between cells."}}
        ),
        "annotations": {"readOnlyHint": True},
    },
}
PROTOCOL_ERRORS = ("open_ticket", "comment", "close_ticket")
"""Tools whose wrong arguments are JSON-RPC errors."""

KINDS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
    "integer": (int, float),
}


def has_kind(value: Any, kind: str) -> bool:
    if kind == "integer" and (
        isinstance(value, bool) or (isinstance(value, float) and not value.is_integer())
    ):
        return False
    return isinstance(value, KINDS[kind])


def is_moment(text: str) -> bool:
    found = RFC_3339.fullmatch(text)
    if not found:
        return False
    _, month, day, hour, minute, second = (int(found[place]) for place in range(1, 7))
    return 1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second <= 60


def wrong_code(value: Any, schema: dict[str, Any]) -> str:
    """Return the code of what is wrong with a value that isn't an object, or an empty text."""
    if not has_kind(value, schema["type"]):
        return "E_TYPE"
    if "enum" in schema and value not in schema["enum"]:
        return "E_ENUM"
    size = len(value) if schema["type"] == "string" else value
    if schema["type"] in {"string", "integer"}:
        least = schema.get("minLength", schema.get("minimum", size))
        most = schema.get("maxLength", schema.get("maximum", size))
        if not least <= size <= most:
            return "E_RANGE"
    if schema.get("format") == "date-time" and not is_moment(value):
        return "E_FORMAT"
    return ""


def validate(value: Any, schema: dict[str, Any], param: str = "") -> None:
    """Raise an error with a code if a value doesn't fit its schema."""
    if "anyOf" in schema:
        if value is not None:
            validate(value, schema["anyOf"][0], param)
        return
    if code := wrong_code(value, schema):
        raise CodedError(code, param, about_form=True)
    if schema["type"] != "object":
        return
    prefix = f"{param}." if param else ""
    for key in schema.get("required", ()):
        if key not in value:
            raise CodedError("E_MISSING", prefix + key, about_form=True)
    for key, part in value.items():
        if key in schema["properties"]:
            validate(part, schema["properties"][key], prefix + key)
        elif schema.get("additionalProperties", True) is False:
            raise CodedError("E_UNKNOWN", prefix + key, about_form=True)


tickets: dict[str, dict[str, Any]] = {}
asked: dict[str, str] = {}
"""The ticket that was asked for last: what a mixed answer is about."""


def open_ticket(
    title: str, priority: str, due: str | None = None, contact: dict[str, Any] | None = None
) -> dict[str, Any]:
    del contact
    ticket_id = f"T-{len(tickets) + 1001}"
    tickets[ticket_id] = {
        "ticket_id": ticket_id,
        "title": title,
        "priority": priority,
        "status": "open",
        "due": due,
        "user": None,
        "comments": 0,
        "changes": 0,
    }
    return tickets[ticket_id]


open_ticket("The printer is on fire", "high")
open_ticket("A new keyboard", "low", due="2027-01-31T12:00:00+01:00")


def ticket_of(ticket_id: str) -> dict[str, Any]:
    if ticket_id not in tickets:
        raise CodedError("E_NOT_FOUND", "ticket_id")
    return tickets[ticket_id]


def get_ticket(ticket_id: str) -> dict[str, Any]:
    if "id_refused" in FAULTS and not ticket_id.isdigit():
        raise CodedError("E_PATTERN", "ticket_id", about_form=True)
    if "mixed" in FAULTS:
        asked["ticket_id"] = ticket_id
        time.sleep(0.1)  # the fault is that other calls come in between
        ticket_id = asked["ticket_id"]
    return ticket_of(ticket_id)


def list_tickets(status: str | None = None, limit: int = SHOWN) -> dict[str, Any]:
    found = [each for each in tickets.values() if status in {None, each["status"]}]
    return {"tickets": found[-int(limit) :]}


def comment(ticket_id: str, text: str, **_: Any) -> str:
    ticket = ticket_of(ticket_id)
    ticket["comments"] += 1
    return f"OK {ticket_id} {ticket['comments']} {len(text)}"


def assign_ticket(ticket_id: str, user: str | None = None, **options: Any) -> dict[str, Any]:
    if "dies" in FAULTS and options.get("notify"):
        os._exit(3)
    if "pair_refused" in FAULTS and user is not None and "notify" in options:
        raise CodedError("E_UNKNOWN", "notify", about_form=True)
    ticket = ticket_of(ticket_id)
    ticket["user"] = user
    return ticket


def close_ticket(ticket_id: str, reason: str) -> dict[str, Any]:
    del reason
    ticket = ticket_of(ticket_id)
    ticket["status"] = "closed"
    if "counts_closings" in FAULTS:
        ticket["changes"] += 1
    return ticket


def export_tickets(separator: str = ";") -> str:
    lines = [separator.join(map(str, each.values())) for each in list(tickets.values())[-SHOWN:]]
    return "\n".join(lines) * (30_000 if "huge" in FAULTS else 1)


FUNCTIONS = {
    function.__name__: function
    for function in (
        open_ticket,
        get_ticket,
        list_tickets,
        comment,
        assign_ticket,
        close_ticket,
        export_tickets,
    )
}


def schema_of(name: str) -> dict[str, Any]:
    """Return the schema by which calls are judged: a fault may leave a part of it away."""
    schema = TOOLS[name]["inputSchema"]
    properties = schema["properties"]
    if name == "comment" and "unknown_key_accepted" in FAULTS:
        return {**schema, "additionalProperties": True}
    if name == "open_ticket" and "nested_enum_accepted" in FAULTS:
        language = {"type": "string"}
        contact = {**CONTACT, "properties": {**CONTACT["properties"], "language": language}}
        return {**schema, "properties": {**properties, "contact": contact}}
    return schema


def checked(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call, or raise an error."""
    if name == "list_tickets" and "text_as_number" in FAULTS and isinstance(arguments.get("limit"), str):
        try:
            arguments = {**arguments, "limit": int(arguments["limit"])}
        except ValueError:
            raise CodedError("E_TYPE", "limit", about_form=True) from None
    try:
        validate(arguments, schema_of(name))
    except CodedError as error:
        if name == "open_ticket" and "one_text" in FAULTS:
            raise CodedError("E_BAD", "", about_form=True) from error
        if name == "close_ticket" and "wrong_name" in FAULTS:
            raise CodedError(error.code, "issue", about_form=True) from error
        raise
    if name == "open_ticket" and "z_refused" in FAULTS and (arguments.get("due") or "").endswith("Z"):
        raise CodedError("E_FORMAT", "due", about_form=True)
    return arguments


def failed(name: str, error: CodedError) -> dict[str, Any]:
    """Return the answer of a call that is refused."""
    if name == "comment" and "internal_error" in FAULTS and not error.about_form:
        return {"error": {"code": -32603, "message": f"{error.code} {error.param}"}}
    if error.about_form and name in PROTOCOL_ERRORS:
        text = f"{error.code} {error.param}".rstrip()
        return {"error": {"code": -32602, "message": text, "data": {"param": error.param}}}
    body = {"error": {"code": error.code, "param": error.param}}
    content = [{"type": "text", "text": json.dumps(body)}]
    return {"result": {"content": content, "structuredContent": body, "isError": True}}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool; return the answer without its id."""
    try:
        result = FUNCTIONS[name](**checked(name, arguments))
    except CodedError as error:
        return failed(name, error)
    if isinstance(result, str):
        return {"result": {"content": [{"type": "text", "text": result}]}}
    content = [{"type": "text", "text": json.dumps(result)}]
    if name == "close_ticket" and "no_structured" in FAULTS:
        return {"result": {"content": content}}
    return {"result": {"content": content, "structuredContent": result}}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the part of an answer that isn't its id."""
    if method == "initialize":
        server = {"name": "tickets", "version": "2"}
        return {
            "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": server}
        }
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return {"result": {"tools": [{"name": name, **tool} for name, tool in TOOLS.items()]}}
    if method != "tools/call":
        return {"error": {"code": -32601, "message": "E_METHOD"}}
    if params.get("name") not in TOOLS:
        return {"error": {"code": -32602, "message": f"E_UNKNOWN_TOOL {params.get('name')}"}}
    return call(params["name"], params.get("arguments") or {})


writing = threading.Lock()


def reply(message: dict[str, Any]) -> None:
    params = message.get("params") or {}
    found = {"jsonrpc": "2.0", "id": message["id"], **answer(message["method"], params)}
    times = 1
    if message["method"] == "tools/call":
        if params.get("name") == "comment" and "wrong_id" in FAULTS:
            found["id"] = f"{message['id']}0"
        if params.get("name") == "list_tickets" and "twice" in FAULTS:
            times = 2
    with writing:
        sys.stdout.write((json.dumps(found) + "\n") * times)
        sys.stdout.flush()


def main() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "notifications/cancelled" and "stuck_cancel" in FAULTS:
            sys.stdin.read()
            return
        if "id" not in message or "method" not in message:
            continue
        if "mixed" in FAULTS and message["method"] == "tools/call":
            threading.Thread(target=reply, args=(message,)).start()
        else:
            reply(message)


if __name__ == "__main__":
    main()
