"""The atlas: many models on one page, resumed where it was interrupted."""

import json
import re
import shlex
from itertools import product
from pathlib import Path

import jsonschema
import pytest
import torch
from PIL import Image

from vit_str.analysis.atlas import page as atlas_page
from vit_str.analysis.atlas.names import expand
from vit_str.analysis.distance.api import attention_distance
from vit_str.analysis.subjects import weights_hash
from vit_str.cli import main
from vit_str.engines.weights_contents import resolve

timm = pytest.importorskip("timm")

DOCS = Path(__file__).parents[2] / "docs/attention.md"


def atlas(folder: Path, data: Path, *names: object, count: int = 2) -> int:
    options = ["--data", data, "--out", folder, "--count", count, "--device", "cpu"]
    return main([str(part) for part in ("analyze", "atlas", *names, *options)])


def test_atlas_is_what_distance_measures_and_goes_on(
    tmp_path, labeled_folder, small_weights, monkeypatch, capsys
):
    weights = small_weights()
    out = tmp_path / "out"
    refused = "untrained:timm:resnet18"
    assert atlas(out, labeled_folder, weights, refused) == 0
    assert refused in capsys.readouterr().err

    found = json.loads((out / "atlas.json").read_text())
    assert list(found["refused"]) == [refused]
    assert found["models"][0]["versions"]["timm"] == timm.__version__
    expected = attention_distance(weights, labeled_folder, count=2).to_frame()
    expected = expected[expected["unit"] == "px"]
    for layer, metric in product(
        found["models"][0]["layers"], ("distance", "value_distance")
    ):
        of_layer = expected[expected["layer"] == layer["layer"]]
        rows = of_layer[of_layer["metric"] == metric]
        measured = layer["metrics"][metric]
        cases = [*measured["heads"], measured]
        for case, (_, row) in zip(cases, rows.iterrows(), strict=True):
            for end in ("mean", "low", "high"):
                assert case[end] == pytest.approx(row[end], rel=1e-5)

    html = (out / "report.html").read_text()
    row = first_row(html.split("<table")[2])
    layer = found["models"][0]["layers"][0]
    distance = layer["metrics"]["distance"]["mean"]
    uniform = layer["chance"]["uniform"]["distance"]
    assert float(row["distance (px)"]) == pytest.approx(distance, rel=1e-3)
    assert float(row["uniform (px)"]) == pytest.approx(uniform, rel=1e-3)
    assert float(row["share of uniform"]) == pytest.approx(distance / uniform, rel=2e-3)
    assert row["tokens"] == f"{layer['rows']} x {layer['columns']}"
    assert "table.sortable" in html
    assert "script-src 'sha256-" in html
    assert refused in html

    monkeypatch.setattr(atlas_page, "measure", lambda *_: pytest.fail("measured again"))
    assert atlas(out, labeled_folder, weights) == 0


def first_row(table: str) -> dict[str, str]:
    """Cells by the titles of their columns."""
    titles = re.findall("<th [^>]*>(.*?)</th>", table)
    cells = re.findall("<td [^>]*>(.*?)</td>", table)[: len(titles)]
    return dict(zip(titles, cells, strict=True))


