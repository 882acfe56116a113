"""Annotations written as text, turned into the types that they name."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ForwardRef

from .._value import Value, set_once
from ..wording import clip, escape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from dataclasses import Field

    Path = tuple[str, ...]

__all__ = ["Place", "Scope", "Unresolved", "class_hints", "forward_text"]


class Unresolved(Value):
    """An annotation whose text could not be evaluated.

    Attributes:
        text: the annotation as written.
        reason: why, on one line.
        remedy: what to do about it, on one line.
    """

    __slots__ = ("text", "reason", "remedy")

    text: str
    reason: str
    remedy: str

    def __init__(self, text: str, reason: str, remedy: str) -> None:
        set_once(self, "text", text)
        set_once(self, "reason", reason)
        set_once(self, "remedy", remedy)


class Scope:
    """Where the names in a class's annotations are looked up.

    First in the namespace given by the user, then in the module of the class, then in the class
    itself: a field `date: date | None = None` means the type, not the default.
    """

    __slots__ = ("_cls", "_module", "_namespace")

    def __init__(self, cls: type | None, namespace: Mapping[str, Any]) -> None:
        self._cls = cls
        self._namespace = namespace
        module = None if cls is None else sys.modules.get(cls.__module__)
        self._module: dict[str, Any] = {} if module is None else vars(module)

    def evaluate(self, text: str) -> Any:
        """Return what the text of one annotation names, or an `Unresolved`."""
        try:
            return self._evaluate(text)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001  # evaluating user text can raise anything
            return self._unresolved(text, error)

    def evaluate_all(self, texts: Sequence[str]) -> list[Any]:
        """Evaluate several annotations, in one go where all of them can be."""
        try:
            together = self._evaluate("(" + ",".join(texts) + ",)")
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  # the culprit is found by taking them one by one
            together = ()
        if len(together) != len(texts):
            return [self.evaluate(text) for text in texts]
        return list(together)

    def _evaluate(self, text: str) -> Any:
        if not self._namespace:
            try:
                return eval(text, self._module)  # noqa: S307  # what annotations as text are for
            except NameError:
                pass
        cls = self._cls
        outer = {} if cls is None else {**vars(cls), cls.__name__: cls}
        return eval(text, outer, {**self._module, **self._namespace})  # noqa: S307  # likewise

    def _unresolved(self, text: str, error: Exception) -> Unresolved:
        shown = clip(escape(text), 100)
        if not isinstance(error, NameError):
            reason = f"{type(error).__name__}: {clip(escape(str(error)), 200)}"
            return Unresolved(shown, reason, "Mend the annotation")
        name = clip(escape(error.name or "it"), 100)
        where = "here" if self._cls is None else f"in module {self._cls.__module__}"
        remedy = f"Import {name} at run time (not under TYPE_CHECKING) or give namespace={{{name!r}: …}}"
        if self._cls is not None and "<locals>" in self._cls.__qualname__:
            remedy = (
                f"The class is defined inside a function: move {name} to module level"
                f" or give namespace={{{name!r}: …}}"
            )
        return Unresolved(shown, f"the name {name} is not defined {where}", remedy)


class Place(Value):
    """Where an annotation stands.

    Attributes:
        path: steps from the registered type, as in `Complaint.path`.
        owner: name of the class that the annotation is written in.
        scope: where the names in its text are looked up.
    """

    __slots__ = ("path", "owner", "scope")

    path: Path
    owner: str
    scope: Scope

    def __init__(self, path: Path, owner: str, scope: Scope) -> None:
        set_once(self, "path", path)
        set_once(self, "owner", owner)
        set_once(self, "scope", scope)


def class_hints(
    cls: type, fields: Sequence[Field[Any]], namespace: Mapping[str, Any]
) -> list[tuple[Any, Scope]]:
    """Return the evaluated annotation of each field, and the scope for what is text inside it.

    Args:
        cls: a dataclass.
        fields: its fields, inherited ones included.
        namespace: names that the user adds.

    Returns:
        One pair a field, in the same order; the annotation is an `Unresolved` where its text could
        not be evaluated.
    """
    bases = cls.__mro__[:-1]
    if len(bases) == 1:
        own_scope = Scope(cls, namespace)
        scopes = [own_scope for _ in fields]
    else:
        owners = [_definer(field, bases) for field in fields]
        known = {owner: Scope(owner, namespace) for owner in dict.fromkeys(owners)}
        scopes = [known[owner] for owner in owners]
    hints: list[Any] = [field.type for field in fields]
    for scope in dict.fromkeys(scopes):
        indexes = [i for i, hint in enumerate(hints) if scopes[i] is scope and type(hint) is str]
        if indexes:
            for i, hint in zip(indexes, scope.evaluate_all([hints[i] for i in indexes]), strict=True):
                hints[i] = hint
    return list(zip(hints, scopes, strict=True))


def _definer(field: Field[Any], bases: Sequence[type]) -> type:
    # Subclasses share the Field objects that they inherit: the farthest base that has this one
    # is the class whose module knows the names in its annotation.
    holders = [base for base in bases if vars(base).get("__dataclass_fields__", {}).get(field.name) is field]
    return holders[-1] if holders else bases[0]


def forward_text(annotation: object) -> str | None:
    """Return the text of a forward reference, or None for any other annotation."""
    if isinstance(annotation, str):
        return annotation
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else None
