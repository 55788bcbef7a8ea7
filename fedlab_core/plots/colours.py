"""The colours of figures, pages and scripts, once: each meaning has its own.

A method's colour is nobody else's. Groups, sides and verdicts also differ by marker, dash or sign,
and every colour has a contrast of at least 3:1 on white and on dark pages.
"""

INK = "#000000"  # axes, text and what stands for all clients: the mean, the optimum
PAPER = "#FFFFFF"
GREY = "#595959"  # references: the optimum, bounds, noise
GRID = "#E5E5E5"

# Okabe and Ito, "Color Universal Design" (2008), with a brown and a violet in place of yellow,
# orange and sky blue, whose contrast on white is below 3:1. All differ for colour-blind readers
# too. FedAvg is drawn in ink: the others are compared with it.
METHODS = {
    "fedavg": INK,
    "fedprox": "#0072B2",
    "scaffold": "#D55E00",
    "fednova": "#009E73",
    "fedmas": "#CC79A7",
    "fedcurv": "#7C623C",
    "fedsso": "#7B4FE0",
}
# Methods without a hue of their own: that of a relative, with other dashes and markers.
RELATIVES = {
    "fedavgmas": "fedmas",
    "tfedavgmas": "fedmas",
}

# Muted tones for clients, labels, clusters and series that are no method.
GROUPS = (
    "#7494B7",
    "#A09145",
    "#BC5D5E",
    "#4A7634",
    "#7F5B9F",
    "#589BA0",
    "#8D5D6B",
    "#9387D1",
    "#8D937E",
    "#6D668A",
)
# A competitor without a hue of its own → its number among the groups, in every figure. Mine is the
# algorithm of a reader.
COMPETITORS = {
    "FedDyn": 1,
    "one client an update": 2,
    "TFedAvg": 3,
    "Mine": 5,
    "random groups": 4,
    "tiers side by side": 0,
}
MANY = "#8C8C8C"  # a client without a main label

# Shares and counts, from few to many.
SEQUENCE = ("#DCE9F5", "#4A90C2", "#08306B")
CONTOURS = ("#7A7A7A", "#949494")
PATIENTS = ("#EBC4CE", "#F5F5F5", "#CFE0C4")  # fails, not examined, passes

# The sides A and B of the playground; B is dashed.
SIDES = ("#46708A", "#A8730A")

# The edge of a verdict's box; no colour of text has 4.5:1 on both grounds, so words take the
# page's.
VERDICTS = {"good": "#4E8A2E", "mixed": "#BB2F5A", "open": "#7A7A7A", "other": "#46708A"}
WARNING = "#A8730A"
ACCENT = "#46708A"  # sliders, and questions without an answer

# Name → the colour on a light page and on a dark one.
PAGE = {
    "ink": ("#1C1F23", "#E3E6EA"),
    "soft": ("#565D66", "#A3ABB5"),
    "line": ("#D9DDE2", "#353A41"),
    "ground": ("#FFFFFF", "#15181C"),
    "shade": ("#F6F7F9", "#1E2227"),
    "link": ("#0B5CAD", "#7DB8F2"),
    "good": ("#3A6B20", "#93C97A"),
    "mixed": ("#A12C4E", "#F08FA9"),
    "bad": ("#B3261E", "#FF8A80"),
    "alarm": ("#FDF3F2", "#3A1F1D"),
}


def rgba(colour: str, opacity: float) -> str:
    """A colour "#rrggbb" with an opacity, in CSS."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def variables() -> str:
    """The CSS variables of what notebooks and pages share, such as ``--fedlab-good``."""
    named = {**VERDICTS, "warning": WARNING, "accent": ACCENT, "grey": GREY, "ink": PAGE["ink"][0]}
    named |= {"side-a": SIDES[0], "side-b": SIDES[1]}
    lines = [f"  --fedlab-{name}: {colour};" for name, colour in named.items()]
    return "\n".join([":root {", *lines, "}", ""])


def page_variables() -> str:
    """:func:`variables`, and those of a whole page, which is light or dark, such as ``--ink``."""
    lines = [f"  --{name}: light-dark({light}, {dark});" for name, (light, dark) in PAGE.items()]
    return variables() + "\n".join([":root {", "  color-scheme: light dark;", *lines, "}", ""])
