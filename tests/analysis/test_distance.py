"""Measured models and their tables, from weights files and images to CSV, through the commands."""

import json
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats
from torch.utils.data import DataLoader, TensorDataset

from vit_str.analysis import attention_distance
from vit_str.analysis.compare import differences, holm
from vit_str.analysis.distance.measure import DistanceAnalysis
from vit_str.analysis.distance.tables import measurements, over_trainings
from vit_str.analysis.geometry import TokenGrid
from vit_str.analysis.images import load_images
from vit_str.analysis.subjects import load_subject
from vit_str.cli import main
from vit_str.models.attention import record_attention

Measured = Callable[[str], DistanceAnalysis]


def test_rows_are_means_of_what_the_maps_say(small_weights, labeled_folder, measured):
    subject = load_subject(str(small_weights()))
    rows = measurements(measured(str(small_weights()))).fillna({"head": 0})
    table = {
        (row.layer, row.head, row.metric, row.unit): row for row in rows.itertuples()
    }
    grid = TokenGrid.of(subject.recognizer.encoder)
    (batch,) = load_images(subject, str(labeled_folder), 10).batches()
    images = subject.preprocessing.normalize(batch.pixels)
    with torch.no_grad(), record_attention(subject.recognizer.encoder) as maps:
        subject.recognizer.encode(images)
    for layer, (weights,) in enumerate(maps.values(), 1):
        distances = (weights.double() * grid.distances()).sum(-1).mean(-1)
        for head in (1, 2):
            row = table[layer, head, "distance", "px"]
            assert row.mean == pytest.approx(
                float(distances[:, head - 1].mean()), rel=1e-5
            )
            assert row.low <= row.mean <= row.high
            assert row.n == 5
            in_patches = table[layer, head, "distance", "patches"].mean
            assert in_patches == pytest.approx(row.mean / 32**0.5)
            share = table[layer, head, "distance", "share of uniform"].mean
            assert share == pytest.approx(row.mean / grid.uniform_distance())
            of_diagonal = table[layer, head, "distance", "share of diagonal"].mean
            assert of_diagonal == pytest.approx(row.mean / (16**2 + 64**2) ** 0.5)
        mean = table[layer, 0, "distance", "px"].mean
        assert mean == pytest.approx(float(distances.mean()), rel=1e-5)
        assert (layer, 0, "head_divergence", "nats") in table
        assert (layer, 1, "head_divergence", "nats") not in table


@pytest.fixture
def pair(small_weights, measured) -> Sequence[DistanceAnalysis]:
    """Of two trainings of one model."""
    return [
        measured(str(small_weights(name, seed=seed))) for seed, name in enumerate("ab")
    ]


def test_differences_are_paired_and_heads_are_matched(pair):
    first, second = pair
    found = differences(first, second)
    by_rank = found[(found["matching"] == "rank") & (found["metric"] == "distance")]
    places = list(zip(by_rank["layer"], by_rank["head"], strict=True))
    assert places == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert by_rank["first"].iloc[0] <= by_rank["first"].iloc[1]
    assert by_rank["second"].iloc[0] <= by_rank["second"].iloc[1]
    assert found["difference"].to_numpy() == pytest.approx(
        found["second"] - found["first"]
    )
    assert (found["low"] - 1e-9 <= found["difference"]).all()
    assert (found["difference"] <= found["high"] + 1e-9).all()
    mirrored = differences(second, first)
    assert mirrored["difference"].to_numpy() == pytest.approx(-found["difference"])
    same = differences(first, first)
    assert same[["difference", "low", "high"]].eq(0).all(axis=None)
    assert same["p"].eq(1).all()


def test_p_values_are_those_of_scipy_and_corrected_for_their_number(pair):
    found = differences(*pair)
    layers = found[(found["matching"] == "layer") & (found["metric"] == "entropy")]
    values = [analysis.statistics.values("entropy") for analysis in pair]
    pairs = [[of[layer].mean(1).numpy() for of in values] for layer in range(2)]
    expected = [stats.ttest_rel(after, before).pvalue for before, after in pairs]
    assert layers["p"].tolist() == pytest.approx(expected)
    assert holm(pd.Series([0.01, 0.04, 0.03, 0.005])).tolist() == pytest.approx(
        [0.03, 0.06, 0.06, 0.02]  # of Holm's procedure by hand
    )


