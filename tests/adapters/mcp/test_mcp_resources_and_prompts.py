"""Resources and prompts of a server: what a client lists, reads and completes, and how mistakes are told."""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import Annotated, Literal

import anyio
import anyio.lowlevel
import pytest
from mcp import Client, MCPError, types
from mcp.server.context import ServerRequestContext

from operator_schema import CallError, Executor, Reject, SchemaError, Toolset, hook, skip, tool
from operator_schema.adapters.mcp import server
from operator_schema.content import Image, Resource, Text
from operator_schema.rounds import Hooks

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


class Mood(Enum):
    GOOD = "good"
    GRUMPY = "grumpy"
    BAD = "bad"


class Db(str):
    """Stands for what a program injects."""

    __slots__ = ()


def note(day: int, mood: Mood = Mood.GOOD) -> str:
    """Return the note of a day."""
    return f"day {day!r}, {mood.name}"


def whole(path: str) -> bytes:
    return path.encode()


def several() -> list[object]:
    return ["one", b"two", Text("three"), Image.from_bytes(PNG), Resource("note://4", text="four")]


def data() -> dict[str, list[int]]:
    return {"numbers": [1, 2]}


def broken() -> str:
    raise ValueError("inner detail")


def refused() -> str:
    raise CallError("the notes are locked")


async def of_db(db: Annotated[Db, skip]) -> str:
    await anyio.lowlevel.checkpoint()
    return db


RESOURCES = {
    "note://today": "Buy rye.",
    "note://blob": b"\x00\x01",
    "note://page": Text("a text"),
    "note://icon.png": Image.from_bytes(PNG),
    "note://day/{day}{?mood}": note,
    "file:///{+path}": whole,
    "note://several": several,
    "note://data": data,
    "note://broken": broken,
    "note://refused": refused,
    "note://db": of_db,
}


@tool(title="Plan a day")
def plan(day: int, mood: Literal["good", "bad", "sad"] = "good", *, loud: bool = False) -> str:
    """Plan the day.

    Args:
        day: Number of the day.
    """
    return f"Plan day {day!r}, {mood}{'!' if loud else ''}"


def of_defaults(a: int = 1, b: int = 2) -> str:
    return f"{a} {b}"


def talk() -> list[types.PromptMessage | str | Image]:
    answer = types.TextContent(type="text", text="Hello")
    return ["Hi", types.PromptMessage(role="assistant", content=answer), Image.from_bytes(PNG)]


def own_answer() -> types.GetPromptResult:
    said = types.TextContent(type="text", text="as it is")
    message = types.PromptMessage(role="user", content=said)
    return types.GetPromptResult(description="mine", messages=[message])


def asks(ctx: Annotated[ServerRequestContext, skip]) -> object:
    found = (ctx.params or {}).get("inputResponses")
    if found:
        return f"{found['who']['content']}"
    asked = types.ElicitRequestFormParams(
        message="Who?", requested_schema={"type": "object", "properties": {"name": {"type": "string"}}}
    )
    return types.InputRequiredResult(input_requests={"who": types.ElicitRequest(params=asked)})


def stumble() -> str:
    raise ValueError("inner detail")


PROMPTS = [plan, talk, own_answer, asks, stumble]
ALL = server([], resources=RESOURCES, prompts=PROMPTS, context={Db: Db("from the db")})


def ask(use, app=ALL, **options):
    """Return what a function of a client returns."""

    async def main():
        async with Client(app, **options) as client:
            return await use(client)

    return anyio.run(main)


def read(uri, **options):
    return ask(lambda client: client.read_resource(uri), **options).contents


