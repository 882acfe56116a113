"""A laboratory as an MCP server of the official SDK; its errors are in the words of pydantic."""

from __future__ import annotations

import asyncio
import json
import os
from datetime import datetime
from typing import Annotated, Any, Literal

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

FAULTS = frozenset(os.environ.get("FAULT", "").split(","))
"""Names of the faults that are switched on."""

CHANNEL = os.dup(1)
"""Standard output, before the SDK puts something else in its place."""

SHOWN = 20
FACTORS = {"celsius": (1.0, 0.0), "kelvin": (1.0, -273.15), "fahrenheit": (5 / 9, -160 / 9)}


def whole(value: Any) -> Any:
    """Take 1.0 for a whole number, as JSON Schema does."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def moment(text: str) -> str:
    datetime.fromisoformat(text.upper().replace(":60", ":59"))
    return text


Unit = Literal["celsius", "kelvin", "fahrenheit"]
SensorId = Annotated[str, Field(max_length=40, description="The sensor_id, as list_sensors returns it.")]
Value = Annotated[float, Field(ge=-1e9, le=1e9, description="A measured value.")]
Moment = Annotated[str, AfterValidator(moment), Field(json_schema_extra={"format": "date-time"})]


class Strict(BaseModel):
    model_config = ConfigDict(strict=True)


class ListSensors(Strict):
    """List the newest 20 sensors."""


class Place(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    latitude: float = Field(ge=-90, le=90, description="Degrees north.")
    longitude: float = Field(ge=-180, le=180, description="Degrees east.")
    height: Annotated[float, Field(ge=-500, le=9000)] | None = Field(
        default=None, description="Metres above the sea."
    )


class AddSensor(Strict):
    """Add a sensor."""

    name: str = Field(min_length=1, max_length=60, description="What it is called.")
    unit: Unit = Field(description="The unit of its values.")
    place: Place | None = Field(default=None, description="Where it is.")


class Record(Strict):
    """Record a measured value."""

    sensor_id: SensorId
    value: Value
    at: Moment | None = Field(default=None, description="When it was measured.")
    tags: list[Annotated[str, Field(max_length=20)]] = Field(
        default=[], max_length=5, description="Words to find it by."
    )


class ReadSeries(Strict):
    """Read the newest values of a sensor."""

    sensor_id: SensorId
    since: Moment | None = Field(default=None, description="Leave out what is older.")
    limit: Annotated[int, Field(ge=1, le=20), BeforeValidator(whole)] = Field(
        default=20, description="How many values at most."
    )


class Summary(Strict):
    """Compute the mean of the newest values of a sensor."""

    sensor_id: SensorId


class Convert(Strict):
    """Convert a temperature."""

    value: Value
    from_unit: Unit = Field(description="The unit that it has.")
    to_unit: Unit = Field(description="The unit that it gets.")


class RemoveSensor(Strict):
    """Remove a sensor with its values."""

    sensor_id: SensorId


class Calibrate(Strict):
    """Set the offset of a sensor."""

    sensor_id: SensorId
    offset: Value


class Sensor(BaseModel):
    sensor_id: str
    name: str
    unit: Unit
    offset: float
    readings: int
    refused_removals: int


class Sensors(BaseModel):
    sensors: list[Sensor]


class Series(BaseModel):
    values: list[float]


class Mean(BaseModel):
    sensor_id: str
    count: int
    mean: float | None


class Converted(BaseModel):
    value: float
    unit: Unit


class Failed(Exception):  # noqa: N818  # it is an answer
    """A call that can't be done, with the reason."""


sensors: dict[str, Sensor] = {}
values: dict[str, list[float]] = {}
converted: list[Convert] = []
numbers = iter(range(1, 1_000_000))


def add_sensor(arguments: AddSensor) -> Sensor:
    sensor_id = f"sensor-{next(numbers)}"
    sensors[sensor_id] = Sensor(
        sensor_id=sensor_id,
        name=arguments.name,
        unit=arguments.unit,
        offset=0,
        readings=0,
        refused_removals=0,
    )
    values[sensor_id] = []
    return sensors[sensor_id]


add_sensor(AddSensor(name="Oven", unit="celsius"))
add_sensor(AddSensor(name="Freezer", unit="kelvin"))
values["sensor-1"].append(21.5)
sensors["sensor-1"].readings = 1


def sensor_of(sensor_id: str) -> Sensor:
    if sensor_id not in sensors:
        raise Failed(f"there is no sensor with sensor_id {sensor_id!r}")
    return sensors[sensor_id]


def list_sensors(_: ListSensors) -> Sensors:
    return Sensors(sensors=list(sensors.values())[-SHOWN:])


def record(arguments: Record) -> Sensor:
    sensor = sensor_of(arguments.sensor_id)
    values[arguments.sensor_id].append(arguments.value)
    sensor.readings += 1
    return sensor


def read_series(arguments: ReadSeries) -> Series:
    sensor_of(arguments.sensor_id)
    return Series(values=values[arguments.sensor_id][-arguments.limit :])


