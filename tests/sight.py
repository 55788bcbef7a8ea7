"""What eyes make of colours: contrast, and distance for readers who do not see all colours."""

import numpy as np

# Machado, Oliveira, Fernandes (2009), "A Physiologically-based Model for Simulation of Color Vision
# Deficiency", severity 1.0: what others see of linear RGB.
EYES = {
    "usual": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]


def linear(colour: str) -> np.ndarray:
    """Linear RGB from 0 to 1 of "#rrggbb" (IEC 61966-2-1)."""
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    """WCAG 2.2, "contrast ratio"."""
    low, high = sorted(
        float(linear(colour) @ np.array([0.2126, 0.7152, 0.0722])) for colour in (a, b)
    )
    return (high + 0.05) / (low + 0.05)


def _lab(colour: str, eye: str) -> np.ndarray:
    """CIE L*a*b* (white D65) of what an eye makes of a colour."""
    seen = np.clip(np.asarray(EYES[eye]) @ linear(colour), 0, 1)
    ratio = np.asarray(XYZ) @ seen / np.sum(XYZ, axis=1)
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(a: str, b: str, eye: str) -> float:
    """The distance of two colours for an eye (CIE 1976); 2.3 is just noticed."""
    return float(np.linalg.norm(_lab(a, eye) - _lab(b, eye)))
