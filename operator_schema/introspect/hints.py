"""What does an annotation mean in the place where it is written?

Text is evaluated (simple text is read without compiling it), and forward references are looked up. PEP 484,
PEP 563, PEP 649.
"""

from __future__ import annotations

import builtins
import sys
import typing
from types import CellType, GenericAlias, UnionType
from typing import TYPE_CHECKING, Any, Final, ForwardRef, Literal, get_args, get_origin

from ..immutable import Value

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    Path = tuple[str, ...]
    Bindings = Mapping[Any, Any]


NOT_FOUND: Any = object()
"""Returned for a text that `read_plain` leaves to `eval`."""

BUILTINS: dict[str, Any] = builtins.__dict__

_PLAIN_LENGTH = 300
_QUOTES = ("'", '"')


class Unresolved(Value):
    """An annotation whose text could not be evaluated.

    Attributes:
        text: the annotation as written.
        reason: why it could not be evaluated, on one line.
        remedy: how to fix it, on one line.
        suggestion: the name that was probably meant, or None.
    """

    text: str
    reason: str
    remedy: str
    suggestion: str | None = None

    def __repr__(self) -> str:
        return self.text

    @property
    def message(self) -> str:
        """The message of a complaint about it."""
        return f"the annotation {self.text} can't be evaluated: {self.reason}"


def read_plain(text: str, names: dict[str, Any], outer: dict[str, Any]) -> Any:
    """Return the value of `A`, `A[B, "c"]` or `A | B`; `NOT_FOUND` for any other text.

    Compiling such a text takes ten times as long. The text is cut into parts; where a cut went through a
    bracket or quotes, a part has none of these forms, so the whole text isn't plain.
    """
    if text.isidentifier():
        found = names.get(text, NOT_FOUND)
        return outer.get(text, NOT_FOUND) if found is NOT_FOUND else found
    if len(text) > _PLAIN_LENGTH:
        return NOT_FOUND
    if text.endswith("]"):
        name, _, inside = text[:-1].partition("[")
        args = _read_parts(inside.split(", "), names, outer) if name.isidentifier() else ()
        generic = read_plain(name, names, outer) if args else NOT_FOUND
        if generic is not NOT_FOUND:
            return generic[args[0] if len(args) == 1 else args]
    if " | " in text:
        union = NOT_FOUND
        for part in text.split(" | "):
            member = read_plain(part, names, outer)
            if member is NOT_FOUND:
                return member
            union = member if union is NOT_FOUND else union | member
        return union
    return text[1:-1] if text.startswith(_QUOTES) and _is_quoted(text) else NOT_FOUND


def _read_parts(parts: Sequence[str], names: dict[str, Any], outer: dict[str, Any]) -> tuple[Any, ...]:
    """Return the value of each part, or an empty tuple if one of them can't be read."""
    found: list[Any] = []
    for part in parts:
        value = read_plain(part, names, outer)
        if value is NOT_FOUND:
            return ()
        found.append(value)
    return tuple(found)


def _is_quoted(text: str) -> bool:
    inside = text[1:-1]
    is_closed = len(text) > 1 and text[0] == text[-1]
    is_plain = "'" not in inside and '"' not in inside and "\\" not in inside
    return is_closed and is_plain and inside.isprintable()


def names_of_module(name: str | None) -> dict[str, Any]:
    """Return the names in a module; none if it isn't loaded."""
    module = None if name is None else sys.modules.get(name)
    return {} if module is None else vars(module)


