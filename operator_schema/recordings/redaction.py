"""Removes secrets from recorded calls, and findings about the removed values."""

from __future__ import annotations

import re
from contextlib import suppress
from json import dumps, loads
from typing import TYPE_CHECKING, Any, Final

from ..codec.json_text import read_json, read_nearly_json
from ..codec.spellings import quoted_scalar
from ..json_values import is_array, is_finite, is_object, to_json_text
from ..message_text import quote
from ..providers.response_json import parsed_arguments
from ..tools import RawCall
from .keys_in_texts import names_key_of, words_in_text
from .secret_keys import Hidden, secret_keys_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..findings import Finding

REDACTED: Final = "[redacted]"
"""The replacement for a secret of any type in a log; in a cassette that is played back, it fits any value."""

_MAX_DEPTH: Final = 60
_MOST_WORK: Final = 50_000_000
"""The limit on secrets times characters of a record; if there are more, the whole record is left out."""


def without_secrets(line: dict[str, Any], hidden: Hidden) -> dict[str, Any]:
    """Return a call in which the values of some keys are replaced, and all repetitions of these values.

    Args:
        line: JSON values: `name`, `arguments` and `result`, which has `content`, `is_error` and maybe `json`;
            maybe `id`, `sent` if other arguments ran than the model sent, and more about the call.
        hidden: the keys with secrets.

    Raises:
        TypeError: something in the call isn't JSON.
        ValueError: the same.
        RecursionError: the call nests too deeply.
    """
    written = {key: _read_arguments(line["name"], line[key]) for key in ("arguments", "sent") if key in line}
    text = to_json_text({**line, **written})
    call: dict[str, Any] = loads(text)  # without classes of a program, which may show other values
    result: dict[str, Any] = call.pop("result")
    ours = {"changes", *(["name"] if hidden.tool == line["name"] else [])}  # these keys contain no values
    fixed = {key: call.pop(key) for key in line if key in ours}
    state = {key: result.pop(key) for key in ("is_error", "code") if key in result}
    first, end = "", ""  # the text of a result begins with a line about changed arguments
    if "sent" in line:
        first, end, result["content"] = result["content"].partition("\n")

    secrets = _Secrets(hidden)
    secrets.collect([*call.values()], hidden.by_model)
    is_call_unclear, may_show_secret = secrets.is_unclear, state.get("is_error") is True and secrets.count > 0
    secrets.collect([*result.values()], hidden.by_program)
    is_too_much = secrets.count * len(text) > _MOST_WORK
    # Broken text may hold a secret anywhere, and so may an error, which shows a part of what was sent.
    broken = {key for key, arguments in written.items() if isinstance(arguments, str)}
    is_result_unclear = is_too_much or bool(broken) or may_show_secret or secrets.is_unclear

    secrets.is_unclear = is_call_unclear  # an unclear result doesn't make the arguments unclear
    shown = {
        key: _left_out(value)
        if is_too_much or key in broken
        else secrets.without_in(key, value, hidden.by_model)
        for key, value in call.items()
    }
    if is_result_unclear:
        first, end, result = "", "", {key: _left_out(value) for key, value in result.items()}
    else:
        result = {key: secrets.without(value, hidden.by_program) for key, value in result.items()}
        if "sent" in line and any(shown[key] != call[key] for key in written):
            first = REDACTED  # it may have a part of a secret, or write one in another way
    result = {key: secrets.without_beginnings(value) for key, value in result.items()}
    result["content"] = f"{first}{end}{result['content']}"
    made: dict[str, Any] = {**fixed, **shown, "result": {**result, **state}}
    return {key: made[key] for key in line}


def _left_out(value: Any) -> Any:
    return value if value is None or isinstance(value, bool) else REDACTED


def _read_arguments(name: str, arguments: Any) -> Any:
    if isinstance(arguments, (bytes, bytearray)):
        arguments = bytes(arguments).decode(errors="replace")
    found = parsed_arguments(RawCall(None, name, arguments))
    return arguments if isinstance(arguments, str) and not is_finite(found) else found


