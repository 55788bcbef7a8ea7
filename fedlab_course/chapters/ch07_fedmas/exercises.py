# mypy: allow-untyped-defs
"""Exercises of chapter 7: the cohorts of a round, how stiff a penalty may be, bytes, and what equal bytes allow."""

import numpy as np

from fedlab_course.check.base import Case, Exercise, Hint, Mistake
from fedlab_course.check.tools import call, require


def tier_cohorts(tiers, fraction, rng):
    """The cohorts of a round of FedMas: for each tier in turn, a list of the clients that train.

    tiers: the tier of each client, 0, 1, …, an array; rng: a NumPy generator.
    """
    ### BEGIN SOLUTION
    cohorts = []
    for tier in range(max(tiers) + 1):
        members = np.flatnonzero(tiers == tier)
        size = max(1, round(fraction * len(members)))
        cohorts.append(rng.choice(members, size, replace=False))
    return cohorts
    ### END SOLUTION


def values_sent(sampled, num_parameters):
    """How many numbers a round of FedMas sends down and up, once there is an Ω: (down, up).

    sampled: for each tier, how many of its clients train.
    """
    ### BEGIN SOLUTION
    tiers, clients = len(sampled), sum(sampled)
    down = (2 * clients + tiers) * num_parameters
    up = (clients + tiers) * num_parameters
    return down, up
    ### END SOLUTION


def largest_strength(importance, lr):
    """The λ at which local steps with the penalty stop being stable."""
    ### BEGIN SOLUTION
    return 1 / (lr * importance.max())
    ### END SOLUTION


_OMEGA = np.array([0.1, 4.0, 1.0])


def check_tier_cohorts(answer):
    tiers = np.array([2, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0])  # ten in tier 0, three in 1, one in 2
    drawn = [_cohorts(answer, tiers, 0.2, seed) for seed in range(20)]
    first = drawn[0]
    require(len(first) == 3, f"Three tiers train one after another: three cohorts. Yours has {len(first)}.")
    require(all(len(set(tiers[cohort])) < 2 for cohort in first), "One of your cohorts has clients of several tiers.")
    require(all(len(cohort) for cohort in first), "One of your tiers trains no client. At least one client must train.")
    require([tiers[cohort[0]] for cohort in first] == [0, 1, 2], "The tiers train in the order of their numbers.")
    sizes = [len(cohort) for cohort in first]
    require(sizes == [2, 1, 1], f"A fifth of 10, 3 and 1 clients is 2, 1 and 1 client. Your cohorts have {sizes}.")
    once = all(len(set(cohort)) == len(cohort) for cohorts in drawn for cohort in cohorts)
    require(once, "A client trains twice in one of your cohorts. Draw without replacement.")
    several = {tuple(sorted(cohorts[0])) for cohorts in drawn}
    require(len(several) > 1, "The same clients of a tier train in every round. They are drawn at random, with `rng`.")
    everyone = [sorted(cohort) for cohort in _cohorts(answer, tiers, 1.0, 0)]
    wanted = [np.flatnonzero(tiers == tier).tolist() for tier in range(3)]
    require(everyone == wanted, "With a fraction of 1 every client of a tier must train.")


def _cohorts(answer, tiers, fraction, seed):
    found = call(answer, tiers, fraction, np.random.default_rng(seed))
    if not isinstance(found, (list, tuple)):
        raise Hint(f"Return a list with one cohort for each tier. Yours is of type {type(found).__name__}.")
    return [np.asarray(cohort, dtype=int).reshape(-1) for cohort in found]


EXERCISES = (
    Exercise(
        id="07-cohorts",
        solution=tier_cohorts,
        check=check_tier_cohorts,
        mistakes=(
            Mistake("max(1, round(fraction * len(members)))", "round(fraction * len(members))", "trains no client"),
            Mistake("range(max(tiers) + 1)", "range(max(tiers))", "three cohorts. Yours has 2"),
            Mistake("members = np.flatnonzero(tiers == tier)", "members = np.arange(len(tiers))", "several tiers"),
            Mistake("replace=False", "replace=True", "without replacement"),
            Mistake("rng.choice(members, size, replace=False)", "members[:size]", "drawn at random"),
        ),
    ),
    Exercise(
        id="07-bound",
        solution=largest_strength,
        cases=(
            Case((_OMEGA, 0.01), 25, "The importances are 0.1, 4 and 1. The learning rate is 0.01."),
            Case((10 * _OMEGA, 0.002), 12.5, "Ω is ten times as large, and the learning rate is 0.002."),
        ),
        mistakes=(
            Mistake("1 / (lr", "2 / (lr", "What is the gradient of λ Ω (y − w)²?"),
            Mistake("lr * importance.max()", "importance.max()", "Your result does not depend on η."),
            Mistake("importance.max()", "importance.mean()", "Your λ is safe for a parameter with the mean Ω."),
        ),
    ),
    Exercise(
        id="07-bytes",
        solution=values_sent,
        cases=(
            Case(([3], 10), (70, 40), "There is one tier. Three clients train, and the model has ten parameters."),
            Case(([3, 1, 2], 10), (150, 90), "There are three tiers, in which 3, 1 and 2 clients train."),
        ),
        mistakes=(
            Mistake("2 * clients", "clients", "What does a client need for the penalty, beside the model?"),
            Mistake("(2 * clients + tiers)", "2 * clients", "One more client receives the new model, to measure Ω."),
            Mistake("(clients + tiers)", "clients", "How does the server get the new Ω?"),
            Mistake("(clients + tiers)", "2 * clients", "Does each client of a tier measure Ω?"),
            Mistake("return down, up", "return up, down", "You have exchanged down and up."),
        ),
    ),
)
