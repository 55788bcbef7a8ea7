"""Answers to the exercises on what is sent and what updates reveal: other right ways pass, and
plausible wrong ones fail.
"""

import textwrap

import pytest

from fedlab_course.check import own, registry
from fedlab_course.check.exercises import judge, or_solution

RIGHT = {
    "12-send": [
        """
wanted = move + residual
kept = wanted.copy()
for place in sorted(range(len(wanted)), key=lambda i: -abs(wanted[i]))[:count]:
    kept[place] = 0
return wanted - kept, kept""",
        """
wanted = residual + move
order = np.argsort(np.abs(wanted))
is_sent = np.isin(np.arange(len(wanted)), order[len(order) - count:])
return np.where(is_sent, wanted, 0), np.where(is_sent, 0, wanted)""",
        """
wanted = torch.from_numpy(move + residual)
sent = torch.zeros_like(wanted)
places = wanted.abs().topk(count).indices
sent[places] = wanted[places]
return sent, wanted - sent""",
        """
wanted = [m + r for m, r in zip(move, residual)]
least = sorted(map(abs, wanted))[-count]
sent = [x if abs(x) >= least else 0.0 for x in wanted]
return sent, [x - s for x, s in zip(wanted, sent)]""",
    ],
    "12-class": [
        """
table = server.state["residuals"]
wanted = moves + table[updates.clients]
sent = wanted * (wanted.abs() >= self.threshold)
table[updates.clients] = wanted - sent""",
        """
sent = torch.zeros_like(moves)
for i, k in enumerate(updates.clients):
    wanted = moves[i] + server.state["residuals"][k]
    large = wanted.abs() >= self.threshold
    sent[i, large] = wanted[large]
    server.state["residuals"][k] = wanted - sent[i]""",
        """
wanted = (moves + server.state["residuals"][updates.clients]).numpy()
sent = torch.from_numpy(np.where(np.abs(wanted) < self.threshold, 0.0, wanted))
server.state["residuals"][updates.clients] = torch.from_numpy(wanted) - sent""",
        """
sent = moves + server.state["residuals"][updates.clients]
kept = sent.clone()
kept[kept.abs() >= self.threshold] = 0
sent -= kept
server.state["residuals"][updates.clients] = kept""",
    ],
    "13-labels": [
        "return [c for c in range(len(bias_after)) if bias_after[c] > bias_before[c]]",
        "return np.where(bias_after - bias_before > 0)[0]",
        "return {int(c) for c in np.argwhere(bias_before < bias_after).ravel()}",
        """
rises = torch.from_numpy(bias_after - bias_before)
return torch.nonzero(rises > 0).flatten()""",
    ],
    "13-class": [
        """
---
lengths = torch.linalg.vector_norm(moves, dim=1)
shorter = torch.stack([m * min(1.0, self.clip / float(n)) if n > 0 else m
                       for m, n in zip(moves, lengths)])
---
total = shorter.sum(0) + self.noise * self.clip * drawn""",
        """
---
moves = moves / (moves.norm(dim=1, keepdim=True) / self.clip).clamp(min=1)
---
total = moves.sum(dim=0)
total += drawn * (self.noise * self.clip)""",
        """
---
moves = torch.renorm(moves, 2, 0, self.clip)
---
total = sum(moves) + self.clip * self.noise * drawn""",
        """
---
norms = (moves**2).sum(1).sqrt()
long = norms > self.clip
moves[long] *= (self.clip / norms[long])[:, None]
---
total = len(moves) * moves.mean(0) + self.noise * self.clip * drawn""",
    ],
    "13-delta": [
        "return norm.cdf(-epsilon / z + z / 2) - np.exp(epsilon) * norm.cdf(-epsilon / z - z / 2)",
        """
x = epsilon / z + z / 2
return norm.sf(x, loc=z) - np.exp(epsilon) * norm.sf(x)""",
        """
x = (epsilon + z**2 / 2) / z
return 1 - norm.cdf(x - z) - np.e**epsilon * (1 - norm.cdf(x))""",
        """
x = np.linspace(-12, 14, 260_001)
gap = norm.pdf(x - z) - np.exp(epsilon) * norm.pdf(x)
return np.trapezoid(np.maximum(gap, 0), x)""",
    ],
}
WRONG = {
    "12-send": [
        # one entry, whatever the count
        """
wanted = move + residual
sent = np.zeros_like(wanted)
place = np.abs(wanted).argmax()
sent[place] = wanted[place]
return sent, wanted - sent""",
        # the entries that fit the two cases with one entry
        """
wanted = move + residual
sent = np.where(np.abs(wanted) == np.abs(wanted).max(), wanted, 0)
return sent, wanted - sent""",
        # a share of the entries
        """
wanted = move + residual
sent = np.zeros_like(wanted)
places = np.argsort(-np.abs(wanted))[: max(1, int(count * len(wanted) / 10))]
sent[places] = wanted[places]
return sent, wanted - sent""",
        # the first entries
        """
wanted = move + residual
sent = np.where(np.arange(len(wanted)) < count, wanted, 0)
return sent, wanted - sent""",
        # the largest of the move alone, with what was kept there
        """
wanted = move + residual
sent = np.zeros_like(wanted)
places = np.argsort(-np.abs(move))[:count]
sent[places] = wanted[places]
return sent, wanted - sent""",
        "return move + residual, np.zeros_like(move)",
    ],
    "12-class": [
        # the norm of the row decides for all its entries
        """
wanted = moves + server.state["residuals"][updates.clients]
sent = torch.where(wanted.norm(dim=1, keepdim=True) >= self.threshold, wanted, 0.0)
server.state["residuals"][updates.clients] = wanted - sent""",
        # the mean of the cohort decides
        """
wanted = moves + server.state["residuals"][updates.clients]
sent = torch.where(wanted.abs().mean(0) >= self.threshold, wanted, 0.0)
server.state["residuals"][updates.clients] = wanted - sent""",
        # feedback forgotten
        "sent = torch.where(moves.abs() >= self.threshold, moves, 0.0)",
        # kept by place in the cohort, not by client
        """
rows = np.arange(len(moves))
wanted = moves + server.state["residuals"][rows]
sent = torch.where(wanted.abs() >= self.threshold, wanted, 0.0)
server.state["residuals"][rows] = wanted - sent""",
        # what was kept before is lost where it is not sent
        """
wanted = moves + server.state["residuals"][updates.clients]
sent = torch.where(wanted.abs() >= self.threshold, wanted, 0.0)
server.state["residuals"][updates.clients] = moves * (sent == 0)""",
        # the largest entry of each row, whatever the threshold
        """
wanted = moves + server.state["residuals"][updates.clients]
largest = wanted.abs().amax(1, keepdim=True)
sent = torch.where(wanted.abs() >= self.threshold * largest, wanted, 0.0)
server.state["residuals"][updates.clients] = wanted - sent""",
    ],
    "13-labels": [
        "return np.argsort(bias_before - bias_after)[:2]",
        "return np.flatnonzero(bias_after > 0)",
        "return np.flatnonzero(bias_after - bias_before > 0.01)",
        "return np.flatnonzero(bias_after - bias_before > np.mean(bias_after - bias_before))",
        "return [int(np.argmax(bias_after - bias_before))]",
        "return np.flatnonzero(abs(bias_after - bias_before) > 0.05)",
    ],
    "13-class": [
        # every entry is clipped: the sum may move by κ √P
        """
---
clipped = moves.clamp(-self.clip, self.clip)
---
total = clipped.sum(0) + self.noise * self.clip * drawn""",
        # entries, with κ / √P
        """
---
most = self.clip / moves.shape[1] ** 0.5
clipped = moves.clamp(-most, most)
---
total = clipped.sum(0) + self.noise * self.clip * drawn""",
        # one norm for the whole cohort
        """
---
clipped = moves * min(1.0, self.clip / float(moves.norm() + 1e-30))
---
total = clipped.sum(0) + self.noise * self.clip * drawn""",
        # the mean is clipped, not each move
        """
---
mean = moves.mean(0)
mean = mean * min(1.0, self.clip / float(mean.norm() + 1e-30))
---
total = len(moves) * mean + self.noise * self.clip * drawn""",
        # the largest entry in place of the norm
        """
---
most = moves.abs().amax(1, keepdim=True).clamp_min(1e-30)
clipped = moves * (self.clip / most).clamp(max=1.0)
---
total = clipped.sum(0) + self.noise * self.clip * drawn""",
        # a weighted mean
        """
---
norms = moves.norm(dim=1, keepdim=True).clamp_min(1e-30)
weights = updates.num_samples / updates.num_samples.mean()
clipped = moves * (self.clip / norms).clamp(max=1.0) * weights[:, None]
---
total = clipped.sum(0) + self.noise * self.clip * drawn""",
        # noise for each client
        """
---
norms = moves.norm(dim=1, keepdim=True).clamp_min(1e-30)
clipped = moves * (self.clip / norms).clamp(max=1.0)
---
total = (clipped + self.noise * self.clip * drawn).sum(0)""",
        # half the noise
        """
---
norms = moves.norm(dim=1, keepdim=True).clamp_min(1e-30)
clipped = moves * (self.clip / norms).clamp(max=1.0)
---
total = clipped.sum(0) + self.noise * self.clip * drawn / 2""",
    ],
    "13-delta": [
        # the odds are not weighted
        "return norm.cdf(-epsilon / z + z / 2) - norm.cdf(-epsilon / z - z / 2)",
        # one bell for both
        "return norm.cdf(-epsilon / z - z / 2) * (1 - np.exp(epsilon))",
        # an edge without z / 2
        "return norm.cdf(z - epsilon / z) - np.exp(epsilon) * norm.cdf(-epsilon / z)",
        # signs turned round
        "return norm.cdf(epsilon / z + z / 2) - np.exp(epsilon) * norm.cdf(epsilon / z - z / 2)",
        # the probability below the edge
        "return norm.cdf(epsilon / z - z / 2) - np.exp(epsilon) * norm.cdf(epsilon / z + z / 2)",
        # a constant in place of z
        "return norm.cdf(0.5 - epsilon) - np.exp(epsilon) * norm.cdf(-0.5 - epsilon)",
    ],
}


