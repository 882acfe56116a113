"""Programs that call tools."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from select import select
from threading import Event
from typing import Annotated

import pytest
from warm_sandbox import warm_sandbox

from operator_schema import Complete, Defer, Executor, Reject, RunNormally, Toolset, hook, skip, tool
from operator_schema.code_mode import (
    CallAnswer,
    CodeSession,
    Ended,
    Journal,
    Limits,
    Monty,
    ProcessSandbox,
    ReplayError,
    Request,
)
from operator_schema.rounds import RoundError, SqliteStore, StoreError

pytestmark = [pytest.mark.needs_threads, pytest.mark.needs_process]
sandboxes = ["process", *(["monty"] if find_spec("pydantic_monty") else [])]
"""Monty has no wheels for every platform."""

seen: list[object] = []


chosen: list[object] = []


def sandbox_of(name):
    """Make a sandbox; "process" is one whose interpreter needn't start, which is what takes longest."""
    if name == "monty":
        return Monty()
    if name == "new process":
        return ProcessSandbox()
    return warm_sandbox()


@pytest.fixture(autouse=True, params=sandboxes)
def sandbox(request):
    """Run each test in each sandbox."""
    seen.clear()
    chosen[:] = [sandbox_of(request.param)]
    return request.param


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
    return CodeSession(Executor(Toolset(*tools)), sandbox=chosen[0], **options)


def change_data(session, statement, *values):
    with session.journal._transaction() as db:
        db.execute(statement, values)


def set_code(session, program):
    change_data(session, "UPDATE programs SET code = ?", program)


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

    ran = CodeSession(Executor(add, hooks=small), sandbox=chosen[0]).run_sync(
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
    assert re.search("(?i)did you mean:? '?add'?[?]", session().run_sync("addd(1)").error)


@pytest.mark.parametrize("sandbox", [*sandboxes, "new process"], indirect=True)
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

    one = CodeSession(Executor(add, hooks=ask), sandbox=chosen[0])
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
    with pytest.raises(TypeError, match=r"not by the class Reject: write Reject\('why'\)"):
        one.resume_sync(waiting, Reject)


@pytest.mark.parametrize("given", [None, 5, b"program_1"])
def test_what_is_continued_is_a_run_or_its_id(given):
    with pytest.raises(TypeError, match="resume takes what run returned, or its id, not"):
        session(add).resume_sync(given, "approve")


def test_two_people_who_decide_at_once_by_id_decide_once(tmp_path, monkeypatch):
    one, other = (session(journal=Journal(tmp_path / "programs.db")) for _ in range(2))
    waiting = one.run_sync("a = pay(1)\npay(len(a))")
    claim = other.journal.claim

    def late(*args, **options):
        one.resume_sync(waiting.id, "approve")
        return claim(*args, **options)

    monkeypatch.setattr(other.journal, "claim", late)
    with pytest.raises(StoreError, match="was changed in the meantime"):
        other.resume_sync(waiting.id, "approve")
    assert seen == [1]
    assert [call.arguments for call in one.load(waiting.id).plan] == [{"amount": 6}]
    assert one.resume_sync(waiting.id, "approve").state == "done"
    assert seen == [1, 6]


def test_a_process_that_lost_its_program_begins_no_further_call(tmp_path):
    """It was stopped for so long that somebody took its program back, and goes on then."""

    @tool
    def slow() -> int:
        """Take long: meanwhile another process goes on with the program."""
        if not seen:
            seen.append("slow")
            other.journal.take_back(*other.journal.stuck())
            (waiting,) = other.journal.waiting()
            assert other.resume_sync(waiting, Complete(1)).value == "paid 1"
        return 1

    free_pay = pay.with_(confirm=False)
    one, other = (
        CodeSession([slow, free_pay], sandbox=chosen[0], journal=Journal(tmp_path / "programs.db"))
        for _ in range(2)
    )
    with pytest.raises(StoreError, match="was taken back in the meantime"):
        one.run_sync("pay(slow())")
    assert seen == ["slow", 1]
    assert (other.journal.waiting(), other.journal.stuck()) == ([], [])


@pytest.mark.parametrize("output", [object(), float("nan"), 10**5000], ids=["object", "nan", "digits"])
def test_an_output_that_is_no_json_value_is_refused_and_the_program_still_waits(output):
    one = session()
    waiting = one.run_sync("pay(1)")
    with pytest.raises((TypeError, ValueError), match=r"JSON|digits"):
        one.resume_sync(waiting, Complete(output))
    assert one.load(waiting.id) == waiting
    assert one.resume_sync(waiting, "approve").value == "paid 1"


def test_programs_wait_in_a_file_for_another_process(tmp_path):
    file = tmp_path / "programs.db"
    waiting = session(journal=Journal(file)).run_sync("add(1)\npay(5)")
    other = session(journal=Journal(file))
    assert other.load(waiting.id) == waiting
    assert other.resume_sync(waiting.id, "approve").value == "paid 5"
    assert other.load(waiting.id).state == "done"
    with pytest.raises(StoreError, match="has ended"):
        other.resume_sync(waiting.id, None)


MOMENTS = """
time.time() time.time_ns() time.strftime('%H:%M:%S') time.ctime() time.asctime() list(time.localtime())
list(time.gmtime()) str(datetime.datetime.now()) str(datetime.date.today()) random.random()
random.Random().random() random.SystemRandom().random() secrets.token_hex() secrets.randbelow(10**9)
os.urandom(9).hex() str(uuid.uuid1()) str(uuid.uuid4()) [random.seed(),random.random()] hash('a')
""".split()  # noqa: SIM905  # a list of expressions


@pytest.mark.parametrize("sandbox", ["new process"], indirect=True)
def test_a_process_sees_the_same_time_and_random_numbers_again():
    code = "import datetime, os, random, secrets, time, uuid\n" + "".join(f"note({one})\n" for one in MOMENTS)

    def noted(seed, now):
        program = ProcessSandbox().start(code, ["note"], Limits(60.0, 10**8, 99, 99), seed=seed, now=now)
        found, answer = [], None
        while isinstance(step := program.step(answer), Request):
            found.append(step.args)
            answer = CallAnswer(None)
        program.close()
        assert step == Ended(None, None)
        return found

    then = datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC)
    first = noted("a", then)
    assert len(first) == len(MOMENTS)
    assert noted("a", then) == first
    other = noted("b", datetime(2021, 2, 3, 4, 5, 6, tzinfo=UTC))
    assert [one for one, before in zip(other, first, strict=True) if one == before] == []


