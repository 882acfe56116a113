"""The benchmarks' own types, contestants of ours and bars: what needs no peers."""

from __future__ import annotations

import json
import os
import threading
from datetime import datetime
from pathlib import Path
from uuid import UUID

import pytest

pytest.importorskip("rich")  # what shows the results; it has no part in the package

from rich.progress import Progress

from benchmarks import __main__ as command
from benchmarks import bars, fresh, measure, report, types_
from benchmarks.contestants import CONTESTANTS, OF_FUNCTIONS, OURS, Cant
from benchmarks.peers import handwritten, ours
from benchmarks.questions import QUESTIONS, answers, calls, growth
from benchmarks.questions.hot_decode import same
from benchmarks.samples import EVENT, FAILING_EVENT, SAMPLES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", SAMPLES)
def test_ours_decodes_the_samples_to_what_is_written_by_hand(name):
    cls = getattr(types_, name)
    decoded = ours.decoder(cls)(SAMPLES[name])
    assert decoded == handwritten.decoder(cls)(SAMPLES[name])
    assert same(name, decoded)
    assert not same(name, ours.decoder(cls)({**SAMPLES[name], **DIFFERENT[name]}))


DIFFERENT = {
    "GeoSearchInput": {"radius_km": 3},
    "ParseURLInput": {"components": []},
    "Event": {"budget": 1250},
}


@pytest.mark.parametrize("name", SAMPLES)
def test_encoding_is_undone_by_hand(name):
    cls = getattr(types_, name)
    instance = ours.decoder(cls)(SAMPLES[name])
    assert handwritten.decoder(cls)(ours.encoder(cls)(instance)) == instance
    assert handwritten.decoder(cls)(handwritten.encoder(cls)(instance)) == instance


def test_the_event_is_what_it_says():
    event = ours.decoder(types_.Event)(EVENT)
    assert (type(event.id), type(event.starts_at)) == (UUID, datetime)
    assert len(event.attendees) == 10
    assert 900 <= len(json.dumps(EVENT, separators=(",", ":"))) <= 1100


def test_the_failing_event_fails_in_one_place():
    (problem,) = ours.problems(types_.Event)(FAILING_EVENT)
    assert problem.path == ("attendees", 7, "optional")
    assert "attendees[7].optional" in ours.report(types_.Event)(FAILING_EVENT)


@pytest.mark.parametrize("name", SAMPLES)
def test_fresh_classes_are_new_and_mean_the_same(name):
    first, second = fresh.fresh_class(name), fresh.fresh_class(name)
    assert first is not second
    assert ours.schema(first) == ours.schema(second) == ours.schema(getattr(types_, name))


def test_styles_move_descriptions_or_drop_them():
    cls = fresh.fresh_class("GeoSearchInput", "from textwrap import dedent; dedent(…)")
    described = ours.schema(fresh.fresh_class("GeoSearchInput"))
    assert not hasattr(cls, "param_descriptions")
    assert ours.schema(cls) == described
    assert "description" not in json.dumps(ours.schema(fresh.fresh_class("GeoSearchInput", fresh.BARE)))


def test_functions_are_made_beside_fresh_classes():
    module = fresh.fresh_module("types_.py", "functions_.py")
    assert module.geo_search.__annotations__["center"] == "Coordinate"
    assert module.Coordinate is not types_.Coordinate


@pytest.mark.parametrize("bar", bars.BARS, ids=report.question_of)
def test_every_bar_is_of_a_question_that_is_asked(bar):
    assert bar.question in QUESTIONS
    assert bar.limit > 0
    assert bar.over in {bars.EACH, bars.MEAN, bars.TWO}
    names = {each.name for each in (*CONTESTANTS, *OF_FUNCTIONS)} | {None, bars.PURE, "typing.get_type_hints"}
    others = {*answers.PEERS, *calls.PEERS, bars.JSON_LOADS, bars.JSON_LOADS_AND_DECODE, "marshal"}
    assert bar.peer in names | others
    assert bool(bar.unit) == (bar.peer is None)
    cases = {*SAMPLES, *bars.BARE, *bars.FROM_TEXT, *bars.GROWING, *bars.ITEMS, "later, small"}
    assert set(bar.cases) <= cases | {*answers.CASES, *calls.CASES}


