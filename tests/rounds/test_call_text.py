"""What a person reads of a call before it runs."""

import re
from dataclasses import InitVar, dataclass, field
from typing import Any

import pytest

from operator_schema import RawCall, tool
from operator_schema.rounds import call_text
from operator_schema.rounds.tool_call import call_with_input


def text_of(made, arguments, sent=None):
    given = made.decode(arguments)
    return call_text(call_with_input(0, RawCall("1", made.name, sent or arguments), made, given))


@tool(title="Send a mail")
def send(to: str, body: str, cc: str | None = None, *, force: bool = True) -> None:
    """Send a mail."""


def test_a_call_is_shown_as_it_runs():
    assert text_of(send, {"body": "b", "to": "a", "dry_run": True}) == (
        'Run Send a mail (send)?\nto: "a"\nbody: "b"\nforce: true\n'
        "(the tool doesn't know, and ignores: dry_run)"
    )


def test_a_key_that_is_nearly_known_is_told_with_the_known_one():
    assert text_of(send, {"to": "a", "body": "b", "forse": False}).endswith(
        '\nforce: true\n(the tool doesn\'t know, and ignores: forse (did you mean "force"?))'
    )


def test_a_call_is_shown_as_it_was_repaired():
    @tool(repair=True)
    def book(seats: int, tags: list[str]) -> None:
        """Book."""

    assert text_of(book, {"seats": "3", "tags": '["a"]'}) == 'Run book?\nseats: 3\ntags: ["a"]'


def test_a_tool_without_arguments_is_named():
    @tool
    def stop() -> None:
        """Stop."""

    assert text_of(stop, {}) == "Run stop?"


def test_nothing_in_the_arguments_looks_like_something_else():
    text = text_of(send, {"to": "a\nforce: false\u202e", "body": "\x1b[2K", "x\ny": 1})
    assert text.split("\n")[1:] == [
        r'to: "a\nforce: false\u202e"',
        r'body: "\u001b[2K"',
        "force: true",
        r"""(the tool doesn't know, and ignores: ["x\u000ay"])""",
    ]


@dataclass
class Mail:
    body: str
    to: str
    headers: dict[str, str] = field(default_factory=dict)


@tool
def post(first: Mail, others: list[Mail], note: str = "") -> None:
    """Post."""


LONG = "x" * 5000


@dataclass
class Secret:
    key: InitVar[str] = "k"

    def __post_init__(self, key):
        self.made = key

    __hash__ = None

    def __eq__(self, other):
        return False


@pytest.mark.parametrize(
    "arguments",
    [
        {"first": {"body": LONG, "to": "me"}, "others": [], "note": "n"},
        {"first": {"body": LONG, "to": "me"}, "others": [{"body": LONG, "to": f"t{n}"} for n in range(5)]},
        {"first": {"body": "", "to": "me", "headers": {"a": LONG, "b": "short"}}, "others": [], "note": LONG},
    ],
    ids=["one object", "objects in an array", "maps"],
)
def test_no_long_value_hides_another_one(arguments):
    text = text_of(post, arguments)
    wanted = re.findall(r'"(me|t\d|short|n)"', str(arguments).replace("'", '"'))
    assert [value for value in wanted if f'"{value}"' not in text] == []
    assert "more characters are not shown" in text
    assert len(text) < 4000


def test_every_argument_has_a_line_however_many_there_are():
    names = [f"p{n}" for n in range(60)]
    made = tool(input_schema_of(names))
    text = text_of(made, dict.fromkeys(names, LONG))
    assert [line.partition(":")[0] for line in text.split("\n")[1:]] == names


def input_schema_of(names):
    namespace = {}
    exec(f"def many({', '.join(f'{name}: str' for name in names)}) -> None:\n    'Do.'", namespace)  # noqa: S102
    return namespace["many"]


def test_values_that_are_too_many_are_counted():
    @tool
    def add(values: list[Any]) -> None:
        """Add."""

    text = text_of(add, {"values": [[[[LONG]]]] * 30})
    assert text.count("more characters are not shown") == 8
    assert text.endswith("\nvalues: … (22 more values are not shown)")


def test_what_cannot_be_written_back_is_shown_as_it_was_sent():
    @tool
    def keep(secret: Secret, name: str) -> None:
        """Keep."""

    assert text_of(keep, {"name": LONG, "secret": {"key": "b"}}) == (
        "Run keep?\n(as the model sent it; defaults aren't shown)\n"
        f'name: "{LONG[:1987]}… (3,014 more characters are not shown)\nsecret: {{"key": "b"}}'
    )


def test_of_text_that_cannot_be_written_back_the_text_is_shown():
    @tool
    def keep(secret: Secret) -> None:
        """Keep."""

    assert text_of(keep, {"key": "b"}, sent='{"key": "b"}').endswith('\n"{\\"key\\": \\"b\\"}"')


def test_of_an_input_that_a_hook_made_of_arguments_that_do_not_fit_all_is_shown():
    assert text_of(send, {"to": "a", "body": "b"}, sent={"to": 5}).endswith('to: "a"\nbody: "b"\nforce: true')
