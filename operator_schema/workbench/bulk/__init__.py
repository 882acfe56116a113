"""Many values at once: typed columns of Arrow for a type or a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .columns import ColumnError as ColumnError
    from .columns import arrow_schema as arrow_schema
    from .decoding import DecodedBatch as DecodedBatch
    from .decoding import decode_lines as decode_lines
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__, {".columns": "ColumnError arrow_schema", ".decoding": "DecodedBatch decode_lines"}
    )
