"""Arguments whose text is still arriving, decoded as far as possible."""

from __future__ import annotations

import codecs
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..errors import DecodeError
from ..immutable import Value, content_of
from ..introspect.nodes import ObjectNode
from ..json_values import MAX_PROBLEMS, is_object
from .growing_json import GrowingJson
from .interpret import decode_field
from .json_text import read_json
from .problems import Problems
from .spellings import NOTHING, sent_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..findings import Finding
    from ..introspect.nodes import Field, Graph

T = TypeVar("T")


class Partial(Value):
    """The state of arguments whose text has partly arrived.

    Attributes:
        fields: attribute name to decoded value, for each field whose value has ended and fits, in
            the order in which they came. Always empty for a type without fields of its own: a
            union, a map, a list.
        receiving: attribute name of the field that is being received, from the end of its key to
            the end of its value; the key itself if it names no field; None in between, and once
            the text isn't valid JSON.
        missing: attribute names of the required fields whose values have not ended, in the order of
            declaration, including the one that is being received.
        findings: the problems so far, at most `operator_schema.codec.options.MAX_PROBLEMS`: values that don't
            fit, unknown keys if they are refused, keys that occurred twice, and last the reason why the text
            isn't valid JSON, after which nothing more is read. The last one is left out if repair may fix it.
            Once `is_complete`, these are the problems of `ArgumentStream.finish`, including missing fields.
        is_complete: whether the value has ended. A number at the end of the text hasn't, because another
            digit may come.
    """

    fields: Mapping[str, Any]
    receiving: str | None
    missing: tuple[str, ...]
    findings: tuple[Finding, ...]
    is_complete: bool

    def __init__(
        self,
        fields: Mapping[str, Any],
        receiving: str | None,
        missing: Iterable[str],
        findings: Iterable[Finding],
        is_complete: bool,
    ) -> None:
        own = MappingProxyType(dict(fields))
        super().__init__(own, receiving, tuple(missing), tuple(findings), is_complete)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self.fields), *content_of(self)[1:])


