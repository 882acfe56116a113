"""What datetimes, dates and times say about themselves, and how local ones are declared."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from judge import validator

from operator_schema import Codec, DecodeError, EncodeError, SchemaError, SchemaLeaf, decode, json_schema
from operator_schema.engine import LOCAL_DATETIME, LOCAL_TIME
from operator_schema.immutable import content_of
from operator_schema.testing import arguments
from operator_schema.types import LocalDateTime, LocalTime

MORNING = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
LOCAL_MORNING = datetime(2026, 1, 31, 9, 30)  # noqa: DTZ001  # a local one


def judge_of(annotation):
    # A bare FormatChecker knows "time" as draft 3 had it.
    return validator(json_schema(annotation)).evolve(format_checker=Draft202012Validator.FORMAT_CHECKER)


@pytest.mark.parametrize(
    ("annotation", "description"),
    [
        (datetime, "date, time and UTC offset, such as 2026-01-31T09:30:00+01:00"),
        (date, "date, such as 2026-01-31"),
        (time, "time and UTC offset, such as 09:30:00+01:00"),
        (timedelta, "ISO 8601 duration without years or months, such as P1DT2H30M"),
        (LocalDateTime, "local date and time (no offset), such as 2026-01-31T09:30:00"),
        (LocalTime, "local time (no offset), such as 09:30:00"),
    ],
)
def test_the_description_says_what_is_wanted_and_its_sample_decodes(annotation, description):
    assert json_schema(annotation)["description"] == description
    sample = description.rpartition(" such as ")[2]
    assert not Codec(annotation).report(sample)
    assert judge_of(annotation).is_valid(sample)


@dataclass
class Appointment:
    when: Annotated[datetime, "When it begins"]


def test_an_own_description_leaves_the_form_in_the_errors():
    with pytest.raises(DecodeError) as caught:
        decode(Appointment, {"when": "tomorrow"})
    assert json_schema(Appointment)["properties"]["when"]["description"] == "When it begins"
    assert str(caught.value).count("date, time and UTC offset") == 2
    with pytest.raises(
        DecodeError, match=r"missing \(string <date, time and UTC offset, such as 2026-01-31T"
    ):
        decode(Appointment, {})


def test_a_value_of_another_type_shows_one_sample():
    (problem,) = Codec(datetime).report(1767225600)
    assert problem.message.count("such as") == 1


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        (datetime, "2026-01-31t09:30:00z", MORNING),
        (datetime, "2026-01-31t10:30:00+01:00", MORNING),
        (datetime, "2026-01-31T09:30:00z", MORNING),
        (datetime, "2026-01-31t09:30:00.0z", MORNING),
        (time, "09:30:00z", time(9, 30, tzinfo=UTC)),
        (time, "09:30:00.50z", time(9, 30, 0, 500000, tzinfo=UTC)),
    ],
)
def test_letters_of_rfc_3339_may_be_in_lower_case(annotation, text, value):
    codec = Codec(annotation)
    assert codec.decode(text) == value
    assert judge_of(annotation).is_valid(text)
    codec.compile()
    assert codec.decode(text) == value


@pytest.mark.parametrize(
    "text", ["2026-01-31T09:30:00", "2026-01-31T09:30", "2026-01-31 09:30:00.5", "2026-01-31t09:30:00"]
)
def test_a_datetime_without_offset_hears_that_it_is_missing(text):
    (problem,) = Codec(datetime).report(text)
    assert "it has no UTC offset; write one, as in 2026-01-31T09:30:00+01:00" in problem.message
    assert "LocalDateTime" in problem.message


def test_a_time_without_offset_hears_that_it_is_missing():
    (problem,) = Codec(time).report("09:30")
    assert "it has no UTC offset; write one, as in 09:30:00+01:00 or 09:30:00Z" in problem.message
    assert "LocalTime" in problem.message


def test_what_is_wrong_elsewhere_is_not_blamed_on_the_offset():
    for text in ("2026-01-31T09:30Z", "2026-01-31T09:30:00+0000", "2026-01-31", "٢٠٢٦-01-31T09:30:00"):
        (problem,) = Codec(datetime).report(text)
        assert "it has no UTC offset" not in problem.message


@pytest.mark.parametrize(
    ("annotation", "value", "name"),
    [(datetime, LOCAL_MORNING, "LocalDateTime"), (time, time(9, 30), "LocalTime")],
)
def test_writing_a_local_value_names_the_annotation_for_it(annotation, value, name):
    with pytest.raises(EncodeError, match=f"give it a tzinfo that has one, or declare {name}"):
        Codec(annotation).encode(value)


def test_a_local_default_names_the_annotation_for_it():
    @dataclass
    class Alarm:
        at: datetime = LOCAL_MORNING

    with pytest.raises(SchemaError, match="declare LocalDateTime"):
        Codec(Alarm)


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        (LocalDateTime, "2026-01-31T09:30:00", LOCAL_MORNING),
        (LocalDateTime, "2026-01-31T09:30", LOCAL_MORNING),
        (LocalDateTime, "2026-01-31t09:30", LOCAL_MORNING),
        (LocalDateTime, "2026-01-31 09:30:00.123456789", LOCAL_MORNING.replace(microsecond=123456)),
        (LocalTime, "09:30", time(9, 30)),
        (LocalTime, "23:59:59.5", time(23, 59, 59, 500000)),
    ],
)
def test_local_values_decode(annotation, text, value):
    codec = Codec(annotation)
    assert judge_of(annotation).is_valid(text)
    assert codec.decode(text) == value
    assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize(
    ("annotation", "refused", "says"),
    [
        (LocalDateTime, "2026-01-31T09:30:00Z", "without a UTC offset, as in 2026-01-31T09:30:00"),
        (LocalDateTime, "2026-01-31T09:30:00+01:00", "without a UTC offset"),
        (LocalDateTime, "2026-01-31", "write the local date and time"),
        (LocalDateTime, "2026-01-31T24:00:00", "write the local date and time"),
        (LocalDateTime, "2026-01-31T09:30:00\n", "write the local date and time"),
        (LocalTime, "9:30", "write the local time without a UTC offset, as in 09:30:00"),
        (LocalTime, "09:30:00z", "without a UTC offset"),
    ],
)
def test_local_values_refuse(annotation, refused, says):
    (problem,) = Codec(annotation).report(refused)
    assert problem.code == "bad_format"
    assert says in problem.message
    if not refused.endswith("\n"):
        assert not judge_of(annotation).is_valid(refused)


def test_a_day_that_does_not_exist_is_refused_though_its_schema_can_not_say_so():
    (problem,) = Codec(LocalDateTime).report("2026-02-30T09:30")
    assert problem.code == "bad_format"
    assert judge_of(LocalDateTime).is_valid("2026-02-30T09:30")


@pytest.mark.parametrize(("annotation", "value"), [(LocalDateTime, MORNING), (LocalTime, MORNING.timetz())])
def test_a_value_with_a_time_zone_is_not_written_as_a_local_one(annotation, value):
    with pytest.raises(EncodeError, match="it isn't a local time"):
        Codec(annotation).encode(value)


@dataclass
class Alarm:
    at: LocalTime
    day: LocalDateTime | None = LOCAL_MORNING
    days: list[LocalDateTime] = field(default_factory=list)


@given(arguments(Alarm))
def test_local_values_of_the_testing_strategies_go_there_and_back(value):
    codec = Codec(Alarm)
    assert judge_of(Alarm).is_valid(value)
    alarm = codec.decode_json(json.dumps(value))
    assert codec.decode(codec.encode(alarm)) == alarm


@given(st.datetimes(), st.times())
def test_every_local_value_can_be_written(moment, clock):
    for annotation, value in ((LocalDateTime, moment), (LocalTime, clock)):
        encoded = Codec(annotation).encode(value)
        assert judge_of(annotation).is_valid(encoded)
        assert decode(annotation, encoded) == value


def test_the_local_leaves_are_as_a_users_own_would_have_to_be():
    for leaf in (LOCAL_DATETIME, LOCAL_TIME):
        assert SchemaLeaf(*content_of(leaf)) == leaf
        assert pickle.loads(pickle.dumps(leaf)) == leaf


def test_local_values_are_distinguished_from_others_in_a_union():
    codec = Codec(list[LocalDateTime | LocalTime | datetime | str])
    values = ["2026-01-31T09:30:00", "09:30:00", "2026-01-31T09:30:00+00:00", "noon"]
    assert codec.decode(values) == [LOCAL_MORNING, time(9, 30), MORNING, "noon"]
    assert codec.encode(codec.decode(values)) == values
