"""Which words do tools have, so that a search can rank them by a query?"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from itertools import chain
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from ..json_values import is_array, is_object
from ..message_text import clip
from .ranking import Ranking, TermReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..tools.tool import Tool

_MOST_CHARACTERS = 20_000
"""How many characters of a tool's texts are read at most."""

_MOST_PARTS = 20_000
"""How many parts of a schema are read at most."""

_NAME_WEIGHT, _DESCRIPTION_WEIGHT, _OTHER_WEIGHT = 4, 2, 1

_SENTENCE_END = re.compile(r"[.!?\n](?:(?<=\n)|\s)\s*")

_SHARED_BY = 5
"""If this many tools share a sentence, it says nothing about each of them, but maybe about their server."""


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
        if self._rankings is None:
            # A thread that reads ahead starts at the other end, so that each tool is read by one of the two.
            reader = TermReader()
            read = {name: read_tool(self.tools[name], reader) for name in reversed(self.tools)}
            self._rankings = _rankings_of(read)
        return self._rankings

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
    """Return a ranking by the texts of each tool alone, and one by the sentences that tools share."""
    having = Counter(chain.from_iterable([{*one.sentences.splitlines()} for one in read.values()]))
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


class ToolText(NamedTuple):
    """The terms of one tool, as a search reads them.

    Attributes:
        name: the terms of its name.
        about: the terms of its title and tags.
        sentences: the terms of its description, a line for each sentence.
        others: the terms of its parameters.
        text: the text with all its words, in which slips are looked for.
    """

    name: str
    about: str
    sentences: str
    others: str
    text: str


def read_tool(tool: Tool[..., Any], reader: TermReader) -> ToolText:
    """Return the terms of a tool; the tool stores them."""
    known: ToolText | None = tool.kept_form("search_terms")
    if known is not None:
        return known
    about = f"{tool.annotations.title or ''} {' '.join(sorted(tool.tags))}"[:_MOST_CHARACTERS]
    left = _MOST_CHARACTERS - len(about)
    description = tool.description[:left]
    others = "\n".join(_texts_in(tool.input_schema()))[: left - len(description)]
    read = ToolText(
        reader.all_terms(tool.name),
        reader.terms(about),
        "\n".join(filter(None, map(reader.terms, _SENTENCE_END.split(description)))),
        reader.terms(others),
        f"{tool.name}\n{about}\n{description}\n{others}",
    )
    return tool.keep_form("search_terms", read)


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


def text_for_vector(tool: Tool[..., Any]) -> str:
    """Return the text of a tool for its vector; the tool stores it."""
    known: str | None = tool.kept_form("search_text")
    if known is not None:
        return known
    names = ", ".join(tool.input_schema().get("properties", {})) or "none"
    described = clip(tool.description, _MOST_CHARACTERS)
    return tool.keep_form("search_text", f"{tool.name}: {described} Parameters: {names}")
