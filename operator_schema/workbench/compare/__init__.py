"""Compare two versions of tools, and find the changes that break callers or readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .accepted import Accepted as Accepted
    from .accepted import AcceptError as AcceptError
    from .accepted import read_accepted as read_accepted
    from .accepted import sort_changes as sort_changes
    from .changes import LEVELS as LEVELS
    from .changes import Change as Change
    from .changes import Comparison as Comparison
    from .changes import Level as Level
    from .changes import compare as compare
    from .snapshot import Snapshot as Snapshot
    from .snapshot import SnapshotError as SnapshotError
    from .snapshot import ToolSnapshot as ToolSnapshot
    from .snapshot import read_snapshot as read_snapshot
    from .snapshot import snapshot_of as snapshot_of
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            ".accepted": "AcceptError Accepted read_accepted sort_changes",
            ".changes": "LEVELS Change Comparison Level compare",
            ".snapshot": "Snapshot SnapshotError ToolSnapshot read_snapshot snapshot_of",
        },
    )
