"""The form of tools for a provider: strict or not, with names that it takes, within its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from ..errors import SchemaError
from ..findings import Finding, about_type
from ..immutable import Value
from ..json_copies import Original
from ..message_text import quote, received
from ..schema.keywords import COMPOSING
from ..schema.style import SchemaStyle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..schema.dialect import Dialect
    from ..schema.dialect_renderer import DialectSchema
    from ..schema.request_sizes import Size
    from ..schema.root_composition import Uncomposed
    from ..tools import Tool
    from .offered_tools import Offered, Strict
    from .rules import Features, NameRule, Rules
    from .wire_format import Wire

    Tools: TypeAlias = Sequence[Tool[..., Any]]
    Renames: TypeAlias = tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]]
    Made = TypeVar("Made")
    Written = TypeVar("Written")

STYLE = SchemaStyle(boolean_schemas=False)
"""Some providers refuse `true` and `false` as schemas, and other providers' models ignore such properties."""


class TakesTools(Protocol):
    """The requirements of a provider for tools; see `Provider`."""

    @property
    def name(self) -> str:
        """The name of the provider, for messages."""
        ...

    @property
    def wire(self) -> Wire:
        """The object that writes and reads its wire form."""
        ...

    @property
    def names(self) -> NameRule:
        """The rule for the names of tools."""
        ...

    @property
    def takes_unions(self) -> bool:
        """Whether the arguments of a tool may be a union."""
        ...

    @property
    def dialect(self) -> Dialect | None:
        """The dialect of its strict mode."""
        ...

    @property
    def always(self) -> Dialect | None:
        """Its dialect in any mode."""
        ...

    @property
    def rules(self) -> Rules:
        """Its further rules."""
        ...

    @property
    def features(self) -> Features:
        """Further features of its requests."""
        ...


class ToolForm(Value):
    """A tool in the form for one provider; the tool caches it.

    Attributes:
        provider: the provider that gets it.
        name: the name on the wire.
        original: the original of the entry in the list of tools.
        size: the numbers that count towards the limits of the strict mode; None in other modes.
        description: the tool's own description.
    """

    provider: TakesTools
    name: str
    original: Original
    size: Size | None
    description: str


class Fit(Value):
    """Whether a tool of a request is strict.

    Attributes:
        strict: whether the tool is strict.
        reasons: why it isn't, although it might have been.
    """

    strict: bool
    reasons: tuple[Finding, ...] = ()


def forms_of(provider: TakesTools, tools: Tools, modes: Sequence[bool]) -> list[ToolForm]:
    """List the forms of tools for a provider; each tool caches its own form.

    Raises:
        SchemaError: the provider can't express a tool.
    """
    keys = [(provider.name, mode) for mode in modes]
    kept: list[Any] = [tool.kept_form(key) for tool, key in zip(tools, keys, strict=True)]
    known = [form is not None and (form.provider is provider or form.provider == provider) for form in kept]
    if all(known):
        return kept
    missing = [place for place, is_known in enumerate(known) if not is_known]
    made = iter(
        made_forms(provider, [tools[place] for place in missing], [modes[place] for place in missing])
    )
    return [
        form if is_known else tool.keep_form(key, next(made))
        for tool, key, form, is_known in zip(tools, keys, kept, known, strict=True)
    ]


def sent_tools(provider: TakesTools, offered: Offered) -> tuple[list[dict[str, Any]], bool]:
    """List tools in the form of a request, which the caller may change, and say whether any is strict.

    Raises:
        SchemaError: the provider can't express a tool, or two would have the same name.
        ValueError: they are strict, and no strict mode of the provider is known.
    """
    shown, described = offered.tools, offered.descriptions
    strict = checked_strict(offered.strict, provider)
    modes = [fit.strict for fit in fits_of(provider, shown, strict)]
    forms = forms_of(provider, shown, modes)
    if len({form.name for form in forms}) < len(forms):
        provider.names.wire_names([tool.name for tool in shown], provider.name)  # its error says which mode
    check_size(provider, [form.size for form in forms if form.size is not None])
    most = provider.rules.longest_description
    if described or (most is not None and any(len(form.description) > most for form in forms)):
        forms = _with_descriptions(provider, shown, modes, forms, described)
    else:
        refuse_complaints(too_many(provider, shown), provider.name)
    return [form.original.copy() for form in forms], any(modes)


def _with_descriptions(
    provider: TakesTools,
    tools: Tools,
    modes: Sequence[bool],
    forms: list[ToolForm],
    descriptions: Mapping[str, str],
) -> list[ToolForm]:
    """Return the forms with the descriptions for this request."""
    texts = [descriptions.get(tool.name, form.description) for tool, form in zip(tools, forms, strict=True)]
    refuse_complaints([*too_many(provider, tools), *too_long(provider, tools, texts)], provider.name)
    return [
        made_forms(provider, [tool], [mode], text)[0] if tool.name in descriptions else form
        for tool, mode, text, form in zip(tools, modes, texts, forms, strict=True)
    ]


