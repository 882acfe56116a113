"""Cassettes: files with the calls of an executor and their results, to record once and play back in tests."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Collection
from contextlib import contextmanager, suppress
from errno import ENOENT
from json import dumps
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from ..codec.codec import codec_of
from ..errors import DecodeError, EncodeError, ToolError, ToolNotFoundError
from ..execution.executor import Executor
from ..json_values import MAX_TEXT_DEPTH, copy_json, is_array, is_object, nests_deeper, to_json_text
from ..message_text import checked_path, excerpt, quote, received
from ..recordings import (
    MAX_LINE,
    REDACTED,
    Hidden,
    KeysOfTools,
    Unreadable,
    hidden_keys,
    records_in,
    without_secrets,
)
from ..rounds import ChangedArguments
from ..rounds.near_tools import near_names
from ..sameness import same_text
from ..similar_names import nearest_names
from ..tools.calls import RawCall, ToolResult, arguments_to_decode, checked_call
from ..tools.logs import ERROR, write_log
from ..tools.tool import Tool
from .calls import differences

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from ..execution.async_libraries import Start
    from ..rounds.named_tools import Member
    from ..rounds.transcript import History

Redact: TypeAlias = Callable[[dict[str, Any]], dict[str, Any] | None] | Collection[str]

_BEFORE: Final = frozenset({"pending", "issue"})
"""The states of calls in a round that hasn't run."""

_MOST_CALLS: Final = 100_000
_MOST_BYTES: Final = 200_000_000
"""The most bytes of one cassette."""


class PlaybackError(AssertionError):
    """A call isn't in the cassette, or was played back already as often as it was recorded.

    Attributes:
        call: the call as the model sent it, without the values that the cassette leaves out as secrets.
    """

    def __init__(self, call: RawCall, message: str) -> None:
        super().__init__(message)
        self.call = call


def record(executor: Executor, path: str | os.PathLike[str], /, *, redact: Redact | None = None) -> Executor:
    """Return a copy of an executor that also writes each call and its result to a cassette.

    The cassette is a file of JSON lines, to which calls are added: `operator-schema replay` reads it, and
    `playback` returns the results. Several threads and processes may write to one file. It stores the texts
    of results, and only descriptions of images and files, without their data.

    Args:
        executor: the executor. It keeps its own limits, and the copy has limits of its own.
        path: path of the file, which is made if necessary.
        redact: either names of keys with secrets. Their values are replaced at any depth, in arguments and
            results, also under other spellings and in texts; so are whole texts of errors of such a call, and
            whole unreadable texts that name such a key. A name that is nearly a key of the tools is logged as
            a warning. Or a function that gets each line as a dict and returns the line to write instead, or
            None to write nothing. If it fails, the failure is logged and nothing is written.

    Returns:
        A copy of the executor; its `calls` has the calls so far, with the arguments that ran.

    Raises:
        TypeError: `executor` isn't an executor, `redact` has the wrong type, or the path isn't one.
        OSError: the file can't be written.
    """
    keys = None if redact is None or callable(redact) else _keys_of(redact, executor)
    cassette = _Cassette(
        Path(checked_path("the path of a cassette", path)), _secret_remover(redact, keys), keys
    )
    cassette.check()
    made: Executor = _as_kind(RecordingExecutor, executor, "record", cassette=cassette)
    return made


def playback(
    tools: Executor | Member, path: str | os.PathLike[str], /, *, ignore: Collection[str] = ()
) -> PlaybackExecutor:
    """Return an executor that returns the results of a cassette, and runs nothing.

    A call gets the result of the recorded call of the same tool with the same decoded arguments; equal calls
    get their results in the order in which they were recorded. Hooks and people are only asked in rounds.

    Args:
        tools: the executor that was recorded, or its tools: they decode the arguments.
        path: path of the file that `record` wrote.
        ignore: names of arguments that aren't compared, such as a time.

    Returns:
        An executor. A call that isn't recorded raises `PlaybackError`, which shows the nearest one that is.

    Raises:
        OSError: the file can't be read.
        TypeError: the path isn't one.
        ValueError: the file isn't a cassette, or is too large.
    """
    executor = tools if isinstance(tools, Executor) else Executor(tools)
    lines = _lines_of(Path(checked_path("the path of a cassette", path)))
    tape = _Tape(executor, str(path), lines, frozenset(ignore))
    # Nothing runs, so nothing is injected: a function that makes a context isn't called.
    made: PlaybackExecutor = _as_kind(PlaybackExecutor, executor.with_(context=None), "playback", tape=tape)
    return made