def refusal(use, **options):
    async def main(client):
        with pytest.raises(MCPError) as caught:
            await use(client)
        return caught.value

    return ask(main, **options)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_of_either_generation_lists_what_there_is(mode):
    async def main(client):
        return (
            [one.uri for one in (await client.list_resources()).resources],
            [one.uri_template for one in (await client.list_resource_templates()).resource_templates],
            [one.name for one in (await client.list_prompts()).prompts],
        )

    uris, templates, prompts = ask(main, mode=mode)
    assert templates == ["note://day/{day}{?mood}", "file:///{+path}"]
    assert uris == [uri for uri in RESOURCES if "{" not in uri]
    assert prompts == ["plan", "talk", "own_answer", "asks", "stumble"]


def test_values_say_their_media_types():
    listed = ask(lambda client: client.list_resources()).resources
    said = {one.uri: (one.name, one.mime_type) for one in listed}
    assert said["note://today"] == ("today", "text/plain")
    assert said["note://blob"] == ("blob", "application/octet-stream")
    assert said["note://icon.png"] == ("icon.png", "image/png")
    assert said["note://data"] == ("data", None)


def test_a_template_is_described_by_its_function():
    found = ask(lambda client: client.list_resource_templates()).resource_templates[0]
    assert (found.name, found.description) == ("note", "Return the note of a day.")


@pytest.mark.parametrize(
    ("uri", "text", "kind"),
    [
        ("note://today", "Buy rye.", "text/plain"),
        ("note://page", "a text", "text/plain"),
        ("note://data", '{"numbers":[1,2]}', "application/json"),
        ("note://db", "from the db", "text/plain"),
        ("note://day/7", "day 7, GOOD", "text/plain"),
        ("note://day/7?mood=bad", "day 7, BAD", "text/plain"),
        ("note://day/7?mood=BAD", "day 7, BAD", "text/plain"),
    ],
)
def test_a_text_is_read(uri, text, kind):
    (found,) = read(uri)
    assert (found.uri, found.text.replace(" ", "") if kind == "application/json" else found.text) == (
        uri,
        text,
    )
    assert found.mime_type == kind


def test_bytes_are_read():
    (found,) = read("note://blob")
    assert (found.blob, found.mime_type) == ("AAE=", "application/octet-stream")
    (found,) = read("file:///a/b%20c")
    assert found.blob == "YS9iIGM="


def test_several_parts_are_several_contents():
    found = read("note://several")
    assert [one.uri for one in found] == ["note://several"] * 4 + ["note://4"]
    assert [one.mime_type for one in found[:4]] == [
        "text/plain",
        "application/octet-stream",
        "text/plain",
        "image/png",
    ]
    assert found[4].text == "four"


@pytest.mark.parametrize(
    ("uri", "code", "said"),
    [
        ("note://todya", types.INVALID_PARAMS, 'there is no resource "note://todya"; did you mean'),
        ("other://x", types.INVALID_PARAMS, "resources/templates/list names the templates of others"),
        ("note://day/x", types.INVALID_PARAMS, "day: expected integer"),
        ("note://day/7?mood=mild", types.INVALID_PARAMS, 'mood: "mild" is not one of'),
        ("note://broken", types.INTERNAL_ERROR, "broken failed"),
        ("note://refused", types.INTERNAL_ERROR, "the notes are locked"),
    ],
)
def test_what_cannot_be_read_says_why(uri, code, said):
    error = refusal(lambda client: client.read_resource(uri))
    assert (error.code, said in error.message) == (code, True), error.message
    assert "inner detail" not in error.message


def test_templates_are_mentioned_only_where_there_are_some():
    app = server([], resources={"a://b": "c"})
    error = refusal(lambda client: client.read_resource("other://x"), app=app)
    assert error.message == 'there is no resource "other://x"; resources/list names all resources'


def test_a_very_long_address_is_refused_shortly():
    error = refusal(lambda client: client.read_resource("x://" + "a" * 100_000))
    assert len(error.message) < 400


def test_a_prompt_says_its_arguments():
    found = ask(lambda client: client.list_prompts()).prompts[0]
    assert (found.title, found.description.splitlines()[0]) == ("Plan a day", "Plan the day.")
    said = [(one.name, one.required, one.description) for one in found.arguments]
    assert said == [("day", True, "Number of the day."), ("mood", False, None), ("loud", False, None)]


