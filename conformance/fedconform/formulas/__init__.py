"""The right formulas, one class an algorithm, with one method a step."""
