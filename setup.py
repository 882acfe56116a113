"""Prepare README for a package index, which knows no files beside it; all else is in pyproject.toml.

Its links lead to files of the repository. On an index they begin with the address of the repository, which
the owner writes in one place: `Repository` in `[project.urls]` of pyproject.toml. As long as it isn't there,
the words of a link stay without the link; a release has to have it. How to install the package is told in two
ways, in the repository and on an index.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
INSTALL = re.compile(r"<!-- in the repository -->.*?<!-- on a package index\n(.*?)-->\n", re.DOTALL)
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|mailto:|#)([^)\s]+)\)")
PICTURE = re.compile(r'<picture>.*?<img alt="([^"]*)" src="([^"]*)">\s*</picture>', re.DOTALL)


def readme_for_index(text: str, repository: str | None, tag: str) -> str:
    """Return README with links that work on a package index, and with what to type there.

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

    def as_image(match: re.Match[str]) -> str:
        words, target = match.groups()
        return f"![{' '.join(words.split())}]({target})"

    return LINK.sub(changed, PICTURE.sub(as_image, INSTALL.sub(r"\1", text)))


def version() -> str:
    """Return the version, without importing the package."""
    source = (HERE / "operator_schema" / "__init__.py").read_text(encoding="utf-8")
    return re.findall(r'^__version__ = "(.+)"$', source, re.MULTILINE)[0]


def repository(version: str) -> str | None:
    """Return the address of the repository, which a version that isn't in development must have.

    Raises:
        SystemExit: it isn't there.
    """
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address: str | None = project.get("urls", {}).get("Repository")
    if address is None and ".dev" not in version:
        message = (
            f"to release {version}, write the address of the repository into [project.urls] of pyproject.toml"
        )
        raise SystemExit(message)
    return address


if __name__ == "__main__":
    own = version()
    setup(
        long_description=readme_for_index(
            (HERE / "README.md").read_text(encoding="utf-8"), repository(own), f"v{own}"
        ),
        long_description_content_type="text/markdown",
    )
