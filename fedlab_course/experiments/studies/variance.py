"""Stratified sampling ([004] section 3.3): the variance E‖w − w̄‖² of the mean of 10 of 100 clients' models, on MNIST.

All clients of the federations of :mod:`~fedlab_course.experiments.studies.clusters` train an epoch from the mean of
their probes, as in the first round of FedSSO. Simple random sampling, and systematic sampling along the clusters that
OPTICS finds: 4,000 cohorts beside the closed forms.

``bias_in_errors``: ‖mean of the cohorts' means − w̄‖ in units of its standard error, √(variance/4,000); about 1 for an
unbiased design.
"""

import math

import numpy as np
import torch

import fedlab_core as fl
from fedlab_core import clustering, sampling
from fedlab_course import theory
from fedlab_course.chapters.ch07_fedmas.probes import create_engine, train
from fedlab_course.experiments.base import Experiment, Row
from fedlab_course.experiments.runs import deal
from fedlab_course.experiments.studies.clusters import MIN_SHARES

COHORT, NUM_COHORTS = 10, 4000


def run(seed: int, *, split: str) -> list[Row]:
    """One row for each design."""
    fed = deal(split, seed, dataset="mnist")
    engine = create_engine(fed, seed)
    probed = train(engine, engine.model.parameters(), "epoch", seed)
    labels = clustering.optics(probed).labels
    shares = torch.from_numpy(fed.weights).to(probed)
    models = train(engine, shares @ probed, "epoch", seed, round=1).double().numpy()
    everyone = np.ones(fed.num_clients, dtype=bool)
    designs: dict[str, tuple[sampling.Design, float]] = {
        "simple": (sampling.Uniform(everyone, COHORT), theory.simple_variance(models, COHORT)),
        "systematic": (sampling.Systematic(labels, COHORT), theory.systematic_variance(models, labels, COHORT)),
    }
    return [
        {"design": name, "closed_form": closed_form} | drawn(design, models, seed)
        for name, (design, closed_form) in designs.items()
    ]


def drawn(design: sampling.Design, models: np.ndarray, seed: int) -> Row:
    """The mean squared distance of cohort means to the mean of all ``models`` [N, P], its standard error, and bias."""
    rng = fl.randomness.stream(seed, "cohort")
    gram = (models - models.mean(axis=0)) @ (models - models.mean(axis=0)).T
    cohorts = [design.draw(rng) for _ in range(NUM_COHORTS)]
    squared = np.array([gram[np.ix_(cohort, cohort)].mean() for cohort in cohorts])
    measured, error = float(squared.mean()), float(squared.std(ddof=1) / np.sqrt(NUM_COHORTS))
    weights = np.bincount(np.concatenate(cohorts), minlength=len(models)) / (COHORT * NUM_COHORTS)
    bias = math.sqrt(max(0.0, weights @ gram @ weights)) / math.sqrt(measured / NUM_COHORTS)
    return {"measured": measured, "standard_error": error, "bias_in_errors": bias}


VARIANCE = Experiment("variance", run, [{"split": split} for split in MIN_SHARES], columns={"split": "partition"})
