"""The options of a codec: the type, the default and the check of each."""

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypedDict, get_args

from ..introspect.leaves import SchemaLeaf
from ..introspect.names import name_of
from ..wording import nearest, received

__all__ = [
    "DEFAULTS",
    "MAX_COLLISIONS",
    "MAX_DEPTH",
    "MAX_INTEGER_DIGITS",
    "MAX_KEY_DIGITS",
    "MAX_LENIENT_VALUES",
    "MAX_PROBLEMS",
    "MAX_TEXT_DEPTH",
    "CodecOptions",
    "HashCounter",
    "UnknownFields",
    "checked_options",
    "most_digits",
]


MAX_DEPTH = 100
"""Levels of arrays and objects that a value may nest, the root being the first."""

MAX_TEXT_DEPTH = 500
"""Levels of arrays and objects that JSON text may nest, under `Any` too: less than what any supported
interpreter's own parser follows."""

MAX_INTEGER_DIGITS = 4300
"""Decimal digits of an integer: what `int(text)` itself takes by default (CVE-2020-10735)."""

MAX_KEY_DIGITS = 64
"""Characters of an integer that is written as a key of an object."""

MAX_COLLISIONS = 100
"""Different items of a set, or keys of a map, that may share one hash: `2**61 - 1` divides their
difference, as far as they are integers."""

MAX_LENIENT_VALUES = 1_000_000
"""Values that a lenient encode writes, where one iterator may never end."""

MAX_PROBLEMS = 100
"""Problems that one error carries; those past it are counted."""


def most_digits() -> int:
    """Return how many digits of an integer are read: the fewer of ours and what the interpreter takes."""
    return min(MAX_INTEGER_DIGITS, sys.get_int_max_str_digits() or MAX_INTEGER_DIGITS)


class HashCounter:
    """Counts the hashes of the items of a set, or keys of a map, so that too many equal ones are refused.

    Values that share one hash are compared with each other: a few thousand integers chosen for that
    would keep a set busy for minutes.

    Args:
        size: of the whole.
    """

    __slots__ = ("_counts", "_is_needed")

    def __init__(self, size: int) -> None:
        self._is_needed = size > MAX_COLLISIONS
        self._counts: dict[int, int] = {}

    def admits(self, value: object) -> bool:
        """Return whether a value may be looked up among those that were added."""
        return not self._is_needed or self._counts.get(hash(value), 0) < MAX_COLLISIONS

    def add(self, value: object) -> None:
        """Count a value that was added."""
        if self._is_needed:
            code = hash(value)
            self._counts[code] = self._counts.get(code, 0) + 1


UnknownFields = Literal["ignore", "reject"]


class CodecOptions(TypedDict, total=False):
    """The options of `Codec`, whose docstring explains each."""

    name: str | None
    param_descriptions: Mapping[str, str] | None
    unknown_fields: UnknownFields
    repair: bool
    leaves: Iterable[SchemaLeaf[Any]]
    namespace: Mapping[str, Any] | None
    max_depth: int
    attribute_docs: bool
    json_loads: Callable[[Any], Any] | None


def checked_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the value of every option: the given ones, checked, and the defaults of the others.

    The walk checks what is in `param_descriptions`, as it knows the fields.

    Raises:
        TypeError: an option doesn't exist.
        ValueError: a value is of the wrong kind or out of range.
    """
    options = {**DEFAULTS}
    for name, value in given.items():
        if name not in _OPTIONS:
            near = nearest(name, list(_OPTIONS))
            hint = f"; did you mean {near}?" if near else ""
            message = f"Codec() got an unexpected option {name!r}{hint}"
            raise TypeError(message)
        options[name] = _OPTIONS[name][1](value)
    return options


# --- checks: each returns what the codec keeps ------------------------------


def _name(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    message = f"name is a string, not {received(value)}"
    raise ValueError(message)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _descriptions(value: Any) -> Any:
    return dict(value) if _is_mapping(value) else value


def _unknown_fields(value: Any) -> Any:
    choices: tuple[str, ...] = get_args(UnknownFields)
    if isinstance(value, str) and value in choices:
        return value
    near = nearest(value, choices) if isinstance(value, str) else None
    hint = f"; did you mean {near!r}?" if near else ""
    message = f"unknown_fields is 'ignore' or 'reject', not {received(value)}{hint}"
    raise ValueError(message)


def _leaves(value: Any) -> Any:
    leaves: tuple[Any, ...] = tuple(value) if hasattr(value, "__iter__") else (value,)
    for leaf in leaves:
        if not isinstance(leaf, SchemaLeaf):
            came = f"the class {name_of(leaf)}" if isinstance(leaf, type) else received(leaf)
            message = f"leaves are SchemaLeaf values, not {came}"
            raise ValueError(message)  # noqa: TRY004  # one exception for every option
    return leaves


def _namespace(value: Any) -> Any:
    if value is None or _is_mapping(value):
        return None if value is None else dict(value)
    message = f"namespace maps names to types, it isn't {received(value)}"
    raise ValueError(message)


def _depth(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return int.__pos__(value)  # of a subclass, the plain number
    message = f"max_depth is an integer of at least 1, not {received(value)}"
    raise ValueError(message)


def _parser(value: Any) -> Any:
    if value is None or callable(value):
        return value
    message = f"json_loads is a function such as orjson.loads, not {received(value)}"
    raise ValueError(message)


def _flag(name: str) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if isinstance(value, bool):
            return value
        message = f"{name} is True or False, not {received(value)}"
        raise ValueError(message)  # one exception for every option

    return check


_OPTIONS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "name": (None, _name),
    "param_descriptions": (None, _descriptions),
    "unknown_fields": ("ignore", _unknown_fields),
    "repair": (False, _flag("repair")),
    "leaves": ((), _leaves),
    "namespace": (None, _namespace),
    "max_depth": (MAX_DEPTH, _depth),
    "attribute_docs": (False, _flag("attribute_docs")),
    "json_loads": (None, _parser),
}
"""The default of each option, and its check."""

DEFAULTS: Mapping[str, Any] = {name: default for name, (default, _) in _OPTIONS.items()}
"""The options of a codec that was given none."""
