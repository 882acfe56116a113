"""Content parts: small values, whose media type is found and checked."""

from __future__ import annotations

import base64
import copy
import json
import os
import pickle

import pytest
from content_samples import GIF, IMAGES, PNG, SOUNDS, boxes
from patience import assert_takes

from operator_schema.content import Audio, File, Image, Resource, Text

EVERY = [
    *[(Image, kind, data) for kind, found in IMAGES.items() for data in found],
    *[(Audio, kind, data) for kind, found in SOUNDS.items() for data in found],
]
PARTS = [
    Text("hello"),
    Image(PNG, "image/png"),
    Audio(b"fLaC\0\0\0\x22", "audio/flac"),
    File(b"a,b", "text/csv", "table.csv"),
    File(b"%PDF-1.7", "application/pdf"),
    Resource("file:///notes.txt", "my notes"),
    Resource("file:///a.png", data=PNG),
    Resource("https://example.com/", media_type="text/html"),
]


# --- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", PARTS, ids=repr)
def test_parts_are_values(part):
    for again in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part), part.replace()):
        assert (again, hash(again), type(again)) == (part, hash(part), type(part))
    assert [other for other in PARTS if other == part] == [part]
    with pytest.raises(AttributeError, match="immutable"):
        part.data = b""
    json.dumps(part.as_dict())


def test_data_is_never_shown_and_never_copied():
    data = PNG + b"secret" * 100_000
    for part in (Image(data, "image/png"), File(data, "image/png", "a\nb"), Resource("file:///a", data=data)):
        assert part.data is data
        shown = repr(part) + part.as_text() + json.dumps(part.as_dict())
        assert "secret" not in shown
        assert len(shown) < 400
    assert repr(Image(PNG, "image/png")) == "Image(media_type='image/png', bytes=70)"
    assert len(repr(Text("x" * 10_000))) < 200


def test_data_that_can_change_is_copied():
    data = bytearray(PNG)
    image, other = Image(data, "image/png"), Image(memoryview(PNG), "image/png")
    data[:] = b""
    assert image.data == other.data == PNG
    assert type(image.data) is type(other.data) is bytes


def test_base64_is_made_when_asked_for():
    assert base64.b64decode(Image(PNG, "image/png").base64) == PNG
    assert Resource("file:///a", data=b"\0").base64 == "AA=="
    assert Resource("file:///a", "text").base64 is None


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (Text("a\nb"), "a\nb"),
        (Image(PNG + b"\0" * 3342, "image/png"), "[image image/png, 3,412 bytes]"),
        (Audio(b"fLaC", "audio/flac"), "[audio audio/flac, 4 bytes]"),
        (File(b"a,b", "text/csv", "tab\nle.csv"), "[file tab\\u000ale.csv text/csv, 3 bytes]"),
        (File(b"a,b", "text/csv"), "[file text/csv, 3 bytes]"),
        (Resource("file:///n.txt", "my\nnotes"), "[resource file:///n.txt text/plain]\nmy\nnotes"),
        (Resource("file:///n.png", data=PNG), "[resource file:///n.png image/png, 70 bytes]"),
        (Resource("https://example.com/"), "[resource https://example.com/]"),
    ],
    ids=repr,
)
def test_what_a_model_reads_that_gets_text_alone(part, text):
    assert part.as_text() == text


# --- media types ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cls", "kind", "data"), EVERY, ids=[f"{kind} {len(data)}" for _, kind, data in EVERY]
)
def test_the_type_is_found_from_the_first_bytes(cls, kind, data):
    assert cls.from_bytes(data).media_type == kind
    assert cls.from_bytes(data, kind).media_type == kind
    assert cls(data, kind) == cls.from_bytes(data)


@pytest.mark.parametrize(
    ("cls", "kind", "data"), EVERY, ids=[f"{kind} {len(data)}" for _, kind, data in EVERY]
)
def test_data_of_another_type_are_refused(cls, kind, data):
    for other in IMAGES if cls is Image else SOUNDS:
        if other == kind or {other, kind} <= {"image/heic", "image/heif", "image/avif"} or data[:3] == b"ID3":
            continue
        with pytest.raises(ValueError, match=f"not {other.replace('+', '.')}: correct the media_type"):
            cls(data, other)


@pytest.mark.parametrize("kind", [*IMAGES, *SOUNDS])
def test_text_is_refused_as_most_types(kind):
    cls = Image if kind in IMAGES else Audio
    if kind in {"image/svg+xml", "audio/mpeg", "audio/aac"}:  # may begin with anything
        assert cls(b"hello", kind).media_type == kind
        return
    with pytest.raises(ValueError, match="the data are something else, not "):
        cls(b"hello, this is plain text", kind)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("IMAGE/PNG", "image/png"),
        ("image/x-png", "image/png"),
        ("image/png ; x=1", "image/png; x=1"),
        ("image/apng", "image/apng"),
    ],
)
def test_a_type_has_one_spelling(given, kept):
    assert Image(PNG, given).media_type == kept


def test_types_that_are_not_known_here_are_taken():
    assert Image(b"\xff\x0a", "image/jxl").media_type == "image/jxl"
    assert File(boxes(b"isom"), "video/x-m4v").media_type == "video/x-m4v"
    assert File(PNG, "application/octet-stream").media_type == "application/octet-stream"


def test_what_holds_sound_or_pictures_is_what_is_asked_for():
    assert Audio.from_bytes(boxes(b"isom")).media_type == "audio/mp4"
    assert File.from_bytes(boxes(b"isom")).media_type == "video/mp4"
    assert Audio.from_bytes(b"\x1a\x45\xdf\xa3").media_type == "audio/webm"
    assert File.from_bytes(b"\x1a\x45\xdf\xa3").media_type == "video/webm"


