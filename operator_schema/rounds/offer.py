"""What one request offers to the model: which tools, and whether it has to call one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from ..immutable import Value
from ..wording import as_written, listed, quote, received, writable_text
from .errors import OfferError
from .named_tools import NamedTools

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias, Unpack

    from ..schema.style import StyleOptions
    from ..tools.calls import RawCall
    from ..tools.snapshot import Snapshot
    from ..tools.tool import Tool, ToolDefinition
    from .named_tools import Selection, Selector
    from .round import ModelAnswer, ToolRound
    from .toolset import Toolset

    Context: TypeAlias = Mapping[Any, Any]
    Available: TypeAlias = 'Literal["default", "all"] | Only | DefaultPlus'
    Required: TypeAlias = 'Literal["optional", "at_least_one"] | Specific'

__all__ = ["DefaultPlus", "Offer", "Only", "Specific", "ToolChoice", "offer"]

Input = TypeVar("Input", covariant=True)  # noqa: PLC0105  # it reads like the word


class Only(Value):
    """Exactly these tools are available, whether they are off or not.

    Attributes:
        tools: names, tools, and toolsets for all of their tools; one that is there twice counts once. The
            model sees them in the order of the toolset.
    """

    tools: tuple[Selection, ...]

    def __init__(self, tools: Iterable[Selection]) -> None:
        super().__init__(_selections("Only", tools))


class DefaultPlus(Value):
    """The tools that aren't off are available, and these.

    Attributes:
        tools: names, tools, and toolsets for all of their tools.
    """

    tools: tuple[Selection, ...]

    def __init__(self, tools: Iterable[Selection]) -> None:
        super().__init__(_selections("DefaultPlus", tools))


class Specific(Value):
    """The model has to call this tool.

    Attributes:
        tool: its name, or the tool.
    """

    tool: Selector


class ToolChoice(Value):
    """What a request asks of the model, in words that each provider has.

    Attributes:
        mode: `auto`: it may call tools; `required`: it has to call one; `named`: it has to call this
            one; `none`: there are no tools.
        name: of the tool that it has to call; None in every other mode.
    """

    mode: Literal["auto", "required", "named", "none"]
    name: str | None = None


class Offer(Value, Generic[Input]):
    """What one request offers to the model; made by `toolset.offer`.

    Attributes:
        toolset: that offers it.
        names: of the tools, in order.
        tool_choice: what the model has to do with them.
    """

    toolset: Toolset[Input]
    names: tuple[str, ...]
    tool_choice: ToolChoice
    _descriptions: tuple[tuple[str, str], ...]
    _snapshot: Snapshot
    _shown: Mapping[str, Tool[..., Any]]

    def __init__(
        self,
        toolset: Toolset[Input],
        names: tuple[str, ...],
        tool_choice: ToolChoice,
        descriptions: tuple[tuple[str, str], ...],
        snapshot: Snapshot,
    ) -> None:
        describer = snapshot.describer if snapshot.describer in names else None
        shown = {name: snapshot.shown(name, describer) for name in names}
        super().__init__(toolset, names, tool_choice, descriptions, snapshot, shown)

    @property
    def descriptions(self) -> dict[str, str]:
        """The descriptions for this request alone, by the name of the tool."""
        return dict(self._descriptions)

    @property
    def tools(self) -> tuple[Tool[..., Any], ...]:
        """The tools, as the model sees them."""
        return tuple(self._shown.values())

    def get(self, name: str, /) -> Tool[..., Any] | None:
        """Return a tool as the model sees it; None if this request doesn't offer it."""
        return self._shown.get(name)

    def own_tool(self, name: str, /) -> Tool[..., Any]:
        """Return a tool as the toolset has it, without what an offered `describe_tools` changes."""
        return self._snapshot.tools[name]

    def definitions(self, **options: Unpack[StyleOptions]) -> list[ToolDefinition]:
        """List name, description and input schema of the tools, with the descriptions of this request.

        Args:
            inline, boolean_schemas, empty_schemas: as `json_schema` takes them.

        Returns:
            A fresh dict each, as `Tool.definition` returns it.
        """
        style = None
        if options:
            from ..schema.style import style_of

            style = style_of(options)
        described, describer = self.descriptions, self._snapshot.describer
        if describer not in self._shown:
            describer = None
        found = [self._snapshot.definition(name, describer, style) for name in self.names]
        for definition in found:
            definition["description"] = described.get(definition["name"], definition["description"])
        return found

    def round(self, calls: Iterable[RawCall] | ModelAnswer, /, *, assistant: Any = None) -> ToolRound[Input]:
        """Decode the calls that answer this request; see `Toolset.round`."""
        return self.toolset.round(calls, self, assistant=assistant)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Offer):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        return self.toolset, self.names, self.tool_choice, self._descriptions

    def __repr__(self) -> str:
        choice = self.tool_choice.name or self.tool_choice.mode
        return f"Offer({', '.join(self.names)}; {choice})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, self._key()


