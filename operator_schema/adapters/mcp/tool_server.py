"""How does a server list tools, run calls and announce changes?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from inspect import signature
from math import inf
from typing import TYPE_CHECKING, Any, cast

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from ...errors import DecodeError, ToolNotFoundError
from ...execution import Executor
from ...json_values import is_object, without_surrogates
from ...message_text import checked_switch, checked_text, class_name_of, kind, received
from ...rounds import FoundTools, Registry, ToolSearch
from ...tools import ERROR, INFO, RawCall, ToolResult, write_log
from ..base import Adapter
from ..conversions import change_line
from ..runner import Runner
from .asking import ElicitedConfirmation, PatientSession
from .changes import ChangeBus, listening
from .content import (
    checked_structured,
    content_of,
    cut_answer,
    described,
    holds_native,
    is_of_anthropic,
    native_answer,
    native_classes,
    output_of,
    structured_content,
    without_composition,
)
from .generations import PerClient, client_of
from .messages import ClientLog, with_messages
from .resources_and_prompts import OWN_RESULTS, Documents, page_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import TypeAlias

    from mcp.server.models import InitializationOptions
    from starlette.applications import Starlette

    from ...errors import ToolError
    from ...execution import Confirm, OnProgress
    from ...tools import StructuredOutput, Tool
    from ..base import Tools
    from .content import Structured
    from .messages import Messages, Report
    from .resources_and_prompts import Prompts, Resources

    Ctx: TypeAlias = ServerRequestContext[Any, Any]
    Context: TypeAlias = "Mapping[Any, Any] | Callable[[Ctx], Mapping[Any, Any]]"


_promised: ContextVar[Tool[..., Any] | None] = ContextVar("operator_schema_mcp_silent", default=None)
"""The tool that the handler must run: the form of its answer in this task allows no messages before the
result."""

_UNANSWERED = "Nobody can answer it here. Calling it again will not help; tell the user what you wanted to do"

_CHECKS_HEADERS = "get_tool_input_schema" in signature(Server).parameters
"""Whether the SDK asks for a schema, in order to compare headers with the arguments that they repeat.

