"""Which name or pattern does a caller mean, in any notation of any language?"""

from __future__ import annotations

import re
from typing import NamedTuple

from .language import LANGUAGES


class WrittenName(NamedTuple):
    """A name as a caller wrote it, split into its parts.

    Attributes:
        name: written with dots, such as `Server.ListenAndServe`; empty if a line is given instead.
        path: of the file in front of it; empty if there is none.
        line: of the file, from 1; 0 if a name is given instead.
        problem: why this can't be a name, and what to write instead; empty if it can.
    """

    name: str
    path: str = ""
    line: int = 0
    problem: str = ""


_ENDINGS = "|".join(ending.lstrip(".") for endings in LANGUAGES.values() for ending in endings)
_LOCATION = re.compile(r"(?P<path>[^*?\n]+?\.\w+)(?::|#L)(?P<line>\d{1,9})(?:[:-]L?\d*)*:?")
_FILE_FIRST = re.compile(rf"(?P<path>[^:\n]+\.(?:{_ENDINGS}))::?(?P<name>.*)", re.DOTALL)
_PATH_FIRST = re.compile(r"(?P<path>[^:(\[<\n]*):(?P<name>[^:].*|)", re.DOTALL)
_KEYWORDS = (
    r"async|abstract|class|const|def|enum|export|extern|final|fn|func|function|impl|import|interface|let|"
    r"macro_rules!|mod|namespace|private|protected|pub|public|static|struct|trait|type|union|unsafe|use|var"
)
_KEYWORD = re.compile(rf"(?:(?:{_KEYWORDS})\s+)+(?=\S)")
_SELF = re.compile(r"(?:(?:crate|self|super|Self|this)(?:\.))+")
_AS_TRAIT = re.compile(r"^<\s*([\w:]+)(?:<[^<>]*>)?\s+as\s+[^<>]*(?:<[^<>]*>)?\s*>")
_RECEIVER = re.compile(r"(?<![\w\])>])\(\s*(?:\w+\s+)?[*&]?\s*([\w.]+)(?:\[[^\[\]]*\])?\s*\)\s*\.?(?=\w)")
_INSIDE = re.compile(r"(?<=[\w>\])!])(?:\([^()]*\)|\[[^\[\]]*\]|(?:::)?<[^<>]*>)")
_PATTERN = re.compile(r"(?<!operator)[*?|^]")


def read_name(text: str) -> WrittenName:
    """Read a name in any notation that a language's users write.

    Args:
        text: such as `Codec.decode`, `Type::method`, `(*Server).Close`, `net/http.Client`, `f()`,
            `codec.py:Codec`, `codec.py::Codec` or `codec.py:81`.
    """
    text = text.strip().strip("`'\"").strip()
    if not text:
        return WrittenName("", problem="No name was given: write one such as Codec or Codec.decode.")
    if location := _LOCATION.fullmatch(text):
        return WrittenName("", location["path"].removeprefix("./"), int(location["line"]))
    path = ""
    if split := _FILE_FIRST.fullmatch(text) or _PATH_FIRST.fullmatch(text):
        path, text = split["path"].strip().removeprefix("./"), split["name"].strip()
    name = _dotted(text)
    if not name:
        return WrittenName("", path, problem=f"A name is missing after {path or text}.")
    if _PATTERN.search(name):
        return WrittenName(name, path, problem="This is a pattern, not a name: call search.")
    if re.search(r"\s", name):
        return WrittenName(name, path, problem="A name has no spaces in it: write one such as Codec.decode.")
    return WrittenName(name, path)


def _dotted(text: str) -> str:
    """Write a name with dots between its parts, without keywords, brackets and receivers."""
    text = _KEYWORD.sub("", text, count=1) if _KEYWORD.match(text) else text
    text = _AS_TRAIT.sub(r"\1", text).lstrip("@&")
    text = text.removeprefix("*") if re.match(r"\*\w", text) else text
    text = _RECEIVER.sub(r"\1.", text)
    before = ""
    while before != text:  # brackets may have brackets in them
        before, text = text, _INSIDE.sub("", text)
    text = re.sub(r"(?<=\w)!", "", text).rstrip(":;,{( ")
    text = re.sub(r"::|->|(?<=\w)#(?=\w)|/|\\", ".", text)
    return _SELF.sub("", f"{text}.", count=1).strip(". ") if _SELF.match(text) else text.strip(". ")


def read_pattern(text: str) -> tuple[str, str]:
    """Split a pattern into the path in front of it, and the pattern of names with dots."""
    text = text.strip()
    path = ""
    if split := _FILE_FIRST.fullmatch(text) or _PATH_FIRST.fullmatch(text):
        path, text = split["path"].strip().removeprefix("./"), split["name"].strip()
    text = _KEYWORD.sub("", text, count=1) if _KEYWORD.match(text) else text
    return path, text.replace("::", ".").replace("()", "")


def pattern_hint(text: str) -> str:
    """Return what to write instead of a regular expression; empty if the pattern is valid."""
    odd = list(dict.fromkeys(re.findall(r"[|^$\[\]{}\\+]|\.\*(?=[\w|$])|\s", text.strip())))
    if not odd:
        return ""
    named = ", ".join(["a space" if one.isspace() else one for one in odd])
    return f"Patterns have only * and ?, so {named} can't be a part of one: search once for each name."
