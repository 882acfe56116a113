"""The example of a page of approvals in Chromium, as people decide there; part of `make test-browser`.

Screenshots go to `build/inspector/`.
"""

from __future__ import annotations

import socket
import sys
import threading
from pathlib import Path

import help_desk
import pytest
import uvicorn
from patience import LONGEST_WAIT
from playwright.sync_api import expect
from test_in_browser import AXE, SHOTS, said_of

from operator_schema import Executor, RawCall
from operator_schema.rounds import SqliteStore

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "approval_inbox"
NASTY = "<script>document.title = 'changed'</script><img src=x onerror=alert(1)>"


@pytest.fixture
def store(tmp_path):
    help_desk.PAID.clear()
    return SqliteStore(tmp_path / "desk.db")


@pytest.fixture
def address(store, monkeypatch):
    """Serve the page with a real server, and yield its address."""
    monkeypatch.syspath_prepend(EXAMPLE)
    import inbox

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(inbox.inbox(store, help_desk.toolset), log_level="error"))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server.should_exit = True
        thread.join(LONGEST_WAIT)
    sys.modules.pop("inbox", None)


@pytest.fixture
def opened(chromium, address):
    """Open the page in tabs of one browser; whatever goes wrong in them fails the test."""
    problems = []
    context = chromium.new_context(viewport={"width": 1280, "height": 800})

    def tab():
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.extend(said_of(message)))
        page.on("dialog", lambda dialog: (problems.append("a dialog"), dialog.dismiss()))
        page.goto(address)
        return page

    yield tab
    context.close()
    assert problems == []


def wait(store, *calls, customer="customer 7"):
    raw = [RawCall(f"{number}", *call) for number, call in enumerate(calls)]
    work = help_desk.toolset.offer().round(raw, conversation=customer)
    return Executor(help_desk.toolset, store=store).run_sync(work)


def refund(amount, order_id=1):
    return "refund", {"order_id": order_id, "amount": amount}


def look_at(page):
    """Open the first round of the list."""
    page.get_by_role("row").nth(1).get_by_role("link").click()
    expect(page.get_by_role("heading", name="Decide")).to_be_visible()


def decide(page, button, by="anna", words="", form=0):
    page.get_by_label("Your name").nth(form).fill(by)
    page.get_by_label("What you say of it").nth(form).fill(words)
    page.get_by_role("button", name=button).nth(form).click()


def test_a_person_finds_a_call_and_approves_it(store, opened):
    wait(store, refund("1.50"), customer="customer 6")
    work = wait(store, refund("2.50"), refund("3.50", order_id=2))
    page = opened()
    expect(page.get_by_role("heading", name="2 rounds wait")).to_be_visible()
    page.get_by_label("conversation").fill("customer 7")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_role("row")).to_have_count(2)
    page.screenshot(path=SHOTS / "inbox.png")
    look_at(page)
    expect(page.get_by_text('amount: "3.50"')).to_be_visible()
    page.screenshot(path=SHOTS / "inbox-round.png")
    decide(page, "Approve", words="order checked", form=1)
    expect(page.get_by_role("heading", name="2 rounds wait")).to_be_visible()
    first, second = store.load(work.id, help_desk.toolset).calls
    assert (first.state, second.state) == ("deferred", "pending")
    assert [(one.kind, one.by, one.words) for one in second.decisions] == [
        ("approve", "anna", "order checked")
    ]
    look_at(page)
    decide(page, "Reject", by="ben")
    expect(page.get_by_role("heading", name="1 rounds wait")).to_be_visible()
    assert help_desk.PAID == []  # nothing runs where people decide
    assert [one.conversation for one in store.waiting(state="complete")] == ["customer 6"]


def test_a_decision_needs_a_name_and_what_the_person_saw(store, opened):
    work = wait(store, refund("1.50"))
    first, second = opened(), opened()
    for page in (first, second):
        look_at(page)
    first.get_by_role("button", name="Approve").click()  # the browser asks for a name
    expect(first.get_by_label("Your name")).to_be_focused()
    assert store.load(work.id, help_desk.toolset).deferred
    decide(first, "Approve")
    expect(first.get_by_role("heading", name="0 rounds wait")).to_be_visible()
    decide(second, "Reject", by="ben")
    expect(second.get_by_role("heading", name="Somebody was faster")).to_be_visible()
    first.go_back()  # the form isn't kept, so nobody sends it twice
    expect(first.get_by_text("Nothing waits here.")).to_be_visible()
    assert [one.by for one in store.load(work.id, help_desk.toolset).calls[0].decisions] == ["anna"]


def test_no_text_of_a_model_becomes_a_part_of_the_page(store, opened):
    wait(store, ("refund", {"order_id": 1, "amount": "1.50", "reason": NASTY}), customer=NASTY)
    page = opened()
    expect(page.get_by_role("cell", name=NASTY)).to_be_visible()
    look_at(page)
    assert (page.title(), page.locator("img").count(), page.locator("script").count()) == ("Decide", 0, 0)


def test_axe_finds_nothing(store, opened):
    for number in range(51):
        wait(store, refund("1.50", order_id=number))
    page = opened()
    expect(page.get_by_role("link", name="more")).to_be_visible()
    faults_of(page)
    page.get_by_role("link", name="more").click()
    expect(page.get_by_role("row")).to_have_count(2)
    look_at(page)
    faults_of(page)


def faults_of(page):
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
