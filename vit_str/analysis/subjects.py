"""Which model a name means: of this project or another library, trained or not."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import torch
from jaxtyping import Float
from torch import Tensor

from vit_str import configuration
from vit_str.analysis.libraries.encoder import LibraryEncoder
from vit_str.analysis.libraries.load import (
    LIBRARIES,
    is_library_name,
    load_library_model,
)
from vit_str.characters.charset import PRINTABLE_ASCII, Charset, charset_of
from vit_str.console import reason_of
from vit_str.engines.weights_contents import resolve
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import Encoder, Recognizer, build, describe
from vit_str.torch_runtime.weights_file import load_weights

UNTRAINED = "untrained:"
HASH_LENGTH = 12
"""Letters of a hash that are shown: more than enough to tell weights apart."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model to look into, in evaluation mode; of another library, its encoder.

    Its name is what the user called it, a file without folders and suffix.
    """

    name: str
    model: Recognizer | LibraryEncoder
    charset: Charset
    preprocessing: Preprocessing
    trained: bool
    images: int | None = None  # that it was trained on, if its file says so
    file: Path | None = None  # with its weights

    @property
    def encoder(self) -> Encoder:
        """The encoder."""
        if isinstance(self.model, LibraryEncoder):
            return self.model
        return self.model.encoder

    @property
    def weights_hash(self) -> str | None:
        """Start of the SHA-256 of the tensors; None if untrained."""
        if not self.trained:
            return None
        if self.file is not None:
            return weights_hash(self.file)
        digest = hashlib.sha256()
        for name, value in sorted(self.model.state_dict().items()):
            digest.update(name.encode())
            numbers = value.detach().cpu().contiguous().numpy()
            digest.update(numbers.tobytes())
        return digest.hexdigest()[:HASH_LENGTH]

    @property
    def reads(self) -> bool:
        """Whether it has a decoder of this project."""
        return not isinstance(self.model, LibraryEncoder)

    @property
    def classes(self) -> int:
        """How many classes its own head tells apart; 0 without such a head."""
        if not isinstance(self.model, LibraryEncoder):
            return 0
        return int(getattr(self.model.model, "num_classes", 0))

    def class_scores(
        self, images: Float[Tensor, "batch channel height width"]
    ) -> Float[Tensor, "batch class"]:
        """Logits of the classes, by the head of a model of timm.

        Raises:
            ValueError: for a model without such a head.
        """
        if not self.classes:
            raise ValueError(f"{self.name} has no head that names classes")
        model: Any = self.encoder.model
        scores: Tensor = model.forward_head(self.encoder(images))
        return scores

    @property
    def recognizer(self) -> Recognizer:
        """The whole model.

        Raises:
            ValueError: for a model that does not read.
        """
        if not self.reads:
            raise ValueError(
                f"{self.name} is not a model that reads; give one of this project"
            )
        return cast(Recognizer, self.model)


def weights_hash(path: Path) -> str:
    """Start of the SHA-256 of the tensors of a weights file; what else it says may change."""
    with path.open("rb") as file:
        if path.suffix == ".safetensors":  # which begins with the length of its header
            length = int.from_bytes(file.read(8), "little")
            file.seek(length, 1)
        return hashlib.sha256(file.read()).hexdigest()[:HASH_LENGTH]


def load_subject(
    name: str,
    seed: int = 0,
    checkpoint: Path | None = None,
    image_size: tuple[int, int] | None = None,
    classes: bool = False,
) -> Subject:
    """The model of a name.

    Args:
        name: weights of the package (``tiny``) or a ``.safetensors`` file; after ``untrained:``
            also a configuration (``.yaml``), for the same architecture with random weights; or a
            model of another library, see `load_library_model`.
        seed: of the random weights.
        checkpoint: weights for a model of another library.
        image_size: height and width of the images of a model of another library, or of one of this
            project that reads any width.
        classes: whether a model of another library keeps the head that names classes.
    """
    if is_library_name(name):
        encoder, preparation = load_library_model(
            name, seed, checkpoint, image_size, classes
        )
        trained = not name.startswith(UNTRAINED)
        return Subject(name, encoder, Charset(), preparation, trained, file=checkpoint)
    short = _short(name)
    if not name.startswith(UNTRAINED):
        path = _weights_of(name)
        weights = load_weights(path)
        images = weights.provenance.get("images")
        subject = Subject(
            name=short,
            model=weights.recognizer,
            charset=weights.charset,
            preprocessing=weights.preprocessing,
            trained=True,
            images=images if isinstance(images, int) else None,
            file=path,
        )
        return _of_size(subject, image_size)
    rest = name.removeprefix(UNTRAINED)
    if rest.endswith((".yaml", ".yml")):
        description, charset = _configured(Path(rest))
        recognizer = _fresh(description, seed)
        preprocessing = Preprocessing(*recognizer.encoder.image_size)
        subject = Subject(short, recognizer, charset, preprocessing, False)
        return _of_size(subject, image_size)
    weights = load_weights(_weights_of(rest))
    recognizer = _fresh(describe(weights.recognizer), seed)
    subject = Subject(short, recognizer, weights.charset, weights.preprocessing, False)
    return _of_size(subject, image_size)


def load_subjects(
    names: list[str],
    seed: int = 0,
    checkpoint: Path | None = None,
    image_size: tuple[int, int] | None = None,
    classes: bool = False,
) -> list[Subject]:
    """The models of some names; whole paths where files have the same name.

    The weights of ``checkpoint`` are for the only trained one of another library, the size is for
    all of other libraries and for those of this project that read any width.

    Raises:
        ValueError: a name comes twice, or no model takes the checkpoint or the size.
    """
    if len(set(names)) < len(names):
        raise ValueError(f"each model once, found {', '.join(names)}")
    of_libraries = [name for name in names if is_library_name(name)]
    takers = [name for name in of_libraries if not name.startswith(UNTRAINED)]
    if checkpoint is not None and len(takers) != 1:
        raise ValueError(
            f"--checkpoint is for one model of another library, found {len(takers)} "
            "that take it"
        )
    subjects = []
    for name in names:
        own = checkpoint if name in takers else None
        subjects.append(load_subject(name, seed, own, image_size, classes))
    of_any_width = [each for each in subjects if each.encoder.width_step]
    if image_size is not None and not of_libraries and not of_any_width:
        raise ValueError(
            "--image-size is for models of other libraries and for lines, found none"
        )
    if len({subject.name for subject in subjects}) < len(subjects):
        named = zip(subjects, names, strict=True)
        return [replace(subject, name=name) for subject, name in named]
    return subjects


def with_untrained(name: str) -> list[str]:
    """A name of a model that reads, and that of the same model without training.

    Raises:
        ValueError: for a model of another library.
    """
    if is_library_name(name):
        raise ValueError(f"{name} is not a model that reads; give one of this project")
    return [name] if name.startswith(UNTRAINED) else [name, f"{UNTRAINED}{name}"]


def _of_size(subject: Subject, image_size: tuple[int, int] | None) -> Subject:
    """A model of this project that reads any width, for images of one size only.

    Raises:
        ValueError: the size is missing, or not one of those that it reads.
    """
    encoder = subject.encoder
    if not encoder.width_step:
        return subject
    height, widest = encoder.image_size
    if image_size is None:
        raise ValueError(
            f"{subject.name} reads lines of any width: say which with --image-size "
            f"{height} WIDTH, a multiple of {encoder.width_step} up to {widest}; every "
            "image is resized to it"
        )
    encoder.check_size(torch.zeros(1, 3, *image_size))
    description = describe(subject.recognizer)
    description["encoder"]["arguments"]["image_size"] = image_size
    model = build(description).eval()
    # How wide an image is decides about no weight
    model.load_state_dict(subject.recognizer.state_dict())
    preprocessing = replace(subject.preprocessing, width=image_size[1], width_step=0)
    return replace(subject, model=model, preprocessing=preprocessing)


def _weights_of(name: str) -> Path:
    """The weights file of a name; where there is none, how models of libraries are called."""
    elsewhere = f"of other libraries: {', '.join(f'{of}:NAME' for of in LIBRARIES)}"
    try:
        path = resolve(name)
    except ValueError as error:
        raise ValueError(f"{error}; {elsewhere}") from None
    if not path.exists() and path.suffix != ".safetensors":
        raise ValueError(f"{name}: no such file; {elsewhere}")
    return path


def _short(name: str) -> str:
    start = UNTRAINED if name.startswith(UNTRAINED) else ""
    path = Path(name.removeprefix(start))
    short = start + (path.stem if path.suffix else name.removeprefix(start))
    return short.encode(errors="backslashreplace").decode()  # tables hold UTF-8 only


def _fresh(description: dict[str, Any], seed: int) -> Recognizer:
    """Random weights that depend on the seed alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build(description).eval()


def _configured(path: Path) -> tuple[dict[str, Any], Charset]:
    """Model and charset of a configuration for ``vit-str train``."""
    try:
        settings = configuration.load(path)
        model = settings["model"]
        parts = model["recognizer"]["init_args"]
        description = {name: _part(parts[name]) for name in ("encoder", "decoder")}
        named = settings.get("charset")
        characters = model.get("charset", PRINTABLE_ASCII)
        charset = charset_of(named) if named else Charset(characters)
        description["decoder"]["arguments"]["charset_size"] = len(charset)
        return description, charset
    except FileNotFoundError:
        raise ValueError(
            f"{path}: no such file; give a configuration as in configs/"
        ) from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        reason = reason_of(error)
        raise ValueError(f"{path}: not a configuration of a model ({reason})") from None


def _part(values: dict[str, Any]) -> dict[str, Any]:
    """``class_path`` and ``init_args`` as a weights file says them, parts within parts too."""
    arguments = {}
    for name, value in values.get("init_args", {}).items():
        arguments[name] = _part(value) if isinstance(value, dict) else value
    return {
        "class": values["class_path"].rpartition(".")[2],
        "arguments": arguments,
    }
