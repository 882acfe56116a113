"""Be an MCP server with planted faults: `faulty_server.py [--fault NAME]... [--all]`; else it has none.

Each fault is in a tool of its own, so that all of them can be switched on at once; `--quick` makes the huge
answer a tenth as long. It is started for each crash, so it imports little.
"""

import json
import os
import sys
import threading
import time

FAULTS = {
    "edge_refused": "it refuses the maximum of a range",
    "optional_required": "it refuses a call without an optional parameter",
    "null_refused": "it refuses null where the schema allows it",
    "unicode_refused": "it refuses text that isn't ASCII",
    "long_refused": "it refuses a text of more than 255 characters",
    "type_coerced": "it takes a text of digits for a number",
    "unknown_key_accepted": "it takes a key that the schema excludes",
    "case_ignored": "it takes a choice in other case",
    "range_ignored": "it takes a number out of range",
    "unflagged_error": "an error has no isError",
    "internal_error": "wrong arguments end in -32603",
    "unnamed_parameter": "the text of an error names no parameter",
    "missing_key": "a result lacks a key that the output schema requires",
    "number_as_text": "a number of a result is a text",
    "no_structured_result": "a result has no structuredContent, and there is an output schema",
    "prints": "it prints on the channel of the protocol",
    "crash": "it ends on a hostile text",
    "hang": "it doesn't answer a large number",
    "closes_after_error": "it ends after a refused call",
    "refused_changes": "a refused call leaves an item behind",
    "read_only_lie": "a tool that says that it only reads writes a file",
    "idempotent_lie": "a tool that says that it is idempotent adds something each time",
    "huge_answer": "an answer has 20 MB",
    "mixed_answers": "calls at once get each other's answers",
    "stuck_after_cancel": "it reads nothing after a call was cancelled",
    "second_delete": "the second call that deletes an item ends it",
    "bad_name": "a name has characters that providers refuse",
    "invalid_schema": "an input schema has a type that doesn't exist",
    "required_absent": "a required key has no property",
}
"""Name of a fault to what it does."""

ON: set[str] = set()
TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


class RefusedError(Exception):
    """Raised if a call fails: the answer is a result with isError."""


class BrokenError(Exception):
    """Raised by a planted fault: the answer is an error of JSON-RPC."""


# --- tools: the name is that of the function -----------------------------------------------------

TOOLS: list[dict] = []
RUN = {}
READ = {"readOnlyHint": True}


def tool(description, properties=None, required=None, output=None, hints=None, **more):
    """Offer a function as a tool."""
    properties = properties or {}
    schema = {"type": "object", "properties": properties, "required": sorted(properties)}
    if required is not None:
        schema["required"] = required
    schema.update(more)

    def offered(function):
        described = {"name": function.__name__, "description": description, "inputSchema": schema}
        if output is not None:
            described["outputSchema"] = {"type": "object", "properties": output, "required": sorted(output)}
        described["annotations"] = READ if hints is None else hints
        TOOLS.append(described)
        RUN[function.__name__] = function
        return function

    return offered


def about(description, **schema):
    """Describe a parameter."""
    return {"description": description, **schema}


ITEMS: dict[int, dict] = {}
DELETED: set[int] = set()
LABELS: list[str] = []


@tool(
    "List all items and labels that are stored now.",
    output={"items": {"type": "array"}, "labels": {"type": "array"}},
)
def list_items():
    return {"items": [{"id": key, **ITEMS[key]} for key in sorted(ITEMS)], "labels": LABELS}


@tool("Tell the time of the server with its milliseconds.")
def tell_time():
    return str(time.time())


@tool(
    "Store a new item, and return its id.",
    {"title": about("The title of the item.", **TEXT)},
    output={"id": WHOLE},
    hints={"readOnlyHint": False, "destructiveHint": False},
)
def create_item(title):
    number = max([0, *ITEMS, *DELETED]) + 1
    ITEMS[number] = {"title": title}
    return {"id": number}


ITEM_ID = about("The id of an item.", type="integer", minimum=1)


@tool("Return the item with an id.", {"item_id": ITEM_ID}, output={"id": WHOLE, "title": TEXT})
def get_item(item_id):
    if item_id not in ITEMS:
        raise RefusedError(f"no item has the id {item_id}")
    return {"id": item_id, **ITEMS[item_id]}


