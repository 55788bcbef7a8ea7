"""The symbol sheet: the symbols of the course, their names in code, and how the names of algorithms are spelt."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Symbol:
    """A symbol as a character ("μ"), in TeX (r"\\mu"), its name in code (or ""), and its meaning in Markdown."""

    sign: str
    tex: str
    code: str
    meaning: str


SYMBOLS = (
    Symbol("N", "N", "num_clients", "clients in all"),
    Symbol("K", "K", "clients_per_round", "clients in a cohort"),
    Symbol("R", "R", "rounds", "rounds of a run; $t$ counts them"),
    Symbol("S", "S", "cohort", "the cohort of a round, a set of $K$ clients"),
    Symbol("w", "w", "params", "global parameters, a vector of length $P$, as a client receives them"),
    Symbol("w*", r"w^\star", "", "the parameters at which $F$ is smallest"),
    Symbol("P", "P", "num_parameters", "number of parameters"),
    Symbol("y_k", "y_k", "local", "local parameters of client $k$"),
    Symbol("Δ_k", r"\Delta_k", "", "the move of client $k$ in a round, $y_k - w$"),
    Symbol("F_k", "F_k", "", "mean loss on the samples of client $k$; $F$ is that of all samples"),
    Symbol("a_k", "a_k", "", r"curvature of a quadratic loss $\frac{a_k}{2} (w - b_k)^2$ of client $k$"),
    Symbol("b_k", "b_k", "", "where that loss is lowest: the optimum of client $k$"),
    Symbol("n_k", "n_k", "num_samples", "samples of client $k$"),
    Symbol("ρ_k", r"\rho_k", "weights", r"share of client $k$ in all samples, $n_k / \sum_j n_j$"),
    Symbol(
        "p_k", "p_k", "", "label mix of client $k$: the share of each label in its samples; $p$ is that of all clients"
    ),
    Symbol("ρ_k^S", r"\rho_k^S", "", r"share of client $k$ in the samples of its cohort, $n_k / \sum_{j \in S} n_j$"),
    Symbol("s_k", "s_k", "", r"the part of its way that client $k$ covers in a round, $1 - (1 - \eta a_k)^{\tau_k}$"),
    Symbol("η", r"\eta", "lr", "local learning rate"),
    Symbol("η_g", r"\eta_g", "server_lr", "server learning rate"),
    Symbol("E", "E", "local_epochs", "local epochs"),
    Symbol("τ_k", r"\tau_k", "num_steps", "local SGD steps that client $k$ really took"),
    Symbol("μ", r"\mu", "mu", "proximal strength of FedProx and FedDyn"),
    Symbol("α", r"\alpha", "alpha", "Dirichlet concentration: small is skewed"),
    Symbol("Γ", r"\Gamma", "", r"heterogeneity: $\min F - \sum_k \rho_k \min F_k$"),
    Symbol("c", "c", "c", "server control variate of SCAFFOLD"),
    Symbol("c_k", "c_k", "c_clients", "control variate of client $k$"),
    Symbol(
        "a", "a", "weight", r"weight of a correction $g + a \odot (y - r) + d$; it has no index, a curvature $a_k$ has"
    ),
    Symbol("r", "r", "anchor", "anchor of a correction"),
    Symbol("d", "d", "offset", "offset of a correction"),
    Symbol("φ_k", r"\phi_k", "", "presence: the probability that client $k$ can be asked in a round"),
    Symbol("Δρ_k", r"\Delta\rho_k", "", "by how much the weight of client $k$ differs from $\\rho_k$"),
    Symbol("C_c", r"\mathcal{C}_c", "clusters", "the $c$-th cluster of clients"),
    Symbol("N_c", "N_c", "", "clients in cluster $c$"),
    Symbol("m_c", "m_c", "", "clients of cluster $c$ in a cohort"),
    Symbol("π_k", r"\pi_k", "", "probability that client $k$ is drawn into the cohort"),
    Symbol("ω_k", r"\omega_k", "", r"weight of client $k$ in FedSSO's mean, proportional to $\rho_k / \pi_k$"),
    Symbol(
        "ξ", r"\xi", "xi", r"OPTICS: a cluster begins and ends where the reachability changes by a factor of $1 - \xi$"
    ),
    Symbol("T", "T", "", "tiers of FedMas"),
    Symbol("Ω", r"\Omega", "importance", "importance of each parameter (MAS)"),
    Symbol(
        "λ",
        r"\lambda",
        "strength",
        "strength of a penalty: of continual learning, or of Ditto's pull towards the global model",
    ),
    Symbol("I_j", "I_j", "", "diagonal of the Fisher information of client $j$, an importance too (FedCurv)"),
    Symbol("u", "u", "u", r"what FedCurv's server sends: $\sum_j I_j$"),
    Symbol(
        "v",
        "v",
        "v",
        r"what FedCurv's server sends: $\sum_j I_j \theta_j$, where $\theta_j$ came from client $j$",
    ),
    Symbol("β", r"\beta", "local_momentum", "momentum: the share of its last step that a step keeps"),
    Symbol("G", "G", "", r"dissimilarity of gradients: how far $\nabla F_k$ lies from $\nabla F$, root mean square"),
    Symbol("δ", r"\delta", "margin", r"margin of a statement: less than $\delta$ counts as nothing"),
    Symbol(
        "h_k", "h_k", "h_clients", "FedDyn's gradient of client $k$ where it stopped last; $h$ is the mean over clients"
    ),
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
    """The symbol sheet as a Markdown table; on a narrow page, names in code may be broken after an underscore."""
    codes = [f"<code>{s.code.replace('_', '_<wbr>')}</code>" if s.code else "–" for s in SYMBOLS]
    rows = [f"| ${s.tex}$ | {s.meaning} | {code} |" for s, code in zip(SYMBOLS, codes, strict=True)]
    return "\n".join(["| symbol | meaning | in code |", "|---|---|---|", *rows])
