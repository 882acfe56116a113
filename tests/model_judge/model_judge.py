"""What a real model does with our tools, and after our errors. `make model-judge` runs it.

Everything that is asked is drawn by the seed. Each answer is kept in a file: what was asked once isn't asked
again, so a run that was stopped goes on where it was, and a change of what is measured costs only its own
questions.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console
from rich.progress import Progress

sys.path.insert(0, str(Path(__file__).parent))

from judge_answers import Answers, name_at, serving
from judge_mistakes import KINDS, WrongCall, wrong_calls
from judge_statistics import pairs, share
from judge_tasks import Task, tasks_in
from judge_texts import OURS, SEND, TEXTS, earlier_texts, our_text, texts_after

from operator_schema import Executor, RawCall, Toolset, Transcript, tool
from operator_schema.providers import ResponseError, openai_compatible
from operator_schema.rounds import ToolSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "provider-judges.md"
BEGIN, END = "<!-- model-judge -->", "<!-- end of model-judge -->"
PROVIDER = openai_compatible("llama.cpp")
MOST_ROUNDS = 5
"""In README's loop: a small model goes on calling until somebody stops it."""

REFUSED = "refused"


class Read(NamedTuple):
    """The first call in an answer.

    Attributes:
        name: the tool that it calls; None if there is no call.
        arguments: the JSON text or value that it sends.
        by: how it was found: where the server puts calls (`field`), in the text (`text`), or as the whole of
            an answer that was held to a schema (`constrained`).
    """

    name: str | None = None
    arguments: Any = None
    by: str = "none"


def _message(answer: Any) -> dict[str, Any] | None:
    """Return the message in the response of a server; None if that is an error."""
    try:
        message: dict[str, Any] = answer["choices"][0]["message"]
    except (KeyError, IndexError, TypeError):
        return None
    return message


def first_call(answer: Any) -> Read:
    """Return the first call in the response of a server, wherever it stands."""
    if (message := _message(answer)) is None:
        return Read(by=REFUSED)
    if message.get("tool_calls"):
        function = message["tool_calls"][0]["function"]
        return Read(function.get("name"), function.get("arguments"), "field")
    return _written(message.get("content") or "")


def _written(text: str) -> Read:
    """Read the first JSON object of a text as a call."""
    decoder = json.JSONDecoder()
    for found in re.finditer(r"\{", text):
        try:
            value, _ = decoder.raw_decode(text, found.start())
        except ValueError:
            continue
        sent = [value[key] for key in ("arguments", "parameters") if key in value]
        is_call = isinstance(value.get("name"), str) and bool(sent)
        return Read(value["name"], sent[0], "text") if is_call else Read()
    return Read()


class Judged(NamedTuple):
    """What a call was worth.

    Attributes:
        by: how it was found.
        decodes: whether the tool takes its arguments; then with repair, and the same for whether it is right.
        is_read: whether our provider finds it in the answer.
    """

    by: str
    decodes: bool
    decodes_repaired: bool
    is_right: bool
    is_right_repaired: bool
    is_read: bool = False


def judged(task: Task, read: Read) -> Judged:
    """Judge a call of a task."""
    is_named = read.name == task.tool.name
    plain, repaired = [
        task.decoded(read.arguments, repair=repair) if is_named else None for repair in (False, True)
    ]
    return Judged(
        read.by, plain is not None, repaired is not None, task.is_right(plain), task.is_right(repaired)
    )


def _room(arguments: Any) -> int:
    """Return how many tokens an answer may have: several times those of the right one."""
    return 64 + len(json.dumps(arguments)) // 2


# the README loop


class Wish(NamedTuple):
    """What somebody asks README's tools for, and the one call that does it."""

    question: str
    call: str
    arguments: dict[str, Any]


WISHES = (
    Wish("How much is 10 US dollars in euros?", "convert", {"amount": 10.0, "to": "EUR"}),
    Wish("Convert 250 US dollars to CHF, please.", "convert", {"amount": 250.0, "to": "CHF"}),
    Wish("Please pay back 6 dollars for order A7.", "refund", {"order_id": "A7", "amount": 6.0}),
    Wish("Order B12 came broken: refund 19.99 US dollars.", "refund", {"order_id": "B12", "amount": 19.99}),
)


