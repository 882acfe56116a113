"""From a function, or a dataclass, to a tool: what is visible to the model, and every complaint."""

from __future__ import annotations

import sys
from dataclasses import MISSING
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    Unpack,
    get_args,
    get_origin,
    overload,
)

from .._value import Value, set_once
from ..codec.codec import Codec
from ..errors import Complaint, DecodeError, EncodeError, SchemaError, Unfit
from ..introspect.classes import Declared, form_of
from ..introspect.docstrings import parse_docstring
from ..introspect.hints import Scope, Unresolved, evaluate_forward
from ..introspect.identity import name_of
from ..introspect.leaves import SchemaLeaf, own_leaf, registered_leaf
from ..introspect.nodes import ObjectNode, UnionNode
from ..introspect.parameters import ParameterSource
from ..introspect.shipped_leaves import shipped_leaf
from ..wording import clip, escape, listed, nearest, quote, received
from .callee import is_generator_function, name_of_callee, read_callee
from .facts import Facts, check_facts, pascal_case, read_texts, snake_case
from .inputs import install, make_input_type
from .marks import skip as skip_mark
from .output import NO_OUTPUT, Output
from .raw import RawArguments
from .tool import Body, InputTool, Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from types import FrameType

    from ..codec.codec import UnknownFields
    from .callee import Callee, Parameter
    from .facts import Enabled

__all__ = ["tool", "tool_input"]

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
S = TypeVar("S")


class _Decorator(Protocol):
    """What `tool` with options returns."""

    @overload
    def __call__(self, function: classmethod[Any, P, R], /) -> Tool[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Tool[P, R]: ...


class _InputDecorator(Protocol):
    """What `tool_input` with options returns."""

    @overload
    def __call__(self, annotation: Callable[P, R], /) -> InputTool[P, R]: ...
    @overload
    def __call__(self, annotation: Any, /) -> InputTool[..., Any]: ...


@overload
def tool(function: classmethod[Any, P, R], /) -> Tool[P, R]: ...
@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    description: str | None = None,
    /,
    *,
    name: str | None = None,
    summary: str | None = None,
    skip: Collection[str] = (),
    enabled: Enabled = None,
    timeout: float | None = None,
    repair: bool = False,
    unknown_fields: UnknownFields = "ignore",
    examples: Collection[Any] = (),
    tags: Collection[str] = (),
    namespace: Mapping[str, Any] | None = None,
) -> _Decorator: ...
@overload
def tool(
    *,
    description: str | None,
    name: str | None = None,
    summary: str | None = None,
    skip: Collection[str] = (),
    enabled: Enabled = None,
    timeout: float | None = None,
    repair: bool = False,
    unknown_fields: UnknownFields = "ignore",
    examples: Collection[Any] = (),
    tags: Collection[str] = (),
    namespace: Mapping[str, Any] | None = None,
) -> _Decorator: ...
def tool(function: Any = None, /, **options: Any) -> Any:
    """Make a tool of a function, which can still be called as before.

    Args:
        function: with annotated parameters; or the description, when this is called with options.
        name: by which the model calls it; the function's own unless given.
        description: what it does; the docstring unless given. Its first sentence is the summary.
        summary: what the model is told on every request, where the first sentence will not do.
        skip: names of the parameters that the host gives, so that the model does not see them.
        enabled: whether the model may call it, or a function that says so; the registry decides
            unless given.
        timeout: seconds that a call may take; the executor decides unless given.
        repair: as for `Codec`.
        unknown_fields: `"ignore"` drops arguments that name no parameter, `"reject"` makes each a
            problem.
        examples: arguments of calls, as dicts, JSON text or inputs.
        tags: for the host to choose by.
        namespace: names that annotations written as text may use besides those of their module.

    Returns:
        A `Tool`; with options, a decorator that makes one.

    Raises:
        SchemaError: with everything that is wrong with the function and the options.
    """
    if function is None or isinstance(function, str):
        if function is not None:
            options["description"] = function

        def decorate(function: Any, /) -> Any:
            return _make_tool(function, options, sys._getframe(1))  # noqa: SLF001  # names that text may use

        return decorate
    return _make_tool(function, options, sys._getframe(1))  # noqa: SLF001  # likewise


