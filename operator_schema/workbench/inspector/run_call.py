"""Run calls for a page, tried ones and those of a waiting round, after a person's agreement."""

from __future__ import annotations

import hmac
import json
import logging
import secrets
import time
from collections import ChainMap
from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from ...errors import (
    DecodeError,
    EncodeError,
    MissingContextError,
    NeedsInput,
    SchemaError,
    ToolError,
)
from ...json_values import is_array, is_object
from ...message_text import clip, exception_text
from ...rounds import (
    MAYBE_SIGNED,
    Defer,
    Reject,
    RestoreError,
    RoundError,
    Toolset,
    answer_codec,
    answer_schema,
    call_text,
    rejection_reason,
)
from ...tools import Audio, File, Image, RawCall, Resource
from .catalogue import form_of, needs_agreement
from .decode_call import finding_as_dict

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from ...rounds import Round, Store, StuckRound, ToolCall, WaitingRound
    from ...tools import ProgressUpdate, Tool, ToolResult
    from .subject import Subject

_MOST_RECORDS = 200
_MOST_UPDATES = 200
_LONGEST_LINE = 2_000
_LONGEST_NAME = 200
_LONGEST_CONTENT = 200_000
_MOST_PICTURE = 8 * 2**20
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The types of pictures that a browser shows without running code in them."""

_SECONDS_TO_AGREE = 300.0


class Agreements:
    """A person's agreements to calls on the page; each is valid for one call, once, for a time."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._used: dict[str, float] = {}

    def offer(self, *shown: Any) -> str:
        """Return the text that the page has to send back for a call to run.

        Args:
            shown: JSON values that identify the call.
        """
        until = time.monotonic() + _SECONDS_TO_AGREE
        nonce = f"{until}:{secrets.token_hex(8)}"
        return f"{nonce}:{self._digest(nonce, shown)}"

    def take(self, given: Any, *shown: Any) -> bool:
        """Return whether a person agreed to this call, and use up the agreement."""
        if not isinstance(given, str) or not given.isascii() or given in self._used:
            return False
        nonce, _, digest = given.rpartition(":")
        until = nonce.partition(":")[0]
        if not hmac.compare_digest(digest, self._digest(nonce, shown)) or float(until) < time.monotonic():
            return False
        now = time.monotonic()
        self._used = {one: end for one, end in self._used.items() if end > now} | {given: float(until)}
        return True

    def _digest(self, nonce: str, shown: tuple[Any, ...]) -> str:
        text = json.dumps([nonce, *shown], sort_keys=True)
        return hmac.new(self._key, text.encode(), sha256).hexdigest()


def nobody_agreed(_text: str) -> bool:
    """Return that nobody has agreed to a call."""
    return False


async def run_call(
    subject: Subject,
    tool: Tool[..., Any],
    arguments: str,
    *,
    agreed: Callable[[str], bool] = nobody_agreed,
    answers: Mapping[str, Any] | None = None,
    tell: Callable[[dict[str, Any]], object] | None = None,
) -> dict[str, Any]:
    """Run a call.

    Args:
        subject: the subject that runs the call.
        tool: the called tool.
        arguments: JSON text, as a model writes it.
        agreed: a function that returns whether a person has agreed to a call. It gets the text of the call:
            with the arguments that run, after all hooks, and with the reason why a hook makes it wait.
        answers: the person's answers to the tool, as JSON values by the name of the parameter.
        tell: a function that gets each `progress` and each `record` at once, maybe in another thread.

    Returns:
        Only `problem`, a text, if an answer doesn't fit the tool: nothing has run. Only `question`, a text,
        if a person has to agree first. Otherwise the `result`, the `seconds`, the `progress` and the
        `records` that the tool logged; and `asks`, the tool's question, or `missing`, a text about what the
        tool lacks or why its question can't be shown.
    """
    try:
        given = _decoded_answers(tool, answers or {})
    except (DecodeError, SchemaError, ToolError) as error:
        return {"problem": str(error)}
    context = _with_answers(subject, given) if given else subject.context
    trial = _Trial(subject, RawCall(None, tool.name, arguments), context, agreed, tell or _to_nobody)
    with _records(trial.tell) as records:
        start = time.perf_counter()
        result = await trial.run(tool)
        seconds = time.perf_counter() - start
    if result is None:
        return {"question": trial.question}
    about = {"seconds": seconds, "progress": trial.updates, "records": records}
    return {"result": result_as_dict(result), **about, **_asked(tool, result)}


