"""mcp: a server over a registry of ours, asked by the SDK's own client."""

from __future__ import annotations

import asyncio
import base64
import doctest
import logging
import re
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any
from uuid import uuid4

import anyio
import mcp_types as types
import pytest
from hearing import hearing_client
from mcp import Client, MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.types import (
    ElicitResult,
    ErrorData,
    InitializedNotification,
    ListRootsRequest,
    ListRootsResult,
)
from patience import LONGEST_WAIT

from operator_schema import CallError, Executor, NeedsInput, Registry, Toolset, skip, tool
from operator_schema.adapters.mcp import asking, handlers, server
from operator_schema.adapters.mcp.changes import ChangeBus
from operator_schema.adapters.mcp.tool_server import server_of as server_from
from operator_schema.content import Audio, File, Image, Resource
from operator_schema.rounds import ToolSearch
from operator_schema.tools import document_tool
from operator_schema.types import Progress

LEGACY, MODERN = "legacy", "2026-07-28"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(20)

both_protocols = pytest.mark.parametrize("mode", [LEGACY, MODERN])


def server_of(registry, *, structured="all", **options):
    limits = {name: options.pop(name) for name in ("strict_results", "timeout") if name in options}
    executor = Executor(registry, pass_through=(MCPError,), **limits) if limits else None
    return server(registry, executor=executor, structured=structured, **options)


def ask(question, *tools, mode=LEGACY, backend="asyncio", **options):
    """Return what a client's question gets from a server of these tools."""

    async def main():
        async with Client(server_of(Registry(tools), **options), mode=mode) as client:
            return await question(client)

    return anyio.run(main, backend=backend)


def call(made, arguments=None, **options):
    return ask(lambda client: client.call_tool(made.name, arguments or {}), made, **options)


@dataclass
class Node:
    name: str
    children: list[Node]


RESULTS = [  # type, what is returned, and as data
    (int, 5, 5),
    (list[int], [1, 2], [1, 2]),
    (int | None, None, {"result": None}),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (Node, Node("a", [Node("b", [])]), {"name": "a", "children": [{"name": "b", "children": []}]}),
    (list[Node], [Node("a", [])], [{"name": "a", "children": []}]),
    (Node | None, None, {"result": None}),
]


@both_protocols
@pytest.mark.parametrize(("output", "value", "expected"), RESULTS)
def test_structured_output_is_what_the_client_accepts(output, value, expected, mode):
    @tool
    def give() -> output:
        """Give it."""
        return value

    async def question(client):
        listed = await client.list_tools()  # from then on the client checks what comes against the schema
        return listed.tools[0], await client.call_tool("give", {})

    offered, result = ask(question, give, mode=mode)
    if mode == LEGACY and not isinstance(expected, dict):
        expected = {"result": expected}  # these clients take objects alone
    assert isinstance(expected, dict) == (offered.output_schema["type"] == "object")
    assert result.structured_content == expected
    assert not result.is_error


@both_protocols
def test_text_and_undeclared_results_have_no_output_schema(mode):
    @tool
    def say() -> str:
        """Say it."""
        return "hello"

    @tool
    def give():
        """Give it."""
        return {"a": 1}

    async def question(client):
        listed = await client.list_tools()
        return listed.tools, [await client.call_tool(name, {}) for name in ("say", "give")]

    offered, (said, given) = ask(question, say, give, mode=mode)
    assert [one.output_schema for one in offered] == [None, None]
    assert (said.content[0].text, said.structured_content) == ("hello", None)
    assert (given.content[0].text, given.structured_content) == ('{"a":1}', None)


def test_what_a_tool_says_about_itself_reaches_the_client():
    @tool(title="Delete a row", read_only=False, destructive=True, idempotent=True, meta={"acme/team": "db"})
    def delete(name: str) -> str:
        """Delete.

        Args:
            name: What to delete.
        """
        return name

    @tool(read_only=True, open_world=False)
    def look() -> str:
        """Look."""
        return ""

    first, second = ask(lambda client: client.list_tools(), delete, look).tools
    assert first.title == "Delete a row"
    assert first.meta == {"acme/team": "db"}
    assert first.annotations.model_dump(exclude_none=True) == {
        "read_only_hint": False,
        "destructive_hint": True,
        "idempotent_hint": True,
    }
    assert second.title is None
    assert second.annotations.model_dump(exclude_none=True) == {
        "read_only_hint": True,
        "open_world_hint": False,
    }


@both_protocols
def test_images_and_recordings_arrive_as_content(mode):
    @tool
    def look() -> Any:
        """Look."""
        return ["Here:", Image.from_bytes(PNG), Audio.from_bytes(WAV)]

    text, image, audio = call(look, mode=mode).content
    assert text.text == "Here:"
    assert (image.mime_type, base64.b64decode(image.data)) == ("image/png", PNG)
    assert (audio.mime_type, base64.b64decode(audio.data)) == ("audio/wav", WAV)