def results_of(**ratios):
    cases = {
        name: {OURS: {"median": 1.0}, "msgspec": {"median": 1.0, "ratio": {"median": ratio}}}
        for name, ratio in ratios.items()
    }
    return {"hot_decode": cases}


@pytest.mark.parametrize(("over", "value"), [(bars.EACH, 8.0), (bars.MEAN, 2.0), (bars.TWO, 1.0)])
def test_a_bar_is_judged_over_its_cases(over, value):
    bar = bars.Bar("hot_decode", "msgspec", value, over)
    verdict = bars.judge(bar, results_of(a=1.0, b=8.0, c=1.0))
    assert verdict.value == pytest.approx(value)
    for share, is_met in ((1.01, True), (0.99, False)):
        near = bars.Bar("hot_decode", "msgspec", value * share, over)
        assert bars.judge(near, results_of(a=1.0, b=8.0, c=1.0)).met is is_met


def test_a_bar_counts_its_cases_whatever_size_they_grow_to():
    cases = {"items, to 100": {OURS: {"median": 9.0}}, "depth, to 10": {OURS: {"median": 1.0}}}
    for counted, is_met in ((("depth",), True), (("depth", "items"), False), (("depth", "fields"), False)):
        bar = bars.Bar("growth", None, 1.5, cases=counted, unit="times")
        assert bars.judge(bar, {"growth": cases}).met is is_met


@pytest.mark.parametrize(
    ("load", "cores", "is_busy"), [("2.1", "2", True), ("2.0", "2", False), ("unknown", "2", False)]
)
def test_a_busy_machine_is_told_from_an_idle_one(load, cores, is_busy):
    assert bool(command.busy_with({"load before": load, "cores": cores})) == is_busy


def test_a_bar_that_was_not_measured_is_missed():
    results = results_of(a=0.1)
    results["hot_decode"]["b"] = {OURS: {"median": 1.0}, "msgspec": {"cant": "not installed"}}
    verdict = bars.judge(bars.Bar("hot_decode", "msgspec", 1.0), results)
    assert verdict.value is None
    assert not verdict.met


def test_ratios_are_taken_within_a_round():
    entry = measure.summary([1.0, 20.0, 3.0], [2.0, 40.0, 6.0])
    assert entry["median"] == 3.0
    assert entry["ratio"] == {"median": 2.0, "low": 2.0, "high": 2.0}


def test_a_wrong_result_is_no_contestant():
    with pytest.raises(Cant, match="gives another result"):
        measure.check(lambda: 1, lambda made: made == 2)
    with pytest.raises(Cant, match="ZeroDivisionError"):
        measure.check(lambda: 1 // 0, bool)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0123, "s", "12.3 ms"),
        (4.56e-6, "s", "4.56 µs"),
        (7.89e-8, "s", "79 ns"),
        (1234567, "bytes", "1,234,567"),
        (0.0123, "", "0.012"),
        (1.5, "times", "1.50"),
        (29_800_000, "instructions", "29.8 M"),
    ],
)
def test_amounts(value, unit, text):
    assert report.amount(value, unit) == text


def test_every_question_says_what_it_measures():
    for question in QUESTIONS.values():
        assert question.TITLE
        assert question.HOW
        assert question.UNIT in {"s", "bytes", "times", "instructions"}
    assert OF_FUNCTIONS[0].name == OURS


def test_what_grows_is_decoded_right():
    with Progress(disable=True) as progress:
        plan = measure.Plan(quick=True, rounds=1, seconds=0.0001, progress=progress)
        for make in (growth.by_items, growth.by_depth):
            assert set(make(plan, (1, 10), CONTESTANTS[0])) == {1, 10}
    root = fresh.module_of_source(growth.CHAIN).Root
    assert growth.links(root(1, root(1, root(1)))) == 3
    assert growth.links(root(1, {"count": 1})) == 0
    assert growth.links(root(1, root("1"))) == 0


