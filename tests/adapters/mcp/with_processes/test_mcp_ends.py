"""When a gateway ends, however it does, what it has started is gone."""

from __future__ import annotations

import json
import os
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from mcp_processes import raw_server
from patience import LONGEST_WAIT, wait_until

pytestmark = [
    pytest.mark.slow("starts a gateway in a process, and a server behind it"),
    pytest.mark.skipif(os.name == "nt", reason="the SDK puts programs into a job there"),
]

HANGING = """
import json, os, signal, subprocess, sys, time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(1000)"])

def answer(request, result):
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)

for line in sys.stdin:
    request = json.loads(line)
    match request["method"]:
        case "initialize":
            said = {"name": "hanging", "version": "1"}
            version = request["params"]["protocolVersion"]
            answer(request, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": said})
        case "tools/list":
            answer(request, {"tools": [{"name": "hang", "inputSchema": {"type": "object"}}]})
        case "tools/call":
            with open("pids.new", "w") as file:
                file.write(f"{os.getpid()} {child.pid}")
            os.rename("pids.new", "pids")
            while True:
                time.sleep(1000)
        case _:
            if "id" in request:
                error = {"code": -32601, "message": "Method not found"}
                print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}), flush=True)
"""


GROUPS = {"same": "", "group": "os.setpgid(0, 0)", "session": "os.setsid()"}
WAYS = [(name, group) for name in ("SIGKILL", "SIGTERM") for group in GROUPS]


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    """What each way to end a gateway leaves; all at once, as each of them waits for seconds."""
    with ThreadPoolExecutor(len(WAYS)) as threads:
        yield {way: threads.submit(left_after, tmp_path_factory.mktemp("gateway"), *way) for way in WAYS}


@pytest.mark.parametrize("way", WAYS, ids="-".join)
def test_a_server_that_hangs_and_ignores_signals_is_gone_after_its_gateway(ends, way):
    assert ends[way].result(3 * LONGEST_WAIT) == []


def left_after(folder, name, group):
    """Return the processes that are left after a gateway got a signal."""
    source = HANGING.replace("sys, time\n", f"sys, time\n{GROUPS[group]}\n", 1)
    (folder / "hanging.py").write_text(source)
    entry = {"command": sys.executable, "args": ["-S", "hanging.py"], "cwd": str(folder)}
    (folder / "servers.json").write_text(json.dumps({"mcpServers": {"slow": entry}}))
    with raw_server("--gateway", "servers.json", folder=folder) as raw:
        raw.begin()
        raw.call(1, "slow_hang")
        assert wait_until(lambda: len(pids_in(folder)) == 2)
        pids = pids_in(folder)
        assert not any(map(is_gone, pids))
        try:
            raw.process.send_signal(getattr(signal, name))
            raw.process.wait(LONGEST_WAIT)
            wait_until(lambda: all(map(is_gone, pids)))
            return [pid for pid in pids if not is_gone(pid)]
        finally:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def pids_in(folder):
    try:
        return [int(pid) for pid in (folder / "pids").read_text().split()]
    except FileNotFoundError:
        return []


def is_gone(pid):
    """Return whether a process has ended; one that nobody waits for has, too."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return False
