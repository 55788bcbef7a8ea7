# mypy: allow-untyped-defs
"""Exercises of chapter 9: two examinations, a proof, and means taken in the right order."""

import numpy as np

from fedlab_course.chapters import ch09_bug_clinic as clinic
from fedlab_course.chapters.ch09_bug_clinic.bench import draw, end, same
from fedlab_course.check.base import Exercise, Mistake, Proof
from fedlab_course.check.tools import array, call, close, require, shown


def cut(patient, seed):
    """True if nothing changes when a client is cut in three; None for SCAFFOLD."""
    ### BEGIN SOLUTION
    if patient.method == "SCAFFOLD":
        return None
    a, b = draw(seed, 2)
    pieces = [0, 1, 1, 1]
    return same(end(patient, a, b, sizes=[1, 3]), end(patient, a[pieces], b[pieces]))
    ### END SOLUTION


def _found(answer, patient, seed=0):
    result = call(answer, patient, seed)
    require(
        result is None or isinstance(result, (bool, np.bool_)),
        f"An examination returns True, False or None, and yours {result!r}. `same(u, v)` compares two numbers.",
    )
    return result if result is None else bool(result)


def _well(answer, *methods):
    return [_found(answer, clinic.HEALTHY[method], seed) for method in methods for seed in (0, 1)]


def check_cut(answer):
    fedavg, others = _well(answer, "FedAvg"), _well(answer, "FedProx", "FedNova")
    require(
        None not in fedavg + others,
        "FedAvg, FedProx and FedNova get None. Only to SCAFFOLD the question does not apply. Is a `return` missing?",
    )
    scaffold = _well(answer, "SCAFFOLD")
    require(
        scaffold == [None, None],
        "SCAFFOLD gives each client the same weight, so three pieces count three times: the question does not apply, "
        "and the answer is None.",
    )
    require(
        any(fedavg) or _found(answer, clinic.PATIENTS[5]) is True,
        "The healthy fail, and one who is blind to this question fails too: do you return True where the two runs "
        "agree?",
    )
    sick = _found(answer, clinic.PATIENTS[1])
    require(
        any(fedavg) or sick is False,
        "The healthy FedAvg fails, and Patient 1, who weighs all clients alike, passes. Have your pieces as many "
        "samples together as the client that they are cut from?",
    )
    require(
        all(fedavg + others),
        "A healthy algorithm fails. The two runs must be the same problem: the same client stays whole, and the pieces "
        "of the other have its curvature and its optimum, and one sample each.",
    )
    require(
        sick is False,
        "Patient 1 takes the plain mean of the clients' parameters, and passes. In your first run, do the clients have "
        "different sizes? In your second, are there more of them?",
    )


def clones(patient, seed):
    """True if two of six equal clients do in a round what one of them does alone."""
    ### BEGIN SOLUTION
    a, b = draw(seed, 1)
    crowd = end(patient, a.repeat(6), b.repeat(6), rounds=1, clients_per_round=2)
    return same(crowd, end(patient, a, b, rounds=1))
    ### END SOLUTION


def check_clones(answer):
    plain, scaffold = _well(answer, "FedAvg", "FedProx", "FedNova"), _well(answer, "SCAFFOLD")
    sick = _found(answer, clinic.PATIENTS[7])
    require(
        None not in [*plain, *scaffold, sick],
        "The question applies to everybody: return True or False, and None for nobody. Is a `return` missing?",
    )
    require(any(plain) or sick is False, "The healthy fail and Patient 7 passes: you have it the wrong way round.")
    require(
        all(plain),
        "The healthy FedAvg fails. Have all six clients the same curvature and the same optimum, those of the one who "
        "works alone?",
    )
    require(
        all(scaffold),
        "FedAvg passes, and the healthy SCAFFOLD fails. After a round only two of six clients have renewed their "
        "c_k, so from the second round on the crowd is another problem. How many rounds do you run?",
    )
    require(
        sick is False,
        "Patient 7 multiplies its step by N / K, and passes. How many of your six clients take part? Where all do, "
        "the factor is 1.",
    )


def fisher_diagonal(x, residual):
    """The Fisher diagonal [P] from samples x [n, P] and residuals [n]."""
    ### BEGIN SOLUTION
    gradients = residual[:, None] * x
    return (gradients**2).mean(axis=0)
    ### END SOLUTION


def check_fisher_diagonal(answer):
    x, residual = np.array([[1.0, 2.0], [3.0, 0.5], [1.0, -1.0]]), np.array([1.0, -1.0, 2.0])
    gradients = residual[:, None] * x

    def found(x, residual):
        return array(call(answer, x, residual), (2,))

    twins = found(np.array([[1.0, 2.0], [1.0, 2.0]]), np.array([1.0, -1.0]))
    require(
        not close(twins, [0, 0]),
        "Two samples have the gradients (1, 2) and (−1, −2). Their mean is zero, but neither of them is: square the "
        "gradient of every sample, before the mean.",
    )
    require(
        not close(twins, [1, 2]),
        "For the gradients (1, 2) and (−1, −2) yours is [1, 2]: that is the mean of absolute values, as MAS takes it. "
        "Fisher takes squares.",
    )
    result = found(x, residual)
    require(
        not close(result, (gradients**2).sum(0)),
        "Yours is the sum over samples. With ten times the data it would be ten times larger: take the mean.",
    )
    require(not close(result, gradients[-1] ** 2), "Yours is the square of the last sample's gradient alone.")
    require(
        not close(result, (x**2).mean(0)),
        "The residuals do not enter. The gradient of one sample is its residual times x.",
    )
    require(
        close(result, (gradients**2).mean(0)),
        f"The squared gradients have the mean {shown((gradients**2).mean(0))}, and yours is {shown(result)}.",
    )


