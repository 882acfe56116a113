"""Which parameters your program gives: marked by `skip`, or annotated with a class of a framework."""

from __future__ import annotations

import weakref
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    ForwardRef,
    Literal,
    TypeVar,
    Union,
    final,
    get_args,
    get_origin,
)

from ..introspect.hints import Unresolved
from ..introspect.leaves import CheckedEncoder
from ..introspect.names import class_name, name_of
from ..introspect.nodes import LeafNode, ObjectNode
from ..message_text import received

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from ..introspect.nodes import Graph, Node

__all__ = [
    "AnnotatedAlias",
    "Skip",
    "alternatives_of",
    "framework_fields",
    "framework_of",
    "has_registered",
    "holds_handed_through",
    "host_class_in",
    "is_registered",
    "is_union",
    "members_of",
    "register_handed_through",
    "register_injected",
    "skip",
    "takes_none",
]


C = TypeVar("C", bound=type)

_registered: Final[dict[int, weakref.ref[type]]] = {}
"""Identity of a class to a reference that does not keep it alive; a metaclass may have a hash of its own."""

_handed_through: Final[dict[int, weakref.ref[type]]] = {}
"""The same for classes of results that a framework handles itself."""

_NEVER = frozenset({"builtins", "typing", "abc"})


def register_injected(cls: C, /) -> C:
    """Say that a class is the host's: parameters of it need no `skip` in tools made from now on.

    This counts for its subclasses, for generic types of it (`RunContext[Db]`) and for `X | None`.
    Any thread may call it, also several times for one class. It does not keep the class alive.

    Args:
        cls: a class, such as a framework's context. It can also be a decorator of the class.

    Returns:
        The same class.

    Raises:
        TypeError: it isn't a class, or it is a built-in class or one of `typing`.
    """
    if not isinstance(cls, type):  # what callers promise, some do not
        instead = "for RunContext[Db], register RunContext"
        message = f"register_injected takes a class, not {received(cls)}; {instead}"
        raise TypeError(message)
    if cls.__module__ in _NEVER:
        message = f"register_injected takes a class of the host, and {name_of(cls)} is one of Python's own"
        raise TypeError(message)
    _remember(_registered, cls)
    return cls


def register_handed_through(cls: type, /) -> None:
    """Say that a framework handles instances of a class itself, where a function returns them.

    This counts for its subclasses; a schema that it may have is an accident.

    Args:
        cls: a class, such as that of a framework's results.
    """
    _remember(_handed_through, cls)


def _remember(classes: dict[int, weakref.ref[type]], cls: type) -> None:
    key = id(cls)
    # The entry goes before another class can have this identity.
    classes[key] = weakref.ref(cls, lambda _: classes.pop(key, None))


def has_registered() -> bool:
    """Return whether any class is registered, so that most programs need not ask for each parameter."""
    return bool(_registered)


def is_registered(hint: Any) -> bool:
    """Return whether an annotation is of classes that `register_injected` was given."""
    kinds = alternatives_of(hint)
    return bool(kinds) and all(map(_is_of_host, kinds))


def _is_of_host(hint: Any) -> bool:
    cls = hint if type(hint) is type else getattr(hint, "__origin__", hint)
    return isinstance(cls, type) and any(_is_entry(base) for base in cls.__mro__)


def _is_entry(cls: type, classes: Mapping[int, weakref.ref[type]] = _registered) -> bool:
    found = classes.get(id(cls))
    return found is not None and found() is cls


def host_class_in(hint: Any) -> type | None:
    """Return the one class that an annotation is of, without None and arguments, if it has one."""
    kinds: Sequence[Any] = alternatives_of(hint)
    if len(kinds) != 1:
        return None
    cls = kinds[0] if isinstance(kinds[0], type) else getattr(kinds[0], "__origin__", None)
    return cls if isinstance(cls, type) else None


def framework_fields(graph: Graph, *, is_made: bool) -> Sequence[str]:
    """Return the attributes of an input that are instances of a framework's class, such as its context.

    Some of these classes have a schema, and a model would have to invent a context. An empty string stands
    for the input itself.

    Args:
        graph: of the input.
        is_made: whether its class was made for the parameters of a function.
    """
    root = graph.resolve_root()
    if not isinstance(root, ObjectNode):
        return ()
    found: list[str] = []
    for field in root.fields:
        if field.node.__class__ in _WITH_CLASS and _is_framework(field.node):
            found.append(field.name)  # noqa: PERF401  # a comprehension would cost each registration a call
    return found if is_made or framework_of(root.type) is None else ["", *found]


_WITH_CLASS: Final[frozenset[Any]] = frozenset({ObjectNode, LeafNode})


def _is_framework(node: Node) -> bool:
    if isinstance(node, ObjectNode):
        return framework_of(node.type) is not None
    # What isn't a model of pydantic is a leaf because somebody wants it from the model.
    if isinstance(node, LeafNode) and isinstance(node.leaf.encode, CheckedEncoder):
        return framework_of(node.leaf.type) is not None
    return False


def framework_of(cls: type) -> str | None:
    """Return the package whose framework gives instances of a class, as far as we know it."""
    for base in cls.__mro__:
        for package in _KNOWN.get(class_name(base), ()):
            if f"{base.__module__}.".startswith(f"{package}."):
                return package
    return None


