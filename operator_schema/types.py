"""Types for the annotations of your tools and dataclasses, and how classes of yours become types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazy_names

if TYPE_CHECKING:
    from typing import TypeAlias
    from urllib.parse import SplitResult

    from .introspect.leaves import register_leaf as register_leaf
    from .introspect.local_times import LocalDateTime as LocalDateTime
    from .introspect.local_times import LocalTime as LocalTime
    from .tools.injection import Progress as Progress
    from .tools.injection import ProgressUpdate as ProgressUpdate
    from .tools.injection import register_injected as register_injected
    from .tools.raw_arguments import RawArguments as RawArguments

    URL: TypeAlias = SplitResult
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "..introspect.leaves": "register_leaf",
            "..introspect.local_times": "LocalDateTime LocalTime",
            "..tools.injection": "Progress ProgressUpdate register_injected",
            "..tools.raw_arguments": "RawArguments",
            "urllib.parse": "SplitResult:URL",
        },
    )
