"""Calls with an unknown name: find the tool with a similar name that takes the arguments of the call.

Most calls name an existing tool, so this module is imported only with the first call that doesn't.
"""

from __future__ import annotations

import re
from functools import lru_cache
from json import loads
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..errors import DecodeError, ToolNotFoundError
from ..findings import repaired
from ..immutable import Value
from ..json_values import is_object, to_json_text
from ..message_text import quote
from ..similar_names import nearest_names, words_of
from ..tools.calls import arguments_to_decode
from ..tools.logs import INFO
from .tool_call import FAILURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TypeAlias

    from ..tools.calls import RawCall
    from ..tools.tool import Tool
    from .named_tools import NamedTools

    Words: TypeAlias = tuple[str, ...]

_SUGGESTED = 3
_MOST_NEAR = 8
"""How many similar tools are tried with the arguments at most; if there are more, none is chosen."""


class MeantTool(Value):
    """The tool that a call with an unknown name must mean.

    Attributes:
        tool: the tool as the model sees it.
        arguments: the correct arguments for the tool, as JSON values; None if they aren't known.
        fits: whether the tool takes the arguments as they were sent, with its own repairs.
        is_same: whether the sent name is the name of the tool, only written in another way.
    """

    tool: Tool[..., Any]
    arguments: dict[str, Any] | None
    fits: bool
    is_same: bool


def read_call(call: RawCall, tools: Mapping[str, Tool[..., Any]], toolset: NamedTools) -> RawCall | None:
    """Return a call with the name of the tool that it means, if that tool corrects calls.

    Only another spelling of the name is accepted, since a slip may be a word of its own: `unload` for
    `upload`. A call is never corrected into one of a destructive tool, or of a tool about which a person is
    asked.

    Returns:
        None if the call means no tool, or a tool whose calls have to be exact.
    """
    meant = meant_tool(call, tools, toolset)
    if meant is None or not (meant.fits and meant.is_same) or not may_be_read(meant.tool):
        return None
    read = call.replace(name=meant.tool.name, sent_name=call.name)
    FAILURES.note(call, INFO, "there is no such tool, but one is meant", with_name_note(read, {}))
    return read


def may_be_read(tool: Tool[..., Any]) -> bool:
    """Return whether a call with another name may be corrected into a call of this tool."""
    return tool.repairs and not tool.annotations.needs_exact_calls


