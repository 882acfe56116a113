"""Let a server of `warm_processes.py` run a command: `warm_command.py SOCKET WORD...`.

Tests start it hundreds of times, so it imports only what takes a millisecond: `socket`, `signal` and `json`
take as long as Python itself.
"""

import _signal
import _socket
import os
import sys

PASSED_ON = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)


def run_forked(path, words):
    """Let the server run a command with the streams of this process, and end as it ends."""
    _signal.pthread_sigmask(_signal.SIG_BLOCK, PASSED_ON)
    connection = _socket.socket(_socket.AF_UNIX)
    connection.connect(path)
    parts = [os.getcwd(), str(len(words)), *words, *(f"{name}={text}" for name, text in os.environ.items())]
    asked = b"\0".join(os.fsencode(part) for part in parts)
    streams = b"".join(number.to_bytes(4, sys.byteorder) for number in range(3))
    connection.sendmsg([len(asked).to_bytes(4, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    connection.sendall(asked)
    for stream in range(3):
        os.close(stream)
    process = received(connection)
    for number in PASSED_ON:
        _signal.signal(number, lambda number, _frame: os.kill(process, number))
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, PASSED_ON)
    status = received(connection)
    if status < 0:
        _signal.signal(-status, _signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)


def received(connection):
    """Return the number that the server sends next."""
    data = b""
    while len(data) < 4:
        part = connection.recv(4 - len(data))
        if not part:
            raise ConnectionError("the other side has gone")
        data += part
    return int.from_bytes(data, "big", signed=True)


if __name__ == "__main__":
    run_forked(sys.argv[1], sys.argv[2:])
