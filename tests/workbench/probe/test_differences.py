"""A server that refuses a value that its schema lists is found out by other values, whatever it says."""

import json
import sys
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("hypothesis")

from shares import share

from operator_schema.workbench.probe import probe, watching

pytestmark = [pytest.mark.needs_process, pytest.mark.slow("it probes a server of many tools")]

SERVER = Path(__file__).with_name("refusing_server.py")
TEXT = {"type": "string"}

CLOSED = {
    "choice": ({"enum": ["IS", "DE", "FR"]}, "value", "IS"),
    "constant": ({"anyOf": [{"const": "a"}, {"const": "b"}]}, "value", "a"),
    "flag": ({"type": "boolean"}, "falsy", None),
    "zero": ({"type": "integer"}, "falsy", None),
    "null": ({"type": ["string", "null"]}, "null", None),
    "optional": (TEXT, "missing", None),
    "most": ({"type": "integer", "minimum": 0, "maximum": 50}, "above", 49),
    "low limit": ({"type": "integer", "minimum": 0, "maximum": 5000}, "above", 60),
    "large": ({"type": "integer"}, "above", 2**31 - 1),
    "whole number": ({"type": "number"}, "whole", None),
    "fraction": ({"type": "number", "maximum": 9}, "fraction", None),
    "written without a point": ({"type": "number", "minimum": -50, "maximum": 50}, "integer", None),
    "letters": (TEXT, "letters", None),
    "long": (TEXT, "long", 255),
    "most items": ({"type": "array", "items": TEXT, "maxItems": 4}, "longer", 3),
    "fewest items": ({"type": "array", "items": TEXT, "minItems": 2}, "shorter", 3),
    "empty list": ({"type": "array", "items": TEXT}, "shorter", 1),
    "date-time": ({"type": "string", "format": "date-time"}, "form", "Z"),
}
"""Name of a part to its schema, and to what a server refuses of it."""


def as_parameter(inner, required):
    return {"it": inner}, required, ["it"]


def nested(inner, required):
    order = {"type": "object", "properties": {"it": inner}, "required": required}
    return {"order": order}, ["order"], ["order", "it"]


def in_a_list(*_):
    lines = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Line"}, "default": []}
    return {"lines": lines}, ["lines"], ["lines", 0, "it"]


AROUND = [as_parameter, nested, in_a_list]
"""Where the part is: its properties, what is required, its path."""

SAID = [
    "",
    "no",
    "Das geht nicht.",
    "\u56fd\u306e\u5024\u304c\u7121\u52b9\u3067\u3059",
    "not found: no such thing",
    "other and it are the parameters",
    '{"fehler": {"grund": 7}}',
]


def planned(texts, turn):
    """Return what each tool refuses; a third of all parts and places, which is another one at each turn."""
    plan = {}
    for number, ((name, (inner, refuses, limit)), around) in enumerate(product(CLOSED.items(), AROUND)):
        if (number + number // len(AROUND) + turn) % len(AROUND):
            continue
        needed = [] if refuses == "missing" else ["it"]
        properties, required, path = around(inner, needed)
        line = {"type": "object", "properties": {"it": inner}, "required": needed}
        plan[f"{name}_{around.__name__}".replace(" ", "_").replace("-", "_")] = {
            "schema": {
                "type": "object",
                "properties": {"other": TEXT, **properties},
                "required": required,
                "additionalProperties": False,
                "$defs": {"Line": line},
            },
            "path": path,
            "refuses": refuses,
            "limit": limit,
            "text": texts[number % len(texts)],
        }
    return plan


def refused(plan):
    """Probe a server; return the tools with a finding that says that it refuses the part."""
    command = [sys.executable, "-S", str(SERVER), json.dumps(plan)]
    report = probe(command, seconds=600, calls=1, timeout=20)
    assert report.is_complete
    found = {}
    for each in report.found:
        if each.finding.code == "valid_refused":
            path = [step if isinstance(step, str) else 0 for step in each.finding.path]
            found.setdefault(each.finding.tool, []).append(path)
    return found


@pytest.fixture(autouse=True)
def no_clock(monkeypatch):
    monkeypatch.setattr(watching, "SECONDS_BETWEEN", 0.01)


@pytest.mark.hypothesis
@pytest.mark.parametrize("turn", share(range(len(AROUND)), len(AROUND)))
def test_each_closed_part_that_is_refused_is_found_whatever_is_said(turn):
    plan = planned(SAID[turn:] + SAID[:turn], turn)
    assert len(plan) == len(CLOSED)
    assert refused(plan) == {name: [each["path"]] for name, each in plan.items()}


FLAG, WHOLE = {"type": "boolean"}, {"type": "integer"}
CONTACT = {
    "anyOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": kind}, name: {**TEXT, "maxLength": 30}},
            "required": ["kind", name],
            "additionalProperties": False,
        }
        for kind, name in [("email", "address"), ("phone", "number")]
    ]
}
COUNTS = {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 9}}
NAMED = {**FLAG, "description": "Not together with the user."}


def refusing(properties, required, path, refuses, limit):
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"schema": schema, "path": path, "refuses": refuses, "limit": limit, "text": "E7"}


AT_FAULT = {
    "two_optional": refusing({"user": TEXT, "notify": FLAG}, [], [], "together", ["user", "notify"]),
    "one_nullable": refusing(
        {"user": {"type": ["string", "null"]}, "notify": FLAG}, ["user"], [], "together", ["user", "notify"]
    ),
    "form_of_union": refusing({"contact": CONTACT}, ["contact"], ["contact"], "kind", "phone"),
    "count_in_a_map": refusing({"counts": COUNTS}, [], ["counts"], "holds", 0),
}
FAIR = {
    "described": refusing({"user": TEXT, "notify": NAMED}, [], [], "together", ["user", "notify"]),
    "range": refusing({"low": WHOLE, "high": WHOLE}, [], [], "falling", ["low", "high"]),
    "number_of_a_phone": refusing({"contact": CONTACT}, ["contact"], ["contact"], "wordless", None),
}


def test_what_is_refused_by_its_neighbours_is_a_fault_unless_it_has_a_reason():
    assert set(refused({**AT_FAULT, **FAIR})) == set(AT_FAULT)


def test_what_takes_everything_refuses_nothing():
    assert refused(planned([None], 0)) == {}
