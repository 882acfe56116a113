"""Programs as tools: one JSON request, one JSON answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import warm_processes
from patience import wait_until

from operator_schema import (
    CallError,
    Executor,
    NeedsInput,
    RawCall,
    Registry,
    ToolError,
    Toolset,
    skip,
    tool,
)
from operator_schema.adapters import process
from operator_schema.adapters.process import answer, atools_of, tools_of
from operator_schema.content import Image, Text

anyio = pytest.importorskip("anyio", reason="no wheel of it for WebAssembly, which starts no processes")

ROOT = Path(__file__).parents[2]
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)

PROGRAM = '''
import os
import sys
import time
from typing import Annotated, Literal

from operator_schema import CallError, NeedsInput, skip, tool
from operator_schema.content import Image
from operator_schema.adapters.process import main


@tool(read_only=True, timeout=20)
def add(a: int, b: int = 0) -> int:
    """Add two numbers.

    Args:
        a: The first.
    """
    print("this goes to standard error")
    os.write(1, b"and so does this")
    return a + b


@tool
def drop(
    table: str, sure: Annotated[bool | None, skip] = None, why: Annotated[str | None, skip] = None
) -> str:
    """Drop a table."""
    if sure is None:
        raise NeedsInput(f"Really drop {table}?", parameter="sure")
    if not sure:
        raise CallError("then not")
    if why is None:
        raise NeedsInput("Why?", parameter="why")
    return f"dropped {table}: {why}"


@tool
def draw() -> list[object]:
    """Draw."""
    return ["here", Image(bytes([137]) + b"PNG\\r\\n\\x1a\\n" + bytes(20), "image/png")]


@tool
def sleep(seconds: float) -> None:
    """Sleep."""
    if os.fork() == 0:
        time.sleep(seconds)
        os._exit(0)
    print(os.getpid(), file=sys.stderr, flush=True)
    time.sleep(seconds)


if __name__ == "__main__":
    sys.exit(main([add, drop, draw, sleep]))
'''

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("program") / "program.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="module")
def tools(program: Path) -> dict[str, Any]:
    command = warm_processes.script(program)
    return {tool.name: tool for tool in tools_of(command, env=ENVIRONMENT, repair=True)}


def stub(source: str) -> list[str]:
    """Return the command of a program that doesn't import anything."""
    return [sys.executable, "-S", "-c", source]


WITH_CONFIRM = """
from operator_schema import tool
from operator_schema.adapters.process import main


@tool(confirm=True)
def delete(name: str) -> str:
    return f"deleted {name}"


@tool
def show(name: str) -> str:
    return f"shown {name}"


main([delete, show])
"""


@pytest.fixture(scope="module")
def confirmed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("program") / "with_confirm.py"
    path.write_text(WITH_CONFIRM)
    return {tool.name: tool for tool in tools_of(warm_processes.script(path), env=ENVIRONMENT)}


@pytest.mark.slow("starts processes")
@pytest.mark.parametrize(
    ("confirm", "said"),
    [
        (lambda _: True, "deleted a"),
        ("run", "deleted a"),
        (lambda _: False, "a person declined it"),
        (None, "a person has to agree"),
    ],
    ids=["agreed", "run", "declined", "nobody"],
)
def test_a_tool_of_a_program_that_needs_a_person_runs_as_any_other(
    confirmed: dict[str, Any], confirm: Any, said: str
) -> None:
    executor = Executor(Registry(confirmed.values()), confirm=confirm)
    assert said in executor.run_sync(RawCall("1", "delete", {"name": "a"})).content
    assert executor.run_sync(RawCall("1", "show", {"name": "a"})).content == "shown a"


def test_an_approval_after_a_restart_reaches_the_program(confirmed: dict[str, Any]) -> None:
    toolset = Toolset(*confirmed.values())
    plan = toolset.offer().round([RawCall("1", "delete", {"name": "a"})]).confirmed().approve("1")
    plan = Executor(toolset).run_sync(toolset.restore_round(plan.as_dict()))
    assert plan.handled[0].result.content == "deleted a"


# --- the program's side ------------------------------------------------------------------------------


