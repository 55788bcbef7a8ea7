"""The switch of languages: each page leads to the same page in the others."""

from pathlib import Path

import pytest

from fedlab_core import language
from fedlab_course.publish import switch

PAGE = '<html><span class="languages"></span></html>'


def pages(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_text(PAGE, encoding="utf-8")


def test_each_page_leads_to_itself_in_the_other_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    pages(site, "index.html", "01.html", "api.html")
    pages(site / "zh", "index.html", "01.html")
    switch.connect(site)
    monkeypatch.setenv(language.VARIABLE, "zh")
    switch.connect(site / "zh")  # again, from the other side: the same links
    there = (site / "01.html").read_text("utf-8")
    assert '<a href="zh/01.html" lang="zh-CN" hreflang="zh-CN">中文</a>' in there
    back = (site / "zh/01.html").read_text("utf-8")
    assert '<a href="../01.html" lang="en" hreflang="en">English</a>' in back
    assert (site / "api.html").read_text("utf-8") == PAGE


def test_a_page_alone_has_no_switch(tmp_path: Path) -> None:
    pages(tmp_path / "site", "index.html")
    switch.connect(tmp_path / "site")
    assert (tmp_path / "site/index.html").read_text("utf-8") == PAGE
