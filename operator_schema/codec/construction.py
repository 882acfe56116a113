"""How is an instance of a class made, and does making it run the user's code?"""

from __future__ import annotations

from collections import OrderedDict, deque
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..introspect.nodes import ObjectNode

    Way = Literal["attributes", "dictionary", "slots", "call", "tuple", "dict", "user"]


HARMLESS = frozenset({list, dict, tuple, set, frozenset, deque, OrderedDict})
"""Default factories whose calls have no visible effect."""

_TUPLE: Any = tuple
NEW_TUPLE: Any = _TUPLE.__new__


def way_of(node: ObjectNode) -> Way:
    """Return how an instance of a class is made.

    Args:
        node: the node of the class.

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
    is_generated = namespace.get("_tuple_new") is NEW_TUPLE
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
    """Return whether storing a field and making its default run no user code."""
    stored_by = static_member(cls, field.name)
    is_plain = type(stored_by) is MemberDescriptorType or not hasattr(type(stored_by), "__set__")
    is_always_made = not field.init and callable(field.default_factory)
    return is_plain and (not is_always_made or field.default_factory in HARMLESS)


def static_member(cls: type, name: str) -> object:
    """Return the attribute of a class without running a descriptor; None if there is none."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _way_of_dataclass(node: ObjectNode) -> Way:
    cls: Any = node.type
    if any(not field.init for field in cls.__dataclass_fields__.values()):
        return "call"
    slots = [
        type(static_member(cls, field.name)) is MemberDescriptorType
        for field in node.fields
        if not field.init_only
    ]
    if cls.__setattr__ is object.__setattr__:
        return "attributes"
    if all(slots):
        return "slots"
    return "call" if any(slots) else "dictionary"
