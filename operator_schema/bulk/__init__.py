"""Many values at once: typed columns of Arrow for a type or a tool."""

from __future__ import annotations

from .columns import ColumnError, arrow_schema
from .decoding import DecodedBatch, decode_lines

__all__ = ["ColumnError", "DecodedBatch", "arrow_schema", "decode_lines"]
