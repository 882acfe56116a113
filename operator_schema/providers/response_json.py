"""JSON in and around responses: whole bodies, events, and the arguments of calls."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from ..json_reading import json_reader, read_distinct
from ..json_values import MAX_TEXT_DEPTH, is_finite, is_finite_within, is_object, nests_deeper

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..json_reading import ReadText
    from ..tools import RawCall


def body_of(response: Any) -> tuple[dict[str, Any] | None, bool]:
    """Return a response as a JSON object, and whether JSON is known to be able to represent all of it.

    Args:
        response: a dict, JSON text, or the object of an SDK.

    Returns:
        None in place of the object if the response isn't one.
    """
    kind = cast("Any", type(response))  # `isinstance` would run code of the response
    if issubclass(kind, (str, bytes, bytearray)):
        read, not_read = _faultless_reader()
        found = read(response)
        if found is not not_read:
            return (found if is_object(found) else None), True
        found = _parsed_with_faults(response)
        found = found if is_object(found) else None
    else:
        found = json_of(response)
    return found, found is not None and is_finite_within(found, MAX_TEXT_DEPTH)


def json_of(response: Any) -> dict[str, Any] | None:
    """Return a dict, or the object of an SDK, as a JSON object; None for anything else.

    Pydantic's `model_dump` is called for the form that is sent (`by_alias`), without values that aren't set.
    """
    kind = cast("Any", type(response))
    if issubclass(kind, dict):
        return cast("dict[str, Any]", response)
    try:
        found = kind.model_dump(response, mode="json", by_alias=True, exclude_none=True, warnings=False)
    except Exception:  # noqa: BLE001  # the code of an SDK, or of any other class
        return None
    return found if is_object(found) else None


def check_response_depth(body: Mapping[str, Any]) -> None:
    """Check that a response can be copied and written, whatever the provider sent.

    Raises:
        ValueError: the response nests too deeply.
    """
    if nests_deeper(body, MAX_TEXT_DEPTH):
        message = f"it nests deeper than {MAX_TEXT_DEPTH} levels"
        raise ValueError(message)


def parsed(text: str | bytes | bytearray) -> Any:
    """Return the value of JSON text; None if it isn't valid, has a key twice, or nests too deeply."""
    read, not_read = _faultless_reader()
    found = read(text)
    return _parsed_with_faults(text) if found is not_read else found


@cache
def _faultless_reader() -> tuple[ReadText, Any]:
    """Return a function that reads JSON without faults, and its return value for any other text."""
    from ..codec.json_text import read_faultless  # only a program that reads text loads it
    from ..codec.problems import GiveUp

    return read_faultless, GiveUp


def _parsed_with_faults(text: str | bytes | bytearray) -> Any:
    """Return the value of JSON text with faults that do no harm in a response, such as a lone surrogate."""
    from ..codec.json_text import RefusedTextError, check_depth

    try:
        source = text if isinstance(text, str) else str(text, "utf-8-sig")
        check_depth(source)
    except (RefusedTextError, ValueError):
        return None
    return read_json(source)


def read_json(text: str | bytes, otherwise: Any = None) -> Any:
    """Return the value of JSON text, or another value if it isn't valid, or nests too deeply for Python.

    Args:
        text: a text that may be JSON.
        otherwise: the value for a text that isn't JSON, or that has a key more than once in an object.
    """
    try:
        return read_distinct(text)
    except (ValueError, RecursionError):
        return otherwise


def parsed_arguments(call: RawCall) -> Any:
    """Return the arguments of a call as JSON; see `value_of` for arguments that are text."""
    text = call.arguments
    return value_of(text) if isinstance(text, str) else text


def value_of(text: str) -> Any:
    """Return the JSON value of the arguments of a call that are text.

    Returns:
        An empty object for blank text. The text itself if it isn't valid JSON: it lacks its end, has a number
        like NaN, or has a key twice. Decoding then reports the error.
    """
    value: Any = read_json(text, text) if text.strip() else {}
    return value if is_finite(value) else text


def is_whole(arguments: Any) -> bool:
    """Return whether arguments are the text of one JSON object and nothing else."""
    if not isinstance(arguments, str):
        return False
    try:
        return is_object(_lenient_reader()(arguments))
    except (ValueError, RecursionError):
        return False


@cache
def _lenient_reader() -> ReadText:
    return json_reader()


def joined(texts: list[str]) -> str:
    """Join texts; the two surrogates of a character may be in two of them."""
    found = "".join(texts)
    try:
        found.encode()
    except UnicodeEncodeError:
        return found.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return found


def checked_text(text: Any) -> str:
    """Return a piece of text, after checking that it is one.

    Raises:
        TypeError: it isn't a string.
    """
    if isinstance(text, str):
        return text
    message = "expected text"
    raise TypeError(message)
