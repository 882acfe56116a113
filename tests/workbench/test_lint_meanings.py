"""What names and descriptions say, and types and hints don't: each check finds its kind, and nothing else."""

from dataclasses import dataclass, field, make_dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import pytest

from operator_schema import tool, tool_input
from operator_schema.similar_names import words_of
from operator_schema.workbench.lint import lint
from operator_schema.workbench.lint.words import content_words, meaning


def found_in(name, annotation, description="What it is about.", **more):
    """List the codes of what is found about one field."""
    fields = [(name, Annotated[annotation, description] if description else annotation)]
    made = make_dataclass("Input", [*fields, *more.items()])
    findings = lint([tool_input(made, name="do_it", description="Do it well.")])
    return [finding.code for finding in findings if finding.path]


def message_of(*tools):
    (finding,) = lint(tools)
    return f"{finding.message}. {finding.remedy}"


@pytest.mark.parametrize(
    ("description", "choices"),
    [
        ("One of 'open', 'closed'.", ["open", "closed"]),
        ('Either "asc" or "desc".', ["asc", "desc"]),
        ("The state: must be `new`, `old` or `new`.", ["new", "old"]),
        ("Allowed: “red”, “blue”.", ["red", "blue"]),
        ("One of open, closed.", ["open", "closed"]),
        ("Which; one of: red, dark-green or blue", ["red", "dark-green", "blue"]),
        ("One of a, b, or c.\nMore about it.", ["a", "b", "c"]),
        ("One of left or right.", ["left", "right"]),
    ],
)
def test_choices_in_words(description, choices):
    assert found_in("state", str, description) == ["choices_in_words"]
    assert found_in("state", str | None, description) == ["choices_in_words"]
    assert found_in("state", Literal["open", "closed"], description) == []
    assert found_in("state", list[str], description) == []
    made = make_dataclass("Input", [("state", Annotated[str, description])])
    quoted = [f'"{choice}"' for choice in choices]
    said = message_of(tool_input(made, name="do_it", description="Do it well."))
    assert said.endswith(f"Write Literal[{', '.join(quoted)}]")
    assert said.startswith("its description lists its values: ")


@pytest.mark.parametrize(
    "description",
    [
        "A city, such as 'Oslo' or 'Paris'; one of many.",
        "A city, e.g. 'Oslo' or 'Paris': its values are free.",
        "One of the cities of the country.",
        "One of 'Oslo'.",
        "A title with 'quotes' and 'more quotes'.",
        "The user's choice, or the customers' options.",
        "One of many words, as you like.",
    ],
)
def test_no_choices_in_words(description):
    assert found_in("city", str, description) == []


@pytest.mark.parametrize(
    "name",
    [
        "api_key", "apiKey", "APIKey", "apikey", "password", "db_password", "access_token", "secret",
        "client_secret", "private_key_pem", "auth_token",
    ],
)  # fmt: skip
def test_secrets(name):
    assert found_in(name, str) == ["secret"]
    assert found_in(name, str | None) == ["secret"]


@pytest.mark.parametrize(
    "name", ["page_token", "key", "primary_key", "token_count", "keyboard", "api", "secretary"]
)
def test_no_secrets(name):
    assert found_in(name, str) == []


def test_a_number_is_no_secret():
    assert found_in("password", int) == []


@pytest.mark.parametrize(
    "name",
    [
        "start_date",
        "date",
        "created_at",
        "birthday",
        "endDate",
        "departure_time",
        "sent_on",
        "timestamp",
        "order_created_at",
    ],
)
def test_dates_as_text(name):
    assert found_in(name, str) == ["date_as_text"]
    assert found_in(name, str | None) == ["date_as_text"]
    assert found_in(name, date) == []


@pytest.mark.parametrize(
    "name",
    [
        "look_at",
        "sent_mail_on",
        "mail_sent",
        "date_format",
        "timezone",
        "update",
        "at",
        "on",
        "created",
        "runtime",
    ],
)
def test_no_dates(name):
    assert found_in(name, str) == []


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("filters_json", "Which rows."),
        ("filtersJSON", "Which rows."),
        ("json", "Which rows."),
        ("filters", "Which rows, as JSON."),
        ("filters", "A JSON-encoded list."),
        ("filters", "A JSON object of column to value."),
        ("filters", "Serialized JSON."),
    ],
)
def test_json_in_text(name, description):
    assert found_in(name, str, description) == ["json_in_text"]
    assert found_in(name, dict[str, str], description) == []


