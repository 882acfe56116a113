"""Which methods do the traits of Rust's own library give to the types that implement them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_PRELUDE = """
AsMut AsRef Clone Copy Default DoubleEndedIterator Drop Eq ExactSizeIterator Extend From FromIterator Into
IntoIterator Iterator Ord PartialEq PartialOrd Send Sized Sync ToOwned ToString TryFrom TryInto Unpin
"""
PRELUDE: Final = frozenset(_PRELUDE.split())
"""Traits that need no `use`. Source: https://doc.rust-lang.org/std/prelude/"""

_TABLE = """
BufRead has_data_left lines read_line read_until skip_until split
BuildHasher hash_one
Clone clone_from clone_into to_owned
Display to_string
DoubleEndedIterator advance_back_by nth_back rfind rfold try_rfold
Error cause description downcast downcast_mut downcast_ref from is provide source sources
ExactSizeIterator is_empty len
Extend extend_one extend_reserve
From try_from
Hash hash_slice
Hasher write_i128 write_i16 write_i32 write_i64 write_i8 write_isize write_length_prefix write_str
write_u128 write_u16 write_u32 write_u64 write_u8 write_usize
Iterator advance_by all any array_chunks by_ref chain cloned cmp cmp_by collect collect_into copied
count cycle enumerate eq eq_by filter filter_map find find_map flat_map flatten fold for_each fuse ge gt
inspect intersperse intersperse_with into_iter is_partitioned is_sorted is_sorted_by is_sorted_by_key
last le lt map map_while map_windows max max_by max_by_key min min_by min_by_key ne next_chunk nth
partial_cmp partial_cmp_by partition partition_in_place peekable position product reduce rev rposition
scan size_hint skip skip_while step_by sum take take_while try_collect try_find try_fold try_for_each
try_reduce unzip zip
Ord clamp max min
PartialEq ne
PartialOrd ge gt le lt
RangeBounds contains is_empty
Read by_ref bytes chain is_read_vectored read_array read_buf read_buf_exact read_exact read_to_end
read_to_string read_vectored take
Seek rewind seek_relative stream_len stream_position
ToOwned clone_into
Wake wake_by_ref
Write by_ref is_write_vectored write_all write_all_vectored write_char write_fmt write_vectored
"""
"""Each trait, followed by the methods that a type needn't write itself. Source: https://doc.rust-lang.org/std/"""


def _provided() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    methods: set[str] = set()
    for word in _TABLE.split():
        if word[0].isupper():
            methods = found[word] = set()
        else:
            methods.add(word)
    return {trait: frozenset(each) for trait, each in found.items()}


PROVIDED: Final = _provided()
"""The methods that the traits provide; those that aren't listed provide none."""
