"""The file of `serve --gateway`: nothing in it that holds tools back is overlooked, no secret is shown."""

from __future__ import annotations

import json
import logging
import sys
from string import ascii_lowercase

import pytest

pytest.importorskip("mcp.client", reason="servers are reached by the package mcp")

import anyio

from operator_schema.workbench.cli.gateway_config import servers_in
from operator_schema.workbench.cli.gateway_opening import open_servers
from operator_schema.workbench.cli.hidden_values import hidden_in_logs
from operator_schema.workbench.cli.module_loading import WrongUse

ODD = "Sword Fish'7\"ü"
RESTRICTING = ("confirm", "only", "seconds", "disabled")
KEYS = (*RESTRICTING, "command", "args", "env", "cwd", "url", "headers", "type")
LISTS = ("mcpServers", "servers")


@pytest.fixture
def read(tmp_path):
    """Return what reads a file of one server."""

    def made(beside=None, **entry):
        file = tmp_path / "servers.json"
        given = {"command": "x", **entry}
        file.write_text(json.dumps({"mcpServers": {"shop": given}, **(beside or {})}))
        return servers_in(str(file))

    return made


class Heard:
    """What is written to standard error."""

    def __init__(self):
        self.text = ""

    def report(self, place, text):
        self.text += f"{place}{text}\n"

    def flush(self):
        pass


def told(servers):
    """Return all that is said when servers can't be reached."""
    heard = Heard()

    async def main():
        async with open_servers(servers, heard):
            pass

    with pytest.raises(WrongUse) as caught:
        anyio.run(main)
    return f"{heard.text}{caught.value}"


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("Confirm", "confirm"),
        ("CONFIRM", "confirm"),
        ("confirms", "confirm"),
        ("confirmed", "confirm"),
        ("comfirm", "confirm"),
        ("confrim", "confirm"),
        ("Only", "only"),
        ("olny", "only"),
        ("onyl", "only"),
        ("Seconds", "seconds"),
        ("second", "seconds"),
        ("on_ly", "only"),
        ("//confirm!", "confirm"),
        ("\uff44\uff49\uff53\uff41\uff42\uff4c\uff45\uff44", "disabled"),
    ],
)
@pytest.mark.parametrize("value", [True, None, [], ["order"]])
def test_a_key_that_is_nearly_one_of_ours_is_refused(read, key, meant, value):
    with pytest.raises(WrongUse, match=f'has "{key}": did you mean {meant}'):
        read(**{key: value})
    with pytest.raises(WrongUse, match=f"{meant} must be in a server"):
        read({key: value})


@pytest.mark.parametrize("key", ["confirm", "only", "seconds"])
def test_our_keys_beside_the_servers_or_as_null_are_refused(read, key):
    with pytest.raises(WrongUse, match=f"{key} must be in a server"):
        read({key: True})
    with pytest.raises(WrongUse, match=f"{key} must be .*, or left out, not null"):
        read(**{key: None})


def test_the_keys_of_clients_are_ignored(read):
    keys = """type timeout alwaysAllow autoApprove trust description envFile transport config configuration
    name icon startup_timeout_sec dev oauth"""
    (server,) = read({"inputs": [], "name": "x"}, **dict.fromkeys(keys.split(), "x"))
    assert (server.confirm, server.only) == (False, None)


def test_what_is_ignored_is_said_once_for_each_server(tmp_path):
    file, lines = tmp_path / "servers.json", []
    shop = {"command": "x", "type": "stdio", "timeout": 5, "autoApprove": ["find"], "tools": []}
    servers = {"shop": shop, "plain": {"command": "x"}, "off": {**shop, "disabled": True}}
    file.write_text(json.dumps({"mcpServers": servers, "theme": "dark", "inputs": []}))
    assert [one.name for one in servers_in(str(file), lines.append)] == ["shop", "plain"]
    said = 'the server "shop" has keys that the gateway ignores: "timeout", "autoApprove", "tools"'
    beside = 'has keys beside its servers that the gateway ignores: "theme"'
    assert lines == [f"{file} {beside}", f"{file}: {said}"]


LETTERS = f"{ascii_lowercase}_-A"


def edits(word):
    """Return all texts that differ from a word by one letter, or by two that are swapped."""
    parts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    fewer = [f"{left}{right[1:]}" for left, right in parts if right]
    swapped = [f"{left}{right[1]}{right[0]}{right[2:]}" for left, right in parts if len(right) > 1]
    other = [f"{left}{letter}{right[1:]}" for left, right in parts if right for letter in LETTERS]
    more = [f"{left}{letter}{right}" for left, right in parts for letter in LETTERS]
    return {*fewer, *swapped, *other, *more, word.upper(), f" {word}"} - {word}


