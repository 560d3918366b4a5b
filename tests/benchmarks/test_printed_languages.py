"""Pages of printed languages are set by Chromium."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("cv2")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from printed_languages import STYLES, printed


def test_both_pages_of_a_text_have_its_ink(tmp_path):
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("needs Chromium")
    text = "A title\n\nSome words in one paragraph.\n\nMore words in another one."
    pages = printed(tmp_path, "en", text)
    assert [page.name for page in pages] == [f"en-{s.dpi}.png" for s in STYLES]
    for page in pages:
        shades = np.asarray(Image.open(page).convert("L"))
        assert 10 < (shades < 100).any(1).sum() < len(shades) / 3  # rows of three lines
