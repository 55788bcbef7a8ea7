"""This library and its peers, each with its number of processes and threads."""

from dataclasses import dataclass

OURS = "fedlab_core"


@dataclass(frozen=True)
class Contestant:
    """A peer in one way of running it.

    ``adapter`` and ``requirements`` name files in those folders; without ``requirements`` it runs
    in the environment of the runner. ``threads`` a process; None leaves the number to the peer.
    ``note`` for the table.
    """

    name: str
    adapter: str
    requirements: str | None
    processes: int = 1
    threads: int | None = 1
    note: str = ""

    def environment(self) -> dict[str, str]:
        """The variables that limit the threads of PyTorch and XLA."""
        if self.threads is None:
            return {}
        limits = {name: str(self.threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
        if self.threads == 1:
            limits["XLA_FLAGS"] = (
                "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
            )
        return limits


CONTESTANTS = {
    contestant.name: contestant
    for contestant in (
        Contestant(OURS, "ours", None, threads=None, note="its own threads, one for each core"),
        Contestant("FedJAX", "fedjax", "fedjax", note="without the time to compile"),
        Contestant("plain PyTorch, 2 processes", "plain", "plain", processes=2),
        Contestant("pfl-research", "pfl_research", "pfl", note="does not shuffle"),
        Contestant(
            "pfl-research, 2 processes", "pfl_research", "pfl", processes=2, note="does not shuffle"
        ),
        Contestant("BlazeFL", "blazefl", "blazefl", note="on Python 3.11"),
        Contestant(
            "BlazeFL, 2 processes", "blazefl", "blazefl", processes=2, note="on Python 3.11"
        ),
        Contestant("fluke", "fluke", "fluke"),
    )
}
