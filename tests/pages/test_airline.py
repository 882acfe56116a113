"""The airline example: real definitions, real calls, and the demo that shows them."""

from __future__ import annotations

import copy
import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from patience import LONGEST_WAIT

from operator_schema import CallError, Codec, DecodeError, Executor, RawCall, decode_json, encode, json_schema
from operator_schema.providers import anthropic, deepseek, gemini, openai_chat
from operator_schema.testing import ScriptedModel

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "airline"
DATA = EXAMPLE / "data"
DEFINITIONS = {
    entry["function"]["name"]: entry["function"]
    for entry in json.loads((DATA / "tools.json").read_text(encoding="utf-8"))
}
README = (EXAMPLE / "README.md").read_text(encoding="utf-8")


def read_calls():
    with (DATA / "calls.jsonl").open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


CALLS = read_calls()

UNDECLARED = {
    # The one call in which the model sent keys that the published definition does not have.
    339: ["flights[0].origin", "flights[0].destination", "flights[1].origin", "flights[1].destination"],
}


@dataclass
class Example:
    tools: Any
    demo: Any
    airline: Any
    functions: Any
    replay: Any
    layout: Any


NAMES = ("airline_tools", "demo", "airline", "airline_functions", "replay", "layout")


@pytest.fixture(scope="module")
def example():
    before = set(sys.modules)  # other tests may use a part of it
    sys.path.insert(0, str(EXAMPLE))
    try:
        yield Example(*[importlib.import_module(name) for name in NAMES])
    finally:
        sys.path.remove(str(EXAMPLE))
        for name, module in list(sys.modules.items()):  # those that the demo imports later, too
            if name not in before and str(getattr(module, "__file__", None)).startswith(str(EXAMPLE)):
                del sys.modules[name]


def calls_of(name):
    return [call["arguments"] for call in CALLS if call["name"] == name]


def declared_part(text):
    arguments = json.loads(text)
    if text == CALLS[339 - 1]["arguments"]:
        for leg in arguments["flights"]:
            del leg["origin"], leg["destination"]
    return arguments


def run_demo(*arguments):
    # -S leaves site-packages out: the standard library and this package are all that is there.
    command = [sys.executable, "-S", "-W", "error", str(EXAMPLE / "demo.py"), *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
        timeout=LONGEST_WAIT,
    )


def table_line(shown, name):
    (line,) = re.findall(rf"^{name} +\d+ .*$", shown, re.MULTILINE)
    return line.split()


# --- the definitions ------------------------------------------------------------------------------


def test_there_are_14_tools_in_the_published_order(example):
    assert list(example.tools.TOOLS) == list(DEFINITIONS)
    assert len(example.tools.TOOLS) == 14


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_schema_equals_the_published_parameters(example, name):
    schema = json_schema(example.tools.TOOLS[name])
    published = DEFINITIONS[name]["parameters"]
    assert {"required": [], **schema} == {"required": [], **published}
    assert list(schema["properties"]) == list(published["properties"])


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_schema_is_valid_under_the_meta_schema(example, name):
    Draft202012Validator.check_schema(json_schema(example.tools.TOOLS[name]))


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_docstring_is_the_published_description(example, name):
    docstring = example.tools.TOOLS[name].__doc__
    assert " ".join(docstring.split()) == DEFINITIONS[name]["description"]


# --- the calls ------------------------------------------------------------------------------------


def test_there_are_1164_calls_and_every_tool_was_called():
    assert len(CALLS) == 1164
    assert {call["name"] for call in CALLS} == set(DEFINITIONS)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_call_decodes_and_what_is_declared_encodes_back(example, name):
    cls = example.tools.TOOLS[name]
    for text in calls_of(name):
        instance = decode_json(cls, text)
        assert type(instance) is cls
        assert encode(instance) == declared_part(text)
        assert decode_json(cls, json.dumps(encode(instance))) == instance


def test_every_call_but_one_encodes_back_whole(example):
    changed = [
        line
        for line, call in enumerate(CALLS, 1)
        if encode(decode_json(example.tools.TOOLS[call["name"]], call["arguments"]))
        != json.loads(call["arguments"])
    ]
    assert changed == list(UNDECLARED)


def test_that_one_has_keys_that_no_definition_declares(example):
    codecs = {name: Codec(cls, unknown_fields="reject") for name, cls in example.tools.TOOLS.items()}
    found = {}
    for line, call in enumerate(CALLS, 1):
        problems = codecs[call["name"]].report(json.loads(call["arguments"]))
        assert {problem.code for problem in problems} <= {"unknown"}
        if problems:
            found[line] = [str(problem).split(":")[0] for problem in problems]
    assert found == UNDECLARED


