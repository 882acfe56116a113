"""The problems that decoding and encoding can find, and the signals that end a run early.

A new kind of problem is a method of `Problems` and a function of the same name in `problem_texts`.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ..immutable import T
from ..json_values import MAX_PROBLEMS, copy_at_most, is_array, is_object, to_json_text
from ..message_text import key_step, steps_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    from ..errors import DecodeError, EncodeError
    from ..findings import Finding
    from ..introspect.nodes import EnumNode, Field, LeafNode, LiteralNode, Node, ObjectNode, Target, UnionNode
    from ..message_text import Path

    Definitions = Mapping[Target, Node]
    Steps = tuple[str | int, ...]


INVALID: Any = object()
"""Returned by the interpreter for a value that doesn't fit, after noting the problem."""


class GiveUp(Exception):  # noqa: N818  # a signal: it never reaches a caller
    """The signal of compiled code, raised or returned, that the interpreter has to handle a value."""


@cache
def errors() -> ModuleType:
    """Import and return the module of exceptions; only values that don't fit need it."""
    # An import takes longer than the error, even where the module is there already.
    from .. import errors as loaded

    return loaded


@cache
def document_reader() -> ModuleType:
    """Import and return the module that reads foreign schemas; only leaves with a checked schema need it."""
    from ..schema import document_reader as loaded

    return loaded


def decode_error(
    name: str,
    problems: Problems,
    expects: Callable[[], str],
    example: Callable[[], Any],
    correction: LazyCorrection | None = None,
) -> DecodeError:
    """Return the error for a value that doesn't fit.

    Args:
        name: name of the type.
        problems: the problems of the value, at least one.
        expects: returns the last line of the report.
        example: returns a value that fits, or None.
        correction: returns the value that was probably meant, or None.
    """
    error: DecodeError = errors().DecodeError(
        name, problems.found, expects, problems.omitted, example, None, correction
    )
    error.run = problems
    return error


def encode_error(name: str, problems: Problems) -> EncodeError:
    """Return the error for an instance that doesn't fit."""
    error: EncodeError = errors().EncodeError(name, problems.found, problems.omitted)
    error.run = problems
    return error


_MOST_CORRECTED = 1000
"""The most values of arguments that are corrected; the error shows at most 1,000 characters anyway."""


class LazyCorrection(NamedTuple):
    """A function object that makes the correction of some arguments on demand.

    Attributes:
        make: makes the correction from problems and value.
        problems: the problems of the value.
        value: a copy of the arguments, or their text; None if they are too large to correct.
    """

    make: Callable[[Problems, object], Any]
    problems: Problems
    value: object

    @classmethod
    def of(cls, make: Callable[[Problems, object], Any], problems: Problems, value: object) -> LazyCorrection:
        """Make a lazy correction of a value, with a copy of it, because its owner may change it."""
        kept = copy_at_most(value, _MOST_CORRECTED) if is_array(value) or is_object(value) else value
        return cls(make, problems, kept)

    def __call__(self) -> Any:
        """Return the arguments that were probably meant, or None."""
        return self.make(self.problems, self.value)

    def is_long(self, most: int) -> bool:
        """Return whether the value surely has more than `most` characters, too many to correct."""
        try:
            return len(to_json_text(self.value)) > most
        except Exception:  # noqa: BLE001  # not JSON: its class may have a name that raises anything
            return False


class Asked(NamedTuple):
    """The value of a problem, whose probable meaning is looked for later; for a missing key, the object.

    Attributes:
        at: index of the problem in `Problems.found`.
        node: the node that the value doesn't fit.
        value: the received value.
        definitions: the definitions of the node's graph.
    """

    at: int
    node: Node
    value: object
    definitions: Definitions