@tool
def add(a: int, b: int = 0) -> int:
    """Add two numbers. Any will do."""
    return a + b


@tool
def ask(name: str, db: Annotated[dict[str, str], skip], answer: Annotated[bool | None, skip] = None) -> str:
    """Ask."""
    if answer is None:
        raise NeedsInput("Really?")
    return f"{db[name]} {answer}"


def run(name: str, **more: Any) -> dict[str, Any]:
    return answer([add, ask], {"action": "run", "tool": name, **more}, context={"db": {"n": "x"}})


def test_the_schema_of_all_tools() -> None:
    described = answer([add, ask], '{"action": "schema"}')["tools"]
    assert [each["name"] for each in described] == ["add", "ask"]
    assert described[0]["summary"] == "Add two numbers."
    assert described[0]["description"] == "Any will do."
    assert described[0]["parameters"]["a"] == {"type": "integer", "required": True}
    assert described[0]["input_schema"] == add.input_schema()
    assert described[0]["output_schema"] == {"type": "integer"}
    assert described[1]["answers"]["answer"] == {"type": "boolean"}


def test_one_run() -> None:
    assert run("add", arguments={"a": 1, "b": 2}) == {"type": "success", "content": "3", "json": 3}
    assert run("add", arguments='{"a": 1}')["content"] == "1"
    wrong = run("add", arguments={"a": "x", "c": 1})
    assert (wrong["type"], wrong["code"]) == ("error", "invalid_params")
    assert "- a: expected integer" in wrong["message"]
    assert run("ad")["message"].startswith('tool "ad" not found; did you mean "add"?')


@pytest.mark.parametrize("approved", [None, False, "yes", 1])
def test_a_program_runs_nothing_that_nobody_agreed_to(approved: Any) -> None:
    @tool(confirm=True)
    def delete() -> str:
        return "deleted"

    request = {"action": "run", "tool": "delete", "arguments": {}}
    assert answer([delete], {**request, "approved": approved})["code"] == "needs_approval"
    assert answer([delete], request)["code"] == "needs_approval"
    assert answer([delete], {**request, "approved": True})["content"] == "deleted"
    asked = Executor([delete], confirm=lambda _: True)
    assert answer([delete], request, executor=asked)["content"] == "deleted"


def test_a_question_and_its_answer() -> None:
    asked = run("ask", arguments={"name": "n"})
    assert asked == {
        "type": "needs_input",
        "question": {"id": "answer", "text": "Really?", "answer_schema": {"type": "boolean"}},
    }
    assert run("ask", arguments={"name": "n"}, answers={"answer": True})["content"] == "x True"
    assert run("ask", arguments={"name": "n"}, answers={"answer": "x"})["code"] == "invalid_request"
    assert run("ask", arguments={"name": "n"}, answers={"other": 1})["code"] == "invalid_request"
    assert run("nobody", answers={"other": 1})["code"] == "tool_not_found"


def test_a_question_whose_answer_nobody_can_give_is_an_error() -> None:
    @tool
    def odd() -> None:
        raise NeedsInput("Really?")

    assert answer([odd], {"action": "run", "tool": "odd"})["code"] == "execution_failed"


@pytest.mark.parametrize(
    "request_",
    [
        "",
        "{",
        b"\xff",
        "[]",
        None,
        {},
        {"action": "rnu"},
        {"action": "run"},
        {"action": "run", "tool": "add", "answers": []},
    ],
)
def test_a_wrong_request_is_answered_too(request_: object) -> None:
    answered = answer([add], request_)
    assert (answered["type"], answered["code"]) == ("error", "invalid_request")


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ('{"action": "schema",}', "the request isn't JSON: "),
        ("{", "the request isn't JSON: "),
        ("[]", 'a request is an object whose "action" is one of'),
        ('{"action": "run"}', 'the "tool" of a request is the name of a tool'),
        ('{"action": "run", "tool": "add", "answers": []}', 'the "answers" of a request are an object'),
    ],
)
def test_a_wrong_request_is_told_what_is_wrong(request_: str, said: str) -> None:
    assert answer([add], request_)["message"].startswith(said)