@both_protocols
def test_files_and_resources_arrive_as_content(mode):
    @tool
    def find() -> Any:
        """Find."""
        return [
            File.from_bytes(b"a,b", "text/csv", "table.csv"),
            Resource("note://1", text="Buy milk."),
            Resource("https://example.com/a"),
        ]

    file, note, link = call(find, mode=mode).content
    assert (file.resource.uri, file.resource.mime_type) == ("file:///table.csv", "text/csv")
    assert base64.b64decode(file.resource.blob) == b"a,b"
    assert (note.resource.uri, note.resource.text) == ("note://1", "Buy milk.")
    assert (link.type, link.uri) == ("resource_link", "https://example.com/a")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
class TestBackends:
    """The server of a host that runs trio calls our tools as that of one that runs asyncio."""

    @both_protocols
    def test_async_and_plain_functions(self, backend, mode):
        @tool
        async def wait(seconds: float) -> float:
            """Wait.

            Args:
                seconds: How long.
            """
            await anyio.sleep(seconds)
            return seconds

        @tool
        def add(a: int, b: int = 0) -> int:
            """Add.

            Args:
                a: One.
                b: Another.
            """
            return a + b

        async def question(client):
            return [
                await client.call_tool("wait", {"seconds": 0.01}),
                await client.call_tool("add", {"a": 2}),
            ]

        waited, added = ask(question, wait, add, backend=backend, mode=mode)
        assert (waited.content[0].text, waited.is_error) == ("0.01", False)
        assert (added.content[0].text, added.is_error) == ("2", False)

    def test_calls_run_side_by_side(self, backend):
        arrived, everybody = [], None

        @tool
        async def meet() -> int:
            """Wait for the others."""
            arrived.append(1)
            if len(arrived) == 3:
                everybody.set()
            with anyio.fail_after(LONGEST_WAIT):
                await everybody.wait()
            return len(arrived)

        async def question(client):
            nonlocal everybody
            everybody = anyio.Event()
            results = []

            async def one():
                results.append(await client.call_tool("meet", {}))

            async with anyio.create_task_group() as group:
                for _ in range(3):
                    group.start_soon(one)
            return results

        assert [one.content[0].text for one in ask(question, meet, backend=backend)] == ["3", "3", "3"]

    @both_protocols
    @pytest.mark.parametrize("is_async", [False, True])
    def test_progress_reaches_the_client(self, backend, mode, is_async):
        def count(to: int, progress: Annotated[Progress, skip]) -> int:
            """Count.

            Args:
                to: How far.
            """
            for number in range(1, to + 1):
                progress(number, to, f"number {number}")
            return to

        async def count_async(to: int, progress: Annotated[Progress, skip]) -> int:
            """Count.

            Args:
                to: How far.
            """
            return count(to, progress)

        told = []

        async def tell(done, total, message):
            told.append((done, total, message))

        made = tool(count_async if is_async else count, name="count")

        async def question(client):
            return await client.call_tool("count", {"to": 2}, progress_callback=tell)

        result = ask(question, made, backend=backend, mode=mode)
        assert result.content[0].text == "2"
        assert told == [(1, 2, "number 1"), (2, 2, "number 2")]

    def test_a_time_limit_ends_the_call(self, backend):
        ended = []

        @tool(timeout=0.1)
        async def hang() -> None:
            """Hang."""
            try:
                await anyio.sleep(60)
            finally:
                ended.append(True)

        result = call(hang, backend=backend)
        assert result.is_error
        assert "hang" in result.content[0].text
        assert ended == [True]

    def test_a_client_that_gives_up_cancels_the_tool(self, backend):
        started = ended = None

        @tool
        async def hang() -> None:
            """Hang."""
            started.set()
            try:
                await anyio.sleep(60)
            finally:
                ended.set()

        async def question(client):
            nonlocal started, ended
            started, ended = anyio.Event(), anyio.Event()
            with anyio.fail_after(LONGEST_WAIT):
                async with anyio.create_task_group() as group:
                    group.start_soon(client.call_tool, "hang", {})
                    await started.wait()
                    group.cancel_scope.cancel()
                await ended.wait()

        ask(question, hang, backend=backend)
        assert ended.is_set()

    def test_errors_are_told_in_our_words(self, backend):
        @tool
        def add(a: int) -> int:
            """Add.

            Args:
                a: One.
            """
            raise CallError("Not today.")

        async def question(client):
            asked = [("add", {"a": "x"}), ("add", {"a": 1}), ("ad", {})]
            return [await client.call_tool(name, arguments) for name, arguments in asked]

        wrong, failed, unknown = ask(question, add, backend=backend)
        assert wrong.content[0].text.startswith("add: 1 problem with the arguments")
        assert failed.content[0].text == "Not today."
        assert unknown.content[0].text == 'tool "ad" not found; did you mean "add"?'
        assert (wrong.is_error, failed.is_error, unknown.is_error) == (True, True, True)


@both_protocols
def test_the_request_context_is_found(mode):
    @tool
    async def work(ctx: Annotated[ServerRequestContext[Any], skip]) -> str:
        """Work."""
        return ctx.method

    assert call(work, mode=mode).content[0].text == "tools/call"


