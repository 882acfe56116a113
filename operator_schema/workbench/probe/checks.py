"""What can be wrong with an answer of a server?"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...json_values import is_array, is_object
from ...message_text import excerpt, one_line, show_path
from .calls import readable
from .words import names_in, pattern_of, without_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ...findings import Finding, Severity
    from .calls import Call, ProbedTool
    from .outcomes import ProbedOutcome

_TOOLS: Final = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools"
_SCHEMA: Final = "https://modelcontextprotocol.io/specification/2025-11-25/schema"
_TRANSPORTS: Final = "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports"
_CANCEL: Final = "https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation"
_NOT_FOR_TOOLS: Final = frozenset({-32601, -32603, 0})
"""Codes of JSON-RPC that say nothing of a tool; -32602 and those of a server itself may."""


class Check(NamedTuple):
    """A kind of fault.

    Attributes:
        code: the code of the findings.
        severity: the level of the findings.
        meaning: the fault, as a sentence.
        remedy: advice for the author of the server.
        source: the address of the rule.
    """

    code: str
    severity: Severity
    meaning: str
    remedy: str
    source: str


_ROWS: Final = (
    Check("crash", "error", "the server ended during a call, or right after it",
          "Catch the exception, and answer with isError", _TOOLS),
    Check("hang", "error", "the server stopped answering",
          "Run long work outside of the loop that reads messages, with a time limit", _TOOLS),
    Check("channel_noise", "error", "what it writes to the channel isn't JSON-RPC",
          "Write logs to standard error", _TRANSPORTS),
    Check("valid_refused", "error", "it refuses a value that its schema allows, and takes others there",
          "Say in the schema what is checked, or take the value", _TOOLS),
    Check("invalid_accepted", "warning", "it takes a call that its schema refuses",
          "Check the arguments against the schema, or say in the schema what is taken", _TOOLS),
    Check("unflagged_error", "error", "an error comes as a result without isError",
          "Set isError to true in results that are errors", _TOOLS),
    Check("internal_error", "warning", "an error of a tool comes as an internal error of the server",
          "Answer with a result that has isError, which a model can read", _TOOLS),
    Check("unnamed_parameter", "warning", "the text of an error doesn't say which parameter is wrong",
          "Name the parameter in the text", _TOOLS),
    Check("wrong_result", "error", "structuredContent doesn't fit the output schema",
          "Return what the schema promises, or correct the schema", _TOOLS),
    Check("no_structured_result", "error", "there is an output schema, but no structuredContent",
          "Return structuredContent, or leave the output schema out", _TOOLS),
    Check("bad_result", "error", "it isn't a valid result of tools/call",
          "Return a list of content blocks", _SCHEMA),
    Check("large_answer", "warning", "an answer is too large for a model",
          "Return a part, with a way to ask for more", _TOOLS),
    Check("changed_by_refused", "error", "a call that ended as an error changed something",
          "Check everything before the first change, or undo it", _TOOLS),
    Check("read_only_changed", "error", "readOnlyHint is true, but a call changed something",
          "Set readOnlyHint to false", _SCHEMA),
    Check("not_idempotent", "error", "idempotentHint is true, but a second equal call changed something",
          "Set idempotentHint to false", _SCHEMA),
    Check("unstable", "error", "a call that succeeded fails when it is repeated",
          "Keep nothing of an earlier call that changes the answer to the next one", _TOOLS),
    Check("mixed_answers", "error", "calls at the same time get other answers than one after the other",
          "Keep the state of each call separate from that of others", _TOOLS),
    Check("stuck_after_cancel", "error", "after a call was cancelled, the server answers nothing any more",
          "Stop the work of a cancelled call, and go on reading messages", _CANCEL),
    Check("changed_by_cancelled", "error", "a cancelled call left a part of its changes",
          "Undo what a cancelled call has done so far, or finish it", _CANCEL),
    Check("never_succeeded", "warning",
          "none of the valid calls of a tool succeeded, so its results weren't checked",
          "Say in the schema which values work, with examples, or give the server what it needs", _TOOLS),
    Check("unknown_tool_accepted", "error", "a call of a tool that doesn't exist isn't an error",
          "Answer with the error -32602", _TOOLS),
)  # fmt: skip

CHECKS: Final = {check.code: check for check in _ROWS}
"""Code to check; beside these there are the codes of `lint`."""


class AnswerFault(NamedTuple):
    """A fault of an answer.

    Attributes:
        code: the code of the check.
        path: the parameter, or the place in the result.
        message: the fault of this answer, in words.
        severity: the level of this fault; None for the level of the check.
        detail: a text that differs for different faults at the same place.
        other: a value for that parameter with which the call succeeds.
    """

    code: str
    path: tuple[str | int, ...]
    message: str
    severity: Severity | None = None
    detail: str = ""
    other: Any = None

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that is the same for equal faults of a tool."""
        path = tuple(step if isinstance(step, str) else 0 for step in self.path)
        return self.code, path, self.severity, self.detail


