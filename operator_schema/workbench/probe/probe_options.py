"""Which options does a probe take, and of which kinds are they?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from ...message_text import kind, received
from ...similar_names import nearest
from .parts import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    _Option: TypeAlias = tuple[str, Callable[[Any], bool]]

MEMORY: Final = 4096
"""The default limit for each process of a server, in megabytes."""


def _is_texts(value: Any) -> bool:
    if isinstance(value, (str, bytes)) or not isinstance(value, Collection):
        return False
    return all(isinstance(each, str) for each in cast("Collection[object]", value))


def _is_text_map(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    pairs = cast("Mapping[object, object]", value)
    return _is_texts(pairs) and _is_texts(list(pairs.values()))


def _or_none(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or is_right(value)


_IS_TEXT: Final = _or_none(lambda value: isinstance(value, str))
_NUMBER: Final[_Option] = ("a number", is_number)
_WHOLE: Final[_Option] = ("a whole number", lambda value: isinstance(value, int) and is_number(value))
_TEXTS_BY_NAME: Final[_Option] = ("a dict of names and texts", _or_none(_is_text_map))

OPTIONS: Final[Mapping[str, _Option]] = {
    "allow": ('a list of names, such as ["create_note"]', _is_texts),
    "allow_all": ("True or False", lambda value: isinstance(value, bool)),
    "seconds": _NUMBER,
    "calls": _WHOLE,
    "timeout": _NUMBER,
    "most_bytes": _WHOLE,
    "seed": _WHOLE,
    "setup": ("a command line", _IS_TEXT),
    "context": ('the name of what is injected, such as "app:make_context"', _IS_TEXT),
    "memory": _WHOLE,
    "env": _TEXTS_BY_NAME,
    "headers": _TEXTS_BY_NAME,
    "on_progress": ("a function", _or_none(callable)),
}
"""The options of a probe: the expected value in words, and a check of the value."""

_MAY_BE_SECRET: Final = frozenset({"env", "headers"})
_ABOVE_0: Final = frozenset({"seconds", "calls", "timeout", "most_bytes", "memory"})


def check_options(options: Mapping[str, Any], more: Sequence[str] = ()) -> None:
    """Check the types of the options of a probe, before anything is started.

    Args:
        options: the values of options, by name.
        more: names of other options that may have been meant.

    Raises:
        TypeError: there is no such option, or its value is of another kind.
        ValueError: a number isn't above 0.
    """
    for name, value in options.items():
        if name not in OPTIONS:
            known = [*OPTIONS, *more]
            near = nearest(name, known)
            hint = f"did you mean {near}?" if near else f"there are {', '.join(known)}"
            message = f"a probe has no option {name!r}; {hint}"
            raise TypeError(message)
        what, is_right = OPTIONS[name]
        if not is_right(value):
            given = kind(value) if name in _MAY_BE_SECRET else received(value)
            message = f"{name} takes {what}, not {given}"
            raise TypeError(message)
        if name in _ABOVE_0 and not value > 0:
            message = f"{name} is above 0, not {value}"
            raise ValueError(message)