def made_forms(
    provider: TakesTools, tools: Tools, modes: Sequence[bool], description: str | None = None
) -> list[ToolForm]:
    """Make the forms of tools for a provider."""
    made: list[ToolForm] = []
    for tool, strict, written in zip(tools, modes, _schemas(provider, tools, modes), strict=True):
        definition = tool.new_definition(STYLE)
        definition["input_schema"] = (
            plain_schema(definition["input_schema"], tool.name, provider.name)
            if written is None
            else written.schema
        )
        name = definition["name"] = provider.names.wire_name(tool.name)
        definition["input_schema"] = _with_wire_keys(provider, tool, definition["input_schema"])
        own_text = definition["description"]
        definition["description"] = own_text if description is None else description
        if written is None and not provider.takes_unions:
            left = without_unions(definition["input_schema"], tool.name, provider.name)
            if left is not None:
                definition["input_schema"] = left.schema
                most = provider.rules.longest_description
                definition["description"] = left.described(definition["description"], most)
                own_text = left.described(own_text, most)
        original = Original(provider.wire.tool(definition, strict=strict))
        made.append(ToolForm(provider, name, original, _size_of(written, strict=strict), own_text))
    return made


def _schemas(provider: TakesTools, tools: Tools, modes: Sequence[bool]) -> list[DialectSchema | None]:
    """Return the schema of each tool in its dialect; None if the dialect is all of JSON Schema."""
    found: list[DialectSchema | None] = []
    for tool, strict in zip(tools, modes, strict=True):
        dialect = dialect_in(provider, strict=strict)
        if dialect is None:
            found.append(None)
        else:
            from ..schema.dialect_renderer import dialect_schema

            found.append(dialect_schema(tool.codec, dialect, tool.name, mode_name(provider, strict=strict)))
    complaints = [complaint for one in found if one is not None for complaint in one.complaints]
    refuse_complaints(complaints, mode_name(provider, strict=all(modes)))
    return found


def _size_of(written: DialectSchema | None, *, strict: bool) -> Size | None:
    if written is None or not strict:
        return None
    from ..schema.request_sizes import size_of

    return size_of(written.schema)


def dialect_in(provider: TakesTools, *, strict: bool) -> Dialect | None:
    """Return the dialect of a tool, strict or not; None for all of JSON Schema."""
    return provider.dialect if strict else provider.always


def mode_name(provider: TakesTools, *, strict: bool) -> str:
    """Return the name of a provider, or of its strict mode, in errors."""
    return f"the strict mode of {provider.name}" if strict else provider.name


def refuse_complaints(complaints: Sequence[Finding], what: str) -> None:
    """Check that there are no complaints about the tools of a request.

    Raises:
        SchemaError: there is a complaint.
    """
    if complaints:
        raise SchemaError(what, complaints, "tool")


def check_size(provider: TakesTools, sizes: Sequence[Size]) -> None:
    """Check that the strict tools of a request don't exceed the limits together.

    Raises:
        SchemaError: they exceed a limit.
    """
    if provider.dialect is None or not sizes:
        return
    remedy = "Offer fewer tools, or leave strict out"
    over = _over_limits(provider.dialect, sizes)
    complaints = [about_type((), "too_large", provider.name, f"there are {what}", remedy) for what in over]
    refuse_complaints(complaints, mode_name(provider, strict=True))


def _over_limits(dialect: Dialect, sizes: Sequence[Size]) -> list[str]:
    from ..schema.request_sizes import over_limits

    return over_limits(dialect, sizes)


def too_many(provider: TakesTools, tools: Tools) -> list[Finding]:
    """Return the complaint about too many tools, if there are too many."""
    most = provider.rules.most_tools
    if most is None or len(tools) <= most:
        return []
    message = f"there are {len(tools):,} tools, but a request takes only {most:,}"
    return [about_type((), "too_large", provider.name, message, "Offer fewer: toolset.offer(…)")]


def not_deferred(provider: TakesTools, offered: Offered) -> list[Finding]:
    """Return the complaint about deferred tools, if the provider has no search that finds them."""
    if provider.features.searches or not offered.deferred:
        return []
    message = f"{provider.name} has no search for deferred tools"
    remedy = "Leave deferred out; operator_schema.rounds.ToolSearch finds tools with any provider"
    return [about_type((), "unsupported", provider.name, message, remedy)]


def too_long(provider: TakesTools, tools: Tools, texts: Sequence[str]) -> list[Finding]:
    """Return the complaints about descriptions that are too long."""
    most = provider.rules.longest_description
    if most is None:
        return []
    remedy = "Shorten it; details can go to the parameters, or to tool.documentation"
    return [
        about_type(
            (),
            "too_large",
            tool.name,
            f"its description has {len(text):,} characters, but {provider.name} takes only {most:,}",
            remedy,
        )
        for tool, text in zip(tools, texts, strict=True)
        if len(text) > most
    ]


