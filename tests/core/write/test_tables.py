"""Tables as Markdown and LaTeX: what was printed is what was measured, whatever its name holds."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fedlab_core as fl
from fedlab_core import compare
from fedlab_core.history import History, RoundRecord

AWKWARD = r"Fed_Prox μ=0.1 & 50% #1 {a|b} <b> *c* `d` \e $f$ [g](h) ~i^2"


def run(seed: int, accuracy: list[float]) -> History:
    records = [
        RoundRecord(t, t, value, 1 - value, 1 - value, 500_000 * t, 500_000 * t, 1.0, 0.1, 0.0)
        for t, value in enumerate(accuracy, start=1)
    ]
    return History({"seed": seed, "algorithm": {"name": "X"}}, records)


RACE = {
    "FedAvg": [run(0, [0.1, 0.40]), run(1, [0.2, 0.50])],
    AWKWARD: [run(0, [0.3, 0.60]), run(1, [0.4, 0.80])],
}


def cells(markdown: str) -> list[list[str]]:
    """The texts of a table as a reader of Markdown sees them, the headings first."""
    mistune = pytest.importorskip("mistune", reason="the extra course is not installed")
    (table,) = mistune.create_markdown(renderer="ast", plugins=["table"])(markdown)
    head, body = table["children"]
    return [[shown(cell) for cell in row["children"]] for row in [head, *body["children"]]]


def shown(node: dict) -> str:
    return node.get("raw", "") + "".join(map(shown, node.get("children", [])))


def test_markdown_reads_back_as_the_table_of_the_comparison() -> None:
    table = compare.table(RACE)
    head, *rows = cells(fl.write.markdown(table))
    assert head == ["", "2 rounds", "2 server updates", "2 MB"]
    assert [row[0] for row in rows] == ["FedAvg", AWKWARD]
    assert [row[1:] for row in rows] == table.to_numpy().tolist()
    # t(0.975, 1) = 12.706: 0.45 ± 12.706 · 0.0707 / √2
    assert rows[0][1] == "0.450 ± 0.635"


def test_a_summary_has_its_interval_in_one_column() -> None:
    values = compare.at_equal(RACE)
    head, *rows = cells(fl.write.markdown(compare.summary(values), digits=4))
    assert head == ["", "mean ± half-width", "sd", "runs"]
    assert rows[0] == ["FedAvg", "0.4500 ± 0.6353", "0.0707", "2"]
    one = compare.summary(values.iloc[:1])
    assert cells(fl.write.markdown(one, digits=1))[1] == ["FedAvg", "0.4", "–", "1"]


def test_values_by_seed_keep_the_heading_of_the_seeds() -> None:
    values = compare.at_equal(RACE)
    head, *rows = cells(fl.write.markdown(values))
    assert head == ["seed", "FedAvg", AWKWARD]
    np.testing.assert_allclose([[float(text) for text in row] for row in rows], values.reset_index(), atol=5e-4)


@pytest.mark.parametrize(("best", "bold"), [("highest", [1, 3]), ("lowest", [0]), (None, [])])
def test_the_best_of_a_column_is_bold_and_so_is_what_is_printed_alike(best, bold) -> None:
    frame = pd.DataFrame({"5 rounds": ["0.100 ± 0.020", "0.900", "not one round", "0.900 ± 0.100"]}, index=[*"abcd"])
    lines = fl.write.markdown(frame, best=best).splitlines()[2:]
    assert [number for number, line in enumerate(lines) if "**" in line] == bold
    lines = fl.write.latex(frame, best=best).splitlines()[4:-2]
    assert [number for number, line in enumerate(lines) if r"\mathbf" in line] == bold
    if best == "highest":
        assert lines[3] == r"d & $\mathbf{0.900} \pm 0.100$ \\"


def test_the_best_of_numbers_is_the_largest_and_not_the_last_in_the_alphabet() -> None:
    frame = pd.DataFrame({"gain": [-10.0, -9.0], "steps": [1000, 99]}, index=["a", "b"])
    assert fl.write.markdown(frame, digits=0, best="highest").splitlines()[2:] == [
        "| a | -10 | **1000** |",
        "| b | **-9** | 99 |",
    ]
    assert r"$\mathbf{-9}$" in fl.write.latex(frame, digits=0, best="highest")


def test_a_summary_has_its_best_mean_in_bold_and_nothing_else() -> None:
    text = fl.write.markdown(compare.summary(compare.at_equal(RACE)), best="highest")
    assert text.count("**") == 2 and "**0.700** ± 1.271" in text


def decoded(latex: str) -> str:
    """A line of LaTeX as it is printed, for the commands that occur here."""
    latex = re.sub(r"\$\\mu\$", "μ", latex)
    for command, printed in (("backslash", "\\"), ("asciitilde", "~"), ("asciicircum", "^"), ("bar", "|")):
        latex = latex.replace(rf"\text{command}{{}}", f"\0{printed}")
    latex = latex.replace(r"\textless{}", "<").replace(r"\textgreater{}", ">")
    return re.sub(r"\\([_%&#${}])", r"\1", latex).replace("\0", "")


def test_latex_escapes_what_means_something_to_it() -> None:
    lines = fl.write.latex(compare.table(RACE)).splitlines()
    assert lines[:4] == [
        r"\begin{tabular}{lrrr}",
        r"\toprule",
        r" & 2 rounds & 2 server updates & 2 MB \\",
        r"\midrule",
    ]
    assert lines[4] == r"FedAvg & $0.450 \pm 0.635$ & $0.450 \pm 0.635$ & $0.450 \pm 0.635$ \\"
    name, *rest = re.split(r"(?<!\\) & ", lines[5])
    assert decoded(name) == AWKWARD
    assert len(rest) == 3
    assert lines[6:] == [r"\bottomrule", r"\end{tabular}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("η = 0.1, α ≤ β", r"$\eta$ = 0.1, $\alpha$ $\le$ $\beta$"),
        ("ΑΔλΛ", r"$\mathrm{A} \Delta \lambda \Lambda$"),
        ("‖w‖₂ < 10⁻³", r"$\|$w$\|$$_{2}$ \textless{} 10$^{-3}$"),
        ("Jensen–Shannon für µ", r"Jensen--Shannon für $\mu$"),
        ("costs $η", r"costs \$$\eta$"),
    ],
)
def test_letters_and_signs_become_formulas(text: str, expected: str) -> None:
    frame = pd.DataFrame({"x": [1]}, index=[text])
    assert fl.write.latex(frame).splitlines()[4] == rf"{expected} & $1$ \\"


def test_a_caption_or_a_label_makes_it_a_whole_table() -> None:
    lines = fl.write.latex(compare.table(RACE), caption="5 % of α", label="tab:race_1").splitlines()
    assert lines[:4] == [r"\begin{table}", r"\centering", r"\caption{5 \% of $\alpha$}", r"\label{tab:race_1}"]
    assert lines[-1] == r"\end{table}"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX")
def test_latex_compiles(tmp_path: Path) -> None:
    names = [AWKWARD, *"αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩΑΒ", "±×−·≤≥≠≈∞‖∇∂√∑∈→←↑↓⊙′", "–—…’‘“”", "10⁻¹² x₁₀"]
    frame = pd.DataFrame({"best & worst": [0.5] * len(names)}, index=names)
    table = fl.write.latex(frame, caption=AWKWARD, label="tab:all", best="highest")
    head = r"\documentclass{article}\usepackage{booktabs}\usepackage[T1]{fontenc}\begin{document}"
    (tmp_path / "table.tex").write_text(f"{head}\n{table}\n\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-2000:]


def test_files_go_by_their_suffix(tmp_path: Path) -> None:
    frame = compare.summary(compare.at_equal(RACE))
    for suffix, options in ((".md", {"digits": 2}), (".tex", {"caption": "A race"}), (".csv", {})):
        path = fl.write.table(frame, tmp_path / f"new folder/table{suffix}", **options)
        written = path.read_text(encoding="utf-8")
        if suffix == ".csv":
            pd.testing.assert_frame_equal(pd.read_csv(path, index_col=0), frame, check_names=False)
        else:
            assert written == {".md": fl.write.markdown, ".tex": fl.write.latex}[suffix](frame, **options)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fl.write.markdown([1]), ValueError, "list: must be a pandas DataFrame"),
        (lambda: fl.write.latex(compare.table(RACE), label="a b"), ValueError, "label='a b': must consist of letters"),
        (lambda: fl.write.markdown(compare.table(RACE), best="first"), ValueError, "best='first'"),
        (lambda: fl.write.markdown(compare.at_equal(RACE), best="highest"), ValueError, "must be None for a frame of"),
        (lambda: fl.write.markdown(compare.table(RACE), digits=-1), ValueError, "digits=-1"),
        (lambda: fl.write.latex(pd.DataFrame({"x": ["中"]})), ValueError, "has no form in LaTeX"),
        (lambda: fl.write.table(compare.table(RACE), "table.txt"), ValueError, "'.txt'"),
        (lambda: fl.write.table(compare.table(RACE), "t.csv", digits=2), TypeError, "CSV takes no options, got digits"),
    ],
)
def test_what_cannot_be_written_is_refused(call, error, message, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=re.escape(message)):
        call()
    assert not list(tmp_path.iterdir())
