"""The three types that everything is measured with: a small one, a middling one, and a large one.

`fresh.py` runs the source of this file again and again, so that every registration is of classes
that nobody has seen before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Literal
from uuid import UUID


@dataclass
class Coordinate:
    latitude: float
    longitude: float

    param_descriptions = {
        "latitude": "Degrees north of the equator",
        "longitude": "Degrees east of Greenwich",
    }


@dataclass
class GeoSearchInput:
    center: Coordinate
    radius_km: float
    query: str

    param_descriptions = {
        "center": "Where to search",
        "radius_km": "How far from the center to search",
        "query": "What to search for",
    }


class URLComponent(str, Enum):
    SCHEME = "scheme"
    HOST = "host"
    PORT = "port"
    PATH = "path"
    QUERY = "query"


@dataclass
class ParseURLInput:
    url: str
    components: list[URLComponent]
    max_results: int | None = None

    param_descriptions = {
        "url": "The URL to parse",
        "components": "Which URL components to extract",
        "max_results": "Maximum number of results to return",
    }


@dataclass
class Attendee:
    name: str
    email: str
    optional: bool = False
    tags: list[str] = field(default_factory=list)

    param_descriptions = {
        "name": "Full name",
        "email": "Where the invitation goes",
        "optional": "Whether the event can do without",
    }


@dataclass
class Event:
    id: UUID
    title: str
    starts_at: datetime
    ends_at: datetime
    attendees: list[Attendee]
    location: Coordinate | None = None
    visibility: Literal["public", "private", "confidential"] = "private"
    labels: dict[str, str] = field(default_factory=dict)
    reminders: list[int] = field(default_factory=list)
    budget: int | float | None = None

    param_descriptions = {
        "id": "The event's own identifier",
        "title": "What the event is called",
        "starts_at": "When it starts",
        "ends_at": "When it ends",
        "attendees": "Who is invited",
        "location": "Where it takes place",
        "visibility": "Who may see it",
        "labels": "Labels by name",
        "reminders": "Minutes before the start",
        "budget": "What it may cost",
    }
