# mypy: allow-untyped-defs
"""Exercises of chapter 7: an examination, five repairs, and a bug with the test that finds it."""

import numpy as np

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.chapters import ch07_bug_clinic as clinic
from fedlab_course.chapters.ch07_bug_clinic import repair, ward
from fedlab_course.chapters.ch07_bug_clinic.bench import (
    DISGUISED,
    ROUNDS,
    draw,
    end,
    same,
    trial,
)
from fedlab_course.chapters.ch07_bug_clinic.chart import examination
from fedlab_course.check.base import Case, Exercise, Hint, Mistake
from fedlab_course.check.tools import require, run_with, shown

_ = translator(__name__)

MOST_EXCESS = 0.05  # of the way: less does not show in a curve


def cut(patient, seed):
    """True if nothing changes when a client is cut in three; None for SCAFFOLD."""
    ### BEGIN SOLUTION
    if patient.method == "SCAFFOLD":
        return None
    a, b = draw(seed, 2)
    pieces = [0, 1, 1, 1]
    return same(end(patient, a, b, sizes=[1, 3]), end(patient, a[pieces], b[pieces]))
    ### END SOLUTION


class Repairs:
    """Each method takes the place of the faulty line in its comment."""

    def next_w(self, y, n):  # Patient 1
        # return y.mean(0)
        ### BEGIN SOLUTION
        return n @ y / n.sum()
        ### END SOLUTION

    def next_c(self, c, change, N):  # Patient 2
        # return c + change.mean(0)
        ### BEGIN SOLUTION
        return c + change.sum(0) / N
        ### END SOLUTION

    def step(self, move, N, K):  # Patient 7
        # return N / K * move
        ### BEGIN SOLUTION
        return move
        ### END SOLUTION

    def next_c_k(self, c_k, c, w, y, tau, eta):  # Patient 8
        # return c_k - c + (w - y) / (tau.max() * eta)
        ### BEGIN SOLUTION
        return c_k - c + (w - y) / (tau[:, None] * eta)
        ### END SOLUTION

    def generator(self, server):  # Patient 10
        # return np.random.default_rng(server.round)
        ### BEGIN SOLUTION
        return server.stream("cohort")
        ### END SOLUTION


class YourPatient(fl.Algorithm):
    """It says that it is FedAvg."""

    def aggregate(self, server, updates):
        """The next parameters, with a bug of yours; updates.weighted_mean() is right."""
        ### BEGIN SOLUTION
        share = min(1, 4 / len(updates.clients))  # right for up to four clients
        return server.params + share * (updates.weighted_mean() - server.params)
        ### END SOLUTION

    def passes(self, patient, seed):
        """Your examination: True for a healthy FedAvg, False for this class."""
        ### BEGIN SOLUTION
        a, b = draw(seed, 1)
        eight = end(patient, a.repeat(8), b.repeat(8), rounds=1)  # eight equal clients
        return same(eight, end(patient, a, b, rounds=1))
        ### END SOLUTION


_FAULTS = {
    1: _("Patient 1 must weigh each model by its samples: Σ n_k y_k / Σ n_k."),
    2: _("Patient 2 must keep c at the mean of all N c_k, and only some of them changed."),
    7: _("Patient 7: the weights of its cohort sum to 1 already. Which factor does the step need?"),
    8: _("Patient 8 must divide each row of w − y by the steps of its own client."),
}


def check_repairs(answer):
    """Compare where repaired and healthy patients end, and look at Patient 10's cohorts."""
    found = run_with(answer, repair.ends)
    faulty = repair.ends(repair.Faulty)
    for number, right in repair.right_ends().items():
        mine = found[number]
        if np.allclose(mine, right, rtol=0, atol=1e-8):
            continue
        still = np.allclose(mine, faulty[number], rtol=0, atol=1e-8)
        sentences = [_FAULTS[number]]
        if still:
            sentences.append(_("It ends as with the faulty line."))
        ends = _("Under three seeds w must end at {right}, and yours ends at {mine}.")
        sentences.append(ends.format(right=shown(right), mine=shown(mine)))
        raise Hint(" ".join(sentences))
    first, second, third = run_with(answer, repair.cohorts)
    again = run_with(answer, repair.cohorts)
    require(
        again == [first, second, third],
        _("Patient 10 now draws other clients when the same seed runs again. Where is the seed?"),
    )
    require(
        first != second,
        _("Patient 10 still draws the same clients under each seed. Where is the seed?"),
    )
    require(
        first[0] != first[1],
        _("Patient 10 now draws the same clients in each round. Where is the round?"),
    )
    require(
        first[1:] != second[:-1] and second[1:] != first[:-1],
        _(
            "Patient 10: seed 0 draws in round 2 what seed 1 draws in round 1, so the seeds share "
            "their cohorts. Give the generator both numbers: `[server.seed, server.round]`."
        ),
    )


def found_by_the_nine(answer):
    """The names of the examinations of the ward that the class ``answer`` fails."""
    federations = []
    for seed in (0, 1):
        a, b = (numbers.tolist() for numbers in draw(seed, 2))
        federations.append((a, b, [1, 3]))
        federations.append(([a[0]] + 3 * [a[1]], [b[0]] + 3 * [b[1]], [1, 1, 1, 1]))
    ends = run_with(answer, ward.ends, federations)
    is_cut_found = not (same(ends[0], ends[1]) and same(ends[2], ends[3]))
    return ["cut"] * is_cut_found + run_with(answer, ward.found_by)


