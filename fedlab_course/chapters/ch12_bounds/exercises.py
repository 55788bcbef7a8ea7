# mypy: allow-untyped-defs
"""Exercises of chapter 12: the largest curvature without a Hessian, the gap Γ, and why a constant rate misses."""

import numpy as np

from fedlab_course.check.base import Exercise, Mistake, Proof
from fedlab_course.check.tools import call, close, number, require, shown


def largest_curvature(product, v, times):
    """The largest eigenvalue of a symmetric H, from product(v) = Hv, by power iteration."""
    ### BEGIN SOLUTION
    v = v / np.linalg.norm(v)
    for _ in range(times):
        v = product(v)
        v = v / np.linalg.norm(v)
    return v @ product(v)
    ### END SOLUTION


def check_largest_curvature(answer):
    def found(matrix, start, times):
        return number(call(answer, lambda v: matrix @ v, np.array(start), times))

    flat = np.diag([3.0, 3.0])
    once = found(flat, [3.0, 4.0], 1)
    require(
        close(once, 3.0),
        f"The matrix 3·I stretches every vector by 3, and yours gives {shown(once)}. What must the length of v be "
        "when you take vᵀHv?",
    )
    uneven = np.diag([1.0, 2.0, 5.0])
    far = found(uneven, [1.0, 1.0, 1.0], 400)
    require(
        close(far, 5.0),
        f"diag(1, 2, 5) has the largest eigenvalue 5, and after 400 iterations yours is {shown(far)}. "
        "Multiply by H again and again, each time with the vector that came out.",
    )
    below = found(np.diag([-4.0, 1.0]), [1.0, 1.0], 200)
    require(
        close(below, -4.0),
        f"diag(−4, 1) curves downwards more than up: −4 is the eigenvalue of largest size, and yours is "
        f"{shown(below)}. ‖Hv‖ has no sign, vᵀHv has.",
    )
    zero = found(uneven, [1.0, 1.0, 0.0], 0)
    require(
        close(zero, 1.5),
        f"With no iteration, from (1, 1, 0) and diag(1, 2, 5), vᵀHv is 1.5, and yours is {shown(zero)}. "
        "`times` counts the iterations: none is allowed too.",
    )
    one = found(uneven, [1.0, 1.0, 1.0], 1)
    require(
        close(one, (1 + 8 + 125) / (1 + 4 + 25)),
        f"From (1, 1, 1), one iteration leads to (1, 2, 5)/√30 and to vᵀHv = 134/30 = 4.467, and yours is "
        f"{shown(one)}. Take the quotient after the last iteration, not before it.",
    )


def heterogeneity_gap(a, b, rho):
    """Γ of clients f_k(w) = a_k/2 (w − b_k)² with weights rho; all arrays [N]."""
    ### BEGIN SOLUTION
    optimum = (rho * a * b).sum() / (rho * a).sum()
    return (rho * a / 2 * (optimum - b) ** 2).sum()
    ### END SOLUTION


def check_heterogeneity_gap(answer):
    def found(a, b, rho):
        return number(call(answer, np.array(a), np.array(b), np.array(rho)))

    half = [0.5, 0.5]
    same = found([1.0, 3.0], [2.0, 2.0], half)
    require(close(same, 0.0), f"One w suits both clients here: Γ = 0, and yours is {shown(same)}.")
    example = found([2.0] * 4, [0.0, 1.0, 2.0, 7.0], [0.25] * 4)
    require(
        close(example, 7.25),
        f"Four clients with (w − e_k)², e = (0, 1, 2, 7), have Γ = 7.25, and yours is {shown(example)}. "
        "Each loss at the common optimum, less its own least value, which is 0.",
    )
    uneven = found([1.0, 3.0], [0.0, 1.0], half)
    require(
        close(uneven, 0.1875),
        f"For a = (1, 3), b = (0, 1) the optimum is 0.75 and Γ = 0.1875; yours is {shown(uneven)}. "
        "Does the steeper client pull the optimum to its side?",
    )
    heavy = found([1.0, 1.0], [0.0, 1.0], [0.9, 0.1])
    require(
        close(heavy, 0.045),
        f"With ρ = (0.9, 0.1) the optimum is 0.1 and Γ = 0.045; yours is {shown(heavy)}. Where do the weights enter?",
    )