@pytest.mark.parametrize("decision", ["approve", Reject("no"), Complete("by hand"), "approve_plan"])
def test_a_call_that_has_not_run_and_is_another_one_now_waits_anew(decision):
    one = session()
    waiting = one.run_sync("x = add(1)\n[pay(x), pay(7)]")
    set_code(one, "x = add(1)\n[pay(x + 1), pay(7)]")
    again = one.resume_sync(waiting, decision)
    assert [call.arguments["amount"] for call in again.plan] == [3, 7]
    assert seen == [(1, 1)]
    assert one.resume_sync(again, "approve_plan").value == ["paid 3", "paid 7"]


def test_a_program_that_ends_before_a_call_that_has_not_run_has_ended():
    one = session()
    waiting = one.run_sync("pay(1)\npay(2)")
    set_code(one, "5")
    assert one.resume_sync(waiting, "approve").value == 5
    assert (seen, one.journal.entries(waiting.id)) == ([], {})


@pytest.mark.parametrize("decision", ["approve", Reject("no"), Complete("by hand")])
def test_a_call_that_may_have_run_is_not_exchanged_for_another_one(decision):
    one = session()
    waiting = one.run_sync("pay(1)")
    change_data(one, "UPDATE program_calls SET state = 'begun', outcome = NULL")  # as if its process had died
    set_code(one, "pay(2)")
    assert one.load(waiting.id).waiting.is_interrupted
    before = one.journal.load(waiting.id), one.journal.entries(waiting.id)
    for resumed in (decision, "approve_all", [decision]):
        with pytest.raises(
            ReplayError, match=r'call 0 was pay\({"amount": 1}\), and now is pay\({"amount": 2}\)'
        ):
            one.resume_sync(waiting.id, resumed)
        assert (one.journal.load(waiting.id), one.journal.entries(waiting.id)) == before
    assert seen == []


@pytest.mark.parametrize(
    "decision", ["approve", "approve_plan", "approve_all", Reject("no"), Complete("done")]
)
@pytest.mark.parametrize("changed", ["add(2)\npay(1)\npay(2)", "5"])
def test_a_refused_replay_leaves_the_program_as_it_was(decision, changed):
    one = session()
    program = "print('hello')\nadd(1)\npay(1)\npay(2)"
    waiting = one.run_sync(program)
    before = one.journal.load(waiting.id), one.journal.entries(waiting.id)
    set_code(one, changed)
    with pytest.raises(ReplayError):
        one.resume_sync(waiting, decision)
    set_code(one, program)
    assert (one.journal.load(waiting.id), one.journal.entries(waiting.id)) == before
    assert one.load(waiting.id) == waiting
    assert one.resume_sync(waiting, "approve_plan").value == "paid 2"
    assert seen == [(1, 1), 1, 2]


