"""A page in a browser that shows tools as models get them; needs the extra `inspector`.

The command `operator-schema inspect` opens it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from .app import serve_inspector as serve_inspector
    from .subject import Inspector as Inspector
    from .subject import Subject as Subject
    from .subject import server_tools as server_tools
    from .subject import subject_of as subject_of
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            ".app": "serve_inspector",
            ".subject": "Inspector Subject server_tools subject_of",
        },
    )
