"""Random JSON values for a node: valid ones, near misses, and anything."""

from __future__ import annotations

import base64
import string
from typing import TYPE_CHECKING, Any

from own_leaves import Held, value_near
from types_ import WORDS

from operator_schema.engine import (
    AnyNode,
    ArrayNode,
    EnumNode,
    Graph,
    LeafNode,
    LiteralNode,
    MapNode,
    Node,
    ObjectNode,
    RefNode,
    ScalarNode,
    TupleNode,
    UnionNode,
    bounds_of,
)

if TYPE_CHECKING:
    import random

ALPHABET = string.ascii_letters + string.digits + ' -_ß\u2028\U0001f600"\\'


def text(rng: random.Random, low: int = 0, high: int = 6) -> str:
    if low == 0 and rng.random() < 0.3:
        words = [word for word in WORDS if len(word) <= high]
        return rng.choice(words)
    return "".join(rng.choices(ALPHABET, k=rng.randint(low, max(low, high))))


def number(rng: random.Random) -> Any:
    return rng.choice([
        rng.randint(-4, 4), float(rng.randint(-4, 4)), rng.uniform(-10, 10), rng.randint(-(10**20), 10**20),
        rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300), 0.5, 2**53 + 1, 10 ** rng.choice([3, 30, 308, 309, 400]),
    ])  # fmt: skip


def anything(rng: random.Random, depth: int = 3) -> Any:
    kind = rng.randrange(8 if depth > 0 else 6)
    if kind == 6:
        return [anything(rng, depth - 1) for _ in range(rng.randint(0, 3))]
    if kind == 7:
        return {text(rng): anything(rng, depth - 1) for _ in range(rng.randint(0, 3))}
    return [None, True, False, number(rng), text(rng), rng.choice(WORDS)][kind]


LEAF_TEXTS = {
    "datetime": lambda rng: f"{rng.randint(1, 9999):04}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}{rng.choice(['', '.5', '.123456'])}{rng.choice(['Z', '+01:30', '-11:00'])}",
    "date": lambda rng: f"{rng.randint(1, 9999):04}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
    "time": lambda rng: f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:{rng.randint(0, 59):02}{rng.choice(['Z', '+01:30'])}",
    "timedelta": lambda rng: rng.choice(["PT1S", "P1DT2H", "-PT1.5S", "P3W", "PT0S", "PT0.000001S"]),
    "UUID": lambda rng: "-".join("".join(rng.choices("0123456789abcdef", k=k)) for k in (8, 4, 4, 4, 12)),
    "SplitResult": lambda rng: rng.choice(["https://example.com/", "http://a.b:80/x?y=z#w", "file:///x", "urn:a:b"]),
    "Decimal": lambda rng: rng.choice(["1.5", "-0.1", "1E+3", 7, 0.25, "0", -3]),
    "bytes": lambda rng: base64.b64encode(rng.randbytes(rng.randint(0, 5))).decode(),
    "IPv4Address": lambda rng: ".".join(str(rng.randint(0, 255)) for _ in range(4)),
    "IPv4Interface": lambda rng: rng.choice(["10.1.2.3/8", "192.168.1.0/24", "1.2.3.4"]),
    "IPv6Network": lambda rng: rng.choice(["2001:db8::/32", "::/0"]),
    "ParseResult": lambda rng: rng.choice(["https://example.com/", "http://a.b:80/x;p?y=z#w"]),
    "Pattern": lambda rng: rng.choice(["^a+$", "[0-9]", "(a|b)*", "", "("]),
    "IPv4Network": lambda rng: rng.choice(["10.0.0.0/8", "192.168.1.0/24", "1.2.3.4/32"]),
    "IPv6Address": lambda rng: rng.choice(["::1", "2001:db8::7", "::ffff:1.2.3.4", "fe80::1"]),
    "PurePosixPath": lambda rng: rng.choice(["/a/b", "c.txt", "."]),
    "ZoneInfo": lambda rng: rng.choice(["UTC", "Europe/Berlin", "America/New_York"]),
}  # fmt: skip