@pytest.mark.parametrize("word", KEYS)
def test_each_single_edit_of_each_key_that_is_read_is_refused(tmp_path, word):
    file = tmp_path / "servers.json"
    for key in edits(word) - set(KEYS):
        file.write_text(json.dumps({"mcpServers": {"shop": {"command": "x", key: True}}}))
        with pytest.raises(WrongUse, match=r"did you mean|which the gateway doesn't know"):
            servers_in(str(file))


@pytest.mark.parametrize("word", [*LISTS, *RESTRICTING])
def test_each_single_edit_of_a_key_of_the_file_is_refused(read, word):
    for key in edits(word) - set(LISTS):
        with pytest.raises(WrongUse, match=r"did you mean|must be in a server"):
            read({key: {}})


UNKNOWN = """disabeld comand approve requireApproval default_tools_approval_mode include tools allowed_tools
excludeTools readOnly restrict restrictedTools visibleTools serverUrl http_headers arguments environment cmd
working-directory only_tools expose forbidden askBeforeUse requireUserConsent prompt hitl toolPermissions
DisabledServer is_confirm! needs-confirmation sandbox sandboxEnabled enabled isActive paused off skip stopped
status suspended inactive Offline visible x-own"""


@pytest.mark.parametrize("key", UNKNOWN.split())
@pytest.mark.parametrize("value", [True, False, ["order"], "x"])
def test_a_server_with_an_unknown_key_is_refused_with_the_keys_that_restrict_it(read, key, value):
    with pytest.raises(WrongUse, match=f'the server "shop" has "{key}"') as caught:
        read(**{key: value})
    restrictions = '"only" and "confirm" restrict its tools, and "disabled": true leaves it out'
    assert str(caught.value).endswith((f"which the gateway doesn't know: {restrictions}", "?"))


def test_an_unknown_key_that_asks_for_nothing_is_ignored(read):
    for value in (None, "", [], {}):
        (server,) = read(disabledTools=value, sandbox=value)
        assert (server.confirm, server.only) == (False, None)


@pytest.mark.parametrize(
    "key",
    [
        *("needs-confirmation", "confirmTools", "confirm_tools", "onlyconfirm", "confirmations"),
        *("requireApproval", "approve", "approvals", "approvalMode", "needsApproval", "autoApprove"),
        "default_tools_approval_mode",
    ],
)
def test_a_key_about_a_persons_approval_beside_the_servers_is_refused(read, key):
    with pytest.raises(WrongUse, match=f'"{key}" beside its servers: confirm must be in a server'):
        read({key: True})


@pytest.mark.parametrize(
    "key",
    ["disabledMcpServers", "disabledMcpjsonServers", "disabledServers", "disabled_servers"],
)
def test_a_key_beside_the_servers_that_leaves_some_out_is_refused(read, key):
    with pytest.raises(
        WrongUse, match=f'"{key}" beside its servers, which does nothing here: write "disabled"'
    ):
        read({key: ["shop"]})
    assert read({key: []})


@pytest.mark.parametrize(
    "key",
    ["allowedTools", "permissions", "enabledMcpjsonServers", "disabledTools", "config"],
)
def test_another_key_beside_the_servers_is_noted(tmp_path, key):
    file, lines = tmp_path / "servers.json", []
    given = {"mcpServers": {"shop": {"command": "x"}}, "inputs": [], key: ["shop"]}
    file.write_text(json.dumps(given))
    assert servers_in(str(file), lines.append)
    assert lines == [f'{file} has keys beside its servers that the gateway ignores: "{key}"']


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("mcpServer", "mcpServers"),
        ("mcp_servers", "mcpServers"),
        ("McpServers", "mcpServers"),
        ("server", "servers"),
    ],
)
def test_a_file_whose_servers_are_under_a_misspelt_key_is_explained(tmp_path, key, meant):
    file = tmp_path / "servers.json"
    file.write_text(json.dumps({key: {"shop": {"command": "x"}}}))
    with pytest.raises(WrongUse, match=f'has "{key}": did you mean {meant}\\?$'):
        servers_in(str(file))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{\n  // all of them\n  "a": 1}', "line 2 has a comment; remove it"),
        ('{"a": 1, /* one */ "b": 2}', "line 1 has a comment; remove it"),
        ('{"a": [1, 2] // s3cret\n}', "line 1 has a comment; remove it"),
        ('# s3cret\n{"a": 1}', "line 1 has a comment; remove it"),
        ('{"a": 1,\n}', "line 2 has a comma before a closing bracket; remove it"),
        ('{"a": [1, 2, ]}', "line 1 has a comma before a closing bracket; remove it"),
    ],
)
def test_what_editors_take_as_json_is_explained(tmp_path, text, why):
    file = tmp_path / "servers.json"
    file.write_text(text)
    with pytest.raises(WrongUse) as caught:
        servers_in(str(file))
    assert str(caught.value) == f"{file} isn't JSON: {why}"


