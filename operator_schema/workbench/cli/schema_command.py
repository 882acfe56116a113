"""The command `schema`: the JSON Schema of a type, as it is here and as a provider gets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ... import providers as provider_table
from ...json_values import is_object
from ...message_text import escape
from ...token_counts import is_estimate
from ...tools import tool_input
from .arguments import TYPE, NearChoice, json_option, traceback_option, unknown_fields_option
from .lookup import codec_of_name, find_tool
from .module_loading import WrongUse
from .output import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...engine import UnknownFields
    from ...providers import Provider
    from ...tools import Tool
    from .lookup import ObjectName
    from .output import Printer

_PROVIDERS = provider_table.provider_names()
_TITLES = ("code", "parameter", "what")


@click.command(
    epilog="""\b
examples:
  operator-schema schema tools:WebSearch
  operator-schema schema --compact tools:Calls > calls.schema.json
  operator-schema schema --provider openai_chat --strict tools:web_search
"""
)
@click.argument("target", type=TYPE, metavar="MODULE:TYPE")
@click.option(
    "--provider",
    "name",
    type=NearChoice(_PROVIDERS),
    metavar="NAME",
    help=f"Show the schema as a provider gets it: {', '.join(_PROVIDERS)}.",
)
@click.option("--strict", is_flag=True, help="With --provider: as its strict mode gets it.")
@click.option("--compact", is_flag=True, help="Print it on one line, without spaces or marks.")
@json_option("With --provider: print schema and losses as JSON.")
@unknown_fields_option
@traceback_option
@click.pass_obj
def schema(
    outputs: tuple[Printer, Printer],
    target: ObjectName,
    name: str | None,
    unknown_fields: UnknownFields,
    *,
    strict: bool,
    compact: bool,
    as_json: bool,
    show_traceback: bool,
) -> int:
    """Print the JSON Schema of a type, or of the input of a tool.

    TYPE is a dataclass, a tool or any other annotation: tools:WebSearch, tools:Outer.Inner,
    tools:Calls. With --provider, it is the schema that this provider gets: + and - mark the lines that differ
    from ours, and a table says what is lost.
    """
    if name is None:
        if strict:
            message = "--strict is for --provider: the strict modes of providers differ"
            raise WrongUse(message)
        codec = codec_of_name(target, unknown_fields, show_traceback=show_traceback)
        outputs[0].json(codec.json_schema(), None if compact else 2)
        return 0
    provider: Provider = getattr(provider_table, name)
    if strict and provider.dialect is None:
        message = f"{provider.name} has no known strict mode: leave out --strict"
        raise WrongUse(message)
    tool = _tool_of(target, unknown_fields, show_traceback=show_traceback)
    from ..inspector.catalogue import lines_of, sent_to, side_by_side, tool_in

    sent = sent_to(provider, tool, strict=strict)
    theirs = _schema_in(tool_in(sent["body"]))
    if as_json:
        outputs[0].json(_data(tool, sent, theirs), None if compact else 2)
    elif sent["refused"]:
        for complaint in sent["refused"]:
            outputs[1].report("", complaint["line"])
    elif compact:
        outputs[0].json(theirs)
    else:
        ours = lines_of(tool.definition()["input_schema"])
        rows = side_by_side(ours, [] if theirs is None else lines_of(theirs))
        _write_schema(outputs[0], tool, sent, rows)
    return 1 if sent["refused"] else 0


def _tool_of(target: ObjectName, unknown_fields: UnknownFields, *, show_traceback: bool) -> Tool[..., Any]:
    """Return a tool, or a tool made from a type, since providers get only tools.

    Raises:
        SchemaError: the type has complaints; the error lists all of them.
        WrongUse: there is no such type or tool.
    """
    codec = codec_of_name(target, unknown_fields, show_traceback=show_traceback)
    try:
        tool, _ = find_tool(target, show_traceback=show_traceback)
    except WrongUse:
        return tool_input(unknown_fields=unknown_fields, enabled=True)(codec.type)
    more: dict[str, Any] = {"unknown_fields": unknown_fields} if unknown_fields == "reject" else {}
    return tool.with_(enabled=True, **more)


_HOLDERS = {"function", "toolSpec", "inputSchema"}
_SCHEMAS = {"input_schema", "parameters", "parametersJsonSchema", "json"}


def _schema_in(definition: Any) -> dict[str, Any] | None:
    """Return the schema in the definition of a tool; None if the provider refuses the tool."""
    for key, value in definition.items() if is_object(definition) else ():
        if key in _SCHEMAS and is_object(value):
            return value
        if key in _HOLDERS:
            return _schema_in(value)
    return None


def _data(tool: Tool[..., Any], sent: dict[str, Any], theirs: dict[str, Any] | None) -> dict[str, Any]:
    kept = {key: sent[key] for key in ("provider", "strict", "wire_name", "bytes", "tokens")}
    return {"tool": tool.name, **kept, "schema": theirs, "losses": sent["losses"], "refused": sent["refused"]}


def _write_schema(
    out: Printer, tool: Tool[..., Any], sent: dict[str, Any], compared: Iterable[dict[str, Any]]
) -> None:
    for mark, line in _marked(compared):
        out.changed(mark, escape(line))
    losses = sent["losses"]
    if losses:
        out.line("")
        rows = [(loss["code"], escape(loss["path"] or "-"), escape(loss["message"])) for loss in losses]
        out.table(_TITLES, rows, frozenset())
    name = "" if sent["wire_name"] == tool.name else f" as {escape(sent['wire_name'])}"
    mode = ", strict" if sent["strict"] else ""
    guess = " (an estimate)" if is_estimate() else ""
    size = f"{count(sent['bytes'], 'byte')}, {count(sent['tokens'], 'token')}{guess}"
    lost = count(len(losses), "loss") if len(losses) == 1 else f"{len(losses):,} losses"
    out.line(f"{escape(tool.name)}{name} for {sent['provider']}{mode}: {size}, {lost}", "dim")


def _marked(rows: Iterable[dict[str, Any]]) -> Iterable[tuple[str, str]]:
    """Yield the lines of two documents with marks; removed lines come before the lines that replace them."""
    coming: list[str] = []
    end: dict[str, Any] = {"same": True, "ours": None, "theirs": None}
    for row in [*rows, end]:
        if row["same"]:
            yield from [("+", line) for line in coming]
            coming = []
        if row["same"] and row["theirs"] is not None:
            yield " ", row["theirs"]
        if not row["same"] and row["ours"] is not None:
            yield "-", row["ours"]
        if not row["same"] and row["theirs"] is not None:
            coming.append(row["theirs"])
