"""Embedding and LSTM for a cohort."""

import torch
from torch import Tensor

from fedlab_core.engines.stacked.layers import Layer, Views


class Embedding(Layer):
    """Token ids [A, B, T] → vectors [A, B, T, D]."""

    has_moments = False
    names = ("weight",)

    def forward(self, params: Views, x: Tensor) -> Tensor:
        self._rows = x.flatten(1)
        self._clients = torch.arange(len(x), device=x.device)[:, None]
        return params[0][self._clients, self._rows].view(*x.shape, -1)

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        change = gradient.reshape(*self._rows.shape, -1) * -step
        target[0].index_put_((self._clients, self._rows), change, accumulate=True)


class LastStateLSTM(Layer):
    """One LSTM layer, batch first: [A, B, T, D] → its state after the last token, [A, B, H].

    Gates in PyTorch's order i, f, g, o: gates_t = W_ih x_t + b_ih + W_hh h_{t−1} + b_hh;
    c_t = σ(f) c_{t−1} + σ(i) tanh(g);  h_t = σ(o) tanh(c_t).
    """

    has_moments = False
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")

    def forward(self, params: Views, x: Tensor) -> Tensor:
        weight_ih, weight_hh, bias_ih, bias_hh = params
        clients, batch, length, _ = x.shape
        self._x = x.transpose(1, 2).reshape(clients, length * batch, -1)
        inputs = torch.baddbmm(bias_ih + bias_hh, self._x, weight_ih.transpose(1, 2))
        inputs = inputs.view(clients, length, batch, -1)
        h = x.new_zeros(clients, batch, weight_hh.shape[2])
        c = torch.zeros_like(h)
        self._states, self._cells, self._gates = [h], [c], []
        for t in range(length):
            i, f, g, o = torch.baddbmm(inputs[:, t], h, weight_hh.transpose(1, 2)).chunk(4, dim=2)
            i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
            c = f * c + i * g
            h = o * torch.tanh(c)
            self._gates.append((i, f, g, o))
            self._states.append(h)
            self._cells.append(c)
        return h

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        weight_ih, weight_hh, _, _ = params
        dh, dc = gradient, torch.zeros_like(gradient)
        steps = []
        for t in reversed(range(len(self._gates))):
            i, f, g, o = self._gates[t]
            tanh_c = torch.tanh(self._cells[t + 1])
            dc = dc + dh * o * (1 - tanh_c * tanh_c)
            di, df, dg, do = dc * g, dc * self._cells[t], dc * i, dh * tanh_c
            d_gates = torch.cat([di * i * (1 - i), df * f * (1 - f), dg * (1 - g * g), do * o * (1 - o)], dim=2)
            steps.append(d_gates)
            dh, dc = torch.bmm(d_gates, weight_hh), dc * f
        clients, batch = gradient.shape[:2]
        self._gradient = torch.stack(steps[::-1], dim=1).view(clients, -1, weight_ih.shape[1])
        below = torch.bmm(self._gradient, weight_ih)
        return below.view(clients, -1, batch, weight_ih.shape[2]).transpose(1, 2)

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        """Uses the gradient of all gates, which ``input_gradient`` has left."""
        before = torch.stack(self._states[:-1], dim=1).view(len(gradient), -1, gradient.shape[2])
        target[0].baddbmm_(self._gradient.transpose(1, 2), self._x, alpha=-step)
        target[1].baddbmm_(self._gradient.transpose(1, 2), before, alpha=-step)
        for bias in target[2:]:
            bias.sub_(self._gradient.sum(1, keepdim=True), alpha=step)