class Talked(NamedTuple):
    """What came of a conversation.

    Attributes:
        ran: the calls that ran, each with its decoded arguments.
        ended: `text`, `JSON` if that is what the user reads, `rounds` if it didn't end, or why the answer
            isn't whole, such as `length`.
    """

    ran: list[tuple[str, dict[str, Any]]]
    ended: str

    def does(self, wish: Wish) -> bool:
        """Return whether the right call ran, once, and no other one."""
        return self.ran == [(wish.call, wish.arguments)]


def converse(wish: Wish, ask: Callable[..., Any]) -> Talked:
    """Run the loop of README with its two tools."""
    ran: list[tuple[str, dict[str, Any]]] = []

    @tool(read_only=True)
    def convert(amount: float, to: str = "EUR") -> str:
        """Convert US dollars."""
        ran.append(("convert", {"amount": amount, "to": to}))
        return f"{amount * 0.9:.2f} {to}"

    @tool(confirm=True)
    def refund(order_id: str, amount: float) -> str:
        """Pay money back to a customer."""
        ran.append(("refund", {"order_id": order_id, "amount": amount}))
        return f"{amount:.2f} USD are on the way"

    toolset = Toolset(convert, refund)
    executor = Executor(toolset, confirm=lambda call: call.input.amount < 100)
    history = Transcript([wish.question])
    for _ in range(MOST_ROUNDS):
        offer = toolset.offer()
        try:
            answer = PROVIDER.answer(ask(**PROVIDER.request(offer, history)), offer)
            turn = executor.run_sync(offer.round(answer)).commit(history)
            if not turn.calls:
                is_call = _written(answer.text or "").name is not None
                return Talked(ran, answer.stop if answer.stop != "end" else "JSON" if is_call else "text")
        except ResponseError:
            return Talked(ran, REFUSED)
    return Talked(ran, "rounds")


# first calls, free and constrained


def ask_first(task: Task, ask: Callable[..., Any]) -> Judged:
    """Ask a task's question with its tool."""
    user, tools = {"role": "user", "content": task.question}, PROVIDER.request([task.tool])["tools"]
    answer = ask(messages=[user], tools=tools, max_tokens=_room(task.arguments))
    return judged(task, first_call(answer))._replace(is_read=_is_read(answer, task))


def _is_read(answer: Any, task: Task) -> bool:
    try:
        return bool(PROVIDER.answer(answer, [task.tool]).calls)
    except ResponseError:
        return False


def ask_constrained(task: Task, ask: Callable[..., Any]) -> Judged:
    """Ask for the arguments alone, in an answer that the server holds to the tool's schema."""
    function = PROVIDER.request([task.tool])["tools"][0]["function"]
    said = f"Answer with the arguments of this function, as JSON:\n{json.dumps(function)}"
    form = {"name": task.tool.name, "schema": function["parameters"], "strict": True}
    answer = ask(
        messages=[{"role": "system", "content": said}, {"role": "user", "content": task.question}],
        response_format={"type": "json_schema", "json_schema": form},
        max_tokens=_room(task.arguments),
    )
    message = _message(answer)
    constrained = Read(task.tool.name, message and message.get("content"), "constrained")
    return judged(task, Read(by=REFUSED) if message is None else constrained)


# second calls


class Second(NamedTuple):
    """The next call after a wrong one and a text.

    Attributes:
        characters: how long the text is.
        has_send: whether it ends with a corrected call.
        judged: what the call is worth.
        repeats: whether it is the wrong call again.
    """

    characters: int
    has_send: bool
    judged: Judged
    repeats: bool


def ask_second(call: WrongCall, ask: Callable[..., Any], earlier: str | None = None) -> dict[str, Second]:
    """Let the model go on after a wrong call, with each of the texts."""
    return {name: _after(call, text, ask) for name, text in texts_after(call, earlier).items()}


def _after(call: WrongCall, text: str, ask: Callable[..., Any]) -> Second:
    sent = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    messages = [
        {"role": "user", "content": call.task.question},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": sent}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": text},
    ]
    tools = PROVIDER.request([call.task.tool])["tools"]
    read = first_call(ask(messages=messages, tools=tools, max_tokens=_room(call.task.arguments)))
    is_same = read.name == call.name and _value(read.arguments) == call.arguments
    has_send = text.rpartition("\n")[2].startswith(SEND)
    return Second(len(text), has_send, judged(call.task, read), is_same)


def _value(arguments: Any) -> Any:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


# search words