@pytest.mark.needs_threads
def test_calls_are_measured_on_chosen_cores_and_all_may_be_used_afterwards(monkeypatch):
    monkeypatch.setattr(calls, "TURNS", 5)
    before = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    with Progress(disable=True) as progress:
        found = calls.run(measure.Plan(quick=False, rounds=1, seconds=0.0001, progress=progress))
    named = {*calls.CASES} if len(before) < 2 else {*calls.CASES, *calls.ON_TWO_CORES.values()}
    assert set(found) == named
    for thread in threading.enumerate() if before else ():
        assert os.sched_getaffinity(thread.native_id) == before


ROWS = {
    "`import`": ("import_time", "import"),
    "start-up to the first decoded `Event`": ("start_up", "Event"),
    "registration and JSON Schema": ("registration", "Event"),
    "registration and first decode": ("first_decode", "Event"),
    "decode from a dict, warm": ("hot_decode", "Event"),
    "decode from JSON text, warm, with `orjson`": ("hot_decode_json", "Event"),
    "encode, warm": ("encode", "Event"),
    "a decode that fails, with its report": ("failing_decode", "Event"),
}


PUBLISHED = json.loads((ROOT / "docs/benchmarks/cpython-3.11/results.json").read_text("utf-8"))["results"]
SPEED = (ROOT / "docs/speed.md").read_text("utf-8").splitlines()


@pytest.mark.parametrize("row", ROWS)
def test_the_page_about_speed_says_what_was_measured(row):
    question, case = ROWS[row]
    measured = PUBLISHED[question][case]
    cells = [report.amount(measured[peer]["median"], "s") for peer in (OURS, "msgspec", "pydantic")]
    assert f"| {' | '.join([row, *cells])} |" in SPEED


REQUESTS = {
    "first request: schemas are made": ("first", OURS),
    "later requests": ("later", OURS),
    "the same dicts copied with `marshal`": ("later", "marshal"),
    "with `pickle`": ("later", "pickle"),
    "part by part": ("later", "part by part"),
}


@pytest.mark.parametrize("row", REQUESTS)
def test_the_page_about_speed_says_what_requests_take(row):
    when, way = REQUESTS[row]
    cases = (f"{when}, {kind}" for kind in ("small", "functions of these benchmarks"))
    cells = [report.amount(PUBLISHED["requests"][case][way]["median"], "s") for case in cases]
    assert f"| {' | '.join([row, *cells])} |" in SPEED


def test_the_page_about_speed_says_what_strict_requests_take():
    measured = PUBLISHED["requests"]["later, small, strict"][OURS]["median"]
    assert f"| later requests, strict | {report.amount(measured, 's')} | |" in SPEED


SOMETIMES_LEFT_OUT = {
    "start_up_instructions",  # without valgrind, nobody counts them
}


@pytest.mark.parametrize("folder", ["cpython-3.11", "cpython-3.13"])
def test_the_published_results_answer_every_question(folder):
    published = ROOT / "docs/benchmarks" / folder
    document = json.loads((published / "results.json").read_text("utf-8"))
    asked = [name for name in QUESTIONS if name in document["results"] or name not in SOMETIMES_LEFT_OUT]
    assert list(document["results"]) == asked
    page = (published / "results.md").read_text("utf-8")
    for verdict in bars.judge_all(document["results"]):
        assert f"| {report.question_of(verdict.bar)} | {report.limit_of(verdict.bar)} |" in page


def test_only_a_run_of_all_questions_replaces_the_published_results():
    published = ROOT / "docs" / "benchmarks"
    assert command.default_folder([]).parent == command.default_folder(list(QUESTIONS)).parent == published
    for question in QUESTIONS:
        assert published not in command.default_folder([question]).parents
