"""What is the result of a call that fails: the text for the model, the details for your program, the log?"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from ..codec.problems import ignored_places
from ..errors import CallError, DecodeError, EncodeError, NeedsInput, ToolError
from ..json_values import has_surrogate
from ..message_text import (
    class_name_of,
    clip,
    escape,
    exception_text,
    listed,
    message_of,
    one_line,
    quote,
    show_path,
)
from .calls import Passed, ToolResult, is_of_class, own_parts
from .logs import ERROR, INFO, WARNING, has_plain_traceback, write_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..errors import ToolNotFoundError
    from ..findings import Finding
    from .calls import RawCall, ResultCode, ShowErrors
    from .content import Part


_SHOWN_LEAVES = 5
_SHOWN_PROBLEMS = 5
_SHOWN_KEYS = 5
_MOST_KEYS = 1000
_NAME_LENGTH = 100
_TRACEBACK_LENGTH = 10_000
_QUESTION_LENGTH = 1000


def error_hint(error: DecodeError | None, tool: str, describer: str | None) -> str | None:
    """Return hints for a model whose arguments were wrong.

    Args:
        error: the exception of the decoder; None if something else refused the arguments.
        tool: name of the tool.
        describer: name of the tool with its documentation, or None.

    Returns:
        The ignored arguments, and the call that gets the documentation; None if there is nothing to add.
    """
    lines: list[str] = []
    unknown = [] if error is None else _ignored_arguments(error)
    if unknown:
        shown = listed(unknown[:_MOST_KEYS], _SHOWN_KEYS)
        lines.append(f"unknown, and ignored: {shown}")
    if describer is not None:
        lines.append(f'For more about it call {describer} with {{"tools": ["{tool}"]}}')
    return "\n".join(lines) or None


def _ignored_arguments(error: DecodeError) -> list[str]:
    """Return the ignored arguments that name no parameter, without those that have to be renamed."""
    places = [path for path, _ in ignored_places(error.run)]
    renames = "".join([problem.message for problem in error.findings if "; rename " in problem.message])
    places = [path for path in places if f"; rename {quote(str(path[-1]))} to " not in renames]
    return [quote(str(path[0])) if len(path) == 1 else show_path(path) for path in places]


class NoAnswerError(AssertionError):
    """A test double has no answer left; an executor raises this in the test, and the model gets no result."""


class Failures:
    """Makes a result for each way in which a call can fail, and logs it.

    Args:
        show: how much of an exception the model sees.
        report: writes the text for the model when its arguments do not fit.
        pass_through: the exceptions that your program handles itself, beside `NoAnswerError`.
    """

    __slots__ = ("_pass_through", "_report", "_show")

    def __init__(
        self, show: ShowErrors, report: Callable[[DecodeError], str], pass_through: Sequence[type]
    ) -> None:
        self._show: ShowErrors = show
        self._report = report
        self._pass_through = (*pass_through, NoAnswerError)

    def not_found(self, call: RawCall, error: ToolNotFoundError, names: Sequence[str]) -> ToolResult:
        """Return the result for an unknown tool: it lists the tools if no name is similar."""
        more = ""
        if not error.suggestions:
            known = listed([quote(name) for name in names])
            more = f"; the tools are {known}" if names else "; there are no tools"
        _log(INFO, call, "there is no such tool")
        return _no_result(call, "tool_not_found", f"{error}{more}", error)

    def disabled(self, call: RawCall) -> ToolResult:
        """Return the result for a tool that is switched off."""
        _log(INFO, call, "the tool is switched off")
        return _no_result(call, "disabled", f"tool {quote(call.name)} is disabled: it can't be called now")

    def cut_off(self, call: RawCall) -> ToolResult:
        """Return the result for a call whose arguments the model didn't finish, or that isn't well-formed."""
        if call.is_malformed:
            _log(
                INFO, call, "the provider says that the call isn't well-formed (answer.raw_stop has its word)"
            )
            content = (
                f"{call.name} was not run: this call wasn't well-formed, so its arguments couldn't be read. "
                "Send the whole call again, with one valid JSON object as its arguments"
            )
            return _no_result(call, "cut_off", content)
        why = "a limit on its tokens, or a stream that ended (answer.stop says which)"
        _log(INFO, call, f"the model's answer ended before the call was complete: {why}")
        content = (
            f"{call.name} was not run: your answer was cut off before this call was complete. Send the whole "
            "call again, with shorter arguments or fewer calls in one answer"
        )
        return _no_result(call, "cut_off", content)

    def needs_approval(self, call: RawCall, reason: str = "") -> ToolResult:
        """Return the result for a call that nobody has approved.

        Args:
            call: the call as the model sent it.
            reason: the reason of a hook, for your program.
        """
        _log(INFO, call, "a person has to agree to it, and nobody has")
        content = (
            f"{call.name} was not run: a person has to agree to it first, and nobody has. "
            "Calling it again will not help; tell the user what you wanted to do"
        )
        return _no_result(call, "needs_approval", content, **({"reason": reason} if reason else {}))

    def not_decided(self, call: RawCall, error: BaseException, hook: str) -> ToolResult:
        """Return the result for a call about which a hook of your program failed to decide."""
        _log(ERROR, call, f"it was not run: the hook {hook} failed", error)
        content = f"{call.name} was not run: the program failed to check it. Calling it again will not help"
        return _no_result(call, "execution_failed", content, error)

    def not_asked(self, call: RawCall, error: Exception) -> ToolResult:
        """Return the result for a call about which a person could not be asked."""
        _log(ERROR, call, "it was not run: the function given as confirm failed", error)
        return self.needs_approval(call).replace(details={"exception": error})

    def tool_changed(self, call: RawCall) -> ToolResult:
        """Return the result for a call whose tool was replaced while a person was asked."""
        _log(WARNING, call, "its tool was replaced while a person was asked about it")
        content = f"{call.name} was not run: the tool changed while a person was asked. Call it again"
        return _no_result(call, "needs_approval", content)

    def invalid(self, call: RawCall, error: DecodeError) -> ToolResult:
        """Return the result for wrong arguments: the report."""
        found = listed(places_in(error.findings), _SHOWN_PROBLEMS)
        _log(INFO, call, f"the arguments do not fit: {one_line(found, 500)}")
        return _no_result(call, "invalid_params", self._reported(call, error), error, **error.as_dict())

    def wording(self) -> Callable[[RawCall, Exception], str] | None:
        """Return the function that writes the text of a decoding failure; None for the usual text."""
        return None if self._show == "type" and self._report is str else self._worded

    def _worded(self, call: RawCall, error: Exception) -> str:
        try:
            if issubclass(type(error), DecodeError):
                return self._reported(call, cast("DecodeError", error))
            return _failure_text(call, error, _leaves(error), self._show)
        except Exception:  # noqa: BLE001  # the code of the exception that was raised
            return f"{call.name} failed"

    def _reported(self, call: RawCall, error: DecodeError) -> str:
        try:
            text: Any = self._report(error)
            if isinstance(text, str):
                return _encodable(str.__str__(text))
            message = f"report must return a string, not {type(text).__name__}"
            raise TypeError(message)  # noqa: TRY301  # handled like what the function itself raises
        except Exception as failure:  # noqa: BLE001  # your program's own code
            _log(ERROR, call, "the function given as report failed", failure)
            return str(error)

    def note(self, call: RawCall, level: int, message: str, details: Mapping[str, Sequence[object]]) -> None:
        """Log notes that aren't failures: repaired and ignored arguments, or a result of another type."""
        with suppress(Exception):  # the texts of notes come from your program's own code
            shown = [f"{kind}: {listed([str(item) for item in found])}" for kind, found in details.items()]
            _log(level, call, f"{message}; {'; '.join(shown)}")

    def timed_out(self, call: RawCall, seconds: float, error: TimeoutError) -> ToolResult:
        """Return the result for a call that exceeded its timeout; its effects are unknown."""
        why = str(error)
        after = "it was not run" if why else "whether it did its work is not known"
        _log(WARNING, call, f"no result within {seconds:g} s{f': {why}' if why else ''}")
        content = f"{call.name}: no result within {seconds:g} s; {after}"
        details = {"reason": why} if why else {}
        return _no_result(call, "timeout", content, None, seconds=seconds, **details)

    def late(self, call: RawCall, result: ToolResult, took: float, seconds: float) -> ToolResult:
        """Return the result of a call that ended after its timeout, because nothing could interrupt it."""
        _log(
            WARNING, call, f"it took {took:.3g} s, and its limit is {seconds:g} s: nothing could interrupt it"
        )
        return result.replace(details={**(result.details or {}), "took_seconds": took})

    def limited(self, call: RawCall, result: ToolResult, most: float) -> ToolResult:
        """Return a result unchanged, or only its beginning without data if it is too long.

        Args:
            call: the call as the model sent it.
            result: the result of the call.
            most: the most characters that the model reads.
        """
        length = max(len(result.content), sum(map(_length, own_parts(result))))
        if length <= most:
            return result
        length = (result.details or {}).get("characters", length)  # it was cut before
        _log(WARNING, call, f"its result has {length:,} characters, but the model reads only {int(most):,}")
        return _cut_result(result, length, int(most))

    def cancelled(self, call: RawCall, error: BaseException) -> ToolResult:
        """Return the result for a function that cancelled itself."""
        _log(ERROR, call, "the function cancelled itself", error)
        return _no_result(call, "execution_failed", f"{call.name} was cancelled", error)

    def not_written(self, call: RawCall, error: Exception) -> ToolResult:
        """Return the result for a function that did its work, but whose result can't be written as JSON."""
        _log(ERROR, call, "the function did its work, but its result can't be written", error)
        content = f"{call.name} did its work, but its result can't be shown; calling it again will not help"
        # Only its type is used, as its `__class__` may be code that raises.
        details = cast("EncodeError", error).as_dict() if issubclass(type(error), EncodeError) else {}
        return _no_result(call, "execution_failed", content, error, **details)

    def failed(self, call: RawCall, error: Exception) -> ToolResult | Passed:
        """Return the result for an exception; a `ToolError` is never shown to the model."""
        try:
            return self.passed(call, error) or _failed(call, error, self._show)
        except Exception:  # noqa: BLE001  # the code of the exception that was raised
            return self.failed_badly(call, error)

    def passed(self, call: RawCall, error: BaseException) -> Passed | None:
        """Return the exception that your program handles itself, the first one of a group; else None.

        The others in the group are logged, since nothing else would report them.
        """
        leaves = _leaves(error)
        wanted = [leaf for leaf in leaves if is_of_class(leaf, self._pass_through)]
        if not wanted:
            return None
        for leaf in leaves:
            if not is_of_class(leaf, self._pass_through):
                _log(
                    WARNING,
                    call,
                    "the function raised this besides the exception that is passed through",
                    leaf,
                )
        return Passed(wanted[0])

    def not_started(self, call: RawCall, error: Exception, why: str) -> ToolResult:
        """Return the result for a function that wasn't run: its switch or the start of a thread failed."""
        _log(ERROR, call, why, error)
        return _no_result(call, "execution_failed", f"{call.name} failed: {class_name_of(error)}", error)

    def failed_badly(self, call: RawCall, error: BaseException) -> ToolResult:
        """Return the result for an exception that can't be shown, as its own code raises another one."""
        _log(ERROR, call, "it failed, and the exception can't be shown", error)
        return _no_result(call, "execution_failed", f"{call.name} failed", error)