@tool(
    "Delete the item with an id.",
    {"item_id": ITEM_ID},
    hints={"readOnlyHint": False, "destructiveHint": True},
)
def delete_item(item_id):
    if item_id not in ITEMS:
        if "second_delete" in ON and item_id in DELETED:
            os._exit(1)
        raise RefusedError(f"no item has the id {item_id}")
    del ITEMS[item_id]
    DELETED.add(item_id)
    return "deleted"


@tool(
    "Put a label on the whole collection.",
    {"label": about("The label.", type="string", maxLength=40)},
    hints={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True},
)
def set_label(label):
    if "idempotent_lie" in ON or label not in LABELS:
        LABELS.append(label)
    return "labelled"


@tool("Multiply a size by ten.", {"size": about("The size.", type="integer", minimum=1, maximum=9)})
def scale_size(size):
    if "edge_refused" in ON and size == 9:  # the maximum
        raise RefusedError("size must be less than 9")
    return str(size * 10)


@tool(
    "Write a greeting for a guest.",
    {"guest": about("Who is greeted.", **TEXT), "greeting": about("The words before the name.", **TEXT)},
    ["guest"],
)
def greet_guest(guest, greeting=None):
    if "optional_required" in ON and greeting is None:
        raise RefusedError("greeting is required")
    return f"{greeting or 'Hello'} {guest}"


@tool(
    "Show a remark, or that there is none.",
    {"remark": about("The remark, or null.", type=["string", "null"])},
)
def show_remark(remark):
    if "null_refused" in ON and remark is None:
        raise RefusedError("remark must be a string, not null")
    return f"remark: {remark}"


@tool("Reverse a text.", {"text": about("What is reversed.", **TEXT)})
def reverse_text(text):
    if "unicode_refused" in ON and not text.isascii():
        raise RefusedError("text must have ASCII characters only")
    return f"reversed: {text[::-1]}"


@tool("Measure a text.", {"text": about("What is measured.", **TEXT)}, output={"length": WHOLE})
def measure_text(text):
    if "long_refused" in ON and len(text) > 255:  # as a short column has
        raise RefusedError("text must be at most 255 characters long")
    return {"length": len(text)}


@tool("Double a number.", {"number": about("What is doubled.", type="integer")})
def double_number(number):
    return f"{number} doubled"


@tool(
    "Compute the area of a rectangle.",
    {"width": about("In metres.", type="number"), "height": about("In metres.", type="number")},
    additionalProperties=False,
)
def rectangle_area(width, height):
    return f"area: {width} by {height}"


@tool("Mix a colour of paint.", {"color": about("The colour.", type="string", enum=["red", "green", "blue"])})
def mix_paint(color):
    return f"mixed {color}"


@tool("Preview a volume.", {"level": about("The level.", type="integer", minimum=0, maximum=10)})
def preview_volume(level):
    return f"volume {level}"


@tool(
    "Return the name of a planet by its place.", {"place": about("From the sun.", type="integer", minimum=1)}
)
def name_planet(place):
    names = ["Mercury", "Venus", "Earth", "Mars"]
    if place > len(names):
        if "unflagged_error" in ON:
            return f"Error: no planet at place {place}"
        raise RefusedError(f"no planet at place {place}")
    return names[place - 1]


@tool("Join words to a line.", {"words": about("The words.", type="array", items=TEXT)})
def join_words(words):
    return f"joined: {' '.join(words)}"


@tool("Split a line into words.", {"line": about("The line.", **TEXT)})
def split_line(line):
    return json.dumps({"words": line.split()})


@tool(
    "Compute the range of numbers.",
    {"numbers": about("The numbers.", type="array", items={"type": "number"})},
    output={"lowest": {"type": "number"}, "highest": {"type": "number"}},
)
def range_of(numbers):
    found = {"lowest": min(numbers, default=0), "highest": max(numbers, default=0)}
    if "missing_key" in ON:
        del found["highest"]
    return found


@tool("Count the letters of a word.", {"word": about("The word.", **TEXT)}, output={"letters": WHOLE})
def count_letters(word):
    count = sum(map(str.isalpha, word))
    return {"letters": str(count) if "number_as_text" in ON else count}


