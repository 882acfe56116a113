"""How do errors and logs show the names of variables in place of their values, which may be secrets?"""

from __future__ import annotations

import json
import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as url_quote

from ...message_text import clip, escape

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from .gateway_config import GatewayServer

_MOST_SHOWN = 300
_SHORTEST_HIDDEN = 4
"""The shortest value that messages hide: shorter values aren't secrets, and occur in many words."""


def shown_error(text: str, servers: Iterable[GatewayServer]) -> str:
    """Return the text of an error on one line, with names of variables instead of their values."""
    return clip(_hidden(escape(text), _names_by_value(servers)), _MOST_SHOWN)


@contextmanager
def hidden_in_logs(servers: Iterable[GatewayServer]) -> Generator[None]:
    """While the context lasts, replace values of variables by their names in logs, also in tracebacks.

    The values are replaced when a record is created: its text may be an error of the SDK, of HTTP or of the
    system, and any handler may get it, even one that sends it to a client. A record keeps its message without
    arguments, and of an exception the name, the message and the text of the traceback.
    """
    names = _names_by_value(servers)
    before = logging.getLogRecordFactory()

    def made(*args: Any, **more: Any) -> logging.LogRecord:
        record = before(*args, **more)
        try:
            _hide(record, names)
        except Exception:  # noqa: BLE001  # what is logged may have code of its own
            record.msg, record.args = f"a record of {record.name} that can't be written", None
            record.exc_info = record.exc_text = record.stack_info = None
        return record

    if names:
        logging.setLogRecordFactory(made)
    try:
        yield
    finally:
        logging.setLogRecordFactory(before)


def _hide(record: logging.LogRecord, names: Mapping[str, str]) -> None:
    """Replace values of variables by their names in all parts of a record that a handler may use."""
    record.msg, record.args = _hidden(record.getMessage(), names), None  # arguments are any objects
    error = record.exc_info[1] if record.exc_info else None
    if record.exc_info and error is not None:
        record.exc_text = _hidden(logging.Formatter().formatException(record.exc_info), names)
        kind = type(type(error).__name__, (Exception,), {"__module__": type(error).__module__})
        # its frames and causes may contain values
        record.exc_info = kind, kind(_hidden(str(error), names)), None
    if record.stack_info is not None:
        record.stack_info = _hidden(record.stack_info, names)


def _names_by_value(servers: Iterable[GatewayServer]) -> dict[str, str]:
    """Return all forms in which a message may contain the value of a variable, with their replacements."""
    names: dict[str, str] = {}
    for server in servers:
        for name, value in server.filled.items():
            if len(value) >= _SHORTEST_HIDDEN:
                names.update(dict.fromkeys(_forms(value), f"${{{name}}}"))
    return names


def _hidden(text: str, names: Mapping[str, str]) -> str:
    if not names:
        return text
    either = "|".join(re.escape(shown) for shown in sorted(names, key=len, reverse=True))
    text = re.sub(either, lambda found: names.get(found[0].lower(), "…"), text, flags=re.IGNORECASE)
    *cut, last = text.split("…")
    return "…".join([*[_without_start(part, names) for part in cut], last])


def _forms(value: str) -> set[str]:
    """Return the forms in which a message may contain a value, in lower case."""
    forms = {value, repr(value)[1:-1], json.dumps(value)[1:-1], url_quote(value), url_quote(value, safe="")}
    return {form.lower() for one in forms for form in (one, escape(one))}


def _without_start(text: str, names: Mapping[str, str]) -> str:
    """Replace the beginning of a value at the end of a text that was cut within it."""
    for shown, name in names.items():
        for size in range(min(len(shown), len(text)), _SHORTEST_HIDDEN - 1, -1):
            if text[-size:].lower() == shown[:size]:
                return f"{text[:-size]}{name}"
    return text
