"""Registration of a tool's input, its examples and its metadata, for functions and input types alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..codec.codec import Codec
from ..errors import Complaint, DecodeError, EncodeError, SchemaError
from ..introspect.names import NOT_SUPPORTED, name_of
from ..introspect.nodes import ObjectNode, UnionNode
from ..json_values import copy_json, is_object
from .metadata import Metadata, read_documentation
from .options import codec_options, stated
from .parameters import class_of
from .raw_arguments import RawArguments

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

__all__ = ["changed_metadata", "doc_of", "make_metadata", "register_input"]


def register_input(
    annotation: Any,
    name: str,
    options: Mapping[str, Any],
    complaints: list[Complaint],
    make: Callable[..., Codec[Any]] = Codec,
) -> Codec[Any] | None:
    """Register an input type; return None if there are complaints, old or new."""
    try:
        codec: Codec[Any] = make(annotation, name=name, **codec_options(options))
    except SchemaError as error:
        own = annotation.__name__ if isinstance(annotation, type) else None
        complaints += [_about_the_tool(complaint, own, name) for complaint in error.complaints]
        return None
    complaints += _check_root(codec, name)
    if not complaints and "examples" in options:
        complaints += _check_examples(codec, options["examples"], name)
    return None if complaints else codec


def _about_the_tool(complaint: Complaint, own: str | None, name: str) -> Complaint:
    """Turn a complaint about the input class of a function into one about the function."""
    is_parameter = complaint.type == own and len(complaint.path) == 1
    parameter = complaint.path[0] if is_parameter else ""
    if is_parameter and complaint.code == "unresolved":
        more = f'{complaint.remedy}, or let your program inject it: skip=("{parameter}",)'
        complaint = complaint.replace(remedy=more)
    if is_parameter and complaint.code == "unsupported" and complaint.message.endswith(NOT_SUPPORTED):
        other = complaint.remedy[0].lower() + complaint.remedy[1:]
        more = f"If your program gives it, write {parameter}: Annotated[…, skip]. Otherwise {other}"
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
    message = f"arguments are a JSON object, and {name_of(codec.type)} isn't one"
    return [Complaint((), "unsupported", name, message, "Give a dataclass, or a union of dataclasses")]


def _check_examples(codec: Codec[Any], examples: Collection[Any], name: str) -> list[Complaint]:
    complaints: list[Complaint] = []
    for number, example in enumerate(examples, 1):
        try:
            _example(codec, example)
        except (DecodeError, EncodeError) as error:
            for problem in error.problems:
                message = f"example {number} doesn't fit: {problem}"
                remedy = "Change the example or the parameters"
                complaints.append(Complaint((), "bad_option", name, message, remedy))
    return complaints


def _example(codec: Codec[Any], example: Any) -> Any:
    """Return the JSON value of an example, which may be given as text or as an input."""
    if isinstance(example, (str, bytes, bytearray)):
        from ..codec.json_text import read_json

        codec.decode_json(example)
        return read_json(example)[0]
    if is_object(example):
        codec.decode(example)
        copied: dict[str, Any] = copy_json(example)
        return copied
    return codec.encode(example)


def doc_of(codec: Codec[Any]) -> str | None:
    """Return the prose in the docstring of an input type, or of the function that it was made for."""
    root = codec.graph.resolve_root()
    return root.doc if isinstance(root, ObjectNode) else None


def make_metadata(name: str, options: Mapping[str, Any], doc: str | None, codec: Codec[Any]) -> Metadata:
    """Gather the metadata of a tool from checked options."""
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
        threads=options.get("threads"),
        annotations=stated(options),
        max_content=options.get("max_content"),
    )


_AS_GIVEN = ("name", "enabled", "timeout", "described_by", "threads", "max_content")
"""Options that are kept as they are."""


def changed_metadata(metadata: Metadata, given: Mapping[str, Any], codec: Codec[Any]) -> Metadata:
    """Return metadata with checked changes.

    Args:
        metadata: before.
        given: option to value.
        codec: of the input, with its changes.
    """
    kept = {option: given[option] for option in _AS_GIVEN if option in given}
    description, summary = given.get("description"), given.get("summary")
    if description is not None or summary is not None:
        text = metadata.documentation.details if description is None else description
        kept["documentation"] = read_documentation(given["name"], text, summary, None)
    if "tags" in given:
        kept["tags"] = tuple(given["tags"])
    if "examples" in given:
        kept["examples"] = tuple([_example(codec, example) for example in given["examples"]])
    return metadata.replace(**kept, annotations=stated(given, metadata.annotations))
