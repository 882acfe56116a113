"""What several tests need."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]

# Making a random type is slow beside checking it, and CI machines are slow beside each other. The same
# commit has the same result on each machine and each day: new examples are for `make laws`. Of few examples,
# the share that a filter refuses is a matter of chance, and of the modules that are imported.
settings.register_profile(
    "default",
    max_examples=25,
    deadline=None,
    suppress_health_check=[*SLOW, HealthCheck.filter_too_much],
    print_blob=True,
    derandomize=True,
    database=None,
)
# `make laws` draws others each time, and as many as nobody wants to wait for each time.
settings.register_profile(
    "thorough",
    settings.get_profile("default"),
    derandomize=False,
    suppress_health_check=SLOW,
    max_examples=int(os.environ.get("EXAMPLES", "1000")),
)
# What differs between versions of Python shows in a few examples: on one of them the laws get more.
settings.register_profile("matrix", settings.get_profile("default"), max_examples=10)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

ENGINE = (
    *("introspect", "codec", "tools", "rounds", "execution", "schema"),
    *("laws/test_limits", "workbench/test_lint", "house/test_arms", "test_errors", "test_value"),
    "adapters/test_framework_changes",
    *("providers/test_dialects", "providers/test_families", "providers/test_leaf_schemas"),
    *("providers/test_llama_cpp", "providers/test_default_mode"),
    *("providers/test_root_composition", "providers/test_schema_profiles", "providers/test_strict"),
)
"""Tests that cover all branches of the engine, even without the slow ones: measuring takes time."""

COVERED_BY_OTHERS = (
    *("codec/partial/test_partial_real_calls", "schema/test_schemas_that_all_fit"),
    *("introspect/test_unions", "rounds/test_huge_turns"),
    "codec/test_colliding_hashes::test_colliding_values_are_refused_when_compiled_too",
    "codec/test_colliding_hashes::test_many_that_do_not_collide",
    "schema/test_bounds_of_reading::test_so_many_schemas_are_read",
    "schema/test_documents::test_large_and_deep_documents_are_bounded",
    "schema/test_linear_regex::test_no_text_keeps_a_hard_expression_busy",
    "schema/test_linear_regex::test_random_expressions_are_found_where_re_finds_them",
    "schema/test_tagged_alternatives::test_what_is_wrong_is_told_of_the_member_that_the_tag_names",
    "execution/test_hooks_at_every_door::test_hooks_of_a_toolset_hold_wherever_its_tools_are",
    "execution/test_hooks_at_every_door::test_what_a_hook_decides_holds",
    "introspect/foreign/test_pydantic_types::test_values_are_read_and_written_as_pydantic_does",
    "introspect/foreign/test_pydantic_unions::test_constants_and_required_keys_tell_models_apart",
    "introspect/test_doubling_types::test_sharing_names_many_definitions_in_linear_time",
    "introspect/test_doubling_types::test_the_schema_grows_by_the_level",
    "introspect/test_hostile_types::test_many_complaints_are_counted",
    "rounds/test_approved_types::test_a_parameter_that_was_renamed_removed_or_added_refuses_the_call",
    "rounds/test_changed_data::test_a_call_that_was_changed_is_an_issue_and_the_others_stay",
    "rounds/test_decision_log::test_the_log_is_bounded_and_on_one_line",
    "rounds/test_pairs_of_decisions::test_a_second_decision_counts_or_is_refused",
    "rounds/test_restoring::test_many_calls_of_tools_that_are_gone_take_no_longer",
    "rounds/test_stores::test_four_clicks_at_once_pay_once",
    "laws/test_limits::test_what_a_problem_says_of_a_large_type",
    "tools/test_repair_switch::test_arguments_are_corrected_at_every_entrance_if_the_switch_is_on",
)
"""Files and tests in the same folders that run for long, and reach no branch that others don't."""

TESTS = Path(__file__).parent
NAMED = {name.partition("::")[0] for name in (*ENGINE, *COVERED_BY_OTHERS)}
if missing := [name for name in NAMED if not list(TESTS.glob(f"{name}*"))]:
    raise pytest.UsageError(f"ENGINE names tests that aren't there: {', '.join(missing)}")

LONGEST_NAME = 10_000

LACKING = {
    "needs_process": "WebAssembly starts no processes",
    "needs_threads": "WebAssembly starts no threads, and no event loop inside a call",
}


@cache  # for 18,000 tests in 450 files
def place_of(path: Path) -> str:
    return path.relative_to(TESTS).with_suffix("").as_posix()


@cache
def is_of_engine(path: Path) -> bool:
    """Say whether a file, or something in a folder, may be of the tests that cover the engine."""
    if not path.is_relative_to(TESTS):
        return False
    place = place_of(path)
    return place not in COVERED_BY_OTHERS and any(
        f"{place}/".startswith(f"{name}/") or name.startswith(f"{place}/") for name in ENGINE
    )


