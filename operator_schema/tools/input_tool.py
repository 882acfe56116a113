"""How does a dataclass become a tool without a function, which takes the place of the class?"""

from __future__ import annotations

import inspect
import sys
from dataclasses import MISSING
from types import FunctionType, MethodType, new_class
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, Unpack, overload

from ..errors import SchemaError
from ..findings import about_type
from ..introspect.classes import form_of
from ..introspect.hints import Scope
from ..introspect.nodes import ObjectNode, UnionNode
from ..introspect.shown_annotations import name_of
from ..message_text import one_line
from .injection import is_union
from .metadata import snake_case
from .options import (
    codec_options,
    doc_of,
    make_metadata,
    register_input,
    valid_options,
)
from .output import NO_OUTPUT, OutputType
from .parameters import class_of
from .signature import caller_module
from .tool import Tool

if TYPE_CHECKING:
    from typing import ClassVar

    from .options import InputToolOptions

P = ParamSpec("P")
R = TypeVar("R")
Made = TypeVar("Made", covariant=True)  # noqa: PLC0105  # as short as `P`


class _InputDecorator(Protocol):
    """The decorator that `tool_input` returns with options."""

    @overload
    def __call__(self, annotation: type[R], /) -> InputTool[..., R]: ...
    @overload
    def __call__(self, annotation: Any, /) -> InputTool[..., Any]: ...


@overload
def tool_input(annotation: type[R], /) -> InputTool[..., R]: ...
@overload
def tool_input(**options: Unpack[InputToolOptions]) -> _InputDecorator: ...
def tool_input(annotation: Any = MISSING, /, **options: Any) -> Any:  # noqa: D417  # the options are its arguments
    """Make a tool without a function from a dataclass, or a union of them; your program runs the calls.

    Calling the tool builds an instance of the dataclass; the class itself is its `input_type`.

    Args:
        annotation: a dataclass, `TypedDict` or `NamedTuple`, or a union of these.
        name: the name that the model calls; by default the name of the class in snake case.
        description: what it does; the docstring of the class unless given.
        summary: replaces the first sentence, which the model gets with every request.
        output: type of the results that your program returns.
        enabled: whether the model may call it, or a function that decides; the registry decides unless given.
        timeout: seconds that a call may take; your program decides unless given.
        max_content: as for `tool`.
        examples: arguments of calls, as dicts, JSON text or inputs.
        tags: labels by which your program can choose tools.
        title: name for people.
        read_only, destructive, idempotent, open_world, confirm, meta: what the tool says about
            itself to the program that offers it; see `ToolAnnotations`.
        param_descriptions, unknown_fields, repair, leaves, namespace, max_depth, attribute_docs,
            json_loads: as for `Codec`; the leaves apply to the result too.

    Returns:
        A `Tool`; with options, a decorator that makes one.

    Raises:
        SchemaError: with everything that is wrong with the type and the options.
    """
    home = caller_module(sys._getframe(1))  # whose tool it is
    if annotation is MISSING:

        def decorate(annotation: Any, /) -> InputTool[..., Any]:
            return _make_input_tool(annotation, options, home)

        return decorate
    return _make_input_tool(annotation, options, home)


def _make_input_tool(annotation: Any, options: dict[str, Any], home: str) -> InputTool[..., Any]:
    if issubclass(type(annotation), InputTool):  # by its type: a class may have a `__class__` that raises
        annotation = annotation.input_type
    try:
        return _input_tool_of(annotation, options, home)
    except Exception as error:  # noqa: BLE001  # a class may do anything when it is read
        from ..introspect.registration_errors import raise_for  # only what is wrong pays for it

        raise_for(error, name_of(annotation), "type")