class Scope:
    """The meaning of names and type parameters in the annotations of one class, alias or function.

    A name is looked up first in the namespace given by the user, then among the type parameters,
    then in the module and the builtins, then in the class itself: a field `date: date | None = None`
    means the type, not the default, and `list[str]` a list, though the class has a method `list`.

    Args:
        owner: the class, alias or function in which the annotations are written; None for a bare
            annotation.
        namespace: names that the user adds.
        bindings: type parameters with their arguments.
        self_type: the meaning of `Self`.
        outer: the scope in which these arguments are written; None for a bare annotation.
    """

    __slots__ = ("_found", "_identity", "_namespace", "_outer", "bindings", "owner", "self_type")

    def __init__(
        self,
        owner: Any,
        namespace: Mapping[str, Any],
        bindings: Bindings | None = None,
        self_type: Any = None,
        outer: Scope | None = None,
    ) -> None:
        self._outer = outer
        self.owner = owner
        self._namespace = namespace
        self.bindings: Bindings = NO_BINDINGS if bindings is None else bindings
        self.self_type = self_type
        self._found: dict[str, Any] | None = None
        self._identity: Hashable = None

    def _module(self) -> dict[str, Any]:
        """Return the names of the module, looked up at first use."""
        names = self._found
        if names is None:
            owner = self.owner
            # A function knows its module's names itself.
            names = None if isinstance(owner, type) else getattr(owner, "__globals__", None)
            names = names_of_module(getattr(owner, "__module__", None)) if names is None else names
            self._found = names
        return names

    @property
    def names(self) -> dict[str, Any]:
        """The names of the module, and those that the user adds."""
        return {**self._module(), **self._namespace}

    def outside(self) -> Scope:
        """Return the scope in which the arguments of the type parameters are written."""
        return self._outer or Scope(None, self._namespace)

    def of_base(self, base: type, bindings: Bindings | None) -> Scope:
        """Return the scope of a base of the owner, in which `Self` means the same."""
        return Scope(base, self._namespace, bindings, self.self_type, self._outer)

    @property
    def forgets_bases(self) -> bool:
        """Whether the owner is a TypedDict, in a Python version whose TypedDicts don't keep their bases."""
        return sys.version_info < (3, 12) and hasattr(self.owner, "__total__")

    @property
    def identity(self) -> Hashable:
        """A key that two scopes share only if every text means the same in both."""
        if self._identity is None:  # a class may have many fields whose annotations are text
            budget = iter(range(COMPARED_PARTS * len(self.bindings)))
            self._identity = (id(self._module()), id(self.owner), bindings_key(self.bindings, budget))
        return self._identity

    def evaluate(
        self, text: str, module: str | None = None, enclosing: Mapping[str, Any] | None = None
    ) -> Any:
        """Evaluate the text of one annotation.

        Args:
            text: the annotation as written.
            module: name of the module that it is written in, if that isn't the owner's.
            enclosing: variables of the functions around it.

        Returns:
            A type, or an `Unresolved`.
        """
        try:
            return self._evaluate(text, module, enclosing or {})
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # evaluating user text can raise anything
            from .unresolved_names import unresolved  # only a wrong annotation needs it

            return Unresolved(*unresolved(self.owner, self._reachable(), text, error))

    def evaluate_all(self, texts: Sequence[str]) -> list[Any]:
        """Evaluate several annotations: plain texts are read without compiling them."""
        if self._namespace or self._own_names():
            return [self.evaluate(text) for text in texts]
        found = self._read_plain(texts)
        for i, value in enumerate(found):
            if value is NOT_FOUND:
                found[i] = self.evaluate(texts[i])
        return found

    def _read_plain(self, texts: Sequence[str]) -> list[Any]:
        names = self._module()
        # A module may have been given other builtins.
        usual = names.get("__builtins__")
        outer: dict[str, Any] = BUILTINS if usual is BUILTINS or usual is builtins else {}
        found: list[Any] = []
        try:
            for text in texts:
                found.append(read_plain(text, names, outer))  # noqa: PERF401  # a comprehension costs more here
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  # the culprit is found, and reported, by taking them one by one
            return [NOT_FOUND] * len(texts)
        return found

    def _own_names(self) -> dict[str, Any]:
        """Return the names that only the owner knows: its type parameters, and its own if it is local."""
        owner = self.owner
        parameters: tuple[Any, ...]
        if type(owner) is type:  # before Python 3.12, asking it for a missing attribute would raise an error
            parameters = owner.__dict__.get("__type_params__", ())
        else:
            parameters = getattr(owner, "__type_params__", ())
        own: dict[str, Any] = {p.__name__: p for p in parameters} if parameters else {}
        if "<locals>" in getattr(owner, "__qualname__", ""):
            # A class of the module that has the same name is another one.
            own[owner.__name__] = owner
        return own

    def _evaluate(self, text: str, module: str | None, enclosing: Mapping[str, Any]) -> Any:
        names = self._module() if module is None else names_of_module(module)
        own = self._own_names()
        if not (self._namespace or own or enclosing):
            try:
                return eval(text, names)  # noqa: S307  # what annotations as text are for
            except NameError:
                pass
        owner = self.owner
        # `make_dataclass` writes 'typing.Any' whether or not the module has that name.
        outer: dict[str, Any] = {"typing": typing}
        if isinstance(owner, type):
            outer |= {**vars(owner), owner.__name__: owner, **BUILTINS}
        return eval(text, outer, {**names, **enclosing, **own, **self._namespace})  # noqa: S307  # what annotations as text are for

    def _reachable(self) -> dict[str, Any]:
        """Return the names that an annotation may use, without those of Python."""
        return {**self._namespace, **self._own_names(), **self._module()}


