"""The methods with tiers that run within fifty updates: their λ and η, names and looks."""

from fedlab_core.language import translator
from fedlab_core.plots.colours import COMPETITORS
from fedlab_core.plots.style import group_look, known_slot, look

_ = translator(__name__)

# λ and η. Those of TFedAvg and of FedMas are the best of "rates_digits" within fifty updates, with
# 30 and 60 % on validation samples of seeds 100 to 102. No other pair of PAIRS is better by a
# point for a penalty. The plain one has the pair of FedMas, with 29.9 %; the best of PAIRS has
# 30.8 %. Shuffled Ω has 14.5 % there, and 30.5 % at its own best pair.
CHOSEN = {
    "TFedAvg": (0.0, 0.07071),
    "plain penalty": (0.1, 0.4),
    "Ω, shuffled": (0.3, 0.07071),
    "FedMas": (0.1, 0.4),
}
# in all figures of the chapter; TFedAvg has the look that it gets beside FedAvg
LOOKS = {
    "TFedAvg": group_look(COMPETITORS["TFedAvg"]),
    "plain penalty": group_look(1),
    "Ω, shuffled": group_look(7),
    "FedMas": look(known_slot("FedMas") or 0),
}
_NAMES = {"plain penalty": _("plain penalty"), "Ω, shuffled": _("Ω, shuffled")}


def full_name(key: str) -> str:
    """The name of a method with its λ and η."""
    strength, lr = CHOSEN[key]
    name = _NAMES.get(key, key)
    if not strength:
        return _("{name}, η = {lr:.2g}").format(name=name, lr=lr)
    return _("{name}, λ = {strength:g}, η = {lr:.2g}").format(name=name, strength=strength, lr=lr)
