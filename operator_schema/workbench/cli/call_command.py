"""The command `call`: a call of a tool, with questions at a terminal for what is missing."""

from __future__ import annotations

import sys
from collections import ChainMap
from collections.abc import Mapping
from contextlib import redirect_stdout
from logging import NullHandler, getLogger
from typing import TYPE_CHECKING, Any, cast

import click

from ...engine import ObjectNode, codec_of, expected_field, json_types_of
from ...errors import DecodeError, EncodeError, MissingContextError, NeedsInput, SchemaError, ToolError
from ...execution import Executor
from ...json_values import is_object
from ...message_text import escape, listed
from ...processes import kept_from_children
from ...providers import read_json
from ...rounds import answer_codec, call_text
from ...tools import RawCall, arguments_to_decode
from .arguments import SECONDS, TOOL, TargetCommand, context_option, given_to_factory, traceback_option
from .contexts import run_in_loop
from .lookup import find_context, find_tool
from .module_loading import WrongUse, near_name
from .output import to_json
from .typed_values import json_types, value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from click.shell_completion import CompletionItem

    from ...engine import Field
    from ...findings import Finding
    from ...rounds import ToolCall, Toolset
    from ...tools import Tool, ToolResult
    from .contexts import GivenContext
    from .lookup import ObjectName
    from .output import Printer

_BEGINS_JSON = {"", "{", "[", '"'}


class _CallCommand(TargetCommand):
    """The command `call`; if a parameter was written as an option, the error shows the right form."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words of the command line."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name.lstrip("-").replace("-", "_")
            message = f"No such option {escape(error.option_name)!r}; a parameter is written {escape(name)}=…"
            near = near_name(name, [option.lstrip("-") for option in error.possibilities or ()])
            raise WrongUse(message + (f", and the nearest option is --{near}" if near else "")) from None


def _complete_arguments(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    from .completion import complete_arguments

    return list(complete_arguments(ctx, given_to_factory(ctx), incomplete))


@click.command(
    cls=_CallCommand,
    epilog="""\b
examples:
  operator-schema call tools:web_search '{"query": "x"}'
  operator-schema call tools:web_search query=x max_results=3
  operator-schema call --timeout 5 tools:web_search - < arguments.json
  operator-schema call --context app:make_context app:registry.search query=x
  operator-schema call --yes tools:delete_file path=old.txt
  operator-schema call operator_schema.code_tools:search --root . 'pattern=*Error'
""",
)
@click.argument("target", type=TOOL, metavar="MODULE:TOOL")
@click.argument("arguments", nargs=-1, shell_complete=_complete_arguments)
@context_option
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=SECONDS,
    help="Seconds that the call may take, unless the tool has a limit of its own (default: that of the "
    "executor, or 30).",
)
@click.option("--yes", is_flag=True, help="Run a tool with confirm=True without asking.")
@traceback_option
@click.pass_context
def call(
    ctx: click.Context,
    /,
    target: ObjectName,
    arguments: tuple[str, ...],
    context: ObjectName | None,
    timeout: float | None,
    *,
    yes: bool,
    show_traceback: bool,
) -> int:
    """Call a tool as a model does.

    TOOL is a name in the module, the name of a tool of the module, or REGISTRY.TOOL. With EXECUTOR.TOOL, the
    rules of the executor hold: its hooks, context and limits. If a function makes the registry or the
    executor, its parameters are options, which --help shows after the target. ARGUMENTS are one
    JSON object, - for standard input, or words such as query=x: the value is read as JSON if the parameter
    takes that, else as text. The result goes to standard output; everything else, including what the tool
    itself prints, goes to standard error. A tool with confirm=True runs only after a question on the
    terminal, or with --yes.
    """
    tool, found = find_tool(target, given_to_factory(ctx), show_traceback=show_traceback)
    given = find_context(context, show_traceback=show_traceback)
    person = None if arguments == ("-",) else person_at(ctx.obj[1])
    executor = _executor_of(found, person, timeout, yes=yes, show_traceback=show_traceback)
    # A failure is printed below; without a handler, `logging` would print it too.
    getLogger("operator_schema").addHandler(NullHandler())
    raw = RawCall("1", tool.name, _arguments(arguments, tool))
    # Standard output is for the result, not for the tool's own output.
    out, err = ctx.obj
    try:
        with redirect_stdout(sys.stderr):
            raw = raw if person is None else person.complete(tool, raw)
            result = _run_with_answers(executor, tool, raw, given, person)
    except SystemExit as stop:  # the tool raised it: its status isn't ours
        ended = f"SystemExit: {stop.code}" if stop.code is not None else "SystemExit"
        err.report("", f"{tool.name} failed: it tried to end the process ({ended})")
        return 1
    status = _print_result(result, tool, out, err)
    if status and person is None and missing_of(tool, raw):
        err.line("give it as KEY=VALUE, or call the tool from a terminal, which asks for it", "dim")
    return status


def _executor_of(
    found: Executor | Toolset[Any],
    person: Person | None,
    timeout: float | None,
    *,
    yes: bool,
    show_traceback: bool,
) -> Executor:
    """Return the executor for the call: the one with the tool, or a new one, with these options."""
    options: dict[str, Any] = {"show_errors": "traceback" if show_traceback else "message"}
    if timeout is not None:
        options["timeout"] = timeout
    if yes:
        options["confirm"] = "run"
    elif person is not None:
        options["confirm"] = person.confirm
    made = found if isinstance(found, Executor) else Executor(found, strict_results=True)
    return made.with_(**options)


def _run_with_answers(
    executor: Executor, tool: Tool[..., Any], raw: RawCall, given: GivenContext | None, person: Person | None
) -> ToolResult:
    """Run a call, and run it again with a person's answer each time the tool asks something."""
    result = _run_once(executor, raw, given, {})
    answers = {} if person is None else person.answers(tool, result)
    while answers and person is not None:
        result = _run_once(executor, raw, given, answers)
        answers = person.answers(tool, result, answers)
    return result


