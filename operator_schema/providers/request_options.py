"""Request options that only some providers take: deferred tools, cache points, allowed tools, and so on."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from ..errors import DecodeError, SchemaError, ToolNotFoundError
from ..findings import Finding, about_type
from ..json_values import copy_json, to_json_text
from ..message_text import as_written, listed, quote, received
from ..similar_names import nearest, nearest_names
from ..tools import Tool
from .openai_shared import SEARCH
from .sent_tools import sent_tools
from .special_calls import Grammar, Namespace, found_by, names_found, own_search
from .streamed_calls import text_key
from .tool_forms import STYLE, wire_keys
from .wire_format import Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypedDict

    from ..rounds import Offer, Registry, Toolset
    from ..tools import ToolResult
    from .offered_tools import Offered
    from .rules import HostedTool
    from .tool_forms import TakesTools

_SUGGESTED = 3

_GIVEN_ELSEWHERE = {
    "strict": "set it in the offer: toolset.offer(strict=True)",
    "tool_choice": "set it in the offer: toolset.offer(required=…)",
    "required": "set it in the offer: toolset.offer(required=…)",
    "only": "set it in the offer: toolset.offer(only=…)",
    "tools": "the offer comes first: request(offer, history)",
    "messages": "the history comes second: request(offer, history)",
    "parallel_tool_calls": "write parallel=…",
}
"""Names that aren't options of a request, but that people try as options."""

_YOUR_OWN = "the rest of the body is yours: create(model=…, **request(…))"


if TYPE_CHECKING:
    NamesOrTools = Collection[str | Tool[..., Any]]

    class RequestOptions(TypedDict, total=False):
        """The options of `Provider.request`."""

        listed: Offer[Any] | Toolset[Any] | Registry | Iterable[Tool[..., Any]] | None
        cache: bool | Literal["5m", "1h"] | None
        parallel: bool | None
        examples: bool | None
        custom: NamesOrTools | Mapping[str | Tool[..., Any], Grammar | None] | None
        allowed_callers: Mapping[str | Tool[..., Any], Sequence[str]] | None
        search: str | None
        namespaces: Collection[Namespace] | None
        late: NamesOrTools | None
        thinking: bool | None


_LACKS: dict[str, tuple[str, str, str]] = {
    "listed": ("allowed", "choice of allowed tools", "leave listed out: the request lists what is offered"),
    "cache": ("cache", "cache point after tools", "leave cache out"),
    "parallel": ("parallel", "switch for parallel calls", "leave parallel out"),
    "examples": ("examples", "examples of inputs", "leave examples out, or write them into the description"),
    "custom": ("custom", "custom tools", "leave custom out: the text is an argument then"),
    "allowed_callers": (
        "callers",
        "programs that call tools",
        "leave allowed_callers out; operator_schema.code_mode runs programs with any provider",
    ),
    "search": ("searches", "search for tools", "leave search out"),
    "namespaces": ("namespaces", "namespaces", "leave namespaces out"),
    "late": ("late", "calls that are answered later", "leave late out: a round waits for all of its calls"),
    "deferred": (
        "searches",
        "search for deferred tools",
        "leave deferred out; operator_schema.rounds.ToolSearch finds tools with any provider",
    ),
}
"""For each option: the feature that it needs, the feature in words, and the remedy without it."""

OPTIONS = (*[option for option in _LACKS if option != "deferred"], "thinking")
"""The names of the options."""


def takes_thinking(options: dict[str, Any]) -> bool:
    """Remove `thinking` from the options, and return whether the rest of the body lets the model think.

    Raises:
        TypeError: the option isn't a bool.
    """
    _check_kind("thinking", options.get("thinking"))
    return bool(options.pop("thinking", None))


