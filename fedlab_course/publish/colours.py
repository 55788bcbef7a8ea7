"""The colours of figures and outputs on a light and on a dark page: near those they were made in, and legible."""

import colorsys
import re
from collections.abc import Iterator, Mapping
from typing import Any

GROUNDS = {"light": "#ffffff", "dark": "#15181c"}  # as in site.css
MARK, TEXT = 3.0, 4.5  # least contrast with the ground, WCAG 2.2 (1.4.11 and 1.4.3)
_GRID = "#353a41"
_NAMES = {"white": "#ffffff", "black": "#000000"}
_HEX = r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b"
_RGBA = re.compile(r"rgba?\(\s*([\d.]+)\s*,\s*([\d.]+)\s*,\s*([\d.]+)\s*(?:,\s*([\d.]+)\s*)?\)")
RGB = tuple[float, float, float]


def contrast(a: str, b: str) -> float:
    """The contrast ratio of two opaque colours, from 1 to 21 (WCAG 2.2, "contrast ratio")."""
    bright, dim = sorted((_luminance(_parse(a)[0]), _luminance(_parse(b)[0])), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def readable(colour: str, scheme: str, least: float) -> str:
    """``colour`` for a mark or a text on the ground of a ``scheme``, with a contrast of ``least`` or more.

    What was made for a white ground is turned for a dark one: white becomes the ground, greys are mirrored. Beyond that
    only the lightness changes, and no more than it must. Raises ``ValueError`` for a colour that is not known.
    """
    rgb, alpha = _parse(colour)
    hue, light, saturation = colorsys.rgb_to_hls(*rgb)
    if scheme == "dark":
        if contrast(colour, "#ffffff") < 1.12:
            return _format(_parse(GROUNDS["dark"])[0], alpha)
        if saturation < 0.1:
            light = max(0.0, 0.93 - light)
    step = 0.005 if scheme == "dark" else -0.005
    ground = _luminance(_parse(GROUNDS[scheme])[0])
    while _ratio(_luminance(colorsys.hls_to_rgb(hue, light, saturation)), ground) < least and 0 <= light <= 1:
        light += step
    return _format(colorsys.hls_to_rgb(hue, min(max(light, 0.0), 1.0), saturation), alpha)


def mirrored(colour: str) -> str:
    """A colour of an area or of a scale on a dark ground: what was pale becomes dim, what was dark becomes bright."""
    rgb, alpha = _parse(colour)
    hue, light, saturation = colorsys.rgb_to_hls(*rgb)
    return _format(colorsys.hls_to_rgb(hue, 0.15 + 0.7 * (1 - light), saturation), alpha)


def palette(specs: list[Any]) -> dict[str, dict[str, Any]]:
    """What the colours in these Plotly figures become on a page of a scheme, as marks, as text and in colour scales."""
    found = {colour for spec in specs for colour in _colours(spec) if _known(colour)}
    tables: dict[str, dict[str, Any]] = {
        "light": {"scales": {}},
        "dark": {"ground": GROUNDS["dark"], "grid": _GRID, "scales": {}},
    }
    for colour in sorted(found):
        tables["dark"]["scales"][colour] = mirrored(colour)
    for scheme, table in tables.items():
        for role, least in (("marks", MARK), ("text", TEXT)):
            # On a light page the style of the course rules: grounds and pale lines of a grid are as they were made.
            kept = {c for c in found if scheme == "light" and (contrast(c, "#ffffff") < 1.4 or _parse(c)[1] < 1)}
            turned = {colour: readable(colour, scheme, least) for colour in sorted(found - kept)}
            table[role] = {colour: new for colour, new in turned.items() if new != colour.lower()}
    return tables


def inline(html: str) -> str:
    """``html`` with each colour of its style attributes in two forms, one for light pages and one for dark ones."""
    return re.sub(r'style="([^"]*)"', lambda match: f'style="{_both(match[1])}"', html)


def _both(style: str) -> str:
    declarations = [part for part in style.split(";") if part.strip()]
    return ";".join(text for declaration in declarations for text in _two(declaration))


def _two(declaration: str) -> Iterator[str]:
    """The declaration, and after it the same with ``light-dark()``, which older browsers pass over."""
    yield declaration
    background = declaration.strip().startswith("background")

    def turn(match: re.Match[str]) -> str:
        dark = mirrored(match[0]) if background else readable(match[0], "dark", TEXT)
        return f"light-dark({match[0]}, {dark})"

    if "light-dark" not in declaration and re.search(_HEX, declaration):
        yield re.sub(_HEX, turn, declaration)


def _colours(value: Any, key: str = "") -> Iterator[str]:
    """All strings below keys that name colours."""
    if isinstance(value, str):
        if "color" in key.lower():
            yield value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _colours(one, name)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _colours(one, key)


def _known(colour: str) -> bool:
    return colour in _NAMES or bool(re.fullmatch(_HEX, colour) or _RGBA.fullmatch(colour))


def _parse(colour: str) -> tuple[RGB, float]:
    """Red, green and blue from 0 to 1, and the opacity."""
    text = _NAMES.get(colour, colour)
    if match := _RGBA.fullmatch(text):
        red, green, blue = (float(match[i]) / 255 for i in (1, 2, 3))
        return (red, green, blue), float(match[4] or 1)
    if not re.fullmatch(_HEX, text):
        raise ValueError(f"colour {colour!r}: must be #rgb, #rrggbb, rgb(…), rgba(…) or one of {', '.join(_NAMES)}")
    digits = text[1:] if len(text) == 7 else "".join(2 * digit for digit in text[1:])
    red, green, blue = (int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4))
    return (red, green, blue), 1.0


def _format(rgb: RGB, alpha: float) -> str:
    parts = [round(255 * value) for value in rgb]
    if alpha < 1:
        return f"rgba({parts[0]},{parts[1]},{parts[2]},{alpha:g})"
    return "#" + "".join(f"{part:02x}" for part in parts)


def _luminance(rgb: RGB) -> float:
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _ratio(a: float, b: float) -> float:
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)
