"""What may be wrong with an answer, and what does the protocol say about it?"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...json_values import is_array, is_object
from ...message_text import excerpt, one_line, show_path
from .calls import readable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ...findings import Finding, Severity
    from .calls import Call, ProbedTool
    from .channel import ProbedOutcome

__all__ = ["ANSWER_CHECKS", "CHECKS", "Check", "AnswerFault", "faults_of"]

_TOOLS: Final = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools"
_SCHEMA: Final = "https://modelcontextprotocol.io/specification/2025-11-25/schema"
_TRANSPORTS: Final = "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports"
_CANCEL: Final = "https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation"
_INVALID_PARAMS: Final = -32602
_INTERNAL_ERROR: Final = -32603


class Check(NamedTuple):
    """A kind of fault.

    Attributes:
        code: its name.
        severity: how much it matters.
        meaning: what is wrong, as a sentence.
        remedy: what its author can do.
        source: what says so.
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
    Check("valid_refused", "error", "it refuses the form of a call that its schema allows",
          "Say in the schema what is checked, or take the value", _TOOLS),
    Check("invalid_accepted", "warning", "it takes a call that its schema refuses",
          "Check the arguments against the schema, or say in the schema what is taken", _TOOLS),
    Check("unflagged_error", "error", "an error comes as a result without isError",
          "Set isError to true in results that are errors", _TOOLS),
    Check("internal_error", "warning", "an error of a tool comes as an internal error of JSON-RPC",
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
    Check("mixed_answers", "error", "calls at the same time get other answers than one after the other",
          "Keep the state of each call separate from that of others", _TOOLS),
    Check("stuck_after_cancel", "error", "after a call was cancelled, the server answers nothing any more",
          "Stop the work of a cancelled call, and go on reading messages", _CANCEL),
    Check("unknown_tool_accepted", "error", "a call of a tool that doesn't exist isn't an error",
          "Answer with the error -32602", _TOOLS),
)  # fmt: skip

CHECKS: Final = {check.code: check for check in _ROWS}
"""Code to check; beside these there are the codes of `lint`."""


class AnswerFault(NamedTuple):
    """Something that is wrong with an answer.

    Attributes:
        code: of the check.
        path: the parameter, or the place in the result.
        message: what is wrong with this answer.
        severity: of this fault; None for that of the check.
        detail: what makes it another fault than one at the same place.
    """

    code: str
    path: tuple[str | int, ...]
    message: str
    severity: Severity | None = None
    detail: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two faults of a tool the same."""
        path = tuple(step if isinstance(step, str) else 0 for step in self.path)
        return self.code, path, self.severity, self.detail


def faults_of(tool: ProbedTool, call: Call, outcome: ProbedOutcome, most: int) -> list[AnswerFault]:
    """Return what is wrong with the answer to a call.

    Args:
        tool: that was called.
        call: the same.
        outcome: what came.
        most: bytes of an answer.
    """
    if outcome.is_lost:
        return []
    found = [fault for check in ANSWER_CHECKS for fault in check(tool, call, outcome)]
    if outcome.reply.size > most:
        found.append(AnswerFault("large_answer", (), f"{outcome.reply.size:,} bytes come back"))
    return found


# --- the form of results -------------------------------------------------------------------------

_NEEDED: Final = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource": ("resource",),
    "resource_link": ("uri",),
}


def _bad_result(_: ProbedTool, __: Call, outcome: ProbedOutcome) -> Iterator[AnswerFault]:
    if outcome.reply.kind != "result":
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


def _wrong_result(tool: ProbedTool, call: Call, outcome: ProbedOutcome) -> Iterator[AnswerFault]:
    result = outcome.result
    if result is None or not tool.promises_output:
        return
    if outcome.is_flagged:
        is_own = call.kind == "valid" and _VALIDATOR.search(outcome.text)
        if is_own and _is_about_result(tool, outcome.text):
            yield AnswerFault("wrong_result", (), f"its own check refuses the result: {outcome.said}")
        return
    structured = result.get("structuredContent")
    if structured is None:
        yield AnswerFault("no_structured_result", (), "a result without isError has no structuredContent")
    elif tool.output is not None:
        for problem in tool.output.report(readable(structured))[:1]:
            yield AnswerFault(
                "wrong_result", problem.path, f"{show_path(problem.path)}: {problem.message}".strip(": ")
            )


# --- refusals ------------------------------------------------------------------------------------

_VALIDATOR: Final = re.compile(
    r"validation errors? for|input validation error|invalid arguments? for tool|\[type=\w+|"
    r"\"code\":\s*\"(?:invalid_|too_|unrecognized_)|is not of type|is a required property|"
    r"additional properties are not allowed",
    re.IGNORECASE,
)
"""What well-known validators write: pydantic, jsonschema, zod."""

_OF_RESULT: Final = re.compile(
    r"output validation|output ?schema|structured ?(?:content|output)|"
    r"validation errors? for (?!call\b|\w*(?:Arguments|Args|Input|Params|Request)\b)\w",
    re.IGNORECASE,
)
"""What they write of a result; what they say of arguments names a parameter, or the class of these."""

_FORM: Final = re.compile(
    r"\binvalid (?:\w+ )?(?:arguments?|params?|parameters?|input|type|value)\b|\b(?:is|are|be) required\b|"
    r"\brequired (?:property|parameter|argument|field|key)\b|\bmissing\b|"
    r"\b(?:unexpected|unknown|unrecognized|unsupported) (?:keyword )?"
    r"(?:arguments?|parameters?|property|field|key)\b|"
    r"\b(?:must|should|can't|cannot|may not) (?:not )?(?:be|have|contain)\b|\bexpected\b|"
    r"\btoo (?:long|short|small|big|large)\b|"
    r"\bat (?:most|least)\b|\bout of range\b|\b(?:greater|less|more|fewer) than\b|\bnot (?:a|an) "
    r"(?:valid )?(?:string|text|number|integer|int|boolean|bool|array|list|object|dict)\b|\bnot allowed\b",
    re.IGNORECASE,
)
_OF_TYPE: Final = re.compile(
    r"\b(?:string|text|number|integer|int|bool\w*|array|list|object|dict|null|none|required|missing|empty|blank|"
    r"characters?|chars?|bytes|length|long|short|ascii|type)\b",
    re.IGNORECASE,
)
"""What a refusal speaks of when it isn't about the meaning of a text."""

