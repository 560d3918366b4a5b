"""Print of before 1900: its faces, its spacing and its ink."""

import random as python_random
import shutil

import pytest
import torch

from vit_str.characters.charset import charset_of
from vit_str.synthesis import old_print
from vit_str.synthesis.glyph_drawing import draw_glyphs
from vit_str.synthesis.glyphs import GlyphAtlas
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.line_texts import LineTexts, book_style, label
from vit_str.synthesis.printed_lines import TextLineRenderer
from vit_str.synthesis.random_numbers import Random, noise_bank

CHARSET = charset_of("latin")


@pytest.fixture(scope="module")
def atlas(matplotlib_fonts, tmp_path_factory) -> GlyphAtlas:
    folder = tmp_path_factory.mktemp("fonts")
    names = {
        "DejaVuSerif": "Fraktur",
        "DejaVuSans": "Garamond",
        "DejaVuSansMono": "Mono",
    }
    for source, name in names.items():
        shutil.copy(matplotlib_fonts / f"{source}.ttf", folder / f"{name}.ttf")
    return draw_glyphs(sorted(folder.glob("*.ttf")), CHARSET)[0]


@pytest.fixture(scope="module")
def texts() -> LineTexts:
    return LineTexts(CHARSET, Lexicon(CHARSET, "de"), "de-Latf", style=book_style())


def random_of(count: int, seed: int = 1) -> Random:
    return Random(seed, count, noise_bank("cpu"))


def test_blackletter_and_old_faces_are_chosen_by_name(atlas):
    blackletter = [atlas.names[place] for place in old_print.blackletter_fonts(atlas)]
    assert [name.partition("/")[2] for name in blackletter] == [
        "Fraktur",
        "Fraktur (e above)",
    ]
    faces = [atlas.names[place] for place in old_print.old_faces(atlas)]
    assert [name.partition("/")[2] for name in faces] == ["Garamond"]


def test_lines_of_books_have_the_long_s_and_are_not_in_capitals(texts):
    rng = python_random.Random(1)
    lines = [label(texts.line(rng, 40)) for _ in range(300)]
    words = " ".join(lines).split()
    assert sum("ſ" in line for line in lines) > 150
    assert not any(word.endswith("ſ") for word in words)
    assert (
        sum(word[0].isupper() for word in words if word[0].isalpha()) / len(words) > 0.2
    )
    assert sum(line.isupper() for line in lines) < 10


def test_words_are_apart_and_some_are_spread():
    texts = ["das Buch; iſt", "noch eine Zeile"] * 40
    spacing = old_print.spacing(texts, random_of(80), python_random.Random(1))
    assert spacing.shape == (80, len("noch eine Zeile"))
    letters = spacing[::2, [0, 1, 4]]
    space = spacing[::2, 3]
    assert space.mean() > letters.median() + 3
    before_mark = spacing[::2, 7]
    assert (before_mark > 4).float().mean().item() == pytest.approx(0.4, abs=0.2)
    spread = (spacing[1::2] > 5).sum(1)
    assert 0.05 < (spread > 3).float().mean() < 0.5


def test_a_line_is_the_same_for_a_seed_and_its_letters_are_in_their_boxes(atlas, texts):
    lines = TextLineRenderer(atlas, texts, widest=640, old_texts=texts, old_share=1.0)
    for index in range(4):
        first = lines.batch(4, 1, index)
        second = lines.batch(4, 1, index)
        assert torch.equal(first.images, second.images)
        assert torch.equal(first.labels, second.labels)
        gray = first.images.float().mean(1)
        dark = gray < (gray.amax((1, 2)) + gray.amin((1, 2)))[:, None, None] / 2
        for row, boxes in enumerate(first.boxes):
            inside = torch.zeros(dark.shape[-1], dtype=torch.bool)
            for left, _, right, _ in boxes[boxes[:, 2] > 0].tolist():
                inside[max(0, int(left) - 2) : int(right) + 3] = True
            assert dark[row][:, inside].sum() > 0.9 * dark[row].sum()


def test_without_old_texts_nothing_changes(atlas, texts):
    usual = TextLineRenderer(atlas, texts, widest=640)
    silent = TextLineRenderer(atlas, texts, widest=640, old_texts=texts, old_share=0.0)
    assert torch.equal(usual.batch(3, 1, 5).images, silent.batch(3, 1, 5).images)


def test_pressed_ink_stays_near_the_letters():
    mask = torch.zeros(16, 1, 32, 200)
    mask[:, :, 8:24, 20:60] = 1
    pressed = old_print.press(mask.clone(), 0.0, random_of(16))
    assert (pressed[..., 10:22, 24:56] > 0.5).float().mean() > 0.95
    assert (pressed[..., 100:] < 0.3).float().mean() > 0.99
    image = old_print.expose(pressed, 1.0, random_of(16))
    assert image.shape == (16, 3, 32, 200)
    assert (
        image[..., 100:].mean((1, 2, 3))
        > image[..., 10:22, 24:56].mean((1, 2, 3)) + 0.3
    ).all()
