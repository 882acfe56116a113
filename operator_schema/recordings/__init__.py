"""Recorded calls: reading logs, and leaving out secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .logs import MAX_LINE as MAX_LINE
    from .logs import LogError as LogError
    from .logs import Part as Part
    from .logs import Unreadable as Unreadable
    from .logs import logs_in as logs_in
    from .logs import parts_of as parts_of
    from .logs import records_in as records_in
    from .logs import records_of as records_of
    from .redaction import REDACTED as REDACTED
    from .redaction import without_redacted as without_redacted
    from .redaction import without_secrets as without_secrets
    from .secret_keys import Hidden as Hidden
    from .secret_keys import KeysOfTools as KeysOfTools
    from .secret_keys import hidden_keys as hidden_keys
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            ".logs": "MAX_LINE LogError Part Unreadable logs_in parts_of records_in records_of",
            ".redaction": "REDACTED without_redacted without_secrets",
            ".secret_keys": "Hidden KeysOfTools hidden_keys",
        },
    )
