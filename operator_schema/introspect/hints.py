"""Annotations as they are written, turned into the types that they mean where they stand.

Text is evaluated, forward references are looked up, and type parameters take what was given for
them. PEP 484, PEP 563, PEP 649, PEP 695, PEP 696.
"""

from __future__ import annotations

import builtins
import sys
import typing
from types import CellType
from typing import TYPE_CHECKING, Any, ForwardRef, get_args, get_origin

from ..immutable import Value
from ..wording import clip, escape, nearest
from .names import annotation_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    Path = tuple[str, ...]
    Bindings = Mapping[Any, Any]

__all__ = [
    "NO_BINDINGS",
    "FieldPlace",
    "Place",
    "Scope",
    "Unresolved",
    "bind",
    "inherited_bindings",
    "parameters_of",
    "substitute",
]

_REASON_LENGTH = 200
_TEXT_LENGTH = 100


class Unresolved(Value):
    """An annotation whose text could not be evaluated.

    Attributes:
        text: the annotation as written.
        reason: why, on one line.
        remedy: what to do about it, on one line.
        suggestion: the name that was probably meant, or None.
    """

    text: str
    reason: str
    remedy: str
    suggestion: str | None = None

    def __repr__(self) -> str:
        return self.text


class Scope:
    """What names and type parameters mean in the annotations of one class, alias or function.

    A name is looked up first in the namespace given by the user, then among the type parameters,
    then in the module, then in the class itself: a field `date: date | None = None` means the type,
    not the default.

    Args:
        owner: the class, alias or function in which the annotations are written; None for a bare
            annotation.
        namespace: names that the user adds.
        bindings: type parameter to what was given for it.
        self_type: what `Self` means.
        outer: the scope in which what was given is written; None for a bare annotation.
    """

    __slots__ = ("_found", "_namespace", "_outer", "_owner", "bindings", "self_type")

    def __init__(
        self,
        owner: Any,
        namespace: Mapping[str, Any],
        bindings: Bindings | None = None,
        self_type: Any = None,
        outer: Scope | None = None,
    ) -> None:
        self._outer = outer
        self._owner = owner
        self._namespace = namespace
        self.bindings: Bindings = NO_BINDINGS if bindings is None else bindings
        self.self_type = self_type
        self._found: dict[str, Any] | None = None

    def _module(self) -> dict[str, Any]:
        """Return the names of the module, looked up when they are asked for."""
        names = self._found
        if names is None:
            owner = self._owner
            # A function knows its module's names itself.
            names = None if isinstance(owner, type) else getattr(owner, "__globals__", None)
            names = _names_of_module(getattr(owner, "__module__", None)) if names is None else names
            self._found = names
        return names

    @property
    def names(self) -> dict[str, Any]:
        """The names of the module, and those that the user adds."""
        return {**self._module(), **self._namespace}

    def outside(self) -> Scope:
        """Return the scope in which what was given for the type parameters is written."""
        return self._outer or Scope(None, self._namespace)

    def of_base(self, base: type, bindings: Bindings | None) -> Scope:
        """Return the scope of a base of the owner, in which `Self` means the same."""
        return Scope(base, self._namespace, bindings, self.self_type, self._outer)

    def declares(self, parameter: Any) -> bool:
        """Say whether a type parameter is one of the owner's, or of nobody that is known."""
        # Before PEP 695 a function declares those that it uses.
        is_open = self._owner is None or hasattr(self._owner, "__globals__")
        return is_open or _declares(self._owner, parameter)

    @property
    def forgets_bases(self) -> bool:
        """Whether the owner is a TypedDict of a Python that doesn't keep its bases."""
        return sys.version_info < (3, 12) and hasattr(self._owner, "__total__")

    @property
    def identity(self) -> Hashable:
        """What only scopes share in which a text means the same."""
        return (id(self._module()), id(self._owner), bindings_key(self.bindings))

    def evaluate(
        self, text: str, module: str | None = None, enclosing: Mapping[str, Any] | None = None
    ) -> Any:
        """Return what the text of one annotation means.

        Args:
            text: the annotation as written.
            module: name of the module that it is written in, when it is another than the owner's.
            enclosing: names of the functions around it.

        Returns:
            A type, or an `Unresolved`.
        """
        try:
            return self._evaluate(text, module, enclosing or {})
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # evaluating user text can raise anything
            return self._unresolved(text, error)

    def evaluate_all(self, texts: Sequence[str]) -> list[Any]:
        """Evaluate several annotations: plain texts are read at once, the others evaluated in one go."""
        if self._namespace or self._own_names():
            return [self.evaluate(text) for text in texts]
        found = self._read_plain(texts)
        for value in found:
            if value is _NOT_FOUND:
                break
        else:
            return found
        others = [text for text, value in zip(texts, found, strict=True) if value is _NOT_FOUND]
        values = iter(self._evaluate_together(others))
        return [next(values) if value is _NOT_FOUND else value for value in found]

    def _read_plain(self, texts: Sequence[str]) -> list[Any]:
        names = self._module()
        # A module may have been given other builtins.
        usual = names.get("__builtins__")
        outer: dict[str, Any] = _BUILTINS if usual is _BUILTINS or usual is builtins else {}
        found: list[Any] = []
        try:
            for text in texts:
                found.append(_read(text, names, outer))  # noqa: PERF401  # a comprehension costs more here
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  # the culprit is found, and reported, by taking them one by one
            return [_NOT_FOUND] * len(texts)
        return found

    def _evaluate_together(self, texts: Sequence[str]) -> list[Any]:
        """Evaluate annotations in one go, where the names of the module are all that they need."""
        joined = "".join(texts)
        values: tuple[Any, ...] = ()
        if len(texts) > 1 and all(map(str.strip, texts)) and not any(mark in joined for mark in _ALONE):
            try:
                values = eval("((" + "),\n(".join(texts) + "),)", self._module())  # noqa: S307  # what they are for
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001,S110  # the culprit is found by taking them one by one
                pass
        return list(values) if len(values) == len(texts) else [self.evaluate(text) for text in texts]

    def _own_names(self) -> dict[str, Any]:
        """Return what the owner knows besides its module: its type parameters, and itself if it is local."""
        owner = self._owner
        parameters: tuple[Any, ...]
        if type(owner) is type:  # which before Python 3.12 would make an error of what it lacks
            parameters = owner.__dict__.get("__type_params__", ())
        else:
            parameters = getattr(owner, "__type_params__", ())
        own: dict[str, Any] = {p.__name__: p for p in parameters} if parameters else {}
        if "<locals>" in getattr(owner, "__qualname__", ""):
            # A class of the module that has the same name is another one.
            own[owner.__name__] = owner
        return own

    def _evaluate(self, text: str, module: str | None, enclosing: Mapping[str, Any]) -> Any:
        names = self._module() if module is None else _names_of_module(module)
        own = self._own_names()
        if not (self._namespace or own or enclosing):
            try:
                return eval(text, names)  # noqa: S307  # what annotations as text are for
            except NameError:
                pass
        owner = self._owner
        # `make_dataclass` writes 'typing.Any' whether or not the module has that name.
        outer: dict[str, Any] = {"typing": typing}
        if isinstance(owner, type):
            outer |= {**vars(owner), owner.__name__: owner}
        return eval(text, outer, {**names, **enclosing, **own, **self._namespace})  # noqa: S307  # likewise

    def _unresolved(self, text: str, error: Exception) -> Unresolved:
        shown = clip(escape(text), _TEXT_LENGTH)
        if not isinstance(error, NameError):
            reason = f"{type(error).__name__}: {clip(escape(str(error)), _REASON_LENGTH)}"
            is_partial = "partially initialized module" in reason
            return Unresolved(shown, reason, _CIRCULAR if is_partial else "Fix the annotation")
        name = clip(escape(error.name or "it"), _TEXT_LENGTH)
        where = "here" if self._owner is None else f"in module {self._owner.__module__}"
        reason = f"the name {name} is not defined {where}"
        if name in typing.__all__:
            return Unresolved(
                shown, reason, f"Import it (from typing import {name}) or give namespace={{{name!r}: …}}"
            )
        near = nearest(name, [other for other, value in self._reachable().items() if _is_type(value)])
        if "<locals>" in getattr(self._owner, "__qualname__", ""):
            what = "class" if isinstance(self._owner, type) else "function"
            remedy = f"The {what} is defined inside a function: move {name} to module level"
            return Unresolved(shown, reason, f"{remedy} or give namespace={{{name!r}: …}}", near)
        remedy = f"Import {name} at run time (not under TYPE_CHECKING) or give namespace={{{name!r}: …}}"
        return Unresolved(shown, reason, remedy, near)

    def _reachable(self) -> dict[str, Any]:
        """Return the names that an annotation may use, and those of `typing`."""
        of_typing = {name: getattr(typing, name) for name in typing.__all__}
        return {**self._namespace, **self._own_names(), **self._module(), **_BUILTINS, **of_typing}


