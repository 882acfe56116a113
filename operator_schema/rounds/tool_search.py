"""Tool search: a registry of many tools; a model sees a few of them, and finds the others itself."""

from __future__ import annotations

import re
from _thread import RLock
from collections import ChainMap, Counter
from collections.abc import Iterable, Mapping
from copy import copy
from json import loads
from typing import TYPE_CHECKING, Annotated, Any, cast

from ..json_values import is_array, is_object
from ..message_text import (
    as_written,
    checked_text,
    clip,
    is_result_line,
    no_such_prefix,
    received,
    writable_text,
)
from ..tools.failures import WARNING, write_log
from ..tools.function import tool
from ..tools.injected_values import WholeContext  # noqa: TC001  # the tool evaluates its annotations
from ..tools.injection import skip
from ..tools.signature import is_coroutine_function
from .named_tools import Entry
from .offer import make_offer
from .ranking import Ranking, all_terms, best, fused, in_turn, is_from, similarities, term_of, terms, words_in
from .registry import Registry
from .toolset import Toolset
from .transcript import Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self, TypeAlias

    from ..tools.tool import Tool
    from .named_tools import Member, Selection
    from .offer import Context, Offer, Required, Selections, Strict

    Embed: TypeAlias = Callable[[list[str]], Sequence[Sequence[float]]]

__all__ = ["FoundTools", "ToolSearch"]

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
"""The most characters of a description that are shown, and of a tool's texts that are read."""
_RANKED = 50
"""How many tools of each ranking are fused."""

_NAME_WEIGHT, _DESCRIPTION_WEIGHT = 4, 2
_MOST_PARTS = 20_000
"""How many parts of one schema are read."""


class _Short:
    """A constraint in the annotated-types vocabulary."""

    min_length = 1
    max_length = _LONGEST_QUERY