Before version 2.3, it lists all tools for that.
"""

_FIXED_FORM = ("json_response", "stateless_http", "event_store")
"""Options of the SDK that fix the form of answers to calls."""


def server(
    tools: Tools,
    /,
    *,
    name: str = "operator-schema",
    version: str = "",
    instructions: str | None = None,
    context: Context | None = None,
    executor: Executor | None = None,
    structured: Structured = "objects",
    confirm: bool = True,
    page_size: int | None = None,
    logger: str | None = None,
    resources: Resources | None = None,
    prompts: Prompts | None = None,
    **native: Any,
) -> ToolServer:
    """Make a low-level MCP `Server` that offers tools.

    It supports every version of the protocol that the package `mcp` supports, over every transport.

    Args:
        tools: the offered tools: a registry, which may change later, a toolset, or any iterable of tools.
        name: the name of the server, for people and logs.
        version: the version of the server; empty if it has none.
        instructions: a text for the model about the server as a whole.
        context: as for `handlers`.
        executor: as for `handlers`.
        structured: as for `handlers`.
        confirm: as for `handlers`.
        page_size: as for `handlers`.
        logger: as for `handlers`.
        resources: as for `handlers`.
        prompts: as for `handlers`.
        native: further options of `mcp.server.lowlevel.Server`, such as `title`, `icons`, `lifespan`,
            `on_completion`.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument has a wrong type.
        ValueError: an argument is out of range, or the executor has other tools.
    """
    checked_text("the name of a server", name)
    own = handlers(
        tools,
        context=context,
        executor=executor,
        structured=structured,
        confirm=confirm,
        page_size=page_size,
        logger=logger,
        resources=resources,
        prompts=prompts,
    )
    may_change = isinstance(tools, (Executor, Registry))
    return server_of(own, name, may_change=may_change, version=version, instructions=instructions, **native)


def server_of(own: Handlers, name: str, *, may_change: bool, **native: Any) -> ToolServer:
    """Make a server from handlers.

    Args:
        own: the handlers.
        name: the name of the server.
        may_change: whether the server announces that its tools may change.
        native: options of `Server`.
    """
    of_documents = {} if own.documents is None else own.documents.handlers()
    follows = "on_read_resource" in of_documents
    may_differ = own.documents is not None and own.documents.may_change
    tells = may_change or may_differ or follows
    options: dict[str, Any] = {
        "on_list_tools": own.list_tools,
        "on_call_tool": own.call_tool,
        **({"get_tool_input_schema": own.input_schema} if _CHECKS_HEADERS else {}),
        **({"on_subscriptions_listen": own.listen} if tells else {}),
        **of_documents,
        **native,
    }
    made = ToolServer(name, **options)
    made.handlers = own
    made.middleware.append(_let_text_through)
    made.own_middleware = [*made.middleware]
    made.announced = NotificationOptions(
        tools_changed=may_change, prompts_changed=may_differ, resources_changed=may_differ
    )
    if tells:
        made.add_notification_handler("notifications/initialized", types.NotificationParams, own.initialized)
    if follows:
        made.add_request_handler("resources/subscribe", types.SubscribeRequestParams, own.subscribe_resource)
        made.add_request_handler(
            "resources/unsubscribe", types.UnsubscribeRequestParams, own.unsubscribe_resource
        )
    if own.log is not None:
        # This isn't in the constructor, which would warn: the protocol drops this option in 2026-07-28.
        made.add_request_handler("logging/setLevel", types.SetLevelRequestParams, own.log.set_level)
    return made


class ToolServer(Server[Any]):
    """A low-level server with `Handlers`, which are one of its attributes.

    Attributes:
        handlers: the handlers of the requests; `app.handlers.resource_updated(uri)` announces a change.
        announced: the kinds of changes that clients are told about.
        own_middleware: the middleware that the SDK and this module have installed.
    """

    handlers: Handlers
    announced: NotificationOptions = NotificationOptions()
    own_middleware: Sequence[Any] = ()

    def streamable_http_app(self, **options: Any) -> Starlette:
        """Return an ASGI application that serves over HTTP.

        A client gets the result of a call as JSON if the call can't send anything before it, as with
        `json_response=True`; otherwise, or if the call takes long, it gets a stream of events.

        Args:
            options: the options of this method in `mcp.server.lowlevel.Server`.
        """
        if any(options.get(name) for name in _FIXED_FORM):
            return super().streamable_http_app(**options)
        from .json_answers import JsonAnswers, PerRequest

        form: Any = PerRequest()
        app = super().streamable_http_app(**{**options, "json_response": form})
        app.add_middleware(JsonAnswers, form=form, is_silent=self._promises_silence)
        return app

    def _promises_silence(self, params: Mapping[Any, Any]) -> bool:
        """Return whether a call sends nothing before its result; the handler then runs only this tool."""
        entry = self.get_request_handler("tools/call")
        is_own = entry is not None and entry.handler == self.handlers.call_tool
        is_alone = is_own and self.middleware == self.own_middleware
        tool = self.handlers.silent_tool(params) if is_alone else None
        _promised.set(tool)
        return tool is not None

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return the server's data for the handshake."""
        said = notification_options or self.announced
        return super().create_initialization_options(said, experimental_capabilities, extensions)


