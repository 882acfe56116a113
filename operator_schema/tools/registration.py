"""What tools of functions and of input types share: registration, options and examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..codec.codec import Codec
from ..errors import Complaint, DecodeError, EncodeError, SchemaError
from ..introspect.names import name_of
from ..introspect.nodes import ObjectNode, UnionNode
from ..json_values import copy_json, is_object
from ..wording import nearest
from .metadata import Metadata, read_documentation
from .parameters import class_of
from .raw_arguments import RawArguments

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

__all__ = ["check_option_names", "codec_options", "doc_of", "make_metadata", "register"]

_OPTIONS = frozenset(
    (
        *("name", "description", "summary", "skip", "enabled", "timeout"),
        *("repair", "unknown_fields", "examples", "tags", "namespace", "output"),
    )
)


_OF_CODEC = frozenset({"unknown_fields", "repair", "namespace"})


def check_option_names(owner: str, options: Mapping[str, Any], door: str) -> None:
    """Refuse an option that there is not, as Python refuses an unknown keyword."""
    for option in options:
        known = _OPTIONS - ({"output"} if door == "tool" else {"skip"})
        if option not in known:
            near = nearest(option, sorted(known))
            hint = f"; did you mean {near}?" if near else ""
            message = f"{door}() got an unexpected option {option!r} for {owner}{hint}"
            raise TypeError(message)


def codec_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are the codec's; what is not given is left to it."""
    return {name: value for name, value in options.items() if value and name in _OF_CODEC}


def register(
    annotation: Any, name: str, options: Mapping[str, Any], complaints: list[Complaint]
) -> Codec[Any] | None:
    """Register an input type; with any complaint, give none."""
    try:
        codec: Codec[Any] = Codec(annotation, name=name, **codec_options(options))
    except SchemaError as error:
        own = annotation.__name__ if isinstance(annotation, type) else None
        complaints += [_told_of(complaint, own, name) for complaint in error.complaints]
        return None
    complaints += _check_root(codec, name)
    if not complaints and "examples" in options:
        complaints += _check_examples(codec, options["examples"], name)
    return None if complaints else codec


def _told_of(complaint: Complaint, own: str | None, name: str) -> Complaint:
    """Tell a complaint about the class that was made of a function as one about the function."""
    is_parameter = complaint.type == own and len(complaint.path) == 1
    if is_parameter and complaint.code in {"unsupported", "unresolved"}:
        more = f'{complaint.remedy}, or let the host give it: skip=("{complaint.path[0]}",)'
        complaint = complaint.replace(remedy=more)
    return complaint.replace(type=name) if complaint.type == own else complaint


def _check_root(codec: Codec[Any], name: str) -> list[Complaint]:
    graph = codec.graph
    root = graph.resolve_root()
    if isinstance(root, ObjectNode):
        return []
    members = root.members if isinstance(root, UnionNode) else (root,)
    is_raw = class_of(codec.type) is RawArguments
    if is_raw or all(isinstance(graph.resolve(member), ObjectNode) for member in members):
        return []
    message = f"arguments are a JSON object, and {name_of(codec.type)} is none"
    return [Complaint((), "unsupported", name, message, "Give a dataclass, or a union of dataclasses")]


def _check_examples(codec: Codec[Any], examples: Collection[Any], name: str) -> list[Complaint]:
    complaints: list[Complaint] = []
    for number, example in enumerate(examples, 1):
        try:
            _example(codec, example)
        except (DecodeError, EncodeError) as error:
            for problem in error.problems:
                message = f"example {number} does not fit: {problem}"
                remedy = "Change the example or the parameters"
                complaints.append(Complaint((), "bad_option", name, message, remedy))
    return complaints


def _example(codec: Codec[Any], example: Any) -> Any:
    """Return the JSON value of an example, which may be given as text or as an input."""
    if isinstance(example, (str, bytes, bytearray)):
        from ..codec.json_text.reader import read_json  # noqa: PLC0415  # few examples are text

        codec.decode_json(example)
        return read_json(example)[0]
    if is_object(example):
        codec.decode(example)
        copied: dict[str, Any] = copy_json(example)
        return copied
    return codec.encode(example)


def doc_of(codec: Codec[Any]) -> str | None:
    """Return the prose in the docstring of an input type, which for a function is the function's."""
    root = codec.graph.resolve_root()
    return root.doc if isinstance(root, ObjectNode) else None


def make_metadata(name: str, options: Mapping[str, Any], doc: str | None, codec: Codec[Any]) -> Metadata:
    """Gather what is told about a tool, of options that were checked."""
    documentation = read_documentation(name, options.get("description"), options.get("summary"), doc)
    if not options:
        return Metadata(name, documentation)
    return Metadata(
        name,
        documentation,
        options.get("enabled"),
        options.get("timeout"),
        tuple(options.get("tags", ())),
        tuple([_example(codec, example) for example in options.get("examples", ())]),
    )
