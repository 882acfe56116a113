"""What does a tool say about itself besides its function and input, from its documentation to its limits?"""

from __future__ import annotations

import re
from math import inf
from sys import float_info
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeGuard

from ..codec.codec import codec_of
from ..immutable import Value
from ..introspect.docstrings import split_summary
from ..json_values import copy_json, without_surrogates
from ..message_text import received
from .signature import close_awaitable, is_awaitable, is_coroutine_function, is_generator_function, takes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self, TypedDict

    class Statements(TypedDict, total=False):
        """The options of `tool`, `tool_input` and `with_` that become `ToolAnnotations`."""

        title: str | None
        read_only: bool | None
        destructive: bool | None
        idempotent: bool | None
        open_world: bool | None
        confirm: bool | None
        meta: Mapping[str, Any] | None

    from collections.abc import Callable

    Context = Mapping[Any, Any]
    Switch = bool | Callable[[], bool] | Callable[[Context], bool]
    Enabled = Switch | None  # None leaves the decision to something else


FLAGS = ("read_only", "destructive", "idempotent", "open_world", "confirm")
"""The statements that are true or false."""

STATEMENTS = frozenset({"title", *FLAGS, "meta"})
"""All statements, by the names of their options."""


MCP_HINTS: Mapping[str, str] = {
    "title": "title",
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}
"""Our names of statements, and the names in the Model Context Protocol (2025-06-18)."""


