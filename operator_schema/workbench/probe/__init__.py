"""A tester of tool servers: calls them with right and wrong arguments; needs the extra `probe`.

The command `operator-schema probe` runs it, and so does a line in a suite of pytest (`probe_tests`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .probe_error import ProbeError as ProbeError
    from .probing import plan as plan
    from .probing import probe as probe
    from .pytest_suite import probe_tests as probe_tests
    from .reports import FoundFault as FoundFault
    from .reports import Plan as Plan
    from .reports import ProbeReport as ProbeReport
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            ".probing": "plan probe",
            ".reports": "FoundFault Plan ProbeReport",
            ".probe_error": "ProbeError",
            ".pytest_suite": "probe_tests",
        },
    )
