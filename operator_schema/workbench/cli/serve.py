"""The command `serve`: a server of tools over standard input and output, or over HTTP."""

from __future__ import annotations

import os
import sys
from contextlib import AsyncExitStack, redirect_stdout
from copy import copy
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ... import code_mode, rounds
from ...errors import DuplicateToolError, MissingContextError, SchemaError
from ...execution import Executor
from ...immutable import Value
from ...message_text import escape, listed
from ...rounds import Registry
from .arguments import (
    CLIENTS,
    REGISTRY,
    SECONDS,
    NearChoice,
    TargetCommand,
    complete_files,
    context_option,
    given_to_factory,
    server_name,
    traceback_option,
    why_not_served,
    written_options,
)
from .contexts import OpenContexts, run_in_loop
from .lookup import ObjectName, find_documents, find_tools_to_run
from .module_loading import WrongUse, extra_needed
from .output import count
from .reloading import following

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.server.lowlevel import Server

    from ...adapters.base import Tools
    from ...adapters.mcp import Address, Handlers
    from ...adapters.mcp.gateway import Gateway
    from .contexts import GivenContext
    from .output import Printer

    Streams = tuple[BinaryIO, BinaryIO]


_NO_VERSION = "0"
_SHOWN = 10
_PORT = 8000
_HOST = "127.0.0.1"
SHORTEST_TOKEN = 16
_MOST_PROGRAMS = 1_000

_OF_HTTP = ("port", "host", "token_env", "token_file", "no_token", "allow_host", "allow_origin")


