"""Which arguments and options do several commands take?"""

from __future__ import annotations

import re
import shlex
from contextlib import contextmanager
from errno import EADDRINUSE
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, get_args

import click

from ...engine import UnknownFields
from ...errors import SchemaError
from ...lazy import names_meant
from ...message_text import escape
from .lookup import ObjectName, find_factory
from .module_loading import WrongUse, is_path, module_of_file

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from click.shell_completion import CompletionItem

    from .factories import Factory

    _NameParam = click.ParamType[ObjectName]
    _AnyParam = click.ParamType[Any]
    _SecondsParam = click.ParamType[float]
    _TextChoice = click.Choice[str]
else:
    # Older versions of click take no types.
    _NameParam = _AnyParam = _SecondsParam = click.ParamType
    _TextChoice = click.Choice

T = TypeVar("T", bound=str)


MCP: Final = "mcp:"
"""The prefix of a target that is a command for starting a server."""

SERVERS: Final = """\
  https://example.com/mcp an MCP server
  mcp:"COMMAND …"         a command that starts one; mcp: is optional if the command has a space
"""
"""The forms of an MCP server as a target, for the help."""

TARGETS: Final = f"""\b
A target is one of these:
  tools, tools.py         a module by its name or its file
  app:registry            a registry, a toolset or an executor in it
  app:registry.search     one tool
  tools.json              a snapshot, the result of tools/list, or a request to a provider
{SERVERS}"""
"""The possible targets, for the help."""


def is_url(target: str) -> bool:
    """Return whether a target is a URL, rather than a command or a module."""
    return target.lower().startswith(("http://", "https://"))


def is_server(target: str) -> bool:
    """Return whether a target is an MCP server: a URL, or a command, with `MCP` before it or with a space."""
    is_command = " " in target.strip() and not Path(_parted(target)[0]).exists()
    return target.startswith(MCP) or is_url(target) or is_command


@contextmanager
def programs_named(target: str) -> Generator[None]:
    """Add a hint to the error about a target that is a program, since it may be an MCP server.

    Args:
        target: a target from `TARGETS`, of a command that accepts servers.

    Raises:
        WrongUse: the target can't be used; the message has the hint.
    """
    try:
        yield
    except WrongUse as error:
        if target.endswith(".py") or which(target) is None:
            raise
        way = f"to start this program as an MCP server, write {MCP}{shlex.quote(target)}"
        message = f"{error.message}; {way}"
        raise WrongUse(message) from None


def why_not_served(error: OSError, host: str, port: int) -> str:
    """Return why nothing can listen on a port, and an alternative if the port is in use."""
    remedy = ": give another --port, or --port 0 for any that is free" if error.errno == EADDRINUSE else ""
    return f"can't serve on {escape(host)}, port {port}: {error.strerror or error}{remedy}"