def answer(name: str, written: str) -> object:
    """The answer with these lines in place of each ``...``; "---" parts them."""
    exercise = registry.get(name)
    source = exercise.stub_source
    parts = written.split("---\n")
    for part in parts[1:] or parts:
        before, mark, after = source.partition("...\n")
        indent = before.rpartition("\n")[2]
        source = before + textwrap.indent(part.strip(), indent).lstrip() + "\n" + after
        assert mark
    assert "..." not in source
    return exercise.build(source)


def each(variants: dict[str, list[str]]) -> pytest.MarkDecorator:
    pairs = [(name, written) for name, several in variants.items() for written in several]
    ids = [f"{name}-{i}" for name, several in variants.items() for i in range(len(several))]
    return pytest.mark.parametrize(("name", "written"), pairs, ids=ids)


@each(RIGHT)
def test_another_right_answer_passes(name: str, written: str) -> None:
    assert judge(registry.get(name), answer(name, written)).hint == ""


@each(WRONG)
def test_a_plausible_wrong_answer_fails_with_a_hint(name: str, written: str) -> None:
    verdict = judge(registry.get(name), answer(name, written))
    assert verdict.status == "wrong"
    assert verdict.hint and not verdict.is_crash


def test_there_are_enough_variants() -> None:
    assert all(len(several) >= 4 for kind in (RIGHT, WRONG) for several in kind.values())


def test_a_figure_can_tell_whose_code_it_runs_on() -> None:
    mine = answer("13-labels", RIGHT["13-labels"][0])
    stub = registry.get("13-labels").build(registry.get("13-labels").stub_source)
    solution = or_solution("13-labels", stub)
    assert or_solution("13-labels", mine) is mine
    assert (own.is_own(mine), own.is_own(solution), own.is_own(mine, solution)) == (
        True,
        False,
        False,
    )
    assert own.whose(mine) == "with your code"
    assert own.whose(solution, mine) == "with the course's solution"
