"""Model providers: how each one writes tools, calls and results in its requests and answers.

Import a provider from here: `from operator_schema.providers import anthropic`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ..lazy import AnsweringPath, absent_name, names_meant

if TYPE_CHECKING:
    from ..rounds import ToolChoice as ToolChoice
    from ..schema.dialect import Dialect as Dialect
    from .answer import Answer as Answer
    from .answer import AnswerError as AnswerError
    from .answer import ResponseError as ResponseError
    from .answer import Usage as Usage
    from .chat import *  # noqa: F403  # each row is a provider
    from .cohere_chat import cohere as cohere
    from .converse import bedrock as bedrock
    from .generate_content import gemini as gemini
    from .generate_content import gemini_parameters as gemini_parameters
    from .messages import anthropic as anthropic
    from .offered_tools import Strict as Strict
    from .ollama_chat import ollama as ollama
    from .provider import Provider as Provider
    from .report import ToolReport as ToolReport
    from .response_json import read_json as read_json
    from .responses import openai_responses as openai_responses
    from .responses import xai as xai
    from .rules import Features as Features
    from .rules import HostedTool as HostedTool
    from .rules import IdRule as IdRule
    from .rules import NameRule as NameRule
    from .rules import Rules as Rules
    from .special_calls import Grammar as Grammar
    from .special_calls import Namespace as Namespace
    from .stream import Delta as Delta
    from .stream import Stream as Stream
    from .streamed_calls import StreamedCall as StreamedCall

_MODULES = {
    "..rounds": "ToolChoice",
    "..schema.dialect": "Dialect",
    ".answer": "Answer AnswerError ResponseError Usage",
    ".provider": "Provider",
    ".response_json": "read_json",
    ".rules": "Features HostedTool IdRule NameRule Rules",
    ".special_calls": "Grammar Namespace",
    ".stream": "Delta Stream",
    ".streamed_calls": "StreamedCall",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}
_FAMILIES = {
    "anthropic": ".messages",
    "bedrock": ".converse",
    "cohere": ".cohere_chat",
    "gemini": ".generate_content",
    "gemini_parameters": ".generate_content",
    "ollama": ".ollama_chat",
    "openai_responses": ".responses",
    "xai": ".responses",
}
"""The providers that don't use Chat Completions, and their modules."""

_ROWS = ".chat"
"""The modules of all other providers."""


def provider_names() -> list[str]:
    """List the names of all providers in this package, such as `anthropic`."""
    return sorted([*_FAMILIES, *_chat_providers()])


def _chat_providers() -> dict[str, Provider]:
    rows = import_module(_ROWS, __name__)
    return {name: found for name, found in vars(rows).items() if isinstance(found, rows.Provider)}


def __dir__() -> list[str]:
    return sorted([*_HOMES, *provider_names(), "openai_compatible", "provider_names"])


_OTHER_NAMES = {
    **dict.fromkeys(("azure", "chatgpt"), "openai_chat"),
    **dict.fromkeys(("claude", "minimax"), "anthropic"),
    **dict.fromkeys(("google", "vertex", "vertexai"), "gemini"),
    "aws": "bedrock",
    "grok": "xai",
    "perplexity": "openai_responses",
    **dict.fromkeys(
        (
            *("cerebras", "copilot", "dashscope", "databricks", "fireworks", "foundry", "glm", "huggingface"),
            *("kimi", "litellm", "moonshot", "nim", "nvidia", "openrouter", "qwen", "sglang", "snowflake"),
            *("together", "vllm", "zhipu"),
        ),
        "openai_compatible",
    ),
}
"""Other names that people use for a provider, and its name here."""


def _meant(name: str) -> list[str]:
    other = _OTHER_NAMES.get(name.lower())
    return names_meant(name, __dir__()) if other is None else [other]


__path__ = AnsweringPath(__name__, _meant)


if not TYPE_CHECKING:  # otherwise, a type checker would accept any name in this package

    def __getattr__(name: str) -> object:
        if name == "__all__":
            return __dir__()
        home = _HOMES.get(name) or _FAMILIES.get(name) or _ROWS
        if name.startswith("_") or (home == _ROWS and name not in __dir__()):
            raise absent_name(__name__, name, _meant)
        value: object = getattr(import_module(home, __name__), name)
        globals()[name] = value
        return value
