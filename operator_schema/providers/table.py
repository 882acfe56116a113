"""The providers: a row for each."""

from __future__ import annotations

from ..schema.style import Dialect, SchemaStyle
from ..wording import checked_text
from .chat import ChatWire, CohereWire, OllamaWire
from .converse import ConverseWire
from .generate_content import GenerateContentWire
from .messages import MessagesWire
from .names import NameRule
from .provider import Provider
from .responses import ResponsesWire
from .rules import Rules

__all__ = [
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

_NO_BOOLEANS = SchemaStyle(boolean_schemas=False)
"""`true` and `false` as schemas are refused by some, and left out by all others' models."""

_BY_DEFAULT = NameRule()


_BOUNDS = frozenset({"minimum", "maximum"})
_NUMBERS = _BOUNDS | {"exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_ITEMS = frozenset({"minItems", "maxItems"})
_LENGTHS = frozenset({"minLength", "maxLength"})
_COMMON_FORMATS = frozenset({"email", "hostname", "ipv4", "ipv6", "uuid"})
_DATES = frozenset({"date-time", "time", "date"})
_DATED_FORMATS = _COMMON_FORMATS | _DATES | {"duration"}

OPENAI_STRICT = Dialect(
    keywords=_NUMBERS | _ITEMS | {"pattern"},
    formats=_DATED_FORMATS,
    required="all",
    most_properties=5000,
    most_levels=10,
    most_choices=1000,
    most_characters=120_000,
    most_choice_characters=15_000,
)
"""Source: https://platform.openai.com/docs/guides/structured-outputs

`default` and lengths are left to words: recorded requests with a default were accepted, and OpenAI's own
SDK warns that both may be refused.
"""

ANTHROPIC_STRICT = Dialect(
    keywords=frozenset({"minItems"}),
    formats=_DATED_FORMATS | {"uri"},
    takes_recursion=False,
    most=(("minItems", 1),),
    most_tools=20,
    most_optional=24,
    most_unions=16,
    # Those numbers are for tools together; as many in one tool are refused as too complex.
    most_optional_of_one=23,
    most_unions_of_one=15,
)
"""Source: https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs, and recorded requests"""

DEEPSEEK_STRICT = Dialect(
    keywords=_NUMBERS | {"pattern"},
    formats=_COMMON_FORMATS,
    required="all",
    takes_type_lists=False,
    whole_request=True,
)
"""Source: https://api-docs.deepseek.com/guides/function_calling; only at its `/beta` address."""

GEMINI_VALIDATED = Dialect(
    keywords=_BOUNDS | _ITEMS | _LENGTHS | {"pattern", "uniqueItems", "default"},
    formats=_DATES,
    closed="as_is",
    takes_maps=True,
    takes_tuples=True,
    takes_lookaround=True,
    whole_request=True,
)
"""Source: https://ai.google.dev/gemini-api/docs/structured-output; the mode is `VALIDATED`.

Recorded requests show that it takes more than the page says: recursion, lengths, patterns, defaults.
"""

GEMINI_PARAMETERS = Dialect(
    keywords=_BOUNDS | _ITEMS | _LENGTHS,
    formats=frozenset({"date-time"}),
    lenient=True,
    closed="none",
    openapi=True,
    takes_type_lists=False,
    takes_references=False,
    takes_recursion=False,
    text_choices=True,
    whole_request=True,
)
"""Source: https://ai.google.dev/api/caching#Schema"""

COHERE_STRICT = Dialect(
    keywords=frozenset(),
    formats=_DATES | {"uuid"},
    required="one",
    closed="as_is",
    takes_type_lists=False,
    takes_recursion=False,
    whole_request=True,
    most_properties=200,
)
"""Source: https://docs.cohere.com/docs/structured-outputs, under `strict_tools`"""

XAI_STRICT = Dialect(
    keywords=_NUMBERS - {"multipleOf"} | _ITEMS | _LENGTHS | {"minProperties", "maxProperties"},
    formats=_DATES | {"email", "uuid", "ipv4", "ipv6", "uri"},
    closed="as_is",
    takes_recursion=False,
    takes_maps=True,
    takes_tuples=True,
    most=(
        ("maxItems", 256),
        ("maxLength", 2048),
        ("maxProperties", 64),
        ("minItems", 256),
        ("minLength", 2048),
    ),
)
"""Source: https://docs.x.ai/docs/guides/structured-outputs; xAI always holds the model to the schemas."""

OLLAMA_KEPT = Dialect(
    keywords=frozenset(),
    formats=frozenset(),
    lenient=True,
    closed="as_is",
    takes_references=False,
    takes_recursion=False,
    takes_anything=True,
)
"""Source: `ToolFunction` in https://github.com/ollama/ollama/blob/main/api/types.go"""


_ANTHROPIC_RULES = Rules(keys=NameRule(64, "-."))
"""One name of a property that doesn't fit fails the whole request, at Anthropic and Bedrock."""


def openai_compatible(
    name: str,
    *,
    names: NameRule = _BY_DEFAULT,
    required: str = "required",
    takes_unions: bool = True,
    dialect: Dialect | None = None,
    sent_keys: frozenset[str] | None = None,
    takes_images: bool = False,
    rules: Rules = Rules(),  # noqa: B008  # it is immutable
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
    return Provider(name, wire, names, _NO_BOOLEANS, takes_unions, dialect, rules=rules)


openai_chat = openai_compatible(
    "OpenAI Chat Completions",
    dialect=OPENAI_STRICT,
    takes_images=True,
    rules=Rules(longest_description=1024, most_tools=128),  # as its errors say; Responses takes more
)
openai_responses = Provider(
    "OpenAI Responses", ResponsesWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=True, dialect=OPENAI_STRICT
)
anthropic = Provider(
    "Anthropic",
    MessagesWire(),
    NameRule(128),
    _NO_BOOLEANS,
    takes_unions=False,
    dialect=ANTHROPIC_STRICT,
    rules=_ANTHROPIC_RULES,
)
_GEMINI_NAMES = NameRule(64, "-.:", starts_with_letter=True)
gemini = Provider(
    "Gemini", GenerateContentWire(), _GEMINI_NAMES, _NO_BOOLEANS, takes_unions=True, dialect=GEMINI_VALIDATED
)
gemini_parameters = Provider(
    "Gemini with parameters",
    GenerateContentWire("parameters"),
    _GEMINI_NAMES,
    _NO_BOOLEANS,
    takes_unions=False,
    dialect=GEMINI_PARAMETERS.replace(lenient=False),
    always=GEMINI_PARAMETERS,
    rules=Rules(keys=NameRule(64, "", starts_with_letter=True)),
)
bedrock = Provider(
    "Bedrock Converse",
    ConverseWire(),
    _BY_DEFAULT,
    _NO_BOOLEANS,
    takes_unions=False,
    rules=_ANTHROPIC_RULES,
    dialect=ANTHROPIC_STRICT,  # most models that take `strict` there are Anthropic's
)
mistral = openai_compatible("Mistral", required="any")
deepseek = openai_compatible("DeepSeek", dialect=DEEPSEEK_STRICT)
# Groq refuses a message with any other property, such as the `reasoning` and `channel` of its own answers.
groq = openai_compatible("Groq", sent_keys=frozenset({"role", "content", "tool_calls", "function_call"}))
xai = Provider(
    "xAI",
    ResponsesWire(),
    _BY_DEFAULT,
    _NO_BOOLEANS,
    takes_unions=False,
    dialect=XAI_STRICT,
    always=XAI_STRICT.replace(lenient=True),
)
cohere = Provider("Cohere", CohereWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=True, dialect=COHERE_STRICT)
ollama = Provider("Ollama", OllamaWire(), _BY_DEFAULT, _NO_BOOLEANS, takes_unions=False, always=OLLAMA_KEPT)