def test_an_error_of_the_protocol_passes_through():
    @tool
    async def refuse() -> str:
        """Refuse."""
        raise MCPError(-32042, "log in first", {"url": "https://example.com"})

    async def question(client):
        with pytest.raises(MCPError, match="log in first") as caught:
            await client.call_tool("refuse", {})
        return caught.value.error

    assert ask(question, refuse).code == -32042


@pytest.mark.parametrize("value", [object(), "text", None])
def test_a_result_that_does_not_fit_its_schema_is_an_error_of_the_tool_alone(value):
    @tool
    def give() -> dict[str, int]:
        """Give it."""
        return value

    async def question(client):
        await client.list_tools()
        return await client.call_tool("give", {})

    result = ask(question, give, strict_results=True)
    assert result.is_error
    assert result.structured_content is None


async def around_change(tools, mode, change):
    """Return names of tools before and after a change that a client hears of, and what that returned."""
    async with hearing_client(server(tools), mode) as (client, told):
        before = await client.list_tools()
        changed = await change(client)
        with anyio.fail_after(LONGEST_WAIT):
            await told.wait()
        after = await client.list_tools()
    return [[one.name for one in listed.tools] for listed in (before, after)], changed


@both_protocols
def test_a_client_is_told_when_the_tools_change(mode):
    registry = Registry()

    @tool
    def late() -> int:
        """Come late."""
        return 1

    @registry.register
    @tool
    async def load() -> None:
        """Load more tools."""
        registry.register(late)

    async def main():
        listed, _ = await around_change(registry, mode, lambda client: client.call_tool("load", {}))
        return listed

    assert anyio.run(main) == [["load"], ["load", "late"]]


@both_protocols
@pytest.mark.parametrize(("structured", "expected"), [("objects", [None, {"a": 1}]), ("none", [None, None])])
def test_which_results_are_data_is_an_option(structured, expected, mode):
    @tool
    def number() -> int:
        """Give a number."""
        return 5

    @tool
    def map_() -> dict[str, int]:
        """Give an object."""
        return {"a": 1}

    async def question(client):
        offered = (await client.list_tools()).tools
        assert [one.output_schema is not None for one in offered] == [one is not None for one in expected]
        return [(await client.call_tool(one.name, {})).structured_content for one in offered]

    assert ask(question, number, map_, structured=structured, mode=mode) == expected


@both_protocols
def test_pages_show_each_tool_once(mode):
    made = [tool(lambda: 1, name=f"t{number}", description="Do it.") for number in range(5)]

    async def question(client):
        pages, cursor = [], None
        while True:
            listed = await client.list_tools(cursor=cursor)
            pages.append([one.name for one in listed.tools])
            cursor = listed.next_cursor
            if cursor is None:
                with pytest.raises(MCPError, match="cursor") as caught:
                    await client.list_tools(cursor="gone")
                return pages, caught.value.error.code

    pages, code = ask(question, *made, page_size=2, mode=mode)
    assert pages == [["t0", "t1"], ["t2", "t3"], ["t4"]]
    assert code == -32602


@dataclass
class Order:
    key: str = field(default_factory=lambda: uuid4().hex)