class _NameType(_NameParam):
    """`MODULE:NAME`, where NAME may have dots.

    Args:
        kind: the metavar of the name.
        sample: an example of the whole.
        optional: whether the module alone is enough.
    """

    def __init__(self, kind: str, sample: str, *, optional: bool = False) -> None:
        self.name = f"MODULE[:{kind}]" if optional else f"MODULE:{kind}"
        self._kind = kind
        self._sample = sample
        self._optional = optional

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> ObjectName:
        text = str(value)
        if text.startswith(MCP) or is_url(text):
            reason = "tools of a server are listed by check, snapshot and stubs, and tried with inspect"
            self.fail(f"{escape(text)!r} isn't {self.name}: {reason}", param, ctx)
        if _SCHEME.match(text):
            self.fail(
                f"{escape(text)!r}: the address of a server begins with http:// or https://", param, ctx
            )
        if text.endswith(".json") and Path(text).is_file():
            reason = "definitions in a file are taken by check, snapshot, diff and stubs"
            self.fail(f"{escape(text)!r} isn't {self.name}: {reason}", param, ctx)
        module, colon, path = _parted(text)
        if not is_path(module) and not all(module.split(".")):
            self.fail(f"{escape(module)!r} isn't the name of a module", param, ctx)
        if not colon and not self._optional:
            self.fail(f"{escape(text)!r} isn't {self.name}{self._hint(module)}", param, ctx)
        # names of tools may contain a hyphen
        steps = (path.replace("-", "_") if self._kind in _WITH_TOOLS else path).split(".")
        if colon and not all(step.isidentifier() for step in steps):
            reason = f"{self._kind} must be a name, or several joined by dots"
            self.fail(f"{escape(text)!r} isn't {self.name}: {reason}", param, ctx)
        return ObjectName(module_of_file(module) if is_path(module) else module, path)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Return the modules, or the names in a module, that begin with a text."""
        from .completion import complete_modules, complete_names

        module, colon, _ = _parted(incomplete)
        if not colon:
            return complete_modules(incomplete, "" if self._optional else ":")
        return complete_names(self._kind, REGISTRY.convert(module, param, ctx).module, incomplete)

    def _hint(self, module: str) -> str:
        if is_path(module):
            return f"; add a colon and its name: {escape(module)}:{self._kind}"
        parent, _, last = module.rpartition(".")
        if parent and last.isidentifier():
            return f"; did you mean {escape(parent)}:{last}?"
        return f", such as {self._sample}"


class _TargetType(_AnyParam):
    """`MODULE[:REGISTRY]`, or an MCP server, which stays a string."""

    name = "TARGET"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> ObjectName | str:
        if is_server(str(value)):
            return str(value)
        with programs_named(str(value)):
            return REGISTRY.convert(value, param, ctx)


_WITH_TOOLS = {"TOOL", "REGISTRY"}


def _parted(text: str) -> tuple[str, str, str]:
    """Split a target at its colon, but not at the colon after a drive letter."""
    drive, rest = (text[:2], text[2:]) if _DRIVE.match(text) else ("", text)
    module, colon, path = rest.partition(":")
    return drive + module, colon, path


_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://?")


class _SecondsType(_SecondsParam):
    """A time limit."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = 0.0
        if not seconds > 0:
            self.fail(f"{escape(str(value))!r} isn't a number of seconds above 0, such as 2.5", param, ctx)
        return seconds


SECONDS = _SecondsType()
TYPE = _NameType("TYPE", "tools:WebSearch")
TOOL = _NameType("TOOL", "tools:web_search")
NAME = _NameType("NAME", "app:make_context")
REGISTRY = _NameType("REGISTRY", "app:registry", optional=True)
TARGET = _TargetType()


