"""A program as tools: it gets one JSON request on its standard input and writes one JSON answer."""

from .program import answer, main
from .tools import atools_of, tools_of

__all__ = ["answer", "atools_of", "main", "tools_of"]