class TestConfirmation:
    """A tool that wants a person's agreement runs when the client's user agrees to exactly this call."""

    def ask_about(self, answer, arguments, mode, **options):
        ran, questions = [], []

        @tool(confirm=True, title="Delete a file")
        def delete(path: str) -> str:
            """Delete."""
            ran.append(path)
            return "gone"

        async def elicit(_context, params):
            questions.append(params.message)
            return ElicitResult(action=answer)

        async def main():
            made = server_of(Registry([delete]), **options)
            callback = {} if answer is None else {"elicitation_callback": elicit}
            async with Client(made, mode=mode, **callback) as client:
                return await client.call_tool("delete", arguments)

        return anyio.run(main), ran, questions

    @both_protocols
    def test_it_runs_once_a_person_agrees(self, mode):
        result, ran, questions = self.ask_about("accept", {"path": "a\nb\u202e"}, mode)
        assert (result.content[0].text, result.is_error, ran) == ("gone", False, ["a\nb\u202e"])
        assert questions == ['Run Delete a file (delete)?\npath: "a\\nb\\u202e"']

    @both_protocols
    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            ("decline", "This call was rejected: a person declined it"),
            ("cancel", "This call was rejected: nobody agreed to it"),
            (None, "delete was not run: a person has to agree to it first, and nobody has"),
        ],
    )
    def test_it_does_not_run_otherwise(self, answer, reason, mode):
        result, ran, _ = self.ask_about(answer, {"path": "a"}, mode)
        assert (result.is_error, ran) == (True, [])
        assert result.content[0].text.startswith(reason)

    @both_protocols
    def test_it_runs_unasked_only_if_the_program_says_so(self, mode):
        result, ran, questions = self.ask_about(None, {"path": "a"}, mode, confirm=False)
        assert (result.content[0].text, ran, questions) == ("gone", ["a"], [])

    @both_protocols
    def test_an_executor_may_ask_in_the_place_of_a_client_that_cannot(self, mode):
        ran, asked = [], []

        @tool(confirm=True)
        def delete(path: str) -> str:
            """Delete."""
            ran.append(path)
            return "gone"

        async def agree(call):
            asked.append(call.arguments)
            return True

        async def main():
            registry = Registry([delete])
            made = server(registry, executor=Executor(registry, confirm=agree))
            async with Client(made, mode=mode) as client:
                return await client.call_tool("delete", {"path": "a"})

        assert anyio.run(main).content[0].text == "gone"
        assert (asked, ran) == ([{"path": "a"}], ["a"])

    @both_protocols
    def test_nobody_is_asked_about_a_call_that_fails_anyway(self, mode):
        result, ran, questions = self.ask_about("accept", {"path": 5}, mode)
        assert result.content[0].text.startswith("delete: 1 problem with the arguments")
        assert (ran, questions) == ([], [])

    @both_protocols
    def test_a_person_is_shown_what_runs(self, mode):
        """With defaults and repairs, without what the tool ignores, and in the order of the tool."""
        ran, questions = [], []

        @tool(confirm=True, repair=True)
        def send(to: str, body: str, times: int = 1, *, force: bool = True) -> str:
            """Send."""
            ran.append((to, body, times, force))
            return "sent"

        async def elicit(_context, params):
            questions.append(params.message)
            return ElicitResult(action="accept")

        async def main():
            sent = {"body": "b" * 3000, "dry_run": True, "times": "2", "to": "me"}
            async with Client(server_of([send]), mode=mode, elicitation_callback=elicit) as client:
                return await client.call_tool("send", sent)

        assert anyio.run(main).content[0].text == "sent"
        assert ran == [("me", "b" * 3000, 2, True)]
        (question,) = questions
        head, to, body, *others = question.split("\n")
        assert (head, to) == ("Run send?", 'to: "me"')
        assert body.startswith('body: "bbb')
        assert "more characters are not shown" in body
        assert others == ["times: 2", "force: true", "(the tool doesn't know, and ignores: dry_run)"]

    def test_what_was_agreed_to_is_what_runs(self):
        """Also a value that is made for each call."""
        ran, questions = [], []

        @tool(confirm=True)
        def order(what: Order) -> str:
            """Order."""
            ran.append(what.key)
            return "done"

        async def elicit(_context, params):
            questions.append(params.message)
            return ElicitResult(action="accept")

        async def main():
            async with Client(server_of([order]), mode="legacy", elicitation_callback=elicit) as client:
                return await client.call_tool("order", {})

        assert anyio.run(main).content[0].text == "done"
        assert ran[0] in questions[0]

    def test_a_tool_that_has_changed_since_the_question_is_asked_about_again(self):
        ran = []

        def made(is_forced):
            @tool(confirm=True)
            def delete(path: str, force: bool = is_forced) -> str:
                """Delete."""
                ran.append(force)
                return "gone"

            return delete

        async def never(_context, _params):
            raise AssertionError

        async def main():
            registry = Registry([made(is_forced=False)])
            async with Client(server_of(registry), mode=MODERN, elicitation_callback=never) as client:

                async def call(**more):
                    given = {"path": "a"}
                    return await client.session.call_tool("delete", given, allow_input_required=True, **more)

                first = await call()
                registry.unregister("delete")
                registry.register(made(is_forced=True))
                agreed = {"confirm": ElicitResult(action="accept")}
                second = await call(input_responses=agreed, request_state=first.request_state)
                asked = second.input_requests["confirm"].params.message
                third = await call(input_responses=agreed, request_state=second.request_state)
                return second.result_type, asked, third.result_type

        assert anyio.run(main) == ("input_required", 'Run delete?\npath: "a"\nforce: true', "complete")
        assert ran == [True]

    @both_protocols
    def test_a_person_sees_that_something_is_not_shown(self, mode):
        _, _, (question,) = self.ask_about("accept", {"path": "a" * 10_000}, mode)
        assert len(question) < 2200
        assert "more characters are not shown" in question

    def test_an_answer_counts_once_and_for_the_call_that_it_was_given_for(self):
        ran = []

        @tool(confirm=True)
        def delete(path: str) -> str:
            """Delete."""
            ran.append(path)
            return "gone"

        async def main():
            async with Client(
                server_of(Registry([delete])), mode=MODERN, elicitation_callback=never
            ) as client:
                call = client.session.call_tool
                first = await call("delete", {"path": "a"}, allow_input_required=True)
                agreed = {"confirm": ElicitResult(action="accept")}
                answers = [
                    await call(
                        "delete",
                        {"path": path},
                        input_responses=agreed,
                        request_state=state,
                        allow_input_required=True,
                    )
                    for path, state in [
                        ("b", first.request_state),
                        ("a", "0" * 64),
                        ("a", first.request_state),
                        ("a", first.request_state),
                    ]
                ]
                return [first.result_type, *[one.result_type for one in answers]]

        async def never(_context, params):
            raise AssertionError

        asked = "input_required"
        # The last one sends the same agreement once more: it counts once.
        assert anyio.run(main) == [asked, asked, asked, "complete", asked]
        assert ran == ["a"]

    def test_of_too_many_open_questions_the_oldest_is_asked_again(self, monkeypatch):
        monkeypatch.setattr(asking, "_MOST_OPEN", 2)

        @tool(confirm=True)
        def delete(path: str) -> str:
            """Delete."""
            return "gone"

        async def never(_context, _params):
            raise AssertionError

        async def main():
            made = server_of(Registry([delete]))
            async with Client(made, mode=MODERN, elicitation_callback=never) as client:

                async def call(path, **more):
                    given = {"path": path}
                    return await client.session.call_tool("delete", given, allow_input_required=True, **more)

                states = {path: (await call(path)).request_state for path in "abc"}
                agreed = {"confirm": ElicitResult(action="accept")}
                answers = [
                    await call(path, input_responses=agreed, request_state=states[path]) for path in "cba"
                ]
                return [one.result_type for one in answers]

        assert anyio.run(main) == ["complete", "complete", "input_required"]


