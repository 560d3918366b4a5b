"""Models of other libraries by name, such as ``timm:vit_base_patch16_224``, or given in Python.

A model, an architecture or a file that is not supported is a ValueError of one line.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.parallel import DataParallel, DistributedDataParallel

from vit_str.analysis.libraries.encoder import LibraryEncoder, LibraryPreprocessing
from vit_str.console import reason_of

LIBRARIES = {
    "timm": "timm_models",
    "hf": "hugging_face",
    "torchvision": "torchvision_models",
}
_PATIENCE = 3.0  # seconds until a hub counts as out of reach
_PACKAGES = {"timm": "timm", "transformers": "hf", "torchvision": "torchvision"}


def library_versions() -> dict[str, str]:
    """Versions of those of the libraries that are installed."""
    versions = {}
    for library in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[library] = version(library)
    return versions


def is_library_name(name: str) -> bool:
    """Whether a name, maybe after ``untrained:``, is of another library."""
    return name.removeprefix("untrained:").partition(":")[0] in LIBRARIES


def load_library_model(
    name: str,
    seed: int = 0,
    checkpoint: Path | None = None,
    image_size: tuple[int, int] | None = None,
    classes: bool = False,
) -> tuple[LibraryEncoder, LibraryPreprocessing]:
    """The model of a name, with the preprocessing that it was made for.

    Its weights are those that the library finds itself: in its cache, or on its hub.

    Args:
        name: ``timm:``, ``hf:`` or ``torchvision:`` and what the library calls the model; after
            ``untrained:`` with random weights, for which nothing is fetched (``hf:`` needs the
            configuration of a model, or the name of a type such as ``vit``).
        seed: of random weights.
        checkpoint: file with the weights instead, ``.safetensors`` or of torch.
        image_size: height and width of images, which are then resized to it without cropping.
        classes: whether to keep the head that names classes, of timm.

    Raises:
        ValueError: for an unknown name, a model that cannot be measured, a missing package, or
            weights that are not to be had; each with what to do.
    """
    trained = not name.startswith("untrained:")
    library, _, called = name.removeprefix("untrained:").partition(":")
    if classes and library != "timm":
        raise ValueError(f"{name}: heads that name classes are those of timm:NAME")
    with_head = {"classes": True} if classes else {}
    try:
        module = import_module(f"vit_str.analysis.libraries.{LIBRARIES[library]}")
        with _quickly(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            encoder, preprocessing = module.create(
                called, trained, checkpoint, image_size, **with_head
            )
    except ImportError as error:
        raise ValueError(
            f"{name} needs a package: pip install {error.name or library}"
        ) from None
    except ValueError as error:
        raise ValueError(f"{name}: {reason_of(error)}") from None
    # Whatever a library raises where there is no network or no file
    except Exception as error:
        file = "a folder with its config.json and weights as hf:FOLDER"
        file = file if library == "hf" else "its weights with --checkpoint FILE"
        raise ValueError(
            f"{name}: not loaded ({reason_of(error)}); without a network give {file}, "
            f"or look at untrained:{library}:..."
        ) from None
    if image_size is not None:
        size = {"height": image_size[0], "width": image_size[1], "transform": None}
        preprocessing = replace(preprocessing, **size)
    return encoder.eval(), preprocessing


@contextmanager
def _quickly() -> Iterator[None]:
    """Fetch from the hub inside, or fail at once where it cannot be reached, without noise."""
    try:
        from huggingface_hub import constants, get_session
        from huggingface_hub.utils import logging as hub_logging
    except ImportError:  # the library takes its weights from elsewhere
        yield
        return
    level = hub_logging.get_verbosity()
    offline = constants.HF_HUB_OFFLINE
    hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        get_session().head(constants.ENDPOINT, timeout=_PATIENCE)
    except Exception:  # whatever the client of the day raises without a network
        constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        hub_logging.set_verbosity(level)
        constants.HF_HUB_OFFLINE = offline


def library_of(model: nn.Module) -> str | None:
    """Which of ``LIBRARIES`` the class of a model is from; None if it is from none."""
    return _PACKAGES.get(type(model).__module__.partition(".")[0])


def unwrapped(model: nn.Module) -> nn.Module:
    """The module inside of ``torch.compile``, DataParallel and DistributedDataParallel."""
    inner: Any = model
    if isinstance(model, DataParallel | DistributedDataParallel):
        inner = model.module
    inner = getattr(inner, "_orig_mod", inner)
    return inner if inner is model else unwrapped(inner)


def encoder_of(
    model: nn.Module, image_size: tuple[int, int] | None = None
) -> LibraryEncoder:
    """An instantiated model of timm, torchvision or transformers; image size is height, width.

    Raises:
        ValueError: for a model that cannot be measured, with the reason.
    """
    model = unwrapped(model)
    library = library_of(model)
    if library is None:
        raise ValueError(
            f"{type(model).__name__} is not of timm, torchvision or transformers"
        )
    module = import_module(f"vit_str.analysis.libraries.{LIBRARIES[library]}")
    return module.encoder(model, image_size)
