"""The tool: a function, or an input type, that a model can call."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, TypeVar, cast, overload

from ..errors import MissingContextError, SchemaError, ToolError
from .awaitables import close_awaitable, is_awaitable
from .binding import call_arguments, injected_values
from .function_attributes import copy_attributes, coroutine_mark, not_a_function
from .metadata import pascal_case
from .methods import about_instance, bound, check_first_parameter
from .options import check_option_names, check_options, codec_options
from .registration import changed_metadata, register_input
from .signature import caller_module
from .tool_arguments import ToolArguments

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping
    from typing import Concatenate, Unpack

    from ..codec.codec import Codec
    from ..errors import Problem
    from .binding import CallPlan
    from .metadata import Metadata
    from .options import ToolChanges
    from .results.output_type import OutputType, WrittenOutput

    Context = Mapping[Any, Any]

__all__ = ["Tool"]

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R", covariant=True)  # noqa: PLC0105  # as short as `P`
T = TypeVar("T")
S = TypeVar("S")
C = TypeVar("C", bound="type[Any]")


class Tool(ToolArguments, Generic[P, R]):
    """What a model can call; made by `tool` or `tool_input`.

    In Python it is called like the function that it was made of, and it binds as a method like one.
    It is immutable.
    """

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
    ) -> Any:
        """Make a tool of what `tool` or `tool_input` found out, for the module that called it."""
        content: dict[str, Any] = {
            **copy_attributes(function, home, metadata.documentation.description),
            "_metadata": metadata,
            "_codec": codec,
            "_options": options,
            "_output": output,
            "_function": function,
            "_plan": plan,
            "_home": home,
            "_forms": {},
        }
        return cls._with_content(content)

    @classmethod
    def _with_content(cls, content: dict[str, Any]) -> Any:
        made = object.__new__(cls)
        object.__setattr__(made, "__dict__", content)
        return made

    def _copy(self, **content: Any) -> Any:
        if "_metadata" in content:
            content["_forms"] = {}  # they tell what it was before
        return self._with_content({**self.__dict__, **content})

    # --- as its function --------------------------------------------------------------------------

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
        found = bound(self._plan, self._function, instance, owner)
        if found is None:
            return self
        function, plan = found
        return self._copy(_function=function, _plan=plan, __wrapped__=function)

    def __set_name__(self, owner: type[Any], name: str) -> None:
        """Refuse a method whose instance the model would have to give."""
        check_first_parameter(self.name, self._plan, owner)

    # --- calls -----------------------------------------------------------------------------------

    def call(self, given: Any, /, *, context: Context | None = None, **injected: Any) -> R:
        """Call the function with an input.

        Args:
            given: of `input_type`.
            context: type, or name of a parameter, to value, for the injected parameters.
            injected: parameter name to value; wins over the context.

        Returns:
            What the function returns.

        Raises:
            MissingContextError: a value to inject is missing; the function does not run.
            ToolError: there is no function, or it is async.
        """
        if self.is_async:
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
        """Call the function with an input, and await what it returns if that can be awaited.

        A function that is not async runs here and now, in this thread.

        Args:
            given: of `input_type`.
            context: type, or name of a parameter, to value, for the injected parameters.
            injected: parameter name to value; wins over the context.

        Returns:
            What the function returns.

        Raises:
            MissingContextError: a value to inject is missing; the function does not run.
            ToolError: there is no function.
        """
        result: Any = self._call(given, context, injected)
        return await result if is_awaitable(result) else result

    def run(self, arguments: object, /, *, context: Context | None = None, **injected: Any) -> str:
        """Decode arguments, call the function, and write its result for the model.

        Args:
            arguments: a dict of JSON values, or JSON text.
            context: type, or name of a parameter, to value, for the injected parameters.
            injected: parameter name to value; wins over the context.

        Returns:
            The result: a string as it is, anything else as compact JSON.

        Raises:
            DecodeError: the arguments do not fit.
            EncodeError: the result does not.
            MissingContextError: a value to inject is missing; the function does not run.
            ToolError: there is no function, or it is async.
        """
        result = self.call(self.decode(arguments), context=context, **injected)
        if is_awaitable(result):
            close_awaitable(result)
            raise ToolError(self.name, "it returns something to await: use await arun")
        return self.encode_output(result)

    async def arun(self, arguments: object, /, *, context: Context | None = None, **injected: Any) -> str:
        """Do what `run` does, and await what the function returns if that can be awaited."""
        result: Any = await self.acall(self.decode(arguments), context=context, **injected)
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
        return self._output.write(result, self.name, is_lenient=False).text

    def encode_output_leniently(self, result: object) -> tuple[str, tuple[Problem, ...]]:
        """Write a result as the text that goes to the model, even where it does not fit its type.

        Args:
            result: anything.

        Returns:
            The text, and a note for each part that does not fit `output_type`.

        Raises:
            EncodeError: some part of it has no JSON form.
        """
        written = self.write_output(result, is_lenient=True)
        return written.text, written.notes

    def write_output(self, result: object, *, is_lenient: bool = False) -> WrittenOutput:
        """Write a result in all forms: the text that goes to the model, the JSON value, the parts.

        Args:
            result: of `output_type`, where one is declared.
            is_lenient: whether a result that does not fit its type is written as well as it can be.

        Raises:
            EncodeError: some part of it has no JSON form; without `is_lenient`, does not fit its type.
        """
        return self._output.write(result, self.name, is_lenient=is_lenient)

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
        complaints = list(check_options(given, before=metadata.annotations).values())
        if complaints:
            raise SchemaError(metadata.name, complaints, "tool")
        content: dict[str, Any] = {}
        changed = codec_options(given)
        if changed or name != metadata.name or "examples" in given:
            if "param_descriptions" in changed:
                before: Mapping[str, str] = self._options.get("param_descriptions") or {}
                changed["param_descriptions"] = {**before, **changed["param_descriptions"]}
            options = {**self._options, **changed}
            again = self._codec.again
            codec = register_input(self._codec.type, name, {**given, **options}, complaints, again)
            if codec is None:
                raise SchemaError(name, complaints, "tool")
            content = {"_codec": codec, "_options": options}
        if "leaves" in changed:
            content["_output"] = self._output.with_leaves(changed["leaves"])
        content["_metadata"] = changed_metadata(metadata, given, content.get("_codec", self._codec))
        # A copy belongs to the module that makes it, unless that is one of this package.
        home = caller_module(sys._getframe(1))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # whose copy it is
        if home.partition(".")[0] == __name__.partition(".")[0]:
            home = self._home
        made: Tool[P, R] = self._copy(**content, _home=home, __changed__=True)
        return made

    def as_describer(self) -> Tool[P, R]:
        """Return a copy that a registry takes for its `describe_tools`: it documents the other tools."""
        made: Tool[P, R] = self._copy(_metadata=self._metadata.replace(describes_tools=True))
        return made

    def check_context(self, context: Context | None = None) -> None:
        """Check that a context has all that your program injects, without a call.

        Args:
            context: type, or name of a parameter, to value. Whoever runs a call adds a `Progress` to it.

        Raises:
            MissingContextError: a value is missing, and has no default.
            ToolError: as a call would raise it: two types of the context fit one parameter, or one nearly.
        """
        plan = self._plan
        if plan is None or not plan.injected:
            return
        try:
            injected_values(self.name, plan.without_progress(), {}, context)
        except MissingContextError as error:
            raise about_instance(self, plan, error) from None

    def _call(self, given: Any, context: Context | None, injected: Mapping[str, Any]) -> Any:
        plan = self._plan
        if plan is None:
            raise ToolError(self.name, "it has no function: your program runs the call")
        self._check_input(given, "call")
        values: Mapping[str, Any] = {}
        if plan.injected or injected:
            try:
                values = injected_values(self.name, plan.injected, injected, context)
            except MissingContextError as error:
                raise about_instance(self, plan, error) from None
        positional, named, extra = call_arguments(plan.callee.parameters, values, plan.input_parameter, given)
        return self._function(*positional, **named, **extra)

    # --- whether it is a coroutine function -----------------------------------------------------

    @property
    def _is_coroutine_marker(self) -> Any:
        # Python 3.12: `inspect.iscoroutinefunction` compares it with this object.
        names = ("_is_coroutine_mark", "_is_coroutine_marker")  # of Python 3.13, and of 3.12
        return coroutine_mark("inspect", *names) if self.is_async else None

    @property
    def _is_coroutine(self) -> Any:
        # `asyncio.iscoroutinefunction` does so before Python 3.14.
        return coroutine_mark("asyncio.coroutines", "_is_coroutine") if self.is_async else None

    # --- where a framework expects a function ----------------------------------------------------

    if not TYPE_CHECKING:  # checkers would find no misspelt name any more

        def __getattr__(self, name: str) -> Any:
            # An attribute of the class would count for the annotation `Tool` too.
            if name == "__get_pydantic_core_schema__":
                return _refuse_pydantic
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)

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
        """Return whether another copy of the same tool reads its input in the same way."""
        return (
            self._codec.type is other._codec.type
            and self._options == other._options
            and self.input_schema() == other.input_schema()
        )

    def __hash__(self) -> int:
        return hash((self._metadata.name, self._function))

    def __repr__(self) -> str:
        return f"<{pascal_case(self.name)}Tool {self.name!r}>"

    def __setattr__(self, name: str, value: object) -> None:
        if name == "__isabstractmethod__":  # `abc.abstractmethod` leaves its mark on what it decorates
            self.__dict__[name] = value
            return
        message = f"a Tool is immutable: {name} can't be set; with_ returns a changed copy"
        if not hasattr(self.__class__, name):  # as decorators of frameworks do
            message = not_a_function(f"{name} can't be set on it")
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


def _refuse_pydantic(*_: object) -> NoReturn:
    message = not_a_function("pydantic can't read it")
    raise TypeError(message)
