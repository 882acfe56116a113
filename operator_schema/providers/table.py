"""The providers: a row for each."""

from __future__ import annotations

from ..schema_styles import SchemaStyle
from .chat import ChatWire, CohereWire, OllamaWire
from .converse import ConverseWire
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


def openai_compatible(
    name: str, *, names: NameRule = _BY_DEFAULT, required: str = "required", takes_unions: bool = True
) -> Provider:
    """Make a provider that takes OpenAI's Chat Completions, such as vLLM, llama.cpp or OpenRouter.

    Args:
        name: for messages.
        names: which names of tools it takes.
        required: its word for a choice that requires some tool.
        takes_unions: whether the arguments of a tool may be a union.
    """
    return Provider(name, ChatWire(required), names, _NO_BOOLEANS, takes_unions)


openai_chat = openai_compatible("OpenAI Chat Completions")
openai_responses = Provider("OpenAI Responses", ResponsesWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=True)
anthropic = Provider("Anthropic", MessagesWire(), NameRule(128), _NO_BOOLEANS, takes_unions=False)
gemini = Provider(
    "Gemini",
    GenerateContentWire(),
    NameRule(64, "-.:", starts_with_letter=True),
    _NO_BOOLEANS,
    takes_unions=True,
)
bedrock = Provider("Bedrock Converse", ConverseWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=False)
mistral = openai_compatible("Mistral", required="any")
deepseek = openai_compatible("DeepSeek")
groq = openai_compatible("Groq")
xai = Provider("xAI", ResponsesWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=True)
cohere = Provider("Cohere", CohereWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=True)
ollama = Provider("Ollama", OllamaWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=True)
