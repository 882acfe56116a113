"""The program of the first page, with the SDK that it names; a server on this machine gives the responses."""

from __future__ import annotations

import re
from pathlib import Path

from local_server import serving

PAGE = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")

CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "refund", "arguments": '{"order_id": "A7", "amount": 6}'},
}
MESSAGES = (
    ({"role": "assistant", "content": None, "tool_calls": [CALL]}, "tool_calls"),
    ({"role": "assistant", "content": "Your money is on its way."}, "stop"),
)


def response(message, finish_reason):
    """Return a response of the API, with what the SDK wants to see in it."""
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return {"id": "r1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def test_the_program_of_the_first_page_runs_with_the_sdk(monkeypatch, capsys):
    blocks = re.findall(r"^```(?:python|py)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    program = [block for block in blocks if not block.startswith(">>> ")]
    assert program[-1].startswith("from openai import OpenAI\n")
    with serving(*(response(*each) for each in MESSAGES)) as (address, requests):
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        names = {"__name__": "my_tools"}
        for block in program:
            code = compile(block, "README.md", "exec", dont_inherit=True)
            exec(code, names)  # noqa: S102  # the page's own code
    assert capsys.readouterr().out == "Your money is on its way.\n"
    assert names["paid"] == ["A7"]
    assert requests[1]["messages"][-1]["content"] == "6.00 USD are on the way"
