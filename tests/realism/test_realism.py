import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor
from torch.nn.functional import conv2d, pad

from vit_str.realism.comparison import measure
from vit_str.realism.measure import classify, gap, quantiles, within
from vit_str.realism.page import compare
from vit_str.realism.statistics import (
    LABEL_STATISTICS,
    STATISTICS,
    find_ink,
    label_statistics,
    lines,
    otsu,
    picture_statistics,
    stroke_width,
    text_width,
)
from vit_str.realism.tables import text_of
from vit_str.realism.words import draw, load
from vit_str.synthesis.fields import luminance
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import Renderer


def pictures_of(gray: Tensor) -> Tensor:
    """Gray levels (picture height width) as color pictures."""
    return gray.round().clamp(0, 255).to(torch.uint8)[:, None].expand(-1, 3, -1, -1).contiguous()


def blurred(gray: Tensor, sigma: float) -> Tensor:
    """Gaussian blur, the border going on as it is."""
    reach = math.ceil(4 * sigma)
    kernel = torch.exp(-torch.arange(-reach, reach + 1.0).square() / (2 * sigma**2))
    kernel = kernel / kernel.sum()
    wide = pad(gray[:, None], (reach, reach, reach, reach), mode="replicate")
    return conv2d(conv2d(wide, kernel.view(1, 1, 1, -1)), kernel.view(1, 1, -1, 1))[:, 0]


