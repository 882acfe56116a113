"""Resources and prompts of a server besides its tools, and the completion of their arguments."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate

from ... import tool
from ...immutable import Value
from ...json_values import to_json_text, without_surrogates
from ...message_text import listed, one_line, quote, received
from ...similar_names import nearest
from ...tools import (
    Audio,
    File,
    Image,
    Resource,
    Text,
    Tool,
    register_handed_through,
    write_base64,
)
from .content import blocks_of, content_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Sequence

    from mcp.server.context import ServerRequestContext

    from ...tools import ToolResult

    Ctx: TypeAlias = ServerRequestContext[Any, Any]
    Run: TypeAlias = "Callable[[Tool[..., Any], types.CallToolRequestParams, Ctx], Awaitable[Any]]"

Resources: TypeAlias = Mapping[str, Any]
"""URI to a string, bytes, a part (`Image`, `Resource`, …), or a function that returns one or several.

A URI template (RFC 6570), such as `note://{day}`, takes a function with a parameter for each variable.
"""

Prompts: TypeAlias = "Iterable[Tool[..., Any] | Callable[..., Any]]"
"""Functions, or tools, that return a string, or a list of strings, parts and `PromptMessage`."""

OWN_RESULTS = (types.ReadResourceResult, types.GetPromptResult, types.PromptMessage)
"""Objects that such functions may return, besides the results of tools; they are sent unchanged."""

for _cls in OWN_RESULTS:
    register_handed_through(_cls)

_PARTS = (Audio, File, Image, Resource, Text)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.")
_MOST_VALUES = 100
"""The most completions in one answer, a limit of the protocol."""

_SHOWN = 200
_LIKENESS = 0.8  # addresses have long common parts
_JSON, _PLAIN, _BYTES, _LINKS = "application/json", "text/plain", "application/octet-stream", "text/uri-list"


class _ResourceEntry(Value):
    """A resource, or the resources of a template.

    Attributes:
        described: the description for clients.
        template: the pattern of its addresses; None for a fixed address.
        function: a function that makes the contents; None for a fixed value.
        value: the contents, if there is no function.
    """

    described: types.Resource | types.ResourceTemplate
    template: UriTemplate | None
    function: Tool[..., Any] | None = None
    value: Any = None


class Documents:
    """The resources and prompts of a server, and the handlers for them.

    Args:
        resources: the resources as a program gives them.
        prompts: the prompts as a program gives them.
        run: a function that runs one of their functions; it returns the result, or a question to ask first.
        page_size: the number of items in the answer to one request; None for all.
        may_change: whether they may be replaced: the server then has resources and prompts from the start,
            and announces changes.

    Raises:
        SchemaError: a parameter has no schema.
        TypeError: something has a wrong type.
        ValueError: a URI can't be used, its variables aren't the parameters of its function, or two prompts
            have the same name.
    """

    def __init__(
        self,
        resources: Resources | None,
        prompts: Prompts | None,
        run: Run,
        page_size: int | None,
        *,
        may_change: bool = False,
    ) -> None:
        self._run, self._page_size, self.may_change = run, page_size, may_change
        self.replace(resources, prompts)

    def replace(self, resources: Resources | None, prompts: Prompts | None) -> None:
        """Replace the resources and prompts; if there is an error in the new ones, keep the old ones.

        Args:
            resources: the resources as a program gives them.
            prompts: the prompts as a program gives them.

        Raises:
            SchemaError: as for the class.
            TypeError: as for the class.
            ValueError: as for the class.
        """
        found = read_resources({} if resources is None else resources)
        self.prompts = {one.name: one for one in read_prompts(() if prompts is None else prompts)}
        self._fixed = {_uri(one): one for one in found if one.template is None}
        self._templates = [one for one in found if one.template is not None]

    def handlers(self) -> dict[str, Any]:
        """Return the handlers for resources and prompts, also future ones, by option names of `Server`."""
        of_resources = {
            "on_list_resources": self.list_resources,
            "on_list_resource_templates": self.list_resource_templates,
            "on_read_resource": self.read_resource,
        }
        of_prompts = {"on_list_prompts": self.list_prompts, "on_get_prompt": self.get_prompt}
        has_prompts = self.may_change or self.prompts
        return {
            **(of_resources if self.may_change or self._fixed or self._templates else {}),
            **(of_prompts if has_prompts else {}),
            **({"on_completion": self.complete} if has_prompts or self._templates else {}),
        }

    # --- resources ---------------------------------------------------------------------------------

    async def list_resources(
        self, _: Ctx, params: types.PaginatedRequestParams | None = None
    ) -> types.ListResourcesResult:
        """List the resources with a fixed address, as the handler of `resources/list`."""
        page, following = page_of(self._fixed, params, self._page_size, "resources")
        found = [cast("types.Resource", one.described) for one in page]
        return types.ListResourcesResult(resources=found, next_cursor=following)

    async def list_resource_templates(
        self, _: Ctx, params: types.PaginatedRequestParams | None = None
    ) -> types.ListResourceTemplatesResult:
        """List the templates of resources, as the handler of `resources/templates/list`."""
        named = {_uri(one): one for one in self._templates}
        page, following = page_of(named, params, self._page_size, "resource templates")
        found = [cast("types.ResourceTemplate", one.described) for one in page]
        return types.ListResourceTemplatesResult(resource_templates=found, next_cursor=following)

    async def read_resource(
        self, ctx: Ctx, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        """Return the contents of a resource, as the handler of `resources/read`.

        Raises:
            MCPError: there is no resource with this address, or its function fails.
        """
        entry, arguments = self.found(params.uri)
        if entry.function is None:
            return types.ReadResourceResult(contents=_contents(params.uri, entry.value))
        result = await self._outcome(entry.function, arguments, params, ctx)
        if isinstance(result, types.InputRequiredResult | types.ReadResourceResult):
            return result
        return types.ReadResourceResult(contents=_contents(params.uri, result.value, result))

    def found(self, uri: str) -> tuple[_ResourceEntry, dict[str, Any]]:
        """Return the resource with an address, and the variables in the address.

        Raises:
            MCPError: there is no such resource.
        """
        entry = self._fixed.get(uri)
        if entry is not None:
            return entry, {}
        for one in self._templates:
            matched = None if one.template is None else one.template.match(uri)
            if matched is not None:
                return one, dict(matched)
        near = nearest(uri, self._fixed, _LIKENESS)
        hint = f"; did you mean {quote(near)}?" if near else f"; {self._lists()}"
        message = f"there is no resource {shown(uri)}{hint}"
        raise MCPError(types.INVALID_PARAMS, message, {"uri": uri})

    def _lists(self) -> str:
        """Return a hint that names the requests that list the resources."""
        if not self._templates:
            return "resources/list names all resources"
        of_templates = "resources/templates/list names the templates of others"
        return f"resources/list names the resources with a fixed address, {of_templates}"

    # --- prompts -----------------------------------------------------------------------------------

    async def list_prompts(
        self, _: Ctx, params: types.PaginatedRequestParams | None = None
    ) -> types.ListPromptsResult:
        """List the prompts, as the handler of `prompts/list`."""
        page, following = page_of(self.prompts, params, self._page_size, "prompts")
        return types.ListPromptsResult(
            prompts=[_prompt_description(one) for one in page], next_cursor=following
        )

    async def get_prompt(
        self, ctx: Ctx, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        """Return the messages of a prompt, as the handler of `prompts/get`.

        Raises:
            MCPError: there is no such prompt, its arguments don't fit, or its function fails.
        """
        prompt = self._prompt(params.name)
        result = await self._outcome(prompt, dict(params.arguments or {}), params, ctx)
        if isinstance(result, types.InputRequiredResult | types.GetPromptResult):
            return result
        value = result.value
        items = cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else [value]
        messages: list[types.PromptMessage] = []
        for item in items:
            if isinstance(item, types.PromptMessage):
                messages.append(item)
            else:
                messages += [types.PromptMessage(role="user", content=block) for block in blocks_of(item)]
        return types.GetPromptResult(description=prompt.description or None, messages=messages)

    def _prompt(self, name: str) -> Tool[..., Any]:
        prompt = self.prompts.get(name)
        if prompt is not None:
            return prompt
        near = nearest(name, self.prompts)
        hint = f"did you mean {near}?" if near else f"there are {listed(sorted(self.prompts)) or 'none'}"
        raise MCPError(types.INVALID_PARAMS, f"there is no prompt {shown(name)}; {hint}")

    # --- completion --------------------------------------------------------------------------------

    async def complete(self, _: Ctx, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Return the values that an argument can have, as the handler of `completion/complete`.

        These are the values of its type, if that is an Enum, a Literal or a boolean.

        Raises:
            MCPError: there is no such prompt or template, or it has no such argument.
        """
        source = self._referred(params.ref)
        name, begun = params.argument.name, params.argument.value.casefold()
        properties: dict[str, Any] = {} if source is None else source.input_schema(inline=True)["properties"]
        if name not in properties:
            message = f"there is no argument {shown(name)}; there are {listed(sorted(properties)) or 'none'}"
            raise MCPError(types.INVALID_PARAMS, message)
        fitting = [value for value in _choices(properties[name]) if value.casefold().startswith(begun)]
        sent = fitting[:_MOST_VALUES]
        completion = types.Completion(values=sent, total=len(fitting), has_more=len(sent) < len(fitting))
        return types.CompleteResult(completion=completion)

    def _referred(
        self, ref: types.PromptReference | types.ResourceTemplateReference
    ) -> Tool[..., Any] | None:
        if isinstance(ref, types.PromptReference):
            return self._prompt(ref.name)
        for one in self._templates:
            if _uri(one) == ref.uri:
                return one.function
        return self.found(ref.uri)[0].function

    async def _outcome(
        self, function: Tool[..., Any], arguments: dict[str, Any], params: Any, ctx: Ctx
    ) -> Any:
        """Run a function; return its result, or an object of the protocol that the function returned.

        Raises:
            MCPError: the function fails, or its arguments don't fit.
        """
        call = types.CallToolRequestParams(
            name=function.name,
            arguments=arguments,
            input_responses=params.input_responses,
            request_state=params.request_state,
        )
        result = await self._run(function, call, ctx)
        if isinstance(result, types.InputRequiredResult):
            return result
        if result.is_error:
            is_given = result.code == "invalid_params"
            raise MCPError(types.INVALID_PARAMS if is_given else types.INTERNAL_ERROR, result.content)
        is_own = isinstance(
            result.value, types.InputRequiredResult | types.ReadResourceResult | types.GetPromptResult
        )
        return result.value if is_own else result