@both_protocols
def test_a_question_that_nobody_can_answer_tells_the_model_that_it_is_in_vain(mode):
    @tool
    def cancel(booking: str, answer: Annotated[bool | None, skip] = None) -> str:
        """Cancel."""
        raise NeedsInput("Refund?")

    async def question(client):
        return await client.call_tool("cancel", {"booking": "a"})

    result = ask(question, cancel, mode=mode)
    assert result.is_error
    assert [part.text for part in result.content] == [
        "cancel needs an answer first: Refund?",
        "Nobody can answer it here. Calling it again will not help; tell the user what you wanted to do",
    ]


def test_confirm_is_yes_or_no():
    for wrong in (None, "run", 1):
        with pytest.raises(TypeError, match="confirm must be True or False, not"):
            handlers([], confirm=wrong)


class TestLog:
    """What a tool logs reaches the client that called it, if it wants that."""

    def logged(self, mode, backend="asyncio", level=None, text="hello"):
        log, told = logging.getLogger("acme.shop"), []
        log.setLevel("DEBUG")

        @tool
        def work() -> None:
            """Work."""
            log.debug("too small")
            log.warning("%s", text)
            logging.getLogger("acmeshop").error("another logger")
            try:
                1 / 0  # noqa: B018  # the exception is what is logged
            except ZeroDivisionError:
                log.exception("in a thread")

        async def take(params):
            told.append((params.level, params.logger, params.data))

        async def main():
            made = server_of(Registry([work]), logger="acme")
            options = {"log_level": level} if mode == MODERN else {}
            async with Client(made, mode=mode, logging_callback=take, **options) as client:
                if level is not None and mode == LEGACY:
                    with pytest.warns(match="deprecated"):
                        await client.set_logging_level(level)
                result = await client.call_tool("work", {})
                assert not result.is_error
            log.error("outside of a call")
            return told

        return anyio.run(main, backend=backend)

    @both_protocols
    @pytest.mark.parametrize("backend", ["asyncio", "trio"])
    def test_messages_arrive_without_tracebacks(self, mode, backend):
        assert self.logged(mode, backend, level="warning") == [
            ("warning", "acme.shop", "hello"),
            ("error", "acme.shop", "in a thread"),
        ]

    @both_protocols
    def test_a_client_gets_what_it_asks_for(self, mode):
        assert [one[2] for one in self.logged(mode, level="error")] == ["in a thread"]
        assert self.logged(mode, level="debug")[0][2] == "too small"

    def test_a_client_that_says_nothing(self):
        assert [one[2] for one in self.logged(LEGACY)] == ["hello", "in a thread"]
        assert self.logged(MODERN) == []

    def test_the_root_logger_is_refused(self):
        with pytest.raises(ValueError, match="give the name of a logger: the root logger"):
            handlers([], logger="")


@both_protocols
def test_progress_only_grows(mode):
    @tool
    async def work(progress: Annotated[Progress, skip]) -> None:
        """Work."""
        for done in (1, 1, 0.5, float("nan"), 10**400, 2):
            progress(done, float("inf"))

    told = []

    async def tell(done, total, _message):
        told.append((done, total))

    async def question(client):
        return await client.call_tool("work", {}, progress_callback=tell)

    assert not ask(question, work, mode=mode).is_error
    assert told == [(1, None), (2, None)]


def test_many_changes_in_a_row_are_told_as_one():
    registry = Registry()

    @registry.register
    @tool
    async def load() -> None:
        """Load more tools."""
        for number in range(2000):
            registry.register(tool(lambda: 1, name=f"t{number}", description="Do it."))

    async def main():
        client = Client(server(registry), mode=MODERN)
        async with client, client.listen(tools_list_changed=True) as events:
            await client.call_tool("load", {})
            with anyio.fail_after(LONGEST_WAIT):
                await anext(aiter(events))
            return len((await client.list_tools()).tools)

    assert anyio.run(main) == 2001