def summary(arguments: Summary) -> Mean:
    sensor_of(arguments.sensor_id)
    newest = values[arguments.sensor_id][-SHOWN:]
    mean: Any = sum(newest) / len(newest) if newest else None
    if not newest and "wrong_mean" in FAULTS:
        mean = "no values yet"
    return Mean.model_construct(sensor_id=arguments.sensor_id, count=len(newest), mean=mean)


def convert(arguments: Convert) -> Converted:
    if "second_call" in FAULTS:
        if arguments in converted:
            raise Failed("1 validation error for Convert\nvalue\n  Input should be a value that is new")
        converted.append(arguments)
    factor, offset = FACTORS[arguments.from_unit]
    celsius = arguments.value * factor + offset
    factor, offset = FACTORS[arguments.to_unit]
    return Converted(value=(celsius - offset) / factor, unit=arguments.to_unit)


def remove_sensor(arguments: RemoveSensor) -> Sensor:
    if "refused_changes" in FAULTS and arguments.sensor_id not in sensors:
        for each in sensors.values():
            each.refused_removals += 1
    sensor = sensor_of(arguments.sensor_id)
    if len(sensors) == 1:
        raise Failed(f"the sensor with sensor_id {arguments.sensor_id!r} is the last one, and stays")
    del values[arguments.sensor_id]
    return sensors.pop(sensor.sensor_id)


def calibrate(arguments: Calibrate) -> Sensor:
    if "noise" in FAULTS:
        os.write(CHANNEL, b"calibrating ...\n")
    sensor = sensor_of(arguments.sensor_id)
    sensor.offset = arguments.offset
    return sensor


READS = types.ToolAnnotations(read_only_hint=True)
ADDS = types.ToolAnnotations(read_only_hint=False, destructive_hint=False)
SETS = types.ToolAnnotations(read_only_hint=False, idempotent_hint=True)
REMOVES = types.ToolAnnotations(read_only_hint=False, destructive_hint=True)

TOOLS: dict[str, tuple[Any, type[BaseModel], type[BaseModel], types.ToolAnnotations]] = {
    "list_sensors": (list_sensors, ListSensors, Sensors, READS),
    "add_sensor": (add_sensor, AddSensor, Sensor, ADDS),
    "record": (record, Record, Sensor, ADDS),
    "read_series": (read_series, ReadSeries, Series, READS),
    "summary": (summary, Summary, Mean, READS),
    "convert": (convert, Convert, Converted, READS),
    "calibrate": (calibrate, Calibrate, Sensor, SETS),
    "remove_sensor": (remove_sensor, RemoveSensor, Sensor, REMOVES),
}


def let_through(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return arguments that pass the check, if a fault takes these though the schema refuses them."""
    if name == "convert" and "lax_number" in FAULTS and isinstance(arguments.get("value"), str):
        try:
            return {**arguments, "value": float(arguments["value"])}
        except ValueError:
            return arguments
    if name == "add_sensor" and "nested_range" in FAULTS:
        place = arguments.get("place")
        if isinstance(place, dict) and isinstance(place.get("latitude"), int | float):
            return {**arguments, "place": {**place, "latitude": max(-90, min(90, place["latitude"]))}}
    if name == "record" and "tags_accepted" in FAULTS and isinstance(arguments.get("tags"), list):
        return {**arguments, "tags": [str(each)[:20] for each in arguments["tags"]][:5]}
    return arguments


def refuse_by_fault(name: str, arguments: dict[str, Any]) -> None:
    """Refuse a whole number where the schema allows one, if this fault is on."""
    if name == "convert" and "whole_refused" in FAULTS and type(arguments.get("value")) is int:
        raise Failed("1 validation error for Convert\nvalue\n  Input should be a number with decimals")


def run(name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Call a tool by name."""
    function, takes, _, _ = TOOLS[name]
    try:
        refuse_by_fault(name, arguments)
        checked = takes.model_validate_json(json.dumps(let_through(name, arguments)))
        result = function(checked).model_dump(mode="json", warnings=False)
    except (ValidationError, Failed) as error:
        text = f"Error executing tool {name}: {error}"
        return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
    content = [types.TextContent(text=json.dumps(result))]
    return types.CallToolResult(content=content, structured_content=result)


async def on_list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=name,
                description=takes.__doc__,
                input_schema=takes.model_json_schema(),
                output_schema=gives.model_json_schema(mode="serialization"),
                annotations=annotations,
            )
            for name, (_, takes, gives, annotations) in TOOLS.items()
        ]
    )


async def on_call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    if params.name not in TOOLS:
        text = f"Unknown tool: {params.name}"
        return types.CallToolResult(
            content=[types.TextContent(text=text)], is_error="unknown_tool" not in FAULTS
        )
    return run(params.name, params.arguments or {})


async def main() -> None:
    server = Server("lab", on_list_tools=on_list_tools, on_call_tool=on_call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
