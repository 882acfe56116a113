"""Tool search: a registry of many tools; a model sees a few of them, and finds the others by searching."""

from __future__ import annotations

from _thread import RLock
from collections import ChainMap
from collections.abc import Iterable, Mapping
from copy import copy
from itertools import islice
from json import loads
from typing import TYPE_CHECKING, Annotated, Any, cast

from ..json_values import is_array, is_object
from ..message_text import (
    as_written,
    checked_switch,
    checked_text,
    clip,
    is_result_line,
    received,
    writable_text,
)
from ..similar_names import no_such_prefix
from ..tools.function import tool
from ..tools.injected_values import WholeContext  # noqa: TC001  # the tool evaluates its annotations
from ..tools.injection import skip
from ..tools.logs import WARNING, write_log
from ..tools.signature import is_coroutine_function
from .named_tools import ToolEntry
from .offer import make_offer
from .ranking import best, fused, in_turn, is_from, similarities
from .registry import Registry
from .tool_index import ToolIndex, text_for_vector
from .transcript import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from typing import Self, TypeAlias

    from ..tools.tool import Tool
    from .named_tools import Member, Selection
    from .offer import Context, Offer, Required, Selections, Strict
    from .toolset import Toolset

    Embed: TypeAlias = Callable[[list[str]], Sequence[Sequence[float]]]

_ABOUT = (
    "Find tools that can do something: there are more than those you see. Say in a few words what has to be "
    "done. The tools that are found can be called from your next message on"
)
_FOUND = "You can call these tools from your next message on."
_QUERY = 'What has to be done, and with what, such as "cancel a flight" or "convert euros to yen".'
_NOTHING = "No tool fits these words. Try others: say what has to be done, and with what."

_LONGEST_QUERY = 2_000
_LONGEST_ANSWER = 1_000_000
_LONGEST_SUMMARY = 500
"""How many characters of a description the model sees."""

_RANKED = 50
"""How many tools of each ranking are fused."""

_READ_AT_ONCE = 100
"""The most tools that a search reads itself; if there are more, a thread reads them beforehand."""

_REMADE = {"_current": None, "_function": None}
"""Attributes that a copy doesn't take over."""


class _Short:
    """A constraint in the annotated-types vocabulary."""

    min_length = 1
    max_length = _LONGEST_QUERY


