"""Show values, names and paths in messages: bounded, on one line, safe to print.

Every text that a model or an attacker may have written passes through here before it reaches a
message. No function here takes longer for a larger value.
"""

from __future__ import annotations

from contextlib import suppress
from enum import Enum
from os import fspath
from typing import TYPE_CHECKING, cast

from .json_values import is_array, is_object, type_of, without_surrogates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, TypeVar

    T = TypeVar("T")
    Path = tuple["Path", str | int] | None
    """A path that is kept as nested pairs, the innermost step last: most are never written out."""

EXCERPT_LENGTH = 60
"""The most characters of a received value that a message shows."""

LISTED_OPTIONS = 20
"""How many choices a message lists; it only counts the rest."""

_LONGEST_INTEGER_BITS = 128
_SHORTEST_EXCERPT = 8
_SEPARATOR = ", "

_INVISIBLE = (
    range(0x034F, 0x0350),
    range(0x115F, 0x1161),
    range(0x17B4, 0x17B6),
    range(0x180B, 0x1810),
    range(0x2065, 0x2066),
    range(0x3164, 0x3165),
    range(0xFE00, 0xFE10),
    range(0xFFA0, 0xFFA1),
    range(0xFFF0, 0xFFF9),
    range(0xE0000, 0xE1000),
)
"""Invisible characters that `isprintable` may accept: Default_Ignorable_Code_Point (Unicode,
DerivedCoreProperties) without the format characters."""

_FIRST_INVISIBLE = _INVISIBLE[0].start


_RESULT_LINE = ("What the tool ", " returned (call ", "):")


def result_line(name: str, call_id: str) -> str:
    """Return the line that introduces the images of a result in a user message."""
    before, between, after = _RESULT_LINE
    return f"{before}{name}{between}{call_id}{after}"


def is_result_line(text: str) -> bool:
    """Return whether a text in a user message is such a line."""
    before, between, after = _RESULT_LINE
    return text.startswith(before) and between in text and text.endswith(after)


def escape(text: str) -> str:
    """Return the text with every character that isn't printable escaped as in JSON.

    Args:
        text: any string; lone surrogates and control characters included.

    Returns:
        One printable line, which UTF-8 can encode.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join([_escape_character(c) if _is_invisible(c) else c for c in text])


def _is_invisible(character: str) -> bool:
    if not character.isprintable():
        return True
    code = ord(character)
    return code >= _FIRST_INVISIBLE and any(code in span for span in _INVISIBLE)


def _escape_character(character: str) -> str:
    code = ord(character)
    if code <= 0xFFFF:  # noqa: PLR2004  # the last code that JSON writes with one escape
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


# A metaclass may return something else, which needn't even be a string.
_CLASS_NAMES = {name: vars(type)[name].__get__ for name in ("__name__", "__qualname__")}


def class_name(cls: type, attribute: str = "__name__") -> str:
    """Return the name of a class, even if its metaclass overrides the attribute.

    Args:
        cls: any class.
        attribute: `__qualname__` for the name with those of the classes and functions around it.
    """
    return exact_text(_CLASS_NAMES[attribute](cls))


def class_name_of(value: object) -> str:
    """Return the name of the class of a value."""
    return class_name(type(value))


def exact_text(text: str) -> str:
    """Return a plain `str` with the same characters, without the methods of a subclass or `StrEnum`."""
    return text if type(text) is str else str.__str__(text)


def message_of(error: BaseException) -> str:
    """Return the message of an exception; empty if its `__str__` raises an error."""
    try:
        return exact_text(str(error))
    except Exception:  # noqa: BLE001  # the exception's own code
        return ""


def said_by(error: BaseException, limit: int) -> str:
    """Return the message of an exception on one line, or its class if it has no message."""
    said = message_of(error).strip().partition(_LINK_OF_PYDANTIC)[0]
    return one_line(said or class_name_of(error), limit)


_LINK_OF_PYDANTIC = "\n\nFor further information visit "


def show_error(error: BaseException, limit: int = 200) -> str:
    """Write the class and the message of any exception on one line.

    Args:
        error: any exception; errors in its own code don't matter.
        limit: most characters of the message.
    """
    name = one_line(class_name_of(error), EXCERPT_LENGTH)
    return f"{name}: {said_by(error, limit)}" if message_of(error).strip() else name


def exception_text(error: BaseException, limit: int = 1000) -> str:
    """Write the class and the message of any exception, its lines kept, safe to print.

    Args:
        error: any exception; errors in its own code don't matter.
        limit: most characters of the text.
    """
    name, message = class_name_of(error), message_of(error)
    text = f"{name}: {message[:limit]}" if message else name
    return clip("\n".join([escape(line) for line in text.split("\n")]), limit)


def clip(text: str, limit: int) -> str:
    """Return at most `limit` characters of the text, the last one `…` when it was longer."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def one_line(text: str, limit: int) -> str:
    """Return the text on one printable line of at most `limit` characters, escaped as by `escape`."""
    return clip(escape(text[: limit + 1]), limit)


