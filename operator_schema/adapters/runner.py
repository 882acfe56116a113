"""How does an adapter run the calls of a framework, with the framework's context and its way to ask?"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ..immutable import Value
from ..tools import RawCall
from .asking import agreed_by_tool, asked_elsewhere, asking, holding_back, not_agreed, question_about

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..execution import Confirm, Executor, OnProgress
    from ..tools import Tool, ToolResult
    from .asking import Asks, Kept

Context: TypeAlias = Mapping[Any, Any] | Callable[[Any], Mapping[Any, Any]]
"""The values that your program injects, or a function that makes them from the framework's context."""


class Runner(Value):
    """Runs the calls of a framework for an adapter.

    Attributes:
        executor: the executor.
        context: the values that your program injects, or a function that takes the framework's own context
            and returns them; None for nothing.
        confirm: as for `Executor`; None for the framework's or the executor's way to ask.
        own: as `Adapter` takes it, a function or None.
        asks: how the framework asks a person.
        agreed: as `Adapter` takes it.
        kept: as `Adapter` takes it.
        shows_call: as `Adapter` takes it.
        made_of: the tool that the framework's tool was made from; None if it asks for the tools at each step.
            By now, the registry may have another tool of that name, which nobody was asked about.
    """

    executor: Executor
    context: Context | None
    confirm: Confirm | None = None
    own: Callable[[Any], Mapping[Any, Any]] | None = None
    asks: Asks = None
    agreed: Callable[[Any], bool | None] | None = None
    kept: Kept = None
    shows_call: bool = False
    made_of: Tool[..., Any] | None = None

    async def run(
        self,
        name: str,
        arguments: Any,
        host: Any = None,
        *,
        call_id: str | None = None,
        more: Mapping[Any, Any] | None = None,
        context: Mapping[Any, Any] | None = None,
        on_progress: OnProgress | None = None,
        confirm: Confirm | None = None,
        sent_name: str | None = None,
    ) -> ToolResult:
        """Run one call.

        Args:
            name: name of the tool.
            arguments: the arguments as the framework gives them.
            host: the framework's own context of the call; None if there is none.
            call_id: id of the call; None if the framework doesn't know it.
            more: further objects of the framework for the call, by type; None for an absent one. Values of
                your program win.
            context: the result of `context_of`, if it was called already.
            on_progress: as for `Executor.run`.
            confirm: asks about this call by the framework's own means, if `Adapter.asks` doesn't.
            sent_name: as in a `RawCall`.

        Raises:
            BaseException: one of `pass_through`, or any exception of the function given as `context`.
        """
        call = RawCall(call_id, name, arguments, sent_name=sent_name)
        if context is None:
            context = self.context_of(host, more)
        asking = self._asking(name, host, confirm)
        return await self.executor.run(call, context=context, on_progress=on_progress, confirm=asking)

    def run_sync(
        self,
        name: str,
        arguments: Any,
        host: Any = None,
        *,
        call_id: str | None = None,
        more: Mapping[Any, Any] | None = None,
        confirm: Confirm | None = None,
    ) -> ToolResult:
        """Run a call as `run` does, and wait for its result, as `Executor.run_sync` does."""
        call = RawCall(call_id, name, arguments)
        context = self.context_of(host, more)
        return self.executor.run_sync(call, context=context, confirm=self._asking(name, host, confirm))

    def context_of(self, host: Any, more: Mapping[Any, Any] | None = None) -> Mapping[Any, Any]:
        """Return the values that a call can inject; the arguments are those of `run`."""
        own: Mapping[Any, Any] = {} if self.own is None or host is None else self.own(host)
        if more:
            own = {**own, **{key: value for key, value in more.items() if value is not None}}
        given = self.context
        if given is None:
            return own
        if not isinstance(given, Mapping):
            given = given(host)
        # Not a copy: a mapping may make its values when it is asked for them.
        return ChainMap(cast("dict[Any, Any]", given), cast("dict[Any, Any]", own))

    def context_when_needed(self, host: Any) -> Mapping[Any, Any]:
        """Return the mapping of `context_of`, made only if a tool or a switch looks into it."""
        return _Later(lambda: self.context_of(host))

    def may_wait(self, tool: Tool[..., Any]) -> bool:
        """Return whether calls of a tool may have to wait for a person, because of the tool or of hooks."""
        return self.confirm is None and (bool(tool.annotations.confirm) or self.executor.may_defer(tool.name))

    def holds_back(self, tool: Tool[..., Any]) -> bool:
        """Return whether the framework has to hold back all calls of a tool until a person agrees."""
        return bool(tool.annotations.confirm) and self.confirm is None

    async def question(
        self, name: str, arguments: Any, host: Any = None, *, call_id: str | None = None
    ) -> dict[str, Any] | None:
        """Return the question to a person about a call; None if it runs, or is refused, without a question.

        Hooks are asked first, so that nobody is asked in vain.

        Args:
            name: the name of the tool.
            arguments: the arguments as the framework gives them.
            host: the framework's own context of the call.
            call_id: id of the call; None if the framework doesn't know it.
        """
        if self.confirm is not None:
            return None
        call = RawCall(call_id, name, arguments)
        waiting = await self.executor.waiting(call, context=self.context_when_needed(host))
        return None if waiting is None else question_about(waiting)

    def _asking(self, name: str, host: Any, confirm: Confirm | None) -> Confirm | None:
        asks, given = self.asks, self.confirm or confirm
        if given == "run":
            return asked_elsewhere
        if given is not None or asks is None:
            return given
        if self._is_replaced(name):
            return None
        if not isinstance(asks, str):
            return None if host is None else asking(asks, self.kept, host, shows_call=self.shows_call)
        if self.agreed is not None and host is not None:
            return holding_back(self.kept, host) if self.agreed(host) else not_agreed
        # What the framework held back comes once a person has agreed.
        is_held_back = self.made_of is not None and self.holds_back(self.made_of)
        return agreed_by_tool if is_held_back else None

    def _is_replaced(self, name: str) -> bool:
        """Return whether the registry has replaced the tool that a person may have been asked about."""
        made_of, registry = self.made_of, self.executor.registry
        return made_of is not None and name in registry and registry[name] != made_of


class _Later(Mapping[Any, Any]):
    """A mapping that is made when it is first used."""

    def __init__(self, make: Callable[[], Mapping[Any, Any]]) -> None:
        self._make = make

    @cached_property
    def _mapping(self) -> Mapping[Any, Any]:
        return self._make()

    def __getitem__(self, key: Any) -> Any:
        return self._mapping[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._mapping)

    def __len__(self) -> int:
        return len(self._mapping)
