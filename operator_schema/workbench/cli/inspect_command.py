"""The command `inspect`: tools on a page in the browser, which follows changes of the source."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager, nullcontext, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...message_text import escape
from .. import inspector
from .arguments import (
    SECONDS,
    SERVERS,
    TARGET,
    TargetCommand,
    context_option,
    given_to_factory,
    programs_named,
    traceback_option,
    why_not_served,
)
from .contexts import OpenContexts, run_in_loop
from .lookup import ObjectName, find_tools_to_run
from .module_loading import WrongUse, extra_needed
from .output import count
from .reloading import following
from .sources import server_source, why_no_server
from .store_opening import open_store, secret_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from typing import TypeAlias

    from ...rounds import Store
    from .contexts import GivenContext
    from .output import Printer

    Follow: TypeAlias = Callable[[inspector.Inspector, Printer], AbstractAsyncContextManager[None]]

_FOR_A_STORE = {"secret_env": "--secret-env", "secret_file": "--secret-file", "by": "--as"}


@click.command(
    "inspect",
    cls=TargetCommand,
    epilog=f"""\b
examples:
  operator-schema inspect app:registry
  operator-schema inspect --context app:make_context --calls calls.jsonl app:registry
  operator-schema inspect --store desk.db app:registry
  operator-schema inspect mcp:"npx -y @modelcontextprotocol/server-everything"
  operator-schema inspect https://tools.example.com/mcp

