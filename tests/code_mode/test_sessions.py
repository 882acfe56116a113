"""Programs that call tools."""

from __future__ import annotations

import asyncio

import pytest

from operator_schema import Complete, Defer, Executor, Reject, RunNormally, Toolset, hook, tool
from operator_schema.code_mode import CodeSession, Journal, Monty, ReplayError, Request
from operator_schema.errors import StoreError
from operator_schema.rounds import RoundError, SqliteStore

pytest.importorskip("pydantic_monty", reason="Monty has no wheels for every platform")

pytestmark = [pytest.mark.needs_threads, pytest.mark.needs_process]

seen: list[object] = []


@pytest.fixture(autouse=True)
def _nothing_seen():
    seen.clear()


@tool
def add(a: int, b: int = 1) -> int:
    """Add numbers."""
    seen.append((a, b))
    return a + b


@tool(confirm=True)
def pay(amount: int) -> str:
    """Pay."""
    seen.append(amount)
    return f"paid {amount}"


@tool
def fail() -> None:
    """Fail."""
    raise KeyError("secret")


def session(*tools, **options):
    tools = tools or (add, pay, fail)
    return CodeSession(Executor(Toolset(*tools)), sandbox=Monty(), **options)


def test_a_program_calls_tools_and_gives_the_value_of_its_last_expression():
    done = session().run_sync("x = add(1, b=2)\nprint('x is', x)\n{'sum': add(x), 'pair': (1, 2)}")
    assert (done.state, done.output, done.value) == ("done", "x is 3\n", {"sum": 4, "pair": [1, 2]})
    assert done.text == 'x is 3\n{"sum": 4, "pair": [1, 2]}'


def test_arguments_are_decoded_and_repaired_as_those_of_a_call():
    program = "try:\n    add('one')\nexcept ValueError as e:\n    print(e)"
    assert "expected integer" in session().run_sync(program).output
    lenient = session(Toolset(add).with_(repair=True))
    assert lenient.run_sync("add('3')").value == 4


def test_hooks_decide_about_each_call():
    @hook(add)
    def small(call):
        if call.input.a > 10:
            return Reject("too large")
        if call.input.a == 7:
            return Complete(70)
        return RunNormally(call.input)

    ran = CodeSession(Executor(add, hooks=small), sandbox=Monty()).run_sync(
        "r = [add(1), add(7)]\ntry:\n    add(11)\nexcept PermissionError as e:\n    r.append(str(e))\nr"
    )
    assert ran.value == [2, 70, "This call was rejected: too large"]
    assert seen == [(1, 1)]


def test_a_failing_tool_raises_in_the_program_and_says_no_more_than_to_a_model():
    ran = session().run_sync("try:\n    fail()\nexcept RuntimeError as e:\n    print(e)")
    assert ran.output == "fail failed: KeyError\n"


def test_an_error_of_the_program_is_told():
    ran = session().run_sync("x = [1]\nx[5]")
    assert ran.state == "failed"
    assert "IndexError" in ran.error
    assert "SyntaxError" in session().run_sync("1 +").error or session().run_sync("1 +").error


def test_an_unknown_function_is_a_name_error_with_the_nearest_name():
    assert "did you mean add?" in session().run_sync("addd(1)").error


def test_a_call_that_needs_an_approval_waits_and_goes_on_without_running_anything_twice():
    one = session()
    waiting = one.run_sync("x = add(1)\ny = pay(x)\n[x, y, pay(9)]")
    assert (waiting.state, waiting.waiting.name, waiting.waiting.arguments) == (
        "waiting",
        "pay",
        {"amount": 2},
    )
    assert one.journal.waiting() == [waiting.id]
    again = one.resume_sync(waiting, "approve")
    assert (again.state, again.waiting.arguments) == ("waiting", {"amount": 9})
    done = one.resume_sync(again, "approve")
    assert done.value == [2, "paid 2", "paid 9"]
    assert seen == [(1, 1), 2, 9]
    assert one.journal.waiting() == []


def test_a_plan_is_approved_as_a_whole():
    one = session()
    waiting = one.run_sync("[pay(n) for n in range(5)]")
    assert len(one.resume_sync(waiting, "approve_all").value) == 5
    assert seen == [0, 1, 2, 3, 4]


def test_a_rejected_call_raises_in_the_program_and_a_completed_one_does_not_run():
    one = session()
    program = (
        "r = []\ntry:\n    pay(1)\nexcept PermissionError as e:\n    r.append(str(e))\nr.append(pay(2))\nr"
    )
    waiting = one.resume_sync(one.run_sync(program), Reject("no"))
    done = one.resume_sync(waiting, Complete("by hand"))
    assert done.value == ["This call was rejected: no", "by hand"]
    assert seen == []


def test_a_deferral_of_a_hook_waits_with_its_reason():
    @hook(add)
    def ask(call):
        return Defer("more than it should be")

    one = CodeSession(Executor(add, hooks=ask), sandbox=Monty())
    waiting = one.run_sync("add(1)")
    assert waiting.waiting.reason == "more than it should be"
    assert one.resume_sync(waiting, "approve").value == 2


def test_a_decision_counts_once_and_is_needed():
    one = session()
    waiting = one.run_sync("pay(1)\npay(2)")
    with pytest.raises(RoundError, match="a call waits"):
        one.resume_sync(waiting)
    one.resume_sync(waiting, "approve")
    with pytest.raises(StoreError, match="was changed in the meantime"):
        one.resume_sync(waiting, "approve")
    assert seen == [1]
    with pytest.raises(TypeError, match="decide by"):
        one.resume_sync(waiting, "yes")


