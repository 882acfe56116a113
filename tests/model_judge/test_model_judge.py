"""The judge with a model, without one: its figures, tasks, mistakes and file, and a run against a script."""

from __future__ import annotations

import copy
import itertools
import json
import os
import random
import re
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import judge_answers
import model_judge
from judge_answers import Answers, serving
from judge_mistakes import EVERY_OTHER, IN_KEYS, KINDS, WrongCall, with_mistake, wrong_calls
from judge_statistics import Pairs, pairs, share, wilson
from judge_tasks import LEFT_OUT, same, tasks_in
from judge_texts import BARE, EARLIER, OURS, SHORT, earlier_texts, our_text, texts_after, without_send

from operator_schema import RawCall
from operator_schema.rounds import ToolSearch
from operator_schema.testing import CutOff, ScriptedModel

pytestmark = pytest.mark.needs_threads

ROOT = Path(__file__).parents[2]

# statistics


@pytest.mark.parametrize(
    ("right", "number", "low", "high"),
    [
        (0, 1, 0.0, 0.793451),
        (1, 1, 0.206549, 1.0),
        (0, 10, 0.0, 0.277533),
        (1, 10, 0.017876, 0.40415),
        (5, 10, 0.236593, 0.763407),
        (10, 10, 0.722467, 1.0),
        (21, 84, 0.169723, 0.352143),
        (32, 84, 0.284471, 0.487846),
        (66, 90, 0.633802, 0.813762),
        (1170, 1203, 0.961727, 0.980402),
    ],
)
def test_intervals_are_those_of_statsmodels(right, number, low, high):
    """They are what `proportion_confint(right, number, method="wilson")` of statsmodels 0.15.0 gives."""
    assert wilson(right, number) == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize(
    ("gained", "lost", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 0, 0.0625),
        (6, 0, 0.03125),
        (11, 2, 0.0224609),
        (10, 6, 0.454498),
        (14, 1, 0.000976562),
        (18, 0, 7.62939e-06),
        (3, 3, 1.0),
        (60, 40, 0.0568879),
    ],
)
def test_the_test_for_pairs_is_that_of_statsmodels(gained, lost, p):
    """It is what `mcnemar([[1, gained], [lost, 1]], exact=True)` of statsmodels 0.15.0 gives."""
    assert Pairs(gained, lost, 100).p == pytest.approx(p, rel=1e-5)
    assert Pairs(lost, gained, 100).p == Pairs(gained, lost, 100).p


def test_an_interval_holds_its_share_and_gets_narrower():
    for number in range(1, 40):
        for right in range(number + 1):
            low, high = wilson(right, number)
            assert 0 <= low <= right / number <= high <= 1
            assert wilson(number - right, number) == pytest.approx((1 - high, 1 - low))
            wider_low, wider_high = wilson(right * 2, number * 2)
            assert wider_high - wider_low < high - low
    assert wilson(0, 0) == (0.0, 1.0)


def test_pairs_count_what_differs():
    for first, second in itertools.product(itertools.product([True, False], repeat=4), repeat=2):
        found = pairs(list(first), list(second))
        assert found.gained - found.lost == sum(first) - sum(second)
        assert found.gained + found.lost == sum(
            one != other for one, other in zip(first, second, strict=True)
        )
    assert share(32, 84) == "32/84 = 38 % [28..49]"
    assert share(0, 0) == "-"


# tasks


FUNCTIONS = [
    (
        "Book 2 nights in Oslo, breakfast included.",
        "hotel.book",
        {
            "city": ("string", ["Oslo", "Oslo, Norway"]),
            "nights": ("integer", [2]),
            "breakfast": ("boolean", [True]),
            "room": ("choice", ["single", LEFT_OUT]),
            "bed": ("choice", ["double"]),
        },
    ),
    ("Scores 3, 4 and 5: the mean?", "mean_of", {"scores": ("numbers", [[3, 4, 5]])}),
    ("Who came on the last day of January 2026?", "visitors_on", {"day": ("day", ["2026-01-31"])}),
    (
        "Mark ann and bob as friends",
        "mark_people",
        {
            "people": ("texts", [["ann", "bob"]]),
            "how": ("object", [{"as": ["friends", "friend"], "since": [LEFT_OUT]}]),
        },
    ),
]
"""Questions, functions, and for each parameter its kind and what is right, in BFCL's form."""

