"""An MCP server of notes, with faults that can be switched on by name: `python notes_server.py FAULT...`.

The name `ticks` lets its clock tell more than seconds, so that nobody has to wait for them.
"""

import json
import os
import sys
import time

FAULTS = set(sys.argv[1:])
NOTES = {}

TEXT = {"type": "string"}
ID = {"type": "integer", "minimum": 1}


def described(name, description, properties, required, **more):
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "description": description, "inputSchema": schema, **more}


READ_ONLY = {"annotations": {"readOnlyHint": True}}
TOOLS = [
    described("list_notes", "List all notes.", {}, [], **READ_ONLY),
    described(
        "repeat",
        "Repeat a text.",
        {
            "text": {**TEXT, "description": "What to repeat."},
            "times": {"type": "integer", "minimum": 1, "maximum": 9, "description": "How often."},
        },
        ["text"],
        outputSchema={"type": "object", "properties": {"size": {"type": "integer"}}, "required": ["size"]},
        **READ_ONLY,
    ),
    described("now", "Tell the time.", {}, [], **READ_ONLY),
    described(
        "create_note",
        "Write a note.",
        {"title": {**TEXT, "description": "The first line."}},
        ["title"],
        annotations={"readOnlyHint": False, "idempotentHint": "idempotent" in FAULTS},
    ),
    described(
        "delete_note",
        "Delete a note.",
        {"note_id": {**ID, "description": "Which note."}},
        ["note_id"],
        annotations={"destructiveHint": True},
    ),
]


def refused(text):
    return {"content": [{"type": "text", "text": text}], "isError": "unflagged" not in FAULTS}


def answer(text, structured=None):
    found = {"content": [{"type": "text", "text": text}], "isError": False}
    return found if structured is None else {**found, "structuredContent": structured}


def problem(tool, arguments):
    for name in tool["inputSchema"]["required"]:
        if name not in arguments:
            return f"{name} is required"
    for name, schema in tool["inputSchema"]["properties"].items():
        value = arguments.get(name)
        if name not in arguments or ("coerces" in FAULTS and isinstance(value, str) and value.isdigit()):
            continue
        if schema["type"] == "string" and not isinstance(value, str):
            return f"{'it' if 'unnamed' in FAULTS else name} must be a string"
        if schema["type"] == "integer":
            is_whole = isinstance(value, float) and value.is_integer()
            if isinstance(value, bool) or not (isinstance(value, int) or is_whole):
                return f"{'it' if 'unnamed' in FAULTS else name} must be an integer"
            highest = schema.get("maximum", value) - ("edge" in FAULTS)
            if not schema.get("minimum", value) <= value <= highest:
                return f"{name} must be at most {highest}"
    return None


def called(name, arguments):
    tool = next((each for each in TOOLS if each["name"] == name), None)
    if tool is None:
        return refused(f"there is no tool {name}")
    wrong = problem(tool, arguments)
    if wrong is not None:
        if "damages" in FAULTS and name == "create_note":
            NOTES[len(NOTES) + 1] = "half a note"
        return refused(wrong)
    return globals()[name](
        **{key: arguments[key] for key in arguments if key in tool["inputSchema"]["properties"]}
    )


def list_notes():
    return answer(json.dumps({"notes": [{"id": key, "title": NOTES[key]} for key in NOTES]}))


def now():
    return answer(str(time.time_ns()) if "ticks" in FAULTS else time.strftime("%H:%M:%S"))


def repeat(text, times=1):
    if "crashes" in FAULTS and "\0" in text:
        os._exit(3)
    if "hangs" in FAULTS and times == 9:
        time.sleep(1000)
    if "prints" in FAULTS:
        sys.stdout.write("repeating\n")
    if "writes" in FAULTS:
        with open("log.txt", "a") as file:
            file.write(".")
    REPEATED[0] += 1
    if "limits" in FAULTS and REPEATED[0] > 5:
        return answer("Error: the limit of 5 calls is reached", {"size": 0})
    size = str(len(text)) if "wrong_result" in FAULTS else len(text)
    return answer(text * int(times), None if "no_result" in FAULTS else {"size": size})


REPEATED = [0]


def create_note(title):
    number = max(NOTES, default=0) + 1
    NOTES[number] = title
    return answer(json.dumps({"id": number}))


def delete_note(note_id):
    if note_id not in NOTES:
        if "second_delete" in FAULTS and note_id <= DELETED[0]:
            os._exit(4)
        return refused(f"no note with the id {note_id}")
    del NOTES[note_id]
    DELETED[0] = max(DELETED[0], note_id)
    return answer("deleted")


DELETED = [0]


def reply(message):
    method = message["method"]
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "notes", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return called(message["params"]["name"], message["params"].get("arguments") or {})
    return {}


for line in sys.stdin:
    if "ignores_surrogates" in FAULTS and "\\ud800" in line:
        continue  # as parsers do that read Unicode only; what can't be read has no answer
    request = json.loads(line)
    if "id" in request:
        found = {"jsonrpc": "2.0", "id": request["id"], "result": reply(request)}
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()
        if "ends" in FAULTS and request["method"] == "tools/call" and "times" in str(request["params"]):
            sys.exit(5)
