"""Classes and exceptions whose own code fails when somebody wants to show them."""

from __future__ import annotations

from itertools import product
from typing import Any


class OwnTextError(Exception):
    """What they raise."""


class Text(str):
    """A text with code of its own, which would run if it were written in a message."""

    __slots__ = ()

    def _fail(self, *_: object, **__: object) -> Any:
        raise OwnTextError

    __format__ = __getitem__ = __len__ = __iter__ = __contains__ = __str__ = __repr__ = __add__ = _fail  # type: ignore[assignment]  # as each is called
    strip = partition = split = isascii = isprintable = encode = replace = _fail  # type: ignore[assignment]  # as above


def _raising(*_: object) -> Any:
    raise RuntimeError


GIVING = {
    "raises": _raising,
    "a number": lambda *_: 5,
    "None": lambda *_: None,
    "a text of its own": lambda *_: Text("own"),
}
"""What a name or a text of a class may come to, where a string is expected."""


def named(gives: str, bases: tuple[type, ...] = (), **body: Any) -> Any:
    """Return a class whose metaclass gives something else for its names."""

    class Meta(type):
        def __getattribute__(cls, name: str) -> Any:
            is_name = name in {"__name__", "__qualname__"}
            return GIVING[gives]() if is_name else super().__getattribute__(name)

    return Meta("Hostile", bases, body)


TEXTS = {**GIVING, "as usual": ValueError.__str__}
ERRORS = list(product([*GIVING, "as usual"], TEXTS))[:-1]
"""What the name and the text of an exception come to."""


def error_of(name: str, text: str) -> ValueError:
    """Return an exception of which the name, the text, or both are something else."""
    if name == "as usual":
        error = type("Hostile", (ValueError,), {"__str__": TEXTS[text]})("said")
    else:
        error = named(name, (ValueError,), __str__=TEXTS[text])("said")
    return error
