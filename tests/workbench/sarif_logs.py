"""SARIF logs, read by a model of somebody else; Pyodide has no wheel of what that needs."""

from __future__ import annotations

from libraries import library


def read_log(text):
    """Read a log, or skip the test where its model can't be installed."""
    return library("sarif_pydantic").Sarif.model_validate_json(text)


def places_in(result):
    """Return file, line and names of the only place of a result; without a file, the names alone."""
    (place,) = result.locations
    names = [each.fully_qualified_name for each in place.logical_locations or []]
    if place.physical_location is None:
        return (names,)
    there = place.physical_location
    return there.artifact_location.uri, there.region.start_line, names