TYPES = {
    "string": {"type": "string", "description": "Which one"},
    "integer": {"type": "integer", "description": "How many"},
    "boolean": {"type": "boolean", "description": "Whether"},
    "choice": {"type": "string", "enum": ["single", "double"], "description": "Which", "default": "single"},
    "numbers": {"type": "array", "items": {"type": "float"}, "description": "Which ones"},
    "texts": {"type": "array", "items": {"type": "string"}, "description": "Which ones"},
    "day": {"type": "string", "description": "As YYYY-MM-DD"},
    "object": {
        "type": "dict",
        "properties": {"as": {"type": "string", "description": "As"}, "since": {"type": "integer"}},
        "required": ["as"],
        "description": "In which way",
    },
}


def row_of(number, question, name, parameters):
    properties = {key: TYPES[kind] for key, (kind, _) in parameters.items()}
    needed = [key for key, (_, accepted) in parameters.items() if LEFT_OUT not in accepted]
    required = [key for key in needed if "default" not in properties[key]]
    schema = {"type": "dict", "properties": properties, "required": required}
    described = {"name": name, "description": f"The {name}.", "parameters": schema}
    return {
        "id": f"t{number}",
        "question": [[{"role": "user", "content": question}]],
        "function": [described],
    }


def written(path, rows, answers):
    with ZipFile(path, "w") as archive:
        for name, some in (("simple_python", rows), ("live_simple", [])):
            wanted = answers if some else []
            for file, lines in ((f"BFCL_v4_{name}", some), (f"possible_answer/BFCL_v4_{name}", wanted)):
                archive.writestr(f"bfcl_eval/data/{file}.json", "\n".join(map(json.dumps, lines)))
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rows, answers = [], []
    for number, (question, name, parameters) in enumerate(FUNCTIONS):
        rows.append(row_of(number, question, name, parameters))
        right = {key: accepted for key, (_, accepted) in parameters.items()}
        answers.append({"id": f"t{number}", "ground_truth": [{name: right}]})
    bad = [
        row_of(90, "?", "a_word", {"class": ("string", ["x"])}),
        row_of(91, "?", "other_type", {"nights": ("integer", ["two"])}),
        row_of(92, "?", "bad_default", {"nights": ("integer", [2, LEFT_OUT])}),
    ]
    bad[2]["function"][0]["parameters"]["properties"] = {"nights": {**TYPES["integer"], "default": "two"}}
    rows += bad
    answers += [
        {"id": "t90", "ground_truth": [{"a_word": {"class": ["x"]}}]},
        {"id": "t91", "ground_truth": [{"other_type": {"nights": ["two"]}}]},
        {"id": "t92", "ground_truth": [{"bad_default": {"nights": [2, LEFT_OUT]}}]},
    ]
    return written(tmp_path_factory.mktemp("data") / "bfcl_eval-1-py3-none-any.whl", rows, answers)


@pytest.fixture(scope="module")
def tasks(data):
    return list(tasks_in(data))


def test_what_cannot_be_a_tool_or_has_no_right_call_is_left_out(tasks):
    assert [task.tool.name for task in tasks] == ["hotel_book", "mean_of", "visitors_on", "mark_people"]
    assert [task.question for task in tasks] == [question for question, _, _ in FUNCTIONS]
    assert tasks[2].tool.input_schema()["properties"]["day"]["format"] == "date"


def test_every_accepted_call_is_right(tasks):
    for task in tasks:
        keys = [*task.accepted]
        for chosen in itertools.product(*task.accepted.values()):
            sent = {key: value for key, value in zip(keys, chosen, strict=True) if value != LEFT_OUT}
            sent = {**sent, "how": {"as": "friend"}} if "how" in sent else sent
            assert task.is_right(task.decoded(sent))
            assert task.is_right(task.decoded(json.dumps({**sent, "not_a_parameter": 1})))


def test_every_other_value_and_lack_is_wrong(tasks):
    others = {
        "city": "Bergen",
        "nights": 3,
        "breakfast": False,
        "room": "double",
        "bed": "single",
        "scores": [3, 4],
        "day": "2026-02-01",
        "people": ["bob", "ann"],
        "how": {"as": "friend", "since": 3},
    }
    tried = [(task, key) for task in tasks for key in task.arguments]
    assert {key for _, key in tried} == set(others)
    for task, key in tried:
        assert not task.is_right(task.decoded({**task.arguments, key: others[key]}))
        lacking = {name: value for name, value in task.arguments.items() if name != key}
        assert task.is_right(task.decoded(lacking)) == (LEFT_OUT in task.accepted[key])
    assert not tasks[0].is_right(None)


