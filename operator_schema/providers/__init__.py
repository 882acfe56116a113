"""Model providers: the wire form of tools, calls and results of each.

Import a provider from here: `from operator_schema.providers import anthropic`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .answer import Answer, Usage
    from .dialect import Dialect, Rules
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
    "Dialect": ".dialect",
    "NameRule": ".names",
    "Provider": ".provider",
    "ResponseError": ".errors",
    "Rules": ".dialect",
    "Stream": ".stream",
    "StreamedCall": ".streamed_call",
    "Usage": ".answer",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}{_others(name)}"
        raise AttributeError(message)
    from importlib import import_module

    value: object = getattr(import_module(_HOMES.get(name, ".table"), __name__), name)
    globals()[name] = value
    return value


def _others(name: str) -> str:
    """Return the names that were probably meant: those that begin alike, or the nearest one."""
    from ..wording import listed, nearest

    others = [other for other in __all__ if other.startswith(f"{name}_")]
    if others:
        return f"; there are {listed(others)}"
    near = nearest(name, __all__)
    return "" if near is None else f"; did you mean {near}?"


def __dir__() -> list[str]:
    return sorted(__all__)
