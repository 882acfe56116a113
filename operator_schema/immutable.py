"""The base of this package's immutable values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from typing import Self

# Written out by hand because decorating one frozen, slotted dataclass costs more import time
# than this whole package.
set_once = object.__setattr__


def draft_of(cls: type[Value]) -> Any:
    """Return a class with the slots of an immutable one, whose instances can be written.

    For values that registration makes by the dozen: a plain assignment takes a quarter of the time
    of `set_once`. Once it is written, `draft.__class__ = cls` makes a draft a value.
    """
    # One slot of the class in C stands for both of the first two.
    plain = {name: vars(object)[name] for name in ("__setattr__", "__delattr__", "__init__")}
    return type(f"{cls.__name__}Draft", (Value,), {"__slots__": cls.__slots__, **plain})


class Value:
    """Compare, copy and pickle by content, and refuse to change.

    A subclass names its attributes in `__slots__`, in the order in which its `__init__` takes
    them, and stores each with `set_once`.
    """

    __slots__: tuple[str, ...] = ()

    def __init__(self, *content: Any) -> None:
        raise NotImplementedError

    def content(self) -> tuple[Any, ...]:
        """Return the attributes' values, in the order of `__slots__`."""
        return tuple([getattr(self, name) for name in self.__slots__])

    def replace(self, **changes: Any) -> Self:
        """Return a copy in which the named attributes have other values."""
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
        return hash((type(self), Value.content(self)))  # an attribute may have this name

    def __repr__(self) -> str:
        shown = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__slots__])
        return f"{type(self).__name__}({shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), Value.content(self)