def _as_kind(kind: type[Executor], executor: Any, caller: str, **attributes: Any) -> Any:
    """Return a copy of an executor whose class also derives from another kind."""
    if not isinstance(executor, Executor):
        shown = received(executor)
        way = f": write Executor({executor.name})" if isinstance(executor, Tool) else ""
        message = f"{caller} takes an Executor, not {shown}{way}"
        raise TypeError(message)
    if isinstance(executor, kind):
        message = (
            f"{caller} takes an executor of yours, not one that {caller} returned: one cassette has its calls"
        )
        raise TypeError(message)
    registry, options, own = executor.__getstate__()
    own_kind = type(executor)
    mixed = kind if own_kind is Executor else type(kind.__name__, (kind, own_kind), {})
    made: Any = object.__new__(mixed)
    made.__setstate__((registry, options, {**own, **attributes}))
    return made


# --- recording -----------------------------------------------------------------------------------


class RecordingExecutor(Executor):
    """An executor that records its calls; `record` makes it."""

    cassette: _Cassette

    @property
    def calls(self) -> list[RawCall]:
        """The calls so far, in the order of their results, with the arguments that ran."""
        return list(self.cassette.calls)

    def _write(self, call: RawCall, result: ToolResult) -> None:
        """Record a call; failures here don't change its result."""
        try:
            self.cassette.add(call, result)
        except Exception as error:  # noqa: BLE001  # the file, or the function that keeps secrets out
            write_log(ERROR, "%s: the call couldn't be recorded", call.name, error=error)

    def _start_of(self, call: RawCall, run: Start, count: Any) -> Start:
        start = super()._start_of(call, run, count)
        self.cassette.note(self.registry, call.name)

        async def recorded() -> Any:
            outcome = await start()
            if type(outcome) is ToolResult:
                self.cassette.note(self.registry, call.name)
                self._write(call, outcome)
            return outcome

        return recorded

    async def run(self, work: Any, history: History | None = None, /, **options: Any) -> Any:
        """Run as `Executor.run` does, and also record the calls of a round whose functions weren't run."""
        run: Any = super().run  # its overloads know the kind of work
        is_round = hasattr(cast("Any", type(work)), "execute_with")
        if is_round:
            self.cassette.note(work.toolset, *[call.name for call in work.calls])
        done: Any = await run(work, history, **options)
        if is_round:
            # Calls that can't run have their results before the round runs for the first time.
            is_first = {call.state for call in work.calls} <= _BEFORE
            for before, call in zip(work.calls, done.calls, strict=True):
                is_decided = call.by == "hook" and before.result is None
                if is_decided or (is_first and call.state == "issue"):
                    self._write(call.raw, call.result)
        return done


class _Cassette:
    """A file to which calls are added.

    Attributes:
        calls: the calls recorded in this process.
    """

    def __init__(
        self, path: Path, keep: Callable[[dict[str, Any]], dict[str, Any] | None], keys: KeysOfTools | None
    ) -> None:
        self.calls: list[RawCall] = []
        self._path = path
        self._keep = keep
        self._keys = keys
        self._lock = Lock()

    def __deepcopy__(self, memo: object) -> _Cassette:
        return self

    def check(self) -> None:
        """Check that the file can be written, before the first call runs."""
        with self._path.open("ab"):
            pass

    def note(self, tools: Any, *names: str) -> None:
        """Note the tools of calls, if redaction needs their keys; tools may be replaced meanwhile."""
        keys = self._keys
        if keys is not None:
            for name in names:
                for own in [name] if name in tools else near_names(name, tools.names):
                    keys.add(tools[own], name)

    def add(self, call: RawCall, result: ToolResult) -> None:
        """Write a call and its result.

        Raises:
            OSError: the file can't be written.
            ValueError: the line is too long, or isn't JSON.
        """
        kept = self._keep(_line_of(call, result))
        changed = result.changed
        self.calls.append(call if changed is None else call.replace(arguments=copy_json(changed.arguments)))
        if kept is None:
            return
        line = to_json_text(kept).encode("utf-8", "surrogatepass") + b"\n"
        if len(line) > MAX_LINE:
            message = f"a call of {call.name} isn't recorded: its line has more than {MAX_LINE:,} bytes"
            raise ValueError(message)
        with self._lock:
            _append(self._path, line)


