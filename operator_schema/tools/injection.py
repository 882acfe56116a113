"""Which values does a program inject into a function, beside the model's arguments?

Parameters that are marked by `skip`, or annotated with a class of a framework, are injected. A function can
also ask for a `Progress` to report to.
"""

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
    NoReturn,
    TypeVar,
    Union,
    final,
    get_args,
    get_origin,
)

from ..immutable import Value
from ..introspect.hints import Unresolved
from ..introspect.leaves import CheckedEncoder
from ..introspect.nodes import LeafNode, ObjectNode
from ..introspect.shown_annotations import name_of
from ..message_text import class_name, clip, received

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from ..introspect.nodes import Graph, Node


C = TypeVar("C", bound=type)

_registered: Final[dict[int, weakref.ref[type]]] = {}
"""Identity of a class to a reference that does not keep it alive; a metaclass may have a hash of its own."""

_handed_through: Final[dict[int, weakref.ref[type]]] = {}
"""The same for classes of results that frameworks handle themselves."""

_NEVER = frozenset({"builtins", "typing", "abc"})


def register_injected(cls: C, /) -> C:
    """Declare that a class belongs to the host: its parameters need no `skip` in tools made from now on.

    This includes its subclasses, its generic types (`RunContext[Db]`) and `X | None`.
    Any thread may call it, even several times for one class. It doesn't keep the class alive.

    Args:
        cls: a class, such as a framework's context. The function also works as a decorator of the class.

    Returns:
        The same class.

    Raises:
        TypeError: `cls` isn't a class, or is a built-in class or one of `typing`.
    """
    if not isinstance(cls, type):  # callers may break the annotation
        instead = "for RunContext[Db], register RunContext"
        message = f"register_injected takes a class, not {received(cls)}; {instead}"
        raise TypeError(message)
    if cls.__module__ in _NEVER:
        message = f"register_injected takes a class of the host, but {name_of(cls)} is one of Python's own"
        raise TypeError(message)
    _remember(_registered, cls)
    return cls


def register_handed_through(cls: type, /) -> None:
    """Declare that a framework itself handles instances of a class that functions return.

    This includes its subclasses; a schema that it happens to have doesn't matter.

    Args:
        cls: a class, such as that of a framework's results.
    """
    _remember(_handed_through, cls)


def _remember(classes: dict[int, weakref.ref[type]], cls: type) -> None:
    key = id(cls)
    # The entry is removed before another class can have this identity.
    classes[key] = weakref.ref(cls, lambda _: classes.pop(key, None))


def has_registered() -> bool:
    """Return whether any class is registered; if not, as in most programs, parameters needn't be checked."""
    return bool(_registered)


def is_registered(hint: Any) -> bool:
    """Return whether an annotation has only classes given to `register_injected`."""
    kinds = alternatives_of(hint)
    return bool(kinds) and all(map(_is_of_host, kinds))


def _is_of_host(hint: Any) -> bool:
    cls = hint if type(hint) is type else getattr(hint, "__origin__", hint)
    return isinstance(cls, type) and any(_is_entry(base) for base in cls.__mro__)


def _is_entry(cls: type, classes: Mapping[int, weakref.ref[type]] = _registered) -> bool:
    found = classes.get(id(cls))
    return found is not None and found() is cls


def host_class_in(hint: Any) -> type | None:
    """Return the only class in an annotation, without None and type arguments, if there is one."""
    kinds: Sequence[Any] = alternatives_of(hint)
    if len(kinds) != 1:
        return None
    cls = kinds[0] if isinstance(kinds[0], type) else getattr(kinds[0], "__origin__", None)
    return cls if isinstance(cls, type) else None


def framework_fields(graph: Graph, *, is_made: bool) -> Sequence[str]:
    """Return the fields of an input whose type is a framework's class, such as its context.

    Some of these classes have a schema, and a model would have to invent a context. An empty string means the
    input itself.

    Args:
        graph: the graph of the input.
        is_made: whether its class was made for the parameters of a function.
    """
    root = graph.resolve_root()
    if not isinstance(root, ObjectNode):
        return ()
    nodes = [(field.name, field.node) for field in root.fields if field.node.__class__ in _WITH_CLASS]
    found = [name for name, node in nodes if _is_framework(node)]
    return found if is_made or framework_of(root.type) is None else ["", *found]


_WITH_CLASS: Final[frozenset[Any]] = frozenset({ObjectNode, LeafNode})


def _is_framework(node: Node) -> bool:
    if isinstance(node, ObjectNode):
        return framework_of(node.type) is not None
    # Other leaves than models of pydantic exist because somebody wants them from the model.
    if isinstance(node, LeafNode) and isinstance(node.leaf.encode, CheckedEncoder):
        return framework_of(node.leaf.type) is not None
    return False