_KNOWN: Final[Mapping[str, Sequence[str]]] = {
    "Agent": ("agno", "strands", "google.adk"),
    "AsyncCallbackManagerForToolRun": ("langchain_core",),
    "BaseCallbackManager": ("langchain_core",),
    "BaseStore": ("langgraph",),
    "CallbackManagerForToolRun": ("langchain_core",),
    "Context": ("mcp", "fastmcp", "llama_index", "workflows", "google.adk"),
    "InvocationContext": ("google.adk",),
    "Kernel": ("semantic_kernel",),
    "KernelArguments": ("semantic_kernel",),
    "Progress": ("operator_schema",),
    "ReadonlyContext": ("google.adk",),
    "RequestContext": ("mcp",),
    "RunContext": ("pydantic_ai", "agno"),
    "RunContextWrapper": ("agents",),
    "RunnableConfig": ("langchain_core",),
    "Runtime": ("langgraph",),
    "ServerRequestContext": ("mcp",),
    "ServerSession": ("mcp",),
    "State": ("haystack",),
    "Team": ("agno",),
    "ToolCall": ("llm",),
    "ToolContext": ("agents", "google.adk", "strands"),
    "ToolRuntime": ("langchain", "langgraph"),
}
"""Name of a class to the packages that have one; nothing is imported for it."""


def holds_handed_through(hint: Any) -> bool:
    """Return whether a type holds objects that a framework handles itself, such as mcp's `CallToolResult`.

    They say what is to be done with a result. That some of them have a schema is an accident.
    """
    cls = get_origin(hint) or hint
    own = isinstance(cls, type) and any(map(_is_handed_through, cls.__mro__))
    return own or any(map(holds_handed_through, get_args(hint)))


def _is_handed_through(cls: type) -> bool:
    if _is_entry(cls, _handed_through):
        return True
    package = cls.__module__.partition(".")[0]
    return any(
        f"{cls.__module__}.".startswith(f"{module}.") and cls.__name__.startswith(names)
        for module, names in _HANDED_THROUGH.get(package, ())
    )


_EVERY: Final = ("",)
_HANDED_THROUGH: Final[Mapping[str, Sequence[tuple[str, tuple[str, ...]]]]] = {
    "agents": [("agents.tool", ("ToolOutput",))],
    "agno": [("agno.tools", ("ToolResult",)), ("agno.media", _EVERY)],
    "anthropic": [("anthropic.types", _EVERY)],
    "dspy": [("dspy.adapters.types", _EVERY)],
    "fastmcp": [("fastmcp", _EVERY)],
    "google": [("google.genai.types", _EVERY)],
    "haystack": [("haystack.dataclasses", ("TextContent", "ImageContent", "FileContent"))],
    "langchain_core": [("langchain_core.messages", _EVERY)],
    "langgraph": [("langgraph.types", _EVERY)],
    "llama_index": [("llama_index.core.base.llms.types", _EVERY), ("llama_index.core.tools", _EVERY)],
    "llm": [("llm.models", ("ToolOutput", "Attachment"))],
    "mcp": [("mcp.types", _EVERY), ("mcp.server", _EVERY)],
    "mcp_types": [("mcp_types", _EVERY)],
    "pydantic_ai": [("pydantic_ai", _EVERY)],
    "semantic_kernel": [
        ("semantic_kernel.contents", _EVERY),
        ("semantic_kernel.functions", ("FunctionResult",)),
    ],
    "smolagents": [("smolagents.agent_types", _EVERY)],
    "strands": [("strands.types", _EVERY)],
}
"""By package, the modules of such classes and how their names begin; nothing is imported for it."""


AnnotatedAlias: Final[Any] = type(Annotated[int, None])
"""The class of `Annotated[…]`; `get_origin` says the same in five times the time."""

_ALIASES_AT_MOST = 100


def alternatives_of(hint: Any) -> Sequence[Any]:
    """Return the types that a parameter takes: the members of a union, without None."""
    hint = _without_names(hint)
    members = members_of(hint)
    if members[0] is hint:
        return () if hint is None else members
    return [part for arg in members if arg is not NoneType for part in alternatives_of(arg)]


def _without_names(hint: Any) -> Any:
    """Return what is in `Annotated`, and what a type alias (PEP 695) means."""
    for _ in range(_ALIASES_AT_MOST):
        if isinstance(hint, AnnotatedAlias):
            hint = hint.__origin__
        elif type(hint).__name__ == "TypeAliasType":
            try:
                hint = hint.__value__
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001  # it is evaluated now, and may raise anything
                break
        else:
            break
    return hint


def members_of(hint: Any) -> tuple[Any, ...]:
    """Return the members of a union; of anything else, itself alone."""
    return hint.__args__ if is_union(hint) else (hint,)


def is_union(hint: Any) -> bool:
    """Return whether an annotation is a union, however it is written."""
    return isinstance(hint, UnionType) or getattr(hint, "__origin__", None) is Union


def takes_none(hint: Any) -> bool:
    """Return whether None fits an annotation; also True where that can't be known."""
    hint = _without_names(hint)
    if is_union(hint):
        return any(map(takes_none, hint.__args__))
    if get_origin(hint) is Literal:
        return None in hint.__args__
    if hint is None or hint is Any or hint is object or hint is NoneType:
        return True
    return isinstance(hint, (str, ForwardRef, TypeVar, Unresolved)) or type(hint).__name__ == "TypeAliasType"


@final
class Skip:
    """The class of `skip`, of which there is one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "skip"

    def __reduce__(self) -> str:
        return "skip"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


skip: Final = Skip()
"""Marks a parameter that your program injects at the call: `db: Annotated[Db, skip]`."""