@tool("Return the unit of a quantity.", {"quantity": about("Its name.", **TEXT)}, output={"unit": TEXT})
def unit_of(quantity):
    found = {"unit": "m" if quantity == "length" else "1"}
    return json.dumps(found) if "no_structured_result" in ON else found


@tool("Write a text in capitals.", {"text": about("The text.", **TEXT)})
def capitals_of(text):
    if "prints" in ON:
        sys.stdout.write("writing in capitals\n")
        sys.stdout.flush()
    return f"capitals: {text.upper()}"


@tool("Find a word in the dictionary.", {"word": about("The word.", **TEXT)})
def find_word(word):
    if "crash" in ON and "\0" in word:
        os._exit(1)
    return f"nothing is said of {word!a}"


@tool(
    "Return a number of the Fibonacci sequence.",
    {"place": about("Of the number.", type="integer", minimum=0, maximum=90)},
)
def fibonacci_number(place):
    if "hang" in ON and place > 80:  # as if it was computed by recursion
        time.sleep(1000)
    one, other = 0, 1
    for _ in range(place):
        one, other = other, one + other
    return f"number: {one}"


@tool(
    "Divide a number by another one.",
    {"dividend": about("What is divided.", type="integer"), "divisor": about("By what.", type="integer")},
)
def divide_numbers(dividend, divisor):
    if divisor == 0:
        raise RefusedError("a number can't be divided by zero")
    return f"quotient: {dividend // divisor}"


@tool("Show a page of the manual.", {"page": about("The name of the page.", **TEXT)})
def show_page(page):
    if "read_only_lie" in ON:
        with open("visits.txt", "a", encoding="utf-8") as file:
            file.write("visited\n")
    return f"page: {page}"


HUGE = [20_000_000]


@tool("Repeat a character.", {"times": about("How often.", type="integer", minimum=0, maximum=100)})
def repeat_character(times):
    return "x" * (HUGE[-1] if "huge_answer" in ON and times == 100 else times)  # the maximum


LAST = [""]


@tool("Echo a message.", {"message": about("What is echoed.", **TEXT)})
def echo_message(message):
    LAST[0] = message
    time.sleep(0.003)
    return f"echo: {LAST[0] if 'mixed_answers' in ON else message}"


@tool("Return the version of the server.")
def server_version():
    return "1.0"


@tool("Return the names of the colours.")
def color_names():
    return "red, green, blue"


@tool("Tell which moons Mars has.")
def moons_of_mars():
    return "Phobos, Deimos"


# --- what the schema says ------------------------------------------------------------------------

KINDS = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: (
        not isinstance(value, bool)
        and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
    ),
    "number": lambda value: not isinstance(value, bool) and isinstance(value, (int, float)),
    "array": lambda value: isinstance(value, list),
    "null": lambda value: value is None,
}


def checked(name, schema, value):
    """Return a value that fits a schema.

    Raises:
        RefusedError: it doesn't.
    """
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(KINDS[kind](value) for kind in kinds):
        raise RefusedError(f"{name} must be of type {' or '.join(kinds)}")
    if kinds == ["integer"]:
        value = int(value)
    if "enum" in schema and value not in schema["enum"]:
        raise RefusedError(f"{name} must be one of {', '.join(schema['enum'])}")
    if value < schema.get("minimum", value) if kinds == ["integer"] else False:
        raise RefusedError(f"{name} must be at least {schema['minimum']}")
    if value > schema.get("maximum", value) if kinds == ["integer"] else False:
        raise RefusedError(f"{name} must be at most {schema['maximum']}")
    if isinstance(value, str) and len(value) > schema.get("maxLength", len(value)):
        raise RefusedError(f"{name} must be at most {schema['maxLength']} characters long")
    if isinstance(value, list):
        return [checked(name, schema["items"], item) for item in value]
    return value


