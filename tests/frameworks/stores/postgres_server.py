"""A server of PostgreSQL of its own, in a folder, reached by a socket in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from patience import LONGEST_WAIT

FOLDERS = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
"""Where Debian puts the programs of each version."""


def program(name):
    found = shutil.which(name, path=os.pathsep.join([*map(str, FOLDERS), os.environ["PATH"]]))
    if found is None:
        raise FileNotFoundError(name)
    return found


def is_installed():
    try:
        return bool(program("initdb") and program("postgres"))
    except FileNotFoundError:
        return False


class PostgresServer:
    """A cluster in a folder of its own; it ends with the block."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))  # the path of a socket is short
        # The server refuses to run as root; Debian's package has a user for it.
        self.as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self.process = None

    def __enter__(self):
        if self.as_user:
            shutil.chown(self.folder, "postgres")
        self.folder.chmod(0o755)
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "desk", "--no-sync")
        self.start()
        return self

    def __exit__(self, *raised):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def data(self):
        return str(self.folder / "data")

    def run(self, name, *arguments):
        command = [*self.as_user, program(name), *arguments]
        subprocess.run(command, check=True, capture_output=True, timeout=LONGEST_WAIT, cwd="/")

    def start(self):
        options = f"-c listen_addresses='' -c unix_socket_directories={self.folder} -c fsync=off"
        log, seconds = f"{self.data}/log", str(int(LONGEST_WAIT))
        self.run("pg_ctl", "-D", self.data, "-w", "-t", seconds, "-l", log, "-o", options, "start")

    def stop(self, mode="fast"):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def kill(self):
        """End it as a crash does: all of its processes at once, without saving anything."""
        self.stop("immediate")

    @property
    def conninfo(self):
        return f"host={self.folder} dbname=postgres user=desk"
