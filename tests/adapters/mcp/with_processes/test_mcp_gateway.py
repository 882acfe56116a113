"""`serve --gateway`: the tools of several servers behind one, searched, or called from programs."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.util import find_spec
from itertools import pairwise

import anyio
import pytest
from mcp import Client, MCPError
from mcp.types import ElicitResult, Implementation, ToolListChangedNotification
from mcp_processes import command, environment, http_server, over_stdio, run
from patience import LONGEST_WAIT

from operator_schema.message_text import clip

pytestmark = pytest.mark.slow("starts a server in a process for each question")

MODERN = "2026-07-28"
both_protocols = pytest.mark.parametrize("mode", ["legacy", MODERN])
needs_monty = pytest.mark.skipif(
    not find_spec("pydantic_monty"), reason="Monty has no wheels for every platform"
)

BOOKS = '''
from pathlib import Path

from operator_schema import Registry, tool

registry = Registry()


@registry.register
@tool
def find_books(author: str) -> list[str]:
    """Find the books of an author."""
    return [f"{author} {number}" for number in range(3)]


@registry.register
@tool
def order_book(title: str) -> str:
    """Buy a book."""
    with Path("orders").open("a") as file:
        file.write(f"{title}\\n")
    return f"ordered {title}"


@registry.register
@tool
def open_shop() -> str:
    """Let a tool appear."""
    registry.register(tool(lambda: "closed", name="close_shop", description="Close it."))
    return "open"
'''

WEATHER = '''
from operator_schema import tool


@tool
def forecast(city: str) -> str:
    """Say what the weather will be."""
    return f"sun in {city}"
'''


@pytest.fixture
def folder(tmp_path):
    """Return a folder with two servers, and the file that names them."""
    (tmp_path / "books.py").write_text(BOOKS)
    (tmp_path / "weather.py").write_text(WEATHER)
    servers = {
        "books": {**started("books:registry", tmp_path), "confirm": ["order_book"]},
        "weather": started("weather", tmp_path),
    }
    (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": servers}))
    return tmp_path


def started(target, folder):
    program, *words = command(target)
    return {
        "command": program,
        "args": words,
        "cwd": str(folder),
        "env": {"PYTHONPATH": environment()["PYTHONPATH"]},
    }


async def names(client):
    return [one.name for one in (await client.list_tools()).tools]


def served(folder):
    """Return the names of the tools that the gateway in a folder has, and what it has said at its end."""

    async def main(url):
        async with Client(url) as client:
            return await names(client)

    with http_server("--gateway", "servers.json", folder=folder) as (url, process):
        found = anyio.run(main, url)
    return found, process.said


def text(result):
    return result.content[0].text


def agreeing(questions, action="accept"):
    async def elicited(_, params):
        questions.append(params.message)
        return ElicitResult(action=action, content={} if action == "accept" else None)

    return elicited


@both_protocols
def test_the_tools_of_several_servers_are_found_by_a_search(folder, mode):
    async def main():
        gateway = over_stdio("--gateway", "servers.json", "--search", folder=folder)
        async with Client(gateway, mode=mode) as client:
            found = [await names(client)]
            await client.call_tool("search_tools", {"query": "what will the weather be?"})
            found.append(await names(client))
            answer = await client.call_tool("weather_forecast", {"city": "Rome"})
            one = await client.call_tool("search_tools", {"query": "find the shop", "prefix": "books_"})
            return found, text(answer), [each["name"] for each in one.structured_content["tools"]]

    found, answer, of_books = anyio.run(main)
    assert found == [["search_tools"], ["search_tools", "weather_forecast"]]
    assert answer == "sun in Rome"
    assert of_books[0] == "books_open_shop"
    assert all(name.startswith("books_") for name in of_books)


def test_clients_over_http_find_for_themselves(folder):
    async def main(url):
        found = []
        for mode in ("legacy", MODERN):
            one = Client(url, mode=mode, client_info=Implementation(name="one", version="1"))
            two = Client(url, mode=mode, client_info=Implementation(name="two", version="1"))
            async with one, two:
                await one.call_tool("search_tools", {"query": "weather"})
                await two.call_tool("search_tools", {"query": "buy a book"})
                found += [await names(one), await names(two)]
        return found

    with http_server("--gateway", "servers.json", "--search", folder=folder) as (url, _):
        found = anyio.run(main, url)
    assert found[0] == found[2] == ["search_tools", "weather_forecast"]
    assert found[1] == found[3]
    assert found[1][:2] == ["search_tools", "books_order_book"]
    assert "weather_forecast" not in found[1]


def test_a_tool_that_needs_a_person_is_asked_about(folder):
    questions = []

    async def main():
        gateway = over_stdio("--gateway", "servers.json", folder=folder)
        async with Client(gateway, elicitation_callback=agreeing(questions)) as client:
            return text(await client.call_tool("books_order_book", {"title": "Dune"}))

    assert anyio.run(main) == "ordered Dune"
    assert len(questions) == 1
    assert questions[0].startswith("Run books_order_book?")
    assert "Dune" in questions[0]


@needs_monty
@both_protocols
def test_a_program_calls_tools_of_several_servers_and_its_plan_is_one_question(folder, mode):
    questions = []
    program = """