class FoundTools:
    """What searches find in one conversation, for hosts that have a registry but no history.

    If it is in the context of calls, as `context={FoundTools: found}`, a search adds the tools that it finds
    to it, and not to the registry; `registry.offered(context=…)` lists them.

    Args:
        on_change: called after a search that found something new, in the thread of that search; None for
            nothing.
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
        """Add tools; those that it has already keep their place."""
        with self._lock:
            before = len(self._names)
            self._names = {**self._names, **dict.fromkeys(names)}
            is_new = len(self._names) > before
        if is_new and self._on_change is not None:
            self._on_change()


class ToolSearch(Registry):
    """A registry of many tools; a model sees a few, and finds the others with the tool `search_tools`.

    A search reads names, descriptions, parameters with their descriptions and enum values, and tags, never of
    tools that are switched off or hidden. What was found is listed from the next request on, after all that
    was listed before, so that the beginning of a request stays the same.

    In rounds, `offer(history)` reads from the history which tools were found. Nothing else is kept, so one
    `ToolSearch` serves any number of conversations, and a restart changes nothing. A host without a history,
    such as a framework, lists the tools found in this registry: give each conversation its own registry
    (`for_conversation`), or put `FoundTools` into the context, as our MCP server does for each client. What
    isn't listed may still be called: a call of a tool that is switched on runs if its name is known.

    As a member of a toolset or another registry, it stands for its tools only.

    Args:
        members: as for `Registry`.
        always: tools, names or toolsets that are in each request without a search.
        embed: takes a list of texts and returns a vector of numbers for each, all of one length: a plain
            function, called in a thread. The ranks by words and by vectors are then fused. If it fails, that
            is logged, and only the words are used.
        most: the most tools that one search finds.
        with_message: whether a search in a round looks for the last message of the user, too, as models often
            leave out of their query what has to be done.
        about: what the search can find, for the description of the tool: "tools of GitHub and Slack".
        name: the name that the model calls.

    Raises:
        DuplicateToolError: two tools have the same name.
        SchemaError: providers refuse a name.
        ToolNotFoundError: `always` has a name that no tool has.
        TypeError: something is neither a tool nor a collection of tools, or an argument is of another kind.
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
        self._index: _Index | None = None
        catalogue: Toolset[Any] = Toolset(*members)
        # Name to whether a search found it, for tools that return, as from a server that has changed.
        self._known: dict[str, bool | None] = dict.fromkeys([name, *catalogue.names_of(always)])
        super().__init__(self._new_tool(name), catalogue)

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

    def admit(self, entries: list[Entry]) -> list[Entry]:
        """Return new tools as they are kept: as not found, unless they were listed before."""
        return [
            entry.replace(found=self._known.get(entry.tool.name, False)) if entry.found is None else entry
            for entry in entries
        ]

    def __entries__(self) -> tuple[Entry, ...]:
        """Return the entries for another set of tools: only the tools, as if all were found."""
        kept = super().__entries__()
        return tuple([entry.replace(found=None) for entry in kept if not self._is_search(entry)])

    def _is_search(self, entry: Entry) -> bool:
        return getattr(entry.tool, "__wrapped__", None) is self._function

    # --- searching -------------------------------------------------------------------------------

    def search(
        self, query: str, /, *, message: str = "", prefix: str = "", context: Context | None = None
    ) -> list[Tool[..., Any]]:
        """List the tools that fit a query, the best first, without finding them for the model.

        Tools that are always listed are left out: the model sees them anyway.

        Args:
            query: words that say what the tools should do.
            message: what the user said, if the query is of a model. If at least half of the query's words are
                in it, both are searched as one. Otherwise, the tools for the query alone and for both take
                turns.
            prefix: the start of the names of the tools.
            context: for switches that take one.

        Raises:
            TypeError: the query, the message or the prefix isn't a string.
        """
        query, prefix = checked_text("a query", query), checked_text("prefix", prefix)
        message = _both_ends(checked_text("message", message))
        toolset = self.toolset
        entries = {entry.tool.name: entry for entry in toolset.__entries__()}
        names = [
            name for name, entry in entries.items() if entry.found is not None and name.startswith(prefix)
        ]
        snapshot = toolset._entries  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # the same tools, with their switches
        found: list[Tool[..., Any]] = []
        tools = {name: entry.tool for name, entry in entries.items()}
        for name in self._ranked(query, message, tools, frozenset(names)):
            if snapshot.is_offered(name, context):
                found.append(entries[name].tool)
            if len(found) == self._most:
                break
        return found

    def _why_nothing(self, prefix: str, context: Context | None) -> str:
        """Return what the model reads if a search found nothing; of prefixes, only those that it may see."""
        toolset = self.toolset
        snapshot = toolset._entries  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # as in `search`
        names = [entry.tool.name for entry in toolset.__entries__() if entry.found is not None]
        offered = [name for name in names if snapshot.is_offered(name, context)]
        return no_such_prefix(prefix, offered) or _NOTHING

    def _ranked(
        self, query: str, message: str, tools: dict[str, Tool[..., Any]], wanted: frozenset[str]
    ) -> list[str]:
        """List the names of tools that fit, the best first."""
        index = self._index
        if index is None or index.tools != tools:
            index = self._index = _Index(tools)
        alone = index.scores(query, "")
        if not message:
            return self._with_vectors(index, best(alone), query, wanted)
        together = index.scores(query, message)
        both = self._with_vectors(index, best(together), f"{query}\n{message}", wanted)
        if is_from(query, message):
            return both
        return in_turn(self._with_vectors(index, best(alone, together), query, wanted), both)

    def _with_vectors(
        self, index: _Index, ranked: list[str], asked: str, wanted: frozenset[str]
    ) -> list[str]:
        """List the names of wanted tools that fit by words, and by vectors if there are some.

        Args:
            index: of all tools.
            ranked: the names that fit by words, the best first.
            asked: the text for the vectors.
            wanted: names that may be listed.
        """
        by_words = [name for name in ranked if name in wanted]
        if self._embed is None:
            return by_words
        try:
            by_vectors = best(self._similarities(asked, {name: index.tools[name] for name in wanted}))
        except Exception as error:  # noqa: BLE001  # your program's own code
            write_log(WARNING, "embed failed, so a search of tools used only words", error=error)
            return by_words
        ranked = best(fused([by_words[:_RANKED], by_vectors[:_RANKED]]))
        return [*ranked, *[name for name in by_words[_RANKED:] if name not in ranked]]

    def _similarities(self, query: str, tools: Mapping[str, Tool[..., Any]]) -> dict[str, float]:
        """Return name to cosine; the vector of each text is made once.

        Raises:
            ValueError: the function returns a wrong number of vectors, or vectors of several lengths.
            Exception: what it raises.
        """
        texts = {name: _text_of(one) for name, one in tools.items()}
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
        """List these tools from now on, after those that are listed already."""
        with self._lock:
            new = [name for name in names if name in self._named and self._named[name].found is False]
            for name in new:
                self._named[name] = self._named.pop(name).replace(found=True)
                self._known[name] = True
            self._toolset = None if new else self._toolset
        self._listeners.tell(switched=tuple(new))

    # --- conversations ---------------------------------------------------------------------------

    def offered(self, *, context: Context | None = None) -> list[Tool[..., Any]]:
        """List the tools that the model may call now, as it sees them.

        Args:
            context: for switches that take one. With `FoundTools` in it, those found tools are listed, and
                not the tools found in the registry.
        """
        own = _own_of(context)
        if own is None:
            return super().offered(context=context)
        snapshot = self._entries
        shown = [name for name, entry in [*self._named.items()] if entry.found is None]
        there = [name for name in own.names if name not in shown and name in snapshot.tools]
        describer = snapshot.described_by(context)
        return [
            snapshot.shown(name, describer)
            for name in [*shown, *there]
            if name in snapshot.tools and snapshot.is_offered(name, context)
        ]

    @property
    def found(self) -> tuple[str, ...]:
        """The names of the found tools that this registry still has, in order."""
        return tuple([name for name, entry in [*self._named.items()] if entry.found])

    def found_in(self, history: Iterable[Any], /) -> tuple[str, ...]:
        """List the names of the tools that searches found in a conversation and that still exist.

        Args:
            history: a transcript, or a list: its turns are read, also as `turn.as_dict()` returns them.

        Raises:
            TypeError: it isn't a list of items.
        """
        return self._found_in(_items_of(history), self._own_names())

    def _found_in(self, items: list[Any], names: list[str]) -> tuple[str, ...]:
        """List what searches found; see `found_in`. The names are those of the tool that searches."""
        told = [name for item in items for name in _found_by_searches(item, names)]
        there = {name for name, entry in [*self._named.items()] if entry.found is not None}
        return tuple([name for name in dict.fromkeys(told) if name in there])

    def _own_names(self) -> list[str]:
        """List the name of the tool that searches; none after it was unregistered."""
        return [entry.tool.name for entry in [*self._named.values()] if self._is_search(entry)]

    def for_conversation(self, history: Iterable[Any] = (), /) -> Self:
        """Return a registry of the same tools for one conversation, with only the tools found in it.

        Like every copy, it shares no changes with this one.

        Args:
            history: of the conversation so far, as for `found_in`.

        Raises:
            TypeError: it isn't a list of items.
        """
        found = self.found_in(history)
        made = copy(self)
        made._index = self._index  # noqa: SLF001  # its own class
        made._begin(found)  # noqa: SLF001  # its own class
        return made

    def _begin(self, found: Iterable[str]) -> None:
        """Forget what was found, and list these instead."""
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
        """Make an offer for the next request of a conversation: constant tools first, then the found ones.

        Args:
            history: the conversation so far, as for `found_in`.
            also: as for `offer` of a toolset.
            required: as for `offer` of a toolset.
            strict: as for `offer` of a toolset.
            descriptions: as for `offer` of a toolset.
            context: for switches that take one.
            max_tokens: as for `offer` of a toolset. The tools found last have priority.
            deferred: whether to offer all tools. Those that a search finds are then deferred, in the order of
                their names, for a provider that loads found tools (`provider.features.loads_found`) or has a
                search of its own. So nothing in a request moves when something is found.

        Raises:
            OfferError: what is required isn't available, or has no room.
            ToolNotFoundError: there is no tool of a name.
            TypeError: an argument is of another kind.
            ValueError: `max_tokens` is out of range.
        """
        if not isinstance(deferred, bool):
            message = f"deferred must be True or False, not {as_written(deferred)}"
            raise TypeError(message)
        items, names = _items_of(history), self._own_names()
        found = self._to_be_found() if deferred else self._found_in(items, names)
        message = _both_ends(_last_said(items)) if self._with_message else ""
        brought = tuple([(name, (("_message", message),)) for name in names if message])
        named = None if required is None or required in {"any", "none"} else self.name_of(required)
        return make_offer(
            self.toolset,
            None,
            also,
            required,
            strict=strict,
            descriptions=descriptions,
            context=context,
            max_tokens=max_tokens,
            found=found,
            deferred=[name for name in found if name != named] if deferred else (),
            brought=brought,
        )

    def _to_be_found(self) -> list[str]:
        """List the names of the tools that a search may find."""
        entries = [*self._named.items()]
        return sorted([name for name, entry in entries if entry.found is not None and not entry.is_hidden])

    # --- as a value ------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return f"<ToolSearch of {len(self)}, {len(self.found)} found>"

    def __getstate__(self) -> tuple[Any, ...]:
        """Return what copies and pickles consist of: each copy has a search tool of its own."""
        entries, attributes = super().__getstate__()
        own = next((entry for entry in entries if self._is_search(entry)), None)
        attributes = {key: value for key, value in attributes.items() if key not in {"_index", "_function"}}
        attributes["_known"] = dict(self._known)
        search = None if own is None else (own.tool.name, own.switch)
        return tuple([entry for entry in entries if entry is not own]), {**attributes, "_search": search}

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        """Fill a copy."""
        entries, attributes = state
        search = attributes["_search"]
        own = {key: value for key, value in attributes.items() if key != "_search"}
        super().__setstate__((entries, {**own, "_index": None, "_function": None}))
        if search is not None:
            name, switch = search
            self._named = {name: Entry(self._new_tool(name), switch=switch), **self._named}  # pyright: ignore[reportIncompatibleVariableOverride]  # it changes

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        memo[id(self._embed)] = self._embed  # it may hold a whole model
        return super().__deepcopy__(memo)


