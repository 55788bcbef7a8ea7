"""The words of the course, each in a sentence."""

GLOSSARY = {
    "aggregation": "How the server makes one model of the local ones: a mean weighted by samples, unless a method says "
    "otherwise.",
    "anchor": r"The parameters that a penalty holds the local model close to: $r$ in $g + a \odot (y - r) + d$.",
    "availability": "Which clients can be drawn in a round. Clients that are often absent bias the mean.",
    "client": "A holder of data that trains on them and never sends them: a phone, a hospital, an account.",
    "client drift": "The way of a local model from the global one towards its client's own optimum: "
    r"$\lVert y_k - w \rVert$.",
    "cohort": "The clients that train in a round.",
    "control variate": "What SCAFFOLD adds to a local gradient to turn it towards the mean gradient: $c - c_k$.",
    "Dirichlet split": "A partition in which each client's label shares are drawn from a Dirichlet law; small α is "
    "skewed.",
    "EMD": "Earth mover's distance between label mixes as in the literature on non-IID data: the sum of the absolute "
    "differences of shares, 0 … 2.",
    "empirical Fisher": "The mean over samples of the squared gradient of the log-likelihood of the given label.",
    "forgetting": "The loss of accuracy on data seen before while training on other data.",
    "inclusion probability": r"The probability $\pi_k$ that client $k$ is in the cohort.",
    "IID": "Independent and identically distributed: every client's data look like everybody's.",
    "MAS": "Memory Aware Synapses: a penalty on changes of the parameters that the output is sensitive to, measured "
    "by Ω.",
    "non-IID": "Not IID: clients differ in labels, inputs or amounts.",
    "OPTICS, DBSCAN": "Clustering by density, without the number of clusters; points in no cluster are noise.",
    "probe": "A short local training of all clients from the same start, to see who is like whom. It is a round and "
    "costs its bytes.",
    "proximal term": r"The penalty $\frac{\mu}{2} \lVert y - w \rVert^2$ of FedProx.",
    "round": "Choose a cohort, send it the model, train locally, aggregate what comes back.",
    "server update": "One aggregation. A round is one of them, except in FedMas, where every tier makes one.",
    "stratified sampling": "Drawing from each cluster its share, so that no cohort misses a kind of client.",
    "straggler": "A client that does only a part of its local work in time.",
    "tier": "A group of similar clients in FedMas; tiers train one after another.",
}


def table() -> str:
    """The glossary as a Markdown table."""
    rows = [
        f"| **{word}** | {meaning} |" for word, meaning in sorted(GLOSSARY.items(), key=lambda entry: entry[0].lower())
    ]
    return "\n".join(["| word | meaning |", "|---|---|", *rows])
