"""Run `python -m operator_schema`, or a file, in processes of their own that needn't import everything anew.

Importing the SDK of MCP takes ten times as long as what most tests ask its server. So one process imports it
once, and then forks for each command. A command is a program like any other: it has the streams, the folder,
the environment, the signals and the exit status of whoever starts it. Only the process's number is another.

    client (a test)  ->  `warm_command.py`: hands over its streams  ->  fork of the server: the command
"""

from __future__ import annotations

import array
import atexit
import gc
import importlib
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

CAN_FORK = hasattr(os, "fork") and sys.platform != "emscripten"
CLIENT = Path(__file__).resolve().with_name("warm_command.py")
IMPORTED = (
    "operator_schema.workbench.cli.app",
    "operator_schema.workbench.cli.check_command",
    "operator_schema.workbench.cli.compare_commands",
    "operator_schema.workbench.cli.replay_command",
    "operator_schema.workbench.cli.completion",
    "operator_schema.workbench.cli.inspect_command",
    "operator_schema.workbench.cli.probe_command",
    "operator_schema.workbench.cli.serve",
    "operator_schema.workbench.cli.call_command",
    "operator_schema.workbench.cli.decode_command",
    "operator_schema.workbench.cli.tool_commands",
    "operator_schema.execution.around",
    "operator_schema.execution.confirmation",
    "operator_schema.execution.on_asyncio",
    "operator_schema.execution.stream",
    "operator_schema.execution.sync",
    "operator_schema.introspect.foreign_classes",
    "click.shell_completion",
)
NEEDED_BY_SERVERS = (
    "anyio._backends._asyncio",
    "mcp.server",
    "operator_schema.adapters.mcp.gateway",
    "operator_schema.adapters.mcp.http",
    "operator_schema.workbench.cli.gateway_config",
    "operator_schema.workbench.cli.gateway_opening",
    "starlette.applications",
    "uvicorn.lifespan.on",
)
"""Modules that commands import when they need them."""
SCRIPT = "--script"
"""The first word of those that run a file; the command has no such option."""
_servers: dict[tuple[str, ...], str] = {}


def command(*, serves: bool = False) -> list[str]:
    """Return the words that run `python -m operator_schema` at once.

    Args:
        serves: whether the SDK of MCP is imported as well.
    """
    if not CAN_FORK:
        return [sys.executable, "-m", "operator_schema"]
    imported = IMPORTED + (NEEDED_BY_SERVERS if serves else ())
    if imported not in _servers:
        _servers[imported] = started(__file__, imported)
    return [sys.executable, "-I", "-S", str(CLIENT), _servers[imported]]


def script(path: str | Path, *, serves: bool = False) -> list[str]:
    """Return the words that run a Python file at once.

    Args:
        path: of the file, as the process finds it.
        serves: whether the SDK of MCP is imported as well.
    """
    if not CAN_FORK:
        return [sys.executable, str(path)]
    return [*command(serves=serves), SCRIPT, str(path)]


def python(server: str, skipped: int) -> str:
    """Return the path of a program that a server runs at once, in the place of Python.

    Args:
        server: the path of its socket.
        skipped: how many words for Python come before those of the program.
    """
    file = Path(server).with_name(f"python-{skipped}")
    if file.exists():
        return str(file)
    file.write_text(
        f"#!{sys.executable} -IS\n"
        "import sys\n"
        f"sys.path.insert(0, {str(CLIENT.parent)!r})\n"
        "from warm_command import run_forked\n"
        f"run_forked({server!r}, sys.argv[{skipped + 1}:])\n",
        encoding="utf-8",
    )
    file.chmod(0o700)
    atexit.register(file.unlink, missing_ok=True)
    return str(file)


