"""What is wrong with each patient of the clinic, in a sentence."""

from fedlab_core.language import translator

_ = translator(__name__)
WRONG = {
    1: _(
        "The server takes the plain mean of the y_k, and does not weigh them by their samples n_k."
    ),
    2: _(
        "c is updated by the sum of the changes over |S|, the cohort, in place of N, all clients."
    ),
    3: _(
        "The correction is written to gradients that are not there yet, so no local step "
        "ever contains it."
    ),
    4: _(
        "The anchor is updated in place together with the parameters, so y − r is zero "
        "and the term never pulls."
    ),
    5: _(
        "The loop that sums says `=` where it should say `+=`: the last client of "
        "the cohort overwrites the others."
    ),
    6: _("The clients step along g + c_k − c: the correction has the wrong sign."),
    7: _(
        "The weights ρ_k^S sum to 1 over the cohort already, and the sum is multiplied "
        "by N/K once more."
    ),
    8: _(
        "In the renewal of c_k, τ is the largest number of steps in the cohort, and not "
        "that of each client itself."
    ),
    9: _(
        "c_k is overwritten before its change is formed, so every change is zero, and c stays zero."
    ),
    10: _(
        "The generator of the cohorts is seeded with the number of the round, so every "
        "seed asks the same clients."
    ),
    11: _(
        "c starts as a copy of the weights, made together with the model, while the c_k "
        "start at zero."
    ),
    12: _(
        "A client subtracts its own share even if it was not in the last cohort: the "
        "penalty can become negative."
    ),
    13: _(
        "The gradient of the batch is squared, and not the gradient of each sample: the "
        "mean is taken too early."
    ),
    14: _("The loop over batches keeps what it computed for the last one only."),
    15: _(
        "The gradients keep their signs: samples cancel, and a negative Ω rewards a "
        "parameter for moving away."
    ),
    16: _(
        "All is dealt anew until every client happens to have enough samples; for a "
        "small α that never happens."
    ),
    17: _("The upper end of `integers` is left out, so nobody does all E epochs, and E = 1 fails."),
    18: _(
        "Accuracy is averaged over batches, so a sample of the short last batch counts "
        "more than the others."
    ),
}
