"""What is a tool? A function, or an input type, that a model can call."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypedDict, TypeVar, cast, overload

from ..errors import DecodeError, SchemaError, ToolError
from ..introspect.docstrings import split_summary
from ..introspect.nodes import ObjectNode, UnionNode
from ..json_values import copy_json
from ..message_text import received
from .binding import bound, call_arguments, check_first_parameter, class_of_inputs, is_unbound, keeps_all
from .injection import is_union
from .metadata import pascal_case
from .options import changed_input, changed_metadata, check_option_names, check_options, style_in
from .output import structured_output_of
from .raw_arguments import RawArguments
from .signature import caller_module, close_awaitable, is_awaitable, is_coroutine_function

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Mapping
    from inspect import Signature
    from types import ModuleType
    from typing import Concatenate, NoReturn, Self, Unpack

    import typing_extensions  # a type checker has it

    from ..codec.codec import Codec, ResultCodec
    from ..findings import DecodeReport, Finding
    from ..introspect.nodes import Graph
    from ..json_copies import Original
    from ..schema.style import SchemaStyle, StyleOptions
    from .binding import CallPlan
    from .metadata import Enabled, Metadata, ToolAnnotations
    from .options import ToolChanges
    from .output import OutputType, StructuredOutput, WrittenOutput

    Context = Mapping[Any, Any]
    P = typing_extensions.ParamSpec("P", default=...)
    R = typing_extensions.TypeVar("R", covariant=True, default=Any)  # noqa: PLC0105  # as short as `P`

_PACKAGE = f"{__name__.rpartition('.tools.')[0]}."
_MOST_FORMS = 16
"""The most forms that a tool stores; a program needs one or two."""

_TAKEN = "class of its inputs"
_WRITING = "how its inputs are written"
_EXACT = "the tool without repair"
"""The key of the stored form without `repair`."""

if not TYPE_CHECKING:
    P = ParamSpec("P")
    R = TypeVar("R", covariant=True)  # noqa: PLC0105  # as short as `P`
Q = ParamSpec("Q")
T = TypeVar("T")
S = TypeVar("S")
Form = TypeVar("Form")
C = TypeVar("C", bound="type[Any]")


class ToolDefinition(TypedDict):
    """The definition of a tool; providers convert it into their own forms."""

    name: str
    description: str
    input_schema: dict[str, Any]


class Tool(Generic[P, R]):
    """A function, or an input type, that a model can call; made by `tool` or `tool_input`.

    In Python, you call it like its function, and it binds like a method. It is immutable.
    """

    _metadata: Metadata
    _codec: Codec[Any]
    _options: Mapping[str, Any]
    _output: OutputType
    _plan: CallPlan | None
    _function: Any
    _home: str
    _forms: dict[Any, Any]
    _is_async: bool

    def __init__(self) -> None:
        message = "a Tool is made by @tool or @tool_input"
        raise TypeError(message)

    @classmethod
    def from_parts(
        cls,
        metadata: Metadata,
        codec: Codec[Any],
        options: Mapping[str, Any],
        output: OutputType,
        function: Any,
        plan: CallPlan | None,
        home: str,
    ) -> Self:
        """Make a tool from its parts; it belongs to the module that called `tool` or `tool_input`."""
        content: dict[str, Any] = {
            **_attributes_of(function, home, metadata.description),
            "_metadata": metadata,
            "_codec": codec,
            "_options": options,
            "_output": output,
            "_function": function,
            "_plan": plan,
            "_home": home,
            "_forms": {},
            "_is_async": plan is not None and is_coroutine_function(function),
        }
        return cls._with_content(content)

    @classmethod
    def _with_content(cls, content: dict[str, Any]) -> Self:
        made = object.__new__(cls)
        object.__setattr__(made, "__dict__", content)
        return made

    def _copy(self, **content: Any) -> Self:
        if "_metadata" in content:
            content["_forms"] = {}  # they describe the tool before the change
        return self._with_content({**self.__dict__, **content})

    # --- what it is ----------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name that the model calls."""
        return self._metadata.name

    @property
    def summary(self) -> str:
        """The first sentence of its documentation."""
        return self._metadata.summary

    @property
    def details(self) -> str | None:
        """Its documentation after the summary, or None."""
        return self._metadata.details

    @property
    def description(self) -> str:
        """Its whole documentation: summary and details."""
        return self._metadata.description

    @property
    def examples(self) -> tuple[Any, ...]:
        """Arguments of calls, as JSON values that the caller owns."""
        return tuple([copy_json(example) for example in self._metadata.examples])

    @property
    def tags(self) -> tuple[str, ...]:
        """Labels by which your program can choose tools."""
        return self._metadata.tags

    @property
    def timeout(self) -> float | None:
        """Seconds that a call may take; None leaves it to the executor."""
        return self._metadata.timeout

    @property
    def threads(self) -> bool | None:
        """Whether a function that isn't async runs in a thread; None leaves it to the executor."""
        return self._metadata.threads

    @property
    def max_content(self) -> float | None:
        """Characters that the text of a result may have; None leaves it to the executor."""
        return self._metadata.max_content

    @property
    def annotations(self) -> ToolAnnotations:
        """Statements for the program that offers it, such as `read_only`; the model doesn't see them."""
        return self._metadata.annotations

    @property
    def enabled(self) -> Enabled:
        """Whether the model may call it, or a function that decides this; None leaves it to the registry."""
        return self._metadata.enabled

    @property
    def described_by(self) -> str | None:
        """Name of the tool that gives the long documentation on demand, or None."""
        return self._metadata.described_by

    @property
    def describes_tools(self) -> bool:
        """Whether it returns the documentation of other tools, like a tool made by `describe_tools`."""
        return self._metadata.describes_tools

    @property
    def takes_progress(self) -> bool:
        """Whether the function has a parameter for a `Progress`."""
        plan = self._plan
        return plan is not None and bool(plan.injected) and plan.takes_progress

    @property
    def has_more(self) -> bool:
        """Whether it has more documentation than its own summary and the summaries of its parameters."""
        if self.details is not None or self._metadata.examples:
            return True
        root = self._codec.graph.resolve_root()
        fields = root.fields if isinstance(root, ObjectNode) else ()
        return any(field.examples or split_summary(field.description or "")[1] for field in fields)

    @property
    def is_unbound(self) -> bool:
        """Whether it is a method without its instance, as `Service.find` is."""
        return is_unbound(self._plan)

    @property
    def is_async(self) -> bool:
        """Whether the function is a coroutine function."""
        return self._is_async

    @property
    def has_function(self) -> bool:
        """Whether it has a function to call; if not, your program runs the call itself."""
        return self._plan is not None

    @property
    def codec(self) -> Codec[Any]:
        """The registered input type."""
        return self._codec

    @property
    def repairs(self) -> bool:
        """Whether arguments that don't fit are corrected if only one meaning is possible (`repair=True`)."""
        return bool(self._options.get("repair"))

    def exact(self) -> Tool[P, R]:
        """Return the tool without `repair`; it is made once."""
        if not self.repairs:
            return self
        made: Tool[P, R] | None = self.kept_form(_EXACT)
        return self.keep_form(_EXACT, self.with_(repair=False)) if made is None else made

    @property
    def home(self) -> str:
        """Name of the module in which it was made, even if its function was written elsewhere."""
        return self._home

    @property
    def input_type(self) -> Any:
        """The dataclass of its arguments, or the annotation given for them."""
        return self._codec.decoded_type

    @property
    def output_type(self) -> Any:
        """The declared type of its result; None if none is declared or its name isn't known."""
        return self._output.type

    @property
    def signature(self) -> Signature:
        """The signature of the function without injected parameters, with evaluated annotations.

        `inspect.signature(tool)` is the signature of the whole function. For a tool without a function,
        it is the signature of the input type.
        """
        from .visible_signature import visible_signature

        return visible_signature(self._plan, self._codec.type, self._output)

    @property
    def injected(self) -> tuple[str, ...]:
        """Names of the parameters that your program injects, in order."""
        plan = self._plan
        return () if plan is None else tuple([parameter.name for parameter, _, _ in plan.injected])

    def injected_type(self, name: str) -> Any:
        """Return the annotation of a parameter that your program injects, without `skip`.

        Args:
            name: the name of the parameter.

        Returns:
            For example `bool | None`; `Any` if there is no annotation, or a name in it isn't known.

        Raises:
            ToolError: the parameter isn't one of the injected ones.
        """
        return _injection().injected_type(self.name, self._plan, name)

    def input_schema(self, **options: Unpack[StyleOptions]) -> dict[str, Any]:
        """Return the JSON Schema of its arguments, with `"type": "object"`, as a fresh dict.

        Args:
            inline, boolean_schemas, empty_schemas: as `json_schema` takes them.
        """
        document = self._codec.json_schema(**options)
        if "type" in document and "properties" in document:
            return document  # in its own order
        # Every provider wants both at the root, even if the input is a union.
        return {"type": "object", "properties": {}, **document}

    def output_schema(self, **options: Unpack[StyleOptions]) -> dict[str, Any] | None:
        """Return the JSON Schema of its result; None if no type is declared, or it has no schema.

        Args:
            inline, boolean_schemas, empty_schemas: as `json_schema` takes them.
        """
        codec = self._output.codec()
        return None if codec is None else codec.json_schema(**options)

    def result_codec(self) -> ResultCodec[Any] | None:
        """Return the codec of its result; None if no type is declared, or it has no schema."""
        return self._output.codec()

    def structured_output(self) -> StructuredOutput | None:
        """Return the converter of its results into JSON objects, for protocols that accept only objects.

        Returns:
            None if no type is declared, it has no schema, or it is `str` or `Any`: then the text contains the
            same information. Otherwise `schema` is the JSON Schema of the object, and `of(result.json)` the
            object. A result that may be anything but an object is wrapped as `{"result": …}`.
        """
        return structured_output_of(self._output.codec())

    def definition(self, **options: Unpack[StyleOptions]) -> ToolDefinition:
        """Return name, description and input schema; providers convert them into their own forms.

        Args:
            inline, boolean_schemas, empty_schemas: as `json_schema` takes them.

        Returns:
            A fresh dict. If another tool gives the details on demand (`described_by`), its
            description and the descriptions of its parameters are cut to their summaries.
        """
        return self.definition_in(style_in(options))

    def definition_in(self, style: SchemaStyle | None) -> ToolDefinition:
        """Return the definition in a style; None means full JSON Schema."""
        key = None if style is None else (style.inline, style.boolean_schemas, style.empty_schemas)
        original: Original | None = self._forms.get(key)
        if original is None:
            from ..json_copies import Original  # a program that only runs calls doesn't pay for it

            original = self.keep_form(key, Original(self.new_definition(style)))
        copied: ToolDefinition = original.copy()
        return copied

    def kept_form(self, key: Hashable) -> Any:
        """Return the object that `keep_form` stored under a key, or None."""
        return self._forms.get(key)

    def keep_form(self, key: Hashable, form: Form) -> Form:
        """Store something that was made from this tool, such as its form for a provider.

        The tool never changes, so the form stays valid. If two threads make the same form, the last one is
        kept. Methods of several instances share their forms.

        Returns:
            The form.
        """
        if len(self._forms) >= _MOST_FORMS:
            self._forms.clear()
        self._forms[key] = form
        return form

    def new_definition(self, style: SchemaStyle | None) -> ToolDefinition:
        """Make a definition in a style, without storing it."""
        options: StyleOptions = {} if style is None else style.as_options()
        description, schema = self.description, self.input_schema(**options)
        if self.described_by is not None:
            description = self.summary
            for parameter in schema.get("properties", {}).values():
                if "description" in parameter:
                    parameter["description"] = split_summary(parameter["description"])[0]
        return {"name": self.name, "description": description, "input_schema": schema}

    # --- its arguments -------------------------------------------------------------------------------

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
        """Turn a model's arguments into an input, and report repairs and ignored keys.

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

    def check_as_sent(self, findings: Iterable[Finding], arguments: object) -> None:
        """Refuse arguments that came inside a wrapper, if the tool needs exact calls.

        Args:
            findings: the notes from decoding the arguments.
            arguments: the arguments as sent.

        Raises:
            DecodeError: with the arguments to send.
        """
        if any(found.code == "wrapper" for found in findings):
            self.exact().decode(arguments)  # without repair, it says what is wrong

    def decode_to_run(self, arguments: object) -> DecodeReport[Any]:
        """Turn arguments into an input, as `decode_report` does, for a call that runs at once.

        Raises:
            DecodeError: the arguments don't fit, or came in a wrapper and the tool is destructive or asks a
                person.
        """
        report = self.decode_report(arguments)
        if report.findings:
            self.check_to_run(report, arguments)
        return report

    def check_to_run(self, report: DecodeReport[Any], arguments: object) -> None:
        """Refuse arguments that `decode_to_run` would refuse, judging by their report.

        Raises:
            DecodeError: as for `decode_to_run`.
        """
        if self.annotations.needs_exact_calls:
            self.check_as_sent(report.findings, arguments)

    def encode_input(self, given: Any, /) -> dict[str, Any]:
        """Turn an input back into arguments, for hooks, approvals and logs.

        The result differs from the model's text: repairs are made, defaults are filled in, and ignored
        keys are left out. So are fields that are None because the model left them out.

        Args:
            given: an instance of `input_type`, such as a result of `decode`.

        Returns:
            A fresh dict of JSON values, which `decode` turns back into an equal input.

        Raises:
            EncodeError: with every value that doesn't fit its field. A dataclass with an `InitVar` without a
                default always fails, because the instance doesn't keep its value.
            ToolError: the input isn't one of this tool, or it depends on an `InitVar` that is left out.
        """
        how = self._forms.get(_WRITING)
        if how is None:
            how = self.keep_form(_WRITING, _how_written(self._codec.graph))
        is_union, is_whole = how
        if not is_union:  # for a union, the encoder says what is wrong
            self._check_input(given, "encode_input")
        arguments: dict[str, Any] = self._codec.encode(given)
        if is_whole:
            return arguments
        from ..sameness import is_same_state  # only an input with an `InitVar` needs it

        if not is_same_state(self.decode(arguments), given):
            message = (
                "its input has an InitVar, whose value the instance doesn't keep, so its arguments are lost"
            )
            raise ToolError(self.name, message)
        return arguments

    def _decoded(
        self, arguments: object, decode: Callable[[Any], Any], decode_json: Callable[[Any], Any]
    ) -> Any:
        try:
            is_text = isinstance(arguments, (str, bytes, bytearray))
            return decode_json(arguments) if is_text else decode(arguments)
        except DecodeError as error:
            raise error.with_hint(self._error_hint(error)) from None

    def _error_hint(self, error: DecodeError | None) -> str | None:
        describer = self.described_by if self.described_by is not None and self.has_more else None
        return _error_hint_of()(error, self.name, describer)

    def _completed(self, decoded: Any) -> Any:
        """Return an input; raw arguments get the data that their own errors need."""
        if not isinstance(decoded, RawArguments):
            return decoded
        return decoded.replace(tool=self.name, hint=self._error_hint(None), repair=self.repairs)

    def _check_input(self, given: Any, caller: str) -> None:
        taken = self._forms.get(_TAKEN)
        if taken is None:
            taken = self.keep_form(_TAKEN, class_of_inputs(self._codec))
        if not isinstance(given, taken):
            wanted = getattr(self.input_type, "__name__", "input")
            raise ToolError(
                self.name, f"{caller} takes an input ({wanted}), not {received(given)}; decode makes one"
            )

    # --- as its function --------------------------------------------------------------------------

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function with exactly these arguments; without a function, build the input."""
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
        """Bind the tool like a function; schema and name stay the same."""
        found = bound(self._plan, self._function, instance, owner)
        if found is None:
            return self
        function, plan = found
        is_async = is_coroutine_function(function)
        return self._copy(_function=function, _plan=plan, _is_async=is_async, __wrapped__=function)

    def __set_name__(self, owner: type[Any], name: str) -> None:
        """Refuse a method whose instance the model would have to give."""
        check_first_parameter(self.name, self._plan, owner)

    # --- calls -----------------------------------------------------------------------------------

    def call(self, given: Any, /, *, context: Context | None = None, **injected: Any) -> R:
        """Call the function with an input.

        Args:
            given: an instance of `input_type`.
            context: type, or name of a parameter, to value, for the injected parameters.
            injected: parameter name to value; wins over the context.

        Returns:
            The result of the function.

        Raises:
            MissingContextError: a value to inject is missing; the function does not run.
            ToolError: there is no function, or it is async.
        """
        if self._is_async:
            raise ToolError(self.name, "it is async: use await acall or await arun")
        result: R = self._call(given, context, injected)
        return result

    @overload
    async def acall(
        self: Tool[P, Coroutine[Any, Any, T]],
        given: Any,
        /,
        *,
        context: Context | None = None,
        **injected: Any,
    ) -> T: ...
    @overload
    async def acall(
        self: Tool[P, Awaitable[T]], given: Any, /, *, context: Context | None = None, **injected: Any
    ) -> T: ...
    @overload
    async def acall(self, given: Any, /, *, context: Context | None = None, **injected: Any) -> R: ...
    async def acall(self, given: Any, /, *, context: Context | None = None, **injected: Any) -> Any:
        """Call the function with an input, and await the result if it is awaitable.

        A function that isn't async runs in this thread.

        Args:
            given: an instance of `input_type`.
            context: type, or name of a parameter, to value, for the injected parameters.
            injected: parameter name to value; wins over the context.

        Returns:
            The result of the function.

        Raises:
            MissingContextError: a value to inject is missing; the function does not run.
            ToolError: there is no function.
        """
        result: Any = self._call(given, context, injected)
        return await result if issubclass(type(result), CoroutineType) or is_awaitable(result) else result

    def run(self, arguments: object, /, *, context: Context | None = None, **injected: Any) -> str:
        """Decode arguments, call the function, and write its result for the model.

        Args:
            arguments: a dict of JSON values, or JSON text.
            context: type, or name of a parameter, to value, for the injected parameters.
            injected: parameter name to value; wins over the context.

        Returns:
            The result: a string unchanged, anything else as compact JSON.

        Raises:
            DecodeError: the arguments don't fit.
            EncodeError: the result doesn't fit.
            MissingContextError: a value to inject is missing; the function does not run.
            ToolError: there is no function, or it is async.
        """
        repairs = "repair" in self._options  # without it, a report costs more than it says
        given = self.decode_to_run(arguments).instance if repairs else self.decode(arguments)
        result = self.call(given, context=context, **injected)
        if is_awaitable(result):
            close_awaitable(result)
            raise ToolError(self.name, "it returns something to await: use await arun")
        return self.encode_output(result)

    async def arun(self, arguments: object, /, *, context: Context | None = None, **injected: Any) -> str:
        """Run the tool as `run` does, and await the result if it is awaitable."""
        repairs = "repair" in self._options
        given = self.decode_to_run(arguments).instance if repairs else self.decode(arguments)
        result: Any = await self.acall(given, context=context, **injected)
        return self.encode_output(result)

    def encode_output(self, result: object) -> str:
        """Write a result as text for the model.

        Args:
            result: a value of `output_type`, where one is declared.

        Returns:
            A string unchanged, anything else as compact JSON.

        Raises:
            EncodeError: the result doesn't fit the declared type, or has no JSON form.
        """
        return self._output.write(result, self.name, is_lenient=False).text

    def write_output(self, result: object, *, is_lenient: bool = False) -> WrittenOutput:
        """Write a result in all forms: text for the model, JSON value and parts.

        Args:
            result: a value of `output_type`, where one is declared.
            is_lenient: whether to write a result that doesn't fit its type as well as possible.

        Raises:
            EncodeError: a part has no JSON form, or, without `is_lenient`, doesn't fit its type.
        """
        return self._output.write(result, self.name, is_lenient=is_lenient)

    def with_(self, **changes: Unpack[ToolChanges]) -> Tool[P, R]:
        """Return a copy with other options; options that are missing or None stay unchanged.

        `param_descriptions` are added to the existing ones.

        Raises:
            SchemaError: with all problems.
        """
        given: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
        check_option_names(self.name, given, "with_")
        metadata = self._metadata
        given.setdefault("name", metadata.name)
        complaints = list(check_options(given, before=metadata.annotations).values())
        if complaints:
            raise SchemaError(metadata.name, complaints, "tool")
        codec, options = changed_input(self._codec, self._options, given, metadata)
        output = self._output
        if "leaves" in given:
            output = output.with_leaves(given["leaves"])
        # A copy belongs to the module that makes it, unless that module is part of this package.
        home = caller_module(sys._getframe(1))  # whose copy it is
        if f"{home}.".startswith(_PACKAGE):
            home = self._home
        return self._copy(
            _metadata=changed_metadata(metadata, given, codec),
            _codec=codec,
            _options=options,
            _output=output,
            _home=home,
            __changed__=True,
        )

    def as_describer(self) -> Tool[P, R]:
        """Return a copy that documents the other tools of a registry, as `describe_tools` does."""
        return self._copy(_metadata=self._metadata.replace(describes_tools=True))

    def check_context(self, context: Context | None = None) -> None:
        """Check that a context has a value for each injected parameter, without a call.

        Args:
            context: type, or name of a parameter, to value; without `Progress`, which an executor adds.

        Raises:
            MissingContextError: a value is missing, and has no default.
            ToolError: two types of the context fit one parameter, or a key looks like a mistake, as in a
                call.
        """
        plan = self._plan
        if plan is None or not plan.injected:
            return
        place: str = getattr(self, "__qualname__", self.name)
        _injection().injected_values(self.name, place, plan, plan.without_progress(), {}, context)

    def _call(self, given: Any, context: Context | None, injected: Mapping[str, Any]) -> Any:
        plan = self._plan
        if plan is None:
            raise ToolError(self.name, "it has no function: your program runs the call")
        self._check_input(given, "call")
        values: Mapping[str, Any] = {}
        if plan.injected or injected:
            place: str = getattr(self, "__qualname__", self.name)
            values = _injection().injected_values(self.name, place, plan, plan.injected, injected, context)
        positional, named, extra = call_arguments(plan.callee.parameters, values, plan.input_parameter, given)
        return self._function(*positional, **named, **extra)

    # --- in place of its function, for frameworks that inspect it --------------------------------

    @property
    def _is_coroutine_marker(self) -> Any:
        # Python 3.12: `inspect.iscoroutinefunction` compares it with this object.
        names = ("_is_coroutine_mark", "_is_coroutine_marker")  # of Python 3.13, and of 3.12
        return _coroutine_mark("inspect", *names) if self._is_async else None

    @property
    def _is_coroutine(self) -> Any:
        # `asyncio.iscoroutinefunction` does so before Python 3.14.
        return _coroutine_mark("asyncio.coroutines", "_is_coroutine") if self._is_async else None

    if not TYPE_CHECKING:  # checkers would find no misspelt name any more

        def __getattr__(self, name: str) -> Any:
            # An attribute of the class would also affect the annotation `Tool`.
            if name == "__get_pydantic_core_schema__":
                return _refuse_pydantic
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)

    def __setattr__(self, name: str, value: object) -> None:
        if name == "__isabstractmethod__":  # `abc.abstractmethod` leaves its mark on what it decorates
            self.__dict__[name] = value
            return
        message = f"a Tool is immutable: {name} can't be set; with_ returns a changed copy"
        if not hasattr(self.__class__, name):  # as decorators of frameworks do
            message = _not_a_function(f"{name} can't be set on it")
        raise AttributeError(message)

    def __delattr__(self, name: str) -> NoReturn:
        message = f"a Tool is immutable: {name} can't be deleted"
        raise AttributeError(message)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    # --- as a value ------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Tool):
            return NotImplemented
        if self._function != other._function or self._metadata != other._metadata:
            return False
        return self._codec is other._codec or self._reads_as(cast("Tool[..., Any]", other))

    def _reads_as(self, other: Tool[..., Any]) -> bool:
        """Return whether another version of the same tool reads its input in the same way."""
        return (
            self._codec.type is other._codec.type
            and self._options == other._options
            and self.input_schema() == other.input_schema()
        )

    def __hash__(self) -> int:
        return hash((self._metadata.name, self._function))

    def __repr__(self) -> str:
        return f"<{pascal_case(self.name)}Tool {self.name!r}>"

    def __reduce__(self) -> Any:
        # Like a function, a tool is pickled by its place in its module.
        return getattr(self, "__qualname__", self.name)


