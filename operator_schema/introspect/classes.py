"""Classes that become JSON objects, the fields that they or a function declare, and their type parameters."""

from __future__ import annotations

import sys
from dataclasses import MISSING, InitVar
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Annotated, Any, ForwardRef, Never, NoReturn, get_args, get_origin

from ..immutable import Value
from ..message_text import exact_text
from .hints import Scope, Unresolved, evaluate_forward
from .leaves import has_attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .docstrings import Docstring
    from .hints import Bindings
    from .nodes import ObjectForm

__all__ = [
    "SOURCE",
    "Declared",
    "ParameterSource",
    "annotations_of",
    "bind",
    "declared_fields",
    "declares",
    "docstring_parser",
    "extra_items",
    "form_of",
    "is_closed",
    "lineage",
    "own_docstring",
    "parameter_source",
]


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


def declared_fields(
    cls: type,
    form: ObjectForm,
    bindings: Bindings,
    self_type: Any,
    namespace: Mapping[str, Any],
    outer: Scope,
) -> Mapping[str, Declared]:
    """Return the fields that a class declares by name, inherited ones included, in order.

    Args:
        cls: a class of that form.
        form: the form that `form_of` returns.
        bindings: the bindings of its own type parameters.
        self_type: the meaning of `Self` in it.
        namespace: names that the user adds.
        outer: the scope in which the types of the bindings are written.
    """
    source = parameter_source(cls) if form == "function" else None
    if source is not None:
        # Evaluated already, because the annotations decide which names are fields.
        return {declared.name: declared for declared in source.declared}
    return _READERS[form](cls, Scope(cls, namespace, bindings, self_type, outer))


class _Scopes:
    """The scopes of the classes in an MRO, each made when it is asked for."""

    def __init__(self, cls: type, own: Scope) -> None:
        self._own = own
        self._made: dict[type, Scope] = {cls: own}
        self._bindings: Mapping[type, Bindings] = {}
        if len(lineage(cls)) > 1:
            self._bindings = inherited_bindings(cls, own.bindings, own)

    def of(self, owner: type) -> Scope:
        scope = self._made.get(owner)
        if scope is None:
            scope = self._made[owner] = self._own.of_base(owner, self._bindings.get(owner))
        return scope

    def evaluate(self, written: Sequence[Any], owners: Sequence[type]) -> list[Any]:
        """Evaluate annotations, each in the scope of the class that it is written in."""
        hints = list(written)
        for owner in dict.fromkeys(owners):
            places = [i for i, other in enumerate(owners) if other is owner]
            for i, hint in zip(places, _evaluate([written[i] for i in places], self.of(owner)), strict=True):
                hints[i] = hint
        return hints


def _evaluate(written: Sequence[Any], scope: Scope) -> Sequence[Any]:
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


def _dataclass_fields(cls: Any, own: Scope) -> dict[str, Declared]:
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
        hints = _evaluate(written, own)
    else:
        known = _Scopes(cls, own)
        owners = [_definer(source, bases[:-1]) for source in sources]
        hints = known.evaluate(written, owners)
        scopes = [known.of(owner) for owner in owners]
    found = _of_dataclass(sources, hints, scopes)
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


