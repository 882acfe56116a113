"""The base of this package's immutable values.

A subclass only annotates its attributes: `Value` makes a slot of each, and a constructor that takes their
values in that order, by position or name. Instances compare, print, copy and pickle by these values.
Decorating one frozen, slotted dataclass costs more import time than this whole package.
"""

from __future__ import annotations

import sys
from inspect import Parameter, Signature
from types import GenericAlias
from typing import TYPE_CHECKING, Any, NoReturn, dataclass_transform

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping
    from typing import ClassVar, Self, TypeVar

    Made = TypeVar("Made")


set_once = object.__setattr__

HAS_GIL: bool = getattr(sys, "_is_gil_enabled", lambda: True)()
"""Whether only one thread runs at a time. Without the GIL, setting `__class__` stops all other threads."""


def refuse_change(self: object, name: str, value: object) -> NoReturn:  # noqa: ARG001  # as `__setattr__`
    """Raise an AttributeError: the `__setattr__` of classes whose attributes can't be changed."""
    message = f"{type(self).__name__} is immutable: {name} can't be set"
    raise AttributeError(message)


def refuse_deletion(self: object, name: str) -> NoReturn:
    """Raise an AttributeError: the `__delattr__` of classes whose attributes can't be deleted."""
    message = f"{type(self).__name__} is immutable: {name} can't be deleted"
    raise AttributeError(message)


@dataclass_transform(frozen_default=True)
class ValueType(type):
    """Turn the annotations of a class into slots, defaults and a constructor.

    Where an attribute is annotated as a `tuple[…]`, the constructor also takes a list, and stores it as a
    tuple.

    A class that registration makes by the dozen writes a `__new__` of its own, without defaults: it
    takes `cls._draft()`, assigns the attributes and sets `__class__`, in a third of the time that the
    shared constructor takes. Without the GIL, the shared constructor does that. If such a class has a
    `__getattr__`, this returns the default of an attribute that isn't set.
    """

    __field_defaults__: Mapping[str, Any]
    __setters__: tuple[Any, ...]

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> ValueType:
        """Make the class; if it has its own `__new__`, also make the draft class that this function needs."""
        names = tuple(namespace.get("__annotations__", ()))
        defaults = {name: namespace.pop(name) for name in names if name in namespace}
        namespace["__slots__"] = names
        namespace["__field_defaults__"] = defaults
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
            if not HAS_GIL:
                namespace["__new__"] = _new_filled
        made = type.__new__(cls, name, bases, namespace)
        if own is None or not HAS_GIL:
            texts = namespace.get("__annotations__", {})
            stores = {name: vars(made)[name].__set__ for name in names}
            if own is not None and "__getattr__" in namespace:
                stores |= {name: _set_unless(default, stores[name]) for name, default in defaults.items()}
            made.__setters__ = tuple([_setter(store, texts[name]) for name, store in stores.items()])
        return made

    @property
    def __signature__(cls) -> Signature | None:
        """The parameters of the constructor, for `inspect.signature` and `help`."""
        own = vars(cls).get("__init__")
        if own is not None and own is not object.__init__:
            return None  # the function says it
        kind, empty = Parameter.POSITIONAL_OR_KEYWORD, Parameter.empty
        found = cls.__annotations__.items()
        given = [(name, cls.__field_defaults__.get(name, empty), text) for name, text in found]
        return Signature(
            [Parameter(name, kind, default=default, annotation=text) for name, default, text in given]
        )


def _setter(store: Callable[[Any, Any], None], annotation: object) -> Callable[[Any, Any], None]:
    """Return the function that stores an attribute; for a `tuple[…]`, it stores a given list as a tuple."""
    if not str(annotation).startswith("tuple["):
        return store

    # By a default, since without the GIL, threads wait for each other to read a variable of a closure.
    def store_tuple(value: Any, given: Any, store: Callable[[Any, Any], None] = store) -> None:
        store(value, tuple(given) if given.__class__ is list else given)

    return store_tuple


