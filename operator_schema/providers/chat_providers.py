"""The providers that take OpenAI's Chat Completions: a row for each, and no other place knows their names."""

from __future__ import annotations

from ..schema.style import Dialect
from ..wording import checked_text
from .chat import ChatWire
from .names import NameRule
from .provider import Provider
from .rules import Rules
from .wire import COMMON_FORMATS, NUMBERS, OPENAI_STRICT


def openai_compatible(
    name: str,
    *,
    names: NameRule = NameRule(),  # noqa: B008  # it is immutable
    required: str = "required",
    takes_unions: bool = True,
    dialect: Dialect | None = None,
    sent_keys: frozenset[str] | None = None,
    takes_images: bool = False,
    rules: Rules = Rules(),  # noqa: B008  # as above
) -> Provider:
    """Make a provider that takes OpenAI's Chat Completions, such as vLLM, llama.cpp or OpenRouter.

    Args:
        name: for messages.
        names: which names of tools it takes.
        required: its word for a choice that requires some tool.
        takes_unions: whether the arguments of a tool may be a union.
        dialect: what its strict mode takes; None if it has none.
        sent_keys: what a message of the assistant may hold in a request; None for all that answers hold.
        takes_images: whether images and PDFs in results are sent, in a message of the user after the results.
        rules: what it checks in any mode.

    Raises:
        TypeError: the name isn't a string.
    """
    name = checked_text("the name of a provider", name)
    wire = ChatWire(required, sent_keys, takes_images)
    return Provider(name, wire, names, takes_unions=takes_unions, dialect=dialect, rules=rules)


DEEPSEEK_STRICT = Dialect(
    keywords=NUMBERS | {"pattern"},
    formats=COMMON_FORMATS,
    required="all",
    takes_type_lists=False,
    whole_request=True,
)
"""Source: https://api-docs.deepseek.com/guides/function_calling; only at its `/beta` address."""


openai_chat = openai_compatible(
    "OpenAI Chat Completions",
    dialect=OPENAI_STRICT,
    takes_images=True,
    rules=Rules(longest_description=1024, most_tools=128),  # as its errors say; Responses takes more
)
mistral = openai_compatible("Mistral", required="any")
deepseek = openai_compatible("DeepSeek", dialect=DEEPSEEK_STRICT)
# Groq refuses a message with any other property, such as the `reasoning` and `channel` of its own answers.
groq = openai_compatible("Groq", sent_keys=frozenset({"role", "content", "tool_calls", "function_call"}))
