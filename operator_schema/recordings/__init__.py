"""Recorded calls: reading logs, and leaving out secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .log_parts import MAX_LINE as MAX_LINE
    from .log_parts import LogError as LogError
    from .log_parts import Part as Part
    from .log_parts import logs_in as logs_in
    from .log_parts import parts_of as parts_of
    from .log_records import Unreadable as Unreadable
    from .log_records import records_in as records_in
    from .log_records import records_of as records_of
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
            ".log_parts": "MAX_LINE LogError Part logs_in parts_of",
            ".log_records": "Unreadable records_in records_of",
            ".redaction": "REDACTED without_redacted without_secrets",
            ".secret_keys": "Hidden KeysOfTools hidden_keys",
        },
    )
