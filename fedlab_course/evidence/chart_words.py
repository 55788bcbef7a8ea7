"""The words of ``results/configs/figures/charts.toml`` in figures: titles, panels and lines. The
file has no catalogue of its own.
"""

from fedlab_core.language import translator

_ = translator(__name__)

WORDS = (
    _("Two labels a client, digits"),
    _("Two labels a client, MNIST"),
    _("FedProx by μ, digits"),
    _("FedProx by μ, CNN on MNIST"),
    _("Tiers, one label a client, digits"),
    _("Tiers, one label a client, MNIST"),
    _("Tiers as published: CNN, one label, MNIST"),
    _("FedMas, stable step"),
    _("Tiers and a stable penalty, one label, MNIST"),
    _("tiers without a penalty"),
    _("FedAvg, 40 updates"),
    _("tiers, 468 updates"),
    _("FedMas, importance replaced, 468 updates"),
    _("FedMas, importance accumulated, 468 updates"),
    _("Logits under the penalty, one label, MNIST"),
    _("importance replaced, explicit step"),
    _("importance replaced, implicit step"),
    _("importance accumulated, implicit step"),
    _("Dirichlet α = 0.3, digits"),
    _("Dirichlet α = 0.3, MNIST"),
    _("Dirichlet α = 0.3, CIFAR-10"),
    _("Training loss, digits"),
    _("two shards a client"),
    _("one shard a client"),
    _("FedAvg, decaying η"),
    _("FedSSO, decaying η"),
    _("FedSSO, decaying η, E = 5"),
    _("Training loss, MNIST"),
    _("Training loss, CIFAR-10"),
    _("Training loss, Sentiment140"),
    _("FedAvg by E, digits"),
    _("FedAvg by E, MNIST"),
    _("FedSSO by E, digits"),
    _("FedSSO by E, MNIST"),
    _("90 % stragglers, synthetic(1, 1)"),
    _("FedAvg, drops stragglers"),
    _("FedProx μ = 0, keeps them"),
    _("FedProx, best μ (1)"),
)