def _own_of(context: Context | None) -> FoundTools | None:
    found = None if context is None else context.get(FoundTools)
    return found if isinstance(found, FoundTools) else None


def _given_context(context: Context | None, message: str | None) -> Context | None:
    """Return the context as your program gave it, for its switches: in a round, the message is beside it."""
    brought = {"_message": message}
    if isinstance(context, ChainMap) and context.maps[0] == brought:
        return context.maps[1]
    return None if context == brought else context


def _check_options(embed: Any, most: Any, with_message: Any) -> None:
    """Check some options.

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
    if not isinstance(with_message, bool):
        message = f"with_message must be True or False, not {as_written(with_message)}"
        raise TypeError(message)


# --- what a conversation says -------------------------------------------------------------------


def _items_of(history: Any) -> list[Any]:
    """List the items of a conversation.

    Raises:
        TypeError: it isn't a list of items.
    """
    if isinstance(history, (str, Mapping)) or not hasattr(history, "__iter__"):
        given = received(cast("object", history))
        message = f"a history must be a transcript or a list of turns, not {given}"
        raise TypeError(message)
    return [*history]


def _last_said(items: Sequence[Any]) -> str:
    """Return the last text of the user in a conversation of any provider's form; "" if there is none."""
    return next((text for item in reversed(items) for text in [_said_by_user(item)] if text), "")


