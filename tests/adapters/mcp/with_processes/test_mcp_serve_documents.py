"""Resources and prompts that `serve` finds in a module: `__resources__` and `__prompts__`."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Timer

import anyio
import pytest
from mcp import Client, types
from mcp_processes import over_stdio, raw_server, run, said_at_the_start
from patience import LONGEST_WAIT

pytestmark = [
    pytest.mark.needs_process,
    pytest.mark.slow("starts a server in a process for each question"),
]

PAGE = Path(__file__).parents[4] / "docs" / "mcp.md"
GUIDE = """
from typing import Annotated, Literal

from operator_schema import Registry, skip, tool


class Db(str):
    __slots__ = ()


context = {Db: Db("from the db")}


def of_db(db: Annotated[Db, skip]) -> str:
    return db


def page(number: int) -> str:
    return f"page {number!r}"


def advice(city: str, mood: Literal["short", "long"] = "short") -> str:
    "Ask what to wear."
    return f"{mood} advice for {city}"


@tool
def add(a: int, b: int) -> int:
    "Add."
    return a + b


registry = Registry([add])
__resources__ = {"guide://contents": "Wind", "guide://db": of_db, "guide://pages/{number}": page}
__prompts__ = (one for one in [advice])
"""


@pytest.fixture
def guide(tmp_path):
    (tmp_path / "guide.py").write_text(GUIDE, encoding="utf-8")
    return tmp_path


async def everything_of(client):
    """Return the names of all that a client lists, and what it gets."""
    listed = [
        *[one.name for one in (await client.list_tools()).tools],
        *[one.uri for one in (await client.list_resources()).resources],
        *[one.uri_template for one in (await client.list_resource_templates()).resource_templates],
        *[one.name for one in (await client.list_prompts()).prompts],
    ]
    read = [await client.read_resource(uri) for uri in ("guide://contents", "guide://pages/3", "guide://db")]
    prompt = await client.get_prompt("advice", {"city": "Oslo"})
    reference = types.PromptReference(name="advice")
    found = await client.complete(reference, {"name": "mood", "value": "l"})
    texts = [one.contents[0].text for one in read] + [prompt.messages[0].content.text]
    return listed, [*texts, *found.completion.values]


@pytest.mark.parametrize("target", ["guide", "guide.py", "guide:registry"])
@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_lists_and_reads_what_a_module_has_beside_its_tools(guide, target, mode):
    async def main():
        async with Client(
            over_stdio("--context", "guide:context", target, folder=guide), mode=mode
        ) as client:
            return await everything_of(client)

    listed, texts = anyio.run(main)
    resources = ["guide://contents", "guide://db", "guide://pages/{number}"]
    assert listed == ["add", *resources, "advice"]
    assert texts == ["Wind", "page 3", "from the db", "short advice for Oslo", "long"]


def test_the_module_of_the_documentation_is_served_as_its_page_says(tmp_path):
    section = PAGE.read_text(encoding="utf-8").partition("## Resources and prompts")[2]
    module = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert module is not None
    (tmp_path / "guide.py").write_text(module[1], encoding="utf-8")

    async def main():
        async with Client(over_stdio("guide", folder=tmp_path)) as client:
            page = await client.read_resource("guide://pages/3")
            interview = await client.get_prompt("interview")
            return page.contents[0].text, [one.content.text for one in interview.messages]

    assert anyio.run(main) == ("page 3", ["What shall I wear?", "Which city is it?"])
    said = said_at_the_start("guide", folder=tmp_path)
    assert "serving 0 tools, 3 resources, 2 prompts on standard input" in said


WRONG = {
    "__resources__ = ['guide://a']": "__resources__ can't be served: resources must be a mapping of URIs",
    "__resources__ = None": "__resources__ can't be served: resources must be a mapping of URIs",
    "__resources__ = {'a': 'b'}": "__resources__ can't be served: the URI of a resource must have a scheme",
    "def a(c: int): ...\n__resources__ = {'a://{b}': a}": "can't be served: a://{b} has the variables b,",
    "__resources__ = {'a://b': lambda c: c}": "can't be served: the resource a://b (HERE, line 1): c (in",
    "def a(b: 1.5): ...\n__prompts__ = [a]": "can't be served: a prompt (HERE, line 1): b (in a): an",
    "def a(): ...\n__prompts__ = [a, a]": '__prompts__ can\'t be served: two prompts are called "a" (HERE',
    "__resource__ = {'a://b': 'c'}": "wrong has __resource__, which isn't served: the name is __resources__",
    "__prompt__ = []": "wrong has __prompt__, which isn't served: the name is __prompts__",
    "__sources__ = {}": "there are no tools in wrong",
    "__prompts__ = 'advice'": "__prompts__ can't be served: prompts must be a list of functions",
    "__prompts__ = [5]": "__prompts__ can't be served: a prompt must be a function, not integer 5",
    "__prompts__ = (1 / 0 for _ in 'a')": "resources and prompts of wrong can't be read: ZeroDivisionError",
    "__version__ = '1'": "there are no tools in wrong",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_is_wrong_with_them_is_said_at_the_start(tmp_path, line):
    (tmp_path / "wrong.py").write_text(f"{line}\n", encoding="utf-8")
    done = run("wrong", folder=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert WRONG[line].replace("HERE", str(tmp_path / "wrong.py")) in done.stderr


class Heard:
    """Waits until a client has heard that both lists have changed."""

    def __init__(self):
        self.kinds, self.both = set(), anyio.Event()

    def take(self, message):
        name = type(message).__name__
        self.kinds |= {kind for kind in ("Resource", "Prompt") if name.startswith(kind)}
        if len(self.kinds) == 2:
            self.both.set()


@asynccontextmanager
async def hearing(folder, mode):
    """Connect a client to a server that reloads, with what it hears of changes."""
    heard = Heard()

    async def handle(message):
        heard.take(message)

    async def listen(client, *, task_status):
        async with client.listen(prompts_list_changed=True, resources_list_changed=True) as events:
            task_status.started()
            async for event in events:
                heard.take(event)

    transport = over_stdio("--reload", "guide", folder=folder)
    async with (
        Client(transport, mode=mode, message_handler=handle) as client,
        anyio.create_task_group() as group,
    ):
        if mode != "legacy":
            await group.start(listen, client)
        yield client, heard
        group.cancel_scope.cancel()


UNREADABLE = """
from collections import UserDict


