"""Were exactly the expected calls made? Compares calls, and lists their differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

from .. import execution
from ..codec.codec import Codec
from ..errors import DecodeError, EncodeError, SchemaError, ToolError
from ..json_values import choice_key, is_array, is_object, type_of
from ..message_text import clip, excerpt, fault_list, received, show_path
from ..tools.calls import RawCall
from .doubles import ToolDouble

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import EllipsisType

    from ..tools.tool import Tool

ExpectedCall: TypeAlias = "RawCall | str | tuple[Any, Any] | Mapping[Any, Any] | EllipsisType"
"""A call; the name of a tool, with any arguments; a pair of name and arguments; arguments, of any tool; or
`...` for any call. In arguments, `...` stands for any value, and the entry `...: ...` for any other keys."""

_MOST_PAIRS: Final = 40_000
"""The most pairs of calls that are compared to find partners; for more, calls are paired by position."""
_MOST_SHOWN: Final = 20
_SHOWN_LENGTH: Final = 200


class _Call(NamedTuple):
    """A call that was made.

    Attributes:
        name: name of the tool.
        arguments: JSON values, or text that isn't JSON.
        tool: the tool that decoded it, so that defaults are filled in; None if it is unknown.
    """

    name: str
    arguments: Any
    tool: Tool[..., Any] | None


class _Expected(NamedTuple):
    name: Any
    arguments: Any


def assert_calls(source: Any, expected: Iterable[ExpectedCall], /, *, in_order: bool = True) -> None:
    """Check that exactly these calls were made.

    Args:
        source: a `ToolDouble`, or several in a list; an `Executor` that records (`record`) or whose tools are
            doubles; a `Transcript`, a `Turn` or an `Answer`; or a list of `RawCall`. Calls of a double
            include the defaults of absent arguments, and so do the expected ones; all other calls are
            compared as they were sent.
        expected: the calls: each a `RawCall`, whose id doesn't matter; `"refund"` for any call of that tool;
            `("refund", {"order_id": "A7", "amount": ...})`; `{"order_id": "A7", ...: ...}` for arguments
            alone; or `...` for any call.
        in_order: whether the order matters.

    Raises:
        AssertionError: other calls were made. The message lists the differences of each call, by the path of
            the argument.
        TypeError: the source has no calls, or an expected call has the wrong type.
    """
    calls, wanted = _calls_of(source), [_as_expected(one) for one in _list_of_expected(expected)]
    pairs = _in_order(wanted, calls) if in_order else _in_any_order(wanted, calls)
    found = [line for pair in pairs for line in _difference_lines(*pair, wanted, calls)]
    if not found:
        return
    if in_order and len(wanted) * len(calls) <= _MOST_PAIRS and not _in_any_order(wanted, calls):
        shown = ", ".join([_show_call(call.name, call.arguments) for call in calls[:_MOST_SHOWN]])
        found = [
            f"the same calls were made in another order: {shown}",
            "if the order doesn't matter: in_order=False",
        ]
    raise AssertionError(
        fault_list("the calls differ from what was expected:", found, _MOST_SHOWN, mark="  ")
    )


def _list_of_expected(expected: Any) -> list[Any]:
    if not _is_list(expected):
        message = f"expected calls must be a list, not {received(expected)}: write [call] for a single one"
        raise TypeError(message)
    return list(expected)


def _is_list(given: object) -> bool:
    kind = type(given)
    return issubclass(kind, Iterable) and not issubclass(kind, (str, bytes, Mapping, RawCall))


def _as_expected(given: Any) -> _Expected:
    kind = cast("Any", type(given))
    if given is ...:
        return _Expected(..., ...)
    if issubclass(kind, RawCall):
        return _Expected(given.name, _arguments_sent(given))
    if issubclass(kind, str):
        return _Expected(given, ...)
    if issubclass(kind, Mapping):
        return _Expected(..., dict(given))
    if issubclass(kind, tuple) and len(given) == 2 and (isinstance(given[0], str) or given[0] is ...):  # noqa: PLR2004  # a pair
        return _Expected(given[0], given[1])
    forms = 'a RawCall, "name", ("name", arguments), arguments or ...'
    message = f"an expected call must be {forms}, not {received(given)}"
    raise TypeError(message)


def _arguments_sent(call: RawCall) -> Any:
    from ..providers.response_json import parsed_arguments

    return {} if call.arguments is None else parsed_arguments(call)


# --- the calls that were made --------------------------------------------------------------------


def _calls_of(source: Any) -> list[_Call]:
    """Return the calls of a source, as `assert_calls` takes it.

    Raises:
        TypeError: the source has none.
    """
    if isinstance(source, execution.Executor) and not hasattr(source, "calls"):
        return _of_doubles([tool for tool in source.registry if isinstance(tool, ToolDouble)], source)
    if not (hasattr(source, "calls") or _is_list(source)):
        message = f"assert_calls takes a double, an executor, a transcript or calls, not {received(source)}"
        raise TypeError(message)
    several: Any = source
    items: list[Any] = [source] if hasattr(source, "calls") else [*several]
    doubles = [item for item in items if isinstance(item, ToolDouble)]
    if doubles and len(doubles) == len(items):
        return _of_doubles(doubles)
    raw = [call for item in items for call in _raw_calls(item)]
    return [_Call(call.name, _arguments_sent(call), None) for call in raw]


def _of_doubles(doubles: Sequence[ToolDouble], owner: object = None) -> list[_Call]:
    if not doubles:
        message = (
            f"{received(owner)} doesn't remember its calls: give record(executor, path), or doubles as tools"
        )
        raise TypeError(message)
    # Copies of a double remember the same calls.
    made = {call.number: (call, double) for double in doubles for call in double.calls}
    return [_Call(call.name, call.arguments, double) for _, (call, double) in sorted(made.items())]


def _raw_calls(item: Any) -> Sequence[RawCall]:
    if isinstance(item, RawCall):
        return [item]
    # Turns and answers have calls; strings and messages of a transcript don't.
    calls = getattr(item, "calls", ())
    return [call for call in calls if isinstance(call, RawCall)]


# --- what belongs together -----------------------------------------------------------------------

_Pair: TypeAlias = tuple[int | None, int | None]

_ALONE: Final = 1.0
"""The cost of a call without a partner; a pair of different tools costs more than two such calls."""


def _in_order(wanted: Sequence[_Expected], calls: Sequence[_Call]) -> list[_Pair]:
    """Pair expected and real calls in order, so that they differ as little as possible."""
    rows, columns = len(wanted), len(calls)
    if rows * columns > _MOST_PAIRS:
        return [*zip_longest(range(rows), range(columns))]  # by position
    costs = [[_cost(one, call) for call in calls] for one in wanted]
    rest = [
        [_ALONE * (rows - row + columns - column) for column in range(columns + 1)] for row in range(rows + 1)
    ]
    for row in reversed(range(rows)):
        for column in reversed(range(columns)):
            alone = _ALONE + min(rest[row + 1][column], rest[row][column + 1])
            rest[row][column] = min(alone, costs[row][column] + rest[row + 1][column + 1])
    pairs: list[_Pair] = []
    row = column = 0
    while row < rows and column < columns:
        if rest[row][column] == costs[row][column] + rest[row + 1][column + 1]:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif rest[row + 1][column] <= rest[row][column + 1]:
            pairs.append((row, None))
            row += 1
        else:
            pairs.append((None, column))
            column += 1
    return [
        *pairs,
        *[(one, None) for one in range(row, rows)],
        *[(None, one) for one in range(column, columns)],
    ]


def _cost(expected: _Expected, call: _Call) -> float:
    """Return the cost of pairing two calls: 0 if they fit, highest for calls of different tools."""
    if expected.name not in {..., call.name}:
        return 3 * _ALONE
    return min(0.9, len(_differences_of(expected, call)) / 5)


def _in_any_order(wanted: Sequence[_Expected], calls: Sequence[_Call]) -> list[_Pair]:
    """Pair expected and real calls in any order.

    Source: the largest matching by augmenting paths, https://doi.org/10.1002/nav.3800020109
    """
    if len(wanted) * len(calls) > _MOST_PAIRS:
        message = f"too many calls for in_order=False: {len(wanted)} expected, {len(calls)} made"
        raise ValueError(message)
    costs = [[_cost(one, call) for call in calls] for one in wanted]
    owner: dict[int, int] = {}

    def place(row: int, seen: set[int]) -> bool:
        for column in range(len(calls)):
            if column in seen or costs[row][column] > 0:
                continue
            seen.add(column)
            if column not in owner or place(owner[column], seen):
                owner[column] = row
                return True
        return False

    for row in range(len(wanted)):
        place(row, set())
    return _nearest_rest(
        costs, set(range(len(wanted))) - set(owner.values()), set(range(len(calls))) - set(owner)
    )


def _nearest_rest(costs: Sequence[Sequence[float]], rows: set[int], columns: set[int]) -> list[_Pair]:
    """Pair the remaining calls with the most similar ones; calls of different tools stay alone."""
    pairs: list[_Pair] = []
    for cost, row, column in sorted((costs[row][column], row, column) for row in rows for column in columns):
        if cost < _ALONE and row in rows and column in columns:
            rows, columns = rows - {row}, columns - {column}
            pairs.append((row, column))
    return [*pairs, *[(row, None) for row in sorted(rows)], *[(None, column) for column in sorted(columns)]]


# --- what differs --------------------------------------------------------------------------------


def _difference_lines(
    row: int | None, column: int | None, wanted: Sequence[_Expected], calls: Sequence[_Call]
) -> list[str]:
    """Describe the differences of a pair of calls, or a call without a partner; empty if they fit."""
    if column is None:
        return [f"expected, but not made: {_show_call(*wanted[row or 0])}"]
    call = calls[column]
    if row is None:
        return [f"call {column + 1}, not expected: {_show_call(call.name, call.arguments)}"]
    wrong = _differences_of(wanted[row], call)
    if not wrong:
        return []
    return ["\n".join([f"call {column + 1}, {call.name}:", *[f"    {line}" for line in wrong]])]


def _show_call(name: Any, arguments: Any) -> str:
    who = "any tool" if name is ... else name
    return f"{who}, any arguments" if arguments is ... else f"{who} {_show_value(arguments)}"


def _show_value(value: Any) -> str:
    return clip(_write_value(value), _SHOWN_LENGTH)


def _write_value(value: Any) -> str:
    """Write a JSON value that may contain `...`."""
    if value is ...:
        return "..."
    if is_object(value) and value:
        entries = [f"{_write_value(key)}: {_write_value(inner)}" for key, inner in value.items()]
        return f"{{{', '.join(entries)}}}"
    if is_array(value) and value:
        return f"[{', '.join(map(_write_value, value))}]"
    return excerpt(value, _SHOWN_LENGTH)


def _differences_of(expected: _Expected, call: _Call) -> list[str]:
    if expected.name is not ... and expected.name != call.name:
        return [f"expected a call of {expected.name}: {_show_call(*expected)}"]
    wanted = _with_defaults(expected.arguments, call)
    return differences(wanted, call.arguments)


def _with_defaults(expected: Any, call: _Call) -> Any:
    """Return expected arguments in the form of the tool: with the defaults, in its own spelling."""
    if call.tool is None or not is_object(expected) or ... in expected:
        return expected
    normal = _normal_arguments(call.tool, _without_wildcards(expected, call.arguments))
    if normal is not None:
        return _with_wildcards(expected, normal)
    # They don't fit, but what is left out may still be known.
    made: Any = call.arguments or {}
    known = _normal_arguments(call.tool, {key: made[key] for key in expected if key in made}) or {}
    return {**{key: value for key, value in known.items() if key not in expected}, **expected}


def _normal_arguments(tool: Tool[..., Any], arguments: Any) -> dict[str, Any] | None:
    try:
        return tool.encode_input(tool.decode(arguments))
    except (DecodeError, EncodeError, ToolError):
        return None


def _with_wildcards(expected: Any, normal: Any) -> Any:
    """Return decoded arguments with `...` in the places where the expected ones have it."""
    if expected is ...:
        return ...
    if is_object(expected) and is_object(normal):
        merged: dict[Any, Any] = {
            key: _with_wildcards(expected.get(key, normal[key]), normal[key]) for key in normal
        }
        return {**merged, **({...: ...} if ... in expected else {})}
    if is_array(expected) and is_array(normal) and len(expected) == len(normal):
        return [_with_wildcards(*both) for both in zip(expected, normal, strict=True)]
    return normal


def _without_wildcards(expected: Any, found: Any) -> Any:
    """Return expected arguments in which the call's own values replace each `...`."""
    if expected is ...:
        return found
    if is_object(expected) and is_object(found):
        return {
            key: _without_wildcards(value, found.get(key))
            for key, value in expected.items()
            if key is not ...
        }
    if is_array(expected) and is_array(found) and len(expected) == len(found):
        return [_without_wildcards(*both) for both in zip(expected, found, strict=True)]
    return expected