@overload
def tool_input(annotation: Callable[P, R], /) -> InputTool[P, R]: ...
@overload
def tool_input(
    *,
    name: str | None = None,
    description: str | None = None,
    summary: str | None = None,
    output: Any = MISSING,
    enabled: Enabled = None,
    timeout: float | None = None,
    repair: bool = False,
    unknown_fields: UnknownFields = "ignore",
    examples: Collection[Any] = (),
    tags: Collection[str] = (),
    namespace: Mapping[str, Any] | None = None,
) -> _InputDecorator: ...
def tool_input(annotation: Any = MISSING, /, **options: Any) -> Any:
    """Make a tool without a function of a dataclass or a union of tagged ones, for a host that runs it.

    The tool is called as the dataclass is, and builds an instance; the class itself is its
    `input_type`.

    Args:
        annotation: a dataclass, `TypedDict` or `NamedTuple`, or a union of such.
        name: by which the model calls it; that of the class in snake case unless given.
        description: what it does; the docstring of the class unless given.
        summary: what the model is told on every request, where the first sentence will not do.
        output: type of what the host gives back.
        enabled: whether the model may call it, or a function that says so; the registry decides
            unless given.
        timeout: seconds that a call may take; the host decides unless given.
        repair: as for `Codec`.
        unknown_fields: `"ignore"` drops arguments that name no field, `"reject"` makes each a problem.
        examples: arguments of calls, as dicts, JSON text or inputs.
        tags: for the host to choose by.
        namespace: names that annotations written as text may use besides those of their module.

    Returns:
        A `Tool`; with options, a decorator that makes one.

    Raises:
        SchemaError: with everything that is wrong with the type and the options.
    """
    if annotation is MISSING:
        return lambda annotation: _make_input_tool(annotation, options)
    return _make_input_tool(annotation, options)


# --- functions -----------------------------------------------------------------------------------


class _Visible(Value):
    """Which parameters the model gives, and what they mean.

    Attributes:
        fields: those that the model gives.
        declared: the same as fields of an object.
        hosted: those that the host gives, each with its evaluated annotation or None.
        annotation: of the one parameter that takes the whole input, or None.
        complaints: what is wrong with them.
    """

    __slots__ = ("fields", "declared", "hosted", "annotation", "complaints")

    fields: list[Parameter]
    declared: list[Declared]
    hosted: list[tuple[Parameter, Any]]
    annotation: Any
    complaints: list[Complaint]

    def __init__(
        self,
        fields: list[Parameter],
        declared: list[Declared],
        hosted: list[tuple[Parameter, Any]],
        annotation: Any,
        complaints: list[Complaint],
    ) -> None:
        set_once(self, "fields", fields)
        set_once(self, "declared", declared)
        set_once(self, "hosted", hosted)
        set_once(self, "annotation", annotation)
        set_once(self, "complaints", complaints)


def _make_tool(function: Any, options: dict[str, Any], frame: FrameType) -> Tool[..., Any]:
    name: Any = options.get("name")
    if name is None:
        name = name_of_callee(function) or snake_case(type(function).__name__)
    owner = clip(escape(name), 100) if isinstance(name, str) else "tool"
    _check_option_names(owner, options, "tool")
    wrong = check_facts({**options, "name": name})
    options = {key: value for key, value in options.items() if key not in wrong}
    complaints = list(wrong.values())
    callee = _callee_or_raise(function, owner, complaints)
    namespace = options.get("namespace") or {}
    around = _enclosing_names(callee.source, frame)
    scope = Scope(callee.source, {**around, **namespace} if around else namespace)
    visible = _read_parameters(callee, scope, options.get("skip", ()), owner)
    complaints += visible.complaints
    if visible.annotation is None:
        annotation, doc = _input_type(callee, visible), None
    else:
        annotation, doc = visible.annotation, _whole_doc(callee, visible, owner, complaints)
    codec = _register(annotation, owner, options, complaints)
    if codec is None:
        raise SchemaError(owner, complaints)
    output = Output(callee.returns, scope)
    whole = None if visible.annotation is None else visible.fields[0].name
    facts = _facts(name, options, _doc_of(codec) if doc is None else doc, codec)
    return Tool._make(  # noqa: SLF001  # its maker
        facts, codec, _codec_options(options), output, callee.function, Body(callee, visible.hosted, whole)
    )


