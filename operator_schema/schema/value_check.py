"""Does one value fit a schema of a document? Answers in a limited number of steps."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from ..findings import Finding
from ..json_values import fits_types, is_object
from ..message_text import clip, received, steps_of
from ..sameness import CHARACTERS_A_STEP, same_text
from .references import path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ..findings import ValueCode
    from ..message_text import Path
    from .linear_regex import LinearPattern

    Verdict = bool | None
    """Whether a value fits; None if it can't be decided."""
    Check = Callable[["ValueCheck", Any, Any, Path, "Seen | None"], Verdict]

MAX_STEPS: Final = 300_000
"""How many steps the check of one value may take."""

MAX_PROBLEMS: Final = 20
"""How many problems of one value are noted."""

_MAX_DEPTH = 250
_MAX_REASONS = 3
_REASON_LENGTH = 100
_MESSAGE_LENGTH = 300


def unchecked(where: str, keyword: str, reason: str) -> Finding:
    """Make a finding about a keyword of a document that isn't checked.

    Args:
        where: JSON pointer (RFC 6901) to its schema.
        keyword: name of the keyword; empty for the schema as a whole.
        reason: why it isn't checked.
    """
    return Finding(path_of(where), "unchecked", reason, severity="note", where=f"#{where}", keyword=keyword)


class KeywordRule(NamedTuple):
    """The rule for one keyword of a schema.

    Attributes:
        keyword: its name.
        types: the JSON types that it is about; None for all.
        check: the function that decides.
        argument: the value of the keyword, in the form that `check` takes.
        is_last: whether it is about parts of the value that no other keyword looked at.
    """

    keyword: str
    types: frozenset[str] | None
    check: Check
    argument: Any
    is_last: bool


class SchemaRules(NamedTuple):
    """The content of one schema.

    Attributes:
        rules: the rules for its keywords, those with `is_last` at the end.
        is_whole: whether all of it is understood.
    """

    rules: tuple[KeywordRule, ...]
    is_whole: bool


_TOO_LARGE = Finding((), "too_large", "it is too large to be checked; send less", None, None, None)
TOO_DEEP = Finding((), "too_deep", "nested deeper than can be checked", None, None, None)


class TooMuch(Exception):  # noqa: N818  # ends a check; never leaves `Judge.problems`
    """The check takes too long or nests too deeply.

    Attributes:
        problem: the problem to report.
    """

    def __init__(self, problem: Finding) -> None:
        super().__init__()
        self.problem = problem


class Seen:
    """The parts of one value that its schemas have evaluated, for `unevaluatedItems` and similar keywords.

    Attributes:
        keys: keys of an object.
        size: how many items at the beginning of an array.
        indexes: indexes of further items.
    """

    __slots__ = ("indexes", "keys", "size")

    def __init__(self) -> None:
        self.keys: set[str] = set()
        self.indexes: set[int] = set()
        self.size = 0

    def add(self, other: Seen) -> None:
        """Add the parts that another one has seen."""
        self.keys |= other.keys
        self.indexes |= other.indexes
        self.size = max(self.size, other.size)


