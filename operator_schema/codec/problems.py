"""The problems that decoding and encoding can find, each with its words."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from ..errors import Problem
from ..introspect.nodes import ArrayNode, EnumNode, LeafNode, LiteralNode, ObjectNode, ScalarNode, UnionNode
from ..introspect.unions import json_types_of, spread_members
from ..json_values import fits_types, is_array, is_object, type_of
from ..schema import INTEGER_KEY
from ..wording import clip, escape, excerpt, kind, nearest, quote, received
from .expected import EXPECTED_LENGTH, expected, expected_field, fitted, show_choice
from .limits import MAX_INTEGER_DIGITS, MAX_PROBLEMS
from .quoted import quoted_scalar, quoted_type

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from ..introspect.nodes import Field, Node, Target

    Definitions = Mapping[Target, Node]

    Path = tuple["Path", str | int] | None
    Steps = tuple[str | int, ...]

__all__ = ["GIVE_UP", "INVALID", "Problems", "Trial", "ignored_keys", "steps_of"]

MESSAGE_LENGTH = 300
"""Characters of a problem's message, at most."""

_SAID_LENGTH = 180
_CHOICES_LENGTH = 200
_NAME_LENGTH = 60
_SUGGESTED_LENGTH = 100
_LISTED_CHOICES = 20
_COMPARED_KEYS = 500


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

    Args:
        definitions: of the graph.

    Attributes:
        found: the problems themselves.
        omitted: number of those that were counted only.
        ignored: objects with keys that name no field and are left out: path, node and value.
    """

    __slots__ = ("definitions", "found", "ignored", "omitted")

    def __init__(self, definitions: Definitions | None = None) -> None:
        self.definitions = definitions or {}
        self.found: list[Problem] = []
        self.ignored: list[tuple[Path, ObjectNode, dict[Any, Any]]] = []
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

    def missing(self, path: Path, field: Field, node: ObjectNode, sent: Iterable[object] = ()) -> Any:
        """Note that a required key is not there, among the keys that were sent."""
        return self._note((path, field.key), _missing, field, node, sent, self.definitions)

    def missing_tag(self, path: Path, key: str, choices: LiteralNode) -> Any:
        """Note that the key is not there that tells the members of a union apart."""
        return self._note((path, key), _missing_tag, choices)

    def unknown(self, path: Path, key: object, node: ObjectNode, sent: Collection[object] = ()) -> Any:
        """Note a key that names no field, where such keys are refused, among the keys that were sent."""
        return self._note(path, _unknown, key, node, sent)

    def ignore(self, path: Path, node: ObjectNode, value: dict[Any, Any]) -> None:
        """Note that an object has keys that name no field, which is no problem."""
        if len(self.ignored) < MAX_PROBLEMS:
            self.ignored.append((path, node, value))

    def wrong_type(self, path: Path, node: Node, value: object) -> Any:
        """Note a value of another JSON type than the node's."""
        return self._note(path, _wrong_type, node, value, self.definitions)

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

    def bad_integer_key(self, path: Path, key: str) -> Any:
        """Note a key that is no integer written in decimal digits."""
        return self._note(path, _bad_integer_key, key)

    def bad_text(self, path: Path, value: str) -> Any:
        """Note a string that has a lone surrogate, which no text can hold."""
        return self._note(path, _bad_text, value)

    def duplicate(self, path: Path, value: object, what: str) -> Any:
        """Note an item of a set, or a key of a map, that stands for one that is there already."""
        return self._note(path, _duplicate, value, what)

    def crowded(self, path: Path, what: str) -> Any:
        """Note items of a set, or keys of a map, that take too long to tell apart."""
        return self._note(path, _crowded, what)

    def repeated(self, path: Path) -> Any:
        """Note a key that is there more than once in one object of the text."""
        return self._note(path, _repeated)

    def no_match(self, path: Path, node: UnionNode, value: object) -> Any:
        """Note a value that fits no member of a union."""
        return self._note(path, _no_match, node, value, self.definitions)

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

    def ignore(self, path: Path, node: ObjectNode, value: dict[Any, Any]) -> None:
        """Do nothing: the trial is none of the value's last word."""


def ignored_keys(problems: Problems) -> list[tuple[Steps, str | None]]:
    """Return the keys that name no field, each as its path and the nearest key that names one."""
    found: list[tuple[Steps, str | None]] = []
    for path, node, value in problems.ignored:
        keys = [field.key for field in node.fields]
        unknown = (key for key in value if key not in keys)
        for key in islice(unknown, MAX_PROBLEMS - len(found)):
            name = key if isinstance(key, str) else excerpt(key)
            found.append(((*steps_of(path), name), nearest(name, keys)))
    return found