_DOMAIN: Final = re.compile(
    r"not found|no such|n't exist|not exist|failed to|permission|denied|repositor|outside|allowed director|"
    r"unreachable|connect|resolve|timed? ?out|\b(?:none|already)\b|E[A-Z]{4,}:|no \w+ (?:named|with|called)|"
    r"\bexit (?:code|status)\b|\bfatal: ",
    re.IGNORECASE,
)
_EMPTY: Final = re.compile(r"\b(?:non-?)?(?:empty|blank)\b", re.IGNORECASE)
_OWN_TEST: Final = re.compile(r"value error|assertion failed|value_error", re.IGNORECASE)
_ERROR_TEXT: Final = re.compile(
    r"^[\s*#>\u274c\u26a0\ufe0f]*(?:(?:[A-Za-z]+ ){0,2}errors?\b\s*(?::|while|when|in|executing|calling)|"
    r"\w+(?:Error|Exception)\b|"
    r"traceback \(|failed to |failure:|exception:|invalid \w+)",
    re.IGNORECASE,
)


_MOST_KEYS: Final = 3
"""Of an object that is only an error."""

_VERDICTS: Final = frozenset({"valid", "isValid", "is_valid"})


def _named(text: str, names: list[str]) -> list[str]:
    """Return the names that a text has as words, the one that comes last at the end."""
    places: dict[str, int] = {}
    for name in names:
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE):
            places[name] = match.start()
    return sorted(places, key=lambda name: places[name])


def is_about_form(tool: ProbedTool, outcome: ProbedOutcome) -> bool:
    """Return whether a refusal is about the form of the arguments, rather than about what they mean."""
    text = outcome.text
    if _VALIDATOR.search(text):
        return not _is_about_result(tool, text)
    if _DOMAIN.search(text):
        return False
    is_form = bool(_FORM.search(text))
    return (outcome.code == _INVALID_PARAMS and is_form) or (
        is_form and bool(_named(text, list(tool.properties)))
    )


def _is_about_result(tool: ProbedTool, text: str) -> bool:
    """Return whether a validator refuses what a tool returns, rather than its arguments."""
    return bool(_OF_RESULT.search(text)) and not _named(text, list(tool.properties))


def _speaks_of_form(tool: ProbedTool, text: str) -> bool:
    """Return whether a text that may name no parameter is about the form of arguments."""
    if _VALIDATOR.search(text):
        return not _is_about_result(tool, text)
    return not _DOMAIN.search(text) and bool(_FORM.search(text)) and bool(_OF_TYPE.search(text))


def _valid_refused(tool: ProbedTool, call: Call, outcome: ProbedOutcome) -> Iterator[AnswerFault]:
    """Find refusals of a valid call that speak of its form.

    What a text means is up to the server: that it isn't the path of a file, say, is no fault.
    """
    if call.kind != "valid" or not outcome.is_flagged or not is_about_form(tool, outcome):
        return
    names = list(tool.properties)
    issues = _issues(outcome.text, names)
    said = issues or dict.fromkeys(_named(outcome.text, names), outcome.text)
    given = [name for name in said if name in call.arguments] or list(said)
    judged = given if issues else given[-1:]
    is_form = {name: _is_refused_form(tool, call, name, said) for name in judged}
    if is_form and not any(is_form.values()):
        return
    given = [name for name in given if is_form.get(name, True)]
    blamed = given[-1:]  # what is before may be the name of the server
    blank = frozenset([name for name, value in call.arguments.items() if _is_blank(value)])
    is_blank = not blank.isdisjoint(blamed)
    if blank and not is_blank and _EMPTY.search(outcome.text):
        blamed, is_blank = list(blank) if len(blank) == 1 else [], True  # "path" may mean another path
    value = call.arguments.get(blamed[0]) if blamed else None
    is_whole = isinstance(value, float) and value.is_integer()
    severity: Severity | None = "warning" if is_blank or is_whole else None
    several = " ".join(sorted(given)) if len(given) > 1 else ""
    yield AnswerFault("valid_refused", tuple(blamed), f"it answers: {outcome.said}", severity, several)


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def _issues(text: str, names: list[str]) -> dict[str, str]:
    """Return what zod says of each parameter, in JSON; nothing for other texts."""
    found: dict[str, str] = {}
    with suppress(ValueError, RecursionError):
        listed: Any = json.loads(text[text.index("[") : text.rindex("]") + 1])
        for each in listed:
            issue: Any = each
            path: Any = issue.get("path") if is_object(each) else None
            if is_array(path) and path and path[0] in names:
                found[path[0]] = json.dumps(issue)
    return found


