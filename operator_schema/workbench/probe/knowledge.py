"""Which values of answers are tried as arguments of other tools?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ...json_values import is_array, is_object, to_json_text
from ...similar_names import fold
from .calls import Call, has_place
from .parts import choices_of, is_number, placed, type_names
from .sequences import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from random import Random

    from .calls import ProbedTool
    from .outcomes import ProbedOutcome
    from .parts import ArgumentPart, Path

_MOST_KEPT: Final = 8
"""The maximum number of values of one key."""

_MOST_TRIED: Final = 6
_MOST_OF_ANY: Final = 24
_MOST_LEVELS: Final = 6
_MOST_ITEMS: Final = 20
_WORD_WITH_NUMBER: Final = re.compile(r"(?<![\w-])[\w-]*\d[\w-]*(?![\w-])")
_NO_KEY: Final = ""


class KnownValue(NamedTuple):
    """A value that an answer gave.

    Attributes:
        key: the key of the value in its object; empty for a value in a text or a list.
        value: a text or a number.
        steps: the calls that have to be made before, the last of which gives it; none if it is always there.
        path: the place of the value in the data of that answer; None for a value in a text.
    """

    key: str
    value: Any
    steps: tuple[Step, ...]
    path: Path | None


class Knowledge:
    """Values that the answers of a server gave."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, KnownValue]] = {}

    def learn(self, steps: Sequence[Step], outcome: ProbedOutcome) -> None:
        """Keep the values of an answer.

        Args:
            steps: the calls that lead to these values, with the call of this answer; none if the values are
                there from the start.
            outcome: the answer.
        """
        for key, path, value in scalars(outcome.data, ()):
            self._keep(KnownValue(key, value, tuple(steps), path))
        if outcome.data is None:
            for word in _WORD_WITH_NUMBER.findall(outcome.text[:2000])[:_MOST_KEPT]:
                self._keep(KnownValue(_NO_KEY, word, tuple(steps), None))
                if word.isdecimal():
                    self._keep(KnownValue(_NO_KEY, int(word[:15]), tuple(steps), None))

    def _keep(self, known: KnownValue) -> None:
        of_key = self._known.setdefault(fold(known.key), {})
        if len(of_key) < _MOST_KEPT:
            of_key.setdefault(to_json_text(known.value), known)

    def of(self, name: str, *, is_any: bool = False) -> list[KnownValue]:
        """Return the values whose keys fit the name of a parameter.

        Args:
            name: the name of the parameter.
            is_any: whether all other values follow, those without a key first.
        """
        meant = {key for key in self._known if key and means(name, key)}
        keys = [*meant]
        if is_any:
            keys += [key for key in sorted(self._known, key=bool) if key not in meant]
        return [known for key in keys for known in self._known[key].values()]


def means(parameter: str, key: str) -> bool:
    """Return whether a parameter may take the value of a key, as `item_id` may be an `id` or an `item`."""
    one, other = sorted((fold(parameter), fold(key)), key=len)
    return bool(one) and (one == other or (len(one) > 1 and (other.startswith(one) or other.endswith(one))))


def scalars(value: Any, path: Path) -> Iterator[tuple[str, Path, Any]]:
    """Yield the key, the path and the value of each text and number in data."""
    if len(path) > _MOST_LEVELS:
        return
    if is_object(value):
        for key, inner in value.items():
            yield from scalars(inner, (*path, key))
    elif is_array(value):
        for index, inner in enumerate(value[:_MOST_ITEMS]):
            yield from scalars(inner, (*path, index))
    elif isinstance(value, str) or is_number(value):
        yield next((step for step in reversed(path) if isinstance(step, str)), _NO_KEY), path, value


def with_known_values(
    tool: ProbedTool, base: Any, knowledge: Knowledge, random: Random, *, is_any: bool
) -> list[list[Step]]:
    """Return calls of a tool with values that other answers gave, each after the calls that give them.

    Args:
        tool: the called tool.
        base: arguments that its schema allows.
        knowledge: the values.
        random: combines the values of several parameters.
        is_any: whether values are tried, too, whose keys have nothing to do with a parameter.
    """
    fitting = {
        part.path: values
        for part in tool.parts
        if has_place(base, part.path)
        and (values := _fitting(tool, base, part, knowledge, is_any=is_any and part.is_required))
    }
    most = min(_MOST_OF_ANY if is_any else _MOST_TRIED, max(map(len, fitting.values()), default=0))
    chosen = [{path: each[number % len(each)] for path, each in fitting.items()} for number in range(most)]
    if is_any and len(fitting) > 1:
        chosen += [{path: random.choice(each) for path, each in fitting.items()} for _ in range(most)]
    found: dict[str, list[Step]] = {}
    for each in chosen:
        steps = _linked(tool, base, each)
        if tool.allows(steps[-1].call.arguments):
            found.setdefault(steps[-1].call.key(), steps)
    return list(found.values())


def _fitting(
    tool: ProbedTool, base: Any, part: ArgumentPart, knowledge: Knowledge, *, is_any: bool
) -> list[KnownValue]:
    """Return the known values that a part can have."""
    name = next((step for step in reversed(part.path) if isinstance(step, str)), _NO_KEY)
    if choices_of(part.schema) or not type_names(part.schema) & {"string", "integer", "number"}:
        return []
    return [
        known
        for known in knowledge.of(name, is_any=is_any)
        if tool.allows(placed(base, part.path, known.value))
    ]


def _linked(tool: ProbedTool, base: Any, chosen: Mapping[Path, KnownValue]) -> list[Step]:
    arguments, steps = base, list[Step]()
    links: list[tuple[Path, int, Path]] = []
    for path, known in chosen.items():
        arguments = placed(arguments, path, known.value)
        if not known.steps:
            continue
        first = len(steps)
        steps += [
            step._replace(links=tuple((here, of + first, there) for here, of, there in step.links))
            for step in known.steps
        ]
        if known.path is not None:
            links.append((path, len(steps) - 1, known.path))
    return [*steps, Step(Call(tool.name, arguments, "valid", "uses results"), tuple(links))]
