"""What is wrong with a leaf that somebody wrote?"""

from __future__ import annotations

from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, cast

from ..json_values import JSON_TYPES, copy_json, fits_types, types_of_schema
from ..message_text import kind, received, show_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..findings import Finding


def checked_schema(
    cls: type, json_schema: Mapping[str, Any], decode: Any, encode: Any, placeholder: object, rank: object
) -> Mapping[str, Any]:
    """Check the arguments of a leaf; return a copy of its schema.

    Raises:
        SchemaError: an argument is wrong.
    """
    _raise(
        cls, _describe_fault(cls, json_schema, decode, encode, rank) or _describe_schema_fault(json_schema)
    )
    shown = _fit_schema(cls, json_schema)
    _raise(cls, _describe_placeholder_fault(cls, shown, decode, encode, placeholder))
    return shown


def described_schema(cls: type, json_schema: Mapping[str, Any]) -> dict[str, Any]:
    """Check the schema of a leaf whose functions take every value that fits it; return a copy.

    Raises:
        SchemaError: the schema can't be used.
    """
    _raise(cls, _describe_schema_fault(json_schema))
    return _fit_schema(cls, json_schema)


def _fit_schema(cls: type, json_schema: Mapping[str, Any]) -> dict[str, Any]:
    shown = shown_schema(json_schema)
    if not shown.keys() <= _UNCHECKED:
        from ..schema.written import describe_unfit_parts

        _raise(cls, describe_unfit_parts(shown))
    return shown


def shown_schema(json_schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a schema, with a prepared check if it restricts more than the JSON type."""
    copy: dict[str, Any] = copy_json(json_schema)
    if copy.keys() <= _UNCHECKED:
        return copy
    from ..schema.written import WrittenSchema, says_more

    return WrittenSchema(copy) if says_more(copy) else copy


_UNCHECKED: Final = frozenset({"type", "title", "description", "format"})


def _raise(cls: object, fault: tuple[str, str] | None) -> None:
    if fault is None:
        return
    from ..errors import SchemaError
    from ..findings import about_type

    name = getattr(cls, "__qualname__", None) or repr(cls)
    message, remedy = fault
    title = f"SchemaLeaf({name})"
    raise SchemaError(title, [about_type((), "bad_leaf", name, message, remedy)])


def _describe_fault(
    cls: object, json_schema: object, decode: object, encode: object, rank: object
) -> tuple[str, str] | None:
    if not isinstance(cls, type):
        return f"type is {kind(cls)}, not a class", "Give the Python class that the leaf is for"
    if not isinstance(json_schema, dict):
        return f"json_schema is {kind(json_schema)}, not a dict", "Give a JSON Schema document"
    for name, function in (("decode", decode), ("encode", encode)):
        if not callable(function):
            return f"{name} is {kind(function)}, not a function", "Give a function of one value"
    if not isinstance(rank, int):
        return f"rank is {kind(rank)}, not an integer", "Leave it out, or give an int"
    return None


def _describe_schema_fault(json_schema: Mapping[str, Any]) -> tuple[str, str] | None:
    types = types_of_schema(json_schema)
    try:
        copy_json(json_schema)
    except RecursionError:
        return "json_schema contains itself, or nests too deep", "Give a JSON Schema document"
    if not types or not all(name in JSON_TYPES for name in types):
        return (
            'json_schema has no "type", or one that JSON doesn\'t have',
            f'Set "type" to one of {", ".join(JSON_TYPES)} or a list of them',
        )
    if json_schema.keys() <= _UNCHECKED:
        return None
    from ..schema.written import schema_fault

    fault = schema_fault(json_schema)
    if fault is not None:
        return f"json_schema can't be used: {fault}", "Give a JSON Schema document"
    if "$" not in repr(json_schema):
        return None
    from ..schema.moved_definitions import describe_reference_fault

    return describe_reference_fault(json_schema)


def _describe_placeholder_fault(
    cls: type,
    json_schema: Mapping[str, Any],
    decode: Callable[[Any], Any],
    encode: Callable[[Any], Any],
    placeholder: object,
) -> tuple[str, str] | None:
    if not isinstance(placeholder, cls):
        return (
            f"placeholder is {received(placeholder)}, not an instance of {cls.__name__}",
            "Give an instance",
        )
    try:
        encoded = encode(placeholder)
        if _is_awaitable(encoded):
            return _ASYNC.format("encode"), _PLAIN
        if not fits_types(encoded, types_of_schema(json_schema)):
            fault = f"encode(placeholder) is {received(encoded)}, not of the type in json_schema"
            return fault, "Change encode, or the type in json_schema"
        problem = misfit(json_schema, encoded)
        if problem is not None:
            return (
                f"placeholder doesn't fit json_schema: {problem}",
                "Give another one, or change json_schema",
            )
        decoded = decode(encoded)
    except Exception as error:  # noqa: BLE001  # whatever it is, the leaf does not work
        fault = f"decode(encode(placeholder)) raises {show_error(error)}"
        return fault, "Fix decode or encode, or give another placeholder"
    if isinstance(decoded, cls):
        return None
    if _is_awaitable(decoded):
        return _ASYNC.format("decode"), _PLAIN
    return (
        f"decode(encode(placeholder)) is {received(decoded)}, not an instance of {cls.__name__}",
        "Fix decode",
    )


_ASYNC = "{} is async, and nothing awaits its result"
_PLAIN = "Write it with def, not with async def"


def _is_awaitable(result: object) -> bool:
    """Return whether an object must be awaited; close a coroutine, because Python would warn otherwise."""
    cls: type = type(result)
    if cls is CoroutineType:
        cast("CoroutineType[Any, Any, Any]", result).close()
    return hasattr(cls, "__await__")


def misfit(shown: Mapping[str, Any], value: object) -> Finding | None:
    """Return the first way in which a JSON value breaks a leaf's schema; None if it fits."""
    judge: Any = getattr(shown, "judge", None)
    return None if judge is None else next(iter(judge.problems(value)), None)
