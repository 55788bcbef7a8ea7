"""The largest curvature of a loss, from products with its Hessian: no Hessian is ever formed."""

from collections.abc import Callable

import torch

from fedlab_core import validation
from fedlab_core.randomness import stream

Product = Callable[[torch.Tensor], torch.Tensor]


def power_iteration(product: Product, size: int, *, tolerance: float = 1e-8, most: int = 1000) -> float:
    """The eigenvalue of largest size of a symmetric matrix [size, size], known by its ``product`` with a vector alone.

    v ← Hv/‖Hv‖ from a random v, until the Rayleigh quotient vᵀHv changes by less than ``tolerance`` of itself, or
    ``most`` times. For a convex loss with the Hessian ∇²F(w) this is its smoothness at w; the L of a whole path is the
    largest along it. 0 for the matrix 0. Raises ``ValueError`` for a size below 1.
    """
    validation.integer("size", size, minimum=1)
    v = torch.from_numpy(stream(0, "power_iteration").normal(size=size))
    v, value = v / v.norm(), 0.0
    for _ in range(most):
        image = product(v)
        before, value = value, float(v @ image)
        length = float(image.norm())
        if length == 0 or abs(value - before) <= tolerance * abs(value):
            break
        v = image / length
    return value


def hessian_product(loss: Callable[[torch.Tensor], torch.Tensor], params: torch.Tensor) -> Product:
    """v ↦ ∇²loss(params) v for any twice differentiable ``loss`` of a vector ``params`` [P]: two backward passes."""
    at = params.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(at), at, create_graph=True)

    def product(v: torch.Tensor) -> torch.Tensor:
        (found,) = torch.autograd.grad(gradient @ v.to(gradient), at, retain_graph=True)
        return found

    return product