class Values:
    """Makes values for one graph."""

    def __init__(self, graph: Graph, rng: random.Random) -> None:
        self.graph = graph
        self.rng = rng

    def value(self) -> Any:
        """Return a JSON value: often valid, often nearly, sometimes anything."""
        kind = self.rng.random()
        if kind < 0.15:
            return anything(self.rng)
        made = self.valid(self.graph.root)
        return made if kind < 0.55 else self.near(made)

    def valid(self, node: Node, depth: int = 4) -> Any:
        rng = self.rng
        match node:
            case ScalarNode():
                return self.scalar_of(node)
            case AnyNode():
                return anything(rng, 2)
            case LeafNode(leaf=leaf) if issubclass(leaf.type, Held):
                return value_near(leaf.json_schema, rng)
            case LeafNode(leaf=leaf):
                return LEAF_TEXTS[leaf.type.__name__](rng)
            case LiteralNode(values=values) | EnumNode(values=values):
                value = rng.choice(values)
                return float(value) if type(value) is int and rng.random() < 0.2 else value
            case ArrayNode():
                return self.array_of(node, depth)
            case TupleNode(items=items):
                return [self.valid(item, depth - 1) for item in items]
            case MapNode():
                low, high = _lengths(node.constraints, 2 if depth > 0 else 0)
                keys = [self.key_of(node.keys) for _ in range(rng.randint(low, high))]
                return {key: self.valid(node.values, depth - 1) for key in keys}
            case ObjectNode():
                return self.object_of(node, depth)
            case UnionNode(members=members):
                scalars = [m for m in members if isinstance(m, ScalarNode)]
                return self.valid(rng.choice(scalars if depth <= 0 and scalars else members), depth)
            case RefNode():
                if depth > 0 and rng.random() < 0.002:
                    depth = 120  # past the limit on depth, now and then
                return self.valid(self.graph.definitions[node.target], depth - 1)

    def key_of(self, node: Node) -> str:
        if isinstance(node, ScalarNode) and node.type == "integer":
            return str(self.rng.randint(-20, 20))
        return str(self.valid(node, 0))

    def scalar_of(self, node: ScalarNode) -> Any:
        rng, limits = self.rng, node.constraints
        if node.type == "string":
            low, high = _lengths(limits, 6)
            return text(rng, low, high)
        if node.type in {"integer", "number"}:
            return self.number_of(node)
        return rng.choice([True, False]) if node.type == "boolean" else None

    def number_of(self, node: ScalarNode) -> Any:
        rng, limits = self.rng, node.constraints
        if limits is None:
            value = number(rng)
        else:
            step = limits.multiple_of or 1
            least, most = bounds_of(limits).multiples(step)
            low = least if least is not None else -5 if most is None else most - 10
            value = rng.randint(low, low + 10 if most is None else max(low, most)) * step
        if node.type == "integer":
            value = int(value)
        return float(value) if rng.random() < 0.2 and abs(value) < 2**53 else value

    def array_of(self, node: ArrayNode, depth: int) -> list[Any]:
        low, high = _lengths(node.constraints, 3 if depth > 0 else 0)
        items = [self.valid(node.items, depth - 1) for _ in range(self.rng.randint(low, high))]
        if node.unique:
            items = [item for i, item in enumerate(items) if item not in items[:i]]
        return items

    def object_of(self, node: ObjectNode, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for field in node.fields:
            if field.required or self.rng.random() < (0.6 if depth > 0 else 0.1):
                made[field.key] = self.valid(field.node, depth - 1)
        if not node.closed and self.rng.random() < 0.05:
            made[text(self.rng)] = anything(self.rng, 1)
        return made

    def near(self, value: Any) -> Any:
        """Change one small thing somewhere inside a value."""
        rng = self.rng
        if isinstance(value, dict) and value and rng.random() < 0.8:
            key = rng.choice(list(value))
            rest = {k: v for k, v in value.items() if k != key}
            edits = [rest, {**rest, key + "x": value[key]}, {**value, key: None}]
            return rng.choice([*edits, *[{**value, key: self.near(value[key])}] * 4])
        if isinstance(value, list) and value and rng.random() < 0.8:
            i = rng.randrange(len(value))
            edits = [value[:i] + value[i + 1 :], [*value, value[i]]]
            return rng.choice([*edits, *[[*value[:i], self.near(value[i]), *value[i + 1 :]]] * 4])
        return rng.choice(_edits(value, rng))


def _edits(value: Any, rng: random.Random) -> list[Any]:
    edits: list[Any] = [None, [value], {"value": value}, anything(rng, 1)]
    if isinstance(value, str):
        edits += [
            value + "x",
            value[:-1],
            value.upper(),
            value.replace("-", "", 1),
            value + "\n",
            value + "/",
            " " + value,
        ]
        if len(value) > 2:
            i = rng.randrange(len(value))
            edits += [value[:i] + rng.choice("09azT:.+-Z") + value[i + 1 :]] * 3
    elif isinstance(value, bool):
        edits += [int(value), float(value), not value]
    elif isinstance(value, (int, float)):
        edits += [value + 1, value - 1, -value, bool(value), str(value)]
        if abs(value) < 2**53:
            edits += [float(value), value + 0.5]
    return edits


def _lengths(limits: Any, usual: int) -> tuple[int, int]:
    low = (limits and limits.min_length) or 0
    high = limits.max_length if limits and limits.max_length is not None else low + usual
    return low, high
