"""How does a function become a tool? Everything that is wrong with it is reported at once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, Unpack, overload

from ..errors import SchemaError
from ..findings import Finding, UnfitError, about_type
from ..introspect.classes import ParameterSource
from ..introspect.docstrings import parse_docstring
from ..json_values import without_surrogates
from ..message_text import one_line, quote
from .binding import CallPlan, install, make_input_type
from .injection import framework_fields
from .metadata import pascal_case, snake_case
from .options import (
    check_option_names,
    codec_options,
    doc_of,
    make_metadata,
    register_input,
    valid_options,
)
from .output import NO_OUTPUT, OutputType
from .parameters import description_in, evaluate_signature, read_parameters
from .raw_arguments import schema_of_raw
from .signature import (
    caller_module,
    gives_context_manager,
    is_generator_function,
    name_of_callee,
    read_callee,
)
from .tool import Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    from ..codec.codec import Codec
    from .options import ToolOptions
    from .parameters import Parameters
    from .signature import Callee


P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
S = TypeVar("S")


if TYPE_CHECKING:

    class _UnboundTool(Tool[P, R_co]):
        """A tool of a `classmethod` or `staticmethod`: neither takes the instance."""

        def __get__(  # type: ignore[override]  # mypy reads the cases of the base that don't apply as Never
            self, instance: object, owner: type[Any] | None = None, /
        ) -> Tool[P, R_co]: ...


class _Decorator(Protocol):
    """The decorator that `tool` returns with options."""

    @overload
    def __call__(self, function: classmethod[Any, P, R], /) -> _UnboundTool[P, R]: ...
    @overload
    def __call__(self, function: staticmethod[P, R], /) -> _UnboundTool[P, R]: ...
    @overload
    def __call__(self, function: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool(function: classmethod[Any, P, R], /) -> _UnboundTool[P, R]: ...
@overload
def tool(function: staticmethod[P, R], /) -> _UnboundTool[P, R]: ...
@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(description: str | None = None, /, **options: Unpack[ToolOptions]) -> _Decorator: ...
@overload
def tool(*, description: str | None, **options: Unpack[ToolOptions]) -> _Decorator: ...
def tool(function: Any = None, /, **options: Any) -> Any:  # noqa: D417  # the options are its arguments
    """Make a tool from a function, which can still be called as before.

    Args:
        function: a function with annotated parameters; or the description, when this is called with options.
        name: the name that the model calls; by default the name of the function.
        description: what it does; the docstring unless given. Its first sentence is the summary.
        summary: replaces the first sentence, which the model gets with every request.
        skip: names of the parameters that your program injects; the model does not see them.
        enabled: whether the model may call it, or a function that decides; the registry decides unless given.
        timeout: seconds that a call may take; the executor decides unless given.
        max_content: characters that the text of a result may have, at least 200; `math.inf` for no limit.
            The executor decides unless given.
        flatten: whether the fields of a dataclass that is the only parameter are the tool's own
            arguments; True unless given.
        examples: arguments of calls, as dicts, JSON text or inputs.
        tags: labels by which your program can choose tools.
        title: name for people.
        read_only, destructive, idempotent, open_world, confirm, meta: what the tool says about
            itself to the program that offers it; see `ToolAnnotations`.
        param_descriptions, unknown_fields, repair, leaves, namespace, max_depth, attribute_docs,
            json_loads: as for `Codec`; the leaves apply to the result too.

    Returns:
        A `Tool`; with options, a decorator that makes one.

    Raises:
        SchemaError: with everything that is wrong with the function and the options.
        TypeError: an option doesn't exist.
    """
    if function is None or isinstance(function, str):
        by_position = function is not None
        if by_position:
            if "description" in options:
                message = "tool() got the description twice: first, and as description="
                raise TypeError(message)
            options["description"] = function
        check_option_names(None, options, "tool")  # now: the function may never come

        def decorate(function: Any, /) -> Any:
            frame = sys._getframe(1)  # names that text may use
            return make_tool(function, options, frame, by_position=by_position)

        return decorate
    return make_tool(function, options, sys._getframe(1))  # names that text may use


def output_tool(codec: Codec[Any], name: str, description: str) -> Tool[..., Any]:
    """Make a tool whose arguments are an answer of the model; it is never run.

    Args:
        codec: codec of the answer, which is an object.
        name: the name that the model calls.
        description: tells the model when to call it; the documentation of the type follows it.
    """
    text = "\n\n".join(filter(None, (description, doc_of(codec))))
    metadata = make_metadata(name, {"description": text}, None, codec)
    return Tool.from_parts(metadata, codec, {}, NO_OUTPUT, codec.type, None, __name__)


# --- how they are made ---------------------------------------------------------------------------


def make_tool(
    function: Any,
    options: dict[str, Any],
    frame: FrameType,
    *,
    by_position: bool = False,
    schema: Mapping[str, Any] | None = None,
    output: OutputType | None = None,
) -> Tool[..., Any]:
    """Make a tool from a function.

    Args:
        function: as `tool` takes it.
        options: as `tool` takes them.
        frame: the frame of the caller, to which the tool belongs; text in annotations may use its local
            names.
        by_position: whether the description was given without its name.
        schema: a JSON Schema of its arguments, to use instead of its parameters.
        output: writes its results, instead of the annotated type.

    Raises:
        SchemaError: with everything that is wrong with the function and the options.
    """
    name: Any = options.get("name")
    if name is None:
        name = name_of_callee(function) or snake_case(type(function).__name__)
    owner = one_line(name, 100) if isinstance(name, str) else "tool"
    try:
        options, wrong = valid_options("tool", owner, name, options, by_position=by_position)
        complaints = list(wrong.values())
        callee = _callee_or_raise(function, owner, complaints)
        complaints += _complain_result(callee, owner)
        signature = evaluate_signature(callee, dict(options.get("namespace") or {}), frame)
        parameters = read_parameters(callee, signature, options, owner)
        if schema is None:
            schema = schema_of_raw(parameters.input_annotation, options.get("leaves", ()))
        complaints += [each for each in parameters.complaints if schema is None or each.code != "unannotated"]
        if output is None:
            output = OutputType(callee.returns, signature.returns, signature.scope, options.get("leaves", ()))
            complaints += output.complaints(owner, "return")
        codec, doc = (
            _typed_input(callee, parameters, owner, options, complaints)
            if schema is None
            else _described_input(callee, parameters, owner, options, schema, complaints)
        )
        takes_all = schema is not None or parameters.input_annotation is not None
        metadata = make_metadata(name, options, doc_of(codec) if doc is None else doc, codec)
        plan = CallPlan(callee, parameters.injected, parameters.visible[0].name if takes_all else None)
        return Tool.from_parts(
            metadata, codec, codec_options(options), output, callee.function, plan, caller_module(frame)
        )
    except Exception as error:  # noqa: BLE001  # a class may do anything when it is read
        from ..introspect.registration_errors import raise_for  # only what is wrong pays for it

        raise_for(error, owner, "function")


def _typed_input(
    callee: Callee,
    parameters: Parameters,
    owner: str,
    options: Mapping[str, Any],
    complaints: list[Finding],
) -> tuple[Codec[Any], str | None]:
    """Register the input of a function by its annotations; return it with the documentation of the tool.

    Raises:
        SchemaError: with all complaints, old and new.
    """
    if parameters.input_annotation is None:
        annotation, doc = _input_type(callee, parameters), None
    else:
        annotation, doc = parameters.input_annotation, _input_doc(callee, parameters, owner, complaints)
    before = len(complaints)
    codec = register_input(annotation, owner, options, complaints)
    accepted = (
        () if codec is None else framework_fields(codec.graph, is_made=parameters.input_annotation is None)
    )
    if codec is None or accepted:
        from .unmarked_parameters import with_unmarked  # only a wrong function pays for it

        complaints[before:] = with_unmarked(complaints[before:], parameters, owner, accepted)
        raise SchemaError(owner, complaints, "function")
    return codec, doc


def _described_input(
    callee: Callee,
    parameters: Parameters,
    owner: str,
    options: Mapping[str, Any],
    schema: Mapping[str, Any],
    complaints: list[Finding],
) -> tuple[Codec[Any], str | None]:
    """Register a JSON Schema as the input of a function; return it with the documentation of the tool.

    Raises:
        SchemaError: with all complaints, old and new.
    """
    from .document_input import complain_parameters, register_document

    found = complain_parameters(parameters, owner)
    complaints += found
    doc = None if found else _input_doc(callee, parameters, owner, complaints)
    codec = register_document(schema, parameters, owner, options, complaints)
    if codec is None:
        raise SchemaError(owner, complaints, "function")
    return codec, doc


def _complain_result(callee: Callee, owner: str) -> list[Finding]:
    """Complain about a function whose result can't be written for a model."""
    if is_generator_function(callee.function):
        message = "it is a generator, whose result can't be written as JSON"
        return [about_type((), "unsupported", owner, message, "Return a list")]
    if gives_context_manager(callee):
        message = "it returns a context manager, which can't be written as JSON"
        remedy = "Write a function that uses it and returns a value"
        return [about_type((), "unsupported", owner, message, remedy)]
    return []


