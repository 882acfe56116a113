"""Runs calls: each gets a result, whatever happens.

Adapters and the command line use only the names that this room exports. Each name is loaded when it is first
used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .around import Execution as Execution
    from .async_libraries import current_backend as current_backend
    from .concurrency import Load as Load
    from .confirmation import Confirm as Confirm
    from .executor import Executor as Executor
    from .options import check_confirm as check_confirm
    from .stream import OnProgress as OnProgress
    from .tasks import person_answers as person_answers
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            ".around": "Execution",
            ".async_libraries": "current_backend",
            ".concurrency": "Load",
            ".executor": "Executor",
            ".options": "check_confirm",
            ".tasks": "person_answers",
        },
    )