class Problems:
    """The problems of one run, in the order in which they were found.

    Each method notes one kind of problem and returns `INVALID`. Problems past `MAX_PROBLEMS` are only
    counted.

    Args:
        definitions: definitions of the graph.
        root: the node of the whole value; None if it isn't known.

    Attributes:
        found: the problems themselves.
        omitted: number of problems that were only counted.
        asked: values whose probable meaning is looked for at the end.
        meant: the values that were probably meant, by index of the problem; None until they are asked for.
        is_hopeless: whether one of the problems can have no suggestion.
        ignored: objects with keys that name no field and are left out: path, node and value.
        iterators: the iterators that encoding has read, each with its items, by identity.
    """

    __slots__ = (
        "_renamed",
        "asked",
        "definitions",
        "found",
        "ignored",
        "is_hopeless",
        "iterators",
        "meant",
        "omitted",
        "root",
    )

    def __init__(self, definitions: Definitions | None = None, root: Node | None = None) -> None:
        self.definitions = definitions or {}
        self.root = root
        self.asked: list[Asked] = []
        self.meant: dict[int, Any] | None = None
        self.is_hopeless = False
        self._renamed: tuple[ObjectNode, Any, dict[str, str]] | None = None
        self.found: list[Finding] = []
        self.ignored: list[tuple[Path, ObjectNode, dict[Any, Any]]] = []
        self.omitted = 0
        self.iterators: dict[int, tuple[Any, list[Any]]] | None = None

    def _note(self, path: Path, kind: str, *about: Any) -> Any:
        if len(self.found) < MAX_PROBLEMS:
            self.found.append(getattr(_texts(), kind)(steps_of(path), *about))
        else:
            self.omitted += 1
        return INVALID

    def add(self, problem: Finding) -> None:
        """Add a finished problem."""
        if len(self.found) < MAX_PROBLEMS:
            self.found.append(problem)
        else:
            self.omitted += 1

    def take(self, other: Problems) -> None:
        """Add the problems of a part that was checked separately, without its ignored keys."""
        room = MAX_PROBLEMS - len(self.found)
        self.asked += [each._replace(at=each.at + len(self.found)) for each in other.asked]
        self.found += other.found[:room]
        self.omitted += other.omitted + len(other.found[room:])

    def refused_by_leaf(self, path: Path, node: LeafNode, value: object, error: Exception) -> Any:
        """Note an exception of a leaf; a `DecodeError` has its own problems, with paths from the leaf on."""
        if not isinstance(error, errors().DecodeError):
            return self.bad_format(path, node, value, error)
        steps = steps_of(path)
        texts = _texts()
        known: Any = error  # as just checked
        for problem in known.findings:
            self.add(texts.of_leaf(steps, node, value, problem, self.renamed))
        return INVALID

    def _ask(self, node: Node, value: object) -> None:
        """Remember a value, so that a suggestion for the next problem can be looked for later."""
        if len(self.found) < MAX_PROBLEMS:
            self.asked.append(Asked(len(self.found), node, value, self.definitions))

    def renamed(self, node: ObjectNode, sent: dict[Any, Any]) -> dict[str, str]:
        """Return the keys under which fields of an object were probably sent, by the right keys."""
        known = self._renamed
        if known is None or known[0] is not node or known[1] is not sent:
            from .likely_keys import meant_keys

            known = self._renamed = node, sent, meant_keys(node, sent)[0]
        return known[2]

    def missing(self, path: Path, field: Field, node: ObjectNode, sent: dict[Any, Any]) -> Any:
        """Note that a required key is missing in an object."""
        self._ask(node, sent)
        return self._note((path, field.key), "missing", field, node, sent, self.renamed, self.definitions)

    def missing_tag(self, path: Path, key: str, choices: LiteralNode) -> Any:
        """Note that the discriminator of a union is missing."""
        return self._note((path, key), "missing_tag", choices)

    def unknown(self, path: Path, key: object, node: ObjectNode, sent: dict[Any, Any]) -> Any:
        """Note a key of an object that names no field, if such keys are refused."""
        return self._note(path, "unknown", key, node, sent, self.renamed)

    def wrapped(self, path: Path, key: str) -> Any:
        """Note that the arguments are wrapped in an object with one key."""
        return self._note(path, "wrapped", key)

    def ignore(self, path: Path, node: ObjectNode, value: dict[Any, Any]) -> None:
        """Note that an object has keys that name no field, which isn't a problem."""
        if len(self.ignored) < MAX_PROBLEMS:
            self.ignored.append((path, node, value))

    def wrong_type(self, path: Path, node: Node, value: object) -> Any:
        """Note a value of another JSON type than the node's."""
        self._ask(node, value)
        return self._note(path, "wrong_type", node, value, self.definitions)

    def wrong_container(self, path: Path, cls: type, value: object) -> Any:
        """Note an array of another Python class than the declared one."""
        return self._note(path, "wrong_container", cls, value)

    def not_one_of(self, path: Path, node: LiteralNode | EnumNode, value: object) -> Any:
        """Note a value that isn't one of the choices."""
        self._ask(node, value)
        return self._note(path, "not_one_of", node, value)

    def out_of_range(self, path: Path, value: object, message: str, expected: str | None = None) -> Any:
        """Note a number that the type can't hold."""
        return self._note(path, "out_of_range", value, message, expected)

    def too_large(self, path: Path, value: object) -> Any:
        """Note an integer of more digits than the limit."""
        return self._note(path, "too_large", value)

    def bad_length(self, path: Path, value: object, message: str, expected: str | None = None) -> Any:
        """Note a string, array or object of the wrong length."""
        return self._note(path, "bad_length", value, message, expected)

    def bad_content(self, path: Path, value: str, said: str, limit: str) -> Any:
        """Note a string that breaks a limit on its content, such as a pattern."""
        return self._note(path, "bad_content", value, said, limit)

    def bad_integer_key(self, path: Path, key: str) -> Any:
        """Note a key that isn't an integer written in decimal digits."""
        return self._note(path, "bad_integer_key", key)

    def bad_text(self, path: Path, value: str) -> Any:
        """Note a string that has a lone surrogate, which no encoding can write."""
        return self._note(path, "bad_text", value)

    def duplicate(self, path: Path, value: object, what: str) -> Any:
        """Note an item of a set, or a key of a map, that equals an earlier one."""
        return self._note(path, "duplicate", value, what)

    def lost_entry(self, path: Path, name: str) -> Any:
        """Note a key of a map that is written like a later one, whose value is kept."""
        return self._note(path, "lost_entry", name)

    def colliding_hashes(self, path: Path, what: str) -> Any:
        """Note items of a set, or keys of a map, that share one hash: comparing them takes too long."""
        return self._note(path, "colliding_hashes", what)

    def repeated_key(self, path: Path) -> Any:
        """Note a key that occurs more than once in one object of the text."""
        return self._note(path, "repeated_key")

    def no_match(self, path: Path, node: UnionNode, value: object) -> Any:
        """Note a value that fits no member of a union."""
        self._ask(node, value)
        return self._note(path, "no_match", node, value, self.renamed, self.definitions)

    def ambiguous(self, path: Path, members: Sequence[Node], value: dict[Any, Any]) -> Any:
        """Note an object that fits several members of a union equally well."""
        return self._note(path, "ambiguous", members, value, self.definitions)

    def read_as_another(self, path: Path, member: Node, others: Sequence[Node]) -> Any:
        """Note an instance whose JSON other members of its union take as well."""
        return self._note(path, "read_as_another", member, others)

    def wrong_class(self, path: Path, cls: type, value: object) -> Any:
        """Note a value that isn't an instance of the class it is encoded as."""
        return self._note(path, "wrong_class", cls, value)

    def no_json_form(self, path: Path, value: object) -> Any:
        """Note a value that can't be encoded because it has no JSON form."""
        return self._note(path, "no_json_form", value)

    def bad_format(self, path: Path, node: LeafNode, value: object, reason: Exception) -> Any:
        """Note a value that a leaf refused."""
        self._ask(node, value)
        return self._note(path, "bad_format", node, value, reason)

    def rejected(self, path: Path, node: ObjectNode, reason: Exception, given: Mapping[Any, Any]) -> Any:
        """Note an exception of a class's own check.

        Args:
            path: the path of the object.
            node: the node of the class.
            reason: the exception. Errors of pydantic and attrs name the wrong fields themselves.
            given: key to the given value of the field, for the paths of such errors.
        """
        found: Sequence[Finding] = ()
        if node.form == "attrs" or hasattr(reason, "errors"):
            from ..introspect.foreign_classes import problems_of_fields

            found = problems_of_fields(node, reason, given)
        steps = steps_of(path) if found else ()
        for problem in found:
            self.add(problem.replace(path=(*steps, *problem.path)))
        return INVALID if found else self._note(path, "rejected", node.name, reason)

    def too_deep(self, path: Path, max_depth: int) -> Any:
        """Note a value that nests deeper than the limit."""
        return self._note(path, "too_deep", max_depth)

    def too_many_values(self, path: Path, most: int) -> Any:
        """Note a value that holds more values than the limit."""
        return self._note(path, "too_many_values", most)

    def too_deep_for_stack(self) -> Any:
        """Note a value that nests deeper than the stack of this process allows."""
        return self._note(None, "too_deep_for_stack")


