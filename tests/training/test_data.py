"""The stream on a GPU: batches drawn together, the same wherever a run begins or resumes."""

import re
from itertools import islice, pairwise

import pytest
import torch

from vit_str.characters.charset import Charset
from vit_str.synthesis.glyph_cache import load_or_draw_glyphs
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.own_texts import OwnTexts
from vit_str.synthesis.renderer import RenderedBatch, Renderer
from vit_str.training.cli import configured_data
from vit_str.training.data import (
    Batches,
    LabeledPixels,
    RenderedLines,
    RenderedStream,
    RenderedWords,
    drawn_together,
)

SIZE = 6


@pytest.fixture
def renderer(two_fonts) -> Renderer:
    atlas = load_or_draw_glyphs(Charset(), [two_fonts], two_fonts.parent)
    return Renderer(atlas, Lexicon(atlas.charset), chunk=8)


def stream(
    renderer: Renderer, first: int = 0, stride: int = 1, **more
) -> RenderedStream:
    given = {
        "renderer": renderer,
        "device": renderer.device,
        "batch_size": SIZE,
        "seed": 3,
        "first": first,
        "stride": stride,
        "images": first * SIZE,
        "easy_images": 0,
        "together": 4,
    }
    return RenderedStream(**{**given, **more})


def taken(stream: RenderedStream, count: int) -> list[RenderedBatch]:
    return list(islice(stream, count))


def test_batches_drawn_together_have_the_texts_of_those_drawn_alone(renderer):
    together = taken(stream(renderer), 9)
    alone = taken(stream(renderer, together=1), 9)
    decode = renderer.charset.decode
    for ours, theirs in zip(together, alone, strict=True):
        texts = [decode(row) for row in ours.labels.tolist()]
        assert texts == [decode(row) for row in theirs.labels.tolist()]
        assert ours.images.shape == theirs.images.shape
    looks = [batch.images.float().mean() for batch in together]
    assert len(set(looks)) == 9


def test_words_of_similar_length_are_drawn_together(renderer, monkeypatch):
    widths = []
    draw = Renderer._render_chunk

    def noted(self, ids, *others):
        lengths = (ids >= 0).sum(1)
        widths.append((int(lengths.min()), int(lengths.max())))
        return draw(self, ids, *others)

    monkeypatch.setattr(Renderer, "_render_chunk", noted)
    taken(stream(renderer), 4)
    assert len(widths) == 3
    assert all(one[1] <= other[0] for one, other in pairwise(widths))


@pytest.mark.parametrize("first", [1, 3, 4, 6])
def test_a_run_that_resumes_anywhere_sees_the_same(renderer, first):
    whole = taken(stream(renderer, easy_images=50), 9)
    rest = taken(stream(renderer, first, easy_images=50), 9 - first)
    for ours, theirs in zip(rest, whole[first:], strict=True):
        assert torch.equal(ours.images, theirs.images)
        assert torch.equal(ours.labels, theirs.labels)


def test_devices_share_the_texts_of_one_stream(renderer):
    decode = renderer.charset.decode
    shares = [taken(stream(renderer, first, stride=2, images=0), 5) for first in (3, 4)]
    found = [share[number] for number in range(5) for share in shares]
    alone = taken(stream(renderer, 3, together=1), 10)
    for ours, theirs in zip(found, alone, strict=True):
        texts = [decode(row) for row in ours.labels.tolist()]
        assert texts == [decode(row) for row in theirs.labels.tolist()]


def test_words_of_a_group_become_harder_from_group_to_group(renderer, monkeypatch):
    difficulties = []
    strengths = Ingredients.at

    def noted(self, difficulty):
        difficulties.append(difficulty)
        return strengths(self, difficulty)

    monkeypatch.setattr(Ingredients, "at", noted)
    taken(stream(renderer, easy_images=60), 9)
    assert difficulties == pytest.approx([0.1, 0.5, 0.9])


@pytest.mark.parametrize(
    ("batch_size", "batches"), [(1, 32), (64, 32), (1024, 32), (2048, 16), (40_000, 1)]
)
def test_a_gpu_draws_some_thousand_words_at_once(batch_size, batches):
    assert drawn_together(batch_size, torch.device("cuda")) == batches
    assert drawn_together(batch_size, torch.device("cpu")) == 1


def test_words_to_validate_on_are_read_in_fewer_batches():
    widths = [8, 8, 8, 16, 16, 8]
    batches = Batches(
        LabeledPixels("words", torch.full((3, 3, 4, width), number), [f"{number}"] * 3)
        for number, width in enumerate(widths)
    )
    batches.append(LabeledPixels("others", torch.zeros(3, 3, 4, 8), ["x"] * 3))
    joined = batches.joined(7)
    assert [len(batch.labels) for batch in joined] == [6, 3, 6, 3, 3]
    for batch in joined[:-1]:
        numbers = [str(int(image.max())) for image in batch.images]
        assert numbers == batch.labels
    assert [batch.source for batch in joined] == ["words"] * 4 + ["others"]


def test_patterns_and_files_of_ones_own_are_all_that_is_drawn(two_fonts, tmp_path):
    (tmp_path / "names.txt").write_text("Nord\nWest\n")
    own = OwnTexts(r"\d{4}", tmp_path / "names.txt")
    data = RenderedWords(texts=own, fonts=[two_fonts])
    texts = {*data.strings.sample(200, 1)}
    assert {"Nord", "West"} < texts
    assert all(re.fullmatch(r"\d{4}", text) for text in texts - {"Nord", "West"})
    with pytest.raises(ValueError, match="are drawn as words, not as lines"):
        RenderedLines(texts=own, fonts=[two_fonts])


@pytest.mark.filterwarnings("default")  # of Lightning and jsonargparse
@pytest.mark.parametrize(
    "options",
    [
        ["--pattern", "[A-C]{3}"],
        ["--data.init_args.texts.pattern", "[A-C]{3}"],
        ["--data.init_args.texts", "{pattern: {'[A-C]{3}': 2, '[ABC]{3}': 1}}"],
    ],
)
def test_patterns_on_the_command_line(options, arguments):
    data = configured_data([*arguments, *options])
    assert isinstance(data, RenderedWords)
    assert all(re.fullmatch("[A-C]{3}", each) for each in data.strings.sample(50, 1))


@pytest.mark.filterwarnings("default")
def test_a_pattern_that_cannot_be_drawn_is_one_line(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        configured_data([*arguments, "--pattern", "[A-"])
    assert stopped.value.code == 2
    assert "unterminated character set" in capsys.readouterr().err.splitlines()[-1]
