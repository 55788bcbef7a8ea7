"""The exercises of chapters 4 and 5 accept the same by other means: a check must not insist on the way."""

import textwrap

import pytest

from fedlab_course.check.exercises import get, judge

OTHER_WAYS = {
    "04-rest": ["return np.average(means, weights=presence)", "return (means * presence).sum() / np.sum(presence)"],
    "04-systematic": [
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
    "05-shared": [
        """
held = {}
for labels in label_sets:
    key = tuple(sorted(labels))
    held[key] = held.get(key, 0) + 1
return len([count for count in held.values() if count > 1])""",
        """
seen, twice = set(), set()
for labels in map(frozenset, label_sets):
    (twice if labels in seen else seen).add(labels)
return len(twice)""",
    ],
}
CASES = [(name, way) for name, ways in OTHER_WAYS.items() for way in ways]


@pytest.mark.parametrize(("name", "way"), CASES)
def test_another_way_is_as_good(name: str, way: str) -> None:
    exercise = get(name)
    answer = exercise.build(exercise.stub_source.replace("...\n", textwrap.indent(way.strip(), "    ").strip() + "\n"))
    assert (judge(exercise, answer).status, judge(exercise, answer).hint) == ("solved", "")