def test_repair_is_asked_for_by_itself(tasks):
    sent = {"city": "Oslo", "nights": "2", "breakfast": "true", "bed": "double"}
    assert tasks[0].decoded(sent) is None
    assert tasks[0].is_right(tasks[0].decoded(sent, repair=True))


@pytest.mark.parametrize(
    ("value", "accepted", "is_same"),
    [
        ("new york, NY", "New York NY", True),
        ("2.5-3", "253", True),
        ("York", "New York", False),
        (2.0, 2, True),
        (True, 1, False),
        (1, True, False),
        ([1, "A b"], [1, "ab"], True),
        ([1], [1, 2], False),
        ({}, {"a": [1, LEFT_OUT]}, True),
        ({}, {"a": [1]}, False),
        ({"a": 1, "b": 1}, {"a": [1]}, False),
        ("2", 2, False),
    ],
)
def test_values_are_compared_as_bfcl_does(value, accepted, is_same):
    assert same(value, accepted) is is_same


# mistakes


def is_refused(call):
    return our_text(call) is not None


def test_every_mistake_is_made_and_refused(tasks):
    before = copy.deepcopy([task.arguments for task in tasks])
    found = wrong_calls(tasks * 40, 160, 0, is_refused)
    assert len(found) == 160
    assert {call.mistakes[0] for call in found} == set(KINDS)
    assert all(is_refused(call) for call in found)
    assert all(json.loads(json.dumps(call.arguments)) == call.arguments for call in found)
    assert [task.arguments for task in tasks] == before
    assert {len(call.mistakes) for call in found} == {1, 2}


def test_a_seed_says_which_mistakes_are_made(tasks):
    made = [wrong_calls(tasks, 4, seed, is_refused) for seed in (1, 1, *range(2, 9))]
    assert made[0] == made[1]
    assert any(made[0] != other for other in made[2:])


def test_a_mistake_that_a_tool_takes_is_none(tasks):
    assert wrong_calls(tasks, 4, 0, lambda _: False) == []


def test_one_call_in_five_has_a_second_mistake_where_there_is_a_place(tasks):
    found = wrong_calls(tasks[:1] * 25, 25, 0, is_refused)
    twice = [number for number, call in enumerate(found) if len(call.mistakes) > 1]
    assert twice
    assert {number % EVERY_OTHER for number in twice} == {EVERY_OTHER - 1}


@pytest.mark.parametrize("kind", KINDS)
def test_a_mistake_changes_the_call_in_its_own_way(tasks, kind):
    for number, task in enumerate(tasks * 5):
        right = WrongCall(task, (), task.tool.name, task.arguments)
        call = with_mistake(right, kind, random.Random(number))  # noqa: S311  # repeatable on purpose
        if call is not None:
            assert call.mistakes == (kind,)
            assert (call.name != right.name) == (kind == "unknown tool")
            assert (call.arguments != right.arguments) == (kind != "unknown tool")
            if kind in IN_KEYS:
                lost = [key for key, value in right.arguments.items() if call.arguments.get(key) != value]
                assert set(lost) <= set(task.tool.input_schema()["required"])


# texts


def test_the_last_line_is_left_out_only_if_it_is_a_call():
    assert without_send('a\nb\nsend: {"a": 1}') == "a\nb"
    assert without_send("a\nsend: it\nb") == "a\nsend: it\nb"
    assert without_send("a") == "a"


def test_there_is_a_text_of_each_library_that_refuses(tasks):
    call = WrongCall(tasks[1], ("left out",), "mean_of", {})
    texts = texts_after(call)
    assert {OURS, SHORT, BARE} <= set(texts)
    assert "scores: missing" in texts[OURS]
    right = WrongCall(tasks[1], (), "mean_of", tasks[1].arguments)
    assert OURS not in texts_after(right)


