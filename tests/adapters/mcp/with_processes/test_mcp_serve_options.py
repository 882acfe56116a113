"""What the options of `serve` change: the context, the version, and whether arguments are corrected."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import anyio
import pytest
from mcp import Client
from mcp.types import ElicitResult
from mcp_processes import environment, http_server, over_stdio, raw_server, run, said_at_the_start
from patience import LONGEST_WAIT

pytestmark = [
    pytest.mark.needs_process,
    pytest.mark.slow("starts a server in a process for each question"),
]

APP = '''
import os
from contextlib import asynccontextmanager
from typing import Annotated

from operator_schema import Registry, skip, tool

__version__ = "3.1"


class Db:
    opened = 0


@asynccontextmanager
async def make_context():
    Db.opened += 1
    os.write(2, b"opened\\n")
    try:
        yield {Db: Db()}
    finally:
        os.write(2, b"closed\\n")


async def fail():
    raise LookupError("no database")


registry = Registry()


@registry.register
@tool
async def times(db: Annotated[Db, skip]) -> int:
    """Say how often it was opened."""
    return db.opened


@registry.register
@tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


@registry.register
@tool
def late() -> str:
    """Register another tool."""

    @registry.register
    @tool
    def triple(number: int) -> int:
        """Triple a number."""
        return 3 * number

    return "registered"
'''


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "desk.py").write_text(APP, encoding="utf-8")
    return tmp_path


async def text_of(client, name, **arguments):
    return (await client.call_tool(name, arguments)).content[0].text


def asked(question, *words, folder):
    async def main():
        async with Client(over_stdio(*words, "desk:registry", folder=folder)) as client:
            with anyio.fail_after(LONGEST_WAIT):
                return await question(client)

    return anyio.run(main)


def test_a_context_is_opened_once(folder):
    async def question(client):
        return [await text_of(client, "times") for _ in range(3)]

    assert asked(question, "--context", "desk:make_context", folder=folder) == ["1", "1", "1"]


WAYS = ["the client goes", signal.SIGINT, signal.SIGTERM]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process at once")
@pytest.mark.parametrize("way", WAYS)
def test_a_context_is_closed_with_the_server(folder, way):
    with raw_server("--context", "desk:make_context", "desk:registry", folder=folder) as raw:
        raw.begin()
        raw.call(1, "times")
        assert raw.receive()["result"]["content"][0]["text"] == "1"
        if isinstance(way, str):
            raw.process.stdin.close()
        else:
            raw.process.send_signal(way)
        assert raw.process.wait(LONGEST_WAIT) == (0 if isinstance(way, str) else 128 + way)
        said = raw.process.stderr.read()
    assert (said.count(b"opened\n"), said.count(b"closed\n")) == (1, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process at once")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_context_is_closed_with_the_server_over_http(folder, number):
    words = ("--context", "desk:make_context", "desk:registry")
    with http_server(*words, folder=folder) as (url, process):

        async def main():
            for _ in range(3):
                async with Client(url) as client:
                    assert await text_of(client, "times") == "1"

        anyio.run(main)
        process.send_signal(number)
        assert process.wait(LONGEST_WAIT) == 128 + number
    assert process.said.count("closed\n") == 1


def test_a_context_that_fails_ends_the_command(folder):
    done = run("--context", "desk:fail", "desk:registry", folder=folder)
    assert done.returncode == 2
    assert "fail() failed: LookupError: no database (desk.py, line " in done.stderr
    assert "serving" not in done.stderr


def test_a_reload_opens_the_context_again(folder):
    async def question(client):
        assert await text_of(client, "times") == "1"
        changed = APP.replace("opened = 0", "opened = 10")
        (folder / "desk.py").write_text(changed, encoding="utf-8")
        while await text_of(client, "times") != "11":  # noqa: ASYNC110  # as the server looks now and then
            await anyio.sleep(0.05)

    asked(question, "--reload", "--context", "desk:make_context", folder=folder)


def test_arguments_are_corrected_if_that_is_wanted(folder):
    async def question(client):
        texts = [await text_of(client, "double", number="21")]
        await text_of(client, "late")
        names = [one.name for one in (await client.list_tools()).tools]
        return [*texts, await text_of(client, "triple", number="7"), names[-1]]

    assert asked(question, "--repair", folder=folder) == ["42", "21", "triple"]
    plain = asked(question, folder=folder)
    assert "expected integer" in plain[0]
    assert "expected integer" in plain[1]


def test_a_module_without_tools_is_refused_and_a_registry_without_them_is_not(folder):
    (folder / "bare.py").write_text(
        "from operator_schema import Registry\n\nempty = Registry()\n", encoding="utf-8"
    )
    done = run("bare", folder=folder)
    assert done.returncode == 2
    assert "there are no tools in bare: decorate functions with @tool" in done.stderr
    assert "serving 0 tools" in said_at_the_start("bare:empty", folder=folder)


ADAPTERS = {"mcp": "server", "mcp_client": "tools_from"}
WITHOUT_THE_SDK = f"""
import json, sys
told = {{}}
for adapter, name in {ADAPTERS}.items():
    for missing in ("mcp_types", "anyio"):
        there = sys.modules.get(missing)
        sys.modules[missing] = None
        try:
            getattr(__import__(f"operator_schema.adapters.{{adapter}}", fromlist=[""]), name)
        except ImportError as error:
            told[f"{{adapter}} without {{missing}}"] = str(error)
        if there is None:
            del sys.modules[missing]
        else:
            sys.modules[missing] = there
