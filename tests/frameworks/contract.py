"""What every adapter promises, as tests: a test of an adapter has its `DRIVER`, and imports all of this.

A driver says how one framework runs a turn; the tests are the same for all of them. What one framework has
beside that, its own test shows.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest
import turns as shared
from changed_tools import change_of, keys_in
from restarts import CASES, restart_of
from turns import CALLS, CONTEXT, TOOLS, Answer, Call, add, check, count, turns, wait, wipe

from operator_schema import Complete, Defer, Executor, Registry, Reject, RunNormally, Toolset, hook, tool
from operator_schema.content import Audio, File, Image

HOW_THEY_ASK = {
    "agent_framework": "before",  # approval_mode, a request for the approval of a function
    "agno": "before",  # requires_confirmation
    "anthropic": None,
    "dspy": None,
    "fastmcp": "by the client",  # an elicitation
    "google_adk": "by a function",  # adk_request_confirmation
    "haystack_ai": None,
    "langchain_core": "by a function",  # an interrupt of the graph
    "llama_index_core": "by a function",  # an event that the workflow waits for
    "llm": None,
    "openai_agents": "before",  # needs_approval
    "pydantic_ai": "by a function",  # a deferred tool request
    "semantic_kernel": None,
    "smolagents": None,
    "strands_agents": "by a function",  # an interrupt of the agent
}
"""How each framework asks a person about a call of a tool with `confirm=True`.

`"before"`: it holds the call back. `"by a function"`, `"by the client"`: the call asks, and waits or comes
again. None: it has no way, and without one of the program's own such a call isn't run.
"""


SAYS_BEFORE = {"agent_framework", "agno"}
"""These take only a boolean for each tool, so hooks can't be asked before a person is."""


def nothing():
    """Happen between the question to a person and the answer."""


@dataclass(frozen=True)
class Driver:
    """How one framework runs a turn.

    Attributes:
        adapter: our module.
        turns: what happens in each turn, for the page.
        talk: runs the calls of one turn; takes tools of ours, the calls, whether it is asynchronous, and what
            `to_tools` takes. Returns what the model reads.
        modes: whether it is asynchronous: both, or the only one that there is.
        host: class of what a function given as `context` gets; None if there is nothing.
        names: returns the names of tools that the framework would offer, of a list that `to_tools` returned.
        live: class that follows a registry; None if there is none.
        live_names: returns the names that an object of `live` offers now.
        native: makes a result of the framework's own class, whose text is "all"; None if it has none with a
            text.
        ask: runs one call of `wipe` where a person answers by the framework's own means; takes the tools of
            ours, whether the person agrees, and what happens between question and answer. Returns what the
            model reads. None if it can't ask.
        pause: begins a run with one call, and saves it as the framework does while a person is asked; takes
            a tool of ours, the call and a folder. Returns what the person reads, empty if nobody is asked,
            and what the model reads then. None if the framework saves nothing that waits.
        resume: goes on with what is saved in a folder, whose person agrees; takes the same. Returns what the
            model reads, or what the person is asked again.
    """

    adapter: Any
    turns: dict[str, str]
    talk: Callable[..., list[Answer]]
    modes: tuple[bool, ...] = (True,)
    host: Any = None
    names: Callable[[list[Any]], list[str]] = lambda made: [one.name for one in made]
    live: Any = None
    live_names: Callable[[Any], Any] | None = None
    native: Callable[[], Any] | None = None
    ask: Callable[..., list[Answer]] | None = None
    pause: Callable[..., tuple[str, str]] | None = None
    resume: Callable[..., str] | None = None

    @property
    def name(self) -> str:
        return self.adapter.__name__.rpartition(".")[2]

    def one(self, made: Any, calls: list[Call], **options: Any) -> list[Answer]:
        return self.talk(made, calls, self.modes[0], **options)


def pytest_generate_tests(metafunc):
    """Give the tests the driver of their module, as far as it can what they need."""
    driver = getattr(metafunc.module, "DRIVER", None)
    if driver is None or "driver" not in metafunc.fixturenames:
        return
    needs = getattr(metafunc.function, "needs", None)
    lacks = needs is not None and getattr(driver, needs) is None
    marks = [pytest.mark.skip(f"{driver.name} has no {needs}")] if lacks else []
    metafunc.parametrize("driver", [pytest.param(driver, marks=marks)], ids=[driver.name])
    if "is_async" in metafunc.fixturenames:
        metafunc.parametrize(
            "is_async", driver.modes, ids=["async" if one else "plain" for one in driver.modes]
        )
    if "turn" in metafunc.fixturenames:
        metafunc.parametrize("turn", turns(driver.turns))


