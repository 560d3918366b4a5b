import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import realism
from realism import (
    differences,
    distinguish,
    ink_statistics,
    label_statistics,
    main,
    picture_statistics,
)
from scipy.ndimage import gaussian_filter


def colored(gray: np.ndarray) -> np.ndarray:
    return np.repeat(gray.round().clip(0, 255).astype(np.uint8)[..., None], 3, -1)


def step(
    height: int = 32, width: int = 128, low: float = 40, high: float = 220
) -> np.ndarray:
    """Dark left half, light right half."""
    gray = np.full((height, width), float(low))
    gray[:, width // 2 :] = high
    return gray


def normal(n: int, seed: int, mean: float = 0.0, std: float = 1.0) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, std, n)


@pytest.mark.parametrize("transposed", [False, True])
def test_an_edge_that_is_blurred_more_is_less_sharp(transposed):
    """In pictures that are not square, along both axes."""
    edges = [
        gaussian_filter(step(48, 96), sigma, mode="nearest") for sigma in (0, 1, 2, 3)
    ]
    found = [
        picture_statistics(colored(edge.T if transposed else edge)) for edge in edges
    ]
    assert (np.diff([each["sharpness"] for each in found]) < 0).all()
    assert (np.diff([each["edge_width"] for each in found]) > 0).all()
    widths = [each["edge_width"] for each in found[2:]]
    assert widths == pytest.approx([5.0, 7.5], rel=0.08), (
        "a blur of s makes an edge 2.5 s wide"
    )


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_falloff_is_the_exponent_of_the_spectrum(power):
    frequency = np.hypot(np.fft.fftfreq(128)[:, None], np.fft.rfftfreq(256)).clip(
        1 / 256
    )
    found = []
    for seed in range(8):
        white = np.fft.rfft2(normal(128 * 256, seed).reshape(128, 256))
        gray = np.fft.irfft2(white / frequency ** (power / 2), s=(128, 256))[
            40:72, 60:188
        ]
        found.append(
            picture_statistics(colored(128 + 25 * gray / gray.std()))["falloff"]
        )
    assert np.mean(found) == pytest.approx(power, abs=0.25)


def test_noise_color_blocks_and_contrast():
    noisy = colored(128 + normal(32 * 128, 0, std=5).reshape(32, 128))
    assert picture_statistics(noisy)["noise"] == pytest.approx(5, rel=0.2)
    two = np.zeros((32, 128, 3), np.uint8)
    two[:, :64, 0] = two[:, 64:, 1] = 255
    assert picture_statistics(two)["colorfulness"] == pytest.approx(255 + 0.3 * 127.5)
    blocks = (
        np.random.default_rng(0).uniform(60, 200, (5, 17)).repeat(8, 0).repeat(8, 1)
    )
    assert picture_statistics(colored(blocks[:32, :128]))["blockiness"] > 100
    assert picture_statistics(colored(blocks[4:36, 4:132]))["blockiness"] == 0
    found = picture_statistics(colored(step(low=50, high=150)))
    expected = {"brightness": 100, "contrast": 50, "michelson": 0.5, "two_tone": 1}
    assert {name: found[name] for name in expected} == pytest.approx(expected)


def test_letters_are_found_dark_on_light_and_light_on_dark():
    dark = np.full((32, 128), 200.0)
    for offset in range(3):
        dark[10:21, 32 + offset : 96 : 6] = 30.0
    for gray, light in ((dark, 0), (255 - dark, 1)):
        found = ink_statistics(gray)
        assert found["light_text"] == light
        assert found["stroke_width"] == pytest.approx(3)
        assert found["text_height"] == pytest.approx(11 / 32)
        assert found["other_lines"] == 0
        assert found["text_width"] == pytest.approx(0.5, abs=0.03)


def test_flat_pictures_have_no_edges_and_labels_have_classes():
    assert math.isnan(
        picture_statistics(np.full((32, 128, 3), 255, np.uint8))["edge_width"]
    )
    found = label_statistics("T-34!")
    assert list(found.values()) == pytest.approx([5, 1 / 5, 0, 2 / 5, 2 / 5])
    assert label_statistics("")["length"] == 0


def test_a_shift_of_one_deviation_is_a_distance_of_one():
    first = pd.DataFrame(
        {"same": normal(2000, 0), "shifted": normal(2000, 1, mean=1.0)}
    )
    second = pd.DataFrame({"same": normal(2000, 2), "shifted": normal(2000, 3)})
    first.loc[::10, "same"] = np.nan
    found = differences(first, second)
    assert list(found.index) == ["shifted", "same"], "the most different first"
    assert found.loc["shifted", "distance"] == pytest.approx(1, abs=0.1)
    # Of normal ones
    assert found.loc["shifted", "higher"] == pytest.approx(0.760, abs=0.02)
    assert found.loc["same", "distance"] < 0.1
    assert found.loc["same", "inside"] == pytest.approx(0.98, abs=0.02)


def test_a_classifier_says_by_which_statistic_it_tells():
    plain = pd.DataFrame(
        {"wider": normal(600, 1), "same": normal(600, 2), "none": np.nan}
    )
    alike = pd.DataFrame(
        {"wider": normal(200, 4), "same": normal(200, 5), "none": np.nan}
    )
    assert np.mean(distinguish(plain, alike)[0]) == pytest.approx(0.5, abs=0.09)
    areas, losses = distinguish(plain, alike.assign(wider=normal(200, 4, std=3)))
    assert np.mean(areas) > 0.7, "the squares"
    assert losses["wider"] > 0.15
    assert abs(losses["same"]) < 0.05


def test_rendered_words_beside_a_folder(
    labeled_folder, one_font, tmp_path, monkeypatch, capsys
):
    """Six labels, one of a damaged image."""
    monkeypatch.setattr(realism, "load_or_draw_glyphs", lambda *_: one_font)
    main([str(labeled_folder), "--count", "70", "--out", str(tmp_path / "out")])
    printed = capsys.readouterr().out
    assert "70 rendered words against 5 of labeled" in printed
    assert "skipped: " in printed
    assert "rendered / labeled: fewer than 10 pictures" in printed
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "realism.csv",
        "realism.png",
    }
    assert len(pd.read_csv(tmp_path / "out" / "realism.csv")) == 75