def test_the_arguments_of_a_prompt_are_texts_that_mean_its_types():
    arguments = {"day": "7", "loud": "true"}
    found = ask(lambda client: client.get_prompt("plan", arguments))
    (message,) = found.messages
    assert (message.role, message.content.text) == ("user", "Plan day 7, good!")
    assert found.description.startswith("Plan the day.")


def test_a_prompt_has_messages_of_both_sides():
    found = ask(lambda client: client.get_prompt("talk")).messages
    assert [(one.role, one.content.type) for one in found] == [
        ("user", "text"),
        ("assistant", "text"),
        ("user", "image"),
    ]


def test_a_result_of_the_protocol_is_sent_as_it_is():
    found = ask(lambda client: client.get_prompt("own_answer"))
    assert (found.description, found.messages[0].content.text) == ("mine", "as it is")


def test_a_prompt_may_ask():
    async def answer(_context, _params):
        return types.ElicitResult(action="accept", content={"name": "Ann"})

    found = ask(lambda client: client.get_prompt("asks"), elicitation_callback=answer)
    assert found.messages[0].content.text == "{'name': 'Ann'}"


@pytest.mark.parametrize(
    ("name", "arguments", "code", "said"),
    [
        ("plna", {}, types.INVALID_PARAMS, "did you mean plan?"),
        ("x" * 500, {}, types.INVALID_PARAMS, "there are"),
        ("plan", {}, types.INVALID_PARAMS, "day: "),
        ("plan", {"day": "soon"}, types.INVALID_PARAMS, 'day: expected integer, got string "soon"'),
        ("stumble", {}, types.INTERNAL_ERROR, "stumble failed"),
    ],
)
def test_what_is_wrong_with_a_prompt_is_said(name, arguments, code, said):
    error = refusal(lambda client: client.get_prompt(name, arguments))
    assert (error.code, said in error.message) == (code, True), error.message
    assert "inner detail" not in error.message


PLAN = types.PromptReference(name="plan")
NOTE = types.ResourceTemplateReference(uri="note://day/{day}{?mood}")


@pytest.mark.parametrize(
    ("ref", "name", "begun", "values"),
    [
        (PLAN, "mood", "", ["good", "bad", "sad"]),
        (PLAN, "mood", "B", ["bad"]),
        (PLAN, "mood", "x", []),
        (PLAN, "loud", "t", ["true"]),
        (PLAN, "day", "1", []),
        (NOTE, "mood", "g", ["good", "grumpy"]),
    ],
)
def test_an_argument_is_completed_by_the_values_of_its_type(ref, name, begun, values):
    found = ask(lambda client: client.complete(ref, {"name": name, "value": begun})).completion
    assert (found.values, found.total, found.has_more) == (values, len(values), False)


OF_OLD = pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")  # as clients still do
Many = Literal[tuple(f"value{number}" for number in range(150))]


def test_at_most_a_hundred_values_are_sent():
    def choose(one: Many) -> str:  # pyright: ignore[reportInvalidTypeForm]
        return one

    ref = types.PromptReference(name="choose")
    app = server([], prompts=[choose])
    found = ask(lambda client: client.complete(ref, {"name": "one", "value": ""}), app).completion
    assert (len(found.values), found.total, found.has_more) == (100, 150, True)


@pytest.mark.parametrize(
    ("ref", "name", "said"),
    [
        (types.PromptReference(name="plam"), "mood", "did you mean plan?"),
        (PLAN, "mode", 'there is no argument "mode"; there are day, loud, mood'),
        (types.ResourceTemplateReference(uri="none://x"), "a", "there is no resource"),
        (types.ResourceTemplateReference(uri="note://today"), "a", "there are none"),
    ],
)
def test_what_cannot_be_completed_says_why(ref, name, said):
    error = refusal(lambda client: client.complete(ref, {"name": name, "value": ""}))
    assert said in error.message


