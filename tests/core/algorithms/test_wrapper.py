"""A wrapper passes on every hook that it does not change."""

from inspect import signature

import pytest

from fedlab_core.algorithms.base import Algorithm
from fedlab_core.algorithms.wrapper import Wrapper

OWN = {"describe", "title", "needs"}  # of the wrapper itself
HOOKS = [name for name in vars(Algorithm) if not name.startswith("_") and name not in OWN]


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_of_the_inner_algorithm_is_called_with_the_same_arguments(hook: str) -> None:
    called: list = []
    wrapper = Wrapper()
    wrapper.inner = Algorithm()
    wrapper.inner.__dict__[hook] = lambda *arguments: called.append(arguments)
    given = [object() for _ in list(signature(getattr(Algorithm, hook)).parameters)[1:]]
    getattr(wrapper, hook)(*given)
    assert called == [tuple(given)]


def test_there_are_hooks() -> None:
    assert len(HOOKS) >= 9