class FoundTools:
    """The tools that searches found in one conversation, for hosts that have a registry but no history.

    If it is in the context of calls, as `context={FoundTools: found}`, a search adds the found tools to it
    instead of the registry; `registry.offered(context=…)` lists them.

    Args:
        on_change: a function that is called after a search that found something new, in the thread of that
            search; None for no call.
    """

    __slots__ = ("_lock", "_names", "_on_change")

    def __init__(self, on_change: Callable[[], object] | None = None) -> None:
        self._lock = RLock()
        self._names: dict[str, None] = {}
        self._on_change = on_change

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools, in the order in which they were found."""
        return tuple(self._names)

    def add(self, names: Iterable[str]) -> None:
        """Add tools; tools that are in it already keep their positions."""
        with self._lock:
            before = len(self._names)
            self._names = {**self._names, **dict.fromkeys(names)}
            is_new = len(self._names) > before
        if is_new and self._on_change is not None:
            self._on_change()


class ToolSearch(Registry):
    """A registry of many tools; a model sees a few, and finds the others with the tool `search_tools`.

    A search reads names, descriptions, parameters with their descriptions and enum values, and tags. It
    ignores tools that are switched off or hidden. Requests list the found tools from the next request on,
    after all tools that were listed before, so that the beginning of a request stays the same.

    In rounds, `offer(history)` reads from the history which tools were found. No other state is kept, so one
    `ToolSearch` serves any number of conversations, and a restart changes nothing. A host without a history,
    such as a framework, lists the tools found in this registry: give each conversation its own registry
    (`for_conversation`), or put `FoundTools` into the context, as our MCP server does for each client. A tool
    that isn't listed may still be called: if it is switched on, a call with its name runs.

    As a member of a toolset or another registry, it contributes only its tools.

    Args:
        members: the tools, as for `Registry`.
        always: tools, names or toolsets that each request contains without a search.
        embed: a plain function that takes a list of texts and returns a vector of numbers for each, all of
            one length. It is called in a thread. The ranks by words and by vectors are then fused. If it
            fails, the error is logged, and only the words are used.
        most: the maximum number of tools that one search finds.
        with_message: whether a search in a round also uses the last message of the user, since models often
            leave the task out of their query.
        about: the contents of the search, for the description of the tool: "tools of GitHub and Slack".
        name: the name of the search tool for the model.

    Raises:
        DuplicateToolError: two tools have the same name.
        SchemaError: providers refuse a name.
        ToolNotFoundError: `always` has an unknown name.
        TypeError: something is neither a tool nor a collection of tools, or an argument has a wrong type.
        ValueError: `most` is out of range.
    """

    def __init__(
        self,
        *members: Member,
        always: Selection = (),
        embed: Embed | None = None,
        most: int = 5,
        with_message: bool = True,
        about: str | None = None,
        name: str = "search_tools",
    ) -> None:
        _check_options(embed, most, with_message)
        self._embed, self._most, self._with_message = embed, most, with_message
        self._description = f"{_ABOUT}." if about is None else f"{_ABOUT}: {writable_text('about', about)}"
        self._vectors: dict[str, list[float]] = {}
        self._current: _CurrentTools | None = None
        # Whether a search found each name, for tools that come back, such as those of a server that has
        # changed.
        self._known: dict[str, bool | None] = {name: None}
        super().__init__(self._new_tool(name), *members)
        self._known |= dict.fromkeys(self.names_of(always))
        self._named.update({name: self._named[name].replace(found=None) for name in self._known})

    def _new_tool(self, name: str) -> Tool[..., Any]:
        def search_tools(
            query: Annotated[str, _Short(), _QUERY],
            prefix: Annotated[str, "Only tools whose names begin with this, such as one of a server."] = "",
            _message: Annotated[str | None, skip] = None,
            _whole_context: Annotated[WholeContext | None, skip] = None,
        ) -> dict[str, Any]:
            context = _given_context(cast("Context | None", _whole_context), _message)
            found = self.search(query, message=_message or "", prefix=prefix, context=context)
            own = _own_of(context)
            (self._find if own is None else own.add)([one.name for one in found])
            shown = [{"name": one.name, "description": clip(one.summary, _LONGEST_SUMMARY)} for one in found]
            note = _FOUND if found else self._why_nothing(prefix, context)
            return {"tools": shown, "note": note}

        search_tools.names_found = _names_in  # type: ignore[attr-defined]  # providers load what it found
        self._function = search_tools
        make = tool(self._description, name=name, read_only=True, idempotent=True, open_world=False)
        made: Any = make(search_tools)
        return made  # type: ignore[no-any-return]  # callers don't see the context

    def admit(self, entries: dict[str, ToolEntry]) -> dict[str, ToolEntry]:
        """Return new tools in their stored form: as not found, unless they were listed before."""
        return {
            name: entry.replace(found=self._known.get(name, False)) if entry.found is None else entry
            for name, entry in entries.items()
        }

    def __entries__(self) -> tuple[ToolEntry, ...]:
        """Return the entries for another set of tools: only the tools, as if all had been found."""
        kept = super().__entries__()
        return tuple(
            [entry.replace(found=None) for entry in kept if not _is_search_tool(entry, self._function)]
        )

    # --- searching -------------------------------------------------------------------------------

    def search(
        self, query: str, /, *, message: str = "", prefix: str = "", context: Context | None = None
    ) -> list[Tool[..., Any]]:
        """List the tools that match a query, the best first, without marking them as found for the model.

        Tools that are always listed are left out, since the model sees them anyway.

        Args:
            query: words for the task of the tools.
            message: the last message of the user, if the query comes from a model. If at least half of the
                query's words are in it, both are searched as one. Otherwise, the tools for the query alone
                and for both alternate.
            prefix: the beginning of the names of the tools.
            context: the context for switches that take one.

        Raises:
            TypeError: the query, the message or the prefix isn't a string.
        """
        query, prefix = checked_text("a query", query), checked_text("prefix", prefix)
        message = _both_ends(checked_text("message", message))
        now = self._current_tools()
        snapshot = now.snapshot

        def is_wanted(name: str) -> bool:
            return name.startswith(prefix) and now.may_be_found(name)

        ranked = self._ranked(now.index, query, message, is_wanted)
        offered = (snapshot.tools[name] for name in ranked if snapshot.is_offered(name, context))
        return list(islice(offered, self._most))

    def _why_nothing(self, prefix: str, context: Context | None) -> str:
        """Return the note on a search without results; it names only prefixes that the model may see."""
        now = self._current_tools()
        names = [name for name in now.snapshot.tools if now.may_be_found(name)]
        offered = [name for name in names if now.snapshot.is_offered(name, context)]
        return no_such_prefix(prefix, offered) or _NOTHING

    def _ranked(
        self, index: ToolIndex, query: str, message: str, is_wanted: Callable[[str], bool]
    ) -> Iterator[str]:
        """Yield the names of wanted tools that match, the best first."""
        alone = index.scores(query, "")
        if not message:
            return self._with_vectors(index, best(alone), query, is_wanted)
        together = index.scores(query, message)
        both = self._with_vectors(index, best(together), f"{query}\n{message}", is_wanted)
        if is_from(query, message):
            return both
        return in_turn(self._with_vectors(index, best(alone, together), query, is_wanted), both)

    def _with_vectors(
        self, index: ToolIndex, ranked: Iterator[str], asked: str, is_wanted: Callable[[str], bool]
    ) -> Iterator[str]:
        """Yield the names of wanted tools that match by words, and by vectors if there are any."""
        if self._embed is None:
            return filter(is_wanted, ranked)
        by_words = [*filter(is_wanted, ranked)]
        try:
            wanted = {name: one for name, one in index.tools.items() if is_wanted(name)}
            by_vectors = best(self._similarities(asked, wanted))
        except Exception as error:  # noqa: BLE001  # your program's own code
            write_log(WARNING, "embed failed, so a search of tools used only words", error=error)
            return iter(by_words)
        both = dict.fromkeys(best(fused([by_words[:_RANKED], [*islice(by_vectors, _RANKED)]])))
        return iter([*both, *[name for name in by_words[_RANKED:] if name not in both]])

    def _similarities(self, query: str, tools: Mapping[str, Tool[..., Any]]) -> dict[str, float]:
        """Return the cosine by name; the vector of each text is computed once."""
        texts = {name: text_for_vector(one) for name, one in tools.items()}
        known = self._vectors
        new = [text for text in dict.fromkeys(texts.values()) if text not in known]
        asked = [query, *new]
        made = [[float(number) for number in vector] for vector in cast("Embed", self._embed)(asked)]
        sizes = {len(vector) for vector in [*made, *known.values()]}
        if len(made) != len(asked) or len(sizes) != 1:
            message = f"embed returns one vector for each of {len(asked)} texts, all of one length"
            raise ValueError(message)
        known = {**known, **dict(zip(new, made[1:], strict=True))}
        self._vectors = {text: known[text] for text in texts.values()} if new else known
        return similarities(made[0], {name: known[text] for name, text in texts.items()})

    def _find(self, names: Iterable[str]) -> None:
        """List these tools from now on, after the tools that are listed already."""
        with self._lock:
            new = [name for name in names if name in self._named and self._named[name].found is False]
            for name in new:
                self._named[name] = self._named.pop(name).replace(found=True)
                self._known[name] = True
            self._toolset = None if new else self._toolset
        _ = self._current_tools().toolset.hooks  # in this thread, so that the next request needn't find them
        self._listeners.tell(switched=tuple(new))

    def _current_tools(self) -> _CurrentTools:
        """Return the current tools; their index is built when it is first used."""
        toolset, now = self.toolset, self._current
        if now is None or now.toolset is not toolset:
            now = self._current = _CurrentTools(toolset, self._function, None if now is None else now.index)
        return now

    def _read_ahead(self) -> _CurrentTools:
        """Return the current tools; if there are many, a thread starts to read them for a search."""
        now = self._current_tools()
        if len(now.index.tools) > _READ_AT_ONCE:
            now.index.read_ahead()
        return now

    # --- conversations ---------------------------------------------------------------------------

    def offered(self, *, context: Context | None = None) -> list[Tool[..., Any]]:
        """List the tools that the model may call now, as it sees them.

        Args:
            context: the context for switches that take one. If it has `FoundTools`, those tools are listed,
                and not the tools found in the registry.
        """
        now, own = self._read_ahead(), _own_of(context)
        if own is None:
            return super().offered(context=context)
        snapshot = now.snapshot
        there = [name for name in own.names if now.may_be_found(name)]
        describer = snapshot.described_by(context)
        return [
            snapshot.shown(name, describer)
            for name in [*now.constant, *there]
            if snapshot.is_offered(name, context)
        ]

    @property
    def found(self) -> tuple[str, ...]:
        """The names of the found tools that still exist in this registry, in order."""
        return tuple([name for name, entry in [*self._named.items()] if entry.found])

    def found_in(self, history: Iterable[Any], /) -> tuple[str, ...]:
        """List the names of the tools that searches found in a conversation and that still exist.

        Args:
            history: a transcript, or a list: its turns are read, also in the form of `turn.as_dict()`.

        Raises:
            TypeError: the history isn't a list of items.
        """
        return self._current_tools().found_in(_items_of(history))

    def for_conversation(self, history: Iterable[Any] = (), /) -> Self:
        """Return a registry of the same tools for one conversation, with only the tools found in it.

        Like every copy, it shares no changes with this one.

        Args:
            history: the conversation so far, as for `found_in`.

        Raises:
            TypeError: the history isn't a list of items.
        """
        found = self.found_in(history)
        made = copy(self)
        made._current = self._current_tools()  # noqa: SLF001  # its own class, which shares the index
        made._begin(found)  # noqa: SLF001  # its own class
        return made

    def _begin(self, found: Iterable[str]) -> None:
        """Forget the tools found so far, and list these tools instead."""
        for name, entry in self._named.items():
            if entry.found:
                self._named[name] = entry.replace(found=False)
        self._known = {name: None for name, is_found in self._known.items() if is_found is None}
        self._toolset = None
        self._find(found)

    def offer(
        self,
        history: Iterable[Any],
        /,
        *,
        also: Selections = (),
        required: Required = None,
        strict: Strict = False,
        descriptions: Mapping[str, str] | None = None,
        context: Context | None = None,
        max_tokens: int | None = None,
        deferred: bool = False,
    ) -> Offer[Any]:
        """Make an offer for the next request of a conversation: constant tools first, then the found tools.

        Args:
            history: the conversation so far, as for `found_in`.
            also: as for `offer` of a toolset.
            required: as for `offer` of a toolset.
            strict: as for `offer` of a toolset.
            descriptions: as for `offer` of a toolset.
            context: the context for switches that take one.
            max_tokens: as for `offer` of a toolset. The tools found last have priority.
            deferred: whether to offer all tools. Tools that a search can find are then deferred, in the order
                of their names, for a provider that loads found tools (`provider.features.loads_found`) or has
                its own search. So a request doesn't change when tools are found.

        Raises:
            OfferError: a required tool isn't available, or exceeds `max_tokens`.
            ToolNotFoundError: there is no such tool.
            TypeError: an argument has a wrong type.
            ValueError: `max_tokens` is out of range.
        """
        checked_switch("deferred", deferred)
        now, items = self._read_ahead(), _items_of(history)
        found = now.to_be_found() if deferred else now.found_in(items)
        message = _both_ends(_last_said(items)) if self._with_message else ""
        brought = tuple([(name, (("_message", message),)) for name in now.own if message])
        named = None if required is None or required in {"any", "none"} else self.name_of(required)
        put_off = [name for name in found if name != named] if deferred else ()
        options = (None, also, required, strict, descriptions, context, max_tokens, put_off)
        return make_offer(now.toolset, *options, shown=now.constant, found=found, brought=brought)

    # --- as a value ------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<ToolSearch of {len(self)}, {len(self.found)} found>"

    def __getstate__(self) -> tuple[Any, ...]:
        """Return the state for copies and pickles: each copy creates its own search tool."""
        entries, attributes = super().__getstate__()
        own = next((entry for entry in entries if _is_search_tool(entry, self._function)), None)
        attributes = {key: value for key, value in attributes.items() if key not in _REMADE}
        attributes["_known"] = dict(self._known)
        search = None if own is None else (own.tool.name, own.switch)
        return tuple([entry for entry in entries if entry is not own]), {**attributes, "_search": search}

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Restore the state of a copy."""
        entries, attributes = state
        search = attributes["_search"]
        own = {key: value for key, value in attributes.items() if key != "_search"}
        super().__setstate__((entries, {**own, **_REMADE}))
        if search is not None:
            name, switch = search
            self._named = {name: ToolEntry(self._new_tool(name), switch=switch), **self._named}  # pyright: ignore[reportIncompatibleVariableOverride]  # it changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self._embed)] = self._embed  # it may hold a whole model
        return super().__deepcopy__(memo)


