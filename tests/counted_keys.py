"""Keys that count how often they are compared: what looks each of many up in a list compares them all."""

from __future__ import annotations


class CountedKey(str):
    """A key, equal to the same text, that counts each comparison."""

    __slots__ = ()
    comparisons = 0

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __eq__(self, other: object) -> bool:
        CountedKey.comparisons += 1
        return str.__eq__(self, other)


def comparisons_of(work, number):
    """Return how often the required keys of a schema are compared while something reads the schema.

    Args:
        work: takes a schema of an object.
        number: of its properties, each of which is required.
    """
    keys = [f"key {n}" for n in range(number)]
    schema = {
        "type": "object",
        "properties": {key: {"type": "string"} for key in keys},
        "required": [*map(CountedKey, keys)],
        "additionalProperties": False,
    }
    before = CountedKey.comparisons
    work(schema)
    return CountedKey.comparisons - before
