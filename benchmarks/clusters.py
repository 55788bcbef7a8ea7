"""Clusters of clients found in their probes, over partition seeds, as tables and CSV files.

    FEDLAB_DATA=… python benchmarks/clusters.py --seeds 0 1 2 3 4 --out results/clusters_mnist.csv

100 clients, MLP 784-200-10, every client from the same initial weights. OPTICS (min_samples 2, xi 0.25) on the flat
parameters after each kind of probe, compared with the clients' label sets (of a shard that straddles two labels, the
label of its larger half). DBSCAN on Dirichlet splits over eps, in units of the median distance to the nearest
neighbour, with the knee as default. And the variance E‖w − w̄‖² of the mean of 10 clients' models in the round after
the probe, under simple random and under systematic sampling along the clusters: 4,000 cohorts beside the closed forms.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import torch

import fedlab_core as fl
from fedlab_core import clustering, engines, losses, sampling
from fedlab_core.engines import Engine, threads
from fedlab_core.engines.work import Work
from fedlab_course import cluster_quality, theory

NUM_CLIENTS = 100
PROBES = {
    "epoch": {"unit": "epochs", "batch_size": 10},
    "full_batch": {"unit": "steps", "batch_size": None},
    "sample": {"unit": "steps", "batch_size": 1},
}
MIN_SHARES = {"iid": 0.02, "two shards": 0.25, "two labels": 0.0, "one shard": 0.5, "one label": 0.0}
PROJECTED = 512
COHORT, NUM_COHORTS = 10, 4000
EPS_FACTORS = (0.7, 0.8, 0.9, 1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.6, 2.0)


def partition(name: str, y: torch.Tensor, seed: int) -> list[np.ndarray]:
    """The named split over 100 clients; shards straddle labels where classes differ in size, labels do not."""
    if name == "iid":
        return fl.partition.iid(y, num_clients=NUM_CLIENTS, seed=seed)
    count = 1 if name.startswith("one") else 2
    if name.endswith(("shard", "shards")):
        return fl.partition.shards(y, num_clients=NUM_CLIENTS, shards_per_client=count, seed=seed)
    return fl.partition.labels_per_client(y, num_clients=NUM_CLIENTS, labels_per_client=count, seed=seed)


def create_engine(fed: fl.FederatedDataset, seed: int) -> Engine:
    """The engine with the initial weights of this seed."""
    return engines.create("auto", fed, fl.models.mlp(fed, seed=seed), losses.resolve("cross_entropy"), "cpu")


def train(engine: Engine, params: torch.Tensor, kind: str, seed: int, round: int = 0) -> torch.Tensor:
    """All clients' parameters [N, P] after training from ``params`` as a probe (in round 0) or a round at rate 0.01."""
    clients = np.arange(engine.fed.num_clients)
    stream = "batches" if round else "probe"
    work = Work(clients, np.ones_like(clients), lr=0.01, round=round, seed=seed, stream=stream, **PROBES[kind])
    with threads.suited_to(0):
        return engine.train(params, work, [fl.Correction()] * len(clients)).params


def probe(fed: fl.FederatedDataset, kind: str, seed: int) -> torch.Tensor:
    """The clients' parameters [N, P] after one probe."""
    engine = create_engine(fed, seed)
    return train(engine, engine.model.parameters(), kind, seed)


def optics_rows(dataset: fl.Dataset, seed: int) -> list[dict[str, object]]:
    """One row per partition, probe and space (all parameters, or 512 random projections of them)."""
    rows = []
    for name, min_share in MIN_SHARES.items():
        fed = fl.FederatedDataset(dataset, partition(name, dataset.train.y, seed))
        groups = cluster_quality.label_groups(fed.parts, fed.y, min_share)
        for kind in PROBES:
            params = probe(fed, kind, seed)
            projection = clustering.RandomProjection(params.shape[1], PROJECTED, seed)
            full = clustering.optics(params)
            projected = clustering.optics(projection.apply(params))
            for space, found in (("full", full), (f"projected {PROJECTED}", projected)):
                quality = cluster_quality.quality(found.labels, groups.ids)
                rows.append(
                    {
                        "partition": name,
                        "probe": kind,
                        "space": space,
                        "seed": seed,
                        "shared_groups": groups.num_shared,
                        "clusters": quality.num_clusters,
                        "pure": quality.num_pure,
                        "noise": quality.num_noise,
                        "purity": round(quality.purity, 4),
                        "adjusted_rand": round(quality.adjusted_rand, 4),
                        "same_as_full": same_partition(full.labels, found.labels),
                    }
                )
    return rows