def covers_engine(item: pytest.Item) -> bool:
    is_drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    # They take most of the time, and tracing would break the limits of time that some of them have.
    if not is_of_engine(item.path) or is_drawn or item.get_closest_marker("slow"):
        return False
    return f"{place_of(item.path)}::{getattr(item, 'originalname', item.name)}" not in COVERED_BY_OTHERS


MEMORY = Path("/dev/shm")  # noqa: S108  # for folders of our own
ROOM = 2 * 2**30


def has_memory_folder() -> bool:
    """Say whether files may lie in memory: there is a place for them, with room, that runs programs."""
    if not MEMORY.is_dir():
        return False
    found = os.statvfs(MEMORY)
    return found.f_bavail * found.f_frsize > ROOM and not found.f_flag & getattr(os, "ST_NOEXEC", 0)


def pytest_configure(config: pytest.Config) -> None:
    """Put temporary files into memory: on a disk, tests that write files take up to twice as long.

    They are gone at the end. Set TMPDIR to look at them.
    """
    if "TMPDIR" in os.environ or hasattr(config, "workerinput") or not has_memory_folder():
        return
    folder = tempfile.mkdtemp(prefix="tests-", dir=MEMORY)
    os.environ["TMPDIR"] = folder
    tempfile.tempdir = None  # it is asked again

    def clean() -> None:
        del os.environ["TMPDIR"]
        tempfile.tempdir = None
        shutil.rmtree(folder, ignore_errors=True)

    config.add_cleanup(clean)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-golden", action="store_true", help="rewrite the golden files")
    # What is cached by a test that isn't traced would be missing in one that is, so each has its processes.
    parser.addoption("--part", choices=["engine", "rest"], help="run what covers the engine, or the others")


@cache
def is_measured_whole(path: Path) -> bool:
    """Say whether all tests of a file cover the engine, by its text: to import it takes much longer."""
    if path.suffix != ".py" or not is_of_engine(path):
        return False
    if any(name.startswith(f"{place_of(path)}::") for name in COVERED_BY_OTHERS):
        return False
    text = path.read_text(encoding="utf-8")
    return "hypothesis" not in text and "slow" not in text


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    match config.getoption("part"):
        case "engine":
            is_left_out = collection_path != TESTS and not is_of_engine(collection_path)
        case "rest":
            is_left_out = is_measured_whole(collection_path)
        case _:
            is_left_out = False
    return True if is_left_out else None


def keep_part(part: str, config: pytest.Config, items: list[pytest.Item]) -> None:
    chosen = {True: [], False: []}
    for item in items:
        chosen[covers_engine(item) == (part == "engine")].append(item)
    for item in chosen[False]:
        if part == "engine" and is_measured_whole(item.path):
            raise pytest.UsageError(f"this would run in no part: {item.nodeid}. Mark it in its own file")
    config.hook.pytest_deselected(items=chosen[False])
    items[:] = chosen[True]


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses among the marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if part := config.getoption("part"):
        keep_part(part, config, items)
    if hasattr(config, "workerinput"):
        slow = {item.path for item in items if item.get_closest_marker("slow")}
        items.sort(key=lambda item: item.path not in slow)  # so that no process ends long after the others
    for item in items:  # processes that share the tests must find the same names
        if " at 0x" in item.name:
            raise pytest.UsageError(f"an address in the name of a test: {item.nodeid}. Give ids=")
        if len(item.nodeid) > LONGEST_NAME:  # and send each of them to each other
            raise pytest.UsageError(f"the name of a test is too long: {item.nodeid[:200]}. Give ids=")
    if sys.platform != "emscripten":
        return
    for item in items:
        for marker, reason in LACKING.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    # Next to nothing that is made here is garbage: looking for it takes a sixth of the time.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    # Modules and collected tests live to the end: the collector needn't walk them again and again.
    if sys.version_info < (3, 14):  # there Hypothesis asks the collector who refers to an object
        gc.freeze()


class _Everything(set[str]):
    def __contains__(self, _: object) -> bool:
        return True


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_told_of_tools_without_docstrings() -> None:  # pyright: ignore[reportUnusedFunction]  # pytest uses it
    """Leave them out of the log, which tests read; `tools/test_undescribed_tools.py` is about them."""
    from operator_schema.tools import tool_sources

    tool_sources._warned_places = _Everything()


@pytest.fixture
def memory_folder() -> Iterator[Path]:
    """Return a folder in memory, where there is one: a disk would take most of the time."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


@pytest.fixture
def define(monkeypatch: pytest.MonkeyPatch) -> Callable[..., types.ModuleType]:
    """Run source text as a module of its own."""

    def run(source: str, name: str = "defined_by_a_test") -> types.ModuleType:
        module = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(dedent(source), name, "exec", dont_inherit=True), vars(module))  # noqa: S102  # the test's own source
        return module

    return run
