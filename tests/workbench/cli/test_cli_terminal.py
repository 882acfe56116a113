"""The command in a terminal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from contextlib import suppress

import pytest
import warm_processes
from cli_samples import environment, on_posix, process
from patience import LONGEST_WAIT

pytestmark = pytest.mark.slow("starts a process with a terminal for each question")


def on_terminal(argv, folder, out=True, err=True, typed=None, **more):
    """Run with standard output, error or both on a pseudo terminal; return what it shows.

    `typed` is written to standard input, which is then the terminal too.
    """
    import pty

    master, slave = pty.openpty()
    child = subprocess.Popen(
        [*warm_processes.command(), *argv],
        cwd=folder,
        stdin=subprocess.DEVNULL if typed is None else slave,
        stdout=slave if out is True else out or subprocess.DEVNULL,
        stderr=slave if err else subprocess.DEVNULL,
        env=environment(**more),
    )
    if typed is not None:
        os.write(master, typed.encode())
    os.close(slave)
    shown = b""
    try:
        while chunk := os.read(master, 65536):
            shown += chunk
    except OSError:  # how Linux tells that the other end is closed
        pass
    os.close(master)
    return child.wait(timeout=LONGEST_WAIT), shown.decode().replace("\r\n", "\n")


ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


HOSTILE = """\
{"query": "[red]x[/red] :smile: \\u001b[31m \\u009b31m \\u202e \x7f"}
{"mode": "[b]\\u001b]0;x\\u0007"}
"""


@pytest.fixture
def hostile(tmp_path):
    file = tmp_path / "hostile.jsonl"
    file.write_text(HOSTILE, encoding="utf-8")
    return str(file)


@on_posix
@pytest.mark.needs_process
def test_rich_colours_what_a_person_sees(folder):
    status, shown = on_terminal(["schema", "clitools:Search"], folder)
    assert status == 0
    assert "\x1b[" in shown
    assert ESCAPE.sub("", shown) == process(["schema", "clitools:Search"], folder)[1]


@on_posix
@pytest.mark.needs_process
def test_verdicts_and_tables_are_the_same_text_in_colour(folder):
    status, shown = on_terminal(["check", "faulty"], folder)
    assert status == 1
    assert "\x1b[" in shown
    assert ESCAPE.sub("", shown) == process(["check", "faulty"], folder)[1]
    _, out, err = process(["tools", "callable"], folder)
    assert ESCAPE.sub("", on_terminal(["tools", "callable"], folder)[1]) == err + out


@on_posix
@pytest.mark.parametrize("more", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
@pytest.mark.needs_process
def test_plain_text_on_a_terminal(folder, hostile, more):
    argv = ["decode", "--lines", "clitools:Search", hostile]
    status, shown = on_terminal(argv, folder, **more)
    assert status == 1
    assert "\x1b" not in shown
    _, out, err = process(argv, folder)
    assert shown == out + err


@on_posix
@pytest.mark.needs_process
def test_nothing_in_a_value_is_markup_or_a_command(folder, hostile):
    argv = ["decode", "--lines", "clitools:Search", hostile]
    status, shown = on_terminal(argv, folder)
    assert status == 1
    assert re.search("[\x00-\x09\x0b-\x1a\x7f-\x9f\u202e]", shown) is None
    _, out, err = process(argv, folder)
    assert ESCAPE.sub("", shown) == out + err
    assert "[red]x[/red] :smile: \\u001b[31m \\u009b31m \\u202e \\u007f" in out


@pytest.fixture
def long(tmp_path):
    file = tmp_path / "long.jsonl"
    line = b'{"query": "' + b"x" * 500 + b'"}\n'
    file.write_bytes(line * 600 + b"null\n")
    return str(file)


@on_posix
@pytest.mark.needs_process
def test_rich_draws_a_progress_bar_on_long_input(folder, long):
    status, shown = on_terminal(["decode", "--lines", "clitools:Search", long], folder, out=False)
    assert status == 1
    assert "decoding" in shown
    assert re.search(r"/30\d\.\d kB", shown)
    plain = ESCAPE.sub("", shown)
    assert f"{long}:601: Search: 1 problem with the arguments" in plain
    assert plain.endswith("601 values: 600 decoded, 1 failed\n")


@on_posix
@pytest.mark.needs_process
def test_no_progress_bar_where_values_run_over_the_terminal_or_input_is_short(folder, long, hostile):
    assert "decoding" not in on_terminal(["decode", "--lines", "clitools:Search", long], folder)[1]
    reader, writer = os.pipe()
    os.close(reader)  # as `head` does once it has its lines, which it may have written to the terminal
    with os.fdopen(writer, "wb") as pipe:
        status, shown = on_terminal(["decode", "--lines", "clitools:Search", long], folder, out=pipe)
    assert (status, shown) == (141, "")
    short = on_terminal(["decode", "--lines", "clitools:Search", hostile], folder, out=False)
    assert "decoding" not in short[1]


WIPE = """
from operator_schema import tool