def _both_ends(message: str) -> str:
    """Return what a search reads of a message: a request stands before or after a long text."""
    if len(message) <= _LONGEST_QUERY:
        return message
    half = _LONGEST_QUERY // 2
    return f"{message[: half - 1]}\n{message[-half:]}"


def _said_by_user(item: Any) -> str:
    """Return the text of a message of the user: results of tools and files, which may be in it, have none."""
    if isinstance(item, str):
        return item
    if not is_object(item) or item.get("role") != "user":
        return ""
    content = item.get("content", item.get("parts"))
    blocks = content if is_array(content) else [content]
    texts = [block.get("text") if is_object(block) else block for block in blocks]
    said = [text for text in texts if isinstance(text, str) and not is_result_line(text)]
    return "\n".join(said).strip()


def _found_by_searches(item: Any, names: list[str]) -> list[str]:
    """List the names of tools in the results of searches in an item of a history."""
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
    """List the names in the text of a result, which may be anything: hooks may have changed it."""
    if not isinstance(content, str) or len(content) > _LONGEST_ANSWER:
        return []
    line, _, rest = content.partition("\n")  # the line may say what a hook changed in the query
    try:
        answer = loads(content if line.lstrip().startswith("{") else rest)
    except (ValueError, RecursionError):
        return []
    tools = answer.get("tools") if is_object(answer) else None
    shown = [one.get("name") for one in tools if is_object(one)] if is_array(tools) else []
    return [name for name in shown if isinstance(name, str)]


# --- what a search reads about a tool ---------------------------------------------------------------


_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")

_SHARED_BY = 5
"""How many tools have a sentence that says nothing about one of them, such as what their server is for."""

_LEAST_SPELLED = 4
"""Of a word for which a slip may stand."""


