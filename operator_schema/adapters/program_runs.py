"""How is a program run with one request, and ended with everything that it started?"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from threading import Lock, Thread
from time import monotonic
from typing import IO, TYPE_CHECKING, Any

from ..codec.json_text import read_json
from ..errors import ToolError
from ..execution import current_backend
from ..immutable import Value
from ..json_values import is_object, to_json_text
from ..message_text import excerpt, one_line
from ..processes import kill_group

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_OUTPUT = 10_000_000
"""The most bytes of an answer."""

_MAX_ERRORS = 4000
_SHOWN_ERRORS = 1000
_CHUNK = 65_536
_SECONDS_TO_END = 2.0


class StartedProgram(Value):
    """A program and the settings to start it.

    Attributes:
        command: its path and arguments; no shell is involved.
        timeout: seconds that one run may take.
        env: its environment variables, all of them; None for those of this process.
        cwd: its working directory; None for that of this process.
    """

    command: tuple[str, ...]
    timeout: float
    env: Mapping[str, str] | None
    cwd: str | None


def ask(program: StartedProgram, tool: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Run a program with one request, and return its answer.

    Args:
        program: the program to run.
        tool: name for messages.
        request: JSON values.

    Raises:
        TimeoutError: the program took too long; it was ended, with all processes that it started.
        ToolError: the program can't be started, its answer is too long or isn't a JSON object, or it failed.
    """
    run = _RunningProgram(program, tool, request)
    try:
        run.finish()
    finally:
        run.end()
    return run.answer()


async def aask(program: StartedProgram, tool: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Ask a program as `ask` does, without blocking the event loop; cancelling this ends the program."""
    run = _RunningProgram(program, tool, request)
    sent = current_backend().signal()
    failures: list[BaseException] = []

    def work() -> None:
        try:
            run.finish()
        except BaseException as error:  # noqa: BLE001  # it is raised in the task
            failures.append(error)
        finally:
            run.end()
            with suppress(RuntimeError):  # the event loop is closed
                sent.send()

    Thread(target=work, name=f"operator_schema-{tool}", daemon=True).start()
    try:
        await sent.wait(None)
    except BaseException:  # the task is cancelled: the program ends with it
        run.end()
        raise
    for failure in failures:
        raise failure
    return run.answer()


class _RunningProgram:
    """A program that runs."""

    def __init__(self, program: StartedProgram, tool: str, request: Mapping[str, Any]) -> None:
        self._tool = tool
        self._timeout = program.timeout
        self._until = monotonic() + program.timeout
        self._output = bytearray()
        self._errors = bytearray()
        self._request = to_json_text(request).encode("utf-8", "surrogatepass")
        self._ending = Lock()
        try:
            self._process: subprocess.Popen[bytes] = subprocess.Popen(  # noqa: S603  # that is what it is for
                list(program.command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=None if program.env is None else dict(program.env),
                cwd=program.cwd,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            message = f"its program can't be started: {error}"
            raise ToolError(tool, message) from error

    def finish(self) -> None:
        """Wait until the program has answered and ended."""
        process = self._process
        assert process.stdin is not None  # noqa: S101  # all three are pipes
        assert process.stdout is not None  # noqa: S101  # as above
        assert process.stderr is not None  # noqa: S101  # as above
        threads = [
            Thread(target=self._write, args=(process.stdin,), daemon=True),
            Thread(target=self._read, args=(process.stdout,), daemon=True),
            Thread(target=self._read_errors, args=(process.stderr,), daemon=True),
        ]
        for thread in threads:
            thread.start()
        threads[1].join(max(0.0, self._until - monotonic()))
        if threads[1].is_alive():
            message = f"the program took longer than {self._timeout:g} s"
            raise TimeoutError(message)
        # After its answer, it gets only a moment to end.
        with suppress(subprocess.TimeoutExpired):
            process.wait(min(_SECONDS_TO_END, max(0.0, self._until - monotonic())))
        threads[2].join(_SECONDS_TO_END / 4)

    def end(self) -> None:
        """End the program, with all processes that it started, if it still runs."""
        process = self._process
        with self._ending:
            if process.returncode is not None:
                return
            # It wasn't waited for, so that no other process can have its number.
            kill_group(process)
            with suppress(subprocess.TimeoutExpired):
                process.wait(_SECONDS_TO_END)

    def answer(self) -> dict[str, Any]:
        """Return the answer of a program that has ended."""
        if len(self._output) > _MAX_OUTPUT:
            fault = f"its answer is longer than {_MAX_OUTPUT:,} bytes"
            raise self._failed(fault)
        value, problems = read_json(bytes(self._output))
        if not problems.found and is_object(value):
            return value
        fault = f"its answer isn't an object: {excerpt(value)}"
        if problems.found:
            fault = f"its answer isn't JSON: {excerpt(self._output[:200].decode('utf-8', 'replace'))}"
        raise self._failed(fault if self._output.strip() else "it answered nothing")

    def _failed(self, fault: str) -> ToolError:
        said = self._errors.decode("utf-8", "replace").strip()
        shown = f"; it wrote: {one_line(said[-_SHOWN_ERRORS:], _SHOWN_ERRORS)}" if said else ""
        status = f" (exit status {self._process.returncode})" if self._process.returncode else ""
        return ToolError(self._tool, f"its program failed{status}: {fault}{shown}")

    def _write(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stream:  # it may end without having read everything
            stream.write(self._request)

    def _read(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stream:
            while len(self._output) <= _MAX_OUTPUT:
                chunk = os.read(stream.fileno(), _CHUNK)
                if not chunk:
                    return
                self._output += chunk

    def _read_errors(self, stream: IO[bytes]) -> None:
        with suppress(OSError, ValueError), stream:
            while chunk := os.read(stream.fileno(), _CHUNK):
                self._errors += chunk
                del self._errors[:-_MAX_ERRORS]
