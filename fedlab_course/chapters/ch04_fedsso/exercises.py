# mypy: allow-untyped-defs
"""Exercises of chapter 4: the systematic draw, and stratified cohorts as a class."""

import numpy as np

import fedlab_core as fl
from fedlab_core.language import translator
from fedlab_course.check.base import Exercise, Mistake
from fedlab_course.check.chances import (
    cohorts_of,
    counted,
    require_counts,
    require_meetings,
    require_stream,
)
from fedlab_course.check.on_quadratics import path, require_path
from fedlab_course.check.tools import array, call, require, shown

_ = translator(__name__)


def systematic(labels, start, num_drawn):
    """K = num_drawn of the N clients, from their strata labels [N] and a start below N/K."""
    ### BEGIN SOLUTION
    row = np.argsort(labels, kind="stable")
    interval = len(labels) // num_drawn
    return row[start::interval]
    ### END SOLUTION


class MyStrata(fl.Algorithm):
    """FedAvg whose cohorts take their share of every stratum."""

    def __init__(self, labels):
        self.labels = np.asarray(labels)  # the stratum of each client [N]

    def cohorts(self, server):
        """Yield the cohort of this round, server.clients_per_round clients."""
        rng = server.stream("cohort")
        ### BEGIN SOLUTION
        interval = server.num_clients // server.clients_per_round
        shuffled = rng.permutation(server.num_clients)
        row = shuffled[np.argsort(self.labels[shuffled], kind="stable")]
        yield row[rng.integers(interval) :: interval]
        ### END SOLUTION


_LABELS = np.array([2, 0, 1, 0, 2, 1, 2, 0, 2, 1, 2, 2])  # strata of 3, 3 and 6 clients
_ONCE = _(
    "Three starts draw each client once, and yours client {client} {count} times. Take every third."
)
_BY_STRATUM = _(
    "From strata of 3, 3 and 6 clients come 1, 1 and 2, not {shares}. Are they in a row stratum by "
    "stratum?"
)


def _found(answer, start, size):
    """The cohort that the answer draws of the 12 clients."""
    cohort = array(call(answer, _LABELS, start, size), (size,), _("the cohort"))
    strange = cohort[~np.isin(cohort, np.arange(12))]
    require(
        not len(strange),
        _("The clients are numbered from 0 to 11. Yours has {number}.").format(
            number=shown(strange[:1].sum())
        ),
    )
    return cohort.astype(int)


def check_systematic(answer):
    """All starts together draw each client once, and each cohort has its share of each stratum."""
    every = np.array([_found(answer, start, 4) for start in range(3)])
    require(
        every.max() > 2,
        _("Your numbers are those of the strata, 0 to 2. Return numbers of clients, 0 to 11."),
    )
    require(
        np.ptp(every, axis=0).any(),
        _("Every start gives the same cohort. Begin with the client at place `start`."),
    )
    counts = np.bincount(every.ravel(), minlength=12)
    wrong = int(np.argmax(counts != 1))
    require((counts == 1).all(), _ONCE.format(client=wrong, count=counts[wrong]))
    for cohort in every:
        shares = np.bincount(_LABELS[cohort], minlength=3).tolist()
        require(shares == [1, 1, 2], _BY_STRATUM.format(shares=shares))
    pairs = np.concatenate([_found(answer, start, 2) for start in range(6)])
    require(
        sorted(pairs.tolist()) == list(range(12)),
        _(
            "Yours is right for K = 4. For K = 2 the interval is N/K = 6, and six starts must draw "
            "each client once."
        ),
    )


_STRATA = np.array([0, 1, 0, 2, 0, 1, 0, 1, 0, 2, 1, 0])  # of 6, 4 and 2 clients
_SHARES = {6: _("3, 2 and 1"), 3: _("1 or 2, 1, and 0 or 1")}
_FOUR = {"clients_per_round": 4}
_APART = _(
    "Clients {first} and {second} have the same stratum, and in 2,000 rounds no cohort has both. "
    "Shuffle the clients inside each stratum."
)
_CHANCE = _(
    "K/N = 1/4: each client must be drawn in every fourth round on average, {expected} times in "
    "2,000 rounds. Yours draws client {place} {count} times. From which starts may the draw begin?"
)


def _drawn(answer, labels, size):
    """One cohort for each of many rounds, with the shares of all strata."""
    rounds = cohorts_of(answer, [labels.tolist()], 12, {"clients_per_round": size})
    several = [len(cohorts) for cohorts in rounds if len(cohorts) != 1]
    hint = _("A round has one cohort. Yours has {count}.")
    require(not several, hint.format(count=several and several[0]))
    exact = np.bincount(_STRATA) * size / 12
    for (cohort,) in rounds:
        require(
            len(cohort) == size,
            _("K = {size}: each cohort must have {size} clients. Yours has {count}.").format(
                size=size, count=len(cohort)
            ),
        )
        shares = np.bincount(_STRATA[cohort], minlength=3)
        require(
            (abs(shares - exact) < 1).all(),
            _(
                "From strata of 6, 4 and 2 clients K = {size} takes {right}. Yours takes {shares}."
            ).format(size=size, right=_SHARES[size], shares=shares.tolist()),
        )
    return rounds


def check_class(answer):
    """Look at shares, seeds and chances. Then equal clients in each stratum make the cohort's mean
    that of all clients, exactly.
    """
    labels = _STRATA.tolist()
    cohorts = _drawn(answer, _STRATA, 6)
    require_stream(answer, [labels], 12, {"clients_per_round": 6}, "`rng`")
    for stratum in (0, 1):
        require_meetings(cohorts, 12, np.flatnonzero(stratum == _STRATA).tolist(), _APART)
    require_counts(
        # a label is −1 for clients that OPTICS calls noise
        counted(_drawn(answer, _STRATA - 1, 3), 12),
        [3 / 12] * 12,
        _CHANCE,
    )
    a = [1.0, 3.0, 2.0, 1.0] * 2  # the two clients of a stratum are equal
    b = [0.0, 1.0, 2.0, 7.0] * 2
    hint = _("A stratum's clients are equal here, so a cohort counts as all.")
    require_path(answer, path(fl.FedAvg, [], a, b), hint, [[0, 1, 2, 3] * 2], a, b, _FOUR)


EXERCISES = (
    Exercise(
        id="04-systematic",
        solution=systematic,
        check=check_systematic,
        mistakes=(
            Mistake(
                'row = np.argsort(labels, kind="stable")',
                "row = np.arange(len(labels))",
                "in a row stratum",
            ),
            Mistake('np.argsort(labels, kind="stable")', "np.sort(labels)", "those of the strata"),
            Mistake("row[start::interval]", "row[0::interval]", "Every start gives the same"),
            Mistake("row[start::interval]", "row[start : start + num_drawn]", "Take every third"),
            Mistake("len(labels) // num_drawn", "3", "an array of 2 numbers"),
        ),
    ),
    Exercise(
        id="04-class",
        solution=MyStrata,
        check=check_class,
        mistakes=(
            Mistake(
                "rng.permutation(server.num_clients)", "np.arange(server.num_clients)", "Shuffle"
            ),
            Mistake(
                'shuffled[np.argsort(self.labels[shuffled], kind="stable")]',
                "shuffled",
                "takes 3, 2 and 1",
            ),
            Mistake(
                "server.num_clients // server.clients_per_round",
                "server.clients_per_round",
                "Yours has 2",
            ),
            Mistake("rng.integers(interval)", "0", "From which starts"),
            Mistake(
                'rng = server.stream("cohort")', "rng = np.random.default_rng()", "the same seed"
            ),
        ),
    ),
)
