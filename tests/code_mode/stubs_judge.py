"""Judge stubs on the functions of the Berkeley Function Calling Leaderboard (BFCL, Apache 2.0).

Every stub has to be accepted by `pyright` (strict) and `tsc --strict`, has to hold every description and type
of the schemas, and has at most 65 % of the bytes of the tools as JSON without spaces for OpenAI's Chat
Completions.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from zipfile import ZipFile

from operator_schema.code_mode import stubs
from operator_schema.tools import document_tool

AT_MOST = 0.65
_TYPES = {
    **{name: name for name in ("object", "array", "string", "integer", "number", "boolean", "null")},
    **dict.fromkeys(("dict", "HashMap", "Hashtable", "Object"), "object"),
    **dict.fromkeys(("tuple", "list", "ArrayList", "Array", "Queue", "Stack", "Set"), "array"),
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(("long", "Long", "byte", "short", "Bigint"), "integer"),
    **dict.fromkeys(("String", "char"), "string"),
    "Boolean": "boolean",
}
_PYTHON = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def functions_in(wheel):
    """Return each function of the data, once."""
    found = {}
    with ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if re.fullmatch(r"bfcl_eval/data/(multi_turn_func_doc/)?[^/]+\.json", name):
                for line in archive.read(name).decode().splitlines():
                    for each in _functions_of(line):
                        found.setdefault(json.dumps(each, sort_keys=True), each)
    return list(found.values())


def _functions_of(line):
    try:
        data = json.loads(line)
    except ValueError:
        return []
    return data.get("function") or ([data] if "parameters" in data else [])


def schema_of(node):
    """Return a schema of theirs in the words of JSON Schema: they write `dict` and `float`."""
    if isinstance(node, list):
        return [schema_of(each) for each in node]
    if not isinstance(node, dict):
        return node
    schema = {}
    for key, value in node.items():
        if key == "type" and isinstance(value, str):
            schema |= {"type": _TYPES[value]} if value in _TYPES else {}
        elif key == "properties":
            schema[key] = {name: schema_of(inner) for name, inner in value.items()}
        elif key not in {"optional", "nested"} and not (key == "required" and not isinstance(value, list)):
            schema[key] = value if key in {"enum", "default", "required"} else schema_of(value)
    return schema


def tool_of(function):
    name = re.sub(r"[^A-Za-z0-9_-]", "_", function["name"])[:64]
    schema = schema_of(function["parameters"])
    return document_tool(_nothing, schema, name=name, description=function.get("description") or name)


def _nothing(**arguments):
    """Stand for a function that isn't there."""


def lost_by(tool, python, typescript):
    """Yield what stubs of one tool don't say."""
    texts = {"python": _letters(python), "typescript": _letters(typescript)}
    for description in [tool.description, *_descriptions(tool.input_schema())]:
        for language, text in texts.items():
            if _letters(description) not in text:
                yield f"{tool.name}: {language} lacks {description!r}"
    for key, inner in tool.input_schema()["properties"].items():
        kind = inner.get("type")
        if kind in _PYTHON and "enum" not in inner:
            if not re.search(rf"\b{re.escape(key)}_?: {_PYTHON[kind]}\b", python):
                yield f"{tool.name}: python lacks {key}: {kind}"
            script = "number" if kind == "integer" else kind
            if not re.search(rf"{re.escape(key)}\"?\??:{script}\b", typescript):
                yield f"{tool.name}: typescript lacks {key}: {kind}"


def _letters(text):
    return re.sub(r"\\u[0-9a-f]{4}|\W", "", text)


def _descriptions(schema):
    if isinstance(schema, dict):
        if isinstance(schema.get("description"), str):
            yield schema["description"]
        for inner in schema.values():
            yield from _descriptions(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _descriptions(inner)


def check_python(text, folder):
    (folder / "stubs.pyi").write_text(text, encoding="utf-8")
    config = {"typeCheckingMode": "strict", "include": ["stubs.pyi"]}
    (folder / "pyrightconfig.json").write_text(json.dumps(config))
    return _run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--project", str(folder)])


def check_typescript(text, folder, tsc):
    (folder / "stubs.ts").write_text(text, encoding="utf-8")
    return _run([tsc, "--strict", "--noEmit", str(folder / "stubs.ts")])


def _run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout[-5000:] + done.stderr[-2000:] or "it failed"


def _definition(tool):
    return {"name": tool.name, "description": tool.description, "parameters": tool.input_schema()}


def hostile_tools():
    """Return tools whose texts and names try to end what they stand in, or to steer a checker."""
    texts = [
        *(
            '"""\nimport os\n"""',
            "*/ declare const x: string; /*",
            "\\",
            '"',
            'a\\"',
            "/",
            "*",
            "\u2028x: int\u2029",
        ),
        *("type: ignore", "# pyright: basic", "# type: ignore", "@ts-ignore", "@ts-nocheck", "x\\\n", '"""'),
        *(
            "/ <reference path='x'/>",
            "\0\x1b[2J",
            "\u202e",
            "a\rb",
            "a\x0cb",
            '\\"""',
            "\U0001d159",
            "${x}",
            "`",
        ),
    ]
    names = [
        "from",
        "class",
        "__x",
        "_",
        "a-b",
        "a_b",
        "str",
        "int",
        "Any",
        "café",
        "ﬁ",
        "1",
        "",
        "a b",
        "constructor",
    ]
    names += ["__proto__", "self", "print", "list", '"', "\n", *texts]
    for number, text in enumerate(texts):
        inner = {
            "type": "object",
            "title": text,
            "properties": {
                name: {"type": "string", "description": text, "enum": [text, "b"]} for name in names
            },
            "required": names[::2],
        }
        of_map = {
            "type": "object",
            "additionalProperties": {"type": ["string", "null"]},
            "default": {"a": text},
        }
        places = {name: {"type": "string", "description": text, "default": text} for name in names}
        schema = {
            "type": "object",
            "properties": {**places, "inner": inner, "map": of_map},
            "required": ["from"],
        }
        name = ("print", "list", "while", "delete", "a-b", "a_b")[number] if number < 6 else f"tool_{number}"
        yield document_tool(_nothing, schema, name=name, description=text if text.strip() else "x")


def main(wheel, tsc):
    every = [tool_of(function) for function in functions_in(wheel)]
    named = list({tool.name: tool for tool in reversed(every)}.values())  # no toolset has two of one name
    requests = [{"type": "function", "function": _definition(tool)} for tool in named]
    sent = len(json.dumps(requests).encode())
    compact = len(json.dumps(requests, ensure_ascii=False, separators=(",", ":")).encode())
    print(
        f"{len(every):,} functions, {len(named):,} names; {sent:,} bytes of tools, {compact:,} without spaces"
    )
    failed = False
    for language in ("python", "typescript"):
        size = len(stubs(named, language).encode())
        failed |= size > AT_MOST * compact
        print(f"{language}: {size:,} bytes, {size / sent:.1%} ({size / compact:.1%} of those without spaces)")
    lost = [line for tool in every for line in lost_by(tool, stubs([tool]), stubs([tool], "typescript"))]
    print(f"{len(lost)} descriptions and types are lost", *lost[:10], sep="\n  ")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for tools in (every, list(hostile_tools())):
            python = check_python(stubs(tools), folder)
            typescript = check_typescript(stubs(tools, "typescript"), folder, tsc)
            print(f"pyright: {python or 'accepted'}", f"tsc: {typescript or 'accepted'}", sep="\n")
            failed |= python + typescript != ""
    return 1 if failed or lost else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
