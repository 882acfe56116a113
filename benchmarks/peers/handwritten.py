"""What a careful programmer would write by hand for these types, without messages, in plain Python."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from benchmarks.types_ import Attendee, Coordinate, Event, GeoSearchInput, ParseURLInput, URLComponent

COMPONENTS = {member.value: member for member in URLComponent}
VISIBILITIES = frozenset({"public", "private", "confidential"})


def decoder(cls: type) -> Any:
    return {GeoSearchInput: _geo, ParseURLInput: _url, Event: _event}[cls]


def json_decoder(cls: type) -> Any:
    import orjson

    loads, decode = orjson.loads, decoder(cls)
    return lambda text: decode(loads(text))


def encoder(cls: type) -> Any:
    return {GeoSearchInput: _from_geo, ParseURLInput: _from_url, Event: _from_event}[cls]


def _wrong() -> Any:
    raise ValueError


def _text(value: Any) -> str:
    return value if value.__class__ is str else _wrong()


def _number(value: Any) -> float:
    if value.__class__ is float:
        return value if value - value == 0 else _wrong()
    return float(value) if value.__class__ is int else _wrong()


def _integer(value: Any) -> int:
    return value if value.__class__ is int else _wrong()


def _coordinate(value: Any) -> Coordinate:
    if value.__class__ is not dict:
        _wrong()
    return Coordinate(_number(value["latitude"]), _number(value["longitude"]))


def _geo(value: Any) -> GeoSearchInput:
    if value.__class__ is not dict:
        _wrong()
    return GeoSearchInput(_coordinate(value["center"]), _number(value["radius_km"]), _text(value["query"]))


def _url(value: Any) -> ParseURLInput:
    if value.__class__ is not dict or value["components"].__class__ is not list:
        _wrong()
    most = value.get("max_results")
    return ParseURLInput(
        _text(value["url"]),
        [COMPONENTS[item] for item in value["components"]],
        None if most is None else _integer(most),
    )


def _attendee(value: Any) -> Attendee:
    if value.__class__ is not dict:
        _wrong()
    optional, tags = value.get("optional", False), value.get("tags", [])
    if optional.__class__ is not bool or tags.__class__ is not list:
        _wrong()
    return Attendee(_text(value["name"]), _text(value["email"]), optional, [_text(tag) for tag in tags])


def _event(value: Any) -> Event:
    if value.__class__ is not dict or value["attendees"].__class__ is not list:
        _wrong()
    location, budget = value.get("location"), value.get("budget")
    visibility, labels, reminders = (
        value.get("visibility", "private"),
        value.get("labels", {}),
        value.get("reminders", []),
    )
    if visibility not in VISIBILITIES or labels.__class__ is not dict or reminders.__class__ is not list:
        _wrong()
    return Event(
        UUID(_text(value["id"])),
        _text(value["title"]),
        datetime.fromisoformat(value["starts_at"]),
        datetime.fromisoformat(value["ends_at"]),
        [_attendee(item) for item in value["attendees"]],
        None if location is None else _coordinate(location),
        visibility,
        {_text(key): _text(label) for key, label in labels.items()},
        [_integer(item) for item in reminders],
        budget if budget is None or budget.__class__ is int else _number(budget),
    )


def _from_coordinate(it: Coordinate) -> dict[str, Any]:
    return {"latitude": it.latitude, "longitude": it.longitude}


def _from_geo(it: GeoSearchInput) -> dict[str, Any]:
    return {"center": _from_coordinate(it.center), "radius_km": it.radius_km, "query": it.query}


def _from_url(it: ParseURLInput) -> dict[str, Any]:
    return {
        "url": it.url,
        "components": [member.value for member in it.components],
        "max_results": it.max_results,
    }


def _from_attendee(it: Attendee) -> dict[str, Any]:
    return {"name": it.name, "email": it.email, "optional": it.optional, "tags": it.tags[:]}


def _from_event(it: Event) -> dict[str, Any]:
    return {
        "id": str(it.id),
        "title": it.title,
        "starts_at": it.starts_at.isoformat(),
        "ends_at": it.ends_at.isoformat(),
        "attendees": [_from_attendee(item) for item in it.attendees],
        "location": None if it.location is None else _from_coordinate(it.location),
        "visibility": it.visibility,
        "labels": it.labels.copy(),
        "reminders": it.reminders[:],
        "budget": it.budget,
    }
