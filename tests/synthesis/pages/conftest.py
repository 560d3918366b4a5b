"""A browser for all tests of drawn pages."""

import shutil
from collections.abc import Iterator

import pytest

from vit_str.synthesis.pages.browser import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium; tests are left out where there is none."""
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("needs Chromium")
    with Browser() as opened:
        yield opened
