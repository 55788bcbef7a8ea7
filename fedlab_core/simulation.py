"""A run: an iterator over rounds.

It adds evaluation, checkpoints and divergence to ``one_page.one_round``.
"""

import copy
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Unpack

import numpy as np
import torch
from torch import nn

from fedlab_core import checkpoints, engines, losses
from fedlab_core.algorithms import Algorithm
from fedlab_core.aliases import RunState
from fedlab_core.clients.table import ClientTable
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.configuration import configuration
from fedlab_core.correction import Correction
from fedlab_core.data.dataset import Split
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.description import described
from fedlab_core.engines import threads
from fedlab_core.evaluation import client_accuracy, hold_out
from fedlab_core.history import ClientReport, History, RoundRecord
from fedlab_core.one_page import one_round
from fedlab_core.progress import Progress
from fedlab_core.randomness import stream
from fedlab_core.run_check import check_run
from fedlab_core.server import ClientDiverged, Ledger, Server
from fedlab_core.settings import SettingsKeywords, from_keywords, takes_settings

TRAIN_LOSS_SAMPLES = 10_000


class Diverged(RuntimeError):
    """A loss is not finite: of ``client``, or of the global model (None).

    ``round`` is 0 for a probe before round 1.
    """

    def __init__(
        self, algorithm: str, round: int, client: int | None, lr: float, history: History
    ) -> None:
        where = "the global model" if client is None else f"client {client}"
        when, rate = (f"round {round}", "learning rate") if round else ("its probe", "probe_lr")
        super().__init__(
            f"{algorithm} diverged in {when}: the loss of {where} is not finite at lr={lr:g}. "
            f"Try a smaller {rate}; .history has the earlier rounds"
        )
        self.algorithm = algorithm
        self.round = round
        self.client = client
        self.lr = lr
        self.history = history


