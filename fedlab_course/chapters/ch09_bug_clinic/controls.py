"""Patients that say they are SCAFFOLD."""

from dataclasses import replace

import torch

from fedlab_core.algorithms import Scaffold
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.correction import Correction
from fedlab_core.server import Server
from fedlab_course.chapters.ch09_bug_clinic.sick import Sick


class CohortShare(Sick, Scaffold):
    """c is updated by the sum of the changes over |S|, the cohort, in place of N, all clients."""

    number = 2

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        c = server.state["c"]
        params = super().aggregate(server, updates)
        server.state["c"] = c + (server.state["c"] - c) * server.num_clients / len(updates.clients)
        return params


class NeverApplied(Sick, Scaffold):
    """The correction is written to gradients that are not there yet, so no local step ever contains it."""

    number = 3

    def correction(self, server: Server, client: int) -> Correction:
        y = server.params.clone().requires_grad_()  # what the client receives
        if y.grad is not None:  # before the first backward pass there is no gradient to add to
            y.grad += server.state["c"] - server.state["c_clients"][client]
        return Correction()


class FlippedSign(Sick, Scaffold):
    """The clients step along g + c_k − c: the correction has the wrong sign."""

    number = 6

    def correction(self, server: Server, client: int) -> Correction:
        return Correction(offset=server.state["c_clients"][client] - server.state["c"])


class LongestSteps(Sick, Scaffold):
    """In the renewal of c_k, τ is the largest number of steps in the cohort, and not that of each client itself."""

    number = 8

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        longest = updates.num_steps.max().expand_as(updates.num_steps)
        return super().aggregate(server, replace(updates, num_steps=longest))


class OverwrittenControl(Sick, Scaffold):
    """c_k is overwritten before its change is formed, so every change is zero, and c stays zero."""

    number = 9

    def aggregate(self, server: Server, updates: LocalUpdates) -> torch.Tensor:
        c = server.state["c"]
        params = super().aggregate(server, updates)
        server.state["c"] = c  # c + Σ (c_k⁺ − c_k⁺)
        return params


class ControlFromWeights(Sick, Scaffold):
    """c starts as a copy of the weights, made together with the model, while the c_k start at zero."""

    number = 11

    def setup(self, server: Server) -> None:
        super().setup(server)
        server.state["c"] = server.params.clone()