NO_BINDINGS: Bindings = {}


class Place:
    """Where an annotation is written.

    Attributes:
        path: steps from the registered type, as in `Finding.path`.
        owner: name of the class that the annotation is written in.
        scope: the meaning of names and type parameters there.
    """

    __slots__ = ("owner", "path", "scope")

    def __init__(self, path: Path, owner: str, scope: Scope) -> None:
        self.path = path
        self.owner = owner
        self.scope = scope


class FieldPlace(Place):
    """Where the annotation of a field is written.

    Attributes:
        metadata: the metadata in `Annotated` that is about the field itself, in the form of a dataclass
            field's metadata; None if none has been read.
    """

    __slots__ = ("metadata",)

    def __init__(self, path: Path, owner: str, scope: Scope) -> None:
        self.path = path
        self.owner = owner
        self.scope = scope
        self.metadata: dict[str, Any] | None = None


def evaluate_forward(annotation: Any, scope: Scope) -> Any:
    """Return the meaning of a forward reference or a text; any other annotation unchanged.

    Text may evaluate to text again: an annotation in quotes under `from __future__ import annotations`, or an
    alias that is written as text.
    """
    if isinstance(annotation, str):
        return scope.evaluate(annotation)
    if isinstance(annotation, ForwardRef):
        module: Any = annotation.__forward_module__
        name = getattr(module, "__name__", module)
        return scope.evaluate(annotation.__forward_arg__, name, _enclosing_names(annotation))
    return annotation


def _enclosing_names(reference: ForwardRef) -> dict[str, Any]:
    # PEP 649: from Python 3.14 a reference knows the variables of the functions around it. The
    # objects in it that have no text have made-up names.
    cell: Any = getattr(reference, "__cell__", None)
    cells: dict[str, Any] = {reference.__forward_arg__: cell} if isinstance(cell, CellType) else cell or {}
    names: dict[str, Any] = dict(getattr(reference, "__extra_names__", None) or {})
    for name, variable in cells.items():  # pragma: no cover  # `make matrix` runs it on Python 3.14
        try:
            names[name] = variable.cell_contents
        except ValueError:  # not assigned yet
            continue
    return names


COMPARED_PARTS = 1000
"""The most parts of an annotation that are compared."""


def annotation_key(annotation: Any) -> Any:
    """Return a key that only annotations of the same meaning share.

    Equality of annotations is not enough: `Annotated[int, Ge(1)] == Annotated[int, Ge(1.0)]`, and
    `list[Literal[0]]` may be the same object as `list[Literal[False]]`. Classes and
    metadata count by identity, so the key holds only as long as the annotation lives.

    Raises:
        TypeError: the annotation has too many parts to compare; or, when the key is hashed, something in it
            has no hash.
        RecursionError: the annotation nests too deeply.
    """
    return _key(annotation, iter(range(COMPARED_PARTS)))


def _key(annotation: Any, budget: Iterator[int]) -> Any:
    if next(budget, None) is None:
        message = "the annotation has too many parts"
        raise TypeError(message)
    origin: Any = get_origin(annotation)
    if origin is None:
        # By identity: a metaclass may call two classes equal.
        return id(annotation) if isinstance(annotation, type) else (annotation.__class__, annotation)
    if origin is Literal:
        return (origin, tuple([(value.__class__, value) for value in get_args(annotation)]))
    metadata: tuple[Any, ...] = getattr(annotation, "__metadata__", ())
    args: tuple[Any, ...] = (annotation.__origin__,) if metadata else get_args(annotation)
    return (origin, tuple([_key(arg, budget) for arg in args]), tuple(map(id, metadata)))


def bindings_key(bindings: Mapping[Any, Any], budget: Iterator[int]) -> tuple[Any, ...]:
    """Return a key that only equal bindings share.

    Args:
        bindings: the bindings of a class or alias.
        budget: one item for each part that may still be compared; each compared part takes one.

    Raises:
        RecursionError: as for `annotation_key`.
        TypeError: as for `annotation_key`.
    """
    return tuple([_key(value, budget) for value in bindings.values()])


def take_apart(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the results of `typing.get_origin` and `get_args`, faster for the usual kinds of annotation."""
    cls = type(annotation)  # pyright: ignore[reportUnknownVariableType]  # of whatever type
    if cls is GenericAlias or cls is _LiteralAlias:
        return annotation.__origin__, annotation.__args__
    if cls is UnionType:
        return cls, annotation.__args__
    origin = get_origin(annotation)
    return origin, get_args(annotation) if origin is not None else ()


_LiteralAlias: Final = type(Literal[0])
