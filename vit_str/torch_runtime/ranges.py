"""Measuring how far the numbers inside a model reach, for its graphs in 8 bits."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int64, UInt8
from torch import Tensor, nn

from vit_str.characters.charset import Charset
from vit_str.engines.ranges import PIXELS, input_of, output_of
from vit_str.images.preprocessing import Preprocessing
from vit_str.models import CtcDecoder, Recognizer, TransformerDecoder
from vit_str.models.attention import forward_hooks
from vit_str.synthesis.printed_lines import TextLineRenderer
from vit_str.synthesis.renderer import Renderer

WORDS = 256
"""Rendered words, or lines, that ranges are measured on."""

_BATCH = 16
# Numbers of batches between two of them: those of lines in a row have one width
_APART = 4
_SEED = 77
# Quantiles of the extremes of the images where a range begins and ends; what is beyond is cut off
_LEAST = 0.01
_LARGEST = 0.99
_DIGITS = 6  # significant ones of an end of a range

Images = UInt8[Tensor, "batch 3 height width"]
Labels = Int64[Tensor, "batch position"]


def rendered_words(
    charset: Charset, preprocessing: Preprocessing, fonts: list[Path] | None = None
) -> Iterator[tuple[Images, Labels]]:
    """Batches of `WORDS` words, always the same ones for the same characters and fonts.

    For a reader of lines they are lines.
    """
    from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
    from vit_str.synthesis.lexicon import Lexicon
    from vit_str.synthesis.line_texts import LineTexts

    atlas = load_or_draw_glyphs(charset, fonts)
    lexicon = Lexicon(charset)
    size = preprocessing.height, preprocessing.width
    if preprocessing.width_step:
        yield from batches_of(
            TextLineRenderer(atlas, LineTexts(charset, lexicon), *size)
        )
    else:
        yield from batches_of(Renderer(atlas, lexicon, size))


def batches_of(
    renderer: Renderer | TextLineRenderer,
) -> Iterator[tuple[Images, Labels]]:
    """Batches of `WORDS` words or lines that a renderer draws, with the ids of their texts."""
    for number in range(WORDS // _BATCH):
        batch = renderer.batch(_BATCH, _SEED, number * _APART)
        yield batch.images, batch.labels


@torch.no_grad()
def measure_ranges(
    recognizer: Recognizer,
    preprocessing: Preprocessing,
    batches: Iterable[tuple[Images, Labels]],
) -> dict[str, tuple[float, float]]:
    """Ranges at every layer that images and their texts go through, once per image.

    A range holds the least number in an image and the largest one, but for one image in a hundred
    at either end: what few images reach would make the steps coarser for all. That of the pixels
    holds all that pixels can be.

    Args:
        recognizer: the model.
        preprocessing: what images go through before they come to it.
        batches: of images, and ids of their texts.

    Returns:
        See `Ranges`.
    """
    modules: dict[str, nn.Module] = {
        name: module
        for name, module in recognizer.named_modules()
        if isinstance(module, nn.Linear | nn.Conv1d | nn.Conv2d)
    }
    extremes: dict[str, list[Float[Tensor, "end image"]]] = {}

    def note(
        name: str,
        inputs: tuple[Any, ...],
        named: dict[str, Any],
        output: Any,
    ) -> None:
        extremes.setdefault(input_of(name), []).append(_extremes(inputs[0]))
        if not isinstance(modules[name], nn.Linear):
            extremes.setdefault(output_of(name), []).append(_extremes(output))

    device = next(recognizer.parameters()).device
    was_training = recognizer.training
    recognizer.eval()  # dropout would make numbers larger
    with forward_hooks(modules, note):
        for images, labels in batches:
            features = recognizer.encode(preprocessing.normalize(images.to(device)))
            _run_decoder(recognizer.decoder, features, labels.to(device))
    recognizer.train(was_training)
    ranges = {
        point: _range(torch.cat(found, 1).cpu().numpy())
        for point, found in extremes.items()
    }
    return {PIXELS: _pixel_range(preprocessing), **ranges}


def _run_decoder(
    decoder: nn.Module,
    features: Float[Tensor, "batch token dim"],
    labels: Labels,
) -> None:
    """All that a graph in 8 bits computes of a decoder."""
    if isinstance(decoder, TransformerDecoder):
        decoder.logits(features, labels[:, : decoder.maximum_length])
        if decoder.draft:
            decoder.draft(features)
    elif isinstance(decoder, CtcDecoder):
        decoder.logits(features)


def _extremes(values: Float[Tensor, "batch ..."]) -> Float[Tensor, "end image"]:
    flat = values.float().flatten(1)
    return torch.stack([flat.amin(1), flat.amax(1)])


def _range(extremes: Float[np.ndarray, "end image"]) -> tuple[float, float]:
    low = np.quantile(extremes[0], _LEAST)
    high = np.quantile(extremes[1], _LARGEST)
    return _rounded(low), _rounded(high)


def _pixel_range(preprocessing: Preprocessing) -> tuple[float, float]:
    """Black and white after normalization, in the channel where they are farthest."""
    black_and_white = np.array([0, 255], np.uint8).reshape(2, 1, 1, 1).repeat(3, axis=1)
    values = preprocessing.normalize_array(black_and_white)
    return _rounded(values.min()), _rounded(values.max())


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
