"""Model providers: the wire form of tools, calls and results of each.

Import a provider from here: `from operator_schema.providers import anthropic`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .answer import Answer
    from .dialect import Dialect
    from .errors import ResponseError
    from .names import NameRule
    from .provider import Provider
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
    "Stream",
    "StreamedCall",
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
    "Dialect": ".dialect",
    "NameRule": ".names",
    "Provider": ".provider",
    "ResponseError": ".errors",
    "Stream": ".stream",
    "StreamedCall": ".streamed_call",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from importlib import import_module

    value: object = getattr(import_module(_HOMES.get(name, ".table"), __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
