"""A wrong number that a known mistake gives is explained by the sentence of the mistake."""

import numpy as np
import pytest

from fedconform.mistakes import in_averaging, in_feddyn, in_scaffold
from fedlab_course.check import known_formulas as formulas
from fedlab_course.check import registry
from fedlab_course.check.exercises import judge
from fedlab_course.check.known_mistakes import explained

BY_CASES = [
    "00-local",
    "00-aggregate",
    "00-fedavg",
    "02-local",
    "03-local",
    "03-control",
]


@pytest.mark.parametrize("name", BY_CASES)
def test_the_formula_without_mistakes_gives_what_the_cases_expect(name: str) -> None:
    exercise = registry.get(name)
    assert exercise.known is not None
    for case in exercise.cases:
        assert exercise.known.compute((), *case.arguments) == pytest.approx(
            np.array(case.expected), abs=1e-12
        )


@pytest.mark.parametrize("name", BY_CASES)
def test_each_mistake_of_a_formula_is_named_alone_or_among_those_with_the_same_numbers(
    name: str,
) -> None:
    exercise = registry.get(name)
    cases = [case.arguments for case in exercise.cases]
    for mistake in exercise.known.mistakes:
        found = [exercise.known.compute((mistake,), *case) for case in cases]
        assert mistake in explained(exercise.known, cases, found), mistake


PLANTED = {  # exercise, part of the solution, what stands there instead → what the hint must say
    (
        "02-local",
        "(gradient(k, y) + mu * (y - w))",
        "gradient(k, y) - mu * (y - w)",
    ): "η must multiply both terms",
    ("02-local", "(gradient(k, y) + mu * (y - w))", "gradient(k, y) - 2 * mu * (y - w)"): (
        "This is the result of two known mistakes together: "
        f"(1) {formulas.TERM_WITHOUT_RATE}; (2) {in_averaging.DOUBLE_PULL}."
    ),
    ("02-local", "mu * (y - w)", "2 * mu * (y - w)"): in_averaging.DOUBLE_PULL,
    ("02-local", " + mu * (y - w)", ""): in_averaging.NO_PULL,
    ("02-local", "y - eta * (gr", "y - (gr"): formulas.NO_RATE,
    ("03-local", "c - c_k", "c"): in_scaffold.ONLY_SERVER,
    ("03-local", "eta * (gradient(k, y) + c - c_k)", "eta * gradient(k, y) + c - c_k"): (
        f"(1) {formulas.TERM_WITHOUT_RATE}; (2) {in_scaffold.SIGN}."
    ),
    ("03-local", "c - c_k)", "c - c_k) + 2 * eta * (gradient(k, y) + c - c_k)"): formulas.UPHILL,
    ("03-control", "c_k - c + (w - y)", "c - c_k + (w - y)"): in_scaffold.REVERSED,
    (
        "03-control",
        "c_k - c + (w - y) / (steps * eta)",
        "(y - w) / (steps * eta)",
    ): in_scaffold.MINUS,
    ("00-aggregate", "np.average(models, axis=0, weights=sizes)", "models[-1]"): in_averaging.LAST,
    (
        "00-fedavg",
        "aggregate(models, sizes[cohort])",
        "sizes[cohort] @ models / sizes.sum()",
    ): in_averaging.ALL_SAMPLES,
    (
        "02-class",
        "anchor=server.params",
        "anchor=server.state.setdefault('w0', server.params)",
    ): in_averaging.OLD_ANCHOR,
    ("02-class", "weight=self.mu", "weight=2 * self.mu"): in_averaging.DOUBLE_PULL,
    ("02-class", "weight=self.mu", "weight=-self.mu"): in_averaging.PUSH,
    ("03-class", '["c"] - server.state["c_clients"][client]', '["c"]'): in_scaffold.ONLY_SERVER,
    ("03-class", "/ server.num_clients", "/ len(updates.clients)"): in_scaffold.COHORT_SHARE,
    ("03-class", "(steps * server.lr)", "steps"): in_scaffold.RATE_MISSING,
    ("03-class", "(steps * server.lr)", "server.lr"): in_scaffold.TAU_MISSING,
    ("08-feddyn", "offset=-h_k", "offset=h_k"): in_feddyn.LINEAR_SIGN,
    ("08-feddyn", ", offset=-h_k", ""): in_feddyn.NO_LINEAR,
    ("08-feddyn", "/ server.num_clients", "/ len(updates.clients)"): in_feddyn.H_SHARE,
}


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: f"{planted[0]}: {planted[2]}")
def test_a_planted_mistake_is_named(planted: tuple[str, str, str]) -> None:
    name, old, new = planted
    exercise = registry.get(name)
    assert old in exercise.solution_source
    verdict = judge(exercise, exercise.build(exercise.solution_source.replace(old, new)))
    assert verdict.status == "wrong"
    assert PLANTED[planted] in verdict.hint, verdict.hint


def test_mistakes_with_the_same_numbers_are_all_named() -> None:
    """The plain mean of 1, 3, 2 is the last of them."""
    case = (np.array([[1.0], [3.0], [2.0]]), np.array([1, 2, 5]))
    sentence = explained(formulas.AGGREGATE, [case], [[2.0]])
    assert sentence == (
        "This is the result of one of these known mistakes: "
        f"(1) {in_averaging.PLAIN}; (2) {in_averaging.LAST}."
    )


def test_numbers_of_no_known_mistake_are_not_explained() -> None:
    exercise = registry.get("02-local")
    wrong = exercise.build(exercise.solution_source.replace("mu *", "mu**2 *"))
    assert "known mistake" not in judge(exercise, wrong).hint
    exercise = registry.get("02-class")
    wrong = exercise.build(exercise.solution_source.replace("self.mu,", "self.mu**3,"))
    assert "known mistake" not in judge(exercise, wrong).hint