def _is_type(value: object) -> bool:
    return isinstance(value, type) or type(value).__module__ in {"typing", "types", "typing_extensions"}


_CIRCULAR = "The modules import each other: register the type, or make the tool, where both are loaded"
NO_BINDINGS: Bindings = {}
_NOT_FOUND: Any = object()
_BUILTINS: dict[str, Any] = builtins.__dict__
_PLAIN_LENGTH = 300
_QUOTES = ("'", '"')


def _read(text: str, names: dict[str, Any], outer: dict[str, Any]) -> Any:
    """Return what evaluating `A`, `A[B, "c"]` or `A | B` gives, `_NOT_FOUND` for any other text.

    Compiling such a text takes ten times as long. Each part that a text is cut into is read as a
    whole: where the cut went through a bracket or a quoted text, a part is none of these.
    """
    if text.isidentifier():
        found = names.get(text, _NOT_FOUND)
        return outer.get(text, _NOT_FOUND) if found is _NOT_FOUND else found
    if len(text) > _PLAIN_LENGTH:
        return _NOT_FOUND
    if text.endswith("]"):
        name, _, inside = text[:-1].partition("[")
        args = _read_parts(inside.split(", "), names, outer) if name.isidentifier() else ()
        generic = _read(name, names, outer) if args else _NOT_FOUND
        if generic is not _NOT_FOUND:
            return generic[args[0] if len(args) == 1 else args]
    if " | " in text:
        union = _NOT_FOUND
        for part in text.split(" | "):
            member = _read(part, names, outer)
            if member is _NOT_FOUND:
                return member
            union = member if union is _NOT_FOUND else union | member
        return union
    return text[1:-1] if text.startswith(_QUOTES) and _is_quoted(text) else _NOT_FOUND


