"""How generated code makes instances: without running `__init__`, if that makes no difference."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import MISSING
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...introspect.nodes import Field, ObjectNode
    from .writer import Function, Source

    Way = Literal["attributes", "dictionary", "slots", "call", "tuple", "dict", "user"]

__all__ = ["HARMLESS", "factory_of", "way_of", "write_empty", "write_instance"]

HARMLESS = frozenset({list, dict, tuple, set, frozenset, deque, OrderedDict})
"""Default factories whose calls have no effect that can be seen."""

_DISPLAYS: Mapping[object, str] = {list: "[]", dict: "{}", tuple: "()"}

_TUPLE: Any = tuple
_NEW: Any = object.__new__
_NEW_TUPLE: Any = _TUPLE.__new__


def way_of(node: ObjectNode) -> Way:
    """Return how an instance of a class is made.

    Args:
        node: of the class.

    Returns:
        `"attributes"`: `object.__new__` and a store for each field. `"dictionary"`: the same, into
        its `__dict__`, past a frozen `__setattr__`. `"slots"`: the same, through the descriptors.
        `"call"`: a call, which runs no user code. `"tuple"`: `tuple.__new__`. `"dict"`: it is a
        dict. `"user"`: a call, which may run user code.
    """
    if node.form == "typed_dict":
        return "dict"
    if type(node.type).__call__ is not type.__call__ or hasattr(node.type, "__del__"):
        return "user"
    if node.form in {"attrs", "struct"}:
        return "user"
    if node.form == "named_tuple":
        return "tuple" if _is_stock_tuple(node.type) else "user"
    return _way_of_dataclass(node) if _is_stock_dataclass(node.type) else "user"


def _is_stock_tuple(cls: Any) -> bool:
    # What namedtuple evaluates the function with that it makes.
    namespace: Mapping[str, Any] = getattr(cls.__new__, "__globals__", {})
    is_generated = namespace.get("_tuple_new") is _NEW_TUPLE
    return is_generated and cls.__init__ is object.__init__


def _is_stock_dataclass(cls: Any) -> bool:
    """Return whether making an instance runs the generated `__init__` and nothing else."""
    fields = cls.__dataclass_fields__  # which turns the input of a function into a dataclass
    owner: Any = next(base for base in cls.__mro__ if "__dataclass_fields__" in vars(base))
    init: Any = owner.__dict__.get("__init__")
    code = getattr(init, "__code__", None)
    return (
        code is not None
        # What dataclasses itself calls the function that makes it; no class body can be called so.
        and code.co_qualname == "__create_fn__.<locals>.__init__"
        and cls.__init__ is init
        and cls.__new__ is object.__new__
        and not hasattr(cls, "__post_init__")
        and "__post_init__" not in code.co_names
        and (owner.__dataclass_params__.frozen or cls.__setattr__ is object.__setattr__)
        and all(_is_quiet(cls, field) for field in fields.values())
    )


def _is_quiet(cls: type, field: Any) -> bool:
    """Return whether storing a field, and making its default, run no code of the user's."""
    stored_by = _static(cls, field.name)
    is_plain = type(stored_by) is MemberDescriptorType or not hasattr(type(stored_by), "__set__")
    is_always_made = not field.init and callable(field.default_factory)
    return is_plain and (not is_always_made or field.default_factory in HARMLESS)


def _static(cls: type, name: str) -> object:
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _way_of_dataclass(node: ObjectNode) -> Way:
    cls: Any = node.type
    if any(not field.init for field in cls.__dataclass_fields__.values()):
        return "call"
    slots = [
        type(_static(cls, field.name)) is MemberDescriptorType for field in node.fields if not field.init_only
    ]
    if cls.__setattr__ is object.__setattr__:
        return "attributes"
    if all(slots):
        return "slots"
    return "call" if any(slots) else "dictionary"


def factory_of(node: ObjectNode, field: Field) -> Any:
    """Return the default factory of a field of a dataclass."""
    cls: Any = node.type
    return cls.__dataclass_fields__[field.name].default_factory


# --- written -------------------------------------------------------------------------------------


def write_empty(source: Source, factory: Any) -> str:
    """Return the expression of what a harmless default factory makes."""
    return _DISPLAYS.get(factory) or f"{source.class_name(factory)}()"


def write_instance(source: Source, at: Function, node: ObjectNode, way: Way, names: Mapping[str, str]) -> str:
    """Write what makes an instance.

    Args:
        source: that the code belongs to.
        at: the function in which it is written.
        node: of the class.
        way: how it is made; as a dict, fields that are `MISSING` are left out.
        names: of the variables that hold the fields, by name of the field.

    Returns:
        The name of the variable that holds it.
    """
    made = source.name(node.name)
    if way == "dict":
        _write_dict(source, at, node, made, names)
        return made
    cls = source.class_name(node.type)
    stored = {field.name: names[field.name] for field in node.fields if not field.init_only}
    if way == "tuple":
        new = source.bind(_NEW_TUPLE, "new_tuple")
        at.line(f"{made} = {new}({cls}, ({''.join([f'{name}, ' for name in stored.values()])}))")
    elif way == "call" or (way == "attributes" and None in map(source.attribute, stored)):
        given = ", ".join([f"{source.quoted(field)}: {name}" for field, name in names.items()])
        at.line(f"{made} = {cls}(**{{{given}}})")
    else:
        at.line(f"{made} = {source.bind(_NEW, 'new')}({cls})")
        _write_stores(source, at, node.type, way, made, stored)
    return made


def _write_stores(
    source: Source, at: Function, cls: type, way: Way, made: str, stored: Mapping[str, str]
) -> None:
    inside = source.name("inside")
    if way == "dictionary":
        at.line(f"{inside} = {made}.__dict__")
    for field, name in stored.items():
        if way == "attributes":
            at.line(f"{made}.{source.attribute(field)} = {name}")
        elif way == "dictionary":
            at.line(f"{inside}[{source.quoted(field)}] = {name}")
        else:
            store = source.bind(getattr(cls, field).__set__, f"set_{field}")
            at.line(f"{store}({made}, {name})")


def _write_dict(source: Source, at: Function, node: ObjectNode, made: str, names: Mapping[str, str]) -> None:
    first = next((i for i, field in enumerate(node.fields) if not field.required), len(node.fields))
    given = ", ".join([f"{source.quoted(field.name)}: {names[field.name]}" for field in node.fields[:first]])
    at.line(f"{made} = {{{given}}}")
    for field in node.fields[first:]:
        store = f"{made}[{source.quoted(field.name)}] = {names[field.name]}"
        if field.required:
            at.line(store)
            continue
        with at.block(f"if {names[field.name]} is not {source.bind(MISSING, 'MISSING')}:"):
            at.line(store)
