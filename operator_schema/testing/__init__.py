"""Tools for tests of your tools and loops: generated values, doubles, cassettes and scripted models.

`arguments`, `instances`, `near_misses` and `results` need the extra `testing`, which brings Hypothesis, and
so do the generated results of a `ToolDouble`; the rest needs nothing.
Only `workbench/probe/` imports this room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .calls import assert_calls as assert_calls
    from .cassettes import PlaybackError as PlaybackError
    from .cassettes import playback as playback
    from .cassettes import record as record
    from .doubles import DoubledCall as DoubledCall
    from .doubles import ToolDouble as ToolDouble
    from .result_values import drawn as drawn
    from .result_values import results as results
    from .scripted_model import CutOff as CutOff
    from .scripted_model import Refusal as Refusal
    from .scripted_model import ScriptedModel as ScriptedModel
    from .store_checks import check_store as check_store
    from .strategies import arguments as arguments
    from .strategies import instances as instances
    from .strategies import near_misses as near_misses
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            ".calls": "assert_calls",
            ".cassettes": "PlaybackError playback record",
            ".doubles": "DoubledCall ToolDouble",
            ".result_values": "drawn results",
            ".scripted_model": "CutOff Refusal ScriptedModel",
            ".store_checks": "check_store",
            ".strategies": "arguments instances near_misses",
        },
    )