def _callee_or_raise(function: Any, owner: str, complaints: list[Complaint]) -> Callee:
    try:
        callee = read_callee(function)
        if is_generator_function(callee.function):
            message = "it is a generator, whose result can't be told to a model"
            raise Unfit(message, "Return a list")
    except Unfit as unfit:
        found = Complaint((), "unsupported", owner, unfit.message, unfit.remedy)
        raise SchemaError(owner, [*complaints, found]) from None
    return callee


def _enclosing_names(function: Any, frame: FrameType | None) -> dict[str, Any]:
    """Return the names of the functions and classes around a function that is being decorated."""
    around = [part for part in function.__qualname__.split(".")[:-1] if part != "<locals>"]
    if not around:
        return {}
    frames: list[FrameType] = []
    while frame is not None and len(frames) < len(around):
        frames.append(frame)
        frame = frame.f_back
    # Elsewhere than where it was written, the names around mean something else.
    if [inner.f_code.co_name for inner in reversed(frames)] != around:
        return {}
    return {name: value for inner in reversed(frames) for name, value in inner.f_locals.items()}


def _read_parameters(callee: Callee, scope: Scope, skip: Collection[str], owner: str) -> _Visible:
    receiver = callee.receiver
    written = [p for p in callee.parameters if p is not receiver]
    hints = _evaluate([p.annotation for p in written], scope)
    complaints: list[Complaint] = []
    fields: list[Parameter] = []
    declared: list[Declared] = []
    hosted: list[tuple[Parameter, Any]] = [] if receiver is None else [(receiver, None)]
    for parameter, hint in zip(written, hints, strict=True):
        if parameter.name in skip or (not isinstance(hint, type) and _is_marked(hint)):
            hosted.append((parameter, None if hint is MISSING or isinstance(hint, Unresolved) else hint))
            continue
        complaint = _complain_parameter(parameter, hint, owner)
        if complaint is not None:
            complaints.append(complaint)
        fields.append(parameter)
        declared.append(_declare(parameter, Any if complaint is not None else hint, scope))
    complaints += _unknown_skips(skip, callee, owner)
    annotation = _whole_annotation(fields, declared)
    if annotation is None and any(_class_of(entry.hint) is RawArguments for entry in declared):
        message = "RawArguments takes all arguments, so no other parameter can take one"
        remedy = "Leave the others to require and optional, or let the host give them"
        complaints.append(Complaint((), "unsupported", owner, message, remedy))
    return _Visible(fields, declared, hosted, annotation, complaints)


def _evaluate(written: list[Any], scope: Scope) -> list[Any]:
    """Evaluate the annotations of a function, in one go where they are text."""
    texts = [i for i, hint in enumerate(written) if type(hint) is str]
    if texts:
        values = scope.evaluate_all([written[i] for i in texts])
        for i, value in zip(texts, values, strict=True):
            written[i] = value
    return [hint if isinstance(hint, type) else evaluate_forward(hint, scope) for hint in written]


def _is_marked(hint: Any) -> bool:
    if get_origin(hint) is Annotated:
        return any(item is skip_mark for item in hint.__metadata__)
    is_union = get_origin(hint) is Union or type(hint).__name__ == "UnionType"
    return is_union and any(_is_marked(member) for member in get_args(hint))