@pytest.mark.parametrize("name", DEFINITIONS)
def test_jsonschema_accepts_every_call(example, name):
    validator = Draft202012Validator(json_schema(example.tools.TOOLS[name]))
    for text in calls_of(name):
        assert list(validator.iter_errors(json.loads(text))) == []


def test_what_is_nested_is_of_its_class_too(example):
    tools = example.tools
    for text in calls_of("book_reservation"):
        booking = decode_json(tools.BookReservation, text)
        assert {type(leg) for leg in booking.flights} == {tools.FlightLeg}
        assert {type(passenger) for passenger in booking.passengers} == {tools.Passenger}
        assert {type(payment) for payment in booking.payment_methods} <= {tools.Payment}
        assert {type(payment.amount) for payment in booking.payment_methods} <= {float}
        assert type(booking.total_baggages) is int


# --- the functions --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_definition_equals_the_published_one(example, name):
    registry = example.functions.registry()
    assert [tool.name for tool in registry] == list(DEFINITIONS)
    definition = registry[name].definition()
    published = DEFINITIONS[name]
    assert {"required": [], **definition["input_schema"]} == {"required": [], **published["parameters"]}
    assert " ".join(definition["description"].split()) == published["description"]


@pytest.fixture
def run(example):
    """Run one call on an airline that lasts for the test."""
    airline = example.airline.sample_airline()
    executor = Executor(example.functions.registry())

    def call(name, **arguments):
        result = executor.run_sync(RawCall("1", name, arguments), context={type(airline): airline})
        return result.content if result.is_error else json.loads(result.content)

    call.airline = airline
    return call


@pytest.mark.needs_threads
def test_every_real_call_has_a_result(example):
    airline = example.airline.sample_airline()
    executor = Executor(example.functions.registry(), max_concurrency=50)
    calls = [RawCall(call["id"], call["name"], call["arguments"]) for call in CALLS]
    results = executor.run_sync(calls, context={type(airline): airline})
    assert [(result.call_id, result.name) for result in results] == [(call.id, call.name) for call in calls]
    codes = Counter((result.code, type((result.details or {}).get("exception"))) for result in results)
    # Most name what this small airline does not have.
    assert set(codes) == {(None, type(None)), ("execution_failed", CallError)}
    assert codes[None, type(None)] > 250


@pytest.mark.needs_threads
def test_the_recorded_conversation(example):
    airline = example.airline.sample_airline()
    results = example.replay.replay(example.replay.recorded_calls(), airline)
    assert [result.code for result in results] == [None] * 4 + ["execution_failed"] + [None] * 3
    assert results[4].content == "The payments do not add up: the total price is 305, but 255 is paid."
    booked = json.loads(results[7].content)
    assert booked["status"] == "booked"
    assert airline.users["mia_li_3668"].reservations == [booked["reservation_id"]]
    assert airline.users["mia_li_3668"].payment_methods["certificate_7504069"].amount == 0
    assert airline.flights["HAT136"].seats["2024-05-20"]["economy"] == 8


def booking(**changes):
    wanted = {
        "user_id": "ada_moss_1815",
        "origin": "JFK",
        "destination": "SEA",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{"flight_number": n, "date": "2024-05-20"} for n in ("HAT911", "HAT912")],
        "passengers": [{"first_name": "Ada", "last_name": "Moss", "dob": "1985-12-10"}],
        "payment_methods": [
            {"payment_id": "gift_card_1000002", "amount": 300},
            {"payment_id": "credit_card_1000001", "amount": 1},
        ],
        "total_baggages": 0,
        "nonfree_baggages": 0,
        "insurance": "yes",
    }
    return {**wanted, **changes}