@both_protocols
def test_connections_that_end_leave_nothing_behind(mode):
    own = handlers(Registry())

    async def main():
        made, subscribers = server_from(own, "test", may_change=True), own.changes._subscribers
        for _ in range(3):
            async with Client(made, mode=mode) as client:
                if mode == LEGACY:
                    for _ in range(20):  # rude: once is what the protocol says
                        await client.session.send_notification(InitializedNotification())
                    await client.list_tools()
                    assert len(subscribers) == 1
                else:
                    async with client.listen(tools_list_changed=True):
                        assert len(subscribers) == 1
        assert subscribers == {}
        assert own.changes._connections == set()

    anyio.run(main)


@both_protocols
def test_a_toolset_is_offered_without_what_is_off(mode):
    @tool
    def add() -> int:
        """Add."""
        return 1

    @tool
    def delete() -> int:
        """Delete."""
        return 1

    async def main():
        async with Client(server(Toolset(add, delete).hide(delete)), mode=mode) as client:
            listed = await client.list_tools()
            result = await client.call_tool("delete", {})
            said = client.server_capabilities.tools if mode == LEGACY else None
            return [one.name for one in listed.tools], result.is_error, said

    names, is_error, said = anyio.run(main)
    assert (names, is_error) == (["add"], True)
    assert said is None or not said.list_changed  # a toolset never changes


class Db:
    pass


@both_protocols
def test_the_context_of_a_call_may_depend_on_the_request(mode):
    @tool
    def work(db: Annotated[Db, skip]) -> str:
        """Work."""
        return str(db.name)

    def context(ctx):
        if ctx.method == "tools/list":
            return {}
        db = Db()
        db.name = ctx.method
        return {Db: db}

    assert call(work, context=context, mode=mode).content[0].text == "tools/call"


@both_protocols
def test_a_context_that_fails_says_nothing_of_it(mode, caplog):
    @tool
    def work() -> str:
        """Work."""
        return ""

    def context(ctx):
        raise RuntimeError("the password is swordfish")

    async def question(client):
        with pytest.raises(MCPError) as caught:
            await client.call_tool("work", {})
        return caught.value.error.message

    assert ask(question, work, context=context, mode=mode) == "the server failed to prepare the request"
    assert "swordfish" in caplog.text


@both_protocols
def test_the_handlers_fit_into_a_server_of_ones_own(mode):
    @tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    async def main():
        own = handlers([add])
        made = Server("mine", on_list_tools=own.list_tools, on_call_tool=own.call_tool)
        async with Client(made, mode=mode) as client:
            await client.list_tools()
            return await client.call_tool("add", {"a": 1, "b": 2})

    assert anyio.run(main).content[0].text == "3"


def test_wrong_arguments_are_refused_when_the_server_is_made():
    @tool
    def add() -> int:
        """Add."""
        return 1

    for wrong, error, text in [
        ({"structured": "some"}, ValueError, "structured must be one of"),
        ({"page_size": 0}, ValueError, "page_size must be a positive integer"),
        ({"page_size": True}, ValueError, "page_size must be a positive integer"),
        ({"context": 5}, TypeError, "context must be a mapping"),
        ({"executor": 5}, TypeError, "executor must be an Executor"),
        ({"executor": Executor([])}, ValueError, "the executor has other tools"),
        ({"logger": 5}, TypeError, "logger must be"),
    ]:
        with pytest.raises(error, match=text):
            server([add], **wrong)


@pytest.mark.parametrize("name", ["mcp.md", "mcp-beyond-tools.md"])
def test_the_examples_of_the_page_work(monkeypatch, name):
    page = (Path(__file__).parents[3] / "docs" / name).read_text(encoding="utf-8")
    module = ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # where a dataclass looks for its annotations
    names = vars(module)
    runner = doctest.DocTestRunner()
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        if block.startswith(">>>"):
            example = doctest.DocTestParser().get_doctest(block, names, name, name, 0)
            runner.run(example, clear_globs=False)
            names.update(example.globs)
        else:
            exec(block, names)  # noqa: S102  # as a reader does
    assert runner.summarize().attempted >= 3
    assert runner.summarize().failed == 0


def test_data_with_an_address_arrive_as_such():
    @tool
    def find() -> Any:
        """Find."""
        return Resource("https://example.com/a.png", data=PNG)

    (found,) = call(find).content
    assert (found.resource.uri, found.resource.mime_type) == ("https://example.com/a.png", "image/png")
    assert base64.b64decode(found.resource.blob) == PNG


def test_a_client_that_fails_to_ask_a_person():
    @tool(confirm=True)
    def delete() -> str:
        """Delete."""
        return "gone"

    async def fail(_context, _params):
        return ErrorData(code=-32603, message="no window")

    async def main():
        made = server([delete])
        async with Client(made, mode=LEGACY, elicitation_callback=fail) as client:
            return await client.call_tool("delete", {})

    result = anyio.run(main)
    assert result.is_error
    assert result.content[0].text.endswith("and the client failed to ask one")


@both_protocols
def test_the_state_of_the_lifespan_is_injected(mode):
    @tool
    def who(db: Annotated[Db, skip]) -> str:
        """Say who."""
        return str(db.name)

    @asynccontextmanager
    async def lifespan(_server):
        db = Db()
        db.name = "ann"
        yield db

    async def main():
        async with Client(server([who], lifespan=lifespan), mode=mode) as client:
            return (await client.call_tool("who", {})).content[0].text

    assert anyio.run(main) == "ann"