def checked(path: Path) -> dict:
    """An atlas that is what its schema says."""
    schema = json.loads((DOCS.parent / "atlas.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    found = json.loads(path.read_text())
    jsonschema.Draft202012Validator(schema).validate(found)
    return found


def test_atlases_are_put_together(tmp_path, labeled_folder, small_weights, capsys):
    first, second = small_weights("first"), small_weights("second", seed=1)
    refused = "untrained:timm:resnet18"
    assert atlas(tmp_path / "mine", labeled_folder, first, second, refused) == 0
    assert atlas(tmp_path / "theirs", labeled_folder, second, first, count=3) == 0
    assert atlas(tmp_path / "again", labeled_folder, first) == 0
    both = tmp_path / "both"
    parts = [tmp_path / "mine", tmp_path / "theirs" / "atlas.json", tmp_path / "again"]
    assert (
        main(["analyze", "atlas", "merge", *map(str, parts), "--out", str(both)]) == 0
    )
    mine = checked(tmp_path / "mine" / "atlas.json")
    found = checked(both / "atlas.json")
    # The same model, weights, settings and images are there once
    sources = [
        (record["source"], record["settings"]["count"]) for record in found["models"]
    ]
    assert sources == [("mine", 2), ("mine", 2), ("theirs", 3), ("theirs", 3)]
    for record, measured in zip(found["models"], mine["models"], strict=False):
        assert record == {"source": "mine", **measured}
    assert list(found["refused"]) == [refused]
    assert [part["source"] for part in found["merged"]] == ["mine", "theirs", "again"]
    html = (both / "report.html").read_text()
    assert html.count('role="img"') == 4
    # It cannot be gone on with: its models were measured with several settings
    assert atlas(both, labeled_folder, first) == 2
    assert "put together from others" in capsys.readouterr().err


def test_what_is_no_atlas_is_not_merged(
    tmp_path, labeled_folder, small_weights, capsys
):
    assert atlas(tmp_path / "mine", labeled_folder, small_weights()) == 0
    found = json.loads((tmp_path / "mine" / "atlas.json").read_text())
    other = tmp_path / "other.json"
    merge = ["analyze", "atlas", "merge", str(tmp_path / "mine"), str(other)]
    merge += ["--out", str(tmp_path / "both")]
    del found["models"][0]["layers"][0]["chance"]
    for text, message in (
        (None, "no such file"),
        ("{", "not JSON"),
        ("[]", "not an atlas"),
        (json.dumps({"version": 1, "models": []}), "'refused' is missing"),
        (json.dumps(found), "'chance' is missing"),
        (json.dumps(found | {"version": 2}), "of version 2, this vit-str reads 1"),
    ):
        if text is not None:
            other.write_text(text)
        assert main(merge) == 2
        assert message in capsys.readouterr().err
    assert main([*merge[:4], *merge[5:]]) == 2
    assert "two atlases or more" in capsys.readouterr().err
    assert not (tmp_path / "both").exists()


def test_weights_are_fetched_one_model_at_a_time(
    tmp_path, labeled_folder, small_weights, monkeypatch
):
    """A hub that keeps what it fetches where huggingface_hub and torch.hub do."""
    constants = pytest.importorskip("huggingface_hub").constants
    before = constants.HF_HUB_CACHE, torch.hub.get_dir()
    weights = [small_weights(name) for name in ("first", "second")]
    load = atlas_page.load_subject
    kept = []

    def fetched(name, *rest, **named):
        cache = Path(constants.HF_HUB_CACHE)
        assert torch.hub.get_dir() == str(cache)
        assert not list(cache.iterdir()), "what the model before had is gone"
        (cache / "weights").write_bytes(b"weights")
        kept.append(cache)
        return load(name, *rest, **named)

    monkeypatch.setattr(atlas_page, "load_subject", fetched)
    assert atlas(tmp_path / "out", labeled_folder, *weights, "--from-hub") == 0
    assert len(kept) == 2
    assert not any(cache.exists() for cache in kept)
    assert (constants.HF_HUB_CACHE, torch.hub.get_dir()) == before


def test_other_settings_are_refused(tmp_path, labeled_folder, small_weights, capsys):
    weights = small_weights()
    assert atlas(tmp_path / "out", labeled_folder, weights) == 0
    assert atlas(tmp_path / "out", labeled_folder, weights, count=1) == 2
    assert "count 2, not 1" in capsys.readouterr().err


def test_other_images_are_refused(tmp_path, labeled_folder, small_weights, capsys):
    weights = small_weights()
    assert atlas(tmp_path / "out", labeled_folder, weights) == 0
    for path in labeled_folder.glob("*.png"):
        Image.new("RGB", (40, 20)).save(path)
    assert atlas(tmp_path / "out", labeled_folder, weights) == 2
    assert "images: those of the folder have changed" in capsys.readouterr().err


def test_after_an_interruption_the_page_has_what_is_done(
    tmp_path, labeled_folder, small_weights, monkeypatch, capsys
):
    weights = small_weights()
    out = tmp_path / "out"
    load = atlas_page.load_subject

    def interrupted(name, *rest, **named):
        if "resnet34" in name:
            raise KeyboardInterrupt
        return load(name, *rest, **named)

    monkeypatch.setattr(atlas_page, "load_subject", interrupted)
    refused = "untrained:timm:resnet18"
    assert (
        atlas(out, labeled_folder, weights, refused, "untrained:timm:resnet34") == 130
    )
    assert list(json.loads((out / "atlas.json").read_text())["refused"]) == [refused]
    assert "it has no self-attention" in (out / "report.html").read_text()
    assert atlas(out, labeled_folder, weights) == 0
    assert list(json.loads((out / "atlas.json").read_text())["refused"]) == [refused]
    capsys.readouterr()


def test_a_refused_model_is_asked_for_again_by_another_version(
    tmp_path, labeled_folder, small_weights, monkeypatch, capsys
):
    weights = small_weights()
    out = tmp_path / "out"
    refused = "untrained:timm:resnet18"
    assert atlas(out, labeled_folder, weights, refused) == 0
    path = out / "atlas.json"
    found = json.loads(path.read_text())
    versions = found["refused_by"][refused]
    assert versions == {"vit-str": versions["vit-str"], "timm": timm.__version__}
    load = atlas_page.load_subject
    asked = []

    def supported(name, *rest, **named):
        asked.append(name)
        return load(str(weights), *rest)

    monkeypatch.setattr(atlas_page, "load_subject", supported)
    assert atlas(out, labeled_folder, weights) == 0
    assert not asked  # what refused it is still installed

    for older in (
        {"refused_by": {refused: versions | {"vit-str": "0.0"}}},
        {"refused_by": {}},
    ):
        asked.clear()
        path.write_text(json.dumps(found | older))
        (out / "models" / "untrained%3Atimm%3Aresnet18.json").unlink(missing_ok=True)
        assert atlas(out, labeled_folder, weights) == 0
        assert asked == [refused]
        again = json.loads(path.read_text())
        assert refused in [record["model"] for record in again["models"]]
        assert not again["refused"]
    capsys.readouterr()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["untrained:timm:test_vit", "--checkpoint", "x.pt"],
            "--checkpoint is for one model",
        ),
        (["untrained:timm:test_vit", "--data", "rendered"], "give --data FOLDER"),
        (["untrained:timm:test_vit", "--data", "nothing"], "nothing: no such folder"),
    ],
)
def test_what_would_be_wrong_for_every_model_is_refused(
    options, message, tmp_path, capsys
):
    data = [] if "--data" in options else ["--data", str(tmp_path)]
    out = tmp_path / "out"
    assert main(["analyze", "atlas", *options, *data, "--out", str(out)]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_names_are_expanded():
    models = expand(["untrained:timm:vit_tiny_patch16_*", "tiny", "tiny"])
    assert "untrained:timm:vit_tiny_patch16_224" in models
    assert models.count("tiny") == 1
    with pytest.raises(ValueError, match="no model of such a name"):
        expand(["timm:nothing_like_*"])
    listed = set(timm.list_models())
    families = [
        name.partition(":")[2] for name in expand(["families"]) if name[:4] == "timm"
    ]
    assert set(families) <= listed


def test_the_trained_atlas_is_of_the_weights_of_today():
    """Otherwise run the command of the page again: ``atlas.json`` and its page stand in docs."""
    found = checked(DOCS.parent / "attention" / "atlas.json")
    commands = DOCS.read_text(encoding="utf-8").replace("\\\n", " ")
    (named,) = re.findall(r"analyze atlas (tiny .*?)\s+--image-size", commands)
    folder, models = re.fullmatch(r"(.*?)\{(.*)\}\.safetensors", named).groups()
    *bundled, prefix = folder.split()
    files = [f"{prefix}{model}.safetensors" for model in models.split(",")]
    assert {record["model"] for record in found["models"]} | found[
        "refused"
    ].keys() == {
        *bundled,
        *files,
    }
    for record in found["models"]:
        name = record["model"]
        path = DOCS.parents[1] / name if name in files else resolve(name)
        assert record["weights"] == weights_hash(path), name


def test_the_documented_atlas_has_forty_architectures():
    commands = DOCS.read_text(encoding="utf-8").replace("\\\n", " ")
    (names,) = re.findall(
        r"analyze atlas (untrained:families 'untrained.*) --count", commands
    )
    models = expand(shlex.split(names))
    assert len(models) >= 40
    assert all(name.startswith("untrained:") for name in models)
