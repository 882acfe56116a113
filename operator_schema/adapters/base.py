"""What do all adapters share: their tools, their executor, and what a framework gives to a call?"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..immutable import Value
from ..tools.calls import RawCall
from ..tools.execution.checks import check_confirm
from ..tools.execution.executor import Executor
from ..tools.registry import Registry
from ..tools.tool import Tool
from ..wording import nearest, quote, received

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import TypedDict, Unpack

    from ..rounds.tool_call import ToolCall
    from ..rounds.toolset import Toolset
    from ..schema.style import StyleOptions
    from ..tools.calls import ToolResult
    from ..tools.execution.confirmation import Confirm
    from ..tools.execution.reports import OnProgress
    from ..tools.tool import ToolDefinition

    class ExecutorOptions(TypedDict, total=False):
        """The options of an `Executor` that an adapter decides."""

        native_results: Iterable[type]
        pass_through: Iterable[type[BaseException]]


__all__ = [
    "Context",
    "Runner",
    "Tools",
    "check_context",
    "check_executor",
    "check_native",
    "check_parameters",
    "check_tool",
    "flat_definition",
    "is_agreement",
    "needing",
    "question_about",
    "registry_of",
    "runner_of",
    "runner_of_one",
]

Context: TypeAlias = Mapping[Any, Any] | Callable[[Any], Mapping[Any, Any]]
"""What your program injects, or a function that makes it from the context of the framework."""

Tools: TypeAlias = "Registry | Toolset[Any] | Iterable[Tool[..., Any]]"
"""Everything that is several tools."""


@contextmanager
def needing(module: str, requirement: str, extra: str) -> Generator[None]:
    """Import a framework inside of this, to say what to install where it is missing or too old.

    Args:
        module: that the adapter imports.
        requirement: distribution and version, for the message.
        extra: of operator-schema.

    Raises:
        ModuleNotFoundError: it is missing.
        ImportError: it lacks a module or a name.
    """
    try:
        yield
    except ImportError as error:
        missing = f"{error.name}."
        message = f"this adapter needs {requirement}: pip install 'operator-schema[{extra}]'"
        # Packages of one namespace, such as google's, may all be missing.
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(missing):
            raise ModuleNotFoundError(message, name=module) from None
        if missing.startswith(f"{module}."):
            detail = f"{message} (with what is installed: {error})"
            raise ImportError(detail, name=error.name, path=error.path) from error
        raise


class Runner(Value):
    """How an adapter runs the calls of its framework.

    Attributes:
        executor: what runs them.
        context: what your program injects, or a function that takes the framework's own context and
            returns that; None for nothing.
        confirm: as for `Executor`; None for what the framework or the executor has.
    """

    executor: Executor
    context: Context | None
    confirm: Confirm | None = None

    async def run(
        self,
        name: str,
        arguments: Any,
        own: Mapping[Any, Any],
        *,
        call_id: str | None = None,
        host: Any = None,
        on_progress: OnProgress | None = None,
        confirm: Confirm | None = None,
    ) -> ToolResult:
        """Run one call.

        Args:
            name: of the tool.
            arguments: as the framework gives them.
            own: what the framework has for the call, by type. What your program gives wins.
            call_id: None where the framework doesn't say.
            host: what the function given as `context` gets.
            on_progress: as for `Executor.run`.
            confirm: as for `Executor.run`, where the user of the adapter gave none: `"run"` if the
                framework holds back a call of a tool with `confirm=True` until a person agrees, or what
                asks by the framework's own means.

        Raises:
            BaseException: of `pass_through`; what the function given as `context` raises.
        """
        call = RawCall(call_id, name, arguments)
        context = self.context_of(own, host)
        confirm = self.confirm or confirm
        return await self.executor.run(call, context=context, on_progress=on_progress, confirm=confirm)

    def run_sync(
        self,
        name: str,
        arguments: Any,
        own: Mapping[Any, Any],
        *,
        call_id: str | None = None,
        host: Any = None,
        confirm: Confirm | None = None,
    ) -> ToolResult:
        """Do what `run` does, and wait for it, as `Executor.run_sync` does."""
        call = RawCall(call_id, name, arguments)
        return self.executor.run_sync(
            call, context=self.context_of(own, host), confirm=self.confirm or confirm
        )

    def context_of(self, own: Mapping[Any, Any], host: Any) -> Mapping[Any, Any]:
        """Return what can be injected into a call; the arguments are those of `run`."""
        given = self.context
        if given is None:
            return own
        if not isinstance(given, Mapping):
            given = given(host)
        # Not a copy: a mapping may make its values when it is asked for them.
        return ChainMap(cast("dict[Any, Any]", given), cast("dict[Any, Any]", own))


def runner_of(
    tools: Tools,
    context: Context | None,
    executor: Executor | None,
    options: ExecutorOptions,
    confirm: Confirm | None = None,
) -> Runner:
    """Return what runs the calls of several tools.

    Args:
        tools: as the user gave them.
        context: as the user gave it.
        executor: as the user gave it; None for one with `options`.
        options: of an executor of the adapter's own.
        confirm: as the user gave it.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument is of another kind.
        ValueError: the executor has other tools, or `confirm` is something else.
    """
    check_context(context)
    check_confirm(confirm)
    registry = registry_of(tools)
    if executor is None:
        return Runner(Executor(registry, **options), context, confirm)  # pyright: ignore[reportArgumentType]  # no other keys
    check_executor(executor, registry)
    return Runner(executor, context, confirm)


def runner_of_one(
    tool: Tool[..., Any],
    context: Context | None,
    executor: Executor | None,
    options: ExecutorOptions,
    confirm: Confirm | None = None,
) -> Runner:
    """Return what runs the calls of one tool; the arguments are those of `runner_of`.

    An executor that has more tools than this one is taken too.

    Raises:
        TypeError: an argument is of another kind.
        ValueError: the executor has another tool of this name, or none.
    """
    check_tool(tool)
    check_context(context)
    check_confirm(confirm)
    if executor is None:
        return Runner(Executor([tool], **options), context, confirm)  # pyright: ignore[reportArgumentType]  # no other keys
    _check_is_executor(executor)
    if tool.name not in executor.registry or executor.registry[tool.name] != tool:
        message = f"the executor has no such tool {tool.name}: give both the same, Executor([{tool.name}], …)"
        raise ValueError(message)
    return Runner(executor, context, confirm)


def is_agreement(answer: object) -> bool:
    """Return whether the answer of a person, in whatever form a framework gives it, is a clear yes."""
    if isinstance(answer, str):
        return answer.strip().lower() in _YES
    if isinstance(answer, Mapping):
        said = cast("Mapping[str, object]", answer)
        return any(is_agreement(said.get(key)) for key in ("approved", "confirmed", "response", "type"))
    return answer is True


_YES = frozenset({"y", "yes", "true", "approve", "approved", "accept", "accepted", "ok"})


def question_about(call: ToolCall[Any]) -> dict[str, Any]:
    """Return what a person is asked about a call, as JSON values."""
    return {"question": f"Run {call.name}?", "tool": call.name, "arguments": call.arguments}


def registry_of(tools: Tools) -> Registry:
    """Return tools as a registry, in which those that a toolset has off are switched off."""
    return tools if isinstance(tools, Registry) else Registry(tools)


def flat_definition(tool: Tool[..., Any], framework: str, **style: Unpack[StyleOptions]) -> ToolDefinition:
    """Return what the model reads of a tool, for a framework that drops definitions of a schema.

    Args:
        tool: as the model sees it.
        framework: its name, for the message.
        style: as `Tool.definition` takes it.

    Raises:
        ValueError: the tool takes a recursive type.
    """
    style["inline"] = True
    definition = tool.definition(**style)
    if "$defs" in definition["input_schema"]:
        message = f"{framework} can't show recursive types, and {tool.name} takes one"
        raise ValueError(message)
    return definition


def check_parameters(tool: Tool[..., Any], framework: str, taken: Iterable[str]) -> None:
    """Check that a framework can call a tool by the names of its parameters.

    Args:
        tool: as the model sees it.
        framework: its name, for the message.
        taken: names that its own way of calling tools needs.

    Raises:
        ValueError: a parameter has such a name.
    """
    properties = tool.input_schema().get("properties", {})
    for name in taken:
        if name in properties:
            message = (
                f"{framework} can't call {tool.name}: it needs the name {name} itself. "
                "Rename the parameter, or give it an alias"
            )
            raise ValueError(message)


def check_tool(tool: Any) -> None:
    """Check what is given as a tool.

    Raises:
        TypeError: it isn't one.
    """
    if not isinstance(tool, Tool):
        message = f"to_tool takes a tool made by @tool or @tool_input, not {received(tool)}{_remedy(tool)}"
        raise TypeError(message)


def _remedy(given: object) -> str:
    if isinstance(given, FunctionType):
        return ": decorate it with @tool"
    return ": take to_tools for several" if hasattr(type(given), "__iter__") else ""


def check_executor(executor: Executor, registry: Registry) -> None:
    """Check what is given as the executor of the tools of a registry.

    Raises:
        TypeError: it isn't one.
        ValueError: it has other tools.
    """
    _check_is_executor(executor)
    if executor.registry is not registry and list(executor.registry) != list(registry):
        message = "the executor has other tools: give the same registry to both, Executor(registry, …)"
        raise ValueError(message)


def check_native(native: Mapping[str, Any], known: Iterable[str], owner: str) -> None:
    """Check options that go to a class of the framework which takes whatever it gets.

    Args:
        native: as the user gave them.
        known: names of the options that it has.
        owner: its name, for the message.

    Raises:
        TypeError: one is unknown.
    """
    names = list(known)
    for name in native:
        if name not in names:
            near = nearest(name, names)
            hint = "" if near is None else f"; did you mean {near}?"
            message = f"unknown option {quote(name)}: neither an adapter nor {owner} has it{hint}"
            raise TypeError(message)


def check_context(context: Any) -> None:
    """Check what is given as the context.

    Raises:
        TypeError: it is neither a mapping nor a function.
    """
    if context is not None and not isinstance(context, Mapping) and not callable(context):
        message = f"context is a mapping, or a function that returns one, not {received(context)}"
        raise TypeError(message)


def _check_is_executor(executor: Any) -> None:
    if not isinstance(executor, Executor):
        message = f"executor is an Executor, not {received(executor)}"
        raise TypeError(message)