# --- what the program provides --------------------------------------------------------------------------


def read_resources(resources: Any) -> list[_ResourceEntry]:
    """Read the resources that a program gives.

    Raises:
        SchemaError: a parameter has no schema.
        TypeError: something has a wrong type.
        ValueError: a URI can't be used, or its variables aren't the parameters of its function.
    """
    if not isinstance(resources, Mapping):
        values = "strings, bytes, parts or functions"
        message = f"resources must be a mapping of URIs to {values}, not {received(resources)}"
        raise TypeError(message)
    return [_read_entry(uri, value) for uri, value in cast("Mapping[str, Any]", resources).items()]


def _read_entry(uri: Any, value: Any) -> _ResourceEntry:
    """Read one item of the resources.

    Raises:
        TypeError: the value has a wrong type.
        ValueError: the URI can't be used, or its variables aren't the parameters of its function.
    """
    if not isinstance(uri, str) or not _SCHEME.match(uri):
        message = f"the URI of a resource must have a scheme, such as 'note://today', not {received(uri)}"
        raise ValueError(message)
    template = _template(uri)
    if isinstance(value, (str, bytes, *_PARTS)):
        if template is not None:
            message = f"{uri}: a template needs a function with its variables as parameters, not a value"
            raise ValueError(message)
        name = uri.rstrip("/").rpartition("/")[2] or uri
        media_type = _PLAIN if isinstance(value, (str, Text)) else getattr(value, "media_type", _BYTES)
        return _ResourceEntry(types.Resource(name=name, uri=uri, mime_type=media_type), None, value=value)
    function = _function(value, f"the resource {uri}")
    _check_variables(uri, template, function)
    said: dict[str, Any] = {
        "name": function.name,
        "title": function.annotations.title,
        "description": function.description or None,
    }
    if template is None:
        return _ResourceEntry(types.Resource(uri=uri, **said), None, function)
    return _ResourceEntry(types.ResourceTemplate(uri_template=uri, **said), template, function)


