"""Beginnings of files of many types: enough for programs that look at the first bytes."""

from __future__ import annotations

import base64
import struct

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""A whole image, of one pixel."""

GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")


def boxes(*brands: bytes) -> bytes:
    major, *others = brands
    return (
        struct.pack(">I", 16 + 4 * len(others)) + b"ftyp" + major + b"\0\0\0\0" + b"".join(others) + b"\0" * 8
    )


IMAGES = {
    "image/png": [PNG],
    "image/jpeg": [b"\xff\xd8\xff\xe0\x00\x10JFIF\x00", b"\xff\xd8\xff\xdb"],
    "image/gif": [GIF, b"GIF87a\x01\x00"],
    "image/webp": [b"RIFF\x1a\x00\x00\x00WEBPVP8L"],
    "image/bmp": [b"BM" + struct.pack("<IHHIIii", 70, 0, 0, 54, 40, 1, 1)],
    "image/tiff": [b"II*\0\x08\0\0\0", b"MM\0*\0\0\0\x08", b"II+\0"],
    "image/vnd.microsoft.icon": [b"\0\0\x01\0\x01\0\x10\x10"],
    "image/avif": [boxes(b"avif", b"mif1", b"miaf"), boxes(b"mif1", b"avif")],
    "image/heic": [boxes(b"heic", b"mif1"), boxes(b"mif1", b"heic")],
    "image/heif": [boxes(b"mif1", b"miaf")],
    "image/svg+xml": [
        b'<svg xmlns="http://www.w3.org/2000/svg"/>',
        b'\xef\xbb\xbf\n<?xml version="1.0"?>\n<!-- a --><!-- b -->\n<!DOCTYPE svg PUBLIC "x" "y">\n<svg>',
    ],
}
SOUNDS = {
    "audio/wav": [b"RIFF\x24\x00\x00\x00WAVEfmt "],
    "audio/mpeg": [b"ID3\x04\x00\x00", b"\xff\xfb\x90\x64", b"\xff\xf3\x48\xc4"],
    "audio/ogg": [b"OggS\0\x02"],
    "audio/flac": [b"fLaC\0\0\0\x22"],
    "audio/mp4": [boxes(b"M4A ", b"isom")],
    "audio/aac": [b"\xff\xf1\x50\x80"],
    "audio/aiff": [b"FORM\0\0\0\x2eAIFFCOMM", b"FORM\0\0\0\x2eAIFC"],
    "audio/webm": [b"\x1a\x45\xdf\xa3\x9f"],
}
