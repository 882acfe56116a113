"""Which tools does a request offer, whatever kind of object the caller gives?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .. import rounds, tools
from ..immutable import Keeper, Value
from .wire_format import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    from ..rounds import Offer, Registry, Toolset
    from ..tools import Tool

    Tools: TypeAlias = (
        "Offer[Any] | Toolset[Any] | Registry | Tool[..., Any] | Offered | Iterable[Tool[..., Any]]"
    )

Strict: TypeAlias = "bool | Literal['auto']"


class Offered(Value, Keeper):
    """The tools that one request offers.

    Attributes:
        tools: as the model sees them.
        choice: whether the model may or must call them.
        descriptions: for this request only, by the name of the tool.
        strict: whether the provider has to hold the model to the schemas.
        deferred: the names of the tools that the model finds by a search.
        entries: a function that returns tools by their names, in the form of the request with the history;
            None if there is no such request.
    """

    tools: Sequence[Tool[..., Any]]
    choice: Wanted
    descriptions: Mapping[str, str] = {}  # nobody changes it
    strict: Strict = False
    deferred: Sequence[str] = ()
    entries: Callable[[Sequence[str]], list[dict[str, Any]]] | None = None

    if not TYPE_CHECKING:  # for speed alone: every request and answer makes one

        def __new__(
            cls,
            tools: Sequence[Tool[..., Any]],
            choice: Wanted,
            descriptions: Mapping[str, str],
            strict: Strict,
            deferred: Sequence[str],
            entries: Callable[[Sequence[str]], list[dict[str, Any]]] | None,
        ) -> Self:
            """Create the object."""
            self = cls._draft()
            self.tools = tools
            self.choice = choice
            self.descriptions = descriptions
            self.strict = strict
            self.deferred = deferred
            self.entries = entries
            self.__class__ = cls
            return self


_AUTO, _NONE = Wanted("auto"), Wanted("none")


def offered_now(offer: Any) -> Offered:
    """Return the present offer, which doesn't change during a request.

    Raises:
        TypeError: something isn't a tool.
    """
    if isinstance(offer, Offered):
        return offer
    if isinstance(offer, (list, tuple)):  # these need no further imports
        return _offered_tools(offer)
    if isinstance(offer, rounds.Toolset):
        return _offered(offer.offer())  # pyright: ignore[reportUnknownMemberType]  # of any input
    if isinstance(offer, rounds.Offer):
        return _offered(offer)
    if isinstance(offer, tools.Tool):
        return _offered_tools([offer])
    return _offered_tools(offer.offered() if isinstance(offer, rounds.Registry) else offer)


def _offered(offer: Any) -> Offered:
    found: Offered | None = offer.kept("offered")
    if found is None:
        wanted = Wanted(offer.choice.mode, offer.choice.name)
        found = Offered(offer.tools, wanted, offer.descriptions, offer.strict, offer.deferred)
        offer.keep("offered", found)
    return found


def _offered_tools(given: Any) -> Offered:
    try:
        found = tuple(tools.tools_of(given))
    except TypeError:
        from .history_checks import order_meant

        order = order_meant(given)
        if order is None:
            raise
        raise TypeError(order) from None
    return Offered(found, _AUTO if found else _NONE)