def handlers(
    tools: Tools,
    /,
    *,
    context: Context | None = None,
    executor: Executor | None = None,
    structured: Structured = "objects",
    confirm: bool = True,
    page_size: int | None = None,
    logger: str | None = None,
    resources: Resources | None = None,
    prompts: Prompts | None = None,
    documents_change: bool = False,
) -> Handlers:
    """Make the handlers for your own low-level `Server`; `server` makes a complete one.

    Args:
        tools: the offered tools: a registry, which may change later, a toolset, or any iterable of tools.
        context: the objects that your program injects, as for `Executor.run`; or a plain function that takes
            the `ServerRequestContext` and returns them. Tools also get that context, its session and the
            state of the server's lifespan, by their types.
        executor: the executor of the calls, for your own limits; its registry has these tools. By default it
            is `Executor(tools, strict_results=True)`. With any executor, `MCPError` is raised here, and
            results that are objects of the protocol (`CallToolResult`, `ImageContent`) or of a framework are
            unchanged.
        structured: the results that a client gets as structured data besides the text. `"objects"`: results
            that are JSON objects. `"all"`: all results that are more than a text; a value that isn't an
            object is wrapped as `{"result": …}` for clients that take only objects. `"none"`: none.
        confirm: whether a person is asked, by an elicitation, before a tool with `confirm=True` runs. If the
            client can't ask, it gets a result that says so, unless the executor has its own `confirm`. If
            False, such tools run without a question.
        page_size: the number of tools in the answer to one request; None for all. It also applies to
            resources and prompts.
        logger: the name of a logger of `logging`: its messages during a call are sent to the client, if the
            client wants them. None for no messages.
        resources: URI to a value: a string, bytes, a part (`Image`, `Resource`, …), or a function that
            returns one or several of these. A URI template (RFC 6570), such as `note://{day}`, takes a
            function with a parameter for each of its variables. None for nothing.
        prompts: functions or tools that return a string, or a list of strings, parts and `PromptMessage`;
            their parameters are the arguments of the prompt. None for nothing.
        documents_change: whether `replace_documents` may give other resources and prompts.

    Raises:
        DuplicateToolError: two tools have the same name.
        TypeError: an argument has a wrong type.
        ValueError: an argument is out of range, the executor has other tools, a URI can't be used, or two
            prompts have the same name.
    """
    checked_structured(structured)
    _check_page_size(page_size)
    checked_switch("confirm", confirm)
    asked: Confirm | None = None if confirm else "run"
    runner = _adapter.runner(tools, context, executor, asked, {}, strict_results=True)
    own = runner.executor.for_host(native_results=native_classes())
    runner = Runner(own, _guarded(runner.context), runner.confirm, runner.own)
    made = Handlers(runner, structured, page_size, None if logger is None else ClientLog(logger))
    if documents_change or resources is not None or prompts is not None:
        run = made.run_document
        made.documents = Documents(resources, prompts, run, page_size, may_change=documents_change)
    return made


def _check_page_size(size: Any) -> None:
    if size is not None and (type(size) is not int or size < 1):
        message = f"page_size must be a positive integer or None, not {received(size)}"
        raise ValueError(message)


