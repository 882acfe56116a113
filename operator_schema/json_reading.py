"""How is JSON text read quickly, and a repeated key refused?"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from .json_values import JSON_SPACES

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    ReadText: TypeAlias = Callable[[str | bytes | bytearray], Any]


class RepeatedKeyError(ValueError):
    """An object of a JSON text has a key more than once.

    Attributes:
        key: the first such key.
    """

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key

    def __str__(self) -> str:
        """Write the key."""
        key = self.key if len(self.key) <= _LONGEST_KEY else f"{self.key[:_LONGEST_KEY]}…"
        return f"an object has the key {key!r} more than once"


_LONGEST_KEY = 100


def distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its members, and refuse repeated keys: the `object_pairs_hook` for foreign JSON text.

    RFC 8259, section 4, leaves it to each reader which of several equal keys counts, so a program that
    checked the text before may have read another value. RFC 7493 (I-JSON) forbids such keys.

    Raises:
        RepeatedKeyError: a key occurs more than once.
    """
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise RepeatedKeyError(key)
            seen.add(key)
    return made


def json_scanner(**options: Any) -> Callable[[str, int], tuple[Any, int]]:
    """Return a function that reads the value at an index of a text, and returns it with the index behind it.

    Make it once: `json.loads` makes a decoder for each text, which costs as much as reading the arguments
    of a call. It raises StopIteration where no value begins, such as at a space.

    Args:
        options: of `json.JSONDecoder`.
    """
    from json import JSONDecoder  # only programs that read text

    decoder: Any = JSONDecoder(**options)
    scan: Callable[[str, int], tuple[Any, int]] = decoder.scan_once  # what `raw_decode` calls
    return scan


def json_reader(**options: Any) -> ReadText:
    """Return a function that reads a text as `json.loads` does with these options, and faster."""
    from json import JSONDecodeError, detect_encoding, loads  # only a program that reads text

    scan = json_scanner(**options)

    def read(text: str | bytes | bytearray) -> Any:
        if isinstance(text, str):
            given = text
        elif isinstance(text, (bytes, bytearray)):
            encoding = "utf-8" if text.isascii() and b"\0" not in text else detect_encoding(text)
            given = str(text, encoding, "surrogatepass")
        else:
            return loads(text, **options)  # which says what is wrong
        try:
            value, end = scan(given, 0)
        except (StopIteration, JSONDecodeError):
            pass  # it begins with a space or isn't JSON
        else:
            if end == len(given) or not given[end:].strip(JSON_SPACES):
                return value
        return loads(text, **options)

    return read


def read_distinct(text: str | bytes | bytearray) -> Any:
    """Read JSON text as `json.loads` does, and refuse an object that has a key twice.

    Raises:
        RepeatedKeyError: a key occurs more than once.
        ValueError: the text isn't JSON.
        TypeError: the argument isn't a text.
        RecursionError: the text nests too deeply.
    """
    return _distinct_reader()(text)


@cache
def _distinct_reader() -> ReadText:
    return json_reader(object_pairs_hook=distinct_keys)


@cache
def _key_finder() -> ReadText:
    return json_reader(object_pairs_hook=distinct_keys, parse_int=float)  # an int may have too many digits


def repeated_key(text: str | bytes) -> str | None:
    """Return a message about JSON text in which an object has a key twice; None if there is no such object.

    Args:
        text: any text; another parser complains if it isn't JSON, so there is no message about that.
    """
    try:
        _key_finder()(text)
    except RepeatedKeyError as error:
        return str(error)
    except (ValueError, RecursionError):
        pass
    return None