@pytest.mark.needs_process
def test_another_checkout_says_its_own_texts(data, tasks, tmp_path):
    calls = [WrongCall(tasks[1], (), "mean_of", arguments) for arguments in ({}, tasks[1].arguments)]
    other = "from operator_schema import DecodeError\nDecodeError.__str__ = lambda _: 'other words'"
    (tmp_path / "sitecustomize.py").write_text(other, encoding="utf-8")
    assert earlier_texts(tmp_path, data, calls) == ["other words", None]
    assert texts_after(calls[0], "other words")[EARLIER] == "other words"
    assert EARLIER not in texts_after(calls[0])


# the file of answers


def ask_some(path, address, names):
    answers = Answers(path, f"{address}/v1", "m")
    return [answers.ask(messages=[{"role": "user", "content": name}])["choices"] for name in names]


def test_a_file_that_was_cut_off_anywhere_is_gone_on_with(tmp_path):
    """A process may be killed at any character that it writes."""
    path, names = tmp_path / "answers.jsonl", ["ä", "b"]
    model = ScriptedModel([lambda request: request["messages"][0]["content"]] * 400)
    with model.serve() as address:
        first = ask_some(path, address, names)
        whole = path.read_bytes()
        ends = [number + 1 for number, byte in enumerate(whole) if byte == ord("\n")]
        for size in sorted({*range(0, len(whole), 29), *ends, *(end - 1 for end in ends)}):
            path.write_bytes(whole[:size])
            before = len(model.requests)
            assert [one[0]["message"] for one in ask_some(path, address, names)] == [
                one[0]["message"] for one in first
            ]
            assert len(model.requests) - before == sum(end - 1 > size for end in ends)
            asked = len(model.requests)
            ask_some(path, address, names)
            assert len(model.requests) == asked


def test_ids_of_calls_do_not_make_another_question(tmp_path):
    def turn(*numbers):
        calls = [{"id": number, "type": "function"} for number in numbers]
        results = [{"role": "tool", "tool_call_id": number, "content": number[0]} for number in numbers]
        return [{"role": "assistant", "tool_calls": calls}, *results]

    model = ScriptedModel(["first", "second", "third"])
    with model.serve() as address:
        answers = Answers(tmp_path / "a", f"{address}/v1", "m")
        first = answers.ask(messages=turn("a_1", "b_2"))
        assert answers.ask(messages=turn("a_9", "b_7")) == first
        assert answers.ask(messages=turn("a_1", "c_2")) != first
        assert answers.ask(messages=turn("a_1", "b_2")[:2]) != first
    assert len(model.requests) == 3


def test_an_error_is_an_answer_but_not_that_a_server_is_busy(tmp_path, monkeypatch):
    refused = {"error": {"message": "no such schema"}}
    with ScriptedModel([refused]).serve() as address:
        answers = Answers(tmp_path / "a", f"{address}/v1", "m")
        assert answers.ask(messages=[]) == refused
        assert answers.ask(messages=[]) == refused
    monkeypatch.setattr(judge_answers, "_sent", lambda *_: (503, "loading"))
    with pytest.raises(OSError, match="503: loading"):
        Answers(tmp_path / "b", "http://127.0.0.1:1/v1", "m").ask(messages=[])
    assert not (tmp_path / "b").exists()


@pytest.mark.needs_process
def test_a_server_has_a_process_group_of_its_own_and_ends(tmp_path, monkeypatch):
    script = tmp_path / "server.py"
    script.write_text(
        "import os, sys\nprint('http://127.0.0.1:9', os.getpgid(0), flush=True)\nsys.stdin.read()"
    )
    monkeypatch.setattr(judge_answers, "SERVER", script)
    with serving(Path("model.gguf"), 4) as address:
        group = int(address.removesuffix("/v1").split()[1])
        assert group != os.getpgid(0)
    with pytest.raises(ProcessLookupError):
        os.killpg(group, 0)
    script.write_text("raise SystemExit(1)")
    with pytest.raises(OSError, match=r"before it had loaded model\.gguf"), serving(Path("model.gguf"), 4):
        pytest.fail("it has no address")


# a run


