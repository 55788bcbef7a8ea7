# mypy: allow-untyped-defs
"""Exercises of chapter 13: the pull of Ditto, one name for all, and the averages of IFCA."""

import numpy as np

from fedlab_course.check.base import Exercise, Mistake, Proof
from fedlab_course.check.tools import array, call, close, number, require, shown

_ONE_NAME = Proof(
    id="13-one-name",
    title="One model for several names",
    task=r"""The clients of a federation fall into $M$ groups of equal weight. All groups see the same pictures,
and no two
of them call the same picture by the same label. Show that the accuracy of any model, averaged over the groups,
is at most $1/M$. For which models is it exactly $1/M$?""",
    solution=r"""Take one picture. The model answers with one label. The $M$ groups want $M$ different labels for
it, so
the answer is right for one of them at most. Averaged over groups, the accuracy on this picture is $1/M$ or 0.
The accuracy on all pictures is the mean of such numbers, and so at most $1/M$.

It is exactly $1/M$ if each answer is what some group wants, whichever group that is. A model that speaks the
language of one group only is such a model, and so is one that mixes them. More rounds, a larger network or a
better optimiser change nothing: the bound holds for every function of the picture.""",
)


def ditto_point(a, b, w, strength):
    """The lowest point z of a/2 (z - b)² + λ/2 (z - w)², with λ = strength."""
    ### BEGIN SOLUTION
    return (a * b + strength * w) / (a + strength)
    ### END SOLUTION


def check_ditto_point(answer):
    def found(*given):
        return number(call(answer, *given))

    require(close(found(2.0, 1.5, -1.0, 0.0), 1.5), "Without a pull, λ = 0, the client rests at its own optimum b.")
    far = found(1.0, 0.0, 1.0, 1e9)
    require(close(far, 1.0, 1e-6), f"For a very large λ the client must rest at w = 1. Yours rests at {shown(far)}.")
    middle = found(1.0, 0.0, 1.0, 1.0)
    require(close(middle, 0.5), f"With a = λ both pull equally, and it rests in the middle. Yours: {shown(middle)}.")
    steep = found(3.0, 0.0, 1.0, 1.0)
    require(
        close(steep, 0.25),
        f"A steeper valley holds the client nearer to b: set the derivative a (z − b) + λ (z − w) to zero. Yours rests "
        f"at {shown(steep)}.",
    )


def averages(models, choices, locals, samples):
    """The models [M, P] after a round: client i trained model choices[i] and sent locals[i]."""
    ### BEGIN SOLUTION
    new = models.copy()
    for m in np.unique(choices):
        mine = choices == m
        new[m] = samples[mine] @ locals[mine] / samples[mine].sum()
    return new
    ### END SOLUTION


def check_averages(answer):
    models = np.array([[0.0, 0.0], [10.0, 20.0], [5.0, 5.0]])
    locals = np.array([[1.0, 2.0], [3.0, 6.0], [7.0, 7.0]])
    choices, samples = np.array([0, 0, 1]), np.array([1.0, 3.0, 2.0])
    found = array(call(answer, models, choices, locals, samples), (3, 2))
    require(
        close(found[2], [5.0, 5.0]),
        f"Nobody chose model 2: it must stay as it was, [5, 5]. Yours is {shown(found[2])}.",
    )
    require(
        close(found[1], [7.0, 7.0]),
        f"One client alone chose model 1, so the model becomes what this client sent. Yours is {shown(found[1])}.",
    )
    require(
        not close(found[0], [2.0, 4.0]),
        "You let both clients of model 0 count alike; one of them has three times the samples of the other.",
    )
    require(
        close(found[0], [2.5, 5.0]),
        f"The mean over those who chose model 0 must have weights that sum to 1 among them. Yours: {shown(found[0])}.",
    )


EXERCISES = (
    Exercise(
        id="13-pull",
        title="Where Ditto rests",
        task=r"""Write where a client of Ditto comes to rest if its loss is $\frac{a_k}{2} (z - b_k)^2$ and it is
drawn to
$w$ with strength $\lambda$. Before you run the check: which of two clients feels the same $\lambda$ more, the one
with
the steep valley or the one with the flat one?""",
        missing="the resting point",
        solution=ditto_point,
        check=check_ditto_point,
        mistakes=(
            Mistake("(a * b + strength * w) / (a + strength)", "b + strength * w", "very large"),
            Mistake("(a * b + strength * w) / (a + strength)", "(b + strength * w) / (1 + strength)", "steeper valley"),
            Mistake("(a * b + strength * w)", "(a * w + strength * b)", "own optimum"),
        ),
        discussion=(
            "The flat one. Only the ratio $\\lambda / a_k$ enters, so one $\\lambda$ for all is a strong pull for a "
            "client whose loss hardly changes, and a weak one for a client whose loss is steep."
        ),
    ),
    _ONE_NAME,
    Exercise(
        id="13-averages",
        title="A round of IFCA",
        task=r"""Each client of the cohort has chosen one of $M$ models and trained it. Write the server's part:
the mean,
by samples, over those who chose a model. What should happen to a model that nobody in the cohort chose?""",
        missing="the new models",
        solution=averages,
        check=check_averages,
        points=2,
        mistakes=(
            Mistake("new = models.copy()", "new = np.zeros_like(models)", "stay as it was"),
            Mistake("samples[mine] @ locals[mine] / samples[mine].sum()", "locals[mine].mean(0)", "count alike"),
            Mistake("/ samples[mine].sum()", "/ samples.sum()", "what this client sent"),
            Mistake("/ samples[mine].sum()", "", "what this client sent"),
            Mistake("new = models.copy()", "new = models", "in place"),
        ),
        discussion=(
            "A model that nobody chose stays as it is. To set it to zero or to the mean of the others would throw away "
            "what absent clients have taught it. We observe the price of several models here: each is trained by those "
            "only who chose it, a quarter of the cohort for four equal groups."
        ),
    ),
)