def _own_of(context: Context | None) -> FoundTools | None:
    found = None if context is None else context.get(FoundTools)
    return found if isinstance(found, FoundTools) else None


def _given_context(context: Context | None, message: str | None) -> Context | None:
    """Return your program's own context, for its switches; in a round, it is stored beside the message."""
    brought = {"_message": message}
    if isinstance(context, ChainMap) and context.maps[0] == brought:
        return context.maps[1]
    return None if context == brought else context


def _check_options(embed: Any, most: Any, with_message: Any) -> None:
    """Check the options `embed`, `most` and `with_message`."""
    if embed is not None and (not callable(embed) or is_coroutine_function(embed)):
        wanted = "a plain function (def) that takes texts and returns vectors"
        message = f"embed must be {wanted}, not {received(embed)}"
        raise TypeError(message)
    if type(most) is not int or most < 1:
        message = f"most must be a positive integer, not {as_written(most)}"
        raise ValueError(message)
    checked_switch("with_message", with_message)


# --- reading a conversation ---------------------------------------------------------------------


def _items_of(history: Any) -> list[Any]:
    """List the items of a conversation."""
    if isinstance(history, (str, Mapping)) or not hasattr(history, "__iter__"):
        given = received(cast("object", history))
        message = f"a history must be a transcript or a list of turns, not {given}"
        raise TypeError(message)
    return [*history]