def _input_tool_of(annotation: Any, options: dict[str, Any], home: str) -> InputTool[..., Any]:
    cls = class_of(annotation)
    if isinstance(annotation, (FunctionType, MethodType)):
        message = "tool_input takes a dataclass, and this is a function"
        complaint = about_type((), "unsupported", annotation.__name__, message, "Use @tool")
        raise SchemaError(annotation.__name__, [complaint], "function")
    name: Any = options.get("name")
    if name is None:
        name = "" if form_of(cls) is None else snake_case(cls.__name__)
    owner = (one_line(name, 100) if isinstance(name, str) else "") or name_of(annotation)
    output = options.get("output", MISSING)
    options, wrong = valid_options("tool_input", owner, name, options)
    complaints = list(wrong.values())
    scope = Scope(None, options.get("namespace") or {})
    declared = (
        NO_OUTPUT if output is MISSING else OutputType(output, output, scope, options.get("leaves", ()))
    )
    codec = register_input(annotation, owner, options, complaints)
    if codec is None and not name and len(complaints) > len(wrong):
        complaints.remove(wrong["name"])  # only a class has a name
    complaints += declared.complaints(owner, "output")
    if codec is None or complaints:
        raise SchemaError(owner, complaints)
    metadata = make_metadata(name, options, doc_of(codec), codec)
    made: InputTool[..., Any] = InputTool.from_parts(  # pyright: ignore[reportUnknownVariableType]  # of any input
        metadata, codec, codec_options(options), declared, annotation, None, home
    )
    if isinstance(annotation, type):
        _pickle_through_tool(annotation)
    return made


class InputTool(Tool[P, Made], type):
    """A tool without a function: calling it builds the input, and your program runs the call.

    The decorator replaces a class by this tool, so the tool can be used like the class: in annotations, in
    patterns (`case Ask():`), for `isinstance` and as a base. For that reason it is itself a type.
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
        # A class pattern without names looks for this.
        matched = {"__match_args__": getattr(codec.type, "__match_args__", ())}
        own = None if is_union(codec.type) else getattr(codec.type, "__name__", None)
        name = content["_metadata"].name if own is None else own
        return type.__new__(cls, name, (), {**matched, **content, "__slots__": ()})

    def decode(cls, arguments: object) -> Made:
        """Turn a model's arguments into an input.

        Args:
            arguments: a dict of JSON values, or JSON text.

        Returns:
            An instance of `input_type`.

        Raises:
            DecodeError: with every problem.
        """
        decoded: Made = super().decode(arguments)
        return decoded

    @property
    def __schema_type__(cls) -> Any:
        """The class to read in annotations that use the tool's name."""
        return cls.input_type

    @property
    def __signature__(cls) -> Any:
        # From Python 3.13 `inspect` does not look behind a type.
        return inspect.signature(cls.input_type)

    def __getitem__(cls, arguments: Any) -> Any:
        """Give a generic class its arguments: `Page[int]`."""
        return cls.input_type[arguments]

    __iter__: ClassVar[None] = None
    """Not iterable; without this, Python would try to iterate by `__getitem__`."""

    if not TYPE_CHECKING:  # type checkers would no longer find misspelt names

        def __getattr__(cls, name: str) -> Any:
            # Inside the methods of the class, its name means the tool, too.
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


def _at_its_place(module: str, qualname: str) -> Any:
    """Return the object at the place that a class or function names; None if there is none."""
    found: Any = sys.modules.get(module)
    for name in qualname.split("."):
        found = getattr(found, name, None)
    return found


def _pickle_through_tool(cls: type) -> None:
    """Make instances of a class picklable although its tool will take its name.

    Classes are pickled by name. After a decorator that name means the tool, which knows the class.
    """
    is_decorated = _at_its_place(cls.__module__, cls.__qualname__) is not cls
    methods: Any = cls
    is_stock = methods.__reduce_ex__ is _STOCK.__reduce_ex__ and methods.__reduce__ is _STOCK.__reduce__
    if is_decorated and is_stock:
        methods.__reduce_ex__ = _reduce


_STOCK: Any = object


def _reduce(self: object, protocol: int) -> Any:
    new, args, *state = _STOCK.__reduce_ex__(self, max(protocol, 2))
    found = _at_its_place(type(self).__module__, type(self).__qualname__)
    if isinstance(found, InputTool) and found.input_type is type(self):
        return (_new, (found, *args[1:]), *state)
    return (new, args, *state)


def _new(tool: InputTool[..., Any], *args: Any) -> Any:
    cls = tool.input_type
    return cls.__new__(cls, *args)
