"""Which options do `tool`, `tool_input` and `Tool.with_` take, and how are they checked and used?"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal

from ..codec.codec import DEFAULTS, Codec
from ..errors import DecodeError, EncodeError, SchemaError
from ..findings import Finding, about_type
from ..introspect.nodes import ObjectNode, UnionNode
from ..introspect.shown_annotations import NOT_SUPPORTED, name_of
from ..json_values import copy_json, has_surrogate, is_object
from ..message_text import as_written, one_line, quote
from .metadata import (
    FLAGS,
    LEAST_CONTENT,
    NOTHING_STATED,
    STATEMENTS,
    SWITCH_REMEDY,
    Metadata,
    ToolAnnotations,
    as_json_object,
    is_content_limit,
    is_duration,
    is_switch,
    read_documentation,
)
from .parameters import class_of
from .raw_arguments import RawArguments

if TYPE_CHECKING:
    from ..codec.options import CodecOptions
    from ..schema.style import SchemaStyle
    from .metadata import Enabled, Statements

    # Making a TypedDict takes as long as registering a small type, and no code uses these at run time.
    class _CommonOptions(CodecOptions, Statements, total=False):
        summary: str | None
        enabled: Enabled
        timeout: float | None
        max_content: float | None
        examples: Collection[Any]
        tags: Collection[str]

    class ToolOptions(_CommonOptions, total=False):
        """The options of `tool` besides the description."""

        skip: Collection[str]
        flatten: bool
        threads: bool | None

    class DocumentToolOptions(ToolOptions, total=False):
        """The options of `document_tool`."""

        description: str | None

    class InputToolOptions(_CommonOptions, total=False):
        """The options of `tool_input`."""

        description: str | None
        output: Any

    class ToolChanges(_CommonOptions, total=False):
        """The options of `Tool.with_`."""

        description: str | None
        described_by: str | None
        threads: bool | None


TakesOptions = Literal["tool", "tool_input", "with_"]

CODEC_OPTIONS = frozenset(DEFAULTS) - {"name"}
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ONE_NAME = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")
_NAME_REMEDY = "Give a name= of 1 to 64 characters: A to Z, a to z, 0 to 9, _ and -"
_FLAG_REMEDY = "Give True or False"


def check_option_names(owner: str | None, options: Mapping[str, Any], function: TakesOptions) -> None:
    """Refuse an unknown option, as Python refuses an unknown keyword argument.

    Args:
        owner: name of the tool; None if it isn't known yet.
        options: by name.
        function: the function that took them.

    Raises:
        TypeError: with a remedy: what to write instead, the nearest option, or all options.
    """
    known = _KNOWN[function]
    for option in options:
        if option not in known:
            from ..similar_names import nearest

            near = nearest(option, sorted(known))
            hint = _KNOWN_ELSEWHERE.get(option) or (
                f"did you mean {near}?" if near else f"it takes {', '.join(sorted(known))}"
            )
            tool = "" if owner is None else f" for {owner}"
            message = f"{function}() got an unexpected option {option!r}{tool}; {hint}"
            raise TypeError(message)


_SCHEMA = "the parameters are the schema; document_tool(function, schema) takes one that is written already"
_FUNCTION = "the function comes first, without a name: tool(function)"
_KNOWN_ELSEWHERE = {
    "func": _FUNCTION,
    "fn": _FUNCTION,
    "function": _FUNCTION,
    "args_schema": _SCHEMA,
    "input_schema": _SCHEMA,
    "parameters": _SCHEMA,
    "output_schema": "the annotation of the result is its schema",
    "strict": "set it for a request: toolset.offer(strict=True)",
    "needs_approval": "write confirm=True",
    "requires_approval": "write confirm=True",
    "requires_confirmation": "write confirm=True",
    "exclude_args": "write skip=(…)",
    "name_override": "write name=…",
    "name_or_callable": "write name=…",
    "description_override": "write description=…",
    "annotations": "each has an option of its own, such as read_only=True",
}
"""Options of other libraries, and their names here."""


def codec_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for the codec, which has defaults for the others."""
    return {name: value for name, value in options.items() if name in CODEC_OPTIONS}


