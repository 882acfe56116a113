"""The site as it is built: links, what axe says of each page, and what a keyboard reaches.

`make test-site` runs these tests. Screenshots go to `build/site-pictures/`.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from functools import cache, partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build" / "website" / "site"
SHOTS = ROOT / "build" / "site-pictures"
AXE = Path(sys.prefix) / "axe" / "node_modules" / "axe-core" / "axe.min.js"
PAGES = sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html"))
SHOWN = {"index.html", "provider-round-trips.html", "frameworks.html", "reference/index.html"}
WIDTHS = {"wide": 1280, "narrow": 420}
PATIENCE = 60_000
"""Milliseconds that a busy machine may take for what the page does by itself."""
OWN = "http://site.invalid"
LOADING = {"img", "script", "iframe", "source", "link"}
"""Elements whose address is loaded with the page."""


class Parsed(HTMLParser):
    """What a page links, what it loads, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        address = found.get("src") or found.get("href")
        if address is not None and found.get("rel") != "canonical":
            (self.loaded if tag in LOADING else self.links).append(address)


@cache
def parsed(page):
    return Parsed((SITE / page).read_text(encoding="utf-8"))


def goal(page, address):
    """Return the file and the anchor that an address of the site leads to; None for another site."""
    whole, anchor = urldefrag(urljoin(f"{OWN}/{page}", address))
    if not whole.startswith(f"{OWN}/"):
        return None
    return unquote(urlsplit(whole).path).lstrip("/") or "index.html", unquote(anchor)


@pytest.mark.parametrize("page", PAGES)
def test_its_links_lead_somewhere(page):
    for address in [*parsed(page).links, *parsed(page).loaded]:
        found = goal(page, address)
        if found is None:
            continue
        path, anchor = found
        assert (SITE / path).is_file(), address
        if anchor and path.endswith(".html"):
            assert anchor in parsed(path).anchors, address


@pytest.mark.parametrize("page", PAGES)
def test_it_loads_nothing_from_elsewhere(page):
    assert [one for one in parsed(page).loaded if urlsplit(one).netloc] == []


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and logs nothing."""

    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def address():
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=SITE)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=os.environ["SITE_BROWSER"], args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def tabs(browser):
    """One tab of the browser for each scheme and width."""
    made = {}
    for scheme in ("light", "dark"):
        for name, width in WIDTHS.items():
            context = browser.new_context(
                color_scheme=scheme, viewport={"width": width, "height": 900}, reduced_motion="reduce"
            )
            made[scheme, name] = context.new_page()
    return made


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(tabs, address, page, scheme, width):
    """axe knows contrast, names of controls, order of headings, and some ninety rules more."""
    tab = tabs[scheme, width]
    tab.goto(f"{address}/{page}")
    expect(tab.locator("body")).to_have_attribute(
        "data-md-color-scheme", {"light": "default", "dark": "slate"}[scheme]
    )
    tab.evaluate(AXE.read_text(encoding="utf-8"))
    found = tab.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]][:3]) for one in found] == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    if page in SHOWN:
        tab.screenshot(path=SHOTS / f"{page.replace('/', '-').removesuffix('.html')}-{scheme}-{width}.png")


@pytest.fixture
def page(browser, address):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    made = context.new_page()
    made.goto(f"{address}/provider-round-trips.html")
    yield made
    context.close()


def tab_to(page, selector, most=60):
    for _ in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"Tab doesn't reach {selector}")


def test_the_first_tab_skips_to_the_content(page):
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()


OPENED = """
const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) { return attach.call(this, {...options, mode: "open"}); };
"""
"""The search is in a closed part of the page, which no selector sees unless it is opened."""


@pytest.mark.parametrize("way", ["by a key", "by Tab"])
def test_a_keyboard_searches(page, way):
    page.add_init_script(OPENED)
    page.reload()
    expect(page.locator("dialog[aria-label=Search]")).to_be_attached(timeout=PATIENCE)  # it listens to keys
    if way == "by Tab":
        tab_to(page, ".md-search__button")
    page.keyboard.press("/" if way == "by a key" else "Enter")
    expect(page.get_by_role("combobox", name="Search")).to_be_focused(timeout=PATIENCE)
    page.keyboard.type("What is refused at registration")
    found = page.locator("a[role=option][aria-selected=true][href*='?h=What+is+refused+at+registration#']")
    expect(found).to_have_attribute("href", re.compile(r"/annotations\.html"), timeout=PATIENCE)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/annotations\.html"), timeout=PATIENCE)


def test_a_keyboard_reaches_the_navigation(page):
    tab_to(page, ".md-tabs a[href$='rounds.html']")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/rounds.html$"))
    tab_to(page, ".md-sidebar a[href$='approvals.html']", most=200)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/approvals.html$"))


def test_a_keyboard_changes_a_tab_of_a_page(page):
    first = page.locator(".tabbed-set > input").first
    first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".tabbed-block").nth(1)).to_be_visible()
    expect(page.locator(".tabbed-block").first).not_to_be_visible()
