"""Which server behind a gateway owns a resource, a template or a prompt?"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate

from ...message_text import escape
from ...similar_names import nearest
from ..mcp_client import all_pages
from .forwarding import check_sendable
from .gateway_chain import path_in
from .resources_and_prompts import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from mcp import ClientSession
    from mcp.server.context import ServerRequestContext

    from .behind import Link

    Ctx: TypeAlias = ServerRequestContext[Any, Any]
    Owner: TypeAlias = tuple[Link, str]
    """A server, and its own name for the item."""

_LOG = logging.getLogger("operator_schema.mcp_gateway")

_LISTED = {
    "resources": ("list_resources", "resources", "uri"),
    "resource_templates": ("list_resource_templates", "resources", "uri_template"),
    "prompts": ("list_prompts", "prompts", "name"),
}
"""For each kind: the method of a session, the required capability, and the key of an item."""


class Owners:
    """The lists of a gateway's servers, and the owner of each item.

    An item belongs to its server until that server lists its items without it: a failed listing doesn't
    change the owner, nor does another server that lists the same item.

    Args:
        links: the servers, in their order.
        prefix: a function that returns the prefix of a server's prompt names.
        is_alone: whether there is only one server, which keeps its names.
    """

    def __init__(self, links: Sequence[Link], prefix: Callable[[Link], str], *, is_alone: bool) -> None:
        self._links, self._prefix, self._is_alone = links, prefix, is_alone
        self._known: dict[str, dict[str, Owner]] = {kind: {} for kind in _LISTED}
        self._templates: dict[str, UriTemplate | None] = {}
        self._current: set[Link] = set()

    def resources_changed(self, link: Link) -> None:
        """Note that the known resources of a server may be out of date."""
        self._current.discard(link)

    async def listed(self, ctx: Ctx | None, kind: str) -> dict[str, Any]:
        """List the items of a kind from all servers; if the lists are complete, remember the owners.

        Args:
            ctx: the context of the client's request.
            kind: `resources`, `resource_templates` or `prompts`.

        Returns:
            The items for a client, by their keys. If two servers have the same resource, the previous owner
            counts, otherwise the first server.

        Raises:
            MCPError: the only server with such items can't list them.
        """
        having = self._having(_LISTED[kind][1])
        # If a request comes through other gateways, servers leave out items of these. So it proves nothing
        # about missing items, and a client may only pretend to be such a gateway.
        is_whole = not path_in(None if ctx is None else ctx.meta)
        lists: dict[Link, list[Any]] = {}
        for link in having:
            try:
                lists[link] = await self._listed_by(ctx, link, kind, is_whole=is_whole)
            except MCPError as error:
                if error.code != types.METHOD_NOT_FOUND and len(having) == 1:
                    raise
                _LOG.warning("%s: its %s are left out: %s", link.name, kind, error.message)
        return self._remembered(kind, lists, is_whole=is_whole)

    def _having(self, capability: str) -> list[Link]:
        return [link for link in self._links if getattr(link.capabilities, capability) is not None]

    async def _listed_by(self, ctx: Ctx | None, link: Link, kind: str, *, is_whole: bool) -> list[Any]:
        method, _, key = _LISTED[kind]

        async def send(session: ClientSession) -> list[Any]:
            page = partial(link.clients.page_params, ctx)
            return await all_pages(lambda params: getattr(session, method)(params=page(params)), kind, key)

        becomes_current = kind == "resources" and is_whole
        if becomes_current:
            self._current.add(link)  # a later change removes it again
        try:
            items = await link.request(ctx, send)
            check_sendable(items, link.name)
        except BaseException:  # also for a cancelled request
            if becomes_current:
                self._current.discard(link)
            raise
        return items

    def _remembered(self, kind: str, lists: Mapping[Link, list[Any]], *, is_whole: bool) -> dict[str, Any]:
        """Return the items for a client; if the lists are complete, remember the owner of each item."""
        key = _LISTED[kind][2]
        named = {
            link: {
                (self._prefix(link) if kind == "prompts" else "") + getattr(item, key): item for item in items
            }
            for link, items in lists.items()
        }
        owners = {
            name: owner
            for name, owner in self._known[kind].items()
            if not is_whole or owner[0] not in named or name in named[owner[0]]
        }
        found: dict[str, Any] = {}
        for link, items in named.items():
            for name, item in items.items():
                if owners.setdefault(name, (link, getattr(item, key)))[0] is not link:
                    _LOG.warning("%s: %s is left out: another server has it", link.name, escape(name))
                    continue
                found[name] = item.model_copy(update={"name": name}) if kind == "prompts" else item
        if is_whole:
            self._known[kind] = owners
        if is_whole and kind == "resource_templates":
            self._templates = {text: _parsed(text) for text in owners}
        return found

    async def of_uri(self, ctx: Ctx, uri: str) -> Link:
        """Return the server that owns a resource, or a template with this text.

        Raises:
            MCPError: no server owns it.
        """
        having = self._having("resources")
        if len(having) == 1:
            return having[0]
        link = self._by_uri(uri)
        # A template doesn't match resources that another server lists.
        is_sure = uri in self._known["resources"] or self._current.issuperset(having)
        if link is None or not is_sure:
            await self.listed(ctx, "resources")
            if link is None:
                await self.listed(ctx, "resource_templates")
            link = self._by_uri(uri)
        if link is not None:
            return link
        message = f"no server has a resource {shown(uri)}; resources/list names all resources"
        raise MCPError(types.INVALID_PARAMS, message, {"uri": uri})

    def _by_uri(self, uri: str) -> Link | None:
        templates = self._known["resource_templates"]
        known = self._known["resources"].get(uri) or templates.get(uri)
        if known is not None:
            return known[0]
        for text, template in self._templates.items():
            if template is not None and template.match(uri) is not None:
                return templates[text][0]
        return None

    async def of_prompt(self, ctx: Ctx, name: str) -> Owner:
        """Return the server that owns a prompt, and the prompt's name there.

        Raises:
            MCPError: no server owns it.
        """
        having = self._having("prompts")
        if self._is_alone and having:
            return having[0], name
        prompts = self._known["prompts"]
        if name not in prompts:
            await self.listed(ctx, "prompts")
            prompts = self._known["prompts"]
        if name in prompts:
            return prompts[name]
        near = nearest(name, prompts)
        hint = f"did you mean {near}?" if near else "prompts/list names all prompts"
        message = f"no server has a prompt {shown(name)}; {hint}"
        raise MCPError(types.INVALID_PARAMS, message)


def _parsed(template: str) -> UriTemplate | None:
    """Return a parsed template; None if it can't be parsed, so that it matches nothing."""
    try:
        return UriTemplate.parse(template)
    except InvalidUriTemplate:
        return None