def _last_said(items: Sequence[Any]) -> str:
    """Return the last text of the user in a conversation with any provider; "" if there is none."""
    return next((text for item in reversed(items) for text in [_said_by_user(item)] if text), "")


def _both_ends(message: str) -> str:
    """Return both ends of a long message: the request is before or after the long part."""
    if len(message) <= _LONGEST_QUERY:
        return message
    half = _LONGEST_QUERY // 2
    return f"{message[: half - 1]}\n{message[-half:]}"


def _said_by_user(item: Any) -> str:
    """Return the text that the user wrote in a message; results of tools and files in it have none."""
    if isinstance(item, str):
        return item
    if not is_object(item) or item.get("role") != "user":
        return ""
    content = item.get("content", item.get("parts"))
    blocks = content if is_array(content) else [content]
    texts = [block.get("text") if is_object(block) else block for block in blocks]
    said = [text for text in texts if isinstance(text, str) and not is_result_line(text)]
    return "\n".join(said).strip()


def _found_by_searches(item: Any, names: Collection[str]) -> list[str]:
    """List the names of tools that the results of searches contain, in an item of a history."""
    if isinstance(item, Turn):
        results: list[Any] = [(one.name, one.is_error, one.content) for one in item.results]
    elif is_object(item) and is_array(item.get("results")):
        saved = [one for one in item["results"] if is_object(one)]
        results = [(one.get("name"), one.get("is_error"), one.get("content")) for one in saved]
    else:
        return []
    answers = [content for name, is_error, content in results if name in names and not is_error]
    return [name for content in answers for name in _names_in(content)]


