"""Tool search: a registry of many tools; a model sees a few of them, and finds the others by searching."""

from __future__ import annotations

import re
from _thread import RLock
from collections import ChainMap, Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from copy import copy
from itertools import chain, islice
from json import loads
from time import sleep
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
from .ranking import Ranking, TermReader, best, fused, in_turn, is_from, similarities
from .registry import Registry
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
_LONGEST_SUMMARY, _MOST_CHARACTERS = 500, 20_000
"""The maximum number of shown characters of a description, and of read characters of a tool's texts."""
_RANKED = 50
"""How many tools of each ranking are fused."""

_NAME_WEIGHT, _DESCRIPTION_WEIGHT, _OTHER_WEIGHT = 4, 2, 1

_MOST_PARTS = 20_000
"""The maximum number of parts of a schema that are read."""

_READ_AT_ONCE = 100
"""The most tools that a search reads itself; if there are more, a thread reads them beforehand."""


_REMADE = {"_moment": None, "_function": None}
"""The attributes that a copy creates anew."""


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
        self._moment: _Moment | None = None
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
        return tuple([entry.replace(found=None) for entry in kept if not self._is_search(entry)])

    def _is_search(self, entry: ToolEntry) -> bool:
        return _searches(entry, self._function)

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
        now = self._now()
        snapshot = now.snapshot

        def is_wanted(name: str) -> bool:
            return name.startswith(prefix) and now.may_be_found(name)

        ranked = self._ranked(now.index, query, message, is_wanted)
        offered = (snapshot.tools[name] for name in ranked if snapshot.is_offered(name, context))
        return list(islice(offered, self._most))

    def _why_nothing(self, prefix: str, context: Context | None) -> str:
        """Return the note on a search without results; it names only prefixes that the model may see."""
        now = self._now()
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
        """Yield the names of wanted tools that match by words, and by vectors if there are any.

        Args:
            index: the index of all tools.
            ranked: the names that match by words, the best first.
            asked: the text for the vectors.
            is_wanted: whether a name may be listed.
        """
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
        """Return the cosine by name; the vector of each text is computed once.

        Raises:
            ValueError: the function returns a wrong number of vectors, or vectors of several lengths.
            Exception: the function raised it.
        """
        texts = {name: text_for_vector(one) for name, one in tools.items()}
        known = self._vectors
        new = [text for text in dict.fromkeys(texts.values()) if text not in known]
        asked = [query, *new]
        made = [[float(number) for number in vector] for vector in cast("Embed", self._embed)(asked)]
        sizes = {
            len(vector) for vector in [*made, *[known[text] for text in texts.values() if text in known]]
        }
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
        # The data for the next request are made here, in the thread of the search.
        _ = self._now().toolset.hooks
        self._listeners.tell(switched=tuple(new))

    def _now(self) -> _Moment:
        """Return the current tools; their index is built when it is first used."""
        toolset, now = self.toolset, self._moment
        if now is None or now.toolset is not toolset:
            now = self._moment = _Moment(toolset, self._function, None if now is None else now.index)
        return now

    def _read_ahead(self) -> _Moment:
        """Return the current tools; if there are many, a thread starts to read them for a search."""
        now = self._now()
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
        return self._now().found_in(_items_of(history))

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
        made._moment = self._now()  # noqa: SLF001  # its own class, which shares the index
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
        return make_offer(
            now.toolset,
            None,
            also,
            required,
            strict=strict,
            descriptions=descriptions,
            context=context,
            max_tokens=max_tokens,
            shown=now.constant,
            found=found,
            deferred=[name for name in found if name != named] if deferred else (),
            brought=brought,
        )

    # --- as a value ------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<ToolSearch of {len(self)}, {len(self.found)} found>"

    def __getstate__(self) -> tuple[Any, ...]:
        """Return the state for copies and pickles: each copy creates its own search tool."""
        entries, attributes = super().__getstate__()
        own = next((entry for entry in entries if self._is_search(entry)), None)
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
    """Check the options `embed`, `most` and `with_message`.

    Raises:
        TypeError: `embed` isn't a plain function, or `with_message` isn't a bool.
        ValueError: `most` isn't a positive integer.
    """
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
    """List the items of a conversation.

    Raises:
        TypeError: the history isn't a list of items.
    """
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
    return [told for name, is_error, content in results if name in names and not is_error
            for told in _names_in(content)]  # fmt: skip


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