def stated(given: Mapping[str, Any], before: ToolAnnotations = NOTHING_STATED) -> ToolAnnotations:
    """Add the statements in checked options to earlier ones."""
    if STATEMENTS.isdisjoint(given):
        return before
    said = {name: given[name] for name in STATEMENTS & given.keys() if given[name] is not None}
    if said.get("meta"):
        said["meta"] = as_json_object(said["meta"])
    made = before.replace(**said) if said else before
    return made if made.as_dict() else NOTHING_STATED


def check_options(
    given: Mapping[str, Any], *, by_position: bool = False, before: ToolAnnotations = NOTHING_STATED
) -> dict[str, Finding]:
    """Return a complaint for each option with a value of the wrong kind.

    Args:
        given: option to value, with a name.
        by_position: whether the description was given without its keyword; then a single word counts as a
            mistaken name.
        before: the statements that the tool has already.
    """
    name = given["name"]
    owner = one_line(name, 100) if name and isinstance(name, str) else "tool"
    found: dict[str, Finding] = {}
    for option, value in given.items():
        wrong = _complain(option, value)
        if wrong is not None:
            found[option] = about_type((), "bad_option", owner, *wrong)
    if not STATEMENTS.isdisjoint(given) and found.keys().isdisjoint(STATEMENTS):
        now = stated(given, before)
        if now.read_only and now.destructive:
            message = "it can't be both read_only and destructive"
            found["read_only"] = about_type((), "bad_option", owner, message, "Keep one of the two")
    if by_position and _ONE_NAME.fullmatch(given["description"]):
        message = f"description is {as_written(given['description'])}, not a sentence"
        found["description"] = about_type(
            (), "bad_option", owner, message, 'If it is the name, write name="…"'
        )
    if "name" in found or not _TOOL_NAME.fullmatch(name):
        what = quote(name, 100) if isinstance(name, str) else as_written(name)
        message = f"the name {what} is refused by providers" if name != "" else "it has no name"
        found["name"] = about_type((), "bad_name", owner, message, _NAME_REMEDY)
    return found


def valid_options(
    caller: TakesOptions, owner: str, name: Any, options: dict[str, Any], *, by_position: bool = False
) -> tuple[dict[str, Any], dict[str, Finding]]:
    """Return the valid options, and by name the complaints about the others.

    Raises:
        TypeError: an option doesn't exist.
    """
    check_option_names(owner, options, caller)
    wrong = check_options({**options, "name": name}, by_position=by_position)
    valid = {key: value for key, value in options.items() if key not in wrong} if wrong else options
    return valid, wrong


def check_options_for_all(owner: str, options: Mapping[str, Any]) -> None:
    """Check options for many tools before any is made, so that a wrong option isn't reported for each tool.

    Args:
        owner: the function that takes them, such as `tools_from`.
        options: as `tool` takes them.

    Raises:
        SchemaError: an option has a value of the wrong kind.
        TypeError: an option doesn't exist.
    """
    check_option_names(owner, options, "tool")
    wrong = check_options({"name": "tool", **options})
    if wrong:
        raise SchemaError(owner, list(wrong.values()), "options")


def _complain(option: str, value: Any) -> tuple[str, str] | None:
    """Return message and remedy for a value of the wrong kind; None for a valid one."""
    if option in CODEC_OPTIONS:
        from ..codec.options import checked_options  # few tools have such an option

        try:
            checked_options({option: value})
        except ValueError as error:
            return str(error), "Give a value that Codec takes"
        return None
    fits, kind, remedy = _ROWS.get(option, _ANY)
    if fits(value) or (value is None and option not in _NEVER_NONE):
        return None
    return f"{option} is {as_written(value)}, not {kind}", remedy


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and _TOOL_NAME.fullmatch(value) is not None


def _is_timeout(value: Any) -> bool:
    return is_duration(value) and value > 0


def _is_collection(value: object) -> bool:
    return isinstance(value, Collection) and not isinstance(value, (str, bytes))


