"""Calls as a program writes them, and their outcomes as the program sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import is_object
from ..message_text import clip, count_of, nearest, quote
from .child import as_json
from .sandbox import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..rounds import Round
    from .declarations import StubFunction
    from .sandbox import Request

__all__ = ["answer_of", "arguments_of", "outcome_of", "unknown_name"]

_ERROR_LENGTH = 2_000
_ERRORS: Mapping[str, type[Exception]] = {
    "invalid_params": ValueError,
    "timeout": TimeoutError,
    "rejected": PermissionError,
    "needs_approval": PermissionError,
    "disabled": PermissionError,
    "not_available": PermissionError,
}
"""The exception for a call without a result, by its code; any other is a `RuntimeError`."""


def outcome_of(work: Round[Any]) -> dict[str, Any]:
    """Return the outcome of the only call of a round, as JSON values."""
    if work.deferred:
        asked = work.deferred[0]
        text = f"{asked.name} needs an answer of a person, which a program can't give"
        return {"code": "needs_input", "content": text, "json": None}
    turn: list[Any] = []
    work.commit(turn)
    result = turn[0].results[0]
    length: int | None = None if result.details is None else result.details.get("characters")
    if length is not None and not result.is_error:
        text = f"the result of {result.name} has {length:,} characters, which is too long: ask for less of it"
        return {"code": "result_too_long", "content": text, "json": None}
    code = result.code or ("execution_failed" if result.is_error else None)
    value = result.json
    if not result.is_error and value is None and result.content != "null":
        value = result.content
    return {"code": code, "content": clip(result.content, _ERROR_LENGTH) if code else "", "json": value}


def answer_of(outcome: Mapping[str, Any]) -> Answer:
    """Return the outcome of a call as the program sees it."""
    code = outcome["code"]
    if code is None:
        return Answer(outcome["json"])
    return Answer(None, _ERRORS.get(code, RuntimeError)(outcome["content"]))


def unknown_name(name: str, known: Mapping[str, StubFunction]) -> NameError:
    """Return the error for the name of a tool that there isn't."""
    near = nearest(name, known)
    hint = f"; did you mean {near}?" if near else ""
    return NameError(f"name {quote(name)} is not defined{hint}")


def arguments_of(request: Request, function: StubFunction) -> dict[str, Any]:
    """Return the arguments of a call by their keys.

    Raises:
        TypeError: there are too many, one is there twice, or one isn't a JSON value.
    """
    name, parameters = request.name, function.parameters
    if parameters is None:
        given = [*request.args, *request.kwargs.values()]
        if len(given) != 1 or not is_object(given[0]) or not request.kwargs.keys() <= {"input"}:
            message = f"{name}() takes one dict"
            raise TypeError(message)
        return dict(as_json(given[0]))
    if len(request.args) > len(parameters):
        message = f"{name}() takes at most {count_of(len(parameters), 'arguments')}"
        raise TypeError(message)
    by_position = dict(zip(parameters, request.args, strict=False))
    twice = by_position.keys() & request.kwargs.keys()
    if twice:
        message = f"{name}() got {min(twice)} twice"
        raise TypeError(message)
    named = {**by_position, **request.kwargs}
    return {parameters.get(key, key): as_json(value) for key, value in named.items()}