def faults_of(
    tool: ProbedTool, call: Call, outcome: ProbedOutcome, most: int, learned: Learned | None = None
) -> list[AnswerFault]:
    """Return the faults of the answer to a call.

    Args:
        tool: the called tool.
        call: the call.
        outcome: the answer to the call.
        most: the size of the largest answer that is no fault, in bytes.
        learned: the texts of other answers of the server.
    """
    if outcome.is_lost:
        return []
    known = NOTHING_LEARNED if learned is None else learned
    found = [fault for check in ANSWER_CHECKS for fault in check(tool, call, outcome, known)]
    if outcome.size > most:
        found.append(AnswerFault("large_answer", (), f"{outcome.size:,} bytes come back"))
    return found


# --- the form of results -------------------------------------------------------------------------

_NEEDED: Final = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource": ("resource",),
    "resource_link": ("uri",),
}


def _bad_result(_: ProbedTool, __: Call, outcome: ProbedOutcome, ___: Learned) -> Iterator[AnswerFault]:
    if outcome.kind != "result":
        return
    result = outcome.result
    content = None if result is None else result.get("content")
    if not is_array(content):
        yield AnswerFault("bad_result", (), f"its content is {excerpt(content)}, not a list of blocks")
        return
    for block in content:
        kind = block.get("type") if is_object(block) else None
        missing = [key for key in _NEEDED.get(str(kind), ()) if key not in block]
        if kind not in _NEEDED or missing:
            yield AnswerFault("bad_result", (), f"a block of its content is {excerpt(block)}")
            return
        if kind == "text" and not isinstance(block["text"], str):
            yield AnswerFault("bad_result", (), f"the text of a block is {excerpt(block['text'])}")
            return


def _wrong_result(tool: ProbedTool, call: Call, outcome: ProbedOutcome, _: Learned) -> Iterator[AnswerFault]:
    if not tool.promises_output or outcome.is_lost:
        return
    if outcome.is_flagged:
        if call.kind == "valid" and _OF_RESULT.search(outcome.text):
            yield AnswerFault("wrong_result", (), f"its own check refuses the result: {outcome.said}")
        return
    structured = (outcome.result or {}).get("structuredContent")
    if structured is None:
        yield AnswerFault("no_structured_result", (), "a result without isError has no structuredContent")
    elif tool.output is not None:
        for problem in tool.output.report(readable(structured))[:1]:
            yield AnswerFault(
                "wrong_result", problem.path, f"{show_path(problem.path)}: {problem.message}".strip(": ")
            )


# --- refusals and errors -------------------------------------------------------------------------

_OF_RESULT: Final = re.compile(
    r"^(?:MCP error -\d+: )?output validation error\b|\boutput schema\b.*\bstructured content\b|"
    r"\bvalidation errors? for (?:DictModel\b|\w+Output\b)",
    re.IGNORECASE,
)
"""What the SDKs of MCP write if a result doesn't fit the output schema, which they check themselves."""

_ERROR_NAME: Final = re.compile(
    r"^[\W_]*(?:[A-Za-z]+ ){0,2}(?:errors?\b\s*(?::|[a-z])|\w+(?:Error|Exception)\b|traceback \()",
    re.IGNORECASE,
)
"""How programs begin the text of an error, whatever language the rest is in."""

_OPENING: Final = re.compile(r"^[\W_]*([^\W\d_][^\d:\n]{1,30}?) ?[:!]")
_LEAST_ALIKE: Final = 2
"""Different refusals that have to begin alike before other texts that begin so are taken for errors."""

_MOST_KEYS: Final = 3
"""Of an object that is only an error."""

_MOST_TEXTS: Final = 20
_LEAST_LETTERS: Final = 3
_VERDICTS: Final = frozenset({"valid", "isValid", "is_valid"})


_STACK_TRACE: Final = re.compile(r"Traceback \(most recent call last\)|\n\s+at \S.*:\d+:\d+\)?(?:\n|$)")
"""Of Python, and of JavaScript: what a model can't use."""


