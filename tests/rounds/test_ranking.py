"""Which texts fit a query: words, BM25, vectors, and rankings that are fused."""

from __future__ import annotations

from math import isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema.rounds.ranking import (
    Ranking,
    TermReader,
    best,
    fused,
    similarities,
    term_of,
    terms,
    words_in,
)


def all_terms(text):
    """Return all words of a text without their endings, also the common ones."""
    return [term_of(word) for word in words_in(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("getOrders", "get_order"),
        ("HTTPServer", "http servers"),
        ("cancelling", "cancel"),
        ("ordering ordered orders", "order order order"),
        ("filtered filtering", "filter filters"),
        ("transferring transferred", "transfer transfers"),
        ("registering registered", "register registers"),
        ("monitoring commenting", "monitor comment"),
        ("signals employees statuses classes", "signal employee status class"),
        ("ordered", "ordering"),
        ("cities", "city"),
        ("payments", "pay"),
        ("calculation", "calculate"),
        ("calculators", "calculated"),
        ("locations", "location"),
        ("running", "run"),
        ("parseHTML5", "parse html 5"),
        ("naïve-Café", "NAÏVE café"),
    ],
)
def test_forms_of_a_word_are_one_term(one, other):
    assert all_terms(one) == all_terms(other) != []


@pytest.mark.parametrize(("one", "other"), [("add", "age"), ("bus", "bug"), ("class", "clay"), ("12", "13")])
def test_short_words_and_numbers_stay_as_they_are(one, other):
    assert terms(one) != terms(other)


def test_words_without_meaning_are_skipped():
    assert terms("How can I get the a of my?") == []


TEXTS = st.one_of(st.text(), st.text("aAbZsé_- .\n\t\u2028'1٣天ßŉ"))


@given(st.lists(TEXTS, max_size=5))
def test_a_reader_of_many_texts_finds_the_terms_that_each_has_alone(texts):
    reader = TermReader()
    for text in [*texts, *texts]:
        assert reader.terms(text).split() == terms(text)
        assert reader.all_terms(text).split() == all_terms(text)
        assert reader.terms(text) == " ".join(terms(text))  # one form: sentences are compared by it


def test_a_query_of_common_words_alone_is_searched_by_them():
    ranking = Ranking({1: {"a": "get", "b": "ord"}})
    assert list(ranking.scores("get")) == ["a"]
    assert list(ranking.scores("get the order")) == ["b"]


def test_words_of_every_script_are_terms():
    assert terms("погода 天气 Wetter") == ["погода", "天气", "wet"]


def test_a_slip_is_one_in_every_script_and_no_other_word_is_taken_for_it():
    words = {word: term for word in ("погода", "weather", "whether") for term in terms(word)}
    documents = {"a": words["погода"], "b": f"{words['weather']} {words['whether']}"}
    ranking = Ranking({1: documents}, [*words])
    assert ranking.scores("погоды") == {"a": pytest.approx(ranking.scores("погода")["a"] / 2)}
    assert ranking.scores("wether") == {"b": pytest.approx(ranking.scores("weather")["b"] / 2)}
    assert ranking.scores("天气预报网") == ranking.scores("pogod") == {}


def test_scores_are_those_of_bm25():
    documents = {1: {"a": "y", "b": "x", "c": "z y z"}, 2: {"a": "x"}, 0: {}}
    usual = 3  # the median of their lengths

    def weight(frequency, length, having):
        rarity = log(1 + (3 - having + 0.5) / (having + 0.5))
        return rarity * frequency * 3.0 / (frequency + 2.0 * (0.25 + 0.75 * length / usual))

    found = Ranking(documents).scores("x y y")
    expected = {"a": weight(2, 3, 2) + weight(1, 3, 2), "b": weight(1, 1, 2), "c": weight(1, 3, 2)}
    assert found.keys() == expected.keys()
    assert all(isclose(found[name], expected[name]) for name in expected)


def test_nothing_fits_in_nothing():
    assert Ranking({}).scores("x") == {}
    assert Ranking({1: {"a": ""}}).scores("x") == {}


def test_equal_scores_have_one_order():
    assert [*best({"b": 1.0, "a": 1.0, "c": 2.0})] == ["c", "a", "b"]


def test_what_two_rankings_have_is_before_what_one_has():
    assert [*best(fused([["a", "b", "c"], ["d", "b"]]))] == ["b", "a", "d", "c"]


def test_similarities_are_cosines():
    found = similarities(
        [2.0, 0.0], {"same": [7.0, 0.0], "across": [0.0, 1.0], "against": [-1.0, 0.0], "none": [0, 0]}
    )
    assert found == {"same": 1.0, "across": 0.0, "against": -1.0, "none": 0.0}
