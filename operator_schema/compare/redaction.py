"""Secrets in recorded calls: how are they left out, and what is known of a call without them?"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from json import loads
from typing import TYPE_CHECKING, Any, Final, cast

from ..immutable import Value
from ..json_values import RepeatedKeyError, distinct_keys, is_array, is_object, to_json_text
from ..message_text import fold, listed, nearest, quote, received
from ..providers.answer import parsed_arguments
from ..schema.references import subschemas
from ..tools import WARNING, RawCall, write_log

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..findings import Finding
    from ..tools import Tool

__all__ = [
    "REDACTED",
    "Hidden",
    "hidden_keys",
    "without_redacted",
    "without_secrets",
    "without_secrets_of_both",
]

REDACTED: Final = "[redacted]"
"""Stands in a log for a secret, whatever type that had; when a cassette is played back, for any value."""

_MAX_DEPTH: Final = 60
_LIKENESS: Final = 0.8
"""How similar a key must be to be taken for the one that was meant."""
_LONGEST_KEY: Final = 256
"""Characters of a key that may be a misspelt name."""


class Hidden(Value):
    """Which keys have secrets: those that were named, and those by which a model may have meant them.

    A model writes `apiToken` for `api_token`, which repair corrects, so the secret arrives all the same.

    Attributes:
        names: as they were given.
        declared: keys in the schemas of the called tool: each of these means itself.
    """

    names: frozenset[str]
    declared: frozenset[str] = frozenset()

    def __contains__(self, key: object) -> bool:
        if key in self.names or key in self.declared:
            return key in self.names
        return isinstance(key, str) and len(key) <= _LONGEST_KEY and _is_meant(key, self.names)

    def warn_of_misspelt(self, tools: Iterable[Tool[..., Any]]) -> None:
        """Log the names that are no key of any of these tools, but nearly one.

        A name that is like none may be right: a text or a mapping can hold any key.
        """
        keys = {key for tool in tools for key in _keys_in(tool)}
        shown = sorted(keys - self.names)
        near = [(name, nearest(name, shown, _LIKENESS)) for name in sorted(self.names - keys)]
        said = [f"{quote(name)} (did you mean {quote(key)}?)" for name, key in near if key is not None]
        if said:
            write_log(WARNING, "redact has names of keys that no tool has: %s", listed(said))

    def for_tool(self, tool: Tool[..., Any]) -> Hidden:
        """Return the same for calls of one tool: a key of another tool says nothing about its arguments."""
        return self.replace(declared=frozenset(_keys_in(tool)))


def hidden_keys(redact: Any, wanted: str) -> Hidden:
    """Return which keys have secrets.

    Args:
        redact: what was given.
        wanted: what it must be, for the message.

    Raises:
        TypeError: it isn't a collection of names.
    """
    kind = cast("Any", type(redact))
    is_names = issubclass(kind, Collection) and not issubclass(kind, (str, bytes))
    if not is_names or not all(isinstance(name, str) for name in redact):
        message = f"redact must be {wanted}, not {received(redact)}"
        raise TypeError(message)
    return Hidden(frozenset(redact))


@lru_cache(4096)
def _is_meant(key: str, names: frozenset[str]) -> bool:
    """Return whether a key is another spelling of a name, or nearly one."""
    return fold(key) in {fold(name) for name in names} or nearest(key, names, _LIKENESS) is not None


def _keys_in(tool: Tool[..., Any]) -> set[str]:
    return _keys_of(tool.input_schema()) | _keys_of(tool.output_schema())


def _keys_of(schema: Any) -> set[str]:
    keys: set[str] = set()
    pending: list[Any] = [schema]
    while pending:
        one = pending.pop()
        if is_object(one):
            named = one.get("properties")
            keys |= set(named) if is_object(named) else set()  # a document may hold anything there
            pending += [inner for _, inner in subschemas(one)]
    return keys


def without_secrets(line: dict[str, Any], hidden: Hidden) -> dict[str, Any]:
    """Return a call in which the values of some keys are replaced, in its arguments and in its result.

    Args:
        line: JSON values: `name`, `arguments` and `result`, which has `content`, `is_error` and maybe `json`;
            maybe `id`.
        hidden: the keys.
    """
    secrets: list[str] = []
    sent = parsed_arguments(RawCall(None, line["name"], line["arguments"]))
    arguments, result = _replaced(sent, hidden, secrets), line["result"]
    json = _replaced(result.get("json"), hidden, secrets)
    is_changed = json != result.get("json")
    content = to_json_text(json) if is_changed else _replaced(result["content"], hidden, secrets)
    if isinstance(arguments, str) or (result["is_error"] and secrets):
        # Broken text may hold a secret anywhere, and so may an error, which shows a part of what was sent.
        arguments, content = (REDACTED if isinstance(arguments, str) else arguments), REDACTED
    kept = {**result, "content": content} | ({} if json is None else {"json": json})
    found = frozenset(secrets)
    about: dict[str, Any] = {key: _without(line[key], found) for key in ("id", "name") if key in line}
    about["arguments"] = _without(arguments, found)
    return {**line, **about, "result": {key: _without(inner, found) for key, inner in kept.items()}}


def without_secrets_of_both(line: dict[str, Any], hidden: Hidden) -> dict[str, Any]:
    """Do the same for a call whose arguments somebody changed: those that ran, and those that were `sent`.

    The text of its result begins with a line about the change, which is replaced as a whole if anything is
    hidden: it may have a part of a secret, or a secret in another spelling.
    """
    said = line["result"]
    head, has_rest, rest = said["content"].partition("\n")
    ran = without_secrets({**line, "result": {**said, "content": rest}}, hidden)
    both = without_secrets({**ran, "arguments": line["sent"]}, hidden)
    kept = {**both, "arguments": ran["arguments"], "sent": both["arguments"]}
    is_same = [kept[key] for key in _BOTH] == [
        parsed_arguments(RawCall(None, line["name"], line[key])) for key in _BOTH
    ]
    text = f"{head if is_same else REDACTED}{has_rest}{both['result']['content']}"
    return {**kept, "result": {**both["result"], "content": text}}


_BOTH: Final = ("arguments", "sent")


def _replaced(value: Any, hidden: Hidden, secrets: list[str]) -> Any:
    """Return a value without secrets, which are added to a list as texts."""
    if is_object(value):
        found: dict[str, Any] = {}
        for key, inner in value.items():
            if key in hidden:
                _collect(inner, secrets)
            found[key] = REDACTED if key in hidden else _replaced(inner, hidden, secrets)
        return found
    if is_array(value):
        return [_replaced(item, hidden, secrets) for item in value]
    return _text_replaced(value, hidden, secrets) if isinstance(value, str) else value


def _text_replaced(text: str, hidden: Hidden, secrets: list[str]) -> str:
    """Return a text, which may be JSON with secrets of its own."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        written: Any = loads(text, object_pairs_hook=distinct_keys)
    except RepeatedKeyError:  # a reader of the other value would see what is hidden in this one
        return REDACTED
    except (ValueError, RecursionError):
        return text
    replaced = _replaced(written, hidden, secrets)
    return text if replaced == written else to_json_text(replaced)


