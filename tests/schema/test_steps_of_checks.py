"""What is compared is counted, so that nobody has to compare more than a check may take."""

import pytest

from operator_schema.sameness import CHARACTERS_A_STEP, same_text


@pytest.mark.parametrize(
    ("value", "least"),
    [
        ("", 1),
        ("a", 1),
        ("a" * CHARACTERS_A_STEP, 2),
        ("a" * 10 * CHARACTERS_A_STEP, 11),
        ("a" * 11 * CHARACTERS_A_STEP, 12),
        (None, 1),
        (True, 1),
        (1.5, 1),
        ([], 1),
        ([1, 2, 3], 4),
        ({"a": 1, "b": [2]}, 6),
        ([["a" * 10 * CHARACTERS_A_STEP]], 13),
    ],
    ids=lambda value: str(value)[:20],
)
def test_each_value_and_each_piece_of_a_text_is_a_step(value, least):
    counted = []
    same_text(value, counted.append)
    assert sum(counted) == least


SAME = [
    *([1, 1.0], [0, -0.0], [1.5], [1e300], ["a"], ["1"], [None], [True], [False]),
    *([[]], [[2, 1]], [[[1], 2]], [[1, 2], [1.0, 2]]),
    *([{}], [{"a": 2, "b": 1}], [{"a": [1]}], [{"a": "1"}], [{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]),
]


def test_only_the_same_values_share_a_text():
    texts = [[same_text(value) for value in values] for values in SAME]
    assert all(len(set(each)) == 1 for each in texts)
    assert len({each[0] for each in texts}) == len(SAME)