def _how_written(graph: Graph) -> tuple[bool, bool]:
    """Return whether the inputs are members of a union, and whether instances keep all their arguments."""
    return isinstance(graph.resolve_root(), UnionNode), keeps_all(graph)


# --- what makes it look like its function --------------------------------------------------------


def _coroutine_mark(module: str, *names: str) -> Any:
    """Return the object with which a module marks functions as coroutine functions.

    Args:
        module: its name.
        names: names of the object, which differ between releases of Python.
    """
    asked = sys.modules.get(module)  # if it is the caller, it is loaded
    return next((getattr(asked, name) for name in names if hasattr(asked, name)), None)


def _refuse_pydantic(*_: object) -> NoReturn:
    message = _not_a_function("pydantic can't read it")
    raise TypeError(message)


def _not_a_function(what: str) -> str:
    """Return the message for a framework that was given a tool instead of a function.

    Args:
        what: what the framework tried.
    """
    return (
        f"a Tool isn't a function, and {what}; give the framework the function, tool.__wrapped__, or give it "
        "tool.definition() and run the calls with an Executor"
    )


_COPIED = (
    *("__module__", "__name__", "__qualname__", "__doc__"),
    *(("__type_params__",) if sys.version_info >= (3, 12) else ()),
)


def _attributes_of(function: Any, home: str, description: str) -> dict[str, Any]:
    """Return the attributes that make a tool look like its function, as `functools.wraps` does.

    Args:
        function: the function of the tool, or its input type.
        home: name of the module that makes the tool, for a function without a module.
        description: description of the tool, for a function without a docstring.
    """
    content: dict[str, Any] = {}
    is_named = hasattr(function, "__qualname__") and not is_union(function)
    if not is_named:
        # The module and docstring of a partial or a union belong to its class.
        content["__module__"], content["__doc__"] = home, description
    for attribute in _COPIED if is_named else ():
        value: object = getattr(function, attribute, None)
        if value is not None:
            content[attribute] = value
    content["__wrapped__"] = function
    if getattr(function, "__isabstractmethod__", False):
        content["__isabstractmethod__"] = True
    # Python 3.14 evaluates them here, and they may hold any code, or a name that isn't known yet.
    with suppress(Exception):
        content["__annotations__"] = function.__annotations__
    if sys.version_info >= (3, 14) and getattr(function, "__annotate__", None) is not None:
        content["__annotate__"] = function.__annotate__
    return content


@cache  # an import takes longer than finding the values, even where the module is there already
def _injection() -> ModuleType:
    from . import injected_values  # most tools have no injected parameters

    return injected_values


@cache  # as above
def _error_hint_of() -> Callable[[DecodeError | None, str, str | None], str | None]:
    from .failures import error_hint

    return error_hint
