"""Which values does Hypothesis draw for a tool, without leaving files behind?"""

from __future__ import annotations

import logging
import warnings
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

try:
    from hypothesis.configuration import set_hypothesis_home_dir, storage_directory
    from hypothesis.errors import FailedHealthCheck, InvalidArgument, Unsatisfiable
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    message = "to probe a server, install the extra: pip install 'operator-schema[probe]'"
    raise ModuleNotFoundError(message, name=error.name) from None

from ...errors import SchemaError
from ...json_values import is_object, to_json_text
from ...testing import arguments, drawn, near_misses

if TYPE_CHECKING:
    from collections.abc import Generator

    from hypothesis.strategies import SearchStrategy

    from ...engine import DocumentCodec

_LOG: Final = logging.getLogger(__name__)
_NOTHING_FITS: Final = (Unsatisfiable, FailedHealthCheck, InvalidArgument, SchemaError, ValueError)
"""The exceptions of Hypothesis and of the strategies if no value exists."""


@contextmanager
def storing_nothing() -> Generator[None]:
    """Have Hypothesis keep its files in a folder that is removed, rather than in the working directory."""
    found: Any = storage_directory(intent_to_write=False)
    before = getattr(found, "path", found)  # older versions return the path itself
    with TemporaryDirectory(prefix="probe-") as folder:
        set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            set_hypothesis_home_dir(before)


def valid_arguments_of(codec: DocumentCodec, number: int, chance: int, tool: str) -> list[Any]:
    """Return arguments that a schema allows, each once; none if nothing fits.

    Args:
        codec: the codec of the schema.
        number: the number of arguments.
        chance: equal numbers give equal arguments.
        tool: the name of the tool, for the log.
    """
    try:
        return _examples(arguments(codec), number, chance, tool)
    except (ValueError, SchemaError):
        return []


def near_misses_of(codec: DocumentCodec, number: int, chance: int, tool: str) -> list[Any]:
    """Return arguments that a schema nearly allows; the parameters are those of `valid_arguments_of`."""
    try:
        return [each for each in _examples(near_misses(codec), number, chance, tool) if is_object(each)]
    except (ValueError, SchemaError):
        return []


def _examples(strategy: SearchStrategy[Any], number: int, chance: int, tool: str) -> list[Any]:
    """Return examples of a strategy, each once; none if nothing fits."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # as errors, they would take calls away
            values = drawn(strategy, chance, number)
    except _NOTHING_FITS:
        return []
    except Exception:  # noqa: BLE001  # one tool doesn't end the probe of the others
        _LOG.warning("no calls of the tool %r can be generated from %r", tool, strategy, exc_info=True)
        return []
    return list({to_json_text(value): value for value in reversed(values)}.values())[::-1]
