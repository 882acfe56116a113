"""Model providers: the wire form of tools, calls and results of each.

Import a provider from here: `from operator_schema.providers import anthropic`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..misnamed import answer_misnamed_imports, names_meant

if TYPE_CHECKING:
    from ..schema.style import Dialect
    from .answer import Answer, Usage
    from .errors import ResponseError
    from .names import NameRule
    from .provider import Provider
    from .rules import Rules
    from .stream import Stream
    from .streamed_call import StreamedCall
    from .table import (
        anthropic,
        bedrock,
        cohere,
        deepseek,
        gemini,
        gemini_parameters,
        groq,
        mistral,
        ollama,
        openai_chat,
        openai_compatible,
        openai_responses,
        xai,
    )

__all__ = [
    "Answer",
    "Dialect",
    "NameRule",
    "Provider",
    "ResponseError",
    "Rules",
    "Stream",
    "StreamedCall",
    "Usage",
    "anthropic",
    "bedrock",
    "cohere",
    "deepseek",
    "gemini",
    "gemini_parameters",
    "groq",
    "mistral",
    "ollama",
    "openai_chat",
    "openai_compatible",
    "openai_responses",
    "xai",
]

_HOMES = {
    "Answer": ".answer",
    "Dialect": "..schema.style",
    "NameRule": ".names",
    "Provider": ".provider",
    "ResponseError": ".errors",
    "Rules": ".rules",
    "Stream": ".stream",
    "StreamedCall": ".streamed_call",
    "Usage": ".answer",
}


answer_misnamed_imports(__name__, lambda: __all__)


def __getattr__(name: str) -> object:
    if name not in __all__:
        meant = " or ".join(names_meant(name, __all__))
        message = f"module {__name__!r} has no attribute {name!r}" + (meant and f"; did you mean {meant}?")
        raise AttributeError(message)
    from importlib import import_module

    value: object = getattr(import_module(_HOMES.get(name, ".table"), __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
