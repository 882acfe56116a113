"""The page of a replay: what stands in its plots and tables, and that nothing in it is run or loaded."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import tool
from operator_schema.workbench.compare.recorded_calls import RecordedCall
from operator_schema.workbench.compare.replay import Replay
from operator_schema.workbench.compare.replay_report import replay_page

EVIL = """</code></svg><script>alert(1)</script><img src=x onerror=alert(1)>'" \x1b[31m\u202e &amp;"""
KNOWN = {
    *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "table", "thead", "tbody"),
    *("tr", "th", "td", "code", "svg", "rect", "text"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "class", "scope", "viewbox", "role", "aria-label"),
    *("aria-hidden", "x", "y", "width", "height", "text-anchor"),
}


class Read(HTMLParser):
    """Elements of a page, as a browser reads them, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.names, self.text, self.open = [], set(), [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.names.add(tag)
        if tag not in {"meta", "rect"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.names.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    @property
    def whole_text(self):
        return "".join(self.text)


@tool
def refund(order: int, note: str = "") -> str:
    """Pay back."""
    return f"{order} {note}"


def replayed(*calls, tools=(refund,)):
    found = Replay(tools)
    for name, arguments in calls:
        found.add(RecordedCall(name, arguments))
    return found


def checked(page):
    """Return a page as it is read, if it is whole and has nothing that a browser runs or loads."""
    read = Read(page)
    assert read.open == []
    assert read.names <= KNOWN
    assert {name for _, attributes in read.tags for name in attributes} <= ATTRIBUTES
    return read


def test_the_plots_and_tables_say_what_the_report_says():
    found = replayed(
        ("refund", {"order": 1}),
        ("refund", {"order": "2"}),
        ("refund", {"order": "x"}),
        ("refund", {"order": "y", "colour": 1}),
        ("refund", {"order": 1, "colour": 1}),
        ("gone", {}),
    )
    read = checked(replay_page(found.as_dict(), "calls → tools"))
    bars = [attributes for tag, attributes in read.tags if tag == "rect"]
    widths = {
        attributes["class"]: float(attributes["width"]) for attributes in bars if attributes["height"] == "18"
    }
    assert widths["repaired"] * 2 == pytest.approx(widths["fits"], abs=0.2)
    assert "2 / 1 / 2" in read.text
    assert "wrong type" in read.text
    assert '{"order":"2"}' in read.text
    assert any("order: expected integer" in text for text in read.text)


ARGUMENTS = st.dictionaries(st.sampled_from(["order", "note", "Order", "x"]), st.sampled_from([1, "1", None]))


@given(st.lists(st.tuples(st.sampled_from(["refund", "again"]), ARGUMENTS), max_size=8))
def test_each_set_of_problems_has_one_example_and_each_problem_one_line(calls):
    report = replayed(*calls, tools=[refund, refund.with_(name="again")]).as_dict()
    faults = [(name, fault) for name, each in report["tools"].items() for fault in each["faults"]]
    examples = {(name, fault["arguments"], fault["text"]) for name, fault in faults}
    text = checked(replay_page(report, "x")).whole_text.partition("Examples")[2]
    assert len(re.findall("refund expects|again expects", text)) == len(examples)
    lines = [
        f"{fault['path']}: {fault['code'].replace('_', ' ')} in {fault['calls']} call" for _, fault in faults
    ]
    assert all(text.count(line) >= lines.count(line) for line in lines)


def test_hostile_arguments_names_and_places_are_text():
    found = replayed(
        (EVIL, {}),
        ("refund", {"order": EVIL, EVIL: 1}),
        ("refund", {"order": 1, EVIL: 1}),
    )
    found.add_unreadable(EVIL, EVIL)
    read = checked(replay_page(found.as_dict(), EVIL))
    assert "alert(1)" in read.whole_text
    assert "\x1b" not in read.whole_text
    assert "\u202e" not in read.whole_text


@given(st.text(max_size=50), st.text(max_size=50))
def test_whatever_was_sent_the_page_is_whole(name, value):
    found = replayed((name, value), ("refund", {"order": value, name: value}))
    checked(replay_page(found.as_dict(), value))


def test_a_page_of_calls_of_which_nothing_is_known():
    checked(replay_page(replayed(("refund", "[redacted]")).as_dict(), "x"))


def test_a_page_allows_its_own_style_and_nothing_else():
    page = replay_page(replayed(("refund", {"order": 1})).as_dict(), "x")
    style = re.search("<style>(.*?)</style>", page, re.DOTALL).group(1)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}'" in page
    assert "prefers-color-scheme: dark" in style


def test_a_page_has_a_maximum_size():
    tools = [refund.with_(name=f"refund_{number}") for number in range(300)]
    calls = [(one.name, {"order": "x" * 10_000, f"key_{number}" * 30: 1}) for number, one in enumerate(tools)]
    page = replay_page(replayed(*calls, tools=tools).as_dict(), "x" * 200)
    checked(page)
    assert "270 more have fewer." in page
    assert "100 more are in the JSON report." in page
    assert len(page) < 1_000_000


def test_a_report_without_calls_has_no_plots():
    assert checked(replay_page(replayed().as_dict(), "nothing")).names.isdisjoint({"svg", "table"})
