"""Weights from hubs one model at a time, for disks that do not hold those of all."""

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import torch


@contextmanager
def fetched_for_now() -> Iterator[None]:
    """Keep what is fetched inside in a folder that is removed afterwards.

    Caches are left as they are: nothing is taken from them, and nothing is added.
    """
    of_torch = torch.hub.get_dir()
    with TemporaryDirectory(prefix="vit-str-") as folder, _hub_cache(folder):
        torch.hub.set_dir(folder)  # of torchvision
        try:
            yield
        finally:
            torch.hub.set_dir(of_torch)


@contextmanager
def _hub_cache(folder: str) -> Iterator[None]:
    """The same for timm and transformers, if they are there."""
    try:
        from huggingface_hub import constants
    except ImportError:
        yield
        return
    before = constants.HF_HUB_CACHE
    constants.HF_HUB_CACHE = folder
    try:
        yield
    finally:
        constants.HF_HUB_CACHE = before
