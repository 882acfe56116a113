"""A server for a model's file: llama.cpp, on this machine only. It ends with the process that started it."""

from __future__ import annotations

import os
import sys

from xllamacpp import CommonParams, Server

TOKENS_EACH = 4096


def main(path: str, at_once: int) -> None:
    """Load a model, write the address to standard output, and serve until standard input ends."""
    os.nice(10)
    params = CommonParams()
    params.model.path = path
    params.n_ctx, params.n_parallel = TOKENS_EACH * at_once, at_once
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.verbosity, params.ui = 0, False
    # More threads than free cores make each other wait in loops.
    for threads in (params.cpuparams, params.cpuparams_batch):
        threads.n_threads, threads.poll = 1, 0
    server = Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)  # the server would wait for its answers, which nobody reads any more


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
