"""Ask one checker of Python about pairs of schemas: a pair in each line, an answer in each line."""

from __future__ import annotations

import json
import sys
from typing import Any


def mcp_diff(old: dict[str, Any], new: dict[str, Any]) -> bool:
    from mcp_diff.diff import classify_changes, has_breaking

    tools = [[{"name": "tool", "description": "", "inputSchema": schema}] for schema in (old, new)]
    return bool(has_breaking(classify_changes(*tools)))


def jsoncompat(old: dict[str, Any], new: dict[str, Any]) -> bool:
    import jsoncompat as checker

    # Who reads arguments has to take what was written before.
    return not checker.check_compat(json.dumps(old), json.dumps(new), checker.Role.DESERIALIZER)


def jsonsubschema(old: dict[str, Any], new: dict[str, Any]) -> bool:
    from jsonsubschema import isSubschema

    return not isSubschema(old, new)


def main() -> None:
    is_breaking = {"mcp-diff": mcp_diff, "jsoncompat": jsoncompat, "jsonsubschema": jsonsubschema}[
        sys.argv[1]
    ]
    answers, sys.stdout = sys.stdout, sys.stderr
    is_breaking({"type": "object", "properties": {}}, {"type": "object", "properties": {}})
    answers.write("ready\n")
    answers.flush()
    for line in sys.stdin:
        old, new = json.loads(line)
        try:
            answer = {"breaking": is_breaking(old, new)}
        except Exception as error:  # noqa: BLE001  # of whatever kind: it gave no answer
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


main()