class ValueCheck:
    """The check of one value.

    Attributes:
        found: problems.
    """

    __slots__ = (
        "_above",
        "_depth",
        "_is_brief",
        "_is_tracking",
        "_known",
        "_left",
        "_noted",
        "_rules",
        "_text",
        "found",
        "is_quiet",
    )

    def __init__(
        self, rules: Mapping[int, SchemaRules], most: int = MAX_STEPS, *, is_tracking: bool = False
    ) -> None:
        self._rules = rules
        self._is_tracking = is_tracking
        self._left = most
        self._depth = 0
        self._above: set[tuple[int, int]] = set()
        self._known: dict[tuple[int, int], Verdict] = {}
        self._noted: set[tuple[int, tuple[str | int, ...]]] = set()
        self._text: tuple[Any, str] = (None, "")
        self._is_brief = False
        self.found: list[Finding] = []
        self.is_quiet = False

    def count(self, steps: int) -> None:
        """Count steps before they are done; raise `TooMuch` when none are left."""
        self._left -= steps
        if self._left < 0:
            raise TooMuch(_TOO_LARGE)

    def refuse(self, path: Path, code: ValueCode, say: Callable[[], str], value: Any) -> Literal[False]:
        """Note a problem, and return False. `say` makes the message, which a quiet check doesn't need."""
        if not self.is_quiet and len(self.found) < MAX_PROBLEMS:
            message = clip(say(), _MESSAGE_LENGTH)
            self.found.append(Finding(steps_of(path), code, message, None, received(value), None))
        return False

    def check(self, schema: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
        """Return whether a value fits a schema."""
        if schema is True:
            return True
        if schema is False:
            return self.refuse(path, "rejected", lambda: "no value is allowed here; leave it out", value)
        rules = self._rules.get(id(schema))
        if rules is None:
            return None
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise TooMuch(TOO_DEEP)
        mine = Seen() if self._is_tracking else None
        verdict: Verdict = True if rules.is_whole else None
        for _, types, check, argument, is_last in rules.rules:
            self.count(1)
            if types is not None and not fits_types(value, types):
                continue
            if is_last and verdict is None:
                continue
            result = check(self, argument, value, path, mine)
            if result is False:
                verdict = False
                if self.is_quiet or len(self.found) >= MAX_PROBLEMS:
                    break
            elif result is None and verdict:
                verdict = None
        self._depth -= 1
        if seen is not None and mine is not None and verdict is not False:
            self.count(len(mine.keys) + len(mine.indexes))
            seen.add(mine)
        return verdict

    def fits(self, schema: Any, value: Any, seen: Seen | None = None) -> Verdict:
        """Return whether a value fits a schema, without noting problems."""
        was_quiet, self.is_quiet = self.is_quiet, True
        verdict = self.check(schema, value, None, seen)
        self.is_quiet = was_quiet
        return verdict

    def refer(self, schema: Any, value: Any, path: Path, seen: Seen | None) -> Verdict:
        """Check a value against the target of a reference; reuse the verdict if it is known already."""
        # The checked value holds this part, so no other object can get its identity.
        key = (id(schema), id(value))
        if key in self._above:  # the reference leads back to itself
            return None
        if key in self._known and not self._is_tracking:
            verdict = self._known[key]
            place = None if self.is_quiet or verdict is not False else (id(schema), steps_of(path))
            if place is None or place in self._noted:
                return verdict
        self._above.add(key)
        verdict = self._known[key] = self.check(schema, value, path, seen)
        self._above.discard(key)
        if verdict is False and not self.is_quiet:
            self._noted.add((id(schema), steps_of(path)))
        return verdict

    def reasons(self, schemas: Iterable[Any], value: Any) -> str:
        """Return in few words why a value fits none of some schemas; empty inside of other reasons."""
        if self._is_brief:
            return ""
        before, self.found, self._is_brief = self.found, [], True
        noted, self._noted = self._noted, set()
        for schema in islice(schemas, _MAX_REASONS):
            self.check(schema, value, None, None)
        messages = [clip(problem.message, _REASON_LENGTH) for problem in self.found[:_MAX_REASONS]]
        self.found, self._is_brief, self._noted = before, False, noted
        return f": {'; '.join(dict.fromkeys(messages))}" if messages else ""

    def rules_of(self, schema: Any) -> tuple[KeywordRule, ...]:
        """Return the rules of a schema; none for a boolean, or for a schema that isn't understood."""
        rules = self._rules.get(id(schema))
        return () if rules is None else rules.rules

    def finds(self, pattern: LinearPattern, text: str) -> bool:
        """Return whether an expression is found in a text."""
        self.count(1 + len(text) // CHARACTERS_A_STEP)
        return pattern.search(text, self.count)

    def text(self, value: Any) -> str:
        """Return a text that is equal for two values exactly when they are the same JSON value."""
        if not isinstance(value, (dict, list)):
            return same_text(value, self.count)
        if self._text[0] is not value:
            self._text = (value, same_text(value, self.count))
        return self._text[1]


_FOLLOWED: Final = 10
"""How many references and schemas in `allOf` are followed in a row."""


def meant_of(run: ValueCheck, schemas: Sequence[Any], value: Any) -> Any:
    """Return the one schema that a value was meant for; None if it may be several or none.

    Args:
        run: the check of the value.
        schemas: alternatives that the value doesn't fit.
        value: a JSON value.
    """
    left = [schema for schema in schemas if schema is not False and _is_of_type(run, schema, value)]
    if len(left) > 1 and is_object(value):
        left = _with_its_tags(run, left, value)
    return left[0] if len(left) == 1 else None


def _is_of_type(run: ValueCheck, schema: Any, value: Any) -> bool:
    named = [rule.argument for rule in _rules_of(run, schema) if rule.keyword == "type"]
    return all(fits_types(value, names) for names in named)


def _with_its_tags(run: ValueCheck, schemas: list[Any], value: dict[str, Any]) -> list[Any]:
    """Return the schemas whose constants a value has, at the keys where all schemas have constants."""
    tags = [_tags_of(run, schema) for schema in schemas]
    shared = [key for key in tags[0] if key in value and all(key in each for each in tags)]
    if not shared:
        return schemas
    texts = {key: None if isinstance(value[key], (dict, list)) else run.text(value[key]) for key in shared}
    return [
        schema
        for schema, each in zip(schemas, tags, strict=True)
        if all(texts[key] in each[key] for key in shared)
    ]


def _tags_of(run: ValueCheck, schema: Any) -> dict[str, frozenset[str]]:
    """Return the keys with a fixed set of values, each with the texts of these values."""
    found: dict[str, frozenset[str]] = {}
    for rule in _rules_of(run, schema):
        if rule.keyword == "properties":
            run.count(len(rule.argument))
            for key, inner in rule.argument.items():
                choices = [
                    own.argument[0] for own in _rules_of(run, inner) if own.keyword in {"const", "enum"}
                ]
                if choices:
                    found[key] = choices[0]
    return found


def _rules_of(run: ValueCheck, schema: Any, level: int = 0) -> Iterator[KeywordRule]:
    """Iterate over the rules that all values of a schema must follow, including those behind references."""
    run.count(1)
    for rule in run.rules_of(schema):
        if rule.keyword not in {"$ref", "allOf"}:
            yield rule
        elif level < _FOLLOWED:
            for inner in rule.argument:
                yield from _rules_of(run, inner, level + 1)
