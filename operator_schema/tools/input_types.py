"""Dataclasses made for the parameters of functions: `WebSearchInput` for `web_search`.

They are real dataclasses, but their methods are shared: writing an `__init__` for each, as
`dataclasses` does, would take longer than everything else that happens to a function.
"""

from __future__ import annotations

import copy
import copyreg
import dataclasses
import sys
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from ..introspect.function_parameters import ATTRIBUTE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import ClassVar

    from ..introspect.function_parameters import ParameterSource
    from .signature import Parameter

__all__ = ["Input", "copy_of_default", "install", "make_input_type"]


class _LazySignature:
    """The signature of a class, made when somebody asks for it."""

    def __get__(self, instance: object, owner: Any) -> Any:
        import inspect  # noqa: PLC0415  # a program that runs tools does not ask

        if not dataclasses.is_dataclass(owner):
            return None
        empty = inspect.Parameter.empty
        parameters: list[inspect.Parameter] = []
        for entry in sorted(dataclasses.fields(owner), key=lambda entry: bool(entry.kw_only)):
            made = empty if entry.default_factory is MISSING else entry.default_factory()
            default = made if entry.default is MISSING else entry.default
            kind = _KINDS[bool(entry.kw_only)]
            parameters.append(inspect.Parameter(entry.name, kind, default=default, annotation=entry.type))
        return inspect.Signature(parameters)


_KINDS: Any = {False: 1, True: 3}  # inspect.Parameter's POSITIONAL_OR_KEYWORD and KEYWORD_ONLY


@dataclass(init=False, repr=False, eq=False)
class _Sample:
    """What the decorator leaves on a class, for those that are made without it."""

    field: Any


class _InputMeta(type):
    """The class of the dataclasses below, by which `pickle` tells them from others."""


_META: Any = _InputMeta  # pyright takes the attributes of an instance for those of its class otherwise


class Input(metaclass=_META):  # type: ignore[metaclass]  # mypy wants to see it
    """The parameters of one call; each function has a dataclass of its own that derives from this."""

    if TYPE_CHECKING:  # `typing.get_type_hints` looks here too
        __dataclass_fields__: ClassVar[dict[str, Any]]
        __match_args__: ClassVar[tuple[str, ...]]
        __number__: ClassVar[int]
        __reserved__: ClassVar[frozenset[str]]
    __dataclass_params__ = _Sample.__dataclass_params__  # type: ignore[attr-defined]  # known to `dataclasses` alone
    __reserved__ = frozenset()
    __function__ = ""
    __signature__ = _LazySignature()

    def __init__(self, /, *args: Any, **kwargs: Any) -> None:
        cls = type(self)
        fields, names = cls.__dataclass_fields__, cls.__match_args__
        if len(args) > len(names):
            message = f"{cls.__name__} takes {len(names)} positional arguments, {len(args)} were given"
            raise TypeError(message)
        given = dict(zip(names, args, strict=False))
        for name in kwargs:
            if name in given or name not in fields:
                what = "multiple values for" if name in given else "an unexpected keyword"
                message = f"{cls.__name__} got {what} argument {name!r}"
                raise TypeError(message)
        given.update(kwargs)
        stored = self.__dict__
        for name, entry in fields.items():
            if name in given:
                stored[name] = given[name]
            elif entry.default is not MISSING:
                stored[name] = entry.default
            elif entry.default_factory is not MISSING:
                stored[name] = entry.default_factory()
            else:
                message = f"{cls.__name__} misses its argument {name!r}"
                raise TypeError(message)
        if cls.__reserved__:
            self.__check_reserved__()

    def __check_reserved__(self) -> None:
        extra = next(reversed(self.__dict__.values()))  # `**kwargs` is the last parameter
        taken = [name for name in extra if name in self.__reserved__]
        if taken:
            message = f"{taken[0]!r} is a parameter of its own and can't stand among the extra ones"
            raise ValueError(message)

    def __eq__(self, other: object) -> bool:
        return self.__dict__ == other.__dict__ if type(other) is type(self) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as that of any dataclass that can change

    def __repr__(self) -> str:
        shown = ", ".join([f"{name}={value!r}" for name, value in self.__dict__.items()])
        return f"{type(self).__qualname__}({shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        return copyreg.__newobj__, (type(self),), self.__dict__  # type: ignore[attr-defined]  # known to `pickle` alone

    def __replace__(self, /, **changes: Any) -> Any:
        return dataclasses.replace(self, **changes)

    def __copy__(self) -> Any:
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = object.__new__(type(self))
        memo[id(self)] = made
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return made


_sample: Any = _Sample
_FIELD: Any = _sample.__dataclass_fields__["field"]._field_type  # noqa: SLF001  # it has no public name