def _template(uri: str) -> UriTemplate | None:
    if "{" not in uri:
        return None
    try:
        return UriTemplate.parse(uri)
    except InvalidUriTemplate as error:
        message = f"{uri} isn't a URI template: {error}"
        raise ValueError(message) from None


def _function(value: Any, place: str) -> Tool[..., Any]:
    """Make a tool from a function; it converts strings to the types of the parameters."""
    if isinstance(value, Tool):
        return cast("Tool[..., Any]", value).with_(repair=True)
    if callable(value):
        is_nameless = getattr(value, "__name__", "") == "<lambda>"
        try:
            made: Tool[..., Any] = tool(value, **({"name": "resource"} if is_nameless else {}))
        except TypeError as error:  # a SchemaError is one, too
            error.add_note(f"{place}{_line_of(value)}")
            raise
        return made.with_(repair=True)
    message = f"{place} must be a function, a string, bytes or a part, not {received(value)}"
    raise TypeError(message)


def _line_of(function: Any) -> str:
    """Return the place of a function, or of a tool's function, such as ` (app.py, line 3)`; or nothing."""
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    if code is None:
        return ""
    return f" ({one_line(code.co_filename, _SHOWN)}, line {code.co_firstlineno})"


def read_prompts(prompts: Any) -> list[Tool[..., Any]]:
    """Read the prompts that a program gives.

    Raises:
        SchemaError: a parameter has no schema.
        TypeError: something has a wrong type.
        ValueError: two prompts have the same name.
    """
    is_list = isinstance(prompts, Iterable) and not isinstance(prompts, (str, Mapping))
    if not is_list:
        message = f"prompts must be a list of functions, not {received(cast('object', prompts))}"
        raise TypeError(message)
    made = [_prompt(one) for one in cast("Iterable[Any]", prompts)]
    _check_names(made)
    return made


