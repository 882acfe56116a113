"""What a tool gives back: its declared type, and the text that the model gets."""

from __future__ import annotations

import collections.abc
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, get_args, get_origin

from ..codec.codec import Codec, codec_of
from ..errors import EncodeError, SchemaError
from ..introspect.hints import Unresolved, evaluate_forward
from ..json_values import has_surrogate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..introspect.hints import Scope

__all__ = ["NO_OUTPUT", "Output", "to_json_text"]


class Output:
    """The declared type of what a tool gives back, read when it is first asked for.

    Args:
        written: the annotation, or `dataclasses.MISSING`.
        scope: what names mean in it; None for a type that is no annotation.
        names: names that forward references inside it may use besides those of the scope.
    """

    __slots__ = ("_codec", "_names", "_scope", "_type", "_written")

    def __init__(
        self, written: Any, scope: Scope | None = None, names: Mapping[str, Any] | None = None
    ) -> None:
        self._written = written
        self._scope = scope
        self._names = names
        self._type: Any = MISSING
        self._codec: Any = MISSING

    @property
    def is_declared(self) -> bool:
        """Whether there is an annotation at all."""
        return self._written is not MISSING

    @property
    def type(self) -> Any:
        """The type; None where none is declared, or where its name is not known."""
        if self._type is MISSING:
            self._type = self._read()
        return self._type

    def _read(self) -> Any:
        if self._written is MISSING:
            return None
        hint = self._written
        if self._scope is not None:
            hint = evaluate_forward(evaluate_forward(hint, self._scope), self._scope)
        if get_origin(hint) in {collections.abc.Awaitable, collections.abc.Coroutine}:
            hint = get_args(hint)[-1]  # what is awaited
        return None if isinstance(hint, Unresolved) else type(None) if hint is None else hint

    def codec(self) -> Codec[Any] | None:
        """Return the codec of the type; None where there is none, or the type has no schema."""
        if self._codec is MISSING:
            self._codec = self._register()
        codec: Codec[Any] | None = self._codec
        return codec

    def _register(self) -> Codec[Any] | None:
        if self.type is None:
            return None
        try:
            return codec_of(self.type)
        except SchemaError:
            pass
        try:
            names = {} if self._scope is None else self._scope.names
            return Codec(self.type, namespace={**names, **(self._names or {})})
        except SchemaError:
            return None

    def encode(self, value: object, name: str) -> str:
        """Write a result as the text that the model gets.

        Args:
            value: of the type.
            name: of the tool.

        Raises:
            EncodeError: it does not fit its type, or has no JSON form.
        """
        text = str.__str__(value) if isinstance(value, str) else None
        if text is not None and (text.isascii() or not has_surrogate(text)):
            return text
        try:
            codec: Codec[Any] | None = codec_of(Any) if text is not None else self.codec()
            encoded = (codec or codec_of(_as_what_it_is(value))).encode(value)
        except EncodeError as error:
            raise EncodeError(name, error.problems, error.omitted) from None
        return to_json_text(encoded)


def _as_what_it_is(value: object) -> Any:
    cls = type(value)
    return cls if hasattr(cls, "__dataclass_fields__") else Any


NO_OUTPUT = Output(MISSING)


def to_json_text(value: Any) -> str:
    """Write a JSON value as compact text."""
    from json import dumps  # noqa: PLC0415  # a program that only registers does not write

    return dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
