"""The command `store`: the waiting rounds of a store, their history, and decisions of a person."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from ...errors import DecodeError, EncodeError, SchemaError, ToolError
from ...message_text import escape, listed
from ...rounds import RestoreError, RoundError, StoredRound, StoreError, Toolset, Turn
from ...similar_names import nearest
from .arguments import (
    NearChoice,
    complete_files,
    complete_target,
    json_option,
    traceback_option,
    written_options,
)
from .module_loading import WrongUse
from .output import Printer, count
from .sources import tool_source
from .store_lines import as_json, counts_line, message_lines, round_lines, shown_name, stuck_row, waiting_row
from .store_opening import open_store, secret_of, with_secret_option
from .text_files import json_in
from .typed_values import value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ...rounds import Round, Store, ToolCall

    _Meant = ToolCall[Any] | str
    """A call that waits, or the id of one that doesn't."""

_WAITING: Final = ("round", "state", "since", "conversation", "tools", "reason")
_STUCK: Final = ("round", "state", "seconds", "calls", "process", "conversation", "tools")
_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
_UNUSABLE: Final = frozenset({"damaged", "unavailable"})
_ALWAYS: Final = frozenset({"as_json", "show_traceback"})


class _Request(NamedTuple):
    """A request of a command line to a store.

    Attributes:
        store: the store.
        words: the words after the action.
        options: the options of the command line.
        out: standard output.
        err: standard error.
    """

    store: Store
    words: tuple[str, ...]
    options: Mapping[str, Any]
    out: Printer
    err: Printer


def _seconds(_ctx: click.Context, _param: click.Parameter, given: str | None) -> float | None:
    """Read a time such as 30, 90s, 5m, 3h or 2d."""
    if given is None:
        return None
    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)([smhd]?)", given)
    if found is None:
        message = f"{escape(given)!r} isn't a time: write seconds, or a number such as 5m, 3h or 2d"
        raise click.BadParameter(message)
    return float(found[1]) * _UNITS[found[2]]


@click.command(
    "store",
    epilog="""\b
examples:
  operator-schema store desk.db waiting --tool refund --older-than 3h
  operator-schema store desk.db transcript "customer 7"
  operator-schema store desk.db show round_5d0f6e
  operator-schema store desk.db approve round_5d0f6e call_1 --tools desk --as anna
  operator-schema store desk.db reject round_5d0f6e --reason "not yet" --tools desk --as anna
  operator-schema store env:DATABASE_URL stuck --json

\b
actions:
  waiting                 list the rounds that wait, the oldest first
  stuck                   list the rounds that a process took
  show ROUND              show a round: its calls, decisions and results
  transcript NAME         show a conversation, and its rounds that haven't ended
  approve ROUND [CALL]    approve a call that waits; another process runs it
  reject ROUND [CALL]     refuse a call
  answer ROUND [CALL]     answer the question of a tool
  take-back ROUND         make a round wait again after its process has died
""",
)
@click.argument("database", shell_complete=complete_files)
@click.argument(
    "action",
    type=NearChoice(["waiting", "stuck", "show", "transcript", "approve", "reject", "answer", "take-back"]),
    metavar="ACTION",
)
@click.argument("words", nargs=-1, metavar="[ROUND|NAME] [CALL]")
@click.option("--conversation", metavar="NAME", help="Only rounds of this conversation.")
@click.option("--tool", metavar="NAME", help="Only rounds or turns with a call of this tool.")
@click.option(
    "--older-than",
    metavar="TIME",
    callback=_seconds,
    help="Only rounds older than this, such as 30, 5m or 2d.",
)
@click.option(
    "--state",
    type=NearChoice(["deferred", "pending", "complete"]),
    help="Only rounds that wait for a person, to be run, or for their commit.",
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1), default=50, help="At most so many (default: 50)."
)
@click.option("--after", metavar="N", type=click.IntRange(0), default=0, help="The page after this position.")
@click.option(
    "--tools",
    metavar="TARGET",
    shell_complete=complete_target,
    help="The tools of the calls: a module, a snapshot or a server; none of them runs.",
)
@click.option("--as", "by", metavar="NAME", help="Who decides, for the record.")
@click.option("--words", "said", metavar="TEXT", default="", help="What this person says, for the record.")
@click.option("--reason", metavar="TEXT", default="", help="Why a call is rejected; the model reads it.")
@click.option("--arguments", metavar="JSON", help="Approve the call with other arguments.")
@click.option("--answer", metavar="VALUE", help="The answer: JSON, or a text.")
@click.option("--revision", metavar="N", type=int, help="Decide only if the round is as show printed it.")
@click.option("--force", is_flag=True, help="Take a round back though its process seems to live.")
@click.option("--secret-env", metavar="NAME", help="Variable with the secret of the store.")
@click.option("--secret-file", metavar="FILE", help="File with the secret of the store.")
@json_option("Print what is found as JSON.")
@traceback_option
@click.pass_context
def store(ctx: click.Context, /, database: str, action: str, words: tuple[str, ...], **options: Any) -> int:
    """Look into a store of rounds, and decide about calls that wait.

    DATABASE is the file of a SqliteStore, or postgresql://USER@HOST/NAME, or env:NAME for a variable with
    such an address. Nothing runs here: the process that runs rounds continues with the decision.
    """
    chosen = _ACTIONS[action]
    _check_use(ctx, action, chosen, words)
    secret = secret_of(options["secret_env"], options["secret_file"])
    opened = open_store(database, secret)
    try:
        return chosen.function(_Request(opened, words, options, *ctx.obj))
    except StoreError as error:
        if error.code in _UNUSABLE:
            raise WrongUse(str(error)) from None
        ctx.obj[1].report("", with_secret_option(error))
        return 1
    except (DecodeError, EncodeError, RestoreError, RoundError, ToolError) as error:
        ctx.obj[1].report("", with_secret_option(error))
        return 1
    except ValueError as error:  # an option has a value that no store takes, such as an empty name
        raise WrongUse(str(error)) from None
    finally:
        opened.close()


