"""Where the description of a field comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import is_object
from ..wording import excerpt, listed, nearest, quote, received

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from ..errors import ComplaintCode

    Report = Callable[[str, ComplaintCode, str, str, str | None], None]

__all__ = ["param_descriptions", "text_or_report"]

ATTRIBUTE = "param_descriptions"


def param_descriptions(
    cls: type, given: Mapping[str, str] | None, names: Collection[str], report: Report
) -> Mapping[str, str]:
    """Merge `param_descriptions` along the MRO, the nearest class first.

    Args:
        cls: a dataclass.
        given: descriptions that come from elsewhere and win over the class's own, or None.
        names: the fields that may be described.
        report: takes step, code, message, remedy and suggestion of each complaint.

    Returns:
        Field name to description, for those that are right.
    """
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
            _report_unknown(key, names, report)
        elif not isinstance(text, str):
            message = f"{ATTRIBUTE}[{quote(key)}] is {received(text)}, not a string"
            report(key, "bad_description", message, "Write the description as text", None)
        else:
            right[key] = text
    return right


def _report_unknown(key: object, names: Collection[str], report: Report) -> None:
    message = f"{ATTRIBUTE} has a key {excerpt(key)} that names no field"
    near = nearest(key, names) if isinstance(key, str) else None
    fields = listed([quote(name) for name in names]) if names else "none"
    remedy = f"Rename or remove it; the fields are {fields}"
    report(ATTRIBUTE, "unknown_description", message, remedy, quote(near) if near else None)


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
