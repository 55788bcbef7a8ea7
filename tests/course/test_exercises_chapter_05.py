"""The exercises of chapter 4 accept the same by other means: a check must not insist on the way."""

import textwrap

import pytest

from fedlab_course.exercises import get, judge

OTHER_WAYS = {
    "05-rest": ["return np.average(means, weights=presence)", "return (means * presence).sum() / np.sum(presence)"],
    "05-systematic": [
        """
row = [k for c in sorted(set(labels.tolist())) for k in range(len(labels)) if labels[k] == c]
return [row[start + i * len(labels) // num_drawn] for i in range(num_drawn)]""",
        """
row = np.lexsort((-np.arange(len(labels)), -labels))
return np.sort(row.reshape(num_drawn, -1)[:, start])""",
    ],
    "05-weights": [
        "return np.array([r / p for r, p in zip(rho, pi)]) / np.sum(rho / pi)",
        "inverse = 1 / pi\nreturn rho * inverse / (rho @ inverse)",
    ],
}
CASES = [(name, way) for name, ways in OTHER_WAYS.items() for way in ways]


@pytest.mark.parametrize(("name", "way"), CASES)
def test_another_way_is_as_good(name: str, way: str) -> None:
    exercise = get(name)
    answer = exercise.build(exercise.stub_source.replace("...\n", textwrap.indent(way.strip(), "    ").strip() + "\n"))
    assert (judge(exercise, answer).status, judge(exercise, answer).hint) == ("solved", "")