def quote(text: str, limit: int = EXCERPT_LENGTH) -> str:
    """Return the text as a JSON string literal of at most `limit` characters."""
    inner = text[:limit].replace("\\", "\\\\").replace('"', '\\"')
    shown = escape(inner)
    if len(text) <= limit and len(shown) + 2 <= limit:
        return f'"{shown}"'
    return f'"{shown[: limit - 3]}…"'


def excerpt(value: object, limit: int = EXCERPT_LENGTH) -> str:
    """Show a received value, much as JSON would write it.

    Args:
        value: anything at all.
        limit: characters, at least 8.

    Returns:
        One printable line of at most `limit` characters.
    """
    if isinstance(value, str):
        return quote(value, limit)
    if value is None or isinstance(value, bool):
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int):
        return _excerpt_integer(value, limit)
    if isinstance(value, float):
        return clip(float.__repr__(value), limit)
    room = limit - 3  # the room for inner values: less at each level, so that the levels are bounded too
    if is_array(value):
        return _excerpt_items("[", "]", value, _excerpt_inner, room)
    if is_object(value):
        return _excerpt_items("{", "}", value.items(), _excerpt_pair, room)
    return one_line(class_name_of(value), limit)


def _excerpt_integer(value: int, limit: int) -> str:
    bits = int.bit_length(value)
    if bits > _LONGEST_INTEGER_BITS:
        return f"an integer of about {bits * 30103 // 100000 + 1} digits"
    return clip(int.__repr__(value), limit)