def test_a_server_needs_a_name(tmp_path):
    file = tmp_path / "servers.json"
    file.write_text('{"mcpServers": {"a": {"command": "x"}, "": {"command": "x"}}}')
    with pytest.raises(WrongUse, match=r"servers\.json: a server needs a name that isn't empty$"):
        servers_in(str(file))


def test_a_byte_order_mark_before_the_servers_makes_no_difference(tmp_path):
    file = tmp_path / "servers.json"
    file.write_bytes(b'\xef\xbb\xbf{"servers": {"shop": {"command": "x"}}}')
    assert [one.name for one in servers_in(str(file))] == ["shop"]


def test_servers_stand_under_one_key(read):
    with pytest.raises(WrongUse, match='"mcpServers" and "servers": put all servers into one of them'):
        read({"servers": {"other": {"command": "y"}}})


def test_disabled_is_true_or_false(read):
    with pytest.raises(WrongUse, match="disabled must be true or false, not a text"):
        read(disabled="true")
    assert read(disabled=False)


WRONG = [
    ({"command": 1}, "command must be a text, not a number"),
    ({"command": ""}, "command must be a text, not an empty text"),
    ({"cwd": ["x"]}, "cwd must be a text, not a list"),
    ({"command": None, "url": {}}, "url must be a text, not an object"),
    ({"args": "s3cret"}, "args must be a list of texts, not a text"),
    ({"args": ["x", True]}, "args[1] must be a text, not true or false"),
    ({"env": ["s3cret"]}, "env must be an object of texts, not a list"),
    ({"env": {"PORT": 31337}}, "env.PORT must be a text, not a number"),
    ({"env": {"a b": None}}, 'env["a b"] must be a text, not null'),
    ({"headers": {"Authorization": ["s3cret"]}}, "headers.Authorization must be a text, not a list"),
    ({"only": "order"}, "only must be a list of names of tools, not a text"),
    ({"only": [1.5]}, "only[0] must be a text, not a number"),
    ({"confirm": "true"}, "confirm must be true, false or a list of names of tools, not a text"),
    ({"confirm": 1}, "confirm must be true, false or a list of names of tools, not a number"),
    ({"disabled": 31337}, "disabled must be true or false, not a number"),
    ({"seconds": "10"}, "seconds must be a number above 0 and at most 86,400, not a text"),
    ({"seconds": True}, "seconds must be a number above 0 and at most 86,400, not true or false"),
    ({"seconds": 0}, "seconds must be a number above 0 and at most 86,400, not integer 0"),
    ({"seconds": -1.5}, "seconds must be a number above 0 and at most 86,400, not number -1.5"),
    ({"seconds": 86_401}, "seconds must be a number above 0 and at most 86,400, not integer 86401"),
]


@pytest.mark.parametrize(("entry", "said"), WRONG)
def test_a_wrong_part_of_a_server_is_named_with_what_it_must_be_and_its_value_is_not_shown(read, entry, said):
    with pytest.raises(WrongUse) as caught:
        read(**entry)
    assert str(caught.value).endswith(f'servers.json: the server "shop": {said}')


def test_a_server_may_have_its_own_limit_of_time(read):
    assert read(seconds=86_400)[0].seconds == 86_400
    assert read(seconds=0.5)[0].seconds == 0.5
    assert read()[0].seconds is None


def test_the_limit_of_a_server_counts_while_it_is_connected_to(read):
    said = told(read(command=sys.executable, args=["-c", "import sys; sys.stdin.read()"], seconds=0.5))
    assert 'the server "shop" can\'t be reached: it gave no answer within 0.5 s' in said


@pytest.mark.parametrize("key", ["command", "cwd"])
def test_a_variable_that_is_empty_leaves_an_empty_text(read, monkeypatch, key):
    monkeypatch.setenv("EMPTY", "")
    with pytest.raises(WrongUse, match=f"{key} must be a text, not an empty text"):
        read(**{key: "${EMPTY}"})
    assert read(args=["${EMPTY}"])


