"""Which methods do the types of Go's own library have that other types embed or implement?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    Shape = tuple[int, int]

LOCKS: Final[Mapping[str, frozenset[str]]] = {
    "sync.Mutex": frozenset({"Lock", "TryLock", "Unlock"}),
    "sync.RWMutex": frozenset({"Lock", "RLock", "RLocker", "RUnlock", "TryLock", "TryRLock", "Unlock"}),
}
"""The methods of the structs that others embed most often. Source: https://pkg.go.dev/sync"""

_READ: Final = {"Read": (1, 2)}
_WRITE: Final = {"Write": (1, 2)}
_CLOSE: Final = {"Close": (0, 1)}
_SEEK: Final = {"Seek": (2, 2)}
_SORT: Final = {"Len": (0, 1), "Less": (2, 1), "Swap": (2, 0)}

METHODS: Final[Mapping[str, Mapping[str, Shape]]] = {
    "error": {"Error": (0, 1)},
    "context.Context": {"Deadline": (0, 2), "Done": (0, 1), "Err": (0, 1), "Value": (1, 1)},
    "driver.Valuer": {"Value": (0, 2)},
    "encoding.BinaryMarshaler": {"MarshalBinary": (0, 2)},
    "encoding.BinaryUnmarshaler": {"UnmarshalBinary": (1, 1)},
    "encoding.TextMarshaler": {"MarshalText": (0, 2)},
    "encoding.TextUnmarshaler": {"UnmarshalText": (1, 1)},
    "flag.Value": {"String": (0, 1), "Set": (1, 1)},
    "fmt.Formatter": {"Format": (2, 0)},
    "fmt.GoStringer": {"GoString": (0, 1)},
    "fmt.Stringer": {"String": (0, 1)},
    "fs.FS": {"Open": (1, 2)},
    "fs.File": {"Stat": (0, 2), **_READ, **_CLOSE},
    "heap.Interface": {**_SORT, "Push": (1, 0), "Pop": (0, 1)},
    "http.Flusher": {"Flush": (0, 0)},
    "http.Handler": {"ServeHTTP": (2, 0)},
    "http.ResponseWriter": {"Header": (0, 1), **_WRITE, "WriteHeader": (1, 0)},
    "http.RoundTripper": {"RoundTrip": (1, 2)},
    "io.ByteReader": {"ReadByte": (0, 2)},
    "io.ByteWriter": {"WriteByte": (1, 1)},
    "io.Closer": _CLOSE,
    "io.ReadCloser": {**_READ, **_CLOSE},
    "io.ReadSeeker": {**_READ, **_SEEK},
    "io.ReadWriteCloser": {**_READ, **_WRITE, **_CLOSE},
    "io.ReadWriter": {**_READ, **_WRITE},
    "io.Reader": _READ,
    "io.ReaderAt": {"ReadAt": (2, 2)},
    "io.ReaderFrom": {"ReadFrom": (1, 2)},
    "io.RuneReader": {"ReadRune": (0, 3)},
    "io.Seeker": _SEEK,
    "io.StringWriter": {"WriteString": (1, 2)},
    "io.WriteCloser": {**_WRITE, **_CLOSE},
    "io.Writer": _WRITE,
    "io.WriterAt": {"WriteAt": (2, 2)},
    "io.WriterTo": {"WriteTo": (1, 2)},
    "json.Marshaler": {"MarshalJSON": (0, 2)},
    "json.Unmarshaler": {"UnmarshalJSON": (1, 1)},
    "net.Error": {"Error": (0, 1), "Timeout": (0, 1), "Temporary": (0, 1)},
    "net.Listener": {"Accept": (0, 2), **_CLOSE, "Addr": (0, 1)},
    "slog.Handler": {"Enabled": (2, 1), "Handle": (2, 1), "WithAttrs": (1, 1), "WithGroup": (1, 1)},
    "slog.LogValuer": {"LogValue": (0, 1)},
    "sort.Interface": _SORT,
    "sql.Scanner": {"Scan": (1, 1)},
    "sync.Locker": {"Lock": (0, 0), "Unlock": (0, 0)},
}
"""By the name of an interface as a program writes it: how many parameters and results each method has.

Source: https://pkg.go.dev/std
"""