import json
print(weather_forecast("Rome"))
[books_order_book(title) for title in json.loads(books_find_books("Le Guin"))]
"""

    async def main():
        gateway = over_stdio("--gateway", "servers.json", "--code", folder=folder)
        async with Client(gateway, mode=mode, elicitation_callback=agreeing(questions)) as client:
            listed = (await client.list_tools()).tools
            declared = await client.call_tool("search_tools", {"query": "buy a book"})
            ran = await client.call_tool("run_program", {"source": program})
            return [one.name for one in listed], listed[1].description, text(declared), ran

    listed, description, declared, ran = anyio.run(main)
    assert listed == ["search_tools", "run_program"]
    assert "def weather_forecast(city: str)" in description
    assert "def books_order_book(title: str)" in declared
    assert not ran.is_error
    assert text(ran).splitlines() == [
        "sun in Rome",
        '["ordered Le Guin 0", "ordered Le Guin 1", "ordered Le Guin 2"]',
    ]
    assert (folder / "orders").read_text().splitlines() == ["Le Guin 0", "Le Guin 1", "Le Guin 2"]
    assert [question.split("\n\n") for question in questions] == [
        ["Run 3 calls of a program?", *[f'Run books_order_book?\ntitle: "Le Guin {n}"' for n in range(3)]]
    ]


@needs_monty
@both_protocols
@pytest.mark.parametrize("is_asked", [True, False])
def test_calls_that_nobody_agrees_to_are_refused_aloud(folder, mode, is_asked):
    questions = []
    program = "try:\n    books_order_book('Dune')\nexcept PermissionError as error:\n    print(error)"

    async def main():
        gateway = over_stdio("--gateway", "servers.json", "--code", folder=folder)
        asked = agreeing(questions, "decline") if is_asked else None
        async with Client(gateway, mode=mode, elicitation_callback=asked) as client:
            caught = await client.call_tool("run_program", {"source": program})
            failed = await client.call_tool("run_program", {"source": "books_order_book('Dune')"})
            return caught, failed

    caught, failed = anyio.run(main)
    why = "a person declined it" if is_asked else "a person has to agree to it, and this client can't ask one"
    assert text(caught) == f"This call was rejected: {why}"
    assert failed.is_error
    assert why in text(failed)
    assert not (folder / "orders").exists()
    assert len(questions) == (2 if is_asked else 0)


@needs_monty
def test_the_tools_of_a_module_are_called_from_programs(folder):
    questions = []

    async def main(url):
        async with Client(url, elicitation_callback=agreeing(questions)) as client:
            ran = await client.call_tool("run_program", {"source": "len(find_books('Borges'))"})
            wrong = await client.call_tool("run_program", {"source": "find_books(1)"})
            return text(ran), wrong

    with http_server("--code", "books:registry", folder=folder) as (url, _):
        ran, wrong = anyio.run(main, url)
    assert ran == "3"
    assert wrong.is_error
    assert "expected string" in text(wrong)


def test_a_server_whose_tools_change_changes_those_of_the_gateway(folder):
    told = anyio.Event()

    async def heard(message):
        if isinstance(message, ToolListChangedNotification):
            told.set()

    async def main():
        gateway = over_stdio("--gateway", "servers.json", folder=folder)
        async with Client(gateway, mode="legacy", message_handler=heard) as client:
            await client.call_tool("books_open_shop", {})
            with anyio.fail_after(LONGEST_WAIT):
                await told.wait()
            return await names(client)

    # One process for all connections: one that is started here belongs to a client alone.
    with http_server("books:registry", folder=folder) as (url, _):
        (folder / "servers.json").write_text(json.dumps({"mcpServers": {"books": {"url": url}}}))
        assert "books_close_shop" in anyio.run(main)


def test_a_server_behind_a_url_gets_the_headers_of_the_file(tmp_path, monkeypatch):
    secret = "swordfish-swordfish-swordfish"  # noqa: S105  # of this test
    (tmp_path / "weather.py").write_text(WEATHER)
    with http_server("--token-env", "TOKEN", "weather", folder=tmp_path, TOKEN=secret) as (url, _):
        headers = {"Authorization": "Bearer ${WEATHER_TOKEN}"}
        entry = {"url": url, "type": "http", "headers": headers}
        (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": {"far": entry}}))
        monkeypatch.setenv("WEATHER_TOKEN", secret)

        async def main():
            async with Client(over_stdio("--gateway", "servers.json", folder=tmp_path)) as client:
                return text(await client.call_tool("far_forecast", {"city": "Oslo"}))

        assert anyio.run(main) == "sun in Oslo"


def test_a_server_that_dies_and_cannot_be_started_again_shows_no_value_of_a_variable(folder, monkeypatch):
    secret = "swordfish-swordfish"  # noqa: S105  # of this test
    program, *words = command("weather")
    (folder / secret).mkdir()
    (folder / secret / "python").symlink_to(program)
    entry = {**started("weather", folder), "command": "${FOLDER}/python", "args": words}
    entry["env"]["PYTHONHOME"] = sys.base_prefix
    (folder / "servers.json").write_text(json.dumps({"mcpServers": {"weather": entry}}))
    (folder / "weather.py").write_text(
        f"{WEATHER}\n\n@tool\ndef die() -> str:\n    import os\n    os._exit(1)\n"
    )
    monkeypatch.setenv("FOLDER", str(folder / secret))

    async def main(url):
        async with Client(url) as client:
            for name, arguments in (("weather_die", {}), ("weather_forecast", {"city": "Oslo"})):
                with pytest.raises(MCPError) as caught:
                    await client.call_tool(name, arguments)
                (folder / secret / "python").unlink(missing_ok=True)
            return caught.value.message

    with http_server("--gateway", "servers.json", folder=folder) as (url, process):
        message = anyio.run(main, url)
    assert message == "the server weather can't be reached: try again later, or continue without its tools"
    assert "weather: the server can't be reached: " in process.said
    assert "${FOLDER}/python" in process.said
    assert "swordfish" not in process.said


@pytest.mark.parametrize("through", [(), ("other.json",)])
def test_a_gateway_behind_itself_is_refused_and_the_others_go_on(folder, through):
    file = folder / "servers.json"
    servers = json.loads(file.read_text())["mcpServers"]
    circle = ["servers.json", *through, "servers.json"]
    for name, following in pairwise(circle):
        gateway = command("--gateway", following)
        itself = {**started("weather", folder), "command": gateway[0], "args": gateway[1:]}
        found = {**servers, "itself": itself} if name == "servers.json" else {"itself": itself}
        (folder / name).write_text(json.dumps({"mcpServers": found}))

    found, said = served(folder)
    assert found == ["books_find_books", "books_open_shop", "books_order_book", "weather_forecast"]
    way = clip(" → ".join(str(folder / name) for name in circle), 300)  # folders may be long
    assert said.count(f"servers.json starts itself endlessly: {way}.") == 1
    assert said.count("operator-schema: serving 3 tools on standard input and output") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="its shell has no `env -i`, and nothing waits for a pipe")
def test_a_gateway_behind_itself_ends_also_if_its_environment_is_cleaned(folder):
    """The shell starts no more than ten, should nothing else end it."""
    words = shlex.join(command("--gateway", "servers.json"))
    cleaned = f"env -i PYTHONPATH={shlex.quote(environment()['PYTHONPATH'])} {words}"
    script = f"echo >> started; [ $(wc -l < started) -le 10 ] && exec {cleaned}"
    itself = {"command": "sh", "args": ["-c", script], "cwd": str(folder)}
    servers = {"weather": started("weather", folder), "itself": itself}
    (folder / "servers.json").write_text(json.dumps({"mcpServers": servers}))

    async def main(url):
        async with Client(url) as client:
            return await names(client)

    with http_server("--gateway", "servers.json", folder=folder) as (url, process):
        found = anyio.run(main, url)
    assert found == [f"{'itself_' * depth}weather_forecast" for depth in (0, 1, 2, 3)]
    assert "more than 4 gateways are chained" in process.said
    assert len((folder / "started").read_text()) == 4


def test_a_server_that_cannot_be_reached_is_named_and_the_others_go_on(folder):
    file = folder / "servers.json"
    servers = json.loads(file.read_text())["mcpServers"]
    servers["lost"] = {"command": str(folder / "nothing")}
    servers["off"] = {"command": "nothing", "disabled": True}
    file.write_text(json.dumps({"servers": servers}))

    found, said = served(folder)
    assert found == ["books_find_books", "books_open_shop", "books_order_book", "weather_forecast"]
    assert '"lost" can\'t be reached' in said


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "isn't JSON"),
        ("{}", "names no servers"),
        ('{"mcpServers": []}', "names no servers"),
        ('{"mcpServers": {"a": 1}}', 'the server "a" must be an object with a "command" or a "url", not '),
        ('{"mcpServers": {"a": {}}}', 'must have a "command" that starts it, or a "url"'),
        ('{"mcpServers": {"a": {"command": "x", "url": "y"}}}', 'or a "url", not both'),
        ('{"mcpServers": {"a": {"command": 1}}}', "command must be a text, not a number"),
        ('{"mcpServers": {"a": {"command": "x", "args": "y"}}}', "args must be a list of texts, not a text"),
        ('{"mcpServers": {"a": {"command": "x", "env": {"y": 1}}}}', "env.y must be a text, not a number"),
        ('{"mcpServers": {"a": {"url": "http://${NOT_SET_1}"}}}', "needs the variable NOT_SET_1"),
        ('{"mcpServers": {"a": {"url": "x", "type": "sse"}}}', "speaks SSE"),
        ('{"mcpServers": {"a b": {"url": "x"}, "a_b": {"url": "x"}}}', "begin with the same a_b_"),
        ('{"mcpServers": {"a": {"url": "x", "disabled": true}}}', "are disabled"),
        ('{"mcpServers": {"a": {"command": "/nothing/at/all"}}}', "none of the servers"),
    ],
)
def test_a_file_that_names_no_servers_is_refused(tmp_path, content, told):
    (tmp_path / "servers.json").write_text(content)
    ended = run("--gateway", "servers.json", folder=tmp_path)
    assert ended.returncode == 2
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "give the module with the tools, or --gateway FILE"),
        (["--gateway", "x", "books"], "not both"),
        (["--gateway", "x", "--reload"], "--reload is for a module"),
        (["--gateway", "servers.json", "--context", "no:such"], "--context is for your own tools"),
        (["--gateway", "nothing.json"], "can't be read"),
        pytest.param(["--code", "--search", "books"], "leave out --search", marks=needs_monty),
    ],
)
def test_options_that_do_not_go_together_are_refused(folder, words, told):
    ended = run(*words, folder=folder)
    assert ended.returncode == 2
    assert told in ended.stderr


def test_a_client_is_configured_to_start_the_gateway(folder):
    ended = run("--print-config", "cursor", "--gateway", "servers.json", "--search", folder=folder)
    entry = json.loads(ended.stdout)["mcpServers"]["servers"]
    assert entry["args"][-3:] == ["--gateway", str(folder / "servers.json"), "--search"]


ODD = r"""
import json, sys

