"""Content that a function gives to the model as parts: text, images, audio, files, resources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from ...immutable import Value
from ...wording import checked_text, excerpt
from .part_data import checked_data, checked_type, from_bytes, from_path, shown_name

if TYPE_CHECKING:
    from os import PathLike
    from typing import Self

    from _typeshed import ReadableBuffer

__all__ = ["INSTEAD", "PARTS", "Audio", "File", "Image", "Part", "Resource", "Text"]

INSTEAD = "A content part is what a function returns, alone or in a list, not inside another value"
"""What is said wherever a part stands in another place."""

_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*:"
"""What a URI begins with (RFC 3986 section 3.1)."""


class Text(Value):
    """A text for the model.

    In a list of parts, a string means the same.

    Attributes:
        text: of any length.

    Raises:
        TypeError: the text isn't a string.
    """

    text: str

    __instead__ = INSTEAD

    def __init__(self, text: str) -> None:
        super().__init__(checked_text("the text of this Text", text))

    def __repr__(self) -> str:
        return f"Text({excerpt(self.text)})"

    def as_text(self) -> str:
        """Return what a model reads that gets text alone: the text."""
        return self.text

    def as_dict(self) -> dict[str, Any]:
        """Return what it is as JSON values, for logs."""
        return {"type": "text", "characters": len(self.text)}


class _Data:
    """What images, recordings and files share."""

    __slots__ = ()

    if TYPE_CHECKING:
        data: bytes
        media_type: str

        def as_dict(self) -> dict[str, Any]: ...

    @property
    def base64(self) -> str:
        """The data in base64 (RFC 4648 section 4), made anew each time."""
        return _base64(self.data)

    def __repr__(self) -> str:
        return _repr(self)


class Image(_Data, Value):
    """An image for the model.

    Its size has no limit here: what providers take differs, and so does what they do with more.

    Attributes:
        data: the bytes of the file, kept once and never copied.
        media_type: such as `image/png`, in its usual spelling (`image/jpg` becomes `image/jpeg`).

    Raises:
        TypeError: the data aren't bytes.
        ValueError: they are empty, or of another type than `media_type` says, or that isn't the type
            of an image.
    """

    data: bytes
    media_type: str

    __instead__ = INSTEAD

    def __init__(self, data: ReadableBuffer, media_type: str) -> None:
        super().__init__(*checked_data("Image", data, media_type))

    @classmethod
    def from_bytes(cls, data: ReadableBuffer, media_type: str | None = None) -> Self:
        """Make an image of the bytes of its file.

        Args:
            data: of a PNG, JPEG, GIF, WebP, BMP, TIFF, ICO, SVG, AVIF or HEIC file, or of any other
                kind whose type is given.
            media_type: None to find it from the first bytes.

        Raises:
            TypeError: the data aren't bytes.
            ValueError: they are empty or of another type, or the type isn't known.
        """
        return cls(*from_bytes("Image", data, media_type))

    @classmethod
    def from_path(cls, path: str | PathLike[str], media_type: str | None = None) -> Self:
        """Read an image from a file, all of it, here and now.

        Args:
            path: of the file.
            media_type: None to find it from the name and the first bytes, which have to agree.

        Raises:
            OSError: the file can't be read.
            ValueError: it isn't a regular file, is empty, or is of another type than its name says.
        """
        return cls(*from_path("Image", path, media_type)[:2])

    def as_text(self) -> str:
        """Return what a model reads that gets text alone: type and size."""
        return f"[image {_sized(self.media_type, self.data)}]"

    def as_dict(self) -> dict[str, Any]:
        """Return what it is as JSON values, without the data."""
        return {"type": "image", "media_type": self.media_type, "bytes": len(self.data)}


class Audio(_Data, Value):
    """A recording for the model.

    Attributes:
        data: the bytes of the file, kept once and never copied.
        media_type: such as `audio/mpeg`, in its usual spelling (`audio/mp3` becomes `audio/mpeg`).

    Raises:
        TypeError: the data aren't bytes.
        ValueError: they are empty, or of another type than `media_type` says, or that isn't the type
            of a recording.
    """

    data: bytes
    media_type: str

    __instead__ = INSTEAD

    def __init__(self, data: ReadableBuffer, media_type: str) -> None:
        super().__init__(*checked_data("Audio", data, media_type))

    @classmethod
    def from_bytes(cls, data: ReadableBuffer, media_type: str | None = None) -> Self:
        """Make a recording of the bytes of its file.

        Args:
            data: of a WAV, MP3, Ogg, FLAC, M4A, AAC, AIFF or WebM file, or of any other kind whose type
                is given.
            media_type: None to find it from the first bytes.

        Raises:
            TypeError: the data aren't bytes.
            ValueError: they are empty or of another type, or the type isn't known.
        """
        return cls(*from_bytes("Audio", data, media_type))

    @classmethod
    def from_path(cls, path: str | PathLike[str], media_type: str | None = None) -> Self:
        """Read a recording from a file, all of it, here and now.

        Args:
            path: of the file.
            media_type: None to find it from the name and the first bytes, which have to agree.

        Raises:
            OSError: the file can't be read.
            ValueError: it isn't a regular file, is empty, or is of another type than its name says.
        """
        return cls(*from_path("Audio", path, media_type)[:2])

    def as_text(self) -> str:
        """Return what a model reads that gets text alone: type and size."""
        return f"[audio {_sized(self.media_type, self.data)}]"

    def as_dict(self) -> dict[str, Any]:
        """Return what it is as JSON values, without the data."""
        return {"type": "audio", "media_type": self.media_type, "bytes": len(self.data)}


class File(_Data, Value):
    """A file for the model, of any type, such as a PDF.

    Attributes:
        data: the bytes of the file, kept once and never copied.
        media_type: such as `application/pdf`, in its usual spelling.
        name: that the model may see, or None.

    Raises:
        TypeError: the data aren't bytes, or the name isn't a string.
        ValueError: they are empty or of another type than `media_type` says, or that isn't one.
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
        """Make a file of its bytes.

        Args:
            data: of any kind.
            media_type: None to find it from the name and the first bytes, which have to agree;
                `application/octet-stream` if they don't say.
            name: that the model may see, or None.

        Raises:
            TypeError: the data aren't bytes, or the name isn't a string.
            ValueError: they are empty or of another type.
        """
        return cls(*from_bytes("File", data, media_type, name), name)

    @classmethod
    def from_path(
        cls, path: str | PathLike[str], media_type: str | None = None, name: str | None = None
    ) -> Self:
        """Read a file, all of it, here and now.

        Args:
            path: of the file.
            media_type: None to find it from the name and the first bytes, which have to agree;
                `application/octet-stream` if they don't say.
            name: that the model may see; None for the last part of the path.

        Raises:
            OSError: the file can't be read.
            ValueError: it isn't a regular file, is empty, or is of another type than its name says.
        """
        data, kind, found = from_path("File", path, media_type)
        return cls(data, kind, found if name is None else name)

    def as_text(self) -> str:
        """Return what a model reads that gets text alone: name, type and size."""
        name = "" if self.name is None else f"{shown_name(self.name)} "
        return f"[file {name}{_sized(self.media_type, self.data)}]"

    def as_dict(self) -> dict[str, Any]:
        """Return what it is as JSON values, without the data."""
        name = {} if self.name is None else {"name": shown_name(self.name)}
        return {"type": "file", **name, "media_type": self.media_type, "bytes": len(self.data)}


