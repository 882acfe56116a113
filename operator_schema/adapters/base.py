"""How does an adapter make a framework's tools of ours?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, ParamSpec, TypeAlias, TypeVar

from ..execution import Executor, check_confirm
from ..message_text import quote, received
from ..rounds import Registry
from ..similar_names import nearest
from ..tools import Tool, check_is_tool, register_handed_through, register_injected
from .runner import Context, Runner

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Self

    from ..execution import Confirm
    from ..rounds import Toolset
    from .asking import Asks, Kept

T = TypeVar("T")
L = TypeVar("L")
P = ParamSpec("P")

Tools: TypeAlias = "Executor | Registry | Toolset[Any] | Iterable[Tool[..., Any]]"
"""Several tools in any form, or an executor with them."""


@contextmanager
def needing(module: str, requirement: str, extra: str) -> Generator[None]:
    """Name the extra to install if an import in this context fails, or the framework is too old.

    Args:
        module: name of the framework's module.
        requirement: distribution and version, for the message.
        extra: name of the extra of operator-schema.

    Raises:
        ModuleNotFoundError: the framework is missing.
        ImportError: the framework lacks a module or a name.
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


class Adapter(Generic[T]):
    """The adapter to one framework; its `to_tool` and `to_tools` become those of the framework's module.

    Args:
        name: name of the framework, for messages.
        make: returns a tool of the framework, given our tool, the runner of its calls, and the framework's
            own options by name.
        own: returns the objects of the framework that a call can inject, by type, from its own context of the
            call; a class means that the context itself can be injected by this type. None: the framework has
            nothing to inject.
        hosts: more classes whose instances the framework provides: parameters with these types need no
            `skip`. None for a class of a library that isn't installed.
        asks: how the framework asks a person.
        agreed: for a framework that holds calls back: takes its own context of a call, and returns whether a
            person has approved exactly this call. None if the framework doesn't know.
        kept: how to get the question that the framework stored.
        shows_call: whether the framework also shows the person the call as the model wrote it, if `asks` is a
            function. If so, nobody is asked about a call with arguments that the tool doesn't know.
        native_results: as for `Executor`; None for a class of a library that isn't installed.
        pass_through: as for `Executor`; None for a class of a library that isn't installed.
        options: the name of a class of the framework that accepts any options, with the names of its real
            ones.
        taken: names that the framework needs for itself, so that parameters can't have them.
        lists_disabled: whether `to_tools` also gives tools that are switched off, because the framework asks
            about each of them in each run.
    """

    def __init__(
        self,
        name: str,
        make: Callable[..., T],
        *,
        own: type | Callable[[Any], Mapping[Any, Any]] | None = None,
        hosts: Iterable[Any] = (),
        asks: Asks = None,
        agreed: Callable[[Any], bool | None] | None = None,
        kept: Kept = None,
        shows_call: bool = False,
        native_results: Iterable[type | None] = (),
        pass_through: Iterable[type[BaseException] | None] = (),
        options: tuple[Iterable[str], str] | None = None,
        taken: Iterable[str] = (),
        lists_disabled: bool = False,
    ) -> None:
        self.asks, self._agreed, self._kept, self._shows_call = asks, agreed, kept, shows_call
        self._name, self._make, self._options, self._taken = name, make, options, tuple(taken)
        self._limits: dict[str, Any] = {
            "native_results": tuple([cls for cls in native_results if cls is not None]),
            "pass_through": tuple([cls for cls in pass_through if cls is not None]),
        }
        self._lists_disabled = lists_disabled
        if isinstance(own, type):
            hosts = (own, *hosts)
            self._own: Callable[[Any], Mapping[Any, Any]] | None = lambda host: {own: host}
        else:
            self._own = own
        for host in hosts:
            if host is not None:
                register_injected(host)
        for cls in self._limits["native_results"]:
            register_handed_through(cls)

    def to_tool(
        self,
        tool: Tool[..., Any],
        /,
        *,
        context: Context | None = None,
        executor: Executor | None = None,
        confirm: Confirm | None = None,
        **native: Any,
    ) -> T:
        """Return a tool of the framework.

        Args:
            tool: one of ours.
            context: the values that your program injects, by type or by name; or a plain function that takes
                the framework's own context of a call (None if there is none) and returns these values. The
                framework's own objects can always be injected by their types.
            executor: an executor to run the calls, for limits of your own; it must have this tool.
            confirm: who is asked before a tool with `confirm=True` runs, as for `Executor`; `"run"` if your
                program has another way of asking. By default, the framework asks by its own means; if it has
                none, such calls aren't run.
            native: options of the framework's own class.

        Raises:
            TypeError: an argument has the wrong type.
            ValueError: the executor doesn't have this tool, or the framework can't take it.
        """
        check_is_tool("to_tool", tool, for_several="to_tools")
        runner = self.runner([tool], context, executor, confirm, native, only=tool)
        return self.native_tool(tool, runner, native)

    def to_tools(
        self,
        tools: Tools,
        /,
        *,
        context: Context | None = None,
        executor: Executor | None = None,
        confirm: Confirm | None = None,
        **native: Any,
    ) -> list[T]:
        """Return tools of the framework for those that are switched on now.

        Args:
            tools: a registry, a toolset or any iterable of tools; or an executor, which has its tools.
            context: as for `to_tool`; by default that of the executor.
            executor: as for `to_tool`; it has the same tools.
            confirm: as for `to_tool`.
            native: options of the framework's own class.

        Raises:
            DuplicateToolError: two tools have the same name.
            TypeError: an argument has the wrong type, or there are two executors.
            ValueError: the executor has other tools, or the framework can't take one.
        """
        runner = self.runner(tools, context, executor, confirm, native)
        registry = runner.executor.registry
        chosen = registry if self._lists_disabled else registry.offered()
        return [self.native_tool(tool, runner, native) for tool in chosen]

    def runner(
        self,
        tools: Tools,
        context: Context | None,
        executor: Executor | None,
        confirm: Confirm | None,
        native: Mapping[str, Any],
        *,
        only: Tool[..., Any] | None = None,
        **limits: Any,
    ) -> Runner:
        """Return the runner for the calls of several tools.

        Args:
            tools: as the user gave them.
            context: as the user gave it.
            executor: as the user gave it; None for one of the adapter's own.
            confirm: as the user gave it.
            native: options of the framework, as the user gave them.
            only: the tool, if there is one; the executor may then have more tools.
            limits: more options for an executor of the adapter's own.

        Raises:
            DuplicateToolError: two tools have the same name.
            TypeError: an argument has the wrong type.
            ValueError: the executor has other tools, or `confirm` has the wrong type.
        """
        if self._options is not None:
            _check_options(native, *self._options)
        _check_context(context)
        check_confirm(confirm)
        if isinstance(tools, Executor):
            if executor is not None:
                message = "the executor given in place of tools already has them: leave out executor="
                raise TypeError(message)
            executor = tools
        elif executor is None:
            executor = Executor(registry_of(tools), **limits)
        elif only is None:
            _check_executor(executor, registry_of(tools))
        else:
            _check_has(executor, only)
        executor = executor.for_host(**self._limits)
        context = executor.context if context is None else context
        asking = (self.asks, self._agreed, self._kept, self._shows_call)
        return Runner(executor, context, confirm, self._own, *asking)

    def native_tool(self, tool: Tool[..., Any], runner: Runner, native: Mapping[str, Any]) -> T:
        """Return a tool of the framework whose calls a runner runs.

        Raises:
            ValueError: the framework can't call the tool.
        """
        _check_parameters(tool, self._name, self._taken)
        return self._make(tool, runner.replace(made_of=tool), **native)