def _as_it_is(_steps: Steps, problem: Problem) -> Problem:
    return problem


def _missing(
    steps: Steps, field: Field, node: ObjectNode, sent: Iterable[object], definitions: Definitions
) -> Problem:
    what = expected_field(field, definitions)
    keys = {known.key for known in node.fields}
    unused = [key for key in islice(sent, _COMPARED_KEYS) if isinstance(key, str) and key not in keys]
    near = (nearest(field.key, unused) or nearest(field.name, unused)) if unused else None
    instead = f"; you sent {quote(near)} instead" if near else ""
    return Problem(steps, "missing", f"missing ({what}){instead}", what)


def _missing_tag(steps: Steps, choices: LiteralNode) -> Problem:
    what = f"{expected(choices)}, required"
    return Problem(steps, "missing", f"missing ({what}); it says which object this is", what)


def _unknown(steps: Steps, key: object, node: ObjectNode, sent: Collection[object]) -> Problem:
    names = [known.key for known in node.fields]
    name = key if isinstance(key, str) else excerpt(key)
    near = nearest(name, [known for known in names if known not in sent])
    fields = fitted(names, show_choice, _CHOICES_LENGTH, most=_LISTED_CHOICES) if names else "none"
    message = f"unknown key; the keys are {fields}" if names else "unknown key; there are no keys"
    return Problem((*steps, name), "unknown", message, fields, None, _suggested(near))


def _suggested(value: Any) -> str | None:
    return None if value is None else excerpt(value, _SUGGESTED_LENGTH)


def _wrong_type(steps: Steps, node: Node, value: object, definitions: Definitions) -> Problem:
    # At the root the keys stand in the line below the problems.
    what, came = expected(node, 1 if steps else 0, EXPECTED_LENGTH, definitions), received(value)
    types = _types_of(node, definitions)
    held = quoted_type(value) if isinstance(value, str) else None
    if held in {"array", "object"} and held in types:
        message = f"got a string that holds JSON; send the {held} itself, not as a string: expected {what}"
        return Problem(steps, "wrong_type", message, what, came)
    near = _in_array(node, value) if held is None else _without_quotes(types, quoted_scalar(str(value)))
    message = f"expected {what}{_sample(node)}, got {came}{_out_of_array(types, value)}"
    return Problem(steps, "wrong_type", clip(message, MESSAGE_LENGTH), what, came, near)


def _types_of(node: Node, definitions: Definitions) -> set[str]:
    if isinstance(node, ScalarNode):
        return {node.type}
    members = spread_members(node, definitions) if isinstance(node, UnionNode) else [node]
    return {name for member in members for name in json_types_of(member)}


def _sample(node: Node) -> str:
    """Show how a leaf is written, which its type alone does not say."""
    if not isinstance(node, LeafNode):
        return ""
    try:
        sample = node.leaf.encode(node.leaf.placeholder)
    except Exception:  # noqa: BLE001  # the leaf's own code, which takes no part in this report
        return ""
    return f" such as {excerpt(sample)}" if fits_types(sample, node.leaf.json_types) else ""


def _out_of_array(types: set[str], value: object) -> str:
    if not is_array(value) or len(value) != 1 or type_of(value[0]) not in types:
        return ""
    return "; send the item alone, not in an array"


def _without_quotes(types: set[str], scalar: Any) -> str | None:
    """Show the number, boolean or null that stood in quotes, where it is what was wanted."""
    return excerpt(scalar) if fits_types(scalar, types) else None


def _in_array(node: Node, value: object) -> str | None:
    """Return one item as the array that was wanted, where it is short enough to be shown whole."""
    if not isinstance(node, ArrayNode) or type_of(value) not in json_types_of(node.items):
        return None
    shown = excerpt(value)
    return None if "…" in shown else f"[{shown}]"


def _not_one_of(steps: Steps, node: LiteralNode | EnumNode, value: object) -> Problem:
    what = fitted(node.values, show_choice, _CHOICES_LENGTH, most=_LISTED_CHOICES)
    near = _nearest_choice(node.values, value) or _nearest_member(node, value)
    shown = excerpt(value) if kind(value) in _SCALAR_KINDS else received(value)
    return Problem(steps, "not_one_of", f"{shown} is not one of {what}", what, received(value), near)


_SCALAR_KINDS = frozenset({"string", "integer", "number", "boolean", "null"})