class _ToolText:
    """What a search reads about one tool.

    Args:
        one: the tool.

    Attributes:
        counts: how much each term counts, without those of its description.
        sentences: the terms of each sentence of its description.
        spellings: each longer word to its term.
    """

    __slots__ = ("counts", "sentences", "spellings")

    def __init__(self, one: Tool[..., Any]) -> None:
        self.counts: dict[str, float] = {}
        self.spellings: dict[str, str] = {}
        self._count(one.name, all_terms(one.name), _NAME_WEIGHT)
        about = f"{one.annotations.title or ''} {' '.join(sorted(one.tags))}"[:_MOST_CHARACTERS]
        self._count(about, terms(about), _DESCRIPTION_WEIGHT)
        left = _MOST_CHARACTERS - len(about)
        description = one.description[:left]
        self._spell(description)
        parts = [tuple(terms(part)) for part in _SENTENCE_END.split(description)]
        self.sentences = tuple([part for part in parts if part])
        left -= len(description)
        for text in _texts_in(one.input_schema()):
            if left <= 0:
                break
            self._count(text[:left], terms(text[:left]), 1)
            left -= len(text)

    def _count(self, text: str, found: list[str], weight: int) -> None:
        self._spell(text)
        for term in found:
            self.counts[term] = self.counts.get(term, 0) + weight

    def _spell(self, text: str) -> None:
        words = [word for word in words_in(text) if len(word) >= _LEAST_SPELLED]
        self.spellings.update({word: term_of(word) for word in words})


def _read(one: Tool[..., Any]) -> _ToolText:
    """Return what a search reads about a tool; the tool stores it."""
    known: _ToolText | None = one.kept_form("search_terms")
    return one.keep_form("search_terms", _ToolText(one)) if known is None else known


class _Index:
    """What a search has read about all tools.

    A sentence that many tools share counts only where a query has no other words.

    Args:
        tools: name to tool.
    """

    __slots__ = ("_by_own", "_by_shared", "tools")

    def __init__(self, tools: dict[str, Tool[..., Any]]) -> None:
        self.tools = tools
        read = {name: _read(one) for name, one in tools.items()}
        having = Counter([sentence for one in read.values() for sentence in {*one.sentences}])
        spellings = {word: term for one in read.values() for word, term in one.spellings.items()}
        own: dict[str, dict[str, float]] = {}
        shared: dict[str, dict[str, float]] = {}
        for name, one in read.items():
            sentences = _own_sentences(one, having, len(read))
            own[name] = _counted(sentences, one.counts)
            if len(sentences) < len(one.sentences):
                shared[name] = _counted([each for each in one.sentences if each not in sentences], {})
        self._by_own, self._by_shared = Ranking(own, spellings), Ranking(shared, spellings)

    def scores(self, query: str, message: str) -> dict[str, float]:
        """Return name to score for the tools that fit a query, or a message beside it."""
        return self._by_own.scores(query, message) or self._by_shared.scores(query, message)


def _counted(sentences: Iterable[tuple[str, ...]], counts: Mapping[str, float]) -> dict[str, float]:
    """Return how much each term counts, with those of some sentences of a description."""
    found = dict(counts)
    for sentence in sentences:
        for term in sentence:
            found[term] = found.get(term, 0) + _DESCRIPTION_WEIGHT
    return found


def _own_sentences(
    one: _ToolText, having: Mapping[tuple[str, ...], int], tools: int
) -> list[tuple[str, ...]]:
    """List the sentences that say something about a tool: those that few share.

    If many share each of them, as when several servers have the same tool, all count but those of everyone.
    """
    some = [sentence for sentence in one.sentences if having[sentence] < tools or tools == 1]
    return [sentence for sentence in some if having[sentence] < _SHARED_BY] or some


def _texts_in(schema: Any) -> list[str]:
    """List the names of parameters, the descriptions and the enum values in a schema."""
    found: list[str] = []
    left: list[Any] = [schema]
    for _ in range(_MOST_PARTS):
        if not left:
            break
        part = left.pop()
        if is_array(part):
            left += part
        elif is_object(part):
            properties = part.get("properties")
            named = properties if is_object(properties) else {}
            values = part.get("enum")
            said = [part.get("title"), part.get("description"), part.get("const")]
            said += values if is_array(values) else ()
            found += [text for text in [*named, *said] if isinstance(text, str)]
            left += [*named.values(), *[value for key, value in part.items() if key != "properties"]]
    return found


def _text_of(one: Tool[..., Any]) -> str:
    """Return the text of a tool for its vector; the tool stores it."""
    known: str | None = one.kept_form("search_text")
    if known is not None:
        return known
    names = ", ".join(one.input_schema().get("properties", {})) or "none"
    described = clip(one.description, _MOST_CHARACTERS)
    return one.keep_form("search_text", f"{one.name}: {described} Parameters: {names}")
