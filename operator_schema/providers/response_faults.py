"""What is wrong with a response or an event that can't be read?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ..json_reading import repeated_key
from ..json_values import is_object
from ..message_text import excerpt, quote, received
from .answer import KEYS_OF_ANSWERS

if TYPE_CHECKING:
    from collections.abc import Mapping


def what_came(value: object) -> str:
    """Describe a value that isn't a JSON object, and suggest the right one."""
    try:
        return received(value) + _meant(value)
    except Exception:  # noqa: BLE001  # code of its own
        return type(value).__name__


def _meant(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        repeated = repeated_key(value)
        return "" if repeated is None else f": {repeated}"
    kind: Any = cast("Any", type(value))
    if hasattr(kind, "__await__"):
        return ": await it first"
    if hasattr(kind, "feed") and hasattr(kind, "answers"):
        return ": a stream has its own answers()"
    if hasattr(kind, "__next__") or hasattr(kind, "__anext__"):
        return ": give its events to feed(…) of provider.stream(), one after the other"
    return ""


def message_of(error: Any) -> Any:
    """Return the message of an error, with the text of the model that the provider couldn't read."""
    if not is_object(error):
        return error
    message, written = error.get("message", error), error.get("failed_generation")
    return f"{message} It is: {written}" if isinstance(written, str) and "message" in error else message


def what_is_wrong(body: Mapping[str, Any], error: Exception) -> str:
    """Return the message about a response that isn't an answer."""
    said: Any = body.get("error")
    if said is None and isinstance(body.get("message"), str):  # as Bedrock says it
        said = body["message"]
    if said is not None:
        return f"the response is an error: {excerpt(message_of(said), 300)}"
    shown = excerpt(dict(body), 200)
    if isinstance(error, ValueError):
        return f"the response can't be used: {error}: {shown}"
    if not isinstance(error, KeyError):
        return f"the response isn't in the expected form: {shown}"
    missing = str(error.args[0])
    if holder := _holder_of("error", body):
        return f"the response is an error: {excerpt(message_of(holder[1]['error']), 300)}"
    if holder := _holder_of(missing, body):
        inside = "".join([f"[{quote(key)}]" for key in holder[0]])
        return f"the response has the answer inside, as a line of a batch has: give response{inside}: {shown}"
    if "batch" in str(body.get("object") or body.get("type") or body.get("name")):
        return f"the response is a batch: once it has ended, give the answer in each of its lines: {shown}"
    other = next((name for key, name in KEYS_OF_ANSWERS.items() if key in body and key != missing), None)
    hint = "" if other is None else f" (it looks like an answer of {other})"
    return f"the response isn't in the expected form: there is no {quote(missing)} in it{hint}: {shown}"


_LEVELS = 2
"""How many levels deep an answer may be inside another object."""


def _holder_of(
    key: str, body: Mapping[str, Any], levels: int = _LEVELS
) -> tuple[list[str], Mapping[str, Any]] | None:
    """Return the nested object with a value under a key, and the keys that lead to it; None without one."""
    inner = {name: found for name, found in body.items() if is_object(found)} if levels else {}
    for name, found in inner.items():
        if found.get(key) is not None:
            return [name], found
        if below := _holder_of(key, found, levels - 1):
            return [name, *below[0]], below[1]
    return None
