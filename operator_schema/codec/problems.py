"""The problems that decoding and encoding can find, each with its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import Problem
from ..wording import clip, escape, excerpt, kind, listed, nearest, quote, received
from .expected import expected, expected_field
from .limits import MAX_INTEGER_DIGITS, MAX_PROBLEMS

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..introspect.nodes import EnumNode, Field, LeafNode, LiteralNode, Node, ObjectNode

    Path = tuple["Path", str | int] | None
    Steps = tuple[str | int, ...]

__all__ = ["GIVE_UP", "INVALID", "Problems", "Trial", "steps_of"]

_MESSAGE_LENGTH = 200


class _Invalid:
    """What a decoder returns for a value that it has reported."""

    __slots__ = ()


INVALID: Any = _Invalid()


class _GiveUp:
    """What a compiled function returns for a value that the interpreter is to look at."""

    __slots__ = ()


GIVE_UP: Any = _GiveUp()


def steps_of(path: Path) -> Steps:
    """Write out a path that was kept as nested pairs, innermost step first."""
    steps: list[str | int] = []
    while path is not None:
        path, step = path
        steps.append(step)
    return tuple(reversed(steps))


class Problems:
    """The problems of one run, in the order in which they were found.

    Each method notes one kind of problem and returns `INVALID`. Past `MAX_PROBLEMS` they are
    counted, no longer made.

    Attributes:
        found: the problems themselves.
        omitted: number of those that were counted only.
    """

    __slots__ = ("found", "omitted")

    def __init__(self) -> None:
        self.found: list[Problem] = []
        self.omitted = 0

    def _note(self, path: Path, make: Callable[..., Problem], *about: Any) -> Any:
        if len(self.found) < MAX_PROBLEMS:
            self.found.append(make(steps_of(path), *about))
        else:
            self.omitted += 1
        return INVALID

    def add(self, problem: Problem) -> None:
        """Note a problem that is made already."""
        self._note(None, _as_it_is, problem)

    def missing(self, path: Path, field: Field) -> Any:
        """Note that a required key is not there."""
        return self._note((path, field.key), _missing, field)

    def missing_tag(self, path: Path, key: str, choices: LiteralNode) -> Any:
        """Note that the key is not there that tells the members of a union apart."""
        return self._note((path, key), _missing_tag, choices)

    def unknown(self, path: Path, key: object, node: ObjectNode) -> Any:
        """Note a key that names no field, where such keys are refused."""
        return self._note(path, _unknown, key, node)

    def wrong_type(self, path: Path, node: Node, value: object) -> Any:
        """Note a value of another JSON type than the node's."""
        return self._note(path, _wrong_type, node, value)

    def not_one_of(self, path: Path, node: LiteralNode | EnumNode, value: object) -> Any:
        """Note a value that is none of the choices."""
        return self._note(path, _not_one_of, node, value)

    def out_of_range(self, path: Path, value: object, message: str) -> Any:
        """Note a number that the type can't hold."""
        return self._note(path, _of_number, "out_of_range", value, message)

    def too_large(self, path: Path, value: object) -> Any:
        """Note an integer of more digits than the limit."""
        message = f"has more than {MAX_INTEGER_DIGITS} digits"
        return self._note(path, _of_number, "too_large", value, message)

    def bad_length(self, path: Path, value: object, message: str) -> Any:
        """Note a string, array or object of the wrong length."""
        return self._note(path, _bad_length, value, message)

    def bad_pattern(self, path: Path, value: str, pattern: str) -> Any:
        """Note a string in which the pattern is not found."""
        return self._note(path, _bad_pattern, value, pattern)

    def bad_text(self, path: Path, value: str) -> Any:
        """Note a string that has a lone surrogate, which no text can hold."""
        return self._note(path, _bad_text, value)

    def duplicate(self, path: Path, value: object, what: str) -> Any:
        """Note an item of a set, or a key of a map, that stands for one that is there already."""
        return self._note(path, _duplicate, value, what)

    def repeated(self, path: Path) -> Any:
        """Note a key that is there more than once in one object of the text."""
        return self._note(path, _repeated)

    def no_match(self, path: Path, node: Node, value: object) -> Any:
        """Note a value that fits no member of a union."""
        return self._note(path, _no_match, node, value)

    def not_an(self, path: Path, cls: type, value: object) -> Any:
        """Note a value that is no instance of the class it should be encoded as."""
        return self._note(path, _not_an, cls, value)

    def no_json_form(self, path: Path, value: object) -> Any:
        """Note a value that can't be encoded because nothing says how."""
        return self._note(path, _no_json_form, value)

    def bad_format(self, path: Path, node: LeafNode, value: object, reason: Exception) -> Any:
        """Note a value that a leaf refused."""
        return self._note(path, _bad_format, node, value, reason)

    def rejected(self, path: Path, type_name: str, reason: Exception) -> Any:
        """Note what a class's own check said."""
        return self._note(path, _rejected, type_name, reason)

    def too_deep(self, path: Path, max_depth: int) -> Any:
        """Note a value that nests deeper than the limit."""
        return self._note(path, _too_deep, f"nested deeper than {max_depth} levels")

    def too_deep_to_follow(self) -> Any:
        """Note a value that nests deeper than the stack of this process allows."""
        return self._note(None, _too_deep, "nested deeper than this process can follow")


