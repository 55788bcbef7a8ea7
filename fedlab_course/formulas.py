"""TeX as MathML, which browsers show without a script."""

import re
from functools import cache

from latex2mathml import converter

_BAR = "<mo>&#x02016;</mo>"  # \lVert or \rVert
# The converter leaves these in its output when it does not know a command or an environment.
_UNCONVERTED = ("\\", "<mi>&</mi>", "<mi>&amp;</mi>", '<mspace linebreak="newline"')


@cache
def to_mathml(tex: str, display: str = "inline") -> str:
    """Convert TeX to MathML, ``display`` "inline" or "block". Raises ``ValueError`` for unknown
    TeX.
    """
    # The converter knows the unnumbered environments by one name.
    aligned = re.sub(r"\{(aligned|align|equation\*?)\}", "{align*}", tex)
    try:
        mathml = converter.convert(aligned.strip(), display=display)
    except Exception as error:  # the converter's errors have no common base class
        raise ValueError(f"formula ${tex}$: {type(error).__name__} {error}") from error
    if any(sign in mathml for sign in _UNCONVERTED):
        raise ValueError(
            f"formula ${tex}$: MathML does not support a command or an environment in it; rewrite "
            "it"
        )
    # a bar that may stretch sits too low in front of an exponent
    return mathml.replace(_BAR, _BAR.replace("<mo", '<mo stretchy="false"'))
