"""Hypothesis strategies for the values of a type: for property tests of what takes them.

The extra `testing` brings Hypothesis. Nothing else in this package imports this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..codec.codec import Codec
from ..codec.options import CodecOptions

try:
    from .near_misses import Misses
    from .valid_values import Valid
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    message = "operator_schema.testing needs Hypothesis: pip install 'operator-schema[testing]'"
    raise ModuleNotFoundError(message, name=error.name) from None

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from hypothesis.strategies import SearchStrategy

__all__ = ["CodecOptions", "arguments", "instances", "near_misses"]

T = TypeVar("T")


def arguments(
    annotation: Any,
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
    **codec_options: Unpack[CodecOptions],
) -> SearchStrategy[Any]:
    """Generate JSON values that decode, as a model would send them.

    Keys that need not be there are there or not, null stands where it is taken, integers come as
    `3` and as `3.0`, and unknown keys come along where they are ignored.

    Args:
        annotation: a dataclass, any other supported annotation, or a `Codec`.
        json_values: type of a leaf to a strategy of JSON values that the leaf decodes. A leaf of
            the user's own gives its encoded placeholder unless it stands here.
        **codec_options: as `Codec` takes them.

    Returns:
        A strategy of dict, list, str, int, float, bool and None.

    Raises:
        SchemaError: with every complaint about the type.
        TypeError: options are given together with a `Codec`.
        ValueError: no JSON value decodes, or `json_values` names a type that has no leaf here.
    """
    codec = _codec_of(annotation, codec_options)
    values = Valid(codec.graph, json_values or {}).root()
    if values.is_empty:
        message = f"no JSON value decodes as {codec.name}: its constraints leave none, or it never ends"
        raise ValueError(message)
    return values.filter(lambda value: not codec.problems(value))


@overload
def instances(
    annotation: type[T] | Codec[T],
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
    **codec_options: Unpack[CodecOptions],
) -> SearchStrategy[T]: ...
@overload
def instances(
    annotation: Any,
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
    **codec_options: Unpack[CodecOptions],
) -> SearchStrategy[Any]: ...
def instances(
    annotation: Any,
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
    **codec_options: Unpack[CodecOptions],
) -> SearchStrategy[Any]:
    """Generate instances: what `arguments` of the same type decode to.

    Args:
        annotation: a dataclass, any other supported annotation, or a `Codec`.
        json_values: as `arguments` takes it.
        **codec_options: as `Codec` takes them.

    Returns:
        A strategy of instances of the type.

    Raises:
        SchemaError: with every complaint about the type.
        TypeError: options are given together with a `Codec`.
        ValueError: no JSON value decodes, or `json_values` names a type that has no leaf here.
    """
    codec = _codec_of(annotation, codec_options)
    return arguments(codec, json_values=json_values).map(codec.decode)


def near_misses(
    annotation: Any,
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
    **codec_options: Unpack[CodecOptions],
) -> SearchStrategy[Any]:
    """Generate JSON values that do not decode, most of them by one small mistake.

    A key is missing, misspelt or unknown where such keys are refused; a value is of another JSON
    type, a number is just out of range, a text or an array just too short or too long, a choice
    misspelt, null where it is not taken.

    Args:
        annotation: a dataclass, any other supported annotation, or a `Codec`.
        json_values: as `arguments` takes it.
        **codec_options: as `Codec` takes them.

    Returns:
        A strategy of dict, list, str, int, float, bool and None.

    Raises:
        SchemaError: with every complaint about the type.
        TypeError: options are given together with a `Codec`.
        ValueError: every JSON value decodes, or `json_values` names a type that has no leaf here.
    """
    codec = _codec_of(annotation, codec_options)
    misses = Misses(codec.graph, Valid(codec.graph, json_values or {})).root()
    if misses.is_empty:
        message = f"every JSON value decodes as {codec.name}: nothing misses it"
        raise ValueError(message)
    return misses.filter(lambda value: bool(codec.problems(value)))


def _codec_of(annotation: Any, options: CodecOptions) -> Codec[Any]:
    codec = _as_codec(annotation)
    if codec is None:
        return Codec(annotation, **options)
    if options:
        message = f"a Codec has its options already: {', '.join(options)} can't be given"
        raise TypeError(message)
    return codec


def _as_codec(annotation: Any) -> Codec[Any] | None:
    return annotation if isinstance(annotation, Codec) else None  # pyright: ignore[reportUnknownVariableType]  # of whatever type