@pytest.mark.needs_threads
def test_book_change_and_cancel(run):
    booked = run("book_reservation", **booking())
    name = booked["reservation_id"]
    assert run("get_user_details", user_id="ada_moss_1815")["reservations"] == [name]
    assert run("get_reservation_details", reservation_id=name) == booked
    flights = [
        {"flight_number": "HAT914", "date": "2024-05-21"},
        {"flight_number": "HAT915", "date": "2024-05-21"},
    ]
    changed = run(
        "update_reservation_flights",
        reservation_id=name,
        cabin="economy",
        flights=flights,
        payment_id="gift_card_1000002",
    )
    assert [flight["price"] for flight in changed["flights"]] == [175, 96]
    assert run.airline.users["ada_moss_1815"].payment_methods["gift_card_1000002"].amount == 0
    bags = {"reservation_id": name, "total_baggages": 2, "nonfree_baggages": 1}
    bags = run("update_reservation_baggages", **bags, payment_id="credit_card_1000001")
    assert bags["payment_history"][-1] == {"payment_id": "credit_card_1000001", "amount": 50.0}
    people = [{"first_name": "Ida", "last_name": "Moss", "dob": "2001-01-01"}]
    people = run("update_reservation_passengers", reservation_id=name, passengers=people)
    assert people["passengers"][0]["first_name"] == "Ida"
    assert run("cancel_reservation", reservation_id=name)["status"] == "cancelled"
    assert run("cancel_reservation", reservation_id=name) == f"Reservation {name} is cancelled."
    assert run.airline.users["ada_moss_1815"].payment_methods["gift_card_1000002"].amount == 300
    assert {flight.seats["2024-05-21"]["economy"] for flight in run.airline.flights.values()} == {9}
    assert {flight.seats["2024-05-20"]["economy"] for flight in run.airline.flights.values()} == {9}


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"user_id": "nobody"}, "There is no user nobody."),
        ({"passengers": []}, "A reservation must have at least one passenger."),
        ({"flights": []}, "A reservation must have at least one flight."),
        ({"flights": [{"flight_number": "HAT911", "date": "2024-05-20"}]}, "do not go from JFK to SEA"),
        (
            {"flights": [{"flight_number": "HAT1", "date": "2024-05-20"}]},
            "There is no flight HAT1 on 2024-05-20",
        ),
        ({"cabin": "business", "passengers": booking()["passengers"] * 3}, "has 2 seats left in business"),
        ({"payment_methods": [{"payment_id": "x", "amount": 301}]}, "has no payment method x"),
        (
            {"payment_methods": [{"payment_id": "gift_card_1000002", "amount": 301}]},
            "gift_card_1000002 has only 300 left",
        ),
        ({"insurance": "no"}, "the total price is 271, but 301 is paid"),
        ({"insurance": "maybe"}, '- insurance: "maybe" is not one of'),
    ],
)
def test_what_can_not_be_booked_changes_nothing(run, changes, told):
    before = copy.deepcopy(vars(run.airline))
    assert told in run("book_reservation", **booking(**changes))
    assert vars(run.airline) == before


@pytest.mark.needs_threads
def test_what_can_not_be_changed_changes_nothing(run):
    name = run("book_reservation", **booking())["reservation_id"]
    before = copy.deepcopy(vars(run.airline))
    card = {"reservation_id": name, "payment_id": "credit_card_1000001"}
    flights = {"cabin": "economy", "flights": booking()["flights"]}
    certificate = {"reservation_id": name, "payment_id": "certificate_1000003"}
    assert "with a certificate" in run("update_reservation_flights", **flights, **certificate)
    assert "at least one flight" in run("update_reservation_flights", **{**flights, "flights": []}, **card)
    assert "between 0 and" in run("update_reservation_baggages", total_baggages=1, nonfree_baggages=2, **card)
    assert "can't change: it is 1" in run("update_reservation_passengers", reservation_id=name, passengers=[])
    assert "no reservation XXX" in run("get_reservation_details", reservation_id="XXX")
    assert "must be above 0" in run("send_certificate", user_id="ada_moss_1815", amount=0)
    assert "no airport LHR" in run("search_direct_flight", origin="LHR", destination="SEA", date="2024-05-20")
    assert vars(run.airline) == before


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("152 + 103", "255"),
        ("(6 - 4) + -2.5 * 3 / 2", "-1.75"),
        ("100 * 10", "1000"),
        ("1 / 0", "That divides by zero."),
        ("2 ** 9999", "An expression has"),
        ("__import__('os')", "An expression has"),
        ("True + 1", "An expression has"),
        ("(" * 10_000, "An expression has"),
        ("9" * 5000, "An expression has"),
        ("", "An expression has"),
    ],
)
def test_calculate(example, expression, result):
    executor = Executor(example.functions.registry())
    told = executor.run_sync(RawCall("1", "calculate", {"expression": expression}))
    assert told.content.startswith(result)


