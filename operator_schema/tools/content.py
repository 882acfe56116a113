"""Which content may a function give to the model as parts: text, images, audio, files, resources?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from ..immutable import Value, set_once
from ..introspect.other_leaves import write_base64
from ..message_text import checked_path, checked_text, excerpt, one_line, received

if TYPE_CHECKING:
    from os import PathLike
    from typing import Self

    from _typeshed import ReadableBuffer


INSTEAD = "A function may return a content part alone or in a list, but not inside another value"
"""The remedy for a content part inside another value."""

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*:"
"""The scheme at the beginning of a URI (RFC 3986 section 3.1)."""


class Text(Value):
    """A text for the model.

    In a list of parts, a string means the same.

    Attributes:
        text: a string of any length.

    Raises:
        TypeError: the text isn't a string.
    """

    text: str

    __instead__ = INSTEAD

    def __init__(self, text: str) -> None:
        known = text if type(text) is str else checked_text("the text of this Text", text)
        set_once(self, "text", known)

    def __repr__(self) -> str:
        return f"Text({excerpt(self.text)})"

    def as_text(self) -> str:
        """Return the text for a model that takes only text: the text itself."""
        return self.text

    def as_dict(self) -> dict[str, Any]:
        """Return a description as JSON values, for logs."""
        return {"type": "text", "characters": len(self.text)}


class _Data:
    """The common base of images, recordings and files."""

    __slots__ = ()

    if TYPE_CHECKING:
        data: bytes
        media_type: str

        def as_dict(self) -> dict[str, Any]: ...

    @property
    def base64(self) -> str:
        """The data in base64 (RFC 4648 section 4), encoded each time."""
        return write_base64(self.data)

    def __repr__(self) -> str:
        return _repr(self)


class _Recorded(_Data):
    """The common base of images and recordings, with constructors and descriptions."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __init__(self, data: ReadableBuffer, media_type: str) -> None: ...

    @classmethod
    def from_bytes(cls, data: ReadableBuffer, media_type: str | None = None) -> Self:
        """Make a part from the bytes of its file.

        Args:
            data: the bytes of a PNG, JPEG, GIF, WebP, BMP, TIFF, ICO, SVG, AVIF or HEIC file for an `Image`,
                of a WAV, MP3, Ogg, FLAC, M4A, AAC, AIFF or WebM file for an `Audio`, or of a file of any
                other type that you give.
            media_type: None to find it from the first bytes.

        Raises:
            TypeError: the data aren't bytes.
            ValueError: the data are empty or of another type, or the type isn't known.
        """
        return cls(*from_bytes(cls._kind(), data, media_type))

    @classmethod
    def from_path(cls, path: str | PathLike[str], media_type: str | None = None) -> Self:
        """Read a whole file now, and make a part from it.

        Args:
            path: the path of the file.
            media_type: None to find it from the name and the first bytes, which have to agree.

        Raises:
            OSError: the file can't be read.
            TypeError: the path isn't one.
            ValueError: the path isn't that of a regular file, or the file is empty or has another type than
                its name.
        """
        return cls(*from_path(cls._kind(), path, media_type)[:2])

    @classmethod
    def _kind(cls) -> str:
        return "Image" if issubclass(cls, Image) else "Audio"

    def as_text(self) -> str:
        """Return the text for a model that takes only text: type and size."""
        return f"[{self._kind().lower()} {_type_and_size(self.media_type, self.data)}]"

    def as_dict(self) -> dict[str, Any]:
        """Return a description as JSON values, without the data."""
        return {"type": self._kind().lower(), "media_type": self.media_type, "bytes": len(self.data)}


class Image(_Recorded, Value):
    """An image for the model.

    Its size isn't limited here. Providers have different limits, and treat larger images differently.

    Attributes:
        data: the bytes of the file, kept once and never copied.
        media_type: such as `image/png`, in its usual spelling (`image/jpg` becomes `image/jpeg`).

    Raises:
        TypeError: the data aren't bytes.
        ValueError: the data are empty or have another type than `media_type`, or that isn't the type of an
            image.
    """

    data: bytes
    media_type: str

    __instead__ = INSTEAD

    def __init__(self, data: ReadableBuffer, media_type: str) -> None:
        Value.__init__(self, *checked_data("Image", data, media_type))


