"""The providers: a row for each."""

from __future__ import annotations

from ..schema_styles import SchemaStyle
from .chat import ChatWire, CohereWire, OllamaWire
from .converse import ConverseWire
from .dialect import Dialect
from .generate_content import GenerateContentWire
from .messages import MessagesWire
from .names import NameRule
from .provider import Provider
from .responses import ResponsesWire

__all__ = [
    "anthropic",
    "bedrock",
    "cohere",
    "deepseek",
    "gemini",
    "groq",
    "mistral",
    "ollama",
    "openai_chat",
    "openai_compatible",
    "openai_responses",
    "xai",
]

_NO_BOOLEANS = SchemaStyle(boolean_schemas=False)
"""`true` and `false` as schemas are refused by some, and left out by all others' models."""

_BY_DEFAULT = NameRule()


_NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_COMMON_FORMATS = frozenset({"email", "hostname", "ipv4", "ipv6", "uuid"})
_DATED_FORMATS = _COMMON_FORMATS | {"date-time", "time", "date", "duration"}

OPENAI_STRICT = Dialect(
    keywords=_NUMBERS | {"pattern", "minItems", "maxItems"},
    formats=_DATED_FORMATS,
    all_required=True,
    most_properties=5000,
    most_levels=10,
    most_choices=1000,
)
"""Source: https://platform.openai.com/docs/guides/structured-outputs"""

ANTHROPIC_STRICT = Dialect(
    keywords=frozenset({"minItems"}),
    formats=_DATED_FORMATS | {"uri"},
    takes_recursion=False,
    least_items=frozenset({0, 1}),
    most_tools=20,
    most_optional=24,
    most_unions=15,  # the page says 16, which the API refused as too complex
)
"""Source: https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs"""

DEEPSEEK_STRICT = Dialect(keywords=_NUMBERS | {"pattern"}, formats=_COMMON_FORMATS, all_required=True)
"""Source: https://api-docs.deepseek.com/guides/function_calling; only at its `/beta` address."""


def openai_compatible(
    name: str,
    *,
    names: NameRule = _BY_DEFAULT,
    required: str = "required",
    takes_unions: bool = True,
    dialect: Dialect | None = None,
) -> Provider:
    """Make a provider that takes OpenAI's Chat Completions, such as vLLM, llama.cpp or OpenRouter.

    Args:
        name: for messages.
        names: which names of tools it takes.
        required: its word for a choice that requires some tool.
        takes_unions: whether the arguments of a tool may be a union.
        dialect: what its strict mode takes; None if it has none.
    """
    return Provider(name, ChatWire(required), names, _NO_BOOLEANS, takes_unions, dialect)


openai_chat = openai_compatible("OpenAI Chat Completions", dialect=OPENAI_STRICT)
openai_responses = Provider(
    "OpenAI Responses", ResponsesWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=True, dialect=OPENAI_STRICT
)
anthropic = Provider(
    "Anthropic", MessagesWire(), NameRule(128), _NO_BOOLEANS, takes_unions=False, dialect=ANTHROPIC_STRICT
)
gemini = Provider(
    "Gemini",
    GenerateContentWire(),
    NameRule(64, "-.:", starts_with_letter=True),
    _NO_BOOLEANS,
    takes_unions=True,
)
bedrock = Provider("Bedrock Converse", ConverseWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=False)
mistral = openai_compatible("Mistral", required="any")
deepseek = openai_compatible("DeepSeek", dialect=DEEPSEEK_STRICT)
groq = openai_compatible("Groq")
xai = Provider("xAI", ResponsesWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=True)
cohere = Provider("Cohere", CohereWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=True)
ollama = Provider("Ollama", OllamaWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=True)
