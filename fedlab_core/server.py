"""The server: what an algorithm sees and may change during a run."""

import copy
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch

from fedlab_core import validation
from fedlab_core.aliases import AlgorithmState, Column
from fedlab_core.clients import members_of
from fedlab_core.clients.table import ClientTable
from fedlab_core.clients.updates import LocalUpdates
from fedlab_core.correction import PLAIN, Correction
from fedlab_core.data.federated import FederatedDataset
from fedlab_core.engines.base import Engine
from fedlab_core.engines.work import Work
from fedlab_core.losses import OUTPUT_NORMS, Output
from fedlab_core.one_page import draw_cohort
from fedlab_core.randomness import stream
from fedlab_core.settings import Settings

if TYPE_CHECKING:
    from fedlab_core.algorithms import Algorithm


@dataclass(frozen=True)
class Ledger:
    """The cost of a run so far: aggregations, and bytes from clients (up) and to clients (down)."""

    server_updates: int = 0
    bytes_up: int = 0
    bytes_down: int = 0


@dataclass(eq=False)
class ClientDiverged(ArithmeticError):
    """The parameters of ``client`` are not finite after training at the rate ``lr``."""

    client: int
    lr: float


# round, rate, parameters, state of the algorithm, costs
Snapshot: TypeAlias = tuple[int, float, torch.Tensor, AlgorithmState, Ledger]


