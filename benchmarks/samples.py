"""One call's arguments for each type, and one that fails."""

from __future__ import annotations

GEO = {
    "center": {"latitude": 52.520008, "longitude": 13.404954},
    "radius_km": 2.5,
    "query": "vegetarian restaurant",
}

URL = {
    "url": "https://example.com:8080/search?q=json+schema",
    "components": ["host", "port", "path"],
    "max_results": 10,
}

EVENT = {
    "id": "6f1c2f3e-5d9b-4a55-9d0b-0c1a8b7f2e11",
    "title": "Quarterly planning",
    "starts_at": "2026-03-02T09:00:00+01:00",
    "ends_at": "2026-03-02T11:30:00+01:00",
    "attendees": [
        {"name": "Ada Lovelace", "email": "ada@example.com", "tags": ["host"]},
        {"name": "Alan Turing", "email": "alan@example.com"},
        {"name": "Grace Hopper", "email": "grace@example.com", "optional": False},
        {"name": "Edsger Dijkstra", "email": "edsger@example.com"},
        {"name": "Barbara Liskov", "email": "barbara@example.com"},
        {"name": "Donald Knuth", "email": "don@example.com", "tags": ["notes", "remote"]},
        {"name": "Frances Allen", "email": "fran@example.com"},
        {"name": "Tony Hoare", "email": "tony@example.com", "optional": True},
        {"name": "Radia Perlman", "email": "radia@example.com"},
        {"name": "John Backus", "email": "john@example.com", "optional": True, "tags": []},
    ],
    "location": {"latitude": 48.137154, "longitude": 11.576124},
    "visibility": "confidential",
    "labels": {"team": "platform", "cost-center": "4711"},
    "reminders": [1440, 60, 10],
    "budget": 1250.5,
}

FAILING_ATTENDEE = 7
FAILING_EVENT = {
    **EVENT,
    "attendees": [
        {**attendee, "optional": "yes, please"} if number == FAILING_ATTENDEE else attendee
        for number, attendee in enumerate(EVENT["attendees"])
    ],
}

SAMPLES = {"GeoSearchInput": GEO, "ParseURLInput": URL, "Event": EVENT}