class ToolAnnotations(Value):
    """Statements of a tool about itself, for the program that offers it; the model doesn't see them.

    The names and meanings come from `ToolAnnotations` in MCP (schema 2025-06-18 and later), where
    they are the values of `MCP_HINTS`. A missing statement is None, and clients may assume anything. These
    are only statements of the author: nothing enforces them.

    Attributes:
        title: name for people.
        read_only: whether it changes nothing.
        destructive: whether it may delete or overwrite something, rather than only add.
        idempotent: whether a second call with the same arguments changes nothing more.
        open_world: whether it deals with an open set of outside things, such as the web.
        confirm: whether a person has to agree before it is called.
        meta: data for the program that offers the tool, as a JSON object; a new copy each time.
    """

    title: str | None
    read_only: bool | None
    destructive: bool | None
    idempotent: bool | None
    open_world: bool | None
    confirm: bool | None
    meta: dict[str, Any]

    def __init__(
        self,
        title: str | None = None,
        read_only: bool | None = None,
        destructive: bool | None = None,
        idempotent: bool | None = None,
        open_world: bool | None = None,
        confirm: bool | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Keep the values unchanged, with a copy of `meta`; `tool` checks its options."""
        copied: dict[str, Any] = copy_json(dict(meta)) if meta else {}
        super().__init__(title, read_only, destructive, idempotent, open_world, confirm, copied)

    @property
    def needs_exact_calls(self) -> bool:
        """Whether the tool is destructive, or a person has to agree.

        If so, `repair=True` neither takes a misspelt name for its name, nor unwraps its arguments.
        """
        return bool(self.destructive or self.confirm)

    def as_dict(self) -> dict[str, Any]:
        """Return the statements by name, as JSON values that the caller owns."""
        stated = {name: getattr(self, name) for name in ("title", *FLAGS)}
        found = {name: value for name, value in stated.items() if value is not None}
        meta = self.meta
        return {**found, "meta": meta} if meta else found

    def replace(self, **changes: Any) -> Self:
        """Return a copy in which the named attributes have other values."""
        return type(self)(**{**self.as_dict(), **changes})

    def __hash__(self) -> int:
        return hash((self.title, *[getattr(self, name) for name in FLAGS], len(self.meta)))

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)

    def __repr__(self) -> str:
        stated = ", ".join([f"{name}={value!r}" for name, value in self.as_dict().items()])
        return f"ToolAnnotations({stated})"


_meta_slot: Any = vars(ToolAnnotations)["meta"]
# A reader can't change the data of the tool.
type.__setattr__(ToolAnnotations, "meta", property(lambda self: copy_json(_meta_slot.__get__(self))))


NOTHING_STATED = ToolAnnotations()
"""The statements of a tool that states nothing."""


def as_json_object(given: Any) -> dict[str, Any] | None:
    """Return a copy of a mapping as a JSON object; None if it is something else."""
    try:
        encoded: dict[str, Any] = codec_of(dict[str, object]).encode(dict(given))
    except Exception:  # noqa: BLE001  # a mapping may be of any class, whose code may fail
        return None
    return encoded


_MOST_SECONDS = int(float_info.max)
# Compiled when they are needed: most names don't need them.
_BREAK = r"[\W_]+"
_WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+|[^\W_]+"


class Metadata(Value):
    """The facts about a tool besides its function and its input.

    Attributes:
        name: the name that the model calls.
        summary: the first sentence of its documentation, which the model gets with every request.
        details: the rest of it, which the model may get on demand, or None.
        description: both, as they were written.
        enabled: whether the model may call it, or a function that decides; None leaves it to the registry.
        timeout: seconds that a call may take; None leaves it to the executor.
        tags: labels by which your program can choose tools.
        examples: arguments of calls, as JSON values.
        described_by: name of the tool that gives the long documentation, or None.
        describes_tools: whether it gives the documentation of other tools.
        threads: whether a function that isn't async runs in a thread; None leaves it to the executor.
        annotations: its statements about itself.
        max_content: characters that the text of a result may have; None leaves it to the executor.
    """

    name: str
    summary: str
    details: str | None
    description: str
    enabled: Enabled = None
    timeout: float | None = None
    tags: tuple[str, ...] = ()
    examples: tuple[Any, ...] = ()
    described_by: str | None = None
    describes_tools: bool = False
    threads: bool | None = None
    annotations: ToolAnnotations = NOTHING_STATED
    max_content: float | None = None

    if not TYPE_CHECKING:  # for speed: every tool has one

        def __new__(
            cls,
            name,
            summary,
            details,
            description,
            enabled,
            timeout,
            tags,
            examples,
            described_by,
            describes_tools,
            threads,
            annotations,
            max_content,
        ):
            self = cls._draft()
            self.name = name
            self.summary = summary
            self.details = details
            self.description = description
            self.enabled = enabled
            self.timeout = timeout
            self.tags = tags
            self.examples = examples
            self.described_by = described_by
            self.describes_tools = describes_tools
            self.threads = threads
            self.annotations = annotations
            self.max_content = max_content
            self.__class__ = cls
            return self


AUTO_GENERATED = "Auto generated."
"""The end of an automatically generated description."""


def read_documentation(
    name: str, description: str | None, summary: str | None, doc: str | None
) -> tuple[str, str | None, str]:
    """Return summary, details and description of a tool, from its options or its docstring.

    Args:
        name: the name of the tool.
        description: the given description; even an empty one wins over the docstring.
        summary: the given summary; if there is one, the description contains only the details.
        doc: the prose of the docstring.
    """
    text = doc if description is None else description
    text = without_surrogates((text or "").strip())
    if summary is not None:
        summary = without_surrogates(summary.strip())
        return summary, text or None, f"{summary}\n\n{text}".strip()
    if not text and description is None:
        text = f"Use this tool for {name}. {AUTO_GENERATED}"
        return text, None, text
    first, rest = split_summary(text)
    return first, rest, text


LEAST_CONTENT = 200
"""The lowest limit on results, in characters: the note about the missing rest needs as many."""


def is_content_limit(value: object) -> TypeGuard[float]:
    """Return whether a value is a valid limit on the characters of a result, or infinity for no limit."""
    if value == inf:
        return True
    return isinstance(value, int) and not isinstance(value, bool) and value >= LEAST_CONTENT


def is_duration(value: object) -> TypeGuard[float]:
    """Return whether a value is a number of seconds that clocks can handle, or infinity."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not value >= 0:
        return False
    return isinstance(value, float) or value <= _MOST_SECONDS


def pascal_case(name: str) -> str:
    """Write a name as a class is written: `web_search` → `WebSearch`."""
    is_plain = name.isascii() and name.isidentifier()
    parts = name.split("_") if is_plain else re.split(_BREAK, name)
    return "".join([part[:1].upper() + part[1:] for part in parts])


def snake_case(name: str) -> str:
    """Write a name as a function is written: `ParseURLInput` → `parse_url_input`."""
    return "_".join([word.lower() for word in re.findall(_WORD, name)])


NO_CONTEXT: Context = MappingProxyType({})
"""The argument of a switch if there is no context."""

SWITCH_REMEDY = "Give True, False, or a function (def) that takes nothing or the context"


def is_switch(value: object) -> bool:
    """Return whether a value is a boolean, or a plain function that takes nothing or the context."""
    if isinstance(value, bool):
        return True
    if not callable(value) or _takes(value) is None:
        return False
    # Coroutines and generators count as true, whatever they would return.
    return not is_coroutine_function(value) and not is_generator_function(value)


def check_switch(enabled: Switch) -> Switch:
    """Return the given switch; refuse anything else.

    Raises:
        TypeError: the switch isn't valid.
    """
    if not is_switch(enabled):
        what = received(enabled)
        if callable(enabled):
            takes_more = _takes(enabled) is None
            what = "one that takes other arguments" if takes_more else "one that is async or a generator"
        message = f"enabled must be a boolean, or a function that takes nothing or the context, not {what}"
        raise TypeError(message)
    return enabled


def question_of(switch: Switch) -> bool | Callable[[Context], bool]:
    """Return a switch as a boolean, or as a function of the context."""
    if isinstance(switch, bool):
        return switch
    ask: Any = switch
    if _takes(ask):
        return lambda context: _answer(ask(context))
    return lambda context: _answer(ask())  # noqa: ARG005  # it takes none


def _takes(function: Any) -> int | None:
    """Return how many arguments a switch gets: 0, 1, or None if it can't be called with either."""
    return next((count for count in (0, 1) if takes(function, count)), None)


def _answer(answer: object) -> bool:
    if is_awaitable(answer):
        close_awaitable(answer)
        message = "a switch must return a boolean, not something to await"
        raise TypeError(message)
    return bool(answer)
