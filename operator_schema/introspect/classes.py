"""Which fields does a class declare, and what is written in it about them?"""

from __future__ import annotations

import sys
from dataclasses import MISSING, InitVar
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Annotated, Any, ForwardRef, Never, NoReturn, get_origin

from ..immutable import Value
from ..message_text import exact_text
from .hints import Scope, Unresolved, evaluate_forward
from .leaves import has_attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .docstrings import Docstring
    from .hints import Bindings
    from .nodes import ObjectForm


DESCRIPTIONS = "param_descriptions"
"""The attribute in which a class describes its fields."""


class Declared:
    """One field as its class declares it.

    Attributes:
        name: the name of the attribute.
        hint: the evaluated annotation, or an `Unresolved`.
        scope: the meaning of the names inside the annotation.
        default: the default, or `dataclasses.MISSING`.
        has_factory: whether a factory makes the default.
        required: for a TypedDict, whether the key must be there; None for other classes, where the default
            decides.
        init_only: whether the instance doesn't store the field.
        metadata: the metadata of a dataclass field, or None.
    """

    __slots__ = ("default", "has_factory", "hint", "init_only", "metadata", "name", "required", "scope")

    def __init__(
        self,
        name: str,
        hint: Any,
        scope: Scope,
        default: Any = MISSING,
        *,
        has_factory: bool = False,
        required: bool | None = None,
    ) -> None:
        self.name = name
        self.hint = hint
        self.scope = scope
        self.default = default
        self.has_factory = has_factory
        self.required = required
        self.init_only = False
        self.metadata: Mapping[Any, Any] | None = None

    def with_metadata(self, metadata: Mapping[Any, Any]) -> Declared:
        """Return a copy with more metadata; existing entries win."""
        copy = Declared.__new__(Declared)
        for name in self.__slots__:
            setattr(copy, name, getattr(self, name))
        copy.metadata = {**metadata, **(self.metadata or {})}
        return copy


SOURCE = "__parameter_source__"
"""The attribute in which a class made for the parameters of a function stores its `ParameterSource`."""


def parameter_source(cls: type[Any]) -> ParameterSource | None:
    """Return the `ParameterSource` of a class made for a function, None for any other class."""
    source: ParameterSource | None = cls.__dict__.get(SOURCE)
    return source


def form_of(cls: Any) -> ObjectForm | None:
    """Return which kind of class with fields this is; None for any other class.

    The dataclass that is made for the parameters of a function is of the form `function`. A pydantic model
    has no form, even if it inherits fields from a dataclass.
    """
    if has_attribute(cls, "__dataclass_fields__"):
        if type(cls) is not type and hasattr(cls, "model_json_schema"):
            return None
        return "function" if SOURCE in cls.__dict__ else "dataclass"
    if not isinstance(cls, type):
        return None
    if issubclass(cls, dict) and hasattr(cls, "__required_keys__"):  # pyright: ignore[reportUnknownArgumentType]  # of whatever items
        return "typed_dict"
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):  # pyright: ignore[reportUnknownArgumentType]  # of whatever items
        return "named_tuple"
    # Where neither library is loaded, none of its classes can be there.
    if "attr" in sys.modules and has_attribute(cls, "__attrs_attrs__"):  # pyright: ignore[reportUnknownArgumentType]  # of whatever type
        return "attrs"
    if "msgspec" in sys.modules and has_attribute(cls, "__struct_fields__"):  # pyright: ignore[reportUnknownArgumentType]  # of whatever type
        return "struct"
    return None


class Scopes:
    """The scopes of the classes in an MRO, each made when it is asked for."""

    def __init__(self, cls: type, own: Scope) -> None:
        self._own = own
        self._made: dict[type, Scope] = {cls: own}
        self._bindings: Mapping[type, Bindings] = {}
        if len(lineage(cls)) > 1:
            from .type_parameters import inherited_bindings

            self._bindings = inherited_bindings(cls, own.bindings, own)

    def of(self, owner: type) -> Scope:
        """Return the scope of a class in the MRO."""
        scope = self._made.get(owner)
        if scope is None:
            scope = self._made[owner] = self._own.of_base(owner, self._bindings.get(owner))
        return scope

    def evaluate(self, written: Sequence[Any], owners: Sequence[type]) -> list[Any]:
        """Evaluate annotations, each in the scope of the class that it is written in."""
        hints = list(written)
        for owner in dict.fromkeys(owners):
            places = [i for i, other in enumerate(owners) if other is owner]
            for i, hint in zip(places, evaluated([written[i] for i in places], self.of(owner)), strict=True):
                hints[i] = hint
        return hints