def needs(what):
    """Say what of a driver a test needs."""

    def mark(test):
        test.needs = what
        return test

    return mark


@pytest.fixture
def wiped():
    yield shared.wiped
    shared.wiped.clear()


def test_a_turn_goes_as_everywhere(driver, turn, is_async):
    check(turn, driver.talk(TOOLS, CALLS[turn], is_async, context=CONTEXT))


def test_a_function_makes_the_context(driver, is_async):
    hosts = []

    def make(host):
        hosts.append(host)
        return CONTEXT

    (answer,) = driver.talk([count], CALLS["context"], is_async, context=make)
    assert answer.text == "[7]"
    assert hosts
    for host in hosts:
        assert host is None if driver.host is None else isinstance(host, driver.host)


POINT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(20)
LONE = {
    "image": Image.from_bytes(b64decode(POINT)),
    "audio": Audio(WAV, "audio/wav"),
    "file": File(b"%PDF-1.4", "application/pdf", name="a.pdf"),
}


SAYS_OTHERWISE = {
    **dict.fromkeys([("fastmcp", kind) for kind in LONE], ""),  # its client gets the media itself
    ("smolagents", "image"): "Stored 'image.png' in memory.",
}


@pytest.mark.parametrize("kind", LONE)
def test_a_result_without_text_leaves_a_text_for_models_that_get_nothing_else(driver, is_async, kind):
    @tool
    def show() -> Any:
        """Show it."""
        return LONE[kind]

    (answer,) = driver.talk([show], [Call("show", {})], is_async)
    assert SAYS_OTHERWISE.get((driver.name, kind), LONE[kind].media_type) in answer.text
    assert not answer.is_error


def test_an_executor_of_your_own_runs_the_calls(driver, is_async):
    executor = Executor(TOOLS, timeout=0.05)
    (answer,) = driver.talk(TOOLS, [Call("wait", {"seconds": 5})], is_async, executor=executor)
    assert "no result within 0.05 s" in answer.text


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"context": 3},
            TypeError,
            "context must be a mapping, or a function that returns one, not integer 3",
        ),
        ({"executor": 3}, TypeError, "executor must be an Executor, not integer 3"),
        (
            {"confirm": "always"},
            ValueError,
            'confirm must be "run", a function of a call, or None, not "always"',
        ),
    ],
)
def test_options_of_another_kind_are_refused(driver, options, error, text):
    adapter = driver.adapter
    takers = [lambda: adapter.to_tool(add, **options), lambda: adapter.to_tools([add], **options)]
    if driver.live is not None:
        takers.append(lambda: driver.live([add], **options))
    for take in takers:
        with pytest.raises(error) as caught:
            take()
        assert str(caught.value) == text


def test_an_executor_of_other_tools_is_refused(driver):
    other = Executor([wait])
    with pytest.raises(ValueError, match=r"^the executor has no such tool add: give both the same"):
        driver.adapter.to_tool(add, executor=other)
    with pytest.raises(ValueError, match=r"^the executor has other tools: give the same registry to both"):
        driver.adapter.to_tools([add], executor=other)


def test_what_isnt_a_tool_is_refused(driver):
    for given, remedy in ((lambda a: a, ": decorate it with @tool"), ([add], ": use to_tools for several")):
        with pytest.raises(TypeError, match=rf"^to_tool takes a tool made by @tool .*{remedy}$"):
            driver.adapter.to_tool(given)


def test_tools_that_are_off_are_left_out(driver):
    registry = Registry([add, wait, wipe])
    registry.switch("wait", enabled=False)
    assert driver.names(driver.adapter.to_tools(registry)) == ["add", "wipe"]
    assert driver.names(driver.adapter.to_tools(Toolset(add, wait).hide(wait))) == ["add"]


@needs("live")
def test_a_registry_that_changes_is_followed(driver):
    registry = Registry([add, wait])
    made = driver.live(registry)

    def names():
        found = driver.live_names(made)
        return sorted(asyncio.run(found) if inspect.isawaitable(found) else found)

    assert made.registry is registry
    assert names() == ["add", "wait"]
    registry.switch("wait", enabled=False)
    assert names() == ["add"]
    registry.register(count)
    assert names() == ["add", "count"]


@pytest.mark.parametrize(("path", "said"), [("a", "wiped a"), ("b", "a person declined it")])
def test_a_function_of_the_program_is_asked(driver, is_async, path, said, wiped):
    ask = lambda call: call.input.path == "a"  # noqa: E731  # as a user writes it
    (answer,) = driver.talk([wipe], [Call("wipe", {"path": path})], is_async, confirm=ask)
    assert said in answer.text
    assert wiped == (["a"] if path == "a" else [])


