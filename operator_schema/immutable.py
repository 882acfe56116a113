"""The base of this package's immutable values.

A subclass is its annotations: `Value` makes slots of them, takes their values in that order, by
position or name, and compares, prints, copies and pickles by them. Decorating one frozen, slotted
dataclass costs more import time than this whole package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Mapping
    from inspect import Signature
    from typing import ClassVar, Self

__all__ = ["Value", "ValueType", "content_of", "instead_of", "set_once"]

set_once = object.__setattr__


@dataclass_transform(frozen_default=True)
class ValueType(type):
    """Make slots, defaults and a constructor of what a class annotates.

    A class that registration makes by the dozen writes a `__new__` of its own, without defaults: it
    takes `cls._draft()`, assigns the attributes and sets `__class__`, in a third of the time that the
    shared constructor takes.
    """

    __field_defaults__: Mapping[str, Any]
    __setters__: tuple[Any, ...]

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> ValueType:
        """Make the class, and a draft for its own `__new__`."""
        names = tuple(namespace.get("__annotations__", ()))
        defaults = {name: namespace.pop(name) for name in names if name in namespace}
        namespace["__slots__"] = names
        own = namespace.get("__new__")
        if own is not None:
            own.__defaults__ = tuple(defaults.values())
            # One slot in C is both `__setattr__` and `__delattr__`.
            writable = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
            draft = {"__slots__": names, "__init__": object.__init__, **writable}
            if "__orig_bases__" in namespace:  # what `Generic` looks for
                draft["__orig_bases__"] = namespace["__orig_bases__"]
            namespace["__init__"] = object.__init__
            namespace["_draft"] = type.__new__(cls, f"{name}Draft", bases, draft)
        made = super().__new__(cls, name, bases, namespace)
        made.__field_defaults__ = defaults
        if own is None:
            made.__setters__ = tuple([vars(made)[name].__set__ for name in names])
        return made

    @property
    def __signature__(cls) -> Signature | None:
        """What `inspect.signature` and `help` say that the constructor takes."""
        own = vars(cls).get("__init__")
        if own is not None and own is not object.__init__:
            return None  # the function says it
        from inspect import Parameter, Signature

        kind, empty = Parameter.POSITIONAL_OR_KEYWORD, Parameter.empty
        found = cls.__annotations__.items()
        given = [(name, cls.__field_defaults__.get(name, empty), text) for name, text in found]
        return Signature(
            [Parameter(name, kind, default=default, annotation=text) for name, default, text in given]
        )


class Value(metaclass=ValueType):
    """Compare, print, copy and pickle by content, and refuse to change."""

    if TYPE_CHECKING:
        __slots__: ClassVar[tuple[str, ...]] = ()
        __setters__: ClassVar[tuple[Any, ...]]
        __field_defaults__: ClassVar[Mapping[str, Any]]

    def __init__(self, *content: Any, **named: Any) -> None:
        setters = self.__setters__
        rest = len(setters) - len(content)
        if named or rest:
            defaults = self.__field_defaults__
            if named or not 0 < rest <= len(defaults):
                content = _by_name(self.__class__, content, named)
            else:
                content += tuple(defaults.values())[-rest:]
        for store, value in zip(setters, content):  # noqa: B905  # as many, as just checked
            store(self, value)

    def replace(self, **changes: Any) -> Self:
        """Return a copy in which the named attributes have other values.

        Raises:
            TypeError: it has no attribute of one of the names.
        """
        unknown = [name for name in changes if name not in self.__slots__]
        if unknown:
            names = ", ".join(sorted(unknown))
            message = f"{type(self).__name__} has nothing to replace that is named {names}"
            raise TypeError(message)
        return type(self)(*[changes.get(name, getattr(self, name)) for name in self.__slots__])

    def __setattr__(self, name: str, value: object) -> NoReturn:
        message = f"{type(self).__name__} is immutable: {name} can't be set"
        raise AttributeError(message)

    def __delattr__(self, name: str) -> NoReturn:
        message = f"{type(self).__name__} is immutable: {name} can't be deleted"
        raise AttributeError(message)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Value) or other.__class__ is not self.__class__:
            return NotImplemented
        for name in self.__slots__:
            own, others = getattr(self, name), getattr(other, name)
            if own is not others and own != others:
                return False
        return True

    def __hash__(self) -> int:
        return hash((type(self), content_of(self)))

    def __repr__(self) -> str:
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__slots__])
        return f"{type(self).__name__}({shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), content_of(self)


def content_of(value: Value) -> tuple[Any, ...]:
    """Return the values of the attributes, in the order in which the constructor takes them."""
    return tuple([getattr(value, name) for name in value.__slots__])


def instead_of(cls: type) -> str | None:
    """Return what a class of values says (`__instead__`) to do where its values stand in a wrong place."""
    said: str | None = vars(cls).get("__instead__") if type(cls) is ValueType else None
    return said


def _by_name(cls: ValueType, content: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a value for every attribute: as given, or its default.

    Raises:
        TypeError: one is missing, unknown or given twice.
    """
    names: tuple[str, ...] = vars(cls)["__slots__"]
    given = {**cls.__field_defaults__, **dict(zip(names, content, strict=False)), **named}
    twice = [name for name in names[: len(content)] if name in named]
    missing = [name for name in names if name not in given]
    faults = {
        f"takes {len(names)} arguments, not {len(content)}": len(content) > len(names),
        f"has no argument {', '.join(named.keys() - names)}": not named.keys() <= set(names),
        f"got {', '.join(twice)} twice": twice,
        f"is missing {', '.join(missing)}": missing,
    }
    for fault, is_there in faults.items():
        if is_there:
            message = f"{cls.__name__}() {fault}"
            raise TypeError(message)
    return tuple([given[name] for name in names])