def copies_the_last_line(request):
    """Answer as a model that writes calls into its text, and copies what an error shows it."""
    *_, last = request["messages"]
    said = request["messages"][-1]["content"]
    tools = [one["function"]["name"] for one in request.get("tools", [])]
    if "response_format" in request:
        right = next(arguments for question, _, arguments in ANSWERS if question == said)
        return json.dumps(right)
    if tools == ["search_tools"]:
        return RawCall("c1", "search_tools", {"query": tool_words(said)})
    if last["role"] == "tool":
        line = said.rpartition("\n")[2]
        text = line.removeprefix("send: ") if line.startswith("send: ") else "{}"
        value = json.loads(text)
        name = tools[0]
        return json.dumps({"name": name, "arguments": value.get("arguments", value)})
    for question, name, arguments in ANSWERS:
        if question == said:
            return f"```json\n{json.dumps({'name': name, 'arguments': arguments})}\n```"
    return "I don't know."


def tool_words(question):
    return next(name.replace("_", " ") for asked, name, _ in ANSWERS if asked == question)


ANSWERS = [
    (
        "Book 2 nights in Oslo, breakfast included.",
        "hotel_book",
        {"city": "Oslo", "nights": 2, "breakfast": True, "bed": "double"},
    ),
    ("Scores 3, 4 and 5: the mean?", "mean_of", {"scores": [3, 4, 5]}),
    ("Who came on the last day of January 2026?", "visitors_on", {"day": "2026-02-01"}),
    ("Mark ann and bob as friends", "mark_people", {"people": ["ann", "bob"]}),
]
"""What the scripted model says to each question: the third is wrong, the fourth lacks an argument."""


def run(data, folder, capsys, monkeypatch, address, *options):
    arguments = [f"{address}/v1", "--data", str(data), "--answers", str(folder), "--samples", "4", *options]
    monkeypatch.setattr(sys, "argv", ["model_judge.py", *arguments])
    assert model_judge.main() == 0
    return capsys.readouterr().out


@pytest.mark.needs_process
def test_a_run_measures_a_model_and_goes_on_where_it_was(data, tmp_path, capsys, monkeypatch):
    model = ScriptedModel([copies_the_last_line] * 200)
    with model.serve() as address:
        first = run(data, tmp_path, capsys, monkeypatch, address, "--parts", "first")
        asked = len(model.requests)
        assert asked == 8
        out = run(data, tmp_path, capsys, monkeypatch, address)
        assert len(model.requests) > asked
        asked = len(model.requests)
        again = run(data, tmp_path, capsys, monkeypatch, address)
        assert len(model.requests) == asked
        assert again == out
        same = run(data, tmp_path, capsys, monkeypatch, address, "--parts", "second", "--against", str(ROOT))
        assert len(model.requests) == asked
        run(data, tmp_path, capsys, monkeypatch, address, "--seed", "1", "--parts", "second")
        assert len(model.requests) > asked
    assert "| ours against ours before | 4 | +0 -0, p = 1 | +0 -0, p = 1 |" in same
    assert "| free | 3/4 = 75 % [30..95] | 3/4 = 75 % [30..95] | 2/4 = 50 % [15..85] |" in first
    assert "| constrained | 3/4 = 75 % [30..95] |" in first
    assert "Free calls: 0 in `tool_calls`, 4 in the text, 0 answers without a call. Our provider" in first
    assert set(first.splitlines()) - {""} <= set(out.splitlines())
    assert "| How much is 10 US dollars in euros? | nothing | no | text |" in out
    assert "| the user's question |" in out
    assert "| the model's query | 4/4" in out
    counted = re.search(
        r"ours against ours without `send:`, where `send:` is there \| (\d) \| \+(\d) -0", out
    )
    assert counted
    assert counted[1] == counted[2] != "0"
    assert '| "invalid arguments" | 17 | 0/4' in out
    _, by_mistake = out.split("| mistake (decodes / right) |")
    assert (
        sum(int(number) for number in re.findall(r"^\| [\w ]+ \| (\d+) \| \d", by_mistake, re.MULTILINE)) == 4
    )


def test_what_is_no_model_is_said(data, tmp_path, capsys, monkeypatch):
    with ScriptedModel([]).serve() as address:
        pass
    for model, status, said in (
        ("no.gguf", 2, "no.gguf is neither a file nor an address"),
        (address, 1, "refused"),
    ):
        monkeypatch.setattr(
            sys, "argv", ["model_judge.py", model, "--data", str(data), "--answers", str(tmp_path)]
        )
        with pytest.raises(SystemExit) as stop:
            model_judge.main()
        assert stop.value.code == status
        assert said in capsys.readouterr().err