def test_a_pdf_may_begin_late():
    late = b"junk\n" * 100 + b"%PDF-1.4"
    assert File(late, "application/pdf").media_type == "application/pdf"
    with pytest.raises(ValueError, match="not application/pdf"):
        File(b"junk\n" * 300 + b"%PDF-1.4", "application/pdf")


@pytest.mark.parametrize(
    "text", [b"BMW builds cars, and has done so for long", b"II. Chapter", "ÿÿ".encode("utf-16")]
)
def test_text_is_not_taken_for_something_else(text):
    assert File.from_bytes(text, name="notes.txt").media_type == "text/plain"
    assert File.from_bytes(text).media_type == "application/octet-stream"


def test_looking_at_data_takes_no_time():
    def look():
        for data in (b"<!-- -->" * 100_000, b"<!--" * 100_000, b"<?xml " * 100_000, b" " * 1_000_000):
            assert File.from_bytes(data).media_type == "application/octet-stream"

    assert_takes(2, look)


# --- what is wrong -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Image(PNG, "text/plain"), ValueError, "must begin with image/, not text/plain: use File"),
        (lambda: Image(PNG, "audio/wav"), ValueError, "must begin with image/, not audio/wav: use Audio"),
        (lambda: Audio(PNG, "image/png"), ValueError, "must begin with audio/, not image/png: use Image"),
        (lambda: Image.from_bytes(b"fLaC"), ValueError, "not audio/flac: use Audio"),
        (lambda: Image(PNG, "png"), ValueError, 'a type such as image/png .RFC 6838., not "png"'),
        (lambda: Image(PNG, "image/png\r\nX: y"), ValueError, "media_type must be a type such as"),
        (lambda: Image.from_path(5), TypeError, "the path of a file must be a string or a Path, not integer"),
        (lambda: Image(PNG, None), TypeError, "the media_type of this Image must be a string, not null"),
        (lambda: Image(b"", "image/png"), ValueError, "this Image has no data: there are 0 bytes"),
        (lambda: Image("iVBORw0KGgo=", "image/png"), TypeError, "bytes, not string .*: decode base64 with"),
        (lambda: Image([1], "image/png"), TypeError, "the data of this Image must be bytes, not array"),
        (lambda: Image.from_bytes(b"?"), ValueError, "don't say which type this Image has: give media_type"),
        (
            lambda: File(PNG, "image/png", 5),
            TypeError,
            "the name of this File must be a string, not integer 5",
        ),
        (
            lambda: File.from_bytes(PNG, name="a.pdf"),
            ValueError,
            "a.pdf holds image/png, not application/pdf",
        ),
        (
            lambda: File.from_bytes(b"a", name="a.png"),
            ValueError,
            "a.png holds something else, not image/png",
        ),
        (lambda: Text(None), TypeError, "the text of this Text must be a string, not null"),
        (lambda: Resource("notes.txt", "x"), ValueError, "absolute, such as file:///notes.txt, not "),
        (lambda: Resource("a:b", "x", b"x"), ValueError, "a text or data, not both: return two"),
        (lambda: Resource("a:b", 5), TypeError, "the text of this Resource must be a string, not integer 5"),
        (lambda: Resource("a:b", data="x"), TypeError, "the data of this Resource must be bytes"),
        (
            lambda: Resource("a:b", data=PNG, media_type="image/gif"),
            ValueError,
            "are image/png, not image/gif",
        ),
        (lambda: Resource("a:b", media_type="?"), ValueError, "media_type must be a type such as"),
    ],
)
def test_wrong_attributes_are_refused(make, error, message):
    with pytest.raises(error, match=message) as caught:
        make()
    assert len(str(caught.value)) < 300


# --- files ---------------------------------------------------------------------------------------


def test_files_are_read(tmp_path):
    (tmp_path / "dot.PNG").write_bytes(PNG)
    (tmp_path / "dot").write_bytes(PNG)
    (tmp_path / "a.mp3").write_bytes(b"\xff\xfb\x90\x64")
    (tmp_path / "rows.csv").write_bytes(b"a,b")
    (tmp_path / "rows.csv.gz").write_bytes(b"\x1f\x8b")
    assert Image.from_path(tmp_path / "dot.PNG") == Image.from_path(str(tmp_path / "dot"))
    assert Image.from_path(tmp_path / "dot").media_type == "image/png"
    assert Audio.from_path(tmp_path / "a.mp3").media_type == "audio/mpeg"
    assert File.from_path(tmp_path / "rows.csv") == File(b"a,b", "text/csv", "rows.csv")
    assert File.from_path(tmp_path / "rows.csv", name="x").name == "x"
    assert File.from_path(tmp_path / "rows.csv.gz").media_type == "application/octet-stream"


def test_a_file_whose_name_is_wrong_is_refused(tmp_path):
    wrong = tmp_path / "photo.jpg"
    wrong.write_bytes(GIF)
    message = (
        r"^photo\.jpg holds image/gif, not image/jpeg as its name says: rename it, or give the media_type$"
    )
    for cls in (Image, File):
        with pytest.raises(ValueError, match=message):
            cls.from_path(wrong)
    assert Image.from_path(wrong, "image/gif").media_type == "image/gif"


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        Image.from_path(tmp_path / "none.png")
    with pytest.raises(ValueError, match="isn't a regular file"):
        Image.from_path(tmp_path)
    (tmp_path / "empty.png").touch()
    with pytest.raises(ValueError, match="this Image has no data"):
        Image.from_path(tmp_path / "empty.png")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_does_not_block(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(ValueError, match="isn't a regular file"):
        Image.from_path(tmp_path / "pipe.png")
