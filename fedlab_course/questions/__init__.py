"""Questions of the course: predictions that the page keeps and scores, and quizzes that explain every answer.

A chapter asks ``questions.predict("01-skew")`` before a result and says ``questions.outcome("01-skew")`` after it; at
its end stand ``questions.quiz("01")`` and ``questions.score("01")``. They are HTML with a script of their own: a choice
stays in the reader's browser, in JupyterLab as on a page, and nothing of it reaches a file or a kernel. Run without a
reader they record nothing.

All questions of a chapter stand in one file, ``chapter_NN.toml``::

    [[predict]]
    id = "01-skew"
    asks = "In which of the three splits do clients differ most?"
    options = {iid = "IID", two = "two labels a client", dirichlet = "Dirichlet with $\\alpha = 0.3$"}
    happened = "two"
    because = "Two labels a client have an EMD of 1.60, Dirichlet 1.11 and IID 0.38."

    [[quiz]]
    id = "01-emd"
    asks = "All clients hold one label each, of ten. How large is the EMD of each?"
    options = [
        {text = "1.8", right = true, why = "0.9 for its own label, and 0.1 for each of nine others."},
        {text = "1", why = "That is half the sum: the total variation distance."},
        {text = "10", why = "No two mixes are further apart than 2."},
    ]

Texts are Markdown with TeX. ``tests/course/test_questions.py`` and the lint check what is written here.
"""

from fedlab_course.questions.bank import Option, Prediction, Question, of_chapter
from fedlab_course.questions.shown import outcome, predict, quiz, score

__all__ = ["Option", "Prediction", "Question", "of_chapter", "outcome", "predict", "quiz", "score"]
