"""Which keys of objects have secrets, however a model spells them?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, cast
from unicodedata import normalize

from ..codec.likely_keys import is_near_key
from ..immutable import Value
from ..introspect.input_parts import places_of
from ..introspect.nodes import LeafNode
from ..json_values import is_object
from ..message_text import listed, quote, received
from ..schema.references import subschemas
from ..similar_names import fold, nearest
from ..tools import WARNING, write_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..introspect.input_parts import ParameterPart
    from ..introspect.leaves import SchemaLeaf
    from ..tools import Tool

_LIKENESS: Final = 0.8
"""How similar a key must be to a name to count as a misspelling of it."""
_LIKENESS_IN_ERRORS: Final = 0.6
"""The same for texts of a model, whose errors may correct one key to another; see `is_near_key`."""
_LONGEST_KEY: Final = 64
"""The most characters of a key that may be a misspelt name."""


class Hidden(Value):
    """The keys with secrets: the given names, and other keys that a model may write for them.

    A model may write `apiToken` for `api_token`, which repair corrects, so that the secret arrives anyway.
    For a key that no schema has, its last words count too: the name `token` includes `access_token`.

    Attributes:
        names: the given names; for fields of a tool, also their other name in Python or JSON.
        declared: keys in the schemas of the called tool; each of these only means itself.
        tool: the name of that tool; None if it isn't known.
        leaves: the leaves with which that tool reads the values of such keys.
        likeness: how similar to a name a key must be.
    """

    names: frozenset[str]
    declared: frozenset[str] = frozenset()
    tool: str | None = None
    leaves: tuple[SchemaLeaf[Any], ...] = ()
    likeness: float = _LIKENESS

    def __contains__(self, key: object) -> bool:
        if key in self.names or key in self.declared:
            return key in self.names
        if not isinstance(key, str):
            return False
        is_short = len(key) <= _LONGEST_KEY
        return _is_meant(key, self.names, self.likeness) if is_short else _is_spelt(key, self.names)

    @property
    def by_model(self) -> Hidden:
        """The same keys for texts of a model, including keys that an error would correct to a name."""
        return self.replace(likeness=_LIKENESS_IN_ERRORS)

    @property
    def by_program(self) -> Hidden:
        """The same keys for texts of a program."""
        return self.replace(likeness=_LIKENESS)

    def warn_of_misspelt(self, tools: Iterable[Tool[..., Any]]) -> None:
        """Log the names that aren't a key of any of these tools, but similar to one.

        A name that isn't similar to any key may be right, because a text or a mapping can contain any key.
        """
        fields = [field for tool in tools for field in (*_keys_in(tool), *_names_in(tool))]
        shown = sorted(set(fields) - self.names)
        near = [(name, nearest(name, shown, _LIKENESS)) for name in sorted(self.names.difference(fields))]
        said = [f"{quote(name)} (did you mean {quote(key)}?)" for name, key in near if key is not None]
        if said:
            write_log(WARNING, "redact has names of keys that no tool has: %s", listed(said))

    def for_tool(self, tool: Tool[..., Any]) -> Hidden:
        """Return the keys for calls of one tool; keys of other tools don't matter for its arguments."""
        places = list(_places_in(tool))
        both = [{place.field.key, place.field.name} for place in places if place.field is not None]
        names = self.names.union(*[pair for pair in both if pair & self.names])
        keys = _keys_in(tool)
        # Repair takes a key of another part of the tool for one that is missing here.
        taken = {fold(name) for name in names.intersection(keys.union(*both))}
        declared = frozenset([key for key in keys if key in names or fold(key) not in taken])
        leaves = [
            place.node.leaf
            for place in places
            if isinstance(place.node, LeafNode) and not names.isdisjoint(place.path)
        ]
        return Hidden(names, declared, tool.name, tuple(dict.fromkeys(leaves)))

    def joined(self, other: Hidden) -> Hidden:
        """Return the keys that either of two tools with the same name hides."""
        return self.replace(
            names=self.names | other.names,
            declared=self.declared & other.declared,
            leaves=tuple(dict.fromkeys([*self.leaves, *other.leaves])),
        )


class KeysOfTools:
    """The keys with secrets in the calls of each tool.

    A tool may be replaced by another one of its name while a call of it runs, so the keys of both count.

    Args:
        hidden: the given names.
    """

    def __init__(self, hidden: Hidden) -> None:
        self.hidden = hidden
        self._known: dict[str, tuple[tuple[Tool[..., Any], ...], Hidden]] = {}

    def add(self, tool: Tool[..., Any], name: str | None = None) -> bool:
        """Note the keys of a tool; return whether they are new.

        Args:
            tool: the tool.
            name: the name in the calls, if it differs from the tool's.
        """
        name = tool.name if name is None else name
        tools, known = self._known.get(name, ((), None))
        if tool in tools:
            return False
        own = self.hidden.for_tool(tool)
        self._known[name] = ((*tools, tool)[-_LAST_TOOLS:], own if known is None else known.joined(own))
        return True

    def of(self, name: str) -> Hidden:
        """Return the keys with secrets in calls with a name."""
        return self._known[name][1] if name in self._known else self.hidden