def framework_of(cls: type) -> str | None:
    """Return the package of the framework that provides instances of a class, if it is known."""
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
"""Name of a framework's class to the packages that have it; nothing is imported for this."""


def holds_handed_through(hint: Any) -> bool:
    """Return whether a type holds objects that a framework handles itself, such as mcp's `CallToolResult`.

    Such objects tell the framework what to do with a result. Some of their classes happen to have a schema.
    """
    waiting = [hint]  # a type may nest deeper than the stack of Python
    while waiting:
        one = waiting.pop()
        cls = get_origin(one) or one
        if isinstance(cls, type) and any(map(_is_handed_through, cls.__mro__)):
            return True
        waiting += get_args(one)
    return False


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
"""By package, the modules and name prefixes of results that the framework handles; nothing is imported for
this."""


AnnotatedAlias: Final[Any] = type(Annotated[int, None])
"""The class of `Annotated[…]`; `get_origin` takes five times as long."""

_ALIASES_AT_MOST = 100


def alternatives_of(hint: Any) -> Sequence[Any]:
    """Return the types that a parameter takes: the members of a union, without None."""
    hint = _without_names(hint)
    members = members_of(hint)
    if members[0] is hint:
        return () if hint is None else members
    return [part for arg in members if arg is not NoneType for part in alternatives_of(arg)]


def _without_names(hint: Any) -> Any:
    """Return the type inside `Annotated`, and the meaning of a type alias (PEP 695)."""
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
    """Return the members of a union; for anything else, only itself."""
    return hint.__args__ if is_union(hint) else (hint,)


def is_union(hint: Any) -> bool:
    """Return whether an annotation is a union, however it is written."""
    return isinstance(hint, UnionType) or getattr(hint, "__origin__", None) is Union


def takes_none(hint: Any) -> bool:
    """Return whether None fits an annotation; True also if it can't be known."""
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
    """The class of `skip`, its only instance."""

    __slots__ = ()

    misplaced = (  # read where an annotation is walked: there, the mark hides nothing
        "skip marks only whole parameters of a function, so a model would see this and could give it",
        "Leave it out here, and give it to the function as a parameter, such as user: Annotated[User, skip]",
    )

    def __repr__(self) -> str:
        return "skip"

    def __reduce__(self) -> str:
        return "skip"

    def __call__(self, *_: object, **__: object) -> NoReturn:
        """Refuse to be called.

        Raises:
            TypeError: always, with the right way to write it.
        """
        message = "skip isn't called: write Annotated[Db, skip], with your own type in place of Db"
        raise TypeError(message)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


skip: Final = Skip()
"""Marks a parameter that your program injects at the call: `db: Annotated[Db, skip]`."""


_MESSAGE_LENGTH = 1000


class ProgressUpdate(Value):
    """The progress of a tool.

    Attributes:
        done: how much is done, in any unit.
        total: how much there is to do, in the same unit; None if that isn't known.
        message: what the tool is doing, at most 1,000 characters; or None.
    """

    done: float
    total: float | None = None
    message: str | None = None


@final
class Progress:
    """Reports the progress of a tool to the program that runs the call.

    A tool gets one for a parameter such as `progress: Annotated[Progress, skip]`, and calls it:
    `progress(3, 10, "Reading page 3")`. This takes hardly any time, works from any thread, and does nothing
    if nobody listens or the call is over. `Progress()` makes one that does nothing.
    """

    __slots__ = ("_report",)

    def __init__(self) -> None:
        self._report: Callable[[ProgressUpdate], object] | None = None

    def __call__(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report the progress of the tool.

        Args:
            done: how much is done, in any unit.
            total: how much there is to do, in the same unit; None if that isn't known.
            message: what the tool is doing.

        Raises:
            TypeError: an argument has the wrong type.
        """
        _check("done must be a number", done, (int, float))
        _check("total must be a number or None", total, (int, float, NoneType))
        _check("message must be a string or None", message, (str, NoneType))
        report = self._report
        if report is not None:
            text = None if message is None else clip(str.__str__(message), _MESSAGE_LENGTH)
            report(ProgressUpdate(done, total, text))


def connect(progress: Progress, report: Callable[[ProgressUpdate], object] | None) -> None:
    """Set the function that gets reports; None removes it."""
    progress._report = report  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # tools must not see it


def _check(rule: str, value: object, kinds: tuple[type, ...]) -> None:
    if not isinstance(value, kinds):
        message = f"{rule}, not {received(value)}"
        raise TypeError(message)