def evaluated(written: Sequence[Any], scope: Scope) -> Sequence[Any]:
    """Evaluate the annotations of one class, in one go where all of them are text."""
    hints = scope.evaluate_all(written) if _TEXT.issuperset(map(type, written)) else written
    if _WRITTEN.isdisjoint(map(type, hints)):
        return hints
    return [evaluate_forward(evaluate_forward(hint, scope), scope) for hint in hints]


_TEXT = frozenset({str})
_WRITTEN = frozenset({str, ForwardRef})


def lineage(cls: type) -> Sequence[type]:
    """Return a class and its bases, the nearest first, without object.

    A TypedDict doesn't keep its bases; before Python 3.12, it keeps only a generic one.
    """
    if dict not in cls.__mro__ or form_of(cls) != "typed_dict":
        return cls.__mro__[:-1]
    bases = list(cls.__mro__[:-1])
    for base in vars(cls).get("__orig_bases__", ()):
        origin: Any = get_origin(base) or base
        if isinstance(origin, type) and form_of(origin) == "typed_dict":
            bases += [other for other in lineage(origin) if other not in bases]
    return [base for base in bases if form_of(base) == "typed_dict"]


def dataclass_fields(cls: Any, own: Scope) -> dict[str, Declared]:
    """Return the fields of a dataclass by name, given its own scope."""
    sources: list[Any] = []
    written: list[Any] = []
    for field in cls.__dataclass_fields__.values():
        # dataclasses has no public name for what kind of field this is.
        if field.init and field._field_type.name != "_FIELD_CLASSVAR":  # noqa: SLF001  # dataclasses has no public way to ask
            sources.append(field)
            written.append(field.type)
    scopes: Iterable[Scope] = repeat(own)
    bases = cls.__mro__
    if len(bases) == 2:  # noqa: PLR2004  # the class and `object`
        hints = evaluated(written, own)
    else:
        known = Scopes(cls, own)
        owners = [definer(source, bases[:-1]) for source in sources]
        hints = known.evaluate(written, owners)
        scopes = [known.of(owner) for owner in owners]
    found = of_dataclass(sources, hints, scopes)
    if "__pydantic_fields__" in cls.__dict__:
        _read_pydantic_defaults(found.values())
    return found


def _read_pydantic_defaults(fields: Iterable[Declared]) -> None:
    """Read each `x: int = Field(3, ge=1)` of a pydantic dataclass as `x: Annotated[int, Field(ge=1)] = 3`."""
    for field in fields:
        info: Any = field.default
        if type(info).__name__ == "FieldInfo" and not isinstance(field.hint, Unresolved):
            field.hint = Annotated[field.hint, info]
            field.default = (
                MISSING if type(info.default).__name__ == "PydanticUndefinedType" else info.default
            )
            field.has_factory = info.default_factory is not None


def of_dataclass(
    sources: Sequence[Any], hints: Sequence[Any], scopes: Iterable[Scope]
) -> dict[str, Declared]:
    """Return fields of a dataclass by name."""
    found: dict[str, Declared] = {}
    for source, hint, scope in zip(sources, hints, scopes):  # noqa: B905  # `repeat` has no end
        # Assignments take half the time of an `__init__` with as many parameters.
        declared = Declared.__new__(Declared)
        name = source.name
        if type(name) is not str:
            name = exact_text(name)
        found[name] = declared
        declared.name = name
        declared.init_only = init_only = type(hint) is InitVar
        declared.hint = hint.type if init_only else hint  # pyright: ignore[reportUnknownMemberType]  # of whatever type
        declared.scope = scope
        declared.default = source.default
        declared.has_factory = source.default_factory is not MISSING
        declared.required = None
        declared.metadata = source.metadata
    return found


