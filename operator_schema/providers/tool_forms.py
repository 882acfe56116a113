"""In which form does a provider get each tool: its schema, its name, the names of its properties?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from ..errors import SchemaError
from ..findings import Finding, about_type
from ..immutable import Value
from ..json_copies import Original
from ..message_text import quote
from ..schema.keywords import COMPOSING
from ..schema.style import SchemaStyle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..schema.dialect import Dialect
    from ..schema.dialect_renderer import DialectSchema
    from ..schema.request_sizes import Size
    from ..schema.root_composition import Uncomposed
    from ..tools import Tool
    from .offered_tools import Offered
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


def renames(provider: TakesTools, offered: Offered) -> Renames:
    """Return names on the wire by own names, own names by those on the wire, and own keys, if these differ.

    Raises:
        SchemaError: two tools would have the same name.
    """
    return kept_for(provider, offered, "renames", lambda: _new_renames(provider, offered))


def _new_renames(provider: TakesTools, offered: Offered) -> Renames:
    names = provider.names.wire_names([tool.name for tool in offered.tools], provider.name)
    own = {wire: own for own, wire in names.items() if wire != own}
    return names, own, own_keys(provider, offered.tools)


def kept_for(provider: TakesTools, offered: Offered, what: str, make: Callable[[], Made]) -> Made:
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
