"""Can a class be built from its fields? Complains if it can't."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Any

from ..message_text import listed, quote
from .classes import DESCRIPTIONS, annotations_of, extra_items

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .nodes import ObjectForm

    Report = Callable[..., None]


def report_class(cls: Any, form: ObjectForm, names: Mapping[str, object], report: Report) -> None:
    """Complain if a class as a whole can't be built from its fields.

    Args:
        cls: a class of that form.
        form: the form that `form_of` returns.
        names: the names of its fields, in order.
        report: called with step, code, message, remedy and suggestion of each complaint.
    """
    if "pydantic" in sys.modules:
        from .pydantic_settings import report_unfollowed

        report_unfollowed(cls, report)
    if form in _DECORATED:
        _report_decorated(cls, form, names, report)
    elif form == "named_tuple":
        for name in names:
            _report_normalized(name, report)
    elif form == "typed_dict" and extra_items(cls) is not None:
        message = "its extra_items (PEP 728) can't be described in the schema"
        report("__extra_items__", "unsupported", message, "Leave them out, or use a dict")
    elif form == "struct" and cls.__struct_config__.array_like:
        message = "it is array_like, so its JSON has no keys"
        report("__struct_config__", "unsupported", message, "Take array_like=True out")


_DECORATED: dict[ObjectForm, tuple[str, str, str]] = {
    "dataclass": ("__dataclass_fields__", "a dataclass", "dataclass"),
    "attrs": ("__attrs_attrs__", "an attrs class", "attrs.define"),
}
"""The forms of classes that a decorator makes: attribute that marks such a class, noun, decorator."""


def _report_decorated(cls: Any, form: ObjectForm, names: Mapping[str, object], report: Report) -> None:
    members = cls.__dict__
    if form == "dataclass":
        _report_dataclass(cls, members, report)
    attribute, noun, decorator = _DECORATED[form]
    if attribute not in members and annotations_of(cls):
        message = f"it has annotations of its own, but it isn't {noun} itself"
        report("__annotations__", "unsupported", message, f"Decorate it with @{decorator}")
    if cls.__flags__ & inspect.TPFLAGS_IS_ABSTRACT:
        message = "it is abstract and can't be built"
        report("__init__", "unsupported", message, "Register a class that implements all its methods")
    if form == "attrs":
        from .foreign_classes import keywords_of

        names = dict.fromkeys(keywords_of(cls).values())
    missing, wanted = _compare_with_init(cls, names)
    if missing:
        message = f"its own __init__ doesn't take {listed([quote(name) for name in missing])}"
        report("__init__", "unsupported", message, "Let it take every field by name")
    elif wanted:
        message = f"its own __init__ requires {listed([quote(name) for name in wanted])}, which isn't a field"
        report("__init__", "unsupported", message, "Let it take every field by name, and nothing else")


def _report_dataclass(cls: Any, members: Mapping[str, object], report: Report) -> None:
    fields = cls.__dataclass_fields__
    if "__init__" not in members and cls.__init__ is object.__init__ and fields:
        message = "it has fields, but no __init__ that takes them"
        report("__init__", "unsupported", message, "Leave out init=False or write an __init__")
    if DESCRIPTIONS in fields and fields[DESCRIPTIONS]._field_type.name == "_FIELD":  # noqa: SLF001  # dataclasses has no public way to ask
        message = f"{DESCRIPTIONS} is declared as a field"
        remedy = f"Assign it without annotation ({DESCRIPTIONS} = {{…}}) or annotate it as ClassVar"
        report(DESCRIPTIONS, "bad_description", message, remedy)


def _report_normalized(name: str, report: Callable[..., None]) -> None:
    """Complain about a field whose name no call can give: Python normalizes identifiers (PEP 3131)."""
    if name.isascii():
        return
    from unicodedata import normalize

    read = normalize("NFKC", name)
    if read != name:
        message = f"Python reads the field name {quote(name)} as {quote(read)}"
        report(name, "bad_metadata", message, f"Name the field {quote(read)}")


def _compare_with_init(cls: Any, names: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """Compare fields with `__init__`, which may be written by hand here or in a base.

    Returns:
        The fields that `__init__` doesn't take by name, and its parameters that have no field.
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
    takes_any = code.co_flags & inspect.CO_VARKEYWORDS
    missing = [] if takes_any else [name for name in names if name not in taken]
    positional = code.co_argcount - len(init.__defaults__ or ())
    needed = [*code.co_varnames[1:positional], *code.co_varnames[code.co_argcount : last]]
    optional: Mapping[str, Any] = init.__kwdefaults__ or {}
    return missing, [name for name in needed if name not in names and name not in optional]
