"""Pages of the documentation in another language: a page whose source has changed is found."""

import hashlib
import re
from pathlib import Path

import pytest

from fedlab_course.translation.agreement import differences, wrong_terms
from fedlab_course.translation.catalogues import glossary

DOCS = Path(__file__).parents[3] / "docs"
TRANSLATED = sorted(path for path in DOCS.rglob("*.zh.md") if path != glossary("zh"))
FIRST = re.compile(r"<!-- translates (\S+) ([0-9a-f]{12}) -->\n")


def test_there_are_translated_pages() -> None:
    assert {"six-lessons.zh.md", "install.zh.md"} <= {path.name for path in TRANSLATED}


@pytest.mark.parametrize("path", TRANSLATED, ids=lambda path: path.name)
def test_a_translated_page_is_as_new_as_its_source(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    first = FIRST.match(text)
    assert first is not None, "the first line names the source and the digest of its text"
    source = path.with_name(first[1])
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    assert first[2] == digest, f"{source.name} has changed: translate what is new, and put {digest}"


@pytest.mark.parametrize("path", TRANSLATED, ids=lambda path: path.name)
def test_a_translated_page_keeps_numbers_and_terms(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    source = path.with_name(path.name.replace(".zh.md", ".md")).read_text(encoding="utf-8")
    found = [fault for fault in differences(source, text) if fault.startswith("numbers")]
    assert found + wrong_terms(text, glossary("zh")) == []
