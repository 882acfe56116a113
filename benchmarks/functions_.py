"""The same three as functions. `fresh.py` runs this source where it has run that of `types_.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from typing import Literal
    from uuid import UUID

    from .types_ import Attendee, Coordinate, URLComponent


def geo_search(center: Coordinate, radius_km: float, query: str) -> str:
    """Search around a place.

    Args:
        center: Where to search
        radius_km: How far from the center to search
        query: What to search for
    """
    return f"{query} within {radius_km} km of {center}"


def parse_url(url: str, components: list[URLComponent], max_results: int | None = None) -> str:
    """Take a URL apart.

    Args:
        url: The URL to parse
        components: Which URL components to extract
        max_results: Maximum number of results to return
    """
    return f"{components[:max_results]} of {url}"


def create_event(
    id: UUID,
    title: str,
    starts_at: datetime,
    ends_at: datetime,
    attendees: list[Attendee],
    location: Coordinate | None = None,
    visibility: Literal["public", "private", "confidential"] = "private",
    labels: dict[str, str] | None = None,
    reminders: list[int] | None = None,
    budget: int | float | None = None,
) -> str:
    """Put an event into the calendar.

    Args:
        id: The event's own identifier
        title: What the event is called
        starts_at: When it starts
        ends_at: When it ends
        attendees: Who is invited
        location: Where it takes place
        visibility: Who may see it
        labels: Labels by name
        reminders: Minutes before the start
        budget: What it may cost
    """
    return f"{id} {title} {starts_at} {ends_at} {attendees} {location} {visibility} {labels} {reminders} {budget}"