def places_in(findings: Iterable[Finding]) -> list[str]:
    """Return the path and the code of findings for a log, without their values, which may be secret."""
    return [f"{show_path(finding.path)} {finding.code}".lstrip() for finding in findings]


def _failed(call: RawCall, error: Exception, show: ShowErrors) -> ToolResult:
    leaves = _leaves(error)
    if len(leaves) == 1 and issubclass(type(leaves[0]), NeedsInput):
        return _needs_input(call, cast("NeedsInput", leaves[0]))
    if issubclass(type(error), ToolError):
        _log(ERROR, call, "the tool can't be run", error)
    elif _is_for_model(leaves):
        _log(INFO, call, "the function raised a CallError")
    else:
        _log(ERROR, call, "the function failed", error)
    return _no_result(call, "execution_failed", _failure_text(call, error, leaves, show), error)


def _failure_text(
    call: RawCall, error: BaseException, leaves: Sequence[BaseException], show: ShowErrors
) -> str:
    if issubclass(type(error), ToolError):
        return f"{call.name} can't be run here; calling it again will not help"
    if _is_for_model(leaves):
        return _encodable("\n".join([message_of(leaf) or class_name_of(leaf) for leaf in leaves]))
    shown = [_leaf_text(leaf, show) for leaf in leaves[:_SHOWN_LEAVES]]
    more = f"; … ({len(leaves) - _SHOWN_LEAVES} more)" if len(leaves) > _SHOWN_LEAVES else ""
    content = f"{call.name} failed: {'; '.join(shown)}{more}"
    return f"{content}\n\n{_traceback(error)}" if show == "traceback" else content


