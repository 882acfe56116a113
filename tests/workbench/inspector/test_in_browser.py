"""The page in Chromium, as somebody uses it: `make test-browser` runs these tests.

Screenshots go to `build/inspector/`.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import help_desk
import pytest
from playwright.sync_api import expect

from operator_schema import Executor, RawCall, tool
from operator_schema.rounds import SqliteStore
from operator_schema.workbench.inspector import Inspector, subject_of

AXE = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"
SHOTS = Path(__file__).parents[3] / "build" / "inspector"
PAGES = ["#/", "#/tool/refund/sent", "#/tool/create_order/try", "#/tool/create_order/lint"]
PAGES += ["#/tool/export/schema", "#/calls", "#/tried", "#/paste", "#/rounds"]
COSTS = "What each tool costs, the most expensive first"


@pytest.fixture
def view(chromium):
    """Open a page of the browser; whatever goes wrong in it fails the test."""
    contexts, problems = [], []

    def opened(client, path="", **options):
        context = chromium.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.extend(said_of(message)))
        page.on("dialog", lambda dialog: (problems.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: problems.extend(foreign(request, client)))
        page.goto(f"{client.address}{path}")
        page.wait_for_selector("#tools a")
        return page

    opened.problems = problems
    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def shoot(page, name):
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=SHOTS / f"{name}.png")


def said_of(message):
    """List what is wrong; that a question was answered with an error is none of it."""
    is_fault = message.type == "error" and not message.text.startswith("Failed to load resource")
    return [message.text] if is_fault else []


def foreign(request, client):
    is_own = request.url.startswith((f"http://127.0.0.1:{client.port}/", "data:"))
    return [] if is_own else [request.url]


@pytest.fixture
def inspector(subject, tmp_path):
    """A desk with a log of calls, tried calls and a round that waits."""
    log = tmp_path / "calls.jsonl"
    calls = [
        {"name": "find_articles", "arguments": {"text": "rye"}},
        {"name": "refund", "arguments": '{"order_id": 7, "amount": "ten"}'},
        {"name": "refund", "arguments": {"order_id": 8, "amount": "six"}},
        {"name": "refnd", "arguments": {}},
    ]
    log.write_text("".join([f"{json.dumps(call)}\n" for call in calls]))
    store = SqliteStore(tmp_path / "desk.db")
    raw = [
        RawCall("1", "refund", {"order_id": 1, "amount": "1.50"}),
        RawCall("2", "choose_seat", {"train": "IC 712"}),
    ]
    Executor(help_desk.toolset, store=store).run_sync(help_desk.toolset.offer().round(raw))
    return Inspector(subject, store=store, recorded=log)


@pytest.fixture
def client(serve, inspector):
    return serve(inspector)


# --- what somebody wants to know within a minute ---------------------------------------------------


class Person:
    """Somebody who looks for an answer: clicks and reads, and never scrolls.

    The seconds of a person are those of the Keystroke-Level Model (Card, Moran and Newell, 1980), and
    238 words a minute for reading (Brysbaert, 2019). The seconds of the page are measured.
    """

    THINKS, POINTS, PRESSES, WORDS_A_MINUTE = 1.35, 1.1, 0.2, 238

    def __init__(self, page):
        self.page, self.clicks, self.words, self.seconds = page, 0, 0, 0.0

    def read(self, *places):
        for place in places:
            self.see(place)
            words = len(place.inner_text().split())
            self.words += words
            self.seconds += words * 60 / self.WORDS_A_MINUTE

    def click(self, place):
        self.see(place)
        place.click()
        self.clicks += 1
        self.seconds += self.THINKS + self.POINTS + self.PRESSES

    def choose(self, place, choice):
        self.see(place)
        place.select_option(choice)
        self.clicks += 1  # press, drag to the choice, release
        self.seconds += self.THINKS + 2 * (self.POINTS + self.PRESSES)

    def see(self, place):
        """Wait until it is there; all of it is on the screen, which shows the top of the page."""
        expect(place).to_be_visible()
        expect(place).to_be_in_viewport(ratio=1)
        assert self.page.evaluate("scrollY") == 0


@pytest.fixture
def person(view, client, request):
    """Start somebody on the first page; what it took is a line of `build/inspector/minute.txt`."""

    @contextmanager
    def started(question, clicks):
        began = perf_counter()
        found = Person(view(client))
        yield found
        waited = perf_counter() - began
        assert found.clicks == clicks
        assert found.seconds < 60
        counts = f"clicks: {clicks}, words: {found.words}, a person: {found.seconds:.0f} s"
        MINUTE.append(f"{question}: {counts}, the page: {waited:.1f} s\n")
        SHOTS.mkdir(parents=True, exist_ok=True)
        (SHOTS / "minute.txt").write_text("".join(MINUTE))

    return started


MINUTE = []


def test_one_click_says_why_a_recorded_call_fails(person):
    with person("why a recorded call fails", clicks=1) as me:
        me.read(me.page.locator("#pages"))
        me.click(me.page.get_by_role("link", name="Recorded calls (calls.jsonl)"))
        why = me.page.get_by_label("Why it fails").first
        me.read(me.page.get_by_role("heading", name="Recorded calls"), me.page.get_by_text("4 calls: 1 fit"))
        me.read(me.page.get_by_role("table", name="Why calls fail, the most frequent first"), why)
        expect(why).to_contain_text('- amount: "ten" is not accepted: write a finite decimal number')


def test_two_clicks_say_what_gemini_is_not_told(person):
    with person("what Gemini isn't told", clicks=2) as me:
        costs = choose_gemini(me)
        me.read(costs)
        me.click(costs.get_by_role("link", name="create_order"))
        me.read(me.page.get_by_role("heading", name="What Gemini isn't told"))
        me.read(me.page.get_by_text("Nothing is lost without the strict mode"))


def test_one_more_click_says_it_of_the_strict_mode(person):
    with person("what Gemini isn't told in strict mode", clicks=3) as me:
        costs = choose_gemini(me)
        me.click(me.page.get_by_label("strict"))
        lost = costs.get_by_role("row", name=re.compile("^refund")).get_by_role("link", name="1 thing")
        expect(lost).to_be_visible()
        me.read(costs)
        me.click(lost)
        me.read(me.page.get_by_role("heading", name="What Gemini isn't told"))
        lost = me.page.get_by_role("table", name="One thing is said in another way")
        me.read(lost)
        expect(lost).to_contain_text("exclusiveMinimum")


def choose_gemini(me):
    me.read(me.page.locator("header"))
    me.choose(me.page.locator("#provider"), "gemini")
    costs = me.page.get_by_role("table", name=COSTS)
    expect(costs.get_by_role("columnheader", name="what Gemini isn't told")).to_be_visible()
    return costs


def test_no_click_says_which_tool_costs_most_tokens(person):
    with person("which tool costs most tokens", clicks=0) as me:
        first = me.page.get_by_role("table", name=COSTS).get_by_role("row").nth(1)
        me.read(me.page.get_by_role("heading", name="Catalogue"), me.page.get_by_text(COSTS), first)
        expect(first).to_contain_text(re.compile(r"create_order\d+ 5\d %"))


def test_two_clicks_approve_a_waiting_call(person, inspector):
    with person("approve a waiting call", clicks=2) as me:
        me.read(me.page.locator("#pages"))
        me.click(me.page.get_by_role("link", name="Waiting (1)"))
        me.read(me.page.get_by_role("region", name="refund, deferred"))
        me.click(me.page.get_by_role("button", name="Approve refund", exact=True))
        me.read(me.page.get_by_role("heading", name="refund: approved, not run yet"))
    assert help_desk.PAID == []


def test_a_recorded_call_is_tried(view, client):
    page = view(client, "#/calls")
    expect(page.get_by_role("row", name="refund amount bad_format 2")).to_be_visible()
    expect(page.get_by_label("Why it fails").first).to_contain_text('- amount: "ten" is not accepted')
    page.get_by_role("button", name="Try it: this call of refund").first.click()
    expect(page.get_by_label("Arguments, as a model sends them")).to_have_value(
        '{"order_id": 7, "amount": "ten"}'
    )
    expect(page.locator("#reading")).to_contain_text("It doesn't fit (invalid_params).")


def test_what_a_provider_is_not_told(view, client):
    page = view(client)
    page.locator("#provider").select_option("gemini")
    page.get_by_label("strict").check()
    page.get_by_role("link", name=re.compile("create_order")).first.click()
    expect(page.get_by_role("heading", name="What Gemini isn't told")).to_be_visible()
    page.locator("#provider").select_option("openai_chat")
    expect(page.get_by_role("row", name=re.compile("options"))).not_to_have_count(0)
    page.get_by_role("button", name="Ollama").click()
    expect(page.locator("#provider")).to_have_value("ollama")
    expect(page.get_by_role("heading", name="What Ollama isn't told")).to_be_visible()
    shoot(page, "provider")


def test_which_tool_costs_most(view, client):
    page = view(client)
    expect(page.get_by_role("row").nth(1)).to_contain_text("create_order")
    page.get_by_role("link", name="create_order").last.click()
    costs = page.get_by_role("table", name="What costs the tokens of this tool")
    expect(costs.get_by_role("row").nth(1)).to_contain_text("payment")


def test_a_waiting_call_is_approved(view, client):
    page = view(client)
    page.get_by_role("link", name="Waiting (1)").click()
    expect(page.get_by_text("refund: waits for you")).to_be_visible()
    shoot(page, "waiting")
    page.get_by_role("button", name="Approve refund", exact=True).click()
    expect(page.get_by_text("refund: approved, not run yet")).to_be_visible()
    assert help_desk.PAID == []
    page.get_by_label("window").or_(page.get_by_role("combobox").last).select_option("aisle")
    page.get_by_role("button", name="Answer", exact=True).click()
    page.get_by_role("button", name="Run 2 approved calls here…").click()
    expect(page.get_by_role("dialog")).to_contain_text("Run refund?")
    page.get_by_role("button", name="Run it once").click()
    expect(page.get_by_label("The model reads").first).to_have_text("paid 1.50 for order 1: goodwill")
    expect(page.get_by_label("The model reads").last).to_have_text("IC 712: a seat at the aisle")
    expect(page.get_by_text("your program loads the round and commits it")).to_be_visible()
    assert len(help_desk.PAID) == 1


def test_a_waiting_call_is_changed_or_rejected(view, client, inspector):
    page = view(client, "#/rounds")
    page.get_by_text("Change the arguments").click()
    editor = page.get_by_label("Other arguments for refund")
    approve = page.get_by_role("button", name="Approve refund with these arguments")
    editor.fill('{"order_id": 1')
    approve.click()
    expect(page.get_by_role("alert")).to_have_text("This isn't JSON.")
    editor.fill('{"order_id": 1, "amount": "many"}')
    approve.click()
    expect(page.get_by_role("status").last).to_contain_text('"many" is not accepted')
    editor.fill('{"order_id": 1, "amount": "0.25"}')
    approve.click()
    expect(page.get_by_label("What is to run")).to_contain_text(['amount: "0.25"', "choose_seat"])
    page.get_by_label("What you say of choose_seat").fill("seen on the board")
    page.get_by_label("Reason for rejecting choose_seat").fill("the train is full")
    page.get_by_role("button", name="Reject choose_seat").click()
    expect(page.get_by_label("The model reads")).to_have_text("This call was rejected: the train is full")
    expect(page.get_by_text("reject by person, who said: seen on the board")).to_be_visible()
    assert help_desk.PAID == []


def test_the_waiting_rounds_have_filters(view, client):
    page = view(client, "#/rounds")
    expect(page.get_by_text("1 round for a person, the oldest for")).to_be_visible()
    page.get_by_label("Conversation", exact=True).fill("nobody")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.get_by_text("nothing that fits the filters")).to_be_visible()
    page.get_by_label("Conversation", exact=True).fill("")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.get_by_text("refund: waits for you")).to_be_visible()


# --- trying a tool ----------------------------------------------------------------------------------


def test_what_one_types_is_read_at_once(view, client):
    page = view(client, "#/tool/refund/try")
    editor, reading = page.get_by_label("Arguments, as a model sends them"), page.locator("#reading")
    editor.fill('{"orderId": "7", "amount": "12.50"}')
    expect(reading).to_contain_text('repaired: order_id: "orderId" read as "order_id" (key)')
    expect(reading).to_contain_text("amount=Decimal('12.50')")
    editor.fill(json.dumps({"orderId": "7", "amount": "ten"}, indent=2))
    expect(reading).to_contain_text('- amount: "ten" is not accepted')
    shoot(page, "try")
    editor.fill('{"order_id": 7, "amount": "ten"')
    expect(reading).to_contain_text("It doesn't fit (invalid_params).")
    editor.fill('{"order_id": 12345678901234567890, "amount": 1.10}')
    expect(reading).to_contain_text("order_id=12345678901234567890")
    page.get_by_role("button", name="Add reason").click()
    expect(editor).to_have_value(
        re.compile(r'"order_id": 12345678901234567890,\s+"amount": 1.10,\s+"reason"')
    )
    editor.fill('{"reason": "%s"}' % ("x" * 30_000))
    expect(page.get_by_text("too long for a form")).to_be_visible()
    expect(page.get_by_label("order_id *")).not_to_be_visible()
    editor.fill('{"order_id": 1, "amount": 1.10}')
    page.get_by_label("repair").select_option("no")
    page.get_by_label("order_id *").fill("seven")
    expect(editor).to_have_value(re.compile(r'"order_id": "seven"'))
    expect(reading).to_contain_text("order_id: expected integer")


def test_a_form_has_nested_fields_unions_lists_and_maps(view, client):
    page = view(client, "#/tool/create_order/try")
    editor, reading = page.get_by_label("Arguments, as a model sends them"), page.locator("#reading")
    page.get_by_label("sku *").fill("rye")
    page.get_by_role("button", name="Add count").click()
    page.get_by_label("count", exact=True).fill("3")
    page.get_by_role("button", name="Add options").click()
    page.get_by_label("Key of a new entry of options").fill("slices")
    page.get_by_role("button", name="Add an entry to options").click()
    page.get_by_label("slices", exact=True).fill("thick")
    page.get_by_label("kind of payment *").select_option(index=1)
    page.get_by_label("address *").fill("Here 1")
    page.get_by_role("button", name="Add an item to lines").click()
    page.get_by_role("button", name="Remove item 2 of lines").click()
    page.get_by_role("button", name="Add note").click()
    page.get_by_label("note", exact=True).fill("ring")
    expect(reading).to_contain_text(
        "lines=[Line(sku='rye', count=3, options={'slices': 'thick'})], "
        "payment=Invoice(address='Here 1', due=None, kind='invoice'), note='ring', discount=0.0"
    )
    page.get_by_role("button", name="Leave out note").click()
    assert json.loads(editor.input_value()) == {
        "lines": [{"sku": "rye", "count": 3, "options": {"slices": "thick"}}],
        "payment": {"address": "Here 1"},
    }
    editor.fill('{"lines": [], "payment": {"number": "1234", "kind": "card"}, "__proto__": {"x": 1}}')
    expect(page.get_by_label("number *")).to_have_value("1234")
    expect(reading).to_contain_text("lines: 0 items, at least 1 expected")


def test_a_call_arrives_in_pieces(view, client):
    page = view(client, "#/tool/create_order/try")
    page.get_by_role("button", name="Stream it").click()
    steps = page.locator(".steps li")
    expect(steps.first).to_contain_text("nothing yet")
    expect(steps.last).to_contain_text("complete")


def test_a_result_is_shown_as_text_json_and_picture(view, client):
    page = view(client, "#/tool/export/try")
    page.get_by_label("Arguments, as a model sends them").fill('{"rows": 2}')
    page.get_by_role("button", name="Run", exact=True).click()
    result = page.locator("#result")
    expect(result).to_contain_text(re.compile(r"Result after \d+ ms"))
    expect(result.get_by_role("img")).to_have_js_property("naturalWidth", 1)
    result.get_by_text("as JSON").click()
    expect(page.get_by_label("The result as JSON")).to_contain_text('"media_type": "image/png"')
    result.get_by_text("progress (2)").click()
    expect(result).to_contain_text("1 of 2: row 1")


def test_a_question_of_a_tool_is_asked(view, client):
    page = view(client, "#/tool/choose_seat/try")
    page.get_by_label("Arguments, as a model sends them").fill('{"train": "IC 1"}')
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator("#result")).to_contain_text("Window or aisle?")
    page.locator("#result").get_by_role("combobox").select_option("aisle")
    page.get_by_role("button", name="Answer, and run again").click()
    expect(page.get_by_label("The model reads")).to_have_text("IC 1: a seat at the aisle")


def test_no_dangerous_call_runs_by_one_click_or_a_double_click(view, client):
    page = view(client, "#/tool/refund/try")
    page.get_by_label("Arguments, as a model sends them").fill('{"order_id": 1, "amount": 5}')
    run = page.get_by_role("button", name="Run…")
    run.dblclick()
    dialog = page.get_by_role("dialog").first
    expect(dialog).to_contain_text("order_id: 1")
    expect(dialog.get_by_role("button", name="Run it once")).not_to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_text("Not run.")).to_be_visible()
    assert help_desk.PAID == []
    run.click()
    expect(page.get_by_role("button", name="Cancel")).to_be_focused()
    page.get_by_role("button", name="Run it once").click()
    expect(page.get_by_label("The model reads")).to_have_text("paid 5 for order 1: goodwill")
    assert len(help_desk.PAID) == 1


def test_kept_calls_show_what_a_change_changes(view, client, inspector):
    page = view(client, "#/tool/export/try")
    page.get_by_label("Arguments, as a model sends them").fill('{"rows": 2}')
    page.get_by_role("button", name="Keep this call").click()
    expect(page.get_by_text("Kept: 1 call")).to_be_visible()

    @tool
    def export(rows: int, size: int = 3) -> str:
        """Export."""
        return ""

    inspector.replace(subject_of("changed", [export]))
    expect(page.get_by_role("heading", name="changed")).to_be_visible()  # by itself
    expect(page.get_by_label("Arguments, as a model sends them")).to_have_value('{"rows": 2}')
    page.get_by_role("link", name="Tried calls (1)").click()
    expect(page.get_by_role("status").last).to_have_text("1 of 1 reads differently now.")
    expect(page.get_by_label("Now", exact=True)).to_contain_text('"size": 3')
    page.get_by_role("button", name="Take how they are read now as right").click()
    expect(page.get_by_text("0 of 1 read differently now.")).to_be_visible()
    inspector.fail("SyntaxError: broken")
    expect(page.locator("#status")).to_have_text("Not reloaded: SyntaxError: broken")


def test_a_pasted_answer_is_taken_apart(view, client):
    call = {"type": "tool_use", "id": "1", "name": "refund", "input": {"order_id": 1, "amount": "ten"}}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Wait."}, call]}
    page = view(client, "#/paste")
    page.get_by_role("button", name="Take it apart").click()
    expect(page.get_by_text("no provider reads this")).to_be_visible()
    page.get_by_label(re.compile("A response of a provider")).fill(
        json.dumps({**answer, "stop_reason": "tool_use"})
    )
    page.get_by_role("button", name="Take it apart").click()
    expect(page.get_by_text("Read as anthropic")).to_be_visible()
    expect(page.get_by_label("The model reads")).to_contain_text('- amount: "ten" is not accepted')


# --- everybody can use it, and nobody can misuse it -------------------------------------------------


@pytest.mark.parametrize("width", [1280, 420])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(view, client, scheme, width):
    page = view(client, color_scheme=scheme, viewport={"width": width, "height": 800})
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for path in PAGES:
        page.evaluate("path => { location.hash = path }", path)
        page.wait_for_load_state("networkidle")
        expect(page.locator("main h2")).to_be_visible()
        found = page.evaluate("axe.run()")["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    shoot(page, f"{scheme}-{width}")


def test_a_keyboard_is_enough(view, client):
    page = view(client)
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    tab_to(page, "a[href='#/tool/export/sent']")
    page.keyboard.press("Enter")
    tab_to(page, "a[href='#/tool/export/try']")
    page.keyboard.press("Enter")
    expect(page.locator("#arguments")).to_be_visible()
    tab_to(page, "#arguments")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type('{"rows": 1}')
    tab_to(page, "#run")
    page.keyboard.press("Enter")
    expect(page.locator("#result")).to_contain_text("The orders:")


def tab_to(page, selector):
    for _ in range(80):
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab doesn't reach {selector}")


HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)><a href='javascript:alert(3)'>x</a>"


def test_hostile_tools_are_shown_as_text(view, serve, tmp_path):
    @tool(name="evil", description=HOSTILE, param_descriptions={"text": HOSTILE})
    def evil(text: str = HOSTILE) -> str:
        return HOSTILE

    log = tmp_path / "<img src=x onerror=alert(4)>.jsonl"
    log.write_text(json.dumps({"name": HOSTILE, "arguments": HOSTILE}) + "\n")
    client = serve(Inspector(subject_of(HOSTILE, [evil], notes=(HOSTILE,)), recorded=log))
    page = view(client)
    tabs = [f"#/tool/evil/{tab}" for tab in ("sent", "lint", "schema", "try")]
    for path in ["#/", "#/calls", *tabs]:
        page.evaluate("path => { location.hash = path }", path)
        page.wait_for_load_state("networkidle")
        expect(page.get_by_text("<script>alert(1)</script>").first).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_label("The model reads")).to_have_text(HOSTILE)
    for element in ("img", "script:not([src])", "a[href^=javascript]"):
        expect(page.locator(element)).to_have_count(0)


def test_hostile_addresses_lead_nowhere(view, client):
    page = view(client, f"#/tool/{'%3Cimg%20src=x%20onerror=alert(1)%3E'}/sent")
    page.wait_for_load_state("networkidle")
    expect(page.get_by_text("there is no tool '<img")).to_be_visible()
    page.evaluate("location.hash = '#/tool/%'")
    expect(page.get_by_role("heading", name="Catalogue")).to_be_visible()


def test_what_would_run_from_elsewhere_is_blocked(view, client):
    """The policy holds in a real browser, even if a text got through."""
    page = view(client)
    refused = page.evaluate(
        """() => new Promise((resolve) => {
            const found = [];
            document.addEventListener("securitypolicyviolation", (event) => {
                found.push(event.effectiveDirective);
                if (event.effectiveDirective === "img-src") resolve(found);
            });
            try { document.body.innerHTML = "<b>x</b>"; } catch (error) { found.push(error.name); }
            new Image().src = "http://evil.example/x.png";
        })"""
    )
    assert refused == ["TypeError", "require-trusted-types-for", "img-src"]
    view.problems.clear()  # the browser told of them


def test_the_token_leaves_the_address(view, client):
    page = view(client)
    assert page.url == f"http://127.0.0.1:{client.port}/"
    assert page.evaluate("document.cookie") == ""
    page.reload()
    page.wait_for_selector("#tools a")


def test_another_page_gets_nothing(view, client, chromium):
    """A page of another origin, in a browser that has the cookie, reads and changes nothing."""
    page = view(client)
    other = page.context.new_page()
    other.route("http://evil.example/**", lambda route: route.fulfill(body="<p>", content_type="text/html"))
    other.goto("http://evil.example/")
    seen = other.evaluate(
        """async (address) => {
            const found = [];
            for (const options of [{}, {mode: "no-cors"}, {method: "POST", mode: "no-cors", body: "{}"}]) {
                try { found.push((await fetch(address, {credentials: "include", ...options})).type); }
                catch (error) { found.push(error.name); }
            }
            return found;
        }""",
        f"http://127.0.0.1:{client.port}/api/state",
    )
    assert seen[0] == "TypeError"
    other.set_content(f"<iframe src='http://127.0.0.1:{client.port}/'></iframe>")
    other.wait_for_timeout(300)
    assert "desk" not in "".join(
        [frame.content() for frame in other.frames[1:] if frame.url.startswith("http://127")]
    )
