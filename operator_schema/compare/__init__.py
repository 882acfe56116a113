"""What changed between two versions of tools, and whom it breaks."""

from __future__ import annotations

from .accepted import Accepted, AcceptError, read_accepted, sort_changes
from .changes import LEVELS, Change, Comparison, Level, compare
from .snapshot import Snapshot, SnapshotError, ToolSnapshot, read_snapshot, snapshot_of

__all__ = [
    "LEVELS",
    "AcceptError",
    "Accepted",
    "Change",
    "Comparison",
    "Level",
    "Snapshot",
    "SnapshotError",
    "ToolSnapshot",
    "compare",
    "read_accepted",
    "read_snapshot",
    "snapshot_of",
    "sort_changes",
]