class _Secrets:
    """Collects the secrets of one call, and removes them from it.

    Args:
        hidden: the keys of the called tool.

    Attributes:
        is_unclear: whether an unreadable text names a key with a secret.
    """

    def __init__(self, hidden: Hidden) -> None:
        self.is_unclear = False
        self._words: set[str] = set()
        self._cuts = 0
        self._leaves = hidden.leaves
        self._found: set[str] = set()
        self._texts: dict[str, tuple[Any, bool] | None] = {}
        self._named: dict[tuple[str, float], bool] = {}

    @property
    def count(self) -> int:
        """Number of texts to leave out."""
        return len(self._found)

    def collect(self, value: Any, hidden: Hidden) -> None:
        """Find the secrets in a value, including those in texts that are JSON."""
        pending = [(value, False)]
        while pending:
            one, is_secret = pending.pop()
            if is_object(one):
                secret = secret_keys_in(one, hidden)
                pending += [(inner, is_secret or key in secret) for key, inner in one.items()]
                pending += [(key, is_secret and self._may_be_secret(key, hidden)) for key in one]
            elif is_array(one):
                pending += [(inner, is_secret) for inner in one]
            else:
                if is_secret:
                    self._add(one)
                if isinstance(one, str):
                    held = self._read(one)
                    if held is not None:
                        pending.append((held[0], is_secret))
                    if not is_secret and (held is None or _is_part(held, one)):
                        self._note(one, hidden)

    def _may_be_secret(self, key: str, hidden: Hidden) -> bool:
        """Return whether a key inside a secret is secret too; a short one (`id`) would hide too much."""
        return len(key) >= _LEAST_SECRET and key not in hidden.declared and key not in hidden.names

    def _note(self, text: str, hidden: Hidden) -> None:
        if self._names_key(text, hidden):
            self.is_unclear = True
            self._words |= words_in_text(text)

    def _shares_word(self, text: str) -> bool:
        """Return whether a text shares a word with unreadable texts; that word may be the secret."""
        return self.is_unclear and not self._words.isdisjoint(words_in_text(text))

    def _add(self, value: Any) -> None:
        if value is None or isinstance(value, bool):
            return
        self._found |= _forms_of(value)
        for leaf in self._leaves:
            with suppress(Exception):  # a program's own class: what it can't read has no other form
                self._found |= _forms_in_python(leaf.decode(value), leaf.encode)

    def _read(self, text: str) -> tuple[Any, bool] | None:
        """Return the JSON value in a text and whether the text itself is valid JSON; None without a value."""
        if text not in self._texts:
            self._texts[text] = _value_in_text(text)
        return self._texts[text]

    def _names_key(self, text: str, hidden: Hidden) -> bool:
        known = text, hidden.likeness
        if known not in self._named:
            self._named[known] = names_key_of(text, hidden)
        return self._named[known]

    def without_in(self, key: str, value: Any, hidden: Hidden) -> Any:
        """Return a part of the call without secrets; keep an id and a name that surely aren't secret."""
        is_label = key in _LABELS and isinstance(value, str)
        return self._label(value, hidden) if is_label else self.without(value, hidden)

    def _label(self, text: str, hidden: Hidden) -> str:
        return REDACTED if self._shares_word(text) else self._text(text, hidden, 1)

    def without(self, value: Any, hidden: Hidden, depth: int = 1) -> Any:
        """Return a value without secrets."""
        if depth > _MAX_DEPTH and (is_object(value) or is_array(value)):
            text = to_json_text(value)
            is_clear = (
                not self.is_unclear and self._text_without(text) == text and not self._names_key(text, hidden)
            )
            return value if is_clear else REDACTED
        if is_object(value):
            secret = secret_keys_in(value, hidden)
            return {
                self._key(key, hidden): REDACTED if key in secret else self.without(inner, hidden, depth + 1)
                for key, inner in value.items()
            }
        if is_array(value):
            return [self.without(item, hidden, depth + 1) for item in value]
        if isinstance(value, str):
            return REDACTED if self.is_unclear and value else self._text(value, hidden, depth)
        return REDACTED if self._is_secret_number(value) else value

    def _is_secret_number(self, value: Any) -> bool:
        if value is None or isinstance(value, bool):
            return False
        forms = _forms_of(value)
        return not self._found.isdisjoint(forms) or any(map(self._shares_word, forms))

    def _key(self, key: str, hidden: Hidden) -> str:
        is_known = key in hidden.declared or key in hidden.names
        return key if is_known else self._label(key, hidden)

    def _text(self, text: str, hidden: Hidden, depth: int) -> str:
        held = self._read(text)
        if held is None:
            return REDACTED if self._names_key(text, hidden) else self._text_without(text)
        value, is_json = held
        found = self.without(value, hidden, depth + 1)
        # A text that isn't valid JSON may have comments.
        is_changed = found != value or (not is_json and self._names_key(text, hidden))
        return to_json_text(found) if is_changed else self._text_without(text)

    def _text_without(self, text: str) -> str:
        if not self._found:
            return text
        found = [secret for secret in self._found if secret in text]
        if any(len(secret) < _LEAST_SECRET for secret in found):
            return REDACTED
        longest = sorted(found, key=len, reverse=True)
        return re.sub("|".join(map(re.escape, longest)), REDACTED, text) if found else text

    def without_beginnings(self, value: Any, depth: int = 1) -> Any:
        """Return a value without the beginnings of secrets at the ends of cut texts."""
        if isinstance(value, str):
            return self._text_without_beginnings(value)
        if depth > _MAX_DEPTH and (is_object(value) or is_array(value)):
            text = to_json_text(value)
            return value if self._text_without_beginnings(text) == text else REDACTED
        if is_object(value):
            return {
                self._text_without_beginnings(key): self.without_beginnings(inner, depth + 1)
                for key, inner in value.items()
            }
        return [self.without_beginnings(item, depth + 1) for item in value] if is_array(value) else value

    def _text_without_beginnings(self, text: str) -> str:
        *cut, rest = _CUT.split(text)
        self._cuts += len(cut)
        if cut and self._cuts * self.count > _MOST_BEGINNINGS:
            return REDACTED
        return "".join([self._without_beginning(part) for part in cut]) + rest

    def _without_beginning(self, text: str) -> str:
        starts = [start for secret in self._found if (start := _start_of_beginning(text, secret)) >= 0]
        return f"{text[: min(starts)]}{REDACTED}" if starts else text