def test_a_server_must_have_a_command_or_a_url(read):
    with pytest.raises(WrongUse, match=r'must have a "command" that starts it, or a "url"$'):
        read(command=None)
    with pytest.raises(WrongUse, match='must have a "command" that starts it, or a "url", not both'):
        read(url="http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"mcpServers": {"time": {"command": "x"}, "time": {"command": "y"}}}', "mcpServers.time"),
        ('{"mcpServers": {"a b": {"command": "x", "command": "x"}}}', 'mcpServers["a b"].command'),
        ('{"mcpServers": {}, "mcpServers": {"a": {"command": "x"}}}', "mcpServers"),
        (
            '{"mcpServers": {"a": {"command": "x", "confirm": true, "confirm": false}}}',
            "mcpServers.a.confirm",
        ),
        ('{"a": "\\ud800", "b": 1, "b": 2}', 'the key "b"'),
    ],
)
def test_a_key_that_stands_twice_is_an_error_which_names_it(tmp_path, text, place):
    file = tmp_path / "servers.json"
    file.write_text(text)
    with pytest.raises(WrongUse) as caught:
        servers_in(str(file))
    assert str(caught.value).endswith(f"servers.json has {place} more than once: keep one of them")


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": "s3cret",}', '{"a": "s3cret"', "", "[" * 100_000])
def test_what_is_not_json_is_refused_and_not_shown(tmp_path, text):
    file = tmp_path / "servers.json"
    file.write_text(text)
    with pytest.raises(WrongUse, match=r"servers\.json isn't JSON") as caught:
        servers_in(str(file))
    assert "s3cret" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("no-such-python s1.py", '"command": "no-such-python", "args": ["s1.py"]'),
        ("no-such 'my file' -v", '"command": "no-such", "args": ["my file", "-v"]'),
        ("no-such it's", '"command": "no-such", "args": ["it\'s"]'),
        ("${TOKEN} s1.py", '"command": "${TOKEN}", "args": ["s1.py"]'),
    ],
)
def test_a_command_with_its_arguments_in_it_is_explained(read, monkeypatch, command, written):
    monkeypatch.setenv("TOKEN", "swordfish")
    text = told(read(command=command))
    assert f'; "command" must be the program alone: write {written}\n' in text
    assert text.count("can't be reached") == 1
    assert "swordfish" not in text


@pytest.mark.parametrize("entry", [{"command": "no-such"}, {"command": "no such", "args": ["x"]}])
def test_another_command_that_is_not_found_is_only_named(read, entry):
    assert "must be the program alone" not in told(read(**entry))


@pytest.mark.parametrize(
    "text", ["${NAME:-s3cret}", "${input:s3cret}", "${}", "${ NAME }", "${NAME", "a${env:}"]
)
@pytest.mark.parametrize("key", ["command", "args", "env", "cwd"])
def test_what_is_no_variable_is_refused_and_not_shown(read, monkeypatch, text, key):
    monkeypatch.setenv("NAME", "value")
    value = {"args": [text], "env": {"KEY": text}}.get(key, text)
    with pytest.raises(WrongUse, match=r"a \$\{ must begin \$\{NAME\} or \$\{env:NAME\}; defaults") as caught:
        read(**{key: value})
    assert "s3cret" not in str(caught.value)


def test_a_working_directory_that_is_not_there_is_named(read, monkeypatch):
    monkeypatch.setenv("FOLDER", "/no/such/swordfish")
    text = told(read(command="./no-such", cwd="${FOLDER}/x"))
    assert "no such working directory (cwd): '${FOLDER}/x'\n" in text
    assert "swordfish" not in text


def test_variables_are_filled_in_once(read, monkeypatch):
    monkeypatch.setenv("NAME", "${OTHER} $HOME")
    (server,) = read(args=["${NAME}/${env:NAME}", "$HOME", "$$"])
    assert server.start["args"] == ["${OTHER} $HOME/${OTHER} $HOME", "$HOME", "$$"]


@pytest.mark.parametrize("end", ["\n", "\r", "\x1b", "\x7f", "\x85"])
def test_a_value_with_a_control_character_is_refused_by_its_name(read, monkeypatch, end):
    monkeypatch.setenv("TOKEN", f"swordfish{end}")
    with pytest.raises(WrongUse, match="the variable TOKEN, whose value must have no control") as caught:
        read(command=None, url="http://127.0.0.1:9", headers={"Authorization": "Bearer ${TOKEN}"})
    assert "swordfish" not in str(caught.value)


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "${TOKEN}/bin"},
        {"command": "/nowhere/" + "x" * 200 + "${TOKEN}"},
        {"command": "echo", "cwd": "/nowhere/${TOKEN}"},
        {"command": None, "url": "${TOKEN}://x"},
        {"command": None, "url": "http://127.0.0.1:9/${TOKEN}"},
        {"command": None, "url": "http://${TOKEN}:1"},
        {"command": None, "url": "http://127.0.0.1:9", "headers": {"Authorization": "${TOKEN}"}},
    ],
)
@pytest.mark.parametrize("secret", [ODD, "SwordFish123"])
def test_values_of_variables_are_in_no_message(read, monkeypatch, entry, secret):
    monkeypatch.setenv("TOKEN", secret)
    text = told(read(**entry))
    assert "can't be reached" in text
    assert "fish" not in text.lower()
    assert "sword" not in text.lower()


