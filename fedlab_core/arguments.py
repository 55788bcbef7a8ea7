"""Values that arrive as text, turned into a declared type, with errors that say what is allowed."""

import json
import types
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Literal, Union, get_args, get_origin

_WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None}


def parse_assignments(texts: Iterable[str]) -> dict[str, str]:
    """``["mu=0.1", "seeds=[0, 1]"]`` as a dictionary of texts. The last of two equal names counts."""
    settings = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip().isidentifier():
            raise ValueError(f"--set {text}: must be NAME=VALUE, such as mu=0.1")
        settings[name.strip()] = value.strip()
    return settings


def typed(name: str, value: Any, kind: Any) -> Any:
    """``value``, or what it means as a text, of type ``kind``: bool, int, float, str, list[…], a union or a Literal.

    As a text a bool is true/false, yes/no or 1/0; a list, also for a tuple, is JSON. Raises ``ValueError`` naming
    ``name``, ``value`` and the type.
    """
    for reading in _readings(value) if isinstance(value, str) else [value]:
        if matches(reading, kind):
            members = get_args(kind) or (kind,)
            return float(reading) if type(reading) is int and float in members and int not in members else reading
    raise ValueError(f"{name}={value}: must be {describe(kind)}")


def describe(kind: Any) -> str:
    """A type in words, such as "an integer" or "a JSON list, each entry a number"."""
    words = {bool: "true or false", int: "an integer", float: "a number", str: "a text", type(None): "none"}
    if kind in words:
        return words[kind]
    if get_origin(kind) in (list, tuple):
        return f"a JSON list, each entry {describe(get_args(kind)[0])}"
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(str(option) for option in get_args(kind))
    return " or ".join(describe(option) for option in get_args(kind))


def _readings(text: str) -> Iterator[Any]:
    """What a text may mean, from the most special to the text itself."""
    if text.lower() in _WORDS:
        yield _WORDS[text.lower()]
    with suppress(ValueError):
        if not isinstance(parsed := json.loads(text), str):
            yield parsed
    with suppress(ValueError):
        yield float(text)
    if text in ("0", "1"):
        yield text == "1"
    yield text


def matches(value: Any, kind: Any) -> bool:
    """True if ``value`` is of type ``kind``; an integer counts as a float, a bool does not count as an integer."""
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if get_origin(kind) in (list, tuple):
        return isinstance(value, list) and all(matches(entry, get_args(kind)[0]) for entry in value)
    if get_origin(kind) in (Union, types.UnionType):
        return any(matches(value, option) for option in get_args(kind))
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    return isinstance(value, kind)