class Handlers:
    """The handlers of a server that offers tools; made by `handlers`.

    They may serve any number of connections and event loops at once, of `asyncio` and of trio.

    Tools found by a search in a `ToolSearch` are listed only for the client that searched.

    Attributes:
        changes: the object that tells clients about changes.
        documents: the resources and prompts; None if there are none.
        log: the object that sends log records, or None.
        page_size: the number of items of a list in the answer to one request; None for all.
        unasked: the names of tools that the client runs without asking a person, since they had no
            `confirm=True` when it got their names. If such a tool has `confirm=True` now, the server asks,
            even with `confirm=False`.
    """

    __slots__ = (
        *("__weakref__", "_confirmation", "_found", "_listen", "_native", "_outputs", "_runner", "_stop"),
        *("_structured", "changes", "documents", "log", "page_size", "unasked"),
    )

    def __init__(
        self, runner: Runner, structured: Structured, page_size: int | None, log: ClientLog | None
    ) -> None:
        self._runner = runner
        self._structured: Structured = structured
        self._confirmation = ElicitedConfirmation()
        self.page_size = page_size
        self.unasked: frozenset[str] = frozenset()
        changes = self.changes = ChangeBus()
        self.documents: Documents | None = None
        self._listen = ListenHandler(changes)
        self._found = PerClient(lambda client: FoundTools(lambda: changes.tell(ToolsListChanged(), client)))
        self.log = log
        self._native = native_classes()
        # A new search for the tool would take a fifth of a short call.
        self._outputs: dict[str, tuple[Tool[..., Any], StructuredOutput | None]] = {}
        self._stop = runner.executor.registry.on_change(self.changes.tools_changed)

    @property
    def executor(self) -> Executor:
        """The executor that runs the calls; its registry has the offered tools."""
        return self._runner.executor

    def replace(self, executor: Executor, context: Context | None) -> None:
        """Offer the tools of another executor from now on, and tell the clients; running calls continue.

        Args:
            executor: an executor whose registry has the tools.
            context: the context, as for `handlers`.
        """
        self._stop()
        own = executor.context if context is None else context
        self._runner = Runner(executor, _guarded(own), self._runner.confirm, _injected)
        self._stop = executor.registry.on_change(self.changes.tools_changed)
        self.changes.tools_changed()

    def replace_documents(self, resources: Resources | None, prompts: Prompts | None) -> None:
        """Offer other resources and prompts from now on, and tell the clients, if `documents_change`.

        Args:
            resources: the resources, as for `handlers`.
            prompts: the prompts, as for `handlers`.

        Raises:
            SchemaError: a parameter has no schema.
            TypeError: something has a wrong type.
            ValueError: a URI can't be used, or two prompts have the same name.
        """
        if self.documents is not None and self.documents.may_change:
            self.documents.replace(resources, prompts)
            self.changes.tell(ResourcesListChanged())
            self.changes.tell(PromptsListChanged())

    def missing_context(self) -> dict[str, ToolError]:
        """Return the tools that can't run with the server's context: for each name, the exception of a call.

        If a function makes the context of each call, the result is empty.
        """
        if callable(self._runner.context):
            return {}
        own = dict.fromkeys((ServerRequestContext, ServerSession), "there at each call")
        return self.executor.missing_context(self._runner.context_of(None, own))

    async def list_tools(
        self, ctx: Ctx, params: types.PaginatedRequestParams | None = None
    ) -> types.ListToolsResult:
        """List the tools that are switched on, as the handler of `tools/list`."""
        offered = self.executor.registry.offered(context=self._context_of(ctx))
        named = {tool.name: tool for tool in offered}
        page, following = page_of(named, params, self.page_size, "tools")
        options = {"structured": self._structured, "protocol_version": ctx.protocol_version}
        tools = [_adapter.native_tool(tool, self._runner, options) for tool in page]
        if is_of_anthropic(ctx.session.client_params):
            tools = list(map(without_composition, tools))
        return types.ListToolsResult(tools=tools, next_cursor=following)

    async def call_tool(
        self, ctx: Ctx, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Run a call, as the handler of `tools/call`.

        Raises:
            MCPError: the tool raised it, or the context of the call can't be made.
        """
        runner, context, params = self._runner, self._context_of(ctx), _with_sent_text(params)
        sent_name = None
        tool = _enabled_tool(runner.executor.registry, params.name, context)
        if tool is None:
            sent_name, params = _corrected_call(runner.executor, params, context)
            tool = _enabled_tool(runner.executor.registry, params.name, context)
        promised = _promised.get()
        if promised is not None:
            _promised.set(None)  # it doesn't apply to calls that the tool itself makes in this process
            if promised is not tool:
                raise MCPError(types.INTERNAL_ERROR, "the tools have just changed: send the call again")
        refused = None if tool is None else _refused_text(tool, params)
        if refused is not None:
            return answer_of(refused, None, ctx.protocol_version)
        result = await self._run_call(runner, tool, params, ctx, context, sent_name)
        if isinstance(result, types.InputRequiredResult):
            return result
        if tool is None:
            return answer_of(result, None, ctx.protocol_version)
        made = self._native_of(result, tool, ctx.protocol_version)
        if isinstance(made, types.CallToolResult):
            if result.changed is not None:
                told = types.TextContent(type="text", text=change_line(result))
                made = made.model_copy(update={"content": [told, *made.content]})
            most = runner.executor.max_content if tool.max_content is None else tool.max_content
            declares_data = self._output_of(tool) is not None
            return cut_answer(tool.name, made, inf if most is None else most, declares_data=declares_data)
        return made or answer_of(result, self._output_of(tool), ctx.protocol_version)

    def silent_tool(self, params: Mapping[Any, Any]) -> Tool[..., Any] | None:
        """Return the tool of a call that can't send the client anything before its result; None otherwise.

        Args:
            params: the parameters of the request, as the client sent them.
        """
        runner = self._runner
        executor, name, meta = runner.executor, params.get("name"), params.get("_meta")
        # Your code may send anything if it has the session of the client.
        if self.log or callable(runner.context) or executor.has_hooks or type(executor) is not Executor:
            return None
        if not isinstance(name, str) or name not in executor.registry:
            return None
        tool = executor.registry[name]
        is_quiet = not tool.takes_progress or not is_object(meta) or "progressToken" not in meta
        others = len(tool.injected) - tool.takes_progress
        return tool if is_quiet and not others and not runner.may_wait(tool) else None

    async def run_document(
        self, function: Tool[..., Any], params: types.CallToolRequestParams, ctx: Ctx
    ) -> ToolResult | types.InputRequiredResult:
        """Run the function of a resource or prompt, for `Documents`.

        Raises:
            MCPError: the function raised it, or the context can't be made.
        """
        own = self._runner
        executor = own.executor.for_function(function, native_results=OWN_RESULTS)
        runner = Runner(executor, own.context, own.confirm, own.own)
        return await self._run_call(runner, function, params, ctx, runner.context_of(ctx))

    async def _run_call(
        self,
        runner: Runner,
        tool: Tool[..., Any] | None,
        params: types.CallToolRequestParams,
        ctx: Ctx,
        context: Mapping[Any, Any],
        sent_name: str | None = None,
    ) -> ToolResult | types.InputRequiredResult:
        if tool is not None and tool.name in self.unasked and runner.confirm == "run":
            runner = runner.replace(confirm=None)
        return await call(
            runner,
            tool,
            params,
            ctx,
            request=ctx,
            confirmation=self._confirmation,
            report=ctx.session.report_progress,
            context=context,
            listen=None if self.log is None else partial(self.log.listen, ctx),
            sent_name=sent_name,
        )

    def resource_updated(self, uri: str) -> None:
        """Tell the clients that subscribed to a resource that it has changed, from any thread.

        Args:
            uri: the address of the resource.
        """
        self.changes.tell(ResourceUpdated(uri))

    async def subscribe_resource(self, ctx: Ctx, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Tell a client about changes of a resource from now on, as the handler of `resources/subscribe`.

        Raises:
            MCPError: there is no such resource, or the client has subscribed to too many.
        """
        if self.documents is not None:
            self.documents.found(params.uri)
        self.changes.add_uri(ctx, params.uri)
        return types.EmptyResult()

    async def unsubscribe_resource(
        self, ctx: Ctx, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        """Stop telling a client about changes of a resource, as the handler of `resources/unsubscribe`."""
        self.changes.remove_uri(ctx, params.uri)
        return types.EmptyResult()

    def _context_of(self, ctx: Ctx) -> Mapping[Any, Any]:
        """Return the context of a call."""
        runner = self._runner
        if isinstance(runner.executor.registry, ToolSearch):
            return runner.context_of(ctx, {FoundTools: self._found.of(ctx)})
        # A function of your program is called for each call; if it fails, the call ends.
        return runner.context_of(ctx) if callable(runner.context) else runner.context_when_needed(ctx)

    def input_schema(self, name: str) -> dict[str, Any] | None:
        """Return the input schema of a tool, None if there is no such tool: for `get_tool_input_schema`."""
        try:
            return self.executor.registry[name].input_schema()
        except ToolNotFoundError:
            return None

    async def initialized(self, ctx: Ctx, _: types.NotificationParams | None = None) -> None:
        """Tell a client before 2026-07-28 about changes, as the handler of `notifications/initialized`.

        It runs until the connection ends.
        """
        await self.changes.watch_connection(ctx)

    async def listen(
        self, ctx: Ctx, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Tell a client from version 2026-07-28 on about changes, for `on_subscriptions_listen`.

        It runs until the client stops listening.
        """
        listening.set(client_of(ctx)[0])
        return await self._listen(ctx, params)

    def _native_of(
        self, result: ToolResult, tool: Tool[..., Any], version: str
    ) -> types.CallToolResult | types.InputRequiredResult | None:
        """Return the protocol answer that a tool, or the server behind it, made itself; otherwise None."""
        if result.is_error:
            failed = getattr((result.details or {}).get("exception"), "answer", None)
            return failed if isinstance(failed, types.CallToolResult) else None
        if not holds_native(result.value, self._native):
            return None
        return native_answer(tool.name, result.value, self._output_of(tool), self._structured, version)

    def _output_of(self, tool: Tool[..., Any]) -> StructuredOutput | None:
        known = self._outputs.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._outputs[tool.name] = tool, output_of(tool, self._structured)
        return known[1]


def _enabled_tool(registry: Registry, name: str, context: Mapping[Any, Any]) -> Tool[..., Any] | None:
    """Return a tool if it may be called; otherwise None, and the executor gives the reason."""
    try:
        return registry[name] if registry.is_enabled(name, context=context) else None
    except Exception:  # noqa: BLE001  # a switch is your program's own code
        return None


def _corrected_call(
    executor: Executor, params: types.CallToolRequestParams, context: Mapping[Any, Any]
) -> tuple[str | None, types.CallToolRequestParams]:
    """Return the name that a client sent, and the call of the tool that it means; None if it means none."""
    read = executor.named(RawCall("", params.name, params.arguments), context=context)
    return read.sent_name, params.model_copy(update={"name": read.name})


# --- one call ------------------------------------------------------------------------------------


async def call(
    runner: Runner,
    tool: Tool[..., Any] | None,
    params: types.CallToolRequestParams,
    host: Any,
    *,
    request: Ctx | None,
    confirmation: ElicitedConfirmation,
    report: Report,
    context: Mapping[Any, Any] | None = None,
    listen: Callable[[Messages], None] | None = None,
    sent_name: str | None = None,
) -> ToolResult | types.InputRequiredResult:
    """Run a call, and meanwhile send its messages; return its result, or the question for a person.

    Args:
        runner: the executor of the tools.
        tool: the called tool; None if there is none.
        params: the parameters of the request.
        host: the argument for a function given as `context`.
        request: the context of the request; None outside of a request.
        confirmation: the object that asks about tools with `confirm=True`.
        report: a function that sends an update of progress; the SDK sends none if the client didn't ask for
            it.
        context: the context, if it is known already.
        listen: a function, as for `with_messages`.
        sent_name: the name that the client sent, if it was corrected to the name of another tool.

    Raises:
        MCPError: the tool raised it, and it can be sent.
    """
    call_id = None if request is None else str(request.request_id)
    is_asked = tool is not None and runner.may_wait(tool)
    asked = None
    if is_asked and request is not None and tool:
        has_hooks = runner.executor.has_hooks
        asked = confirmation.asked(request, params, tool, has_hooks=has_hooks)

    def run(on_progress: OnProgress | None) -> Awaitable[ToolResult]:
        confirm = None if asked is None else asked.confirm
        options: Any = {
            "call_id": call_id,
            "context": context,
            "on_progress": on_progress,
            "confirm": confirm,
            "sent_name": sent_name,
        }
        return _outcome(call_id, params.name, runner.run(params.name, params.arguments, host, **options))

    reports = tool is not None and tool.takes_progress
    speaks = reports or listen is not None
    result = await (with_messages(run, report if reports else None, listen) if speaks else run(None))
    return result if asked is None or asked.question is None else asked.question


async def _outcome(call_id: str | None, name: str, running: Awaitable[ToolResult]) -> ToolResult:
    """Return the result of a call, even if the tool tries to end the process.

    Raises:
        MCPError: the tool raised it, and it can be sent.
    """
    try:
        return await running
    except SystemExit as error:  # by a function written for a command line; the other calls continue
        write_log(ERROR, "%s: the tool tried to end the process", name, error=error)
        text = f"{name} failed: {class_name_of(error)}"
        return ToolResult(call_id or "", name, text, is_error=True, code="execution_failed")
    except MCPError as error:
        raise _sendable(error) from error


def _sendable(error: MCPError) -> MCPError:
    """Return an error of the protocol without data that can't be written, which would end the connection."""
    data = error.error.data
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        data = None
    return MCPError(error.error.code, without_surrogates(error.error.message), data)


def answer_of(
    result: ToolResult, output: StructuredOutput | None, protocol_version: str
) -> types.CallToolResult:
    """Return the reply for a client, for a result.

    Args:
        result: the result of the call.
        output: how the results of the tool become data, None for text alone.
        protocol_version: the version of the request.
    """
    content = [content_of(part) for part in result.parts]
    if result.code == "needs_input":
        content.append(types.TextContent(type="text", text=_UNANSWERED))
    if result.is_error or output is None:
        return types.CallToolResult(content=content, is_error=result.is_error)
    data = structured_content(output, result.json, protocol_version)
    # Only your own executor allows such a result. A client would refuse it, and show nothing.
    is_wrong = data is None or bool((result.details or {}).get("mismatches"))
    return types.CallToolResult(
        content=content, structured_content=None if is_wrong else data, is_error=is_wrong
    )


# --- what is injected into tools -----------------------------------------------------------------


def _patient(ctx: Ctx) -> Ctx:
    return replace(ctx, session=PatientSession.of(ctx.session))


def _injected(ctx: Ctx) -> Mapping[Any, Any]:
    ctx = _patient(ctx)
    own: dict[Any, Any] = {ServerRequestContext: ctx, ServerSession: ctx.session}
    state: Any = ctx.lifespan_context
    if state is not None and type(state) is not dict:
        own[type(state)] = state
    return own


_adapter = Adapter("mcp", described, own=_injected, pass_through=(MCPError,))


def _guarded(context: Context | None) -> Context | None:
    """Return the given context; wrap a function, so that failures are logged and hidden from clients."""
    if context is None or isinstance(context, Mapping):
        return cast("Context | None", context)
    return lambda ctx: _context_made_by(context, _patient(ctx))


def _context_made_by(make: Callable[[Ctx], Mapping[Any, Any]], ctx: Ctx) -> Mapping[Any, Any]:
    """Call a function of your program that makes a context.

    Raises:
        MCPError: the function fails; its exception is logged, and no client sees it.
    """
    try:
        made = make(ctx)
        if isinstance(made, Mapping):  # some callers ignore the annotations
            return made
        write_log(ERROR, "the function given as context returned %s, not a mapping", kind(made))
    except MCPError:
        raise
    except Exception as error:  # noqa: BLE001  # your program's own code
        write_log(ERROR, "the function given as context failed", error=error)
    raise MCPError(types.INTERNAL_ERROR, "the server failed to prepare the request")


# --- arguments that are sent as text --------------------------------------------------------------

# The SDK refuses such a request before any handler, with an error that names neither the tool nor the fault.
# Models read that, and send the same request again.

_TEXT: ContextVar[str | None] = ContextVar("_TEXT", default=None)


async def _let_text_through(ctx: Ctx, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
    """Keep arguments that are text for the handler of `tools/call`; for `Server.middleware`."""
    params = ctx.params
    if ctx.method != "tools/call" or params is None or not isinstance(params.get("arguments"), str):
        return await call_next(ctx)
    token = _TEXT.set(params["arguments"])
    try:
        return await call_next(replace(ctx, params={**params, "arguments": {}}))
    finally:
        _TEXT.reset(token)


def _with_sent_text(params: types.CallToolRequestParams) -> types.CallToolRequestParams:
    """Return the parameters of a call; if its arguments were sent as text, they are that text."""
    text = _TEXT.get()
    if text is None:
        return params
    _TEXT.set(None)  # servers that the tool itself calls in this process mustn't see it
    return params.model_copy(update={"arguments": text})


def _refused_text(tool: Tool[..., Any], params: types.CallToolRequestParams) -> ToolResult | None:
    """Return an error result that shows the correct object, for a call with text whose tool takes none.

    Args:
        tool: the called tool.
        params: the parameters of the request.

    Returns:
        None for an object; for blank text, which means no arguments; and for a tool that repairs, unless its
        calls have to be exact.
    """
    text: Any = params.arguments
    if not isinstance(text, str) or not text.strip():
        return None
    if tool.repairs and not tool.annotations.needs_exact_calls:
        return None
    try:
        tool.exact().decode(text)  # faults in the arguments themselves come first
        tool.exact().codec.decode(text)
    except DecodeError as error:
        write_log(INFO, "%s: its arguments came as text, not as an object", tool.name)
        return ToolResult("", tool.name, str(error), is_error=True, code="invalid_params")
    except Exception:  # noqa: BLE001  # a class's own code fails, which the executor tells the model
        return None
    return None