def make_input_type(
    name: str,
    qualname: str,
    module: str,
    source: ParameterSource,
    parameters: Sequence[Parameter],
    reserved: frozenset[str],
    function: str,
) -> type[Input]:
    """Make the dataclass that stands for the parameters of a function.

    Args:
        name: of the class.
        qualname: its qualified name.
        module: of the function.
        source: what the walk reads.
        parameters: those that `source` declares, in the same order.
        reserved: names that `**kwargs` may not hold; empty where there is no such parameter.
        function: qualified name of the function.
    """
    # What the decorator would do, in a tenth of its time.
    fields = _Fields(source, parameters)
    namespace: dict[str, Any] = {}
    annotations: dict[str, Any] = {}
    by_position: list[str] = []
    for parameter, declared in zip(parameters, source.declared, strict=True):
        key, default = parameter.name, parameter.default
        annotations[key] = declared.hint
        if parameter.kind in _BY_POSITION:
            by_position.append(key)
        if default is not MISSING and not _is_made(parameter):
            namespace[key] = default
    namespace["__module__"] = module
    namespace["__qualname__"] = qualname
    namespace["__doc__"] = source.doc or f"The parameters of {name}."
    namespace["__annotations__"] = annotations
    namespace["__dataclass_fields__"] = fields
    namespace["__match_args__"] = tuple(by_position)
    if reserved:
        namespace["__reserved__"] = reserved
    namespace["__function__"] = function
    namespace[ATTRIBUTE] = source
    fields.owner = type(name, (Input,), namespace)
    return fields.owner


_BY_POSITION = ("positional", "positional_only")


class _Fields(Mapping[str, Any]):
    """The fields of a class, made when one is asked for: then a dict takes the place of this.

    Registration asks for none, and most tools of a program are never called.

    Attributes:
        owner: the class.
    """

    __slots__ = ("_parameters", "_source", "owner")

    owner: type[Input]

    def __init__(self, source: ParameterSource, parameters: Sequence[Parameter]) -> None:
        self._source = source
        self._parameters = parameters

    def _made(self) -> dict[str, Any]:
        if self.owner.__dict__["__dataclass_fields__"] is self:
            pairs = zip(self._parameters, self._source.declared, strict=True)
            self.owner.__dataclass_fields__ = {p.name: _field(p, declared.hint) for p, declared in pairs}
        return self.owner.__dataclass_fields__

    def __getitem__(self, name: str) -> Any:
        return self._made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())


def _no_extra() -> dict[str, Any]:
    return {}


def copy_of_default(default: Any) -> Any:
    """Copy a default that can change; return any other as it is.

    Raises:
        Exception: it can't be copied.
    """
    return copy.deepcopy(default) if _may_change(default) else default


def _may_change(default: object) -> bool:
    """Say whether a default is a list or the like, or holds one as a tuple may."""
    if type(default).__hash__ is None:
        return True
    try:
        hash(default)
    except Exception:  # noqa: BLE001  # a class's own code runs in it
        return True
    return False


def _is_made(parameter: Parameter) -> bool:
    """Say whether each input gets a default of its own."""
    return parameter.kind == "extra" or _may_change(parameter.default)


def _field(parameter: Parameter, hint: Any) -> Any:
    default = parameter.default
    made: Any
    if parameter.kind == "rest":
        made = field(default=(), kw_only=True)
    elif parameter.kind == "extra":
        made = field(default_factory=_no_extra, kw_only=True)
    elif _may_change(default):
        # As it stands, one list would be shared by every call.
        made = field(default_factory=lambda: copy.deepcopy(default), kw_only=parameter.kind == "keyword_only")
    else:
        made = field(default=default, kw_only=parameter.kind == "keyword_only")
    made.name = parameter.name
    made.type = hint
    made._field_type = _FIELD  # noqa: SLF001  # it has no public name
    return made


# --- pickle --------------------------------------------------------------------------------------

_pickled: WeakValueDictionary[int, type[Input]] = WeakValueDictionary()
"""The classes that were pickled in this process, by number."""

_numbers = count()


def _reduce_class(cls: type[Input]) -> Any:
    if cls is Input or cls.__dict__.get(ATTRIBUTE) is None:
        return cls.__qualname__  # as any class, by where it stands
    number: int | None = cls.__dict__.get("__number__")
    if number is None:
        number = next(_numbers)
        cls.__number__ = number
        _pickled[number] = cls
    return _restore, (cls.__module__, cls.__qualname__, number, cls.__function__)


copyreg.pickle(_InputMeta, _reduce_class)  # type: ignore[arg-type]  # a string is known to it too


def _restore(module: str, qualname: str, number: int, function: str = "") -> type[Input]:
    known = _pickled.get(number)
    if known is not None and (known.__module__, known.__qualname__) == (module, qualname):
        return known
    # In another process it is found as its function is, for its own name may be another's there.
    __import__(module)
    names = vars(sys.modules[module])
    tools = [_at(names, function), *names.values()]
    for found in (names.get(qualname), *[getattr(tool, "input_type", None) for tool in tools]):
        if isinstance(found, type) and issubclass(found, Input) and found.__qualname__ == qualname:
            return found
    message = f"no function in module {module} has the input type {qualname}"
    raise LookupError(message)


def _at(names: dict[str, Any], qualname: str) -> Any:
    """Return what a qualified name means among the names of a module, None where it means nothing."""
    first, *others = qualname.split(".")
    found = names.get(first)
    for name in others:
        found = getattr(found, name, None)
    return found


def install(cls: type[Input], names: dict[str, Any]) -> None:
    """Put a class into the module of its function, unless the name is taken there."""
    present: object = names.setdefault(cls.__name__, cls)
    if present is cls:
        return
    # The cell of a notebook that is run again makes its tools again.
    if isinstance(present, type) and issubclass(present, Input) and present.__function__ == cls.__function__:
        names[cls.__name__] = cls