def _nearest_choice(values: tuple[Any, ...], value: object) -> str | None:
    if not isinstance(value, str):
        return next((_suggested(v) for v in values if isinstance(v, str) and v == excerpt(value)), None)
    texts = {v if isinstance(v, str) else excerpt(v): v for v in values}
    if None in texts.values():
        texts.setdefault("none", None)
    near = nearest(value, texts)
    return None if near is None else excerpt(texts[near], _SUGGESTED_LENGTH)


def _nearest_member(node: LiteralNode | EnumNode, value: object) -> str | None:
    """Find the value of the Enum's member that was meant by its name."""
    if not isinstance(node, EnumNode) or not isinstance(value, str):
        return None
    name = nearest(value, node.type.__members__)
    return None if name is None else _suggested(node.type.__members__[name].value)


def _of_number(steps: Steps, code: Any, value: object, message: str) -> Problem:
    return Problem(steps, code, f"{excerpt(value)} {message}", None, received(value))


def _bad_length(steps: Steps, value: object, message: str) -> Problem:
    return Problem(steps, "bad_length", message, None, received(value))


def _bad_pattern(steps: Steps, value: str, pattern: str) -> Problem:
    what = clip(escape(pattern), _SAID_LENGTH)
    message = f"{excerpt(value)} does not match the pattern {what}"
    return Problem(steps, "bad_format", message, what, received(value))


def _bad_integer_key(steps: Steps, key: str) -> Problem:
    message = f"the key {excerpt(key)} is no integer in plain digits, such as 42"
    return Problem(steps, "bad_format", message, INTEGER_KEY, received(key))


def _bad_text(steps: Steps, value: str) -> Problem:
    message = f"{excerpt(value)} has half of a surrogate pair, which is no character"
    return Problem(steps, "bad_format", message, "string", received(value))


def _duplicate(steps: Steps, value: object, what: str) -> Problem:
    message = f"{excerpt(value)} equals an earlier one; {what} must differ"
    return Problem(steps, "duplicate", message, None, received(value))


def _crowded(steps: Steps, what: str) -> Problem:
    message = f"too many of {what} share one hash, so that telling them apart would take too long; send fewer"
    return Problem(steps, "too_large", message)


def _repeated(steps: Steps) -> Problem:
    return Problem(steps, "duplicate", "the key is there more than once")


def _no_match(steps: Steps, node: UnionNode, value: object, definitions: Definitions) -> Problem:
    what, came = expected(node, 1, EXPECTED_LENGTH, definitions), received(value)
    members = spread_members(node, definitions)
    if is_object(value):
        near = _nearest_key([member for member in members if isinstance(member, ObjectNode)], value)
    else:
        choices = [member.values for member in members if isinstance(member, (LiteralNode, EnumNode))]
        near = _nearest_choice(sum(choices, ()), value)
    return Problem(steps, "no_match", f"{came} fits none of {what}", what, came, near)


def _nearest_key(members: list[ObjectNode], value: dict[Any, Any]) -> str | None:
    """Find the key of any of these objects that was meant by a key that none of them has."""
    keys = list(dict.fromkeys([field.key for member in members for field in member.fields]))
    unknown = [key for key in islice(value, _COMPARED_KEYS) if isinstance(key, str) and key not in keys]
    return next((f"{quote(near)} for {quote(key)}" for key in unknown if (near := nearest(key, keys))), None)


def _not_an(steps: Steps, cls: type, value: object) -> Problem:
    came, name = received(value), _name(cls.__name__)
    return Problem(steps, "wrong_type", f"expected {name}, got {came}", name, came)


def _no_json_form(steps: Steps, value: object) -> Problem:
    message = f"{kind(value)} has no JSON form; give its type a SchemaLeaf or make it a dataclass"
    return Problem(steps, "wrong_type", message, "a JSON value", received(value))


def _bad_format(steps: Steps, node: LeafNode, value: object, reason: Exception) -> Problem:
    what = expected(node)
    message = f"{excerpt(value)} is not accepted: {_said(reason)}"
    return Problem(steps, "bad_format", message, what, received(value))


def _rejected(steps: Steps, type_name: str, reason: Exception) -> Problem:
    said = clip(escape(str(reason)[: _SAID_LENGTH + 1]), _SAID_LENGTH)
    why = f"refused it: {said}" if said else f"refused it without saying why ({_name(type(reason).__name__)})"
    return Problem(steps, "rejected", f"{_name(type_name)} {why}")


def _name(text: str) -> str:
    return clip(escape(text), _NAME_LENGTH)


def _too_deep(steps: Steps, message: str) -> Problem:
    return Problem(steps, "too_deep", message)


def _said(reason: Exception) -> str:
    return clip(escape(str(reason)[: _SAID_LENGTH + 1]), _SAID_LENGTH) or type(reason).__name__
