"""Which media type do the first bytes of some data say, and which does the name of a file?

Names are those of the registry of IANA (https://www.iana.org/assignments/media-types), but for
`audio/wav`, `audio/aac` and `audio/flac`, where programs and model providers agree on the short form.
The signatures are those of the MIME Sniffing Standard (https://mimesniff.spec.whatwg.org/, sections 6.1
and 6.2), and, where that has none, of TIFF 6.0, RFC 9639 (FLAC), ISO/IEC 14496-12 and 23008-12 (MP4,
HEIF, AVIF), ISO/IEC 13818-7 (AAC), AIFF 1.3 and ISO 32000-2 (PDF).
"""

from __future__ import annotations

import re

__all__ = ["essence_of", "is_refuted", "type_of_name", "types_in", "written_type"]

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
"""Third byte of a frame of layer II or III (ISO/IEC 11172-3): a bit rate and a sampling rate that exist."""

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
"""What data begins with (a dot stands for any byte) to what it may be, the most usual type first."""

_BY_BRAND = {
    **dict.fromkeys([b"avif", b"avis"], ("image/avif", "image/heif")),
    **dict.fromkeys([b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx"], ("image/heic", "image/heif")),
    **dict.fromkeys([b"mif1", b"msf1"], ("image/heif", "image/heic", "image/avif")),
    **dict.fromkeys([b"M4A ", b"M4B ", b"M4P "], ("audio/mp4", "video/mp4")),
    b"qt  ": ("video/quicktime",),
}
"""What files of boxes hold, by their brand; the most particular brand first."""

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
"""Bytes in which a signature has to end."""


def types_in(data: bytes) -> tuple[str, ...]:
    """Return which types the first bytes of some data allow, the most usual first; none where unknown."""
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
    """Return whether the first bytes of some data say that it is of another type.

    Args:
        kind: the essence of a media type.
        data: all of it.
    """
    allowed = types_in(data)
    if kind in allowed or kind == "application/octet-stream":
        return False
    if allowed:
        # Many types that aren't known here begin as a known one of their family does, such as image/apng.
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
    """Return the type that the end of a file's name stands for, or None."""
    _, dot, suffix = name.lower().rpartition(".")
    if not dot:
        return None
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    from mimetypes import MimeTypes

    # Not `mimetypes.guess_type`: it reads files of the system, which say something else on each.
    kind, encoding = MimeTypes().guess_type(f"file.{suffix}")
    return kind if encoding is None else None