@both_protocols
def test_an_executor_in_place_of_tools_brings_its_context(mode):
    @tool
    def greet(greeting: Annotated[str, skip]) -> str:
        """Greet."""
        return greeting

    async def main():
        own = handlers(Executor([greet], context={"greeting": "Bonjour"}))
        async with Client(server_from(own, "greetings", may_change=True), mode=mode) as client:
            first = await client.call_tool("greet", {})
            own.replace(Executor([greet], context={"greeting": "Ciao"}), None)
            return first.content[0].text, (await client.call_tool("greet", {})).content[0].text

    assert anyio.run(main) == ("Bonjour", "Ciao")


@both_protocols
def test_a_server_without_a_state_injects_none(mode):
    """The SDK's own lifespan gives an empty dict."""

    @tool
    def look(
        given: Annotated[dict[str, int] | None, skip] = None, nothing: Annotated[None, skip] = None
    ) -> str:
        """Look."""
        return f"{given} {nothing}"

    assert call(look, mode=mode).content[0].text == "None None"


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        (5, -32603, "the server failed to prepare the request"),
        (MCPError(-32001, "who are you?"), -32001, "who are you?"),
    ],
)
def test_a_context_that_is_none(answer, code, message):
    @tool
    def work() -> str:
        """Work."""
        return ""

    def context(ctx):
        if isinstance(answer, MCPError):
            raise answer
        return answer

    async def question(client):
        with pytest.raises(MCPError) as caught:
            await client.list_tools()
        return caught.value.error.code, caught.value.error.message

    assert ask(question, work, context=context) == (code, message)


@both_protocols
def test_a_switch_that_takes_the_context_hides_a_tool(mode):
    @tool(enabled=lambda context: context.get("user") == "ann")
    def secret() -> str:
        """Tell."""
        return "secret"

    async def main(user):
        async with Client(server([secret], context={"user": user}), mode=mode) as client:
            return len((await client.list_tools()).tools), (await client.call_tool("secret", {})).is_error

    assert anyio.run(main, "ann") == (1, False)
    assert anyio.run(main, "bob") == (0, True)


def test_a_record_that_cannot_be_written_is_left_out(monkeypatch):
    monkeypatch.setattr(logging.getLogger("acme"), "propagate", False)  # pytest would raise it
    monkeypatch.setattr(logging, "raiseExceptions", False)
    told = []

    @tool
    def work() -> str:
        """Work."""
        wrong = "%d of %s"
        logging.getLogger("acme").warning(wrong, "wrong")
        return "done"

    async def take(params):
        told.append(params.data)

    async def main():
        async with Client(server([work], logger="acme"), mode=LEGACY, logging_callback=take) as client:
            return (await client.call_tool("work", {})).content[0].text

    assert anyio.run(main) == "done"
    assert told == []


@pytest.mark.parametrize("by", [ServerRequestContext, ServerSession])
def test_the_time_in_which_a_person_answers_is_not_that_of_the_tool(by):
    """A call may take a second, also on a busy machine; its question is answered later than that."""

    @tool
    async def ask(asker: Annotated[by, skip], rest: float = 0) -> str:
        """Ask."""
        session = getattr(asker, "session", asker)
        answer = await session.elicit_form("Which?", {"type": "object", "properties": {}})
        await anyio.sleep(rest)
        return answer.action

    async def answer(_context, _params):
        await anyio.sleep(1.2)
        return ElicitResult(action="accept")

    async def main():
        made = server_of(Registry([ask]), timeout=1)
        async with Client(made, mode=LEGACY, elicitation_callback=answer) as client:
            return await asyncio.gather(*[client.call_tool("ask", {"rest": rest}) for rest in (0, 30)])

    asked, late = anyio.run(main)
    assert (asked.content[0].text, asked.is_error) == ("accept", False)
    assert "no result within 1 s" in late.content[0].text


def test_the_time_of_other_requests_to_the_client_counts():
    @tool
    async def look(session: Annotated[ServerSession, skip]) -> str:
        """Look."""
        await session.send_request(ListRootsRequest(), ListRootsResult)
        return "seen"

    async def roots(_context):
        await anyio.sleep(30)

    async def main():
        made = server_of(Registry([look]), timeout=0.1)
        async with Client(made, mode=LEGACY, list_roots_callback=roots) as client:
            return await client.call_tool("look", {})

    assert "no result within 0.1 s" in anyio.run(main).content[0].text