def test_a_program_that_does_something_else_when_it_goes_on_is_refused():
    one = session()
    waiting = one.run_sync("x = add(1)\npay(x)")
    set_code(one, "x = add(2)\npay(x)")
    with pytest.raises(ReplayError, match=r'call 0 was add\({"a": 1}\), and now is add\({"a": 2}\)'):
        one.resume_sync(waiting.id, "approve")
    assert seen == [(1, 1)]
    assert one.load(waiting.id).state == "waiting"


@pytest.mark.parametrize("end", ["exit()", "quit(0)", "exit(None)", "raise SystemExit", "raise SystemExit()"])
def test_a_program_may_end_itself(end):
    ran = session().run_sync(f"print('so far')\n{end}\nadd(1)")
    assert (ran.state, ran.output, ran.value, ran.error, seen) == ("done", "so far\n", None, None, [])


@pytest.mark.parametrize("program", ["raise SystemExit(0)", "raise ValueError(1)", "raise KeyError('a', 2)"])
def test_what_monty_lacks_is_said_as_that(program, sandbox):
    if sandbox != "monty":
        pytest.skip("Python has all exceptions")
    ran = session().run_sync(program)
    assert ran.state == "failed"
    assert ran.error == (
        "the interpreter can't do this: exceptions can only be called with zero or one string argument"
    )


@pytest.mark.parametrize("program", ["'\ud800'", "add(1)\n# \udfff", "\ud800", "print('\ud83d')", "'a\0'"])
def test_a_program_with_a_lone_surrogate_fails_and_is_not_run(program):
    one = session()
    ran = one.run_sync(program)
    assert (ran.state, seen) == ("failed", [])
    assert "lone surrogate" in ran.error
    assert one.load(ran.id) == ran


@pytest.mark.parametrize(
    "program",
    [
        r"print('a\ud800b')",
        r"'\ud800'",
        r"['\ud800']",
        r"{'\ud800': 1}",
        r"raise ValueError('\ud800')",
        r"exit('\ud800')",
        r"add('\ud800')",
        r"add(**{'\ud800': 1})",
        r"add({'\ud800': 1})",
    ],
)
def test_nothing_that_a_program_writes_has_a_lone_surrogate(program):
    one = session()
    ran = one.run_sync(program)
    for text in (ran.output, str(ran.value), ran.error or "", ran.text):
        text.encode()
    assert one.load(ran.id) == ran
    assert seen == []


@pytest.mark.parametrize("output", ["\ud800", ["\ud800"], {"\ud800": 1}])
def test_a_result_of_a_person_with_a_lone_surrogate_is_refused(output):
    one = session()
    waiting = one.run_sync("pay(1)")
    with pytest.raises(ValueError, match=r"a lone surrogate, \\ud800"):
        one.resume_sync(waiting, Complete(output))
    assert one.load(waiting.id) == waiting


@pytest.mark.parametrize("sandbox", [*sandboxes, "new process"], indirect=True)
def test_random_numbers_and_the_time_are_the_same_when_a_program_goes_on():
    one = session()
    program = "import random, datetime\npay(random.randrange(10**9))\nstr(datetime.datetime.now())"
    waiting = one.run_sync(program)
    assert one.resume_sync(waiting, "approve").state == "done"
    assert seen == [waiting.waiting.arguments["amount"]]


WRONG = [
    ("while True:\n    pass", "the program computed for more than 0.2 seconds"),
    ("while True:\n    try:\n        while 1: pass\n    except BaseException: pass", "more than 0.2 seconds"),
    ("x = 'a' * 10**10", "the program needs more than 20,000,000 bytes of memory"),
    ("x = []\nwhile True:\n    x.append('a' * 1000)", "the program needs more than 20,000,000 bytes"),
    ("while True:\n    print('x' * 1000)", "the program printed more than 1,000 bytes"),
    ("raise MemoryError('memory limit exceeded: 1 bytes > 1000 bytes')", "Traceback"),
    ("for n in range(10**6):\n    add(n)", "more than 50 calls"),
    ("'x' * 10**6", "too large: 1,000,002 characters, at most "),
    ("def f():\n    return f()\nf()", "RecursionError"),
    ("x = 1\nfor _ in range(200):\n    x = [x]\nx", "nests"),
    ("add(b'x')", "bytes"),
    ("add(float('nan'))", "number of JSON"),
    ("10**5000", "digits"),
    ("add(10**5000)", "digits"),
    ("print('😀' * 900_000)", "the program printed more than 1,000 bytes"),
    ("add(1, 2, 3)", "at most 2 arguments"),
    ("add(1, a=2)", "twice"),
]
"""What any sandbox stops."""