def started(server: str, words: Sequence[str], options: Sequence[str] = ()) -> str:
    """Start a process that forks, which lives as long as this one; return the path of its socket.

    Args:
        server: the file of its program, which gets this path and the number of the listening socket first.
        words: that it gets then.
        options: of Python.
    """
    path = str(Path(tempfile.mkdtemp(prefix="warm-"), "socket"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(128)
    server = subprocess.Popen(
        [sys.executable, *options, server, path, str(listener.fileno()), *words],
        stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(CLIENT.parents[1])},
        pass_fds=[listener.fileno()],
        start_new_session=True,
    )
    listener.close()
    atexit.register(server.communicate)
    return path


# The server. It forks for each command, and never starts a thread.


def serve(path: str, listener: socket.socket, *, leads: bool = False) -> list[str]:
    """Fork for each command; return its words in the fork. The server itself ends with its standard input.

    Args:
        path: of the socket.
        listener: is asked for commands.
        leads: whether each fork has a session of its own, and ends with all processes in it.
    """
    end = _end_group if leads else _end
    waker, woken = socket.socketpair()
    waker.setblocking(False)
    woken.setblocking(False)
    signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    running: dict[int, socket.socket] = {}
    while True:
        ready, _, _ = select.select([0, listener, woken, *running.values()], [], [])
        if 0 in ready:
            break
        if woken in ready:
            woken.recv(4096)
            _report_ended(running)
        for process, connection in list(running.items()):
            if connection in ready:  # it never says anything more: whoever asked was killed
                end(process)
                running.pop(process).close()
        if listener in ready:
            connection, _ = listener.accept()
            asked = _received(connection)
            process = os.fork()
            if process == 0:
                signal.set_wakeup_fd(-1)
                if leads:
                    os.setsid()
                for one in (listener, waker, woken, connection, *running.values()):
                    one.close()
                _become(asked)
                return asked.words
            for stream in asked.streams:
                os.close(stream)
            _try_to_send(connection, process)
            running[process] = connection
    for process in running:
        end(process)
    Path(path).unlink()
    Path(path).parent.rmdir()
    os._exit(0)


def _end(process: int) -> None:
    os.kill(process, signal.SIGKILL)


def _end_group(process: int) -> None:
    with suppress(ProcessLookupError):  # it doesn't lead a group yet
        os.killpg(process, signal.SIGKILL)
    _end(process)


def _report_ended(running: dict[int, socket.socket]) -> None:
    while running:
        process, status = os.waitpid(-1, os.WNOHANG)
        if process == 0:
            return
        if connection := running.pop(process, None):
            with connection:
                _try_to_send(connection, os.waitstatus_to_exitcode(status))


def _try_to_send(connection: socket.socket, number: int) -> None:
    with suppress(OSError):  # whoever asked was killed
        connection.sendall(struct.pack("!i", number))


class Asked(NamedTuple):
    """What `warm_command.py` sends.

    Attributes:
        streams: as this process has them.
        folder: to run in.
        words: of the command.
        environment: lines of `NAME=text`.
    """

    streams: array.array[int]
    folder: bytes
    words: list[str]
    environment: list[bytes]


def _received(connection: socket.socket) -> Asked:
    size, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(struct.calcsize("3i")))
    streams = array.array("i")
    streams.frombytes(ancillary[0][2])
    folder, count, *parts = _exactly(connection, struct.unpack("!I", size)[0]).split(b"\0")
    words = [os.fsdecode(word) for word in parts[: int(count)]]
    return Asked(streams, folder, words, parts[int(count) :])


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("the other side has gone")
        data += part
    return data


def _become(asked: Asked) -> None:
    """Take the streams, the folder and the environment of whoever asked."""
    for stream, number in enumerate(asked.streams):
        os.dup2(number, stream)
        os.close(number)
    os.chdir(asked.folder)
    os.environb.clear()
    os.environb.update(line.split(b"=", 1) for line in asked.environment)
    sys.path[1:1] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    _open_streams()


def _open_streams() -> None:
    """Make standard streams as Python makes them when it starts."""
    encoding, _, errors = os.environ.get("PYTHONIOENCODING", "utf-8").partition(":")
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        standard = {"encoding": encoding, "errors": errors or ("backslashreplace" if number == 2 else None)}
        stream = open(number, mode, closefd=False, **standard)  # noqa: SIM115  # it stays open to the end
        stream.reconfigure(
            line_buffering=number == 2 or stream.isatty(), write_through=at_once and number > 0
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _run_command() -> None:
    runpy.run_module("operator_schema", run_name="__main__", alter_sys=True)


def _run_script() -> None:
    path = str(Path(sys.argv[1]).resolve())
    sys.argv = [path, *sys.argv[2:]]
    sys.path[0] = str(Path(path).parent)
    runpy.run_path(path, run_name="__main__")


def run_and_end(run: Callable[[], None]) -> None:
    """Run something and end as Python does, without freeing all that was imported: that takes longest."""
    status = 0
    try:
        run()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        status = end.code or 0
    threading._shutdown()
    atexit._run_exitfuncs()
    gc.collect()
    with suppress(OSError):  # a closed pipe gets the status that Python gives it
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:  # a file may have closed it
                stream.flush()
        os._exit(status & 0xFF)
    sys.exit(status)


def main() -> None:
    path, number, *imported = sys.argv[1:]
    for name in imported:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    words = serve(path, socket.socket(fileno=int(number)))
    sys.path[0] = str(Path.cwd())  # as `python -m` does it
    if words[:1] == [SCRIPT]:
        sys.argv[1:] = words[1:]
        run_and_end(_run_script)
    sys.argv[1:] = words
    run_and_end(_run_command)


if __name__ == "__main__":
    main()
