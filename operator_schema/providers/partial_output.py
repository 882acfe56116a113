"""A typed answer while it arrives in a stream."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..codec.growing_json import GrowingJson
from ..codec.interpret import interpret
from ..codec.json_text import read_json
from ..introspect.nodes import ArrayNode
from ..json_values import MAX_DEPTH
from .json_in_text import json_start
from .nulls import without_nulls
from .output import FINAL, VALUE
from .streamed_calls import StreamedCalls
from .tool_forms import own_keys
from .typed_answer import nullable_output, output_in_text, takes_calls

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..codec.partial import Partial
    from .answer import Answer
    from .growing_text import GrowingText
    from .offered_tools import Offered
    from .output import AskedOutput, TakesOutputs
    from .streamed_calls import StreamedCall


class PartialOutput:
    """The typed answer of one stream so far.

    Args:
        provider: the provider of the stream.
        calls: the content of the stream.
        asked: the type that the request asked for.
        own: the tools that your program offers.
        by_tool: whether a tool receives the answer.
    """

    __slots__ = (
        *("_asked", "_calls", "_keys", "_nullable", "_takes_calls"),
        *("_fed", "_items", "_items_of", "_looked", "_said", "_text"),
    )

    def __init__(
        self, provider: TakesOutputs, calls: StreamedCalls, asked: AskedOutput, own: Offered, *, by_tool: bool
    ) -> None:
        self._calls = calls
        self._asked = asked
        self._takes_calls = takes_calls(own)
        self._keys = {} if by_tool else own_keys(provider, [asked.tool])
        self._nullable = () if by_tool else nullable_output(provider, asked)
        self._items_of: StreamedCall | None = None
        self._begin(None)

    def _begin(self, said: GrowingText | None) -> None:
        self._said = said
        self._fed = self._looked = 0
        self._text: StreamedCall | None = None

    def given(self, answer: Answer[Any]) -> Answer[Any]:
        """Return an empty answer with the requested type."""
        return answer.replace(_output=output_in_text(self._asked, ""))

    def without(self, calls: Iterable[StreamedCall]) -> list[StreamedCall]:
        """Return the calls without those of the tool that receives the answer."""
        return [call for call in calls if not self._takes_calls or call.name != FINAL]

    @property
    def partial(self) -> Partial | None:
        """The answer so far; None if nothing has come."""
        mine = next((call for call in self._calls.all() if call.name == FINAL), None)
        if self._takes_calls and mine is not None:
            return self._with_items(mine, mine.partial, is_nullable=FINAL in self._calls.nullable)
        said = self._calls.said
        if said is not self._said:  # the provider may start its answer again
            self._begin(said)
        if self._text is None:
            text = said.text
            start = json_start(text, self._looked)
            self._looked = len(text)
            if start is None:
                return None
            known = StreamedCalls({}, {FINAL: self._asked.tool.codec}, self._keys, self._nullable)
            self._text = known.begin(None, FINAL, "")
            self._fed, new = said.since(0)[0], text[start:]
        else:
            self._fed, new = said.since(self._fed)
        return self._with_items(self._text, _grown(self._text, new), is_nullable=bool(self._nullable))

    def _with_items(self, text: StreamedCall, found: Partial | None, *, is_nullable: bool) -> Partial | None:
        """Return the answer so far; an unfinished list has only its items so far."""
        if not self._asked.is_wrapped or found is None:
            return found
        if text is not self._items_of:
            self._items, self._items_of = _ArrivingItems(self._asked, is_nullable=is_nullable), text
        self._items.take(text)
        is_list = found.receiving == VALUE and not found.findings and _LIST.match(text.arguments)
        items = self._items.fitting if is_list else []
        return found.replace(fields={VALUE: [*items]}) if items else found


class _ArrivingItems:
    """The items of a list that is arriving as an answer.

    Attributes:
        fitting: the items that have ended and fit.
    """

    __slots__ = ("_fed", "_graph", "_is_nullable", "_text", "_waiting", "fitting")

    def __init__(self, asked: AskedOutput, *, is_nullable: bool) -> None:
        root = asked.codec.graph.resolve_root()
        self._graph = asked.codec.graph.replace(root=root.items) if isinstance(root, ArrayNode) else None
        self._is_nullable = is_nullable
        self._text = GrowingJson("{[")
        self._fed = 0
        self._waiting: list[str] = []
        self.fitting: list[Any] = []

    def take(self, text: StreamedCall) -> None:
        """Take the new part of the answer's text."""
        if self._graph is None:
            return
        self._fed, new = text.since(self._fed)
        # An exception of your own code is passed on; the next reading continues with the next item.
        self._waiting += [found for _, found in self._text.read(new)]
        while self._waiting:
            value, problems = read_json(self._waiting.pop(0))
            if problems.found:
                continue
            value = without_nulls(self._graph, value) if self._is_nullable else value
            item, problems = interpret(self._graph, value, MAX_DEPTH)
            if not problems.found:
                self.fitting.append(item)


def _grown(text: StreamedCall, new: str) -> Partial | None:
    """Add text to an answer until its JSON is complete; a code block or other text may follow it."""
    for piece in _AFTER_AN_OBJECT.split(new):
        found = text.partial
        if found is not None and found.is_complete:
            return found
        text.grow(piece)
    return text.partial


_LIST = re.compile(rf'\s*\{{\s*"{VALUE}"\s*:\s*\[')
"""The beginning of an answer that is a list."""

_AFTER_AN_OBJECT = re.compile(r"(?<=\})(?=\s*[^\s,\]}])")
"""The positions where the JSON may have ended before other text."""
