"""How are instances of attrs and msgspec made, and what do constructors of pydantic and attrs refuse?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..findings import Finding
from ..message_text import one_line
from .nodes import TAG

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from .nodes import ObjectNode


def keywords_of(cls: Any) -> dict[str, str]:
    """Return the fields of an attrs class, each with its parameter name in the constructor."""
    return {field.name: field.alias for field in cls.__attrs_attrs__ if field.init}


def constructor_of_foreign(node: ObjectNode) -> Callable[..., Any]:
    """Return a function that makes an instance of an attrs class or a Struct from its fields, by name."""
    cls = node.type
    if node.form == "attrs":
        keywords = keywords_of(cls)
        return cls if all(name == keyword for name, keyword in keywords.items()) else _renaming(cls, keywords)
    return _without_tag(cls) if any(field.name == TAG for field in node.fields) else cls


def _renaming(cls: Callable[..., Any], keywords: Mapping[str, str]) -> Callable[..., Any]:
    def construct(**fields: Any) -> Any:
        return cls(**{keywords[name]: value for name, value in fields.items()})

    return construct


def _without_tag(cls: Callable[..., Any]) -> Callable[..., Any]:
    def construct(**fields: Any) -> Any:
        return cls(**{name: value for name, value in fields.items() if name != TAG})

    return construct


def problems_of_fields(node: ObjectNode, reason: Exception, given: Mapping[Any, Any]) -> Sequence[Finding]:
    """Return the problems of single fields that a constructor of pydantic or attrs raised; none for others.

    Args:
        node: the node of the class.
        reason: the exception that the constructor raised.
        given: JSON key to the given value of each field.
    """
    errors: Any = getattr(reason, "errors", None)
    if type(reason).__module__.startswith("pydantic_core") and callable(errors):
        from .pydantic_problems import problems_of

        # If a class takes both, pydantic reports the name and not the key.
        keys = {each.name: each.key for each in node.fields if each.key in given}
        found = problems_of(reason, {**{name: given[key] for name, key in keys.items()}, **given})
        firsts = [problem.path[:1] for problem in found]
        named = [(keys.get(str(first[0]), first[0]),) if first else () for first in firsts]
        return [each.replace(path=(*first, *each.path[1:])) for first, each in zip(named, found, strict=True)]
    # A validator of attrs raises its text, the field, and more.
    said, field = (*reason.args, None, None)[:2]
    name = getattr(field, "name", None)
    key = next((each.key for each in node.fields if each.name == name), None)
    if key is None or not isinstance(said, str):
        return ()
    return [Finding((key,), "rejected", one_line(said, _SAID_LENGTH))]


_SAID_LENGTH: Final = 180