@tool(confirm=True)
def wipe(path: str, force: bool = True) -> str:
    \"\"\"Wipe a folder.\"\"\"
    return f"wiped {path}"
"""


ASKED = "Run it? [y/N]: "


@pytest.fixture
def wiping(folder):
    (folder / "wiping.py").write_text(WIPE, encoding="utf-8")
    return folder


@on_posix
@pytest.mark.needs_process
@pytest.mark.parametrize(
    ("typed", "status", "end"),
    [
        ("y\n", 0, "wiped a"),
        ("YES\n", 0, "wiped a"),
        ("n\n", 1, "This call was rejected: a person declined it"),
        ("\n", 1, "This call was rejected: a person declined it"),
    ],
)
def test_a_call_asks_before_a_tool_that_needs_a_person(wiping, typed, status, end):
    ended, shown = on_terminal(["call", "wiping:wipe", "path=a", "pat=b"], wiping, typed=typed, NO_COLOR="1")
    assert (ended, shown.strip().rpartition("\n")[2].removeprefix(ASKED)) == (status, end)
    assert 'Run wipe?\npath: "a"\nforce: true\n' in shown.replace("\r", "")
    assert "ignores: pat (did you mean" in shown


REFUND = """
from typing import Annotated
from operator_schema import NeedsInput, skip, tool


@tool(timeout=5)
def refund(
    sum: int,
    answer: Annotated[bool | None, skip] = None,
    account: Annotated[str | None, skip] = None,
) -> str:
    \"\"\"Refund a sum.\"\"\"
    if answer is None:
        raise NeedsInput(f"Refund {sum}?")
    if answer and account is None:
        raise NeedsInput("To which account?", parameter="account")
    return f"refunded to {account}" if answer else "kept"
"""


@on_posix
@pytest.mark.needs_process
@pytest.mark.parametrize(
    ("typed", "status", "end"),
    [
        ("n\n", 0, "kept"),
        ("true\nmine\n", 0, "refunded to mine"),
        ("perhaps\nyes\n7\n", 0, "refunded to 7"),
        ("\n", 1, "nobody has answered it: call it from a terminal, which asks you"),
        ("yes\n\n", 1, "nobody has answered it: call it from a terminal, which asks you"),
    ],
)
def test_a_question_of_a_tool_is_asked_on_the_terminal(folder, typed, status, end):
    (folder / "refunding.py").write_text(REFUND, encoding="utf-8")
    ended, shown = on_terminal(["call", "refunding:refund", "sum=5"], folder, typed=typed, NO_COLOR="1")
    last = re.sub(r"^(answer|account): ", "", shown.strip().rpartition("\n")[2])
    assert (ended, last) == (status, end)
    assert "Refund 5?" in shown
    assert ("To which account?" in shown) == (typed[0] in "typ")
    assert ("expected boolean" in shown) == typed.startswith("perhaps")


@on_posix
@pytest.mark.needs_process
def test_nobody_is_asked_about_a_call_that_does_not_fit(wiping):
    ended, shown = on_terminal(["call", "wiping:wipe", "pth=a"], wiping, typed="y\n")
    assert ended == 1
    assert "[y/N]" not in shown


@pytest.mark.needs_process
def test_without_a_terminal_a_call_that_needs_a_person_is_refused_unless_told_otherwise(wiping):
    status, out, err = process(["call", "wiping:wipe", "path=a"], wiping)[:3]
    assert (status, out) == (1, "")
    assert err == (
        "wipe was not run: a person has to agree to it first, and nobody has. Calling it again will not "
        "help; tell the user what you wanted to do\nrun it with --yes, or from a terminal, which asks you\n"
    )
    assert process(["call", "--yes", "wiping:wipe", "path=a"], wiping)[:2] == (0, "wiped a\n")


BOOK = """
from dataclasses import dataclass
from typing import Literal
from operator_schema import tool