_LAST_TOOLS: Final = 8
"""How many tools of one name are recognized when they come again; the keys of all tools are remembered."""


def hidden_keys(redact: Any, wanted: str) -> Hidden:
    """Return which keys have secrets.

    Args:
        redact: the given names.
        wanted: the expected type, for the message.

    Raises:
        TypeError: `redact` isn't a collection of names.
    """
    kind = cast("Any", type(redact))
    is_names = issubclass(kind, Collection) and not issubclass(kind, (str, bytes))
    if not is_names or not all(isinstance(name, str) for name in redact):
        way = f": write [{quote(redact)}]" if issubclass(kind, str) else ""
        message = f"redact must be {wanted}, not {received(redact)}{way}"
        raise TypeError(message)
    return Hidden(frozenset(redact))


# --- the keys of a tool --------------------------------------------------------------------------


def _places_in(tool: Tool[..., Any]) -> Iterator[ParameterPart]:
    result = tool.result_codec()
    return chain(places_of(tool.codec.graph), () if result is None else places_of(result.graph))


def _names_in(tool: Tool[..., Any]) -> set[str]:
    return {place.field.name for place in _places_in(tool) if place.field is not None}


def _keys_in(tool: Tool[..., Any]) -> set[str]:
    return _keys_of(tool.input_schema()) | _keys_of(tool.output_schema())


def _keys_of(schema: Any) -> set[str]:
    keys: set[str] = set()
    pending: list[Any] = [schema]
    while pending:
        one = pending.pop()
        if is_object(one):
            named = one.get("properties")
            keys |= set(named) if is_object(named) else set()  # a document may hold anything there
            pending += [inner for _, inner in subschemas(one)]
    return keys


# --- spellings -----------------------------------------------------------------------------------


WORD: Final = re.compile(r"[^\W_]+")
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def key_words(text: str) -> list[str]:
    """Return the words of a text, including those in `apiToken` and `api_token`."""
    return WORD.findall(_HUMP.sub(" ", text))


@lru_cache(4096)
def _is_meant(key: str, names: frozenset[str], likeness: float) -> bool:
    """Return whether a key is another spelling of a name, or nearly the name."""
    if _is_spelt(key, names) or (
        likeness <= _LIKENESS_IN_ERRORS and any(is_near_key(key, name) for name in names)
    ):
        return True
    return any(_is_like(key, name, likeness) for name in _names_like(fold(key), names, likeness))


def _is_spelt(key: str, names: frozenset[str]) -> bool:
    """Return whether a key is a name in another convention, or ends with one, as `access_token` does."""
    forms = _forms_of(names)
    form = _form_of(key)
    if form in forms or not form.endswith(forms):
        return form in forms
    words = key_words(key)[-most_words(names) :]
    return any(_form_of("".join(words[start:])) in forms for start in range(len(words)))


@lru_cache(64)
def _forms_of(names: frozenset[str]) -> tuple[str, ...]:
    return tuple({_form_of(name) for name in names} - {""})


@lru_cache(64)
def most_words(names: frozenset[str]) -> int:
    """Return how many words the longest of these names has."""
    return max([1, *[len(key_words(name)) for name in names]])


def _form_of(key: str) -> str:
    """Return the common form of a key's spellings; spellings that repair treats alike have the same form."""
    folded = fold(key)
    return folded if folded.isascii() and folded.isalnum() else _plain(folded) or folded


def _plain(folded: str) -> str:
    """Return letters and digits without accents, with full-width characters replaced by usual ones."""
    return "".join([c for c in normalize("NFKD", folded).casefold() if c.isalnum()])


@lru_cache(64)
def _letters_of(names: frozenset[str]) -> tuple[tuple[str, int, tuple[tuple[str, int], ...]], ...]:
    return tuple(
        [(name, len(fold(name)), tuple(Counter(fold(name)).items())) for name in sorted(names) if fold(name)]
    )


def _names_like(folded: str, names: frozenset[str], likeness: float) -> Iterator[str]:
    """Yield the names that share enough letters with a key, to save most of the slow comparisons."""
    for name, length, letters in _letters_of(names):
        least = likeness * (length + len(folded)) / 2
        if min(length, len(folded)) >= least:
            shared = 0
            for letter, number in letters:
                shared += min(folded.count(letter), number)
            if shared >= least:
                yield name


def _is_like(key: str, name: str, likeness: float) -> bool:
    # How similar two texts are depends on their order, and the texts for a model compare in both.
    return nearest(key, [name], likeness) is not None or nearest(name, [key], likeness) is not None


# --- keys in objects -----------------------------------------------------------------------------

_NAME_KEYS: Final = {"name", "key", "header", "field"}


def secret_keys_in(values: dict[str, Any], hidden: Hidden) -> set[str]:
    """Return the keys of an object with secrets, including `value` in `{"name": "token", "value": "x"}`."""
    found = {key for key in values if key in hidden}
    names = [value for key, value in values.items() if key.lower() in _NAME_KEYS]
    if any(isinstance(name, str) and name in hidden for name in names):
        found |= {key for key in values if key.lower() == "value"}
    return found