\b
A target is a module or a registry, as for tools, or an MCP server:
{SERVERS}""",
)
@click.argument("target", type=TARGET)
@context_option
@click.option(
    "--calls",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A log of calls, as JSON Lines.",
)
@click.option(
    "--tried",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File for the calls that you keep on the page (default: they are forgotten at the end).",
)
@click.option(
    "--store",
    metavar="DATABASE",
    help="A store with rounds that wait for a person: a file, or an address as for the command store.",
)
@click.option("--secret-env", metavar="NAME", help="Variable with the secret of the store.")
@click.option("--secret-file", metavar="FILE", help="File with the secret of the store.")
@click.option("--as", "by", metavar="NAME", help="Who decides about these rounds, for the record.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="To listen on (default: any).")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=SECONDS,
    default=30.0,
    help="Seconds that a call may take, unless its tool has a limit of its own (default: 30).",
)
@click.option("--reload/--no-reload", default=True, help="Whether to follow changes of your modules.")
@traceback_option
@click.pass_obj
def inspect_tools(outputs: tuple[Printer, Printer], /, target: ObjectName | str, **options: Any) -> int:
    """Show tools on a page in your browser: what models see of them, and what they send.

    The page shows each tool as each provider gets it, what is lost on the way, and what it costs; how a call
    is read, and what the model reads if it is wrong; which calls of a log fail, and why; and the calls that
    wait for a person in a store. It reads the modules again when their files change.

    Nobody but you can open it: it listens on this machine alone, and its address has a token. The target is a
    module, MODULE:REGISTRY, or any MCP server.

    It needs the extra inspector: pip install 'operator-schema[inspector]'
    """
    if isinstance(target, str) and options["context"] is not None:
        message = "--context is for your own tools: a server has what it needs"
        raise WrongUse(message)
    needed = "inspect needs starlette and uvicorn: pip install 'operator-schema[inspector]'"
    with extra_needed({"starlette", "uvicorn"}, needed):
        import_module("..inspector.app", __package__)
    options["given"] = given_to_factory(click.get_current_context())
    kept = _kept(options)
    try:
        with redirect_stdout(sys.stderr):
            return run_in_loop(_serve(target, options, kept, outputs[1]))
    except OSError as error:
        raise WrongUse(why_not_served(error, "127.0.0.1", options["port"])) from None


def _kept(options: Mapping[str, Any]) -> dict[str, Any]:
    """Open the store and the file of tried calls.

    Raises:
        WrongUse: the store or the file can't be used.
    """
    from ..inspector.call_logs import check_has_calls
    from ..inspector.tried_calls import TriedCalls

    calls: Path | None = options["calls"]
    if calls is not None and not calls.is_file():
        message = f"--calls: there is no file {escape(str(calls))}"
        raise WrongUse(message)
    if calls is not None:
        _used("calls", check_has_calls, calls)
    tried = _used("tried", TriedCalls, options["tried"])
    return {"tried": tried, "recorded": calls, "by": options["by"], "store": _store(options)}


def _used(option: str, use: Callable[[Any], Any], file: Path | None) -> Any:
    """Use the file of an option.

    Raises:
        WrongUse: the file can't be used.
    """
    try:
        return use(file)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        message = f"--{option} {escape(str(file))} can't be used: {escape(str(why))}"
        raise WrongUse(message) from None


def _store(options: Mapping[str, Any]) -> Store | None:
    """Open the store of the command line, if it has one.

    Raises:
        WrongUse: it can't be used, or another option has no meaning without it.
    """
    if options["store"] is None:
        for name, option in _FOR_A_STORE.items():
            if options[name] is not None:
                message = f"{option} is for --store"
                raise WrongUse(message)
        return None
    try:
        return open_store(options["store"], secret_of(options["secret_env"], options["secret_file"]))
    except WrongUse as error:
        message = f"--store: {error.message}"
        raise WrongUse(message) from None


async def _serve(
    given: ObjectName | str, options: Mapping[str, Any], kept: Mapping[str, Any], err: Printer
) -> int:
    """Serve the page until a signal arrives."""
    opened = _server_inspected if isinstance(given, str) else _module_inspected
    async with opened(given, options) as (subject, follow):
        inspected = inspector.Inspector(subject, **kept)

        def announce(address: str) -> None:
            err.line(f"operator-schema: {count(len(subject.tools), 'tool')} of {subject.name}", "dim")
            err.line(address)
            err.line("open this address in a browser; Ctrl+C ends it", "dim")
            err.flush()

        async with follow(inspected, err):
            await inspector.serve_inspector(inspected, options["port"], announce)
    return 0


@asynccontextmanager
async def _server_inspected(
    place: Any, options: Mapping[str, Any]
) -> AsyncGenerator[tuple[inspector.Subject, Follow]]:
    """Connect to an MCP server for as long as the page is served.

    Raises:
        WrongUse: there is no such server, or it doesn't list its tools.
    """
    source = server_source(place)
    is_open = False
    needed = "an MCP server needs the package mcp: pip install 'operator-schema[inspector,mcp]'"
    try:
        with extra_needed({"mcp"}, needed):
            async with inspector.server_tools(source) as tools:
                subject = _subject_of_server(place, tools, options)
                is_open = True
                yield subject, lambda _inspector, _err: nullcontext()  # only modules are reloaded
    except (ModuleNotFoundError, WrongUse):
        raise
    except Exception as error:  # for any error of the server, or of the connection to it
        if is_open:
            raise
        message = f"the MCP server {escape(place)} can't be used: {why_no_server(error, source)}"
        raise WrongUse(message) from None


def _subject_of_server(place: str, tools: Any, options: Mapping[str, Any]) -> inspector.Subject:
    notes = tuple(tools.report().splitlines())
    return inspector.subject_of(place, list(tools), is_foreign=True, notes=notes, timeout=options["timeout"])


@asynccontextmanager
async def _module_inspected(
    given: Any, options: Mapping[str, Any]
) -> AsyncGenerator[tuple[inspector.Subject, Follow]]:
    """Import tools, and open their context for as long as the page is served."""

    def load() -> tuple[Any, GivenContext | None]:
        with programs_named(str(given)):
            return find_tools_to_run(given, options)

    contexts = OpenContexts()

    async def subject_now(imported: tuple[Any, GivenContext | None]) -> inspector.Subject:
        offered, found = imported
        context = await contexts.open(found)
        return inspector.subject_of(str(given), offered, context=context, timeout=options["timeout"])

    def follow(inspected: inspector.Inspector, err: Printer) -> AbstractAsyncContextManager[None]:
        async def replace(imported: tuple[Any, GivenContext | None]) -> str:
            subject = await subject_now(imported)
            inspected.replace(subject)
            return count(len(subject.tools), "tool")

        is_on = options["reload"]
        return following(given.module, load, replace, err, inspected.fail) if is_on else nullcontext()

    try:
        yield await subject_now(load()), follow
    finally:
        await contexts.close()
