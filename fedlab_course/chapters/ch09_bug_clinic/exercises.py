# mypy: allow-untyped-defs
"""Exercises of chapter 9: two examinations, and means taken in the right order."""

import numpy as np

from fedlab_course.chapters import ch09_bug_clinic as clinic
from fedlab_course.chapters.ch09_bug_clinic.bench import draw, end, same
from fedlab_course.check.base import Case, Exercise, Mistake
from fedlab_course.check.tools import call, require


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


def fisher_diagonal(x, residual):
    """The Fisher diagonal [P] from samples x [n, P] and residuals [n]."""
    ### BEGIN SOLUTION
    gradients = residual[:, None] * x
    return (gradients**2).mean(axis=0)
    ### END SOLUTION


def check_cut(answer):
    """Patient 5 is blind to this question and passes; Patient 1 must fail."""

    def found(patient, seed=0):
        result = call(answer, patient, seed)
        require(
            result is None or isinstance(result, (bool, np.bool_)),
            f"An examination returns True, False or None, and yours {result!r}. `same(u, v)` compares two numbers.",
        )
        return result if result is None else bool(result)

    well = [found(WELL[method], seed) for method in ("FedAvg", "FedProx", "FedNova") for seed in (0, 1)]
    fedavg = any(well[:2])
    require(
        None not in well,
        "FedAvg, FedProx and FedNova get None. The question does not apply to SCAFFOLD only. Is a `return` missing?",
    )
    require(
        found(WELL["SCAFFOLD"]) is None,
        "SCAFFOLD gives each client the same weight, so a client in three pieces counts three times: the question "
        "does not apply, and the answer is None.",
    )
    require(
        fedavg or found(SICK[5]),
        "The healthy fail, and so does Patient 5, for whom both runs agree: do you return True where the two runs "
        "agree?",
    )
    sick = found(SICK[1])
    require(
        fedavg or sick is False,
        "The healthy FedAvg fails, and Patient 1, who weighs all clients alike, passes. Have your pieces as many "
        "samples together as the client that they are cut from?",
    )
    require(
        all(well),
        "A healthy algorithm fails. The two runs must be the same problem: the same client stays whole, and the "
        "pieces of the other have its curvature and its optimum, and one sample each.",
    )
    require(
        sick is False,
        "Patient 1 takes the plain mean of the clients' parameters, and passes. In your first run, do the clients "
        "have different sizes? In your second, are there more of them?",
    )


WELL, SICK = clinic.HEALTHY, clinic.PATIENTS
TWINS = (np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([1.0, -1.0]))
THREE = (np.array([[1.0, 2.0], [3.0, 0.5], [1.0, -1.0]]), np.array([1.0, -1.0, 2.0]))

EXERCISES = (
    Exercise(
        id="09-cut",
        solution=cut,
        check=check_cut,
        mistakes=(
            Mistake('patient.method == "SCAFFOLD"', 'patient.method == "nobody"', "counts three times"),
            Mistake("sizes=[1, 3]", "sizes=[3, 1]", "A healthy algorithm fails"),
            Mistake("[0, 1, 1, 1]", "[0, 1]", "as many samples together"),
            Mistake("return same(", "return not same(", "where the two runs agree"),
            Mistake("a[pieces], b[pieces]", "a, b, sizes=[1, 3]", "takes the plain mean"),
            Mistake("return same", "same", "Is a `return` missing?"),
        ),
    ),
    Exercise(
        id="09-clones",
        solution=clones,
        cases=(
            Case(
                (WELL["FedAvg"], 0),
                True,
                "The healthy FedAvg fails. Have all six clients the same curvature and the same optimum, those of the "
                "one who works alone?",
            ),
            Case((WELL["FedProx"], 0), True, "The healthy FedAvg passes, and the healthy FedProx fails."),
            Case((WELL["FedNova"], 1), True, "The healthy FedAvg passes, and the healthy FedNova fails."),
            Case((WELL["SCAFFOLD"], 0), True, "The healthy FedAvg passes, and the healthy SCAFFOLD fails."),
            Case((SICK[7], 0), False, "Patient 7 multiplies its step by N / K, and passes."),
        ),
        mistakes=(
            Mistake(
                "rounds=1",
                "rounds=3",
                "The healthy SCAFFOLD fails. After a round only two of six clients have renewed their c_k, so from the "
                "second round on the crowd is another problem. How many rounds do you run?",
            ),
            Mistake(
                ", clients_per_round=2",
                "",
                "Patient 7 multiplies its step by N / K, and passes. How many of your six clients take part?",
            ),
            Mistake("return same", "return not same", "The healthy fail and Patient 7 passes: when is it True?"),
            Mistake("return same", "same", "Return True or False, and None for nobody. Is a `return` missing?"),
        ),
    ),
    Exercise(
        id="09-fisher",
        solution=fisher_diagonal,
        cases=(
            Case(TWINS, np.array([1.0, 4.0]), "Two samples have the gradients (1, 2) and (−1, −2)."),
            Case(THREE, np.array([14 / 3, 2.75]), "Three samples have the gradients (1, 2), (−3, −0.5) and (2, −2)."),
        ),
        mistakes=(
            Mistake(
                "(gradients**2).mean(axis=0)",
                "gradients.mean(axis=0) ** 2",
                "The gradients (1, 2) and (−1, −2) have the mean zero, but neither of them is zero. What comes first, "
                "the mean or the square?",
            ),
            Mistake("(gradients**2)", "np.abs(gradients)", "That is the mean of absolute values, as MAS takes it."),
            Mistake(
                ".mean(axis=0)", ".sum(axis=0)", "That is the sum. With ten times the data it is ten times larger."
            ),
            Mistake("(gradients**2).mean(axis=0)", "gradients[-1] ** 2", "You square the last gradient alone."),
            Mistake("residual[:, None] * x", "x", "The gradient of a sample is its residual times x."),
        ),
    ),
)