def with_state(attribute: str, cls: type | None = None) -> Callable[[Any], Mapping[Any, Any]]:
    """Return a function that lets calls inject the framework's context, and an object of your program in it.

    Args:
        attribute: name of the context's attribute with the object, which tools get by its type; a None there
            is ignored.
        cls: the type under which tools get the context itself; None for its own class.
    """

    def own(host: Any) -> Mapping[Any, Any]:
        state = getattr(host, attribute)
        found: dict[Any, Any] = {} if state is None else {type(state): state}
        return {**found, type(host) if cls is None else cls: host}

    return own


class LiveTools:
    """The tools of a registry, for a framework that asks for them again and again.

    Later changes of the registry take effect when the framework asks next. A subclass sets its `adapter`, and
    also derives from the framework's own class.

    Args:
        tools: a registry, a toolset, or any iterable of tools.
        context: as for `to_tool`.
        executor: an executor to run the calls; its registry must have these tools.
        confirm: as for `to_tool`.
        native: as for `to_tool`, for each tool; and options of the framework's own class of toolsets.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument has the wrong type.
        ValueError: the executor has other tools.
    """

    adapter: ClassVar[Adapter[Any]]
    theirs: ClassVar[Mapping[str, Any]] = {}
    """Options of the framework's own class of toolsets, with their defaults."""

    def __init__(
        self,
        tools: Tools,
        /,
        *,
        context: Context | None = None,
        executor: Executor | None = None,
        confirm: Confirm | None = None,
        **native: Any,
    ) -> None:
        theirs = {name: native.pop(name, default) for name, default in self.theirs.items()}
        runner = self.adapter.runner(tools, context, executor, confirm, native)
        self.begin(**theirs)
        self._runner, self._native = runner, native

    def begin(self, **theirs: Any) -> None:
        """Call the constructor of the framework's class.

        Args:
            theirs: the options of `theirs`, as the user gave them.
        """
        super().__init__(**theirs)

    @classmethod
    def of(cls, runner: Runner, native: Mapping[str, Any]) -> Self:
        """Return the tools of a runner."""
        executor = runner.executor
        given: Any = {"context": runner.context, "confirm": runner.confirm, **native}
        return cls(executor.registry, executor=executor, **given)

    @property
    def registry(self) -> Registry:
        """The tools."""
        return self._runner.executor.registry

    def current_tools(self, host: Any = None, **more: Any) -> list[Any]:
        """Return tools of the framework for those that are switched on now.

        Args:
            host: the framework's own context, if it gives one.
            more: further arguments for `make`.
        """
        native = {**self._native, **more}
        return [self.adapter.native_tool(tool, self._runner, native) for tool in self.offered(host)]

    def offered(self, host: Any = None) -> list[Tool[..., Any]]:
        """Return the tools that are switched on now; the argument is that of `current_tools`."""
        registry = self.registry
        if host is None:
            return registry.offered()
        return registry.offered(context=self._runner.context_when_needed(host))


