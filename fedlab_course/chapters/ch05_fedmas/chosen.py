"""The methods that are compared within fifty updates: their λ and η, names and looks."""

from fedlab_core.language import translator
from fedlab_core.plots.colours import COMPETITORS
from fedlab_core.plots.style import group_look, known_slot, look

_ = translator(__name__)

ADDED_UP = "FedMas, Ω added up"  # a new Ω is added to the old ones, and does not replace them
# λ and η: the best on validation samples within fifty updates, for groups without a penalty of
# "rates_digits", with one of "tiers_pairs"; side by side of their own tables "…_rates"
CHOSEN = {
    "FedAvg, one step": (0.0, 0.5657),
    "tiers side by side": (0.0, 1.6),
    "tiers side by side, twice": (0.0, 0.8),
    "TFedAvg": (0.0, 0.07071),
    "plain penalty": (0.1, 1.131),
    "FedMas": (0.1, 0.4),
    ADDED_UP: (1.0, 0.2828),
    "Ω added up, even in each tensor": (0.3, 0.8),
    "Ω added up, shuffled": (1.0, 0.4),
}
# in all figures of the chapter; TFedAvg has the look that it gets beside FedAvg
LOOKS = {
    "FedAvg, one step": look(known_slot("FedAvg") or 0),
    "tiers side by side": group_look(COMPETITORS["tiers side by side"]),
    "tiers side by side, twice": group_look(COMPETITORS["tiers side by side"]),
    "TFedAvg": group_look(COMPETITORS["TFedAvg"]),
    "plain penalty": group_look(1),
    "FedMas": look(known_slot("FedMas") or 0),
    ADDED_UP: group_look(7),
    "Ω added up, even in each tensor": group_look(5),
    "Ω added up, shuffled": group_look(6),
}
_NAMES = {
    "FedAvg, one step": _("FedAvg, one step a round"),
    "tiers side by side": _("tiers side by side, 3–5 rounds"),
    "tiers side by side, twice": _("tiers side by side, 6–10 rounds"),
    "TFedAvg": _("tiers (TFedAvg)"),
    "plain penalty": _("tiers, plain penalty"),
    "FedMas": _("tiers, Ω replaced"),
    ADDED_UP: _("tiers, Ω added up"),
    "Ω added up, even in each tensor": _("tiers, Ω added up, even"),
    "Ω added up, shuffled": _("tiers, Ω added up, shuffled"),
}


def full_name(key: str) -> str:
    """The name of a method with its λ and η."""
    strength, lr = CHOSEN[key]
    name = _NAMES[key]
    if not strength:
        return _("{name}, η = {lr:.2g}").format(name=name, lr=lr)
    return _("{name}, λ = {strength:g}, η = {lr:.2g}").format(name=name, strength=strength, lr=lr)
