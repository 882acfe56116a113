"""Adapters from our tools to frameworks and protocols: one module each, imported only by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lazy import AnsweringPath, absent_name, module_names, names_meant

__all__: list[str] = []


def _meant(name: str) -> list[str]:
    return names_meant(name, module_names(__name__))


__path__ = AnsweringPath(__name__, _meant)

if not TYPE_CHECKING:  # a type checker would take any name for one of this package

    def __getattr__(name: str) -> Any:
        raise absent_name(__name__, name, _meant)
