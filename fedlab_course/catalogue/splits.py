"""The splits that explorers and the playground offer, each a law of ``fl.partition``."""

from dataclasses import dataclass

from fedlab_core.language import translator
from fedlab_course.catalogue.parameters import PARAMETERS, Value

_ = translator(__name__)

LABEL = _("split")
TIP = _(
    "Which samples a client holds: any (IID), more of some labels, few labels, or unequal numbers"
)


@dataclass(frozen=True)
class SplitChoice:
    """A law of ``fl.partition`` as readers see it.

    ``words``: its name in a list. ``parameter``: the one of the table of parameters that shapes it,
    or ""; ``keyword``: that of the law. ``form``: how it is written, with the parameter's value in
    place of {}. ``address``: its name in the addresses of the playground, which people have stored.
    """

    words: str
    address: str
    parameter: str = ""
    keyword: str = ""
    form: str = "{}"

    def arguments(self, values: dict[str, Value]) -> dict[str, Value]:
        """The keyword of the law with its value among those of all parameters."""
        return {self.keyword: values[self.parameter]} if self.parameter else {}

    def written(self, arguments: dict[str, Value]) -> str:
        """The split in symbols and words, such as "α=0.3", from the arguments of its law."""
        if not self.parameter:
            return self.form
        return self.form.format(PARAMETERS[self.parameter].written(arguments[self.keyword]))


SPLITS: dict[str, SplitChoice] = {
    "dirichlet": SplitChoice(_("Dirichlet mixes"), "dirichlet", "alpha", "alpha"),
    "labels_per_client": SplitChoice(
        _("a few labels each"), "labels", "labels", "labels_per_client"
    ),
    "quantity": SplitChoice(_("unequal sizes"), "quantity", "alpha", "alpha", form=_("sizes {}")),
    "iid": SplitChoice(_("IID: equal mixes"), "iid", form=_("IID")),
}
