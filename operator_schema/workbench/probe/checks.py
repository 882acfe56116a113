"""What can be wrong with an answer of a server?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...json_values import is_array, is_object
from ...message_text import excerpt, one_line, show_path
from .calls import readable
from .error_texts import NOTHING_LEARNED, looks_like_error
from .words import names_in, pattern_of, without_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ...findings import Finding, Severity
    from .calls import Call, ProbedTool
    from .error_texts import Learned
    from .outcomes import ProbedOutcome

_TOOLS: Final = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools"
_SCHEMA: Final = "https://modelcontextprotocol.io/specification/2025-11-25/schema"
_TRANSPORTS: Final = "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports"
_CANCEL: Final = "https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation"
_NOT_FOR_TOOLS: Final = frozenset({-32601, -32603, 0})
"""Codes of JSON-RPC for errors of a server; -32602 and the server's own codes are for errors of a tool."""


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
"""The checks by code; findings about definitions have the codes of `lint`."""


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
"""The texts of the SDKs of MCP about a result that doesn't fit the output schema."""

_STACK_TRACE: Final = re.compile(r"Traceback \(most recent call last\)|\n\s+at \S.*:\d+:\d+\)?(?:\n|$)")
"""A stack trace of Python or of JavaScript, which a model can't use."""


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
"""The number of wrong calls with the same error after which its text is a fault."""


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
"""The checks of a single answer."""
