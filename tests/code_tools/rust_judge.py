"""Which public names crates of Rust have, as rustdoc writes them in its JSON."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from names_judge import Name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["CRATES", "SAID", "crates", "documented", "is_made", "is_there"]

SAID = "may declare it, such as by a macro"
"""What is said about a name that a macro makes, with the place of its text."""


class Crate(NamedTuple):
    """A crate that Debian packs.

    Attributes:
        name: of it.
        needs: crates that it uses, which come before it.
        features: that are switched on.
    """

    name: str
    needs: tuple[str, ...] = ()
    features: tuple[str, ...] = ()


CRATES = (
    Crate("memchr", features=("std",)),
    Crate("aho-corasick", ("memchr",), ("std",)),
    Crate("regex-syntax", features=("unicode",)),
    Crate("regex", ("aho-corasick", "memchr", "regex-syntax"), ("std", "unicode", "perf-literal")),
    Crate("grep-matcher", ("memchr",)),
    Crate("cfg-if"),
    Crate("log", ("cfg-if",), ("std",)),
    Crate("fnv", features=("std",)),
    Crate("same-file"),
    Crate("walkdir", ("same-file",)),
    Crate("termcolor"),
    Crate("either", features=("use_std",)),
    Crate("smallvec"),
    Crate("bytecount"),
    Crate("semver", features=("std",)),
    Crate("bitflags"),
)
"""Crates of ripgrep and a few others, each after those that it needs."""

_NAMED = (
    *("constant", "function", "macro", "module", "proc_macro", "static", "struct", "trait", "trait_alias"),
    *("type_alias", "union", "enum", "assoc_const"),
)
"""Kinds of items, as rustdoc names them, that have a name of their own."""


def is_there() -> bool:
    """Return whether rustdoc and Debian's packages can be had."""
    return all(shutil.which(name) for name in ("rustc", "rustdoc", "apt-get", "dpkg-deb"))


def _program(name: str) -> str:
    return shutil.which(name) or name


def crates(folder: Path) -> Path | None:
    """Fetch the crates; return the folder that they are in, or None if they can't be had."""
    place = folder / "crates"
    place.mkdir(exist_ok=True)
    packages = [f"librust-{crate.name}-dev" for crate in CRATES]
    command = [_program("apt-get"), "download", *packages]
    done = subprocess.run(command, cwd=place, capture_output=True, check=False)
    if done.returncode:
        return None
    for archive in place.glob("*.deb"):
        subprocess.run([_program("dpkg-deb"), "-x", str(archive), str(place)], check=True)
    return place / "usr" / "share" / "cargo" / "registry"


def documented(root: Path, crate: Crate, made: Path) -> Iterator[Name]:
    """Yield the public names of a crate, with their places below the root.

    Args:
        root: where the crates are.
        crate: one of them.
        made: a folder for what is compiled; the crates that it needs are there already.
    """
    (place,) = [each for each in root.iterdir() if re.fullmatch(rf"{crate.name}-\d[\w.]*", each.name)]
    about = tomllib.loads((place / "Cargo.toml").read_text(encoding="utf-8"))
    name = crate.name.replace("-", "_")
    libraries = [need.replace("-", "_") for need in crate.needs]
    needed = [f"--extern={library}={made}/lib{library}.rmeta" for library in libraries]
    features = [option for each in crate.features for option in ("--cfg", f'feature="{each}"')]
    shared = [
        *(str(place / about.get("lib", {}).get("path", "src/lib.rs")), "--crate-type", "lib"),
        *(
            "--crate-name",
            name,
            "--edition",
            about["package"].get("edition", "2015"),
            "--cap-lints",
            "allow",
            "-L",
            str(made),
        ),
        *(*needed, *features),
    ]
    compiler = [*("--emit", "metadata", "--out-dir", str(made)), *shared]
    subprocess.run([_program("rustc"), *compiler], check=True, capture_output=True, cwd=root)
    command = [_program("rustdoc"), *shared, "-Zunstable-options", "--output-format", "json", "-o", str(made)]
    # The JSON is there only if unstable options are allowed, which is otherwise up to the nightly rustdoc.
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1"}
    subprocess.run(command, check=True, capture_output=True, cwd=root, env=environment)
    said_all = json.loads((made / f"{name}.json").read_text(encoding="utf-8"))
    items: Mapping[str, Any] = said_all["index"]
    yield from _below(root, items, items[str(said_all["root"])], name, set())


def is_made(root: Path, name: Name) -> bool:
    """Return whether a macro makes what has this name: its place is where the macro is called."""
    lines = (root / name.path).read_text(encoding="utf-8").splitlines()
    return re.match(r"\s*\w+! *[({\[]", lines[name.first - 1]) is not None


def _below(
    root: Path, items: Mapping[str, Any], module: Mapping[str, Any], path: str, seen: set[str]
) -> Iterator[Name]:
    """Yield the names of a module, and those of what it exports of others."""
    for number in module["inner"]["module"]["items"]:
        item = items.get(str(number))
        if item is None or (item["visibility"] != "public" and "macro" not in item["inner"]):
            continue
        kind = next(iter(item["inner"]))
        name = item["name"]
        if kind == "use":
            used = item["inner"]["use"]
            item = items.get(str(used["id"]))
            if item is None or used["is_glob"]:
                if item is not None and "module" in item["inner"] and path not in seen:
                    yield from _below(root, items, item, path, {*seen, path})
                continue
            kind, name = next(iter(item["inner"])), used["name"]
        full = f"{path}::{name}"
        if full in seen or kind not in _NAMED:
            continue
        yield from _placed(root, full, item)
        if kind == "module":
            yield from _below(root, items, item, full, {*seen, full})
        else:
            yield from _members(root, items, item, full)


def _members(root: Path, items: Mapping[str, Any], item: Mapping[str, Any], full: str) -> Iterator[Name]:
    """Yield the public functions of a type or trait that are written for it."""
    ((kind, inner),) = item["inner"].items()
    numbers = list(inner["items"]) if kind == "trait" else []
    for number in inner["impls"] if kind in {"enum", "struct", "union"} else ():
        block = items.get(str(number))
        if block is not None and block["inner"]["impl"]["trait"] is None:
            numbers += block["inner"]["impl"]["items"]
    for number in numbers:
        member = items.get(str(number))
        if member is None or "function" not in member["inner"]:
            continue
        if member["visibility"] == "public" or kind == "trait":
            yield from _placed(root, f"{full}::{member['name']}", member)


def _placed(root: Path, name: str, item: Mapping[str, Any]) -> Iterator[Name]:
    span = item["span"]
    if span is not None and "module" not in item["inner"] and (root / span["filename"]).is_file():
        yield Name(name, span["filename"].removeprefix(f"{root}/"), span["begin"][0], span["end"][0])
