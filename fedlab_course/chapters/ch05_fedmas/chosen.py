"""The methods with tiers that run within fifty updates: their λ and η, names and looks."""

from fedlab_core.language import translator
from fedlab_core.plots.colours import COMPETITORS
from fedlab_core.plots.style import group_look, known_slot, look

_ = translator(__name__)

# λ and η: the best on validation samples within fifty updates, without a penalty of "rates_digits",
# with one of "tiers_pairs"
CHOSEN = {
    "TFedAvg": (0.0, 0.07071),
    "plain penalty": (0.1, 1.131),
    "Ω, shuffled": (0.3, 0.07071),
    "FedMas": (0.1, 0.4),
    "random groups": (0.0, 0.2),
    "random groups, Ω": (1.0, 0.8),
}
# in all figures of the chapter; TFedAvg has the look that it gets beside FedAvg
LOOKS = {
    "TFedAvg": group_look(COMPETITORS["TFedAvg"]),
    "plain penalty": group_look(1),
    "Ω, shuffled": group_look(6),
    "FedMas": look(known_slot("FedMas") or 0),
    "random groups": group_look(COMPETITORS["random groups"]),
    "random groups, Ω": group_look(7),
}
_NAMES = {
    "TFedAvg": _("tiers (TFedAvg)"),
    "random groups": _("random groups"),
    "plain penalty": _("tiers, plain penalty"),
    "Ω, shuffled": _("tiers, Ω shuffled"),
    "random groups, Ω": _("random groups, Ω"),
    "FedMas": _("tiers, Ω (FedMas)"),
}


def full_name(key: str) -> str:
    """The name of a method with its λ and η."""
    strength, lr = CHOSEN[key]
    name = _NAMES[key]
    if not strength:
        return _("{name}, η = {lr:.2g}").format(name=name, lr=lr)
    return _("{name}, λ = {strength:g}, η = {lr:.2g}").format(name=name, strength=strength, lr=lr)