class Searched(NamedTuple):
    """Whether the tool of a question is among those found.

    Attributes:
        by_question: by what the user says.
        by_query: by the model's query; None if it called something else.
        in_round: by the model's call in a round; None if it called something else.
    """

    by_question: bool
    by_query: bool | None = None
    in_round: bool | None = None


def ask_search(task: Task, search: ToolSearch, ask: Callable[..., Any]) -> Searched:
    """Let the model search for the tool that a question needs."""
    history = Transcript([task.question])
    offer = search.offer(history)
    read = first_call(ask(**PROVIDER.request(offer, history), max_tokens=128))
    arguments = _value(read.arguments)
    query = arguments.get("query") if isinstance(arguments, dict) else None

    def has(words: str) -> bool:
        return task.tool.name in [one.name for one in search.search(words)]

    if read.name != "search_tools" or not isinstance(query, str) or not query:
        return Searched(has(task.question))
    called = offer.round([RawCall("c1", "search_tools", {"query": query})])
    (result,) = Executor(search).run_sync(called).commit(history).results
    found = [] if result.is_error else [one["name"] for one in result.json["tools"]]
    return Searched(has(task.question), has(query), task.tool.name in found)


# the report


def first_table(free: list[Judged], constrained: list[Judged]) -> list[str]:
    """Return the table of first calls."""
    by = Counter(row.by for row in free)
    refused = [sum(row.by == REFUSED for row in rows) for rows in (free, constrained)]
    lines = [
        "| first calls | decode | with repair | right | with repair | refused by the server |",
        "|---|---|---|---|---|---|",
    ]
    for label, rows, count in zip(("free", "constrained"), (free, constrained), refused, strict=True):
        columns = zip(*[row[1:5] for row in rows], strict=True)
        cells = [share(sum(column), len(rows)) for column in columns]
        lines.append(f"| {label} | {' | '.join(cells)} | {count} |")
    where = f"{by['field']} in `tool_calls`, {by['text']} in the text, {by['none']} answers without a call"
    return [
        *lines,
        "",
        f"Free calls: {where}. Our provider reads {sum(row.is_read for row in free)} of them.",
    ]


def second_tables(rows: list[tuple[WrongCall, dict[str, Second]]]) -> list[str]:
    """Return the tables of second calls: all, in pairs, and by mistake.

    Only those count that every library refuses.
    """
    names = [name for name in TEXTS if any(name in answers for _, answers in rows)]
    kept = [(call, answers) for call, answers in rows if all(name in answers for name in names)]
    lines = [
        "| text after a wrong call | characters | decodes | right | the wrong call again |",
        "|---|---|---|---|---|",
    ]
    for name in names:
        of = [answers[name] for _, answers in kept]
        counts = [sum(row.judged.decodes for row in of), sum(row.judged.is_right for row in of)]
        length = sum(row.characters for row in of) // max(len(of), 1)
        shares = [share(count, len(of)) for count in counts]
        lines.append(f"| {name} | {length} | {' | '.join(shares)} | {sum(row.repeats for row in of)} |")
    lines += ["", "| in pairs | of | decodes | right |", "|---|---|---|---|"]
    sending = [(call, answers) for call, answers in kept if answers[OURS].has_send]
    for other in names[1:]:
        lines.append(_paired(f"{OURS} against {other}", kept, other))
    if sending:
        lines += [
            _paired(f"{OURS} against {other}, where `send:` is there", sending, other) for other in names[1:]
        ]
    lines += [
        "",
        f"| mistake (decodes / right) | of | {' | '.join(names)} |",
        f"|---|---|{'---|' * len(names)}",
    ]
    for kind in KINDS:
        if of_kind := [answers for call, answers in kept if call.mistakes[0] == kind]:
            cells = [_counts([answers[name].judged for answers in of_kind]) for name in names]
            lines.append(f"| {kind} | {len(of_kind)} | {' | '.join(cells)} |")
    return lines


def _counts(of: list[Judged]) -> str:
    return f"{sum(one.decodes for one in of)} / {sum(one.is_right for one in of)}"


def _paired(label: str, rows: list[tuple[WrongCall, dict[str, Second]]], other: str) -> str:
    cells = []
    for column in ("decodes", "is_right"):
        ways = [[getattr(answers[name].judged, column) for _, answers in rows] for name in (OURS, other)]
        found = pairs(*ways)
        cells.append(f"+{found.gained} -{found.lost}, p = {found.p:.2g}")
    return f"| {label} | {len(rows)} | {' | '.join(cells)} |"


