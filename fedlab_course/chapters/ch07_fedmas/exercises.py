# mypy: allow-untyped-defs
"""Exercises of chapter 7: the cohorts of a round, how stiff a penalty may be, bytes, and what equal bytes allow."""

import numpy as np

from fedlab_course.check.base import Exercise, Hint, Mistake
from fedlab_course.check.tools import call, close, number, pair, require, shown


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


def check_tier_cohorts(answer):
    tiers = np.array([2, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0])  # ten in tier 0, three in 1, one in 2
    drawn = [_cohorts(answer, tiers, 0.2, seed) for seed in range(20)]
    first = drawn[0]
    require(
        len(first) == 3,
        f"Three tiers take their turns one after another, so a round has three cohorts. Yours has {len(first)}.",
    )
    require(
        all(len(set(tiers[cohort].tolist())) == 1 for cohort in first if len(cohort)),
        "A cohort of yours holds clients of several tiers.",
    )
    require(all(len(cohort) for cohort in first), "A tier of yours trains nobody. At least one client does, always.")
    require(
        [int(tiers[cohort[0]]) for cohort in first] == [0, 1, 2],
        "The tiers take their turns in the order of their numbers: 0, 1, 2.",
    )
    sizes = [len(cohort) for cohort in first]
    require(sizes == [2, 1, 1], f"A fifth of 10, 3 and 1 clients are 2, 1 and 1, and yours are {sizes}.")
    require(
        all(len(set(cohort.tolist())) == len(cohort) for cohorts in drawn for cohort in cohorts),
        "A client of yours trains twice in one cohort. Draw without replacement.",
    )
    require(
        len({tuple(sorted(cohorts[0].tolist())) for cohorts in drawn}) > 1,
        "The same clients of a tier train in every round. They are drawn at random, with `rng`.",
    )
    everyone = [sorted(cohort.tolist()) for cohort in _cohorts(answer, tiers, 1.0, 0)]
    require(
        everyone == [np.flatnonzero(tiers == tier).tolist() for tier in range(3)],
        "With a fraction of 1 every client of a tier trains, and with yours not.",
    )


def _cohorts(answer, tiers, fraction, seed):
    found = call(answer, tiers, fraction, np.random.default_rng(seed))
    if not isinstance(found, (list, tuple)):
        raise Hint(f"Return a list with one cohort for each tier. Yours is of type {type(found).__name__}.")
    return [np.asarray(cohort, dtype=int).reshape(-1) for cohort in found]


def values_sent(sampled, num_parameters):
    """How many numbers a round of FedMas sends down and up, once there is an Ω: (down, up).

    sampled: for each tier, how many of its clients train.
    """
    ### BEGIN SOLUTION
    tiers, clients = len(sampled), sum(sampled)
    down = 2 * clients * num_parameters + tiers * num_parameters
    up = clients * num_parameters + tiers * num_parameters
    return down, up
    ### END SOLUTION


def check_values_sent(answer):
    result = call(answer, [3], 10)
    both = pair(result, "Return two numbers, down and up: `return down, up`.")
    down, up = number(both[0], "down"), number(both[1], "up")
    require((down, up) != (80, 70), "You have mixed up down and up: Ω goes down to every client that trains.")
    require(down not in (30, 40), "Each client that trains needs Ω beside the model, or it cannot form the penalty.")
    require(down != 60, "One more client is sent the new model, to measure Ω at it.")
    require(up != 60, "Only one client of a tier sends an Ω; the others send their models.")
    require(up != 30, "The client that measured Ω has to send it to the server.")
    require(
        (down, up) == (70, 40),
        f"One tier with 3 clients and 10 parameters sends 70 numbers down and 40 up. Yours are {down:g} and {up:g}.",
    )
    several = pair(call(answer, [3, 1, 2], 10), "Return two numbers, down and up: `return down, up`.")
    require(
        several == (150, 90),
        f"Right for one tier. Three tiers with 3, 1 and 2 clients measure three times: 150 numbers down and 90 up. "
        f"Yours are {several[0]:g} and {several[1]:g}.",
    )


