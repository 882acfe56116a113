"""Content that a tool may return for the model besides JSON values: texts, images, audio, files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazy_names

if TYPE_CHECKING:
    from .tools.content import Audio as Audio
    from .tools.content import File as File
    from .tools.content import Image as Image
    from .tools.content import Part as Part
    from .tools.content import Resource as Resource
    from .tools.content import Text as Text
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "..tools.content": "Audio File Image Part Resource Text",
        },
    )
