"""The options of a codec: their types and their checks.

A codec with default options, as most are, doesn't import this module (see `codec.DEFAULTS`): making the
TypedDict alone takes as long as registering a type.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypedDict, get_args

from ..introspect.leaves import SchemaLeaf, received_leaf
from ..introspect.shown_annotations import name_of
from ..message_text import received

UnknownFields = Literal["ignore", "reject"]


class CodecOptions(TypedDict, total=False):
    """The options of `Codec`; its docstring explains them."""

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
    """Check the given options; return them in the form that the codec stores.

    The walk checks the contents of `param_descriptions`, because it knows the fields.

    Raises:
        TypeError: an option doesn't exist.
        ValueError: a value is of the wrong kind or out of range.
    """
    options: dict[str, Any] = {}
    for name, value in given.items():
        if name not in _OPTIONS:
            from ..similar_names import nearest

            near = nearest(name, list(_OPTIONS))
            hint = f"did you mean {near}?" if near else f"it takes {', '.join(_OPTIONS)}"
            message = f"Codec() got an unexpected option {name!r}; {hint}"
            raise TypeError(message)
        options[name] = _OPTIONS[name](value)
    return options


def _check_that(name: str, what: str, fits: Callable[[Any], bool]) -> Callable[[Any], Any]:
    """Return the check of an option whose value is stored as it is."""

    def check(value: Any) -> Any:
        if fits(value):
            return value
        message = f"{name} must be {what}, not {received(value)}"
        raise ValueError(message)

    return check


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


def _copy_descriptions(value: Any) -> Any:
    return dict(value) if _is_mapping(value) else value


def _check_unknown_fields(value: Any) -> Any:
    choices: tuple[str, ...] = get_args(UnknownFields)
    if isinstance(value, str) and value in choices:
        return value
    from ..similar_names import nearest

    near = nearest(value, choices) if isinstance(value, str) else None
    hint = f"; did you mean {near!r}?" if near else ""
    message = f"unknown_fields must be 'ignore' or 'reject', not {received(value)}{hint}"
    raise ValueError(message)


def _check_leaves(value: Any) -> Any:
    leaves: tuple[Any, ...] = tuple(value) if hasattr(value, "__iter__") else (value,)
    for leaf in leaves:
        if not isinstance(leaf, SchemaLeaf):
            came = f"the class {name_of(leaf)}" if isinstance(leaf, type) else received_leaf(leaf)
            message = f"leaves must be SchemaLeaf values, not {came}"
            raise ValueError(message)  # noqa: TRY004  # one exception for every option
    return leaves


def _copy_namespace(value: Any) -> Any:
    if value is None or _is_mapping(value):
        return None if value is None else dict(value)
    message = f"namespace maps names to types, it isn't {received(value)}"
    raise ValueError(message)


def _check_depth(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return int.__pos__(value)  # turns a subclass into the plain number
    message = f"max_depth must be an integer of at least 1, not {received(value)}"
    raise ValueError(message)


_OPTIONS: dict[str, Callable[[Any], Any]] = {
    "name": _check_that("name", "a string", lambda value: value is None or isinstance(value, str)),
    "param_descriptions": _copy_descriptions,
    "unknown_fields": _check_unknown_fields,
    "repair": _check_that("repair", "True or False", _is_switch),
    "leaves": _check_leaves,
    "namespace": _copy_namespace,
    "max_depth": _check_depth,
    "attribute_docs": _check_that("attribute_docs", "True or False", _is_switch),
    "json_loads": _check_that(
        "json_loads", "a function such as orjson.loads", lambda value: value is None or callable(value)
    ),
}
"""The check of each option; it returns the value that the codec stores."""