def _complain_parameter(parameter: Parameter, hint: Any, owner: str) -> Complaint | None:
    name = parameter.name
    if hint is MISSING:
        stars = {"rest": "*", "extra": "**"}.get(parameter.kind, "")
        message = "it has no annotation" if not stars else f"{stars}{name} has no annotation"
        remedy = f"Annotate it, or let the host give it: skip=({quote(name)},)"
        return Complaint((name,), "unannotated", owner, message, remedy)
    if name.startswith("__") and name.endswith("__"):
        message = "the name is one of Python's own"
        return Complaint((name,), "bad_name", owner, message, "Give it another name")
    return None


def _declare(parameter: Parameter, hint: Any, scope: Scope) -> Declared:
    if parameter.kind == "rest":
        return Declared(parameter.name, tuple[hint, ...], scope, has_factory=True)
    if parameter.kind == "extra":
        if get_origin(hint) is Unpack:  # PEP 692
            keys = getattr(get_args(hint)[0], "__required_keys__", ())
            return Declared(parameter.name, get_args(hint)[0], scope, has_factory=not keys)
        return Declared(parameter.name, dict[str, hint], scope, has_factory=True)
    return Declared(parameter.name, hint, scope, parameter.default)


def _unknown_skips(skip: Collection[str], callee: Callee, owner: str) -> list[Complaint]:
    names = [parameter.name for parameter in callee.parameters]
    complaints: list[Complaint] = []
    for name in skip:
        if name not in names:
            near = nearest(name, names)
            message = f"skip names {quote(name)}, which is no parameter"
            remedy = f"The parameters are {listed([quote(n) for n in names]) or 'none'}"
            complaints.append(
                Complaint((), "bad_option", owner, message, remedy, quote(near) if near else None)
            )
    return complaints


def _whole_annotation(fields: Sequence[Parameter], declared: Sequence[Declared]) -> Any:
    """Return the annotation of the only visible parameter, where its fields are the tool's own."""
    if len(fields) != 1 or fields[0].kind in {"rest", "extra"} or fields[0].default is not MISSING:
        return None
    hint = declared[0].hint
    cls = _class_of(hint)
    if cls is RawArguments:
        return hint
    if not isinstance(cls, type) or form_of(cls) is None or _has_leaf(hint, cls):
        return None
    while get_origin(hint) is Annotated:
        hint = hint.__origin__
    return hint


def _class_of(hint: Any) -> Any:
    while get_origin(hint) is Annotated:
        hint = hint.__origin__
    return get_origin(hint) or hint


def _has_leaf(hint: Any, cls: type) -> bool:
    metadata: tuple[Any, ...] = getattr(hint, "__metadata__", ())
    if any(isinstance(item, SchemaLeaf) for item in metadata):
        return True
    return own_leaf(cls) is not None or registered_leaf(cls) is not None or shipped_leaf(cls) is not None


def _input_type(callee: Callee, visible: _Visible) -> type[Any]:
    function = callee.source
    outside, _, own = function.__qualname__.rpartition("<locals>.")
    name = f"{pascal_case(own)}Input"
    if not name.isidentifier():
        name = "FunctionInput"
    others = [p.name for p, _ in visible.hosted] + list(callee.hidden)
    source = ParameterSource(visible.declared, function.__doc__, others)
    reserved: frozenset[str] = frozenset()
    if visible.fields and visible.fields[-1].kind == "extra":
        reserved = frozenset([*others, *[parameter.name for parameter in visible.fields]])
    module: str = function.__module__ or "__main__"
    qualname = f"{outside}<locals>.{name}" if outside else name
    cls = make_input_type(name, qualname, module, source, visible.fields, reserved)
    if not outside and function.__globals__.get("__name__") == module:
        install(cls, function.__globals__)
    return cls


