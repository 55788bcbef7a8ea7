"""Judge an answer by the cases of its exercise. Nothing but the answer runs until one of them
fails.
"""

from typing import Any

import numpy as np

from fedlab_core.language import translator
from fedlab_course import display
from fedlab_course.check.base import Exercise, Hint
from fedlab_course.check.known_mistakes import explained
from fedlab_course.check.tools import NOTHING, array, call, close, require, shown

_ = translator(__name__)
_PARTS = (
    _("the first result"),
    _("the second result"),
    _("the third result"),
    _("the fourth result"),
)


def check(exercise: Exercise, answer: Any) -> None:
    """Raise a :class:`Hint`, or the error of the student's code, for the first case of ``exercise``
    that fails.

    The hint has the words of the case, both results, and the words of a mistake that returns the
    same in all cases.
    """
    for case in exercise.cases:
        result = _result(exercise, answer, case)
        expected = _read(exercise, case.expected, case.expected)
        if isinstance(result, BaseException):
            hint = _of_mistake(exercise, answer)
            raise Hint(hint) if hint else result
        if not _same(result, expected):
            for digits in (4, 7, 12):
                right = _shown(expected, digits)
                yours = _shown(result, digits)
                if right != yours:
                    break
            words = [case.hint]
            # these are not given away
            if not any(isinstance(part, str | bool | list) for part in _parts(expected)):
                words.append(_("Expected: {right}.").format(right=right))
            words += [
                _("Your result: {yours}.").format(yours=yours),
                _of_mistake(exercise, answer).replace("{found}", yours),
            ]
            raise Hint(display.sentences(*words).strip())


def _of_mistake(exercise: Exercise, answer: Any) -> str:
    """The hint of the first mistake that returns the same as ``answer`` in all cases, or of known
    ones; "" if none.
    """
    results = [_result(exercise, answer, case) for case in exercise.cases]
    for mistake in exercise.mistakes:
        wrong = exercise.build(exercise.with_mistake(mistake))
        if all(
            _same(_result(exercise, wrong, case), result)
            for case, result in zip(exercise.cases, results, strict=True)
        ):
            return mistake.hint
    if exercise.known is None or not all(isinstance(result, np.ndarray) for result in results):
        return ""
    return explained(exercise.known, [case.arguments for case in exercise.cases], results)


def _result(exercise: Exercise, answer: Any, case: Any) -> Any:
    """What ``answer`` returns, in the form of what is expected; instead of it the hint or the error
    that arises.
    """
    try:
        return _read(exercise, call(answer, *case.arguments), case.expected)
    except (Exception, SystemExit) as error:
        return error


def _read(exercise: Exercise, result: Any, expected: Any) -> Any:
    """Return ``result`` as arrays, words and lists of truth values. Raises :class:`Hint` if it has
    another form.
    """
    if expected is None:
        return repr(result)
    require(result is not None, NOTHING)
    if not isinstance(expected, tuple):
        return _read_one(exercise, result, expected, _("the result"))
    size = len(expected)
    is_array = isinstance(result, np.ndarray) and result.ndim > 0
    several = isinstance(result, tuple | list) or is_array
    if not several or len(result) != size:
        asked = _("Return {size} results, separated by commas: {missing}. Yours is of type {type}.")
        if isinstance(result, tuple | list):
            asked = _(
                "Return {size} results, separated by commas: {missing}. Yours is of type {type} of "
                "{length}."
            )
        values = {"size": size, "missing": exercise.missing, "type": type(result).__name__}
        raise Hint(asked.format(**values, length=len(result) if hasattr(result, "__len__") else 0))
    parts = zip(result, expected, _PARTS, strict=False)
    return tuple(_read_one(exercise, *part) for part in parts)


def _read_one(exercise: Exercise, result: Any, expected: Any, position: str) -> Any:
    if isinstance(expected, str):
        words = _words_expected(exercise)
        require(
            isinstance(result, str) and result in words,
            _("Return one of {words}. Yours is {result}.").format(
                words=", ".join(words), result=repr(result)
            ),
        )
        return str(result)
    if isinstance(expected, set):
        plain = list(result) if isinstance(result, set | frozenset) else result
        return np.sort(array(plain, (len(expected),), position))
    if np.asarray(expected).dtype == bool:
        plain = np.asarray(result.tolist() if hasattr(result, "tolist") else result, dtype=object)
        wanted = _("True or False")
        if np.ndim(expected):
            wanted = _("a list of {count} truth values").format(count=len(expected))
        right = plain.shape == np.shape(expected) and all(
            isinstance(value, bool | np.bool_) for value in plain.flat
        )
        said = _("{name} must be {wanted}, and yours is {found}.")
        name = position.capitalize()
        require(right, said.format(name=name, wanted=wanted, found=repr(result)))
        return [bool(value) for value in plain.flat] if np.ndim(expected) else bool(plain)
    return array(result, np.shape(expected), position, finite=bool(np.isfinite(expected).all()))


def _words_expected(exercise: Exercise) -> list[str]:
    """All texts among the expected results of an exercise, each once."""
    words: dict[str, None] = {}
    for case in exercise.cases:
        texts = [part for part in _parts(case.expected) if isinstance(part, str)]
        words.update(dict.fromkeys(texts))
    return list(words)


def _parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def _same(first: Any, second: Any) -> bool:
    """Whether two results of the same form agree; errors do if they are of one type and say the
    same.
    """
    if isinstance(first, BaseException) or isinstance(second, BaseException):
        return type(first).__name__ == type(second).__name__ and str(first) == str(second)
    pairs = zip(_parts(first), _parts(second), strict=True)
    return all(
        close(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs
        for mine, theirs in pairs
    )


def _shown(result: Any, digits: int) -> str:
    words = [
        shown(part, digits) if isinstance(part, np.ndarray) else repr(part)
        for part in _parts(result)
    ]
    return f"({', '.join(words)})" if isinstance(result, tuple) else words[0]