def read(described, arguments):
    """Return the arguments of a function.

    Raises:
        RefusedError: the schema doesn't allow them, or a planted fault refuses them.
    """
    name, schema = described["name"], described["inputSchema"]
    arguments = forgiven(name, dict(arguments))
    found = {}
    for key in schema["required"]:
        if key in schema["properties"] and key not in arguments:
            raise RefusedError(f"{key} is required")
    for key, value in arguments.items():
        if key in schema["properties"]:
            found[key] = checked(key, schema["properties"][key], value)
        elif schema.get("additionalProperties") is False and "unknown_key_accepted" not in ON:
            raise RefusedError(f"{key} isn't a parameter: unknown parameter")
    return found


def forgiven(name, arguments):
    """Make wrong arguments right, as a planted fault does."""
    number = arguments.get("number")
    if "type_coerced" in ON and name == "double_number" and isinstance(number, str) and number.isdigit():
        arguments["number"] = int(number)
    color = arguments.get("color")
    if "case_ignored" in ON and name == "mix_paint" and isinstance(color, str):
        arguments["color"] = color.lower()
    level = arguments.get("level")
    if "range_ignored" in ON and name == "preview_volume" and KINDS["integer"](level):
        arguments["level"] = min(max(level, 0), 10)
    return arguments


# --- the protocol --------------------------------------------------------------------------------


def called(name, arguments):
    """Return the result of a call."""
    described = next((each for each in TOOLS if each["name"] == name), None)
    if described is None:
        return result(f"there is no tool {name}", is_error=True)
    try:
        value = RUN[name](**read(described, arguments))
    except RefusedError as error:
        return result(refusal(name, str(error)), is_error=True)
    if isinstance(value, dict):
        return {**result(json.dumps(value)), "structuredContent": value}
    return result(value)


def refusal(name, text):
    """Return the text of a refusal, with what a planted fault does beside it."""
    if "refused_changes" in ON and name == "create_item":
        ITEMS[max([0, *ITEMS, *DELETED]) + 1] = {"title": ""}
    if "internal_error" in ON and name == "join_words":
        raise BrokenError("Internal error")
    return "the value must be a string" if "unnamed_parameter" in ON and name == "split_line" else text


def result(text, *, is_error=False):
    """Return a result of one text."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


def reply(method, params):
    """Return the result of a request."""
    if method == "initialize":
        info = {"name": "planted", "version": "1"}
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": info,
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return called(params["name"], params.get("arguments") or {})
    return {}


WRITING = threading.Lock()


def answer(message):
    """Write the answer to a request."""
    made = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        made["result"] = reply(message["method"], message.get("params") or {})
    except BrokenError as error:
        made["error"] = {"code": -32603, "message": str(error)}
    with WRITING:
        sys.stdout.write(json.dumps(made) + "\n")
        sys.stdout.flush()
        if "closes_after_error" in ON and is_refused_division(message, made):
            os._exit(1)


def is_refused_division(message, made):
    """Return whether an answer is one after which a planted fault ends the server."""
    return (
        message["method"] == "tools/call"
        and message["params"]["name"] == "divide_numbers"
        and (made["result"]["isError"])
    )


def spoil_descriptions():
    """Plant the faults of descriptions."""
    by_name = {each["name"]: each for each in TOOLS}
    if "bad_name" in ON:
        by_name["server_version"]["name"] = "server version!"
        RUN["server version!"] = server_version
    if "invalid_schema" in ON:
        by_name["color_names"]["inputSchema"] = {
            "type": "object",
            "properties": {"tone": {"type": "txt"}},
            "required": [],
        }
    if "required_absent" in ON:
        by_name["moons_of_mars"]["inputSchema"]["required"] = ["system"]


def main():
    """Serve until the input ends."""
    words = sys.argv[1:]
    if "--quick" in words:  # the probe reads each answer many times
        HUGE.append(2_000_000)
    ON.update(FAULTS if "--all" in words else [word for word in words if word not in {"--fault", "--quick"}])
    if unknown := ON - set(FAULTS):
        sys.exit(f"no such fault: {', '.join(unknown)}")
    spoil_descriptions()
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "notifications/cancelled" and "stuck_after_cancel" in ON:
            time.sleep(1000)
        if "id" not in message:
            continue
        if message["method"] == "tools/call":
            threading.Thread(target=answer, args=[message], daemon=True).start()
        else:
            answer(message)


if __name__ == "__main__":
    main()
