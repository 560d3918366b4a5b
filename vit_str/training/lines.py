"""Lines of text as data of training, batches of one width each."""

from contextlib import suppress
from typing import Any

from vit_str.datasets.folder import FolderReader
from vit_str.runtime.charset import PRINTABLE_ASCII
from vit_str.runtime.images import Preprocessing, UnreadableImage, load_image
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.line_texts import LineTexts
from vit_str.synthesis.printed_lines import TextLineRenderer
from vit_str.training.data import (
    VALIDATION_SEED_OFFSET,
    Batches,
    LabeledPixels,
    RenderedWords,
)

_LONGEST_WORD = 25


class RenderedLines(RenderedWords):
    """Rendered lines of print and of signs; held-out fonts and real lines to validate on.

    Args:
        batch_size: lines in a step, on each device.
        charset: the characters to write, the space among them; linked to the model's.
        language: of the words, as for `RenderedWords`.
        image_size: the height, and the largest width; linked to the encoder's.
        grid: columns of features of the widest line; linked to the encoder's.
        maximum_length: linked to the decoder's; lines are as long as their width allows.
        width_step: linked to the encoder's.
        words: all else that `RenderedWords` takes.
    """

    def __init__(
        self,
        batch_size: int = 32,
        charset: str = PRINTABLE_ASCII,
        language: str = "en",
        image_size: tuple[int, int] = (32, 1600),
        grid: tuple[int, int] = (1, 800),
        maximum_length: int = 250,
        width_step: int = 32,
        **words: Any,
    ) -> None:
        super().__init__(
            batch_size=batch_size,
            charset=charset,
            language=language,
            image_size=image_size,
            grid=grid,
            maximum_length=_LONGEST_WORD,
            **words,
        )
        self._preprocessing = Preprocessing(*image_size, width_step=width_step)
        self.texts = LineTexts(self.charset, self.lexicon, language)

    def _renderer(self, atlas: GlyphAtlas) -> TextLineRenderer:
        height, widest = self.image_size
        stride = widest // self.grid[1]
        return TextLineRenderer(atlas, self.texts, height, widest, stride, self.pictures)

    def _rendered(self) -> Batches:
        assert self._atlas is not None
        renderer = self._renderer(self._atlas.held_out())
        seed = self.seed + VALIDATION_SEED_OFFSET
        batches = []
        for index in range(-(-self.rendered_limit // self.batch_size)):
            batch = renderer.batch(self.batch_size, seed, index)
            labels = [self.charset.decode(row) for row in batch.labels.tolist()]
            batches.append(LabeledPixels("rendered", batch.images, labels))
        return Batches(batches)

    def _crops(self, folder: FolderReader) -> Batches:
        files = folder.files()
        step = max(1, len(files.paths) // (self.real_limit or len(files.paths) or 1))
        images, labels = [], []
        for path, label in list(zip(files.paths, files.labels, strict=True))[::step]:
            with suppress(UnreadableImage):  # `vit-str evaluate` reports them
                images.append(self._preprocessing.pixels(load_image(path)))
                labels.append(label)
        return Batches.of(folder.name, images, labels)
