"""The page over HTTP, from a real server: who may ask, and what comes back."""

from __future__ import annotations

import json
import re
import socket
import threading

import help_desk
import pytest
from patience import LONGEST_WAIT

from operator_schema import Executor, RawCall, tool
from operator_schema.rounds import SqliteStore
from operator_schema.workbench.inspector import Inspector, app, page_guard, subject_of
from operator_schema.workbench.inspector.tried_calls import TriedCalls

pytestmark = pytest.mark.needs_threads


def status(page, method="GET", path="/api/state", body=None, **headers):
    return page.ask(method, path, body, **headers)[0]


def test_the_page_comes_with_its_files_and_headers(one_page):
    code, headers, _ = one_page.ask("GET", "/")
    assert (code, headers["content-type"]) == (200, "text/html; charset=utf-8")
    for name in app.FILES:
        code, found, _ = one_page.ask("GET", f"/page/{name}")
        assert code == 200
        assert found["content-type"].partition(";")[0] == app.FILES[name]
    policy = headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_the_page_runs_nothing_but_its_own_files():
    from importlib.resources import files

    folder = files("operator_schema.workbench.inspector").joinpath("page")
    names = {one.name for one in folder.iterdir()}
    assert names == {*app.FILES, "index.html"}
    html = folder.joinpath("index.html").read_text(encoding="utf-8")
    assert "<script>" not in html
    assert "style=" not in html
    assert re.search(r"\son\w+=", html) is None
    for name in names:
        text = folder.joinpath(name).read_text(encoding="utf-8")
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text
        for evil in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "DOMParser"):
            assert evil not in text, name


# --- who may ask ----------------------------------------------------------------------------------


def test_the_address_gives_a_cookie_of_this_port_alone(one_page):
    _, headers, _ = one_page.ask("GET", f"/?token={one_page.token}", cookie=None)
    cookie = headers["set-cookie"]
    assert cookie.startswith(f"inspector_{one_page.port}=")
    assert cookie.endswith("; Path=/; HttpOnly; SameSite=Strict")
    assert one_page.token not in cookie
    assert "set-cookie" not in one_page.ask("GET", "/api/state")[1]


WRONG_TOKENS = ["", "token=", "token=x", "token={}x", "token={}&token={}", "tok={}", "a" * 9000]


@pytest.mark.parametrize("query", WRONG_TOKENS, ids=lambda query: query[:20])
def test_nobody_comes_without_the_token(one_page, query):
    code, headers, text = one_page.ask("GET", f"/?{query.replace('{}', one_page.token)}", cookie=None)
    assert code == 401
    assert "set-cookie" not in headers
    assert "token" in text


NOT_THE_PAGE = ["/api/state", "/api/tool", "/page/main.js", "/page/../subject.py", "/nothing"]


@pytest.mark.parametrize("path", NOT_THE_PAGE)
def test_a_token_is_for_the_page_alone(one_page, path):
    assert status(one_page, path=f"{path}?token={one_page.token}", cookie=None) == 401


COOKIES = [
    *(None, "", "x=y", "\x7f", "[;="),
    *("inspector_{port}=", "inspector_{port}={token}", "inspector_1={own}"),
]


@pytest.mark.parametrize("cookie", COOKIES)
def test_other_cookies_open_nothing(one_page, cookie):
    own = one_page.cookie.partition("=")[2]
    given = cookie and cookie.format(port=one_page.port, token=one_page.token, own=own)
    assert status(one_page, cookie=given) == 401


HOSTS = [
    *("", "127.0.0.1", "127.0.0.1:1", "[::1]:{}"),
    *("evil.example", "evil.example:{}", "localhost.evil:{}"),
]


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused(one_page, host):
    assert status(one_page, Host=host.format(one_page.port)) == 421
    code, headers, _ = one_page.ask(
        "GET", f"/?token={one_page.token}", cookie=None, Host=host.format(one_page.port)
    )
    assert code == 421
    assert "set-cookie" not in headers


def test_two_hosts_are_refused(one_page):
    with socket.create_connection(("127.0.0.1", one_page.port), timeout=LONGEST_WAIT) as connection:
        own = f"Host: 127.0.0.1:{one_page.port}\r\n"
        connection.sendall(f"GET / HTTP/1.1\r\n{own}{own}Connection: close\r\n\r\n".encode())
        assert connection.recv(100).split()[1] in {b"400", b"421"}


