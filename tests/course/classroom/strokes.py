"""Strokes of a person who draws digits, in a square of side 1."""

import math

Point = tuple[float, float]


def arc(x: float, y: float, wide: float, high: float, start: float, end: float) -> list[Point]:
    """Points of an ellipse around (x, y), from one angle to another in degrees; 0 is right, 90
    down.
    """
    number = 14
    angles = [math.radians(start + (end - start) * i / number) for i in range(number + 1)]
    return [(x + wide * math.cos(angle), y + high * math.sin(angle)) for angle in angles]


DIGITS: dict[int, list[list[Point]]] = {
    0: [arc(0.5, 0.5, 0.2, 0.3, -90, 270)],
    1: [[(0.42, 0.3), (0.52, 0.2), (0.52, 0.8)]],
    2: [[*arc(0.5, 0.35, 0.18, 0.15, -170, 50), (0.32, 0.78), (0.7, 0.78)]],
    3: [[*arc(0.47, 0.35, 0.17, 0.15, -150, 90), *arc(0.47, 0.65, 0.2, 0.16, -90, 150)]],
    4: [[(0.52, 0.2), (0.3, 0.55), (0.7, 0.55)], [(0.58, 0.4), (0.55, 0.82)]],
    5: [
        [(0.66, 0.22), (0.38, 0.22), (0.36, 0.47), *arc(0.48, 0.62, 0.19, 0.17, -110, 140)],
    ],
    6: [[(0.58, 0.2), (0.4, 0.42), (0.34, 0.62), *arc(0.5, 0.66, 0.16, 0.15, 180, -180)]],
    7: [[(0.32, 0.22), (0.68, 0.22), (0.48, 0.8)], [(0.38, 0.5), (0.66, 0.5)]],
    8: [[*arc(0.5, 0.35, 0.15, 0.15, 90, -270), *arc(0.5, 0.65, 0.18, 0.16, -90, 270)]],
    9: [[*arc(0.5, 0.37, 0.16, 0.16, 0, 360), (0.64, 0.55), (0.58, 0.8)]],
}