def _set_unless(default: object, store: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Return the function that stores an attribute, unless that has its default."""

    def store_others(
        value: Any, given: Any, default: object = default, store: Callable[[Any, Any], None] = store
    ) -> None:
        if given is not default:
            store(value, given)

    return store_others


def _new_filled(cls: Any, *content: Any, **named: Any) -> Any:
    """Make a value by the shared constructor."""
    self = object.__new__(cls)
    Value.__init__(self, *content, **named)
    return self


if TYPE_CHECKING:
    from typing import Generic as Generic  # noqa: PLC0414  # others import it from here
    from typing import TypeVar

    T = TypeVar("T")
else:
    T = Any

    class Generic:
        """Allows writing a class with one type parameter, such as `Codec[int]`, for type checkers.

        The class of this name in `typing` would take 3 % of the time to a first decode, mostly to make the
        classes that use it.
        """

        __slots__ = ()

        def __class_getitem__(cls, parameter: Any) -> Any:
            if isinstance(parameter, tuple) and len(parameter) != 1:
                message = f"{cls.__name__} takes one type, not {len(parameter)}"
                raise TypeError(message)
            return cls if cls is Generic else GenericAlias(cls, parameter)


class Value(metaclass=ValueType):
    """An immutable value, which is compared, printed, copied and pickled by its content."""

    # Not inherited: each base adds a tenth to the time of making a class.
    __setattr__ = refuse_change
    __delattr__ = refuse_deletion

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
            TypeError: the value has no attribute of one of the names.
        """
        unknown = changes.keys() - self.__slots__
        if unknown:
            from .message_text import listed
            from .similar_names import nearest

            found = {nearest(name, self.__slots__) for name in unknown}
            near = listed(sorted([name for name in found if name]), separator=" and ")
            message = (
                f"{type(self).__name__} has nothing to replace that is named {', '.join(sorted(unknown))}"
            )
            raise TypeError(f"{message}; did you mean {near}?" if near else message)
        return type(self)(*[changes.get(name, getattr(self, name)) for name in self.__slots__])

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


class Keeper:
    """Lets a value cache things computed from it, beside its content; copies and pickles leave them out."""

    __slots__ = ("_kept",)
    _kept: dict[Any, Any]

    def kept(self, key: Hashable) -> Any:
        """Return the object that `keep` stored under a key, or None."""
        try:
            return self._kept.get(key)
        except AttributeError:
            return None

    def keep(self, key: Hashable, made: Made) -> Made:
        """Store something computed from this value. If two threads compute it, one of the two is kept.

        Returns:
            The stored one.
        """
        try:
            self._kept[key] = made
        except AttributeError:
            set_once(self, "_kept", {key: made})
        return made


def content_of(value: Value) -> tuple[Any, ...]:
    """Return the values of the attributes, in the order in which the constructor takes them."""
    return tuple([getattr(value, name) for name in value.__slots__])


def instead_of(cls: object) -> str | None:
    """Return the advice for a value of this class in the wrong place (its `__instead__`), or None."""
    said: str | None = vars(cls).get("__instead__") if type(cls) is ValueType else None
    return said


def _by_name(cls: ValueType, content: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a value for every attribute: as given, or its default.

    Raises:
        TypeError: an attribute is missing, unknown or given twice.
    """
    names: tuple[str, ...] = vars(cls)["__slots__"]
    others = names[len(content) :]
    given = {**cls.__field_defaults__, **named}
    if len(content) <= len(names) and named.keys() <= set(others) and given.keys() >= set(others):
        return (*content, *[given[name] for name in others])
    message = f"{cls.__name__}() {_fault(names, content, named, given)}"
    raise TypeError(message)


def _fault(
    names: tuple[str, ...], content: tuple[Any, ...], named: Mapping[str, Any], given: Mapping[str, Any]
) -> str:
    if len(content) > len(names):
        return f"takes {len(names)} arguments, not {len(content)}"
    if not named.keys() <= set(names):
        return f"has no argument {', '.join(named.keys() - names)}"
    twice = [name for name in names[: len(content)] if name in named]
    if twice:
        return f"got {', '.join(twice)} twice"
    return f"is missing {', '.join([name for name in names[len(content) :] if name not in given])}"