@pytest.mark.parametrize("kind", ["resources", "prompts"])
def test_long_lists_come_in_pages(kind):
    app = server([], resources=RESOURCES, prompts=PROMPTS, context={Db: Db("")}, page_size=2)

    async def main(client):
        ask_page = getattr(client, f"list_{kind}")
        page = await ask_page()
        found = [len(getattr(page, kind))]
        while page.next_cursor is not None:
            page = await ask_page(cursor=page.next_cursor)
            found.append(len(getattr(page, kind)))
        return found

    assert ask(main, app) == {"resources": [2, 2, 2, 2, 1], "prompts": [2, 2, 1]}[kind]


def test_an_unknown_cursor_is_refused():
    error = refusal(lambda client: client.list_prompts(cursor="gone"))
    assert "Invalid cursor: the list of prompts has changed" in error.message


def test_only_what_there_is_is_announced():
    def announced(app):
        async def main(client):
            return client.server_capabilities

        return ask(main, app, mode="legacy")

    nothing, all_of_it = announced(server([])), announced(ALL)
    assert (nothing.resources, nothing.prompts, nothing.completions) == (None, None, None)
    assert all_of_it.resources.subscribe
    assert None not in (all_of_it.prompts, all_of_it.completions)
    only = announced(server([], resources={"note://today": ""}))
    assert (only.resources is None, only.prompts, only.completions) == (False, None, None)


@pytest.mark.parametrize(
    ("resources", "said"),
    [
        ({"today": ""}, "the URI of a resource must have a scheme, such as 'note://today', not"),
        ({5: ""}, "the URI of a resource must have a scheme"),
        ({"note://{day": note}, "isn't a URI template"),
        ({"note://{day}": "text"}, "a template needs a function with its variables as parameters"),
        ({"note://{date}": note}, "has the variables date, and note takes day, mood: use the same"),
        ({"note://{mood}": note}, "use the same names for both"),
        (
            {"note://x": note},
            r"note://x has no variables, and note takes day, mood: write note://x/\{day\}, or give",
        ),
        ({"note://x/": of_defaults}, r"write note://x/\{a\}/\{b\}, or give a function without param"),
    ],
)
def test_a_resource_that_cannot_work_is_refused_at_once(resources, said):
    with pytest.raises(ValueError, match=said):
        server([], resources=resources)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"resources": ["note://today"]}, "resources must be a mapping of URIs"),
        (
            {"resources": {"note://today": 5}},
            "the resource note://today must be a function, a string, bytes or a part",
        ),
        ({"prompts": ["plan"]}, "a prompt must be a function, not"),
        ({"prompts": 5}, "prompts must be a list of functions, not"),
    ],
)
def test_another_kind_is_refused(options, said):
    with pytest.raises(TypeError, match=said):
        server([], **options)


def test_two_prompts_have_two_names():
    line = plan.__wrapped__.__code__.co_firstlineno
    with pytest.raises(
        ValueError, match=rf'two prompts are called "plan" \({re.escape(__file__)}, line {line}\): leave one'
    ):
        server([], prompts=[plan, plan])


def test_two_prompts_of_one_name_are_named_with_both_places():
    both = [plan, tool(of_defaults, name="plan")]
    first, second = [one.__code__.co_firstlineno for one in (plan.__wrapped__, of_defaults)]
    with pytest.raises(ValueError, match=rf"line {first} and .*, line {second}\): leave one out"):
        server([], prompts=both)


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"resources": {"note://x": lambda q: q}}, "the resource note://x"),
        ({"prompts": [lambda q: q]}, "a prompt"),
    ],
)
def test_a_parameter_without_a_schema_comes_with_the_place_of_its_function(options, what):
    with pytest.raises(SchemaError, match="it has no annotation") as caught:
        server([], **options)
    (note,) = caught.value.__notes__
    assert re.fullmatch(rf"{re.escape(what)} \({re.escape(__file__)}, line \d+\)", note)