def _callee_or_raise(function: Any, owner: str, complaints: list[Finding]) -> Callee:
    try:
        return read_callee(function)
    except UnfitError as unfit:
        found = about_type((), "unsupported", owner, unfit.message, unfit.remedy)
        raise SchemaError(owner, [*complaints, found], "function") from None


def _input_type(callee: Callee, parameters: Parameters) -> type[Any]:
    function = callee.source
    outside, _, own = function.__qualname__.rpartition("<locals>.")
    name = f"{pascal_case(own)}Input"
    if not name.isidentifier():
        name = "FunctionInput"
    others = [p.name for p, _, _ in parameters.injected] + list(callee.hidden)
    source = ParameterSource(parameters.declared, _doc_of(function), others)
    reserved: frozenset[str] = frozenset()
    if parameters.visible and parameters.visible[-1].kind == "extra":
        # `**kwargs` may have the name of a positional-only parameter.
        beside = [*[p for p, _, _ in parameters.injected], *parameters.visible]
        named = [p.name for p in beside if p.kind != "positional_only"]
        reserved = frozenset([*callee.hidden, *named])
    module: str = function.__module__ or "__main__"
    qualname = f"{outside}<locals>.{name}" if outside else name
    cls = make_input_type(name, qualname, module, source, parameters.visible, reserved, function.__qualname__)
    if not outside and function.__globals__.get("__name__") == module:
        install(cls, function.__globals__)
    return cls


def _doc_of(function: Any) -> str | None:
    """Return a docstring without lone surrogates, which no encoding can write and no class can have."""
    doc: str | None = function.__doc__
    return doc and without_surrogates(doc)


def _input_doc(callee: Callee, parameters: Parameters, owner: str, complaints: list[Finding]) -> str | None:
    """Return the documentation of a function with a single visible parameter for the whole input.

    The schema has no place for a description of that parameter, so it follows the prose.
    """
    parsed = parse_docstring(_doc_of(callee.source))
    names = [p.name for p in callee.parameters] + list(callee.hidden)
    only = parameters.visible[0].name
    for name in parsed.parameters:
        if name not in names:
            message = f"it describes {quote(name)}, which isn't a parameter"
            remedy = f"Rename or remove it; the fields of {quote(only)} are described in its class"
            complaints.append(about_type(("__doc__",), "unknown_description", owner, message, remedy))
    about = description_in(parameters.declared[0].hint) or parsed.parameters.get(only)
    return "\n\n".join([text for text in (parsed.text, about) if text]) or None
