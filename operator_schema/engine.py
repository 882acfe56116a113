"""Which names of the engine do other rooms use: nodes of graphs, keywords of schemas, foreign documents?

The engine is `introspect/`, `schema/` and `codec/`. The workbench uses only what this module and the other
rooms export. Each name is loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazy_names

if TYPE_CHECKING:
    from .codec.codec import Codec as Codec
    from .codec.codec import codec_of as codec_of
    from .codec.example import NO_EXAMPLE as NO_EXAMPLE
    from .codec.example import example_of as example_of
    from .codec.example import matching_text as matching_text
    from .codec.expected_values import expected as expected
    from .codec.expected_values import expected_field as expected_field
    from .codec.expected_values import expected_fields as expected_fields
    from .codec.fitting import Fitting as Fitting
    from .codec.json_text import read_json as read_json
    from .codec.options import UnknownFields as UnknownFields
    from .codec.partial import Partial as Partial
    from .codec.shortcuts import decode_json as decode_json
    from .introspect.ambiguity_checks import ADD_TAG as ADD_TAG
    from .introspect.decimal_limits import is_decimal as is_decimal
    from .introspect.decimal_limits import limits_of as limits_of
    from .introspect.input_parts import ParameterPart as ParameterPart
    from .introspect.input_parts import places_of as places_of
    from .introspect.leaves import SchemaLeaf as SchemaLeaf
    from .introspect.local_times import LOCAL_DATETIME as LOCAL_DATETIME
    from .introspect.local_times import LOCAL_TIME as LOCAL_TIME
    from .introspect.node_kinds import flat_members as flat_members
    from .introspect.node_kinds import json_types_of as json_types_of
    from .introspect.nodes import AnyNode as AnyNode
    from .introspect.nodes import ArrayNode as ArrayNode
    from .introspect.nodes import EnumNode as EnumNode
    from .introspect.nodes import Field as Field
    from .introspect.nodes import Graph as Graph
    from .introspect.nodes import LeafNode as LeafNode
    from .introspect.nodes import LiteralNode as LiteralNode
    from .introspect.nodes import MapNode as MapNode
    from .introspect.nodes import Node as Node
    from .introspect.nodes import ObjectNode as ObjectNode
    from .introspect.nodes import RefNode as RefNode
    from .introspect.nodes import ScalarNode as ScalarNode
    from .introspect.nodes import Target as Target
    from .introspect.nodes import TupleNode as TupleNode
    from .introspect.nodes import UnionNode as UnionNode
    from .introspect.nodes import is_null as is_null
    from .introspect.number_bounds import Bound as Bound
    from .introspect.number_bounds import bounds_of as bounds_of
    from .introspect.overlaps import overlapping_names as overlapping_names
    from .introspect.pydantic_models import guessed_unions as guessed_unions
    from .introspect.shipped_leaves import shipped_leaf as shipped_leaf
    from .introspect.source_code import place_of as place_of
    from .introspect.union_plans import Tag as Tag
    from .introspect.union_plans import choices_of as choices_of
    from .introspect.union_plans import tag_of as tag_of
    from .schema.current_draft import in_current_draft as in_current_draft
    from .schema.current_draft import unsaid_parts as unsaid_parts
    from .schema.dialect_renderer import GIVE_TOOLS as GIVE_TOOLS
    from .schema.document import DocumentCodec as DocumentCodec
    from .schema.document import SchemaDocument as SchemaDocument
    from .schema.keywords import DEFINITIONS as DEFINITIONS
    from .schema.keywords import KEYWORDS as KEYWORDS
    from .schema.keywords import LIMITS as LIMITS
    from .schema.keywords import Constraints as Constraints
    from .schema.keywords import limit_of as limit_of
    from .schema.linear_regex import Patterns as Patterns
    from .schema.references import References as References
    from .schema.references import is_old as is_old
    from .schema.references import mapped as mapped
    from .schema.references import resolve_pointer as resolve_pointer
    from .schema.references import step as step
    from .schema.references import subschemas as subschemas
    from .schema.render import Renderer as Renderer
    from .schema.validator import Judge as Judge
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "..codec.codec": "Codec codec_of",
            "..codec.example": "NO_EXAMPLE example_of matching_text",
            "..codec.json_text": "read_json",
            "..codec.options": "UnknownFields",
            "..codec.partial": "Partial",
            "..codec.expected_values": "expected expected_field expected_fields",
            "..codec.fitting": "Fitting",
            "..codec.shortcuts": "decode_json",
            "..introspect.ambiguity_checks": "ADD_TAG",
            "..introspect.decimal_limits": "is_decimal limits_of",
            "..introspect.input_parts": "ParameterPart places_of",
            "..introspect.leaves": "SchemaLeaf",
            "..introspect.local_times": "LOCAL_DATETIME LOCAL_TIME",
            "..introspect.node_kinds": "flat_members json_types_of",
            "..introspect.nodes": "AnyNode ArrayNode EnumNode Field Graph LeafNode LiteralNode "
            "MapNode Node ObjectNode RefNode ScalarNode Target TupleNode UnionNode is_null",
            "..introspect.number_bounds": "Bound bounds_of",
            "..introspect.overlaps": "overlapping_names",
            "..introspect.pydantic_models": "guessed_unions",
            "..introspect.shipped_leaves": "shipped_leaf",
            "..introspect.source_code": "place_of",
            "..introspect.union_plans": "Tag choices_of tag_of",
            "..schema.current_draft": "in_current_draft unsaid_parts",
            "..schema.dialect_renderer": "GIVE_TOOLS",
            "..schema.document": "DocumentCodec SchemaDocument",
            "..schema.keywords": "Constraints DEFINITIONS KEYWORDS LIMITS limit_of",
            "..schema.linear_regex": "Patterns",
            "..schema.references": "References is_old mapped resolve_pointer step subschemas",
            "..schema.render": "Renderer",
            "..schema.validator": "Judge",
        },
    )
