"""Checks whether a class can be built from its fields."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..wording import listed, quote
from .classes import annotations_of as own_annotations
from .classes import extra_items
from .descriptions import ATTRIBUTE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .nodes import ObjectForm

    Report = Callable[..., None]

__all__ = ["report_class"]


def report_class(cls: Any, form: ObjectForm, names: Mapping[str, object], report: Report) -> None:
    """Complain about what keeps a class as a whole from being built from its fields.

    Args:
        cls: a class of that form.
        form: as `form_of` says.
        names: of its fields, in order.
        report: takes step, code, message, remedy and suggestion of each complaint.
    """
    if "pydantic" in sys.modules:
        from .foreign_classes import report_unfollowed

        report_unfollowed(cls, report)
    decorated = _DECORATED.get(form)
    if decorated is not None:
        _report_decorated(cls, form, decorated, names, report)
    elif form == "named_tuple":
        for name in names:
            _report_normalized(name, report)
    elif form == "typed_dict" and extra_items(cls) is not None:
        message = "its extra_items (PEP 728) have no place in the schema"
        report("__extra_items__", "unsupported", message, "Leave them out, or use a dict")
    elif form == "struct" and cls.__struct_config__.array_like:
        message = "it is array_like, so that its JSON has no keys"
        report("__struct_config__", "unsupported", message, "Take array_like=True out")


_DECORATED: dict[ObjectForm, str] = {"dataclass": "__dataclass_fields__", "attrs": "__attrs_attrs__"}
"""The classes that a decorator makes, to the attribute by which one is recognized."""


def _report_decorated(
    cls: Any, form: ObjectForm, attribute: str, names: Mapping[str, object], report: Report
) -> None:
    members = cls.__dict__
    if form == "dataclass":
        _report_dataclass(cls, members, report)
    if attribute not in members and own_annotations(cls):
        noun, decorator = (
            ("a dataclass", "dataclass") if form == "dataclass" else ("an attrs class", "attrs.define")
        )
        message = f"it has annotations of its own, but it isn't {noun} itself"
        report("__annotations__", "unsupported", message, f"Decorate it with @{decorator}")
    if cls.__flags__ & _IS_ABSTRACT:
        message = "it is abstract and can't be built"
        report("__init__", "unsupported", message, "Register a class that implements all its methods")
    if form == "attrs":
        from .foreign_classes import keywords_of

        names = dict.fromkeys(keywords_of(cls).values())
    missing, wanted = _misfits(cls, names)
    if missing:
        message = f"its own __init__ doesn't take {listed([quote(name) for name in missing])}"
        report("__init__", "unsupported", message, "Let it take every field by name")
    elif wanted:
        message = f"its own __init__ wants {listed([quote(name) for name in wanted])}, which isn't a field"
        report("__init__", "unsupported", message, "Let it take every field by name, and nothing else")


def _report_dataclass(cls: Any, members: Mapping[str, object], report: Report) -> None:
    fields = cls.__dataclass_fields__
    if "__init__" not in members and cls.__init__ is object.__init__ and fields:
        message = "it has fields, but no __init__ that takes them"
        report("__init__", "unsupported", message, "Leave out init=False or write an __init__")
    if "__pydantic_fields__" in members:
        from .foreign_classes import aliased_fields

        for name in aliased_fields(cls):
            message = "pydantic takes it by its alias alone, but it is decoded by name"
            report(name, "unsupported", message, "Add config=ConfigDict(validate_by_name=True)")
    # dataclasses has no public name for what kind of field this is.
    if ATTRIBUTE in fields and fields[ATTRIBUTE]._field_type.name == "_FIELD":  # noqa: SLF001  # dataclasses has no public way to ask
        message = f"{ATTRIBUTE} is declared as a field"
        remedy = f"Assign it without annotation ({ATTRIBUTE} = {{…}}) or annotate it as ClassVar"
        report(ATTRIBUTE, "bad_description", message, remedy)


def _report_normalized(name: str, report: Callable[..., None]) -> None:
    """Complain about a field whose name no call can give: Python normalizes identifiers (PEP 3131)."""
    if name.isascii():
        return
    from unicodedata import normalize

    read = normalize("NFKC", name)
    if read != name:
        message = f"Python reads the field name {quote(name)} as {quote(read)}"
        report(name, "bad_metadata", message, f"Name the field {quote(read)}")


def _misfits(cls: Any, names: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """Compare fields with `__init__`, which may be written by hand here or in a base.

    Returns:
        The fields that it does not take by name, and the parameters that no field is for.
    """
    init = cls.__init__
    code = getattr(init, "__code__", None)
    if code is None:
        return [], []
    last = code.co_argcount + code.co_kwonlyargcount
    # What `dataclass` writes takes them in this order, but for those that are keyword-only.
    if code.co_posonlyargcount <= 1 and tuple(names) == code.co_varnames[1:last]:
        return [], []
    taken = code.co_varnames[code.co_posonlyargcount : last]
    takes_any = code.co_flags & _TAKES_ANY_NAME
    missing = [] if takes_any else [name for name in names if name not in taken]
    positional = code.co_argcount - len(init.__defaults__ or ())
    needed = [*code.co_varnames[1:positional], *code.co_varnames[code.co_argcount : last]]
    optional: Mapping[str, Any] = init.__kwdefaults__ or {}
    return missing, [name for name in needed if name not in names and name not in optional]


_IS_ABSTRACT = 1 << 20  # inspect.TPFLAGS_IS_ABSTRACT
_TAKES_ANY_NAME = 0x08  # inspect.CO_VARKEYWORDS
