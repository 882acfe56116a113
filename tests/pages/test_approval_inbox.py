"""The example of a page of approvals: lists, filters and decisions, by people who can't run a tool."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest

from operator_schema import Executor, RawCall, Toolset, tool
from operator_schema.rounds import SqliteStore
from operator_schema.tools import document_tool

pytest.importorskip("starlette", reason="the page needs starlette")
pytestmark = pytest.mark.needs_threads

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "approval_inbox"
SECRET = b"sixteen bytes or more"
PAID = []


@tool(confirm=True)
def refund(order: str, amount: int, why: str = "none") -> str:
    """Pay money back."""
    PAID.append(amount)
    return f"paid {amount} for {order}: {why}"


@tool(confirm=True)
def close_account(name: str) -> str:
    """Close an account."""
    return f"{name} is closed"


desk = Toolset(refund, close_account)


def not_here(**_):
    raise RuntimeError


definitions = Toolset(
    *[
        document_tool(not_here, one.input_schema(), name=one.name, description=one.description)
        for one in (refund, close_account)
    ]
)


class Browser:
    """What a browser sends to the page, and what comes back."""

    def __init__(self, app):
        self.app = app

    def __call__(self, address, form=None, **headers):
        return asyncio.run(self.asked(address, form, headers))

    async def asked(self, address, form, headers):
        path, _, query = address.partition("?")
        sent = {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}
        scope = {
            "type": "http",
            "method": "GET" if form is None else "POST",
            "path": path,
            "query_string": query.encode(),
            "headers": [(b"host", b"desk"), *sent.items()],
        }
        body, answer = urlencode(form or {}).encode(), []

        async def receive():
            return {"type": "http.request", "body": body}

        async def send(message):
            answer.append(message)

        await self.app(scope, receive, send)
        text = b"".join([message.get("body", b"") for message in answer]).decode()
        found = {name.decode(): value.decode() for name, value in answer[0]["headers"]}
        return answer[0]["status"], found, text


@pytest.fixture
def module():
    sys.path.insert(0, str(EXAMPLE))
    try:
        import inbox

        yield inbox
    finally:
        sys.path.remove(str(EXAMPLE))
        sys.modules.pop("inbox", None)


@pytest.fixture
def store(tmp_path):
    PAID.clear()
    return SqliteStore(tmp_path / "desk.db", secret=SECRET)


@pytest.fixture
def browse(module, tmp_path):
    """Open the page in a browser: it has a store of its own, and definitions in place of the tools."""
    return Browser(module.inbox(SqliteStore(tmp_path / "desk.db", secret=SECRET), definitions))


def wait(store, call, customer="customer 7"):
    work = desk.offer().round([RawCall("call_1", *call)], conversation=customer)
    return Executor(desk, store=store).run_sync(work)


def fields(text):
    """Return what a form sends."""
    return dict(re.findall(r'type="hidden"\s+name="(\w+)" value="(\d+)"', text))


REFUND = ("refund", {"order": "A7", "amount": 6})


def test_the_page_has_at_most_80_lines():
    assert len((EXAMPLE / "inbox.py").read_text(encoding="utf-8").splitlines()) <= 80


def test_people_decide_and_a_worker_goes_on(store, browse):
    work, other = wait(store, REFUND), wait(store, ("close_account", {"name": "Ann"}))
    status, _, listed = browse("/")
    assert (status, "2 rounds wait" in listed, "customer 7" in listed) == (200, True, True)
    shown = browse(f"/round?id={work.id}")[2]
    assert "order: &quot;A7&quot;\namount: 6\nwhy: &quot;none&quot;" in shown
    form = {**fields(shown), "do": "approve", "by": "anna", "words": "order checked"}
    assert browse(f"/round?id={work.id}", form)[0] == 303
    rejected = {**fields(browse(f"/round?id={other.id}")[2]), "do": "reject", "by": "ben", "words": ""}
    assert browse(f"/round?id={other.id}", rejected)[0] == 303
    assert PAID == []  # the page runs nothing
    (pending,) = store.waiting(state="pending")
    done = Executor(desk, store=store).run_sync(store.load(pending.id, desk))
    (record,) = done.calls[0].decisions
    assert (PAID, record.kind, record.by, record.words) == ([6], "approve", "anna", "order checked")
    (refused,) = store.load(other.id, desk).calls
    assert (refused.state, refused.decisions[0].by) == ("rejected", "ben")
    assert "0 rounds wait" in browse("/")[2]


def test_a_call_is_the_one_that_was_shown_whatever_the_ids_are(store, browse):
    work = desk.offer().round([RawCall(call_id, *REFUND) for call_id in "10"])
    work = Executor(desk, store=store).run_sync(work)
    shown = browse(f"/round?id={work.id}")[2]
    form = {**fields(shown.split("</form>")[0]), "do": "reject", "by": "anna", "words": ""}
    assert browse(f"/round?id={work.id}", form)[0] == 303
    assert [call.state for call in store.load(work.id, desk).calls] == ["rejected", "deferred"]


def test_a_second_click_and_an_old_form_change_nothing(store, browse):
    work = wait(store, REFUND)
    form = {**fields(browse(f"/round?id={work.id}")[2]), "do": "approve", "by": "anna", "words": ""}
    assert browse(f"/round?id={work.id}", form)[0] == 303
    status, _, text = browse(f"/round?id={work.id}", {**form, "do": "reject", "by": "ben"})
    assert (status, "Look at the call again" in text) == (409, True)
    assert [one.by for one in store.load(work.id, desk).calls[0].decisions] == ["anna"]


def test_a_form_of_another_site_decides_nothing(store, browse):
    work = wait(store, REFUND)
    form = {**fields(browse(f"/round?id={work.id}")[2]), "do": "approve", "by": "anna", "words": ""}
    for site in ("cross-site", "same-site"):
        assert browse(f"/round?id={work.id}", form, sec_fetch_site=site)[0] == 403
    assert store.load(work.id, desk).deferred
    assert browse(f"/round?id={work.id}", form, sec_fetch_site="same-origin")[0] == 303


def test_filters_and_pages(store, browse, module, monkeypatch):
    monkeypatch.setattr(module, "PAGE", 2)
    works = [wait(store, REFUND, f"customer {number}") for number in range(5)]
    wait(store, ("close_account", {"name": "Ann"}), "a & b")

    def listed(address):
        text = browse(address)[2]
        return re.findall(r"/round\?id=(\w+)", text), re.findall(r'<a href="([^"]+)">more', text)

    seen, more = [], ["/?tool=refund"]
    while more:
        ids, more = listed(more[0].replace("&amp;", "&"))
        assert len(ids) <= 2
        seen += ids
    assert seen == [work.id for work in works]
    assert listed("/?conversation=customer+3") == ([works[3].id], [])
    assert len(listed("/?" + urlencode({"conversation": "a & b"}))[0]) == 1
    assert listed("/?older_than=86400") == ([], [])


WRONG = ["/round?id=nobody", "/round", "/?older_than=soon", "/?after=x"]


@pytest.mark.parametrize("address", WRONG)
def test_what_can_not_be_done_is_said(store, browse, address):
    wait(store, REFUND)
    assert browse(address)[0] == 409


APPROVED = {"revision": "2", "do": "approve", "by": "anna", "words": ""}


@pytest.mark.parametrize(
    "form",
    [
        *({}, {"revision": "2"}, {"revision": "2", "do": "drop"}),
        *({**APPROVED, "call": "1"}, {**APPROVED, "call": "x"}),
    ],
)
def test_a_form_without_its_fields_decides_nothing(store, browse, form):
    work = wait(store, REFUND)
    form = {"call": "0", **form} if form else form
    assert browse(f"/round?id={work.id}", form)[0] == 409
    assert store.load(work.id, desk).deferred


def test_no_text_becomes_a_part_of_the_page(store, browse):
    nasty = "<script>alert(1)</script>\"'><img src=x onerror=y> {name} {0} \x1b"
    work = wait(store, ("refund", {"order": nasty, "amount": 6, "why": nasty}), nasty)
    pages = [browse("/"), browse(f"/round?id={work.id}"), browse("/?" + urlencode({"tool": nasty}))]
    form = {**fields(pages[1][2]), "do": "approve", "by": "", "words": nasty}
    pages.append(browse(f"/round?id={work.id}", form))
    for status, headers, text in pages:
        assert status in {200, 409}
        assert "<script" not in text
        assert "<img" not in text
        assert "default-src 'none'" in headers["content-security-policy"]
