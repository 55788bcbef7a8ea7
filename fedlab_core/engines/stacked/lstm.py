"""The LSTM of all clients at once, forward and backward through time."""

import torch
from torch import Tensor, nn

from fedlab_core.engines.stacked.buffers import Workspace
from fedlab_core.engines.stacked.layers import Layer, Views


class LSTM(Layer):
    """One LSTM layer, batch first: [A, B, T, D] → its state after the last token, [A, B, H].

    Gates in PyTorch's order i, f, g, o, for t = 1 … T, with h_0 = c_0 = 0:

        i, f, o = σ(W_ih x_t + b_ih + W_hh h_{t−1} + b_hh),  each with its rows of W and b
        g       = tanh(the same)
        c_t = f c_{t−1} + i g
        h_t = o tanh(c_t)

    tanh is computed as 2 σ(2x) − 1, which is ten times as fast: the values of g, and its rows of
    W_hh, are doubled.
    """

    has_moments = False
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")

    def __init__(self, start: int, layer: nn.LSTM) -> None:
        super().__init__(start, layer)
        self._empty = Workspace(next(layer.parameters())).empty  # not shared with other layers

    def forward(self, params: Views, x: Tensor) -> Tensor:
        weight_ih, weight_hh, bias_ih, bias_hh = params
        clients, batch, length, _ = x.shape
        hidden = weight_hh.shape[2]
        self._allocate(clients, batch, length, hidden)
        self._x = x.transpose(1, 2).flatten(1, 2)
        of_inputs = self._gates.flatten(3)  # [A, T, B, 4H]
        torch.baddbmm(bias_ih + bias_hh, self._x, weight_ih.mT, out=of_inputs.flatten(1, 2))
        self._gates[:, :, :, 2].mul_(2)
        recurrent = weight_hh.clone()
        recurrent[:, 2 * hidden : 3 * hidden].mul_(2)
        minus_one = x.new_full((), -1.0)
        all_gates = self._empty("gates of one token", clients, batch, 4 * hidden)
        for t in range(length):
            torch.baddbmm(of_inputs[:, t], self._h[:, t], recurrent.mT, out=all_gates)
            torch.sigmoid(all_gates, out=of_inputs[:, t])
            i, f, g, o = self._gates[:, t].unbind(2)
            torch.add(minus_one, g, alpha=2, out=g)
            c = self._c[:, t + 1]
            torch.mul(f, self._c[:, t], out=c).addcmul_(i, g)
            tanh_c = self._tanh_c[:, t + 1]
            torch.add(c, c, out=tanh_c).sigmoid_()
            torch.add(minus_one, tanh_c, alpha=2, out=tanh_c)
            torch.mul(o, tanh_c, out=self._h[:, t + 1])
        return self._h[:, -1]

    def _allocate(self, clients: int, batch: int, length: int, hidden: int) -> None:
        """Take memory for the gates and their gradients [A, T, B, 4, H], and for h, c, tanh c and
        ∂h/∂c [A, T + 1, B, H], in which t = 0 is before the first token.
        """
        gates = self._empty("gates", 2, clients, length, batch, 4, hidden)
        states = self._empty("states", 4, clients, length + 1, batch, hidden)
        states[:, :, 0] = 0
        self._gates, self._gradient = gates
        self._h, self._c, self._tanh_c, self._of_c = states

    def input_gradient(self, params: Views, gradient: Tensor) -> Tensor:
        """∂L/∂gates_t is a factor, computed for all t at once, times ∂L/∂c_t, or ∂L/∂h_t for o."""
        self._local_factors()
        dh = gradient.clone()
        dc = torch.zeros_like(gradient)
        every = self._gradient.flatten(3)
        for t in reversed(range(self._gates.shape[1])):
            dc.addcmul_(dh, self._of_c[:, t + 1])
            self._gradient[:, t, :, :3].mul_(dc.unsqueeze(2))
            self._gradient[:, t, :, 3].mul_(dh)
            torch.bmm(every[:, t], params[1], out=dh)
            dc.mul_(self._gates[:, t, :, 1])
        below = torch.bmm(every.flatten(1, 2), params[0])
        return below.unflatten(1, self._gradient.shape[1:3]).transpose(1, 2)

    def _local_factors(self) -> None:
        """Write ∂c_t/∂(i, f, g) and ∂h_t/∂o, before their activations, and ∂h_t/∂c_t."""
        i, f, g, o = self._gates.unbind(3)
        of_i, of_f, of_g, of_o = self._gradient.unbind(3)
        tanh_c = self._tanh_c[:, 1:]
        sigmoid_backward = torch.ops.aten.sigmoid_backward
        tanh_backward = torch.ops.aten.tanh_backward
        sigmoid_backward(g, i, grad_input=of_i)
        sigmoid_backward(self._c[:, :-1], f, grad_input=of_f)
        tanh_backward(i, g, grad_input=of_g)
        sigmoid_backward(tanh_c, o, grad_input=of_o)
        tanh_backward(o, tanh_c, grad_input=self._of_c[:, 1:])

    def update(self, target: Views, gradient: Tensor, step: float) -> None:
        """Use the gradients of all gates from ``input_gradient``."""
        gates = self._gradient.flatten(3).flatten(1, 2)
        states_before = self._h[:, :-1].flatten(1, 2)
        for weight, x in ((target[0], self._x), (target[1], states_before)):
            weight.baddbmm_(gates.mT, x, alpha=-step)
        for bias in target[2:]:
            bias.sub_(gates.sum(1, keepdim=True), alpha=step)