ORIGINS = [
    *("http://evil.example", "null", "file://", "http://localhost:{}"),
    *("https://127.0.0.1:{}", "http://127.0.0.1", "http://127.0.0.1:1"),
]


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_another_origin_is_refused(one_page, origin, method):
    body = None if method == "GET" else "{}"
    path = "/api/state" if method == "GET" else "/api/run"
    assert status(one_page, method, path, body, Origin=origin.format(one_page.port)) == 403


def test_its_own_origin_may_ask(one_page):
    assert status(one_page, Origin=f"http://127.0.0.1:{one_page.port}") == 200
    local = f"localhost:{one_page.port}"
    assert status(one_page, Host=local, Origin=f"http://{local}") == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_of_other_pages_are_refused(one_page, site):
    assert status(one_page, Sec_Fetch_Site=site) == 403
    assert status(one_page, "GET", "/", Sec_Fetch_Site=site) == 403
    assert status(one_page, Sec_Fetch_Site="same-origin") == 200


KINDS = ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_form_of_another_page_could_send_is_refused(one_page, kind):
    assert status(one_page, "POST", "/api/run", "{}", Content_Type=kind) == 415


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH"])
def test_other_methods_do_nothing(one_page, method):
    assert status(one_page, method, "/api/run", "{}") == 405
    assert status(one_page, method, "/api/run", "{}", cookie=None) == 401


def test_a_huge_body_is_refused(one_page):
    assert status(one_page, "POST", "/api/read", "x" * (page_guard.LARGEST_BODY + 1)) == 413
    long = json.dumps({"tool": "find_articles", "arguments": "x" * 1_000_001})
    assert status(one_page, "POST", "/api/read", long) == 400


def test_a_body_that_never_comes_is_not_waited_for(page, monkeypatch):
    monkeypatch.setattr(page_guard, "_SECONDS_FOR_BODY", 0.2)
    head = f"POST /api/read HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nCookie: {page.cookie}\r\n"
    with socket.create_connection(("127.0.0.1", page.port), timeout=LONGEST_WAIT) as connection:
        connection.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 9\r\n\r\nx".encode())
        assert connection.recv(100).split()[1] == b"408"


def test_it_listens_on_this_machine_alone(one_page):
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in others - {"127.0.0.1"}:
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((address, one_page.port), timeout=1).close()


# --- what comes back ------------------------------------------------------------------------------


def test_the_state(one_page):
    found = one_page.get("state")
    assert (found["version"], found["problem"], found["name"]) == (1, None, "help_desk:toolset")
    assert (found["waiting"], found["recorded"], found["tried"]) == (None, None, 0)


def test_tools_as_a_provider_gets_them(one_page):
    assert one_page.get("catalogue?provider=gemini&strict=1")["provider"]["name"] == "Gemini"
    assert one_page.get("tool?name=refund&provider=gemini")["sent"]["provider"] == "Gemini"
    assert "did you mean refund" in one_page.get("tool?name=refnd", 404)["problem"]
    assert "did you mean gemini" in one_page.get("catalogue?provider=gemin", 404)["problem"]
    one_page.get("tool", 404)


def test_a_call_is_read_also_as_a_stream_and_repaired_on_request(one_page):
    sent = {"tool": "export", "arguments": '{"rows": "3"}'}
    assert not one_page.post("read", sent)["fits"]
    assert one_page.post("read", {**sent, "repair": True})["arguments"] == {"rows": 3}
    assert one_page.post("stream", {**sent, "size": 2})["steps"]
    one_page.post("stream", {**sent, "size": 0}, 400)
    assert "arguments: missing" in one_page.post("read", {"tool": "export"}, 400)["problem"]
    one_page.post("read", {"tool": "expo", "arguments": ""}, 404)
    assert one_page.ask("POST", "/api/read", "{")[0] == 400


def test_a_call_runs_and_tells_what_happens(one_page):
    events = one_page.run({"tool": "export", "arguments": '{"rows": 2}'})
    assert [event["progress"]["message"] for event in events if "progress" in event] == ["row 1", "row 2"]
    assert events[-1]["done"]["result"]["parts"][1]["kind"] == "image"
    assert len(events) == 3