class _Trial:
    """One call that a person tries out, with its progress and log.

    Args:
        subject: the subject that runs the call.
        raw: the call.
        context: the objects that are injected.
        agreed: as for `run_call`.
        tell: as for `run_call`.

    Attributes:
        tell: as for `run_call`.
        updates: the reports of the tool on its progress.
        question: the last question whether a person agrees; None if there was none.
    """

    def __init__(
        self,
        subject: Subject,
        raw: RawCall,
        context: Any,
        agreed: Callable[[str], bool],
        tell: Callable[[dict[str, Any]], object],
    ) -> None:
        self._subject, self._raw, self._context, self._agreed = subject, raw, context, agreed
        self.tell = tell
        self.updates: list[dict[str, Any]] = []
        self.question: str | None = None

    async def run(self, tool: Tool[..., Any]) -> ToolResult | None:
        """Return the result; None if a person has to agree first."""
        if needs_agreement(self._subject, tool):
            result = await self._run(_hold_back)
            if rejection_reason(result) != _AGREED_BY_A_HOOK:
                return self._unless_asked(result)
            text = _text_of(tool, self._raw)
            if not self._agreed(text):
                self.question = text
                return None
        return self._unless_asked(await self._run(None))

    async def _run(self, hooks: Any) -> ToolResult:
        return await self._subject.executor.run(
            self._raw, context=self._context, confirm=self._ask, hooks=hooks, on_progress=self._progress
        )

    def _unless_asked(self, result: ToolResult) -> ToolResult | None:
        return None if result.code == "needs_approval" and self.question is not None else result

    async def _ask(self, call: ToolCall[Any]) -> bool | None:
        text = call_text(call)
        if self._agreed(text):
            return True
        self.question = text
        return None  # so that the page asks, instead of the executor's own function

    def _progress(self, _: RawCall, update: ProgressUpdate) -> None:
        if len(self.updates) < _MOST_UPDATES:
            about = {"done": update.done, "total": update.total, "message": update.message}
            self.updates.append(about)
            self.tell({"progress": about})


_AGREED_BY_A_HOOK: Final = "a hook has agreed to it, but the page asks nevertheless"


def _hold_back(call: ToolCall[Any]) -> Defer | Reject:
    # A call that a hook approved can't be deferred any more.
    return Reject(_AGREED_BY_A_HOOK) if call.approved else Defer("")


_hold_back.__qualname__ = "the page"  # so that the log shows who decided


def undecided(_call: object) -> None:
    """Return that nobody decided yet, so that the page asks, instead of the executor's own function."""


def _with_answers(subject: Subject, answers: dict[Any, Any]) -> Mapping[Any, Any]:
    """Return the context of a call, in which a person's answers take precedence."""
    known: Any = subject.executor.context if subject.context is None else subject.context
    if not isinstance(known, Mapping) and known is not None:
        known = known(None)  # a function for a framework's context, but there is no framework here
    return ChainMap(answers, {} if known is None else cast("Any", known))


def _text_of(tool: Tool[..., Any], raw: RawCall) -> str:
    """Return the text that a person agrees to, for a call that fits."""
    (call,) = Toolset(tool.with_(enabled=True)).offer().round([raw]).calls
    return call_text(call)


def _decoded_answers(tool: Tool[..., Any], answers: Mapping[str, Any]) -> dict[Any, Any]:
    return {name: answer_codec(tool, name).decode(answer) for name, answer in answers.items()}


