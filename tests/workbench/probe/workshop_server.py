"""Be the MCP server of a workshop: `workshop_server.py LANGUAGE [FAULT]`; without a fault, it is right.

Each fault shows only in several calls: in a second equal one, after a cancelled one, or with an id that
another tool gave. The texts of errors are English, Polish, or codes.
"""

import json
import sys

LANGUAGE, FAULTS = "".join(sys.argv[1:2]), set(sys.argv[2:])
FAULTY_TOOLS = {
    "second_fails": ("estimate", "unstable"),
    "cancelled_change_stays": ("add_job", "changed_by_cancelled"),
    "cancelled_reading_changes": ("estimate", "changed_by_cancelled"),
    "known_id_breaks_promise": ("show_job", "wrong_result"),
    "known_id_is_changed": ("show_job", "read_only_changed"),
    "another_job_breaks_promise": ("list_jobs", "wrong_result"),
    "nested_id_is_changed": ("print_bill", "read_only_changed"),
}
"""Name of a fault to the tool and the code of the finding that tells of it."""

TEXTS = {
    "english": ("{} is missing or wrong", "no job has this number", "there is such a job already"),
    "polish": ("pole {} jest b\u0142\u0119dne", "nie ma takiego zlecenia", "takie zlecenie ju\u017c jest"),
    "codes": ("E17 {}", "E44", "E45"),
}
TEXT = {"type": "string", "maxLength": 5000}
JOB = {"type": "string", "minLength": 1, "maxLength": 5000}
BILL = {"type": "object", "properties": {"job": JOB}, "required": ["job"], "additionalProperties": False}
READS = {"readOnlyHint": True}

JOBS = {"J-7": {"state": "new", "parts": ["chain"]}}
ESTIMATED = set()
MADE_BY = {}


class RefusedError(Exception):
    """Raised if a call is refused."""


def listed(_):
    jobs = [{"job": key, **JOBS[key]} for key in sorted(JOBS)]
    is_wrong = "another_job_breaks_promise" in FAULTS and len(jobs) > 1
    return {"jobs": jobs, "number": "many" if is_wrong else len(jobs)}


def job_of(number):
    if number not in JOBS:
        raise RefusedError(TEXTS[LANGUAGE][1])
    return JOBS[number]


def shown(arguments):
    job = job_of(arguments["job"])
    if "known_id_is_changed" in FAULTS:
        job["state"] = "seen"
    return {"parts": "chain" if "known_id_breaks_promise" in FAULTS else job["parts"]}


def printed(arguments):
    job = job_of(arguments["bill"]["job"])
    if "nested_id_is_changed" in FAULTS:
        job["state"] = "billed"
    return {"lines": len(job["parts"])}


def estimated(arguments):
    if "second_fails" in FAULTS and arguments["work"] in ESTIMATED:
        raise RefusedError(TEXTS[LANGUAGE][1])
    ESTIMATED.add(arguments["work"])
    return {"hours": len(arguments["work"])}


def added(arguments):
    if [arguments["part"]] in [job["parts"] for job in JOBS.values()]:
        raise RefusedError(TEXTS[LANGUAGE][2])
    number = f"J-{len(JOBS) + 7}"
    JOBS[number] = {"state": "new", "parts": [arguments["part"]]}
    return {"job": number}


def undo(request):
    """Undo a call that was cancelled; with a fault, a part of it stays, or something else changes."""
    name, result = MADE_BY.get(request, ("", {}))
    if name == "add_job":
        if "cancelled_change_stays" in FAULTS:
            JOBS[result["job"]]["parts"] = []
        else:
            del JOBS[result["job"]]
    if name == "estimate" and "cancelled_reading_changes" in FAULTS:
        JOBS["J-7"]["parts"].append("cancelled")


def tool(name, does, properties, output, hints):
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    promised = {"type": "object", "properties": output, "required": [*output]}
    described = {
        "name": name,
        "description": f"Do something of a workshop: {name}.",
        "inputSchema": {**schema, "additionalProperties": False},
        "outputSchema": promised,
        "annotations": hints,
    }
    return name, (does, described)


LIST, WHOLE = {"type": "array"}, {"type": "integer"}
TOOLS = dict(
    [
        tool("list_jobs", listed, {}, {"jobs": LIST, "number": WHOLE}, READS),
        tool("show_job", shown, {"job": JOB}, {"parts": LIST}, READS),
        tool("print_bill", printed, {"bill": BILL}, {"lines": WHOLE}, READS),
        tool("estimate", estimated, {"work": TEXT}, {"hours": WHOLE}, READS),
        tool("add_job", added, {"part": TEXT}, {"job": JOB}, {"destructiveHint": False}),
    ]
)


def check(schema, arguments, path=""):
    """Refuse arguments that a schema doesn't allow."""
    for name in {*schema["properties"], *arguments}:
        inner, value, place = schema["properties"].get(name), arguments.get(name), f"{path}{name}"
        if inner is None or not isinstance(value, dict if inner["type"] == "object" else str):
            raise RefusedError(TEXTS[LANGUAGE][0].format(place))
        if isinstance(value, dict):
            check(inner, value, f"{place}.")
        elif not inner.get("minLength", 0) <= len(value) <= inner["maxLength"]:
            raise RefusedError(TEXTS[LANGUAGE][0].format(place))


def result_of(name, arguments):
    if name not in TOOLS:
        raise RefusedError(TEXTS[LANGUAGE][0].format(name))
    does, described = TOOLS[name]
    check(described["inputSchema"], arguments)
    return does(arguments)


def called(request, name, arguments):
    try:
        result = result_of(name, arguments)
    except RefusedError as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    MADE_BY[request] = name, result
    return {"content": [{"type": "text", "text": json.dumps(result)}], "structuredContent": result}


def reply(message):
    params = message.get("params") or {}
    match message["method"]:
        case "initialize":
            info = {"name": "workshop", "version": "1"}
            version = params["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            return {"tools": [described for _, described in TOOLS.values()]}
        case "tools/call":
            return called(message["id"], params["name"], params.get("arguments") or {})
    return {}


def main():
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "notifications/cancelled":
            undo(message["params"]["requestId"])
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": reply(message)}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