class Resource(Value):
    """Something that has an address: with its text or its data, or as a link alone.

    Attributes:
        uri: its address (RFC 3986), absolute.
        text: what it holds, or None.
        data: what it holds if that isn't text, or None.
        media_type: None gives `text/plain` for a text, and for data what their first bytes say,
            `application/octet-stream` if they don't. A link has one only if it is given.

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
            message = f"the uri of a Resource is absolute, such as file:///notes.txt, not {excerpt(uri)}"
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
        """The data in base64 (RFC 4648 section 4), made anew each time; None if there are none."""
        return None if self.data is None else _base64(self.data)

    def __repr__(self) -> str:
        return _repr(self)

    def as_text(self) -> str:
        """Return what a model reads that gets text alone: address, type, size; then the text."""
        words = [shown_name(self.uri)]
        if self.data is not None and self.media_type is not None:
            words.append(_sized(self.media_type, self.data))
        elif self.media_type is not None:
            words.append(self.media_type)
        line = f"[resource {' '.join(words)}]"
        return line if self.text is None else f"{line}\n{self.text}"

    def as_dict(self) -> dict[str, Any]:
        """Return what it is as JSON values, without text and data."""
        found: dict[str, Any] = {"type": "resource", "uri": shown_name(self.uri)}
        if self.media_type is not None:
            found["media_type"] = self.media_type
        if self.text is not None:
            found["characters"] = len(self.text)
        if self.data is not None:
            found["bytes"] = len(self.data)
        return found


Part: TypeAlias = Text | Image | Audio | File | Resource
"""What a function may return for the model beside JSON values."""

PARTS: frozenset[type] = frozenset({Text, Image, Audio, File, Resource})


def _base64(data: bytes) -> str:
    from binascii import b2a_base64

    return b2a_base64(data, newline=False).decode("ascii")


def _sized(media_type: str, data: bytes) -> str:
    return f"{shown_name(media_type)}, {len(data):,} bytes"


def _repr(part: _Data | Resource) -> str:
    content = [f"{name}={value!r}" for name, value in part.as_dict().items() if name != "type"]
    return f"{type(part).__name__}({', '.join(content)})"