def test_a_command_that_is_not_there_is_named_by_its_variable(read, monkeypatch):
    monkeypatch.setenv("TOOLS", "/nowhere/at/all")
    assert "${TOOLS}/bin" in told(read(command="${TOOLS}/bin"))


def fail(secret):
    raise OSError(secret) from ValueError(f"before {secret}")


class UnprintableError(Exception):
    def __str__(self):
        raise ValueError


@pytest.mark.parametrize("secret", [ODD, "SwordFish123", "Sword\u00a0Fish"])
def test_values_of_variables_are_in_no_record_of_a_log(read, monkeypatch, caplog, secret):
    monkeypatch.setenv("TOKEN", secret)
    servers = read(command=None, url="http://127.0.0.1:9", headers={"Authorization": "Bearer ${TOKEN}"})
    factory = logging.getLogRecordFactory()
    with hidden_in_logs(servers):
        log = logging.getLogger("some.library")
        log.warning("headers: %s", {"Authorization": f"Bearer {secret}"})
        log.warning("%s: %r", secret.upper(), ConnectionError(f"http://x/{secret}?{secret}"))
        try:
            fail(secret)
        except OSError:
            log.exception("it failed")
        log.warning("it failed: %s", UnprintableError())
        log.warning("all is well, %s", "really")
    assert logging.getLogRecordFactory() is factory
    assert "sword" not in caplog.text.lower()
    assert "fish" not in caplog.text.lower()
    assert "${TOKEN}" in caplog.text
    assert "OSError: ${TOKEN}" in caplog.text
    assert caplog.messages[-2:] == [
        "a record of some.library that can't be written",
        "all is well, really",
    ]


@pytest.fixture
def recorded(read, monkeypatch, caplog):
    """Return what logs something while the value of TOKEN, `swordfish`, is hidden, and returns the record."""
    monkeypatch.setenv("TOKEN", "swordfish")

    def made(*args, **more):
        with hidden_in_logs(read(args=["${TOKEN}"])):
            logging.getLogger("some.library").warning(*args, **more)
        return caplog.records[-1]

    return made


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("%s waits %d s for %s", "shop", 5, "swordfish"), "shop waits 5 s for ${TOKEN}"),
        (("sword%s", "fish"), "${TOKEN}"),
        (("%s%s", "sword", "fish"), "${TOKEN}"),
        (("%x for %s", 255, OSError("x")), "ff for x"),
        (("%r", OSError("swordfish")), "OSError('${TOKEN}')"),
        (("100 % of swordfish",), "100 % of ${TOKEN}"),
        (("%(swordfish)s", {"swordfish": "x"}), "x"),
    ],
)
def test_a_record_has_its_whole_message_and_no_arguments(recorded, given, message):
    record = recorded(*given)
    assert (record.getMessage(), record.args) == (message, None)
    assert "fish" not in record.msg


def test_of_an_exception_its_name_and_message_stay_without_what_it_holds(recorded):
    try:
        fail("swordfish")
    except OSError as error:
        record = recorded("it failed", exc_info=error, stack_info=True)
    kind, error, frames = record.exc_info
    assert (kind.__name__, str(error), frames, error.__cause__) == ("OSError", "${TOKEN}", None, None)
    assert "in fail" in record.exc_text
    assert record.exc_text.endswith("OSError: ${TOKEN}")
    assert logging.Formatter().formatException(record.exc_info) == "OSError: ${TOKEN}"
    assert "fish" not in f"{record.exc_text}{record.stack_info}"
    assert "Stack" in record.stack_info


def test_a_record_without_an_exception_keeps_none(recorded):
    assert recorded("x", exc_info=(None, None, None)).exc_info == (None, None, None)
    assert recorded("x").exc_info is None


def test_without_secrets_logs_are_as_they_were(read):
    factory = logging.getLogRecordFactory()
    with hidden_in_logs(read()):
        assert logging.getLogRecordFactory() is factory
