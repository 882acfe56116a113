"""Which HTTP requests the guard of a server lets through, asked without a network."""

from __future__ import annotations

import asyncio
import os

import pytest

from operator_schema.adapters.mcp import http_guard
from operator_schema.adapters.mcp.http import Address
from operator_schema.adapters.mcp.http_guard import HttpGuard, hosts_of, origins_behind, origins_of
from operator_schema.workbench.cli.module_loading import WrongUse
from operator_schema.workbench.cli.serve import _address, _token

HOST = (b"host", b"localhost:8000")
PAGE = (b"origin", b"https://tools.example.com")
TOKEN = (b"authorization", b"Bearer swordfish-swordfish")
PREFLIGHT = (b"access-control-request-method", b"POST")


def answered(
    *headers,
    token=None,
    method="POST",
    sent=None,
    answers_preflights=False,
    kind="http",
    client=("10.0.0.1", 5),
):
    """Return the status, the headers and the body that a request gets; the app repeats its body."""
    messages = [*(sent or [{"type": "http.request", "body": b"hello"}])]
    told = []

    async def app(_scope, receive, send):
        body = (await receive()).get("body", b"")
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    async def receive():
        if not messages:
            await asyncio.sleep(60)
        return messages.pop(0)

    async def send(message):
        told.append(message)

    guard = HttpGuard(
        app,
        frozenset({"localhost:8000"}),
        frozenset({"https://tools.example.com"}),
        token,
        answers_preflights=answers_preflights,
    )
    scope = {"type": kind, "method": method, "headers": list(headers), "client": client}
    asyncio.run(guard(scope, receive, send))
    start, body = told
    return start["status"], dict(start["headers"]), body["body"]


def status(*headers, **options):
    return answered(*headers, **options)[0]


def test_what_is_allowed_reaches_the_app_with_its_whole_body():
    parts = [
        {"type": "http.request", "body": b"hel", "more_body": True},
        {"type": "http.request", "more_body": True},
        {"type": "http.request", "body": b"lo", "more_body": False},
    ]
    assert answered(HOST, PAGE, sent=parts) == (200, {}, b"hello")
    assert answered(HOST) == (200, {}, b"hello")
    assert answered(kind="lifespan")[0] == 200


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ([], 421),
        ([HOST, HOST], 421),
        ([(b"host", b"evil.example")], 421),
        ([(b"host", b"LocalHost:8000")], 200),
        ([HOST, (b"origin", b"https://evil.example")], 403),
        ([HOST, (b"origin", b"HTTPS://tools.example.com")], 200),
        ([HOST, PAGE, (b"origin", b"null")], 403),
    ],
)
def test_host_and_origin_are_those_of_the_server(headers, refused):
    assert status(*headers) == refused


@pytest.mark.parametrize(
    ("headers", "refused"),
    [
        ([], 401),
        ([TOKEN], 200),
        ([TOKEN, TOKEN], 401),
        ([(b"authorization", b"bearer  swordfish-swordfish ")], 200),
        ([(b"authorization", b"Basic swordfish-swordfish")], 401),
        ([(b"authorization", b"Bearer swordfish-swordfisc")], 401),
        ([(b"authorization", b"Bearer")], 401),
        ([PREFLIGHT], 401),
    ],
)
def test_a_token_is_asked_for(headers, refused):
    assert status(HOST, *headers, token="swordfish-swordfish") == refused  # noqa: S106  # it opens nothing


@pytest.mark.parametrize(
    ("headers", "method", "answers", "refused"),
    [
        ([PREFLIGHT], "OPTIONS", True, 200),
        ([PREFLIGHT], "POST", True, 401),
        ([], "OPTIONS", True, 401),
        ([PREFLIGHT], "OPTIONS", False, 401),
        ([PREFLIGHT, (b"origin", b"null")], "OPTIONS", True, 403),
    ],
)
def test_only_the_question_of_a_browser_comes_without_a_token(headers, method, answers, refused):
    token = "swordfish-swordfish"  # noqa: S105  # it opens nothing
    found = status(HOST, *headers, token=token, method=method, answers_preflights=answers)
    assert found == refused


def refusals(monkeypatch):
    monkeypatch.setattr(http_guard, "LARGEST_BODY", 5)
    monkeypatch.setattr(http_guard, "SECONDS_FOR_BODY", 0.05)
    part = {"type": "http.request", "body": b"hello", "more_body": True}
    one_more = {"type": "http.request", "body": b"!"}
    token = "swordfish-swordfish"  # noqa: S105  # it opens nothing
    return {
        200: answered(HOST),
        401: answered(HOST, token=token),
        403: answered(HOST, (b"origin", b"null")),
        408: answered(HOST, sent=[part]),
        413: answered(HOST, sent=[part, one_more]),
        421: answered(),
    }