@pytest.mark.parametrize(
    ("name", "description"), [("path", "Of a JSON file."), ("json_path", "Where it is."), ("jsonl", "Rows.")]
)
def test_no_json_in_text(name, description):
    assert found_in(name, str, description) == []


@pytest.mark.parametrize("name", ["timeout", "max_delay", "duration", "weight", "cacheTTL", "temperature"])
@pytest.mark.parametrize("annotation", [int, float, int | None])
def test_without_unit(name, annotation):
    assert found_in(name, annotation, "How much it may be.") == ["no_unit"]


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("timeout_seconds", "How long to wait."),
        ("timeout_ms", "How long to wait."),
        ("timeout", "How many seconds to wait."),
        ("temperature", "In °C."),
        ("weight", "Of the parcel, in kg."),
        ("width", "Percent of the page."),
        ("timeouts", "How many there were."),
        ("pages", "How many."),
    ],
)
def test_units_that_are_there(name, description):
    assert found_in(name, int, description) == []


def test_the_unit_is_asked_for_once():
    assert found_in("timeout", int, "") == ["undescribed"]
    assert found_in("timeout", str, "How long it may be.") == []


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("account_id", "The account."),
        ("account_id", "Account ID"),
        ("accountId", "The id of the accounts."),
        ("a", "A."),
        ("rows", "The row."),
    ],
)
def test_descriptions_that_repeat_the_name(name, description):
    assert found_in(name, str, description) == ["description_repeats_name"]


@pytest.mark.parametrize(
    ("name", "description"),
    [("account_id", "The account to pay from."), ("name", "As on the bill."), ("way", "Which.")],
)
def test_descriptions_that_say_more(name, description):
    assert found_in(name, str, description) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("on", "off"), ("enable_cache", "disable_cache"), ("cacheOn", "cacheOff"), ("verify", "no_verify"),
        ("not_hidden", "hidden"), ("show_all", "hide_all"), ("stop", "start"),
    ],
)  # fmt: skip
def test_opposite_flags(first, second):
    flag = Annotated[bool, "What it does."]
    made = make_dataclass("Input", [(first, flag), ("between", flag), (second, flag)])
    (finding,) = lint([tool_input(made, name="do_it", description="Do it well.")])
    assert (finding.code, finding.path) == ("opposite_flags", (second,))
    assert f'the opposite of "{first}"' in finding.message


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("on", "open"),
        ("cacheOn", "cache_on"),
        ("start_on", "stop_off"),
        ("start", "stop_all"),
        ("stop_all", "start"),
        ("verify", "yes_verify"),
        ("on", "on_off"),
    ],
)
def test_no_opposite_flags(first, second):
    flag = Annotated[bool, "What it does."]
    assert found_in("other", int, **{first: flag, second: flag}) == []


def test_only_flags_are_opposite():
    assert found_in("on", str, off=Annotated[str, "Which."]) == []
    assert found_in("on", bool, off=Annotated[str, "Which."]) == []


def test_opposite_flags_inside_an_object():
    @dataclass
    class Light:
        """A light."""

        on: Annotated[bool, "Whether it burns."] = False
        off: Annotated[bool, "Whether it doesn't."] = False

    made = make_dataclass("Input", [("lights", Annotated[list[Light], "Which."])])
    (finding,) = lint([tool_input(made, name="do_it", description="Do it well.")])
    assert finding.path == ("lights", "*", "off")


