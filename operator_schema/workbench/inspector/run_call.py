"""How does a call run that a person tries out on the page, after the agreement that it may need?"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections import ChainMap
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, cast

from ...errors import DecodeError, MissingContextError, NeedsInput, SchemaError, ToolError
from ...json_values import is_array, is_object
from ...message_text import clip, exception_text
from ...rounds import Defer, Reject, Toolset, answer_codec, answer_schema, call_text, rejection_reason
from ...tools import Audio, File, Image, RawCall, Resource
from .call_records import records_of_call
from .catalogue import needs_agreement
from .input_forms import form_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...rounds import ToolCall
    from ...tools import ProgressUpdate, Tool, ToolResult
    from .subject import Subject

_MOST_UPDATES = 200
_LONGEST_LINE = 2_000
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


async def run_call(
    subject: Subject,
    tool: Tool[..., Any],
    arguments: str,
    *,
    agreed: Callable[[str], bool],
    answers: Mapping[str, Any] | None = None,
    tell: Callable[[dict[str, Any]], object] = lambda _: None,
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
        given = {name: answer_codec(tool, name).decode(each) for name, each in (answers or {}).items()}
    except (DecodeError, SchemaError, ToolError) as error:
        return {"problem": str(error)}
    context = _with_answers(subject, given) if given else subject.context
    trial = _Trial(subject, RawCall(None, tool.name, arguments), context, agreed, tell)
    with records_of_call(tell) as records:
        start = time.perf_counter()
        result = await trial.run(tool)
        seconds = time.perf_counter() - start
    if result is None:
        return {"question": trial.question}
    about = {"seconds": seconds, "progress": trial.updates, "records": records}
    return {"result": result_as_dict(result), **about, **_question_of(tool, result)}


class _Trial:
    """One call that a person tries out, with its progress and log.

    Args:
        subject: the subject that runs the call.
        raw: the call.
        context: the objects that are injected.
        agreed: as for `run_call`.
        tell: as for `run_call`.

    Attributes:
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
        self._subject, self._raw, self._context = subject, raw, context
        self._agreed, self._tell = agreed, tell
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
            self._tell({"progress": about})


_AGREED_BY_A_HOOK: Final = "a hook has agreed to it, but the page asks nevertheless"


def _hold_back(call: ToolCall[Any]) -> Defer | Reject:
    # A call that a hook approved can't be deferred any more.
    return Reject(_AGREED_BY_A_HOOK) if call.approved else Defer("")


_hold_back.__qualname__ = "the page"  # so that the log shows who decided


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


def _question_of(tool: Tool[..., Any], result: ToolResult) -> dict[str, Any]:
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
        "json": _if_small(result.json),
        "parts": [_part_as_dict(part) for part in result.parts],
        "exception": None if raised is None else exception_text(raised, _LONGEST_LINE),
        "notes": [
            clip(str(note), _LONGEST_LINE)
            for kind in ("repairs", "ignored", "mismatches")
            for note in details.get(kind) or ()
        ],
    }


def _if_small(value: Any) -> Any:
    """Return a JSON value, unless it is larger than a page shows."""
    if not (is_array(value) or is_object(value)):
        return None
    return value if len(json.dumps(value)) <= _LONGEST_CONTENT else None


def _part_as_dict(part: Any) -> dict[str, Any]:
    """Return a part of a result; a picture with its data, if a page can show it."""
    kind = type(part).__name__.lower()
    if isinstance(part, Image) and part.media_type in _PICTURES and len(part.base64) <= _MOST_PICTURE:
        return {"kind": kind, "text": part.as_text(), "media_type": part.media_type, "data": part.base64}
    known = part.media_type if isinstance(part, (Image, Audio, File, Resource)) else None
    return {"kind": kind, "text": clip(part.as_text(), _LONGEST_CONTENT), "media_type": known, "data": None}
