"""Where Plotly puts the ticks of an axis, and what it writes there."""

import math
import re
from dataclasses import dataclass
from typing import Any

from fedlab_core.write.properties import Part, untranslatable

_PREFIXES = {-15: "f", -12: "p", -9: "n", -6: "μ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}
_FORMAT = re.compile(r"([+]?)(,?)(?:\.(\d+))?(~?)([efgdr%]?)")
_SMALL, _LARGE = 0.75, 1.25  # of the size of the others: digits between powers of ten, and powers as powers


@dataclass(frozen=True)
class Tick:
    """``place`` in the units of the axis (log10 on a logarithmic one), ``text`` with HTML, ``size`` relative."""

    place: float
    text: str
    size: float = 1.0


def ticks(part: Part, kind: str, ends: tuple[float, float], length: float, size: float, names: list[str]) -> list[Tick]:
    """The ticks between ``ends`` of an axis of ``length`` pixels whose labels have ``size``.

    ``kind``: "linear", "log" or "category", of which ``names`` are the categories.
    """
    low, high = min(ends), max(ends)
    if part("tickvals") is not None and part("tickmode", "array") == "array":
        return _given(part, kind, low, high, names)
    steps = int(part("nticks", 0)) or _steps(part, kind, length, size)
    rough = (high - low) / max(steps, 1)
    given = part("dtick")
    if kind == "category":
        every = int(given) if given is not None else max(1, math.ceil(rough - 1e-9))
        shown = range(0, len(names), every)
        return [Tick(place, names[place]) for place in shown if low <= place <= high]
    if kind == "log":
        return _powers(part, low, high, rough, given)
    step = float(given) if given is not None else round_step(rough)
    first = float(part("tick0", 0.0)) if given is not None else 0.0
    places = multiples(low, high, step, first)
    return [Tick(place, _number(part, place, step, (low, high))) for place in places]


def _steps(part: Part, kind: str, length: float, size: float) -> float:
    if kind == "category":
        return length / (1.2 * size)
    return min(max(length / (40 if part("upright", False) else 80), 4), 9) + 1


def round_step(rough: float) -> float:
    """The next of 1, 2, 5 · 10^k that is larger."""
    base = 10.0 ** math.floor(math.log10(rough))
    return base * next((one for one in (2, 5) if one > rough / base), 10)


def multiples(low: float, high: float, step: float, first: float = 0.0) -> list[float]:
    slack = 1e-6 * (high - low)
    begin, end = math.ceil((low - slack - first) / step), math.floor((high + slack - first) / step)
    return [round(first + step * number, 12 - math.floor(math.log10(step))) for number in range(begin, end + 1)]


def _given(part: Part, kind: str, low: float, high: float, names: list[str]) -> list[Tick]:
    values = list(part("tickvals"))
    if kind == "category":
        values = [names.index(str(value)) if str(value) in names else value for value in values]
    places = [math.log10(value) for value in values] if kind == "log" else [float(value) for value in values]
    texts = part("ticktext")
    step = (high - low) / max(len(places), 2) / 100
    texts = [_number(part, float(value), step, (low, high)) for value in values] if texts is None else list(texts)
    slack = 1e-6 * (high - low)
    pairs = zip(places, texts, strict=False)
    return [Tick(place, str(text)) for place, text in pairs if low - slack <= place <= high + slack]


def _powers(part: Part, low: float, high: float, rough: float, given: Any) -> list[Tick]:
    """A logarithmic axis: powers of ten; between few of them 2 and 5, or every digit; on less than one, round steps."""
    if isinstance(given, int | float):
        return [_power(part, place) for place in multiples(low, high, float(given))]
    if given is None and rough > 0.7:
        return [_power(part, place) for place in multiples(low, high, math.ceil(rough))]
    if given is None and high - low < 1:
        across = 10**high - 10**low
        step = round_step(across / (1.5 * (high - low) / rough))
        values = [value for value in multiples(10**low, 10**high, step) if value > 0]
        return [Tick(math.log10(value), _number(part, value, step, (10**low, 10**high))) for value in values]
    if given not in (None, "D1", "D2"):
        part.refuse("dtick", given)
    dense = given == "D1" if given is not None else rough <= 0.3
    digits = range(1, 10) if dense else (1, 2, 5)
    found = []
    for power in range(math.floor(low), math.ceil(high) + 1):
        for digit in digits:
            place = power + math.log10(digit)
            if low - 1e-6 <= place <= high + 1e-6:
                found.append(_power(part, place) if digit == 1 else Tick(place, str(digit), _SMALL))
    return found


def _power(part: Part, place: float) -> Tick:
    """Ten to the power of a whole ``place``."""
    power, form = round(place), part.choice("exponentformat", "B", ("B", "SI", "power", "none"))
    if part("tickformat"):
        return Tick(place, formatted(10.0**power, part("tickformat")))
    if form == "power" or (form != "none" and not -15 <= power <= 12):
        return Tick(place, f"10<sup>{_minus(str(power))}</sup>" if power not in (0, 1) else str(10**power), _LARGE)
    return Tick(place, _number(part, 10.0**power, 10.0**power, (0, 10.0**power)))


def _number(part: Part, value: float, step: float, ends: tuple[float, float]) -> str:
    """A number as Plotly writes it beside a tick: with a prefix for thousands, millions and so on from 10,000."""
    text = formatted(value, part("tickformat")) if part("tickformat") else _plain(part, value, step, ends)
    return f"{part('tickprefix', '')}{text}{part('ticksuffix', '')}"


def _plain(part: Part, value: float, step: float, ends: tuple[float, float]) -> str:
    form = part.choice("exponentformat", "B", ("B", "SI", "power", "none"))
    size = math.floor(math.log10(max(abs(ends[0]), abs(ends[1]), 1e-300)) + 0.01)
    decimals = 2 - math.floor(math.log10(step) + 0.01)
    exponent = 0
    if abs(size) > 3 and form != "none":
        exponent = size if form == "power" else 3 * math.floor((size - 1) / 3 + 0.5)
    if form != "power" and exponent not in _PREFIXES:
        form, exponent = "power", size
    if abs(value) < 10.0**-decimals / 2:
        return "0"
    mantissa = round(abs(value) / 10.0**exponent, max(decimals + exponent, 0))
    text = f"{mantissa:,.{max(decimals + exponent, 0)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    text = text if part("separatethousands", False) else text.replace(",", "")
    if exponent:
        prefix = "B" if form == "B" and exponent == 9 else _PREFIXES.get(exponent, "")
        text += f"×10<sup>{_minus(str(exponent))}</sup>" if form == "power" else prefix
    return f"−{text}" if value < 0 else text


def formatted(value: float, form: str) -> str:
    """A number in a format of d3: [+][,][.precision][~][e f g d r %]. Raises ``ValueError`` for the others."""
    found = _FORMAT.fullmatch(form)
    if not found:
        raise untranslatable(f"the number format {form!r}")
    sign, comma, precision, trim, kind = found.groups()
    digits = int(precision or (6 if kind else 12))
    if kind in ("g", "r", ""):  # significant digits
        power = int(f"{value:.{digits - 1}e}".partition("e")[2])
        decimals = max(digits - 1 - power, 0)
        plain = kind == "r" or -7 < power < digits
        value = round(value, digits - 1 - power)
        text = format(value, f"{sign}{comma}.{decimals}f" if plain else f"{sign}.{digits - 1}e")
    elif kind == "d":
        text = format(round(value), f"{sign}{comma}d")
    else:
        text = format(value, f"{sign}{comma}.{digits}{kind}")
    if (trim or not kind) and "." in text:
        text = re.sub(r"\.?0+(?=$|e|%)", "", text)
    return _minus(re.sub(r"e([+-])0(\d)", r"e\1\2", text))


def _minus(text: str) -> str:
    return text.replace("-", "−")