def test_models_of_other_depth_are_compared_at_the_same_share_of_it(
    small_weights, measured
):
    first, second = (
        measured(str(small_weights("a"))),
        measured(str(small_weights("b", depth=3))),
    )
    found = differences(first, second)
    layers = found[(found["metric"] == "distance") & (found["unit"] == "px")]
    assert layers["matching"].eq("depth").all()
    ends = second.statistics.values("distance")
    expected = [float(layer.mean()) for layer in (ends[0], ends[-1])]
    assert layers["second"].tolist() == pytest.approx(expected)
    assert differences(second, first)["layer"].max() == 2


def test_several_trainings_have_intervals_between_them(small_weights, measured):
    paths = [str(small_weights(name, seed=seed)) for seed, name in enumerate("abc")]
    analyses = [measured(path) for path in paths]
    rows = over_trainings("group", analyses)
    (layer,) = rows.query("layer == 1 and head.isna() and metric == 'nmi'").itertuples()
    means = [
        float(analysis.statistics.values("nmi")[0].mean()) for analysis in analyses
    ]
    interval = stats.ttest_1samp(means, 0).confidence_interval()
    assert (layer.n, layer.mean) == (3, pytest.approx(sum(means) / 3))
    assert (layer.low, layer.high) == pytest.approx((interval.low, interval.high))
    heads = rows.query(
        "layer == 2 and head == 1 and metric == 'distance' and unit == 'px'"
    )
    nearest = [
        float(a.statistics.values("distance")[1].mean(0).min()) for a in analyses
    ]
    assert heads["mean"].item() == pytest.approx(sum(nearest) / 3)


def test_the_command_writes_tables_pictures_and_a_page(
    small_weights, labeled_folder, tmp_path
):
    path, out = str(small_weights(class_token=True)), tmp_path / "out"
    arguments = ["distance", path, f"untrained:{path}", "--data", str(labeled_folder)]
    assert main(["analyze", *arguments, "--out", str(out)]) == 0
    table = pd.read_csv(out / "distance.csv")
    assert list(table.columns) == [
        *(
            "model",
            "layer",
            "head",
            "metric",
            "unit",
            "norm",
            "mean",
            "low",
            "high",
            "n",
        )
    ]
    assert set(table["model"]) == {"small", "untrained:small"}
    assert table["metric"].eq("gradient_distance").sum() == 4
    keys = ["model", "layer", "head", "metric", "unit", "norm"]
    assert not table.duplicated(keys).any()
    assert (table["low"] <= table["mean"] + 1e-6).all()
    assert table["n"].eq(5).all()  # one of six is damaged
    summary = json.loads((out / "summary.json").read_text())
    assert summary["chance"]["small"]["uniform"]["distance"][1] > 0
    assert len(summary["models"]["small"]["weights"]) == 12
    assert summary["models"]["untrained:small"]["weights"] is None
    special = pd.read_csv(out / "special-queries.csv")
    assert special["query"].unique().tolist() == ["class"]
    sinks = pd.read_csv(out / "sinks.csv")
    assert len(sinks) == 2 * 2 * 2
    assert (sinks["times_uniform"] >= 1).all()
    assert summary["models"]["small"]["special_tokens"] == 1
    assert len(summary["skipped"]) == 1
    assert (out / "report.html").stat().st_size < 2_000_000
    assert {file.suffix for file in out.iterdir()} == {
        ".csv",
        ".json",
        ".png",
        ".html",
        ".svg",
        ".pdf",
    }


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("seeds", [[0], [0, 1, 2]])
def test_the_command_measures_what_python_does(
    seeds, small_weights, labeled_folder, tmp_path
):
    files = [str(small_weights(f"run-{seed}", seed=seed)) for seed in seeds]
    group = ["--group", "runs"] if len(files) > 1 else []
    options = [
        "--gradients",
        "0",
        "--maps",
        "2",
        "--per-image",
        "--data",
        str(labeled_folder),
    ]
    assert (
        main(["analyze", "distance", *files, *group, *options, "--out", str(tmp_path)])
        == 0
    )
    model = files if group else files[0]
    name = "runs" if group else None
    found = attention_distance(model, labeled_folder, name=name, maps=2)
    found.save(tmp_path / "python.csv")
    written = (tmp_path / "distance.csv").read_text()
    assert written == (tmp_path / "python.csv").read_text()
    sinks = pd.read_csv(tmp_path / "sinks.csv")
    pd.testing.assert_frame_equal(sinks, found.sinks(), check_dtype=False, rtol=1e-4)
    assert len(pd.read_csv(tmp_path / "per-image.csv")) == len(
        found.to_frame(per_image=True)
    )


