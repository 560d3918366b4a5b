"""Models of other libraries by name, such as ``timm:vit_base_patch16_224``, or given in Python.

A model, an architecture or a file that is not supported is a ValueError of one line.
"""

import logging
from importlib import import_module
from pathlib import Path

import torch
from torch import nn

from vit_str.analysis.libraries.checkpoint import brief
from vit_str.analysis.libraries.encoder import LibraryEncoder, LibraryPreprocessing

LIBRARIES = {
    "timm": "timm_models",
    "hf": "hugging_face",
    "torchvision": "torchvision_models",
}
_PACKAGES = {"timm": "timm", "transformers": "hf", "torchvision": "torchvision"}


def is_library_name(name: str) -> bool:
    """Whether a name, maybe after ``untrained:``, is of another library."""
    return name.removeprefix("untrained:").partition(":")[0] in LIBRARIES


def load_library_model(
    name: str, seed: int = 0, checkpoint: Path | None = None
) -> tuple[LibraryEncoder, LibraryPreprocessing]:
    """The model of a name, with the preprocessing that it was made for.

    Its weights are those that the library finds itself: in its cache, or on its hub.

    Args:
        name: ``timm:``, ``hf:`` or ``torchvision:`` and what the library calls the model; after
            ``untrained:`` with random weights, for which nothing is fetched (``hf:`` needs the
            configuration of a model, or the name of a type such as ``vit``).
        seed: of random weights.
        checkpoint: file with the weights instead, ``.safetensors`` or of torch.

    Raises:
        ValueError: no such model or library, one that is not supported, or no weights.
    """
    trained = not name.startswith("untrained:")
    library, _, called = name.removeprefix("untrained:").partition(":")
    if checkpoint is not None and not trained:
        raise ValueError(f"{name} has no training: leave out untrained: or --checkpoint")
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # retries, line by line
    try:
        module = import_module(f"vit_str.analysis.libraries.{LIBRARIES[library]}")
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            encoder, preprocessing = module.create(called, trained, checkpoint)
    except ImportError as error:
        raise ValueError(f"{name} needs a package: pip install {error.name or library}") from None
    except ValueError as error:
        raise ValueError(f"{name}: {brief(error)}") from None
    except Exception as error:  # whatever a library raises where there is no network or no file
        raise ValueError(
            f"{name}: not loaded ({brief(error)}); without a network give its weights with "
            f"--checkpoint FILE, or look at untrained:{library}:..."
        ) from None
    return encoder.eval(), preprocessing


def library_of(model: nn.Module) -> str | None:
    """Which of ``LIBRARIES`` the class of a model is from; None if it is from none."""
    return _PACKAGES.get(type(model).__module__.partition(".")[0])


def encoder_of(model: nn.Module, image_size: tuple[int, int] | None = None) -> LibraryEncoder:
    """An instantiated model of timm, torchvision or transformers; image size is height, width.

    Raises:
        ValueError: a model of something else, or one that is not supported.
    """
    library = library_of(model)
    if library is None:
        raise ValueError(f"{type(model).__name__} is not of timm, torchvision or transformers")
    module = import_module(f"vit_str.analysis.libraries.{LIBRARIES[library]}")
    return module.encoder(model, image_size)