def _check_use(ctx: click.Context, action: str, chosen: _Action, words: tuple[str, ...]) -> None:
    """Check that an action takes the words and options of the command line.

    Raises:
        WrongUse: it doesn't take them.
    """
    least, most = chosen.words
    if not least <= len(words) <= most:
        takes = chosen.takes or "nothing more"
        message = f"{action} takes {takes}, not {count(len(words), 'word')}"
        raise WrongUse(message)
    for option in written_options(ctx):
        if option.name not in chosen.options | _ALWAYS:
            users = [name for name, one in _ACTIONS.items() if option.name in one.options]
            message = f"{option.opts[0]} is for {listed(users, len(users))}, not for {action}"
            raise WrongUse(message)
    if "tools" in chosen.options and ctx.params["tools"] is None:
        message = f"{action} needs the tools of the calls: add --tools MODULE; none of them runs"
        raise WrongUse(message)


# --- actions that only read ----------------------------------------------------------------------


def _waiting(request: _Request) -> int:
    options, most = request.options, request.options["limit"]
    filters = {name: options[name] for name in ("conversation", "tool", "older_than", "state", "after")}
    found = request.store.waiting(**filters, limit=most + 1)
    shown = found[:most]
    after = shown[-1].position if len(found) > most else None
    counts = request.store.counts()
    if options["as_json"]:
        request.out.json({"rounds": as_json(tuple(shown)), "after": after, "counts": as_json(counts)}, 2)
        return 0
    if shown:
        request.out.table(_WAITING, [waiting_row(one) for one in shown], frozenset())
    if after is not None:
        request.err.line(f"there are more: add --after {after}", "dim")
    request.err.line(counts_line(counts), "dim")
    return 0


def _stuck(request: _Request) -> int:
    name, most = request.options["conversation"], request.options["limit"]
    found = request.store.stuck(request.options["older_than"] or 0.0)
    found = [one for one in found if name is None or one.conversation == name]
    if request.options["as_json"]:
        request.out.json({"rounds": as_json(tuple(found[:most])), "more": len(found[most:])}, 2)
        return 0
    if found:
        request.out.table(_STUCK, [stuck_row(one) for one in found[:most]], frozenset({"seconds"}))
    request.err.line(f"{count(len(found), 'round')} taken by processes", "dim")
    return 0


def _show(request: _Request) -> int:
    found = request.store.find(request.words[0])
    if request.options["as_json"]:
        request.out.json(as_json(found), 2)
        return 0
    for line in round_lines(found):
        request.out.line(line)
    return 0


def _transcript(request: _Request) -> int:
    name, tool, most = request.words[0], request.options["tool"], request.options["limit"]
    history = request.store.transcript(name)
    items = history.last(most) if tool is None else [one for one in history if _calls(one, tool)][-most:]
    waiting = [one.id for one in request.store.waiting(conversation=name, limit=most)]
    taken = [one.id for one in request.store.stuck() if one.conversation == name]
    rounds = [request.store.find(round_id) for round_id in (*waiting, *taken)]
    if not items and not rounds:
        near = nearest(name, request.store.transcripts())
        hint = f"; did you mean {shown_name(near)}?" if near else ""
        request.err.report("", f"there is nothing of {shown_name(name)} in the store{hint}")
        return 1
    if request.options["as_json"]:
        found = [{"turn": as_json(one)} if isinstance(one, Turn) else one for one in items]
        request.out.json({"conversation": name, "items": found, "rounds": as_json(tuple(rounds))}, 2)
        return 0
    for one in (*items, *rounds):
        for line in _lines_of(request.store, one):
            request.out.line(line)
    return 0