class Audio(_Recorded, Value):
    """A recording for the model.

    Attributes:
        data: the bytes of the file, kept once and never copied.
        media_type: such as `audio/mpeg`, in its usual spelling (`audio/mp3` becomes `audio/mpeg`).

    Raises:
        TypeError: the data aren't bytes.
        ValueError: the data are empty or have another type than `media_type`, or that isn't the type of a
            recording.
    """

    data: bytes
    media_type: str

    __instead__ = INSTEAD

    def __init__(self, data: ReadableBuffer, media_type: str) -> None:
        Value.__init__(self, *checked_data("Audio", data, media_type))


class File(_Data, Value):
    """A file for the model, of any type, such as a PDF.

    Attributes:
        data: the bytes of the file, kept once and never copied.
        media_type: such as `application/pdf`, in its usual spelling.
        name: a name that the model may see, or None.

    Raises:
        TypeError: the data aren't bytes, or the name isn't a string.
        ValueError: the data are empty or don't have the type `media_type`, or that isn't a media type.
    """

    data: bytes
    media_type: str
    name: str | None = None

    __instead__ = INSTEAD

    def __init__(self, data: ReadableBuffer, media_type: str, name: str | None = None) -> None:
        name = None if name is None else checked_text("the name of this File", name)
        super().__init__(*checked_data("File", data, media_type), name)

    @classmethod
    def from_bytes(cls, data: ReadableBuffer, media_type: str | None = None, name: str | None = None) -> Self:
        """Make a file from its bytes.

        Args:
            data: bytes of any kind.
            media_type: None to find it from the name and the first bytes, which must agree;
                `application/octet-stream` if neither decides.
            name: a name that the model may see, or None.

        Raises:
            TypeError: the data aren't bytes, or the name isn't a string.
            ValueError: the data are empty or of another type.
        """
        return cls(*from_bytes("File", data, media_type, name), name)

    @classmethod
    def from_path(
        cls, path: str | PathLike[str], media_type: str | None = None, name: str | None = None
    ) -> Self:
        """Read a whole file now.

        Args:
            path: the path of the file.
            media_type: None to find it from the name and the first bytes, which have to agree;
                `application/octet-stream` if they don't say.
            name: a name that the model may see; None for the last part of the path.

        Raises:
            OSError: the file can't be read.
            TypeError: the path isn't one.
            ValueError: the path isn't that of a regular file, or the file is empty or has another type than
                its name.
        """
        data, kind, found = from_path("File", path, media_type)
        return cls(data, kind, found if name is None else name)

    def as_text(self) -> str:
        """Return the text for a model that takes only text: name, type and size."""
        name = "" if self.name is None else f"{shown_name(self.name)} "
        return f"[file {name}{_type_and_size(self.media_type, self.data)}]"

    def as_dict(self) -> dict[str, Any]:
        """Return a description as JSON values, without the data."""
        name = {} if self.name is None else {"name": shown_name(self.name)}
        return {"type": "file", **name, "media_type": self.media_type, "bytes": len(self.data)}


class Resource(Value):
    """A resource with an address, and with its text or data, or only as a link.

    Attributes:
        uri: its address (RFC 3986), absolute.
        text: its content, or None.
        data: its content if it isn't text, or None.
        media_type: None means `text/plain` for a text, and for data the type of their first bytes, or
            `application/octet-stream` if that is unknown. A link has none unless it is given.

    Raises:
        TypeError: an attribute is of another type.
        ValueError: the address has no scheme, there are both text and data, or the data are of another
            type than `media_type` says.
    """

    uri: str
    text: str | None = None
    data: bytes | None = None
    media_type: str | None = None

    __instead__ = INSTEAD

    def __init__(
        self,
        uri: str,
        text: str | None = None,
        data: ReadableBuffer | None = None,
        media_type: str | None = None,
    ) -> None:
        uri = checked_text("the uri of this Resource", uri)
        if not re.match(_SCHEME, uri):
            message = f"the uri of a Resource must be absolute, such as file:///notes.txt, not {excerpt(uri)}"
            raise ValueError(message)
        if text is not None and data is not None:
            message = "a Resource holds a text or data, not both: return two"
            raise ValueError(message)
        kept: bytes | None = None
        if data is not None:
            kept, media_type = from_bytes("Resource", data, media_type)
            kept, media_type = checked_data("Resource", kept, media_type)
        elif text is not None:
            text = checked_text("the text of this Resource", text)
            media_type = checked_type("Resource", media_type or "text/plain")
        elif media_type is not None:
            media_type = checked_type("Resource", media_type)
        super().__init__(uri, text, kept, media_type)

    @property
    def base64(self) -> str | None:
        """The data in base64 (RFC 4648 section 4), encoded each time; None if there are none."""
        return None if self.data is None else write_base64(self.data)

    def __repr__(self) -> str:
        return _repr(self)

    def as_text(self) -> str:
        """Return the text for a model that takes only text: address, type, size, and the text itself."""
        words = [shown_name(self.uri)]
        if self.data is not None and self.media_type is not None:
            words.append(_type_and_size(self.media_type, self.data))
        elif self.media_type is not None:
            words.append(self.media_type)
        line = f"[resource {' '.join(words)}]"
        return line if self.text is None else f"{line}\n{self.text}"

    def as_dict(self) -> dict[str, Any]:
        """Return a description as JSON values, without text and data."""
        found: dict[str, Any] = {"type": "resource", "uri": shown_name(self.uri)}
        if self.media_type is not None:
            found["media_type"] = self.media_type
        if self.text is not None:
            found["characters"] = len(self.text)
        if self.data is not None:
            found["bytes"] = len(self.data)
        return found