_LEAST_SECRET: Final = 4
"""Characters of a secret that is replaced alone; around a shorter one, the whole text is."""


def _collect(value: Any, secrets: list[str]) -> None:
    if is_object(value) or is_array(value):
        for inner in value.values() if is_object(value) else value:
            _collect(inner, secrets)
    elif isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
        secrets += [str(value), to_json_text(value).strip('"')]


def _without(value: Any, secrets: frozenset[str]) -> Any:
    """Return a value in which no text has a secret, and no number is one."""
    if is_object(value):
        return {_text_without(key, secrets): _without(inner, secrets) for key, inner in value.items()}
    if is_array(value):
        return [_without(item, secrets) for item in value]
    if isinstance(value, str):
        return _text_without(value, secrets)
    return REDACTED if type(value) in {int, float} and str(value) in secrets else value


def _text_without(text: str, secrets: frozenset[str]) -> str:
    found = sorted([secret for secret in secrets if secret in text], key=len, reverse=True)
    if any(len(secret) < _LEAST_SECRET for secret in found):
        return REDACTED
    for secret in found:
        text = text.replace(secret, REDACTED)
    return text


# --- what is known of a call without its secrets ---------------------------------------------------


def without_redacted(findings: Iterable[Finding], arguments: Any) -> tuple[Finding, ...]:
    """Return what is wrong with recorded arguments, without what is said of values that were redacted.

    Args:
        findings: about the arguments.
        arguments: JSON values, or JSON text.
    """
    if isinstance(arguments, str):
        try:
            arguments = loads(arguments) if REDACTED in arguments else None
        except (ValueError, RecursionError):  # broken text is redacted as a whole
            return ()
    return tuple([finding for finding in findings if not _has_redacted(_at(finding.path, arguments))])


def _at(path: Iterable[str | int], value: Any) -> Any:
    """Return the value at a path; None if there is none."""
    found: Any = value
    for step in path:
        try:
            found = found[step]
        except (IndexError, KeyError, TypeError):
            return None
    return found


def _has_redacted(value: Any) -> bool:
    """Return whether a value is or holds a text with something redacted."""
    pending = [(value, 0)]
    while pending:
        one, depth = pending.pop()
        if isinstance(one, str) and REDACTED in one:
            return True
        inside = [*one.values(), *one] if is_object(one) else one if is_array(one) else ()
        if depth < _MAX_DEPTH:
            pending += [(inner, depth + 1) for inner in inside]
    return False