@click.command(
    cls=TargetCommand,
    epilog="""\b
examples:
  operator-schema serve app:registry
  operator-schema serve app:executor
  operator-schema serve --reload app:registry
  operator-schema serve --http --port 9000 app:registry
  operator-schema serve --http --host 0.0.0.0 --allow-host tools.example.com --token-env TOKEN app
  operator-schema serve --print-config claude-mcp-add app:registry
  operator-schema serve --print-config cursor --write app:registry
  operator-schema serve operator_schema.code_tools --root .
  operator-schema serve --gateway servers.json --search
  operator-schema serve --gateway servers.json --code
""",
)
@click.argument("target", type=REGISTRY, metavar="MODULE[:REGISTRY]", required=False)
@click.option(
    "--gateway",
    metavar="FILE",
    type=click.Path(resolve_path=True),
    shell_complete=complete_files,
    help="Serve the tools of the MCP servers of this file (mcpServers), in place of a module.",
)
@click.option("--http", is_flag=True, help="Serve streamable HTTP; without it, standard input and output.")
@click.option("--host", default=_HOST, show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=_PORT, show_default=True, help="0: any.")
@click.option("--token-env", metavar="NAME", help="Variable with the bearer token that clients send.")
@click.option("--token-file", metavar="PATH", help="File with that token.")
@click.option("--no-token", is_flag=True, help="Serve other machines without a token.")
@click.option("--allow-host", metavar="NAME", multiple=True, help="Name of this server in requests.")
@click.option("--allow-origin", metavar="URL", multiple=True, help="Web page that may send requests.")
@click.option("--name", help="Name of the server (default: that of the module).")
@click.option("--server-version", metavar="TEXT", help="Its version (default: __version__ of the module).")
@context_option
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=SECONDS,
    help="Seconds that a call may take, unless its tool has a limit of its own (default: that of the "
    "executor, or 30).",
)
@click.option(
    "--structured",
    type=NearChoice(["objects", "all", "none"]),
    default="objects",
    help="Which results are sent as data too, not only as text (default: objects).",
)
@click.option("--repair", is_flag=True, help="Correct arguments if only one meaning is possible.")
@click.option("--search", is_flag=True, help="List only a tool that finds the others, and what it has found.")
@click.option(
    "--code",
    is_flag=True,
    help="List only a tool that runs programs, which call the others, and one that finds these.",
)
@click.option("--page-size", type=click.IntRange(min=1), help="Tools in one answer (default: all).")
@click.option(
    "--confirm/--no-confirm",
    default=True,
    help="Whether a person is asked before tools with confirm=True run (default: yes). Without one who can "
    "be asked, they don't run.",
)
@click.option("--log", metavar="LOGGER", help="Logger whose records go to the client that calls.")
@click.option("--reload", is_flag=True, help="Import your modules again when their files change.")
@click.option(
    "--print-config",
    "client",
    type=NearChoice(CLIENTS),
    metavar="CLIENT",
    help=f"Print what a client needs to use the server, and serve nothing: {', '.join(CLIENTS)}.",
)
@click.option("--write", is_flag=True, help="With --print-config: add it to the file of your project.")
@click.option("--force", is_flag=True, help="With --write: replace a server of the same name.")
@traceback_option
@click.pass_obj
def serve(outputs: tuple[Printer, Printer], /, target: ObjectName | None, **options: Any) -> int:
    """Serve tools over the Model Context Protocol (MCP).

    The tools are those of a module or package, of a registry or toolset, or of an executor, whose hooks,
    context and limits apply. A function may make one of these: its parameters are options, which --help shows
    after the target. A client such as Claude Desktop starts the command, and talks to it over standard input
    and output. What tools print goes to standard error. Resources and prompts of the module are served, too:
    __resources__ is a mapping of URIs to values or functions, __prompts__ a list of functions.

    With --gateway, the tools are those of other MCP servers, listed in a file as clients have it: JSON with
    mcpServers. Their names begin with the name of the server. An entry may have "only", a list of tool names,
    "confirm": true, or a list of the tools before which a person is asked, and "seconds" that the server may
    take to answer. ${NAME} is a variable of the environment.

    With --search or --code, a model sees one tool that finds the others, instead of all tools. With --code,
    it writes programs in a subset of Python that call the tools. They run in a sandbox, which needs the extra
    monty.

    With --http, the server listens on this machine alone, unless --host says otherwise. Requests with another
    Host or from a web page are refused. Other machines need a token. It is never an argument of the command,
    since anybody on this machine can read the arguments of a program.

    It needs the extra mcp: pip install 'operator-schema[cli,mcp]'
    """
    ctx = click.get_current_context()
    _check_http(ctx)
    _check_offered(ctx)
    _check_printed(options)
    options["given"] = given_to_factory(ctx)
    if options["client"] is not None:
        from .client_config import print_config

        return print_config(outputs, ctx)
    with extra_needed({"mcp"}, "serve needs the package mcp: pip install 'operator-schema[cli,mcp]'"):
        import_module("...adapters.mcp", __package__)
    if options["http"]:
        address = _address(options)
        with redirect_stdout(sys.stderr):
            return _serve(target, options, outputs[1], address)
    from ...adapters.mcp import opening_request, taken_streams

    with taken_streams() as (begun, sink):
        source = begun
        if options["gateway"] is not None:
            from ...adapters.mcp import note_gateways_above

            opening, source = opening_request(begun)
            note_gateways_above(opening)
        return _serve(target, options, outputs[1], (source, sink))


def _serve(target: ObjectName | None, options: dict[str, Any], err: Printer, place: Address | Streams) -> int:
    """Serve until the client disconnects, or a signal arrives."""
    offered = None if target is None else _import_target(target, options)
    if offered is not None:
        offered.check()  # before anything is opened
    try:
        return run_in_loop(_serve_in_loop(target, offered, options, err, place))
    except OSError as error:
        message = f"can't serve: {error.strerror or error}"
        if not isinstance(place, tuple):
            message = why_not_served(error, place.host, place.port)
        raise WrongUse(message) from None


