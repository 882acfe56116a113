"""What can go wrong before a tool can answer."""

from __future__ import annotations

__all__ = ["missing_package"]


def missing_package(error: ModuleNotFoundError, package: str) -> ImportError:
    """Return the error that says how to install what is missing."""
    name = (error.name or package).replace("_", "-")
    return ModuleNotFoundError(
        f"the code tools need {name}: pip install 'operator-schema[code]'", name=error.name
    )