def search_table(rows: list[Searched]) -> list[str]:
    """Return the table of search words."""
    searched = [row for row in rows if row.by_query is not None]
    lines = ["| searched for | found among the first five |", "|---|---|"]
    for label, found in (
        ("the user's question", [row.by_question for row in rows]),
        ("the user's question, where the model searched", [row.by_question for row in searched]),
        ("the model's query", [row.by_query for row in searched]),
        ("the model's call, in a round", [row.in_round for row in searched]),
    ):
        lines.append(f"| {label} | {share(found.count(True), len(found))} |")
    return lines


def loop_table(rows: list[tuple[Wish, Talked]]) -> list[str]:
    """Return the table of README's loop."""
    lines = ["| README's loop | ran | right | the end |", "|---|---|---|---|"]
    for wish, talked in rows:
        ran = ", ".join([f"`{name}`" for name, _ in talked.ran]) or "nothing"
        lines.append(f"| {wish.question} | {ran} | {'yes' if talked.does(wish) else 'no'} | {talked.ended} |")
    return lines


# the run


def judge(tasks: list[Task], ask: Callable[..., Any], options: argparse.Namespace) -> list[str]:
    """Ask everything, and return the tables as lines of Markdown."""
    rng = random.Random(options.seed)  # noqa: S311  # repeatable on purpose
    drawn = rng.sample(tasks, len(tasks))
    some = drawn[: options.samples]
    wrong = wrong_calls(drawn, options.samples, options.seed, lambda call: our_text(call) is not None)
    against = options.against if "second" in options.parts else None
    earlier = earlier_texts(against, options.data, wrong) if against else [None] * len(wrong)
    # A tool that others share their name with is found once.
    search = ToolSearch(list({task.tool.name: task.tool for task in reversed(drawn)}.values()))
    tables: dict[str, Callable[[Any], list[str]]] = {
        "loop": lambda every: loop_table(every(WISHES, lambda wish: (wish, converse(wish, ask)))),
        "first": lambda every: first_table(
            every(some, lambda task: ask_first(task, ask)),
            every(some, lambda task: ask_constrained(task, ask)),
        ),
        "second": lambda every: second_tables(
            every(zip(wrong, earlier, strict=True), lambda two: (two[0], ask_second(two[0], ask, two[1])))
        ),
        "search": lambda every: search_table(every(some, lambda task: ask_search(task, search, ask))),
    }
    lines: list[str] = []
    with Progress(console=Console(stderr=True)) as progress, ThreadPoolExecutor(options.at_once) as pool:
        for part in options.parts:

            def every(samples: Iterable[Any], answer: Callable[[Any], Any], part: str = part) -> list[Any]:
                samples = list(samples)
                bar = progress.add_task(part, total=len(samples))
                found = []
                for one in pool.map(answer, samples):
                    found.append(one)
                    progress.advance(bar)
                return found

            lines += [*tables[part](every), ""]
    return lines


PARTS = ("loop", "first", "second", "search")


def main() -> int:
    """Ask a model, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "model", help="a GGUF file, or the address of a server, such as http://127.0.0.1:8080/v1"
    )
    parser.add_argument("--data", type=Path, required=True, help="the wheel of bfcl-eval")
    parser.add_argument("--samples", type=int, default=40, help="questions of each part")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=4, help="requests at the same time")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--answers", type=Path, default=ROOT / "build" / "model-judge")
    parser.add_argument(
        "--against", type=Path, help="a checkout of another version, whose texts are asked, too"
    )
    parser.add_argument("--write", action="store_true", help=f"also write the tables to {PAGE.name}")
    options = parser.parse_args()
    is_address = options.model.startswith(("http://", "https://"))
    if not is_address and not Path(options.model).is_file():
        parser.error(f"{options.model} is neither a file nor an address with http://")
    by_address = nullcontext(options.model.rstrip("/"))
    try:
        with by_address if is_address else serving(Path(options.model), options.at_once) as address:
            name = name_at(address) if is_address else Path(options.model).stem
            kept = options.answers / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', name or 'model')}.jsonl"
            lines = judge(list(tasks_in(options.data)), Answers(kept, address, name).ask, options)
    except OSError as error:
        parser.exit(1, f"{options.model}: {error}\n")
    title = (
        f"Measured on {datetime.now(UTC):%Y-%m-%d}: {name}, {options.samples} samples, seed {options.seed}."
    )
    text = "\n".join([title, "", *lines])
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    if options.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
