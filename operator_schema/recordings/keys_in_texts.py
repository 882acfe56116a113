"""Does a text that can't be read name a key with a secret?"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Final
from unicodedata import normalize
from urllib.parse import unquote

from .secret_keys import WORD, key_words, most_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .secret_keys import Hidden

_ESCAPE: Final = re.compile(
    r"(?<!\\)\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})"
    r"|u\{([0-9a-fA-F]{1,6})\}|([0-3][0-7]{2}))"
)
_GAP: Final = re.compile(r"([-_\s])[-_\s]+")
_MARK: Final = re.compile(r"[:=>]+")
_UNSPACED: Final = re.compile(r"[\w-]+")
_BEFORE_MARK: Final = 160
"""How many characters before a colon are searched for its key."""
_NO_KEY: Final = re.compile(r"""[^\w"'`]+""")
_TAG: Final = re.compile(r"<([\w.:-]{1,64}(?:\s[\w.:-]{1,64}){0,2})")
_BLOCK: Final = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMENT: Final = re.compile(
    r"""("(?:[^"\\\n]|\\.){0,200}"|'(?:[^'\\\n]|\\.){0,200}')|/\*.*?(?:\*/|\Z)|(?://|\#)[^\n]*""", re.DOTALL
)
_NOTE: Final = re.compile(r"""(?<=[\w"'`])\s{0,9}(?:\([^()\n]{0,99}\)|\[[^\[\]\n]{0,99}\])(?=\s{0,9}[:=])""")
_NAMED: Final = re.compile(
    r"""(?:name|key|header|field)["'`\\]{0,99}\s{0,9}[:=>]\s{0,9}["'`\\]{0,99}([^"'`\\<>:=,;&\n]{1,64})""",
    re.IGNORECASE,
)
_VALUE: Final = re.compile("value", re.IGNORECASE)
_LAYERS: Final = 4
"""How many nested layers of a text are read: escapes, HTML, percent encoding."""
_QUOTES: Final = ('"', "'", "`")
_LAST_CODE: Final = 0x10FFFF


def names_key_of(text: str, hidden: Hidden) -> bool:
    """Return whether an unreadable text names a key with a secret: `token:`, `"token" =`, `<token>`."""
    return any(_names_key(_GAP.sub(r"\1", read), hidden) for read in _readings_of(text))


def _names_key(text: str, hidden: Hidden) -> bool:
    unquoted = hidden.by_program  # words in texts are similar to a name by chance more often than keys
    most = most_words(hidden.names)
    tags = [tag[1].split() for tag in _TAG.finditer(text)]
    if any(" ".join(words[:count]) in unquoted for words in tags for count in range(1, len(words) + 1)):
        return True
    if _VALUE.search(text) is not None and any(
        _begins_with_key(pair[1], most, hidden) for pair in _NAMED.finditer(text)
    ):
        return True
    last = 0
    for mark in _MARK.finditer(text):
        end = last + _length_to_key(text[last : mark.start()])
        before = text[max(end - _BEFORE_MARK, 0) : end]
        if before.endswith(_QUOTES):
            end = last + len(text[last : end - 1].rstrip("\\"))
            inner = text[max(end - _BEFORE_MARK, 0) : end]
            if inner[inner.rfind(before[-1]) + 1 :] in hidden:
                return True
            before = inner
        last = mark.end()
        words = key_words(before)[-most:]
        if any(key in unquoted for key in (" ".join(words), *words[-1:], *_UNSPACED.findall(before)[-1:])):
            return True
    return False


def _begins_with_key(text: str, most: int, hidden: Hidden) -> bool:
    words = key_words(text)
    return text in hidden or any(" ".join(words[:number]) in hidden for number in range(1, most + 1))


def _length_to_key(text: str) -> int:
    """Return the index at which the last word or quote of a text ends."""
    after = _NO_KEY.match(text[::-1])
    return len(text) - (0 if after is None else after.end())


def _readings_of(text: str) -> Iterator[str]:
    """Yield a text unchanged and without its escapes, each also without characters that may follow a key."""
    for written in _layers_of(text):
        layer = written if written.isascii() else normalize("NFKC", written)
        if _MARK.search(layer) is not None:
            plain = _COMMENT.sub(r"\1", layer)
            yield from dict.fromkeys([layer, _BLOCK.sub("", layer), plain, _NOTE.sub("", plain)])


def _layers_of(text: str) -> Iterator[str]:
    """Yield a text unchanged, and without its escapes."""
    known: str | None = None
    for _ in range(_LAYERS):
        if text == known:
            return
        yield text
        known = text
        text = unquote(unescape(_without_escapes(text)))


def words_in_text(text: str) -> set[str]:
    """Return the words of a text, with and without its escapes."""
    return {word for layer in _layers_of(text) for word in WORD.findall(layer)}


def _without_escapes(text: str) -> str:
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(found: re.Match[str]) -> str:
    code = int(found[5], 8) if found[5] else int(found[1] or found[2] or found[3] or found[4], 16)
    return chr(code) if code <= _LAST_CODE else found[0]
