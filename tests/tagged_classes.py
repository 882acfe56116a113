"""Members of unions that a tag with a default distinguishes, for several tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Keep:
    """Keep it."""

    path: str
    kind: Literal["keep"] = "keep"


@dataclass(frozen=True)
class Delete:
    """Delete it."""

    path: str
    kind: Literal["delete"] = "delete"
