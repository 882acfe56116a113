"""How does a function take its arguments if a JSON Schema document describes them?"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from ..errors import SchemaError
from ..findings import Finding, about_type
from ..introspect.classes import form_of
from ..introspect.hints import Unresolved
from ..introspect.shown_annotations import name_of
from ..message_text import listed, quote
from ..schema.document import DocumentCodec, SchemaDocument
from .options import register_input
from .parameters import class_of
from .raw_arguments import RawArguments

if TYPE_CHECKING:
    from ..codec.codec import Codec
    from ..introspect.classes import Declared
    from .parameters import Parameters
    from .signature import Parameter

_REMEDY = "Take them as arguments: dict[str, Any], and mark what your program injects: Annotated[T, skip]"
_DICTS = frozenset({dict, Mapping, MutableMapping, RawArguments, Any, object, MISSING})


class RawDocumentCodec(DocumentCodec):
    """A codec that checks values against a document, and returns them as raw arguments."""

    @property
    def decoded_type(self) -> Any:
        """The class `RawArguments`."""
        return RawArguments

    def _made(self, value: Any) -> Any:
        return RawArguments(value)

    def _written(self, instance: Any) -> Any:
        return instance.arguments if isinstance(instance, RawArguments) else instance


def register_document(
    schema: Mapping[str, Any],
    parameters: Parameters,
    name: str,
    options: Mapping[str, Any],
    complaints: list[Finding],
) -> Codec[Any] | None:
    """Register a document as the input of a function; return None if there are complaints, old or new."""
    try:
        document = SchemaDocument(name, schema)
    except SchemaError as error:
        complaints += error.findings
        return None
    is_raw = any(class_of(each.hint) is RawArguments for each in parameters.declared)
    return register_input(document, name, options, complaints, RawDocumentCodec if is_raw else DocumentCodec)


def complain_parameters(parameters: Parameters, owner: str) -> list[Finding]:
    """Complain about a function that can't take all arguments at once.

    Args:
        parameters: the parameters of the function.
        owner: name of the tool.
    """
    names = [quote(each.name) for each in parameters.visible]
    if not names:
        message = "it has no parameter for the arguments, which are passed in one dict"
    elif len(names) > 1:
        among = listed(names, separator=" and ")
        message = f"the model would give {among}, but with a JSON Schema all arguments are one dict"
    else:
        message = _why_not_all(parameters.visible[0], parameters.declared[0], parameters) or ""
    return [about_type((), "unsupported", owner, message, _REMEDY)] if message else []


def _why_not_all(parameter: Parameter, declared: Declared, parameters: Parameters) -> str | None:
    """Return why a parameter can't take all arguments, None if it can."""
    name = quote(parameter.name)
    if parameter.kind == "rest":
        return f"{name} takes arguments by position, and all arguments are one dict"
    if parameter.kind == "extra":
        beside = [own.name for own, _, _ in parameters.injected if own.kind != "positional_only"]
        return (
            f"{name} takes any name, also {quote(beside[0])}, which your program injects" if beside else None
        )
    hint = declared.hint
    cls = class_of(hint)
    if isinstance(hint, Unresolved) or cls in _DICTS or form_of(cls) == "typed_dict":
        return None
    return f"{name} is annotated {name_of(hint)}, and all arguments are one dict"