HOSTILE_TO_MONTY = [
    ("+".join(["1"] * 500_000), "the program has 999,999 characters, at most 200,000 are run"),
    ("+".join(["1"] * 100_000), "Traceback"),
    ("f" + "()" * 99_999, "Traceback"),
    (
        "while True:\n    try:\n        nothing()\n    except NameError:\n        pass",
        "more than 50 calls",
    ),
    ("open('/etc/passwd').read()", "Permission"),
    ("import os\nos.system('true')", "AttributeError"),
    ("import subprocess", "ModuleNotFoundError"),
    ("import socket", "ModuleNotFoundError"),
    ("().__class__.__bases__", "AttributeError"),
    ("add.__globals__", "AttributeError"),
    ("eval('__import__(\"os\")').environ['PATH']", "Error"),
]
WRONG_IN_A_PROCESS = [
    ("import os\nos._exit(3)", "ended early, with the exit status 3"),
    ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "with the exit status -9"),
    ("raise SystemExit('enough')", "it ended itself by SystemExit: enough"),
    ("exit(3)", "it ended itself by SystemExit: 3"),
    ("exit(10**5000)", "it ended itself by SystemExit: int"),
    ("quit([1])", "it ended itself by SystemExit: [1]"),
    ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ("raise ValueError('x' * 10**6)", "ValueError"),
    ("import time\ntime.sleep(1000)", "more than 0.2 seconds"),
    ("import sys\nsys.stdin.read()\n1 / 0", "ZeroDivisionError"),
    ("import sys\nsys.set_int_max_str_digits(0)\n10**5000", "4,200 digits or more"),
]


def check_stopped(program, told, memory=20_000_000):
    # On a busy machine, this limit may be reached before another one. Monty looks at what was printed only at
    # the end of a program, which time brings about here.
    ends_by_time = "more than 0.2 seconds" in told
    seconds = 0.2 if ends_by_time else 1 if "while True:\n    print" in program else 60
    one = session(add, seconds=seconds, memory=memory, max_calls=50, max_output=1000)
    ran = one.run_sync(program)
    assert ran.state == "failed"
    assert told in ran.error
    assert len(ran.output) <= 1000
    assert len(ran.error) <= 5000
    assert len(seen) <= 50


@pytest.mark.parametrize(("program", "told"), WRONG)
def test_hostile_and_wrong_programs_are_stopped_and_told(program, told):
    check_stopped(program, told)


@pytest.mark.parametrize(("program", "told"), HOSTILE_TO_MONTY)
@pytest.mark.parametrize("sandbox", [name for name in sandboxes if name == "monty"], indirect=True)
def test_nothing_but_the_tools_can_be_reached_in_monty(program, told):
    check_stopped(program, told)


@pytest.mark.parametrize(("program", "told"), WRONG_IN_A_PROCESS)
@pytest.mark.parametrize("sandbox", ["new process"], indirect=True)
def test_a_process_that_goes_wrong_is_ended_and_told(program, told):
    check_stopped(program, told)


@pytest.mark.parametrize("sandbox", ["process"], indirect=True)
def test_a_message_of_a_process_is_bounded():
    check_stopped("add('x' * 11_000_000)", "more than 10,000,000 bytes", memory=100_000_000)


@pytest.mark.parametrize("sandbox", ["new process"], indirect=True)
def test_a_process_has_a_folder_of_its_own_and_no_variables_of_this_one(monkeypatch):
    monkeypatch.setenv("SECRET", "s")
    program = """
import os, tempfile
open("note", "w").write("x")
tempfile.mkstemp()
[os.getcwd(), os.environ["HOME"], tempfile.gettempdir(), os.environ.get("SECRET"), len(os.listdir("."))]
"""
    folder, home, scratch, secret, files = session().run_sync(program).value
    assert (folder, folder, None, 2) == (home, scratch, secret, files)
    assert not Path(folder).exists()


