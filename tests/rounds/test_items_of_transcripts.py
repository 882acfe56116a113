"""A transcript refuses what is certainly not a part of a conversation, when it is given."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import RawCall, ToolResult, Toolset, Transcript
from operator_schema.providers import (
    anthropic,
    bedrock,
    cohere,
    gemini,
    ollama,
    openai_chat,
    openai_responses,
)
from operator_schema.rounds import SqliteStore

ROLES = ["user", "assistant", "system", "developer", "tool", "function", "model"]
RESULT = ToolResult("1", "f", "x")
KEEPERS = {
    "memory": lambda _: Transcript(),
    "store": lambda path: SqliteStore(path / "kept.db").transcript("a"),
}


@pytest.fixture(params=KEEPERS)
def transcript(request, tmp_path):
    return KEEPERS[request.param](tmp_path)


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (1, "a transcript has messages, turns and answers, not integer 1"),
        (None, "a transcript has messages, turns and answers, not null"),
        (2.5, "a transcript has messages, turns and answers, not number 2.5"),
        (True, "a transcript has messages, turns and answers, not boolean true"),
        (["hello"], 'messages, turns and answers, not array ["hello"]: append its items one by one'),
        (
            {"role": "usr", "content": "x"},
            'of a transcript has the role "usr": did you mean "user"?',
        ),
        ({"role": "User", "content": "x"}, 'has the role "User": did you mean "user"?'),
        ({"role": "asistant", "content": "x"}, 'has the role "asistant": did you mean "assistant"?'),
        ({"role": "tools", "content": "x"}, 'has the role "tools": did you mean "tool"?'),
        ({"role": 1, "content": "x"}, "has 1 as its role, which must be a string"),
        ({"roel": "user", "content": "x"}, 'has "roel": did you mean "role"?'),
        ({"Role": "user", "content": "x"}, 'has "Role": did you mean "role"?'),
        ({"content": "x"}, 'has no role: add one, such as "role": "user"'),
        ({"content": [], "name": "Ada"}, 'has no role: add one, such as "role": "user"'),
    ],
)
def test_what_is_not_a_part_of_a_conversation_is_refused(transcript, item, said):
    with pytest.raises(TypeError, match=re.escape(said) + "$"):
        transcript.append(item)
    assert len(transcript) == 0
    with pytest.raises(TypeError, match=re.escape(said)):
        Transcript([item])


@pytest.mark.parametrize("role", [*ROLES, "latest_reminder", "ipython", "control", "moderator", None])
def test_a_role_of_a_provider_or_of_a_model_is_kept(transcript, role):
    message = {"role": role, "content": "x"}
    transcript.append(message)
    assert list(transcript) == [message]


@pytest.mark.parametrize("item", [{"type": "reasoning", "id": "r"}, {"parts": []}, {}, {"note": 1}])
def test_an_item_without_a_role_is_kept(transcript, item):
    transcript.append(item)
    assert list(transcript) == [item]


CHAT = ["user", "assistant", "system", "developer", "tool", "function"]
OWN = {
    anthropic: ["user", "assistant", "system"],
    bedrock: ["user", "assistant", "system"],
    gemini: ["user", "model", "function"],
    openai_responses: ["user", "assistant", "system", "developer"],
    openai_chat: CHAT,
    cohere: CHAT,
    ollama: CHAT,
}
OFFER = Toolset().offer()
ROUND = OFFER.round([RawCall("1", "f")])


def sent(provider, role):
    part = {"parts": [{"text": "x"}]} if provider is gemini else {"content": [{"type": "text", "text": "x"}]}
    return provider.request(OFFER, [{"role": role, **part}])


@pytest.mark.parametrize("provider", OWN, ids=repr)
@pytest.mark.parametrize("role", ROLES)
def test_a_provider_takes_its_own_roles_and_none_of_another_one(provider, role):
    if role in OWN[provider]:
        assert role in str(sent(provider, role))
        return
    with pytest.raises(
        TypeError, match=f"^a message of a history for {provider.name} has the role "
    ) as caught:
        sent(provider, role)
    own = "model" if provider is gemini else "assistant"
    assert str(caught.value).endswith(
        f'did you mean "{own}"?' if role in {"assistant", "model"} else f'"{max(OWN[provider])}"'
    )


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ("hello", 'not string "hello": write [message]'),
        ({"role": "user", "content": "x"}, "write [message]"),
        ([RESULT], "not ToolResult: a call and its result become a turn when their round is committed"),
        ([RawCall("1", "f")], "become a turn when their round is committed"),
        (3, "not integer 3"),
        ([{"content": [{"text": "x"}]}], 'has no role: add one, such as "role": "user"'),
        (["x", ROUND], "not Round: run it and commit it: executor.run_sync(round).commit(history)"),
    ],
)
def test_what_is_no_history_says_what_to_write(history, said):
    with pytest.raises(TypeError, match=re.escape(said) + "$"):
        anthropic.request(OFFER, history)


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (b"hello", "not bytes"),
        (float("nan"), "not number nan"),
        (RawCall("1", "f"), "not RawCall: a call and its result become a turn when their round is committed"),
        (RESULT, "not ToolResult: a call and its result become a turn when their round is committed"),
    ],
)
def test_a_transcript_in_memory_refuses_what_a_store_cannot_write(item, said):
    with pytest.raises(TypeError, match=f"^a transcript has messages, turns and answers, {said}$"):
        Transcript([item])


def test_an_object_of_the_program_is_kept_in_memory():
    items = [object(), anthropic]
    assert list(Transcript(items)) == items


def test_a_text_in_place_of_results_is_shown_whole():
    with pytest.raises(TypeError, match=r'not string "done"$'):
        anthropic.results("done")


@given(st.sampled_from(sorted(OWN, key=repr)), st.text(max_size=12))
def test_a_role_that_nobody_knows_is_sent_by_an_open_provider_alone(provider, role):
    fits = role in OWN[provider]
    try:
        sent(provider, role)
    except TypeError as error:
        assert not fits
        assert "has the role" in str(error)
    else:
        assert fits or provider in {openai_chat, cohere, ollama}
