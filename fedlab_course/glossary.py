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
    "ablation": "The same runs with one part of a method left out, to see what that part does.",
    "band": "Where stored runs lie: their mean and two standard deviations to both sides, round by round.",
    "concept shift": "Clients that give the same input different answers. No label mix shows it.",
    "continual learning": "Learning tasks one after another without losing those before.",
    "control experiment": "A run in which one property is taken away and all else stays, such as tiers drawn at "
    "random: it tells what that property is worth.",
    "dissimilarity of gradients": "How far the clients' gradients lie from their mean at one point, root mean square: "
    "$G$.",
    "equivalent within δ": "A verdict: the whole interval lies within the margin on both sides of zero. Whatever "
    "difference there is, it is too small to count.",
    "error feedback": "A client keeps what compression dropped, and adds it to its next move.",
    "EWC": "Elastic weight consolidation: a quadratic penalty on changes, weighted by the diagonal of the Fisher "
    "information; it comes from Bayes' rule.",
    "family": "All statements that are corrected together. What the sources say is one, what the course adds another.",
    "Holm's correction": "Asks of many verdicts that the clearest be clear enough for all of them, the next for one "
    "fewer, and so on. What fails is a hint.",
    "Horvitz–Thompson mean": r"Adds up what a cohort sends with the weights $\rho_k / \pi_k$: right on average, "
    "whatever the chances of the draw. Hájek's mean divides by the sum of these weights, and varies less where "
    "clients send the same.",
    "importance": "How much a parameter matters to what was learnt before, one number for each of them: by the Fisher "
    "information (EWC, FedCurv) or by the output's sensitivity (MAS).",
    "interval": "Where the mean difference lies with 95 % confidence, by Student's law, from the differences seed by "
    "seed.",
    "invariant": "What must be the same after every round, such as that SCAFFOLD's server variate is the mean of the "
    "clients'.",
    "label mix": "The share of each label in a client's samples.",
    "margin": r"The size $\delta$ below which a difference counts as nothing. It is fixed before the runs.",
    "objective inconsistency": "Where clients make different numbers of steps, FedAvg rests at the optimum of other "
    "weights than those of the samples.",
    "opposite": "A verdict: the whole interval lies below minus the margin.",
    "paired runs": "Runs under one seed: the same partition, first weights, cohorts and batches. Their difference is "
    "due to the methods alone.",
    "reachability plot": "Clients in the order of OPTICS, each with its distance to those before it: valleys are "
    "clusters, peaks the walls between them.",
    "resting point": "Parameters that a round maps to themselves. FedAvg's need not be the optimum.",
    "ridge": "Half of the squared norm of the parameters, times a strength, added to a loss: it makes a convex loss "
    "strongly convex.",
    "stratum": "A group of clients that gets its share of the places of every cohort; plural strata.",
    "systematic draw": "Clients in a row, a random start, and every so many-th of them: each stratum gets its share, "
    "rounded up or down.",
    "undecided": "A verdict: the interval reaches to both sides of a margin. No sentence about a direction follows.",
    "verdict": "What stored runs say of a statement: holds, opposite, equivalent within δ, or undecided.",
    "weight divergence": "How far the parameters lie from those that training on all data in one place would give, "
    "relative to their size.",
}


def table() -> str:
    """The glossary as a Markdown table."""
    rows = [
        f"| **{word}** | {meaning} |" for word, meaning in sorted(GLOSSARY.items(), key=lambda entry: entry[0].lower())
    ]
    return "\n".join(["| word | meaning |", "|---|---|", *rows])
