"""Random JSON Schema documents, edits of them, and values near both: what comparisons are judged with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from operator_schema.engine import KEYWORDS

try:
    from jsonschema_rs import Draft202012Validator as FastValidator
except ModuleNotFoundError:  # it has compiled parts
    FastValidator = Draft202012Validator

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

CHOICES = ("a", "b", "c", 1, 2, True, None, "ab")
OTHERS = ("a", "zz", "", 0, 1, -5, 2.5, 100, True, False, None, [], {}, ["a"], {"p": 1})
INTEGERS = (-4, -3, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 20, 4.0)
NUMBERS = (-4, -3, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 2.6, 3, 5, 5.5, 7.5, 8, 10, 10.5, 11)
PATTERNS = ("^a", "b$", "^[a-z]+$", r"\d", "^(a|b){1,3}$")
SLOW_PATTERN = "^(a|b){0,60}$"
FORMATS = ("date", "email", "uuid", "phone")
KEY_PATTERNS = ("^p", "k$")
WITHOUT_TYPE = (
    {"minLength": 2},
    {"maximum": 3},
    {"required": ["p"]},
    {"items": {"type": "integer"}},
    {"additionalProperties": {"type": "string"}},
)
CONTAINERS = ([], ["a"], {}, {"p": 1})


class Documents:
    """Makes documents, edits and values by chance.

    Args:
        chance: what decides.
    """

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.below: list[str] = []
        self.root: dict[str, Any] = {}

    def is_likely(self, share: float) -> bool:
        return self.chance.random() < share

    def pick(self, choices: Sequence[Any]) -> Any:
        """Choose one, as `Random.choice` does in more time; drawing values takes most of a campaign."""
        return choices[int(self.chance.random() * len(choices))]

    # --- documents -------------------------------------------------------------------------------

    def arguments(self) -> dict[str, Any]:
        """Make a document of the arguments of a tool."""
        self.below = []
        if not self.is_likely(0.3):
            return self.object(3)
        keyword = self.chance.choice(["$defs", "$defs", "definitions"])
        self.below = [
            f"#/{keyword}/{name}" for name in self.chance.sample("ABC", self.chance.randrange(1, 3))
        ]
        if self.is_likely(0.2):
            self.below.append("#")
        definitions: dict[str, Any] = {}
        for reference in self.below:
            if reference != "#":
                make = self.chance.choice([self.object, self.object, self.array, self.scalar])
                definitions[reference[-1]] = make(2) if make != self.scalar else self.scalar()
        return {**self.object(3), keyword: definitions}

    def schema(self, depth: int) -> Any:
        if self.below and self.is_likely(0.25):
            return self.reference()
        if self.is_likely(0.02):
            return not self.is_likely(0.1)  # required, it would leave no value at all
        schema = self.typed(depth)
        return self.with_more(schema) if self.is_likely(0.05) else schema

    def typed(self, depth: int) -> dict[str, Any]:
        if depth <= 0 or self.is_likely(0.45):
            return self.scalar()
        made = [self.object, self.object, self.array, self.map, self.tuple, self.union] * 2 + [self.rare]
        return self.chance.choice(made)(depth)

    def reference(self) -> dict[str, Any]:
        found: dict[str, Any] = {"$ref": self.chance.choice(self.below)}
        if self.is_likely(0.1):
            found["minLength"] = self.chance.randrange(3)
        return found

    def rare(self, depth: int) -> dict[str, Any]:
        """Make what few documents have."""
        made = [self.merged, self.mixed, self.untyped, self.first_items, self.keyed, self.named]
        return self.chance.choice(made)(depth)

    def merged(self, depth: int) -> dict[str, Any]:
        return {"allOf": [self.object(depth - 1) for _ in range(2)]}

    def mixed(self, depth: int) -> dict[str, Any]:
        """Make alternatives that are hard to tell apart."""
        members = [self.object(depth - 1), self.chance.choice([self.map, self.object])(depth - 1)]
        return {self.chance.choice(["anyOf", "oneOf"]): members}

    def untyped(self, _depth: int) -> dict[str, Any]:
        return dict(self.chance.choice(WITHOUT_TYPE))

    def first_items(self, depth: int) -> dict[str, Any]:
        """Make an array whose first items have schemas, and which may go on."""
        schema = {"type": "array", "prefixItems": [self.schema(depth - 1)]}
        return {**schema, "items": self.schema(depth - 1)} if self.is_likely(0.7) else schema

    def keyed(self, depth: int) -> dict[str, Any]:
        """Make an object whose keys are limited."""
        schema: dict[str, Any] = {"type": "object"}
        if self.is_likely(0.6):
            names = {"maxLength": 1} if self.is_likely(0.7) else {"enum": ["k", "p"]}
            schema["propertyNames"] = {"type": "string", **names}
        else:
            schema["patternProperties"] = {self.chance.choice(KEY_PATTERNS): self.schema(depth - 1)}
        schema["additionalProperties"] = self.schema(depth - 1)
        return schema

    def named(self, _depth: int) -> dict[str, Any]:
        """Make a document inside of the document."""
        return {"$id": "https://example.com/inside", **self.scalar()}

    def with_more(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a schema with one more keyword, which no graph holds or which stands beside others."""
        return {**schema, **self.more(schema)}

    def more(self, schema: dict[str, Any]) -> dict[str, Any]:
        of_type: dict[str, tuple[Callable[[], dict[str, Any]], ...]] = {
            "string": (self.formatted, self.slow, self.huge),
            "array": (self.unique, self.containing, self.sealed_items),
            "object": (self.depending, self.sized, self.sealed, self.resting, self.patterned),
        }
        own = of_type.get(str(schema.get("type")), ())
        return self.chance.choice([*own, *own, self.excepted, self.conditional, self.beside])()

    def formatted(self) -> dict[str, Any]:
        return {"format": self.chance.choice(FORMATS)}

    def slow(self) -> dict[str, Any]:
        return {"pattern": SLOW_PATTERN}

    def huge(self) -> dict[str, Any]:
        return {"maxLength": 2**63}

    def unique(self) -> dict[str, Any]:
        return {"uniqueItems": True}

    def containing(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"contains": self.scalar()}
        if self.is_likely(0.3):
            schema["minContains"] = self.chance.randrange(3)
        if self.is_likely(0.3):
            schema["maxContains"] = self.chance.randrange(1, 4)
        return schema

    def sealed_items(self) -> dict[str, Any]:
        return {"unevaluatedItems": False}

    def depending(self) -> dict[str, Any]:
        one, other = self.chance.sample("pqrst", 2)
        found = [
            {"dependentRequired": {one: [other]}},
            {"dependentSchemas": {one: self.object(1)}},
        ]
        return self.chance.choice(found)

    def sized(self) -> dict[str, Any]:
        if self.is_likely(0.5):
            return {"minProperties": self.chance.randrange(3)}
        return {"maxProperties": self.chance.randrange(1, 4)}

    def sealed(self) -> dict[str, Any]:
        return {"unevaluatedProperties": self.chance.choice([False, {"type": "integer"}])}

    def resting(self) -> dict[str, Any]:
        return {"additionalProperties": self.scalar()}

    def patterned(self) -> dict[str, Any]:
        return {"patternProperties": {self.chance.choice(KEY_PATTERNS): self.scalar()}}

    def excepted(self) -> dict[str, Any]:
        return {"not": self.chance.choice([self.scalar, self.choice])()}

    def conditional(self) -> dict[str, Any]:
        if self.is_likely(0.5):
            return {"if": {"required": ["p"]}, "then": {"required": ["q"]}}
        return {"if": self.scalar(), "then": self.scalar(), "else": self.scalar()}

    def beside(self) -> dict[str, Any]:
        name = self.chance.choice(["anyOf", "oneOf", "allOf"])
        return {name: [self.scalar(), self.scalar()]}

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
        if self.is_likely(0.1):
            return {"const": self.chance.choice(CHOICES)}
        values = self.chance.sample(CHOICES, self.chance.randrange(1, 5))
        return {"enum": [*values, self.chance.choice(CONTAINERS)] if self.is_likely(0.04) else values}

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
        keyword = self.chance.choice(["anyOf", "anyOf", "anyOf", "oneOf"])
        if self.is_likely(0.2):
            tagged = [self.object(depth - 1) for _ in range(2)]
            for tag, schema in zip("ab", tagged, strict=True):
                schema["properties"]["kind"] = {"const": tag}
                schema["required"] = ["kind", *schema.get("required", [])]
            return {keyword: tagged}
        if self.is_likely(0.2):
            return {keyword: [self.array(depth - 1), {"type": "null"}]}
        other = self.object(depth - 1) if self.is_likely(0.5) else self.scalar()
        return {keyword: [self.scalar(), other]}

    # --- edits -----------------------------------------------------------------------------------

    def edited(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a copy with one change, or two, that is another document."""
        while True:
            copy = json.loads(json.dumps(schema))
            for _ in range(2 if self.is_likely(0.4) else 1):
                self.edit(copy)
            if copy != schema:
                return copy

    def edit(self, schema: dict[str, Any]) -> None:
        self.below = references_of(schema)
        place = self.chance.choice(places_in(schema))
        self.chance.choice(EDITS)(self, place, schema)

    def replace(self, place: dict[str, Any], root: dict[str, Any]) -> None:
        if place is not root:
            new = self.schema(1)
            is_definition = any(
                place is each for name in ("$defs", "definitions") for each in root.get(name, {}).values()
            )
            if not isinstance(new, dict) or (is_definition and "$ref" in new):  # it would lead back to itself
                return
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

    def change_more(self, place: dict[str, Any], _root: object) -> None:
        extra = sorted(place.keys() & MORE)
        if extra and self.is_likely(0.5):
            del place[self.chance.choice(extra)]
        elif self.is_likely(0.5):
            place.update(self.more(place))

    def change_alternatives(self, place: dict[str, Any], _root: object) -> None:
        for name in ("anyOf", "oneOf", "allOf", "prefixItems"):
            if name in place:
                if self.is_likely(0.5) and len(place[name]) > 1:
                    del place[name][self.chance.randrange(len(place[name]))]
                else:
                    place[name].append(self.scalar())

    def move(self, place: dict[str, Any], root: dict[str, Any]) -> None:
        """Move a schema to the definitions, which changes nothing."""
        is_free = place is not root and '"$id"' not in json.dumps(root)
        if is_free and not any(place is each for each in root.get("$defs", {}).values()):
            moved = dict(place)
            place.clear()
            place["$ref"] = "#/$defs/Moved"
            if "Moved" in root.get("$defs", {}):
                place.clear()
                place.update(moved)
            else:
                root.setdefault("$defs", {})["Moved"] = moved

    def reword(self, place: dict[str, Any], _root: object) -> None:
        place["description"] = self.chance.choice(["One.", "Another."])

    # --- values ----------------------------------------------------------------------------------

    def value_of(self, document: dict[str, Any]) -> Any:
        """Make a value that mostly fits a document."""
        self.root = document
        return self.value(document)

    def value(self, schema: Any, depth: int = 4) -> Any:
        """Make a value that mostly fits a schema of the document at hand."""
        if not isinstance(schema, dict) or self.is_likely(0.06) or depth < 0:
            return self.pick(OTHERS)
        if "$ref" in schema:
            return self.value(self.referred(schema["$ref"]), depth - 1)
        if "enum" in schema or "const" in schema:
            return self.pick(schema["enum"]) if "enum" in schema else schema["const"]
        other = self.other(schema)
        if other is not None:
            return self.value(other, depth - 1)
        kind = schema.get("type") or kind_of(schema)
        kind = self.pick(kind) if isinstance(kind, list) else kind
        if kind == "array":
            return self.array_value(schema, depth)
        if kind == "object":
            return self.object_value(schema, depth)
        return self.scalar_value(kind)

    def referred(self, reference: str) -> Any:
        found: Any = self.root
        for step in reference.split("/")[1:]:
            found = found[step]
        return found

    def other(self, schema: dict[str, Any]) -> Any:
        """Return a schema inside of one by which a value is made: an alternative, or what is excepted."""
        if "allOf" in schema and "type" not in schema:
            return joined(schema["allOf"])
        for name in ("anyOf", "oneOf", "allOf"):
            if name in schema and ("type" not in schema or self.is_likely(0.3)):
                return self.pick(schema[name])
        for name in ("not", "if", "then", "else"):
            if name in schema and self.is_likely(0.15):
                return schema[name]
        return None

    def array_value(self, schema: dict[str, Any], depth: int) -> list[Any]:
        first = schema.get("prefixItems", [])
        rest = schema.get("items", {})
        number = 0 if rest is False or (first and self.is_likely(0.5)) else self.chance.randrange(5)
        items = [self.value(item, depth - 1) for item in [*first, *[rest] * number]]
        if "contains" in schema and self.is_likely(0.7):
            items.append(self.value(schema["contains"], depth - 1))
        return items[:-1] if items and self.is_likely(0.1) else items

    def scalar_value(self, kind: str | None) -> Any:
        if kind == "string":
            return "".join(self.chance.choices("abz1", k=self.pick([0, 1, 2, 3, 4, 5, 6, 8])))
        known = {"integer": INTEGERS, "number": NUMBERS, "boolean": (True, False), "null": (None,)}
        return self.pick(known.get(str(kind), OTHERS))

    def object_value(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        named = schema.get("properties", {})
        for asked in schema.get("dependentSchemas", {}).values():
            named = {**(asked.get("properties", {}) if isinstance(asked, dict) else {}), **named}
        rest = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        found = {
            name: self.value(inner, depth - 1)
            for name, inner in named.items()
            if name in schema.get("required", []) or self.is_likely(0.6)
        }
        if isinstance(rest, dict) or "patternProperties" in schema:
            inside = [rest if rest is not None else {}, *schema.get("patternProperties", {}).values()]
            keys = ["k", "p", "zz", *named] if self.is_likely(0.1) else ["k", "p", "zz"]
            for name in self.chance.sample(keys, self.chance.randrange(3)):
                found.setdefault(name, self.value(self.pick(inside), depth - 1))
        elif self.is_likely(0.1):
            found["unknown"] = 1
        return found


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
    Documents.change_more,
    Documents.change_alternatives,
    Documents.move,
    Documents.reword,
)

MORE = frozenset(
    name
    for name, row in KEYWORDS.items()
    if not row.in_graph
    or name in ("format", "uniqueItems", "patternProperties", "propertyNames", "pattern", "multipleOf")
)
"""Keywords that an edit adds or removes."""


def kind_of(schema: dict[str, Any]) -> str | None:
    """Return the JSON type that a schema without a type is about."""
    about = {"minLength": "string", "maximum": "integer", "items": "array"}
    objects = ("required", "properties", "additionalProperties")
    return next(
        (kind for name, kind in [*about.items(), *[(name, "object") for name in objects]] if name in schema),
        None,
    )


def joined(schemas: list[Any]) -> dict[str, Any]:
    """Return one object for several that have to fit at once."""
    objects = [each for each in schemas if isinstance(each, dict)]
    named = {name: inner for each in objects for name, inner in each.get("properties", {}).items()}
    required = [name for each in objects for name in each.get("required", [])]
    return {"type": "object", "properties": named, "required": required}


def references_of(document: dict[str, Any]) -> list[str]:
    """List the references to the definitions of a document."""
    return [
        f"#/{keyword}/{name}" for keyword in ("$defs", "definitions") for name in document.get(keyword, {})
    ]


def places_in(schema: Any) -> list[dict[str, Any]]:
    """List the schemas in a document."""
    if not isinstance(schema, dict):
        return []
    inside = [
        *(each for name in NAMED for each in schema.get(name, {}).values()),
        *(schema[name] for name in SINGLE if name in schema),
        *(each for name in LISTED for each in schema.get(name, [])),
    ]
    return [schema, *(place for each in inside for place in places_in(each))]


NAMED = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
SINGLE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
LISTED = ("prefixItems", "anyOf", "oneOf", "allOf")


def flips(old: dict[str, Any], new: dict[str, Any], value: Any) -> bool:
    """Return whether a value fits the old document and not the new one, as `jsonschema` sees it."""
    return Draft202012Validator(old).is_valid(value) and not Draft202012Validator(new).is_valid(value)


def search(documents: Documents, old: dict[str, Any], new: dict[str, Any], tries: int) -> Iterator[Any]:
    """Look for a value that fits the old document and not the new one; return the values that do."""
    before, after = FastValidator(old), FastValidator(new)
    for _ in range(tries):
        value = documents.value_of(old if documents.is_likely(0.7) else new)
        if before.is_valid(value) and not after.is_valid(value):
            yield value
