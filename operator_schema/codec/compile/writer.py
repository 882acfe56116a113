"""How is the code for a graph written: its functions, and the checks that decoders and encoders share?

Generated code handles only valid values and gives up on all others, so its checks cover everything that the
interpreter would complain about. `GiveUp` is the signal for that: the main function raises it, so that nested
loops end, and then calls its fallback; the other functions return it, because returning is faster than
raising.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ...introspect.node_kinds import visit_places
from ...introspect.nodes import ArrayNode, MapNode, ObjectNode, TupleNode, UnionNode, resolve
from ...json_values import MAX_INTEGER_DIGITS, has_surrogate
from ...schema.keywords import LENGTHS, NUMBERS, TEXTS
from ..interpret import keeps_schema
from ..problems import GiveUp, Trial
from .generated_source import GeneratedSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ...introspect.leaves import SchemaLeaf
    from ...introspect.nodes import Graph, LeafNode, Node, ScalarNode
    from ...schema.keywords import Constraints, Limit
    from .generated_source import Function

    Method = Callable[[Any, Any], Any]
    """A method of a codec: takes the codec and a value."""
    Refusal = Callable[[Any, Exception, Any], Exception]
    """Takes the codec, the exception that making the instance raised, and the value; returns the exception to
    raise."""


MAX_PLACES = 1000
"""The most places of nodes in a graph that is compiled; a larger graph stays interpreted."""

_DEEPEST_BLOCK = 12
"""How deep blocks of one function nest: Python itself allows 20 loops and 100 levels."""

_MOST = 10**MAX_INTEGER_DIGITS
_LEAST = -_MOST
_QUICK_BOUND = 2**30 - 1
"""Up to this number, integers have a single digit inside CPython, which compares it directly."""
_EXACT_BOUND = 2**53
"""Up to this number, every integer has an exact float."""

_PARTED = (ObjectNode, ArrayNode, TupleNode, MapNode, UnionNode)
"""The kinds of nodes whose values have parts."""


class GraphNodes(NamedTuple):
    """The nodes of a graph.

    Attributes:
        nodes: the nodes, each once.
        repeated: identities of nodes that are in more than one place.
        places: number of places of all nodes.
    """

    nodes: list[Node]
    repeated: set[int]
    places: int


def nodes_of(graph: Graph) -> GraphNodes:
    """Return all nodes of a graph."""
    found: dict[int, Node] = {}
    repeated: set[int] = set()
    places = 0
    for node, is_new in visit_places([graph.root, *graph.definitions.values()]):
        places += 1
        if is_new:
            found[id(node)] = node
        else:
            repeated.add(id(node))
    return GraphNodes(list(found.values()), repeated, places)


class Writer(ABC):
    """Writes the functions of one graph.

    Each method for a kind of node writes code that converts the value in a variable, and returns the
    expression for the result. The value is `depth` levels below the value of the function.

    Args:
        graph: the graph of the type.
        max_depth: levels of arrays and objects that are followed.
        fallback: the method that the main function calls with its own arguments when it gives up; None makes
            it return `GiveUp`, as the other functions do.

    Attributes:
        verb: name of the main function, which is a method.
        receiver: name of its first parameter.
        subject: name of its second parameter.
        arms: by kind of node, the method that writes its code. The interpreter handles values of any other
            kind.
    """

    verb: ClassVar[str]
    receiver: ClassVar[str] = "codec"
    subject: ClassVar[str]
    arms: ClassVar[Mapping[type, Callable[[Any, Any, str, int, str], str]]]

    def __init__(self, graph: Graph, max_depth: int, fallback: Method | None) -> None:
        self.definitions = graph.definitions
        self.source = GeneratedSource(f"{self.verb}r")
        self.at: Function
        self.max_depth = max_depth
        self._functions: dict[int, str] = {}
        self._pending: list[tuple[Node, Function, str]] = []
        nodes, repeated, _ = nodes_of(graph)
        self._repeated = repeated | {id(node) for node in graph.definitions.values()}
        # Without recursion, values nest no deeper than there are nodes.
        self._checks_depth = bool(graph.definitions) or len(nodes) > max_depth
        self._counts_depth = self._checks_depth or any(map(self.needs_depth, nodes))
        self._in_main = True
        self._fallback = fallback

    @property
    def give_up(self) -> str:
        """The name of `GiveUp` in the generated code."""
        return self.source.bind(GiveUp, "GiveUp")

    def needs_depth(self, node: Node) -> bool:
        """Return whether the code for a node uses the depth of its value."""
        return node.__class__ not in self.arms

    # --- functions -------------------------------------------------------------------------------

    def main(self, root: Node) -> str:
        """Write the function of the root, and those that it needs; return its name."""
        main = self.at = self.source.function(self.verb, self.receiver, self.subject)
        with main.block("try:"):
            main.line(f"return {self.root(root)}")
        if self._fallback:
            # Called after the handler, so that its errors don't have this one as their context.
            with main.block(f"except ({self.give_up}, RecursionError):"):
                main.line("pass")
            main.line(f"return {self.source.bind(self._fallback, 'fallback')}(codec, {self.subject})")
        else:
            with main.block("except RecursionError:"):
                main.line(f"return {self.give_up}")
        self._in_main = False
        self.write_pending()
        return main.name

    def write_pending(self) -> None:
        """Write the functions called so far, and those that they call in turn."""
        while self._pending:
            node, self.at, value = self._pending.pop()
            self.at.line(f"return {self.inline(node, value, 0)}")

    def root(self, root: Node) -> str:
        """Write the body of the main function."""
        return self.value(root, self.subject, 0)

    def value(self, node: Node, value: str, depth: int, known: str = "") -> str:
        """Write the code that converts a value.

        Args:
            node: the node to convert it by.
            value: the variable that holds it.
            depth: levels between the value of the function and this one.
            known: the built-in class that it is known to have.
        """
        node = self.resolved(node)
        if isinstance(node, _PARTED) and (id(node) in self._repeated or self.at.depth > _DEEPEST_BLOCK):
            made = self.source.name(_hint(node))
            self.at.line(f"{made} = {self.call(node, value, depth)}")
            self.give_up_if(f"{made} is {self.give_up}")
            return made
        return self.inline(node, value, depth, known)

    def resolved(self, node: Node) -> Node:
        """Follow a reference to its node; return any other node unchanged."""
        return resolve(node, self.definitions)

    def inline(self, node: Node, value: str, depth: int, known: str = "") -> str:
        """Write the code for a value in place, without a function of its own."""
        arm = self.arms.get(node.__class__)
        return self.interpreted(node, value, depth) if arm is None else arm(self, node, value, depth, known)

    def interpreted(self, node: Node, value: str, depth: int) -> str:
        """Write code that passes one part to the interpreter."""
        made = self.source.name("part")
        interpret = self.source.bind(self.interpreter_of(node), "interpret")
        self.at.line(f"{made} = {interpret}({', '.join([value, *self.depth(depth)])})")
        self.give_up_if(f"{made} is {self.give_up}")
        return made

    @abstractmethod
    def interpreter_of(self, node: Node) -> Callable[[Any, int], Any]:
        """Return a function that interprets a value of a node at a depth, or returns `GiveUp`."""

    def call(self, node: Node, value: str, depth: int) -> str:
        """Return a call of the function for a node."""
        return f"{self.function(node)}({', '.join([value, *self.depth(depth)])})"

    def depth(self, depth: int) -> list[str]:
        """Return the argument for the depth of a value, if functions take one."""
        if not self._counts_depth:
            return []
        return [str(1 + depth) if self._in_main else f"depth + {depth}" if depth else "depth"]

    def function(self, node: Node) -> str:
        """Return the name of the function for a node, which is written later."""
        known = self._functions.get(id(node))
        if known is not None:
            return known
        value = self.source.name("value")
        parameters = [value, "depth"] if self._counts_depth else [value]
        made = self.source.function(_hint(node), *parameters)
        self._functions[id(node)] = made.name
        self._pending.append((node, made, value))
        return made.name

    # --- lines -----------------------------------------------------------------------------------

    def leave(self) -> None:
        """Write code that gives up."""
        gives_up = "raise" if self._in_main and self._fallback else "return"
        self.at.line(f"{gives_up} {self.give_up}")

    def give_up_if(self, condition: str) -> None:
        """Write code that gives up if a condition holds."""
        with self.at.block(f"if {condition}:"):
            self.leave()

    def give_up_unless_class(self, value: str, *classes: str, known: str = "") -> None:
        """Write code that gives up unless a value has one of these classes."""
        if known not in classes:
            self.give_up_if(" and ".join([f"{value}.__class__ is not {name}" for name in classes]))

    def look_up(self, made: str, table: str, key: str) -> None:
        """Write code that assigns the entry of a table to a variable, or gives up.

        The key has a built-in class, so its hash runs no user code.
        """
        with self.at.block("try:"):
            self.at.line(f"{made} = {table}[{key}]")
        with self.at.block("except KeyError:"):
            self.leave()

    def enter(self, depth: int) -> None:
        """Write the check of the depth of an array or object.

        The main function needs no check, because it nests no deeper than the type itself, which registration
        checked.
        """
        if self._checks_depth and not self._in_main:
            self.give_up_if(f"depth > {self.max_depth - depth}")

    def lengths(self, constraints: Constraints | None, value: str) -> None:
        """Write the checks of a length."""
        self._limits(LENGTHS, constraints, f"len({value})")

    def keeps_schema(self, node: LeafNode, value: str) -> None:
        """Write the check of a value against the schema of a leaf that restricts more than the JSON type."""
        if node.leaf.json_schema.__class__ is not dict:
            keeps = self.source.bind(_schema_test(node.leaf, self.max_depth), "keeps_schema")
            self.give_up_if(f"not {keeps}({value})")

    def tuple_items(self, node: TupleNode, value: str, depth: int) -> list[str]:
        """Write the code for each item of a tuple, and the check of their number."""
        self.enter(depth)
        self.give_up_if(f"len({value}) != {len(node.items)}")
        items = [self.source.name("item") for _ in node.items]
        if items:
            self.at.line(f"{', '.join(items)}, = {value}")
        return [self.value(inner, item, depth + 1) for inner, item in zip(node.items, items, strict=True)]

    # --- scalars ---------------------------------------------------------------------------------

    def scalar(self, node: ScalarNode, value: str, _depth: int, known: str) -> str:
        """Write the check of a string, number, boolean or null, which stays in its variable."""
        match node.type:
            case "string":
                self.text(value, known)
            case "integer":
                self._integer(value, known)
            case "number":
                return self._number(node, value, known)
            case "boolean":
                self.give_up_if(f"{value} is not True and {value} is not False")
            case "null":  # pragma: no branch  # the type checker knows that it is the last
                self.give_up_if(f"{value} is not None")
        self._constraints(node.constraints, value)
        return value

    def text(self, value: str, known: str) -> None:
        """Write the check that a value is a string without lone surrogates."""
        has = self.source.bind(has_surrogate, "has_surrogate")
        foreign = f"not {value}.isascii() and {has}({value})"
        self.give_up_if(foreign if known == "str" else f"{value}.__class__ is not str or {foreign}")

    def _integer(self, value: str, known: str) -> None:
        least = self.source.bind(_LEAST, "least")
        most = self.source.bind(_MOST, "most")
        large = f"not -{_QUICK_BOUND} < {value} < {_QUICK_BOUND} and not {least} < {value} < {most}"
        self.give_up_if(large if known == "int" else f"{value}.__class__ is not int or {large}")

    def _number(self, node: ScalarNode, value: str, known: str) -> str:
        if known == "float":
            self.give_up_if(f"{value} - {value}")
            self._constraints(node.constraints, value)
            return value
        if known != "int":
            with self.at.block(f"if {value}.__class__ is float:"):
                # Infinity minus itself is NaN, and so is NaN minus NaN; NaN counts as true.
                self.give_up_if(f"{value} - {value}")
                self._constraints(node.constraints, value)
            head = f"elif {value}.__class__ is int and -{_EXACT_BOUND} < {value} < {_EXACT_BOUND}:"
        else:
            head = f"if -{_EXACT_BOUND} < {value} < {_EXACT_BOUND}:"
        with self.at.block(head):
            self._constraints(node.constraints, value)
            self.at.line(f"{value} = float({value})")
        with self.at.block("else:"):
            self.leave()
        return value

    def _constraints(self, constraints: Constraints | None, value: str) -> None:
        self._limits(NUMBERS, constraints, value)
        self.lengths(constraints, value)
        self._limits(TEXTS, constraints, value)

    def _limits(self, rows: Iterable[Limit], constraints: Constraints | None, measured: str) -> None:
        """Write the checks of limits on a measured value, in the fastest form of each limit."""
        for row in rows if constraints is not None else ():
            limit = getattr(constraints, row.slot)
            if limit is None:
                continue
            if row.finder is not None:
                self.give_up_if(f"not {self.source.bind(row.finder(limit), 'finds')}({measured})")
            elif row.test:
                self.give_up_if(f"{measured} {row.test} {self.source.literal(limit, 'limit')}")
            else:
                breaks = self.source.bind(row.breaks, getattr(row.breaks, "__name__", "breaks"))
                self.give_up_if(f"{breaks}({measured}, {self.source.literal(limit, 'limit')})")


def _schema_test(leaf: SchemaLeaf[Any], max_depth: int) -> Callable[[Any], bool]:
    def keeps(value: Any) -> bool:
        return keeps_schema(leaf, value, Trial(), None, max_depth)

    return keeps


def _hint(node: Any) -> str:
    name: str = getattr(node, "name", "") or type(node).__name__.removesuffix("Node").lower()
    return name