class Server:
    """The global model, the state of an algorithm, and services that hide the engine.

    ``params`` [P] global parameters w; ``state`` the algorithm's named tensors [P] and client
    tables [N, P]; ``round`` 1, 2, … (0 before the first); ``lr`` η of this round;
    ``local_momentum`` m; ``clients_per_round`` K; ``fed`` the federation; ``ledger`` the cost so
    far; ``tag`` the tag that ``cohorts`` gave the current cohort, or None.
    """

    def __init__(
        self, fed: FederatedDataset, engine: Engine, settings: Settings, ledger: Ledger = Ledger()
    ) -> None:
        self.fed = fed
        self.ledger = ledger
        self._engine = engine
        self._settings = settings
        self._params = engine.model.parameters()
        self.clients_per_round = settings.cohort_size(fed.num_clients)
        self.lr = settings.rates[0]
        self.local_momentum = settings.local_momentum
        self.seed = settings.seed
        self.round = 0
        self.tag: Any = None
        self.state: AlgorithmState = {}
        self._everybody = np.arange(fed.num_clients)
        # the latest round that was asked for, and who is available
        self._present = -1, np.empty(0, dtype=bool)
        # the latest labels, and their members
        self._groups: tuple[torch.Tensor | None, dict[int, np.ndarray]] = None, {}

    @property
    def params(self) -> torch.Tensor:
        """The global parameters w [P]. To change them, assign a new vector."""
        return self._params

    @params.setter
    def params(self, params: torch.Tensor) -> None:
        self.check_vector("the global parameters", params)
        if params.requires_grad:
            raise ValueError(
                "the global parameters: carry a gradient graph; combine updates under "
                "torch.no_grad()"
            )
        self._params = params

    def check_vector(self, name: str, value: object) -> None:
        """Raise ``ValueError`` unless ``value`` is a tensor [P] like the global parameters.

        It must have their dtype and device.
        """
        w = self._params
        if not isinstance(value, torch.Tensor):
            raise ValueError(
                f"{name}: must be a tensor [P], got {type(value).__name__} (is a `return` missing?)"
            )
        if value.shape != w.shape or value.dtype != w.dtype or value.device != w.device:
            given = f"{value.dtype} {list(value.shape)} on {value.device}"
            raise ValueError(f"{name}: must be {w.dtype} [{len(w)}] on {w.device}, got {given}")

    def checked_correction(self, client: int, correction: object) -> Correction:
        """Return ``correction`` with all vectors [P] like the global parameters.

        NumPy arrays and other float types are converted; a number as anchor or offset stands for
        every entry. Raises ``ValueError`` for anything else.
        """
        if correction is PLAIN:
            return PLAIN
        owner = f"correction of client {client}: "
        if not isinstance(correction, Correction):
            raise ValueError(
                f"{owner}must be a Correction, got {type(correction).__name__} (is a `return` "
                "missing?)"
            )
        converted: dict[str, Any] = {}
        for name in ("weight", "anchor", "offset", "start", "scale"):
            value = getattr(correction, name)
            is_scalar = isinstance(value, torch.Tensor) and value.ndim == 0
            is_number = isinstance(value, (int, float)) or is_scalar
            if value is None or (is_number and name in ("weight", "scale")):
                continue
            if is_number and name in ("anchor", "offset"):
                converted[name] = torch.full_like(self._params, float(value))
                continue
            vector = self._like_params(value)
            self.check_vector(owner + name, vector)
            if vector is not value:
                converted[name] = vector
        if correction.momentum is not None:
            validation.real(f"{owner}momentum", correction.momentum, below=1)
        if correction.amount is not None:
            validation.integer(f"{owner}amount", correction.amount, minimum=1)
        return replace(correction, **converted) if converted else correction

    def _like_params(self, value: object) -> object:
        """Convert a NumPy array, or a tensor on the same device, to the dtype of the parameters.

        Only floats are converted: other types are probably mistakes.
        """
        w = self._params
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            return torch.from_numpy(value).to(w)
        if isinstance(value, torch.Tensor) and value.is_floating_point():
            return value.to(w.dtype)
        return value

    @property
    def num_clients(self) -> int:
        return self.fed.num_clients

    @property
    def num_parameters(self) -> int:
        return len(self.params)

    def stream(self, name: str, client: int = 0) -> np.random.Generator:
        """The random stream of this round (and client) with any name, such as "noise"."""
        return stream(self.seed, name, round=self.round, client=client)

    @property
    def available(self) -> np.ndarray:
        """Which clients are available in this round, a bool array [N]."""
        if self._settings.availability is None:
            return np.ones(self.num_clients, dtype=bool)
        if self._present[0] != self.round:
            present = self._settings.availability.available(self.round, self.stream("availability"))
            is_bool = isinstance(present, np.ndarray) and present.dtype == bool
            if not is_bool or present.shape != (self.num_clients,):
                raise ValueError(
                    f"availability: must give a bool array [{self.num_clients}], got "
                    f"{present!r:.60}"
                )
            self._present = self.round, present
        return self._present[1]

    def present(self, clients: np.ndarray | None = None) -> np.ndarray:
        """The available ones of ``clients`` (default: all), int64."""
        chosen = self._everybody if clients is None else clients
        return chosen if self._settings.availability is None else chosen[self.available[chosen]]

    def uniform_cohort(self) -> np.ndarray:
        """K available clients (all, if they are fewer), in increasing order.

        They are drawn uniformly without replacement.
        """
        return draw_cohort(self.present(), self.clients_per_round, self.stream("cohort"))

    def groups(self, name: str) -> dict[int, np.ndarray]:
        """The clients of each label in the tensor [N] ``state[name]``."""
        labels = self.state[name]
        if self._groups[0] is not labels:
            self._groups = labels, members_of(labels.cpu().numpy())
        return self._groups[1]

    def cohorts_of(self, algorithm: "Algorithm") -> Iterator[np.ndarray]:
        """The cohorts of ``algorithm`` as int64 arrays, without empty ones; a pair (clients, tag)
        sets ``tag``.

        A single array of clients, returned and not yielded, is one cohort. Raises ``ValueError``
        for a cohort that is not a list of different clients.
        """
        cohorts: Any = algorithm.cohorts(self)
        if cohorts is None:
            raise ValueError("cohorts: must yield cohorts, got None (is a `yield` missing?)")
        if isinstance(cohorts, (np.ndarray, torch.Tensor)) and cohorts.ndim == 1:
            cohorts = [cohorts]
        for cohort in cohorts:
            given, self.tag = _clients_and_tag(cohort)
            clients = validation.indices("cohort", given, self.num_clients)
            if len(set(clients.tolist())) < len(clients):
                times = np.bincount(clients)
                raise ValueError(
                    f"cohort: has client {times.argmax()} {times.max()} times; each client trains "
                    "once"
                )
            if len(clients):
                yield clients

    @property
    def layout(self) -> dict[str, slice]:
        """The place of each tensor in the P parameters, by name, such as ``"1.weight"``."""
        return self._engine.model.layout

    def losses(self, clients: np.ndarray, params: torch.Tensor | None = None) -> torch.Tensor:
        """F_k [K] of the clients on all their samples, at w or at ``params`` [P]; [M, K] at
        several, [M, P].

        The ledger does not change: call :meth:`spend`.
        """
        clients = validation.indices("clients", clients, self.num_clients)
        if params is None or params.ndim == 1:
            return self._engine.losses(self.params if params is None else params, clients)
        return torch.stack([self._engine.losses(row, clients) for row in params])

    def gradients(self, clients: np.ndarray) -> torch.Tensor:
        """Full-batch gradients ∇F_k(w) [K, P] at the global parameters."""
        groups = [self.fed.parts[client] for client in clients]
        return self._engine.mean_gradients(self.params, groups)

    def train(
        self,
        clients: np.ndarray,
        corrections: Sequence[Correction],
        *,
        epochs: int | None = None,
        stream: str,
    ) -> LocalUpdates:
        """Train ``clients`` with the rate, batches and momentum of this round and a correction for
        each.

        ``epochs``: None is the work of a round, stragglers included. ``stream`` of the batches:
        rounds use "batches". Nothing is aggregated, and the ledger does not change: call
        :meth:`spend`. A client whose parameters are not finite ends the run as ``Diverged``.
        """
        s = self._settings
        corrections = [
            self.checked_correction(client, correction)
            for client, correction in zip(clients.tolist(), corrections, strict=True)
        ]
        if s.local_momentum:
            corrections = [self._with_momentum(correction) for correction in corrections]
        pairs = zip(clients.tolist(), corrections, strict=True)
        amounts = [correction.amount or epochs or self._amount(k) for k, correction in pairs]
        unit = s.unit if epochs is None else "epochs"
        work = Work(
            clients, np.array(amounts), unit, s.batch_size, self.lr, self.round, self.seed, stream
        )
        return self._trained(work, corrections)

    def _with_momentum(self, correction: Correction) -> Correction:
        """The correction with the momentum of the run, unless it has its own."""
        if correction.momentum is not None:
            return correction
        return replace(correction, momentum=self.local_momentum)

    def _amount(self, client: int) -> int:
        """Epochs or steps of a client in this round; for a straggler a draw from 1 … E."""
        s = self._settings
        if s.stragglers == 0:
            return s.amount
        rng = self.stream("stragglers", client)
        is_straggler = rng.random() < s.stragglers
        return int(rng.integers(1, s.amount, endpoint=True)) if is_straggler else s.amount

    def probe(
        self,
        clients: np.ndarray,
        *,
        lr: float,
        batch_size: int | None,
        epochs: int = 0,
        steps: int = 0,
    ) -> LocalUpdates:
        """Train ``clients`` outside the rounds by plain SGD, for ``epochs`` or ``steps``; see
        :meth:`train`.

        Raises ``ValueError`` unless exactly one of ``epochs`` and ``steps`` is at least 1.
        """
        validation.integer("epochs", epochs)
        validation.integer("steps", steps)
        if (epochs > 0) == (steps > 0):
            raise ValueError(
                f"epochs={epochs}, steps={steps}: exactly one must be at least 1, for example "
                "epochs=1"
            )
        unit, amount = ("epochs", epochs) if epochs else ("steps", steps)
        amounts = np.full(len(clients), amount)
        work = Work(clients, amounts, unit, batch_size, lr, self.round, self.seed, "probe")
        return self._trained(work, [PLAIN] * len(clients))

    def _trained(self, work: Work, corrections: Sequence[Correction]) -> LocalUpdates:
        updates = self._engine.train(self.params, work, corrections)
        bad = torch.nonzero(~torch.isfinite(updates.distances)).flatten()
        if len(bad):
            raise ClientDiverged(int(updates.clients[int(bad[0])]), work.lr)
        return updates

    def importance(
        self, client: int, params: torch.Tensor, output: Output = "logits"
    ) -> torch.Tensor:
        """Ω [P] of Memory Aware Synapses at ``params`` [P], on the data of ``client``."""
        groups = [self.fed.parts[client]]
        return self._engine.moments(params[None], groups, OUTPUT_NORMS[output], power=1)[0]

    def fisher_diagonals(self, updates: LocalUpdates) -> torch.Tensor:
        """The diagonal of the empirical Fisher of each client, [K, P].

        It is taken at the client's local parameters and on its own data.
        """
        groups = [self.fed.parts[client] for client in updates.clients]
        return self._engine.moments(updates.params, groups, self._engine.loss, power=2)

    def spend(self, *, down: float = 0, up: float = 0, server_updates: int = 0) -> None:
        """Add a cost to the ledger: aggregations, and numbers (not bytes) that are sent.

        ``down`` goes to clients, ``up`` to the server.
        """
        bytes_of_number = self.params.element_size()
        self.ledger = Ledger(
            self.ledger.server_updates + server_updates,
            self.ledger.bytes_up + math.ceil(up * bytes_of_number),
            self.ledger.bytes_down + math.ceil(down * bytes_of_number),
        )

    def client_table(self, like: torch.Tensor | None = None) -> ClientTable:
        """A zero vector for every client, stored only once it is written.

        It has the length P, or that of ``like``.
        """
        return ClientTable(self.num_clients, self.params if like is None else like)

    def snapshot(self) -> Snapshot:
        """The state of the run, to which :meth:`restore` goes back."""
        return self.round, self.lr, self.params.clone(), copy.deepcopy(self.state), self.ledger

    def restore(self, snapshot: Snapshot) -> None:
        """Undo everything since the ``snapshot``."""
        self.round, self.lr, self._params, self.state, self.ledger = snapshot
        self._present = -1, self._present[1]  # a round that is tried again asks again


def _clients_and_tag(cohort: Column) -> tuple[Column, object]:
    """The clients of a cohort, and its tag or None. A pair of numbers is a cohort of two."""
    if isinstance(cohort, tuple) and len(cohort) == 2:
        clients, tag = cohort
        if not isinstance(clients, (int, np.integer)):
            return clients, tag
    return cohort, None