@cache
def _texts() -> ModuleType:
    # An import takes a third of the time that a problem takes, even if the module is loaded.
    from . import problem_texts

    return problem_texts


class Trial(Problems):
    """A collector that only counts problems, to find out whether a value fits."""

    __slots__ = ()

    def _ask(self, node: Node, value: object) -> None:
        """Do nothing."""

    def _note(self, path: Path, kind: str, *about: Any) -> Any:  # noqa: ARG002  # nothing is made
        self.omitted += 1
        return INVALID

    def ignore(self, path: Path, node: ObjectNode, value: dict[Any, Any]) -> None:
        """Do nothing: ignored keys are reported by the decode after the trial."""


def ignored_keys(problems: Problems) -> list[tuple[Steps, str | None]]:
    """Return the keys that name no field, each as its path and the most similar valid key."""
    places = ignored_places(problems)
    if not places:
        return []
    from ..similar_names import nearest  # few calls have such keys

    return [(steps, nearest(str(steps[-1]), keys)) for steps, keys in places]


def ignored_places(problems: Problems) -> list[tuple[Steps, list[str]]]:
    """Return the paths of the keys that name no field, each with the valid keys of its object."""
    found: list[tuple[Steps, list[str]]] = []
    for path, node, value in problems.ignored:
        keys = [field.key for field in node.fields]
        unknown = (key for key in value if key not in keys)
        steps = steps_of(path)
        found += [((*steps, key_step(key)), keys) for key in islice(unknown, MAX_PROBLEMS - len(found))]
    return found


class Trials(dict[tuple[int, int, int], tuple["Node", Any, T]]):
    """A cache of the answers of one run, by identity of node and value and by depth.

    Unions inside unions would otherwise try a value again at each level, which takes exponential time.
    Node and value stay alive with the answer, because new objects may get the identities of deleted ones, and
    must not get their answers.
    """

    __slots__ = ()

    def ask(self, attempt: Callable[[Any, Any, int], T], node: Node, value: Any, depth: int) -> T:
        """Return the result of `attempt(node, value, depth)`, called only once for the same three."""
        key = (id(node), id(value), depth)
        known = self.get(key)
        if known is None:
            known = self[key] = node, value, attempt(node, value, depth)
        return known[2]
