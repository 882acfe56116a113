"""Where descriptions come from, besides annotations and metadata: the class and its docstrings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._value import Value, set_once
from ..json_values import is_object
from ..wording import excerpt, listed, nearest, quote, received
from .classes import lineage
from .docstrings import own_docstring, parse_docstring
from .parameters import parameter_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ..errors import ComplaintCode
    from .classes import Declared

    Report = Callable[[str, ComplaintCode, str, str, str | None], None]

__all__ = ["ClassTexts", "FieldTexts", "describe_fields", "text_or_report"]

ATTRIBUTE = "param_descriptions"


class FieldTexts(Value):
    """Descriptions of one field.

    Attributes:
        given: from `param_descriptions`, which wins over every other, or None.
        documented: from a docstring, which only a leaf's own stands behind, or None.
    """

    __slots__ = ("given", "documented")

    given: str | None
    documented: str | None

    def __init__(self, given: str | None, documented: str | None) -> None:
        set_once(self, "given", given)
        set_once(self, "documented", documented)


class ClassTexts(Value):
    """Descriptions of a class and its fields.

    Attributes:
        text: of the class itself, or None.
        given: field name to text in `param_descriptions`.
        documented: field name to text in a docstring.
    """

    __slots__ = ("text", "given", "documented")

    text: str | None
    given: Mapping[str, str]
    documented: Mapping[str, str]

    def __init__(self, text: str | None, given: Mapping[str, str], documented: Mapping[str, str]) -> None:
        set_once(self, "text", text)
        set_once(self, "given", given)
        set_once(self, "documented", documented)

    def of(self, name: str) -> FieldTexts:
        """Return the descriptions of a field."""
        return FieldTexts(self.given.get(name), self.documented.get(name))


def describe_fields(
    cls: type,
    given: Mapping[str, str] | None,
    declared: Sequence[Declared],
    report: Report,
    *,
    attribute_docs: bool,
) -> ClassTexts:
    """Gather the descriptions that a class brings, along its MRO, the nearest class first.

    Args:
        cls: a class with fields.
        given: descriptions that come from elsewhere and win over the class's own, or None.
        declared: its fields.
        report: takes step, code, message, remedy and suggestion of each complaint.
        attribute_docs: whether to read the docstrings below attributes, which needs the source.
    """
    names = [source.name for source in declared]
    text, documented = _from_docstrings(cls, names, report)
    if attribute_docs:
        from .attribute_docs import attribute_docstrings  # noqa: PLC0415  # it needs ast and inspect

        documented = {**attribute_docstrings(cls, names), **documented}
    return ClassTexts(text, _param_descriptions(cls, given, names, report), documented)


def _param_descriptions(
    cls: type, given: Mapping[str, str] | None, names: Collection[str], report: Report
) -> Mapping[str, str]:
    sources: list[object] = [vars(base)[ATTRIBUTE] for base in cls.__mro__ if ATTRIBUTE in vars(base)]
    if given is not None:
        sources.insert(0, given)
    if not sources or ATTRIBUTE in names:
        return {}
    merged: dict[str, str] = {}
    for source in reversed(sources):
        merged.update(_checked(source, names, report))
    return merged


def _checked(source: object, names: Collection[str], report: Report) -> dict[str, str]:
    if not is_object(source):
        message = f"{ATTRIBUTE} is {received(source)}, not a dict"
        report(ATTRIBUTE, "bad_description", message, "Map field names to descriptions", None)
        return {}
    right: dict[str, str] = {}
    for key, text in source.items():
        if not isinstance(key, str) or key not in names:
            _report_unknown(ATTRIBUTE, key, names, report)
        elif not isinstance(text, str):
            message = f"{ATTRIBUTE}[{quote(key)}] is {received(text)}, not a string"
            report(key, "bad_description", message, "Write the description as text", None)
        else:
            right[key] = text
    return right


def _report_unknown(where: str, key: object, names: Collection[str], report: Report) -> None:
    message = f"it describes {excerpt(key)}, which is no field"
    near = nearest(key, names) if isinstance(key, str) else None
    fields = listed([quote(name) for name in names]) if names else "none"
    remedy = f"Rename or remove it; the fields are {fields}"
    report(where, "unknown_description", message, remedy, quote(near) if near else None)


def _from_docstrings(
    cls: type, names: Collection[str], report: Report
) -> tuple[str | None, Mapping[str, str]]:
    text: str | None = None
    documented: dict[str, str] = {}
    for base, doc in _docstrings(cls):
        parsed = parse_docstring(doc)
        if base is cls:
            text = parsed.text or None
        for name, description in parsed.parameters.items():
            if name in names:
                if description:
                    documented.setdefault(name, description)
            elif not _may_be_described(base, name):
                _report_unknown("__doc__", name, names, report)
    return text, documented


def _docstrings(cls: type) -> list[tuple[type, str]]:
    source = parameter_source(cls)
    found = [(base, own_docstring(base)) for base in lineage(cls)] if source is None else [(cls, source.doc)]
    return [(base, doc) for base, doc in found if doc]


def _may_be_described(cls: type, name: str) -> bool:
    source = parameter_source(cls)
    if source is not None:
        return name in source.others
    # Docstrings also describe properties, class variables and what __post_init__ sets.
    if hasattr(cls, name):
        return True
    return any(name in vars(base).get("__annotations__", ()) for base in cls.__mro__)


def text_or_report(metadata: Mapping[Any, Any], key: str, name: str, report: Report) -> str | None:
    """Return the text that a field's metadata has under a key, None where there is none.

    Args:
        metadata: of a dataclass field.
        key: `description` or `alias`.
        name: of the field, for the complaint when the entry is no string.
        report: takes step, code, message, remedy and suggestion of the complaint.
    """
    text = metadata.get(key)
    if text is None or isinstance(text, str):
        return text
    message = f"metadata[{quote(key)}] is {received(text)}, not a string"
    report(name, "bad_metadata", message, f"Write the {key} as text", None)
    return None