def same_partition(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two clusterings agree up to the numbers of their clusters, noise included."""
    pairs = set(zip(first.tolist(), second.tolist(), strict=True))
    return len(pairs) == len(set(first)) == len(set(second)) and np.array_equal(first < 0, second < 0)


def dbscan_rows(dataset: fl.Dataset, seed: int) -> list[dict[str, object]]:
    """One row per Dirichlet concentration and eps, the knee first."""
    rows = []
    for alpha in (0.3, 0.7):
        parts = fl.partition.dirichlet(dataset.train.y, num_clients=NUM_CLIENTS, alpha=alpha, by="client", seed=seed)
        params = probe(fl.FederatedDataset(dataset, parts), "epoch", seed)
        nearest = float(np.median(clustering.k_distances(params)))
        for eps in (None, *(nearest * factor for factor in EPS_FACTORS)):
            found = clustering.dbscan(params, eps)
            rows.append(
                {
                    "alpha": alpha,
                    "seed": seed,
                    "choice": "knee" if eps is None else f"{eps / nearest:.2f}",
                    "eps": round(found.eps, 4),
                    "eps_over_median": round(found.eps / nearest, 3),
                    "clusters": found.num_clusters,
                    "noise": found.num_noise,
                    "largest": int(found.sizes.max(initial=0)),
                }
            )
    return rows


def variance_rows(dataset: fl.Dataset, seed: int) -> list[dict[str, object]]:
    """One row per partition and design: all clients train an epoch from the probe's mean, as in the first round."""
    rows = []
    for name in MIN_SHARES:
        fed = fl.FederatedDataset(dataset, partition(name, dataset.train.y, seed))
        engine = create_engine(fed, seed)
        probed = train(engine, engine.model.parameters(), "epoch", seed)
        labels = clustering.optics(probed).labels
        shares = torch.from_numpy(fed.weights).to(probed)
        models = train(engine, shares @ probed, "epoch", seed, round=1).double().numpy()
        everyone = np.ones(NUM_CLIENTS, dtype=bool)
        designs = {
            "simple": (sampling.Uniform(everyone, COHORT), theory.simple_variance(models, COHORT)),
            "systematic": (sampling.Systematic(labels, COHORT), theory.systematic_variance(models, labels, COHORT)),
        }
        for design_name, (design, closed_form) in designs.items():
            measured, error = measured_variance(design, models, seed)
            rows.append(
                {
                    "partition": name,
                    "seed": seed,
                    "design": design_name,
                    "closed_form": closed_form,
                    "measured": measured,
                    "standard_error": error,
                }
            )
    return rows


def measured_variance(design: sampling.Design, models: np.ndarray, seed: int) -> tuple[float, float]:
    """The mean squared distance of cohort means to the mean of all ``models`` [N, P], and its standard error."""
    rng = fl.randomness.stream(seed, "cohort")
    gram = (models - models.mean(axis=0)) @ (models - models.mean(axis=0)).T
    cohorts = [design.draw(rng) for _ in range(NUM_COHORTS)]
    squared = np.array([gram[np.ix_(cohort, cohort)].mean() for cohort in cohorts])
    return float(squared.mean()), float(squared.std(ddof=1) / np.sqrt(NUM_COHORTS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="mnist")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--out", type=Path, help="write the OPTICS rows to this CSV file, the other tables beside it")
    arguments = parser.parse_args()
    dataset = fl.load_dataset(arguments.dataset)
    found, swept, varied = (
        pd.DataFrame([row for seed in arguments.seeds for row in rows(dataset, seed)])
        for rows in (optics_rows, dbscan_rows, variance_rows)
    )
    columns = ["shared_groups", "clusters", "pure", "noise", "purity", "adjusted_rand", "same_as_full"]
    print(found.groupby(["partition", "probe", "space"], sort=False)[columns].mean().round(3).to_string())
    columns = ["eps", "eps_over_median", "clusters", "noise", "largest"]
    print(swept.groupby(["alpha", "choice"], sort=False)[columns].mean().round(3).to_string())
    columns = ["closed_form", "measured", "standard_error"]
    print(varied.groupby(["partition", "design"], sort=False)[columns].mean().to_string(float_format="%.3g"))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        for table, suffix in ((found, ""), (swept, "_dbscan"), (varied, "_variance")):
            table.to_csv(arguments.out.with_stem(arguments.out.stem + suffix), index=False)


if __name__ == "__main__":
    main()