def with_name_note(call: RawCall, details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of a call with a corrected name, with a note on the name before the other notes."""
    note = repaired((), "name", quote(call.sent_name or ""), quote(call.name))
    return {**details, "repairs": (note, *details.get("repairs", ()))}


def unknown_tool(
    call: RawCall, tools: Mapping[str, Tool[..., Any]], toolset: NamedTools
) -> ToolNotFoundError:
    """Return the error for a call with an unknown name; if the correct call is known, the error has it."""
    meant = meant_tool(call, tools, toolset)
    if meant is not None:
        return _not_found(call.name, meant.tool, meant.arguments)
    near = near_names(call.name, tools, _names_inside(toolset))
    others = nearest_names(call.name, sorted(tools), _SUGGESTED)
    return ToolNotFoundError(call.name, [*dict.fromkeys([*near, *others])][:_SUGGESTED])


def with_its_call(call: RawCall, tool: Tool[..., Any]) -> ToolNotFoundError:
    """Return the error for the wrong name of a call that was corrected, with the correct call."""
    return _not_found(call.sent_name or "", tool, arguments_to_send(tool, arguments_to_decode(call)))


def _not_found(name: str, tool: Tool[..., Any], arguments: dict[str, Any] | None) -> ToolNotFoundError:
    call = None if arguments is None else {"name": tool.name, "arguments": arguments}
    return ToolNotFoundError(name, [tool.name], call)


def meant_tool(call: RawCall, tools: Mapping[str, Tool[..., Any]], toolset: NamedTools) -> MeantTool | None:
    """Return the only tool with a similar name that takes the arguments, whatever the order of the tools."""
    if call.is_cut_off:
        return None
    is_same, near = _nearest(call.name, tools, _names_inside(toolset))
    if len(near) > _MOST_NEAR:
        return None
    tried = [_try_tool(tools[name], call, is_same=is_same) for name in near]
    fitting = [one for one in tried if one.fits] or [one for one in tried if one.arguments is not None]
    return fitting[0] if len(fitting) == 1 else None


def _names_inside(toolset: NamedTools) -> dict[str, list[str]]:
    """Return the names that tools have in the toolsets that they came from."""
    return {
        entry.name: [source.name for source in entry.sources if source.name != entry.name]
        for entry in toolset.entries
    }


def _try_tool(tool: Tool[..., Any], call: RawCall, *, is_same: bool) -> MeantTool:
    given = arguments_to_decode(call)
    return MeantTool(tool, arguments_to_send(tool, given), _fits(tool, given), is_same)


def _fits(tool: Tool[..., Any], given: Any) -> bool:
    """Return whether a tool takes the arguments, and uses all of them."""
    try:
        return not tool.decode_report(given).ignored
    except Exception:  # noqa: BLE001  # they don't fit, or a class's own code fails
        return False


def arguments_to_send(tool: Tool[..., Any], given: Any) -> dict[str, Any] | None:
    """Return the arguments that a tool accepts without any repair; None if they can't be determined."""
    is_text = isinstance(given, (str, bytes, bytearray))
    try:
        if tool.exact().decode_report(given).ignored:
            return None
        found = loads(to_json_text(loads(given) if is_text else given))
    except DecodeError as error:
        found = error.correction()
    except Exception:  # noqa: BLE001  # it isn't JSON, or a class's own code fails
        return None
    return found if is_object(found) and not _has_near_key(tool, found) else None


def _has_near_key(tool: Tool[..., Any], arguments: dict[str, Any]) -> bool:
    """Return whether an unknown key resembles the name of a field that was left out."""
    from ..codec.likely_keys import is_near_key

    known = tool.input_schema().get("properties", {})
    absent = known.keys() - arguments.keys()
    return any(is_near_key(key, name) for key in arguments.keys() - known.keys() for name in absent)


# --- names ---------------------------------------------------------------------------------------

_LONGEST = 128
_words = lru_cache(maxsize=4096)(words_of)
_NAMESPACE = re.compile(r"__|[./:]")
"""The separator between the name of a server or group and the name of a tool, as in `mcp__maths__add`."""

_VERBS = frozenset({"call", "get"})
"""Words that are never a namespace: `get.order` may be another tool than `order`."""

_MOST_NAMESPACES = 4

_INDEX = re.compile(r":\d{1,9}\Z")
"""The number that Kimi writes after the name of a call: `functions.add:0`."""

_SPECIAL = "<|"
"""The start of a model's special token, which some servers leave in a name: `add<|channel|>commentary`."""

_BEFORE = frozenset({"function", "functions", "tool", "tools"})
_BEHIND = frozenset({"tool"})
"""Words before and after the name of a tool that only say that it is a tool: `tool_add`, `add_tool`."""

_ADDED = frozenset({"api", "call", "default", "function", "functions", "get", "tool", "tools"})
"""Words that models put before or after the name of a tool; they may say what it does, as in `get_order`."""


def near_names(
    name: str, names: Iterable[str], inside: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> list[str]:
    """List, alphabetically, the names most like a wrong name: only those of the first kind that occurs.

    The first three kinds are the same name, written in different ways.

    1. Names that differ only in case and separators.
    2. The same, but one of the two has a namespace before it: `functions.add`, `mcp__maths__add`; or the name
       is the one that a tool has in a nested toolset, without the prefix that it has here.
    3. The same without words that only say that it is a tool: `add_tool`, `tool_add`, `function_add`.
    4. The same except for words that often mean nothing (`get_add`) and slips: up to two letters that are
       wrong, missing, extra or swapped. A word of fewer than eight letters may have one slip, a word of fewer
       than four none, and the first letter of a word is never a slip. So `unlock` is never a slip of `lock`.

    Args:
        name: the name as it was written; if it has more than 128 characters, no name is similar.
        names: the names of the tools.
        inside: the names that each tool has in the toolsets that it came from.
    """
    return _nearest(name, names, inside)[1]


def _nearest(name: str, names: Iterable[str], inside: Mapping[str, Sequence[str]]) -> tuple[bool, list[str]]:
    """Return whether the similar names are only other spellings, and the names; see `near_names`."""
    own = _INDEX.sub("", name.partition(_SPECIAL)[0])
    others = sorted(names) if len(name) <= _LONGEST and _words(own) else []

    def is_inside(written: str, other: str) -> bool:
        shorter = any(_is_same(written, one) for one in inside.get(other, ()))
        return shorter or _is_in_a_namespace(written, other)

    for is_near in (_is_same, is_inside, _is_same_tool, _is_nearly):
        found = [other for other in others if is_near(own, other)]
        if found:
            return is_near is not _is_nearly, found
    return False, []


def _is_same(name: str, other: str) -> bool:
    return _joined(_words(name)) == _joined(_words(other))


def _is_in_a_namespace(name: str, other: str) -> bool:
    # If both lost their namespaces, a tool of one server could be taken for a tool of another one.
    return any(_is_same(inner, other) for inner in _inside(name)) or any(
        _is_same(name, inner) for inner in _inside(other)
    )


def _is_same_tool(name: str, other: str) -> bool:
    return any(_joined(_without_kind(inner)) == _joined(_words(other)) for inner in _inside(name))


def _without_kind(name: str) -> Words:
    """Return the words of a name without those that only say that it is a tool."""
    words = _words(name)
    if words[:1] and words[0] in _BEFORE:
        words = words[1:]
    return words[:-1] if words[:-1] and words[-1] in _BEHIND else words


def _is_nearly(name: str, other: str) -> bool:
    pairs = [(inner, other) for inner in _inside(name)] + [(name, inner) for inner in _inside(other)]
    return any(
        _joined(one) == _joined(two) or _are_alike(one, two)
        for inner, whole in pairs
        for one in _plain(inner)
        for two in _plain(whole)
    )


def _joined(words: Words) -> str:
    """Join words; numbers stay separate, since `v1_2` isn't `v12`."""
    spaced = [f" {word} " if word.isdigit() else word for word in words]
    return "".join(spaced)


def _inside(name: str) -> list[str]:
    """Return a name, and the same name without each of the namespaces before it."""
    ends = [found.end() for found in _NAMESPACE.finditer(name)]
    ends = [end for end in ends if not _VERBS.intersection(_words(name[:end])[-1:])]
    return [name, *[name[end:] for end in ends[-_MOST_NAMESPACES:]]]


@lru_cache(maxsize=4096)
def _plain(name: str) -> frozenset[Words]:
    """Return the words of a name, and the same words without those that mean nothing."""
    whole = _words(name)
    first, last = 0, len(whole)
    while first < last and whole[first] in _ADDED:
        first += 1
    while last > first and whole[last - 1] in _ADDED:
        last -= 1
    return frozenset([words for words in (whole, whole[first:last]) if words])


_EDITS = 2
_LETTERS_FOR_ONE = 4
_LETTERS_FOR_TWO = 8


def _are_alike(words: Words, others: Words) -> bool:
    """Return whether words differ in so few letters that the differences may be slips."""
    if len(words) != len(others):
        return False
    differing = [(one, two) for one, two in zip(words, others, strict=True) if one != two]
    found = [_count_slips(one, two) for one, two in differing]
    return all(found) and sum(found) <= _EDITS


def _count_slips(one: str, two: str) -> int:
    """Return the number of slips that make one word of the other; 0 if they are different words."""
    most = max(len(one), len(two))
    if most < _LETTERS_FOR_ONE or one[0] != two[0] or not one.isalpha() or not two.isalpha():
        return 0
    if abs(len(one) - len(two)) > 1:  # `userunblock` isn't a slip of `userblock`
        return 0
    edits = _count_edits(one, two)
    return edits if edits <= (_EDITS if most >= _LETTERS_FOR_TWO else 1) else 0


def _count_edits(one: str, two: str) -> int:
    """Return the number of letters to change, add, remove or swap with the next (Damerau, 1964)."""
    before: list[int] = []
    row = list(range(len(two) + 1))
    for place, letter in enumerate(one, 1):
        earlier, before, row = before, row, [place]
        for at, other in enumerate(two, 1):
            cost = min(before[at] + 1, row[at - 1] + 1, before[at - 1] + (letter != other))
            if earlier and at > 1 and letter == two[at - 2] and one[place - 2] == other:
                cost = min(cost, earlier[at - 2] + 1)
            row.append(cost)
    return row[-1]