@pytest.mark.needs_threads
def test_the_other_tools(run):
    assert run("list_all_airports")["SEA"] == "Seattle"
    assert [
        f["flight_number"]
        for f in run("search_direct_flight", origin="SEA", destination="JFK", date="2024-05-20")
    ] == ["HAT913"]
    assert len(run("search_onestop_flight", origin="JFK", destination="SEA", date="2024-05-20")) == 3
    assert run("search_onestop_flight", origin="JFK", destination="SEA", date="2025-01-01") == []


@pytest.mark.needs_threads
def test_the_replay_is_drawn_where_somebody_looks(example, capsys, monkeypatch):
    example.replay.show_replay()
    plain = capsys.readouterr().out
    assert "\n  <- The payments do not add up" in plain
    assert "\x1b" not in plain
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    example.replay.show_replay()
    drawn = capsys.readouterr().out
    assert re.sub(r"\x1b\[[\d;]*m", "", drawn) == plain
    assert "\x1b[" in drawn


# --- the demo -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def done():
    """The demo as a process of its own, which starts five others."""
    return run_demo()


@pytest.mark.slow("starts the demo")
@pytest.mark.needs_process
def test_the_demo_runs_with_nothing_else_installed(example, done):
    assert (done.returncode, done.stderr) == (0, "")
    counts = Counter(call["name"] for call in CALLS)
    for name in DEFINITIONS:
        assert table_line(done.stdout, name)[-2:] == [str(counts[name]), "0"]
    assert re.search(r"^1,164 calls read and decoded in \d+ ms, 0 failed$", done.stdout, re.MULTILINE)
    report = error_of_the_damaged_call(example)
    assert f" {words_of(report)} A recorded conversation" in words_of(done.stdout)
    assert "\n8 results, 1 of them an error\n\nA turn that waits for a person" in done.stdout
    assert all(f" - {words_of(problem)} " in words_of(done.stdout) for problem in report.findings)


def words_of(text):
    return " ".join(str(text).split())


@pytest.mark.slow("starts the demo")
@pytest.mark.needs_process
def test_the_readme_shows_what_the_demo_prints_of_an_approval(done):
    _, shown = re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert done.stdout.split("Each command is another process:\n\n")[1] == shown


@pytest.mark.slow("starts the demo")
@pytest.mark.needs_process
@pytest.mark.needs_threads
def test_the_demo_fits_a_terminal_of_80_columns(example, done, tmp_path, capsys):
    path = tmp_path / "calls.jsonl"
    path.write_text('{"id": "1", "name": "think", "arguments": "{}"}\n', encoding="utf-8")
    example.demo.main([str(path)])
    lines = [*done.stdout.splitlines(), *capsys.readouterr().out.splitlines()]
    assert max(map(len, lines)) <= 79
    assert lines == [line.rstrip() for line in lines]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one line", ["> one line"]),
        ("a, " * 30, ["> " + ("a, " * 26).strip(), "  a, a, a, a,"]),
        ("x" * 200 + " y", ["> ", "  " + "x" * 200, "  y"]),
        (
            '{"a":"' + "b" * 60 + '","c":"' + "d" * 20 + '"}',
            ['> {"a":"' + "b" * 60 + '",', '  "c":"' + "d" * 20 + '"}'],
        ),
        ("one\ntwo", ["> one", "> two"]),
        ("", []),
    ],
    ids=["short", "after spaces", "no place to break", "after commas", "several lines", "empty"],
)
def test_long_lines_are_broken_between_words(example, text, lines):
    assert example.layout.wrapped(text, "> ", "  ").splitlines() == [line.rstrip() for line in lines]


def test_long_texts_are_cut_between_words(example):
    assert example.layout.shortened("word " * 40) == "word " * 40
    assert example.layout.shortened("word " * 41) == "word " * 39 + "word ... (205 characters)"


def test_the_damaged_call_has_the_four_problems_that_the_demo_announces(example):
    problems = error_of_the_damaged_call(example).findings
    assert [(problem.path, problem.code) for problem in problems] == [
        (("cabin",), "not_one_of"),
        (("passengers", 0, "dob"), "wrong_type"),
        (("total_baggages",), "wrong_type"),
        (("insurance",), "missing"),
    ]
    announced = [path for path, _ in example.demo.DAMAGES]
    assert [str(problem).split(":")[0] for problem in problems] == announced


def error_of_the_damaged_call(example):
    damaged = example.demo.damage(example.demo.first_booking())
    codec = Codec(example.tools.BookReservation, name="book_reservation")
    with pytest.raises(DecodeError) as caught:
        codec.decode(damaged)
    return caught.value


