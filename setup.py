"""Prepare README for a package index, which knows no files beside it; all else is in pyproject.toml.

Its links lead to files of the repository. On an index they begin with the address of the repository, which
the owner writes in one place: `Repository` in `[project.urls]` of pyproject.toml. As long as it isn't there,
the words of a link stay without the link.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")


def readme_for_index(text: str, repository: str | None, tag: str) -> str:
    """Return README with links that work on a package index.

    Args:
        text: README as it is in the repository.
        repository: its address, such as `https://github.com/owner/name`; None if it isn't known.
        tag: of the version, where its files are.
    """

    def changed(match: re.Match[str]) -> str:
        image, words, target = match.groups()
        if repository is None:
            return "" if image else words
        kind = "raw" if image else "blob"
        return f"{image}[{words}]({repository.rstrip('/')}/{kind}/{tag}/{target})"

    return LINK.sub(changed, text)


def version() -> str:
    """Return the version, without importing the package."""
    source = (HERE / "operator_schema" / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "(.+)"$', source, re.MULTILINE)[0]


if __name__ == "__main__":
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    setup(
        long_description=readme_for_index(
            (HERE / "README.md").read_text(encoding="utf-8"),
            project.get("urls", {}).get("Repository"),
            f"v{version()}",
        ),
        long_description_content_type="text/markdown",
    )