@pytest.mark.parametrize("sandbox", ["new process"], indirect=True)
def test_what_a_program_has_started_ends_with_it(tmp_path):
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    program = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; open({str(alive)!r}, 'w'); time.sleep(1000)"])
open({str(alive)!r}).close()
add(1)
"""
    assert session().run_sync(program).value == 2
    reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)  # an end of file: nobody has it open for writing
    assert os.read(reader, 1) == b""
    os.close(reader)


@pytest.mark.parametrize("sandbox", ["process"], indirect=True)
def test_threads_of_a_process_may_call_tools_at_once():
    program = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as threads:
    found = list(threads.map(add, range(20)))
found
"""
    assert session().run_sync(program).value == list(range(1, 21))


# --- processes that are cancelled, or don't read ---------------------------------------------------


class Watched(ProcessSandbox):
    """Keeps its programs, and waits for leave to start one."""

    def __init__(self):
        super().__init__()
        self.programs = []
        self.is_starting, self.may_start, self.is_running = Event(), Event(), Event()

    def start(self, *args, **options):
        self.is_starting.set()
        self.may_start.wait()
        program = super().start(*args, **options)
        self.programs.append(program)
        step = program.step

        def watched(answer):
            self.is_running.set()
            return step(answer)

        program.step = watched
        return program


def cancelled(watched, begun, times):
    """Cancel a program that would compute for an hour; return when its threads have ended."""

    async def main():
        one = CodeSession(add, sandbox=watched, seconds=3600)
        running = asyncio.create_task(one.run("import time\ntime.sleep(3600)"))
        await asyncio.to_thread(begun.wait)
        for _ in range(times):
            running.cancel()
            await asyncio.sleep(0)
        watched.may_start.set()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())


@pytest.mark.parametrize("times", [1, 2, 3])
@pytest.mark.parametrize("begun", ["is_starting", "is_running"])
@pytest.mark.parametrize("sandbox", ["new process"], indirect=True)
def test_nothing_is_left_of_a_program_that_is_cancelled(begun, times):
    watched = Watched()
    if begun == "is_running":
        watched.may_start.set()
    cancelled(watched, getattr(watched, begun), times)
    (program,) = watched.programs
    assert program._process.returncode is not None
    assert not Path(program._folder.name).exists()


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="Windows can't stop a process for a while")
@pytest.mark.parametrize("sandbox", ["new process"], indirect=True)
def test_a_process_that_does_not_read_an_answer_is_too_slow():
    @tool
    def large(pid: int) -> str:
        """Stop the process, and return more than a pipe holds."""
        os.kill(pid, signal.SIGSTOP)
        return "x" * 1_000_000

    one = CodeSession(Toolset(large).with_(max_chars=None), sandbox=ProcessSandbox(), seconds=0.5)
    assert (
        one.run_sync("import os\nlarge(os.getpid())").error
        == "the program computed for more than 0.5 seconds"
    )


@pytest.mark.parametrize("sandbox", ["new process"], indirect=True)
def test_what_a_process_prints_while_a_tool_runs_is_bounded():
    code = """
import sys, threading, traceback
main = threading.main_thread().ident
def prints():
    while "wait_for" not in [frame.name for frame in traceback.extract_stack(sys._current_frames()[main])]:
        pass
    while True:
        print("é" * 1_000_000)
threading.Thread(target=prints).start()
add(1)
"""
    limits = Limits(10.0, 100_000_000, 10, 100)
    program = ProcessSandbox().start(code, ["add"], limits, seed="", now=datetime.now(UTC))
    assert program.step(None) == Request("add", (1,), {})
    while not program._lines.full():
        time.sleep(0.01)
    assert sum(map(len, program._lines.queue)) < 5_000_000
    assert program.step(CallAnswer(2)) == Ended(None, "the program printed more than 100 bytes")
    program.close()


@pytest.mark.skipif(sys.platform != "linux", reason="others may not signal the end of a pipe")
@pytest.mark.parametrize("sandbox", ["new process"], indirect=True)
def test_a_process_that_holds_its_interpreter_ends_with_the_one_that_started_it(tmp_path):
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    program = f"""
import re
file = open({str(alive)!r}, "wb", buffering=0)
file.write(b"x")
re.match("(a+)+$", "a" * 60 + "b")
"""
    host = f"""
from operator_schema.code_mode import CodeSession, ProcessSandbox
CodeSession([], sandbox=ProcessSandbox(), seconds=3600).run_sync({program!r})
"""
    with subprocess.Popen([sys.executable, "-c", host]) as running:
        assert select([reader], [], [], 60)[0]
        assert os.read(reader, 1) == b"x"
        running.kill()
    assert select([reader], [], [], 60)[0]
    assert os.read(reader, 1) == b""  # nobody has it open for writing
    os.close(reader)