def plain_schema(schema: dict[str, Any], tool: str, provider: str) -> dict[str, Any]:
    """Return the schema of a tool for an API that takes all of JSON Schema; see `in_current_draft`.

    Raises:
        SchemaError: the root refers to another document, or to a schema that isn't an object.
    """
    from ..schema.current_draft import in_current_draft

    written = in_current_draft(schema)
    if "$ref" not in written:
        return written
    from ..schema.root_composition import with_own_root

    return _as_object(with_own_root, written, tool, provider)


def without_unions(schema: dict[str, Any], tool: str, provider: str) -> Uncomposed | None:
    """Return the schema of a tool for a provider without composition at the root; None if there is none.

    Raises:
        SchemaError: the arguments can't be an object.
    """
    if COMPOSING.isdisjoint(schema):
        return None
    from ..schema.root_composition import uncomposed

    return _as_object(uncomposed, schema, tool, provider)


def _as_object(
    write: Callable[[dict[str, Any]], Written], schema: dict[str, Any], tool: str, provider: str
) -> Written:
    from ..schema.dialect_writing import CannotSay

    try:
        return write(schema)
    except CannotSay as error:
        message = f"{provider} takes only arguments that are an object, and {error.what}"
        complaint = about_type((), "unsupported", tool, message, "Describe an object with properties")
        raise SchemaError(tool, [complaint], "tool") from None


