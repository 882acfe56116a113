"""Reports on the tools in a request: parts that a provider keeps, changes or refuses, and the sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from ..errors import SchemaError
from ..immutable import Value
from ..introspect.input_parts import places_of
from ..json_values import to_json_text
from ..message_text import listed, show_path
from ..token_counts import count_tokens, is_estimate
from .sent_tools import check_size, fits_of, not_deferred, too_long, too_many
from .tool_forms import STYLE, dialect_in, made_forms, wire_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..findings import Finding
    from ..schema.dialect_renderer import LossCode
    from ..schema.request_sizes import Size
    from ..tools import Tool
    from .offered_tools import Offered, Strict
    from .sent_tools import Fit
    from .tool_forms import TakesTools

Fate: TypeAlias = "Literal['kept', 'refused'] | LossCode"


class ToolReport(Value):
    """The form in which a provider gets one tool.

    Attributes:
        name: the tool's own name.
        wire_name: its name on the wire.
        paths: the paths of all parameters and their parts, in order; `*` stands for the items of an array.
        losses: differences from the usual schema, each with a code as in `fate_of`.
        refused: types that the provider can't express, with the remedy; a request raises a `SchemaError`.
        size: the bytes of the tool in a request, as JSON on one line; None if it is refused.
        tokens: its number of tokens, by `tiktoken` or an estimate; None if it is refused.
        strict: whether the provider holds the model to its schema.
        not_strict: why the tool isn't strict, if `strict="auto"` left the decision to the library.
    """

    name: str
    wire_name: str
    paths: tuple[tuple[str, ...], ...]
    losses: tuple[Finding, ...]
    refused: tuple[Finding, ...]
    size: int | None
    tokens: int | None
    strict: bool = False
    not_strict: tuple[Finding, ...] = ()

    def fate_of(self, path: tuple[str, ...]) -> tuple[Fate, ...]:
        """Return what happens to a parameter, or a part of one, for this provider: a code.

        Args:
            path: one of `paths`, or `()` for the arguments as a whole.

        Raises:
            ValueError: the tool has no such parameter.
        """
        told = {finding.path for finding in (*self.losses, *self.refused)}
        if path not in {(), *self.paths, *told}:
            known = listed([repr(each) for each in ((), *self.paths)])
            message = f"{self.name} has no parameter at the path {path!r}; its paths are {known}"
            raise ValueError(message)
        found: list[Fate] = [cast("Fate", loss.code) for loss in self.losses if loss.path == path]
        if any(complaint.path == path for complaint in self.refused):
            found.append("refused")
        return tuple(dict.fromkeys(found)) or ("kept",)


class Report(Value):
    """The forms in which a provider gets the tools of one request.

    Attributes:
        provider: the name of the provider.
        strict: the value as it was given.
        tools: the reports on the tools, in their order.
        refused: problems of the whole request: it is too large, or two tools have the same name.
        is_estimate: whether the numbers of tokens are estimates; with `tiktoken` installed, they aren't.
    """

    provider: str
    strict: Strict
    tools: tuple[ToolReport, ...]
    refused: tuple[Finding, ...]
    is_estimate: bool

    @property
    def is_accepted(self) -> bool:
        """Whether `request` accepts the tools."""
        return not self.refused and not any(tool.refused for tool in self.tools)

    @property
    def size(self) -> int:
        """The bytes of all tools that aren't refused."""
        return sum([tool.size or 0 for tool in self.tools])

    @property
    def tokens(self) -> int:
        """The tokens of all tools that aren't refused."""
        return sum([tool.tokens or 0 for tool in self.tools])

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "provider": self.provider,
            "strict": self.strict,
            "accepted": self.is_accepted,
            "size": self.size,
            "tokens": self.tokens,
            "tokens_are_estimated": self.is_estimate,
            "refused": [str(complaint) for complaint in self.refused],
            "tools": [_tool_as_dict(tool) for tool in self.tools],
        }

    def __str__(self) -> str:
        """Write a line for the request, one for each tool, and one for each schema part that isn't kept."""
        about = "an estimate" if self.is_estimate else "by tiktoken"
        mode = _MODES[self.strict]
        lines = [f"{self.provider}{mode}: {self.size:,} bytes, {self.tokens:,} tokens ({about})"]
        lines += [f"  refused: {complaint}" for complaint in self.refused]
        for tool in self.tools:
            renamed = "" if tool.wire_name == tool.name else f", renamed to {tool.wire_name}"
            size = "refused" if tool.size is None else f"{tool.size:,} bytes, {tool.tokens:,} tokens"
            lines.append(f"  {tool.name}{renamed}: {size}")
            lines += [
                f"    {show_path(loss.path)}: {_WORDS[loss.code]} ({loss.received or loss.keyword})"
                for loss in tool.losses
            ]
            lines += [f"    refused: {complaint}" for complaint in tool.refused]
            lines += [f"    not strict: {complaint}" for complaint in tool.not_strict]
        return "\n".join(lines)