def _is_refused_form(tool: ProbedTool, call: Call, name: str, said: Mapping[str, str]) -> bool:
    """Return whether what is said of a parameter is about its form; of a text it may be about the meaning."""
    value = call.arguments.get(name)
    if not isinstance(value, str) or "enum" in tool.properties.get(name, {}):
        return True
    if _OWN_TEST.search(said[name]) and value != "":
        return False
    return bool(_OF_TYPE.search(_without(said[name], [*said, tool.name, value])))


def _without(text: str, parts: list[str]) -> str:
    for part in filter(None, parts):
        text = text.replace(part, " ")
    return text


def looks_like_error(call: Call, outcome: ProbedOutcome) -> bool:
    """Return whether a result that isn't flagged is an error by its text."""
    result = outcome.result
    if result is None or outcome.is_flagged:
        return False
    text = outcome.text.strip()
    if not text or _is_asked_for(text, call.arguments):
        return False
    content = result.get("content")
    if is_array(content) and len(content) > 1:
        return False
    if _ERROR_TEXT.search(text[:200]):
        return True
    return _is_error_object(text)


def _is_asked_for(text: str, value: Any) -> bool:
    """Return whether arguments and text have one another in them: an echo, or a sample of an error."""
    if isinstance(value, str):
        one, other = text.casefold(), value.casefold()
        return one in other or (len(other) > 2 and other in one)  # noqa: PLR2004  # fewer are there by chance
    inner = value.values() if is_object(value) else value if is_array(value) else ()
    return any(_is_asked_for(text, each) for each in inner)


def _is_error_object(text: str) -> bool:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not is_object(value):
        return False
    if not _VERDICTS.isdisjoint(value):
        return False  # that what was asked about is wrong is the answer
    error = value.get("error") if len(value) <= _MOST_KEYS else None
    failed = value.get("success") is False or value.get("ok") is False
    return failed or (isinstance(error, str) and bool(error))


def _unflagged_error(_: ProbedTool, call: Call, outcome: ProbedOutcome) -> Iterator[AnswerFault]:
    if looks_like_error(call, outcome):
        yield AnswerFault("unflagged_error", (), f"a result without isError says: {outcome.said}")


def _internal_error(_: ProbedTool, __: Call, outcome: ProbedOutcome) -> Iterator[AnswerFault]:
    if outcome.is_own_refusal:
        return
    if (
        outcome.code is not None and outcome.code != _INVALID_PARAMS and outcome.code >= _INTERNAL_ERROR - 1
    ) or (outcome.reply.kind == "error" and outcome.code == 0):
        yield AnswerFault("internal_error", (), f"the error {outcome.code} says: {outcome.said}")


def _invalid_accepted(tool: ProbedTool, call: Call, outcome: ProbedOutcome) -> Iterator[AnswerFault]:
    if call.kind != "invalid" or outcome.is_flagged or outcome.result is None:
        return
    if looks_like_error(call, outcome):
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
    """Return where a problem is; any name stands for the name of an unknown key."""
    if problem.code == "unknown":
        return (*problem.path[:-1], "*")
    return problem.path


def _unnamed_parameter(tool: ProbedTool, call: Call, outcome: ProbedOutcome) -> Iterator[AnswerFault]:
    if call.kind != "invalid" or not outcome.is_flagged or not _speaks_of_form(tool, outcome.text):
        return
    problems = tool.problems(call.arguments)
    keys = [step for problem in problems for step in problem.path if isinstance(step, str)]
    if len(problems) != 1 or not keys:
        return
    if not _named(outcome.text, [*keys, *tool.properties]):
        yield AnswerFault(
            "unnamed_parameter", (), f"{show_path(problems[0].path)} is wrong, and it says: {outcome.said}"
        )


ANSWER_CHECKS: Final[tuple[Callable[[ProbedTool, Call, ProbedOutcome], Iterator[AnswerFault]], ...]] = (
    _bad_result,
    _wrong_result,
    _valid_refused,
    _unflagged_error,
    _internal_error,
    _invalid_accepted,
    _unnamed_parameter,
)
"""Those that need one answer only."""