def tools_with(
    provider: TakesTools, offered: Offered, options: Mapping[str, Any]
) -> tuple[dict[str, Any], Callable[[Sequence[str]], list[dict[str, Any]]]]:
    """Return the fragment of a request's body that has tools, with options.

    Args:
        provider: the provider that gets the request.
        offered: the offered tools, maybe with deferred ones.
        options: the options, as for `Provider.request`; `listed` is an `Offered`.

    Returns:
        The fragment, and a function that returns tools by their names, in the form in which such a request
        lists them; each call returns copies.

    Raises:
        SchemaError: the provider can't take a tool, or an example doesn't fit its schema.
        ToolNotFoundError: an option names a tool that isn't offered.
        TypeError: an option is unknown, or has a wrong type.
        ValueError: the provider doesn't take an option, or two options exclude each other.
    """
    given = _checked_options(provider, offered, options)
    searches = _searches(provider, offered, given)
    tools = _without_own_search(offered) if searches else _listed_tools(offered, given)
    sent, is_strict = sent_tools(provider, tools)
    entries = _ToolEntries(provider, tools, sent)
    if not sent:
        return {}, entries.named
    entries.take_custom(given.get("custom"))
    entries.take_late(given.get("late"))
    if given.get("examples"):
        entries.add_examples()
    hosted = [*entries.allow_callers(given.get("allowed_callers")), *searches]
    entries.check_hosted(hosted)
    for name in offered.deferred:
        entries.defer(name)
    if offered.deferred and not searches:
        entries.take_search()
    listing = [*[tool.as_dict() for tool in hosted], *entries.grouped(given.get("namespaces"))]
    if given.get("cache"):
        seen = [place for place, entry in enumerate(listing) if not entry.get("defer_loading")]
        ttl = given["cache"] if isinstance(given["cache"], str) else None
        provider.wire.add_cache_point(listing, seen[-1], ttl)
    return entries.body(listing, offered, given, is_strict=is_strict), entries.named


def load_found(
    provider: TakesTools,
    messages: list[dict[str, Any]],
    results: Sequence[ToolResult],
    offered: Offered,
) -> None:
    """Make the results of searches load the deferred tools that they found."""
    for place, names in found_by(results, offered).items():

        def entries(names: Sequence[str] = names) -> list[dict[str, Any]]:
            listed = tools_with(provider, offered, {})[1] if offered.entries is None else offered.entries
            return listed(names)

        provider.wire.load_found(messages, place, [provider.names.wire_name(name) for name in names], entries)


# --- checking the options ------------------------------------------------------------------------