def _check_names(prompts: Iterable[Tool[..., Any]]) -> None:
    """Check that all prompts have different names: the error of a registry would call prompts tools.

    Raises:
        ValueError: two prompts have the same name.
    """
    known: dict[str, Tool[..., Any]] = {}
    for prompt in prompts:
        other = known.setdefault(prompt.name, prompt)
        if other is prompt:
            continue
        where = " and".join(dict.fromkeys([_line_of(other), _line_of(prompt)])).replace(") and (", " and ")
        remedy = 'leave one out, or give it another name: tool(function, name="…")'
        message = f"two prompts are called {shown(prompt.name)}{where}: {remedy}"
        raise ValueError(message)


def _prompt(value: Any) -> Tool[..., Any]:
    if isinstance(value, Tool) or callable(value):
        return _function(value, "a prompt")
    message = f"a prompt must be a function, not {received(value)}"
    raise TypeError(message)


def _check_variables(uri: str, template: UriTemplate | None, function: Tool[..., Any]) -> None:
    schema = function.input_schema()
    variables: set[str] = set() if template is None else set(template.variable_names)
    parameters: set[str] = set(schema["properties"])
    if template is None and parameters:
        names = [f"{{{name}}}" for name in schema.get("required") or schema["properties"]]
        message = (
            f"{uri} has no variables, and {function.name} takes {listed(sorted(parameters))}: write "
            f"{uri.rstrip('/')}/{'/'.join(names)}, or give a function without parameters"
        )
        raise ValueError(message)
    if not set(schema.get("required", ())) <= variables <= parameters:
        message = (
            f"{uri} has the variables {listed(sorted(variables)) or '(none)'}, and {function.name} takes "
            f"{listed(sorted(parameters)) or 'no parameters'}: use the same names for both"
        )
        raise ValueError(message)


