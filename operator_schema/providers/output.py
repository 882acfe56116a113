"""How does a request ask for an answer of a type?"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .. import tools
from ..codec.codec import Codec, codec_of
from ..introspect.nodes import ObjectNode
from ..message_text import quote
from .offered_tools import Offered
from .sent_tools import fits_of, may_require, sent_tools
from .tool_forms import TakesTools
from .wire_format import Wanted, Wire

if TYPE_CHECKING:
    from typing import Self

    from ..tools import Tool, ToolDefinition

FINAL = "final_answer"
"""The name of an answer, and of the tool that receives it if the provider has no other way."""

VALUE = "value"
"""The key for an answer that isn't an object with fields."""

_DESCRIPTION = "The final answer, which ends the conversation."


class TakesOutputs(TakesTools, Protocol):
    """The requirements of a provider for answers with a type; see `Provider`."""

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some attributes replaced."""
        ...


class AskedOutput:
    """The type of answer that a request asks for.

    Attributes:
        codec: the codec of the answer.
        tool: a tool whose arguments are the answer; it describes the answer to providers.
        is_wrapped: whether the answer has a key of its own: several providers only take objects.
    """

    __slots__ = ("codec", "is_wrapped", "tool")

    def __init__(self, codec: Codec[Any]) -> None:
        self.codec = codec
        self.is_wrapped = not isinstance(codec.graph.resolve_root(), ObjectNode)
        shown = codec.under(VALUE) if self.is_wrapped else codec
        self.tool: Tool[..., Any] = tools.output_tool(shown, FINAL, _DESCRIPTION)


def asked_for(output: Any) -> AskedOutput:
    """Return the request for a type of answer; it is stored for each type.

    Raises:
        SchemaError: the type has no codec.
    """
    is_codec = issubclass(type(output), Codec)  # `isinstance` would run code of a class
    return _asked(output if is_codec else codec_of(output))


@lru_cache(maxsize=256)
def _asked(codec: Codec[Any]) -> AskedOutput:
    return AskedOutput(codec)


def ask(provider: TakesOutputs, body: dict[str, Any], asked: AskedOutput, offered: Offered) -> None:
    """Add the request for a typed answer to the body, unless a tool receives the answer.

    Raises:
        SchemaError: the provider can't express the type.
    """
    if way_of(provider, offered, asked) != "format":
        return
    (definition,), is_strict = sent_tools(provider.replace(wire=_DEFINITIONS), alone(provider, asked))
    provider.wire.ask_output(body, definition, strict=is_strict)  # type: ignore[arg-type]  # of `_Definitions`


def with_final_tool(
    provider: TakesOutputs, offered: Offered, asked: AskedOutput, *, thinks: bool = False
) -> Offered:
    """Return the offered tools with a tool that receives the answer, if the provider has no other way.

    The model then has to call some tool, if a request may require that. While another tool is required, there
    is no tool that receives the answer.

    Args:
        provider: the provider that gets the request.
        offered: the offered tools.
        asked: the requested type of the answer.
        thinks: whether the request lets the model think.

    Raises:
        ValueError: another tool has the name of the tool that receives the answer.
    """
    if way_of(provider, offered, asked) != "tool":
        return offered
    if any(tool.name == FINAL for tool in offered.tools):
        message = f"{provider.name} gives an answer with a type by a tool {quote(FINAL)}: rename yours"
        raise ValueError(message)
    may_call = offered.tools and offered.choice.mode == "auto"
    choice = Wanted("required") if may_call else Wanted("named", FINAL)
    if not may_require(provider, thinks=thinks):
        choice = Wanted("auto")
    return offered.replace(tools=(*offered.tools, asked.tool), choice=choice)


def way_of(provider: TakesOutputs, offered: Offered, asked: AskedOutput) -> Literal["format", "tool", "none"]:
    """Return how a request asks for the answer: by an option, by a tool, or not at all."""
    features = provider.features
    has_form = features.outputs and (features.outputs_beside_tools or not offered.tools)
    if has_form and (not provider.wire.STRICT_OUTPUTS or fits_of(provider, [asked.tool], "auto")[0].strict):
        return "format"
    return "none" if offered.choice.mode in {"required", "named"} else "tool"


def alone(provider: TakesOutputs, asked: AskedOutput) -> Offered:
    """Return an offer of the answer's tool alone, in the strict mode if the type fits that."""
    return Offered((asked.tool,), Wanted("auto"), strict=False if provider.dialect is None else "auto")


class _Definitions(Wire):
    """A wire form in which the form of a tool is its definition."""

    def tool(self, definition: ToolDefinition, *, strict: bool) -> dict[str, Any]:  # noqa: ARG002  # as the base
        """Return the definition."""
        return {**definition}


_DEFINITIONS = _Definitions()