@takes_settings
class Simulation:
    """A federated run: an iterator that yields one :class:`RoundRecord` per round and can be left
    at any time.

    ``fed`` the federation; ``model`` its initial weights (the module is not changed); ``algorithm``
    an instance. ``cohorts`` are the clients of the latest round: int64 arrays in the order of their
    aggregation. Raises ``ValueError`` for bad arguments before any work starts, and
    :class:`Diverged` when a loss is not finite.
    """

    def __init__(
        self,
        fed: FederatedDataset,
        model: nn.Module,
        algorithm: Algorithm,
        **settings: Unpack[SettingsKeywords],
    ) -> None:
        self.settings = s = from_keywords(settings)
        output = check_run(fed, model, algorithm, s)
        self.algorithm = algorithm
        self.fed, self._own = hold_out(fed, s.held_out, s.seed) if s.held_out else (fed, fed)
        self._engine = engines.create(
            s.engine, self.fed, model, losses.resolve(s.loss), s.device, s.threads
        )
        trained_by = {"engine": self._engine.name, "engine_form": self._engine.form}
        config = configuration(fed, model, algorithm, s, output) | trained_by
        self.history = History(config, template=copy.deepcopy(model))
        if s.client_accuracy:
            self.history.client_accuracy = np.empty((0, fed.num_clients))
        self._server = Server(self.fed, self._engine, s, Ledger(bytes_down=fed.bytes_received))
        self.cohorts: list[np.ndarray] = []
        self._seconds = 0.0
        self._test = Split(fed.test.x.to(s.device), fed.test.y.to(s.device))
        self._train_sample = self._draw_train_sample()
        self._begin_checkpoint()

    def _begin_checkpoint(self) -> None:
        """Resume from the checkpoint file, if there is one."""
        self._checkpoint = None
        if self.settings.checkpoint is not None:
            self._checkpoint = checkpoints.Checkpoint(self.settings.checkpoint)
            state = self._checkpoint.begin(self.history.config)
            if state is not None:
                self.load_state_dict(state)

    @property
    def round(self) -> int:
        """The number of rounds that are done."""
        return self._server.round

    @property
    def model(self) -> nn.Module:
        """The current global model, as a new module."""
        return self._engine.model.with_parameters(self._server.params)

    def __iter__(self) -> Iterator[RoundRecord]:
        """Run round after round with a progress bar; leaving the loop writes the checkpoint."""
        rounds = self.settings.rounds
        with Progress(str(self.algorithm), rounds, self.round, self.settings.progress) as progress:
            try:
                while self.round < rounds:
                    record = next(self)
                    accuracy = f"test accuracy {record.test_accuracy:.3f}"
                    loss = f"train loss {record.train_loss:.4g}"
                    progress.update(loss if math.isnan(record.test_accuracy) else accuracy)
                    yield record
            finally:
                if self._checkpoint is not None and self.round > 0:
                    self._checkpoint.flush(self.round, self.compact_state)

    def __next__(self) -> RoundRecord:
        """Run one round.

        After an interruption or an error, the state is that of the round before.
        """
        if self.round >= self.settings.rounds:
            raise StopIteration
        server = self._server
        with threads.one_inside():
            before = server.snapshot()
            cohorts = self.cohorts
            try:
                record = self._run_round()
                report = self._client_report(record)
                if self.settings.on_round is not None:
                    self.settings.on_round(record, server)
            except BaseException as error:
                when = server.round
                server.restore(before)
                self.cohorts = cohorts
                self.history.params = server.params if self.round else None
                if isinstance(error, ClientDiverged):
                    name = str(self.algorithm)
                    raise Diverged(name, when, error.client, error.lr, self.history) from None
                raise
        self._record(record, report)
        if self._checkpoint is not None:
            self._checkpoint.write_if_due(self.round, self.compact_state)
        return record

    def _record(self, record: RoundRecord, report: ClientReport | None) -> None:
        """Add a finished round to the history."""
        history = self.history
        history.params = self._server.params
        if record.evaluated:
            history.records.append(record)
            if history.client_accuracy is not None and report is not None:
                history.client_accuracy = np.vstack([history.client_accuracy, report.accuracy])
        history.clients = report if record.round == self.settings.rounds else None

    def run(self) -> History:
        """Run to the end and return the history."""
        for _ in self:
            pass
        return self.history

    def state_dict(self) -> RunState:
        """Everything that a run needs to resume.

        ``algorithm`` has its named tensors: [P], and [N, P] with a row for each client.
        """
        state = self.compact_state()
        tables = [
            name for name, value in state["algorithm"].items() if isinstance(value, ClientTable)
        ]
        for name in tables:
            state["algorithm"][name] = state["algorithm"][name].dense()
        return state | {"client_tables": tables}

    def compact_state(self) -> RunState:
        """As :meth:`state_dict`, but client tables have rows only for clients that took part."""
        return {
            "config": self.history.config,
            "round": self.round,
            "ledger": asdict(self._server.ledger),
            "seconds": self._seconds,
            "records": self.history.rows(),
            "params": self._server.params.clone(),
            "client_accuracy": self.history.client_accuracy,
            "algorithm": copy.deepcopy(self._server.state),
        }

    def load_state_dict(self, state: RunState) -> None:
        """Resume from ``state``.

        Raises ``ValueError`` if it has another model, algorithm or number of clients.
        """
        checkpoints.check_fits(state["config"], self.history.config)
        server = self._server
        device = self.settings.device
        server.round = state["round"]
        self.cohorts = []
        server.lr = self.settings.rates[max(server.round, 1) - 1]
        server.params = state["params"].to(device, copy=True)
        server.ledger = Ledger(**state["ledger"])
        self._seconds = state["seconds"]
        self.history.records = [RoundRecord(**row) for row in state["records"]]
        self.history.params = server.params
        self.history.client_accuracy = state.get("client_accuracy")
        server.state = copy.deepcopy(state["algorithm"])
        for name, value in server.state.items():
            if isinstance(value, (torch.Tensor, ClientTable)):
                server.state[name] = value.to(device)
        for name in state.get("client_tables", ()):
            server.state[name] = ClientTable.from_dense(server.state[name])
        if self.round == self.settings.rounds:
            self.history.clients = self._client_report(self.history.records[-1])

    def _run_round(self) -> RoundRecord:
        started = time.perf_counter()
        before = dict(vars(self.algorithm))
        server = self._server
        if server.round == 0:
            self.algorithm.setup(server)
        server.round += 1
        server.lr = self.settings.rates[server.round - 1]
        self._distances: list[torch.Tensor] = []
        self.cohorts = []
        one_round(server, self.algorithm, self._train)
        self._check_unchanged(before)
        evaluation = self._evaluate()
        self._seconds += time.perf_counter() - started
        ledger = server.ledger
        return RoundRecord(
            round=server.round,
            server_updates=ledger.server_updates,
            test_accuracy=evaluation["test_accuracy"],
            test_loss=evaluation["test_loss"],
            train_loss=evaluation["train_loss"],
            bytes_up=ledger.bytes_up,
            bytes_down=ledger.bytes_down,
            drift=float(torch.cat(self._distances).mean()) if self._distances else math.nan,
            lr=server.lr,
            seconds=self._seconds,
        )

    def _train(self, cohort: np.ndarray, corrections: Sequence[Correction]) -> LocalUpdates:
        """Train a cohort, record its distances and add its cost to the ledger."""
        server = self._server
        updates = server.train(cohort, corrections, stream="batches")
        self._distances.append(updates.distances)
        self.cohorts.append(cohort)
        down, up = self.algorithm.communication(server, cohort)
        server.spend(down=down, up=up, server_updates=1)
        return self.algorithm.upload(server, updates)

    def _check_unchanged(self, before: dict[str, object]) -> None:
        """Raise ``ValueError`` if the algorithm changed an attribute of its own in the round."""
        attributes = vars(self.algorithm)
        changed = {name for name in attributes if before.get(name, self) is not attributes[name]}
        # a change in place takes longer to see
        if not changed and self.round in (1, self.settings.rounds):
            now = described("algorithm", self.algorithm.describe())
            then = self.history.config["algorithm"]
            changed = {name for name in now if now[name] != then.get(name)}
        if changed:
            name = min(changed)
            raise ValueError(
                f"{type(self.algorithm).__name__}: changes its attribute {name!r} during a run; "
                f"keep state in server.state[{name!r}], which interruptions, checkpoints and other "
                "runs handle correctly"
            )

    def _evaluate(self) -> dict[str, float]:
        s = self.settings
        params = self._server.params
        if self.round % s.eval_every and self.round != s.rounds:
            return {"test_accuracy": math.nan, "test_loss": math.nan, "train_loss": math.nan}
        test = self._engine.evaluate(params, self._test.x, self._test.y)
        train = self._engine.evaluate(params, self._train_sample.x, self._train_sample.y)
        for loss, split in ((test.loss, self._test), (train.loss, self._train_sample)):
            if len(split) and not math.isfinite(loss):
                raise Diverged(str(self.algorithm), self.round, None, self._server.lr, self.history)
        return {"test_accuracy": test.accuracy, "test_loss": test.loss, "train_loss": train.loss}

    def _draw_train_sample(self) -> Split:
        """Draw the samples that ``train_loss`` is measured on, once for all rounds."""
        indices = self.fed.indices if self.settings.train_loss else self.fed.indices[:0]
        if len(indices) > TRAIN_LOSS_SAMPLES:
            rng = stream(self.settings.seed, "evaluation")
            indices = rng.choice(indices, TRAIN_LOSS_SAMPLES, replace=False)
        chosen = torch.from_numpy(np.sort(indices)).to(self.settings.device)
        return Split(self._engine.x[chosen], self._engine.y[chosen])

    def _client_report(self, record: RoundRecord) -> ClientReport | None:
        """Measure each client after the last round.

        With the setting ``client_accuracy``, after every evaluation.
        """
        s = self.settings
        is_due = record.round == s.rounds or (s.client_accuracy and record.evaluated)
        if self.fed.num_classes is None or not is_due:
            return None
        accuracy = client_accuracy(self.algorithm, self._server, self._engine, self._own)
        return ClientReport(accuracy, self._own.sizes)


@takes_settings
def simulate(
    fed: FederatedDataset,
    model: nn.Module,
    algorithm: Algorithm,
    **settings: Unpack[SettingsKeywords],
) -> History:
    """Run a :class:`Simulation` to its end and return its :class:`History`.

    ``fed`` the federation; ``model`` its initial weights (the module is not changed); ``algorithm``
    an instance. Raises ``ValueError`` for bad arguments before any work starts, and
    :class:`Diverged` when a loss is not finite.
    """
    return Simulation(fed, model, algorithm, **settings).run()