@pytest.mark.parametrize("name", ["delete_order", "removeUser", "drop", "purge_cache"])
def test_a_tool_that_deletes_says_so(name):
    def act() -> str:
        """Do what the name says, once and for all."""
        return ""

    (finding,) = lint([tool(act, name=name)])
    assert (finding.code, finding.path) == ("unmarked_deletion", ())
    assert (
        finding.message
        == f"its name says that it may {words_of(name)[0]} something, but its hints don't say so"
    )
    for hints in ({"destructive": True}, {"destructive": False}, {"read_only": True}):
        assert lint([tool(act, name=name, **hints)]) == []
    assert lint([tool(act, name=f"un{name}"), tool(act, name="order_delete", description="Once more.")]) == []


def things(limit: Annotated[int, "How many."] = 10) -> list[str]:
    """Show what is in the shop."""
    return [str(limit)]


def all_things() -> list[str]:
    """Show what is in the shop."""
    return []


def one_thing() -> str:
    """Show what is in the shop."""
    return ""


@pytest.mark.parametrize("name", ["list_things", "searchThings", "find", "query_it"])
def test_a_list_without_a_limit(name):
    (finding,) = lint([tool(all_things, name=name)])
    assert (finding.code, finding.path) == ("unlimited_result", ())
    assert lint([tool(things, name=name)]) == []
    assert lint([tool(one_thing, name=name)]) == []


def test_a_list_that_isnt_a_search():
    assert lint([tool(all_things, name="get_list")]) == []
    whole = tool_input(Cat | Dog, name="list_pets", description="Show the pets there are.")
    assert "unlimited_result" not in [finding.code for finding in lint([whole])]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("get_customer", "fetch_customers"),
        ("search_orders", "findOrder"),
        ("delete_file", "remove_file"),
        ("get_order_status", "read_status_of_order"),
    ],
)
def test_names_that_mean_the_same(first, second):
    tools = [
        tool(one_thing, name=first, description="First of all this.", destructive=True),
        tool(one_thing, name=second, description="Something else here.", destructive=True),
    ]
    (finding,) = lint(tools)
    assert (finding.code, finding.tool) == ("same_in_other_words", second)
    assert finding.message == f'it seems to do the same as "{first}", in other words'


def test_descriptions_that_mean_the_same():
    tools = [
        tool(one_thing, name="first", description="Get the order of a customer."),
        tool(one_thing, name="second", description="Fetch orders by customer."),
    ]
    (finding,) = lint(tools)
    assert (finding.code, finding.tool) == ("same_in_other_words", "second")


@pytest.mark.parametrize(
    ("first", "second"),
    [("get_user", "search_user"), ("get_user", "get_users_orders"), ("create_user", "update_user")],
)
def test_names_that_mean_something_else(first, second):
    tools = [
        tool(one_thing, name=first, description="Run."),
        tool(one_thing, name=second, description="Start."),
    ]
    assert lint(tools) == []


def test_a_word_alone_isnt_a_meaning():
    tools = [
        tool(one_thing, name="first", description="Get it."),
        tool(one_thing, name="second", description="Fetch it."),
    ]
    assert lint(tools) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The orders of a customer_id", {"order", "customer", "id"}),
        ("Us, gas and glass", {"us", "ga", "glass"}),
        ("A", {"a"}),
        ("Which of the", {"which", "of", "the"}),
        ("", set()),
    ],
)
def test_what_a_text_speaks_of(text, words):
    assert content_words(text) == words


def test_what_words_mean():
    assert meaning(("fetch", "the", "orders")) == {"get", "order"}
    assert meaning(("show", "find")) == {"show", "find"}
    assert meaning(()) == set()


def test_the_name_is_that_of_the_field_itself():
    made = make_dataclass(
        "Inner",
        [
            ("password", Annotated[str, "To log in."]),
            ("due_date", Annotated[str, "Last one."]),
            ("rows_json", Annotated[str, "All of it."]),
            ("timeout", Annotated[int, "How long."]),
            ("city", Annotated[str, "The city."]),
        ],
    )
    outer = make_dataclass("Input", [("part", Annotated[made, "What to do."])])
    findings = lint([tool_input(outer, name="do_it", description="Do it well.")])
    assert [(finding.code, finding.path) for finding in findings] == [
        ("secret", ("part", "password")),
        ("no_unit", ("part", "timeout")),
        ("date_as_text", ("part", "due_date")),
        ("json_in_text", ("part", "rows_json")),
        ("description_repeats_name", ("part", "city")),
    ]
    assert findings[1].remedy.startswith("Say it in the name or in the description: timeout_…, ")


