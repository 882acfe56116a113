"""Texts that are JSON or nearly so, changed at random: the same ones for the same seed."""

from __future__ import annotations

from random import Random

from operator_schema.json_values import MAX_TEXT_DEPTH

BEGINNINGS = [
    '{"center": {"latitude": 52.520008, "longitude": -1.5e-7}, "tags": ["a", "b"], "unit": null, "n": 10}',
    '{"text": "line\\nbreak \\"quoted\\" \\u00e9 \\ud83d\\ude00 \\\\", "arguments": "{\\"a\\": 1}"}',
    ' \n{"a" : {"b" : 1, "c" : 2}, "d" : [true, false, {"e": {}}]}\r\n',
    '{"a": 1, "a": 2}',
    '{"a": {"b": 1, "b": {"b": 1}}}',
    '{"a": NaN, "b": -Infinity}',
    '{"\\u0061": "\\u003a", "a" : 0.1, "b":1E5, "c": -0, "d": -0.0, "e": 1.0}',
    '{"a": "\\u003a", "b": {"c": 1, "c": 2}}',
    "[123456789012345678, 9223372036854775807, -9223372036854775809, 1e22, 5e-324, 0.30000000000000004]",
    "[1e999, 1e308, -1e308, 12345678901234567890, 0.1e1]",
    '{"a": "\\ud800"}',
    '"é€\U0001f600"',
    "\ufeff[0]",
    "\t\ufeff[0]",
    "[0]\ufeff ",
    "[[[[]]]]",
    "",
    "0",
]
CHARACTERS = '{}[]",:\\ 0123456789eE+-.ntfNaI\n\tudé\ufeff\ud800'
TEXTS = 2_500
"""So many of each seed: `make laws` reads 100,000."""


def texts_of(seed):
    draw = Random(f"readers:{seed}")  # noqa: S311  # the same texts each time
    deep = [MAX_TEXT_DEPTH * "[" + inner + MAX_TEXT_DEPTH * "]" for inner in ("", '{"a": 1}')]
    long = [*deep, f"[{', '.join(map(str, range(400)))}]"]
    for number in range(TEXTS):
        text = list(draw.choice(BEGINNINGS if number % 50 else long))
        for _ in range(draw.randrange(4)):
            place = draw.randrange(len(text) + 1)
            text[place : place + draw.randrange(2)] = draw.choice(["", draw.choice(CHARACTERS)])
        whole = "".join(text)
        has_surrogate = any("\ud800" <= character <= "\udfff" for character in whole)
        yield whole if has_surrogate or number % 5 else whole.encode()