class Once(UserDict):
    def __iter__(self):
        raise OSError("the folder of pages is gone")


__resources__ = Once()
"""


def line_with(process, text):
    """Return the next line of standard error with a text; nothing, if the server ends before."""
    watch = Timer(LONGEST_WAIT, process.kill)
    watch.start()
    found = next((line for line in process.stderr if text in line), b"")
    watch.cancel()
    return found.decode()


def test_what_cannot_be_read_is_said_and_the_next_change_is_taken(tmp_path):
    module = tmp_path / "guide.py"
    module.write_text(GUIDE, encoding="utf-8")
    with raw_server("--reload", "guide", folder=tmp_path) as raw:
        raw.begin()
        module.write_text(UNREADABLE, encoding="utf-8")
        said = line_with(raw.process, b"reloaded")
        module.write_text(GUIDE.replace('"Wind"', '"Rain"'), encoding="utf-8")
        assert "reloaded, 1 tool, 3 resources, 1 prompt" in line_with(raw.process, b"reloaded")
    assert "not reloaded: the resources and prompts of guide can't be read: OSError: the folder" in said


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_reload_reads_them_again_and_tells_the_client(tmp_path, mode):
    module = tmp_path / "guide.py"
    module.write_text("__prompts__ = []\n", encoding="utf-8")
    more = GUIDE.replace('"Wind"', '"Rain"')

    async def main():
        async with hearing(tmp_path, mode) as (client, heard):
            assert (await client.list_resources()).resources == []
            module.write_text(more, encoding="utf-8")
            with anyio.fail_after(LONGEST_WAIT):
                await heard.both.wait()
            read = await client.read_resource("guide://contents")
            prompt = await client.get_prompt("advice", {"city": "Oslo"})
            return read.contents[0].text, prompt.messages[0].content.text

    assert anyio.run(main) == ("Rain", "short advice for Oslo")
