# mypy: allow-untyped-defs
"""Exercises of chapter 0: the bytes of a run, and the verdict on an interval."""

from fedlab_course.check.base import Case, Exercise, Mistake


def bytes_of_a_run(num_parameters, clients_per_round, rounds):
    """The bytes that FedAvg sends in a run, down and up together."""
    ### BEGIN SOLUTION
    down = 4 * num_parameters * clients_per_round * rounds
    up = down
    return down + up
    ### END SOLUTION


def verdict(low, high, margin):
    """The verdict on "A is ahead of B", from the interval [low, high] for A − B and δ."""
    ### BEGIN SOLUTION
    if low > margin:
        return "holds"
    if high < -margin:
        return "opposite"
    if -margin <= low and high <= margin:
        return "equivalent"
    if low > 0:
        return "higher"
    if high < 0:
        return "lower"
    return "undecided"
    ### END SOLUTION


EXERCISES = (
    Exercise(
        id="00-bytes",
        solution=bytes_of_a_run,
        cases=(
            Case((1, 1, 1), 8, "One parameter, one client, one round."),
            Case((1, 5, 1), 40, "Five clients in one round. Each receives a model and sends one back."),
            Case((1, 1, 9), 72, "Nine rounds. The model is sent again in every round."),
            Case((15010, 20, 50), 120_080_000, "This is the run of this chapter."),
        ),
        mistakes=(
            Mistake("return down + up", "return down", "The model is sent down. What comes back?"),
            Mistake("4 * num", "num", "You count numbers. How many bytes does each number take?"),
            Mistake(" * clients_per_round", "", "Your result does not depend on the number of clients."),
            Mistake(" * rounds", "", "Your result does not depend on the number of rounds."),
        ),
    ),
    Exercise(
        id="00-verdict",
        solution=verdict,
        cases=(
            Case((0.05, 0.07, 0.01), "holds", "[0.05, 0.07] lies above δ = 0.01."),
            Case((-0.07, -0.05, 0.01), "opposite", "[−0.07, −0.05] lies below −δ = −0.01."),
            Case((0.002, 0.006, 0.01), "equivalent", "[0.002, 0.006] lies between −δ = −0.01 and δ = 0.01."),
            Case((0.004, 0.03, 0.01), "higher", "[0.004, 0.03] contains δ = 0.01, but not zero."),
            Case((-0.03, -0.004, 0.01), "lower", "[−0.03, −0.004] contains −δ = −0.01, but not zero."),
            Case((-0.004, 0.03, 0.01), "undecided", "[−0.004, 0.03] contains zero and δ = 0.01."),
            Case((-0.01, 0.01, 0.01), "equivalent", "[−0.01, 0.01] ends exactly at the margin δ = 0.01."),
            Case((0.02, 0.04, 0.05), "equivalent", "Here the margin is δ = 0.05. Do you use the argument `margin`?"),
        ),
        mistakes=(
            Mistake("low > margin", "high > margin", "Which end of the interval is nearer to zero?"),
            Mistake("low > margin", "low > 0", "Compare with the margin first, not with zero."),
            Mistake("if low > 0", "if high > 0", "An interval that contains zero has no known sign."),
            Mistake('return "undecided"', 'return "equivalent"', "A difference that counts is still possible."),
            Mistake("-margin <= low and high", "high", "The margin has a border on the other side too."),
        ),
    ),
)
