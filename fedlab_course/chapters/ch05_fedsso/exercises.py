# mypy: allow-untyped-defs
"""Exercises of chapter 5: weights that go with a draw, the clusters that can be found, and what strata remove."""

import numpy as np

from fedlab_course.check.base import Exercise, Mistake, Proof
from fedlab_course.check.tools import array, call, close, number, require, shown


def cohort_weights(rho, pi):
    """The weights ω [K] of a cohort with shares ρ [K] of all samples and probabilities π [K]."""
    ### BEGIN SOLUTION
    ratios = rho / pi
    return ratios / ratios.sum()
    ### END SOLUTION


def check_cohort_weights(answer):
    def found(rho, pi):
        return array(call(answer, np.array(rho), np.array(pi)), (len(rho),))

    equal = found([0.01] * 4, [0.1] * 4)
    require(
        close(equal.sum(), 1.0),
        f"The weights of a cohort must sum to 1, and yours sum to {shown(equal.sum())}: otherwise the round shrinks or "
        "stretches the model.",
    )
    require(close(equal, 0.25), f"Four equal clients count one quarter each, and yours {shown(equal)}.")
    sizes = found([0.01, 0.03], [0.1, 0.1])
    require(
        close(sizes, [0.25, 0.75]),
        f"Drawn with equal chances, a client with three times the samples counts three times as much. Yours: "
        f"{shown(sizes)}.",
    )
    rare = found([0.01, 0.01], [0.1, 0.3])
    require(
        not close(rare, [0.25, 0.75]),
        "You let the client count more that is drawn more often. It is there too often already: divide by π.",
    )
    require(
        not close(rare, [0.5, 0.5]),
        "One client is drawn three times as often as the other, and both count the same. Does π enter?",
    )
    require(
        close(rare, [0.75, 0.25]),
        f"A client that is drawn a third as often must count three times as much when it is drawn. Yours: "
        f"{shown(rare)}.",
    )


def shared_groups(label_sets):
    """How many groups OPTICS can find at best, from the labels that each client holds."""
    ### BEGIN SOLUTION
    groups = [frozenset(labels) for labels in label_sets]
    return sum(groups.count(group) >= 2 for group in set(groups))
    ### END SOLUTION


def check_shared_groups(answer):
    def found(*label_sets):
        return number(call(answer, list(label_sets)))

    alone = found((0, 1), (2, 3), (4, 5))
    require(
        close(alone, 0),
        f"Three clients that share nothing with anybody make no cluster of two, and yours makes {shown(alone)}.",
    )
    three = found((0, 1), (0, 1), (0, 1))
    require(
        close(three, 1),
        f"Three clients with the same two labels are one group, and you count {shown(three)}: count groups, not "
        "clients or pairs of clients.",
    )
    turned = found((0, 1), (1, 0), (2, 3))
    require(
        close(turned, 1),
        f"A client with the labels 0 and 1 holds the same as one with 1 and 0. That is one group, and you count "
        f"{shown(turned)}.",
    )
    half = found((0, 1), (0, 2), (3, 4), (3, 5))
    require(
        close(half, 0),
        f"No two of four clients with 0 and 1, 0 and 2, 3 and 4, 3 and 5 hold the same, and you count {shown(half)}: "
        "one label in common is not enough.",
    )
    two = found((4, 5), (1, 2), (2, 1), (5, 4), (7, 8))
    require(close(two, 2), f"There are two groups of two and one client alone: 2, and you count {shown(two)}.")