Part: TypeAlias = Text | Image | Audio | File | Resource
"""The types of content that a function may return for the model besides JSON values."""

PARTS: frozenset[type] = frozenset({Text, Image, Audio, File, Resource})


def _type_and_size(media_type: str, data: bytes) -> str:
    return f"{shown_name(media_type)}, {len(data):,} bytes"


def _repr(part: _Data | Resource) -> str:
    content = [f"{name}={value!r}" for name, value in part.as_dict().items() if name != "type"]
    return f"{type(part).__name__}({', '.join(content)})"


_SHOWN_NAME = 200
_FAMILIES = {"Image": "image/", "Audio": "audio/"}
_UNKNOWN = "application/octet-stream"


def from_bytes(kind: str, data: object, media_type: str | None, name: str | None = None) -> tuple[bytes, str]:
    """Return data and their type; find the type if it isn't given."""
    found = _bytes_of(kind, data)
    return found, _type_of_file(kind, found, name) if media_type is None else media_type


def from_path(kind: str, path: str | PathLike[str], media_type: str | None) -> tuple[bytes, str, str]:
    """Return the data of a file, their type and its name."""
    from pathlib import Path

    file = Path(checked_path("the path of a file", path))
    if not file.is_file():
        file.stat()  # raises what is wrong with it
        message = f"{shown_name(str(file))} isn't a regular file"  # a device or a pipe may never end
        raise ValueError(message)
    data, found = from_bytes(kind, file.read_bytes(), media_type, file.name)
    return data, found, file.name


def _type_of_file(kind: str, data: bytes, name: str | None) -> str:
    """Return the type of a file by its name and first bytes.

    Raises:
        ValueError: name and bytes indicate different types, or none.
    """
    family = _FAMILIES.get(kind, "")
    allowed = types_in(data)
    by_name = None if name is None else type_of_name(name)
    if by_name is not None:
        if is_refuted(by_name, data):
            holds = f"{shown_name(str(name))} holds {_most_usual(allowed)}, not {by_name} as its name says"
            message = f"{holds}: rename it, or give the media_type"
            raise ValueError(message)
        return by_name
    fitting = [found for found in allowed if found.startswith(family)]
    if fitting or allowed:
        return (fitting or allowed)[0]  # one of another family is refused by the constructor
    if not family:
        return _UNKNOWN
    message = f"the first bytes don't say which type this {kind} has: give media_type, such as {family}…"
    raise ValueError(message)


def _most_usual(types: tuple[str, ...]) -> str:
    return types[0] if types else "something else"


def checked_data(kind: str, data: object, media_type: object) -> tuple[bytes, str]:
    """Return data and their type, in its usual spelling.

    Raises:
        ValueError: the data are of another type.
    """
    found, written = _bytes_of(kind, data), checked_type(kind, media_type)
    if is_refuted(essence_of(written), found):
        message = (
            f"the data are {_most_usual(types_in(found))}, not {written}: correct the media_type, or the data"
        )
        raise ValueError(message)
    return found, written