def differences(expected: Any, found: Any, path: tuple[str | int, ...] = ()) -> list[str]:
    """Return the differences between two JSON values, a line for each path.

    Args:
        expected: the expected value; in it, `...` stands for any value, and the entry `...: ...` for any
            other keys.
        found: the actual value.
        path: path to them.
    """
    if expected is ...:
        return []
    if is_object(expected) and is_object(found):
        lines = [
            line
            for key, value in expected.items()
            if key is not ...
            for line in (
                differences(value, found[key], (*path, key))
                if key in found
                else [f"{_show_place((*path, key))}: expected {_show_value(value)}, but it is missing"]
            )
        ]
        others = [] if ... in expected else [key for key in found if key not in expected]
        return lines + [
            f"{_show_place((*path, key))}: not expected, got {_show_value(found[key])}" for key in others
        ]
    if is_array(expected) and is_array(found) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [line for index, both in pairs for line in differences(*both, (*path, index))]
    if choice_key(expected) == choice_key(found):  # it may be anything with an `==`
        return []
    return [
        f"{_show_place(path)}: expected {_show_value(expected)}, got {_show_value(found)}{_hint(expected)}"
    ]


def _hint(expected: Any) -> str:
    """Return a hint of what to write instead of a value that JSON doesn't have, such as a date."""
    if type_of(expected) is not None:
        return ""
    with suppress(SchemaError, EncodeError):
        kind = cast("Any", type(expected))
        written = Codec[Any](kind).encode(expected)
        return f"; arguments are compared as JSON values, so write {_show_value(written)}"
    return "; arguments are compared as JSON values, so write what a model sends"


def _show_place(path: tuple[str | int, ...]) -> str:
    return show_path(path) if path else "arguments"