def test_a_dangerous_call_needs_its_own_agreement(page):
    call = {"tool": "refund", "arguments": '{"order_id": 1, "amount": 2}'}
    asked = page.run(call)[-1]["done"]
    assert asked["question"].startswith("Run refund?")
    assert help_desk.PAID == []
    other = {**call, "arguments": '{"order_id": 1, "amount": 2000}', "agreement": asked["agreement"]}
    assert "question" in page.run(other)[-1]["done"]
    assert "question" in page.run({**call, "agreement": "yes"})[-1]["done"]
    assert help_desk.PAID == []
    agreed = {**call, "agreement": asked["agreement"]}
    assert page.run(agreed)[-1]["done"]["result"]["content"] == "paid 2 for order 1: goodwill"
    assert "question" in page.run(agreed)[-1]["done"]  # a second click
    assert len(help_desk.PAID) == 1


def test_an_agreement_ends_when_the_tools_change(serve, subject):
    inspector = Inspector(subject)
    page = serve(inspector)
    call = {"tool": "refund", "arguments": '{"order_id": 1, "amount": 2}'}
    agreement = page.run(call)[-1]["done"]["agreement"]
    inspector.replace(subject)
    assert "question" in page.run({**call, "agreement": agreement})[-1]["done"]
    assert page.get("state")["version"] == 2


def test_leaving_the_page_cancels_the_call(serve):
    began, ended = threading.Event(), threading.Event()

    @tool(timeout=60)
    async def wait() -> None:
        """Wait."""
        import asyncio

        began.set()
        try:
            await asyncio.sleep(50)
        finally:
            ended.set()

    page = serve(Inspector(subject_of("x", [wait])))
    body = b'{"tool": "wait", "arguments": "{}"}'
    head = f"POST /api/run HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nCookie: {page.cookie}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", page.port), timeout=LONGEST_WAIT) as connection:
        connection.sendall(head.encode() + body)
        assert began.wait(LONGEST_WAIT)
    assert ended.wait(LONGEST_WAIT)


def test_an_exception_that_an_executor_passes_on_is_told(serve):
    @tool
    def fail() -> None:
        """Fail."""
        message = "by itself"
        raise LookupError(message)

    page = serve(Inspector(subject_of("x", Executor([fail], pass_through=[LookupError]))))
    (event,) = page.run({"tool": "fail", "arguments": "{}"})
    assert event == {"done": {"problem": "LookupError: by itself"}}


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u2028\ud800\x00"


def test_hostile_texts_are_data(serve):
    def evil():
        return HOSTILE.replace("\ud800", "")

    made = tool(name="evil", description=HOSTILE)(evil)
    page = serve(Inspector(subject_of(HOSTILE, [made])))
    code, headers, text = page.ask("GET", "/api/tool?name=evil")
    assert (code, headers["content-type"]) == (200, "application/json")
    assert json.loads(text)["description"].startswith("</script><script>alert(1)")
    assert "alert" not in page.ask("GET", "/")[2]
    (event,) = page.run({"tool": "evil", "arguments": "{}"})
    assert event["done"]["result"]["content"].startswith("</script>")


def test_numbers_that_are_no_json_can_be_shown(serve, subject, tmp_path):
    tried = tmp_path / "tried.jsonl"
    tried.write_text('{"name": "export", "arguments": "{}", "outcome": {"arguments": {"a": Infinity}}}\n')
    page = serve(Inspector(subject, tried=TriedCalls(tried)))
    assert page.get("tried")["calls"][0]["before"] == {"arguments": {"a": "Infinity"}}


def test_tried_calls(page):
    kept = page.post("tried/keep", {"tool": "export", "arguments": "{}"})
    assert kept["summary"] == "0 of 1 read differently now"
    assert page.get("tried") == kept
    assert page.get("state")["tried"] == 1
    assert page.post("tried/accept", {})["changed"] == 0
    assert page.post("tried/forget", {"index": 0})["calls"] == []


