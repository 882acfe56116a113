"""The second judge: `jsonschema`, with formats, on the schemas of this package."""

from __future__ import annotations

import json
import math
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator

# Not `FormatChecker()`, in which draft 3's idea of a time wins.
FORMATS = Draft202012Validator.FORMAT_CHECKER


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    """Check a schema against the 2020-12 meta-schema and return its validator."""
    _check(json.dumps(schema))
    return Draft202012Validator(schema, format_checker=FORMATS)


@lru_cache(maxsize=1000)
def _check(schema: str) -> None:
    """Check a schema, which takes longer than most values: once for each, as tests ask again and again."""
    Draft202012Validator.check_schema(json.loads(schema))


def same_json(one: Any, other: Any) -> bool:
    """Say whether two JSON values are the same: `1` is `1.0`, `True` is never `1`."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one == other or math.isclose(one, other, rel_tol=1e-15)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(one[key], other[key]) for key in one)
    return type(one) is type(other) and one == other
