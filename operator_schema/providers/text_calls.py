"""Answers whose text consists of calls, because the server didn't recognize the calls of its model."""

from __future__ import annotations

import re
from os import urandom
from typing import TYPE_CHECKING

from .. import tools
from .rules import SCOPES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import Any

    from ..tools import Tool
    from .answer import Answer
    from .wire_format import Wire

_FIRST = "{[<`;,)"
"""Characters at the beginning of calls that don't begin with a word."""
_FIRST_WORDS = (
    *SCOPES,
    *("print(", "call:", "functools[", "function<", "to=", "commentary to=", "analysis to=", "assistant<"),
)
THOUGHTS = {
    "<think>": "</think>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|start|>assistant<|channel|>analysis<|message|>": "<|end|>",
}
"""The marks before and after a thought in a text, if the server left them there."""

THOUGHT = re.compile(
    r"\s*(?:" + "|".join(f"{re.escape(start)}.*?{re.escape(end)}" for start, end in THOUGHTS.items()) + ")"
    rf"|(?!\s*(?:{'|'.join(map(re.escape, THOUGHTS))})).*?</think>",
    re.DOTALL,
)

_FINISHED = frozenset({"end", "calls", "other"})
"""The stop reasons of answers whose text may be calls; an answer that was cut off isn't read as calls."""

_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
_ID_LENGTH = 9
"""The only length of ids that Mistral's templates accept.

Source: https://github.com/mistralai/mistral-common, `InvalidFunctionCallException`
"""

_logged: set[str] = set()
"""The names of the providers whose servers have left a call in the text."""


def with_calls_in_text(
    answer: Answer,
    wire: Wire,
    provider: str,
    offered: Mapping[str, Tool[..., Any]],
    own_keys: Mapping[str, str],
    ids: list[str],
) -> Answer:
    """Turn an answer whose whole text is written calls of offered tools into an answer with these calls.

    The model's thoughts before them remain its text. Its message contains the calls too, as if the server had
    recognized them: so a template writes them in the form of its model, and each result belongs to a call.

    Args:
        answer: the answer with the names on the wire.
        wire: the wire form of the provider.
        provider: the name of the provider.
        offered: the tools that the model may call, by their names on the wire.
        own_keys: the own names of properties by those on the wire, if these differ.
        ids: the ids of the calls that earlier readings of the same answer found; more are added.
    """
    if answer.calls or answer.stop not in _FINISHED or not offered:
        return answer
    thought = THOUGHT.match(answer.text)
    said = "" if thought is None else thought.group()
    written = answer.text[len(said) :]
    if not _may_begin(written, offered):
        return answer
    from .written_calls import calls_in_text

    found = calls_in_text(written, offered, own_keys)
    if not found:
        return answer
    ids += [_new_id() for _ in found[len(ids) :]]
    calls = [
        tools.RawCall(call_id, name, arguments, is_from_text=True)
        for call_id, (name, arguments) in zip(ids, found, strict=False)
    ]
    _log(provider)
    message = wire.with_calls(answer.message, said, calls)
    return answer.replace(calls=tuple(calls), text=said, stop="calls", _message=tuple(message))


def may_become_calls(begin: str, offered: Collection[str]) -> bool:
    """Return whether a text with this beginning may turn out to be calls of offered tools."""
    if not _may_begin(begin, offered):
        return False
    from .written_calls import may_go_on

    return may_go_on(begin, offered)


def _may_begin(text: str, offered: Collection[str]) -> bool:
    """Return whether a text may begin with calls; for most texts, the first letter is enough."""
    begin = text.lstrip()
    if not begin or begin[0] in _FIRST:
        return True
    return any(begin.startswith(word) or word.startswith(begin) for word in (*offered, *_FIRST_WORDS))


def _new_id() -> str:
    """Return a random id that every template accepts."""
    return "".join([_LETTERS[byte % len(_LETTERS)] for byte in urandom(_ID_LENGTH)])


def _log(provider: str) -> None:
    """Log once for each provider that its server doesn't recognize calls."""
    if provider in _logged:
        return
    _logged.add(provider)
    tools.write_log(
        tools.WARNING,
        "%s: a call came as text, and is read as a call: the server doesn't know how its model writes calls",
        provider,
    )