asked = {}


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def ask(number):
    asked[f"q{number}"] = number
    form = {"type": "object", "properties": {"name": {"type": "string"}}}
    send(id=f"q{number}", method="elicitation/create", params={"message": "Who?", "requestedSchema": form})


def said(number, text):
    send(id=number, result={"content": [{"type": "text", "text": text}]})


TOOLS = [
    {"name": name, "inputSchema": {"type": "object"}}
    for name in ("surrogate", "null", "deep", "ask", "wait", "go_on")
]
ANSWERS = {
    "surrogate": '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"\\ud800"}]}}',
    "null": '{"jsonrpc":"2.0","id":%s,"result":null}',
    "deep": '{"jsonrpc":"2.0","id":%s,"result":' + 100_000 * '{"a":' + "1" + 100_000 * "}" + "}",
}
waiting = []
print("started", flush=True)
for line in sys.stdin:
    message = json.loads(line)
    number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method == "initialize":
        made = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "logging": {}}}
        send(id=number, result={**made, "serverInfo": {"name": "odd", "version": "1"}})
    elif method == "tools/list":
        send(id=number, result={"tools": [*TOOLS, {"name": "broken", "inputSchema": 5}]})
    elif method == "tools/call" and params["name"] in ANSWERS:
        print(ANSWERS[params["name"]] % json.dumps(number), flush=True)
    elif method == "tools/call" and params["name"] == "go_on":  # the server asks, and another call ends
        ask(waiting[0])
        said(number, "gone on")
    elif method == "tools/call":
        waiting.append(number)
        send(method="notifications/message", params={"level": "info", "data": "it waits"})
    elif method is None and number in asked:
        said(asked[number], message["result"]["content"]["name"])
    elif number is not None:
        send(id=number, error={"code": -32601, "message": "no"})