def test_each_refusal_says_why_and_ends_the_connection(monkeypatch):
    found = refusals(monkeypatch)
    assert {wanted: got for wanted, (got, _, _) in found.items()} == {wanted: wanted for wanted in found}
    for number, reason in http_guard.REASONS.items():
        _, headers, body = found[number]
        challenge = {b"www-authenticate": b"Bearer"} if number == 401 else {}
        assert body == f"{reason}\n".encode()
        assert headers == {
            b"content-type": b"text/plain; charset=utf-8",
            b"content-length": str(len(body)).encode(),
            b"connection": b"close",
            **challenge,
        }


@pytest.mark.parametrize("sizes", [(1, 5), (5, 1), (2, 2, 2), (0, 6), (6,)])
def test_all_parts_of_a_body_count(monkeypatch, sizes):
    monkeypatch.setattr(http_guard, "LARGEST_BODY", 5)
    sent = [{"type": "http.request", "body": b"x" * size, "more_body": True} for size in sizes]
    assert status(HOST, sent=[*sent, {"type": "http.request", "more_body": False}]) == 413


def test_a_client_that_goes_early_gets_nothing_done():
    part = {"type": "http.request", "body": b"hel", "more_body": True}
    assert status(HOST, sent=[part, {"type": "http.disconnect"}]) == 408


def test_the_limits_are_those_that_the_page_names():
    assert (http_guard.LARGEST_BODY, http_guard.SECONDS_FOR_BODY) == (16 * 1024 * 1024, 30)


def test_names_become_hosts_and_origins():
    assert hosts_of(["Tools.example", "a:1"], 80) == {"tools.example", "tools.example:80", "a:1", "a:1:80"}
    assert origins_of(["Tools.example"], 80) == ["http://tools.example"]
    assert origins_of(["Tools.example"], 81) == ["http://tools.example:81"]
    assert origins_behind(["Tools.example"], 81) == [
        "http://tools.example",
        "http://tools.example:81",
        "https://tools.example",
        "https://tools.example:81",
    ]


@pytest.mark.parametrize(("client", "shown"), [(("10.0.0.1", 5), "10.0.0.1"), (None, "somebody")])
def test_a_refusal_is_logged_without_what_was_sent(caplog, client, shown):
    assert status((b"host", b"evil.example"), client=client) == 421
    (record,) = caplog.records
    assert record.getMessage() == f"a request of {shown} is refused with 421: this Host isn't served here"


def options(**given):
    return {
        "host": "127.0.0.1",
        "port": 80,
        "allow_host": (),
        "allow_origin": (),
        "no_token": False,
        "token_env": None,
        "token_file": None,
        **given,
    }


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]"])
def test_this_machine_needs_no_token(host):
    assert _address(options(host=host)) == Address(host, 80)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "tools.example"])  # noqa: S104  # nothing listens
def test_another_machine_needs_a_token_or_a_word(host, tmp_path):
    with pytest.raises(WrongUse, match="can be reached by other machines: give a token"):
        _address(options(host=host))
    assert _address(options(host=host, no_token=True)).token is None
    file = tmp_path / "token"
    file.write_text("  swordfish-swordfish\n")
    assert _address(options(host=host, token_file=str(file))).token == "swordfish-swordfish"  # noqa: S105  # it opens nothing


@pytest.mark.parametrize(
    ("token", "is_taken"),
    [("x" * 16, True), ("x" * 15, False), ("x" * 16 + " x", False), ("x\x07" * 16, False), ("ä" * 16, False)],
)
def test_a_token_is_long_and_visible(monkeypatch, token, is_taken):
    monkeypatch.setenv("TOKEN", f" {token}\n")
    if is_taken:
        assert _token(options(token_env="TOKEN")) == token  # noqa: S106  # a name
    else:
        with pytest.raises(WrongUse, match="holds no token of at least 16 visible ASCII characters"):
            _token(options(token_env="TOKEN"))  # noqa: S106  # a name
    assert "TOKEN" not in os.environ


def test_a_token_that_cant_be_had_is_said(monkeypatch, tmp_path):
    monkeypatch.delenv("TOKEN", raising=False)
    (tmp_path / "token").write_bytes(b"\xff" * 20)
    for given, said in (
        ({"token_env": "TOKEN"}, "the variable TOKEN with the token isn't set"),
        ({"token_env": "TOKEN", "token_file": "x"}, "give --token-env or --token-file, not both"),
        ({"token_file": str(tmp_path / "gone")}, "can't read a token from .*: No such file or directory"),
        ({"token_file": str(tmp_path / "token")}, "can't read a token from .*: not ASCII"),
    ):
        with pytest.raises(WrongUse, match=said):
            _token(options(**given))
