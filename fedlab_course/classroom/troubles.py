"""What pages show of an error: its sentence in the language of the process, if it is one of these.

The errors themselves stay English.
"""

import re

from fedlab_core.language import translator


def _(sentence: str) -> str:
    """Mark a sentence for the catalogue; :func:`shown` translates it."""
    return sentence


_translate = translator(__name__)
# Errors that a class may meet in a lesson, with {name} for a value.
_SENTENCES = (
    _("nobody is ready: wait for drawings, or add virtual clients"),
    _("a run is going on: reset it before you change its settings"),
    _("before round 1: no client answered within {seconds} s"),
    _("round {round}: no client answered within {seconds} s"),
    _("the {kind} of the clients: no client answered within {seconds} s"),
    _("a probe needs all its clients; start the run again when all of them are connected"),
    _("this algorithm needs the {kind} of each of the clients {clients}"),
    _(
        "{algorithm} diverged in round {round}: the loss of client {client} is not finite at "
        "lr={lr}. Try a smaller learning rate; .history has the earlier rounds"
    ),
    _(
        "{algorithm} diverged in round {round}: the loss of the global model is not finite at "
        "lr={lr}. Try a smaller learning rate; .history has the earlier rounds"
    ),
)


def shown(trouble: str) -> str:
    """The sentence of an error as pages show it."""
    for sentence in _SENTENCES:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+?)", re.escape(sentence))
        if match := re.fullmatch(pattern, trouble):
            return _translate(sentence).format(**match.groupdict())
    return trouble