def _print_result(result: ToolResult, tool: Tool[..., Any], out: Printer, err: Printer) -> int:
    """Print the result of a call, and return the exit status."""
    for ignored in (result.details or {}).get("ignored", ()):
        err.line(f"unknown, and ignored: {ignored}", "dim")
    if not result.is_error:
        out.text(result.content)
        return 0
    error = (result.details or {}).get("exception")
    if isinstance(error, MissingContextError):
        names = ", ".join(error.parameters)
        err.report("", f"{tool.name} needs {names} from your program: give it with --context MODULE:NAME")
        return 1
    # Here the user is both the model and the program, so nothing is hidden.
    err.report("", str(error) if isinstance(error, (EncodeError, ToolError)) else result.content)
    if result.code == "needs_input":
        err.line("nobody has answered it: call it from a terminal, which asks you", "dim")
    if result.code == "needs_approval":
        err.line("run it with --yes, or from a terminal, which asks you", "dim")
    return 1


def _run_once(
    executor: Executor, call: RawCall, given: GivenContext | None, answers: dict[str, Any]
) -> ToolResult:
    if given is None or given.mapping is not None:
        known: Any = executor.context if given is None else given.mapping
        made: Any = known(None) if callable(known) and not isinstance(known, Mapping) else known or {}  # pyright: ignore[reportUnknownVariableType]  # of any keys and values
        with kept_from_children():
            return executor.run_sync(call, context=ChainMap(answers, made))

    async def run() -> ToolResult:
        async with given.opened() as context:
            return await executor.run(call, context=ChainMap(answers, cast("Any", context)))

    return run_in_loop(run())


def _arguments(words: Sequence[str], tool: Tool[..., Any]) -> str | bytes | dict[str, Any]:
    if list(words) == ["-"]:
        return sys.stdin.buffer.read()
    if len(words) == 1 and words[0].lstrip()[:1] in _BEGINS_JSON:
        return words[0]
    pairs = [word.partition("=") for word in words]
    for key, equals, _ in pairs:
        if not key or not equals:
            message = f"{escape(key)!r} isn't KEY=VALUE; give one JSON object, or words such as query=x"
            raise WrongUse(message)
    keys = [key for key, _, _ in pairs]
    twice = [key for key in dict.fromkeys(keys) if keys.count(key) > 1]
    if twice:
        message = f"{escape(twice[0])!r} is given twice; for a list give JSON: '{escape(twice[0])}=[…]'"
        raise WrongUse(message)
    types = json_types(tool)
    return {key: value_of(text, types.get(key, ())) for key, _, text in pairs}


_YES_OR_NO = {"y": "true", "yes": "true", "n": "false", "no": "false"}
_SHOWN = 20
"""The parameters that may be left out, in one line."""


def person_at(err: Printer) -> Person | None:
    """Return the person at the terminal; None if nobody is there."""
    return Person(err) if sys.stdin.isatty() and sys.stderr.isatty() else None


def missing_of(tool: Tool[..., Any], raw: RawCall) -> tuple[Field, ...]:
    """Return the required parameters that a call lacks.

    Args:
        tool: the called tool.
        raw: the call.

    Returns:
        An empty list if the call has a mistake that asking doesn't correct: an unknown key, which may be a
        misspelt parameter, or a value that doesn't fit.
    """
    root, sent = tool.codec.graph.resolve_root(), _sent_arguments(raw)
    if not isinstance(root, ObjectNode) or not is_object(sent):
        return ()
    missing = [field for field in root.fields if field.required and field.key not in sent]
    absent = {key for field in missing for key in (field.key, field.name)}
    found = _problems(tool, arguments_to_decode(raw))  # in the written form, including duplicate keys
    others = [problem for problem in found if not absent.intersection(problem.path[:1])]
    is_known = set(sent) <= {field.key for field in root.fields}
    return tuple(missing) if is_known and not others else ()


