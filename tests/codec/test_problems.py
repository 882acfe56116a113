"""Every kind of problem has a method that notes it and a function that words it."""

from __future__ import annotations

from inspect import isfunction, signature

from operator_schema.codec import problem_texts
from operator_schema.codec.problems import INVALID, Problems, Trial


def kinds_noted():
    methods = [method for method in vars(Problems).values() if hasattr(method, "__code__")]
    noting = [method.__code__ for method in methods if "_note" in method.__code__.co_names]
    return {code.co_name for code in noting}


def test_each_kind_that_is_noted_has_words():
    functions = [one for name, one in vars(problem_texts).items() if isfunction(one) and name[0] != "_"]
    worded = {one.__name__ for one in functions if signature(one).return_annotation == "Finding"}
    assert kinds_noted() == worded - {"of_leaf"}  # it words again what a leaf has found


def test_each_method_notes_the_kind_of_its_own_name():
    for name in kinds_noted():
        assert name in vars(Problems)[name].__code__.co_consts


def test_a_trial_counts_problems_without_words():
    trial = Trial()
    assert trial.too_deep(None, 3) is INVALID
    assert (trial.found, trial.omitted) == ([], 1)