def test_programs_wait_in_a_file_for_another_process(tmp_path):
    file = tmp_path / "programs.db"
    waiting = session(journal=Journal(file)).run_sync("add(1)\npay(5)")
    other = session(journal=Journal(file))
    assert other.load(waiting.id) == waiting
    assert other.resume_sync(waiting.id, "approve").value == "paid 5"
    assert other.load(waiting.id).state == "done"
    with pytest.raises(StoreError, match="has ended"):
        other.resume_sync(waiting.id, None)


def test_a_program_that_does_something_else_when_it_goes_on_is_refused():
    one = session()
    waiting = one.run_sync("x = add(1)\npay(x)")
    with one.journal._transaction() as db:
        db.execute("UPDATE programs SET code = 'x = add(2)\npay(x)'")
    with pytest.raises(ReplayError, match="call 0 was add, and now it is add"):
        one.resume_sync(waiting.id, "approve")
    assert seen == [(1, 1)]
    assert one.load(waiting.id).state == "waiting"


def test_random_numbers_and_the_time_are_the_same_when_a_program_goes_on():
    one = session()
    program = "import random, datetime\npay(random.randrange(10**9))\nstr(datetime.datetime.now())"
    waiting = one.run_sync(program)
    assert one.resume_sync(waiting, "approve").state == "done"
    assert seen == [waiting.waiting.arguments["amount"]]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("while True:\n    pass", "the program computed for more than 0.5 seconds"),
        ("x = 'a' * 10**10", "the program needs more than 20,000,000 bytes of memory"),
        ("x = []\nwhile True:\n    x.append('a' * 1000)", "the program needs more than 20,000,000 bytes"),
        ("while True:\n    print('x' * 1000)", "the program printed more than 1,000 bytes"),
        ("raise MemoryError('memory limit exceeded: 1 bytes > 1000 bytes')", "Traceback"),
        ("for n in range(10**6):\n    add(n)", "more than 50 calls"),
        (
            "while True:\n    try:\n        nothing()\n    except NameError:\n        pass",
            "more than 50 calls",
        ),
        ("'x' * 10**6", "too large"),
        ("open('/etc/passwd').read()", "Permission"),
        ("import os\nos.system('true')", "AttributeError"),
        ("import subprocess", "ModuleNotFoundError"),
        ("import socket", "ModuleNotFoundError"),
        ("().__class__.__bases__", "AttributeError"),
        ("add.__globals__", "AttributeError"),
        ("eval('__import__(\"os\")').environ['PATH']", "Error"),
        ("def f():\n    return f()\nf()", "RecursionError"),
        ("x = 1\nfor _ in range(200):\n    x = [x]\nx", "nests"),
        ("add(b'x')", "bytes"),
        ("add(float('nan'))", "number of JSON"),
        ("add(1, 2, 3)", "at most 2 arguments"),
        ("add(1, a=2)", "twice"),
    ],
)
def test_hostile_and_wrong_programs_are_stopped_and_told(program, told):
    one = session(add, seconds=0.5, memory=20_000_000, max_calls=50, max_output=1000)
    ran = one.run_sync(program)
    assert ran.state == "failed"
    assert told in ran.error
    assert len(ran.output) <= 1000
    assert len(ran.error) <= 5000
    assert len(seen) <= 50


@pytest.mark.parametrize("sandbox", [None, Monty, "Monty"])
def test_a_sandbox_that_cannot_start_programs_is_refused(sandbox):
    with pytest.raises(TypeError, match=r"such as Monty\(\), not (null|the class Monty|string)"):
        CodeSession(Executor(add), sandbox=sandbox)


def test_a_set_becomes_a_sorted_array_so_that_a_program_makes_the_same_calls_again():
    assert session().run_sync("{'b', 'c', 'a'}").value == ["a", "b", "c"]


def test_as_a_tool_for_any_loop():
    one = session()
    run_code = one.tool()
    assert "def add(a: int, b: int=1) -> int" in run_code.description
    result = Executor(run_code).run_sync([_call("add(2)"), _call("pay(1)")])
    assert [each.content for each in result] == ["3", "The program waits for a person to agree to pay."]


def _call(code):
    from operator_schema import RawCall

    return RawCall(name="run_code", arguments={"code": code})


def test_a_session_runs_inside_an_event_loop():
    async def main():
        return await session().run("add(1)"), session().run_sync("add(2)")

    ran = asyncio.run(main())
    assert [each.value for each in ran] == [2, 3]


def test_wrong_options_are_refused(tmp_path):
    with pytest.raises(ValueError, match="max_calls is a number above 0"):
        session(max_calls=0)
    with pytest.raises(ValueError, match="without a store"):
        CodeSession(Executor(add, store=SqliteStore(tmp_path / "s.db")), sandbox=Monty())
    with pytest.raises(TypeError, match="a program is a string"):
        session().run_sync(3)


def test_any_sandbox_of_the_protocol_will_do():
    class OneCall:
        def start(self, code, names, limits, /, *, seed, now):
            assert "add" in names
            return self

        def step(self, answer, /):
            from operator_schema.code_mode import Ended

            return Request("add", (20,), {"b": 3}) if answer is None else Ended(answer.value, None)

        def printed(self):
            return ""

        def close(self):
            pass

    assert CodeSession(add, sandbox=OneCall()).run_sync("whatever").value == 23