def _is_for_model(leaves: Sequence[BaseException]) -> bool:
    return all(issubclass(type(leaf), CallError) for leaf in leaves)


def _needs_input(call: RawCall, error: NeedsInput) -> ToolResult:
    question = clip(str.__str__(error.question), _QUESTION_LENGTH)
    _log(INFO, call, "the function needs an answer first")
    return _no_result(
        call, "needs_input", f"{call.name} needs an answer first: {_encodable(question)}", error
    )


def _leaf_text(error: BaseException, show: ShowErrors) -> str:
    is_for_model = show != "type" or issubclass(type(error), CallError)
    return exception_text(error) if is_for_model else class_name_of(error)


def _encodable(text: str) -> str:
    """Return a text that UTF-8 can encode; it changes only lone surrogates."""
    return "\n".join([escape(line) for line in text.split("\n")]) if has_surrogate(text) else text


def _leaves(error: BaseException) -> list[BaseException]:
    """List the exceptions in a group, such as a task group raises."""
    found: list[BaseException] = []
    waiting, seen = [error], set[int]()
    while waiting:
        current = waiting.pop()
        if not issubclass(type(current), BaseExceptionGroup):
            found.append(current)
        elif id(current) not in seen:  # groups may share exceptions: each is listed once
            seen.add(id(current))
            waiting += reversed(current.exceptions)  # type: ignore[attr-defined]  # `issubclass` says so
    return found


