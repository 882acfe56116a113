"""Adapters that give our tools to frameworks and protocols: one module each, imported only by its name."""

from __future__ import annotations

from ..lazy import answer_misnamed_imports, names_meant

__all__: list[str] = []


def _modules() -> list[str]:
    from pkgutil import iter_modules

    return [module.name for module in iter_modules(__path__)]


answer_misnamed_imports(__name__, lambda name: names_meant(name, _modules()))
