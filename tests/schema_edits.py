"""Random JSON Schema documents, edits of them, and values near both: what comparisons are judged with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

try:
    from jsonschema_rs import Draft202012Validator as FastValidator
except ModuleNotFoundError:  # it has compiled parts
    FastValidator = Draft202012Validator

if TYPE_CHECKING:
    import random

CHOICES = ("a", "b", "c", 1, 2, True, None, "ab")
OTHERS = ("a", "zz", "", 0, 1, -5, 2.5, 100, True, False, None, [], {}, ["a"], {"p": 1})
INTEGERS = (-4, -3, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 20, 4.0)
NUMBERS = (-4, -3, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 2.6, 3, 5, 5.5, 7.5, 8, 10, 10.5, 11)
PATTERNS = ("^a", "b$", "^[a-z]+$", r"\d")


class Documents:
    """Makes documents, edits and values by chance.

    Args:
        chance: what decides.
    """

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def is_likely(self, share: float) -> bool:
        return self.chance.random() < share

    # --- documents -------------------------------------------------------------------------------

    def arguments(self) -> dict[str, Any]:
        """Make a document of the arguments of a tool."""
        return self.object(3)

    def schema(self, depth: int) -> dict[str, Any]:
        if depth <= 0 or self.is_likely(0.45):
            return self.scalar()
        make = self.chance.choice([self.object, self.object, self.array, self.map, self.tuple, self.union])
        return make(depth)

    def scalar(self) -> dict[str, Any]:
        make = self.chance.choice([self.plain, self.text, self.number, self.number, self.choice])
        return make()

    def plain(self) -> dict[str, Any]:
        names = ["string", "integer", "null", "boolean"]
        return {"type": self.chance.choice(["string", "integer", "boolean", self.chance.sample(names, 2)])}

    def text(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string"}
        if self.is_likely(0.6):
            schema["minLength"] = self.chance.randrange(4)
        if self.is_likely(0.6):
            schema["maxLength"] = self.chance.randrange(3, 8)
        if self.is_likely(0.2):
            schema["pattern"] = self.chance.choice(PATTERNS)
        return schema

    def number(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": self.chance.choice(["integer", "number"])}
        if self.is_likely(0.5):
            schema[self.chance.choice(["minimum", "exclusiveMinimum"])] = self.chance.choice([-3, 0, 1, 2.5])
        if self.is_likely(0.5):
            schema[self.chance.choice(["maximum", "exclusiveMaximum"])] = self.chance.choice([5, 10, 7.5])
        if self.is_likely(0.2):
            schema["multipleOf"] = self.chance.choice([2, 3, 0.5])
        return schema

    def choice(self) -> dict[str, Any]:
        return {"enum": self.chance.sample(CHOICES, self.chance.randrange(1, 5))}

    def object(self, depth: int) -> dict[str, Any]:
        names = self.chance.sample("pqrst", self.chance.randrange(1, 4))
        schema: dict[str, Any] = {
            "type": "object",
            "properties": {name: self.schema(depth - 1) for name in names},
        }
        required = [name for name in names if self.is_likely(0.5)]
        if required:
            schema["required"] = required
        if self.is_likely(0.2):
            schema["additionalProperties"] = False
        return schema

    def array(self, depth: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array", "items": self.schema(depth - 1)}
        if self.is_likely(0.4):
            schema["minItems"] = self.chance.randrange(3)
        if self.is_likely(0.4):
            schema["maxItems"] = self.chance.randrange(2, 5)
        if self.is_likely(0.1):
            schema["uniqueItems"] = True
        return schema

    def map(self, depth: int) -> dict[str, Any]:
        return {"type": "object", "additionalProperties": self.schema(depth - 1)}

    def tuple(self, depth: int) -> dict[str, Any]:
        size = self.chance.randrange(1, 3)
        items = [self.schema(depth - 1) for _ in range(size)]
        return {"type": "array", "prefixItems": items, "items": False, "minItems": size, "maxItems": size}

    def union(self, depth: int) -> dict[str, Any]:
        return {"anyOf": [self.scalar(), self.object(depth) if self.is_likely(0.5) else self.scalar()]}

    # --- edits -----------------------------------------------------------------------------------

    def edited(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a copy with one change, or two, that is another document."""
        while True:
            copy = json.loads(json.dumps(schema))
            for _ in range(2 if self.is_likely(0.4) else 1):
                self._edit(copy)
            if copy != schema:
                return copy

    def _edit(self, schema: dict[str, Any]) -> None:
        place = self.chance.choice(places_in(schema))
        self.chance.choice(EDITS)(self, place, schema)

    def replace(self, place: dict[str, Any], root: dict[str, Any]) -> None:
        if place is not root:
            new = self.schema(1)
            place.clear()
            place.update(new)

    def set_property(self, place: dict[str, Any], _root: object) -> None:
        if "properties" in place:
            place["properties"][self.chance.choice("pqrstu")] = self.schema(1)

    def change_required(self, place: dict[str, Any], _root: object) -> None:
        if place.get("properties"):
            name = self.chance.choice(sorted(place["properties"]))
            place["required"] = sorted({*place.get("required", [])} ^ {name})

    def remove_property(self, place: dict[str, Any], _root: object) -> None:
        if len(place.get("properties", {})) > 1:
            name = self.chance.choice(sorted(place["properties"]))
            del place["properties"][name]
            place["required"] = [other for other in place.get("required", []) if other != name]

    def change_closed(self, place: dict[str, Any], _root: object) -> None:
        if "properties" in place:
            place["additionalProperties"] = self.is_likely(0.5)

    def change_choice(self, place: dict[str, Any], _root: object) -> None:
        if "enum" in place:
            place.update(self.choice())

    def change_limit(self, place: dict[str, Any], _root: object) -> None:
        names = {
            "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
            "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
            "string": ("minLength", "maxLength"),
            "array": () if "prefixItems" in place else ("minItems", "maxItems"),
        }
        known = names.get(str(place.get("type")), ())
        if known:
            place[self.chance.choice(known)] = self.chance.choice([0, 1, 2, 4, 8])

    def change_number(self, place: dict[str, Any], _root: object) -> None:
        other = {"integer": "number", "number": "integer"}
        place["type"] = other.get(str(place.get("type")), place.get("type"))
        if place["type"] is None:
            del place["type"]

    # --- values ----------------------------------------------------------------------------------

    def value(self, schema: dict[str, Any], depth: int = 4) -> Any:
        """Make a value that mostly fits a document."""
        if self.is_likely(0.06) or depth < 0:
            return self.chance.choice(OTHERS)
        if "enum" in schema:
            return self.chance.choice(schema["enum"])
        if "anyOf" in schema:
            return self.value(self.chance.choice(schema["anyOf"]), depth - 1)
        kind = schema.get("type")
        kind = self.chance.choice(kind) if isinstance(kind, list) else kind
        if kind == "array":
            items = schema.get("prefixItems") or [schema["items"]] * self.chance.randrange(5)
            return [self.value(item, depth - 1) for item in items]
        if kind == "object":
            return self._object_value(schema, depth)
        return self._scalar_value(kind)

    def _scalar_value(self, kind: str | None) -> Any:
        if kind == "string":
            return "".join(self.chance.choices("abz1", k=self.chance.choice([0, 1, 2, 3, 4, 5, 6, 8])))
        known = {"integer": INTEGERS, "number": NUMBERS, "boolean": (True, False), "null": (None,)}
        return self.chance.choice(known.get(str(kind), OTHERS))

    def _object_value(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        rest = schema.get("additionalProperties")
        if isinstance(rest, dict):
            names = self.chance.sample(["k", "p", "zz"], self.chance.randrange(3))
            return {name: self.value(rest, depth - 1) for name in names}
        found = {
            name: self.value(inner, depth - 1)
            for name, inner in schema.get("properties", {}).items()
            if name in schema.get("required", []) or self.is_likely(0.6)
        }
        return {**found, "unknown": 1} if self.is_likely(0.1) else found


EDITS = (
    Documents.replace,
    Documents.set_property,
    Documents.change_required,
    Documents.remove_property,
    Documents.change_closed,
    Documents.change_choice,
    Documents.change_limit,
    Documents.change_limit,
    Documents.change_number,
)


def places_in(schema: Any) -> list[dict[str, Any]]:
    """List the schemas in a document."""
    if not isinstance(schema, dict):
        return []
    inside = [
        *schema.get("properties", {}).values(),
        *(schema[name] for name in ("items", "additionalProperties") if name in schema),
        *schema.get("prefixItems", []),
        *schema.get("anyOf", []),
    ]
    return [schema, *(place for each in inside for place in places_in(each))]


def flips(old: dict[str, Any], new: dict[str, Any], value: Any) -> bool:
    """Return whether a value fits the old document and not the new one, as `jsonschema` sees it."""
    return Draft202012Validator(old).is_valid(value) and not Draft202012Validator(new).is_valid(value)


def search(documents: Documents, old: dict[str, Any], new: dict[str, Any], tries: int) -> Any:
    """Look for a value that fits the old document and not the new one; return the values that do."""
    before, after = FastValidator(old), FastValidator(new)
    for _ in range(tries):
        value = documents.value(old if documents.is_likely(0.7) else new)
        if before.is_valid(value) and not after.is_valid(value):
            yield value