def _with_wire_keys(provider: TakesTools, tool: Tool[..., Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with names of properties that the provider takes."""
    names = wire_keys(provider, tool)
    if not names:
        return schema
    from .property_names import property_names, schema_with_keys

    owners = {name: name for name in property_names(schema) if name not in names}
    for own, wire in names.items():
        if owners.setdefault(wire, own) != own:
            message = (
                f"{quote(own)} and {quote(owners[wire])} would both be {quote(wire)} for {provider.name}"
            )
            complaint = about_type((), "bad_name", tool.name, message, "Give one of them another name")
            raise SchemaError(tool.name, [complaint], "tool")
    return schema_with_keys(schema, names)


def wire_keys(provider: TakesTools, tool: Tool[..., Any]) -> Mapping[str, str]:
    """Return the name on the wire of each property whose own name the provider doesn't take."""
    rule = provider.rules.keys
    if rule is None:
        return {}
    found: Mapping[str, str] | None = tool.kept_form(("keys", rule))
    if found is None:
        from .property_names import property_names

        own = property_names(tool.new_definition(STYLE)["input_schema"])
        found = tool.keep_form(
            ("keys", rule), {one: rule.wire_name(one) for one in own if not rule.takes(one)}
        )
    return found


def own_keys(provider: TakesTools, tools: Tools) -> dict[str, str]:
    """Return the own name of each property that has another name on the wire."""
    if provider.rules.keys is None:
        return {}
    return {wire: own for tool in tools for own, wire in wire_keys(provider, tool).items()}


def checked_strict(strict: Any, provider: TakesTools | None = None) -> Strict:
    """Check and return the value of `strict`.

    Args:
        strict: the given value.
        provider: the provider, which must have a strict mode; None to skip this check.

    Raises:
        TypeError: the value is neither a bool nor `auto`.
        ValueError: the value is True, and no strict mode of the provider is known.
    """
    if isinstance(strict, str) and strict == "auto":
        return "auto"
    if type(strict) is not bool:
        message = f'strict must be True, False or "auto", not {received(strict)}'
        raise TypeError(message)
    if strict and provider is not None and provider.dialect is None:
        message = f"no strict mode of {provider.name} is known: leave strict out"
        raise ValueError(message)
    return strict


def may_require(provider: TakesTools, *, thinks: bool) -> bool:
    """Return whether a request may require a call."""
    features = provider.features
    return features.required and (features.required_while_thinking or not thinks)


def check_required(provider: TakesTools, *, thinks: bool) -> None:
    """Check that the provider takes a choice that requires a call.

    Raises:
        ValueError: the provider takes no such choice, or none while the model thinks.
    """
    if may_require(provider, thinks=thinks):
        return
    remedy = "offer without required=, and ask for the call in the prompt"
    if not provider.features.required:
        message = f"{provider.name} has no choice that requires a call: {remedy}"
    else:
        message = (
            f"{provider.name} refuses a choice that requires a call while the model thinks: "
            f"{remedy}, or switch thinking off"
        )
    raise ValueError(message)


def fits_of(provider: TakesTools, tools: Tools, strict: Strict) -> list[Fit]:
    """Return which tools of a request are strict; with `"auto"`, each tool that fits.

    Tools are added in order until the limits of the request are reached.
    """
    if strict != "auto":
        return [Fit(strict)] * len(tools)
    dialect = provider.dialect
    if dialect is None:
        unknown = f"no strict mode of {provider.name} is known"
        return [Fit(strict=False, reasons=(_reason(tool.name, unknown),)) for tool in tools]
    tried = [_size_if_strict(provider, tool) for tool in tools]
    is_too_much = bool(_over_limits(dialect, [fit for fit in tried if not isinstance(fit, tuple)]))
    found: list[Fit] = []
    taken: list[Size] = []
    for tool, fit in zip(tools, tried, strict=True):
        if isinstance(fit, tuple):
            found.append(Fit(strict=False, reasons=fit))
            continue
        over = _over_limits(dialect, [*taken, fit]) if is_too_much else []
        if not over:
            taken.append(fit)
        reasons = [_reason(tool.name, f"with it there are {what}") for what in over]
        found.append(Fit(strict=not over, reasons=tuple(reasons)))
    return _all_or_none(found, provider, tools) if dialect.whole_request else found


def _size_if_strict(provider: TakesTools, tool: Tool[..., Any]) -> Size | tuple[Finding, ...]:
    """Return the share of a tool in the limits of the strict mode, or why the mode doesn't take the tool."""
    key = (provider.name, "tried")
    kept: tuple[TakesTools, Size | tuple[Finding, ...]] | None = tool.kept_form(key)
    if kept is None or not (kept[0] is provider or kept[0] == provider):
        kept = tool.keep_form(key, (provider, _size_or_complaints(provider, tool)))
    return kept[1]


def _size_or_complaints(provider: TakesTools, tool: Tool[..., Any]) -> Size | tuple[Finding, ...]:
    try:
        (form,) = forms_of(provider, [tool], [True])
    except SchemaError as error:
        return tuple(error.findings)
    return () if form.size is None else form.size


def _all_or_none(found: list[Fit], provider: TakesTools, tools: Tools) -> list[Fit]:
    """Return the same tools, with none of them strict if one isn't."""
    first = next((tool.name for tool, fit in zip(tools, found, strict=True) if not fit.strict), None)
    if first is None:
        return found
    unfit = f"{quote(first)} doesn't fit"
    message = f"the strict mode of {provider.name} applies to all tools of a request, and {unfit}"
    return [
        fit.replace(strict=False, reasons=fit.reasons or (_reason(tool.name, message),))
        for tool, fit in zip(tools, found, strict=True)
    ]


def _reason(tool: str, message: str) -> Finding:
    return about_type((), "unsupported", tool, message, "There is nothing to do: it is sent without strict")


def nullable_tools(provider: TakesTools, offered: Offered) -> dict[str, Tool[..., Any]]:
    """Return the tools, by name, for which the model has to send null for omitted arguments."""
    if offered.strict is False and provider.always is None:  # like most requests
        return {}
    return _kept_for(provider, offered, "nulls", lambda: _nullable_tools(provider, offered))


def _nullable_tools(provider: TakesTools, offered: Offered) -> dict[str, Tool[..., Any]]:
    strict = checked_strict(offered.strict)
    possible = (
        (provider.dialect, provider.always) if strict == "auto" else (dialect_in(provider, strict=strict),)
    )
    if not [dialect for dialect in possible if dialect is not None and dialect.required != "any"]:
        return {}
    dialects = [dialect_in(provider, strict=fit.strict) for fit in fits_of(provider, offered.tools, strict)]
    return {
        tool.name: tool
        for tool, dialect in zip(offered.tools, dialects, strict=True)
        if dialect is not None and dialect.required != "any"
    }


def renames(provider: TakesTools, offered: Offered) -> Renames:
    """Return names on the wire by own names, own names by those on the wire, and own keys, if these differ.

    Raises:
        SchemaError: two tools would have the same name.
    """
    return _kept_for(provider, offered, "renames", lambda: _new_renames(provider, offered))


def _new_renames(provider: TakesTools, offered: Offered) -> Renames:
    names = provider.names.wire_names([tool.name for tool in offered.tools], provider.name)
    own = {wire: own for own, wire in names.items() if wire != own}
    return names, own, own_keys(provider, offered.tools)


def _kept_for(provider: TakesTools, offered: Offered, what: str, make: Callable[[], Made]) -> Made:
    """Return a value that an offer caches for a provider; make it the first time.

    Args:
        provider: the provider; another one may have the same name.
        offered: the offer.
        what: the key of the value.
        make: returns the value.
    """
    key = (provider.name, what)
    kept: tuple[TakesTools, Made] | None = offered.kept(key)
    if kept is None or not (kept[0] is provider or kept[0] == provider):
        kept = offered.keep(key, (provider, make()))
    return kept[1]
