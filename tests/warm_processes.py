"""Run `python -m operator_schema` in processes of their own that needn't import everything anew.

Importing the SDK of MCP takes ten times as long as what most tests ask its server. So one process imports it
once, and then forks for each command. A command is a program like any other: it has the streams, the folder,
the environment, the signals and the exit status of whoever starts it. Only the process's number is another.

    client (a test)  ->  this file as a program: hands over its streams  ->  fork of the server: the command
"""

from __future__ import annotations

import array
import atexit
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from typing import Any

CAN_FORK = hasattr(os, "fork") and sys.platform != "emscripten"
STREAMS = (0, 1, 2)
PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP")
IMPORTED = (
    "operator_schema.cli.app",
    "operator_schema.cli.check_command",
    "operator_schema.cli.compare_commands",
    "operator_schema.cli.inspect_command",
    "operator_schema.cli.probe_command",
    "operator_schema.cli.serve",
    "operator_schema.cli.tool_commands",
    "operator_schema.cli.type_commands",
)
NEEDED_BY_SERVERS = ("uvicorn", "starlette.applications", "mcp.server", "operator_schema.adapters.mcp.http")
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
        _servers[imported] = _started(imported)
    return [sys.executable, "-I", "-S", __file__, _servers[imported]]


def _started(imported: tuple[str, ...]) -> str:
    """Start a process that forks, which lives as long as this one; return the path of its socket."""
    import tempfile

    path = os.path.join(tempfile.mkdtemp(prefix="warm-"), "socket")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(128)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    server = subprocess.Popen(
        [sys.executable, __file__, path, str(listener.fileno()), *imported],
        stdin=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
        pass_fds=[listener.fileno()],
        start_new_session=True,
    )
    listener.close()
    atexit.register(server.communicate)
    return path


# The program that a test starts. It imports no more than it needs, since it is started often.


def run_forked(path: str, words: list[str]) -> None:
    """Let the server run a command with the streams of this process, and end as it ends."""
    signals = [number for name in PASSED_ON if (number := getattr(signal, name, None)) is not None]
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    asked = json.dumps({"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}).encode()
    streams = array.array("i", STREAMS)
    connection.sendmsg(
        [struct.pack("!I", len(asked))], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams.tobytes())]
    )
    connection.sendall(asked)
    for stream in STREAMS:
        os.close(stream)
    process = struct.unpack("!i", _exactly(connection, 4))[0]
    for number in signals:
        signal.signal(number, lambda received, _frame: os.kill(process, received))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)
    status = struct.unpack("!i", _exactly(connection, 4))[0]
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("the other side has gone")
        data += part
    return data


# The server. It forks for each command, and never starts a thread.


def serve(path: str, listener: socket.socket) -> list[str]:
    """Fork for each command; return its words in the fork. The server itself ends with its standard input."""
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
                os.kill(process, signal.SIGKILL)
                running.pop(process).close()
        if listener in ready:
            connection, _ = listener.accept()
            asked, streams = _received(connection)
            process = os.fork()
            if process == 0:
                signal.set_wakeup_fd(-1)
                for one in (listener, waker, woken, connection, *running.values()):
                    one.close()
                _become(asked, streams)
                return asked["words"]
            for stream in streams:
                os.close(stream)
            _try_to_send(connection, process)
            running[process] = connection
    for process in running:
        os.kill(process, signal.SIGKILL)
    os.unlink(path)
    os.rmdir(os.path.dirname(path))
    os._exit(0)


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


def _received(connection: socket.socket) -> tuple[dict[str, Any], array.array[int]]:
    """Return what is asked, and the streams of whoever asks."""
    size, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_SPACE(struct.calcsize("3i")))
    streams = array.array("i")
    streams.frombytes(ancillary[0][2])
    return json.loads(_exactly(connection, struct.unpack("!I", size)[0])), streams


def _become(asked: dict[str, Any], streams: array.array[int]) -> None:
    """Take the streams, the folder and the environment of whoever asked."""
    for stream, number in zip(STREAMS, streams, strict=True):
        os.dup2(number, stream)
        os.close(number)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
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


def main() -> None:
    path, *words = sys.argv[1:]
    if sys.flags.isolated:
        run_forked(path, words)
    number, *imported = words
    import gc
    import importlib
    import runpy

    for name in imported:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    words = serve(path, socket.socket(fileno=int(number)))
    sys.path[0] = os.getcwd()  # as `python -m` does it
    sys.argv[1:] = words
    runpy.run_module("operator_schema", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