def _sent_arguments(raw: RawCall) -> Any:
    sent = arguments_to_decode(raw)
    return sent if is_object(sent) else read_json(sent)


def _problems(tool: Tool[..., Any], arguments: object) -> Sequence[Finding]:
    try:
        tool.decode_report(arguments)
    except DecodeError as error:
        return error.findings
    except Exception:  # noqa: BLE001  # a class's own code, about which the call itself says more
        return ()
    return ()


class Person:
    """A person who reads questions and types answers; the end of their input, or Ctrl-C, ends the program.

    Args:
        err: the printer for the questions; standard output is for results.
    """

    def __init__(self, err: Printer) -> None:
        self._err = err

    def complete(self, tool: Tool[..., Any], raw: RawCall) -> RawCall:
        """Ask for the required arguments that a call lacks, each until its answer fits.

        Raises:
            click.Abort: the input has ended.
        """
        missing = missing_of(tool, raw)
        if not missing:
            return raw
        arguments: dict[str, Any] = dict(_sent_arguments(raw))
        self._say_optional(tool, arguments)
        types = json_types(tool)
        for field in missing:
            self._describe(tool, field)
            arguments[field.key] = self._ask(
                field.key, types[field.key], _check_of_field(tool, arguments, field)
            )
        return raw.replace(arguments=arguments)

    def _say_optional(self, tool: Tool[..., Any], arguments: Mapping[str, Any]) -> None:
        root: Any = tool.codec.graph.resolve_root()
        others = [field for field in root.fields if not field.required and field.key not in arguments]
        if others:
            texts = [f"{field.key}{_default_of(field)}" for field in others]
            self._err.text(f"{tool.name} may also get {listed(texts, _SHOWN)}")

    def _describe(self, tool: Tool[..., Any], field: Field) -> None:
        self._err.text(f"{field.key} ({expected_field(field, tool.codec.graph.definitions)})")
        for line in (field.description or "").split("\n"):
            if line.strip():
                self._err.text(f"  {line.strip()}")

    def _ask(
        self,
        prompt: str,
        types: Collection[str],
        check: Callable[[Any], Any],
        *,
        may_be_empty: bool = False,
    ) -> Any:
        """Ask until a check accepts the answer, and return what the check returns."""

        def read(typed: str) -> Any:
            if may_be_empty and not typed.strip():
                return None
            text = _YES_OR_NO.get(typed.strip().lower(), typed) if "boolean" in types else typed
            try:
                return check(value_of(text, types))
            except DecodeError as error:
                message = "; ".join([escape(problem.message) for problem in error.findings[:3]])
                raise click.UsageError(message) from None

        default = "" if may_be_empty else None
        return click.prompt(escape(prompt), default=default, value_proc=read, show_default=False, err=True)

    def confirm(self, call: ToolCall[Any]) -> bool:
        """Ask whether a call may run.

        Raises:
            KeyboardInterrupt: the input has ended.
        """
        self._err.text(call_text(call))
        try:
            return click.confirm("Run it?", default=False, err=True)
        except click.Abort:
            raise KeyboardInterrupt from None  # an executor turns any other exception into a result

    def answers(
        self, tool: Tool[..., Any], result: ToolResult, known: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Ask the questions of a tool, each until the answer fits.

        Args:
            tool: the called tool.
            result: the result of the call.
            known: the answers so far, by the name of the parameter.

        Returns:
            All answers; none if the tool asked nothing, or the person entered an empty line.

        Raises:
            click.Abort: the input has ended.
        """
        raised = (result.details or {}).get("exception")
        if result.code != "needs_input" or not isinstance(raised, NeedsInput):
            return {}
        try:
            codec = answer_codec(tool, raised.parameter)
            narrow = codec if raised.answer_type is None else codec_of(raised.answer_type)
        except (SchemaError, ToolError):
            return {}
        types = json_types_of(narrow.graph.resolve_root(), narrow.graph.definitions)

        def check(value: Any) -> tuple[Any]:
            narrow.decode(value)
            return (codec.decode(value),)

        self._err.text(raised.question)
        answer = self._ask(raised.parameter, types, check, may_be_empty=True)
        return {} if answer is None else {**(known or {}), raised.parameter: answer[0]}


def _check_of_field(tool: Tool[..., Any], others: Mapping[str, Any], field: Field) -> Callable[[Any], Any]:
    """Return a function that returns the value of a field unchanged, or raises if it doesn't fit."""

    def check(value: Any) -> Any:
        found = _problems(tool, {**others, field.key: value})
        wrong = [problem for problem in found if problem.path[:1] in {(field.key,), (field.name,)}]
        if wrong:
            raise DecodeError(field.key, wrong)
        return value

    return check


def _default_of(field: Field) -> str:
    default = field.default
    return f" (default {to_json(default)})" if type(default) in {str, int, float, bool} else ""
