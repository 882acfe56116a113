"""Shared parts of OpenAI's two wire forms: the strict dialect, custom tools, searches, and files as URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..schema.dialect import Dialect
from ..tools import RawCall
from .rules import CUSTOM, DATED_FORMATS, ITEMS, NUMBERS, SEARCHED
from .wire_format import arguments_object, has_id_of

if TYPE_CHECKING:
    from ..tools import File, Image, ToolResult

SEARCH = "tool_search"
"""The name of a search that OpenAI leaves to your program, where no `ToolSearch` is offered."""


OPENAI_STRICT = Dialect(
    keywords=NUMBERS | ITEMS | {"pattern"},
    formats=DATED_FORMATS,
    required="all",
    most_properties=5000,
    most_levels=10,
    most_choices=1000,
    most_characters=120_000,
    most_choice_characters=15_000,
)
"""Source: https://platform.openai.com/docs/guides/structured-outputs

`default` and lengths are only described in words: recorded requests with a default were accepted, but
OpenAI's own SDK warns that both may be refused.
"""


def custom_call(call_id: str, name: str, text: Any) -> RawCall:
    """Return a call of a custom tool, whose input is text: it becomes the argument `input`.

    If the tool is known, `with_own_forms` uses the name of its parameter instead.

    Source: https://platform.openai.com/docs/guides/function-calling#custom-tools
    """
    return RawCall(CUSTOM + call_id, name, {"input": text})  # an id that isn't a string is an error


def is_custom(one: RawCall | ToolResult) -> bool:
    """Return whether a call, or a result, belongs to a custom tool."""
    return has_id_of(one, CUSTOM)


def is_search(one: RawCall | ToolResult) -> bool:
    """Return whether a call, or a result, belongs to a search that OpenAI leaves to your program."""
    return has_id_of(one, SEARCHED)


def custom_input(call: RawCall) -> Any:
    """Return the text of a call of a custom tool, for any name of its parameter."""
    found = arguments_object(call)
    return next(iter(found.values())) if len(found) == 1 else found.get("input", "")


def data_url(part: Image | File) -> str:
    """Return an image or a file as a `data:` URL (RFC 2397)."""
    return f"data:{part.media_type};base64,{part.base64}"