# --- plans ------------------------------------------------------------------------------------------


def test_the_arguments_of_a_plan_are_in_the_order_of_the_call():
    @tool(confirm=True)
    def ship(item: str, address: dict[str, str]) -> str:
        """Ship."""
        return f"{item} to {', '.join(address.values())}"

    one = session(ship)
    waiting = one.run_sync("ship(item='pear', address={'zip': '1010', 'city': 'Wien'})")
    written = [json.dumps(call.arguments) for call in waiting.plan]
    assert written == ['{"item": "pear", "address": {"zip": "1010", "city": "Wien"}}']
    assert one.resume_sync(waiting, "approve_plan").value == "pear to 1010, Wien"


@pytest.mark.parametrize("sandbox", [*sandboxes, "new process"], indirect=True)
def test_calls_that_do_not_need_each_other_are_one_plan():
    one = session()
    waiting = one.run_sync("paid = []\nfor n in range(50):\n    add(n)\n    paid.append(pay(n))\nlen(paid)")
    assert [(call.number, call.arguments) for call in waiting.plan] == [
        (2 * n + 1, {"amount": n}) for n in range(50)
    ]
    assert waiting.text == "The program waits for a person to agree to 50 calls of pay."
    assert seen == [(0, 1)]
    done = one.resume_sync(waiting, "approve_plan")
    assert (done.state, done.value, done.plan) == ("done", 50, ())
    assert seen == [each for n in range(50) for each in ((n, 1), n)]


@pytest.mark.parametrize(
    "looks",
    [
        "pay(add(pay(1)))",
        "x = pay(1)\nprint(x + '')\npay(2)",
        "x = pay(1)\nif x['a']:\n    pay(2)",
        "for x in pay(1):\n    pay(2)",
        "pay(f'{pay(1)}')",
        "pay([pay(1)])",
        "1 / 0 if pay(1) < 'a' else pay(2)",
    ],
)
def test_a_plan_ends_where_a_result_is_needed(looks):
    waiting = session().run_sync(looks)
    assert [call.arguments for call in waiting.plan] == [{"amount": 1}]


def test_a_plan_is_decided_about_call_by_call():
    one = session()
    program = """
found = []
for n in range(4):
    try:
        found.append(pay(n))
    except PermissionError as error:
        found.append(str(error))
found
"""
    waiting = one.run_sync(program)
    again = one.resume_sync(waiting, ["approve", Reject("no"), None, Complete("by hand")])
    assert seen == [0]
    assert [call.number for call in again.plan] == [2]
    done = one.resume_sync(again, "approve")
    assert done.value == ["paid 0", "This call was rejected: no", "paid 2", "by hand"]
    assert seen == [0, 2]


def test_agreement_to_a_plan_is_to_these_calls_and_no_others():
    one = session()
    waiting = one.run_sync("x = pay(1)\npay(2 if x is None else 3)\npay(4)")
    assert [call.arguments["amount"] for call in waiting.plan] == [1, 3, 4]
    done = one.resume_sync(waiting, "approve_plan")
    assert (done.state, seen) == ("done", [1, 3, 4])
    seen.clear()
    waiting = one.run_sync("def f():\n    return pay(1)\nx = f()\nif x:\n    pay(2)\npay(3)")
    plan = [call.arguments["amount"] for call in waiting.plan]
    assert plan in ([1], [1, 2, 3])  # Monty can't see that the program asks whether a result is empty
    again = one.resume_sync(waiting, Complete("")) if len(plan) == 1 else None
    if again is None:
        again = one.resume_sync(waiting, [Complete(""), "approve", "approve"])
        assert (again.state, seen) == ("waiting", [])  # the second call is another one now
    assert [call.arguments["amount"] for call in again.plan] == [3]
    assert one.resume_sync(again, "approve").value == "paid 3"
    assert seen == [3]


def test_a_plan_waits_in_a_file_with_its_decisions(tmp_path):
    file = tmp_path / "programs.db"
    waiting = session(journal=Journal(file)).run_sync("[pay(n) for n in range(3)]")
    other = session(journal=Journal(file))
    assert other.load(waiting.id).plan == waiting.plan
    assert other.resume_sync(waiting.id, "approve_plan").value == ["paid 0", "paid 1", "paid 2"]