EXERCISES = (
    Exercise(
        id="12-curvature",
        title="The largest curvature without a Hessian",
        task=r"""A Hessian of our problem has $650^2$ entries, that of a network far more. Its product with a
vector costs only two gradients. Write power iteration: `times` times replace $v$ by $Hv / \lVert Hv \rVert$, and return
$v^\top H v$ for a $v$ of length 1. Before you check: what does it return if the curvature of largest size is
negative?""",
        missing="the eigenvalue of largest size, one number",
        solution=largest_curvature,
        check=check_largest_curvature,
        discussion="We observe that the sign survives: it returns the eigenvalue of largest *size*, here a negative "
        "one. A convex loss has none, so for us it is the smoothness.",
        mistakes=(
            Mistake("return v @ product(v)", "return product(product(v)) @ v", "What must the length"),
            Mistake("range(times)", "range(max(times, 1))", "none is allowed"),
            Mistake("return v @ product(v)", "return np.linalg.norm(product(v))", "has no sign"),
            Mistake("        v = product(v)\n", "", "again and again"),
            Mistake("range(times)", "range(times + 1) if times else []", "after the last iteration"),
        ),
    ),
    Exercise(
        id="12-gap",
        title="The gap Γ",
        task=r"""Write $\Gamma = \min F - \sum_k \rho_k \min F_k$ for clients with $\frac{a_k}{2}(w - b_k)^2$. The
weights sum to 1. Then ask your function: what does $\Gamma$ become if all $b_k$ are stretched by a factor of 3?""",
        missing="the gap, one number",
        solution=heterogeneity_gap,
        check=check_heterogeneity_gap,
        discussion=r"We observe nine times the gap. The optimum stretches with the $b_k$, and the losses are squares. "
        "The gradients at the optimum grow by 3. We shall need that.",
        mistakes=(
            Mistake("(rho * a * b).sum() / (rho * a).sum()", "(rho * b).sum()", "steeper client"),
            Mistake("rho * a / 2", "rho * a", "less its own least value"),
            Mistake("(rho * a / 2", "(a / 2 / len(a)", "Where do the weights"),
            Mistake("(optimum - b) ** 2", "b**2", "suits both"),
        ),
    ),
    Proof(
        id="12-floor",
        title="Why a constant rate misses, and a falling one does not",
        task=r"""Clients have $\frac{a_k}{2}(w - b_k)^2$, gradients are exact, and all clients make $\tau$ local steps.

(a) Show that FedAvg at the constant rate $\eta$ rests at

$$w^\star - \frac{(\tau - 1)\,\eta}{2}\, \frac{\sum_k \rho_k a_k^2 (b_k - w^\star)}{\sum_k \rho_k a_k} + O(\eta^2).$$

(b) Show that it goes to $w^\star$ if $\eta_t \to 0$ and $\sum_t \eta_t = \infty$. Why is the second condition
needed?""",
        solution=r"""(a) A round takes $w$ to $w + \sum_k \rho_k s_k (b_k - w)$ with
$s_k = 1 - (1 - \eta a_k)^\tau = \tau \eta a_k - \frac{\tau(\tau-1)}{2} \eta^2 a_k^2 + O(\eta^3)$. At rest
$\sum_k \rho_k s_k (b_k - w) = 0$. Write $w = w^\star + x$. Since $\sum_k \rho_k a_k (b_k - w^\star) = 0$, the first
order leaves $-\tau\eta\, x \sum_k \rho_k a_k$ and the second
$-\frac{\tau(\tau-1)}{2} \eta^2 \sum_k \rho_k a_k^2 (b_k - w^\star)$. Their sum is zero up to $O(\eta^3)$, which
gives $x$. It is of order $\eta$ unless $\tau = 1$ or the sum of the $a_k^2 (b_k - w^\star)$ is zero, as with equal
curvatures.

(b) The same expansion reads $x_{t+1} = (1 - \sum_k \rho_k s_k)\, x_t + O(\eta_t^2)$, and
$\sum_k \rho_k s_k \ge c\, \eta_t$ for small rates, with a $c > 0$. So
$\lvert x_{t+1} \rvert \le (1 - c\,\eta_t) \lvert x_t \rvert + j\, \eta_t^2$ with some constant $j$. Whenever
$\lvert x_t \rvert$ is above $2 j \eta_t / c$, it shrinks by a factor of $1 - c\,\eta_t / 2$ or smaller. The product
of these factors is zero because $\sum_t \eta_t = \infty$, and the threshold goes to zero with $\eta_t$. Without the
second condition the product stays positive: the model stops on its way.""",
    ),
)
