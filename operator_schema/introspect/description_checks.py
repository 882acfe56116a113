"""Which descriptions of fields have no effect? Complains about misspelt and wrong ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ..message_text import excerpt, listed, quote, received
from ..similar_names import fold, nearest
from .classes import DESCRIPTIONS, parameter_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from .classes import Declared

    Report = Callable[..., None]


def report_misspelt(
    name: str, value: Mapping[object, object], names: Mapping[str, Declared], report: Report
) -> None:
    """Complain about a mapping in a class that was surely meant as `param_descriptions`.

    Args:
        name: the name of the mapping.
        value: the mapping.
        names: the fields of the class, by name.
        report: called with step, code, message, remedy and suggestion of the complaint.
    """
    remedy = f"Rename it to {DESCRIPTIONS}"
    if not _is_misspelt(name):
        if name.startswith("_") or not _describes(value, names):
            return
        remedy = f"{remedy}; if it has another purpose, call it _{name}"
    message = f"{name} has no effect: the attribute is called {DESCRIPTIONS}"
    report(name, "bad_description", message, remedy, quote(DESCRIPTIONS))


_LIKENESS = 0.84
"""How similar a name must be to count as misspelt: `parameters_description` is, `descriptions` isn't."""

_LENGTHS = range(12, 24)
"""The possible lengths of such a name without `_`; for others, the slow import of difflib isn't needed."""


def _is_misspelt(name: str) -> bool:
    return len(fold(name)) in _LENGTHS and nearest(name, (DESCRIPTIONS,), _LIKENESS) is not None


def _describes(texts: Mapping[object, object], names: Mapping[str, Declared]) -> bool:
    """Return whether a dict surely describes fields: all values are texts, most keys are names of fields.

    At least one text must have several words, because units, column names and the like are single words.
    """
    if len(texts) >= 2 * len(names) or 2 * sum(key in names for key in texts) <= len(texts):
        return False
    found = list(texts.values())
    return all(isinstance(text, str) for text in found) and any(" " in str(text).strip() for text in found)


def valid_descriptions(
    cls: type, source: object, names: Mapping[str, Declared], report: Report
) -> dict[str, str]:
    """Return the valid ones of some descriptions; complain about the others.

    Args:
        cls: the class that is described.
        source: the descriptions: a mapping from the names of fields to texts.
        names: the fields of the class, by name.
        report: called with step, code, message, remedy and suggestion of each complaint.
    """
    if not issubclass(type(source), Mapping):
        message = f"{DESCRIPTIONS} is {received(source)}, not a dict"
        report(DESCRIPTIONS, "bad_description", message, f"Map {_noun(cls)} names to descriptions")
        return {}
    given: Any = source
    right: dict[str, str] = {}
    unknown: list[object] = []
    for key, text in given.items():
        if not isinstance(key, str) or key not in names:
            unknown.append(key)
        elif not isinstance(text, str):
            message = f"{DESCRIPTIONS}[{quote(key)}] is {received(text)}, not a string"
            report(key, "bad_description", message, "Write the description as text")
        else:
            right[key] = text
    if unknown:
        report_unknown(cls, DESCRIPTIONS, unknown, names, report)
    return right


_MOST_SUGGESTIONS: Final = 20
"""How many unknown names get the nearest field as a suggestion: comparing all with all would be quadratic."""


def report_unknown(
    cls: type, where: str, unknown: Sequence[object], names: Collection[str], report: Report
) -> None:
    """Complain about each name that is described at a place, but isn't a field of a class."""
    noun = _noun(cls)
    known = listed([quote(name) for name in names])
    choices = f"the {noun}s are {known}" if len(names) > 1 else f"the only {noun} is {known}"
    remedy = f"Rename or remove it; {choices if names else f'it has no {noun}s'}"
    for i, key in enumerate(unknown):
        near = nearest(key, names) if i < _MOST_SUGGESTIONS and isinstance(key, str) else None
        message = f"it describes {excerpt(key)}, which isn't a {noun}"
        report(where, "unknown_description", message, remedy, quote(near) if near else None)


def _noun(cls: type) -> str:
    return "field" if parameter_source(cls) is None else "parameter"
