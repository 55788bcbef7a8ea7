"""All experiments by name."""

from fedlab_course.evidence.experiments import (
    absence,
    c12_constants,
    c12_local_work,
    clusters,
    compressed,
    digit_probes,
    divergence,
    error_floor,
    example_1,
    fedprox_synthetic,
    first_answers,
    labels,
    last_cohort,
    partial_work,
    patients,
    prices,
    scaffold_figure_3,
    several,
    strata,
    theorem_rates,
    tier_memory,
    tuning,
    two_tasks,
    variance,
)
from fedlab_course.evidence.experiments.base import Experiment

EXPERIMENTS = {
    one.name: one
    for one in (
        scaffold_figure_3.SCAFFOLD_FIGURE_3,
        example_1.EXAMPLE_1,
        theorem_rates.THEOREM_RATES,
        error_floor.ERROR_FLOOR_EXACT,
        error_floor.ERROR_FLOOR,
        clusters.CLUSTERS,
        clusters.CLUSTERS_DBSCAN,
        variance.VARIANCE,
        fedprox_synthetic.FEDPROX_SYNTHETIC,
        tuning.TUNING,
        tuning.TUNED,
        absence.ABSENCE,
        strata.STRATA,
        digit_probes.DIGIT_PROBES,
        first_answers.FIRST_ANSWERS,
        c12_constants.C12_CONSTANTS,
        c12_local_work.C12_LOCAL_WORK,
        partial_work.STRAGGLERS,
        partial_work.SPEEDS,
        last_cohort.LAST_COHORT,
        divergence.DIVERGENCE,
        prices.PRICES,
        patients.CURVES,
        two_tasks.TWO_TASKS,
        tier_memory.TIER_MEMORY,
        several.SEVERAL,
        compressed.COMPRESSED,
        labels.LABELS,
    )
}


def of_table(table: str) -> Experiment:
    """The experiment whose table it is: its name, or that with an ending such as "_growth". ``ValueError`` if none."""
    found = [name for name in EXPERIMENTS if table.startswith(name)]
    if not found:
        raise ValueError(f"table={table!r}: is neither a grid nor made by an experiment")
    return EXPERIMENTS[max(found, key=len)]