def _asked(tool: Tool[..., Any], result: ToolResult) -> dict[str, Any]:
    """Return the question of a tool for a person, or a text about what it lacks."""
    raised: Any = (result.details or {}).get("exception")
    if isinstance(raised, MissingContextError):
        names = ", ".join(raised.parameters)
        return {"missing": f"{tool.name} needs {names} from your program: start with --context MODULE:NAME"}
    if result.code != "needs_input" or not isinstance(raised, NeedsInput):
        return {}
    try:
        form = form_of(answer_schema(tool, raised))
    except (SchemaError, ToolError) as error:
        return {"missing": str(error)}
    return {"asks": {"text": raised.question, "parameter": raised.parameter, "form": form}}


def result_as_dict(result: ToolResult) -> dict[str, Any]:
    """Return a result as JSON values: its text, its JSON, and its parts, with the pictures for a page."""
    details = result.details or {}
    raised = details.get("exception")
    return {
        "content": clip(result.content, _LONGEST_CONTENT),
        "is_error": result.is_error,
        "code": result.code,
        "json": _bounded(result.json),
        "parts": [_part(part) for part in result.parts],
        "exception": None if raised is None else exception_text(raised, _LONGEST_LINE),
        "notes": [
            clip(str(note), _LONGEST_LINE)
            for kind in ("repairs", "ignored", "mismatches")
            for note in details.get(kind) or ()
        ],
    }


def _bounded(value: Any) -> Any:
    """Return a JSON value, unless it is larger than a page shows."""
    if not (is_array(value) or is_object(value)):
        return None
    return value if len(json.dumps(value)) <= _LONGEST_CONTENT else None


def _part(part: Any) -> dict[str, Any]:
    """Return a part of a result; a picture with its data, if a page can show it."""
    kind = type(part).__name__.lower()
    if isinstance(part, Image) and part.media_type in _PICTURES and len(part.base64) <= _MOST_PICTURE:
        return {"kind": kind, "text": part.as_text(), "media_type": part.media_type, "data": part.base64}
    known = part.media_type if isinstance(part, (Image, Audio, File, Resource)) else None
    return {"kind": kind, "text": clip(part.as_text(), _LONGEST_CONTENT), "media_type": known, "data": None}


def _to_nobody(_: dict[str, Any]) -> None:
    pass


_Listener: TypeAlias = "tuple[list[dict[str, Any]], Callable[[dict[str, Any]], object]]"
_LISTENING: ContextVar[_Listener | None] = ContextVar("records of one call", default=None)


class _CallLogHandler(logging.Handler):
    """A handler that collects log records while calls run, each for the call that logs it.

    While a call runs, it is attached to the root logger, whose level is then at most INFO.
    """

    def __init__(self) -> None:
        super().__init__()
        self._calls = 0
        self._level = logging.NOTSET

    def begin(self) -> None:
        """Listen for another call."""
        with _LOCK:
            self._calls += 1
            if self._calls == 1:
                root = logging.getLogger()
                self._level = root.level
                root.addHandler(self)
                root.setLevel(min(root.level, logging.INFO))

    def end(self) -> None:
        """Stop listening for a call; after the last one, restore the root logger."""
        with _LOCK:
            self._calls -= 1
            if not self._calls:
                root = logging.getLogger()
                root.removeHandler(self)
                root.setLevel(self._level)

    def emit(self, record: logging.LogRecord) -> None:
        """Store a record."""
        kept, say = _LISTENING.get() or (None, _to_nobody)
        if kept is None or len(kept) >= _MOST_RECORDS:
            return
        try:
            text = clip(record.getMessage(), _LONGEST_LINE)
        except Exception as error:  # noqa: BLE001  # the program's own arguments of a record
            text = f"(a record that can't be written: {type(error).__name__})"
        about = {"level": record.levelname, "logger": record.name, "text": text}
        kept.append(about)
        say({"record": about})