class _Moment:
    """The tools of a search at one time; immutable.

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
        self.own = tuple([name for name in constant if _searches(entries[name], function)])
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
        told = [name for item in items for name in _found_by_searches(item, self.own)]
        return tuple([name for name in dict.fromkeys(told) if self.may_be_found(name)])


def _searches(entry: ToolEntry, function: object) -> bool:
    """Return whether a tool is the search tool, also under another name."""
    return getattr(entry.tool, "__wrapped__", None) is function


# --- reading tools for a search ------------------------------------------------------------------


_SENTENCE_END = re.compile(r"[.!?\n](?:(?<=\n)|\s)\s*")

_SHARED_BY = 5
"""If this many tools share a sentence, it says nothing about each of them, but maybe about their server."""


class ToolText:
    """The terms of one tool, as a search reads them.

    Args:
        one: the tool.
        reader: the reader of terms, which may have read other tools.

    Attributes:
        name: the terms of its name.
        about: the terms of its title and tags.
        sentences: the terms of its description, a line for each sentence.
        others: the terms of its parameters.
        text: the text with all its words, in which slips are looked for.
    """

    __slots__ = ("about", "name", "others", "sentences", "text")

    def __init__(self, one: Tool[..., Any], reader: TermReader) -> None:
        about = f"{one.annotations.title or ''} {' '.join(sorted(one.tags))}"[:_MOST_CHARACTERS]
        left = _MOST_CHARACTERS - len(about)
        description = one.description[:left]
        others = "\n".join(_texts_in(one.input_schema()))[: left - len(description)]
        self.name = reader.all_terms(one.name)
        self.about = reader.terms(about)
        self.sentences = "\n".join(filter(None, map(reader.terms, _SENTENCE_END.split(description))))
        self.others = reader.terms(others)
        self.text = f"{one.name}\n{about}\n{description}\n{others}"

    def each_sentence(self) -> dict[str, None]:
        """Return the terms of each sentence of its description, each once."""
        return dict.fromkeys(self.sentences.splitlines())


def read_tool(one: Tool[..., Any], reader: TermReader) -> ToolText:
    """Return the terms of a tool, as a search reads them; the tool stores them.

    Args:
        one: the tool.
        reader: as for `ToolText`.
    """
    known: ToolText | None = one.kept_form("search_terms")
    return one.keep_form("search_terms", ToolText(one, reader)) if known is None else known


class ToolIndex:
    """An index of the words of all tools; it reads them when it is first used.

    A sentence that many tools share only counts if a query has no other words.

    Args:
        tools: the tools by name.
    """

    __slots__ = ("_is_read_ahead", "_rankings", "tools")

    def __init__(self, tools: dict[str, Tool[..., Any]]) -> None:
        self.tools = tools
        self._is_read_ahead = False
        self._rankings: tuple[Ranking, Ranking] | None = None

    def scores(self, query: str, message: str) -> dict[str, float]:
        """Return the scores, by name, of the tools that match a query, or a message beside it."""
        by_own, by_shared = self.rankings()
        return by_own.scores(query, message) or by_shared.scores(query, message)

    def rankings(self) -> tuple[Ranking, Ranking]:
        """Return two rankings: by the texts of each tool alone, and by the sentences that tools share."""
        made = self._rankings
        if made is None:
            # A thread that reads tools beforehand starts at the other end, so that two threads read each tool
            # once.
            reader = TermReader()
            made = self._rankings = _rankings_of(
                {name: read_tool(self.tools[name], reader) for name in reversed(self.tools)}
            )
        return made

    def read_ahead(self) -> None:
        """Start a thread that reads the tools, once; without threads, the first search reads them."""
        if self._is_read_ahead or self._rankings is not None:
            return
        from threading import Thread  # few programs have so many tools

        self._is_read_ahead = True
        with suppress(RuntimeError):  # where no thread can be started, as in a browser
            Thread(target=self._read_all, name="operator_schema tool search", daemon=True).start()

    def _read_all(self) -> None:
        reader = TermReader()
        for one in self.tools.values():
            read_tool(one, reader)
            sleep(0)  # other threads first
        self.rankings()


def _rankings_of(read: Mapping[str, ToolText]) -> tuple[Ranking, Ranking]:
    having = Counter(chain.from_iterable(map(ToolText.each_sentence, read.values())))
    of_all = len(read) if len(read) > 1 else 2
    many = min(_SHARED_BY, of_all)
    usual = {sentence for sentence, tools in having.items() if tools >= many}
    of_everyone = {sentence for sentence in usual if having[sentence] >= of_all}
    own, shared = dict[str, str](), dict[str, str]()
    for name, one in read.items():
        sentences = one.sentences.splitlines()
        # Several servers may have the same tool: all that it says counts, but what everyone says.
        left_out = of_everyone if usual.issuperset(sentences) else usual
        said = [sentence for sentence in sentences if sentence not in left_out]
        own[name] = " ".join([one.about, *said])
        if len(said) < len(sentences):
            shared[name] = " ".join([sentence for sentence in sentences if sentence in left_out])
    names = {name: one.name for name, one in read.items()}
    others = {name: one.others for name, one in read.items()}
    texts = [one.text for one in read.values()]
    by_own = Ranking({_NAME_WEIGHT: names, _DESCRIPTION_WEIGHT: own, _OTHER_WEIGHT: others}, texts)
    return by_own, Ranking({_DESCRIPTION_WEIGHT: shared}, texts)


def _texts_in(schema: Any) -> list[str]:
    """List the names of parameters, the descriptions and the enum values in a schema."""
    found: list[str] = []
    left: list[Any] = [schema]
    for _ in range(_MOST_PARTS):
        if not left:
            break
        part = left.pop()
        if is_object(part):
            properties = part.get("properties")
            named = properties if is_object(properties) else {}
            values = part.get("enum")
            said = [part.get("title"), part.get("description"), part.get("const")]
            said += values if is_array(values) else ()
            found += [text for text in [*named, *said] if isinstance(text, str)]
            inner = [*named.values(), *[value for key, value in part.items() if key != "properties"]]
            left += [value for value in inner if isinstance(value, (dict, list))]
        elif is_array(part):
            left += part
    return found


def text_for_vector(one: Tool[..., Any]) -> str:
    """Return the text of a tool for its vector; the tool stores it."""
    known: str | None = one.kept_form("search_text")
    if known is not None:
        return known
    names = ", ".join(one.input_schema().get("properties", {})) or "none"
    described = clip(one.description, _MOST_CHARACTERS)
    return one.keep_form("search_text", f"{one.name}: {described} Parameters: {names}")