def _unpickled(toolset: Toolset[Any], *content: Any) -> Offer[Any]:
    names, choice, descriptions = content
    return Offer(toolset, names, choice, descriptions, toolset._entries)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # what the offer was made from


def offer(
    toolset: Toolset[Input],
    snapshot: Snapshot,
    available: Available,
    required: Required,
    descriptions: Mapping[str, str],
    context: Context | None,
) -> Offer[Input]:
    """Make an offer; see `Toolset.offer`.

    Args:
        toolset: whose tools are offered.
        snapshot: the same tools with their switches.
        available: which of them.
        required: what the model has to do.
        descriptions: for this request alone.
        context: for switches that take one.
    """
    wanted = _wanted(toolset, available)
    candidates = [name for name in toolset.names if name in wanted]
    names = tuple([name for name in candidates if snapshot.is_offered(name, context, asked_for=True)])
    choice = _choice(toolset, names, required, wanted)
    return Offer(toolset, names, choice, _checked(toolset, descriptions), snapshot)


def _wanted(toolset: Toolset[Any], available: Available) -> frozenset[str]:
    default = frozenset([name for name in toolset.names if not toolset.is_off(name)])
    match available:
        case "default":
            return default
        case "all":
            return frozenset(toolset.names)
        case Only(tools=tools):
            return frozenset(toolset.names_of(*tools))
        case DefaultPlus(tools=tools):
            return default | frozenset(toolset.names_of(*tools))
        case _:  # pyright: ignore[reportUnnecessaryComparison]  # what callers promise, some do not
            kinds = '"default", "all", Only([…]) or DefaultPlus([…])'
            message = f"available is {kinds}, not {as_written(available)}"
            raise TypeError(message)


def _choice(
    toolset: Toolset[Any], names: tuple[str, ...], required: Required, wanted: frozenset[str]
) -> ToolChoice:
    match required:
        case "optional":
            return ToolChoice("auto" if names else "none")
        case "at_least_one":
            if not names:
                message = "a tool is required, but none is available: make one available, or require none"
                raise OfferError(None, message)
            return ToolChoice("required")
        case Specific(tool=tool):
            name = toolset.name_of(tool)
            if name not in names:
                raise OfferError(name, _why_not(toolset, name, names, wanted))
            return ToolChoice("named", name)
        case _:  # pyright: ignore[reportUnnecessaryComparison]  # what callers promise, some do not
            kinds = '"optional", "at_least_one" or Specific(tool)'
            message = f"required is {kinds}, not {as_written(required)}"
            raise TypeError(message)


def _why_not(toolset: Toolset[Any], name: str, names: tuple[str, ...], wanted: frozenset[str]) -> str:
    """Return why a required tool isn't available, and what to do about it."""
    there = f"available are {listed([quote(other) for other in names]) or 'none'}"
    if name in wanted:
        return f"the required tool {quote(name)} is switched off (enabled); {there}"
    if toolset.is_off(name):
        remedy = f"available=DefaultPlus([{quote(name)}]) offers it"
        return f"the required tool {quote(name)} is off by default: {remedy}; {there}"
    return f"the required tool {quote(name)} isn't among those that this request makes available; {there}"


def _checked(toolset: Toolset[Any], descriptions: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    if not isinstance(descriptions, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # what callers promise, some do not
        message = f"descriptions maps names of tools to texts, not {received(descriptions)}"
        raise TypeError(message)
    found: list[tuple[str, str]] = []
    for name, text in descriptions.items():
        known = toolset.name_of(name)
        found.append((known, writable_text(f"the description of {known}", text)))
    return tuple(found)


def _selections(kind: str, tools: Any) -> tuple[Any, ...]:
    if isinstance(tools, NamedTools):
        return (tools,)
    try:
        # A tool made by `tool_input` is a class, whose metaclass says that it can't be iterated.
        found = None if isinstance(tools, str) else tuple(tools)
    except TypeError:
        found = None
    if found is None:
        message = f"{kind} takes a list of tools, names or toolsets: {kind}([…]), not {as_written(tools)}"
        raise TypeError(message)
    return found