def _of_dataclass(
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


def with_computed_fields(cls: Any, declared: Mapping[str, Declared], outer: Scope) -> Mapping[str, Declared]:
    """Return the declared fields together with those that the constructor doesn't take, in the class's order.

    Args:
        cls: a dataclass or an attrs class.
        declared: the fields that its constructor takes.
        outer: the scope in which the class is used.
    """
    if form_of(cls) == "attrs":
        return {**declared, **_library_fields(cls, outer.of_base(cls, None), computed=True)}
    found: dict[str, Declared] = {}
    for source in cls.__dataclass_fields__.values():
        if source.name in declared:
            found[source.name] = declared[source.name]
        elif source._field_type.name == "_FIELD":  # noqa: SLF001  # dataclasses has no public way to ask
            scope = outer.of_base(_definer(source, cls.__mro__[:-1]), None)
            hint = evaluate_forward(evaluate_forward(source.type, scope), scope)
            found.update(_of_dataclass([source], [hint], [scope]))
    return found


def _definer(field: Any, bases: Sequence[type]) -> type:
    # Subclasses share the Field objects that they inherit: the farthest base that has this one
    # is the class whose module knows the names in its annotation.
    holders = [base for base in bases if vars(base).get("__dataclass_fields__", {}).get(field.name) is field]
    return holders[-1] if holders else bases[0]


def _typed_dict_fields(cls: Any, own: Scope) -> dict[str, Declared]:
    scopes = _Scopes(cls, own)
    annotations = annotations_of(cls)
    bases = lineage(cls)
    owners = [
        next((base for base in reversed(bases) if annotations_of(base).get(name) == annotation), cls)
        for name, annotation in annotations.items()
    ]
    hints = scopes.evaluate(list(annotations.values()), owners)
    declared: dict[str, Declared] = {}
    for name, hint, owner in zip(annotations, hints, owners, strict=True):
        said = qualifiers(hint)
        # Python 3.11 does not look into annotations written as text (python/cpython#97727).
        required = "Required" in said or (name in cls.__required_keys__ and "NotRequired" not in said)
        key = exact_text(name)
        declared[key] = Declared(key, hint, scopes.of(owner), required=required)
    return declared


def _named_tuple_fields(cls: Any, own: Scope) -> dict[str, Declared]:
    definer = next(base for base in cls.__mro__ if "_fields" in vars(base))
    annotations = annotations_of(definer)
    written = [annotations.get(name, Any) for name in cls._fields]
    scope = _Scopes(cls, own).of(definer)
    defaults: Mapping[str, Any] = cls._field_defaults
    return {
        name: Declared(name, hint, scope, defaults.get(name, MISSING))
        for name, hint in zip(cls._fields, _evaluate(written, scope), strict=True)
    }


def _library_fields(cls: type, own: Scope, *, computed: bool = False) -> dict[str, Declared]:
    from .foreign_classes import fields_of

    sources = fields_of(cls, computed=computed)
    scopes = _Scopes(cls, own)
    owners = [_annotator(source.name, cls) for source in sources]
    found: dict[str, Declared] = {}
    written = [
        annotations_of(owner)[source.name] if source.annotation is MISSING else source.annotation
        for source, owner in zip(sources, owners, strict=True)
    ]
    hints = scopes.evaluate(written, owners)
    for source, hint, owner in zip(sources, hints, owners, strict=True):
        declared = Declared(
            source.name, hint, scopes.of(owner), source.default, has_factory=source.has_factory
        )
        declared.metadata = source.metadata
        found[source.name] = declared
    return found


def _annotator(name: str, cls: type) -> type:
    """Return the class in the MRO that annotates a field; the names in the annotation are its names."""
    return next((base for base in cls.__mro__ if name in annotations_of(base)), cls)


def is_closed(cls: Any, form: ObjectForm) -> bool:
    """Return whether a class itself refuses keys that aren't its fields.

    A TypedDict (PEP 728) and a Struct can refuse them, and a class that pydantic made or configured.
    """
    if form == "struct":
        return bool(cls.__struct_config__.forbid_unknown_fields)
    if "pydantic" in sys.modules:
        from .foreign_classes import forbids_extra

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
_READERS: dict[ObjectForm, Callable[[type, Scope], Mapping[str, Declared]]] = {
    "dataclass": _dataclass_fields,
    "typed_dict": _typed_dict_fields,
    "named_tuple": _named_tuple_fields,
    "attrs": _library_fields,
    "struct": _library_fields,
}


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


_QUALIFIERS = frozenset({"Required", "NotRequired", "ReadOnly", "Final"})


def qualifiers(hint: Any) -> set[str]:
    """Return the names of the qualifiers around a type, such as `NotRequired`."""
    found: set[str] = set()
    while True:
        origin: Any = get_origin(hint)
        name = getattr(origin, "_name", None) or getattr(origin, "__name__", None)
        if origin is Annotated:
            hint = hint.__origin__
        elif name in _QUALIFIERS:
            found.add(name)
            hint = get_args(hint)[0]
        else:
            return found


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


# --- what is given for the type parameters of a generic (PEP 484, PEP 695, PEP 696) ------------------


def parameters_of(generic: Any) -> tuple[Any, ...]:
    """Return the type parameters of a generic class or alias."""
    return getattr(generic, "__type_params__", ()) or getattr(generic, "__parameters__", ())


def declares(scope: Scope, parameter: Any) -> bool:
    """Return whether a type parameter belongs to the scope's owner, or the owner isn't known."""
    # Before PEP 695 a function declares those that it uses.
    is_open = scope.owner is None or hasattr(scope.owner, "__globals__")
    return is_open or _declares(scope.owner, parameter)


def _declares(generic: Any, parameter: Any) -> bool:
    if parameter in parameters_of(generic):
        return True
    # The parameters of a base that is given nothing are left open in its subclass.
    bases = getattr(generic, "__dict__", {}).get("__orig_bases__", ()) or getattr(generic, "__bases__", ())
    return any(get_origin(base) is None and _declares(base, parameter) for base in bases)


def substitute(annotation: Any, bindings: Bindings) -> Any:
    """Replace the type parameters in an annotation by their arguments; those without an argument stay."""
    if not bindings:
        return annotation
    if _is_parameter(annotation):
        return bindings.get(annotation, annotation)
    parameters: tuple[Any, ...] = getattr(annotation, "__parameters__", ())
    if isinstance(annotation, type) or not any(parameter in bindings for parameter in parameters):
        return annotation
    return annotation[tuple([bindings.get(parameter, parameter) for parameter in parameters])]


def _is_parameter(annotation: Any) -> bool:
    return type(annotation).__name__ == "TypeVar"


def bind(generic: Any, args: Sequence[Any], scope: Scope) -> dict[Any, Any]:
    """Return the argument of each type parameter in `generic[args]`.

    Args:
        generic: class or alias with type parameters.
        args: as written; they may name the parameters of the scope.
        scope: the scope in which they are written.

    Returns:
        A map from parameter to type, without the parameters that are left open.
    """
    bindings: dict[Any, Any] = {}
    if not args:
        return bindings
    for parameter, arg in _pairs(parameters_of(generic), args):
        # PEP 696: a default may name the parameters before it, and is filled in by Python.
        is_default = getattr(parameter, "__default__", None) == arg and arg is not None
        known = bindings if is_default else scope.bindings
        bindings[parameter] = substitute(evaluate_forward(arg, scope), known)
    return bindings


def _pairs(parameters: Sequence[Any], args: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Pair each type parameter with its argument; a `TypeVarTuple` stays open."""
    before = next((i for i, p in enumerate(parameters) if type(p).__name__ == "TypeVarTuple"), None)
    if before is None:
        return list(zip(parameters, args, strict=False))
    after = len(parameters) - before - 1
    return [
        *zip(parameters[:before], args, strict=False),
        *zip(parameters[before + 1 :], args[len(args) - after :], strict=False),
    ]


def inherited_bindings(cls: type, bindings: Bindings, scope: Scope) -> dict[type, Bindings]:
    """Return the arguments of the type parameters in each base of a class.

    Args:
        cls: any class.
        bindings: the bindings of its own parameters.
        scope: the scope of the class, for arguments that are text.

    Returns:
        A map from the class and each of its generic bases to the bindings that count in it.
    """
    found: dict[type, Bindings] = {cls: bindings}
    for base in vars(cls).get("__orig_bases__", ()) or cls.__bases__:
        origin: Any = get_origin(base) or base
        if isinstance(origin, type) and origin is not object:
            inner = {p: substitute(a, bindings) for p, a in bind(origin, get_args(base), scope).items()}
            if _is_made_anew(cls, origin):
                inner = dict(bindings)
            found.update(inherited_bindings(origin, inner, scope))
    return found


def _is_made_anew(cls: type, base: type) -> bool:
    """Return whether pydantic made a class from a dataclass, so that their type parameters are the same."""
    return "__is_pydantic_dataclass__" in vars(cls) and base.__qualname__ == cls.__qualname__
