"""The conformance tests of the protocol, from npm, as far as they are about what we have."""

from __future__ import annotations

import pytest
from conformance.measure import SERVERS, SUITES, measured_client, measured_server, unexpected

OURS = [server for server in SERVERS if server.missing is not None]
# Behind the gateway, each scenario starts a server of its own. So the scenarios of the older package, which
# 2025-11-25 requires all, are left to `make conformance` there.
PAIRS = [(server, suite) for server in OURS for suite in SUITES if server == OURS[0] or suite != SUITES[0]]


@pytest.mark.parametrize(("server", "suite"), PAIRS, ids=lambda value: value.label)
def test_our_servers_pass_all_but_what_they_lack(server, suite):
    count = measured_server(server, suite)
    assert len(count.passed) > 9  # it was reached
    assert unexpected(server.label, count, server.missing) == []


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.label)
def test_our_client_passes(suite):
    count = measured_client("ours", suite)
    assert count.failed == ()