def checked_type(kind: str, media_type: object) -> str:
    """Return a media type in its usual spelling.

    Raises:
        TypeError: the type isn't a string.
        ValueError: the type isn't a media type, or isn't one of this kind of part.
    """
    written = written_type(checked_text(f"the media_type of this {kind}", media_type))
    if written is None:
        message = f"media_type must be a type such as image/png (RFC 6838), not {excerpt(media_type)}"
        raise ValueError(message)
    family = _FAMILIES.get(kind, "")
    if not written.startswith(family):
        other = next((name for name, start in _FAMILIES.items() if written.startswith(start)), "File")
        message = f"the media_type of this {kind} must begin with {family}, not {written}: use {other}"
        raise ValueError(message)
    return written


def _bytes_of(kind: str, data: object) -> bytes:
    if not isinstance(data, (bytes, bytearray, memoryview)):
        message = f"the data of this {kind} must be bytes, not {received(data)}"
        if isinstance(data, str):
            message += ": decode base64 with base64.b64decode, read a file with from_path"
        raise TypeError(message)
    found = bytes(data)  # pyright: ignore[reportUnknownArgumentType]  # a memoryview of whatever items
    if not found:
        message = f"this {kind} has no data: there are 0 bytes"
        raise ValueError(message)
    return found


def shown_name(name: str) -> str:
    """Show a file name or an address on one line."""
    return one_line(name, _SHOWN_NAME)


_NAME = r"[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}"
_WRITTEN = rf"({_NAME}/{_NAME})[ \t]*(;[\t -~]*)?"
"""A media type with its parameters (RFC 6838 section 4.2, RFC 9110 section 8.3.1)."""

_OTHER_NAMES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "image/x-png": "image/png",
    "image/x-ms-bmp": "image/bmp",
    "image/x-icon": "image/vnd.microsoft.icon",
    "audio/wave": "audio/wav",
    "audio/x-wav": "audio/wav",
    "audio/vnd.wave": "audio/wav",
    "audio/mp3": "audio/mpeg",
    "audio/x-flac": "audio/flac",
    "audio/m4a": "audio/mp4",
    "audio/x-m4a": "audio/mp4",
    "audio/x-aac": "audio/aac",
    "audio/x-aiff": "audio/aiff",
    "application/x-pdf": "application/pdf",
}
_SUFFIXES = {
    "image/png": "png",
    "image/jpeg": "jpg jpeg jpe",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/bmp": "bmp",
    "image/svg+xml": "svg",
    "image/tiff": "tif tiff",
    "image/vnd.microsoft.icon": "ico",
    "image/avif": "avif",
    "image/heic": "heic",
    "image/heif": "heif",
    "audio/wav": "wav",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg oga opus",
    "audio/flac": "flac",
    "audio/mp4": "m4a",
    "audio/aac": "aac",
    "audio/aiff": "aif aiff",
    "audio/webm": "weba",
    "video/mp4": "mp4",
    "video/webm": "webm",
    "application/pdf": "pdf",
    "text/markdown": "md",
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}


_RATES = bytes([rates for rates in range(0xF0) if rates % 16 < 12])  # noqa: PLR2004  # bits 11xx are reserved
"""The pattern of the third byte in a frame of layer II or III (ISO/IEC 11172-3), with valid bit and sampling
rates."""

_SIGNATURES: dict[bytes, tuple[str, ...]] = {
    rb"\x89PNG\r\n\x1a\n": ("image/png",),
    rb"\xff\xd8\xff": ("image/jpeg",),
    rb"GIF8[79]a": ("image/gif",),
    rb"RIFF.{4}WEBPVP": ("image/webp",),
    # "BM" alone begins many texts: with it, the size of the header that follows.
    rb"BM.{8}.{4}[\x0c\x28\x34\x38\x40\x6c\x7c]\0\0\0": ("image/bmp",),
    rb"II[*+]\0|MM\0[*+]": ("image/tiff",),
    rb"\0\0\x01\0": ("image/vnd.microsoft.icon",),
    rb"RIFF.{4}WAVE": ("audio/wav",),
    rb"FORM.{4}AIF[FC]": ("audio/aiff",),
    rb"OggS\0": ("audio/ogg", "video/ogg", "application/ogg"),
    rb"fLaC": ("audio/flac",),
    rb"ID3[\x02-\x04]": ("audio/mpeg", "audio/aac", "audio/flac"),
    rb"\xff[\xf0\xf1\xf8\xf9]": ("audio/aac",),
    rb"\xff[\xe2-\xe5\xf2-\xf5\xfa-\xfd][" + re.escape(_RATES) + rb"]": ("audio/mpeg",),
    rb"\x1a\x45\xdf\xa3": ("video/webm", "audio/webm", "video/x-matroska", "audio/x-matroska"),
    rb"%PDF-": ("application/pdf",),
    rb"(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?((<!--((?!-->).)*-->|<!DOCTYPE\s+svg[^>]*>)\s*)*<svg[\s>]": (
        *("image/svg+xml", "application/xml", "text/xml", "text/html", "text/plain"),
    ),
}
"""Patterns of the first bytes, and the possible types of such data, the most usual first."""

