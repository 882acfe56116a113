"""What the tests of your tools and loops need: generated arguments, and a model that follows a script.

`arguments`, `instances` and `near_misses` need the extra `testing`, which brings Hypothesis; `ScriptedModel`
needs nothing. `pytest_probe` tests tool servers. Only the room `probe` imports this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from ..codec.options import CodecOptions as CodecOptions
    from .scripted_model import ScriptedModel as ScriptedModel
    from .strategies import arguments as arguments
    from .strategies import instances as instances
    from .strategies import near_misses as near_misses
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "..codec.options": "CodecOptions",
            ".scripted_model": "ScriptedModel",
            ".strategies": "arguments instances near_misses",
        },
    )