EXERCISES = (
    Exercise(
        id="09-cut",
        title="Cut a client in three",
        task=r"""Write the examination *cut*. Draw two clients. In the first run they hold one sample and three,
`sizes=[1, 3]`. In the second run the other one is cut into three clients of one sample each. SCAFFOLD, as published,
gives each client the same weight: to it the question does not apply, and the answer is `None`. Before you run the
check: which mistake can only this examination find?""",
        missing="True, False or None",
        solution=cut,
        check=check_cut,
        points=2,
        mistakes=(
            Mistake('patient.method == "SCAFFOLD"', 'patient.method == "nobody"', "count three times"),
            Mistake("sizes=[1, 3]", "sizes=[3, 1]", "A healthy algorithm fails"),
            Mistake("[0, 1, 1, 1]", "[0, 1]", "as many samples together"),
            Mistake("return same(", "return not same(", "where the two runs agree"),
            Mistake("a[pieces], b[pieces]", "a, b, sizes=[1, 3]", "takes the plain mean"),
            Mistake("return same", "same", "Is a `return` missing?"),
        ),
        discussion=r"""We observe that the healthy pass and that Patient 1 fails: it takes the plain mean of the $y_k$.
Only here does the *number of samples* change while the problem stays the same. All other examinations give every
client as many samples as any other, and there the plain mean is the right one.""",
    ),
    Exercise(
        id="09-clones",
        title="Six clones",
        task=r"""Write the examination *clones*. Six clients are copies of one. In one round, two of them are asked
(`clients_per_round=2`), and the result must be that of the one client alone. Why only one round? And what would the
examination find if all six took part?""",
        missing="True or False",
        solution=clones,
        check=check_clones,
        mistakes=(
            Mistake("rounds=1", "rounds=3", "How many rounds"),
            Mistake(", clients_per_round=2", "", "How many of your six"),
            Mistake("return same", "return not same", "the wrong way round"),
            Mistake("return same", "same", "Is a `return` missing?"),
            Mistake("b.repeat(6)", "draw(seed, 6)[1]", "the same optimum"),
            Mistake("return same(crowd, end(patient, a, b, rounds=1))", "return crowd", "compares two numbers"),
        ),
        discussion=r"""We observe that Patient 7 fails, and nobody else: its steps are $N/K = 3$ times too long. With
all six clients the factor is $6/6 = 1$, and the patient would pass: full participation hides every wrong factor
$N/K$. One round is enough, and more are too many: from the second round on the healthy SCAFFOLD differs too, because
two clones of six have renewed their $c_k$, and four have not.""",
    ),
    Proof(
        id="09-rest",
        title="What the point of rest cannot tell",
        task=r"""Patient 8 says that it is SCAFFOLD, and it divides by a wrong number of steps: its $c_k$ becomes
$c_k - c + (w - y_k) / (\kappa \eta)$ with some $\kappa > 0$ that has nothing to do with the $\tau_k$ steps that client
$k$ made. All clients take part, and $c$ is the mean of all $c_k$. The losses are the quadratics
$\frac{a_k}{2} (w - b_k)^2$ with $\eta a_k < 1$. Show that wherever it comes to rest, it rests at the optimum, for every
$\kappa$. Which kind of examination can therefore not find it?""",
        solution=r"""At rest nothing changes in a round, so $c_k = c_k - c + (w - y_k) / (\kappa \eta)$, which means
$w - y_k = \kappa \eta\, c$ for *every* client. The server's average stays too: the mean of the $w - y_k$ is zero. So
$\kappa \eta\, c = 0$, hence $c = 0$ and $y_k = w$ for all $k$.

A client steps along $a_k (y - b_k) - c_k$ now. With $\eta a_k < 1$ each step shrinks the distance to the one point
where this is zero by the same factor, which is neither 0 nor 1, so it can end where it began only if it began there:
$a_k (w - b_k) = c_k$. The mean over $k$ of the right sides is $c = 0$, so $\sum_k a_k (w - b_k) = 0$: this is the
optimum. $\kappa$ has dropped out.

So no examination of *limits* finds Patient 8. One has to look on the way: at $c_k$ itself, after a round in which
clients made different numbers of steps.""",
    ),
    Exercise(
        id="09-fisher",
        title="Square first",
        task=r"""Treat Patient 13. For a linear model and half the squared error the gradient of a sample is
its residual times its features. Return the mean over samples of the squared gradient, parameter by
parameter. What should come out for two samples whose gradients are equal and opposite?""",
        missing="the Fisher diagonal",
        solution=fisher_diagonal,
        check=check_fisher_diagonal,
        discussion=r"""Two equal and opposite gradients $\pm g$ have the mean square $g^2$. Patient 13 takes the square
of their mean, and finds zero: a parameter over which two samples quarrel would count as unimportant.""",
        mistakes=(
            Mistake("(gradients**2).mean(axis=0)", "gradients.mean(axis=0) ** 2", "before the mean"),
            Mistake("(gradients**2)", "np.abs(gradients)", "as MAS takes it"),
            Mistake(".mean(axis=0)", ".sum(axis=0)", "the sum over samples"),
            Mistake("(gradients**2).mean(axis=0)", "gradients[-1] ** 2", "alone"),
            Mistake("residual[:, None] * x", "x", "residuals do not enter"),
            Mistake(".mean(axis=0)", ".mean(axis=1)", "must be"),
        ),
    ),
)
