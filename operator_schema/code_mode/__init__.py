"""Code mode: a model writes a program that calls the tools. Each name is loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .stubs import Stubs as Stubs
    from .stubs import stubs as stubs
    from .stubs import stubs_of as stubs_of
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            ".stubs": "Stubs stubs stubs_of",
        },
    )
