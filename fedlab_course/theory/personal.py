"""Ditto on quadratics: how far a client should be drawn from its own answer to that of all."""

from typing import Any

import numpy as np


def ditto_error(strength: Any, chance: float, spread: float, num_clients: float = np.inf) -> tuple[Any, Any]:
    """The mean squared error of z_k = (b_k + λ w*)/(1 + λ), in two parts: what chance, and what the pull adds to it.

    Client k aims at its true optimum, of variance ``spread`` V between clients, and knows b_k, which misses it with the
    variance ``chance`` ν because its samples are few; w* is the mean of all b_k. With q = λ/(1 + λ) and N clients the
    parts are (1 − 1/N) (1 − q)² ν + ν/N and (1 − 1/N) q² V; their sum is least at λ = ν/V, whatever N.
    ``strength`` λ: a number or an array of them; infinity is one model for all.
    """
    q = 1 - 1 / (1 + np.asarray(strength, dtype=float))
    share = 1 - 1 / num_clients
    return share * (1 - q) ** 2 * chance + chance / num_clients, share * q**2 * spread
