"""What a request offers, in whichever form its tools were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..rounds.offer import Offer, ToolChoice
from ..rounds.toolset import Toolset
from ..tools.registry.registry import Registry
from ..tools.tool_lists import tools_of
from ..wording import quote, received

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from ..tools.tool import Tool

    Tools: TypeAlias = "Offer[Any] | Toolset[Any] | Registry | Iterable[Tool[..., Any]]"

__all__ = ["checked_choice", "descriptions_of", "fixed", "names_of", "own_choice", "shown_tools"]


def fixed(tools: Any) -> Offer[Any] | list[Tool[..., Any]]:
    """Return what is offered now, which stays the same while a request is made."""
    if isinstance(tools, Toolset):
        return tools.offer()  # pyright: ignore[reportUnknownMemberType,reportUnknownVariableType]  # of whatever input
    if isinstance(tools, Offer):
        return tools  # pyright: ignore[reportUnknownVariableType]  # of whatever input
    return tools.offered() if isinstance(tools, Registry) else tools_of(tools)


def own_choice(offered: Offer[Any] | list[Tool[..., Any]]) -> ToolChoice:
    """Return what the model has to do with the tools, if the request doesn't say."""
    return offered.choice if isinstance(offered, Offer) else ToolChoice("auto" if offered else "none")


def descriptions_of(offered: Offer[Any] | list[Tool[..., Any]]) -> dict[str, str]:
    """Return the descriptions for this request alone."""
    return offered.descriptions if isinstance(offered, Offer) else {}


def shown_tools(tools: Tools) -> list[Tool[..., Any]]:
    """List the tools of one request, as the model sees them."""
    offered = fixed(tools)
    return list(offered.tools) if isinstance(offered, Offer) else offered


def names_of(tools: Tools) -> list[str]:
    """List the names of the tools of one request."""
    return [tool.name for tool in shown_tools(tools)]


def checked_choice(choice: object, tools: Sequence[Tool[..., Any]]) -> ToolChoice:
    """Check what is given as the choice of a request.

    Raises:
        TypeError: it isn't a choice.
        ValueError: it names a tool that isn't there.
    """
    if not isinstance(choice, ToolChoice):
        message = f"choice is a ToolChoice, such as toolset.offer(…).choice, not {received(choice)}"
        raise TypeError(message)
    if choice.mode == "named" and choice.name not in [tool.name for tool in tools]:
        message = f"the choice names {quote(str(choice.name))}, which isn't among the tools"
        raise ValueError(message)
    return choice