def test_hooks_say_why_calls_of_a_plan_wait_and_none_runs():
    @hook(add)
    def ask(call):
        return Defer("large") if call.input.a > 1 else RunNormally(call.input)

    one = CodeSession(Executor(Toolset(add, pay), hooks=ask), sandbox=chosen[0])
    waiting = one.run_sync("add(5)\nadd(1)\nadd(7)\npay(1)\nlen([])")
    reasons = ["large", "large", "the tool needs a person's approval (confirm=True)"]
    assert [call.reason for call in waiting.plan] == reasons
    assert seen == []
    assert one.resume_sync(waiting, "approve_plan").value == 0
    assert seen == [(5, 1), (1, 1), (7, 1), 1]


def test_a_plan_has_no_more_calls_than_the_program_may_make():
    one = session(max_calls=10)
    waiting = one.run_sync("n = 0\nwhile True:\n    pay(n)\n    n += 1")
    assert len(waiting.plan) == 10
    done = one.resume_sync(waiting, "approve_plan")
    assert (done.state, seen) == ("failed", list(range(10)))


@pytest.mark.parametrize("decision", [["approve"], ["approve", "approve", "approve"]])
def test_a_list_of_decisions_has_one_for_each_call(decision):
    one = session()
    waiting = one.run_sync("[pay(1), pay(2)]")
    with pytest.raises(RoundError, match="the plan has 2 calls"):
        one.resume_sync(waiting, decision)
    with pytest.raises(TypeError, match="a list of these"):
        one.resume_sync(waiting, ["approve", "approve_all"])
    assert one.load(waiting.id) == waiting


def test_what_a_program_prints_ahead_is_not_shown():
    waiting = session().run_sync("print('before')\npay(1)\nprint('after')")
    assert waiting.output == "before\n"


def test_injected_parameters_of_tools_come_from_the_context():
    @tool
    def whose(user: Annotated[str, skip]) -> str:
        """Say whose."""
        return user

    one = session(whose)
    assert one.run_sync("whose()", context={"user": "Ada"}).value == "Ada"


def test_the_interpreter_is_a_path():
    with pytest.raises(TypeError, match="the path of an interpreter must be a string or a Path, not integer"):
        ProcessSandbox(5)


@pytest.mark.parametrize("wrong", [None, Monty, "Monty"])
def test_a_sandbox_that_cannot_start_programs_is_refused(wrong):
    with pytest.raises(TypeError, match=r"such as Monty\(\), not (null|the class Monty|string)"):
        CodeSession(Executor(add), sandbox=wrong)


def test_a_set_becomes_a_sorted_array_so_that_a_program_makes_the_same_calls_again():
    assert session().run_sync("{'b', 'c', 'a'}").value == ["a", "b", "c"]


def test_a_result_that_is_too_long_for_a_model_comes_whole():
    @tool
    def rows() -> list[int]:
        return [*range(100_000)]

    code = "found = rows(); (type(found).__name__, len(found), found[-1])"
    assert session(rows).run_sync(code).value == ["list", 100_000, 99_999]


def test_a_result_that_is_longer_than_its_tool_may_return_is_an_error_and_never_cut():
    @tool(max_content=1_000)
    def rows() -> list[int]:
        return [*range(10_000)]

    run = session(rows).run_sync("rows()")
    assert (run.state, run.value) == ("failed", None)
    assert "the result of rows has 48,891 characters, which is too long: ask for less of it" in run.error


def test_a_call_that_a_hook_approves_does_not_run_while_the_program_is_looked_ahead():
    def small_sums(call):
        return RunNormally(approved=True) if call.arguments["amount"] == 2 else None

    one = CodeSession(Executor([pay], hooks=[small_sums]), sandbox=chosen[0])
    run = one.run_sync("pay(1)\npay(2)\npay(3)")
    assert ([call.arguments["amount"] for call in run.plan], seen) == ([1, 3], [])
    assert (one.resume_sync(run, "approve_plan").state, seen) == ("done", [1, 2, 3])


def test_a_journal_is_a_journal():
    with pytest.raises(
        TypeError, match=r"journal must be a Journal, such as Journal\('programs.db'\), not string"
    ):
        session(journal="programs.db")


def test_as_a_tool_for_any_loop():
    one = session()
    run_code = one.tool()
    assert "def add(a: int, b: int=1)->int" in run_code.description
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
    with pytest.raises(ValueError, match="max_calls must be a number above 0"):
        session(max_calls=0)
    with pytest.raises(ValueError, match="without a store"):
        CodeSession(Executor(add, store=SqliteStore(tmp_path / "s.db")), sandbox=chosen[0])
    with pytest.raises(TypeError, match="a program must be a string"):
        session().run_sync(3)