def test_descriptions_of_a_docstring_are_read_too():
    @tool
    def show(state: str, timeout: int) -> str:
        """Show what is there.

        Args:
            state: One of 'open', 'closed'.
            timeout: How long it may take.
        """
        return f"{state} {timeout}"

    assert [finding.code for finding in lint([show])] == ["choices_in_words", "no_unit"]


def test_long_descriptions():
    (finding,) = lint([tool(one_thing, description="x" * 1_025)])
    assert finding.code == "long_description"
    assert finding.message == "its description has 1,025 characters, but OpenAI takes only 1,024"
    assert lint([tool(one_thing, description="x" * 1_024)]) == []


@pytest.mark.parametrize(("number", "codes"), [(15, []), (16, ["many_parameters"])])
def test_many_parameters(number, codes):
    made = make_dataclass("Input", [(f"part_{one}", Annotated[int, "How many."]) for one in range(number)])
    findings = lint([tool_input(made, name="do_it", description="Do it well.")])
    assert [finding.code for finding in findings] == codes
    if codes:
        assert findings[0].message == "it has 16 parameters; models mix them up"


# --- members of unions --------------------------------------------------------------------------------


@dataclass
class Cat:
    """A cat."""

    kind: Literal["cat"]
    toy: "Toy | None" = None


@dataclass
class Dog:
    """A dog."""

    kind: Literal["dog"]


@dataclass
class Toy:
    """A toy."""

    shape: str
    parts: "list[Ball | Rod]" = field(default_factory=list)


@dataclass
class Ball:
    """A ball."""

    round: Literal[True]


@dataclass
class Rod:
    """A rod."""

    long: Literal[True]


def test_what_is_wrong_in_a_member_of_a_union_names_the_member():
    made = make_dataclass(
        "Input", [("pet", Annotated[Cat | Dog, "Which."]), ("toy", Annotated[Toy, "To play."])]
    )
    findings = lint([tool_input(made, name="do_it", description="Do it well.")])
    assert [(".".join(finding.path), finding.message) for finding in findings] == [
        ("pet.kind", "it has no description (in Cat)"),
        ("pet.toy", "it has no description (in Cat)"),
        ("pet.toy.shape", "it has no description (in Cat)"),
        ("pet.toy.parts", "it has no description (in Cat)"),
        ("pet.toy.parts.*.round", "it has no description (in Ball)"),
        ("pet.toy.parts.*.long", "it has no description (in Rod)"),
        ("pet.kind", "it has no description (in Dog)"),
        ("toy.shape", "it has no description"),
        ("toy.parts", "it has no description"),
        ("toy.parts.*.round", "it has no description (in Ball)"),
        ("toy.parts.*.long", "it has no description (in Rod)"),
    ]


def test_good_tools_have_nothing_wrong():
    @tool
    def search_orders(customer: str, since: date, limit: int = 20) -> list[str]:
        """Find the orders of one customer, the newest first.

        Args:
            customer: Mail address, as in the account.
            since: The first day to look at.
            limit: How many orders to return at most.
        """
        return [f"{customer} {since} {limit}"]

    @tool(destructive=True, confirm=True)
    def delete_order(number: str, notify: bool = True) -> str:
        """Cancel an order that hasn't been sent, for good.

        Args:
            number: As search_orders returns it.
            notify: Whether the customer gets a mail.
        """
        return f"{number} {notify}"

    @tool
    def track(number: str, timeout: float = 5) -> str:
        """Tell where the parcel of an order is.

        Args:
            number: As search_orders returns it.
            timeout: Seconds to wait for the carrier.
        """
        return f"{number} {timeout}"

    @tool
    def save(file: Path, state: Literal["draft", "final"]) -> str:
        """Write the list of orders into a file.

        Args:
            file: Below the folder of the project.
            state: "draft" may be overwritten, "final" may not.
        """
        return f"{file} {state}"

    assert lint([search_orders, delete_order, track, save]) == []