def test_tools_that_are_off_are_not_described_and_not_run() -> None:
    registry = Registry([add, ask])
    registry.switch("add", enabled=False)
    assert [each["name"] for each in answer(registry, {"action": "schema"})["tools"]] == ["ask"]
    assert answer(registry, {"action": "run", "tool": "add", "arguments": {"a": 1}})["type"] == "error"


# --- both sides --------------------------------------------------------------------------------------

pytestmark = pytest.mark.needs_process


def test_the_tools_of_a_program(tools: dict[str, Any]) -> None:
    assert list(tools) == ["add", "drop", "draw", "sleep"]
    own = tools["add"]
    assert (own.summary, own.annotations.read_only, own.timeout) == ("Add two numbers.", True, 20)
    assert own.input_schema()["properties"]["a"] == {"type": "integer", "description": "The first."}
    assert own.output_schema() == {"type": "integer"}
    assert tools["drop"].injected == ("sure", "why")
    assert tools["drop"].injected_type("sure") == bool | None


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_calls_run_the_program(tools: dict[str, Any], backend: str) -> None:
    executor = Executor(Registry(tools.values()))
    results = anyio.run(
        executor.run,
        [RawCall("1", "add", '{"a": "1", "b": 2}'), RawCall("2", "add", {"A": []}), RawCall("3", "draw")],
        backend=backend,
    )
    assert (results[0].content, results[0].json) == ("3", 3)
    assert "- a: missing" in results[1].content
    assert results[2].parts == (Text("here"), Image(PNG, "image/png"))


def test_calls_without_an_event_loop(tools: dict[str, Any]) -> None:
    executor = Executor(Registry(tools.values()))
    assert executor.run_sync(RawCall("1", "add", {"a": 1})).json == 1


def test_questions_of_a_program_reach_a_person(tools: dict[str, Any]) -> None:
    toolset = Toolset(tools["drop"])
    executor = Executor(Registry(tools.values()))

    async def main() -> str:
        plan = toolset.offer().round([RawCall("1", "drop", {"table": "t"})]).confirmed()
        plan = await executor.run(plan)
        assert plan.deferred[0].question.text == "Really drop t?"
        assert plan.deferred[0].question.answer_schema == {"type": "boolean"}
        plan = await executor.run(plan.answer("1", True))
        assert plan.deferred[0].question.text == "Why?"
        plan = await executor.run(plan.answer("1", "old"))
        return plan.handled[0].result.content

    assert anyio.run(main) == "dropped t: old"


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


FORKS = """
import os, sys, time
sys.stdin.read()
child = os.fork()
if child == 0:
    time.sleep(60)
open(sys.argv[1], "w").write(f"{os.getpid()} {child}")
time.sleep(60)
"""


def pids(path: Path) -> list[int]:
    assert wait_until(lambda: path.exists() and len(path.read_text().split()) == 2)
    return list(map(int, path.read_text().split()))


def are_gone(numbers: list[int]) -> bool:
    return bool(wait_until(lambda: all(map(is_gone, numbers))))


def test_a_program_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    path = tmp_path / "pids"
    with pytest.raises(TimeoutError, match="longer than 2 s"):
        tools_of([*stub(FORKS), str(path)], timeout=2)
    assert are_gone(pids(path))


def test_a_limit_below_one_second_counts_as_it_is() -> None:
    slow = """import time; time.sleep(0.5); print('{"tools": []}')"""
    with pytest.raises(TimeoutError, match=r"longer than 0\.05 s"):
        tools_of(stub(slow), timeout=0.05)
    assert tools_of(stub(slow)) == []


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_call_that_is_cancelled_ends_the_program_and_its_children(tmp_path: Path, backend: str) -> None:
    path = tmp_path / "pids"

    async def main() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(atools_of, [*stub(FORKS), str(path)])
            await anyio.to_thread.run_sync(pids, path)  # both processes run
            group.cancel_scope.cancel()

    anyio.run(main, backend=backend)
    assert are_gone(pids(path))


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("print('hello')", "its answer isn't JSON: \"hello"),
        ("print([1])", r"its answer isn't an object: \[1\]"),
        ("pass", "it answered nothing"),
        (
            "import sys; sys.exit('no such file')",
            r"\(exit status 1\): it answered nothing; it wrote: no such file",
        ),
        ("import sys; sys.stderr.write('x' * 9000 + 'end')", r"it wrote: x{100}.*end|it wrote: x+"),
        ("print('1' * 10_000_010)", "longer than 10,000,000 bytes"),
        ("print('{}')", "doesn't describe its tools"),
        ("""print('{"tools": [{"name": "a"}]}')""", "doesn't describe its tools"),
    ],
)
def test_a_program_that_answers_something_else(source: str, fault: str) -> None:
    with pytest.raises(ToolError, match=fault):
        tools_of(stub(source))