def test_the_demo_leaves_the_real_call_as_it_was(example):
    arguments = example.demo.first_booking()
    example.demo.damage(arguments)
    assert arguments == json.loads(calls_of("book_reservation")[0])


@pytest.mark.needs_process
def test_the_demo_fails_when_a_call_is_broken(tmp_path):
    lines = (DATA / "calls.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    lines[1] = lines[1].replace("destination", "destinaton")
    path = tmp_path / "calls.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    done = run_demo(path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "1,163 calls read and decoded" in done.stdout
    assert "line 2: search_direct_flight: 1 problem with the arguments\n- destination: missing" in done.stdout
    assert table_line(done.stdout, "search_direct_flight")[-2:] == ["140", "1"]


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"id": "1", "name": "think", "arguments": "{}"}', "- thought: missing (string, required)"),
        ('{"id": "1", "name": "think", "arguments": "{"}', "think: 1 problem with the arguments"),
        ('{"id": "1", "name": "teleport", "arguments": "{}"}', "the airline has no tool 'teleport'"),
        ('{"id": "1", "name": "think"}', "- arguments: missing (string, required)"),
        ("not JSON", "call: 1 problem with the arguments"),
    ],
)
def test_a_broken_line_is_reported_with_its_number(example, tmp_path, capsys, line, told):
    path = tmp_path / "calls.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    assert example.demo.main([str(path)]) == 1
    shown = capsys.readouterr().out
    assert "\nline 1: " in shown
    assert told in shown
    assert "0 calls read and decoded" in shown


@pytest.mark.needs_threads
def test_many_failures_are_counted(example, tmp_path, capsys):
    path = tmp_path / "calls.jsonl"
    path.write_text("{}\n" * 25, encoding="utf-8")
    assert example.demo.main([str(path)]) == 1
    assert "... and 15 more" in capsys.readouterr().out


def test_a_file_that_is_not_there_is_a_usage_error(example, tmp_path, capsys):
    with pytest.raises(SystemExit) as caught:
        example.demo.main([str(tmp_path / "none.jsonl")])
    assert caught.value.code == 2
    assert "none.jsonl doesn't exist" in capsys.readouterr().err


# --- the README -----------------------------------------------------------------------------------

TABLE_ROW = re.compile(
    r"^\| \[`(?P<name>[^`]+)`\].* \| (?P<size>[\d,]+) \| `(?P<digest>[0-9a-f]{64})` \|$", re.MULTILINE
)


def test_the_data_are_what_the_readme_says():
    rows = {row["name"]: (row["size"], row["digest"]) for row in TABLE_ROW.finditer(README)}
    shipped = {path.name: path.read_bytes() for path in DATA.iterdir()}
    assert rows == {
        name: (f"{len(content):,}", hashlib.sha256(content).hexdigest()) for name, content in shipped.items()
    }
    assert (
        (DATA / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n\nCopyright (c) 2024 Sierra")
    )


def test_the_readme_shows_what_the_demo_prints(example):
    shown, *_ = re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert str(error_of_the_damaged_call(example)).startswith(shown)


# --- answers with a type -----------------------------------------------------------------------------


@pytest.mark.parametrize("provider", [openai_chat, anthropic, gemini, deepseek], ids=lambda one: one.name)
def test_what_a_user_wants_can_be_extracted(example, provider):
    """The recorded arguments are read as the final answers of an extraction, right or wrong at first."""
    for name in ("book_reservation", "update_reservation_flights", "search_direct_flight"):
        output = example.tools.TOOLS[name]
        codec = Codec(output)
        body = provider.request([], ["Extract what the user wants."], output=codec)
        is_by_tool = "final_answer" in json.dumps(body.get("tools", ()))
        for arguments in calls_of(name)[::8]:
            wrong = json.dumps({**json.loads(arguments), codec.graph.resolve_root().fields[0].key: []})
            texts = [wrong, arguments]
            model = ScriptedModel(
                provider, [RawCall("1", "final_answer", text) if is_by_tool else text for text in texts]
            )
            history = ["Extract what the user wants."]
            for _ in texts:
                body = provider.request([], history, output=codec)
                answer = provider.answer(model(**body), [], output=codec)
                history.append(answer)
            assert str(history[1].output_error) == str(error_of(codec, wrong))
            assert encode(answer.output) == encode(codec.decode_json(arguments))


def error_of(codec, text):
    with pytest.raises(DecodeError) as caught:
        codec.decode_json(text)
    return caught.value