def _names_in(content: Any) -> list[str]:
    """List the names in the text of a result, which may be any text: hooks may have changed it."""
    if not isinstance(content, str) or len(content) > _LONGEST_ANSWER:
        return []
    line, _, rest = content.partition("\n")  # the line may describe a hook's change of the query
    try:
        answer = loads(content if line.lstrip().startswith("{") else rest)
    except (ValueError, RecursionError):
        return []
    tools = answer.get("tools") if is_object(answer) else None
    shown = [one.get("name") for one in tools if is_object(one)] if is_array(tools) else []
    return [name for name in shown if isinstance(name, str)]


class _CurrentTools:
    """The tools of a search until the registry changes; immutable.

    Args:
        toolset: the toolset with the tools.
        function: the function of the search tool.
        index: an earlier index, which is kept if it has the same tools.

    Attributes:
        toolset: the toolset with the tools.
        snapshot: the tools, with their switches.
        own: the names of the search tool; none after it was unregistered.
        constant: the names of the tools that each request has.
        index: the index of all other tools.
    """

    __slots__ = ("_entries", "constant", "index", "own", "snapshot", "toolset")

    def __init__(self, toolset: Toolset[Any], function: object, index: ToolIndex | None) -> None:
        self.toolset = toolset
        self.snapshot = toolset.switched_tools
        self._entries = entries = toolset._named  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # as above
        constant = [name for name, entry in entries.items() if entry.found is None]
        self.own = tuple([name for name in constant if _is_search_tool(entries[name], function)])
        self.constant = tuple([name for name in constant if not entries[name].is_hidden])
        tools = {name: one for name, one in self.snapshot.tools.items() if name not in self.own}
        self.index = index if index is not None and index.tools == tools else ToolIndex(tools)

    def may_be_found(self, name: str) -> bool:
        """Return whether there is a tool with this name that a search may find."""
        entry = self._entries.get(name)
        return entry is not None and entry.found is not None

    def to_be_found(self) -> list[str]:
        """List the names of the tools that a search may find."""
        return sorted(
            [name for name, one in self._entries.items() if one.found is not None and not one.is_hidden]
        )

    def found_in(self, items: Iterable[Any]) -> tuple[str, ...]:
        """List the names of the tools that searches found, from the items of a history."""
        said = [name for item in items for name in _found_by_searches(item, self.own)]
        return tuple([name for name in dict.fromkeys(said) if self.may_be_found(name)])


def _is_search_tool(entry: ToolEntry, function: object) -> bool:
    """Return whether a tool is the search tool, also under another name."""
    return getattr(entry.tool, "__wrapped__", None) is function