def test_a_program_that_cant_be_started() -> None:
    with pytest.raises(ToolError, match="can't be started"):
        tools_of("/no/such/program")
    with pytest.raises(ValueError, match="a command has"):
        tools_of([])
    with pytest.raises(ValueError, match="timeout must be"):
        tools_of("true", timeout=-1)
    wrong: Any
    for wrong in (5, ["true", 5], b"true"):
        with pytest.raises(TypeError, match="a word of a command must be a string or a Path, not integer"):
            tools_of(wrong)
    wrong = 5
    with pytest.raises(TypeError, match="cwd must be a string or a Path, not integer 5"):
        tools_of("true", cwd=wrong)
    for wrong in ({"A": 1}, {1: "A"}):
        with pytest.raises(TypeError, match=r"names and values in env must be strings: look at .{1,5}$"):
            tools_of("true", env=wrong)
    wrong = 5
    with pytest.raises(TypeError, match="env must be a mapping, name to value, not integer 5"):
        tools_of("true", env=wrong)
    assert f"one run may take: {process.TIMEOUT:g} unless given" in " ".join((tools_of.__doc__ or "").split())


ODD = """
import json, sys
request = json.load(sys.stdin)
tools = [{"name": "odd", "input_schema": {"type": "object"}, "output_schema": {"type": []}}]
answers = {
    "none": [],
    "type": {"type": "done"},
    "question": {"type": "needs_input", "question": {"id": "other", "text": "Really?"}},
    "error": {"type": "error", "message": "the disk is full"},
    "part": {"type": "success", "content": "x", "parts": [
        *[{"type": "image", "data": data, "media_type": "image/png"}
          for data in ("%%%", "a*b=", "YQ=", "YQ==YQ==")],
        {"type": "file", "data": "YQ==", "media_type": "text/plain"}]},
    "plain": {"type": "success", "content": "x"},
}
given = request.get("arguments", {}).get("what")
print(json.dumps({"tools": tools} if given is None else answers[given]))
"""


def test_programs_in_other_words() -> None:
    executor = Executor(Registry(tools_of(stub(ODD), prefix="my_")))

    calls = [
        RawCall(what, "my_odd", {"what": what})
        for what in ("plain", "error", "part", "none", "type", "question")
    ]
    plain, error, part, *others = executor.run_sync(calls)
    assert plain.json == "x"
    assert error.content == "the disk is full"
    assert [type(each).__name__ for each in part.parts] == [*["Text"] * 4, "File"]
    faults = [str((each.details or {})["exception"]) for each in others]
    assert "isn't an object" in faults[0]
    assert "neither" in faults[1]
    assert "isn't among its answers" in faults[2]


def test_the_program_by_itself(program: Path) -> None:
    request = json.dumps({"action": "run", "tool": "add", "arguments": {"a": 1, "b": 2}})
    command = [sys.executable, str(program)]
    done = subprocess.run(command, input=request, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert json.loads(done.stdout) == {"type": "success", "content": "3", "json": 3}
    assert "this goes to standard error" in done.stderr
    assert "and so does this" in done.stderr


def test_errors_are_errors_of_the_call(tools: dict[str, Any]) -> None:
    result = Executor(Registry(tools.values())).run_sync(
        RawCall("1", "drop", {"table": "t"}), context={"sure": False}
    )
    assert result.content == "then not"
    assert isinstance(result.details["exception"], CallError)
