"""What the tests with real frameworks share: no test asks anything outside of this machine."""

from __future__ import annotations

import ipaddress
import os
import sys

import pytest

pytest.register_assert_rewrite("contract", "turns")

# What the frameworks tell their makers, and where they would keep files, is off.
os.environ |= {
    "AGNO_TELEMETRY": "false",
    "ANONYMIZED_TELEMETRY": "false",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "LANGSMITH_TRACING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "OTEL_SDK_DISABLED": "true",
}


def _refuse_other_machines(event: str, args: tuple[object, ...]) -> None:
    if event == "socket.connect" and isinstance(address := args[1], tuple):
        try:
            is_here = ipaddress.ip_address(address[0]).is_loopback
        except ValueError:
            is_here = address[0] == "localhost"
        if not is_here:
            message = f"a test connects to {address[0]}"
            raise PermissionError(message)


sys.addaudithook(_refuse_other_machines)