def test_a_module_is_left_in_the_mode_it_was_in(small_weights):
    encoder = load_subject(str(small_weights())).encoder.train()
    expected = attention_distance(encoder, torch.ones(2, 3, 16, 64), metrics=[])
    assert all(module.training for module in encoder.modules())
    found = attention_distance(encoder.eval(), torch.ones(2, 3, 16, 64), metrics=[])
    assert not encoder.training
    pd.testing.assert_frame_equal(found.rows, expected.rows)


@pytest.mark.usefixtures("undrawn")
def test_values_of_images_maps_and_queries_on_text(small_weights, two_fonts, tmp_path):
    path, out = str(small_weights()), tmp_path / "out"
    more = ["--count", "6", "--gradients", "0", "--fonts", str(two_fonts)]
    arguments = [
        "distance",
        path,
        "--queries",
        "text",
        "--per-image",
        "--maps",
        "3",
        *more,
    ]
    assert main(["analyze", *arguments, "--out", str(out)]) == 0
    images = pd.read_csv(out / "per-image.csv")
    rows = pd.read_csv(out / "distance.csv")
    chosen = images[
        (images["layer"] == 2) & (images["head"] == 1) & (images["metric"] == "nmi")
    ]
    row = rows[(rows["layer"] == 2) & (rows["head"] == 1) & (rows["metric"] == "nmi")]
    assert chosen["value"].mean() == pytest.approx(row["mean"].item(), rel=1e-4)
    with np.load(out / "maps-1.npz") as maps:
        assert list(maps) == ["layer_01", "layer_02"]
        assert maps["layer_02"].shape == (3, 2, 32, 32)
        np.testing.assert_allclose(maps["layer_02"].sum(-1), 1, rtol=1e-5)


def test_whatever_gives_batches_of_images(small_weights, tmp_path):
    encoder = load_subject(str(small_weights())).encoder
    images = torch.randn(7, 3, 16, 64)
    whole = attention_distance(encoder, images, metrics=["nmi"], maps=3)
    loader = DataLoader(TensorDataset(images, torch.arange(7)), batch_size=3)
    for batches in (
        loader,
        list(images.split(2)),
        iter(images),
        torch.compile(encoder),
    ):
        given = (
            (batches, images)
            if isinstance(batches, torch.nn.Module)
            else (encoder, batches)
        )
        found = attention_distance(*given, metrics=["nmi"])
        assert found.rows["n"].eq(7).all()
        pd.testing.assert_frame_equal(
            found.to_frame(), whole.to_frame(), atol=1e-5, rtol=1e-5
        )
    assert attention_distance(encoder, loader, count=4).rows["n"].eq(4).all()
    values = whole.to_frame(per_image=True)
    assert len(values) == 7 * 2 * 2 * 2
    whole.save(tmp_path / "maps.npz")
    with np.load(tmp_path / "maps.npz") as maps:
        assert maps["layer_01"].shape == (3, 2, 32, 32)
    many = torch.randn(210, 3, 16, 64)
    every = attention_distance(encoder, many, metrics=())
    assert every.rows["n"].eq(210).all(), "none is left out"


