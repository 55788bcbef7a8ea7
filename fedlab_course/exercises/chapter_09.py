# mypy: allow-untyped-defs
"""Exercises of chapter 9: an examination, an exact count, and means taken in the right order."""

import numpy as np

from fedlab_course.exercises.base import Exercise, Mistake
from fedlab_course.exercises.tools import array, call, close, number, require, shown


def depends_on_order(aggregate, local, num_samples):
    """Whether aggregate(local, num_samples) changes when the clients are counted backwards."""
    ### BEGIN SOLUTION
    forwards = aggregate(local, num_samples)
    backwards = aggregate(local[::-1], num_samples[::-1])
    return not np.allclose(forwards, backwards)
    ### END SOLUTION


def _weighted(local, num_samples):
    return num_samples @ local / num_samples.sum()


def _last(local, num_samples):
    return local[-1]


def check_depends_on_order(answer):
    local, even, sizes = np.array([[1.0, 5.0], [2.0, -1.0], [4.0, 0.5]]), np.ones(3), np.array([1.0, 2.0, 5.0])

    def found(aggregate, local, num_samples):
        result = call(answer, aggregate, local, num_samples)
        require(isinstance(result, (bool, np.bool_)), f"Return True or False. Yours is {result!r}.")
        return bool(result)

    sick, well = found(_last, local, even), found(_weighted, local, even)
    require(
        sick or not well,
        "Your answers are the wrong way round: True means that the result changes with the order.",
    )
    require(
        not well,
        "All clients have equal sizes, and you say that their mean depends on their order. The clients are the rows "
        "of `local`: which axis do you turn round?",
    )
    require(sick, "An aggregate that returns the last row passes your examination. Do you turn the rows round?")
    require(
        not found(_weighted, local, sizes),
        "With unequal sizes you say that the weighted mean depends on the order. A client keeps its samples when it "
        "is counted at another place.",
    )
    require(
        not found(lambda local, n: sum(local) / len(local), np.array([[0.1], [0.2], [0.3]]), np.ones(3)),
        "A plain sum from the left, 0.1 + 0.2 + 0.3, fails your examination. Backwards it differs by 1e-16, by "
        "rounding alone: compare with a tolerance.",
    )
    require(
        found(lambda local, n: np.array([local[:, 0].mean(), local[0, 1]]), local, even),
        "One parameter of the result is the first client's, the other is a mean, and you see nothing. Compare all "
        "parameters.",
    )


def accuracy(batches):
    """The share of right predictions; batches is a list of pairs (predictions, labels)."""
    ### BEGIN SOLUTION
    right = sum((predictions == labels).sum() for predictions, labels in batches)
    return right / sum(len(labels) for _, labels in batches)
    ### END SOLUTION


def check_accuracy(answer):
    labels = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0])
    guessed = np.array([0, 1, 2, 1, 2, 0, 1, 2, 2, 0])  # the first three and the last two are right

    def found(sizes):
        cuts = np.cumsum(sizes)[:-1]
        return number(call(answer, list(zip(np.split(guessed, cuts), np.split(labels, cuts), strict=True))))

    whole, even, ragged = found([10]), found([5, 5]), found([4, 4, 2])
    require(not close(even, 5), "Yours is the number of right predictions, 5. Accuracy is their share.")
    require(
        not close(even, 2.5),
        "For two batches with five right answers you get 2.5: you divide by the number of batches, not of samples.",
    )
    require(close(whole, 0.5), f"One batch holds ten samples, and five are right: that is 0.5. Yours is {whole:.4g}.")
    require(close(even, 0.5), f"The same ten samples as two batches of five: still 0.5. Yours is {even:.4g}.")
    require(
        not close(ragged, (0.75 + 0 + 1) / 3),
        "The same samples in batches of 4, 4 and 2 give another accuracy. Each batch counts as much as any other in "
        "your mean, so the two samples of the short one count double.",
    )
    require(
        not close(ragged, 5 / 12),
        "The same samples in batches of 4, 4 and 2 give 5/12. The last batch is shorter than the first.",
    )
    require(close(ragged, 0.5), f"The same samples in batches of 4, 4 and 2: still 0.5. Yours is {ragged:.4g}.")


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
        id="09-order",
        title="An examination of your own",
        task=r"""Write the examination *order* for any way to aggregate. `aggregate(local, num_samples)` returns
parameters of length $P$; the rows of `local` are the $y_k$, and `num_samples` holds the $n_k$. Return `True` if
the result changes when the clients are counted backwards. What would a weighted mean have to answer, and what
Patient 5?""",
        missing="whether the order matters",
        solution=depends_on_order,
        check=check_depends_on_order,
        points=2,
        mistakes=(
            Mistake("return not ", "return ", "the wrong way round"),
            Mistake("local[::-1]", "local[:, ::-1]", "which axis"),
            Mistake("local[::-1], num_samples[::-1]", "local, num_samples", "passes your examination"),
            Mistake("num_samples[::-1]", "num_samples", "keeps its samples"),
            Mistake("np.allclose", "np.array_equal", "rounding alone"),
            Mistake("np.allclose(forwards, backwards)", "np.isclose(forwards[0], backwards[0])", "all parameters"),
            Mistake("not np.allclose(forwards, backwards)", "forwards - backwards", "True or False"),
        ),
    ),
    Exercise(
        id="09-accuracy",
        title="An exact count",
        task=r"""Treat Patient 18. `batches` is a list of pairs of arrays, the predictions and the labels of a batch.
The batches may have any sizes, and the result must not depend on how the samples are cut into batches.""",
        missing="the share of right predictions",
        solution=accuracy,
        check=check_accuracy,
        mistakes=(
            Mistake(
                "return right / sum(len(labels) for _, labels in batches)",
                "return np.mean([(p == labels).mean() for p, labels in batches])",
                "count double",
            ),
            Mistake("sum(len(labels) for _, labels in batches)", "len(batches)", "number of batches"),
            Mistake(
                "sum(len(labels) for _, labels in batches)", "(len(batches) * len(batches[0][1]))", "shorter than the"
            ),
            Mistake("return right / sum(len(labels) for _, labels in batches)", "return right", "their share"),
            Mistake("for predictions, labels in batches)", "for predictions, labels in batches[:1])", "still 0.5"),
        ),
    ),
    Exercise(
        id="09-fisher",
        title="Square first",
        task=r"""Treat Patient 13. For a linear model and half the squared error the gradient of sample $i$ is
$r_i\, x_i$, its residual times its features. Return the mean over samples of the squared gradient, parameter by
parameter. What should come out for two samples whose gradients are equal and opposite?""",
        missing="the Fisher diagonal",
        solution=fisher_diagonal,
        check=check_fisher_diagonal,
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