_MODES: dict[Strict, str] = {True: ", strict", False: "", "auto": ", strict where possible"}
_WORDS = {
    "described": "moved to the description",
    "null": "required, null means that it is left out",
    "weakened": "weakened",
    "renamed": "renamed",
}


def _tool_as_dict(tool: ToolReport) -> dict[str, Any]:
    return {
        "name": tool.name,
        "wire_name": tool.wire_name,
        "size": tool.size,
        "tokens": tool.tokens,
        "paths": [{"path": list(path), "fate": list(tool.fate_of(path))} for path in tool.paths],
        "losses": [
            {"path": list(loss.path), "code": loss.code, "keyword": loss.keyword, "message": loss.message}
            for loss in tool.losses
        ],
        "refused": _complaints_as_dicts(tool.refused),
        "strict": tool.strict,
        "not_strict": _complaints_as_dicts(tool.not_strict),
    }


def _complaints_as_dicts(complaints: tuple[Finding, ...]) -> list[dict[str, Any]]:
    return [{"path": list(one.path), "message": one.message, "remedy": one.remedy} for one in complaints]


def report_of(provider: TakesTools, offered: Offered, strict: Strict) -> Report:
    """Report the forms in which a provider gets the tools of a request; see `Provider.report`."""
    tools = offered.tools
    refused = [*too_many(provider, tools), *not_deferred(provider, offered)]
    try:
        provider.names.wire_names([tool.name for tool in tools], provider.name)
    except SchemaError as error:
        refused += error.findings
    found = [
        _report_on(provider, tool, offered.descriptions.get(tool.name), fit)
        for tool, fit in zip(tools, fits_of(provider, tools, strict), strict=True)
    ]
    try:
        check_size(provider, [size for _, size in found if size is not None])
    except SchemaError as error:
        refused += error.findings
    return Report(provider.name, strict, tuple([one for one, _ in found]), tuple(refused), is_estimate())


def _report_on(
    provider: TakesTools, tool: Tool[..., Any], description: str | None, fit: Fit
) -> tuple[ToolReport, Size | None]:
    """Return the report of a tool, and its size for the limits of the strict mode."""
    places = dict.fromkeys([place.path for place in places_of(tool.codec.graph) if place.path])
    losses = _losses(provider, tool, strict=fit.strict)
    name = provider.names.wire_name(tool.name)

    def reported(refused: Sequence[Finding], size: int | None, tokens: int | None) -> ToolReport:
        about = (tool.name, name, tuple(places), losses, tuple(refused), size, tokens)
        return ToolReport(*about, fit.strict, fit.reasons)

    try:
        (form,) = made_forms(provider, [tool], [fit.strict], description)
    except SchemaError as error:
        return reported(error.findings, None, None), None
    long = too_long(provider, [tool], [form.description if description is None else description])
    if long:
        return reported(long, None, None), form.size
    text = to_json_text(form.original.copy())
    return reported((), len(text.encode(errors="replace")), count_tokens(text)), form.size


def _losses(provider: TakesTools, tool: Tool[..., Any], *, strict: bool) -> tuple[Finding, ...]:
    from ..schema.dialect_renderer import dialect_schema, lost

    dialect = dialect_in(provider, strict=strict)
    if dialect is not None:
        losses = dialect_schema(tool.codec, dialect, tool.name, provider.name).losses
    else:
        losses = tuple(
            [
                lost(path, "weakened", word, tool.name, provider.name)
                for path, word in _left_out(provider, tool)
            ]
        )
    names = wire_keys(provider, tool)
    if not names:
        return losses
    renamed_places = {
        place.path: names[place.field.key]
        for place in places_of(tool.codec.graph)
        if place.field is not None and place.field.key in names
    }
    return (
        *losses,
        *[
            lost(path, "renamed", None, tool.name, provider.name, wire)
            for path, wire in renamed_places.items()
        ],
    )


def _left_out(provider: TakesTools, tool: Tool[..., Any]) -> list[tuple[tuple[str, ...], str]]:
    """List the keywords that aren't sent, each with its path, in a mode that takes all of JSON Schema."""
    from ..schema.current_draft import unsaid_parts
    from ..schema.dialect_writing import CannotSay
    from ..schema.root_composition import uncomposed

    schema = tool.new_definition(STYLE)["input_schema"]
    found = [(path, keyword) for path, keyword, _ in unsaid_parts(schema)]
    if provider.takes_unions:
        return found
    try:
        left = uncomposed(schema)
    except CannotSay:
        return found  # the schema is refused
    return found if left is None else [*[((), keyword) for keyword in left.keywords], *found]