def definer(field: Any, bases: Sequence[type]) -> type:
    """Return the class in an MRO that defines a field of a dataclass."""
    # Subclasses share the Field objects that they inherit: the farthest base that has this one
    # is the class whose module knows the names in its annotation.
    holders = [base for base in bases if vars(base).get("__dataclass_fields__", {}).get(field.name) is field]
    return holders[-1] if holders else bases[0]


def is_closed(cls: Any, form: ObjectForm) -> bool:
    """Return whether a class itself refuses keys that aren't its fields.

    A TypedDict (PEP 728) and a Struct can refuse them, and a class that pydantic made or configured.
    """
    if form == "struct":
        return bool(cls.__struct_config__.forbid_unknown_fields)
    if "pydantic" in sys.modules:
        from .pydantic_settings import forbids_extra

        if forbids_extra(cls):
            return True
    if form != "typed_dict":
        return False
    said = (getattr(base, "__closed__", None) for base in lineage(cls))
    return next((closed for closed in said if closed is not None), False) or _extra_items(cls) in _NEVER


def extra_items(cls: type) -> Any:
    """Return the type of a TypedDict's extra items (PEP 728); None if it sets none."""
    found = _extra_items(cls)
    return None if found in _NEVER else found


def _extra_items(cls: type) -> Any:
    said = (getattr(base, "__extra_items__", None) for base in lineage(cls))
    return next((items for items in said if items is not None and "NoExtraItems" not in repr(items)), None)


_NEVER = (Never, NoReturn)


def annotations_of(cls: Any) -> Mapping[str, Any]:
    """Return a class's or function's own annotations as written, without evaluating forward references."""
    if sys.version_info >= (3, 14):  # pragma: no cover  # `make matrix` runs it
        # PEP 749: names that are not defined yet come as forward references.
        from annotationlib import Format, get_annotations

        return get_annotations(cls, format=Format.FORWARDREF)
    if not isinstance(cls, type):
        return cls.__annotations__  # type: ignore[no-any-return]  # a function's
    annotations: Mapping[str, Any] = vars(cls).get("__annotations__", {})
    return annotations


def own_docstring(cls: type) -> str | None:
    """Return the docstring that was written for this class itself.

    Args:
        cls: any class.

    Returns:
        The docstring as in the source; None if the class has no own docstring, if it is blank, or if it is
        the signature that `dataclass` or `NamedTuple` put there.
    """
    members = cls.__dict__
    doc = members.get("__doc__")
    if not isinstance(doc, str) or not doc.strip():
        return None
    makes_docstrings = "__dataclass_fields__" in members or issubclass(cls, tuple)
    return None if makes_docstrings and _is_signature(doc, cls.__name__) else doc


@cache  # an import takes 1 µs, even where the module is loaded: a third of reading a line
def docstring_parser() -> Callable[[str | None], Docstring]:
    """Import and return `parse_docstring`; types without docstrings don't need it."""
    from .docstrings import parse_docstring

    return parse_docstring


def _is_signature(doc: str, name: str) -> bool:
    if doc == name:
        return True  # `dataclass` writes only the name if there is no signature
    if "\n" in doc or not doc.startswith(name + "(") or not doc.endswith(")"):
        return False
    begin = len(name) + 1
    if doc[begin : doc.find(":", begin)].isidentifier():
        return True  # the first parameter
    names = doc[begin:-1].partition(":")[0].partition("=")[0]
    # Between the commas are parameters, the bare `*` and `/`, and nothing behind a last comma;
    # a sentence such as "File(s) to read (at once)" has something else there.
    parts = [part.strip(" */") for part in names.split(",")]
    return all(not part or part.isidentifier() for part in parts)


class ParameterSource(Value):
    """The facts about a function that the walk needs when it reads the class made for its parameters.

    Attributes:
        declared: the parameters that the model gives, in order.
        doc: the docstring of the function, or None.
        others: names that the docstring may describe too, such as parameters that the host fills.
    """

    declared: Sequence[Declared]
    doc: str | None
    others: Sequence[str]
