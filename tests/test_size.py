"""The project stays small: all lines of code count, whatever folder they are in."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
CODE = {".py", ".js", ".css", ".j2", ".jinja2", ".sh"}
NOT_OURS = {"build", "dist", "hosted", "node_modules"}  # made by commands
PLAYGROUND = "fedlab_course/playground/scripts"  # a program of its own, in the browser
ON_TOP = {"fedlab_core/conformance": 1_200, "fedlab_core/flower": 500, PLAYGROUND: 1_800}  # no other module needs them
ON_TOP |= {"results/conformance": 560, "tests/flower": 400}  # adapters to other people's code; an environment apart
LIMITS = ON_TOP | {"fedlab_course/experiments": 2_200, "fedlab_core": 9_500, "fedlab_course": 13_000, "tests": 20_000}
LIMITS["not tests"] = 26_000


def lines() -> dict[str, int]:
    """Path → lines, of all files of code in the project."""
    found = {}
    for path in ROOT.rglob("*"):
        parts = path.relative_to(ROOT).parts
        hidden = any(part.startswith(".") or part.endswith(".egg-info") for part in parts)
        if path.suffix in CODE and not hidden and parts[0] not in NOT_OURS:
            found["/".join(parts)] = len(path.read_text(encoding="utf-8").splitlines())
    return found


def test_no_part_has_more_lines_than_its_limit() -> None:
    counted = dict.fromkeys(LIMITS, 0)
    for name, number in lines().items():
        for part in LIMITS:
            if name.startswith(f"{part}/"):
                counted[part] += number
                break
        counted["not tests"] += 0 if name.startswith(("tests/", *ON_TOP)) else number
    assert all(counted.values())
    too_long = {part: f"{counted[part]} of {limit}" for part, limit in LIMITS.items() if counted[part] > limit}
    assert not too_long, too_long


def test_no_file_is_too_long_to_hold_in_the_head() -> None:
    tests = {name: number for name, number in lines().items() if name.startswith("tests/")}
    assert max(tests.values()) <= 520
    assert {name: number for name, number in lines().items() if name not in tests and number > 400} == {}
