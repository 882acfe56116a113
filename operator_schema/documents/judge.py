"""Check values against a whole document: what a graph can't hold, such as `not`, `if` and `uniqueItems`.

Neither documents nor values are trusted, so all work is counted in steps: one for each keyword, and for each
item, each key and some characters that it looks at. Where a document says something that isn't understood,
the answer is neither yes nor no; `Judge.left` has these places.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import is_object
from .checks import KEYWORDS, LAST, NOTHING, REASONS
from .document import Left
from .pointers import DEFINITIONS, References, is_old, resolve_pointer, step, subschemas
from .run import TOO_DEEP, Rule, Rules, Run, TooMuch

if TYPE_CHECKING:
    from ..errors import Problem
    from .patterns import Patterns

__all__ = ["Judge"]

_MAX_NOTES = 100


class Judge:
    """Checks values against a document.

    Args:
        document: a JSON Schema document of draft 4 or later.
        patterns: its regular expressions.

    Attributes:
        left: what the document says and isn't checked, in the order in which it was met; 100 at most.
    """

    __slots__ = (
        "_document",
        "_is_old",
        "_is_tracking",
        "_notes",
        "_patterns",
        "_references",
        "_rules",
        "left",
    )

    def __init__(self, document: dict[str, Any], patterns: Patterns) -> None:
        self._document = document
        self._patterns = patterns
        self._references = References(document)
        self._is_old = is_old(document)
        self._is_tracking = False
        self._rules: dict[int, Rules] = {}
        self._notes: dict[tuple[str, str], Left] = {}
        self._read_all()
        self.left = tuple(self._notes.values())

    def problems(self, value: object) -> list[Problem]:
        """Return what is wrong with a value; nothing where that isn't known."""
        run = Run(self._rules, is_tracking=self._is_tracking)
        try:
            run.check(self._document, value, None, None)
        except TooMuch as error:
            run.found.append(error.problem)
        except RecursionError:
            run.found.append(TOO_DEEP)
        return run.found

    # --- reading ---------------------------------------------------------------------------------

    def _read_all(self) -> None:
        """Read every schema that the root leads to."""
        pending: list[tuple[str, Any]] = [("", self._document)]
        while pending:
            where, schema = pending.pop()
            if isinstance(schema, bool) or id(schema) in self._rules:
                continue
            if not is_object(schema):
                self._note(where, "", "it isn't a schema")
                continue
            self._rules[id(schema)], inside = self._read(schema, where)
            pending += reversed(inside)

    def _note(self, where: str, keyword: str, reason: str) -> None:
        if len(self._notes) < _MAX_NOTES:
            self._notes.setdefault((where, keyword), Left(where, keyword, reason))

    def _read(self, schema: dict[str, Any], where: str) -> tuple[Rules, list[tuple[str, Any]]]:
        """Return what a schema says, and the schemas that it leads to."""
        rules: list[Rule] = []
        inside: list[tuple[str, Any]] = []
        is_whole = True
        shown = {"$ref": schema["$ref"]} if self._is_old and "$ref" in schema else schema
        for keyword in sorted(shown, key=LAST.__contains__):
            if keyword == "$ref":
                target = self._target(schema, where)
                inside += [target] if target is not None else []
                argument = None if target is None else (target[1],)
            elif keyword in KEYWORDS:
                argument = KEYWORDS[keyword][1](schema[keyword], schema, self._patterns)
            else:
                continue
            if argument is None:
                is_whole = False
                self._note(where, keyword, REASONS.get(keyword, "it can't be read"))
            elif argument is not NOTHING:
                types, _, check = KEYWORDS[keyword]
                rules.append(Rule(keyword, types, check, argument, keyword in LAST))
                self._is_tracking = self._is_tracking or keyword in LAST
        inside += [
            (step(where, *steps), each) for steps, each in subschemas(shown) if steps[0] not in DEFINITIONS
        ]
        return Rules(tuple(rules), is_whole), inside

    def _target(self, schema: dict[str, Any], where: str) -> tuple[str, Any] | None:
        try:
            target = self._references.find(schema)
        except LookupError:
            return None
        if not is_object(target) and not isinstance(target, bool):
            return None
        found = resolve_pointer(self._document, schema["$ref"])
        is_here = found is not None and found[1] is target
        return (found[0] if found is not None and is_here else step(where, "$ref")), target
