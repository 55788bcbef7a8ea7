"""All experiments by name."""

from fedlab_course.evidence.experiments import (
    clusters,
    compressed,
    error_floor,
    example_1,
    fedprox_synthetic,
    labels,
    scaffold_figure_3,
    several,
    theorem_rates,
    tuning,
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