# --- answers to clients -----------------------------------------------------------------------------


def _uri(entry: _ResourceEntry) -> str:
    said = entry.described
    return said.uri if isinstance(said, types.Resource) else said.uri_template


def shown(text: str) -> str:
    """Return a name or an address for a message."""
    return quote(one_line(text, _SHOWN))


def page_of(
    found: Mapping[str, Any], params: types.PaginatedRequestParams | None, size: int | None, of: str
) -> tuple[list[Any], str | None]:
    """Return the items after a cursor, which is the key of an item, and the next cursor.

    Args:
        found: the items by their keys.
        params: the parameters of the request.
        size: the number of items on a page; None for all.
        of: a word for the items, for the message.

    Raises:
        MCPError: the item of the cursor no longer exists; the client has to start again.
    """
    keys, start = list(found), 0
    cursor = None if params is None else params.cursor
    if cursor is not None:
        if cursor not in found:
            raise MCPError(types.INVALID_PARAMS, f"Invalid cursor: the list of {of} has changed")
        start = keys.index(cursor) + 1
    end = len(keys) if size is None else start + size
    page = keys[start:end]
    return [found[key] for key in page], page[-1] if page and end < len(keys) else None


def _prompt_description(prompt: Tool[..., Any]) -> types.Prompt:
    schema = prompt.input_schema()
    required = frozenset(schema.get("required", ()))
    arguments = [
        types.PromptArgument(name=name, description=said.get("description"), required=name in required)
        for name, said in schema["properties"].items()
    ]
    title, text = prompt.annotations.title, prompt.description or None
    return types.Prompt(name=prompt.name, title=title, description=text, arguments=arguments)


_Contents: TypeAlias = "types.TextResourceContents | types.BlobResourceContents"


def _contents(uri: str, value: Any, result: ToolResult | None = None) -> list[_Contents]:
    """Return the contents of a resource.

    Args:
        uri: the requested URI.
        value: the value given by the program, or returned by its function.
        result: the result of the function; None if there is none.
    """
    if isinstance(value, str):
        return [types.TextResourceContents(uri=uri, text=without_surrogates(value), mime_type=_PLAIN)]
    if isinstance(value, bytes):
        return [types.BlobResourceContents(uri=uri, blob=write_base64(value), mime_type=_BYTES)]
    items = cast("Sequence[Any]", value) if isinstance(value, (list, tuple)) else [value]
    if items and all(isinstance(item, (str, bytes, *_PARTS)) for item in items):
        return [_content(uri, item) for item in items]
    text = to_json_text(None if result is None else result.json)
    return [types.TextResourceContents(uri=uri, text=text, mime_type=_JSON)]


def _content(uri: str, item: Any) -> _Contents:
    if isinstance(item, (str, bytes)):
        return _contents(uri, item)[0]
    match content_of(item):
        case types.EmbeddedResource(resource=held) if isinstance(item, Resource):
            return held
        case types.EmbeddedResource(resource=held):  # a file has no address in itself
            return held.model_copy(update={"uri": uri})
        case types.ImageContent(data=data, mime_type=kind) | types.AudioContent(data=data, mime_type=kind):
            return types.BlobResourceContents(uri=uri, blob=data, mime_type=kind)
        case types.ResourceLink(uri=link):
            return types.TextResourceContents(uri=uri, text=f"{link}\r\n", mime_type=_LINKS)
        case types.TextContent(text=text):
            return types.TextResourceContents(uri=uri, text=text, mime_type=_PLAIN)


def _choices(schema: Any) -> list[str]:
    """Return the values that a schema lists, as text."""
    if not isinstance(schema, dict):
        return []
    said = cast("dict[str, Any]", schema)
    if said.get("type") == "boolean":
        return ["true", "false"]
    named = [said["const"]] if "const" in said else said.get("enum", [])
    parts = [part for key in ("anyOf", "oneOf") for part in said.get(key, [])]
    texts = [value if isinstance(value, str) else json.dumps(value) for value in named]
    return list(dict.fromkeys([*texts, *[text for part in parts for text in _choices(part)]]))