def largest_strength(importance, lr):
    """The λ at which local steps with the penalty stop being stable."""
    ### BEGIN SOLUTION
    return 1 / (lr * importance.max())
    ### END SOLUTION


def check_largest_strength(answer):
    importance = np.array([0.1, 4.0, 1.0])
    result = number(call(answer, importance, 0.01))
    require(
        not close(result, 2 / (0.01 * 4.0)),
        "Twice too large. The gradient of λ Ω (y − w)² is 2 λ Ω (y − w): the 2 belongs in the bound.",
    )
    require(
        not close(result, 1 / 4.0) and not close(result, 1 / (4.0 * 0.01) ** 2),
        "How does η enter? Half the learning rate allows for twice the λ.",
    )
    require(
        not close(result, 1 / (0.01 * importance.mean())),
        "At this λ the mean parameter is at the edge, and some are beyond it. One parameter that diverges is enough "
        "to lose the model.",
    )
    require(
        not close(result, 1 / (0.01 * importance.min())),
        "This λ is safe for the least important parameter only. Which parameter diverges first?",
    )
    distance = 1.0
    for _ in range(50):
        distance *= abs(1 - 0.01 * 2 * result * importance.max())
    require(
        close(distance, 1.0, 1e-6),
        f"At your λ = {shown(result)} a step multiplies the distance of the most important parameter from w by "
        f"{shown(1 - 0.01 * 2 * result * importance.max())}. At the edge of stability this factor is −1.",
    )
    require(
        close(number(call(answer, 10 * importance, 0.002)), 1 / (0.002 * 40.0)),
        "Right once, and wrong for another Ω and another η.",
    )


EXERCISES = (
    Exercise(
        id="07-cohorts",
        solution=tier_cohorts,
        check=check_tier_cohorts,
        mistakes=(
            Mistake("max(1, round(fraction * len(members)))", "round(fraction * len(members))", "trains nobody"),
            Mistake("range(max(tiers) + 1)", "range(max(tiers))", "has three cohorts"),
            Mistake("members = np.flatnonzero(tiers == tier)", "members = np.arange(len(tiers))", "several tiers"),
            Mistake("replace=False", "replace=True", "without replacement"),
            Mistake("rng.choice(members, size, replace=False)", "members[:size]", "drawn at random"),
            Mistake("range(max(tiers) + 1)", "reversed(range(max(tiers) + 1))", "order of their numbers"),
            Mistake("round(fraction * len(members))", "int(1 + fraction * len(members))", "and yours are [3"),
        ),
    ),
    Exercise(
        id="07-bound",
        solution=largest_strength,
        check=check_largest_strength,
        mistakes=(
            Mistake("1 / (lr", "2 / (lr", "Twice too large"),
            Mistake("lr * importance.max()", "importance.max()", "How does η enter"),
            Mistake("importance.max()", "importance.mean()", "some are beyond it"),
            Mistake("importance.max()", "importance.min()", "diverges first"),
            Mistake("1 / (lr * importance.max())", "lr * importance.max()", "this factor is −1"),
            Mistake("importance.max()", "4.0", "another Ω"),
        ),
    ),
    Exercise(
        id="07-bytes",
        solution=values_sent,
        check=check_values_sent,
        mistakes=(
            Mistake("2 * clients", "clients", "needs Ω beside"),
            Mistake(
                "down = 2 * clients * num_parameters + tiers * num_parameters",
                "down = 2 * clients * num_parameters",
                "One more client",
            ),
            Mistake(
                "up = clients * num_parameters + tiers * num_parameters", "up = clients * num_parameters", "to send it"
            ),
            Mistake("up = clients", "up = 2 * clients", "are 70 and 70"),
            Mistake("up = clients * num_parameters + tiers", "up = clients * num_parameters + clients", "Only one"),
            Mistake("tiers, clients = len(sampled)", "tiers, clients = 1", "measure three times"),
            Mistake("return down, up", "return down + up", "Return two numbers"),
        ),
    ),
)
