"""The tool: a function, or an input type, that a model can call."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, TypeVar, overload

from ..errors import Complaint, DecodeError, SchemaError, ToolError
from ..introspect.docstrings import split_summary
from ..introspect.nodes import ObjectNode
from ..json_values import copy_json
from ..wording import clip, escape, quote, received
from .awaitables import close_awaitable, is_awaitable
from .binding import call_arguments, hosted_values, is_union
from .documentation import error_hint, has_more, unknown_keys
from .metadata import pascal_case, snake_case
from .options import check_option_names, check_options, codec_options
from .raw_arguments import RawArguments
from .registration import changed_metadata, register
from .signature import caller_module, is_coroutine_function

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
    from typing import Concatenate, Unpack

    from ..codec.codec import Codec
    from ..codec.report import DecodeReport
    from ..errors import Problem
    from .metadata import Enabled, Metadata
    from .options import ToolChanges
    from .output_type import Output
    from .signature import Callee, Parameter

    Context = Mapping[Any, Any]

__all__ = ["Body", "Tool", "not_a_tool", "unbound"]

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R", covariant=True)  # noqa: PLC0105  # as short as `P`
T = TypeVar("T")
S = TypeVar("S")
C = TypeVar("C", bound="type[Any]")


class Body:
    """How a tool's function is called.

    Attributes:
        callee: the function and its parameters.
        hosted: the parameters that the host gives, each with its evaluated annotation or None.
        whole: the parameter that takes the input itself, or None where it has an attribute for each.
    """

    __slots__ = ("callee", "hosted", "whole")

    def __init__(self, callee: Callee, hosted: Sequence[tuple[Parameter, Any]], whole: str | None) -> None:
        self.callee = callee
        self.hosted = hosted
        self.whole = whole


class Tool(Generic[P, R]):
    """What a model can call; made by `tool` or `tool_input`.

    A tool is called exactly as the function that it was made of, and binds as a method just like it.
    It never changes.
    """

    _metadata: Metadata
    _codec: Codec[Any]
    _output: Output
    _body: Body | None
    _function: Any
    _options: Mapping[str, Any]
    _home: str

    def __init__(self) -> None:
        message = "a Tool is made by @tool or @tool_input"
        raise TypeError(message)

    @classmethod
    def made_of(
        cls,
        metadata: Metadata,
        codec: Codec[Any],
        options: Mapping[str, Any],
        output: Output,
        function: Any,
        body: Body | None,
        home: str,
    ) -> Any:
        """Make a tool of what `tool` or `tool_input` found out, for the module that called it."""
        content: dict[str, Any] = {
            "_metadata": metadata,
            "_codec": codec,
            "_options": options,
            "_output": output,
            "_function": function,
            "_body": body,
            "_home": home,
        }
        _take_over(content, function)
        return cls._of(content)

    @classmethod
    def _of(cls, content: dict[str, Any]) -> Any:
        made = object.__new__(cls)
        object.__setattr__(made, "__dict__", content)
        return made

    def _copy(self, **content: Any) -> Any:
        return self._of({**self.__dict__, **content})

    # --- as the function that it was --------------------------------------------------------------

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, or build the input where there is none, exactly as it is."""
        result: R = self._function(*args, **kwargs)
        return result

    # mypy shows a `classmethod` with its first parameter, and a `staticmethod` as any function; in a
    # `Callable` it looks at the first parameter, in a `Tool` it does not.
    @overload
    def __get__(self: Callable[Concatenate[C, Q], R], instance: None, owner: C, /) -> Tool[Q, R]: ...
    @overload
    def __get__(self, instance: None, owner: type[Any], /) -> Tool[P, R]: ...
    @overload
    def __get__(
        self: Callable[Concatenate[S, Q], R], instance: S, owner: type[Any] | None = None, /
    ) -> Tool[Q, R]: ...
    @overload
    def __get__(self: Callable[Concatenate[C, Q], R], instance: object, owner: C, /) -> Tool[Q, R]: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None, /) -> Tool[P, R]: ...
    def __get__(self, instance: Any, owner: Any = None, /) -> Any:
        """Bind the tool as a function is bound; schema and name stay the same."""
        body = self._body
        if body is None or body.callee.binds == "nothing":
            return self
        if body.callee.binds == "class":
            cls: Any = instance.__class__
            instance = cls if owner is None else owner
        bind = getattr(self._function.__class__, "__get__", None)
        if instance is None or bind is None or body.callee.is_bound:
            return self
        function = bind(self._function, instance)
        receiver, first = body.callee.receiver, body.callee.parameters[:1]
        hosted = [entry for entry in body.hosted if entry[0] is not receiver]
        # `*args` takes the instance too, and is not used up by it.
        taken = 1 if first and first[0].kind in {"positional_only", "positional"} else 0
        callee = body.callee.replace(parameters=body.callee.parameters[taken:], is_bound=True)
        return self._copy(_function=function, _body=Body(callee, hosted, body.whole), __wrapped__=function)

    def __set_name__(self, owner: type[Any], name: str) -> None:
        """Refuse a method whose instance the model would have to give."""
        callee = None if self._body is None else self._body.callee
        if callee is None or callee.binds == "nothing" or callee.is_bound or callee.receiver is not None:
            return
        # A class may also hold tools that were made elsewhere.
        is_method = callee.source.__qualname__.rpartition(".")[0] == owner.__qualname__
        first = callee.parameters[0] if callee.parameters else None
        if first is None or not is_method or first.kind not in {"positional_only", "positional"}:
            return
        message = f"{quote(first.name)} takes the instance in a method, but the model is to give it"
        remedy = f"Take the annotation of {quote(first.name)} away, name it self, or use @staticmethod"
        complaint = Complaint((first.name,), "unsupported", clip(escape(self.name), 100), message, remedy)
        raise SchemaError(self.name, [complaint])

    # --- what the model sees ---------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name by which the model calls it."""
        return self._metadata.name

    @property
    def summary(self) -> str:
        """The first sentence of its documentation."""
        return self._metadata.documentation.summary

    @property
    def details(self) -> str | None:
        """Its documentation after the summary; None if there is no more."""
        return self._metadata.documentation.details

    @property
    def description(self) -> str:
        """Its whole documentation: summary and details."""
        return self._metadata.documentation.description

    @property
    def examples(self) -> tuple[Any, ...]:
        """Arguments of calls, as JSON values that the caller owns."""
        return tuple([copy_json(example) for example in self._metadata.examples])

    @property
    def tags(self) -> tuple[str, ...]:
        """For the host to choose by."""
        return self._metadata.tags

    @property
    def timeout(self) -> float | None:
        """Seconds that a call may take; None leaves it to the executor."""
        return self._metadata.timeout

    @property
    def enabled(self) -> Enabled:
        """Whether the model may call it, or a function that says so; None leaves it to the registry."""
        return self._metadata.enabled

    @property
    def described_by(self) -> str | None:
        """Name of the tool that gives the long documentation on demand, or None."""
        return self._metadata.described_by

    @property
    def describes_tools(self) -> bool:
        """Whether it gives the documentation of other tools, as one of `describe_tools` does."""
        return self._metadata.describes_tools

    @property
    def is_unbound(self) -> bool:
        """Whether it is a method without its instance, as `Service.find` is."""
        callee = None if self._body is None else self._body.callee
        return callee is not None and callee.binds == "instance" and callee.receiver is not None

    @property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function."""
        return self._body is not None and is_coroutine_function(self._function)

    @property
    def has_function(self) -> bool:
        """Whether there is a function to call; if not, the host does what the input says."""
        return self._body is not None

    @property
    def codec(self) -> Codec[Any]:
        """The registered input type."""
        return self._codec

    @property
    def home(self) -> str:
        """Name of the module in which it was made, wherever its function was written."""
        return self._home

    @property
    def input_type(self) -> Any:
        """The dataclass of its arguments, or the annotation given for them."""
        return self._codec.type

    @property
    def output_type(self) -> Any:
        """The declared type of its result; None where none is declared or its name is not known."""
        return self._output.type

    def input_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its arguments, with `"type": "object"`, as a fresh dict."""
        document = self._codec.json_schema()
        # Every provider wants both at the root, also where the input is a union.
        return {"type": "object", "properties": {}, **document}

    def output_schema(self) -> dict[str, Any] | None:
        """Return the JSON Schema of its result; None where no type is declared, or it has no schema."""
        codec = self._output.codec()
        return None if codec is None else codec.json_schema()

    def definition(self) -> dict[str, Any]:
        """Return name, description and input schema, in the form that providers start from.

        Returns:
            A fresh dict. If another tool gives the details on demand (`described_by`), its
            description and those of the parameters are their summaries.
        """
        description, schema = self.description, self.input_schema()
        if self.described_by is not None:
            description = self.summary
            for parameter in schema.get("properties", {}).values():
                if "description" in parameter:
                    parameter["description"] = split_summary(parameter["description"])[0]
        return {"name": self.name, "description": description, "input_schema": schema}

    # --- calls -----------------------------------------------------------------------------------

    def decode(self, arguments: object) -> Any:
        """Turn a model's arguments into an input.

        Args:
            arguments: a dict of JSON values, or JSON text.

        Returns:
            An instance of `input_type`.

        Raises:
            DecodeError: with every problem.
        """
        codec = self._codec
        return self._completed(self._decoded(arguments, codec.decode, codec.decode_json))

    def decode_report(self, arguments: object) -> DecodeReport[Any]:
        """Turn a model's arguments into an input, and return what was done on the way.

        Args:
            arguments: a dict of JSON values, or JSON text.

        Returns:
            An instance of `input_type`, the repairs that were made and the keys that were ignored.

        Raises:
            DecodeError: with every problem.
        """
        codec = self._codec
        report: DecodeReport[Any] = self._decoded(arguments, codec.decode_report, codec.decode_json_report)
        if isinstance(report.instance, RawArguments):
            return report.replace(instance=self._completed(report.instance))
        return report

    def _decoded(
        self, arguments: object, decode: Callable[[Any], Any], decode_json: Callable[[Any], Any]
    ) -> Any:
        try:
            is_text = isinstance(arguments, (str, bytes, bytearray))
            return decode_json(arguments) if is_text else decode(arguments)
        except DecodeError as error:
            hint = error_hint(self._metadata, self._codec, unknown_keys(error))
            raise error.with_hint(hint) from None

    def _completed(self, decoded: Any) -> Any:
        """Return an input; raw arguments with what their own errors need."""
        if not isinstance(decoded, RawArguments):
            return decoded
        hint = error_hint(self._metadata, self._codec, [])
        return decoded.replace(tool=self.name, hint=hint, repair=bool(self._options.get("repair")))

    def call(self, given: Any, /, *, context: Context | None = None, **hosted: Any) -> R:
        """Call the function with an input.

        Args:
            given: of `input_type`.
            context: type, or name of a parameter, to value, for the parameters that the host gives.
            hosted: parameter name to value; wins over the context.

        Returns:
            What the function returns.

        Raises:
            MissingContextError: the host does not give what it must; the function does not run.
            ToolError: there is no function, or it is async.
        """
        if self.is_async:
            raise ToolError(self.name, "it is async: use await acall or await arun")
        result: R = self._call(given, context, hosted)
        return result

    @overload
    async def acall(
        self: Tool[P, Coroutine[Any, Any, T]], given: Any, /, *, context: Context | None = None, **hosted: Any
    ) -> T: ...
    @overload
    async def acall(
        self: Tool[P, Awaitable[T]], given: Any, /, *, context: Context | None = None, **hosted: Any
    ) -> T: ...
    @overload
    async def acall(self, given: Any, /, *, context: Context | None = None, **hosted: Any) -> R: ...
    async def acall(self, given: Any, /, *, context: Context | None = None, **hosted: Any) -> Any:
        """Call the function with an input, and await what it returns if that can be awaited.

        A function that is not async runs here and now, in this thread.

        Args:
            given: of `input_type`.
            context: type, or name of a parameter, to value, for the parameters that the host gives.
            hosted: parameter name to value; wins over the context.

        Returns:
            What the function returns.

        Raises:
            MissingContextError: the host does not give what it must; the function does not run.
            ToolError: there is no function.
        """
        result: Any = self._call(given, context, hosted)
        return await result if is_awaitable(result) else result

    def run(self, arguments: object, /, *, context: Context | None = None, **hosted: Any) -> str:
        """Decode arguments, call the function, and write its result for the model.

        Args:
            arguments: a dict of JSON values, or JSON text.
            context: type, or name of a parameter, to value, for the parameters that the host gives.
            hosted: parameter name to value; wins over the context.

        Returns:
            The result: a string as it is, anything else as compact JSON.

        Raises:
            DecodeError: the arguments do not fit.
            EncodeError: the result does not.
            MissingContextError: the host does not give what it must; the function does not run.
            ToolError: there is no function, or it is async.
        """
        result = self.call(self.decode(arguments), context=context, **hosted)
        if is_awaitable(result):
            close_awaitable(result)
            raise ToolError(self.name, "it gives something to await: use await arun")
        return self.encode_output(result)

    async def arun(self, arguments: object, /, *, context: Context | None = None, **hosted: Any) -> str:
        """Do what `run` does, and await what the function returns if that can be awaited."""
        result: Any = await self.acall(self.decode(arguments), context=context, **hosted)
        return self.encode_output(result)

    def encode_output(self, result: object) -> str:
        """Write a result as the text that goes to the model.

        Args:
            result: of `output_type`, where one is declared.

        Returns:
            A string as it is, anything else as compact JSON.

        Raises:
            EncodeError: it does not fit the declared type, or has no JSON form.
        """
        return self._output.encode(result, self.name)

    def encode_output_leniently(self, result: object) -> tuple[str, tuple[Problem, ...]]:
        """Write a result as the text that goes to the model, even where it does not fit its type.

        Args:
            result: anything.

        Returns:
            The text, and a note for each part that does not fit `output_type`.

        Raises:
            EncodeError: some part of it has no JSON form.
        """
        return self._output.encode_leniently(result, self.name)

    def with_(self, **changes: Unpack[ToolChanges]) -> Tool[P, R]:
        """Return a copy with other options; what isn't given, or is None, stays as it is.

        `param_descriptions` add to those that are there.

        Raises:
            SchemaError: with everything that is wrong.
        """
        given: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
        check_option_names(self.name, given, "with_")
        metadata = self._metadata
        name: str = given.setdefault("name", metadata.name)
        complaints = list(check_options(given).values())
        if complaints:
            raise SchemaError(metadata.name, complaints)
        content: dict[str, Any] = {}
        changed = codec_options(given)
        if changed or name != metadata.name or "examples" in given:
            if "param_descriptions" in changed:
                before: Mapping[str, str] = self._options.get("param_descriptions") or {}
                changed["param_descriptions"] = {**before, **changed["param_descriptions"]}
            options = {**self._options, **changed}
            codec = register(self._codec.type, name, {**given, **options}, complaints)
            if codec is None:
                raise SchemaError(name, complaints)
            content = {"_codec": codec, "_options": options}
        if "leaves" in changed:
            content["_output"] = self._output.with_leaves(changed["leaves"])
        content["_metadata"] = changed_metadata(metadata, given, content.get("_codec", self._codec))
        # A copy belongs to the module that makes it.
        home = caller_module(sys._getframe(1))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # whose copy it is
        made: Tool[P, R] = self._copy(**content, _home=home, __changed__=True)
        return made

    def as_describer(self) -> Tool[P, R]:
        """Return a copy that a registry takes for its `describe_tools`: it documents the other tools."""
        made: Tool[P, R] = self._copy(_metadata=self._metadata.replace(describes_tools=True))
        return made

    def _call(self, given: Any, context: Context | None, hosted: Mapping[str, Any]) -> Any:
        body = self._body
        if body is None:
            raise ToolError(self.name, "it has no function: the host does what the input says")
        self._check_input(given)
        host = hosted_values(self.name, body.hosted, hosted, context) if body.hosted or hosted else {}
        positional, named, extra = call_arguments(body.callee.parameters, host, body.whole, given)
        return self._function(*positional, **named, **extra)

    def _check_input(self, given: Any) -> None:
        node = self._codec.graph.resolve_root()
        expected: Any = RawArguments
        if isinstance(node, ObjectNode):
            expected = dict if node.form == "typed_dict" else node.type
        if not isinstance(given, expected):
            wanted = getattr(self.input_type, "__name__", "input")
            raise ToolError(self.name, f"call takes a {wanted}, not {received(given)}; decode makes one")

    @property
    def has_more(self) -> bool:
        """Whether there is more documentation than the summary and those of its parameters."""
        return has_more(self._metadata, self._codec)

    # --- for those that ask whether it is a coroutine function ----------------------------------

    @property
    def _is_coroutine_marker(self) -> Any:
        # Python 3.12: `inspect.iscoroutinefunction` compares it with this object.
        return self._marker_of("inspect", "_is_coroutine_mark")

    @property
    def _is_coroutine(self) -> Any:
        # `asyncio.iscoroutinefunction` does so before Python 3.14.
        return self._marker_of("asyncio.coroutines", "_is_coroutine")

    def _marker_of(self, module: str, name: str) -> Any:
        asked = sys.modules.get(module)  # it is loaded, if that is what asks
        return getattr(asked, name, None) if self.is_async else None

    # --- as a value ------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tool):
            return NotImplemented
        return self._metadata is other._metadata and self._function == other._function

    def __hash__(self) -> int:
        return hash((id(self._metadata), self._function))

    def __repr__(self) -> str:
        return f"<{pascal_case(self.name)}Tool {self.name!r}>"

    def __setattr__(self, name: str, value: object) -> None:
        if name == "__isabstractmethod__":  # `abc.abstractmethod` leaves its mark on what it decorates
            self.__dict__[name] = value
            return
        message = f"a Tool is immutable: {name} can't be set; with_ returns a changed copy"
        raise AttributeError(message)

    def __delattr__(self, name: str) -> NoReturn:
        message = f"a Tool is immutable: {name} can't be deleted"
        raise AttributeError(message)

    def __copy__(self) -> Tool[P, R]:
        return self

    def __deepcopy__(self, memo: object) -> Tool[P, R]:
        return self

    def __reduce__(self) -> Any:
        # As a function is pickled: by its place in its module.
        return getattr(self, "__qualname__", self.name)


