"""The outline of the course: what a table of chapters says, and that nothing says otherwise."""

import nbformat

from fedlab_course import folders, outline


def test_the_table_has_a_line_for_each_chapter_in_order() -> None:
    head, rule, *rows = outline.table().splitlines()
    assert head.count("|") == rule.count("|") == 5
    assert [row.split("|")[1].strip() for row in rows] == [
        str(int(one.number)) for one in outline.CHAPTERS
    ]
    for row, one in zip(rows, outline.CHAPTERS, strict=True):
        assert (
            f"[{one.title}]({one.stem}.ipynb)" in row
            and one.question in row
            and f"| {one.track} |" in row
        )
    assert "](notebooks/01_noniid_and_drift.ipynb)" in outline.table("notebooks/")


def test_a_chapter_has_the_title_of_the_outline() -> None:
    for one in outline.CHAPTERS:
        notebook = nbformat.read(folders.NOTEBOOKS / f"{one.stem}.ipynb", as_version=4)
        assert notebook.cells[0].source.startswith(f"# {one.title}\n")