def _lines_of(store: Store, item: Any) -> list[str]:
    """Write a message, a turn, or a round that isn't in a transcript yet."""
    if isinstance(item, Turn):
        item = store.find(item.id)
    return round_lines(item) if isinstance(item, StoredRound) else message_lines(item)


def _calls(item: Any, tool: str) -> bool:
    return isinstance(item, Turn) and any(call.name == tool for call in item.calls)


# --- actions that decide -------------------------------------------------------------------------


def _approve(request: _Request) -> int:
    text = request.options["arguments"]
    arguments = None if text is None else json_in(text, "--arguments")

    def approve(work: Round[Any], call: _Meant, said: Mapping[str, Any]) -> Round[Any]:
        return work.approve(call, arguments=arguments, **said)

    return _decide(request, approve, "deferred")


def _reject(request: _Request) -> int:
    def reject(work: Round[Any], call: _Meant, said: Mapping[str, Any]) -> Round[Any]:
        return work.reject(call, request.options["reason"], **said)

    return _decide(request, reject, "deferred", "pending")


def _answer(request: _Request) -> int:
    text = request.options["answer"]
    if text is None:
        message = "answer needs --answer VALUE"
        raise WrongUse(message)

    def answer(work: Round[Any], call: _Meant, said: Mapping[str, Any]) -> Round[Any]:
        question = None if isinstance(call, str) else call.question
        kind = "" if question is None else str(question.answer_schema.get("type", ""))
        return work.answer(call, value_of(text, [kind]), **said)

    return _decide(request, answer, "deferred")


def _decide(
    request: _Request,
    decided: Callable[[Round[Any], _Meant, Mapping[str, Any]], Round[Any]],
    *states: str,
) -> int:
    """Decide about a call and save that; nothing runs."""
    options, round_id = request.options, request.words[0]
    work = request.store.load(round_id, _toolset(request))
    if options["revision"] is not None and options["revision"] != work.revision:
        message = f"the round is at revision {work.revision} now: show it again before you decide"
        raise RoundError(message)
    call = _chosen(work, request.words[1:], states)
    said = {"by": options["by"], "words": options["said"]}
    request.store.save(decided(work, call, said))
    return _show(request)


def _chosen(work: Round[Any], words: Sequence[str], states: Sequence[str]) -> _Meant:
    """Return the call with the id on the command line; without an id, the only call that waits.

    Raises:
        RoundError: none or several wait, or several share the id.
    """
    if words:
        same = [call for call in work.calls if call.id == words[0] and call.state in states]
        return same[0] if len(same) == 1 else words[0]  # the round says what is wrong
    found = [call for call in work.calls if call.state == states[0]]
    if len(found) != 1:
        names = listed([f"{shown_name(call.name)} (call {shown_name(call.id)})" for call in found], 5)
        message = f"several calls wait, so name one: {names}" if found else "no call of this round waits"
        raise RoundError(message)
    return found[0]


def _take_back(request: _Request) -> int:
    request.store.take_back(request.words[0], _toolset(request), force=request.options["force"])
    return _show(request)


def _toolset(request: _Request) -> Toolset[Any]:
    """Return the tools of `--tools`.

    Raises:
        WrongUse: they can't be read, or two have the same name.
    """
    target = request.options["tools"]
    tools = tool_source(target, show_traceback=request.options["show_traceback"])()
    try:
        return Toolset(*tools)
    except SchemaError as error:
        message = f"{escape(target)}: {escape(str(error))}"
        raise WrongUse(message) from None


class _Action(NamedTuple):
    """One action: its function, how many words it takes, and which options."""

    function: Callable[[_Request], int]
    words: tuple[int, int]
    takes: str
    options: frozenset[str]


_WITH_TOOLS = frozenset({"tools", "secret_env", "secret_file"})
_DECIDING = _WITH_TOOLS | {"by", "said", "revision"}
_ACTIONS: Final = {
    "waiting": _Action(
        _waiting, (0, 0), "", frozenset({"conversation", "tool", "older_than", "state", "limit", "after"})
    ),
    "stuck": _Action(_stuck, (0, 0), "", frozenset({"conversation", "older_than", "limit"})),
    "show": _Action(_show, (1, 1), "the id of a round", frozenset()),
    "transcript": _Action(_transcript, (1, 1), "the name of a conversation", frozenset({"tool", "limit"})),
    "approve": _Action(_approve, (1, 2), "the id of a round, and that of a call", _DECIDING | {"arguments"}),
    "reject": _Action(_reject, (1, 2), "the id of a round, and that of a call", _DECIDING | {"reason"}),
    "answer": _Action(_answer, (1, 2), "the id of a round, and that of a call", _DECIDING | {"answer"}),
    "take-back": _Action(_take_back, (1, 1), "the id of a round", _WITH_TOOLS | {"force"}),
}