@dataclass
class Learned:
    """Remembers the texts of the errors and of the other answers of a server.

    Attributes:
        refusals: patterns of the texts of errors that are flagged.
        openings: the first words of such texts, each with the patterns that begin with them.
        answers: tool to texts of its other answers, and whether they are data.
        reasons: tool to the patterns of its errors for valid calls.
    """

    refusals: set[str] = field(default_factory=set[str])
    openings: dict[str, set[str]] = field(default_factory=dict[str, "set[str]"])
    answers: dict[str, list[tuple[str, bool]]] = field(default_factory=dict[str, "list[tuple[str, bool]]"])
    reasons: dict[str, set[str]] = field(default_factory=dict[str, "set[str]"])

    def learn(self, tool: ProbedTool, call: Call, outcome: ProbedOutcome) -> None:
        """Remember the text of the answer to a call."""
        if outcome.is_lost:
            return
        if not outcome.is_flagged:
            texts = self.answers.setdefault(call.tool, [])
            if call.kind == "valid" and len(texts) < _MOST_TEXTS:
                texts.append((without_values(outcome.text, call.arguments), outcome.data is not None))
            return
        if call.kind == "valid":
            self.reasons.setdefault(call.tool, set()).add(pattern_of(outcome.whole_text, call.arguments))
        pattern = pattern_of(outcome.text, call.arguments, tool.properties)
        if sum(map(str.isalpha, pattern)) >= _LEAST_LETTERS:
            self.refusals.add(pattern)
        if opening := _opening_of(outcome.text, call):
            self.openings.setdefault(opening, set()).add(pattern)

    def has_refused(self, tool: ProbedTool, call: Call, text: str) -> bool:
        """Return whether a text reads like errors that are flagged, or begins like several of them."""
        if pattern_of(text, call.arguments, tool.properties) in self.refusals:
            return True
        return len(self.openings.get(_opening_of(text, call), ())) >= _LEAST_ALIKE


def _opening_of(text: str, call: Call) -> str:
    """Return the words of a text before its first colon; empty if there is none, or they name an argument."""
    found = _OPENING.match(without_values(text, call.arguments))
    opening = found[1].casefold() if found else ""
    return "" if names_in(opening, [call.tool, *call.arguments]) else opening


NOTHING_LEARNED: Final = Learned()


def looks_like_error(tool: ProbedTool, call: Call, outcome: ProbedOutcome, learned: Learned) -> bool:
    """Return whether a result that isn't flagged is an error, judged by its form or by other answers."""
    result = outcome.result
    if result is None or outcome.is_flagged:
        return False
    text = outcome.text.strip()
    if not text or _is_asked_for(text, call.arguments):
        return False
    content = result.get("content")
    if is_array(content) and len(content) > 1:
        return False
    if _ERROR_NAME.search(text[:200]) or _is_error_object(outcome.data):
        return True
    return learned.has_refused(tool, call, text) or _names_mistake(tool, call, outcome, learned)


def _names_mistake(tool: ProbedTool, call: Call, outcome: ProbedOutcome, learned: Learned) -> bool:
    """Return whether an answer to a wrong call names the wrong part, and no answer to a right call does."""
    answers = learned.answers.get(tool.name)
    if call.kind != "invalid" or not answers:
        return False
    problems = tool.problems(call.arguments)
    keys = [step for problem in problems for step in problem.path if isinstance(step, str)]
    said = names_in(without_values(outcome.text, call.arguments), keys)
    alike = [text for text, is_data in answers if is_data is (outcome.data is not None)]
    return bool(said) and not any(names_in(answer, said) for answer in alike)


def _is_asked_for(text: str, value: Any) -> bool:
    """Return whether a text repeats an argument, or contains one that looks like an error."""
    if isinstance(value, str):
        one, other = text.casefold(), value.casefold()
        return one in other or (len(other) > 2 and _ERROR_NAME.search(value) is not None and other in one)  # noqa: PLR2004  # fewer are there by chance
    inner = value.values() if is_object(value) else value if is_array(value) else ()
    return any(_is_asked_for(text, each) for each in inner)


def _is_error_object(value: Any) -> bool:
    if not is_object(value):
        return False
    if not _VERDICTS.isdisjoint(value):
        return False  # that what was asked about is wrong is the answer
    error = value.get("error") if len(value) <= _MOST_KEYS else None
    failed = value.get("success") is False or value.get("ok") is False
    return failed or (isinstance(error, str) and bool(error)) or (is_object(error) and bool(error))