"""


@pytest.fixture
def odd(tmp_path):
    """Return a folder with a server that does what others don't, and the file that names it."""
    (tmp_path / "odd.py").write_text(ODD)
    server = {"command": sys.executable, "args": ["odd.py"], "cwd": str(tmp_path), "timeout": 5}
    (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": {"odd": server}}))
    return tmp_path


def with_odd(odd, use, kind, **options):
    """Return what a function of a client returns, over standard input or over HTTP."""

    async def main(target):
        async with Client(target, mode="legacy", **options) as client:
            return await use(client)

    if kind == "stdio":
        return anyio.run(main, over_stdio("--gateway", "servers.json", folder=odd))
    with http_server("--gateway", "servers.json", folder=odd) as (url, _):
        return anyio.run(main, url)


both_transports = pytest.mark.parametrize("kind", ["stdio", "http"])


@both_transports
def test_an_answer_of_a_program_that_cannot_be_read_is_an_error_at_once_or_mended(odd, kind):
    async def use(client):
        return [text(await client.call_tool(f"odd_{name}", {})) for name in ("surrogate", "null", "deep")]

    said = "the answer of the server can't be read; the tool may have done its work"
    assert with_odd(odd, use, kind) == ["\ufffd", f"odd_null: {said}", f"odd_deep: {said}"]


@both_transports
def test_a_question_of_a_program_stays_when_a_later_call_ends(odd, kind):
    waits, asked, done, answers = anyio.Event(), anyio.Event(), anyio.Event(), []

    async def logged(_params):
        waits.set()

    async def answer(_context, _params):
        asked.set()
        await done.wait()
        return ElicitResult(action="accept", content={"name": "Ann"})

    async def use(client):
        async def ask():
            answers.append(text(await client.call_tool("odd_ask", {})))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await waits.wait()
            answers.append(text(await client.call_tool("odd_go_on", {})))
            await asked.wait()
            done.set()
        return answers

    found = with_odd(odd, use, kind, elicitation_callback=answer, logging_callback=logged)
    assert found == ["gone on", "Ann"]


def test_a_tool_that_is_left_out_and_keys_that_are_ignored_are_named_on_standard_error(odd):
    found, said = served(odd)
    assert [name.removeprefix("odd_") for name in found] == [
        *("surrogate", "null", "deep", "ask", "wait", "go_on")
    ]
    left_out = (
        'the tool "broken" of the server "odd" is left out: its inputSchema is integer 5, not an object'
    )
    assert left_out in said
    assert 'the server "odd" has keys that the gateway ignores: "timeout"' in said