def test_a_group_is_all_of_its_trainings(small_weights, tmp_path):
    images = torch.randn(4, 3, 16, 64)
    encoders = [
        load_subject(str(small_weights(seed=seed))).encoder for seed in range(3)
    ]
    group = attention_distance(
        encoders, images, metrics=["nmi", "entropy", "sink_mass"], maps=2
    )
    assert group.rows["n"].eq(3).all()
    names = ["training 1", "training 2", "training 3"]
    for table in (group.sinks(), group.to_frame(per_image=True)):
        assert table["model"].unique().tolist() == names
        assert table.index.is_unique
    group.save(tmp_path / "maps.npz")
    with np.load(tmp_path / "maps.npz") as maps:
        assert len(maps) == 3 * 2
        assert not np.allclose(
            maps["training_01_layer_01"], maps["training_03_layer_01"]
        )
    files = [str(small_weights(name, seed=2)) for name in ("x", "y", "z")]
    batch = {"pixel_values": images}
    named = attention_distance(files, batch, metrics=["sink_mass", "entropy"])
    assert named.sinks()["model"].unique().tolist() == ["x", "y", "z"]


def test_groups_that_are_none(small_weights):
    images = torch.randn(2, 3, 16, 64)
    encoder = load_subject(str(small_weights())).encoder
    with pytest.raises(ValueError, match="need 3 or more, found 2"):
        attention_distance([encoder, encoder], images)
    other = load_subject(str(small_weights("other", patch_size=(8, 8)))).encoder
    with pytest.raises(ValueError, match="the same tokens, windows and masks"):
        attention_distance([encoder, encoder, other], images, metrics=["distance"])


def test_batches_of_transformers_and_parallel_modules(small_weights):
    encoder = load_subject(str(small_weights())).encoder
    images = torch.randn(5, 3, 16, 64)
    expected = attention_distance(encoder, images, metrics=["nmi"]).to_frame()
    whole = {"pixel_values": images, "labels": torch.arange(5)}
    batches = [{"pixel_values": images[:3]}, {"pixel_values": images[3:]}]
    for given in (whole, batches, [(batches[0], 1), (batches[1], 2)]):
        found = attention_distance(encoder, given, metrics=["nmi"]).to_frame()
        pd.testing.assert_frame_equal(found, expected, atol=1e-5, rtol=1e-5)
    found = attention_distance(torch.nn.DataParallel(encoder), images, metrics=["nmi"])
    pd.testing.assert_frame_equal(found.to_frame(), expected, atol=1e-5, rtol=1e-5)
    with pytest.raises(ValueError, match="needs pixel_values, found image"):
        attention_distance(encoder, [{"image": images}])


def test_distributed_modules(small_weights, tmp_path):
    encoder = load_subject(str(small_weights())).encoder
    images = torch.randn(2, 3, 16, 64)
    expected = attention_distance(encoder, images, metrics=["nmi"]).to_frame()
    meeting = f"file://{tmp_path / 'meeting'}"
    torch.distributed.init_process_group(
        "gloo", init_method=meeting, rank=0, world_size=1
    )
    try:
        wrapped = torch.nn.parallel.DistributedDataParallel(encoder)
        found = attention_distance(wrapped, images, metrics=["nmi"]).to_frame()
    finally:
        torch.distributed.destroy_process_group()
    pd.testing.assert_frame_equal(found, expected)


def test_images_that_cannot_be_measured(small_weights, tmp_path):
    encoder = load_subject(str(small_weights())).encoder
    images = torch.randn(2, 3, 16, 64)
    with pytest.raises(ValueError, match="no images"):
        attention_distance(encoder, images[:0])
    with pytest.raises(ValueError, match="no images"):
        attention_distance(encoder, [])
    with pytest.raises(ValueError, match="not finite"):
        attention_distance(encoder, images / 0)
    with pytest.raises(ValueError, match="maps=N"):
        attention_distance(encoder, images).save(tmp_path / "maps.npz")
    encoder.blocks[0].compile()
    with pytest.raises(ValueError, match=r"before torch\.compile"):
        attention_distance(encoder, images)