@dataclass
class Guest:
    name: str


@tool
def book(nights: int, room: Literal["single", "double"], guest: Guest, note: str, pets: bool = False) -> str:
    \"\"\"Book a room.

    Args:
        nights: How many.
        room: Which kind.
    \"\"\"
    if nights < 0:
        raise ValueError("negative")
    return f"{nights} {room} {guest.name} {note!r} {pets}"
"""


@pytest.fixture
def booking(folder):
    (folder / "booking.py").write_text(BOOK, encoding="utf-8")
    return folder


@on_posix
@pytest.mark.needs_process
def test_a_call_asks_for_what_is_missing_until_it_fits(booking):
    typed = 'two\n2\ntriple\ndouble\nBo\n{"name": "Bo"}\n7\n'
    status, shown = on_terminal(["call", "booking:book"], booking, typed=typed, NO_COLOR="1")
    assert status == 0
    assert shown.strip().rpartition("\n")[2].removeprefix("note: ") == "2 double Bo '7' False"
    assert "book may also get pets (default false)\n" in shown
    assert "nights (integer, required)\n  How many.\n" in shown
    assert 'room ("single" | "double", required)\n  Which kind.\n' in shown
    assert shown.count("Error: ") == 3
    assert 'Error: expected integer, got string "two"' in shown
    assert 'Error: "triple" is not one of "single", "double"' in shown


@on_posix
@pytest.mark.needs_process
@pytest.mark.parametrize(
    "given", [["nights=2", "room=single", "note=x"], ['{"nights":2,"room":"single","note":"x"}']]
)
def test_a_call_asks_only_for_what_is_missing(booking, given):
    words = ["call", "booking:book", *given]
    status, shown = on_terminal(words, booking, typed='{"name": "Al"}\n', NO_COLOR="1")
    assert (status, "nights (" in shown, "2 single Al 'x' False" in shown) == (0, False, True)


@on_posix
@pytest.mark.needs_process
@pytest.mark.parametrize("given", [["nigths=2"], ["nights=x"], ["{"], ['{"nights":1,"nights":2}']])
def test_a_call_that_is_wrong_in_another_way_is_not_asked_about(booking, given):
    status, shown = on_terminal(["call", "booking:book", *given], booking, typed="1\n", NO_COLOR="1")
    assert status == 1
    assert "may also get" not in shown
    assert "1 problem with the arguments" in shown or "problems with the arguments" in shown


@on_posix
@pytest.mark.needs_process
@pytest.mark.usefixtures("wiping")
@pytest.mark.parametrize(
    ("words", "typed"),
    [
        (["booking:book"], "\x04"),
        (["booking:book"], "2\n\x04"),
        (["wiping:wipe", "path=a"], "\x04"),
        (["wiping:wipe", "path=a"], "perhaps\n\x04"),
    ],
)
def test_the_end_of_what_is_typed_ends_the_command(booking, words, typed):
    status, shown = on_terminal(["call", *words], booking, typed=typed, NO_COLOR="1")
    assert status == 130
    assert "Traceback" not in shown
    assert "wiped" not in shown
    assert shown.endswith("\n")


@pytest.mark.needs_process
def test_without_a_terminal_nobody_is_asked_for_arguments(booking):
    status, out, err = process(["call", "booking:book", "nights=2", "room=single", "note=x"], booking)[:3]
    assert (status, out) == (1, "")
    assert "- guest: missing (object" in err
    assert err.endswith("give it as KEY=VALUE, or call the tool from a terminal, which asks for it\n")
    assert "KEY=VALUE" not in process(["call", "booking:book", "nigths=2"], booking)[2]


@on_posix
@pytest.mark.needs_process
def test_an_interrupt_at_a_question_ends_the_command(booking):
    import pty

    master, slave = pty.openpty()
    words = [*warm_processes.command(), "call", "booking:book"]
    child = subprocess.Popen(words, cwd=booking, stdin=slave, stdout=slave, stderr=slave, env=environment())
    os.close(slave)
    shown = b""
    while b"nights: " not in shown:
        shown += os.read(master, 65536)
    for _ in range(30):  # readline may not see a signal that comes just before it waits
        child.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            child.wait(timeout=2)
            break
    assert child.poll() == 130
    os.close(master)
