"""Hypothesis strategies for the values of a type, for property tests of your tools."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ..codec.codec import Codec
from ..errors import DecodeError
from ..tools.tool import Tool

try:
    from .refused_values import NearMisses
    from .valid_values import ValidValues, values_of
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    message = "operator_schema.testing needs Hypothesis: pip install 'operator-schema[testing]'"
    raise ModuleNotFoundError(message, name=error.name) from None

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Unpack

    from hypothesis.strategies import SearchStrategy

    from ..codec.options import CodecOptions

T = TypeVar("T")


def arguments(
    annotation: Any,
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
    **codec_options: Unpack[CodecOptions],
) -> SearchStrategy[Any]:
    """Generate JSON values that decode, as a model would send them.

    Optional keys are present or not, null is used where it is accepted, integers come as `3` and as
    `3.0`, and there are unknown keys if they are ignored.

    Args:
        annotation: a dataclass, any other supported annotation, a tool, or a `Codec`.
        json_values: type of your own leaf to a strategy of JSON values that it decodes; without it, only the
            leaf's placeholder is used.
        **codec_options: as `Codec` takes them.

    Returns:
        A strategy of dict, list, str, int, float, bool and None.

    Raises:
        SchemaError: with every complaint about the type.
        TypeError: options are given together with a tool or a `Codec`.
        ValueError: no JSON value decodes, or a type in `json_values` isn't the type of a leaf.
    """
    codec = _codec_of(annotation, codec_options)
    values = values_of(codec, json_values)
    if values.is_empty:
        message = f"no JSON value decodes as {codec.name}: its constraints leave none, or it never ends"
        raise ValueError(message)
    return values


@overload
def instances(
    annotation: Tool[..., Any],
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
) -> SearchStrategy[Any]: ...
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
    """Generate instances, decoded from `arguments` of the same type.

    Args:
        annotation: a dataclass, any other supported annotation, a tool, or a `Codec`.
        json_values: as `arguments` takes it.
        **codec_options: as `Codec` takes them.

    Returns:
        A strategy of instances of the type.

    Raises:
        SchemaError: with every complaint about the type.
        TypeError: options are given together with a tool or a `Codec`.
        ValueError: no JSON value decodes, or a type in `json_values` isn't the type of a leaf.
    """
    codec = _codec_of(annotation, codec_options)
    decode = annotation.decode if isinstance(annotation, Tool) else codec.decode
    return arguments(codec, json_values=json_values).map(decode)


def near_misses(
    annotation: Any,
    /,
    *,
    json_values: Mapping[type, SearchStrategy[Any]] | None = None,
    **codec_options: Unpack[CodecOptions],
) -> SearchStrategy[Any]:
    """Generate JSON values that do not decode, most of them by one small mistake.

    The mistake may be a missing, misspelt or refused unknown key, another JSON type, a number just out of
    range, a string or array just too short or too long, a misspelt choice, or a null that is refused.

    Args:
        annotation: a dataclass, any other supported annotation, a tool, or a `Codec`.
        json_values: as `arguments` takes it.
        **codec_options: as `Codec` takes them.

    Returns:
        A strategy of dict, list, str, int, float, bool and None.

    Raises:
        SchemaError: with every complaint about the type.
        TypeError: options are given together with a tool or a `Codec`.
        ValueError: every JSON value decodes, or a type in `json_values` isn't the type of a leaf.
    """
    codec = _codec_of(annotation, codec_options)
    misses = NearMisses(codec.graph, ValidValues(codec.graph, json_values or {})).root()
    if misses.is_empty:
        message = f"every JSON value decodes as {codec.name}, so there are no near misses"
        raise ValueError(message)
    if isinstance(annotation, Tool):
        misses = misses.filter(partial(_is_refused_by, annotation))
    return misses.filter(lambda value: bool(codec.report(value)))


def _is_refused_by(tool: Tool[..., Any], value: object) -> bool:
    """Return whether a tool refuses arguments; a text is tried as JSON too."""
    try:
        tool.decode(value)
    except DecodeError:
        return True
    return False


def _codec_of(annotation: Any, options: CodecOptions) -> Codec[Any]:
    codec = annotation.codec if isinstance(annotation, Tool) else _as_codec(annotation)
    if codec is None:
        return Codec(annotation, **options)
    if options:
        owner = "tool" if isinstance(annotation, Tool) else "Codec"
        message = f"give options to the {owner} itself: {', '.join(options)}"
        raise TypeError(message)
    return codec


def _as_codec(annotation: Any) -> Codec[Any] | None:
    return annotation if isinstance(annotation, Codec) else None  # pyright: ignore[reportUnknownVariableType]  # of whatever type