def _line_of(call: RawCall, result: ToolResult) -> dict[str, Any]:
    parts = result.as_dict().get("parts")
    said: dict[str, Any] = {"content": result.content, "is_error": result.is_error, "code": result.code}
    said |= {"json": copy_json(result.json)} if result.json is not None else {}
    said |= {"parts": parts} if parts else {}
    line = {"id": call.id, "name": call.name, "arguments": _writable(call.arguments), "result": said}
    if call.sent_name is not None:
        line["sent_name"] = call.sent_name
    if result.changed is not None:
        ran = copy_json(result.changed.arguments)
        return {**line, "arguments": ran, "sent": line["arguments"], **result.changed.who()}
    return {**line, "is_cut_off": True} if call.is_cut_off else line


def _writable(arguments: Any) -> Any:
    """Return a copy of arguments; as text if they have a number that isn't finite, which JSON can't hold."""
    copied = copy_json(arguments)
    try:
        to_json_text(copied)
    except ValueError:
        return dumps(copied, ensure_ascii=False)
    return copied


def _append(path: Path, line: bytes) -> None:
    """Append a line to a shared file, completely or not at all, and never inside another line."""
    with path.open("ab", buffering=0) as file, _locked(file.fileno()):
        end = file.seek(0, os.SEEK_END)
        if end and not _ends_line(path, end):
            line = b"\n" + line  # a process was killed in the middle of a line
        if file.write(line) != len(line):
            file.truncate(end)
            message = f"the cassette {path} is full: nothing more can be written"
            raise OSError(message)


def _ends_line(path: Path, end: int) -> bool:
    with path.open("rb") as file:
        file.seek(end - 1)
        return file.read(1) == b"\n"


@contextmanager
def _locked(number: int) -> Generator[None]:
    """Hold the lock on a file while writing; on systems without locks, rely on a single write call."""
    try:
        from fcntl import LOCK_EX, LOCK_UN, flock
    except ModuleNotFoundError:  # Windows
        yield
        return
    with suppress(OSError):  # some network file systems have no locks
        flock(number, LOCK_EX)
    try:
        yield
    finally:
        with suppress(OSError):
            flock(number, LOCK_UN)


# --- secrets -------------------------------------------------------------------------------------


def _keys_of(redact: Any, executor: Any) -> KeysOfTools:
    """Return the keys with secrets, and log names that may be misspelt.

    Raises:
        TypeError: `redact` has the wrong type.
    """
    keys = KeysOfTools(hidden_keys(redact, "a function or a list of names of arguments"))
    if isinstance(executor, Executor):
        keys.hidden.warn_of_misspelt(executor.registry)
    return keys


def _secret_remover(
    redact: Any, keys: KeysOfTools | None
) -> Callable[[dict[str, Any]], dict[str, Any] | None]:
    """Return a function that removes the secrets from a line."""
    if keys is None:
        return (lambda line: line) if redact is None else lambda line: _checked_line(redact(line))
    names = sorted(keys.hidden.names)
    return lambda line: {**without_secrets(line, keys.of(line["name"])), _NAMES: names}


_NAMES: Final = "redact"
"""The key in a line for the names of the keys whose values were replaced."""


def _checked_line(kept: Any) -> dict[str, Any] | None:
    if kept is None:
        return None
    if is_object(kept) and isinstance(kept.get("name"), str) and "arguments" in kept:
        return {**kept}
    message = f"redact must return the line with its name and arguments, or None, not {received(kept)}"
    raise TypeError(message)


# --- playing back --------------------------------------------------------------------------------


class PlaybackExecutor(Executor):
    """An executor that plays a cassette back; `playback` makes it."""

    tape: _Tape

    @property
    def calls(self) -> list[RawCall]:
        """The calls so far, in order."""
        return list(self.tape.calls)

    @property
    def left(self) -> int:
        """Number of recorded calls that haven't been played back."""
        return self.tape.left

    def _start_of(self, call: RawCall, run: Start, count: Any) -> Start:  # noqa: ARG002  # nothing runs
        first: ToolResult = self.tape.result_of(call)  # in the order of the calls, before any is given

        async def played() -> ToolResult:
            counted = await count(first)
            while counted is None:
                counted = await count(self.tape.result_of(call))
            return cast("ToolResult", counted)

        return played


