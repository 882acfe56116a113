"""The official cases of JSON Schema: a document is checked rightly, or what isn't checked is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from operator_schema.engine import DocumentCodec, SchemaDocument
from operator_schema.errors import DecodeError

SUITE = Path(__file__).parent / "json_schema_test_suite"
DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
REFUSED_THOUGH_VALID = {
    # Its own meta-schema says that numbers aren't checked; meta-schemas of others aren't read.
    "schema that uses custom metaschema with with no validation vocabulary",
}
NOT_CHECKED = {
    "$ref": "it refers to another document, or to nothing",
    "$dynamicRef": "it isn't followed",
    "pattern": "it isn't an expression of ECMA 262, or engines read it in different ways",
}


def cases(draft: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    files = json.loads((SUITE / f"{draft}.json").read_text(encoding="utf-8"))
    return [
        (f"{name}: {group['description']}: {case['description']}", group["schema"], case)
        for name, groups in files.items()
        for group in groups
        if not isinstance(group["schema"], bool)
        for case in group["tests"]
    ]


def codec_of(draft: str, schema: dict[str, Any]) -> DocumentCodec:
    document = {"$schema": DRAFTS[draft], **schema}
    return DocumentCodec(SchemaDocument("case", document, is_arguments=False))


def takes(codec: DocumentCodec, value: object) -> bool:
    try:
        assert codec.decode(value) == value
    except DecodeError:
        return False
    return True


@pytest.mark.parametrize(
    ("draft", "number", "least_right"),
    [("draft4", 706, 0.97), ("draft7", 991, 0.97), ("draft2020-12", 1335, 0.95)],
)
def test_a_value_is_checked_rightly_or_what_isnt_checked_is_named(
    draft: str, number: int, least_right: float
) -> None:
    tried = cases(draft)
    assert len(tried) >= number
    right = 0
    wrong: list[str] = []
    for said, schema, case in tried:
        codec = codec_of(draft, schema)
        if takes(codec, case["data"]) == case["valid"]:
            right += 1
        elif case["valid"]:
            if not any(name in said for name in REFUSED_THOUGH_VALID):
                wrong.append(f"{said}: refused")
        elif not any(NOT_CHECKED.get(left.keyword) == left.message for left in codec.left):
            wrong.append(f"{said}: taken, and {codec.left} doesn't say why")
    assert wrong == []
    assert right >= least_right * len(tried)