def test_a_tool_runs_unasked_if_the_program_says_so(driver, is_async, wiped):
    (answer,) = driver.talk([wipe], CALLS["approval"], is_async, confirm="run")
    assert answer.text.endswith("wiped a")
    assert wiped == ["a"]


def test_how_it_asks_is_in_the_table(driver):
    adapter = driver.adapter
    asks = adapter._adapter
    said = HOW_THEY_ASK[driver.name]
    expected = {"before": "before", "by a function": "by a function", "by the client": None, None: None}[said]
    assert (asks.asks if isinstance(asks.asks, str | None) else "by a function") == expected
    assert (driver.ask is None) == (said is None)


@needs("ask")
@pytest.mark.parametrize("agrees", [True, False])
@pytest.mark.parametrize("given", [[wipe], Executor([wipe])], ids=["tools", "an executor"])
def test_a_person_is_asked_by_its_own_means(driver, given, agrees, wiped):
    answers = driver.ask(given, agrees)
    assert wiped == (["a"] if agrees else [])
    assert [answer.text for answer in answers if "wiped a" in answer.text] == (["wiped a"] if agrees else [])


@needs("ask")
@pytest.mark.parametrize("tested", [wipe, wipe.with_(confirm=False)], ids=["confirm=True", "without"])
@pytest.mark.parametrize("agrees", [True, False])
def test_a_person_is_asked_about_what_a_hook_defers(driver, tested, agrees, wiped):
    if driver.name in SAYS_BEFORE:
        pytest.skip("it has to say before the run which tools need a person")
    answers = driver.ask(Executor([tested], hooks=lambda call: Defer("it is a lot")), agrees)
    assert wiped == (["a"] if agrees else [])
    assert [answer.text for answer in answers if "wiped a" in answer.text] == (["wiped a"] if agrees else [])


SHOWS_WHAT_THE_MODEL_WROTE = {"agent_framework", "agno", "openai_agents"}
"""These show a person nothing but the call, with the arguments as they were before the hooks."""


@needs("ask")
def test_a_person_agrees_to_the_arguments_that_run(driver, wiped):
    hooks = [lambda call: RunNormally(call.tool.decode({"path": "b"}))]
    answers = driver.ask(Executor([wipe], hooks=hooks), True)
    shows_others = driver.name in SHOWS_WHAT_THE_MODEL_WROTE
    said = "a person agreed to those that you wrote" if shows_others else "wiped b"
    assert said in answers[-1].text
    assert wiped == ([] if shows_others else ["b"])


@dataclass
class Folder:
    path: str
    key: UUID = field(default_factory=uuid4)


@needs("ask")
def test_what_a_default_gives_anew_each_time_is_no_change_of_a_hook(driver, wiped):
    @tool(name="wipe", confirm=True)
    def wipe_once(folder: Folder) -> str:
        """Wipe a folder."""
        wiped.append(folder.path)
        return "gone"

    driver.ask(Executor([wipe_once], hooks=lambda call: RunNormally(call.input)), True)
    assert wiped == ["a"]


@needs("ask")
@pytest.mark.parametrize("what", ["off", "gone", "another"])
def test_an_answer_doesnt_agree_to_a_tool_that_changed_meanwhile(driver, what, wiped):
    registry = Registry([wipe, add])

    @tool(name="wipe", confirm=True)
    def another(path: str) -> str:
        """Wipe more."""
        wiped.append(f"more than {path}")
        return "wiped more"

    asked = []

    def change():
        asked.append(what)
        if what == "off":
            registry.switch("wipe", enabled=False)
        elif len(asked) == 1:
            registry.unregister("wipe")
            if what == "another":
                registry.register(another)

    try:
        answers = driver.ask(registry, True, change)
    except Exception as error:
        if "Tool wipe not found" not in str(error):  # so openai-agents ends the run
            raise
        answers = []
    is_asked_again = len(asked) == 2  # about the other tool
    assert not is_asked_again or what == "another"
    assert wiped == (["more than a"] if is_asked_again else [])
    assert any("wiped" in answer.text for answer in answers) == is_asked_again


KEEPS_NOTHING = {"agent_framework", "agno"}
"""These keep nothing with a question, so a person may agree to a tool that does more by then."""

READS_THE_CALL = {*KEEPS_NOTHING, "google_adk", "openai_agents", "pydantic_ai"}
"""These show a person the call as the model wrote it."""

ASKS_AGAIN = {"llama_index_core", "strands_agents"}