def _whole_doc(callee: Callee, visible: _Visible, owner: str, complaints: list[Complaint]) -> str | None:
    """Return the prose of a function whose one parameter is described by its own class."""
    parsed = parse_docstring(callee.source.__doc__)
    names = [p.name for p in callee.parameters] + list(callee.hidden)
    only = visible.fields[0].name
    for name in parsed.parameters:
        if name not in names:
            message = f"it describes {quote(name)}, which is no parameter"
            remedy = f"Rename or remove it; the fields of {quote(only)} are described in its class"
            complaints.append(Complaint(("__doc__",), "unknown_description", owner, message, remedy))
    return parsed.text or None


# --- input types ---------------------------------------------------------------------------------


def _make_input_tool(annotation: Any, options: dict[str, Any]) -> InputTool[..., Any]:
    cls = _class_of(annotation)
    name: Any = options.get("name")
    if name is None:
        name = snake_case(cls.__name__) if isinstance(cls, type) else ""
    owner = (clip(escape(name), 100) if isinstance(name, str) else "") or name_of(annotation)
    _check_option_names(owner, options, "tool_input")
    wrong = check_facts({**options, "name": name})
    output = options.get("output", MISSING)
    options = {key: value for key, value in options.items() if key not in wrong}
    complaints = list(wrong.values())
    codec = _register(annotation, owner, options, complaints)
    if codec is None:
        raise SchemaError(owner, complaints)
    facts = _facts(name, options, _doc_of(codec), codec)
    told = NO_OUTPUT if output is MISSING else Output(output, None, options.get("namespace"))
    made: InputTool[..., Any] = InputTool._make(  # noqa: SLF001  # its maker
        facts, codec, _codec_options(options), told, annotation, None
    )
    return made


# --- both ----------------------------------------------------------------------------------------

_OPTIONS = frozenset(
    (
        *("name", "description", "summary", "skip", "enabled", "timeout"),
        *("repair", "unknown_fields", "examples", "tags", "namespace", "output"),
    )
)


def _check_option_names(owner: str, options: Mapping[str, Any], door: str) -> None:
    known = _OPTIONS - ({"output"} if door == "tool" else {"skip"})
    for option in options:
        if option not in known:
            near = nearest(option, sorted(known))
            hint = f"; did you mean {near}?" if near else ""
            message = f"{door}() got an unexpected option {option!r} for {owner}{hint}"
            raise TypeError(message)


def _codec_options(options: Mapping[str, Any]) -> dict[str, Any]:
    # What is not given is left to the codec.
    names = ("unknown_fields", "repair", "namespace")
    return {name: options[name] for name in names if options.get(name)}


def _register(
    annotation: Any, name: str, options: Mapping[str, Any], complaints: list[Complaint]
) -> Codec[Any] | None:
    """Register an input type; with any complaint, give none."""
    try:
        codec: Codec[Any] = Codec(annotation, name=name, **_codec_options(options))
    except SchemaError as error:
        own = annotation.__name__ if isinstance(annotation, type) else None
        complaints += [_told_of(complaint, own, name) for complaint in error.complaints]
        return None
    complaints += _check_root(codec, name)
    if not complaints:
        complaints += _check_examples(codec, options.get("examples", ()), name)
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
    members = root.members if isinstance(root, UnionNode) else (root,)
    is_raw = _class_of(codec.type) is RawArguments
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
        from ..codec.json_text import read_json  # noqa: PLC0415  # few examples are text

        codec.decode_json(example)
        return read_json(example)[0]
    if isinstance(example, dict):
        codec.decode(example)
        return (
            codec.encode(example)
            if isinstance(codec.type, type) and issubclass(codec.type, dict)
            else example
        )
    return codec.encode(example)


def _doc_of(codec: Codec[Any]) -> str | None:
    root = codec.graph.resolve_root()
    return root.doc if isinstance(root, ObjectNode) else None


def _facts(name: str, options: Mapping[str, Any], doc: str | None, codec: Codec[Any]) -> Facts:
    examples = options.get("examples", ())
    return Facts(
        name,
        read_texts(name, options.get("description"), options.get("summary"), doc),
        options.get("enabled"),
        options.get("timeout"),
        tuple(options.get("tags", ())),
        tuple([_example(codec, example) for example in examples]),
    )
