"""A page on which people decide about calls that wait. It knows the tools only by their definitions."""

from datetime import UTC, datetime
from html import escape
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from operator_schema import DecodeError, Toolset
from operator_schema.rounds import RestoreError, RoundError, Store, call_text

POLICY = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
FILTERS: dict[str, Any] = {"conversation": str, "tool": str, "older_than": float, "after": int}
LIST = "<form>{} <button>Filter</button></form><table>{}</table>"
PAGE, MORE = 50, '<tr><td><a href="/?{}">more</a>'
FIELD = '<label>{0} <input name="{0}" value="{1}"></label> '
ROW = '<tr><td>{}<td>{}<td>{}<td><a href="/round?id={}">{}</a>'
FORM = """<form method="post"><pre>{}</pre><input type="hidden" name="call" value="{}"><input type="hidden"
name="revision" value="{}"><label>Your name <input name="by" required></label> <label>What you say of it
<input name="words"></label> <button name="do" value="approve">Approve</button>
<button name="do" value="reject">Reject</button></form>"""


def page(title: str, body: str, status: int = 200) -> HTMLResponse:
    """Return a page on which no script runs."""
    head = f'<!doctype html><html lang="en"><meta charset=utf-8><title>{title}</title><main><h1>{title}</h1>'
    return HTMLResponse(head + body, status, {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"})


def filled(form: str, *values: object) -> str:
    """Return a piece of a page with texts in it, whatever they contain."""
    return form.format(*[escape(str(value)) for value in values])


def inbox(store: Store, tools: Toolset[Any]) -> Starlette:
    """Return the page. Put your login in front of it, and take the name of the person from there."""

    def waiting(request: Request) -> Response:
        asked = {name: value for name in FILTERS if (value := request.query_params.get(name))}
        given = {name: FILTERS[name](value) for name, value in asked.items()}
        found = store.waiting(state="deferred", limit=PAGE + 1, **given)
        rows = "<tr><th>since<th>conversation<th>tools<th>reason"
        for one in found[:PAGE]:
            when = f"{datetime.fromtimestamp(one.since, UTC):%Y-%m-%d %H:%M}"
            rows += filled(ROW, when, one.conversation or "", ", ".join(one.tools), one.id, one.reason)
        fields = "".join([filled(FIELD, name, asked.get(name, "")) for name in FILTERS])
        if len(found) > PAGE:
            rows += filled(MORE, urlencode({**asked, "after": found[PAGE - 1].position}))
        return page(f"{store.counts().deferred} rounds wait", LIST.format(fields, rows))

    def shown(request: Request) -> Response:
        work = store.load(request.query_params["id"], tools)
        forms = [filled(FORM, call_text(call), call.index, work.revision) for call in work.deferred]
        return page("Decide", "".join(forms) or "Nothing waits here.")

    async def decide(request: Request) -> Response:
        if request.headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            return page("This form is on another site", "", 403)
        form = dict(parse_qsl((await request.body()).decode(), keep_blank_values=True))
        return await run_in_threadpool(save, request.query_params["id"], form)

    def save(round_id: str, form: dict[str, str]) -> Response:
        work = store.load(round_id, tools)
        if str(work.revision) != form["revision"]:  # a decision is about what the person saw
            return page("Somebody was faster", "Look at the call again.", 409)
        decided: Any = {"approve": work.approve, "reject": work.reject}[form["do"]]
        store.save(decided(work.calls[int(form["call"])], by=form["by"], words=form["words"]))
        return RedirectResponse("/", 303)

    def refused(_: Request, error: Exception) -> Response:
        return page("That can't be done", filled("<pre>{}</pre>", error), 409)

    failures: Any = dict.fromkeys((DecodeError, LookupError, RestoreError, RoundError, ValueError), refused)
    routes = [Route("/", waiting), Route("/round", shown), Route("/round", decide, methods=["POST"])]
    return Starlette(routes=routes, exception_handlers=failures)