async def _serve_in_loop(
    target: ObjectName | None,
    offered: ServedTools | None,
    options: dict[str, Any],
    err: Printer,
    place: Address | Streams,
) -> int:
    async with AsyncExitStack() as stack:
        gateway = None
        if offered is None:
            from .gateway_config import servers_in
            from .gateway_opening import open_servers

            file = options["gateway"]
            gateway = await stack.enter_async_context(open_servers(servers_in(file, err.line), err, file))
            offered = ServedTools(gateway.registry, None, options)
        contexts = OpenContexts()
        stack.push_async_callback(contexts.close)
        context = await contexts.open(offered.context)
        own = _handlers(offered, context)
        _warn_of_failing_tools(own, context, err)
        follower = _Follower(own, contexts, offered, context, err)
        if options["reload"] and target is not None:
            load = partial(_import_target, target, options)
            await stack.enter_async_context(following(target.module, load, follower.replace, err))

        def announce(where: str) -> None:
            err.line(f"operator-schema: serving {offered.in_words()} on {where}", "dim")
            err.flush()

        return await _run_server(_server(own, target, offered, gateway), place, announce)


def _warn_of_failing_tools(own: Handlers, context: Mapping[Any, Any] | None, err: Printer) -> None:
    """Warn about tools that will fail at each call, since otherwise only a call would show it."""
    registry = own.executor.registry
    of_all = f"of {count(len(registry), 'tool')}"
    empty = [tool.name for tool in registry if not tool.has_function]
    if empty:
        err.report(
            "",
            f"{len(empty)} {of_all} will fail, because they have no function to run: {listed(empty, _SHOWN)}",
        )
    found = own.missing_context()
    if not found:
        return
    lacking = [
        f"{name} ({', '.join(error.parameters) if isinstance(error, MissingContextError) else error.message})"
        for name, error in found.items()
    ]
    remedy = "give it with --context MODULE:NAME" if context is None else "the context doesn't have it"
    needed = f"{listed(lacking, _SHOWN)}; {remedy}"
    err.report("", f"{len(found)} {of_all} will fail for lack of context: {needed}")


def _handlers(offered: ServedTools, context: Mapping[Any, Any] | None) -> Handlers:
    from ...adapters.mcp import handlers

    options = offered.options
    return handlers(
        offered.executor(),
        context=context,
        **offered.documents,
        documents_change=options["reload"],
        structured=options["structured"],
        confirm=options["confirm"],
        page_size=options["page_size"],
        logger=options["log"] or None,
    )


def _server(
    own: Handlers, target: ObjectName | None, offered: ServedTools, gateway: Gateway | None = None
) -> Server[Any]:
    from ...adapters.mcp import server_of

    options = offered.options
    version = _NO_VERSION if target is None else _version_of(target.module)
    version = options["server_version"] or version
    name = server_name(target, options)
    if gateway is not None:
        return gateway.front(own, name, version=version)
    may_change = options["reload"] or bool(options.get("search")) or offered.registry is not None
    return server_of(own, name, may_change=may_change, version=version)


def _version_of(module: str) -> str:
    """Return the version that a module, or the package around it, declares."""
    for name in (module, module.partition(".")[0]):
        version = getattr(sys.modules.get(name), "__version__", None)
        if isinstance(version, str) and version:
            return version
    return _NO_VERSION


async def _run_server(made: Server[Any], place: Address | Streams, announce: Callable[[str], object]) -> int:
    if isinstance(place, tuple):
        from ...adapters.mcp import serve_stdio

        announce("standard input and output")
        return await serve_stdio(made, *place)
    from ...adapters.mcp import serve_http

    return await serve_http(made, place, announce)