def _lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a cassette.

    Raises:
        OSError: the file can't be read.
        TypeError: the path isn't one.
        ValueError: the file isn't a cassette, or is too large.
    """
    if not path.exists():
        message = "there is no cassette here; record(executor, path) writes one"
        raise FileNotFoundError(ENOENT, message, str(path))
    if path.stat().st_size > _MOST_BYTES:
        message = f"the cassette {path} is larger than {_MOST_BYTES:,} bytes"
        raise ValueError(message)
    lines: list[dict[str, Any]] = []
    with path.open("rb") as file:
        for number, line in enumerate(records_in(file), start=1):
            if isinstance(line, Unreadable):
                message = f"{path}, line {line.line}: {line.reason}"
                raise ValueError(message)  # noqa: TRY004  # what is wrong is the file
            if not _is_line(line):
                message = f"{path}, line {number}: this isn't a line of a cassette: {excerpt(line, 200)}"
                raise ValueError(message)  # what is wrong is the file
            lines.append(line)
            if len(lines) > _MOST_CALLS:
                message = f"the cassette {path} has more than {_MOST_CALLS:,} calls"
                raise ValueError(message)
    return lines


def _is_line(line: Any) -> bool:
    result = line.get("result") if is_object(line) else None
    return (
        is_object(result)
        and isinstance(line.get("name"), str)
        and "arguments" in line
        and isinstance(result.get("content"), str)
        and isinstance(result.get("is_error", False), bool)
        and isinstance(result.get("code"), (str, type(None)))
    )


class _Tape:
    """The recorded calls in their order; it knows which were played back.

    Args:
        executor: its tools decode the arguments.
        path: path of the cassette, for messages.
        lines: lines of the cassette.
        ignore: names of arguments that don't matter.
    """

    def __init__(
        self, executor: Executor, path: str, lines: Iterable[dict[str, Any]], ignore: frozenset[str]
    ) -> None:
        self.calls: list[RawCall] = []
        self._tools = executor.registry
        self._path = path
        self._ignore = ignore
        self._lock = Lock()
        # By tool: the decoded arguments of each recorded call, and its line; None once it was played back.
        self._recorded: dict[str, list[tuple[Any, dict[str, Any]]]] = {}
        self._waiting: dict[tuple[str, str], deque[dict[str, Any]]] = {}
        self._with_secrets: dict[str, list[list[Any]]] = {}
        self._hidden: set[str] = set()
        for line in lines:
            self._add(line)

    def __deepcopy__(self, memo: object) -> _Tape:
        return self

    def _add(self, line: dict[str, Any]) -> None:
        name = line["name"]
        is_cut_off = line.get("is_cut_off") is True
        # Nobody decides when it is played back, so what counts is what the model sent.
        arguments = self._decoded_arguments(
            RawCall(None, name, line.get("sent", line["arguments"]), is_cut_off)
        )
        self._recorded.setdefault(name, []).append((arguments, line))
        self._hidden |= _hidden_in(line)
        if REDACTED in to_json_text(arguments):
            self._with_secrets.setdefault(name, []).append([_any_secret(arguments), line])
        else:
            self._waiting.setdefault((name, same_text(arguments)), deque()).append(line)

    @property
    def left(self) -> int:
        """Number of lines that weren't played back."""
        secrets = [line for lines in self._with_secrets.values() for line in lines]
        return sum(map(len, self._waiting.values())) + len(secrets)

    def result_of(self, call: RawCall) -> ToolResult:
        """Return the recorded result of a call.

        Raises:
            PlaybackError: there is none.
        """
        arguments = self._decoded_arguments(checked_call(call))
        with self._lock:
            self.calls.append(call)
            line = self._take_line(call.name, arguments)
        if line is None:
            if self._hidden:  # a report of a test shows the message, and may show the call
                arguments = self._without_secrets(call.name, arguments)
                call = call.replace(arguments=self._without_secrets(call.name, call.arguments))
            raise PlaybackError(call, self._unknown_call_text(call.name, arguments))
        said = line["result"]
        found = {key: said[key] for key in ("content", "is_error", "code", "json") if key in said}
        return ToolResult(call.id, call.name, **found, changed=_changed_in(line))

    def _take_line(self, name: str, arguments: Any) -> dict[str, Any] | None:
        waiting = self._waiting.get((name, same_text(arguments)))
        if waiting:
            return waiting.popleft()
        lines = self._with_secrets.get(name, [])
        for place, (expected, line) in enumerate(lines):
            if not differences(expected, arguments):
                del lines[place]
                found: dict[str, Any] = line
                return found
        return None

    def _decoded_arguments(self, call: RawCall) -> Any:
        """Return the decoded arguments of a call as JSON; unchanged if they don't fit."""
        arguments = arguments_to_decode(call)
        if nests_deeper(arguments, MAX_TEXT_DEPTH):
            return "nested too deep"
        if call.is_cut_off:
            return {"cut off": arguments}
        try:
            tool = self._tools[call.name]
            normal = tool.encode_input(tool.decode(arguments))
        except (DecodeError, EncodeError, ToolError, ToolNotFoundError, KeyError):
            normal = arguments
        if self._ignore and is_object(normal):
            return {key: value for key, value in normal.items() if key not in self._ignore}
        return normal

    def _without_secrets(self, name: str, arguments: Any) -> Any:
        """Return arguments of a call without the secrets that `record` would have replaced."""
        hidden = Hidden(frozenset(self._hidden))
        if name in self._tools:
            hidden = hidden.for_tool(self._tools[name])
        line = {"name": name, "arguments": arguments, "result": {"content": ""}}
        try:
            return without_secrets(line, hidden)["arguments"]
        except (TypeError, ValueError, RecursionError):  # they aren't JSON: a secret may be anywhere
            return REDACTED

    def _unknown_call_text(self, name: str, arguments: Any) -> str:
        recorded = self._recorded.get(name, [])
        same = [found for found, _ in recorded if not differences(_any_secret(found), arguments)]
        called = f"{name} {excerpt(arguments, 200)}"
        if same:
            times = "once" if len(same) == 1 else f"{len(same)} times"
            return f"{self._path} has this call {times}, and that was played back already: {called}"
        text = f"{self._path} doesn't have the call {called}"
        if not recorded:
            near = nearest_names(name, self._recorded, 3)
            known = [quote(one) for one in near or list(self._recorded)[:10]]
            others = ", ".join(known) or "nothing"
            return f"{text}: no call of {quote(name)} is recorded; there are calls of {others}"
        wrong = [(differences(_any_secret(found), arguments), found) for found, _ in recorded[:1000]]
        lines, nearest = min(wrong, key=lambda one: len(one[0]))
        shown = "".join([f"\n  {line}" for line in lines[:20]])
        return f"{text}. The nearest one is {name} {excerpt(nearest, 200)}; of that, differs:{shown}"