EXERCISES = (
    Exercise(
        id="05-weights",
        title="Weights that undo the draw",
        task=r"""A client counts $\omega_k \propto \rho_k / \pi_k$: its share of all samples, divided by the probability
with which it is drawn. Write the weights of a cohort so that they sum to 1. Before you run the check: who
counts more, a client that is always drawn or one that is drawn one time in ten?""",
        discussion=r"""The client that is drawn one time in ten counts ten times as much as one of the same size that is
always drawn, in the cohorts that have both. These are Hájek's weights of chapter 4: they sum to 1, and where the
$\pi_k$ differ they are not exactly right on average. FedSSO's systematic draw gives everybody $\pi_k = K/N$, and then
$\omega_k = \rho_k / \sum_{j \in S} \rho_j$.""",
        missing="the weights of the cohort",
        solution=cohort_weights,
        check=check_cohort_weights,
        mistakes=(
            Mistake("return ratios / ratios.sum()", "return ratios", "must sum to 1"),
            Mistake("rho / pi", "rho * pi", "too often already"),
            Mistake("rho / pi", "rho", "Does π enter"),
            Mistake("rho / pi", "1 / pi", "three times the samples"),
            Mistake("rho / pi", "rho / pi**2", "a third as often"),
        ),
    ),
    Exercise(
        id="05-shared",
        title="What can be found",
        task=r"""OPTICS with `min_samples=2` needs two clients for a cluster. Write how many clusters there are at best,
if a cluster is a group of clients with the same labels. The labels of a client come as a tuple, in any order. With
two labels of ten per client there are 45 pairs. Why does not even a perfect clustering of 100 clients find 45?""",
        missing="the number of groups that two clients or more hold",
        solution=shared_groups,
        check=check_shared_groups,
        discussion=r"""A pair that nobody holds, or one client alone, is no cluster. If 100 clients chose among 45 pairs
independently, a pair would be held by none with probability $(44/45)^{100} = 0.106$ and by one alone with
$100/45 \cdot (44/45)^{99} = 0.240$, and $45 \cdot 0.654 = 29.4$ pairs would be shared by two or more. The
29 clusters of the paper's figure 2 are what chance gives.""",
        mistakes=(
            Mistake(">= 2", ">= 1", "no cluster of two"),
            Mistake("for group in set(groups)", "for group in groups", "not clients or pairs"),
            Mistake("frozenset(labels)", "tuple(labels)", "the same as one with 1 and 0"),
            Mistake("frozenset(labels)", "min(labels)", "one label in common is not enough"),
            Mistake(
                "sum(groups.count(group) >= 2 for group in set(groups))",
                "min(1, sum(groups.count(group) >= 2 for group in set(groups)))",
                "two groups of two",
            ),
        ),
    ),
    Proof(
        id="05-between",
        title="What strata remove",
        task=r"""Cluster $\mathcal{C}_c$ has $N_c$ clients, and its share $m_c = K N_c / N$ of the places is a whole
number. In each cluster $m_c$ clients are drawn with equal chances, independently of the other clusters, and the
server takes the plain mean. (a) Show that its variance is
$\frac{1}{K} \big(1 - \frac{K}{N}\big) \sum_c \frac{N_c}{N} S_c^2$. (b) The clients of a cluster all send the
same. How large is the variance, and does it matter how far apart the clusters are? (c) Where did you use that the
order inside a cluster is random?""",
        solution=r"""(a) The mean of the cohort is $\sum_c \frac{m_c}{K} \bar y_{c,S}$, where $\bar y_{c,S}$ is the mean
of those drawn from cluster $c$. Simple random sampling inside it has the variance
$\big(1 - \frac{m_c}{N_c}\big) \frac{S_c^2}{m_c}$. Draws in different clusters are independent, so variances add up
with the squared weights $(m_c/K)^2$. With $m_c / N_c = K / N$ and $m_c / K = N_c / N$ each term is
$\frac{N_c^2}{N^2} \big(1 - \frac{K}{N}\big) \frac{N S_c^2}{K N_c}
= \frac{1}{K} \big(1 - \frac{K}{N}\big) \frac{N_c}{N} S_c^2$.

(b) Then every $S_c^2 = 0$ and the variance is zero. The means of the clusters do not occur in the formula: what
lies between clusters is gone, however much it is. Simple random sampling keeps it, because
$(N - 1) S^2 = \sum_c (N_c - 1) S_c^2 + \sum_c N_c \lVert \bar y_c - \bar y \rVert^2$.

(c) Twice: all combinations of $m_c$ clients of a cluster must be equally likely, which gives the formula of simple
random sampling, and the draws of different clusters must be independent. A systematic draw with a fixed order
breaks both: one start decides for all clusters at once.""",
    ),
)