def test_second_calls_are_judged_with_each_text(tasks):
    call = WrongCall(tasks[1], ("left out",), "mean_of", {"numbers": [3, 4, 5]})
    answers = {
        '{"name": "mean_of", "arguments": {"numbers": [3, 4, 5]}}': (False, False, True),
        '{"name": "mean_of", "arguments": {"scores": [3, 4, 5]}}': (True, True, False),
        '{"name": "mean_of", "arguments": {"scores": [3, 4]}}': (True, False, False),
        '{"name": "other", "arguments": {"scores": [3, 4, 5]}}': (False, False, False),
        '{"name": "other", "arguments": {"numbers": [3, 4, 5]}}': (False, False, False),
        "I don't know.": (False, False, False),
    }
    for text, expected in answers.items():
        asked = []

        def ask(text=text, asked=asked, **body):
            asked.append(body["messages"][-1]["content"])
            return {"choices": [{"message": {"content": text}}]}

        found = model_judge.ask_second(call, ask)
        assert asked == [*texts_after(call).values()]
        for one in found.values():
            assert (one.judged.decodes, one.judged.is_right, one.repeats) == expected


def test_first_calls_are_found_where_servers_leave_them():
    def answer(**message):
        return {"choices": [{"message": message}]}

    call = '{"name": "f", "arguments": {"a": 1}}'
    found = [
        model_judge.first_call(one)
        for one in (
            answer(content=None, tool_calls=[{"function": {"name": "f", "arguments": '{"a": 1}'}}]),
            answer(content=call),
            answer(content=f"```json\n{call}\n```"),
            answer(content=f"<tool_call>\n{call}\n{call}"),
            answer(content='{"name": "f", "parameters": {"a": 1}}'),
            answer(content="I can't {do} that"),
            answer(content='{"name": "my-package", "version": "1"}'),
            answer(content=None),
            {"error": {"message": "no"}},
        )
    ]
    assert [(one.name, one.by) for one in found] == [
        ("f", "field"),
        ("f", "text"),
        ("f", "text"),
        ("f", "text"),
        ("f", "text"),
        (None, "none"),
        (None, "none"),
        (None, "none"),
        (None, "refused"),
    ]


def test_what_the_provider_reads_is_counted(tasks):
    call = RawCall("c1", "mean_of", {"scores": [3, 4, 5]})
    for said, is_read in (([call], True), ("I don't know.", False), ({"error": {"message": "no"}}, False)):
        found = model_judge.ask_first(tasks[1], ScriptedModel(model_judge.PROVIDER, [said]))
        assert (found.is_read, found.is_right) == (is_read, is_read)


def test_readmes_loop_is_judged_by_what_ran():
    wish = model_judge.WISHES[2]

    def scripted(script):
        model = ScriptedModel(model_judge.PROVIDER, script)
        return model_judge.converse(wish, model)

    right = RawCall("c1", "refund", {"order_id": "A7", "amount": 6})
    other = RawCall("c1", "refund", {"order_id": "A7", "amount": 60})
    done, endless, wrong = scripted([right, "Done."]), scripted([right] * 9), scripted([other, "Done."])
    assert (done.does(wish), done.ended) == (True, "text")
    assert (endless.does(wish), endless.ended) == (False, "rounds")
    assert (wrong.does(wish), wrong.ended) == (False, "text")
    assert not scripted(["Done."]).does(wish)
    assert scripted([right, CutOff("I think")]).ended == "length"
    assert scripted([{"error": {"message": "no"}}]) == ([], "refused")


@pytest.mark.parametrize("call", ["I don't know.", RawCall("c1", "mean_of", {"query": "mean of"}), "again"])
def test_what_is_no_search_is_not_counted_as_one(tasks, call):
    search = ToolSearch([task.tool for task in tasks])
    said = RawCall("c1", "search_tools", {"query": "the mean of"}) if call == "again" else call
    found = model_judge.ask_search(tasks[1], search, ScriptedModel(model_judge.PROVIDER, [said]))
    assert found == ((True, True, True) if call == "again" else (True, None, None))
    _, _, *rows = model_judge.search_table([found])
    assert [row.count("1/1") for row in rows] == ([1, 1, 1, 1] if call == "again" else [1, 0, 0, 0])
