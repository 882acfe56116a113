"""In which folder and with which environment does a server work that the probe starts?"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...message_text import one_line
from .probe_error import ProbeError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

_FOLDERS: Final = ("work", "home", "tmp")
_MOST_FILES: Final = 2000
_MOST_HASHED: Final = 5_000_000
_KEPT_VARIABLES: Final = (
    *("PATH", "PATHEXT", "SYSTEMROOT", "LANG", "LC_ALL", "TZ", "VIRTUAL_ENV", "NODE_PATH"),
    *("PYTHONPATH", "UV_CACHE_DIR", "npm_config_cache", "PYTHONDONTWRITEBYTECODE"),
)


@dataclass(frozen=True)
class ServerFolders:
    """The folders of a server that the probe starts; each start makes them anew.

    Attributes:
        root: the folder around the others.
        work: the working directory of the server, whose files are compared.
    """

    root: Path
    work: Path

    @classmethod
    def new(cls) -> Self:
        """Make the folders."""
        root = Path(tempfile.mkdtemp(prefix="probe-")).resolve()
        for name in _FOLDERS:
            (root / name).mkdir()
        return cls(root, root / "work")

    def fill(self, setup: str | None, env: Mapping[str, str]) -> None:
        """Make the folders anew, and run the command that prepares the working directory.

        Raises:
            ProbeError: the command fails.
        """
        for name in _FOLDERS:
            shutil.rmtree(self.root / name, ignore_errors=True)
            (self.root / name).mkdir()
        (self.work / "notes.txt").write_text("first line\nsecond line\n", encoding="utf-8")
        (self.work / "folder").mkdir()
        if setup is None:
            return
        done = subprocess.run(  # noqa: S602  # the user's own command line
            setup, shell=True, cwd=self.work, env=dict(env), capture_output=True, check=False
        )
        if done.returncode:
            reason = one_line(done.stderr.decode(errors="replace").strip(), 300)
            message = f"the setup command ended with status {done.returncode}{reason and f': {reason}'}"
            raise ProbeError(message)

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the server: what is needed to start programs, and its own folders."""
        kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        home, tmp = str(self.root / "home"), str(self.root / "tmp")
        own = {"HOME": home, "USERPROFILE": home, "TMPDIR": tmp, "TEMP": tmp, "TMP": tmp}
        given = {name: value.replace("{folder}", str(self.work)) for name, value in more.items()}
        return {**_caches(), **kept, **own, **given}

    def files(self) -> dict[str, str]:
        """Return the files of the working directory: path to a digest of the content."""
        found: dict[str, str] = {}
        for folder, folders, files in os.walk(self.work):
            folders[:] = [name for name in folders if name != "__pycache__"]
            for name in sorted(folders):
                found[f"{(Path(folder) / name).relative_to(self.work)}/"] = ""
            for name in sorted(files):
                path = Path(folder) / name
                found[str(path.relative_to(self.work))] = _digest(path, self.work)
            if len(found) > _MOST_FILES:
                break
        return found

    def remove(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self.root, ignore_errors=True)


def _digest(path: Path, root: Path) -> str:
    """Return a digest of a file; of hidden files, such as caches, only whether they are empty."""
    try:
        if any(part.startswith(".") for part in path.relative_to(root).parts):
            return "" if path.lstat().st_size == 0 else "something"
        if path.is_symlink() or path.stat().st_size > _MOST_HASHED:
            return str(path.lstat().st_size)
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"


def _caches() -> dict[str, str]:
    """Return where `uvx` and `npx` keep downloads, since the server has another home folder."""
    places = {"UV_CACHE_DIR": Path.home() / ".cache" / "uv", "npm_config_cache": Path.home() / ".npm"}
    return {name: str(place) for name, place in places.items() if place.is_dir()}