class ServedTools(Value):
    """The tools and documents that are served.

    Attributes:
        tools: the imported tools.
        context: the object that gives the context, or None.
        options: the options of the command.
        documents: resources and prompts, by option names of a server.
    """

    tools: Tools
    context: GivenContext | None
    options: Mapping[str, Any]
    documents: Mapping[str, Any] = {}

    def in_words(self) -> str:
        """Return the number of tools, and of resources and prompts if there are any, in words."""
        numbers = {name.removesuffix("s"): len([*found]) for name, found in self.documents.items()}
        others = [count(number, name) for name, number in numbers.items() if number]
        return listed([count(len(self._all()), "tool"), *others])

    def _all(self) -> Registry:
        from ...adapters.base import registry_of

        return registry_of(self.tools)

    def check(self) -> None:
        """Check the tools, the resources and the prompts.

        Raises:
            WrongUse: something has a fault.
        """
        from ...adapters.mcp import read_prompts, read_resources

        self.executor()
        for name, found in self.documents.items():
            try:
                (read_resources if name == "resources" else read_prompts)(found)
            except (TypeError, ValueError) as error:
                message = f"__{name}__ can't be served: {_in_a_line(error)}"
                raise WrongUse(message) from None

    @property
    def registry(self) -> Registry | None:
        """The registry of the tools, if they may change; otherwise None."""
        tools = self.tools.registry if isinstance(self.tools, Executor) else self.tools
        return tools if isinstance(tools, Registry) else None

    def executor(self) -> Executor:
        """Return an executor for the present tools.

        Raises:
            WrongUse: a tool has the same name as the search.
        """
        options: dict[str, Any] = {}
        if self.options["timeout"] is not None:
            options["timeout"] = self.options["timeout"]
        registry = self._all()
        if self.options["repair"]:
            registry = copy(registry)
            registry.update(lambda tools: tools.with_(repair=True))
        if self.options.get("search") and not isinstance(registry, rounds.ToolSearch):
            try:
                registry = rounds.ToolSearch(registry)
            except DuplicateToolError as error:
                message = f"rename the tool {error.tool}: the search has this name"
                raise WrongUse(message) from None
        if isinstance(self.tools, Executor):
            made = self.tools.with_tools(registry).with_(**options)
        else:
            made = Executor(registry, strict_results=not self.options.get("code"), **options)
        return self._with_programs(made) if self.options.get("code") else made

    def _with_programs(self, executor: Executor) -> Executor:
        """Return an executor of programs that call the tools; it is served in place of the tools.

        Raises:
            WrongUse: the executor has a store.
        """
        from ...adapters.mcp import program_tools

        if not self.options["confirm"]:
            executor = executor.with_(confirm="run")
        try:
            sandbox = code_mode.Monty()
            session = code_mode.CodeSession(executor, sandbox=sandbox, journal=_journal())
        except ValueError as error:
            message = f"--code: {error}"
            raise WrongUse(message) from None
        return Executor(program_tools(executor, session), context=executor.context)


@cache
def _journal() -> code_mode.Journal:
    """Return the journal in which programs of this process wait, even after the tools have changed."""
    return code_mode.Journal(most=_MOST_PROGRAMS)


def _in_a_line(error: Exception) -> str:
    """Return the fault of a resource or a prompt in one line, with its place if that is known."""
    parts = [str(finding) for finding in error.findings] if isinstance(error, SchemaError) else [str(error)]
    return escape(": ".join([*getattr(error, "__notes__", ()), listed(parts, _SHOWN, "; ")]))


def _import_target(target: ObjectName, options: Mapping[str, Any]) -> ServedTools:
    """Import the target.

    Raises:
        WrongUse: the target can't be imported, or has no tools.
    """
    documents = find_documents(target, show_traceback=options["show_traceback"])
    tools, context = find_tools_to_run(target, options, needs_tools=not documents)
    return ServedTools(tools, context, options, documents)