_LOCK = Lock()
_HANDLER = _CallLogHandler()


@contextmanager
def _records(say: Callable[[dict[str, Any]], object]) -> Generator[list[dict[str, Any]]]:
    """Collect the log records of the code inside, also from the threads that it starts for tools.

    Args:
        say: a function that gets each record.

    Yields:
        The records, in a list that grows.
    """
    kept: list[dict[str, Any]] = []
    before = _LISTENING.set((kept, say))
    _HANDLER.begin()
    try:
        yield kept
    finally:
        _HANDLER.end()
        _LISTENING.reset(before)


# --- rounds that wait in a store ------------------------------------------------------------------

_MOST_ROUNDS = 20
_MOST_STUCK = 100
_LONGEST_TEXT = 200_000
_CAUSES = (DecodeError, EncodeError, RestoreError, RoundError, ToolError)


class DecisionError(ValueError):
    """A decision can't be carried out; the message says why."""


@dataclass(frozen=True)
class Decision:
    """A person's decision about one call.

    Attributes:
        round_id: the id of the round.
        call: the position of the call in its turn.
        seen: the data of `round_as_dict` for the call as the person saw it: the decision applies to nothing
            else.
        action: the kind of decision.
        value: other arguments, or None; the reason, as text; or the answer.
        words: the words of the person, for the record; the model doesn't see them.
    """

    round_id: str
    call: int
    seen: str
    action: Literal["approve", "reject", "answer"]
    value: Any = None
    words: str = ""


def waiting_rounds(subject: Subject, store: Store, **filters: Any) -> dict[str, Any]:
    """Return a page of the rounds that wait in a store, and those whose process may have died.

    Args:
        subject: has the tools.
        store: where the rounds wait.
        filters: as for `store.waiting`: `conversation`, `tool`, `older_than`, `state`, `after`.

    Returns:
        The `rounds`, the oldest first; `after`, which is None or the position for the next page; how many
        there are in all (`counts`); and those that are `stuck`.
    """
    found = store.waiting(**filters, limit=_MOST_ROUNDS + 1)
    page = found[:_MOST_ROUNDS]
    return {
        "rounds": [{**_shown(subject, store, one.id), **_listed(one)} for one in page],
        "after": page[-1].position if len(found) > len(page) else None,
        "counts": counts_of(store),
        "stuck": [_taken(one) for one in store.stuck()[:_MOST_STUCK]],
    }


def counts_of(store: Store) -> dict[str, Any]:
    """Return how many rounds a store has of each kind, and how many seconds the oldest has waited."""
    counts = store.counts()
    return {name: getattr(counts, name) for name in counts.__slots__}


def _listed(one: WaitingRound) -> dict[str, Any]:
    return {"since": one.since, "conversation": one.conversation, "about": one.about}


def _taken(one: StuckRound) -> dict[str, Any]:
    return {
        "id": one.id,
        "seconds": one.seconds,
        "calls": [_named(call) for call in one.calls],
        "has_begun": one.has_begun,
        "is_running": one.is_running,
        "owner": None if one.owner is None else str(one.owner),
        "conversation": one.conversation,
    }


def _named(call: RawCall) -> str:
    return f"{clip(call.name, _LONGEST_NAME)} (call {clip(call.id, _LONGEST_NAME)})"


def _shown(subject: Subject, store: Store, round_id: str) -> dict[str, Any]:
    try:
        return round_as_dict(store.load(round_id, subject.toolset))
    except (RestoreError, RoundError) as error:
        return {"id": round_id, "problem": _told(error), "calls": []}


def _told(error: Exception) -> str:
    """Return the text of an exception for the person who started the page and gave the secret."""
    return clip(str(error).replace(MAYBE_SIGNED, _MAYBE_SIGNED), _LONGEST_TEXT)


