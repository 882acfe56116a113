"""Laws of tool search, over the tools of recorded servers and what people may ask them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random
from string import ascii_lowercase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operator_schema.rounds import ToolSearch
from operator_schema.rounds.ranking import best, is_from, term_of, terms, words_in
from operator_schema.rounds.tool_index import ToolIndex
from operator_schema.tools import document_tool

HISTORIES = Path(__file__).parents[1] / "workbench" / "compare" / "histories"
ROWS = Path(__file__).parents[1] / "tool_search" / "questions.jsonl"
ASKED = [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()]


def echo(**given: object) -> str:
    return str(given)


@cache
def recorded():
    """Return the tools of the newest version of each recorded server, as name, description and schema."""
    found = []
    for folder in sorted(path for path in HISTORIES.iterdir() if path.is_dir()):
        newest = max(folder.glob("*.json"), key=lambda path: [int(part) for part in path.stem.split(".")])
        tools = json.loads(newest.read_text(encoding="utf-8"))["tools"]
        found += [(one["name"], one["description"], one["input_schema"]) for one in tools]
    return found


def made(rows):
    return [document_tool(echo, schema, name=name, summary=about) for name, about, schema in rows]


def index_of(tools):
    return ToolIndex({one.name: one for one in tools})


@cache
def index():
    return index_of(made(recorded()))


def own(asked):
    """Return the ranking by what each tool says about itself."""
    return asked.rankings()[0]


@cache
def queries():
    """Return our questions, and what the servers say of each tool: a query that fits it."""
    own = [row[key] for row in ASKED for key in ("question", "query")]
    return [*own, *[about[:200] for _, about, _ in recorded()], *[name for name, _, _ in recorded()]]


@cache
def words():
    """Return all longer words of the tools that stand for something in the index."""
    asked = own(index())
    known = {word for word in asked.words() if asked.knows(term_of(word))}
    return sorted(word for word in known if len(word) >= 5 and word.isalpha() and word.isascii())


def ranking(asked, query):
    return [*best(asked.scores(query, ""))]


def all_terms(text):
    """Return all words of a text without their endings, also the common ones."""
    return [term_of(word) for word in words_in(text)]


def test_our_questions_are_in_other_words_than_the_names_of_their_tools():
    names = {name for name, _, _ in recorded()}
    for row in ASKED:
        own = {term for tool in row["tools"] for term in all_terms(tool)}
        assert own.isdisjoint([*terms(row["question"]), *terms(row["query"])])
        assert names.issuperset(row["tools"]) or row["catalogue"] != "recorded"
    assert len({row["question"] for row in ASKED}) == 60


SENTENCES = [
    "This tool belongs to the airline system, which allows users to book flights and manage files.",
    "Part of the knowledge graph: create, read and delete entities!",
    "Use it with care",
]


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("place", ["first", "last", "own line"])
def test_a_sentence_in_every_description_changes_no_ranking(sentence, place):
    forms = {"first": "{0}. {1}", "last": "{1}\n{0}", "own line": "{1}\n\n{0}."}
    every = [(name, forms[place].format(sentence, about), schema) for name, about, schema in recorded()]
    before, after = index(), index_of(made(every))
    compared = [query for query in queries() if own(before).scores(query)]
    assert [ranking(before, query) for query in compared] == [ranking(after, query) for query in compared]
    assert len(compared) > 150


def test_a_sentence_that_all_tools_of_one_server_have_makes_none_of_them_fit_it():
    shared = "This tool belongs to the vehicle control system, for engine, doors, lights and more."
    server = [
        (f"car_{name}", f"{shared} Tool description: {about}.", {"type": "object"})
        for name, about in [
            ("engine", "Starts it"),
            ("doors", "Locks them"),
            ("headlights", "Sets the lights"),
            ("brake", "Stops the car"),
            ("tyres", "Checks the pressure"),
        ]
    ]
    search = ToolSearch(made([*server, *recorded()]))
    assert [one.name for one in search.search("lights")] == ["car_headlights"]
    assert [one.name for one in search.search("engine")] == ["car_engine"]
    # Where nothing else fits, the sentence says more than nothing.
    assert {one.name for one in search.search("vehicle")} == {name for name, _, _ in server}


def test_tools_that_several_servers_have_are_found_by_their_descriptions():
    same = [(f"{server}_ls", "Show what lies in a drawer.", {"type": "object"}) for server in "abcdefg"]
    search = ToolSearch(made([*same, *recorded()]))
    assert {one.name for one in search.search("drawer")} < {name for name, _, _ in same}


@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_the_tools_changes_no_ranking(seed):
    tools = made(recorded())
    mixed = Random(seed).sample(tools, len(tools))  # noqa: S311  # it only mixes
    before, after = index_of(tools), index_of(mixed)
    asked = [*queries(), *[slip for word in words()[::9] for slip in slips(word)[::40]]]
    assert [before.scores(one, "") for one in asked] == [after.scores(one, "") for one in asked]
    assert [one.name for one in ToolSearch(tools).search("file")] == [
        one.name for one in ToolSearch(mixed).search("file")
    ]


def slips(word, letters=ascii_lowercase):
    """List all words that are a single slip away from a word."""
    places = range(len(word) + 1)
    left_out = [word[:at] + word[at + 1 :] for at in places[:-1]]
    swapped = [word[:at] + word[at + 1] + word[at] + word[at + 2 :] for at in places[:-2]]
    wrong = [word[:at] + letter + word[at + 1 :] for at in places[:-1] for letter in letters]
    added = [word[:at] + letter + word[at:] for at in places for letter in letters]
    return sorted({*left_out, *swapped, *wrong, *added} - {word})


def slips_that_are_no_words(asked, word, letters=ascii_lowercase):
    """List the slips of a word that are long enough, and not another word that the tools have."""
    return [slip for slip in slips(word, letters) if len(slip) >= 5 and not asked.knows(term_of(slip))]


def test_a_slip_in_a_longer_word_stands_for_the_word():
    """Each place of each word, with one letter; `test_any_slip_stands_for_its_word` draws the others."""
    asked, missed, tried = own(index()), [], 0
    for word in words():
        for slip in slips_that_are_no_words(asked, word, "e"):
            tried += 1
            missed += [(word, slip)] if term_of(word) not in asked.asked_terms([slip]) else []
    assert missed == []
    assert tried > 9_000


@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_any_slip_stands_for_its_word(data):
    asked = own(index())
    word = data.draw(st.sampled_from(words()))
    slip = data.draw(st.sampled_from(slips_that_are_no_words(asked, word)))
    assert term_of(word) in asked.asked_terms([slip])


def test_a_slip_in_the_name_of_a_tool_still_finds_it():
    search = ToolSearch(made(recorded()))
    found = []
    for name, _, _ in recorded():
        said = words_in(name)
        for at, word in enumerate(said):
            if len(word) >= 5:
                for slip in slips(word, "ae")[::7]:
                    query = " ".join([*said[:at], slip, *said[at + 1 :]])
                    found.append(name in [one.name for one in search.search(query)])
    assert sum(found) >= 0.98 * len(found)
    assert len(found) > 200


@pytest.mark.parametrize(
    ("slip", "tool"),
    [
        ("cancle reservation", "cancel_reservation"),
        ("cancel resrvation", "cancel_reservation"),
        ("read multipel files", "read_multiple_files"),
        ("comit", "git_commit"),
        ("certifikate", "send_certificate"),
        ("convert tiem zones", "convert_time"),
        ("staeged diff", "git_diff_staged"),
    ],
)
def test_what_people_mistype_is_found(slip, tool):
    assert tool in [one.name for one in ToolSearch(made(recorded())).search(slip)[:2]]


def test_short_words_and_numbers_stand_for_themselves():
    about = document_tool(echo, {"type": "object"}, name="one", summary="Read 123456 from a port, raed.")
    search = ToolSearch(about)
    assert search.search("123457") == search.search("pord") == search.search("prt") == []
    assert search.search("port") == search.search("123456") == [about]


def test_a_slip_for_several_words_stands_for_all_of_them_with_less_weight():
    rows = [("clear_data", "", {}), ("clean_data", "", {}), ("sweep_clear", "", {})]
    asked = own(index_of(made([(name, about, {"type": "object"}) for name, about, _ in rows])))
    assert asked.asked_terms(["cleax"]) == {"clear": 0.25, "clean": 0.25}
    assert asked.asked_terms(["swepe", "sweeep"]) == {"sweep": 0.5}


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("colour colours coloured colouring colourful", "color colors colored coloring colorful"),
        ("favourite neighbourhood honourable", "favorite neighborhood honorable"),
        ("behaviour behavioural labour", "behavior behavioral labor"),
        ("organise organised organises organising", "organize organized organizes organizing"),
        ("organisation authorisation summarise", "organization authorization summarize"),
        ("analyse analysed analysing catalyse", "analyze analyzed analyzing catalyze"),
        ("centre theatre litres kilometres fibre", "center theater liters kilometers fiber"),
        ("catalogue dialogues analogue", "catalog dialogs analog"),
        ("licence defence offences", "license defense offenses"),
        ("paediatric anaemia", "pediatric anemia"),
        ("programme programmes cheque cheques", "program programs check checks"),
        ("tyre tyres grey", "tire tires gray"),
        ("cancelled travelling labelled", "canceled traveling labeled"),
        ("fulfil enrol judgement", "fulfill enroll judgment"),
    ],
)  # fmt: skip
def test_british_and_american_spellings_are_one_word(british, american):
    assert list(map(term_of, british.split())) == list(map(term_of, american.split()))


@pytest.mark.parametrize(
    "different",
    ["hour hor", "your yor", "four for", "size sise", "wise wize", "are aer", "poem pem", "grey grew"],
)  # fmt: skip
def test_words_that_look_like_a_british_spelling_stay_as_they_are(different):
    one, other = different.split()
    assert term_of(one) != term_of(other)


HUGE = 1_000_000


@pytest.mark.parametrize("kind", ["every word", "one word", "the question"])
def test_an_endless_description_pushes_no_other_tool_down(kind):
    chance = Random(3)  # noqa: S311  # it only chooses words
    said = {
        "every word": lambda: " ".join(chance.choices(words(), k=HUGE // 8)),
        "one word": lambda: "reservation " * (HUGE // 12),
        "the question": lambda: "Cancel my reservation of a flight, read the file! " * (HUGE // 50),
    }[kind]()
    alone = index()
    beside = index_of(made([*recorded(), ("huge", said, {"type": "object"})]))
    moved = []
    for query in queries():
        before = ranking(alone, query)
        after = [name for name in ranking(beside, query) if name != "huge"]
        moved += [abs(after.index(name) - place) for place, name in enumerate(before[:5])]
    assert max(moved) <= 3
    assert sum(moved) <= 0.05 * len(moved)


# --- the message of the user beside a query ---------------------------------------------------------


def test_what_a_query_finds_first_is_found_whatever_the_message_says():
    search = ToolSearch(made(recorded()))
    alone = {query: [one.name for one in search.search(query)] for query in queries()}
    chance, compared = Random(5), 0  # noqa: S311  # as above
    for query in queries():
        message = chance.choice(queries())
        if not is_from(query, message):
            compared += 1
            found = [one.name for one in search.search(query, message=message)]
            assert set(alone[query][:3]) <= set(found)
    assert compared > 150


def test_the_message_alone_is_found_where_a_query_fits_nothing():
    search = ToolSearch(made(recorded()))
    for message in queries():
        assert search.search("Qqq Xyz", message=message)[:5] == search.search(message)[:5]
        assert search.search(message, message=message) == search.search(message)


@pytest.mark.parametrize("size", [10, 1_000, 100_000])
def test_a_long_message_drowns_no_query(size):
    search = ToolSearch(made(recorded()))
    message = " ".join(Random(1).choices(words(), k=size))  # noqa: S311  # as above
    for name, _, _ in recorded():
        assert name in [one.name for one in search.search(name.replace("_", " "), message=message)]
