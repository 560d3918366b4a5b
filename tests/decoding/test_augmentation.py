"""Doubtful images are read again from other views."""

from dataclasses import replace

import numpy as np
import pytest

from vit_str.decoding.augmentation import Augmentation, augmented_images, merge_readings
from vit_str.decoding.effort import ROUNDS_OF_AUGMENTATIONS
from vit_str.decoding.hypotheses import Candidates, Hypothesis
from vit_str.decoding.prior import LOG_WEIGHT_OF_OTHERS
from vit_str.decoding.search import Search
from vit_str.words.reader import Reader


def hypothesis(text: tuple[int, ...], probability: float) -> Hypothesis:
    return Hypothesis(text, (0.9,) * len(text), probability, probability)


def test_views_are_closer_up_and_sloped():
    down, across = np.mgrid[:32, :128].astype(np.uint8)
    image = np.stack([down * 4, across, across * 0 + 7])[None]
    falling, rising = augmented_images(
        image, [Augmentation(0.05, 0.2), Augmentation(0.05, -0.2)]
    )
    for view in (falling, rising):
        assert view.dtype == np.uint8
        assert (view[2] == 7).all()
        np.testing.assert_array_equal(view[1], np.broadcast_to(view[1][:1], (32, 128)))
        # 5 % of 128 are cut on both sides
        assert (view[1][0, 0], view[1][0, -1]) == (6, 121)
    # A line along the middle: 32 rows x 0.2 x 4 between the ends, less half a column on each.
    assert int(falling[0][16, -1]) - int(falling[0][16, 0]) == pytest.approx(25, abs=1)
    np.testing.assert_array_equal(falling[0], rising[0][:, ::-1])


def test_a_view_from_farther_away_repeats_the_edges():
    across = np.broadcast_to(np.arange(128, dtype=np.uint8), (1, 3, 32, 128))
    (view,) = augmented_images(across, [Augmentation(cut=-0.25, slope=0.0)])
    assert (view[0, 0, :22] == 0).all() and (view[0, 0, -22:] == 127).all()
    assert np.diff(view[0, 0, 24:104].astype(int)).mean() == pytest.approx(
        1.5, abs=0.02
    )


def test_a_blurred_view_has_the_mean_of_nine_pixels():
    image = np.zeros((1, 3, 32, 128), np.uint8)
    image[..., 10, 20] = 90
    image[..., 0, 0] = 90
    (view,) = augmented_images(image, [Augmentation(blurred=True)])
    assert (view[:, 9:12, 19:22] == 10).all() and view[:, 5:15, 10:30].sum() == 3 * 90
    assert (view[:, 0, 0] == 40).all(), "edges are repeated"


def test_the_text_that_views_agree_on_wins_over_one_that_a_single_view_is_sure_of():
    views = [[((1, 2), 0.4)], [((1, 2), 0.4), ((3,), 0.1)], [((3,), 0.5)]]
    first, second = merge_readings(
        [Candidates([hypothesis(*each) for each in view], None) for view in views], 2
    ).hypotheses
    assert (first.ids, second.ids) == ((1, 2), (3,))
    assert first.probability == pytest.approx((0.4 * 0.8 / 3) ** 0.5)
    assert second.confidence == pytest.approx((0.5 * 0.6 / 3) ** 0.5)


def test_views_without_a_text_that_is_allowed():
    free = hypothesis((5,), 0.3)
    assert merge_readings(
        [Candidates([], free), Candidates([], free)], 1
    ) == Candidates([], free)
    found = merge_readings(
        [Candidates([], free), Candidates([hypothesis((1,), 0.0)], free)], 1
    )
    assert [each.ids for each in found.hypotheses] == [(1,)]


def test_only_the_image_itself_may_be_without_text():
    text = hypothesis((1,), 0.2)
    nothing = hypothesis((), 0.6)
    found = merge_readings(
        [
            Candidates([text], None),
            Candidates([nothing], None),
            Candidates([nothing], None),
        ],
        1,
    )
    assert [each.ids for each in found.hypotheses] == [(1,)]
    found = merge_readings(
        [Candidates([nothing], None), Candidates([text], None), Candidates([], None)], 1
    )
    assert [each.ids for each in found.hypotheses] == [()]


def test_a_prior_decides_and_what_no_view_says_keeps_its_probability():
    likely = hypothesis((1,), 0.5)
    frequent = hypothesis((2,), 0.3)
    found = merge_readings(
        [Candidates([likely, frequent], None)], 2, lambda _: np.array([0.0, 2.0])
    )
    first, second = found.hypotheses
    assert (first.ids, first.prior) == ((2,), 2.0)
    others = 0.2 * np.exp(LOG_WEIGHT_OF_OTHERS)
    total = 0.5 + 0.3 * np.exp(2) + others
    assert (
        first.confidence == first.probability == pytest.approx(0.3 * np.exp(2) / total)
    )
    assert second.confidence == pytest.approx(0.5 / total)


@pytest.mark.usefixtures("number_format")
@pytest.mark.parametrize("search", [Search(), Search(n_best=3)])
def test_only_doubtful_images_are_read_again(weights, search):
    pixels = np.random.default_rng(0).integers(0, 256, (6, 3, 32, 128), np.uint8)
    once = Reader(weights, "cpu", search=search)
    plain = once.read_pixels(pixels)
    views = [
        once.read_pixels(augmented_images(pixels, [view]))
        for view in sum(ROUNDS_OF_AUGMENTATIONS, ())
    ]
    limit = sorted(reading.confidence for reading in plain)[3]
    preprocessing = replace(weights.preprocessing, reread_below=limit)
    doubting = replace(weights, preprocessing=preprocessing)
    again = Reader(doubting, "cpu", search=search).read_pixels(pixels, boxes=True)
    changed = 0
    for index, (reading, before) in enumerate(zip(again, plain, strict=True)):
        if before.confidence >= limit:
            assert reading.text == before.text
            assert reading.confidence == pytest.approx(before.confidence)
        else:
            assert reading.text in {before.text, *(view[index].text for view in views)}
            changed += reading.confidence != pytest.approx(before.confidence)
        assert len(reading.characters) == len(reading.text)
        assert all(character.box for character in reading.characters)
    assert changed
    fast = Reader(doubting, "cpu", effort="fast", search=search).read_pixels(pixels)
    assert [each.text for each in fast] == [each.text for each in plain]
