"""Values that arrive as text, turned into a declared type, with errors that say what is allowed."""

import json
import types
from collections.abc import Iterable
from typing import Any, Literal, Union, get_args, get_origin

_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


def parse_assignments(texts: Iterable[str]) -> dict[str, str]:
    """``["mu=0.1", "seeds=[0, 1]"]`` as a dictionary of texts. The last of two equal names counts."""
    settings = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip().isidentifier():
            raise ValueError(f"--set {text}: must be NAME=VALUE, such as mu=0.1")
        settings[name.strip()] = value.strip()
    return settings


def from_text(name: str, text: str, kind: Any) -> Any:
    """``text`` as a value of type ``kind``: bool, int, float, str, list[…], a union with None, or a Literal.

    A bool is true/false, yes/no or 1/0; a list is JSON. Raises ``ValueError`` naming ``name``, ``text`` and the type.
    """
    try:
        return _convert(text, kind)
    except ValueError as error:
        raise ValueError(f"{name}={text}: must be {describe(kind)}") from error


def describe(kind: Any) -> str:
    """A type in words, such as "an integer" or "a JSON list, each entry a number"."""
    words = {bool: "true or false", int: "an integer", float: "a number", str: "a text", type(None): "none"}
    if kind in words:
        return words[kind]
    if get_origin(kind) is list:
        return f"a JSON list, each entry {describe(get_args(kind)[0])}"
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(str(option) for option in get_args(kind))
    return " or ".join(describe(option) for option in get_args(kind))


def _convert(text: str, kind: Any) -> Any:
    if kind is bool:
        if text.lower() not in _TRUE + _FALSE:
            raise ValueError(text)
        return text.lower() in _TRUE
    if kind in (int, float, str):
        return kind(text)
    if kind is type(None):
        if text.lower() != "none":
            raise ValueError(text)
        return None
    if get_origin(kind) is list:
        entries = json.loads(text)
        return entries if isinstance(entries, list) and matches(entries, kind) else _refuse(text)
    if get_origin(kind) is Literal:
        options = {str(option): option for option in get_args(kind)}
        return options[text] if text in options else _refuse(text)
    for option in sorted(get_args(kind), key=lambda option: option is str):
        try:
            return _convert(text, option)
        except ValueError:
            continue
    return _refuse(text)


def matches(value: Any, kind: Any) -> bool:
    """True if ``value`` is of type ``kind``; an integer counts as a float, a bool does not count as an integer."""
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if get_origin(kind) is list:
        return isinstance(value, list) and all(matches(entry, get_args(kind)[0]) for entry in value)
    if get_origin(kind) in (Union, types.UnionType):
        return any(matches(value, option) for option in get_args(kind))
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    return isinstance(value, kind)


def _refuse(text: str) -> Any:
    raise ValueError(text)
