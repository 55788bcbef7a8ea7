"""The symbol sheet: the symbols of the course, their names in code, and how the names of algorithms are spelt."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Symbol:
    """A symbol as a character ("μ"), in TeX (r"\\mu"), its name in code ("" if it has none) and its meaning."""

    sign: str
    tex: str
    code: str
    meaning: str


SYMBOLS = (
    Symbol("N", "N", "num_clients", "clients in all"),
    Symbol("K", "K", "clients_per_round", "clients in a cohort"),
    Symbol("S", "S", "cohort", "the cohort of a round, a set of K clients"),
    Symbol("w", "w", "params", "global parameters, a vector of length P"),
    Symbol("P", "P", "num_parameters", "number of parameters"),
    Symbol("y_k", "y_k", "local", "local parameters of client k"),
    Symbol("F_k", "F_k", "", "mean loss on the samples of client k; F is that of all samples"),
    Symbol("n_k", "n_k", "num_samples", "samples of client k"),
    Symbol("ρ_k", r"\rho_k", "weights", "share of client k in all samples, n_k / Σ n"),
    Symbol("η", r"\eta", "lr", "local learning rate"),
    Symbol("η_g", r"\eta_g", "server_lr", "server learning rate"),
    Symbol("E", "E", "local_epochs", "local epochs"),
    Symbol("τ_k", r"\tau_k", "num_steps", "local SGD steps that client k really took"),
    Symbol("μ", r"\mu", "mu", "proximal strength of FedProx"),
    Symbol("α", r"\alpha", "alpha", "Dirichlet concentration: small is skewed"),
    Symbol("c", "c", "c", "server control variate of SCAFFOLD"),
    Symbol("c_k", "c_k", "c_clients", "control variate of client k"),
    Symbol("a", "a", "weight", "weight of a correction g + a ⊙ (y − r) + d"),
    Symbol("r", "r", "anchor", "anchor of a correction"),
    Symbol("d", "d", "offset", "offset of a correction"),
    Symbol("Ω", r"\Omega", "importance", "importance of each parameter (MAS)"),
    Symbol("λ", r"\lambda", "strength", "strength of a continual-learning penalty"),
)

# Spelt out, these are names in code; in prose the character or TeX stands for them.
GREEK = {"mu": "μ", "alpha": "α", "eta": "η", "tau": "τ", "rho": "ρ", "lambda": "λ", "omega": "Ω"}

NAMES = (
    "FedAvg",
    "FedProx",
    "SCAFFOLD",
    "FedNova",
    "FedCurv",
    "FedSSO",
    "FedMas",
    "FedAvgMas",
    "TFedAvg",
    "TFedAvgMas",
    "FedDyn",
    "OPTICS",
    "DBSCAN",
    "IID",
    "MNIST",
    "Fashion-MNIST",
    "CIFAR-10",
)


def table() -> str:
    """The symbol sheet as a Markdown table."""
    rows = [f"| ${s.tex}$ | {s.meaning} | {f'`{s.code}`' if s.code else '–'} |" for s in SYMBOLS]
    return "\n".join(["| symbol | meaning | in code |", "|---|---|---|", *rows])