print(json.dumps(told))
"""


def test_without_the_sdk_an_import_says_what_to_install():
    command = [sys.executable, "-c", WITHOUT_THE_SDK]
    done = subprocess.run(
        command, env=environment(), capture_output=True, check=True, text=True, timeout=LONGEST_WAIT
    )
    found = json.loads(done.stdout)
    assert len(found) == 2 * len(ADAPTERS)
    for adapter in ADAPTERS:
        needs = (
            f"operator_schema.adapters.{adapter} needs mcp 2.1 or newer: pip install 'operator-schema[mcp]'"
        )
        assert needs in found[f"{adapter} without mcp_types"]
        # Something else that is wrong isn't explained away.
        assert "import of anyio halted" in found[f"{adapter} without anyio"]


DELETING = """
from operator_schema import tool

@tool(confirm=True)
def delete(path: str) -> str:
    return f"{path} is gone"
"""


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ((), ["a is gone", "delete was not run: a person has to agree to it first, and nobody has."]),
        (("--confirm",), ["a is gone", "delete was not run"]),
        (("--no-confirm",), ["a is gone", "a is gone"]),
    ],
)
def test_a_person_is_asked_unless_that_is_unwanted(folder, words, texts):
    """First by a client that can ask, then by one that can't."""
    (folder / "deleting.py").write_text(DELETING, encoding="utf-8")
    questions = []

    async def answer(_context, params):
        questions.append(params.message)
        return ElicitResult(action="accept")

    async def main(callback):
        transport = over_stdio(*words, "deleting", folder=folder)
        async with Client(transport, mode="legacy", elicitation_callback=callback) as client:
            return await text_of(client, "delete", path="a")

    found = [anyio.run(main, callback) for callback in (answer, None)]
    assert [text.startswith(start) for text, start in zip(found, texts, strict=True)] == [True, True], found
    assert questions == ([] if "--no-confirm" in words else ['Run delete?\npath: "a"'])


def test_tools_that_lack_their_context_are_named_before_the_first_call(folder):
    said = said_at_the_start("desk:registry", folder=folder)
    told = "1 of 3 tools will fail for lack of context: times (db); give it with --context"
    assert told in said
    assert said.index(told) < said.index("serving 3 tools")
    said = said_at_the_start("--context", "desk:make_context", "desk:registry", folder=folder)
    assert "will fail" not in said


def test_what_a_given_context_lacks_is_named_too(folder):
    more = """

@tool
def asks(ctx: Annotated["ServerRequestContext", skip], session: Annotated["ServerSession", skip],
         progress: Annotated["Progress", skip], one: Annotated["One", skip], two: Annotated["Two", skip],
         three: Annotated[int, skip] = 3) -> str:
    return ""
"""
    imports = """
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from operator_schema.types import Progress

class One: pass
class Two: pass

context = {One: One()}
"""
    (folder / "lacks.py").write_text(APP + imports + more, encoding="utf-8")
    said = said_at_the_start("--context", "lacks:context", "lacks", folder=folder)
    assert "2 of 4 tools will fail" in said
    assert "asks (two)" in said
    assert "the context doesn't have it" in said


@pytest.mark.parametrize(("words", "version"), [((), "3.1"), (("--server-version", "4"), "4")])
def test_the_server_says_its_version(folder, words, version):
    with raw_server(*words, "desk:registry", folder=folder) as raw:
        assert raw.begin()["serverInfo"] == {"name": "desk", "version": version}


def test_a_module_in_a_package_has_the_version_of_the_package(folder):
    package = folder / "house"
    package.mkdir()
    (package / "__init__.py").write_text('__version__ = "7"', encoding="utf-8")
    (package / "desk.py").write_text(APP.replace("__version__", "nothing"), encoding="utf-8")
    (folder / "bare.py").write_text(APP.replace("__version__", "nothing"), encoding="utf-8")
    for target, version in (("house.desk", "7"), ("bare", "0")):
        with raw_server(target, folder=folder) as raw:
            assert raw.begin()["serverInfo"]["version"] == version
