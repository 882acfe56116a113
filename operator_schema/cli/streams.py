"""Which output a stream gets: plain text, or colour where a person looks at it.

What goes through a pipe is the same whether `rich` is installed or not.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .plain_output import Output, is_unicode

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["open_output"]


def open_output(stream: TextIO) -> Output:
    """Return the best output for a stream: in colour on a terminal, where `rich` is installed."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return Output(stream)
    if not is_unicode(stream.encoding):
        return Output(stream)
    try:
        # Only a terminal pays for this import, and only where there is something to import.
        from .rich_output import ColourOutput  # noqa: PLC0415
    except ImportError:
        return Output(stream)
    return ColourOutput(stream)