def unbound(method: Tool[..., Any]) -> str:
    """Say how to register a method."""
    place: str = getattr(method, "__qualname__", method.name)
    owner, _, name = place.rpartition(".")
    owner = owner.rpartition(".")[2]
    instance = snake_case(owner) or "instance"
    message = f"{owner}.{name} is a method without its instance; register {instance}.{name}"
    return f"{message}, where {instance} is an instance of {owner}"


def not_a_tool(item: object) -> str:
    """Say what is wrong with something that should be a tool, and how to fix it."""
    kind = clip(escape(type(item).__name__), 100)
    what = f"an {kind}" if kind[:1].lower() in set("aeiou") else f"a {kind}"
    inner: Any = item
    for _ in range(_WRAPPED_AT_MOST):
        inner = getattr(inner, "__wrapped__", None)
        if inner is None or isinstance(inner, Tool):
            break
    if isinstance(inner, Tool):
        name = clip(escape(inner.name), 100)
        return f"{what} around the tool {name} isn't a Tool; put @tool outermost, above other decorators"
    return f"{what} isn't a Tool; decorate it with @tool"


_WRAPPED_AT_MOST = 100

_TAKEN_OVER = (
    *("__module__", "__name__", "__qualname__", "__doc__"),
    *(("__type_params__",) if sys.version_info >= (3, 12) else ()),
)


def _take_over(content: dict[str, Any], function: Any) -> None:
    """Let a tool look like its function to whoever asks for a name, a docstring or a signature."""
    is_named = hasattr(function, "__qualname__") and not is_union(function)
    if not is_named:
        # Of a partial or a union, module and docstring are those of its class.
        content["__module__"], content["__doc__"] = (
            content["_home"],
            content["_metadata"].documentation.description,
        )
    for attribute in _TAKEN_OVER if is_named else ():
        value: object = getattr(function, attribute, None)
        if value is not None:
            content[attribute] = value
    content["__wrapped__"] = function
    if getattr(function, "__isabstractmethod__", False):
        content["__isabstractmethod__"] = True
    # From Python 3.14 annotations are evaluated when they are asked for.
    later = sys.version_info >= (3, 14)
    annotations = "__annotate__" if later else "__annotations__"
    value = getattr(function, annotations, None)
    if value is not None:
        content[annotations] = value