def _are_examples(value: object) -> bool:
    return _is_collection(value) and not isinstance(value, Mapping)  # a mapping is one example


def are_names(value: Any) -> bool:
    """Return whether a value is a collection of strings, and not a string itself."""
    return _is_collection(value) and all(isinstance(item, str) for item in value)


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_title(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and not has_surrogate(value)


def _is_meta(value: object) -> bool:
    return isinstance(value, Mapping) and as_json_object(value) is not None


_ANY: tuple[Callable[[Any], bool], str, str] = (lambda _: True, "", "")
_ROWS: dict[str, tuple[Callable[[Any], bool], str, str]] = {
    "name": (_is_text, "a string", _NAME_REMEDY),
    "description": (_is_text, "a string", "Write it as text"),
    "summary": (_is_text, "a string", "Write it as text"),
    "described_by": (_is_name, "the name of a tool", "Give the name of a tool"),
    "skip": (are_names, "a list of names", 'Write skip=("db",)'),
    "flatten": (_is_flag, "True or False", _FLAG_REMEDY),
    "enabled": (is_switch, "a boolean or a plain function", SWITCH_REMEDY),
    "timeout": (_is_timeout, "a positive number", "Give it in seconds"),
    "max_content": (
        is_content_limit,
        f"an integer of at least {LEAST_CONTENT}",
        "Give it in characters, or math.inf for no limit",
    ),
    "threads": (_is_flag, "True or False", _FLAG_REMEDY),
    "examples": (_are_examples, "a list", "Give a list, with the arguments of one call in each item"),
    "tags": (are_names, "a list of strings", 'Write tags=("files",)'),
    "output": _ANY,
    "title": (_is_title, "a text", "Write a name for people"),
    "meta": (_is_meta, "a JSON object", "Give a dict with strings as keys and JSON values"),
    **dict.fromkeys(FLAGS, (_is_flag, "True or False", f"{_FLAG_REMEDY}, or leave it out")),
}
"""The options that aren't for the codec: the check, the expected value, and the remedy."""

_NEVER_NONE = frozenset({"name", "skip", "flatten", "examples", "tags"})
"""The options for which None isn't the same as leaving them out."""

_KNOWN: Mapping[TakesOptions, frozenset[str]] = {
    "tool": CODEC_OPTIONS | _ROWS.keys() - {"output", "described_by"},
    "tool_input": CODEC_OPTIONS | _ROWS.keys() - {"skip", "flatten", "described_by", "threads"},
    "with_": CODEC_OPTIONS | _ROWS.keys() - {"skip", "flatten", "output"},
}


def register_input(
    annotation: Any,
    name: str,
    options: Mapping[str, Any],
    complaints: list[Finding],
    make: Callable[..., Codec[Any]] = Codec,
) -> Codec[Any] | None:
    """Register an input type; return None if there are complaints, old or new."""
    try:
        codec: Codec[Any] = make(annotation, name=name, **codec_options(options))
    except SchemaError as error:
        own = annotation.__name__ if isinstance(annotation, type) else None
        complaints += [_about_the_tool(complaint, own, name) for complaint in error.findings]
        return None
    complaints += _check_root(codec, name)
    if not complaints and "examples" in options:
        complaints += _check_examples(codec, options["examples"], name)
    return None if complaints else codec


def _about_the_tool(complaint: Finding, own: str | None, name: str) -> Finding:
    """Turn a complaint about the input class of a function into one about the function."""
    is_parameter = complaint.type == own and len(complaint.path) == 1
    parameter, known = complaint.path[0] if is_parameter else "", complaint.remedy or ""
    if is_parameter and complaint.code == "unresolved":
        more = f'{known}, or let your program inject it: skip=("{parameter}",)'
        complaint = complaint.replace(remedy=more)
    if is_parameter and complaint.code == "unsupported" and complaint.message.endswith(NOT_SUPPORTED):
        other = known[0].lower() + known[1:]
        more = f"If your program gives it, write {parameter}: Annotated[…, skip]. Otherwise {other}"
        complaint = complaint.replace(remedy=more)
    return complaint.replace(type=name) if complaint.type == own else complaint


def _check_root(codec: Codec[Any], name: str) -> list[Finding]:
    graph = codec.graph
    root = graph.resolve_root()
    if isinstance(root, ObjectNode):
        return []
    members = root.members if isinstance(root, UnionNode) else (root,)
    is_raw = class_of(codec.type) is RawArguments
    if is_raw or all(isinstance(graph.resolve(member), ObjectNode) for member in members):
        return []
    message = f"arguments are a JSON object, and {name_of(codec.type)} isn't one"
    return [about_type((), "unsupported", name, message, "Give a dataclass, or a union of dataclasses")]


def _check_examples(codec: Codec[Any], examples: Collection[Any], name: str) -> list[Finding]:
    complaints: list[Finding] = []
    for number, example in enumerate(examples, 1):
        try:
            _example(codec, example)
        except (DecodeError, EncodeError) as error:
            for problem in error.findings:
                message = f"example {number} doesn't fit: {problem}"
                remedy = "Change the example or the parameters"
                complaints.append(about_type((), "bad_option", name, message, remedy))
    return complaints


def _example(codec: Codec[Any], example: Any) -> Any:
    """Return the JSON value of an example, which may also be text or an input."""
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
    """Make the metadata of a tool from checked options."""
    texts = read_documentation(name, options.get("description"), options.get("summary"), doc)
    if not options:
        return Metadata(name, *texts)
    return Metadata(
        name,
        *texts,
        options.get("enabled"),
        options.get("timeout"),
        tuple(options.get("tags", ())),
        tuple([_example(codec, example) for example in options.get("examples", ())]),
        threads=options.get("threads"),
        annotations=stated(options),
        max_content=options.get("max_content"),
    )


def changed_input(
    codec: Codec[Any], options: Mapping[str, Any], given: Mapping[str, Any], metadata: Metadata
) -> tuple[Codec[Any], Mapping[str, Any]]:
    """Return the codec of an input, and its options, with checked changes.

    Args:
        codec: the codec before.
        options: the options before.
        given: option to value, with a name.
        metadata: the metadata of the tool, before.

    Raises:
        SchemaError: the input doesn't take the changes, or an example doesn't fit it.
    """
    name, changed = given["name"], codec_options(given)
    if not changed and name == metadata.name and "examples" not in given:
        return codec, options
    if "param_descriptions" in changed:
        before: Mapping[str, str] = options.get("param_descriptions") or {}
        changed["param_descriptions"] = {**before, **changed["param_descriptions"]}
    options = {**options, **changed}
    complaints: list[Finding] = []
    made = register_input(codec.type, name, {**given, **options}, complaints, codec.again)
    if made is None:
        raise SchemaError(name, complaints, "tool")
    return made, options


_AS_GIVEN = ("name", "enabled", "timeout", "described_by", "threads", "max_content")
"""Options that are stored unchanged."""


def changed_metadata(metadata: Metadata, given: Mapping[str, Any], codec: Codec[Any]) -> Metadata:
    """Return metadata with checked changes.

    Args:
        metadata: the metadata before.
        given: option to value.
        codec: codec of the changed input.
    """
    kept = {option: given[option] for option in _AS_GIVEN if option in given}
    description, summary = given.get("description"), given.get("summary")
    if description is not None or summary is not None:
        text = metadata.details if description is None else description
        texts = read_documentation(given["name"], text, summary, None)
        kept |= dict(zip(("summary", "details", "description"), texts, strict=True))
    if "tags" in given:
        kept["tags"] = tuple(given["tags"])
    if "examples" in given:
        kept["examples"] = tuple([_example(codec, example) for example in given["examples"]])
    return metadata.replace(**kept, annotations=stated(given, metadata.annotations))


def style_in(options: Mapping[str, Any]) -> SchemaStyle | None:
    """Return the schema style that the options of a definition choose, like `style_of`; usually None."""
    if not options:
        return None
    from ..schema.style import style_of

    return style_of(options)