def in_list(make: Callable[P, L]) -> Callable[P, list[L]]:
    """Return a function that takes the same arguments, and returns a list of one."""

    def make_list(*args: P.args, **options: P.kwargs) -> list[L]:
        return [make(*args, **options)]

    return make_list


def registry_of(tools: Tools) -> Registry:
    """Return tools as a registry; tools that a toolset hides are switched off in it."""
    if isinstance(tools, Executor):
        return tools.registry
    return tools if isinstance(tools, Registry) else Registry(tools)


# --- checks of the arguments ------------------------------------------------------------------------


def _check_parameters(tool: Tool[..., Any], framework: str, taken: Iterable[str]) -> None:
    """Check that a framework can call a tool by the names of its parameters."""
    properties = tool.input_schema().get("properties", {})
    for name in taken:
        if name in properties:
            message = (
                f"{framework} can't call {tool.name}: it needs the name {name} itself. "
                "Rename the parameter, or give it an alias"
            )
            raise ValueError(message)


def _check_executor(executor: Executor, registry: Registry) -> None:
    """Check the given executor for the tools of a registry."""
    _check_is_executor(executor)
    if executor.registry is not registry and list(executor.registry) != list(registry):
        message = "the executor has other tools: give the same registry to both, Executor(registry, …)"
        raise ValueError(message)


def _check_options(native: Mapping[str, Any], known: Iterable[str], owner: str) -> None:
    """Check options for a class of the framework that itself accepts any options."""
    names = list(known)
    for name in native:
        if name not in names:
            near = nearest(name, names)
            hint = "" if near is None else f"; did you mean {near}?"
            message = f"unknown option {quote(name)}: neither an adapter nor {owner} has it{hint}"
            raise TypeError(message)


def _check_context(context: Any) -> None:
    """Check the given context."""
    if context is not None and not isinstance(context, Mapping) and not callable(context):
        message = f"context must be a mapping, or a function that returns one, not {received(context)}"
        raise TypeError(message)


def _check_is_executor(executor: Any) -> None:
    if not isinstance(executor, Executor):
        message = f"executor must be an Executor, not {received(executor)}"
        raise TypeError(message)


def _check_has(executor: Executor, tool: Tool[..., Any]) -> None:
    """Check the given executor for one tool; it may have more tools."""
    _check_is_executor(executor)
    if tool.name not in executor.registry or executor.registry[tool.name] != tool:
        message = f"the executor has no such tool {tool.name}: give both the same, Executor([{tool.name}], …)"
        raise ValueError(message)