_MAYBE_SIGNED = " (or they were signed: give the variable that holds the secret, with --secret-env NAME)"


def round_as_dict(work: Round[Any]) -> dict[str, Any]:
    """Return a round as JSON values, with the facts that a person needs about each call."""
    return {
        "id": work.id,
        "problem": None,
        "is_complete": work.is_complete,
        "pending": len(work.pending),
        "calls": [_call(call) for call in work.calls],
    }


def _call(call: ToolCall[Any]) -> dict[str, Any]:
    result = call.result
    question = call.question
    shown = {
        "index": call.index,
        "id": call.id,
        "tool": call.name,
        "state": call.state,
        "approved": call.approved,
        "since": call.deferred_at,
        "expires_at": call.expires_at,
        "approvals": call.approvals,
        "decisions": [one.as_dict() for one in call.decisions],
        "reason": call.reason,
        "text": call_text(call) if call.has_input else call.content,
        "arguments": _arguments_of(call),
        "answers": call.answers,
        "findings": [finding_as_dict(finding) for finding in call.findings],
        "result": None if result is None else result_as_dict(result),
        "question": None
        if question is None
        else {"text": question.text, "form": form_of(question.answer_schema)},
    }
    return {**shown, "seen": sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()}


def _arguments_of(call: ToolCall[Any]) -> Any:
    try:
        return call.arguments
    except (EncodeError, RoundError, ToolError):
        return None


def decide(subject: Subject, store: Store, decision: Decision, by: str | None = None) -> dict[str, Any]:
    """Decide about a call that waits, and save the round; nothing is run.

    Args:
        subject: has the tools.
        store: where the round waits.
        decision: the decision.
        by: the name of the person who decides, for the record.

    Returns:
        The round, as from `round_as_dict`.

    Raises:
        DecisionError: the decision doesn't fit, the call waits for something else than what the person saw,
            or the round is done or was changed meanwhile.
    """
    before = load_round(subject, store, decision.round_id)
    if any(_call(call)["seen"] != decision.seen for call in before.calls if call.index == decision.call):
        message = "this call isn't as it was shown any more: load the page again and look at it"
        raise DecisionError(message)
    try:
        return round_as_dict(store.save(_decided(before, decision, by)))
    except _CAUSES as error:
        raise DecisionError(clip(str(error), _LONGEST_TEXT)) from error


def load_round(subject: Subject, store: Store, round_id: str) -> Round[Any]:
    """Return a round that waits.

    Raises:
        DecisionError: the round is done, is running, or no longer fits the tools.
    """
    try:
        return store.load(round_id, subject.toolset)
    except _CAUSES as error:
        raise DecisionError(_told(error)) from error


def _decided(work: Round[Any], decision: Decision, by: str | None) -> Round[Any]:
    said: dict[str, Any] = {"by": by, "words": decision.words}
    found = [call for call in work.calls if call.index == decision.call]
    which = found[0] if found else decision.call  # the round says what is wrong
    match decision.action:
        case "approve":
            return work.approve(which, arguments=decision.value, **said)
        case "reject":
            return work.reject(which, str(decision.value or ""), **said)
        case "answer":
            return work.answer(which, decision.value, **said)


async def run_round(subject: Subject, store: Store, work: Round[Any]) -> dict[str, Any]:
    """Run the approved calls of a round, and save it; your program commits it.

    Args:
        subject: the subject with the tools.
        store: the store in which the round waits.
        work: the round as a person saw it; if it was changed since then, it doesn't run.

    Raises:
        DecisionError: no call is to be run, or the round is done, was changed, or is running elsewhere.
    """
    executor = subject.executor.with_(store=store)
    if not work.pending:
        message = "this round has no approved call to run"
        raise DecisionError(message)
    try:
        return round_as_dict(await executor.run(work, context=subject.context, confirm=undecided))
    except _CAUSES as error:
        raise DecisionError(clip(str(error), _LONGEST_TEXT)) from error