def test_a_file_that_can_not_be_written_is_told(serve, subject, tmp_path):
    folder = tmp_path / "none"
    folder.mkdir()
    page = serve(Inspector(subject, tried=TriedCalls(folder / "tried.jsonl")))
    folder.rmdir()
    assert "can't be done" in page.post("tried/keep", {"tool": "export", "arguments": "{}"}, 409)["problem"]


def test_a_log_is_read_anew_each_time(serve, subject, tmp_path, page):
    assert "--calls" in page.get("recorded", 404)["problem"]
    path = tmp_path / "calls.jsonl"
    path.write_text('{"name": "refund", "arguments": {}}\n')
    served = serve(Inspector(subject, recorded=path))
    assert served.get("state")["recorded"] == "calls.jsonl"
    assert served.get("recorded")["counts"]["failing"] == 1
    path.write_text("")
    assert served.get("recorded")["counts"]["failing"] == 0
    path.unlink()
    assert "can't be done" in served.get("recorded", 409)["problem"]


def test_an_answer_is_taken_apart(one_page):
    found = one_page.post("paste", {"text": '{"name": "export", "arguments": {"rows": 1}}'})
    assert found["calls"][0]["reading"]["fits"]
    assert "no provider reads this" in one_page.post("paste", {"text": "x"}, 409)["problem"]
    one_page.post("paste", {"text": "x", "provider": "nobody"}, 404)


def test_a_waiting_call_is_approved_and_runs_at_the_second_click(serve, subject, tmp_path, page):
    assert "--store" in page.get("waiting", 404)["problem"]
    store = SqliteStore(tmp_path / "desk.db")
    executor = Executor(help_desk.toolset, store=store)
    call = RawCall("1", "refund", {"order_id": 1, "amount": 3})
    work = executor.run_sync(help_desk.toolset.offer().round([call]))
    served = serve(Inspector(subject, store=store))
    assert served.get("state")["waiting"] == 1
    (shown,) = served.get("waiting")["rounds"]
    assert shown["calls"][0]["state"] == "deferred"
    assert "no approved call" in served.post("waiting/run", {"round_id": work.id}, 409)["problem"]
    seen = shown["calls"][0]["seen"]
    decision = {"round_id": work.id, "call": 0, "seen": seen, "action": "approve"}
    assert "isn't as it was shown" in served.post("waiting/decide", {**decision, "seen": ""}, 409)["problem"]
    assert served.post("waiting/decide", decision)["pending"] == 1
    asked = served.post("waiting/run", {"round_id": work.id})
    assert asked["question"].startswith("Run refund?")
    assert help_desk.PAID == []
    done = served.post("waiting/run", {"round_id": work.id, "agreement": asked["agreement"]})
    assert done["is_complete"]
    assert len(help_desk.PAID) == 1
    served.post("waiting/run", {"round_id": work.id, "agreement": asked["agreement"]}, 409)
    served.post("waiting/decide", {**decision, "action": "eat"}, 400)
    served.post("waiting/decide", {**decision, "round_id": "x"}, 409)


def test_a_store_that_is_damaged_meanwhile_is_told(serve, subject, tmp_path):
    store = SqliteStore(tmp_path / "desk.db")
    store.save(help_desk.toolset.offer().round([RawCall("c1", "refund", {"order_id": 1, "amount": "1"})]))
    served = serve(Inspector(subject, store=store))
    with store.database.transaction(writes=True) as db:
        db.execute("UPDATE rounds SET shown = '5'")
    assert "can't be done" in served.get("waiting", 409)["problem"]


def test_a_slow_question_keeps_nobody_waiting(serve):
    """A type whose decoding takes long runs in a thread of its own."""
    from dataclasses import dataclass

    @dataclass
    class Slow:
        """Slow to make."""

        size: int

        def __post_init__(self):
            made_after.append(is_answered.wait(LONGEST_WAIT))

    is_answered, made_after = threading.Event(), []

    @tool
    def slowly(value: Slow) -> None:
        """Take it."""

    page = serve(Inspector(subject_of("x", [slowly])))
    reading = threading.Thread(
        target=page.post, args=("read", {"tool": "slowly", "arguments": '{"size": 1}'})
    )
    reading.start()
    page.get("state")
    is_answered.set()
    reading.join()
    assert made_after
    assert all(made_after)