def check_twelve(answer):
    """Run the examination on a healthy FedAvg and on the class itself, both without their names."""
    found = run_with(answer, trial)
    hidden, excess = found["hidden"], found["excess"]
    require(
        not all(hidden), _("Your algorithm has no bug that shows here: it ends where FedAvg ends.")
    )
    require(excess <= 1, _("Your algorithm runs away, or diverges. A curve would show that."))
    require(
        not found["ignores"],
        _("Your algorithm ends at the same w whatever the clients have. A curve would show that."),
    )
    curve = _(
        "A curve would show your bug: after {rounds} rounds {excess:.0%} of the loss is left that "
        "FedAvg removes. At most {most:.0%} may be left."
    )
    require(excess <= MOST_EXCESS, curve.format(rounds=ROUNDS, excess=excess, most=MOST_EXCESS))
    same_bug = _("Your bug is that of Patient {number}. Find another one.")
    require(not found["copies"], same_bug.format(number=found["copies"]))
    finders = [examination(name) for name in found_by_the_nine(answer)]
    known = _(
        "The ward's examinations find your bug already: {names}. Make it act only "
        "where none of the nine looks: in larger cohorts, with more steps, or for other sizes."
    )
    require(not finders, known.format(names=", ".join(finders)))
    _check_passes(found)


def _check_passes(found):
    """Look at what the examination says of a healthy FedAvg and of the class itself."""
    other = _("`passes` must return True or False. For {name} it returns {values}.")
    for name, said in ((_("a healthy FedAvg"), found["healthy"]), (_("your bug"), found["sick"])):
        strange = [value for value in said if not isinstance(value, bool)]
        require(not strange, other.format(name=name, values=strange[:1]))
    healthy = _(
        "A healthy FedAvg must pass under each seed, whatever it is called. Yours says {values}."
    )
    require(all(found["healthy"]), healthy.format(values=found["healthy"]))
    sick = _(
        "Your bug passes your examination under some seed: {values}. Where does it make a "
        "difference? Look at numbers: the patient here has another name and class."
    )
    require(not any(found["sick"]), sick.format(values=found["sick"]))


WELL = clinic.HEALTHY
SICK = clinic.PATIENTS
_ALSO = _("Patient 1's bug and a healthy FedAvg have other names here: judge by what they compute.")

EXERCISES = (
    Exercise(
        id="07-cut",
        solution=cut,
        cases=(
            Case(
                (WELL["FedAvg"], 0),
                True,
                _("The healthy FedAvg fails. Have the pieces the a and b of their client?"),
            ),
            Case(
                (WELL["SCAFFOLD"], 0),
                None,
                _("SCAFFOLD weighs all clients alike. Does the question apply?"),
            ),
            Case(
                (SICK[1], 0),
                False,
                _("Patient 1 takes the plain mean, and passes. Do your clients differ in size?"),
            ),
            Case(
                (WELL["FedProx"], 1),
                True,
                _("The healthy FedProx weighs clients by their samples too: it must pass."),
            ),
            Case(
                (WELL["FedNova"], 2),
                True,
                _("The healthy FedNova weighs clients by their samples too: it must pass."),
            ),
            Case((DISGUISED[0], 3), True, _ALSO),
            Case((DISGUISED[1], 4), False, _ALSO),
            Case(
                (DISGUISED[2], 5),
                True,
                _("A server that never moves gives the same w in both runs: nothing changes."),
            ),
        ),
        mistakes=(
            Mistake(
                "[0, 1, 1, 1]",
                "[0, 1]",
                _("Patient 1 passes. Have the pieces all the samples of their client?"),
            ),
            Mistake(
                "return same(",
                "return not same(",
                _("The healthy fail: when is it True?"),
            ),
            Mistake(
                "return same",
                "same",
                _("FedAvg gets None, but the question applies to it. Is a `return` missing?"),
            ),
        ),
    ),
    Exercise(
        id="07-repair",
        solution=Repairs,
        check=check_repairs,
        mistakes=(
            Mistake("n @ y / n.sum()", "n @ y / len(n)", "Patient 1 must weigh"),
            Mistake("/ N", "/ len(change)", "Patient 2 must keep"),
            Mistake("return move", "return K / N * move", "Patient 7: the weights"),
            Mistake("tau[:, None]", "tau.min()", "Patient 8 must divide"),
            Mistake('server.stream("cohort")', "np.random.default_rng(server.seed)", "the round?"),
            Mistake('server.stream("cohort")', "np.random.default_rng()", "runs again"),
        ),
    ),
    Exercise(
        id="07-twelve",
        solution=YourPatient,
        check=check_twelve,
        mistakes=(
            Mistake("4 / len(updates.clients)", "4", "no bug"),
            Mistake("4 / len(updates.clients)", "0.5", "find your bug already: round 1"),
            Mistake("return same(eight", "return not same(eight", "must pass"),
            Mistake(
                "return same(eight, end(patient, a, b, rounds=1))",
                "return True",
                "passes your examination",
            ),
            Mistake(
                "server.params + share * (updates.weighted_mean() - server.params)",
                "0 * updates.weighted_mean()",
                "ends at the same w",
            ),
        ),
    ),
)
