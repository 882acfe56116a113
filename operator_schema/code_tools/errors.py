"""What can go wrong before a tool can answer."""

from __future__ import annotations

from .. import CallError

__all__ = ["TooHardError", "missing_package"]


class TooHardError(CallError):
    """A text takes too long to parse; the message is for the model."""

    def __init__(self) -> None:
        super().__init__("it takes too long to parse")


def missing_package(error: ModuleNotFoundError, package: str) -> ImportError:
    """Return the error that says how to install what is missing."""
    name = (error.name or package).replace("_", "-")
    return ModuleNotFoundError(
        f"the code tools need {name}: pip install 'operator-schema[code]'", name=error.name
    )
