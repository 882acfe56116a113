"""JSON text read by a parser of the user's, within the bounds of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...wording import clip, escape
from ..limits import MAX_TEXT_DEPTH
from ..problems import RefusedTextError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...errors import Problem

__all__ = ["parser_of"]

_MESSAGE_LENGTH = 200
_SHORT_LENGTH = 2 * MAX_TEXT_DEPTH
"""Characters of text that can't nest too deep: each level opens and closes."""


def parser_of(loads: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that parses one JSON text.

    It raises `RefusedTextError` with the one problem of the text, and TypeError where it is given neither
    a string nor bytes; nothing else gets to the parser.

    Args:
        loads: takes the text and returns its value, or raises ValueError.
    """

    def parse(text: Any) -> Any:
        if (type(text) is not bytes and type(text) is not str) or len(text) > _SHORT_LENGTH:
            _check_bounds(text)
        try:
            return loads(text)
        except ValueError as error:
            said = clip(escape(str(error)[: _MESSAGE_LENGTH + 1]), _MESSAGE_LENGTH) or type(error).__name__
        except RecursionError:  # the caller has used up its own stack
            raise RefusedTextError(_too_deep()) from None
        from .diagnosis import invalid

        raise RefusedTextError(invalid(f": {said}"))

    return parse


def _check_bounds(text: Any) -> None:
    """Refuse what isn't text, and text that nests too deep: its brackets are counted first."""
    if isinstance(text, str):
        brackets = text.count("[") + text.count("{")
    elif isinstance(text, (bytes, bytearray)):
        brackets = text.count(b"[") + text.count(b"{")
    else:
        brackets = MAX_TEXT_DEPTH + 1
    if brackets > MAX_TEXT_DEPTH:
        from .reader import check_depth, text_of

        check_depth(text_of(text))


def _too_deep() -> Problem:
    from .reader import TOO_DEEP

    return TOO_DEEP
