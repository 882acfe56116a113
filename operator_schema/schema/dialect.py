"""Which part of JSON Schema does a provider take?"""

from __future__ import annotations

from typing import Literal

from ..immutable import Value


class Dialect(Value):
    """The part of JSON Schema that a provider, or its strict mode, takes.

    Each dialect takes `type`, `properties`, `required`, `items`, `enum`, and `anyOf` below the root. A
    keyword that it doesn't take moves to the description. A part that a few words can't express is refused,
    or weakened if the dialect is lenient.

    Attributes:
        keywords: further keywords that it takes.
        formats: the formats of strings that it takes.
        lenient: whether a schema may restrict less than the type if it can't express all of it. The provider
            enforces nothing anyway, so an incomplete schema is better than none.
        required: which properties must be required: `all`, at least `one` of each object, or `any` (as in the
            type). An optional property that must be required takes null.
        closed: which objects get `additionalProperties: false`: every object, `none`, or those whose type is
            closed (`as_is`).
        openapi: whether it is OpenAPI's form: types in capitals, `nullable`, `propertyOrdering`.
        takes_type_lists: whether `type` may be a list; otherwise there is `anyOf`.
        takes_references: whether it takes `$ref`; otherwise each type is written out where it is used.
        takes_recursion: whether a type may contain itself.
        takes_maps: whether an object may have free keys with a schema for their values.
        takes_tuples: whether it takes `prefixItems`.
        takes_anything: whether a schema may be empty.
        takes_open_arrays: whether an array may leave out its items. If so, and a schema may not be empty, a
            value of any type is written as a list of all types.
        takes_lookaround: whether a pattern may use lookaround, as in `(?=…)`.
        plain_patterns: whether a pattern must have the form of `plain_pattern`, which describes a whole text;
            a pattern without such a form moves to the description.
        plain_definitions: whether the names of definitions may have only letters, digits and hyphens, and
            must begin with `def-`, so that they don't clash with other rules of a grammar.
        text_choices: whether enums may have only strings.
        whole_request: whether strict mode applies to a whole request, not to each tool in it.
        most: keyword to the greatest absolute value that it takes.
        most_tools: strict tools in a request; None for no limit. The following limits also apply to a whole
            request.
        most_properties: properties of all objects.
        most_levels: nested levels of objects and arrays.
        most_choices: values of all enums.
        most_optional: properties that may be left out.
        most_unions: places that take several types, null included.
        most_optional_of_one: properties of one tool that may be left out.
        most_unions_of_one: places of one tool that take several types.
        most_characters: characters of all names of properties and definitions, and of values of enums.
        most_choice_characters: characters of the values of an enum that has more than 250 values.
    """

    keywords: frozenset[str]
    formats: frozenset[str]
    lenient: bool = False
    required: Literal["all", "one", "any"] = "any"
    closed: Literal["always", "none", "as_is"] = "always"
    openapi: bool = False
    takes_type_lists: bool = True
    takes_references: bool = True
    takes_recursion: bool = True
    takes_maps: bool = False
    takes_tuples: bool = False
    takes_anything: bool = False
    takes_open_arrays: bool = False
    takes_lookaround: bool = False
    plain_patterns: bool = False
    plain_definitions: bool = False
    text_choices: bool = False
    whole_request: bool = False
    most: tuple[tuple[str, int], ...] = ()
    most_tools: int | None = None
    most_properties: int | None = None
    most_levels: int | None = None
    most_choices: int | None = None
    most_optional: int | None = None
    most_unions: int | None = None
    most_optional_of_one: int | None = None
    most_unions_of_one: int | None = None
    most_characters: int | None = None
    most_choice_characters: int | None = None
