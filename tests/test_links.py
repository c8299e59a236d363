"""Links of the README and the docs lead to files that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")


def links(page):
    """Relative targets of a page, without their anchors."""
    found = LINK.findall(page.read_text())
    return [link.partition("#")[0] for link in found if not link.startswith(("http", "#", "mailto:"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert [link for link in links(page) if not (page.parent / link).exists()] == []


def test_links_are_found():
    assert "docs/auto.md" in links(ROOT / "README.md")


def test_the_readme_fits_into_two_hundred_lines():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 200


def test_no_page_names_results_that_are_gone():
    named = re.compile(r"benchmarks/results/[\w./-]*\w")
    for page in PAGES:
        gone = [path for path in named.findall(page.read_text()) if not (ROOT / path).exists()]
        assert not gone or "archive" in page.parts, f"{page}: {gone}"
