"""Turning JSON into instances and back: decoders, encoders, and the codec that holds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..findings import DecodeReport as DecodeReport
    from .partial import ArgumentStream as ArgumentStream
    from .partial import Partial as Partial
else:
    __all__ = ["ArgumentStream", "DecodeReport", "Partial"]

    def __getattr__(name: str) -> Any:
        from ..lazy import lazy_names  # here, so that a first decode needs no module more

        homes = {".partial": "ArgumentStream Partial", "..findings": "DecodeReport"}
        load, _, _ = lazy_names(__name__, homes)
        return load(name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