_LABELS: Final = {"id", "name"}
_CUT: Final = re.compile(r"(?=…|(?<!\\)\\{1,8}u2026|\n\[cut: )")
_MOST_BEGINNINGS: Final = 1_000_000
"""The limit on places where a text was cut, times secrets."""

_LEAST_SECRET: Final = 4
"""The least characters of a secret that is replaced by itself; for a shorter one, the whole text is
replaced."""


def _start_of_beginning(text: str, secret: str) -> int:
    """Return the index at which a text's end begins a secret; -1 if it doesn't."""
    start = text.find(secret[:_LEAST_SECRET], max(0, len(text) - len(secret)))
    while start >= 0 and not secret.startswith(text[start:]):
        start = text.find(secret[:_LEAST_SECRET], start + 1)
    return start if len(text) - start >= _LEAST_SECRET else -1


_BEGINNING: Final = re.compile(r"""[\ufeff\s]*(?:[\[{"'/#]|```)""")


def _value_in_text(text: str) -> tuple[Any, bool] | None:
    """Return the object, array or text in a text, as repair reads it, and whether the text is valid JSON."""
    if _BEGINNING.match(text) is None:
        return None
    value, problems = read_json(text)
    is_json = not problems.found
    if not is_json:
        value, repairs, _ = read_nearly_json(text, problems)
        if not repairs:
            return None
    return (value, is_json) if isinstance(value, str) or is_array(value) or is_object(value) else None


def _is_part(held: tuple[Any, bool], text: str) -> bool:
    """Return whether a text has more than the value read from it, such as comments or a repeated key."""
    value, is_json = held
    return not is_json and not words_in_text(text) <= words_in_text(to_json_text(value)) | _OTHER_WORDS


_OTHER_WORDS: Final = {"None", "True", "False", "json"}


def _forms_of(value: Any) -> set[str]:
    """Return the texts in which a text or a number may be repeated."""
    if not isinstance(value, str):
        found = {str(value)}
        if isinstance(value, float) and value.is_integer():
            found.add(str(int(value)))
        return found
    found = {value, value.strip()} - {""}
    number = quoted_scalar(value)
    if isinstance(number, float):
        found |= _forms_of(number)
    if all(text.isascii() and text.isprintable() and not _WRITTEN_OTHERWISE & {*text} for text in found):
        return found
    for _ in range(_LEVELS):  # as it is written in JSON and in Python, and in a text in such a text
        found |= {dumps(text, ensure_ascii=is_ascii)[1:-1] for text in found for is_ascii in (True, False)}
    return found | {repr(value)[1:-1], quote(value, 12 * len(value) + 2)[1:-1]}  # at most 12 for a character


_WRITTEN_OTHERWISE: Final = {'"', "\\", "'"}
_LEVELS: Final = 2


def _forms_in_python(value: Any, encode: Callable[[Any], Any]) -> set[str]:
    """Return the texts in which a program may repeat the instance that a leaf made from a secret."""
    shown = value.decode() if isinstance(value, (bytes, bytearray)) else str(value)
    written = encode(value)
    return _forms_of(shown) | (_forms_of(written) if isinstance(written, str) else set())


# --- what is known of a call without its secrets ---------------------------------------------------


def without_redacted(findings: Iterable[Finding], arguments: Any) -> tuple[Finding, ...]:
    """Return findings about recorded arguments, without those about redacted values."""
    if isinstance(arguments, str):
        try:
            arguments = loads(arguments) if REDACTED in arguments else None
        except (ValueError, RecursionError):  # broken text is redacted as a whole
            return ()
    return tuple([finding for finding in findings if not _has_redacted(_value_at(finding.path, arguments))])


def _value_at(path: Iterable[str | int], value: Any) -> Any:
    """Return the value at a path; None if there is none."""
    found: Any = value
    for step in path:
        try:
            found = found[step]
        except (IndexError, KeyError, TypeError):
            return None
    return found


def _has_redacted(value: Any) -> bool:
    """Return whether a value is or contains a text with a redacted part."""
    pending = [(value, 0)]
    while pending:
        one, depth = pending.pop()
        if isinstance(one, str) and REDACTED in one:
            return True
        inside = [*one.values(), *one] if is_object(one) else one if is_array(one) else ()
        if depth < _MAX_DEPTH:
            pending += [(inner, depth + 1) for inner in inside]
    return False