@pytest.mark.parametrize("log", [None, "acme.shop"])
def test_what_a_tool_raises_is_not_in_a_group(log):
    """Also of one that says something meanwhile."""

    @tool
    def fail(progress: Annotated[Progress, skip]) -> str:
        """Fail."""
        progress(1)
        raise MCPError(-32050, "no", {"why": object()})

    @tool
    def plain() -> str:
        """Fail."""
        raise MCPError(-32050, "no \ud800", {"why": 5})

    @tool
    def unwritable() -> str:
        """Fail."""
        raise MCPError(-32050, "no", {"why": "\ud800"})

    async def question(client):
        found = []
        for name in ("fail", "plain", "unwritable"):
            with pytest.raises(MCPError) as caught:
                await client.call_tool(name, {})
            found.append((caught.value.error.code, caught.value.error.message, caught.value.error.data))
        return found

    assert ask(question, fail, plain, unwritable, logger=log) == [
        (-32050, "no", None),
        (-32050, "no \ufffd", {"why": 5}),
        (-32050, "no", None),
    ]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_changes_that_nobody_has_heard_of_yet_are_told_once(backend):
    told = []

    async def main():
        bus = ChangeBus()
        stop = bus.subscribe(told.append)
        for _ in range(3):
            bus.tools_changed()
        while not told:  # noqa: ASYNC110  # what is waited for is a list
            await anyio.sleep(0.01)
        await anyio.sleep(0.01)
        first = len(told)
        bus.tools_changed()
        while len(told) == first:  # noqa: ASYNC110  # as above
            await anyio.sleep(0.01)
        stop()
        stop()
        bus.tools_changed()
        await anyio.sleep(0.01)
        return first

    assert anyio.run(main, backend=backend) == 1
    assert len(told) == 2


@both_protocols
@pytest.mark.parametrize(("output", "is_error"), [(dict[str, str], True), (str, False), (Any, False)])
def test_a_result_that_is_cut_has_no_data(output, is_error, mode):
    """A client would refuse one without the data that its tool declares, and show nothing."""
    value = "x" * 1000 if output is str else {"a": "x" * 1000}

    @tool(max_content=300)
    def give() -> output:
        """Give it."""
        return value

    result = call(give, mode=mode, structured="objects")
    assert len(result.content[0].text) == 300
    assert result.content[0].text.endswith("ask for less of it]")
    assert (result.structured_content, result.is_error) == (None, is_error)


def test_handlers_say_which_tools_lack_their_context():
    @tool
    def needs(db: Annotated[Node, skip], ctx: Annotated[ServerRequestContext, skip]) -> str:
        """Need it."""
        return ""

    assert list(handlers([needs]).missing_context()) == ["needs"]
    assert handlers([needs], context={Node: Node("a", [])}).missing_context() == {}
    assert handlers([needs], context=lambda _: {}).missing_context() == {}


@both_protocols
def test_a_tool_search_lists_what_was_found_and_tells_clients(mode):
    @tool
    def add(a: int) -> int:
        """Add one."""
        return a + 1

    @tool
    def pay_invoice(invoice_id: str) -> str:
        """Settle a bill."""
        return f"paid {invoice_id}"

    search = ToolSearch(add, pay_invoice, always=add)

    async def ask_twice(client):
        # A client may know a name from before: a list isn't what may be called.
        known = await client.call_tool("pay_invoice", {"invoice_id": "7"})
        found = await client.call_tool("search_tools", {"query": "bills"})
        return found.structured_content["tools"], known.content[0].text

    names, said = anyio.run(around_change, search, mode, ask_twice)
    assert names == [["search_tools", "add"], ["search_tools", "add", "pay_invoice"]]
    assert said == ([{"name": "pay_invoice", "description": "Settle a bill."}], "paid 7")


@both_protocols
def test_a_tool_that_no_search_has_found_still_asks_a_person(mode):
    @tool(confirm=True)
    def wipe() -> str:
        """Delete everything."""
        return "gone"

    async def agree(_context, _params):
        return ElicitResult(action="decline")

    async def main():
        async with Client(server(ToolSearch(wipe)), mode=mode, elicitation_callback=agree) as client:
            return await client.call_tool("wipe", {})

    answer = anyio.run(main)
    assert answer.is_error
    assert "declined" in answer.content[0].text


@pytest.mark.parametrize("name", [3, None, b"shop"])
def test_the_name_of_a_server_is_a_string(name):
    with pytest.raises(TypeError, match=r"^the name of a server must be a string, not"):
        server([], name=name)


COMPOSED = {
    "type": "object",
    "properties": {"mode": {"type": "string"}, "size": {"type": "integer"}},
    "anyOf": [{"required": ["mode"]}, {"required": ["size"]}],
}


@both_protocols
@pytest.mark.parametrize("name", ["claude-code", "claude-ai", "cursor"])
def test_a_client_of_anthropic_gets_a_schema_that_its_api_takes(mode, name):
    foreign = document_tool(lambda arguments: "ok", COMPOSED, name="foreign", description="Do it.")
    identity = types.Implementation(name=name, version="1")
    is_whole = name == "cursor"

    async def main():
        async with Client(server_of(Registry([foreign])), mode=mode, client_info=identity) as client:
            (listed,) = (await client.list_tools()).tools
            wrong = await client.call_tool("foreign", {})
            return listed.input_schema, listed.description, wrong.is_error

    schema, description, is_refused = anyio.run(main)
    assert is_refused
    assert ("anyOf" in schema) == is_whole
    assert ("at least one of these sets of arguments" in description) != is_whole
    assert schema["properties"] == COMPOSED["properties"]
