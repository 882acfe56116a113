"""Repair of times that ISO 8601 spells in another way than RFC 3339, and with one meaning only."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Any

import pytest
from repair_samples import kept, refused, repaired

from operator_schema import SchemaLeaf

UTC_TIME = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
PLUS_TWO = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-31T09:30Z", UTC_TIME),
        ("2026-01-31T09:30:00+0200", UTC_TIME.replace(tzinfo=PLUS_TWO)),
        ("2026-01-31T09:30:00+02", UTC_TIME.replace(tzinfo=PLUS_TWO)),
        ("2026-01-31T09:30+02:00", UTC_TIME.replace(tzinfo=PLUS_TWO)),
        ("20260131T093000Z", UTC_TIME),
        ("20260131T0930Z", UTC_TIME),
        ("20260131T093000.250+0200", UTC_TIME.replace(tzinfo=PLUS_TWO, microsecond=250_000)),
        ("2026-01-31 09:30:00Z", UTC_TIME),
    ],
)
def test_a_moment_is_read_however_iso_8601_spells_it(text, moment):
    assert repaired(datetime, text) == (moment, ["scalar"])
    assert repaired(datetime, text)[0].utcoffset() == moment.utcoffset()
    assert repaired(datetime | None, text) == (moment, ["scalar"])
    assert repaired(datetime | date, text) == (moment, ["scalar"])


def test_a_time_of_day_is_read_alike():
    assert repaired(time, "09:30Z") == (time(9, 30, tzinfo=UTC), ["scalar"])
    assert repaired(time, "093000+0200") == (time(9, 30, tzinfo=PLUS_TWO), ["scalar"])


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-31T09:30",  # whose time?
        "20260131T093000",
        "2026-01-31",
        "2026-01-31T09Z",
        "2026-0131T09:30Z",
        "2026-02-31T09:30Z",
        "2026-01-31T09:3000Z",
        "31.01.2026T09:30Z",
        "\u0662\u0660\u0662\u0666-01-31T09:30Z",
        "2026-01-31T09:30:00." + "0" * 100_000 + "+0200",
    ],
)
def test_what_has_no_offset_or_is_no_time_is_refused(text):
    assert refused(datetime, text)


def test_text_stays_where_strings_are_taken():
    assert kept(datetime | str, "2026-01-31T09:30Z") == "2026-01-31T09:30Z"
    assert kept(list[Any], ["2026-01-31T09:30Z"]) == ["2026-01-31T09:30Z"]


def test_a_leaf_of_ones_own_for_this_format_gets_the_spelling_that_the_format_names():
    seen: list[str] = []

    def read(text: str) -> datetime:
        seen.append(text)
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z")

    schema = {"type": "string", "format": "date-time"}
    leaf = SchemaLeaf(datetime, schema, read, lambda value: value.isoformat(), UTC_TIME)
    assert repaired(datetime, "20260131T0930Z", leaves=[leaf]) == (UTC_TIME, ["scalar"])
    assert seen[-1] == "2026-01-31T09:30:00Z"
