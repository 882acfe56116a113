"""Be an MCP server whose tools refuse one value that their schemas allow: `refusing_server.py PLAN`.

The plan is JSON: name of a tool to its schema, the place of a part in it, what is refused there, and the text
of the refusal. A tool that has no text refuses nothing. What the schema doesn't allow isn't looked at.
"""

import json
import sys

PLAN = json.loads(sys.argv[1])

IS_REFUSED = {
    "value": lambda value, wanted: value == wanted and isinstance(value, bool) == isinstance(wanted, bool),
    "null": lambda value, _: value is None,
    "missing": lambda value, _: value == "nothing is there",
    "falsy": lambda value, _: value == "nothing is there" or not value,
    "above": lambda value, most: isinstance(value, (int, float)) and value > most,
    "whole": lambda value, _: isinstance(value, (int, float)) and value == int(value),
    "fraction": lambda value, _: isinstance(value, float) and not value.is_integer(),
    "integer": lambda value, _: type(value) is int,
    "letters": lambda value, _: isinstance(value, str) and not value.isascii(),
    "long": lambda value, most: isinstance(value, str) and len(value) > most,
    "longer": lambda value, most: isinstance(value, list) and len(value) > most,
    "shorter": lambda value, least: isinstance(value, list) and len(value) < least,
    "together": lambda arguments, names: all(arguments.get(name) is not None for name in names),
    "falling": lambda arguments, names: arguments.get(names[0], 0) > arguments.get(names[1], 10**9),
    "kind": lambda value, kind: isinstance(value, dict) and value.get("kind") == kind,
    "wordless": lambda value, _: (
        isinstance(value, dict) and not any(map(str.isdigit, value.get("number", "1")))
    ),
    "holds": lambda value, wanted: isinstance(value, dict) and wanted in value.values(),
    "form": lambda value, end: isinstance(value, str) and not value.endswith(end),
}


def part(value, path):
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return "nothing is there"
    return value


def described(name, plan):
    return {
        "name": name,
        "description": "Say that a call came.",
        "inputSchema": plan["schema"],
        "annotations": {"readOnlyHint": True},
    }


def called(name, arguments):
    plan = PLAN.get(name)
    if plan is None:
        return {"content": [{"type": "text", "text": "?"}], "isError": True}
    is_refused = IS_REFUSED[plan["refuses"]](part(arguments, plan["path"]), plan.get("limit"))
    if plan["text"] is not None and is_refused:
        return {"content": [{"type": "text", "text": plan["text"]}], "isError": True}
    return {"content": [{"type": "text", "text": "it came"}], "isError": False}


def reply(message):
    params = message.get("params") or {}
    match message["method"]:
        case "initialize":
            info = {"name": "refusing", "version": "1"}
            version = params["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [described(*each) for each in PLAN.items()]}
        case "tools/call":
            return called(params["name"], params.get("arguments") or {})
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": reply(request)}) + "\n")
        sys.stdout.flush()
