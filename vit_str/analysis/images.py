"""Which images to look at: those of a folder, or words rendered with all that is known of them."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, UInt8
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from vit_str import console
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.load import is_library_name
from vit_str.analysis.subjects import Subject
from vit_str.characters.charset import Charset
from vit_str.console import one_line
from vit_str.datasets.folder import FolderReader
from vit_str.files import find_files
from vit_str.images.loading import SUFFIXES, ImageSource, load_image
from vit_str.images.preprocessing import Preprocessing
from vit_str.images.refusals import UnreadableImage
from vit_str.torch_runtime.devices import choose_device

RENDERED = "rendered"
_RENDERED_BATCH = 64  # part of what a seed means


@dataclass(frozen=True, slots=True)
class Batch:
    """A few images of the size that a model reads.

    Labels, and boxes (left, top, right, bottom of every character in pixels, zeros after the label)
    are None where they are not known.
    """

    pixels: UInt8[Tensor, "batch 3 height width"]
    labels: list[str] | None
    boxes: Float[Tensor, "batch position side"] | None
    names: list[str]

    def __len__(self) -> int:
        return len(self.pixels)


class LabeledImage(NamedTuple):
    """One image, see `Batch`."""

    pixels: UInt8[Tensor, "3 height width"]
    label: str | None
    boxes: Float[Tensor, "position side"] | None
    name: str


@dataclass(slots=True)
class ImageSet:
    """Images that can be iterated over again and again."""

    description: str  # for captions
    count: int  # at most
    # All; notes those that are unreadable
    images: Callable[[list[str]], Iterator[LabeledImage]]
    skipped: list[str] = field(default_factory=list)  # such notes, of the last pass

    def batches(self, size: int = 32) -> Iterator[Batch]:
        """All images, ``size`` at a time."""
        self.skipped = []
        images = self.images(self.skipped)
        while chosen := list(islice(images, size)):
            yield _batch(chosen)


def check_data(names: Iterable[str], data: str) -> None:
    """Refuse, before any model is loaded, images that are not there or not for these models."""
    if data == RENDERED and any(map(is_library_name, names)):
        raise ValueError(
            "models of other libraries need images of your own: give --data FOLDER, such as "
            "data/samples of a checkout, or what vit-str render writes"
        )
    if data != RENDERED and not Path(data).is_dir():
        raise ValueError(
            f"{data}: no such folder; give one with images, or {RENDERED!r}"
        )


def load_images(
    subject: Subject,
    data: str,
    count: int,
    seed: int = 1,
    fonts: list[Path] | None = None,
) -> ImageSet:
    """Images for a model, of its size and in its characters.

    They are ``rendered``, in fonts that training never sees, with the box of every character; or
    those of a folder with or without ``labels.tsv``, evenly spread where there are more.

    Args:
        subject: the model.
        data: ``rendered``, or a folder.
        count: most images.
        seed: of rendered words.
        fonts: folders instead of the system's.

    Raises:
        ValueError: for a folder without images, and words for a model that does not read.
    """
    if count < 1:
        raise ValueError(f"--count must be 1 or more, found {count}")
    preprocessing = subject.preprocessing
    charset = subject.charset
    if data == RENDERED:
        if not subject.reads:
            raise ValueError(
                f"{subject.name} needs images of your own: give --data FOLDER"
            )
        from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
        from vit_str.synthesis.lexicon import Lexicon
        from vit_str.synthesis.renderer import Renderer

        atlas = load_or_draw_glyphs(charset, fonts).held_out()
        size = preprocessing.height, preprocessing.width
        renderer = Renderer(atlas, Lexicon(charset), size)
        description = f"{count:,} rendered words in held-out fonts (seed {seed})"
        rendered = partial(_rendered, renderer, charset, count, seed)
        return ImageSet(description, count, rendered)
    chosen = _chosen(Path(data), count)
    description = f"{len(chosen):,} images of {one_line(Path(data).resolve().name)}"
    of_folder = partial(read_images, chosen, preprocessing)
    return ImageSet(description, len(chosen), of_folder)


def images_hash(folder: Path, count: int) -> str:
    """SHA-256 of the files that `load_images` chooses in a folder, in their order."""
    digest = hashlib.sha256()
    for source, _, _ in _chosen(folder, count):
        content = Path(str(source)).read_bytes()
        digest.update(hashlib.sha256(content).digest())
    return digest.hexdigest()


def batches_of(
    subject: Subject,
    images: ImageSet,
    batch_size: int = 32,
    device: torch.device | str = "cpu",
) -> Iterator[tuple[Batch, Float[Tensor, "batch channel height width"]]]:
    """Every batch and its images normalized for a model, which is moved to the device.

    Raises:
        ValueError: if no image can be read.
    """
    device = choose_device(str(device))
    subject.model.to(device)
    seen = 0
    with console.Progress(images.count, alone=True, name=subject.name) as progress:
        for batch in images.batches(batch_size):
            yield batch, subject.preprocessing.normalize(batch.pixels.to(device))
            seen += len(batch)
            progress.advance(len(batch))
    if not seen:
        raise ValueError(f"none of {images.description} could be read")


def queries_of(
    batch: Batch,
    grid: TokenGrid,
    chosen: str,
) -> Bool[Tensor, "batch token"] | None:
    """Which tokens of the grid lie on text, or on the background around it.

    Args:
        batch: with boxes of its characters.
        grid: of the tokens.
        chosen: ``text``: tokens whose middle lies in a box; ``background``: the others; ``all``.

    Raises:
        ValueError: for images without boxes.
    """
    if chosen == "all":
        return None
    if batch.boxes is None:
        raise ValueError(
            "--queries text and background need images with boxes: rendered words"
        )
    boxes = batch.boxes.double()[:, :, None]
    x, y = grid.centers.T
    across = (boxes[..., 0] <= x) & (x < boxes[..., 2])
    down = (boxes[..., 1] <= y) & (y < boxes[..., 3])
    on_text = (across & down).any(1)
    return on_text if chosen == "text" else ~on_text


def _chosen(folder: Path, count: int) -> list[tuple[ImageSource, str | None, str]]:
    """Images of a folder, evenly spread where there are more than ``count``."""
    if not folder.is_dir():
        raise ValueError(
            f"{folder}: no such folder; give one with images, or {RENDERED!r}"
        )
    files = _files(folder)
    if not files:
        raise ValueError(f"{folder}: no images in it; give a folder with images")
    count = min(count, len(files))
    return [files[index * len(files) // count] for index in range(count)]


def _files(folder: Path) -> list[tuple[ImageSource, str | None, str]]:
    """Files of images, labels and names."""
    if (folder / "labels.tsv").is_file():
        images = FolderReader(folder).files()
        labeled = zip(images.paths, images.labels, strict=True)
        return [(path, label, path.name) for path, label in labeled]
    return [(path, None, path.name) for path in sorted(find_files(folder, SUFFIXES))]


def read_images(
    sources: Iterable[tuple[ImageSource, str | None, str]],
    preprocessing: Preprocessing,
    skipped: list[str],
) -> Iterator[LabeledImage]:
    """Images with label and name, read and resized; of unreadable ones a note is added."""
    for source, label, name in sources:
        try:
            pixels = preprocessing.pixels(load_image(source))
        except UnreadableImage as error:
            skipped.append(str(error))
        else:
            yield LabeledImage(pixels, label, None, name)


def _rendered(
    renderer: Any, charset: Charset, count: int, seed: int, _skipped: list[str]
) -> Iterator[LabeledImage]:
    for number in range(count):
        index, row = divmod(number, _RENDERED_BATCH)
        if not row:
            rendered = renderer.batch(_RENDERED_BATCH, seed, index)
        label = charset.decode(rendered.labels[row].tolist())
        yield LabeledImage(
            pixels=rendered.images[row],
            label=label,
            boxes=rendered.boxes[row, : len(label)],
            name=f"rendered {number:06d}",
        )


def _batch(images: list[LabeledImage]) -> Batch:
    labels = [image.label for image in images if image.label is not None]
    boxes = [image.boxes for image in images if image.boxes is not None]
    return Batch(
        pixels=torch.stack([image.pixels for image in images]),
        labels=labels or None,
        boxes=pad_sequence(boxes, batch_first=True) if boxes else None,
        names=[image.name for image in images],
    )