def complete_files(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    """Leave the completion of a file to the shell."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def complete_target(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Return the modules and registries that begin with a text; the target may also be of another kind."""
    found = REGISTRY.shell_complete(ctx, param, incomplete)
    return found or complete_files(ctx, param, incomplete)


class NearChoice(_TextChoice):
    """A choice of words; the error for an unknown word suggests the most similar ones."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the word.

        Raises:
            click.BadParameter: the word is unknown.
        """
        meant = names_meant(value, self.choices) if value not in self.choices else []
        if meant:
            self.fail(f"there is no {escape(value)}; did you mean {' or '.join(meant)}?", param, ctx)
        return super().convert(value, param, ctx)


def context_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --context for the objects that are injected into tools."""
    about = "A mapping to inject, a function that returns one, or a context manager."
    return click.option("--context", type=NAME, metavar="MODULE:NAME", help=about)(command)


def traceback_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --traceback."""
    text = "If a module can't be imported, or a tool fails, show the whole traceback."
    return click.option("--traceback", "show_traceback", is_flag=True, help=text)(command)


def json_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the option --json to a command.

    Args:
        what: the help text of the option, which says what is printed as JSON.
    """
    return click.option("--json", "as_json", is_flag=True, help=what)


def format_option(*shapes: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the options --format and --json to a command.

    Args:
        shapes: formats besides text and JSON.
    """
    known = ", ".join([_SHAPES[shape] for shape in shapes])

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        with_json = json_option("The same as --format json.")(command)
        return click.option(
            "--format",
            "shape",
            type=NearChoice(["text", "json", *shapes]),
            default="text",
            help=f"What is printed: text, JSON, {known} (default: text).",
        )(with_json)

    return add


_SHAPES = {
    "github": "annotations of GitHub Actions",
    "sarif": "a SARIF log for code scanning",
    "html": "a page",
}


def fail_on_option(
    levels: Sequence[str], default: str = "error"
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds the option --fail-on to a command.

    Args:
        levels: the levels, the most serious first; `never` is added.
        default: the level if the option isn't given.
    """
    return click.option(
        "--fail-on",
        type=NearChoice([*levels, "never"]),
        default=default,
        help=f"The lowest level that makes the exit status 1 (default: {default}).",
    )


def levels_from(levels: Sequence[T], least: str) -> Sequence[T]:
    """Return a level and all more serious ones; none for `never`.

    Args:
        levels: the levels, the most serious first.
        least: a level, or `never`.
    """
    return () if least == "never" else levels[: [str(level) for level in levels].index(least) + 1]


def unknown_fields_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the option --unknown-fields."""
    return click.option(
        "--unknown-fields",
        type=NearChoice(get_args(UnknownFields)),
        default="ignore",
        help="What to do with a key that names no field (default: ignore).",
    )(command)


Client = Literal["claude-desktop", "claude-code", "claude-mcp-add", "vscode", "cursor", "codex"]
"""A program that has the configuration of its MCP servers."""

CLIENTS: tuple[Client, ...] = get_args(Client)

_FACTORY = f"{__name__}.factory"
_HELP = {"--help", "-h"}
_ASKED = {*_HELP, "--print-config"}


class TargetCommand(click.Command):
    """A command that takes a target first; it has its own options, and those of the target's function."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. The function is looked up only if there are options for it."""
        word, others = self._target_in(args)
        known = {opt for one in self.params for opt in (*one.opts, *one.secondary_opts)}
        unknown = any(other.startswith("--") and other.partition("=")[0] not in known for other in others)
        if word is not None and (unknown or not _ASKED.isdisjoint(args)):
            self._look_up(ctx, word, is_needed=unknown and _HELP.isdisjoint(args))
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Return its options, and those of the function, that begin with a word."""
        target = ctx.params.get(self.params[0].name or "")
        if isinstance(target, ObjectName) and _FACTORY not in ctx.meta:
            ctx.meta[_FACTORY] = find_factory(target)
        return super().shell_complete(ctx, incomplete)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """List its own parameters, and the options of the function."""
        own = super().get_params(ctx)
        factory: Factory | None = ctx.meta.get(_FACTORY)
        if factory is None:
            return own
        options = factory.options()
        taken = {word for one in own for word in (*one.opts, *one.secondary_opts)}
        for option in options:
            for word in (*option.opts, *option.secondary_opts):
                if word in taken:
                    message = f"{word} is an option already: rename that parameter of {escape(factory.name)}"
                    raise WrongUse(message)
        return [*own[:-1], *options, own[-1]]  # --help is the last one

    def _target_in(self, args: list[str]) -> tuple[str | None, list[str]]:
        """Return the first word that isn't an option or the value of one, and all words after it."""
        takes_value = {
            opt
            for one in self.params
            if isinstance(one, click.Option) and not one.is_flag
            for opt in one.opts
        }
        words = iter(args)
        for word in words:
            if not word.startswith("-"):
                return word, list(words)
            if word in takes_value:
                next(words, None)
        return None, []

    def _look_up(self, ctx: click.Context, word: str, *, is_needed: bool) -> None:
        target: Any = self.params[0].type.convert(word, self.params[0], ctx)
        if isinstance(target, str):
            return  # a server has no function in this process
        try:
            ctx.meta[_FACTORY] = find_factory(target)
        except (SchemaError, WrongUse):
            if is_needed:
                raise  # without the target, the options aren't known


def factory_of(ctx: click.Context) -> Factory | None:
    """Return the function that makes the tools, if the command line has options for it."""
    found: Factory | None = ctx.meta.get(_FACTORY)
    return found


def given_to_factory(ctx: click.Context) -> dict[str, Any]:
    """Return the arguments of the function that makes the tools: the JSON value of each parameter."""
    factory = factory_of(ctx)
    return {} if factory is None else factory.given(ctx)


def written_options(ctx: click.Context) -> list[click.Option]:
    """List the options given on the command line."""
    written = click.core.ParameterSource.COMMANDLINE
    options = [one for one in ctx.command.params if isinstance(one, click.Option)]
    return [one for one in options if ctx.get_parameter_source(one.name or "") is written]


def server_name(target: ObjectName | None, options: Mapping[str, Any]) -> str:
    """Return the name of a server; by default the name of its module, or of the gateway's file."""
    given: str | None = options["name"]
    if given:
        return given
    return Path(options["gateway"]).stem if target is None else target.module.rpartition(".")[2]
