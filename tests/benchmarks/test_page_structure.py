"""Results that a run of before has kept, and what is printed and how."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import vit_str

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import page_structure


def test_results_of_older_code_or_weights_are_outdated(tmp_path):
    path = tmp_path / "page.txt"
    assert not page_structure.is_outdated(path)
    path.write_text("as it was read")
    assert not page_structure.is_outdated(path)
    changed = Path(vit_str.__file__).stat().st_mtime
    os.utime(path, (changed - 1, changed - 1))
    assert page_structure.is_outdated(path)


def test_a_whole_document_is_printed_once_and_others_in_every_style(tmp_path):
    (tmp_path / "a-en.html").write_text('<html lang="en"><body></body></html>')
    (tmp_path / "b-en.html").write_text('<!DOCTYPE html>\n<html lang="en"></html>')
    pages = list(page_structure.printed_pages(tmp_path / "out", tmp_path))
    names = [(page.pdf.name, page.state) for page in pages]
    assert names == [
        ("a-en-1.pdf", "digital"),
        ("a-en-2.pdf", "digital"),
        ("a-en-3.pdf", "scan"),
        ("b-en.pdf", "scan"),
    ]
    assert [page.style for page in pages] == [*page_structure.STYLES, None]


@pytest.mark.parametrize(
    "name",
    [
        "documents-new",
        "documents-strangers",
        "documents-elsewhere",
        "documents-abroad",
        "documents-afar",
        "documents-beyond",
    ],
)
def test_half_of_the_pages_with_own_looks_are_as_printed(name):
    folder = Path(page_structure.__file__).with_name(name)
    states = [each.state for each in page_structure.printed_pages(Path(), folder)]
    counts = {state: states.count(state) for state in states}
    assert counts == {"digital": 20, "scan": 10, "photographed": 10}


def test_libreoffice_refuses_a_page_with_css_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(page_structure, "program", lambda *_: "soffice")
    page = page_structure.Printed("", None, tmp_path / "a-en.pdf", "scan", seed=0)
    with pytest.raises(SystemExit, match="a-en has CSS of its own"):
        page_structure.print_by_libreoffice([page])


def test_a_photographed_page_is_the_same_each_time(tmp_path):
    pdf = tmp_path / "page.pdf"
    Image.new("L", (400, 560), 255).save(pdf, resolution=72)
    first, again, other = (
        page_structure.scanned(pdf, "photographed", seed) for seed in (3, 3, 4)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert min(first.size) > 400 * page_structure.DPI / 72
