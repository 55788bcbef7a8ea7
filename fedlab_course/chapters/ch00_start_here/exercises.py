# mypy: allow-untyped-defs
"""Exercises of chapter 0: the bytes of a run, and the verdict on an interval."""

from fedlab_course.check.base import Exercise, Hint, Mistake
from fedlab_course.check.tools import call, close, number, require, shown

VERDICTS = ("holds", "opposite", "equivalent", "undecided")


def bytes_of_a_run(num_parameters, clients_per_round, rounds):
    """The bytes that FedAvg sends in a run, down and up together."""
    ### BEGIN SOLUTION
    down = 4 * num_parameters * clients_per_round * rounds
    up = down
    return down + up
    ### END SOLUTION


def check_bytes(answer):
    def found(num_parameters, clients_per_round, rounds):
        return number(call(answer, num_parameters, clients_per_round, rounds))

    smallest = found(1, 1, 1)
    require(
        not close(smallest, 2),
        "One parameter, one client, one round: you count the numbers that are sent. How many bytes does each take?",
    )
    require(
        not close(smallest, 4),
        "One parameter, one client, one round: you found 4 bytes. The model is sent down, and what then?",
    )
    require(
        close(smallest, 8),
        f"One parameter goes down to one client and comes back, four bytes each: 8 in all. You found "
        f"{shown(smallest)}.",
    )
    require(close(found(7, 1, 1), 56), "Seven parameters take seven times the bytes of one.")
    require(
        close(found(1, 5, 1), 40),
        "Each of the clients of a cohort receives a model of its own and sends one back: five clients, five times the "
        "bytes.",
    )
    require(
        close(found(1, 1, 9), 72),
        "The model is sent anew in every round: nine rounds, nine times the bytes.",
    )
    require(
        close(found(15010, 20, 50), 120_080_000),
        f"The run of this chapter sent 120,080,000 bytes, and you found {shown(found(15010, 20, 50))}.",
    )


def verdict(low, high, margin):
    """The verdict on "A is ahead of B", from the interval [low, high] for A − B and δ."""
    ### BEGIN SOLUTION
    if low > margin:
        return "holds"
    if high < -margin:
        return "opposite"
    if -margin <= low and high <= margin:
        return "equivalent"
    return "undecided"
    ### END SOLUTION


def check_verdict(answer):
    def found(low, high, margin=0.01):
        word = call(answer, low, high, margin)
        if word is None:
            raise Hint(f"For the interval [{low}, {high}] your code returns nothing. Is a `return` missing?")
        require(word in VERDICTS, f"The verdict is one of {', '.join(VERDICTS)}, and yours is {word!r}.")
        return word

    require(found(0.05, 0.07) == "holds", "[0.05, 0.07] lies above δ = 0.01: the sentence holds.")
    require(
        found(-0.07, -0.05) == "opposite",
        "[−0.07, −0.05] lies below −δ: B is ahead by more than the margin. Which word says that?",
    )
    require(
        found(0.002, 0.006) == "equivalent",
        "[0.002, 0.006] leaves zero out, and yet it lies within ±0.01: a difference that is there, and too small to "
        "count. Compare with the margin, not with zero.",
    )
    require(
        found(0.004, 0.03) != "holds",
        "[0.004, 0.03] lies across the border δ = 0.01: the difference may count or not. Look at the end of the "
        "interval that is nearer to zero.",
    )
    require(
        found(-0.02, 0.03) == "undecided",
        "[−0.02, 0.03] reaches beyond the margin on both sides, so anything may be true. That is not equality.",
    )
    require(found(0.004, 0.03) == "undecided", "[0.004, 0.03] lies across the border δ = 0.01.")
    require(found(-0.03, -0.004) == "undecided", "[−0.03, −0.004] lies across −δ: the other side has a border too.")
    require(
        found(0.02, 0.04, 0.05) == "equivalent",
        "With δ = 0.05 the interval [0.02, 0.04] lies within ±δ. Is your margin the one that is given?",
    )


EXERCISES = (
    Exercise(
        id="00-bytes",
        title="Count the bytes",
        task=r"""Write how many bytes a whole run of FedAvg sends, down and up together, if the model has $P$ parameters
of four bytes and each of $R$ rounds asks $K$ clients. Then compare: does a run of 50 rounds with 20 clients each send
more than one of 500 rounds with 2?""",
        missing="the bytes, one number",
        solution=bytes_of_a_run,
        check=check_bytes,
        discussion="""We observe that the number of clients in all does not occur: who is not asked sends nothing. Only
the product $K R$ counts, so 50 rounds with 20 clients and 500 rounds with 2 send the same, 120 MB with the model of
this chapter. They are not the same training, though.""",
        mistakes=(
            Mistake("return down + up", "return down", "and what then"),
            Mistake("4 * num", "num", "How many bytes"),
            Mistake(" * clients_per_round", "", "five clients"),
            Mistake(" * rounds", "", "nine rounds"),
            Mistake("return down + up", "down + up", "`return` missing"),
        ),
    ),
    Exercise(
        id="00-verdict",
        title="From an interval to a word",
        task=r"""Write the table above as a function: from the ends of the interval for A − B and the margin $\delta$ to
one of the words `"holds"`, `"opposite"`, `"equivalent"` and `"undecided"`. An interval that ends exactly at the margin
is still within. Can more seeds turn an "equivalent" into a "holds"?""",
        missing="one of the four words",
        solution=verdict,
        check=check_verdict,
        discussion="""We observe that zero does not occur, only the margin does. More seeds make the interval narrower
around the true mean. If that lies beyond the margin, they lead to "holds" or "opposite" in the end, and if it lies
inside, to "equivalent"; from "undecided" they can lead anywhere. An "equivalent" turns into a "holds" only if its runs
were unlucky, which a 95 % interval is once in twenty times.""",
        mistakes=(
            Mistake("low > margin", "high > margin", "nearer to zero"),
            Mistake("low > margin", "low > 0", "Compare with the margin"),
            Mistake('return "undecided"', 'return "equivalent"', "not equality"),
            Mistake("-margin <= low and high <= margin", "high <= margin", "other side"),
            Mistake('return "opposite"', 'return "undecided"', "Which word says that"),
        ),
    ),
)
