"""Prepare the pages of the site: those of docs/, and those that stand beside it.

Links in the repository lead from file to file. On the site the first page is README, and what stands beside
docs/ is a page like all others, so these links are changed. Any other link out of docs/ is an error.
"""

from __future__ import annotations

import importlib
import posixpath
import re
import shutil
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

TOP = "operator_schema"
ROOT = Path(__file__).resolve().parents[1]

RENAMED = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "docs/README.md": "all-pages.md",
}
"""What a file of the repository is called on the site; a file of docs/ keeps its name."""


class Reference(NamedTuple):
    """A page of the reference.

    Attributes:
        about: a sentence about the module.
        names: what the page explains; empty for all that the module exports.
    """

    about: str
    names: str = ""


REFERENCE = {
    "operator_schema": Reference(
        "What programs use most. All of it is imported from `operator_schema` itself."
    ),
    "operator_schema.types": Reference("Annotations, and values that tools receive."),
    "operator_schema.content": Reference("Parts of a result that are more than text."),
    "operator_schema.errors": Reference(
        "What is wrong with a type, a value, a tool or a call; each exception has its facts as attributes."
    ),
    "operator_schema.tools": Reference(
        "Tools, and what describes them.",
        "InputTool StructuredOutput ToolAnnotations ToolDefinition document_tool "
        "parameters_of schema_response tools_of",
    ),
    "operator_schema.rounds": Reference(
        "One turn of calls: offered, decided on, run and committed.",
        "CommitError Decision HookError Hooks InterruptedRoundError OfferError Question RegistryChange "
        "RestoreError SqliteStore StoreError ToolChoice answer_codec answer_schema call_text "
        "rejection_reason",
    ),
    "operator_schema.codec": Reference("Reports of decoding, and arguments that still arrive."),
    "operator_schema.providers": Reference(
        "Requests and answers of the providers; each provider is a value.",
        "Provider Answer AnswerError ResponseError Stream StreamedCall Delta Usage Dialect NameRule Rules "
        "openai_compatible provider_names",
    ),
    "operator_schema.testing": Reference("Tests without a model. The strategies need the extra `testing`."),
}
"""The modules of the reference."""

BEGIN_TABS, END_TABS = "<!-- tabs -->", "<!-- end of tabs -->"

LINK = re.compile(r"""(\]\(|\bsrc="|\bsrcset=")(?!https?:|#|mailto:)([^)"\s#]+)(#[^)\s]*)?([)"])""")


def place_of(source: str) -> str | None:
    """Return where a file of the repository is on the site, or None if it isn't there."""
    if source in RENAMED:
        return RENAMED[source]
    return source.removeprefix("docs/") if source.startswith("docs/") else None


def with_links(text: str, source: str, place: str) -> str:
    """Return a page with its links as they are on the site.

    Args:
        text: the page.
        source: its file, below the root of the repository.
        place: its file on the site.

    Raises:
        ValueError: a link leads to a file that isn't on the site.
    """

    def changed(match: re.Match[str]) -> str:
        before, target, anchor, after = match.groups()
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
        found = place_of(wanted)
        if found is None:
            message = f"{source} links {target}, which is outside of docs/"
            raise ValueError(message)
        link = posixpath.relpath(found, posixpath.dirname(place) or ".")
        return f"{before}{link}{anchor or ''}{after}"

    return LINK.sub(changed, text)


def with_tabs(text: str) -> str:
    """Return a page whose alternatives are tabs.

    In the repository they are headings of the third level between two comments: GitHub shows them all.

    Raises:
        ValueError: such a part isn't closed.
    """
    before, begin, rest = text.partition(BEGIN_TABS)
    if not begin:
        return text
    inside, end, after = rest.partition(END_TABS)
    if not end:
        message = f"{BEGIN_TABS} without {END_TABS}"
        raise ValueError(message)
    tabs = []
    for section in inside.strip().removeprefix("### ").split("\n### "):
        title, _, body = section.partition("\n")
        tabs.append(f'=== "{title}"\n\n{textwrap.indent(body.strip(), "    ")}')
    return before + "\n\n".join(tabs) + with_tabs(after)


def home_of(module: str, name: str) -> str:
    """Return where a name is defined, since not every way to it can be read without running code."""
    found = getattr(importlib.import_module(module), name)
    home = getattr(found, "__module__", module)
    return home if getattr(found, "__name__", None) == name else module


def reference_page(module: str) -> str:
    """Return the page about one module; a name that the top of the package has too is explained there."""
    about, names = REFERENCE[module]
    exported = names.split() or sorted(importlib.import_module(module).__all__)
    elsewhere = () if module == TOP else importlib.import_module(TOP).__all__
    sections = [
        f"::: {home_of(module, name)}.{name}" for name in exported if name not in {*elsewhere, "__version__"}
    ]
    return "\n\n".join([f"# {module}", about, *sections, ""])


def prepare(folder: Path) -> None:
    """Write the pages, and the settings of the site beside them, into an empty folder."""
    pages = folder / "pages"
    (pages / "reference").mkdir(parents=True)
    for module in REFERENCE:
        name = module.partition(".")[2] or "index"
        (pages / "reference" / f"{name}.md").write_text(reference_page(module), encoding="utf-8")
    shutil.copy2(ROOT / "website" / "zensical.toml", folder)
    shutil.copytree(ROOT / "website" / "assets", pages / "assets")
    files = [path for path in (ROOT / "docs").rglob("*") if path.is_file()]
    for file in [*files, *(ROOT / name for name in RENAMED if "/" not in name)]:
        source = file.relative_to(ROOT).as_posix()
        place = place_of(source)
        if place is None or file.suffix == ".pyc":
            continue
        (pages / place).parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            text = with_tabs(with_links(file.read_text(encoding="utf-8"), source, place))
            (pages / place).write_text(text, encoding="utf-8")
        else:
            shutil.copy2(file, pages / place)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    prepare(target)
