"""Who is read again, how far, and that what was found first stays as it is."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vit_str.decoding.augmentation import Augmentation
from vit_str.decoding.effort import RereadingOptions, rereading_options
from vit_str.decoding.hypotheses import Candidates, Hypothesis
from vit_str.decoding.rereading import Rereader
from vit_str.engines.interface import Interface, Model
from vit_str.images.preprocessing import Preprocessing

ROOT = Path(__file__).parents[2]
ROUNDS = (
    (Augmentation(cut=0.05), Augmentation(slope=0.2)),
    (Augmentation(blurred=True),),
)


def candidates(id_: int, probability: float) -> Candidates:
    return Candidates([Hypothesis((id_,), (probability,), probability, probability)])


def values(found: Sequence[Candidates]) -> list[tuple[int, float]]:
    return [(each.best.ids[0], each.best.probability) for each in found]


@dataclass
class Decoder:
    """Reads of an image the text of its number, with the probabilities that it is given."""

    sure: dict[int, float]
    n_best: int = 1
    decoded: list[list[int]] = field(default_factory=list)
    wide: list[tuple[int, float]] = field(default_factory=list)

    @property
    def scorer(self) -> "Decoder":
        return self

    def select(self, encoded: Sequence[int], rows: Sequence[int]) -> list[int]:
        return [encoded[row] for row in rows]

    def decode(self, encoded: Sequence[int], count: int) -> list[Candidates]:
        assert len(encoded) == count
        self.decoded.append(list(encoded))
        return [candidates(image, self.sure[image]) for image in encoded]

    def decode_widely(
        self, encoded: Sequence[int], count: int, beam_width: int, margin: float
    ) -> list[Candidates]:
        self.wide.append((beam_width, margin))
        return self.decode(encoded, count)


def encode(pixels: np.ndarray) -> list[int]:
    """The number of an image is its color."""
    return [int(image[0, 0, 0]) for image in pixels]


def no_prior(texts: Sequence[Hypothesis]) -> np.ndarray:
    return np.zeros(len(texts))


@pytest.mark.parametrize(
    ("prior", "decoded"), [(no_prior, [[0, 1, 2], [0, 0]]), (None, [[0, 0]])]
)
def test_what_another_doubts_is_searched_widely_and_viewed_where_this_doubts(
    prior, decoded
):
    """Without a prior a wider search tells nothing."""
    decoder: Any = Decoder({0: 0.3, 1: 0.93, 2: 0.95})
    usual = RereadingOptions(rounds=ROUNDS[:1])
    rereader = Rereader(RereadingOptions(doubtful=0.0), encode, decoder, prior)
    pixels = np.stack([np.full((3, 8, 16), number, np.uint8) for number in range(3)])
    found = [candidates(number, p) for number, p in enumerate((0.3, 0.93, 0.95))]
    rereader.for_doubts_of(usual).reread(pixels, encode(pixels), found, range(3))
    assert decoder.decoded == decoded
    assert rereader.options.doubtful == 0.0, "for itself it reads as before"


def reread(
    decoder: Decoder, options: RereadingOptions, prior: Any = None
) -> list[Candidates]:
    """What becomes of four images, of which none but the third is sure."""
    pixels = np.stack([np.full((3, 8, 16), number, np.uint8) for number in range(4)])
    found = [candidates(number, p) for number, p in enumerate((0.3, 0.6, 0.95, 0.6))]
    before = values(found)
    any_decoder: Any = decoder
    rereader = Rereader(options, encode, any_decoder, prior)
    renewed = rereader.reread(pixels, encode(pixels), found, [0, 1, 2])
    assert values(found) == before, "what was found first stays as it is"
    assert renewed[2:] == found[2:], (
        "what is sure, or does not count, is not read again"
    )
    return renewed


def test_each_round_is_for_what_is_doubtful_yet():
    decoder = Decoder({0: 0.3, 1: 0.6})
    renewed = reread(
        decoder, RereadingOptions(rounds=ROUNDS, doubtful_after_augmentation=0.5)
    )
    assert decoder.decoded == [[0, 1, 0, 1], [0]]
    assert values(renewed)[:2] == [(0, pytest.approx(0.3)), (1, pytest.approx(0.6))]
    assert not decoder.wide


def test_the_prior_comes_first_and_with_more_beams():
    decoder = Decoder({0: 0.3, 1: 0.99})
    options = RereadingOptions(
        rounds=ROUNDS, beams=6, margin=4.0, doubtful_after_prior=0.5
    )
    reread(decoder, options, prior=lambda texts: np.zeros(len(texts)))
    assert decoder.decoded == [[0, 1], [0, 0], [0]]
    assert decoder.wide == [(6, 4.0)] * 3


def test_what_the_prior_contradicts_is_looked_at_again():
    class Other(Decoder):
        def decode(self, encoded: Sequence[int], count: int) -> list[Candidates]:
            super().decode(encoded, count)
            return [candidates(7, 0.99) for _ in encoded]

    decoder = Other({0: 0.99, 1: 0.99})
    renewed = reread(
        decoder, RereadingOptions(), prior=lambda texts: np.zeros(len(texts))
    )
    assert decoder.decoded == [[0, 1], [0, 1, 0, 1]]
    assert [id_ for id_, _ in values(renewed)] == [7, 7, 2, 3]


def test_so_many_images_are_read_again_at_once():
    decoder = Decoder({0: 0.9, 1: 0.9})
    reread(decoder, RereadingOptions(rounds=ROUNDS, together=1))
    assert decoder.decoded == [[0, 0], [1, 1]]


@pytest.mark.parametrize(
    "options",
    [
        RereadingOptions(doubtful=0.0),
        RereadingOptions(rounds=()),
        RereadingOptions(doubtful=0.2),
    ],
)
def test_no_doubts_or_no_views_change_nothing(options):
    decoder = Decoder({})
    assert values(reread(decoder, options))[:2] == [(0, 0.3), (1, 0.6)]
    assert not decoder.decoded


def test_effort_and_weights_say_what_is_doubtful():
    interface = Interface("TransformerDecoder", "step", 6, (4, 8), 0, (32, 128))
    charset: Any = "abc"
    model = Model(charset, Preprocessing(reread_below=0.85), 1.0, {}, interface)
    below = {
        effort: rereading_options(model, effort).doubtful
        for effort in (None, "careful")
    }
    assert below == {None: 0.85, "careful": 0.85}
    assert rereading_options(model, "fast").doubtful == 0.0
    never = replace(model, preprocessing=Preprocessing())
    assert rereading_options(never, None).doubtful == 0.0
    with pytest.raises(ValueError, match="reads in one way only"):
        rereading_options(never, "fast")


def test_the_docs_name_the_numbers():
    docs = (ROOT / "docs" / "reading.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([\d.]+) \|$", docs, re.MULTILINE)
    options = RereadingOptions()
    numbers = (
        "doubtful",
        "doubtful_after_prior",
        "doubtful_after_augmentation",
        "beams",
        "margin",
    )
    assert rows == [(name, str(getattr(options, name))) for name in numbers]