def _hidden_in(line: dict[str, Any]) -> set[str]:
    """Return the keys whose values were replaced in a line, by names or by a function."""
    names = line.get(_NAMES, [])
    found = {name for name in names if isinstance(name, str)} if is_array(names) else set[str]()
    pending: list[Any] = [line["arguments"], line.get("sent"), line["result"].get("json")]
    while pending:
        one = pending.pop()
        if is_object(one):
            found |= {key for key, inner in one.items() if inner == REDACTED}
            pending += one.values()
        elif is_array(one):
            pending += one
    return found


def _changed_in(line: dict[str, Any]) -> ChangedArguments | None:
    """Return the record of changes to the arguments of a recorded call; None if it can't be read."""
    if "changes" not in line:
        return None
    sent = line.get("sent")
    changed = {
        "arguments": line["arguments"],
        "before": sent if is_object(sent) else {},
        "changes": line["changes"],
    }
    try:
        found: ChangedArguments = codec_of(ChangedArguments).decode(changed)
    except DecodeError:
        return None
    return found


def _any_secret(value: Any) -> Any:
    """Return recorded arguments with `...` in place of each text that held a secret."""
    if isinstance(value, str) and REDACTED in value:
        return ...
    if is_object(value):
        return {key: _any_secret(inner) for key, inner in value.items()}
    return [_any_secret(item) for item in value] if is_array(value) else value
