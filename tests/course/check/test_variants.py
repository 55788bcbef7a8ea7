"""Every exercise lets right answers pass, however they are written, and tells plausible wrong ones
what is wrong.
"""

from collections import Counter

import pytest

from fedlab_course.check import registry
from fedlab_course.check.exercises import judge
from tests.course.check import answer_variants as variants

EVERY = list(variants.every())
RIGHT = [variant for variant in EVERY if variant.hint is None]
WRONG = [variant for variant in EVERY if variant.hint is not None]
LEAST = 4  # right answers, and wrong ones, for each exercise in the files


@pytest.mark.parametrize("variant", RIGHT, ids=str)
def test_another_right_answer_passes(variant: variants.Variant) -> None:
    exercise = registry.get(variant.exercise)
    verdict = judge(exercise, exercise.build(variant.source))
    assert (verdict.hint, verdict.status) == ("", "solved")


@pytest.mark.parametrize("variant", WRONG, ids=str)
def test_a_plausible_wrong_answer_fails_with_words_on_its_mistake(
    variant: variants.Variant,
) -> None:
    exercise = registry.get(variant.exercise)
    verdict = judge(exercise, exercise.build(variant.source))
    assert verdict.status == "wrong"
    assert variant.hint in verdict.hint


@pytest.mark.parametrize("kind", [RIGHT, WRONG], ids=["right", "wrong"])
def test_every_exercise_in_the_files_has_several_of_each_kind(kind) -> None:
    counts = Counter(variant.exercise for variant in kind)
    assert set(counts) == {variant.exercise for variant in EVERY}
    assert min(counts.values()) >= LEAST
    sources = {(variant.exercise, variant.source) for variant in EVERY}
    assert len(sources) == len(EVERY)