@OF_OLD
def test_a_client_hears_of_the_resources_that_it_subscribed_to():
    heard = []

    async def main():
        done = anyio.Event()

        async def on_message(message):
            heard.append(message.params.uri)
            done.set()

        async with Client(ALL, mode="legacy", message_handler=on_message) as client:
            await client.subscribe_resource("note://today")
            await client.subscribe_resource("note://data")
            await client.unsubscribe_resource("note://data")
            ALL.handlers.resource_updated("note://data")
            ALL.handlers.resource_updated("note://blob")
            ALL.handlers.resource_updated("note://today")
            await done.wait()
            with pytest.raises(MCPError, match="there is no resource"):
                await client.subscribe_resource("note://none")

    anyio.run(main)
    assert heard == ["note://today"]


def test_a_newer_client_listens():
    async def main(client):
        async with client.listen(resource_subscriptions=["note://today"]) as changes:
            ALL.handlers.resource_updated("note://blob")
            ALL.handlers.resource_updated("note://today")
            return await anext(changes)

    assert ask(main).uri == "note://today"


@OF_OLD
def test_a_client_subscribes_to_so_many_resources_at_most(monkeypatch):
    monkeypatch.setattr("operator_schema.adapters.mcp.changes.MOST_SUBSCRIPTIONS", 2)

    async def main(client):
        for day in (1, 2, 2, 3):
            await client.subscribe_resource(f"note://day/{day}")

    error = refusal(main, mode="legacy")
    assert "a client can subscribe to at most 2 resources" in error.message


def test_a_text_that_cannot_be_written_is_shown_as_far_as_it_can_be():
    (found,) = read("note://x", app=server([], resources={"note://x": "a\ud800b"}))
    assert json.dumps(found.text, ensure_ascii=False).encode()
    error = refusal(
        lambda client: client.read_resource("note://y"),
        app=server([], resources={"note://y": lambda: "a\ud800b"}),
    )
    assert "its result can't be shown" in error.message


# --- what the executor of the tools adds ---------------------------------------------------------


@tool
def pay(amount: int) -> str:
    """Pay an amount."""
    return f"{amount} paid"


@hook(pay)
def never_pays(_):
    return Reject("no money")


def served_with(hooks, **options):
    """Return a server with a resource and a prompt whose executor has hooks."""
    executor = Executor([pay], hooks=hooks, **options)
    return server(executor, resources={"note://day/{day}": note}, prompts=[plan])


async def pay_read_and_plan(client):
    """Return what a client gets of a tool, a resource and a prompt."""
    paid = await client.call_tool("pay", {"amount": 1})
    read_text = (await client.read_resource("note://day/3")).contents[0].text
    prompt = await client.get_prompt("plan", {"day": "3"})
    return paid.content[0].text, read_text, prompt.messages[0].content.text


@pytest.mark.parametrize(
    "hooks",
    [never_pays, Hooks(lambda _: Reject("no money"), toolset=Toolset([pay]))],
    ids=["name", "toolset"],
)
def test_hooks_for_some_tools_leave_resources_and_prompts_alone(hooks):
    paid, text, planned = ask(pay_read_and_plan, app=served_with(hooks))
    assert "no money" in paid
    assert (text, planned) == ("day 3, GOOD", "Plan day 3, good")


def test_hooks_for_every_call_also_see_resources_and_prompts():
    seen = []
    app = served_with([never_pays, lambda call: seen.append(call.name)])
    ask(pay_read_and_plan, app=app)
    assert seen == ["note", "plan"]


def test_resources_count_for_the_limits_of_the_executor():
    running, most = 0, 0

    async def busy() -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5):
            await anyio.lowlevel.checkpoint()
        running -= 1
        return "done"

    executor = Executor([pay], max_concurrency=2)
    app = server(executor, resources={"note://busy": busy})

    async def read_many(client):
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(client.read_resource, "note://busy")

    ask(read_many, app=app)
    assert most == 2
