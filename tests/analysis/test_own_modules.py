"""Modules of one's own, and images as one has them: they work, or one line says what to do."""

import pytest
import torch
import torch.nn.functional as F
from PIL import Image
from torch import Tensor, nn

from vit_str.analysis import TokenGrid, attention_distance
from vit_str.analysis.subjects import load_subject

GRID = TokenGrid(2, 4, (8, 8))
IMAGES = torch.randn(2, 3, 16, 32, generator=torch.Generator().manual_seed(0))


class Attention(nn.Module):
    """Two heads, with the fused kernel of PyTorch."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(16, 48)

    def forward(self, tokens: Tensor) -> Tensor:
        parts = self.project(tokens).chunk(3, -1)
        heads = [part.unflatten(-1, (2, 8)).transpose(1, 2) for part in parts]
        return self.attend(*heads).transpose(1, 2).flatten(2)

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(query=queries, key=keys, value=values)


class ByHand(Attention):
    def attend(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        return (queries @ keys.mT * 8**-0.5).softmax(-1) @ values


class Model(nn.Module):
    """Patches of 8 x 8 pixels and two layers of attention."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.embed = nn.Conv2d(3, 16, 8, 8)
        self.layers = nn.ModuleList(layers or (Attention(), Attention()))

    def forward(self, images: Tensor) -> Tensor:
        tokens = self.embed(images).flatten(2).mT
        for layer in self.layers:
            tokens = tokens + layer(tokens)
        return tokens


class OfTorch(Model):
    """The layers of PyTorch, which have a fast path around `nn.MultiheadAttention`."""

    def __init__(self) -> None:
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        super().__init__(nn.TransformerEncoder(layer, 2))


@pytest.mark.parametrize("kind", [Model, OfTorch])
def test_a_module_of_ones_own(kind):
    found = attention_distance(kind(), IMAGES, grid=GRID)
    assert len(found.chance["uniform"]["distance"]) == 2
    assert (found.images, set(found.rows["head"].dropna())) == (2, {1, 2})


def test_attributes_in_the_place_of_a_grid():
    model = Model()
    with pytest.raises(ValueError, match="no attribute grid and no special_tokens and"):
        attention_distance(model, IMAGES)
    model.grid, model.special_tokens = (2, 4), 0
    with pytest.raises(ValueError, match="has no attribute image_size: give grid"):
        attention_distance(model, IMAGES)
    model.image_size = (16, 32)
    found = attention_distance(model, IMAGES).rows
    assert found.equals(attention_distance(model, IMAGES, grid=GRID).rows)


def test_a_model_inside_of_a_module(small_weights):
    """As in a LightningModule: the error says which part to give."""
    timm = pytest.importorskip("timm")
    inside = timm.create_model("test_vit", img_size=(16, 32), patch_size=8)
    ours = load_subject(str(small_weights())).model
    for part, name in ((inside, "net.vit"), (ours, "net.recognizer")):
        module = nn.ModuleDict({"net": nn.ModuleDict({name[4:]: part})})
        with pytest.raises(ValueError, match=f"give its part '{name}', which is"):
            attention_distance(module, IMAGES)


def test_modules_that_are_not_understood():
    with pytest.raises(ValueError, match="ByHand computes a softmax by hand"):
        attention_distance(Model(ByHand()), IMAGES, grid=GRID)
    shared = Attention()
    with pytest.raises(ValueError, match=r"layers\.0 ran 2 times for one batch"):
        attention_distance(Model(shared, shared), IMAGES, grid=GRID)
    with pytest.raises(ValueError, match="holds no attention that is supported"):
        attention_distance(nn.Conv2d(3, 4, 3), IMAGES, grid=GRID)


def test_a_module_stays_as_it_is():
    """Where it is, in the numbers that it computes with, and frozen parts in evaluation."""

    class Pinned(Model):
        def _apply(self, fn, recurse=True):
            raise AssertionError("moved")

    model = Pinned().train()
    model.embed.eval()
    exact = attention_distance(model, IMAGES, grid=GRID)
    assert [model.training, model.embed.training] == [True, False]
    twice = attention_distance(model, IMAGES.double(), grid=GRID)
    assert twice.rows.equals(exact.rows)
    half = Model()
    half.load_state_dict(model.state_dict())
    rough = attention_distance(half.bfloat16(), IMAGES, grid=GRID).rows
    assert half.embed.weight.dtype == torch.bfloat16
    distance = exact.rows["metric"] == "distance"
    expected = exact.rows[distance]["mean"].tolist()
    assert rough[distance]["mean"].tolist() == pytest.approx(expected, rel=0.01)


def test_one_image_alone(small_weights):
    one = attention_distance(Model(), IMAGES[0], grid=GRID)
    assert one.images == 1
    picture = Image.new("RGB", (64, 16), "gray")
    assert attention_distance(small_weights(), picture).images == 1


def test_images_that_no_model_takes(small_weights):
    whole_numbers = torch.zeros(1, 3, 16, 64, dtype=torch.uint8)
    for images in (whole_numbers, torch.zeros(16, 64)):
        with pytest.raises(ValueError, match=r"normalized as the model takes them"):
            attention_distance(small_weights(), images)