def _read_parts(parts: Sequence[str], names: dict[str, Any], outer: dict[str, Any]) -> tuple[Any, ...]:
    """Return what evaluating each part gives, nothing where one of them is not to be read."""
    found: list[Any] = []
    for part in parts:
        value = _read(part, names, outer)
        if value is _NOT_FOUND:
            return ()
        found.append(value)
    return tuple(found)


def _is_quoted(text: str) -> bool:
    inside = text[1:-1]
    is_closed = len(text) > 1 and text[0] == text[-1]
    is_plain = "'" not in inside and '"' not in inside and "\\" not in inside
    return is_closed and is_plain and inside.isprintable()


_ALONE = (")", ":", "#", "\\", "\n", "\r", "for")
"""What only text has that could leave its brackets, or mean something else in them than alone."""


def _names_of_module(name: str | None) -> dict[str, Any]:
    module = None if name is None else sys.modules.get(name)
    return {} if module is None else vars(module)


class Place:
    """Where an annotation stands.

    Attributes:
        path: steps from the registered type, as in `Complaint.path`.
        owner: name of the class that the annotation is written in.
        scope: what names and type parameters mean there.
    """

    __slots__ = ("owner", "path", "scope")

    def __init__(self, path: Path, owner: str, scope: Scope) -> None:
        self.path = path
        self.owner = owner
        self.scope = scope