def _checked_options(provider: TakesTools, offered: Offered, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given options, after checking that the provider takes each one."""
    for option, value in options.items():
        if option not in OPTIONS:
            near = nearest(option, OPTIONS)
            hint = _GIVEN_ELSEWHERE.get(option) or (
                f"did you mean {near}?" if near else f"it takes {', '.join(OPTIONS)}; {_YOUR_OWN}"
            )
            message = f"request() got an unexpected option {quote(option)}; {hint}"
            raise TypeError(message)
        _check_kind(option, value)
    given = {option: value for option, value in options.items() if not _is_off(option, value)}
    for option in [*given, *(["deferred"] if offered.deferred else [])]:
        feature, words, remedy = _LACKS[option]
        if not getattr(provider.features, feature):
            message = f"{provider.name} has no {words}: {remedy}"
            raise ValueError(message)
    _check_together(provider, offered, given)
    return given


def _is_off(option: str, value: Any) -> bool:
    return value is None if option in {"listed", "parallel"} else not value


_SWITCHES = frozenset({"parallel", "examples", "cache", "thinking"})
_TIMES = ("5m", "1h")


def _check_kind(option: str, value: Any) -> None:
    """Check the type of the value of an option."""
    if option in _SWITCHES:
        is_time = option == "cache" and isinstance(value, str)
        if value is None or isinstance(value, bool) or (is_time and value in _TIMES):
            return
        words = 'True, "5m" or "1h"' if option == "cache" else "True or False"
        message = f"{option} must be {words}, not {as_written(value)}"
        raise (ValueError if is_time else TypeError)(message)
    kind = _KINDS.get(option)
    if value is None or kind is None:
        return
    is_text = isinstance(value, (str, bytes, bytearray)) and option != "search"
    if is_text or not isinstance(value, kind[0]):
        is_single = option != "search" and hasattr(cast("Any", type(value)), "name")
        remedy = f": for one, write {kind[2]}" if is_single else ""
        message = f"{option} must be {kind[1]}, not {received(value)}{remedy}"
        raise TypeError(message)


_KINDS: dict[str, tuple[type, str, str]] = {
    "custom": (Collection, "a list of names or tools, or a dict of these to grammars", "[tool]"),
    "allowed_callers": (Mapping, "a dict of names or tools to lists of callers", "{tool: [caller]}"),
    "search": (str, "the name of a search", ""),
    "namespaces": (Collection, "a list of Namespace", "[Namespace(…)]"),
    "late": (Collection, "a list of names or tools", "[tool]"),
}
"""For each option: its type, the type in words, and the form of a single value."""


def _check_together(provider: TakesTools, offered: Offered, given: Mapping[str, Any]) -> None:
    """Check that no two options exclude each other."""
    deferred, programs = bool(offered.deferred), given.get("allowed_callers")
    wrong = {
        "listed and deferred exclude each other: a search decides already what the model sees": (
            deferred and "listed" in given
        ),
        "listed and namespaces exclude each other: offer the tools of the namespaces that are allowed": (
            "listed" in given and "namespaces" in given
        ),
        "listed and allowed_callers exclude each other: list what is offered, or let no program run": (
            "listed" in given and bool(programs)
        ),
        f"{provider.name} takes no examples where tools are deferred: leave one of them out": (
            deferred and "examples" in given
        ),
        "search is for deferred tools: name them in offer(deferred=…), or leave search out": (
            "search" in given and not deferred
        ),
        f"{provider.name} runs no programs with parallel=False: leave parallel or allowed_callers out": (
            provider.features.programs_alone and bool(programs) and given.get("parallel") is False
        ),
        'listed needs strict=True or False: "auto" depends on which tools are listed': (
            "listed" in given and offered.strict == "auto"
        ),
    }
    for message, is_so in wrong.items():
        if is_so:
            raise ValueError(message)


# --- the listed tools ----------------------------------------------------------------------------


def _listed_tools(offered: Offered, given: Mapping[str, Any]) -> Offered:
    """Return the tools that the request lists, in the mode of the offer."""
    if "listed" not in given:
        return offered
    found: Offered = given["listed"]
    known = {tool.name: tool for tool in found.tools}
    for tool in offered.tools:
        # An offered `describe_tools` changes the other tools, but not the meaning of their arguments.
        if tool.name not in known or (known[tool.name].codec is not tool.codec and known[tool.name] != tool):
            remedy = "listed needs all that is offered, such as the toolset of the offer"
            message = f"{quote(tool.name)} is offered, but isn't among the tools that are listed: {remedy}"
            raise ValueError(message)
    if found.deferred:
        message = "listed has deferred tools: list an offer without deferred"
        raise ValueError(message)
    descriptions = {**found.descriptions, **offered.descriptions}
    return found.replace(strict=offered.strict, descriptions=descriptions, choice=offered.choice)


def _searches(provider: TakesTools, offered: Offered, given: Mapping[str, Any]) -> list[HostedTool]:
    """Return the search of the provider, unless your own search finds the deferred tools."""
    known, wanted = dict(provider.features.searches), given.get("search")
    if not offered.deferred:
        return []
    if wanted is not None and wanted not in known:
        names = " or ".join([quote(name) for name in known])
        message = f"{provider.name} has no search {quote(wanted)}: give {names}, or leave search out"
        raise ValueError(message)
    seen = [tool for tool in offered.tools if tool.name not in offered.deferred]
    if wanted is None and provider.features.loads_found and any(names_found(tool) for tool in seen):
        return []
    return [known[next(iter(known)) if wanted is None else wanted]]


def _without_own_search(offered: Offered) -> Offered:
    """Return the offered tools without a `ToolSearch`, if the provider has its own search."""
    own = [tool.name for tool in offered.tools if names_found(tool) is not None]
    if offered.choice.name in own:
        message = f"the required tool {quote(own[0])} is replaced by the provider's own search: require none"
        raise ValueError(message)
    return offered.replace(tools=tuple([tool for tool in offered.tools if tool.name not in own]))


class _ToolEntries:
    """The tools of one request, in the form in which they are listed.

    Args:
        provider: the provider that gets the request.
        tools: the listed tools.
        sent: each tool in its form without options; the entries are changed.
    """

    def __init__(self, provider: TakesTools, tools: Offered, sent: list[dict[str, Any]]) -> None:
        self._provider = provider
        self._tools = {tool.name: tool for tool in tools.tools}
        self._descriptions = tools.descriptions
        self._sent = dict(zip(self._tools, sent, strict=True))
        self._custom: set[str] = set()
        self._callers: dict[str, tuple[str, ...]] = {}
        self._owners: Mapping[str, Namespace] = {}
        self._own_search: str | None = None
        self._deferred: list[str] = []

    def _name_of(self, selector: Any) -> str:
        """Return the name of a tool given in an option."""
        if not isinstance(selector, (str, Tool)):
            message = f"choose a tool by its name or by the tool itself, not by {received(selector)}"
            raise TypeError(message)
        name = selector if isinstance(selector, str) else selector.name
        if name not in self._tools:
            raise ToolNotFoundError(name, nearest_names(name, self._tools, _SUGGESTED))
        return name

    def _wire_name(self, name: str) -> str:
        return self._provider.names.wire_name(name)

    # --- options ---------------------------------------------------------------------------------

    def take_custom(self, custom: Any) -> None:
        """Make the model write text in place of the arguments of some tools."""
        is_named = issubclass(type(custom), Mapping)
        for selector in custom or ():
            name, grammar = self._name_of(selector), custom[selector] if is_named else None
            if grammar is not None and not isinstance(grammar, Grammar):
                message = f"the grammar of {quote(name)} must be a Grammar or None, not {received(grammar)}"
                raise TypeError(message)
            about = _description_with_text(self._tools[name], self._descriptions.get(name))
            written = None if grammar is None else grammar.as_dict()
            self._sent[name] = self._provider.wire.custom_tool(self._wire_name(name), about, written)
            self._custom.add(name)

    def take_late(self, late: Any) -> None:
        """Allow the results of some tools to come after the next request."""
        for selector in late or ():
            self._sent[self._name_of(selector)]["async"] = True

    def add_examples(self) -> None:
        """Add the examples of the tools."""
        for name, tool in self._tools.items():
            if tool.examples and name not in self._custom:
                entry = self._sent[name]
                entry["input_examples"] = _examples(self._provider, tool, entry["input_schema"])

    def allow_callers(self, allowed: Any) -> list[HostedTool]:
        """Set who may call some tools, and return the tools of the provider that run programs."""
        known = dict(self._provider.features.callers)
        used: dict[str, HostedTool] = {}
        given: Any = allowed or {}
        for selector in given:
            name, callers = self._name_of(selector), given[selector]
            if type(callers) not in {list, tuple} or not callers:
                message = f"the callers of {quote(name)} must be a list of names, not {received(callers)}"
                raise TypeError(message)
            self._callers[name] = tuple([_known_caller(self._provider, known, each) for each in callers])
            self._sent[name]["allowed_callers"] = [*dict.fromkeys(self._callers[name])]
            runners = {each: known[each] for each in callers if known[each] is not None}
            used |= runners
            if runners and self._provider.features.programs_alone and self._sent[name].get("strict"):
                remedy = "offer it without strict, or leave it out of allowed_callers"
                message = f"{self._provider.name} lets no program call a strict tool, {quote(name)}: {remedy}"
                raise ValueError(message)
        if len(used) > 1:
            message = f"a request has one tool that runs programs: name one of {listed(list(used))}"
            raise ValueError(message)
        return list(used.values())

    def check_hosted(self, hosted: Sequence[HostedTool]) -> None:
        """Check that no tool has the same name as a tool that the provider runs."""
        wire_names = {self._wire_name(name) for name in self._tools}
        for tool in hosted:
            if tool.name in wire_names:
                message = f"{self._provider.name} has a tool {quote(tool.name)} itself: rename yours"
                raise ValueError(message)

    def defer(self, name: str) -> None:
        """Mark a tool as deferred, so that a search has to find it first."""
        if name in self._sent:
            self._sent[name]["defer_loading"] = True
            self._deferred.append(name)

    def take_search(self) -> None:
        """Change a `ToolSearch` into the provider's form for a search of deferred tools."""
        own = own_search([*self._tools.values()])
        made = None if own is None else self._provider.wire.own_search(self._sent[own])
        if own is None or made is None:
            return
        if own in self._callers:
            message = f"{quote(own)} finds tools for the model alone: leave it out of allowed_callers"
            raise ValueError(message)
        if SEARCH in self._tools and own != SEARCH:
            message = f"{self._provider.name} calls its search {quote(SEARCH)}: give your tool another name"
            raise ValueError(message)
        self._sent[own], self._own_search = made, own

    def grouped(self, namespaces: Any) -> list[dict[str, Any]]:
        """List the tools; those of a namespace are grouped at the position of its first tool."""
        owners: dict[str, Namespace] = {}
        seen: set[str] = set()
        for namespace in namespaces or ():
            if not isinstance(namespace, Namespace):
                wanted = "a list of Namespace(name, description, tools)"
                message = f"namespaces must be {wanted}, not {received(namespace)}"
                raise TypeError(message)
            names = [self._name_of(selector) for selector in namespace.tools]
            twice = next((name for name in names if name in owners), None)
            if twice is not None or namespace.name in seen:
                what = namespace.name if twice is None else twice
                message = f"namespaces have {quote(what)} twice: name it once"
                raise ValueError(message)
            if namespace.name in self._sent:
                message = f"{quote(namespace.name)} is a namespace and a tool: give it another name"
                raise ValueError(message)
            if not self._provider.names.takes(namespace.name):
                message = (
                    f"{self._provider.name} doesn't take {quote(namespace.name)} as a name: give another"
                )
                raise ValueError(message)
            if self._own_search in names:
                message = f"{quote(namespace.name)} has the search for tools in it: leave that out there"
                raise ValueError(message)
            owners |= dict.fromkeys(names, namespace)
            seen.add(namespace.name)
        self._owners = owners
        # The tools that a ToolSearch finds come with its results.
        hidden = set(self._deferred if self._own_search is not None else ())
        return self._in_order([name for name in self._sent if name not in hidden])

    def named(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """List some tools, with those of a namespace grouped; the caller may change them."""
        found: list[dict[str, Any]] = copy_json(self._in_order([one for one in names if one in self._sent]))
        return found

    def _in_order(self, names: Sequence[str]) -> list[dict[str, Any]]:
        placed: list[dict[str, Any]] = []
        groups: dict[str, dict[str, Any]] = {}
        for name in names:
            entry, owner = self._sent[name], self._owners.get(name)
            if owner is None:
                placed.append(entry)
                continue
            if owner.name not in groups:
                about = {"type": "namespace", "name": owner.name, "description": owner.description}
                groups[owner.name] = {**about, "tools": []}
                placed.append(groups[owner.name])
            groups[owner.name]["tools"].append(entry)
        return placed

    # --- the choice ------------------------------------------------------------------------------

    def body(
        self, listing: list[dict[str, Any]], offered: Offered, given: Mapping[str, Any], *, is_strict: bool
    ) -> dict[str, Any]:
        """Return the fragment of a request, with its tool choice."""
        wire, choice = self._provider.wire, offered.choice
        if choice.name is not None:
            self._check_required(choice.name)
        name = None if choice.name is None else self._wire_name(choice.name)
        body = wire.request(listing, Wanted(choice.mode, name, is_strict))
        if choice.name in self._custom and name is not None:
            wire.choose(body, wire.custom_choice(name))
        is_open = choice.mode in {"auto", "required"}
        if is_open and len(offered.tools) < len(self._tools):
            self._narrow(body, offered, is_strict=is_strict)
        if "parallel" in given:
            wire.set_parallel(body, parallel=given["parallel"])
        return body

    def _check_required(self, name: str) -> None:
        """Check that a tool can be the required one."""
        if name == self._own_search:
            remedy = "require none, or offer without deferred"
            message = f"{self._provider.name} can't require a search, such as {quote(name)}: {remedy}"
            raise ValueError(message)
        callers = self._callers.get(name, ("direct",))
        is_for_programs = callers != ("direct",)
        if "direct" not in callers or (is_for_programs and self._provider.features.programs_alone):
            remedy = "require none, or leave it out of allowed_callers"
            message = f"the required tool {quote(name)} is for programs: {remedy}"
            raise ValueError(message)
        if name in self._owners:
            remedy = "require none, or leave it out there"
            message = f"the required tool {quote(name)} is in a namespace: {remedy}"
            raise ValueError(message)

    def _narrow(self, body: dict[str, Any], offered: Offered, *, is_strict: bool) -> None:
        """Limit the choice to the offered tools among the listed ones."""
        provider, wanted = self._provider, offered.choice.mode
        if wanted == "auto" and provider.features.allowed_if_strict and not is_strict:
            remedy = "offer with strict=True, require a call, or leave listed out"
            message = f"{provider.name} allows some of the listed tools only in its strict mode: {remedy}"
            raise ValueError(message)
        names = {self._wire_name(tool.name): tool.name in self._custom for tool in offered.tools}
        mode: Literal["auto", "required"] = "required" if wanted == "required" else "auto"
        provider.wire.choose(body, provider.wire.allowed_choice(mode, names))


def _known_caller(provider: TakesTools, known: Mapping[str, Any], caller: Any) -> str:
    if isinstance(caller, str) and caller in known:
        return caller
    near = nearest(caller, known) if isinstance(caller, str) else None
    hint = f"; did you mean {near}?" if near else f": it has {listed(list(known))}"
    message = f"{provider.name} has no caller {as_written(caller)}{hint}"
    raise ValueError(message)


# --- single tools --------------------------------------------------------------------------------


def _description_with_text(tool: Tool[..., Any], description: str | None) -> str:
    """Return the description of a tool that takes text, together with the description of its parameter."""
    key = text_key(tool.codec)
    if key is None:
        message = "a custom tool takes one parameter, which is any text (str)"
        remedy = "Leave it out of custom, or give it one str without constraints, and a Grammar for its form"
        raise SchemaError(tool.name, [about_type((), "unsupported", tool.name, message, remedy)], "tool")
    definition = tool.new_definition(STYLE)
    text = definition["input_schema"]["properties"][key].get("description")
    own = definition["description"] if description is None else description
    return f"{own}\n\n{text}" if text else own


def _examples(provider: TakesTools, tool: Tool[..., Any], schema: Mapping[str, Any]) -> list[Any]:
    """Return the examples of a tool with the provider's names; each must fit the sent schema."""
    from .property_names import value_with_keys

    names = wire_keys(provider, tool)
    examples = [value_with_keys(each, names) if names else each for each in tool.examples]
    key, text = (provider.name, "examples"), to_json_text(dict(schema))
    if tool.kept_form(key) != text:
        _check_examples(provider, tool, schema, examples)
        tool.keep_form(key, text)
    return examples


def _check_examples(
    provider: TakesTools, tool: Tool[..., Any], schema: Mapping[str, Any], examples: Sequence[Any]
) -> None:
    from ..schema.document import DocumentCodec, SchemaDocument

    codec: Any = DocumentCodec(SchemaDocument(tool.name, schema))
    complaints: list[Finding] = []
    for number, example in enumerate(examples, 1):
        try:
            codec.decode(example)
        except DecodeError as error:
            message = f"example {number} doesn't fit the schema for {provider.name}: {error.findings[0]}"
            remedy = "Change the example, or leave examples out"
            complaints.append(about_type((), "bad_option", tool.name, message, remedy))
    if complaints:
        raise SchemaError(tool.name, complaints, "tool")
