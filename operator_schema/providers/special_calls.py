"""Tools of other forms, and their calls: custom tools that take text, searches, and namespaces."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from ..immutable import Value
from ..message_text import as_written, checked_text, received, writable_text
from .openai_shared import custom_input, is_custom, is_search
from .streamed_calls import text_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..tools import RawCall, Tool, ToolResult
    from .answer import Answer
    from .offered_tools import Offered


class Grammar(Value):
    """The grammar of the text for a custom tool.

    Source: https://platform.openai.com/docs/guides/function-calling#context-free-grammars

    Attributes:
        syntax: `lark`, or `regex` for a regular expression.
        definition: the grammar.

    Raises:
        TypeError: the definition isn't a string.
        ValueError: the syntax is unknown, or the definition is empty.
    """

    syntax: Literal["lark", "regex"]
    definition: str

    def __init__(self, syntax: Literal["lark", "regex"], definition: str) -> None:
        if str(syntax) not in {"lark", "regex"}:  # some callers ignore the annotations
            message = f'the syntax of a grammar must be "lark" or "regex", not {as_written(syntax)}'
            raise ValueError(message)
        definition = writable_text("the definition of a grammar", definition)
        if not definition.strip():
            message = "the definition of a grammar is empty: leave the grammar out for any text"
            raise ValueError(message)
        super().__init__(syntax, definition)

    def as_dict(self) -> dict[str, Any]:
        """Return the grammar in the form of a request."""
        return {"syntax": self.syntax, "definition": self.definition}


class Namespace(Value):
    """A group of tools in a request: at first, the model sees one name and description in their place.

    Source: https://platform.openai.com/docs/guides/tools-tool-search

    Attributes:
        name: the name of the group.
        description: the purpose of its tools.
        tools: the names of tools, or the tools.

    Raises:
        TypeError: name or description isn't a string, or `tools` isn't a list.
        ValueError: one of them is empty.
    """

    name: str
    description: str
    tools: tuple[Any, ...]

    def __init__(self, name: str, description: str, tools: Collection[str | Tool[..., Any]]) -> None:
        checked_text("the name of a namespace", name)
        description = writable_text("the description of a namespace", description)
        if isinstance(tools, (str, Mapping)) or not isinstance(tools, Collection):
            what = received(cast("object", tools))
            message = f"the tools of a namespace must be a list of names or tools, not {what}"
            raise TypeError(message)
        if not (name and description.strip() and tools):
            message = "a namespace needs a name, a description and tools"
            raise ValueError(message)
        super().__init__(name, description, tuple(tools))


def with_own_forms(answer: Answer, tools: Sequence[Tool[..., Any]]) -> Answer:
    """Return an answer in which calls of other forms are ordinary calls of the tools.

    The text of a custom tool gets the name of its parameter, and a search that the provider leaves to your
    program gets the name of the offered `ToolSearch`.
    """
    codecs = {tool.name: tool.codec for tool in tools}
    return answer.replace(calls=tuple([_own_form(call, codecs, tools) for call in answer.calls]))


def _own_form(call: RawCall, codecs: dict[str, Any], tools: Sequence[Tool[..., Any]]) -> RawCall:
    if is_search(call):
        return call.replace(name=own_search(tools) or call.name)
    if call.name not in codecs or not is_custom(call):
        return call
    return call.replace(arguments={text_key(codecs[call.name]) or "input": custom_input(call)})


def own_search(tools: Sequence[Tool[..., Any]]) -> str | None:
    """Return the name of the `ToolSearch` among tools; None if there is none."""
    return next((tool.name for tool in tools if names_found(tool) is not None), None)


def names_found(tool: Tool[..., Any]) -> Any:
    """Return the function that reads the found tools from a result, if a tool is a `ToolSearch`, or None."""
    return getattr(getattr(tool, "__wrapped__", None), "names_found", None)


def found_by(results: Sequence[ToolResult], offered: Offered) -> dict[int, list[str]]:
    """Return the deferred tools that each result of a search found, by the position of the result."""
    readers = {tool.name: names_found(tool) for tool in offered.tools}
    found: dict[int, list[str]] = {}
    for place, result in enumerate(results):
        read = readers.get(result.name)
        names: list[str] = read(result.content) if read is not None and not result.is_error else []
        known = [name for name in dict.fromkeys(names) if name in offered.deferred]
        if known:
            found[place] = known
    return found