def step(height: int = 32, width: int = 128, low: float = 40, high: float = 220) -> Tensor:
    """Dark left half, light right half."""
    gray = torch.full((1, height, width), float(low))
    gray[..., width // 2 :] = high
    return gray


def noise_of(power: float, seed: int = 0) -> Tensor:
    """Noise with the spectrum 1/f^power, larger than the picture that is cut out of it."""
    white = torch.randn(8, 128, 256, generator=torch.Generator().manual_seed(seed))
    f = torch.fft.fftfreq(128)[:, None].hypot(torch.fft.rfftfreq(256))
    shaped = torch.fft.fft2(white)[..., :129] / f.clamp(min=1 / 256) ** (power / 2)
    gray = torch.fft.irfft2(shaped, s=(128, 256))[:, 40:72, 60:188]
    return 128 + 25 * (gray - gray.mean()) / gray.std()


def normal(n: int, seed: int, mean: float = 0.0, std: float = 1.0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return mean + std * torch.randn(n, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("transposed", [False, True])
def test_an_edge_that_is_blurred_more_is_less_sharp(transposed: bool) -> None:
    """In pictures that are not square, along both axes."""
    edges = [step(48, 96), *(blurred(step(48, 96), sigma) for sigma in (1.0, 2.0, 3.0))]
    gray = torch.cat(edges)
    found = picture_statistics(pictures_of(gray.mT if transposed else gray))
    assert (found["sharpness"].diff() < 0).all()
    assert (found["edge_width"].diff() > 0).all()
    assert found["edge_width"][2:].tolist() == pytest.approx([5.0, 7.5], rel=0.08)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_falloff_is_the_exponent_of_the_spectrum(power: float) -> None:
    found = picture_statistics(pictures_of(noise_of(power)))["falloff"]
    assert found.mean().item() == pytest.approx(power, abs=0.25)


@pytest.mark.parametrize("sigma", [2.0, 5.0, 10.0])
def test_noise_is_what_was_added(sigma: float, word_image: Callable[..., Image.Image]) -> None:
    word = torch.from_numpy(np.array(word_image("Word").convert("L")))[None]
    clean = torch.cat([torch.full((1, 32, 128), 128.0), 40 + 0.7 * blurred(word.float(), 1.0)])
    added = sigma * torch.randn(clean.shape, generator=torch.Generator().manual_seed(0))
    found = picture_statistics(pictures_of(clean + added))["noise"].tolist()
    assert found == pytest.approx([sigma, sigma], rel=0.2)


def test_gray_has_no_color_and_red_beside_green_has_much() -> None:
    pictures = pictures_of(step()).repeat(2, 1, 1, 1)
    pictures[1] = 0
    pictures[1, 0, :, :64] = 255
    pictures[1, 1, :, 64:] = 255
    # Opponents: red - green is 255 or -255, yellow - blue is 127.5 everywhere.
    expected = [0, 255 + 0.3 * 127.5]
    assert picture_statistics(pictures)["colorfulness"].tolist() == pytest.approx(expected)


def test_blocks_show_where_jpeg_has_them_only() -> None:
    tones = torch.randint(60, 200, (4, 5, 17), generator=torch.Generator().manual_seed(0)).float()
    blocks = tones.repeat_interleave(8, 1).repeat_interleave(8, 2)
    aligned, shifted = blocks[:, :32, :128], blocks[:, 4:36, 4:132]
    smooth = noise_of(2.0)
    gray = torch.cat([aligned, shifted, smooth])
    ratios = picture_statistics(pictures_of(gray))["blockiness"].split([4, 4, 8])
    assert ratios[0].mean() > 100
    assert ratios[1].mean() == 0
    assert ratios[2].mean().item() == pytest.approx(1, abs=0.1)


def test_contrast_and_brightness_of_two_tones() -> None:
    found = picture_statistics(pictures_of(step(low=50, high=150)))
    expected = {"brightness": 100, "contrast": 50, "michelson": 0.5, "two_tone": 1}
    assert {name: found[name].item() for name in expected} == pytest.approx(expected)
    assert found["ground_spread"].item() == pytest.approx(0, abs=1e-3)


def test_letters_are_found_dark_on_light_and_light_on_dark() -> None:
    dark = torch.full((1, 32, 128), 200.0)
    dark[:, 10:21, 32:96:6] = dark[:, 10:21, 33:96:6] = dark[:, 10:21, 34:96:6] = 30.0
    gray = luminance(pictures_of(torch.cat([dark, 255 - dark])).float())[:, 0]
    ink, light = find_ink(gray, otsu(gray)[0])
    assert light.tolist() == [0, 1]
    assert torch.equal(ink[0], ink[1])
    assert stroke_width(ink).tolist() == pytest.approx([3, 3])
    assert lines(ink)[0].tolist() == pytest.approx([11 / 32] * 2)
    assert lines(ink)[1].tolist() == [0, 0]
    assert text_width(ink).tolist() == pytest.approx([0.5, 0.5], abs=0.03)


def test_flat_pictures_have_no_edges_and_spoil_no_others() -> None:
    alone = pictures_of(step())
    both = torch.cat([torch.full_like(alone, 255), alone])
    found, expected = picture_statistics(both), picture_statistics(alone)
    assert {name for name, values in found.items() if values[0].isnan()} == {
        *("edge_width", "falloff", "blockiness", "ink_spread", "stroke_width", "text_width")
    }
    for name, values in found.items():
        torch.testing.assert_close(values[1:], expected[name], rtol=1e-4, atol=1e-4)


def test_labels() -> None:
    found = label_statistics(["", "aB1", "T-34!", "a b"])
    assert list(found) == list(LABEL_STATISTICS)
    assert found["length"].tolist() == [0, 3, 5, 3]
    assert found["upper"].tolist() == pytest.approx([0, 1 / 3, 1 / 5, 0])
    assert found["symbols"].tolist() == pytest.approx([0, 0, 2 / 5, 0])
    assert found["digits"].tolist() == pytest.approx([0, 1 / 3, 2 / 5, 0])


def test_two_samples_of_one_distribution_are_alike() -> None:
    """The interval is to reach down to no distance, which no resample does."""
    found = [gap(normal(500, 2 * seed), normal(400, 2 * seed + 1)) for seed in range(8)]
    assert sum(each.distance.low == 0 for each in found) >= 6
    assert max(each.distance.low for each in found) < 0.08
    assert sum(each.higher.low < 0.5 < each.higher.high for each in found) >= 6
    assert all(each.inside == pytest.approx(0.98, abs=0.025) for each in found)
    assert max(each.distance.high for each in found) < 0.35


def test_a_shift_of_one_deviation_is_a_distance_of_one() -> None:
    found = gap(normal(2000, 0, mean=1.0), normal(2000, 1))
    assert found.distance.low < 1 < found.distance.high
    assert found.distance.high - found.distance.low < 0.2
    assert found.higher.value == pytest.approx(0.760, abs=0.02)  # of two normal distributions
    swapped = gap(normal(2000, 1), normal(2000, 0, mean=1.0))
    assert swapped.distance.value == pytest.approx(found.distance.value)


def test_ties_count_half_and_unknown_values_not_at_all() -> None:
    first = torch.tensor([0.0, 1, 1, math.nan], dtype=torch.float64)
    second = torch.tensor([0.0, 0, 0, 1], dtype=torch.float64)
    found = gap(first, second)
    assert found.higher.value == pytest.approx((2 * 3 + 0.5 * (3 + 2)) / 12)
    assert quantiles(first) == quantiles(first[:3])
    assert within(first, torch.tensor([0.5, 2.0, math.nan])).tolist() == [True, False, True]


def test_single_and_missing_values_have_no_interval() -> None:
    one, none = torch.ones(1, dtype=torch.float64), torch.full((2,), math.nan, dtype=torch.float64)
    found = gap(normal(50, 0), one)
    assert found.distance.value > 0
    assert math.isnan(found.distance.low)
    assert math.isnan(gap(normal(50, 0), none).distance.value)
    assert gap(one, one).distance.value == 0


def test_a_classifier_cannot_tell_what_is_alike() -> None:
    aucs = []
    for seed in range(0, 16, 4):
        first = {"a": normal(600, seed), "b": normal(600, seed + 1)}
        second = {"a": normal(300, seed + 2), "b": normal(300, seed + 3)}
        found = classify(first, second, seed)
        assert found is not None
        assert found.auc.low < found.auc.value < found.auc.high
        aucs.append(found.auc.value)
    assert sum(aucs) / len(aucs) == pytest.approx(0.5, abs=0.03)
    assert max(abs(auc - 0.5) for auc in aucs) < 0.09


def test_a_classifier_says_by_which_statistic_it_tells() -> None:
    plain = {"shifted": normal(600, 0), "wider": normal(600, 1), "same": normal(600, 2)}
    other = {"shifted": normal(200, 3, mean=1.5), "wider": normal(200, 4), "same": normal(200, 5)}
    found = classify(plain, other)
    assert found is not None
    assert found.auc.value == pytest.approx(0.856, abs=0.03)  # of the best rule
    assert found.loss["shifted"] > 0.25
    assert abs(found.loss["wider"]) < 0.02
    assert found.scores[0].mean() > found.scores[1].mean()
    other = {"shifted": normal(200, 3), "wider": normal(200, 4, std=3), "same": normal(200, 5)}
    found = classify(plain, other)
    assert found is not None
    assert found.auc.value > 0.7, "the squares"
    assert found.loss["wider"] > 0.15


def test_few_pictures_are_not_told_apart_and_unknown_values_do_no_harm() -> None:
    assert classify({"a": normal(9, 0)}, {"a": normal(50, 1)}) is None
    first, second = normal(100, 0, mean=8.0), normal(100, 1)
    first[::3] = math.nan
    nothing = torch.full((100,), math.nan, dtype=torch.float64)
    found = classify({"a": first, "b": nothing}, {"a": second, "b": nothing})
    assert found is not None
    assert found.auc.value > 0.75
    assert found.loss["b"] == pytest.approx(0, abs=1e-6)


@pytest.fixture(scope="module")
def renderer(one_font: GlyphAtlas, tmp_path_factory: pytest.TempPathFactory) -> Renderer:
    words = tmp_path_factory.mktemp("words") / "words.txt"
    words.write_text("alpha Beta GAMMA 12 delta! epsilon")
    return Renderer(one_font, Lexicon(one_font.charset, words=words), (16, 48))


def write_set(folder: Path, images: dict[str, Image.Image]) -> Path:
    folder.mkdir(parents=True)
    for label, image in images.items():
        image.save(folder / f"{label}.png")
    return folder


def test_rendered_words_beside_a_folder(
    renderer: Renderer, labeled_folder: Path, tmp_path: Path
) -> None:
    """Six labels, one of a damaged image; words that are rendered for real are told apart."""
    with (labeled_folder / "labels.tsv").open("a") as file:
        file.write("absent.png\tabsent\n")
    text = compare(renderer, [labeled_folder], 70, 1, tmp_path / "out")
    assert "70 rendered words against 5 of labeled" in text
    assert "skipped, missing or not readable: 2" in text
    assert str(tmp_path / "out" / "report.html") in text
    assert max(map(len, text.splitlines())) < 200
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"report.html", "summary.json", "realism.csv", "realism.png", "look.png"}
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["sets"]["labeled"]["words"] == 5
    assert len(summary["sets"]["labeled"]["skipped"]) == 2
    assert summary["image_size"] == [16, 48]
    rows = (tmp_path / "out" / "realism.csv").read_text().splitlines()
    assert len(rows) == 1 + 2 * (len(STATISTICS) + len(LABEL_STATISTICS))


def test_tiny_folders_of_the_same_name(
    renderer: Renderer, word_image: Callable[..., Image.Image], tmp_path: Path
) -> None:
    folders = [
        write_set(tmp_path / place / "rendered", {f"w{i}": word_image(f"w{i}") for i in range(n)})
        for place, n in (("a", 1), ("b", 3))
    ]
    comparison = measure(draw(renderer, 20, 1), load(folders, (16, 48), 20))
    assert [words.name for words in comparison.folders] == [str(folder) for folder in folders]
    text = "\n".join(text_of(comparison))
    assert f"against 1 of {folders[0]}" in text
    assert f"against 3 of {folders[1]}" in text
    assert "fewer than 10 pictures" in text


def test_at_most_count_images_of_a_folder_evenly_spread(
    word_image: Callable[..., Image.Image], tmp_path: Path
) -> None:
    images = {f"{i:02}": word_image(f"{i}", size=(20 + i, 10)) for i in range(12)}
    (words,) = load([write_set(tmp_path / "many", images)], (16, 48), 4)
    assert words.labels == ["00", "03", "06", "09"]
    assert words.pictures.shape == (4, 3, 16, 48)


def test_mistakes_are_reported_in_one_line(
    renderer: Renderer, labeled_folder: Path, tmp_path: Path
) -> None:
    damaged, empty = tmp_path / "damaged", tmp_path / "empty"
    damaged.mkdir()
    empty.mkdir()
    (damaged / "word.png").write_bytes(b"not an image")
    for folders, message in (
        ([tmp_path / "absent"], "no such file"),
        ([empty], "found no label file and no images"),
        ([labeled_folder, damaged], "no image in it can be read"),
    ):
        with pytest.raises(ValueError, match=message) as caught:
            compare(renderer, folders, 10, 1, tmp_path / "out")
        assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()
