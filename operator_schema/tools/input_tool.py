"""A tool without a function: your program runs the calls itself."""

from __future__ import annotations

import sys
from types import new_class
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ..introspect.nodes import ObjectNode, UnionNode
from .injection.alternatives import is_union
from .tool import Tool

if TYPE_CHECKING:
    from typing import ClassVar

__all__ = ["InputTool", "at_its_place", "pickle_through_tool"]

P = ParamSpec("P")
R = TypeVar("R", covariant=True)  # noqa: PLC0105  # as short as `P`


class InputTool(Tool[P, R], type):
    """A tool without a function: calling it builds the input, and your program runs the call.

    A decorator leaves it under the name of a class, so it can be used as this class: in annotations, in
    patterns (`case Ask():`), for `isinstance` and as a base. That is why it is itself a type.
    """

    def __new__(  # pyright: ignore[reportInconsistentConstructor]  # what it makes isn't a tool
        metacls, name: str, bases: tuple[type, ...], body: dict[str, Any], /, **options: Any
    ) -> Any:
        """Derive a class from the input types of tools, for `class More(Ask)`."""
        meant = tuple([base.input_type if isinstance(base, InputTool) else base for base in bases])
        return new_class(name, meant, options, lambda namespace: namespace.update(body))

    @classmethod
    def _with_content(cls, content: dict[str, Any]) -> Any:
        codec = content["_codec"]
        # What a class pattern without names looks for.
        matched = {"__match_args__": getattr(codec.type, "__match_args__", ())}
        own = None if is_union(codec.type) else getattr(codec.type, "__name__", None)
        name = content["_metadata"].name if own is None else own
        return type.__new__(cls, name, (), {**matched, **content, "__slots__": ()})

    def decode(cls, arguments: object) -> R:
        """Turn a model's arguments into an input.

        Args:
            arguments: a dict of JSON values, or JSON text.

        Returns:
            An instance of `input_type`.

        Raises:
            DecodeError: with every problem.
        """
        decoded: R = super().decode(arguments)
        return decoded

    @property
    def __schema_type__(cls) -> Any:
        """The class that stood under its name: annotations with this name mean that class."""
        return cls.input_type

    @property
    def __signature__(cls) -> Any:
        # From Python 3.13 `inspect` does not look behind a type.
        from inspect import signature

        return signature(cls.input_type)

    def __getitem__(cls, arguments: Any) -> Any:
        """Give a generic class its arguments: `Page[int]`."""
        return cls.input_type[arguments]

    __iter__: ClassVar[None] = None
    """Python takes what has a `__getitem__` for something to iterate otherwise."""

    if not TYPE_CHECKING:  # checkers would find no misspelt name any more

        def __getattr__(cls, name: str) -> Any:
            # In the methods of the class its name is that of the tool, too.
            if isinstance(cls.input_type, type) and not name.startswith("__"):
                return getattr(cls.input_type, name)
            message = f"the tool {cls.name} has no attribute {name}"
            raise AttributeError(message)

    def __or__(cls, other: Any) -> Any:
        return cls.input_type | other

    def __ror__(cls, other: Any) -> Any:
        return other | cls.input_type

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls._classes())

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls._classes())

    def _classes(cls) -> tuple[type, ...]:
        root = cls._codec.graph.resolve_root()
        members = root.members if isinstance(root, UnionNode) else (root,)
        return tuple([node.type for node in members if isinstance(node, ObjectNode)])


# --- pickle --------------------------------------------------------------------------------------


def at_its_place(module: str, qualname: str) -> Any:
    """Return what is at the place that a class or function names, None if nothing is."""
    found: Any = sys.modules.get(module)
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found


def pickle_through_tool(cls: type) -> None:
    """Let instances of a class be pickled whose name is about to become that of its tool.

    Classes are pickled by name. Under a decorator the name is that of the tool, which knows the class.
    """
    is_decorated = at_its_place(cls.__module__, cls.__qualname__) is not cls
    methods: Any = cls
    is_stock = methods.__reduce_ex__ is _STOCK.__reduce_ex__ and methods.__reduce__ is _STOCK.__reduce__
    if is_decorated and is_stock:
        methods.__reduce_ex__ = _reduce


_STOCK: Any = object


def _reduce(self: object, protocol: int) -> Any:
    new, args, *state = _STOCK.__reduce_ex__(self, max(protocol, 2))
    found = at_its_place(type(self).__module__, type(self).__qualname__)
    if isinstance(found, InputTool) and found.input_type is type(self):
        return (_new, (found, *args[1:]), *state)
    return (new, args, *state)


def _new(tool: InputTool[..., Any], *args: Any) -> Any:
    cls = tool.input_type
    return cls.__new__(cls, *args)
