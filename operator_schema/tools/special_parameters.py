"""What a function can ask for besides its arguments: progress, and the arguments one by one."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, final, overload

from ..codec.codec import codec_of
from ..errors import DecodeError
from ..findings import Finding
from ..immutable import Value
from ..introspect.leaves import SchemaLeaf, trusted_leaf
from ..json_values import copy_json
from ..message_text import clip, escape, nearest, quote, received

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = ["Progress", "ProgressUpdate", "RawArguments", "connect", "schema_of_raw"]


T = TypeVar("T")

_NAME_LENGTH = 100


class RawArguments(Value):
    """The arguments of one call, without types of their own.

    A function whose only visible parameter is annotated with it gets all arguments as they came. Each
    argument that it reads is decoded as always, so a tool can become typed one argument at a time.

    Attributes:
        arguments: key to JSON value, a copy of what the model sent.
        tool: name of the tool, for messages.
        hint: what errors add to the problems, such as how to get the documentation of the tool.
        repair: whether a value that does not fit is corrected if it can be read in only one way.
    """

    arguments: Mapping[str, Any]
    tool: str
    hint: str | None
    repair: bool

    def __init__(
        self,
        arguments: Mapping[str, Any],
        tool: str = "tool",
        hint: str | None = None,
        repair: bool = False,
    ) -> None:
        super().__init__(copy_json(dict(arguments)), tool, hint, repair)

    __hash__ = None  # type: ignore[assignment]  # a dict is in it

    @overload
    def require(self, key: str, annotation: type[T], /) -> T: ...
    @overload
    def require(self, key: str, annotation: Any, /) -> Any: ...
    def require(self, key: str, annotation: Any, /) -> Any:
        """Return the argument with this key as an instance of a type.

        Args:
            key: of the argument.
            annotation: a type, or any other supported annotation.

        Raises:
            DecodeError: there is no such argument, or it doesn't fit the type.
            SchemaError: with every complaint about the type.
        """
        if key in self.arguments:
            return self._decode(key, annotation)
        near = nearest(key, self.arguments)
        tool = clip(escape(self.tool), _NAME_LENGTH)
        message = f"Missing argument '{clip(escape(key), _NAME_LENGTH)}' for tool '{tool}'"
        given = None if near is None else f"{quote(key)} instead of {quote(near)}"
        problem = Finding((key,), "missing", message, None, None, given)
        raise DecodeError(self.tool, [problem], hint=self.hint)

    @overload
    def optional(self, key: str, annotation: type[T], /) -> T | None: ...
    @overload
    def optional(self, key: str, annotation: type[T], /, default: T) -> T: ...
    @overload
    def optional(self, key: str, annotation: Any, /, default: Any = None) -> Any: ...
    def optional(self, key: str, annotation: Any, /, default: Any = None) -> Any:
        """Return the argument with this key as an instance of a type, the default if there is none.

        Args:
            key: of the argument. Null counts as absent.
            annotation: a type, or any other supported annotation.
            default: what an absent argument is.

        Raises:
            DecodeError: the argument does not fit the type.
            SchemaError: with every complaint about the type.
        """
        return default if self.arguments.get(key) is None else self._decode(key, annotation)

    def _decode(self, key: str, annotation: Any) -> Any:
        try:
            return codec_of(annotation, repair=self.repair).decode(self.arguments[key])
        except DecodeError as error:
            problems = [problem.replace(path=(key, *problem.path)) for problem in error.findings]
            raise DecodeError(self.tool, problems, None, error.omitted, hint=self.hint) from None

    def __contains__(self, key: object) -> bool:
        return key in self.arguments

    def __iter__(self) -> Iterator[str]:
        return iter(self.arguments)

    def __len__(self) -> int:
        return len(self.arguments)

    @classmethod
    def described_by(cls, json_schema: Mapping[str, Any], /) -> SchemaLeaf[RawArguments]:
        """Return a leaf that gives the model a schema of your own: `Annotated[RawArguments, leaf]`.

        Args:
            json_schema: a JSON Schema document with `"type": "object"`. As the only input of a tool, all
                of it is enforced, as in `document_tool`; inside other types its type alone is.

        Raises:
            SchemaError: it isn't such a document.
        """
        return SchemaLeaf(cls, json_schema, cls, _arguments_of, cls({}))

    @classmethod
    def __schema_leaf__(cls) -> SchemaLeaf[RawArguments]:
        return _LEAF


def schema_of_raw(hint: Any, leaves: Iterable[SchemaLeaf[Any]]) -> Mapping[str, Any] | None:
    """Return the schema that raw arguments are described by; None where there is none, and for other types.

    Args:
        hint: the annotation of the only parameter.
        leaves: of the tool.
    """
    is_raw = hint is RawArguments or getattr(hint, "__origin__", None) is RawArguments
    for leaf in (*getattr(hint, "__metadata__", ()), *leaves) if is_raw else ():
        if isinstance(leaf, SchemaLeaf) and leaf.decode is RawArguments:
            schema: Mapping[str, Any] = leaf.json_schema
            return schema
    return None


def _arguments_of(raw: RawArguments) -> Any:
    return raw.arguments


_LEAF: SchemaLeaf[RawArguments] = trusted_leaf(
    RawArguments, {"type": "object", "properties": {}}, RawArguments, _arguments_of, RawArguments({})
)


_MESSAGE_LENGTH = 1000


class ProgressUpdate(Value):
    """How far a tool is.

    Attributes:
        done: how much is done, in any unit.
        total: how much there is, in the same unit; None if that isn't known.
        message: what it does now, at most 1,000 characters; or None.
    """

    done: float
    total: float | None = None
    message: str | None = None


@final
class Progress:
    """Report how far a tool is, to the program that runs the call.

    A tool gets one for a parameter such as `progress: Annotated[Progress, skip]`, and calls it:
    `progress(3, 10, "Reading page 3")`. This takes no time to speak of, can be done from any thread, and
    does nothing if nobody listens or the call is over. `Progress()` makes one that does nothing.
    """

    __slots__ = ("_report",)

    def __init__(self) -> None:
        self._report: Callable[[ProgressUpdate], object] | None = None

    def __call__(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Report how far the tool is.

        Args:
            done: how much is done, in any unit.
            total: how much there is, in the same unit; None if that isn't known.
            message: what the tool does now.

        Raises:
            TypeError: an argument has the wrong type.
        """
        _check("done is a number", done, (int, float))
        _check("total is a number or None", total, (int, float, NoneType))
        _check("message is a string or None", message, (str, NoneType))
        report = self._report
        if report is not None:
            text = None if message is None else clip(str.__str__(message), _MESSAGE_LENGTH)
            report(ProgressUpdate(done, total, text))


def connect(progress: Progress, report: Callable[[ProgressUpdate], object] | None) -> None:
    """Let a function get what is reported; None ends that."""
    progress._report = report  # noqa: SLF001  # tools must not see it


def _check(rule: str, value: object, kinds: tuple[type, ...]) -> None:
    if not isinstance(value, kinds):
        message = f"{rule}, not {received(value)}"
        raise TypeError(message)
