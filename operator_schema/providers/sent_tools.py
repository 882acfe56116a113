"""Which tools does a request send, which of them are strict, and is that within the limits?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import SchemaError
from ..findings import Finding, about_type
from ..immutable import Value
from ..message_text import quote, received
from .tool_forms import ToolForm, dialect_in, forms_of, kept_for, made_forms, mode_name, refuse_complaints

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..schema.dialect import Dialect
    from ..schema.request_sizes import Size
    from ..tools import Tool
    from .offered_tools import Offered, Strict
    from .tool_forms import TakesTools, Tools


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


class Fit(Value):
    """Whether a tool of a request is strict.

    Attributes:
        strict: whether the tool is strict.
        reasons: why it isn't, although it might have been.
    """

    strict: bool
    reasons: tuple[Finding, ...] = ()


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


def nullable_tools(provider: TakesTools, offered: Offered) -> dict[str, Tool[..., Any]]:
    """Return the tools, by name, for which the model has to send null for omitted arguments."""
    if offered.strict is False and provider.always is None:  # like most requests
        return {}
    return kept_for(provider, offered, "nulls", lambda: _nullable_tools(provider, offered))


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


def may_require(provider: TakesTools, *, thinks: bool) -> bool:
    """Return whether a request may require a call."""
    features = provider.features
    return features.required and (features.required_while_thinking or not thinks)


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


def not_deferred(provider: TakesTools, offered: Offered) -> list[Finding]:
    """Return the complaint about deferred tools, if the provider has no search that finds them."""
    if provider.features.searches or not offered.deferred:
        return []
    message = f"{provider.name} has no search for deferred tools"
    remedy = "Leave deferred out; operator_schema.rounds.ToolSearch finds tools with any provider"
    return [about_type((), "unsupported", provider.name, message, remedy)]