class ArgumentStream(Generic[T]):
    """A stream of arguments whose text arrives in chunks, made by `Codec.stream`.

    Each character is read once when it arrives, and once more when its field has ended, so that the time is
    linear in the text, whatever the size of the chunks. A stream belongs to one call and to one thread at a
    time.

    Args:
        graph: the graph of the type.
        max_depth: levels of arrays and objects that are followed.
        decode_json: decodes the whole text.
        read: returns the value of the whole text before decoding; None if its members can't differ from those
            that arrived.
        repairs: whether the codec repairs, so that members may change.
        has_parser: whether the user gave a parser, so that members may change.
        clean: as for `Codec.stream`; `decode_json` does the same.
    """

    def __init__(
        self,
        graph: Graph,
        max_depth: int,
        decode_json: Callable[[str | bytes], T],
        read: Callable[[str | bytes], Any] | None = None,
        *,
        repairs: bool = False,
        has_parser: bool = False,
        clean: Callable[[Graph, Any], Any] | None = None,
    ) -> None:
        self._decode_json = decode_json
        self._read_whole = read
        self._repairs = repairs
        self._has_parser = has_parser
        self._chunks: list[Any] = []
        self._kind: type[str | bytes] | None = None
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._is_utf8 = True
        self._skipped: int | None = None  # byte order marks of a string, once its first character is there
        self._text = GrowingJson()
        self._length = 0  # of the text that is read
        self._unread = ""
        self._members = _Members(graph, max_depth, repairs=repairs, clean=clean)
        self._refused: Finding | None = None
        self._whole: tuple[T] | None = None
        self._partial = self._members.show(())

    @property
    def partial(self) -> Partial:
        """The arguments received so far, decoded as far as possible."""
        return self._partial

    def feed(self, chunk: str | bytes | bytearray) -> Partial:
        """Take the next chunk of the text.

        Args:
            chunk: of any length; bytes are UTF-8 and may end inside a character.

        Returns:
            The state so far; the same object as before if the chunk changed nothing.

        Raises:
            TypeError: the chunk is neither a string nor bytes, or strings and bytes are mixed.
        """
        self._kind = _kind_of(chunk, self._kind)
        self._chunks.append(bytes(chunk) if isinstance(chunk, bytearray) else chunk)
        if self._refused is None:
            self._read(chunk)
        return self._partial

    def finish(self) -> T:
        """Decode the whole text after its end.

        Returns:
            The result of `Codec.decode_json` for all chunks joined: an instance of the type, the same one
            each time.

        Raises:
            DecodeError: the same as from `Codec.decode_json` for all chunks joined.
        """
        if self._partial.is_complete and self._whole is not None:
            return self._whole[0]
        return self._decode_json(self._joined())

    def _joined(self) -> str | bytes:
        return b"".join(self._chunks) if self._kind is bytes else "".join(self._chunks)

    def _read(self, chunk: str | bytes | bytearray) -> None:
        self._read_members(self._unread + self._decoded(chunk))
        if self._refused is None and not self._is_utf8:
            self._refuse_text(self._joined())
        self._show()

    def _decoded(self, chunk: str | bytes | bytearray) -> str:
        if isinstance(chunk, str):
            if self._skipped is None and chunk:
                self._skipped = int(chunk[0] == "\ufeff")
                return chunk[self._skipped :]
            return chunk
        try:
            return self._utf8.decode(chunk) if self._is_utf8 else ""
        except UnicodeDecodeError as error:
            self._is_utf8 = False
            return str(error.object[: error.start], "utf-8")

    def _read_members(self, text: str) -> None:
        # An exception of the user's own code passes through here: the next chunk continues after it.
        try:
            for part, read in self._text.read(text):
                if part == "key":
                    self._refused = self._members.begin(read)
                else:
                    self._refused = self._members.end(read)
                if self._refused is not None:
                    return
        finally:
            self._unread = text[self._text.index :]
            self._length += self._text.index
        if self._text.broken:
            self._refuse_text(self._text_so_far()[: (self._skipped or 0) + self._length + 1])

    def _text_so_far(self) -> str:
        joined = self._joined()
        # The bytes after the broken place may be anything.
        return joined if isinstance(joined, str) else str(joined, "utf-8-sig", "ignore")

    def _refuse_text(self, text: str | bytes) -> None:
        _, problems = read_json(text)
        self._refused = problems.found[0]

    def _show(self) -> None:
        members, refused = self._members, self._refused
        if refused is not None:
            members.receiving = None
            # Only the end of the text shows whether repair can fix it.
            is_open = self._repairs and self._is_utf8 and refused.code == "invalid_json"
            found = members.problems.found
            self._partial = members.show(found if is_open else [*found[: MAX_PROBLEMS - 1], refused])
        elif self._is_complete():
            if not self._partial.is_complete:
                problems = self._problems_of_whole()
                self._partial = members.show(problems, is_complete=True)
        elif members.changed or self._partial.is_complete:
            self._partial = members.show(members.problems.found)

    def _is_complete(self) -> bool:
        # A byte that begins a character is held back until the next one comes.
        return self._text.ended and not self._utf8.getstate()[0]

    def _problems_of_whole(self) -> tuple[Finding, ...]:
        text = self._joined()
        try:
            if self._read_whole is not None:
                self._members.take_whole(self._read_whole(text), keeps=not self._has_parser)
            self._whole = (self._decode_json(text),)
        except DecodeError as error:
            return error.findings
        return ()


def _kind_of(chunk: object, before: type[str | bytes] | None) -> type[str | bytes]:
    kind = str if isinstance(chunk, str) else bytes if isinstance(chunk, (bytes, bytearray)) else None
    if kind is not None and before in {None, kind}:
        return kind
    wanted = "str or bytes" if before is None else f"{before.__name__}, as the first one"
    message = f"a chunk of JSON text is {wanted}, not {type(chunk).__name__}"
    raise TypeError(message)


