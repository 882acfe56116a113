"""Which of several schemas does a value mean: the only one of its type, or the only one with its tags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..json_values import fits_types, is_array, is_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .run import Rule, Run

__all__ = ["meant_of"]

_FOLLOWED: Final = 10
"""References and schemas in `allOf` that lead to each other."""


def meant_of(run: Run, schemas: Sequence[Any], value: Any) -> Any:
    """Return the schema that a value means, None where it may be several or none.

    Args:
        run: the check of the value.
        schemas: alternatives, none of which it fits.
        value: of JSON.
    """
    left = [schema for schema in schemas if schema is not False and _is_of_type(run, schema, value)]
    if len(left) > 1 and is_object(value):
        left = _with_its_tags(run, left, value)
    return left[0] if len(left) == 1 else None


def _is_of_type(run: Run, schema: Any, value: Any) -> bool:
    named = [rule.argument for rule in _rules_of(run, schema) if rule.keyword == "type"]
    return all(fits_types(value, names) for names in named)


def _with_its_tags(run: Run, schemas: list[Any], value: dict[str, Any]) -> list[Any]:
    """Return the schemas whose constants a value has, in the keys for which all of them have constants."""
    tags = [_tags_of(run, schema) for schema in schemas]
    shared = [key for key in tags[0] if key in value and all(key in each for each in tags)]
    if not shared:
        return schemas
    texts = {key: None if _is_container(value[key]) else run.text(value[key]) for key in shared}
    return [
        schema
        for schema, each in zip(schemas, tags, strict=True)
        if all(texts[key] in each[key] for key in shared)
    ]


def _tags_of(run: Run, schema: Any) -> dict[str, frozenset[str]]:
    """Return for each key of an object that may only have certain values their texts."""
    found: dict[str, frozenset[str]] = {}
    for rule in _rules_of(run, schema):
        if rule.keyword == "properties":
            run.count(len(rule.argument))
            for key, inner in rule.argument.items():
                choices = [
                    own.argument[0] for own in _rules_of(run, inner) if own.keyword in {"const", "enum"}
                ]
                if choices:
                    found[key] = choices[0]
    return found


def _rules_of(run: Run, schema: Any, level: int = 0) -> Iterator[Rule]:
    """Iterate over what holds for all values of a schema, in this place or another."""
    run.count(1)
    for rule in run.rules_of(schema):
        if rule.keyword not in {"$ref", "allOf"}:
            yield rule
        elif level < _FOLLOWED:
            for inner in rule.argument:
                yield from _rules_of(run, inner, level + 1)


def _is_container(value: object) -> bool:
    return is_array(value) or is_object(value)