class FieldPlace(Place):
    """Where the annotation of a field stands.

    Attributes:
        metadata: what `Annotated` says of the field itself, as a dataclass field's metadata would,
            once it is read; None while it says nothing.
    """

    __slots__ = ("metadata",)

    def __init__(self, path: Path, owner: str, scope: Scope) -> None:
        self.path = path
        self.owner = owner
        self.scope = scope
        self.metadata: dict[str, Any] | None = None


def evaluate_forward(annotation: Any, scope: Scope) -> Any:
    """Return what a forward reference or text means, any other annotation as it is.

    What text means may be text again: an annotation in quotes under `from __future__ import
    annotations`, or an alias that is written as text.
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


# --- type parameters -----------------------------------------------------------------------------


def parameters_of(generic: Any) -> tuple[Any, ...]:
    """Return the type parameters of a generic class or alias."""
    return getattr(generic, "__type_params__", ()) or getattr(generic, "__parameters__", ())


def _declares(generic: Any, parameter: Any) -> bool:
    if parameter in parameters_of(generic):
        return True
    # The parameters of a base that is given nothing are left open in its subclass.
    bases = getattr(generic, "__dict__", {}).get("__orig_bases__", ()) or getattr(generic, "__bases__", ())
    return any(get_origin(base) is None and _declares(base, parameter) for base in bases)


def substitute(annotation: Any, bindings: Bindings) -> Any:
    """Put what was given for the type parameters into an annotation; those without stay."""
    if not bindings:
        return annotation
    if _is_parameter(annotation):
        return bindings.get(annotation, annotation)
    parameters: tuple[Any, ...] = getattr(annotation, "__parameters__", ())
    if isinstance(annotation, type) or not any(parameter in bindings for parameter in parameters):
        return annotation
    return annotation[tuple([bindings.get(parameter, parameter) for parameter in parameters])]


def _is_parameter(annotation: Any) -> bool:
    return type(annotation).__name__ == "TypeVar"


def bind(generic: Any, args: Sequence[Any], scope: Scope) -> dict[Any, Any]:
    """Say what each type parameter of a generic means in `generic[args]`.

    Args:
        generic: class or alias with type parameters.
        args: as written; they may name the parameters of the scope.
        scope: in which they are written.

    Returns:
        Parameter to type, without those that are left open.
    """
    bindings: dict[Any, Any] = {}
    if not args:
        return bindings
    for parameter, arg in _pairs(parameters_of(generic), args):
        # PEP 696: a default may name the parameters before it, and is filled in by Python.
        is_default = getattr(parameter, "__default__", None) == arg and arg is not None
        known = bindings if is_default else scope.bindings
        bindings[parameter] = substitute(evaluate_forward(arg, scope), known)
    return bindings


def _pairs(parameters: Sequence[Any], args: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Put each type parameter beside what is given for it; a `TypeVarTuple` stays open."""
    before = next((i for i, p in enumerate(parameters) if type(p).__name__ == "TypeVarTuple"), None)
    if before is None:
        return list(zip(parameters, args, strict=False))
    after = len(parameters) - before - 1
    return [
        *zip(parameters[:before], args, strict=False),
        *zip(parameters[before + 1 :], args[len(args) - after :], strict=False),
    ]


def inherited_bindings(cls: type, bindings: Bindings, scope: Scope) -> dict[type, Bindings]:
    """Say what type parameters mean in each base of a class.

    Args:
        cls: any class.
        bindings: of its own parameters.
        scope: of the class, for arguments that are text.

    Returns:
        The class and each of its generic bases, to the bindings that count in it.
    """
    found: dict[type, Bindings] = {cls: bindings}
    for base in vars(cls).get("__orig_bases__", ()) or cls.__bases__:
        origin: Any = get_origin(base) or base
        if isinstance(origin, type) and origin is not object:
            inner = {p: substitute(a, bindings) for p, a in bind(origin, get_args(base), scope).items()}
            found.update(inherited_bindings(origin, inner, scope))
    return found


def bindings_key(bindings: Bindings) -> tuple[Any, ...]:
    """Return what only equal bindings share."""
    return tuple([annotation_key(value) for value in bindings.values()])
