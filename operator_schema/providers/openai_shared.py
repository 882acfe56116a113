"""What do OpenAI's two wire forms share? Their strict dialect, custom tools, searches, and files as URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..schema.style import Dialect
from ..tools import RawCall
from .call_ids import CUSTOM, SEARCHED
from .wire_format import DATED_FORMATS, ITEMS, NUMBERS, arguments_object

if TYPE_CHECKING:
    from ..tools import File, Image, ToolResult

__all__ = [
    "OPENAI_STRICT",
    "SEARCH",
    "custom_call",
    "custom_input",
    "data_url",
    "is_custom",
    "is_search",
]

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

`default` and lengths are left to words: recorded requests with a default were accepted, and OpenAI's own
SDK warns that both may be refused.
"""


def custom_call(call_id: str, name: str, text: Any) -> RawCall:
    """Return a call of a custom tool, whose input is text: it becomes the parameter `input`.

    Where the tool is known, `with_text_keys` gives the parameter its own name.

    Source: https://platform.openai.com/docs/guides/function-calling#custom-tools
    """
    return RawCall(CUSTOM + call_id, name, {"input": text})  # an id that is no string is an error


def is_custom(call: RawCall | ToolResult) -> bool:
    """Return whether a call, or the call of a result, belongs to a custom tool."""
    return (call.id if isinstance(call, RawCall) else call.call_id).startswith(CUSTOM)


def is_search(call: RawCall | ToolResult) -> bool:
    """Return whether a call, or the call of a result, is a search that OpenAI leaves to your program."""
    return (call.id if isinstance(call, RawCall) else call.call_id).startswith(SEARCHED)


def custom_input(call: RawCall) -> Any:
    """Return the input of a call of a custom tool: its text, whatever its parameter is called."""
    found = arguments_object(call)
    return next(iter(found.values())) if len(found) == 1 else found.get("input", "")


def data_url(part: Image | File) -> str:
    """Return an image or a file as a `data:` URL (RFC 2397)."""
    return f"data:{part.media_type};base64,{part.base64}"
