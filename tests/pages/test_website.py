"""The site of the documentation: its pages and their links. `make docs` builds it."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = ROOT / "website"


@pytest.fixture(scope="module")
def module():
    return runpy.run_path(str(SITE / "prepare.py"))


@pytest.fixture(scope="module")
def pages(module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("website")
    module["prepare"](folder)
    return folder / "pages"


def files_of(entries):
    """List the pages of a part of the navigation."""
    for entry in entries:
        if isinstance(entry, str):
            yield entry
            continue
        for below in entry.values():
            yield from files_of([below] if isinstance(below, str) else below)


def test_every_page_is_in_the_navigation_once(pages):
    navigation = tomllib.loads((SITE / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    found = sorted(path.relative_to(pages).as_posix() for path in pages.rglob("*.md"))
    assert sorted(files_of(navigation)) == found


@pytest.mark.parametrize(
    ("source", "place", "link", "changed"),
    [
        ("README.md", "index.md", "docs/tools.md#methods", "tools.md#methods"),
        ("README.md", "index.md", "docs/README.md", "all-pages.md"),
        ("docs/faq.md", "faq.md", "../README.md", "index.md"),
        ("docs/faq.md", "faq.md", "tools.md", "tools.md"),
        ("docs/examples/airline/README.md", "examples/airline/README.md", "../../faq.md", "../../faq.md"),
        ("docs/faq.md", "faq.md", "https://example.com/docs/", "https://example.com/docs/"),
        ("docs/faq.md", "faq.md", "#here", "#here"),
    ],
)
def test_links_lead_to_the_same_page_as_in_the_repository(module, source, place, link, changed):
    assert module["with_links"](f"see [it]({link}).", source, place) == f"see [it]({changed})."


def test_pictures_in_html_are_found_as_links_are(module):
    html = '<source media="(max-width: 600px)" srcset="docs/pictures/a.svg"><img src="docs/pictures/b.svg">'
    changed = module["with_links"](html, "README.md", "index.md")
    assert changed == html.replace("docs/", "")


def test_a_link_out_of_the_documentation_is_an_error(module):
    with pytest.raises(ValueError, match="which is outside of docs/"):
        module["with_links"]("[it](../tests/compare.py)", "docs/faq.md", "faq.md")


def test_a_name_stands_on_one_page_of_the_reference(module):
    pages = {name: module["reference_page"](name) for name in module["REFERENCE"]}
    names = [line.rpartition(".")[2] for page in pages.values() for line in page.split("\n") if ":::" in line]
    assert len(names) == len(set(names)) > 60
    assert "operator_schema.rounds.stores.SqliteStore" in pages["operator_schema.rounds"]


PAGE_OF_TWO = """# A

<!-- tabs -->

### One

```py
# two

1
```

### Two

b

<!-- end of tabs -->

end"""
WITH_TABS = """# A

=== "One"

    ```py
    # two

    1
    ```

=== "Two"

    b

end"""


def test_alternatives_become_tabs(module):
    assert module["with_tabs"](PAGE_OF_TWO) == WITH_TABS
    with pytest.raises(ValueError, match="without <!-- end of tabs -->"):
        module["with_tabs"]("<!-- tabs -->\n\n### One\n")
