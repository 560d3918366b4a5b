"""The library of image transforms, loaded when it is first needed."""

import os
from functools import cache
from importlib import import_module
from typing import Any


@cache
def library() -> Any:
    """The module albumentations.

    It does not look for a newer release of itself over the network, and the library below it works
    in the thread that calls it: a loader has a process for every core already.

    Raises:
        ValueError: it is not installed.
    """
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"  # read once, when it is imported
    try:
        found = import_module("albumentations")
        import_module("cv2").setNumThreads(1)
    except ImportError as error:
        raise ValueError(
            f"needs albumentations ({error}): pip install 'vit-str[train]', or use none"
        ) from None
    return found