def test_any_sandbox_of_the_protocol_will_do():
    class OneCall:
        def start(self, code, names, limits, /, *, seed, now):
            assert "add" in names
            return self

        def step(self, answer, /):
            return Request("add", (20,), {"b": 3}) if answer is None else Ended(answer.value, None)

        def printed(self):
            return ""

        def close(self):
            pass

    assert CodeSession(add, sandbox=OneCall()).run_sync("whatever").value == 23


# --- a crash is no approval, and what ran is told -------------------------------------------------

DESK = """
import os, sys
from pathlib import Path
from operator_schema import Defer, Executor, hook, tool
from operator_schema.code_mode import CodeSession, Journal, Monty, ProcessSandbox

dies_in = sys.argv[1] if len(sys.argv) > 1 else ""

@tool(confirm=True)
def refund(amount: int) -> str:
    "Pay money back."
    return paid("refund", amount)

@tool
def voucher(amount: int) -> str:
    "Send a voucher."
    return paid("voucher", amount)

def paid(name, amount):
    with Path("paid").open("a") as file:
        file.write(f"{name} {amount}\\n")
    if dies_in == "the tool":
        os._exit(3)
    return "done"

@hook(voucher, refund)
def large(call):
    if dies_in == "the hook":
        os._exit(3)
    return Defer("the manager has to agree") if Path("strict").exists() and call.name == "voucher" else None

def opened():
    executor = Executor([refund, voucher], hooks=large)
    return CodeSession(executor, sandbox=ProcessSandbox(), journal=Journal("j.db"))

if __name__ == "__main__":
    run = opened().run_sync(sys.argv[2])
    if run.waiting:
        opened().resume_sync(run, "approve")
"""


@pytest.mark.slow("starts processes that die")
@pytest.mark.parametrize(
    ("dies_in", "call"),
    [("the hook", "refund"), ("the hook", "voucher"), ("the tool", "refund"), ("the tool", "voucher")],
)
def test_a_crash_of_a_program_is_no_approval(tmp_path, monkeypatch, dies_in, call):
    (tmp_path / "desk_of_programs.py").write_text(DESK)
    command = [sys.executable, "desk_of_programs.py", dies_in, f"{call}(amount=900)"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run(command, cwd=tmp_path, env=environment, check=False).returncode == 3
    (tmp_path / "strict").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "desk_of_programs", raising=False)
    monkeypatch.setattr(sys, "argv", ["desk"])
    import desk_of_programs as desk

    one, paid = desk.opened(), tmp_path / "paid"
    (stuck,) = one.journal.stuck()
    one.journal.take_back(stuck)
    run = one.load(stuck)
    if dies_in == "the hook":
        assert (run.plan, paid.exists()) == ((), False)
        run = one.resume_sync(run)
        first = []
    else:
        assert run.waiting.is_interrupted
        assert paid.read_text() == f"{call} 900\n"
        run = one.resume_sync(run, "approve")
        first = [f"{call} 900"]
        if call == "refund":  # somebody had approved it before the crash
            assert (run.state, paid.read_text().splitlines()) == ("done", [*first, *first])
            return
    reason = {"refund": "the tool needs a person's approval (confirm=True)"}.get(
        call, "the manager has to agree"
    )
    assert (run.waiting.reason, run.waiting.is_interrupted) == (reason, False)
    assert one.resume_sync(run, "approve").state == "done"
    assert paid.read_text().splitlines() == [*first, f"{call} 900"]


def test_the_model_reads_what_a_hook_changed_in_a_call_of_its_program():
    @tool
    def half(n: int) -> int | None:
        """Halve."""
        return n // 2 if n > 1 else None

    hooks = lambda call: RunNormally(call.tool.decode({"n": call.input.n - 1})) if call.input.n % 2 else None  # noqa: E731
    made = CodeSession(Executor(half, hooks=hooks), sandbox=chosen[0])
    run = made.run_sync("[half(n=5), half(n=1), half(n=4)]")
    assert run.value == [2, None, 2]
    assert run.text == (
        "half: The program changed n to 4 before it ran.\n"
        "half: The program changed n to 0 before it ran.\n"
        "[2, null, 2]"
    )
    many = made.run_sync("[half(n=2 * n + 1) for n in range(15)]")
    assert many.output.splitlines()[-1] == "(5 more calls changed)"
