"""Why does an annotation written as text have no meaning, and which name was probably meant?"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, Final

from ..message_text import message_of, one_line, show_error
from ..similar_names import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIX_ANNOTATION: Final = "Fix the annotation"
BROKEN: Final = frozenset({_FIX_ANNOTATION, "Fix the alias"})
"""Remedies for annotations that will never have a meaning; other texts have a name that isn't known yet."""


_REASON_LENGTH = 200
_TEXT_LENGTH = 100
_CIRCULAR = "The modules import each other: make the tool or codec in a third module, which imports both"


def unresolved(
    owner: Any, names: Mapping[str, Any], text: str, error: Exception
) -> tuple[str, str, str, str | None]:
    """Say why the text of an annotation has no meaning, and what was probably meant.

    Args:
        owner: the class, alias or function in which it is written, or None.
        names: the names that it may use, without those of Python.
        text: the annotation.
        error: the exception that its evaluation raised.

    Returns:
        The attributes of an `Unresolved`.
    """
    return one_line(text, _TEXT_LENGTH), *_explain(owner, names, text, error)


def _explain(
    owner: Any, names: Mapping[str, Any], text: str, error: Exception
) -> tuple[str, str, str | None]:
    """Return the reason, the remedy and the name that was probably meant."""
    if isinstance(error, NameError):
        return _explain_name(owner, names, text, one_line(error.name or "it", _TEXT_LENGTH))
    if isinstance(error, SyntaxError):
        said = one_line(str(error.msg), _REASON_LENGTH)  # `str(error)` names a file `<string>`
        return f"it isn't valid Python: {said}", _FIX_ANNOTATION, None
    if "partially initialized module" in message_of(error):
        return "a module in it is still being imported", _CIRCULAR, None
    return show_error(error, _REASON_LENGTH), _FIX_ANNOTATION, None


def _explain_name(owner: Any, names: Mapping[str, Any], text: str, name: str) -> tuple[str, str, str | None]:
    """Explain a name that isn't defined."""
    where = "here" if owner is None else f"in module {owner.__module__}"
    reason = f"the name {name} is not defined {where}"
    give = f"or give namespace={{{name!r}: …}}"
    if name in _TYPING_NAMES:
        return reason, f"Import it (from typing import {name}) {give}", None
    is_word = text == name and name.islower()  # rarely a class, often a choice of a Literal
    known = [
        other
        for other, value in _with_those_of_python(names).items()
        if _is_type(value) and _may_mean(name, other)
    ]
    near = nearest(name, known, _NEAR_WORD) if is_word else nearest(name, known)
    remedy = f"Import {name} at run time (not under TYPE_CHECKING)"
    if "<locals>" in getattr(owner, "__qualname__", ""):
        what = "class" if isinstance(owner, type) else "function"
        remedy = f"The {what} is defined inside a function: move {name} to module level"
    if is_word:
        of_class = remedy[0].lower() + remedy[1:]
        remedy = f'If {name} is a text to choose, write Literal["{name}"]. If it is a class: {of_class}'
    return reason, f"{remedy} {give}", near


def _with_those_of_python(names: Mapping[str, Any]) -> dict[str, Any]:
    """Add the names of `typing`, and those of the builtins that are data types."""
    of_typing = {name: getattr(typing, name) for name in _TYPING_NAMES}
    return {**names, **_DATA_TYPES, **of_typing}


def _is_type(value: object) -> bool:
    return isinstance(value, type) or type(value).__module__ in {"typing", "types", "typing_extensions"}


def _may_mean(name: str, other: str) -> bool:
    """Return whether a name may be a misspelling of another one; names of Python must be very similar.

    A name with a capital letter probably means a class, not a builtin.
    """
    if other in _TYPING_NAMES:
        return nearest(name, [other], _NEAR_TYPING) is not None
    if other not in _DATA_TYPES or name[:1].islower() or name.lower() == other:
        return True
    elsewhere = nearest(name, _ELSEWHERE, _NEAR_WORD)
    return elsewhere is not None and _ELSEWHERE[elsewhere] == other


_ELSEWHERE: Final = {"String": "str", "Integer": "int", "Boolean": "bool"}
"""Names that other languages have for a builtin."""

_DATA_TYPES: dict[str, Any] = {
    cls.__name__: cls for cls in (bool, bytes, dict, float, frozenset, int, list, object, set, str, tuple)
}
"""The builtins that a misspelt annotation may mean: not `property` or an exception."""

_TYPING_NAMES: list[str] = vars(typing)["__all__"]
_NEAR_TYPING = 0.8
_NEAR_WORD = 0.75
"""How similar a lower-case word must be to a name; it may be meant as a text for `Literal`: `fast` isn't
`float`."""