@pytest.fixture(scope="module")
def restarted(request, tmp_path_factory):
    return restart_of(request.module, tmp_path_factory.mktemp("restarted"))


@needs("pause")
@pytest.mark.slow("another process imports the framework")
@pytest.mark.parametrize("case", CASES)
def test_what_a_person_approved_is_what_runs_after_a_restart(driver, case, restarted):
    change, (read, told, ran) = change_of(case), restarted[case]
    if change.kind == "ignored":
        assert ran == ([] if driver.name in READS_THE_CALL else [change.approved])
        assert "the tool doesn't know" in told + read
    elif driver.name in KEEPS_NOTHING:
        for one in ran:
            assert set(keys_in(change.arguments)) <= set(keys_in(one))
    else:
        assert ran in ([], [change.approved])
    assert ran or change.kind not in {"same", "default made anew"}
    assert ran or "ake the call again" in told or ("Run delete?" in told and driver.name in ASKS_AGAIN)


def test_a_function_that_fails_agrees_to_nothing(driver, is_async, wiped):
    def ask(call):
        raise KeyError("a secret")

    (answer,) = driver.talk([wipe], CALLS["approval"], is_async, confirm=ask)
    assert "wipe was not run" in answer.text
    assert "a secret" not in answer.text
    assert wiped == []


def refuse(call):
    return Reject("not this folder")


def complete(call):
    return Complete("done by hand")


def edit(call):
    return RunNormally(call.tool.decode({"path": "b"}), approved=True)


@hook.after("wipe")
def shout(call):
    return call.result.replace(content=call.content.upper())


@pytest.mark.parametrize(
    ("hooks", "said", "paths"),
    [
        (refuse, "This call was rejected: not this folder", []),
        (complete, "done by hand", []),
        (edit, "wiped b", ["b"]),
        (shout, "WIPED A", ["a"]),
        (lambda call: call.nothing, "wipe was not run: the program failed to check it", []),
    ],
    ids=["reject", "complete", "edit", "after", "broken"],
)
@pytest.mark.parametrize("tested", [wipe, wipe.with_(confirm=False)], ids=["confirm=True", "without"])
def test_hooks_of_an_executor_hold(driver, is_async, tested, hooks, said, paths, wiped):
    options = {"confirm": "run"} if tested is wipe and (hooks is shout or driver.name in SAYS_BEFORE) else {}
    executor = Executor([tested], hooks=hooks)
    (answer,) = driver.talk(executor, CALLS["approval"], is_async, context=None, **options)
    assert said in answer.text
    assert wiped == paths


@pytest.mark.parametrize("kind", ["a text", "an object", "a list", "nothing", "a failure", "its own"])
def test_the_model_reads_what_was_changed(driver, is_async, kind):
    if kind == "its own" and driver.native is None:
        pytest.skip(f"{driver.name} has no result of its own with a text")
    made: dict[str, Any] = {
        "a text": "done",
        "an object": {"is": "done"},
        "a list": ["done"],
        "nothing": None,
    }

    @tool
    def say(word: str) -> Any:
        """Say."""
        if kind == "a failure":
            raise ValueError(word)
        return driver.native() if kind == "its own" else made[kind]

    executor = Executor([say], hooks=lambda call: RunNormally(call.tool.decode({"word": "new"})))
    (answer,) = driver.talk(executor, [Call("say", {"word": "old"})], is_async)
    told = f"The program changed word {'in this call' if kind == 'a failure' else 'before it ran'}."
    assert told in answer.text.replace('\\"', '"')
    rest = {"nothing": "", "a failure": "say failed: ValueError", "its own": "all"}.get(kind, "done")
    assert rest in answer.text


def test_what_a_hook_defers_is_not_run_if_nobody_is_asked(driver, is_async, wiped):
    executor = Executor([wipe.with_(confirm=False)], hooks=lambda call: Defer())
    (answer,) = driver.talk(executor, CALLS["approval"], is_async, confirm="run")
    assert "wipe was not run: a person has to agree to it first" in answer.text
    assert wiped == []


@needs("native")
def test_its_own_results_arrive_untouched(driver):
    @tool
    def give() -> Any:
        """Give."""
        return driver.native()

    (answer,) = driver.one([give], [Call("give", {})])
    assert answer.text == "all"
    assert answer.is_error in {None, False}


def test_a_tool_can_be_copied(driver):
    made = copy.deepcopy(driver.adapter.to_tool(add))
    assert driver.names([made]) == ["add"]


__all__ = [  # noqa: PLE0604  # names of all tests
    "pytest_generate_tests",
    "restarted",
    "wiped",
    *[name for name in dict(globals()) if name.startswith("test_")],
]
