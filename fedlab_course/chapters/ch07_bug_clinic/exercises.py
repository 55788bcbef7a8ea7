# mypy: allow-untyped-defs
"""Exercises of chapter 7: two examinations, and a bug with the test that finds it."""

import fedlab_core as fl
from fedlab_course.chapters import ch07_bug_clinic as clinic
from fedlab_course.chapters.ch07_bug_clinic.bench import draw, end, same, trial
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.tools import beside, require


def cut(patient, seed):
    """True if nothing changes when a client is cut in three; None for SCAFFOLD."""
    ### BEGIN SOLUTION
    if patient.method == "SCAFFOLD":
        return None
    a, b = draw(seed, 2)
    pieces = [0, 1, 1, 1]
    return same(end(patient, a, b, sizes=[1, 3]), end(patient, a[pieces], b[pieces]))
    ### END SOLUTION


def clones(patient, seed):
    """True if two of six equal clients do in a round what one of them does alone."""
    ### BEGIN SOLUTION
    a, b = draw(seed, 1)
    crowd = end(patient, a.repeat(6), b.repeat(6), rounds=1, clients_per_round=2)
    return same(crowd, end(patient, a, b, rounds=1))
    ### END SOLUTION


class YourPatient(fl.Algorithm):
    """It says that it is FedAvg."""

    def aggregate(self, server, updates):
        """The next parameters, with a bug of yours; updates.weighted_mean() is right."""
        ### BEGIN SOLUTION
        return (server.params + updates.weighted_mean()) / 2  # half a step
        ### END SOLUTION

    def passes(self, patient, seed):
        """Your examination: True for a healthy FedAvg, False for this class."""
        ### BEGIN SOLUTION
        a, b = draw(seed, 1)
        once = end(patient, a, b, rounds=1, local_steps=1)
        return same(once, 2 - 0.1 * a[0] * (2 - b[0]))  # one step from w = 2
        ### END SOLUTION


def check_twelve(answer):
    """Run the examination on a healthy FedAvg and on the class itself."""
    healthy, sick, unlike = beside(answer, trial)
    require(all(unlike), "Your algorithm has no bug that shows here: it ends where FedAvg ends, or it diverges.")
    require(all(one is True for one in healthy), f"A healthy FedAvg must pass under each seed. Yours says {healthy}.")
    require(
        not any(sick), f"Your bug passes your examination under some seed: {sick}. Where does it make a difference?"
    )


WELL, SICK = clinic.HEALTHY, clinic.PATIENTS

EXERCISES = (
    Exercise(
        id="07-cut",
        solution=cut,
        cases=(
            Case((WELL["FedAvg"], 0), True, "The healthy FedAvg fails. Have the pieces the a and b of their client?"),
            Case((WELL["SCAFFOLD"], 0), None, "SCAFFOLD weighs all clients alike. Does the question apply?"),
            Case((SICK[5], 0), True, "Patient 5 keeps only the last client, the same in both runs: it passes."),
            Case((SICK[1], 0), False, "Patient 1 takes the plain mean, and passes. Do your clients differ in size?"),
        ),
        mistakes=(
            Mistake("[0, 1, 1, 1]", "[0, 1]", "Patient 1 passes. Have the pieces all the samples of their client?"),
            Mistake("return same(", "return not same(", "The healthy fail, and so does Patient 5: when is it True?"),
            Mistake("return same", "same", "FedAvg gets None, but the question applies to it. Is a `return` missing?"),
        ),
    ),
    Exercise(
        id="07-clones",
        solution=clones,
        cases=(
            Case((WELL["FedAvg"], 0), True, "The healthy FedAvg fails. Are all six like the one who works alone?"),
            Case((WELL["SCAFFOLD"], 0), True, "The healthy FedAvg passes, and the healthy SCAFFOLD fails."),
            Case((SICK[7], 0), False, "Patient 7 multiplies its step by N / K, and passes."),
        ),
        mistakes=(
            Mistake("rounds=1", "rounds=3", "From round 2 on the crowd is another problem: not all have renewed c_k."),
            Mistake(", clients_per_round=2", "", "Patient 7 passes. How many of your six clients take part?"),
            Mistake("return same", "same", "Return True or False, and None for nobody. Is a `return` missing?"),
        ),
    ),
    Exercise(
        id="07-twelve",
        solution=YourPatient,
        check=check_twelve,
        mistakes=(
            Mistake("(server.params + updates.weighted_mean()) / 2", "updates.weighted_mean()", "no bug"),
            Mistake("return same(once", "return not same(once", "must pass"),
            Mistake("return same(once, 2 - 0.1 * a[0] * (2 - b[0]))", "return True", "passes your examination"),
        ),
    ),
)