class Trial(Problems):
    """Counts problems and makes none: for finding out whether a value fits."""

    __slots__ = ()

    def _note(self, path: Path, make: Callable[..., Problem], *about: Any) -> Any:  # noqa: ARG002  # nothing is made
        self.omitted += 1
        return INVALID


def _as_it_is(_steps: Steps, problem: Problem) -> Problem:
    return problem


def _missing(steps: Steps, field: Field) -> Problem:
    what = expected_field(field)
    return Problem(steps, "missing", f"missing ({what})", what)


def _missing_tag(steps: Steps, choices: LiteralNode) -> Problem:
    what = expected(choices)
    return Problem(steps, "missing", f"missing ({what}); it says which object this is", what)


def _unknown(steps: Steps, key: object, node: ObjectNode) -> Problem:
    names = [field.key for field in node.fields]
    name = key if isinstance(key, str) else excerpt(key)
    near = nearest(name, names)
    fields = listed([quote(known) for known in names]) if names else "none"
    message = f"unknown key; the keys are {fields}" if names else "unknown key; there are no keys"
    return Problem((*steps, name), "unknown", message, fields, None, quote(near) if near else None)


def _wrong_type(steps: Steps, node: Node, value: object) -> Problem:
    what, came = expected(node), received(value)
    return Problem(steps, "wrong_type", f"expected {what}, got {came}", what, came)


def _not_one_of(steps: Steps, node: LiteralNode | EnumNode, value: object) -> Problem:
    options = [excerpt(option) for option in node.values]
    what = listed(options)
    near = _nearest_choice(node.values, value)
    shown = excerpt(value) if kind(value) in _SCALAR_KINDS else received(value)
    return Problem(steps, "not_one_of", f"{shown} is not one of {what}", what, received(value), near)


_SCALAR_KINDS = frozenset({"string", "integer", "number", "boolean", "null"})


def _nearest_choice(values: tuple[Any, ...], value: object) -> str | None:
    if not isinstance(value, str):
        return next((quote(v) for v in values if isinstance(v, str) and v == excerpt(value)), None)
    texts = {v if isinstance(v, str) else excerpt(v): v for v in values}
    near = nearest(value, texts)
    return None if near is None else excerpt(texts[near])


def _of_number(steps: Steps, code: Any, value: object, message: str) -> Problem:
    return Problem(steps, code, f"{excerpt(value)} {message}", None, received(value))


def _bad_length(steps: Steps, value: object, message: str) -> Problem:
    return Problem(steps, "bad_length", message, None, received(value))


def _bad_pattern(steps: Steps, value: str, pattern: str) -> Problem:
    what = clip(escape(pattern), _MESSAGE_LENGTH)
    message = f"{excerpt(value)} does not match the pattern {what}"
    return Problem(steps, "bad_format", message, what, received(value))


def _bad_text(steps: Steps, value: str) -> Problem:
    message = f"{excerpt(value)} has half of a surrogate pair, which is no character"
    return Problem(steps, "bad_format", message, "string", received(value))


def _duplicate(steps: Steps, value: object, what: str) -> Problem:
    message = f"{excerpt(value)} is there already; {what} must differ"
    return Problem(steps, "duplicate", message, None, received(value))


def _repeated(steps: Steps) -> Problem:
    return Problem(steps, "duplicate", "the key is there more than once")


def _no_match(steps: Steps, node: Node, value: object) -> Problem:
    what, came = expected(node), received(value)
    return Problem(steps, "no_match", f"{came} fits none of {what}", what, came)


def _not_an(steps: Steps, cls: type, value: object) -> Problem:
    came = received(value)
    return Problem(steps, "wrong_type", f"expected {cls.__name__}, got {came}", cls.__name__, came)


def _no_json_form(steps: Steps, value: object) -> Problem:
    message = f"{kind(value)} has no JSON form; give its type a SchemaLeaf or make it a dataclass"
    return Problem(steps, "wrong_type", message, "a JSON value", received(value))


def _bad_format(steps: Steps, node: LeafNode, value: object, reason: Exception) -> Problem:
    what = expected(node)
    message = f"{excerpt(value)} is not accepted: {_said(reason)}"
    return Problem(steps, "bad_format", message, what, received(value))


def _rejected(steps: Steps, type_name: str, reason: Exception) -> Problem:
    return Problem(steps, "rejected", f"{type_name} refused it: {_said(reason)}")


def _too_deep(steps: Steps, message: str) -> Problem:
    return Problem(steps, "too_deep", message)


def _said(reason: Exception) -> str:
    return clip(escape(str(reason)[: _MESSAGE_LENGTH + 1]), _MESSAGE_LENGTH) or type(reason).__name__