def _excerpt_key(key: object) -> str:
    return quote(key) if isinstance(key, str) else excerpt(key, EXCERPT_LENGTH // 2)


def _excerpt_inner(value: object, room: int) -> str:
    return excerpt(value, room) if room >= _SHORTEST_EXCERPT else "…"


def _excerpt_pair(pair: tuple[object, object], room: int) -> str:
    key, value = pair
    return f"{_excerpt_key(key)}: {_excerpt_inner(value, room)}"


def _excerpt_items(
    opening: str, closing: str, items: Iterable[T], show: Callable[[T, int], str], room: int
) -> str:
    shown = ""
    for item in items:
        if len(shown) + len(_SEPARATOR) >= room:
            # This item has no room. If it were written anyway, each level would double the work.
            return f"{opening}{(shown + _SEPARATOR)[:room]}…{closing}"
        longer = shown + _SEPARATOR + show(item, room) if shown else show(item, room)
        if len(longer) > room:
            return f"{opening}{longer[:room]}…{closing}"
        shown = longer
    return f"{opening}{shown}{closing}"


def kind(value: object) -> str:
    """Return the name of the JSON type of a value, or of its Python type where JSON has none."""
    return type_of(value) or one_line(class_name(type(value), "__qualname__"), EXCERPT_LENGTH)


def received(value: object) -> str:
    """Describe a received value: its JSON type and an excerpt, such as `string "5"`."""
    name = kind(value)
    shown = excerpt(value)
    if shown in {name, class_name_of(value)}:
        return name
    return shown if shown.startswith(f"an {name} ") else f"{name} {shown}"


def checked_text(what: str, value: object) -> str:
    """Return a value that must be a string as a plain `str`, because a subclass may have code of its own.

    Args:
        what: what to call the value, such as `the name of a call`.
        value: the given value.

    Raises:
        TypeError: the value isn't a string.
    """
    if not isinstance(value, str):
        message = f"{what} must be a string, not {received(value)}"
        raise TypeError(message)
    return str.__str__(value)


def writable_text(what: str, value: object) -> str:
    """Return a value that must be a string, with U+FFFD for characters that providers and databases refuse.

    Args:
        what: what to call the value.
        value: the given value.

    Raises:
        TypeError: the value isn't a string.
    """
    return without_surrogates(checked_text(what, value))


def checked_path(what: str, value: Any) -> str:
    """Return a path as a string; it must be a string or an object such as `pathlib.Path`.

    Args:
        what: what to call the value, such as `the path of a store`.
        value: the given value.

    Raises:
        TypeError: the value isn't a path, or is a path of bytes.
    """
    with suppress(TypeError):
        path = cast("object", fspath(value))
        if isinstance(path, str):
            return path
    message = f"{what} must be a string or a Path, not {received(value)}"
    raise TypeError(message)


def as_written(value: object) -> str:
    """Show an argument that the program gave: `"5"`, `0`, `True`."""
    return repr(value) if value is None or isinstance(value, bool) else excerpt(value)


def listed(options: Sequence[str], most: int = LISTED_OPTIONS, separator: str = ", ") -> str:
    """Join choices into one line, counting those past the first `most`."""
    shown = separator.join(options[:most])
    rest = len(options) - most
    return shown if rest <= 0 else f"{shown}{separator}… ({rest} more)"


def fault_list(head: str, lines: Sequence[object], most: int = 10, mark: str = "- ") -> str:
    """Write a line for each fault below a head, counting those past the first `most`.

    Args:
        head: the first line.
        lines: one for each fault.
        most: how many are shown.
        mark: the beginning of each line.
    """
    shown = [f"{mark}{line}" for line in lines[:most]]
    rest = len(lines) - most
    return "\n".join([head, *shown, *([f"{mark}… and {rest} more"] if rest > 0 else [])])


def count_of(size: int, unit: str) -> str:
    """Write a number with its unit, in the plural where needed: `1 item`, `2 items`."""
    return f"{size} {unit.removesuffix('s') if size == 1 else unit}"


def key_step(key: object) -> str:
    """Return the step of a path for a key of a Python dict: the key itself if it is text, else its text.

    Args:
        key: anything that has a hash.
    """
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, Enum) and type_of(key) is None:
        return one_line(f"{class_name_of(key)}.{key._name_}", EXCERPT_LENGTH)  # `name` may be anything
    return excerpt(key)


def steps_of(path: Path) -> tuple[str | int, ...]:
    """Return the steps of a path that was stored as nested pairs."""
    steps: list[str | int] = []
    while path is not None:
        path, step = path
        steps.append(step)
    return tuple(reversed(steps))


def show_path(path: Sequence[str | int]) -> str:
    """Write a path as a reader would: `attendees[2].email`, `headers["x-trace"]`.

    Args:
        path: keys and indexes, from the root.

    Returns:
        One printable line; empty for the root.
    """
    shown: list[str] = []
    for step in path:
        if isinstance(step, int):
            shown.append(f"[{step}]")
        elif step.isidentifier() and len(step) <= EXCERPT_LENGTH:
            shown.append(f".{step}")
        else:
            shown.append(f"[{quote(step)}]")
    return "".join(shown).removeprefix(".")


def show_place(path: Sequence[str | int]) -> str:
    """Write a path in which `*` stands for every index and every key of a map, such as `items[*].name`."""
    return show_path(path).replace('["*"]', "[*]")