class _Follower:
    """Keep a server up to date when its registry or its modules change.

    Args:
        own: the handlers of the server.
        contexts: the contexts; they are opened again for modules that were imported again.
        offered: the tools and documents that are served now.
        context: the open context of these tools.
        err: standard error.
    """

    def __init__(
        self,
        own: Handlers,
        contexts: OpenContexts,
        offered: ServedTools,
        context: Mapping[Any, Any] | None,
        err: Printer,
    ) -> None:
        self._own = own
        self._contexts = contexts
        self._err = err
        self._stop = self._listen(offered, context)

    def _listen(self, offered: ServedTools, context: Mapping[Any, Any] | None) -> Callable[[], None] | None:
        """Make the search or the programs again whenever the registry changes."""
        registry = offered.registry
        options = offered.options
        is_other = options["repair"] or options.get("search") or options.get("code")
        if not is_other or registry is None:
            return None

        def follow(_: object) -> None:
            self._own.replace(offered.executor(), context)

        return registry.on_change(follow)

    async def replace(self, offered: ServedTools) -> str:
        """Serve tools that were imported again, and return a description in words."""
        offered.check()
        executor = offered.executor()
        context = await self._contexts.open(offered.context)
        if self._stop is not None:
            self._stop()
        self._own.replace(executor, context)
        self._own.replace_documents(*map(offered.documents.get, ("resources", "prompts")))
        self._stop = self._listen(offered, context)
        _warn_of_failing_tools(self._own, context, self._err)
        return offered.in_words()


def _check_http(ctx: click.Context) -> None:
    given = [option for option in written_options(ctx) if option.name in _OF_HTTP]
    if given and not ctx.params["http"]:
        message = f"{given[0].opts[0]} is for --http"
        raise WrongUse(message)


def _check_offered(ctx: click.Context) -> None:
    """Check the options for the served tools and for the transport."""
    given = ctx.params
    if (given["target"] is None) == (given["gateway"] is None):
        message = "give the module with the tools, or --gateway FILE"
        if given["target"] is not None:
            message = "give a module or --gateway FILE, not both: a file may name `operator-schema serve` too"
        raise WrongUse(message)
    if given["gateway"] is not None and given["reload"]:
        message = "--reload is for a module"
        raise WrongUse(message)
    if given["gateway"] is not None and given["context"] is not None:
        message = "--context is for your own tools: the servers of a gateway have what they need"
        raise WrongUse(message)
    if given["code"] and given["search"]:
        message = "--code has a search of its own: leave out --search"
        raise WrongUse(message)
    if given["code"] and find_spec("pydantic_monty") is None:
        message = "--code needs the extra monty: pip install 'operator-schema[cli,mcp,monty]'"
        raise WrongUse(message)


def _check_printed(options: Mapping[str, Any]) -> None:
    if options["write"] and options["client"] is None:
        message = f"--write is for --print-config CLIENT: one of {', '.join(CLIENTS)}"
        raise WrongUse(message)
    if options["force"] and not options["write"]:
        message = "--force is for --write"
        raise WrongUse(message)


def _address(options: dict[str, Any]) -> Address:
    from ...adapters.mcp import Address

    address = Address(
        options["host"], options["port"], _token(options), options["allow_host"], options["allow_origin"]
    )
    if address.token is None and not address.is_local and not options["no_token"]:
        message = (
            f"{escape(address.host)} can be reached by other machines: give a token with --token-env or"
            " --token-file, or --no-token if a proxy before the server asks for one"
        )
        raise WrongUse(message)
    return address


def _token(options: dict[str, Any]) -> str | None:
    variable, file = options["token_env"], options["token_file"]
    if variable is not None and file is not None:
        message = "give --token-env or --token-file, not both"
        raise WrongUse(message)
    if variable is not None:
        place = f"the variable {escape(variable)}"
        token = os.environ.pop(variable, None)  # programs that tools start don't need it
        if token is None:
            message = f"{place} with the token isn't set"
            raise WrongUse(message)
    elif file is not None:
        place = escape(file)
        try:
            token = Path(file).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            message = f"can't read a token from {place}: {getattr(error, 'strerror', None) or 'not ASCII'}"
            raise WrongUse(message) from None
    else:
        return None
    token = token.strip()
    if len(token) < SHORTEST_TOKEN or not (token.isascii() and token.isprintable()) or " " in token:
        message = f"{place} holds no token of at least {SHORTEST_TOKEN} visible ASCII characters"
        raise WrongUse(message)
    return token
