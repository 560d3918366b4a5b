"""Figure 7 of the ViT paper: filters, positions and distance, of our models and of others."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.libraries.load import encoder_of
from vit_str.analysis.subjects import load_subject
from vit_str.analysis.vit_paper.figures import (
    SHOWN_FILTERS,
    ModelPanels,
    figure_seven,
    filter_mosaic,
    position_mosaic,
)
from vit_str.analysis.vit_paper.filters import (
    CHANCE_GRAY,
    CHANCE_ROUGHNESS,
    Components,
    PatchCovariance,
    bank_means,
    chance_low_frequency,
    first_filters,
    gray_share,
    low_frequency_share,
    roughness,
)
from vit_str.analysis.vit_paper.positions import explained, positions_of, similarities
from vit_str.cli import main
from vit_str.models import ConvolutionalEncoder, Encoder, VisionTransformer
from vit_str.reports.style import ready_to_draw

GRID = TokenGrid(3, 5, (4, 8))
ROW = torch.arange(15) // 5
COLUMN = torch.arange(15) % 5
DOWN = (ROW[:, None] - ROW).abs().double()
ACROSS = (COLUMN[:, None] - COLUMN).abs().double()


def test_filters_of_patches_have_the_layout_of_the_patches():
    """A filter applied by hand to a patch gives what the embedding gives."""
    torch.manual_seed(0)
    encoder = VisionTransformer(
        dim=8, depth=1, heads=2, image_size=(8, 24), patch_size=(4, 6)
    )
    image = torch.randn(1, 3, 8, 24)
    embedded = (
        encoder.embed_patches(encoder.patches(image))[0] - encoder.embed_patches.bias
    )
    by_hand = (first_filters(encoder) * image[0, :, 4:8, 12:18]).sum((1, 2, 3))
    torch.testing.assert_close(embedded[1 * 4 + 2], by_hand)


def test_filters_of_convolutions_are_those_of_the_first():
    encoder = ConvolutionalEncoder(widths=(8,), depths=(1,), strides=((2, 4),))
    assert torch.equal(first_filters(encoder), encoder.stages[0][0].weight)
    with pytest.raises(ValueError, match="no patch embedding"):
        first_filters(nn.Linear(2, 2))


def test_components_are_orthonormal_and_explain_the_filters():
    torch.manual_seed(0)
    filters = torch.randn(20, 3, 2, 4)
    components = Components.of_filters(filters)
    flat = components.vectors.flatten(1)
    torch.testing.assert_close(flat @ flat.T, torch.eye(20, dtype=torch.float64))
    torch.testing.assert_close(
        components.captured(filters), components.shares.cumsum(0)
    )


def test_components_of_a_stream_are_those_of_all_patches_at_once():
    torch.manual_seed(0)
    images = torch.randn(6, 3, 8, 24)
    stream = PatchCovariance((4, 6))
    stream.update(images[:2])
    stream.update(images[2:])
    patches = (
        images.unfold(2, 4, 4).unfold(3, 6, 6).permute(0, 2, 3, 1, 4, 5).flatten(3)
    )
    flat = patches.flatten(0, 2).double()
    singular, directions = torch.linalg.svd(flat - flat.mean(0))[1:]
    components = stream.components()
    shares = singular.square() / singular.square().sum()
    torch.testing.assert_close(components.shares[: len(shares)], shares)
    strongest = components.vectors[0].flatten()
    assert abs(float(directions[0] @ strongest)) == pytest.approx(1)


def test_flat_filters_are_smooth_and_checkerboards_are_not():
    flat = torch.ones(1, 3, 8, 16)
    sign = torch.tensor([1.0, -1.0])
    board = (sign.repeat(4)[:, None] * sign.repeat(8)).expand(1, 3, 8, 16)
    assert low_frequency_share(flat).item() == pytest.approx(1)
    assert low_frequency_share(board).item() < 0.05
    assert roughness(flat).item() == 0
    assert roughness(board).item() == pytest.approx(2)


def test_noise_is_at_chance():
    noise = torch.randn(4000, 3, 8, 16, generator=torch.Generator().manual_seed(0))
    found = bank_means(noise)
    assert found["low_frequency_share"] == pytest.approx(
        chance_low_frequency(noise), rel=0.02
    )
    assert found["roughness"] == pytest.approx(CHANCE_ROUGHNESS, rel=0.02)
    assert found["gray_share"] == pytest.approx(CHANCE_GRAY, rel=0.02)


def test_gray_filters_are_gray():
    filters = torch.zeros(2, 3, 2, 2)
    filters[0] = 1.0
    filters[1, 0] = 1.0
    filters[1, 1] = -1.0
    assert gray_share(filters).tolist() == pytest.approx([1, 0])


def test_effective_number_counts_equal_components():
    shares = torch.tensor([1 / 3, 1 / 3, 1 / 3, 0.0], dtype=torch.float64)
    components = Components(torch.zeros(4, 1, 1, 1, dtype=torch.float64), shares)
    assert components.effective_number() == pytest.approx(3)


def test_cosines_worked_by_hand():
    vectors = torch.tensor([[2.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]], dtype=torch.float64)
    half = -1 / math.sqrt(2)
    expected = torch.tensor(
        [[1, half, half], [half, 1, 0], [half, 0, 1]], dtype=torch.float64
    )
    torch.testing.assert_close(similarities(vectors), expected)


@pytest.mark.parametrize(
    ("of", "values"),
    [
        ("distance", (-GRID.distances() / 10).exp()),
        ("rows", DOWN),
        ("columns", ACROSS**2),
    ],
)
def test_what_depends_on_one_thing_is_explained_by_it(of, values):
    found = explained(values, GRID)
    assert found[of] == pytest.approx(1)
    assert found["offset"] == pytest.approx(1), (
        "it knows rows and columns, so distance too"
    )
    assert all(found[other] < 0.99 for other in {"rows", "columns"} - {of})


def test_what_does_not_vary_cannot_be_explained():
    assert math.isnan(explained(torch.ones(15, 15).double(), GRID)["distance"])


def test_positions_are_those_of_the_grid():
    sizes = {
        "dim": 16,
        "depth": 1,
        "heads": 2,
        "image_size": (12, 40),
        "patch_size": (4, 8),
    }
    encoder = VisionTransformer(**sizes, class_token=True)
    expected = encoder.embed_positions.weight.double()
    torch.testing.assert_close(positions_of(encoder), expected)
    assert positions_of(ConvolutionalEncoder((16,), (0,), ((8, 8),))).shape == (64, 16)

    class Other(Encoder):
        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return images

    with pytest.raises(ValueError, match="no vector for every token"):
        positions_of(Other())


def test_positions_of_other_libraries_come_without_special_tokens():
    timm = pytest.importorskip("timm")
    model = timm.create_model("vit_tiny_patch16_224", num_classes=0).eval()
    table = model.pos_embed[0].double()
    assert table.shape[0] == 1 + 14 * 14
    torch.testing.assert_close(positions_of(encoder_of(model)), table[1:])


def test_positions_of_torchvision_and_transformers():
    torchvision = pytest.importorskip("torchvision")
    transformers = pytest.importorskip("transformers")
    options = {"image_size": 32, "patch_size": 8, "num_layers": 1, "num_heads": 2}
    vit = torchvision.models.VisionTransformer(
        **options, hidden_dim=8, mlp_dim=8
    ).eval()
    expected = vit.encoder.pos_embedding[0, 1:].double()
    torch.testing.assert_close(positions_of(encoder_of(vit)), expected)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.ViTConfig(
        **sizes, intermediate_size=8, image_size=32, patch_size=8
    )
    model = transformers.ViTModel(config, add_pooling_layer=False).eval()
    expected = model.embeddings.position_embeddings[0, 1:].double()
    torch.testing.assert_close(positions_of(encoder_of(model, (32, 32))), expected)


def test_filters_lie_in_rows_with_white_between():
    filters = np.zeros((3, 3, 16, 16))
    filters[0, 0] = 5.0
    mosaic = filter_mosaic(filters)
    assert mosaic.shape == (7 * 18, 4 * 18, 3)
    assert mosaic[0, 0].tolist() == [1.0, 0.5, 0.5]  # the largest weight, red
    assert (mosaic[:16, 18:34] == 0.5).all()  # zero is gray
    assert (mosaic[16:18] == 1).all()
    assert (mosaic[18:] == 1).all()  # no filters there
    many = filter_mosaic(np.ones((SHOWN_FILTERS, 1, 4, 4)))
    assert many.shape[2] == 3
    tall = filter_mosaic(np.ones((SHOWN_FILTERS, 1, 16, 4)))
    assert tall.shape[:2] == (4 * 18, 7 * 6), "in fewer rows"


@pytest.mark.parametrize("grid", [(2, 32, (16.0, 4.0)), (14, 14, (16.0, 16.0))])
def test_the_panels_fill_the_figure(grid):
    rows, columns, patch_size = grid
    distances = pd.DataFrame(
        {
            "model": "a model",
            "layer": [1, 1, 1],
            "head": pd.array([1, 2, None], dtype="Int64"),
            "metric": "distance",
            "unit": "px",
            "norm": "renormalized",
            **{end: [20.0, 40.0, 30.0] for end in ("mean", "low", "high")},
            "n": 3,
        }
    )
    model = ModelPanels(
        name="a model",
        filters=np.random.default_rng(0).normal(size=(28, 3, 4, 4)),
        positions=np.ones((rows, columns, rows, columns)),
        patch_size=patch_size,
        distances=distances,
        uniform=[45.0],
    )
    sheet = figure_seven([model])
    with ready_to_draw(sheet):
        sheet.draw_without_rendering()
        pictures = [*sheet.subfigs[0].axes]
        covered = np.zeros(round(sheet.bbox.width))
        for axes in pictures:
            box = axes.get_tightbbox()
            covered[max(0, int(box.x0)) : int(box.x1) + 1] = 1
        gaps = np.diff(np.flatnonzero(covered))
    assert covered.mean() > 0.85
    assert gaps.max() < 0.08 * sheet.bbox.width, "no empty place between panels"


def test_maps_of_positions_lie_as_their_tokens():
    maps = np.arange(2 * 3 * 4 * 5, dtype=float).reshape(2, 3, 4, 5)
    mosaic, down, across = position_mosaic(maps)
    assert mosaic.shape == (2 * 4 + 1, 3 * 5 + 2)
    assert (mosaic[5:9, 6:11] == maps[1, 1]).all()
    assert np.isnan(mosaic[4]).all()
    assert down == [1.5, 6.5]
    assert across == [2, 8, 14]


def run(models: list[str], data: Path, out: Path, *more: str) -> int:
    arguments = [
        "analyze",
        "vit-paper",
        *models,
        "--data",
        str(data),
        "--out",
        str(out),
    ]
    return main([*arguments, "--device", "cpu", "--batch-size", "2", *more])


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_one_figure_for_models_of_several_kinds(
    small_weights, labeled_folder, tmp_path
):
    """Ours, a convolution and windows without positions: what is missing is said in its panel."""
    timm = pytest.importorskip("timm")
    conv = f"untrained:{Path(__file__).parents[2]}/configs/conv_transformer.yaml"
    models = [str(small_weights()), conv, "untrained:timm:test_vit"]
    assert run(models, labeled_folder, tmp_path / "out") == 0
    out = tmp_path / "out"
    names = {path.name for path in out.iterdir()}
    tables = {
        "components.csv",
        "filters.csv",
        "positions.csv",
        "similarity.csv",
        "distance.csv",
    }
    assert names >= tables | {
        "figure-7.png",
        "figure-7.svg",
        "figure-7.pdf",
        "report.html",
    }
    assert {row["model"] for row in rows_of(out / "distance.csv")} == {
        "small",
        models[2],
    }
    filters = rows_of(out / "filters.csv")
    assert [row["model"] for row in filters][-1] == "noise"
    assert len(filters) == 4
    assert "conv_transformer: no self-attention." in (out / "report.html").read_text()
    summary = json.loads((out / "summary.json").read_text())
    assert summary["versions"]["timm"] == timm.__version__
    pairs = [row for row in rows_of(out / "similarity.csv") if row["model"] == "small"]
    positions = positions_of(load_subject(models[0]).encoder)
    cosines = similarities(positions).flatten().tolist()
    assert [float(row["cosine"]) for row in pairs] == pytest.approx(cosines, abs=1e-5)
    columns = TokenGrid.of(load_subject(models[0]).encoder).columns
    first, second = pairs[1], pairs[columns]
    assert (first["other row"], first["other column"]) == ("1", "2")
    assert (second["other row"], second["other column"]) == ("2", "1")


def test_models_with_the_same_chance_have_one_scale():
    def panels(name: str, farthest: float, uniform: list[float]) -> ModelPanels:
        rows = [(name, 1, head, farthest) for head in (1, 2, None)]
        table = pd.DataFrame(rows, columns=["model", "layer", "head", "mean"])
        table = table.assign(
            low=farthest, high=farthest, metric="distance", unit="px", norm="raw", n=1
        ).astype({"head": "Int64"})
        return ModelPanels(name, "none", "none", (4, 4), table, uniform)

    sheet = figure_seven(
        [
            panels("near", 20.0, [45.0]),
            panels("far", 60.0, [45.0]),
            panels("larger", 90.0, [116.0]),
        ]
    )
    shown = [axes for axes in sheet.axes if axes.get_legend()]
    near, far, larger = (axes.get_ylim() for axes in shown)
    assert near == far == (0, pytest.approx(1.08 * 60))
    assert larger == (0, pytest.approx(1.08 * 116))
    labels = ["uniform: 45.0 px", "head", "mean of the layer"]
    assert shown[0].get_legend_handles_labels()[1] == labels


@pytest.mark.usefixtures("undrawn")
def test_distance_is_that_of_analyze_distance(small_weights, labeled_folder, tmp_path):
    weights = str(small_weights())
    assert run([weights], labeled_folder, tmp_path / "paper", "--norm", "raw") == 0
    arguments = [
        "analyze",
        "distance",
        weights,
        "--data",
        str(labeled_folder),
        "--norm",
        "raw",
    ]
    arguments += [
        "--gradients",
        "0",
        "--out",
        str(tmp_path / "distance"),
        "--device",
        "cpu",
    ]
    assert main(arguments) == 0
    whole = rows_of(tmp_path / "distance" / "distance.csv")
    expected = [row for row in whole if row["metric"] == "distance"]
    assert rows_of(tmp_path / "paper" / "distance.csv") == expected