class _Members:
    """The members of the root that have arrived, and their decoded values.

    Attributes:
        problems: their problems.
        receiving: name of the field that has begun but not ended, or its key if that names no field.
        changed: whether anything arrived since the last call of `show`.
    """

    def __init__(
        self, graph: Graph, max_depth: int, *, repairs: bool, clean: Callable[[Graph, Any], Any] | None
    ) -> None:
        root = graph.resolve_root()
        self.problems = Problems()
        self.receiving: str | None = None
        self.changed = False
        self._graph = graph
        self._node = root if isinstance(root, ObjectNode) else None
        fields = () if self._node is None else self._node.fields
        self._fields = {field.key: field for field in fields}
        self._max_depth = max_depth
        self._repairs = repairs
        self._clean = clean
        self._times: dict[str, int] = {}
        self._key = ""
        self._is_repeated = False
        self._values: dict[str, Any] = {}
        self._missing = dict.fromkeys(field.name for field in fields if field.required)

    def show(self, problems: Iterable[Finding], *, is_complete: bool = False) -> Partial:
        self.changed = False
        return Partial(self._values, self.receiving, self._missing, problems, is_complete)

    def begin(self, text: str) -> Finding | None:
        """Take the JSON text of a key; return a problem if it makes the whole text invalid, else None."""
        key, found = read_json(text)
        if found.found:
            return found.found[0]
        self.changed = True
        self._key = key
        times = self._times[key] = self._times.get(key, 0) + 1
        self._is_repeated = times > 1
        field = self._fields.get(key)
        self.receiving = key if field is None else field.name
        if times == 2:  # noqa: PLR2004  # once is enough
            self.problems.repeated_key((None, key))
        elif times == 1 and self._node is not None and self._is_refused(self._node, key):
            self.problems.unknown(None, key, self._node, {key: None})
        return None

    def _is_refused(self, node: ObjectNode, key: str) -> bool:
        # Whether repair takes a key for a field's depends on the others.
        may_be_meant = self._repairs and sent_keys(node, {key: None})
        return node.closed and key not in self._fields and not may_be_meant

    def take_whole(self, value: object, *, keeps: bool) -> None:
        """Replace the members by those of the whole value.

        Args:
            value: the whole value before decoding.
            keeps: whether values that were already decoded are kept.
        """
        if self._node is None or not is_object(value):
            return
        before, values, missing = self._values, dict[str, Any](), dict(self._missing)
        for field in self._node.fields:
            if field.key in value:
                missing.pop(field.name, None)
                is_kept = keeps and field.name in before
                values.update({} if is_kept else self._decoded(field, value[field.key])[0])
        if not keeps:
            before = {name: values[name] for name in before if name in values}
        self._values, self._missing = {**before, **values}, missing

    def end(self, text: str) -> Finding | None:
        """Take the JSON text of that key's value; return a problem if it makes the whole text invalid."""
        value, found = read_json(text)
        if found.found and found.found[0].code != "duplicate":
            return found.found[0]
        self.changed = True
        self.receiving = None
        for problem in found.found:
            self.problems.add(problem.replace(path=(self._key, *problem.path)))
        field = self._fields.get(self._key)
        if field is not None and not self._is_repeated:
            self._missing.pop(field.name, None)
            if not found.found:
                decoded, found = self._decoded(field, value)
                for problem in found.found:
                    self.problems.add(problem)
                self._values.update(decoded)
        return None

    def _decoded(self, field: Field, value: object) -> tuple[dict[str, Any], Problems]:
        """Return a dict of name and value of a field; an empty one if it doesn't fit or means the default."""
        if self._clean is not None:
            cleaned = self._clean(self._graph, {field.key: value})
            if field.key not in cleaned:
                return {}, Problems()
            value = cleaned[field.key]
        if self._repairs and self._node is not None:
            from .repair import repair_field

            value = repair_field(self._graph, self._node, field, value, self._max_depth)
            if value is NOTHING:
                return {}, Problems()
        decoded, problems = decode_field(self._graph, field, value, self._max_depth)
        if problems.asked:
            from .corrections import add_suggestions

            add_suggestions(problems)
        return {} if problems.found else {field.name: decoded}, problems