def _traceback(error: BaseException) -> str:
    from traceback import format_exception

    if not has_plain_traceback(error):
        return "the traceback can't be shown"
    return _encodable("".join(format_exception(error))[-_TRACEBACK_LENGTH:])


def _log(level: int, call: RawCall, message: str, error: BaseException | None = None) -> None:
    with suppress(Exception):  # a log must not fail a call
        name, call_id = one_line(call.name, _NAME_LENGTH), one_line(call.id, _NAME_LENGTH)
        write_log(level, "%s (call %s): %s", name, call_id, message, error=error)


def _no_result(
    call: RawCall, code: ResultCode, content: str, raised: BaseException | None = None, /, **details: Any
) -> ToolResult:
    if raised is not None:
        details["exception"] = raised
    return ToolResult(call.id, call.name, content, is_error=True, code=code, details=details)


# --- results that are longer than a model should read -------------------------------------------

_READ = ("text", "name", "uri")
"""The attributes of parts that a model may read as text."""


def _cut_result(result: ToolResult, length: int, most: int) -> ToolResult:
    """Return the beginning of a result, without its data.

    Args:
        result: a longer result.
        length: its number of characters for the model.
        most: how many of them the model may read.
    """
    note = f"\n[cut: the whole result has {length:,} characters; ask for less of it]"
    shown = most - len(note)
    return result.replace(
        content=f"{result.content[:shown]}{note}",
        details={**(result.details or {}), "characters": length},
        parts=_cut_parts(own_parts(result), shown, note),
        json=None,
        value=result.value,
    )


def _cut_parts(parts: tuple[Part, ...], left: int, note: str) -> tuple[Part, ...]:
    """Return parts cut to a total number of characters, followed by a note; no parts stay no parts."""
    from .content import File, Resource, Text

    def cut(part: Part) -> Part:
        if _length(part) <= left:
            return part
        if isinstance(part, File):
            return part.replace(name=(part.name or "")[:left] or None)
        if isinstance(part, Resource) and part.text is not None and len(part.uri) < left:
            return part.replace(text=part.text[: left - len(part.uri)])
        return Text(part.as_text()[:left])  # images and recordings have no text

    kept: list[Part] = []
    for found in map(cut, parts):
        if found != Text(""):
            kept.append(found)
            left -= _length(found)
    return (*kept, Text(note)) if parts else ()


def _length(part: Part) -> int:
    return sum([len(getattr(part, name, None) or "") for name in _READ])