def _unflagged_error(
    tool: ProbedTool, call: Call, outcome: ProbedOutcome, learned: Learned
) -> Iterator[AnswerFault]:
    if looks_like_error(tool, call, outcome, learned):
        yield AnswerFault("unflagged_error", (), f"a result without isError says: {outcome.said}")


def _internal_error(_: ProbedTool, __: Call, outcome: ProbedOutcome, ___: Learned) -> Iterator[AnswerFault]:
    if outcome.code in _NOT_FOR_TOOLS and not outcome.is_own_refusal:
        yield AnswerFault("internal_error", (), f"the error {outcome.code} says: {outcome.said}")
    elif outcome.is_flagged and _STACK_TRACE.search(outcome.text):
        yield AnswerFault("internal_error", (), f"the error is a stack trace: {outcome.said}")


def _invalid_accepted(
    tool: ProbedTool, call: Call, outcome: ProbedOutcome, learned: Learned
) -> Iterator[AnswerFault]:
    if call.kind != "invalid" or outcome.is_flagged or outcome.result is None:
        return
    if looks_like_error(tool, call, outcome, learned):
        return
    problem = tool.problems(call.arguments)[0]
    severity: Severity | None = "note" if problem.code == "unknown" else None
    said = f"{show_path(problem.path)}: {problem.message}".strip(": ")
    yield AnswerFault(
        "invalid_accepted",
        _place(problem),
        one_line(f"by its schema, {said}", 400),
        severity,
        problem.code,
    )


def _place(problem: Finding) -> tuple[str | int, ...]:
    """Return the path of a problem, with `*` in place of the name of an unknown key."""
    if problem.code == "unknown":
        return (*problem.path[:-1], "*")
    return problem.path


# --- wrong calls of one tool together ------------------------------------------------------------

_FEW: Final = 3
"""Wrong calls that have to be refused in one way before the text is blamed."""


def mistake_of(tool: ProbedTool, call: Call) -> tuple[str, tuple[str | int, ...]] | None:
    """Return the code and the path of the mistake of a call; None unless it is a single one with a name."""
    problems = tool.problems(call.arguments) if call.kind == "invalid" else ()
    names = [step for problem in problems for step in problem.path if isinstance(step, str)]
    if len(problems) != 1 or not names:
        return None
    if not names[-1].isprintable() or not any(map(str.isalnum, names[-1])):  # it need not be repeated
        return None
    return problems[0].code, problems[0].path


def unnamed_parameter(tool: ProbedTool, call: Call, outcome: ProbedOutcome) -> AnswerFault | None:
    """Return the fault that an error doesn't name the wrong parameter; None if it does."""
    mistake = mistake_of(tool, call)
    if mistake is None or not outcome.is_flagged or outcome.code in _NOT_FOR_TOOLS:
        return None
    keys = [step for step in mistake[1] if isinstance(step, str)]
    text = outcome.whole_text
    # A value may be a name, too, and it may be the name of an unknown key.
    if names_in(without_values(text, call.arguments), [*keys, *tool.properties]):
        return None
    if mistake[0] == "unknown" and names_in(text, keys[-1:]):
        return None
    said = f"{show_path(mistake[1])} is wrong, and it says: {outcome.said}"
    return AnswerFault("unnamed_parameter", (), said)


def says_one_thing(
    tool: ProbedTool, refused: Sequence[tuple[Call, ProbedOutcome]], learned: Learned
) -> Call | None:
    """Return a wrong call with an error that names nothing and is the same for other mistakes; None for none.

    Args:
        tool: the called tool.
        refused: wrong calls of the tool, with their answers.
        learned: the texts of other answers: an error that right calls get too is about something else.
    """
    alike: dict[str, list[Call]] = {}
    for call, outcome in refused:
        if unnamed_parameter(tool, call, outcome) is not None:
            alike.setdefault(pattern_of(outcome.whole_text, call.arguments), []).append(call)
    for pattern, calls in alike.items():
        if pattern in learned.reasons.get(tool.name, ()):
            continue
        mistakes = {mistake_of(tool, call) for call in calls}
        places = {mistake[1] for mistake in mistakes if mistake is not None}
        if len(places) > 1 or (len(calls) >= _FEW and (len(mistakes) > 1 or len(tool.properties) > 1)):
            return calls[0]
    return None


# --- all checks of one answer --------------------------------------------------------------------

ANSWER_CHECKS: Final[
    tuple[Callable[[ProbedTool, Call, ProbedOutcome, Learned], Iterator[AnswerFault]], ...]
] = (_bad_result, _wrong_result, _unflagged_error, _internal_error, _invalid_accepted)
"""Those that need one answer only."""