_BY_BRAND = {
    **dict.fromkeys([b"avif", b"avis"], ("image/avif", "image/heif")),
    **dict.fromkeys([b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"], ("image/heic", "image/heif")),
    **dict.fromkeys([b"mif1", b"msf1"], ("image/heif", "image/heic", "image/avif")),
    **dict.fromkeys([b"M4A ", b"M4B ", b"M4P "], ("audio/mp4", "video/mp4")),
    b"qt  ": ("video/quicktime",),
}
"""Types of files in ISO's box format, by brand; the most specific brand first."""

_OTHER_BRAND = ("video/mp4", "audio/mp4", "video/quicktime", "video/3gpp", "audio/3gpp")

_KNOWN = {kind for types in (*_SIGNATURES.values(), *_BY_BRAND.values(), _OTHER_BRAND) for kind in types}
_CERTAIN = {kind for kind in _KNOWN if not kind.startswith("text/")} - {
    "image/svg+xml",  # may be in another encoding, or have a longer prologue
    "application/xml",
    "audio/mpeg",  # may begin with anything
    "audio/aac",
    "video/quicktime",  # may begin with another box
    "application/pdf",  # may have up to 1,024 other bytes before it
}
"""Types whose data always begin with a signature."""

_LOOKED_AT = 4096
"""The number of leading bytes that are searched for a signature."""


def types_in(data: bytes) -> tuple[str, ...]:
    """Return the possible types of data by their first bytes, the most usual first; empty if unknown."""
    start = data[:_LOOKED_AT]
    if start[4:8] == b"ftyp":
        return _types_of_boxes(start)
    found = (types for signature, types in _SIGNATURES.items() if re.match(signature, start, re.DOTALL))
    return next(found, ())


def _types_of_boxes(start: bytes) -> tuple[str, ...]:
    end = int.from_bytes(start[:4], "big")
    brands = [start[8:12], *[start[place : place + 4] for place in range(16, min(end, len(start)), 4)]]
    for brand, types in _BY_BRAND.items():
        if brand in brands:
            return types
    return _OTHER_BRAND


def is_refuted(kind: str, data: bytes) -> bool:
    """Return whether the first bytes show that data has another type.

    Args:
        kind: the essence of a media type.
        data: all of it.
    """
    allowed = types_in(data)
    if kind in allowed or kind == "application/octet-stream":
        return False
    if allowed:
        # Many types that aren't known here begin like a known one of their family, such as image/apng.
        return kind in _KNOWN or not any(_family(kind) == _family(known) for known in allowed)
    if kind == "application/pdf":
        return b"%PDF-" not in data[: 1024 + len(b"%PDF-")]  # Adobe's note 13 to ISO 32000-1, annex H.3
    return kind in _CERTAIN


def _family(kind: str) -> str:
    return kind.partition("/")[0]


def written_type(media_type: str) -> str | None:
    """Return a media type in its usual spelling; None if it isn't one."""
    match = re.fullmatch(_WRITTEN, media_type)
    if match is None:
        return None
    kind = match[1].lower()
    parameters: str = (match[2] or "").strip()
    return _OTHER_NAMES.get(kind, kind) + parameters


def essence_of(media_type: str) -> str:
    """Return a media type without its parameters."""
    return media_type.partition(";")[0]


def type_of_name(name: str) -> str | None:
    """Return the media type for the suffix of a file name, or None."""
    _, dot, suffix = name.lower().rpartition(".")
    if not dot:
        return None
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    from mimetypes import MimeTypes

    # Not `mimetypes.guess_type`: it reads files of the system, which differ between systems.
    kind, encoding = MimeTypes().guess_type(f"file.{suffix}")
    return kind if encoding is None else None
