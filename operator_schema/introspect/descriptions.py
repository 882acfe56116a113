"""Descriptions in a class: its `param_descriptions` and its docstrings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..json_values import is_object
from ..wording import excerpt, listed, nearest, quote, received
from .classes import lineage, parameter_source

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ..complaints import ComplaintCode
    from .classes import Declared
    from .nodes import ObjectForm

    Report = Callable[[str, ComplaintCode, str, str, str | None], None]

__all__ = ["describe_fields", "own_docstring", "text_or_report"]

ATTRIBUTE = "param_descriptions"


def describe_fields(
    cls: type,
    form: ObjectForm,
    given: Mapping[str, str] | None,
    names: Mapping[str, Declared],
    report: Report,
    attribute_docs: bool,  # noqa: FBT001  # a keyword costs more than the rest of the call
) -> tuple[str | None, Mapping[str, str], Mapping[str, str]]:
    """Gather the descriptions that a class brings, along its MRO, the nearest class first.

    Args:
        cls: a class of that form.
        form: as `form_of` says.
        given: descriptions that come from elsewhere and win over the class's own, or None.
        names: its fields by name.
        report: takes step, code, message, remedy and suggestion of each complaint.
        attribute_docs: whether to read the docstrings below attributes, which needs the source.

    Returns:
        The text of the class itself, or None; field name to text in `param_descriptions`, which wins
        over every other; field name to text in a docstring, which wins over a leaf's own alone.
    """
    docstrings = _docstrings(cls, form)
    text: str | None = None
    documented: Mapping[str, str] = {}
    if docstrings:
        text, documented = _from_docstrings(cls, docstrings, names, report)
    if attribute_docs:
        from .attribute_docs import attribute_docstrings

        documented = {**attribute_docstrings(cls, names), **documented}
    return text, _param_descriptions(cls, given, names, report), documented


def _param_descriptions(
    cls: type, given: Mapping[str, str] | None, names: Mapping[str, Declared], report: Report
) -> Mapping[str, str]:
    sources: list[object] = [] if given is None else [given]
    for base in cls.__mro__[:-1]:
        members = base.__dict__
        if ATTRIBUTE in members:
            sources.append(members[ATTRIBUTE])
        elif not members.keys().isdisjoint(_MISSPELT):
            _report_misspelt(members, names, report)
    if not sources or ATTRIBUTE in names:
        return {}
    if len(sources) == 1:
        return _checked(cls, sources[0], names, report)
    merged: dict[str, str] = {}
    for source in reversed(sources):
        merged.update(_checked(cls, source, names, report))
    return merged


_MISSPELT = frozenset(
    {"param_description", "params_description", "params_descriptions", "paramDescriptions"}
    | {"parameter_description", "parameter_descriptions"}
)


def _report_misspelt(members: Mapping[str, object], names: Collection[str], report: Report) -> None:
    for name in sorted(_MISSPELT.intersection(members)):
        if is_object(members[name]) and name not in names:
            message = f"{name} has no effect: the attribute is called {ATTRIBUTE}"
            report(name, "bad_description", message, f"Rename it to {ATTRIBUTE}", quote(ATTRIBUTE))


def _checked(cls: type, source: object, names: Mapping[str, Declared], report: Report) -> dict[str, str]:
    if not is_object(source):
        message = f"{ATTRIBUTE} is {received(source)}, not a dict"
        report(ATTRIBUTE, "bad_description", message, f"Map {_noun(cls)} names to descriptions", None)
        return {}
    if type(source) is dict:
        for key, text in source.items():
            if type(key) is not str or type(text) is not str or key not in names:
                break
        else:
            return source  # most often all is well, and it need not be copied
    right: dict[str, str] = {}
    unknown: list[object] = []
    for key, text in source.items():
        if not isinstance(key, str) or key not in names:
            unknown.append(key)
        elif not isinstance(text, str):
            message = f"{ATTRIBUTE}[{quote(key)}] is {received(text)}, not a string"
            report(key, "bad_description", message, "Write the description as text", None)
        else:
            right[key] = text
    _report_unknown(cls, ATTRIBUTE, unknown, names, report)
    return right


_MOST_SUGGESTIONS: Final = 20
"""Unknown names that the nearest field is looked for: comparing each with all would be quadratic."""


def _report_unknown(
    cls: type, where: str, unknown: Sequence[object], names: Collection[str], report: Report
) -> None:
    if not unknown:
        return
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


def _from_docstrings(
    cls: type, docstrings: Sequence[tuple[type, str]], names: Collection[str], report: Report
) -> tuple[str | None, Mapping[str, str]]:
    from .docstrings import parse_docstring

    text: str | None = None
    documented: dict[str, str] = {}
    for base, doc in docstrings:
        parsed = parse_docstring(doc)
        unknown: list[str] = []
        if base is cls:
            text = parsed.text or None
        for name, description in parsed.parameters.items():
            if name in names:
                if description:
                    documented.setdefault(name, description)
            elif not _may_be_described(base, name):
                unknown.append(name)
        _report_unknown(cls, "__doc__", unknown, names, report)
    return text, documented


def _docstrings(cls: type, form: ObjectForm) -> list[tuple[type, str]]:
    source = parameter_source(cls) if form == "function" else None
    if source is not None:
        return [(cls, source.doc)] if source.doc else []
    found: list[tuple[type, str]] = []
    for base in lineage(cls) if form == "typed_dict" else cls.__mro__[:-1]:
        if form == "struct" and base.__module__.partition(".")[0] == "msgspec":
            break  # it describes how to write a Struct
        doc = own_docstring(base)
        if doc:
            found.append((base, doc))
    return found


def own_docstring(cls: type) -> str | None:
    """Return the docstring that was written for this very class.

    Args:
        cls: any class.

    Returns:
        The docstring as the source has it. None if the class has none of its own, if it is blank, and
        if it is the signature that `dataclass` or `NamedTuple` put there.
    """
    members = cls.__dict__
    doc = members.get("__doc__")
    if not isinstance(doc, str) or not doc.strip():
        return None
    makes_docstrings = "__dataclass_fields__" in members or issubclass(cls, tuple)
    return None if makes_docstrings and _is_signature(doc, cls.__name__) else doc


def _is_signature(doc: str, name: str) -> bool:
    if doc == name:
        return True  # all that `dataclass` writes if there is no signature
    if "\n" in doc or not doc.startswith(name + "(") or not doc.endswith(")"):
        return False
    begin = len(name) + 1
    if doc[begin : doc.find(":", begin)].isidentifier():
        return True  # the first parameter
    names = doc[begin:-1].partition(":")[0].partition("=")[0]
    # Between the commas are parameters, the bare `*` and `/`, and nothing behind a last comma;
    # a sentence such as "File(s) to read (at once)" has something else there.
    parts = [part.strip(" */") for part in names.split(",")]
    return all(not part or part.isidentifier() for part in parts)


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
        name: of the field, for the complaint when the entry is not a string.
        report: takes step, code, message, remedy and suggestion of the complaint.
    """
    text = metadata.get(key)
    if text is None or isinstance(text, str):
        return text
    message = f"metadata[{quote(key)}] is {received(text)}, not a string"
    report(name, "bad_metadata", message, f"Write the {key} as text", None)
    return None
