"""The schema of a leaf is kept as that of `document_tool` is: the same values fit, with the same findings."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from judge import validator
from schema_edits import Documents

from operator_schema import Codec, DecodeError, EncodeError, SchemaLeaf
from operator_schema.errors import SchemaError as Refused
from operator_schema.schema.document import DocumentCodec, SchemaDocument
from operator_schema.schema.written import says_more


@dataclass
class Held:
    """Any JSON value."""

    value: Any

    def __hash__(self):
        return 0


def held(schema, placeholder):
    return SchemaLeaf(Held, schema, Held, lambda each: each.value, Held(placeholder))


@dataclass
class Drawn:
    """A schema that fits at least one value, with its leaf, its document, and values near it."""

    schema: dict[str, Any]
    leaf: SchemaLeaf[Held]
    document: DocumentCodec
    fitting: list[Any]
    others: list[Any]


ROOTS = st.sampled_from(["arguments", "array", "tuple", "map", "keyed", "text", "number", "object"])


@st.composite
def schemas(draw: st.DrawFn, values: int = 40) -> Drawn:
    documents = Documents(random.Random(draw(st.integers(0, 2**32))))  # noqa: S311  # a sample
    root = draw(ROOTS)
    made = getattr(documents, root)
    documents.below = []
    schema = made() if root in {"arguments", "text", "number"} else made(2)
    document = DocumentCodec(SchemaDocument("Held", schema, is_arguments=False))
    found = [documents.value_of(schema) for _ in range(values)]
    fitting = [value for value in found if not document.report(value)]
    others = [value for value in found if document.report(value)]
    assume(fitting and says_more(schema))
    try:
        leaf = held(schema, fitting[0])
    except Refused:
        assume(False)  # a definition refers to nothing, or a keyword can't be checked
    return Drawn(schema, leaf, document, fitting, others)


def findings(decode, value):
    try:
        decode(value)
    except (DecodeError, EncodeError) as error:
        return error.findings
    return ()


@given(schemas())
@settings(max_examples=2 * settings().max_examples, deadline=None)
@pytest.mark.slow("draws hundreds of schemas")
def test_a_leaf_refuses_what_a_document_refuses_with_the_same_findings(drawn):
    cold, warm = Codec(Held, leaves=[drawn.leaf]), Codec(Held, leaves=[drawn.leaf]).compile()
    is_valid = validator(drawn.schema).is_valid
    for value in [*drawn.fitting, *drawn.others]:
        found = drawn.document.report(value)
        assert cold.report(value) == found
        assert findings(cold.decode, value) == findings(warm.decode, value) == found
        assert findings(cold.encode, Held(value)) == findings(warm.encode, Held(value)) == found
        if not found:
            assert warm.decode(value) == cold.decode(value) == Held(value)
            assert warm.encode(Held(value)) == cold.encode(Held(value)) == value
        assert is_valid(value) <= (not found) or found[0].code in {"out_of_range", "too_deep"}
