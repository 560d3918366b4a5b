import pytest
import torch

from vit_str.characters.charset import PADDING
from vit_str.synthesis.ingredients import Ingredients
from vit_str.synthesis.lexicon import Lexicon
from vit_str.synthesis.renderer import RenderedBatch, Renderer


def same(first: RenderedBatch, second: RenderedBatch) -> bool:
    return all(
        torch.equal(getattr(first, name), getattr(second, name))
        for name in ("images", "labels", "token_characters", "boxes")
    )


def test_seed_and_index_decide_a_batch(renderer):
    first = renderer.batch(32, seed=4, index=9)
    assert same(first, renderer.batch(32, seed=4, index=9))
    assert not same(first, renderer.batch(32, seed=4, index=10))
    assert not same(first, renderer.batch(32, seed=5, index=9))


def test_everything_in_a_batch_belongs_together(renderer):
    labels = ["x", "antidisestablishment", "No.", "UPPER", "77"] * 40
    batch = renderer.render(labels, seed=1)
    assert [renderer.charset.decode(row) for row in batch.labels.tolist()] == labels
    assert batch.images.shape == (200, 3, 32, 128)
    assert batch.token_characters.shape == (200, 64)
    assert ((batch.boxes.abs().sum(2) > 0) == (batch.labels != PADDING)).all()
    for row in range(200):
        on_tokens = set(batch.token_characters[row].tolist()) - {PADDING}
        assert on_tokens <= set(batch.labels[row].tolist())
        assert on_tokens, labels[row]


def test_any_size_and_grid(atlas):
    renderer = Renderer(atlas, Lexicon(atlas.charset), (48, 320), (12, 40))
    batch = renderer.batch(8, 1, 0)
    assert batch.images.shape == (8, 3, 48, 320)
    assert batch.token_characters.shape == (8, 480)
    assert batch.boxes[..., 2].max() > 128


def test_an_empty_label_gives_a_crop_without_text(renderer):
    labels = ["", "good", "", "words"]
    plain = Ingredients(**dict.fromkeys(Ingredients.__annotations__, 0.0))
    for strengths in (renderer.ingredients, plain):
        mixed = replace(renderer, strengths).render(labels, 1)
        words = replace(renderer, strengths).render(
            ["good", "good", "good", "words"], 1
        )
        text = [renderer.charset.decode(row) for row in mixed.labels.tolist()]
        assert text == labels
        empty = [0, 2]
        assert (mixed.token_characters[empty] == PADDING).all()
        assert (mixed.boxes[empty] == 0).all()
        assert torch.equal(
            mixed.token_characters[[1, 3]], words.token_characters[[1, 3]]
        )
    # Without effects, what is left is a wall of one color.
    assert mixed.images[empty].float().flatten(2).std(2).max() < 3
    assert mixed.images[[1, 3]].float().flatten(2).std(2).max() > 20
    assert (renderer.render(["", ""], 1).labels == PADDING).all()


def replace(renderer: Renderer, strengths: Ingredients) -> Renderer:
    atlas = renderer.typesetter.atlas
    return Renderer(atlas, renderer.lexicon, ingredients=strengths)


def test_labels_that_cannot_be_drawn_are_refused(renderer):
    with pytest.raises(ValueError, match="charset of 94 characters lacks"):
        renderer.render(["가나"], 1)
    with pytest.raises(ValueError, match="strength of blur"):
        Ingredients(blur=-1)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_cpu_and_gpu_draw_the_same(atlas, renderer):
    on_gpu = Renderer(atlas.to("cuda"), Lexicon(atlas.charset), chunk=renderer.chunk)
    cpu = renderer.batch(64, 1, 0)
    gpu = on_gpu.batch(64, 1, 0).to("cpu")
    assert torch.equal(cpu.labels, gpu.labels)
    difference = (cpu.images.float() - gpu.images.float()).abs()
    assert difference.mean() < 1
    assert (cpu.token_characters == gpu.token_characters).float().mean() > 0.995
